#!/usr/bin/env python3
"""Times `memgauge fleet` on generated reports of about 20 kB.

bench/fleet.py [--nodes 1000,10000,100000] [--folder DIR] [--keep] [--page] [--duckdb]

A report has the parts of a real one: facts about the machine with sources, 20 headline points with
summaries, evidence and a few samples. One machine in 200 is slow. Each size is read from single
files, then from one file of JSON Lines. The table has wall time, processor time and memory.
With --duckdb the same question is asked of DuckDB (pip install duckdb) on the JSON Lines: machines
that lie beyond the floor and five scaled MADs of their group, in two quantities or more.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "target", "release", "memgauge")
GROUPS = 40
BYTES = 20_000


def fact(value, source="/sys/devices/system"):
    return {"value": value, "source": source}


def host(group, name, random):
    cpus = 8
    cpu = lambda i: {"id": i, "allowed": True, "core": i, "package": 0, "node": 0, "siblings": [i]}
    return {
        "cpu": {
            "architecture": "x86_64",
            "vendor": fact("GenuineIntel"),
            "model_name": fact(f"Processor {group}"),
            "signature": fact(f"family 6 model {group} stepping 1"),
            "microarchitecture": fact("Golden Cove"),
            "features": fact(["sse2", "avx2", "avx512f"] * 8),
            "l1_ports": fact({"load_bytes": 128, "store_bytes": 64}),
            "counter": fact(None, "not reported"),
            "counter_invariant": fact(True),
        },
        "topology": {
            "cpus": [cpu(i) for i in range(cpus)],
            "cpus_source": "/sys/devices/system/cpu/online",
            "caches": [
                {"level": 1, "kind": "data", "size": 49152, "line": 64, "ways": 12, "cpus": [i]}
                for i in range(cpus)
            ],
            "caches_source": "/sys/devices/system/cpu/cpu*/cache",
            "nodes": [{"id": 0, "cpus": list(range(cpus)), "memory": 1 << 36, "distances": [10]}],
            "nodes_source": "/sys/devices/system/node",
        },
        "memory": {"total": fact(66_000_000_000), "available": fact(60_000_000_000)},
        "pages": {"base": 4096, "thp_mode": fact("madvise"), "thp_defrag": fact("madvise")},
        "system": {
            "os": "linux",
            "kernel": fact(f"6.{random.randrange(3)}.0"),
            "hostname": fact(name),
            "virtualization": fact("none"),
            "container": fact(None, "no mark"),
            "cpu_quota": fact(None, "no quota"),
        },
        "environment": {"governor": fact("performance"), "smt": fact(True), "load": fact(0.1)},
    }


def point(number, level, operation, threads, median, random):
    samples = [
        {"value": median * random.uniform(0.99, 1.01), "elapsed_ns": 1e6, "work": 1 << 20,
         "core_hz": 3.1e9, "round": i, "allocation": 0, "disturbance": None}
        for i in range(1)
    ]
    return {
        "id": number,
        "coordinates": {"kernel": f"{operation}/avx512", "level": level, "operation": operation,
                        "pages": "thp", "size_bytes": 1 << 20, "threads": threads, "width": "best"},
        "outcome": {
            "status": "measured",
            "summary": {"median": median, "best": median * 1.01, "ci_low": median * 0.995,
                        "ci_high": median * 1.005, "confidence": 0.97, "mad": median * 0.002,
                        "undisturbed_samples": 24},
            "also": {"single_count": median},
            "choice": None,
            "limit": {"value": median * 1.5, "source": "L1 ports times the core clock"},
            "samples": samples,
            "evidence": {"cpus": [0], "affinity_held": True, "disturbed_samples": 0},
            "verdict": {"grade": "solid", "reasons": []},
        },
    }


def report(index, random):
    group = random.randrange(GROUPS)
    slow = random.uniform(0.7, 0.92) if index % 200 == 0 else 1.0
    name = f"node{index:06}"
    bandwidth = []
    number = 0
    for level, base in [("L1", 400e9), ("L2", 200e9), ("L3", 90e9), ("DRAM", 30e9)]:
        for operation in ["read", "write", "copy"][: 3 if level == "DRAM" else 2]:
            for threads in [1, 8]:
                factor = slow if level == "DRAM" else 1.0
                value = base * (1 + group / 100) * factor * random.gauss(1, 0.006)
                bandwidth.append(point(number, level, operation, threads, value, random))
                number += 1
    latency = [
        point(number + i, level, "chase", 1, base * random.gauss(1, 0.006), random)
        for i, (level, base) in enumerate([("L1", 1.2), ("DRAM", 100 / slow)])
    ]
    quantity = {"name": "bandwidth", "unit": "B/s", "higher_is_better": True}
    datasets = [
        {"experiment": "bandwidth", "quantity": quantity, "axes": [], "points": bandwidth},
        {"experiment": "latency", "axes": [], "points": latency,
         "quantity": {"name": "latency", "unit": "ns", "higher_is_better": False}},
    ]
    whole = {
        "schema_version": 3,
        "status": "complete",
        "verdict": {"grade": "solid", "points": {"solid": 20}, "causes": []},
        "provenance": {
            "tool": {"name": "memgauge", "version": "0.1.0", "machine": "native"},
            "command_line": ["memgauge"], "seed": "1",
            "started": "2026-11-24T00:00:00Z", "finished": "2026-11-24T00:00:30Z",
            "kernels": [], "clock": {"counter": "tsc"}, "host": host(group, name, random),
        },
        "plan": {"profile": "default"},
        "datasets": datasets,
        "findings": [],
    }
    missing = BYTES - len(json.dumps(whole))
    text = "A finding of a usual length about a quantity of this machine and its figures."
    count = max(0, missing // (len(text) + 60))
    whole["findings"] = [{"kind": "drift", "text": text, "values": {}} for _ in range(count)]
    return whole


QUESTION = """
WITH reports AS (
    SELECT provenance.host.system.hostname.value AS node,
           provenance.host.cpu.model_name.value AS model, unnest(datasets) AS dataset
    FROM read_json('{lines}', format = 'newline_delimited')),
points AS (
    SELECT node, model, dataset.experiment AS experiment, dataset.quantity.higher_is_better AS more,
           unnest(dataset.points) AS point FROM reports),
speeds AS (
    SELECT node, model, experiment, point.coordinates.level AS level,
           point.coordinates.operation AS operation, point.coordinates.threads AS threads,
           ln(point.outcome.summary.median) * CASE WHEN more THEN 1 ELSE -1 END AS speed FROM points),
scales AS (
    SELECT model, experiment, level, operation, threads, median(speed) AS middle, mad(speed) AS mad
    FROM speeds GROUP BY ALL)
SELECT node, count(*) AS quantities FROM speeds NATURAL JOIN scales
WHERE middle - speed > greatest(5 * 1.4826 * mad, ln(1.03)) GROUP BY node HAVING quantities > 1
"""


def ask_duckdb(lines):
    """Prints how many machines DuckDB finds."""
    import duckdb

    duckdb.execute("SET threads = 2")
    print(len(duckdb.execute(QUESTION.format(lines=lines)).fetchall()))


def timed(command):
    """Exit code, seconds, processor seconds and MiB of a run, and its output."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    code = os.waitstatus_to_exitcode(status)
    return code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="1000,10000,100000")
    parser.add_argument("--folder", help="a folder with room for all reports twice")
    parser.add_argument("--keep", action="store_true", help="leave the reports there")
    parser.add_argument("--page", action="store_true", help="also time the HTML page")
    parser.add_argument("--duckdb", action="store_true", help="also ask DuckDB")
    parser.add_argument("--ask-duckdb", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask_duckdb:
        return ask_duckdb(options.ask_duckdb)
    root = tempfile.mkdtemp(dir=options.folder)
    print("| machines | bytes | input | seconds | processor seconds | MiB | slow machines |")
    print("|---|---|---|---|---|---|---|")
    try:
        for nodes in map(int, options.nodes.split(",")):
            generator = random.Random(nodes)
            folder = os.path.join(root, str(nodes))
            lines = os.path.join(root, f"{nodes}.jsonl")
            size = 0
            with open(lines, "w") as out:
                for index in range(nodes):
                    part = os.path.join(folder, str(index // 1000))
                    if index % 1000 == 0:
                        os.makedirs(part)
                    text = json.dumps(report(index, generator)) + "\n"
                    size += len(text)
                    out.write(text)
                    with open(os.path.join(part, f"{index}.json"), "w") as single:
                        single.write(text)
            runs = [("files", [folder, "--format", "jsonl"]), ("lines", [lines, "--format", "jsonl"])]
            if options.page:
                runs.append(("lines, a page", [lines, "--format", "html"]))
            runs = [(name, [PROGRAM, "fleet", *arguments]) for name, arguments in runs]
            if options.duckdb:
                runs.append(("lines, DuckDB", [sys.executable, __file__, "--ask-duckdb", lines]))
            for name, command in runs:
                code, seconds, cpu, memory, output = timed(command)
                slow = output.count(b'"state":"slow"') if b"<html" not in output[:100] else len(output)
                if name == "lines, DuckDB":
                    slow = int(output)
                if code not in (0, 4):
                    sys.exit(f"exit code {code}")
                print(f"| {nodes} | {size} | {name} | {seconds:.2f} | {cpu:.2f} | {memory:.0f} | {slow} |",
                      flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
