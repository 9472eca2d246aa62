#!/usr/bin/env python3
"""Checks what memgauge.exe answered under wine: facts, kinds of outcomes, evidence. No measured time is looked at.

Usage: windows-check.py FOLDER CPUS    the folder has the reports that .ci/cross windows makes; CPUS is their number here
"""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
cpus = int(sys.argv[2])


def require(holds, *what):
    if not holds:
        sys.exit("windows: " + " ".join(str(part) for part in what))


def read(name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def points(report, experiment=None):
    datasets = [d for d in report["datasets"] if experiment in (None, d["experiment"])]
    require(datasets, "no dataset of", experiment)
    return [p for d in datasets for p in d["points"]]


def measured(report, experiment=None):
    found = [p["outcome"] for p in points(report, experiment) if p["outcome"]["status"] == "measured"]
    require(found, "nothing measured of", experiment)
    return found


host = read("host.json")
topology = host["topology"]
require(len(topology["cpus"]) == cpus, len(topology["cpus"]), "CPUs instead of", cpus)
require(all(c["allowed"] for c in topology["cpus"]), "CPUs that are not allowed")
require("GetLogicalProcessorInformationEx" in topology["cpus_source"], topology["cpus_source"])
require(all(c["core"] is not None and c["package"] is not None for c in topology["cpus"]), "cores or packages are unknown")
require(any(c["level"] == 1 for c in topology["caches"]), "no cache of level 1")
require(host["memory"]["total"]["value"] > 1 << 28, host["memory"]["total"])
require(host["memory"]["usable"]["value"] > 0, host["memory"]["usable"])
require(host["pages"]["base"] == 4096, host["pages"])
require(host["pages"]["thp_mode"]["value"] == "none", host["pages"])
require(host["system"]["os"] == "windows" and host["system"]["kernel"]["value"], host["system"])
require(host["system"]["hostname"]["value"], host["system"])
require(host["system"]["pinning"]["value"] is True, host["system"])
for group in ("cpu", "memory", "system", "environment"):
    for name, fact in host[group].items():
        if isinstance(fact, dict) and "source" in fact:
            require(fact["source"], "a fact without a source or reason:", group, name)

for experiment in ("bandwidth", "latency", "core-to-core"):
    for outcome in measured(read(f"{experiment}.json"), experiment):
        evidence = outcome["evidence"]
        require(evidence["affinity_held"] is True, experiment, "threads did not stay on their CPUs")
        if evidence["pages"]["resident_share"] is not None:
            require(evidence["pages"]["resident_share"] > 0.99, experiment, evidence["pages"])
            require(evidence["pages"]["granted_share"] == 1, experiment, evidence["pages"])

huge = [p["outcome"] for p in points(read("huge.json"))]
require(huge and all(o["status"] != "measured" for o in huge), "large pages without the privilege:", huge)
require(all("SeLockMemoryPrivilege" in json.dumps(o) or "large pages" in json.dumps(o) for o in huge), huge)

require(measured(read("io.json"), "io"), "no operations of a file")
resumed = read("resumed.json")
require(resumed["status"] == "complete", "a resumed session is", resumed["status"])
require(all(p["outcome"]["status"] != "interrupted" for p in points(resumed)), "interrupted points after resuming")
require(all("journal could not" not in f["text"] for f in resumed["findings"]), "the journal of a resumed session")
print(f"{cpus} CPUs, {len(topology['caches'])} caches, {len(topology['nodes'])} nodes; every report as expected")
