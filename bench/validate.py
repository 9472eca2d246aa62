#!/usr/bin/env python3
"""Holds what memgauge measures against the published figures of the core design, and writes the
section of this design into docs/validation.md.

Sessions of the default profile and of `memgauge instructions` alternate. A row is a quantity: the
median of the sessions with their range, what is published with its source, and whether they agree.
Caches, TLBs and port widths are published in crates/host/data/processors.csv (the report carries
them), instructions in published-instructions.csv. A cache latency agrees within 8% (shared caches
20%), an instruction within 5%, a number of entries and a size if the measured range contains it,
and a port if 97% of its width is reached. Nothing else should run meanwhile. Standard library only.
"""

import argparse
import csv
import datetime
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/validation.md"
HEAD = """# Measured and published figures

`bench/validate.py` made this page on every machine that work is done on. A row is a quantity: the
median of the sessions with their range, the published figure, and whether the two agree. A row that
does not agree stays until its cause is found.
"""
CACHES = {1: ("l1d_latency_cycles", "l1d_bytes"), 2: ("l2_latency_cycles", "l2_bytes"), 3: ("l3_latency_cycles", None)}
PAGES = {4 << 10: "4k", 16 << 10: "16k", 2 << 20: "2m", 1 << 30: "1g"}
PRIVATE, SHARED, INSTRUCTION, PORT = 0.08, 0.20, 0.05, 0.97


class Published:
    """Published figures of the machine's core design, by quantity."""

    def __init__(self, report):
        self.figures = {}
        for figure in report["provenance"]["host"]["cpu"].get("documented", []):
            self.figures.setdefault(figure["quantity"], figure)

    def get(self, quantity):
        return self.figures.get(quantity)


def text_of(figure):
    low, high = figure["low"], figure["high"]
    return str(low) if low == high else f"{low}..{high}"


class Row:
    def __init__(self, name, measured, published, source, agrees):
        self.cells = [name, measured, published, "yes" if agrees else "no", source]
        self.agrees = agrees


def spread(values, digits=2):
    """Median with the range of the sessions."""
    middle = f"{statistics.median(values):.{digits}f}"
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return middle if low == high else f"{middle} ({low} to {high})"


# Findings about caches. If the size differs from the reported one, the finding has another kind.
CACHE_KINDS = ("cache-level", "cache-exclusive", "cache-disagrees")


def findings(reports, *kinds):
    for report in reports:
        yield from (f["values"] for f in report["findings"] if f["kind"] in kinds)


def cache_rows(reports, published):
    for level, (latency, size) in CACHES.items():
        seen = [v for v in findings(reports, *CACHE_KINDS) if v.get("level") == level and "core_cycles" in v]
        figure = published.get(latency)
        if seen and figure:
            cycles = [v["core_cycles"] for v in seen]
            tolerance = SHARED if level == 3 else PRIVATE
            middle = statistics.median(cycles)
            fits = figure["low"] * (1 - tolerance) <= middle <= figure["high"] * (1 + tolerance)
            yield Row(f"L{level} latency, cycles", spread(cycles), text_of(figure), figure["source"], fits)
        figure = published.get(size) if size else None
        if seen and figure:
            low = statistics.median(v["low_bytes"] for v in seen) / 1024
            high = statistics.median(v["high_bytes"] for v in seen) / 1024
            fits = low <= figure["high"] / 1024 and high >= figure["low"] / 1024
            name = f"L{level} size, KiB"
            known = {**figure, "low": figure["low"] // 1024, "high": figure["high"] // 1024}
            yield Row(name, f"{low:.0f} to {high:.0f}", text_of(known), figure["source"], fits)


def tlb_rows(reports, published):
    seen = {}
    for values in findings(reports, "tlb-level"):
        if "entries_below" in values:
            seen.setdefault((int(values["page_bytes"]), int(values["level"])), []).append(values)
    for (page, level), all_values in sorted(seen.items()):
        name = PAGES.get(page)
        quantity = f"l1_dtlb_entries_{name}" if level == 1 else f"l2_tlb_entries_{name}"
        figure = published.get(quantity)
        if not figure:
            continue
        low = statistics.median(v["entries_at_least"] for v in all_values)
        high = statistics.median(v["entries_below"] for v in all_values)
        fits = low <= figure["high"] and high >= figure["low"]
        order = "first" if level == 1 else "second"
        quantity = f"{order} TLB, {name} pages, entries"
        yield Row(quantity, f"{low:.0f} to {high:.0f}", text_of(figure), figure["source"], fits)


def port_rows(reports, published):
    for operation, quantity in (("read", "load_bytes_per_cycle"), ("write", "store_bytes_per_cycle")):
        figure = published.get(quantity)
        reached = []
        for report in reports:
            for dataset in report["datasets"]:
                for point in dataset["points"]:
                    at, outcome = point["coordinates"], point["outcome"]
                    if dataset["experiment"] != "bandwidth" or outcome.get("status") != "measured":
                        continue
                    if not outcome.get("limit"):
                        continue
                    if at.get("operation") == operation and at.get("level") == "L1" and at.get("threads") == 1:
                        value = outcome["also"].get("undisturbed", outcome["summary"]["median"])
                        reached.append(value / outcome["limit"]["value"] * (figure or {"low": 0})["low"])
        if figure and reached:
            fits = statistics.median(reached) >= PORT * figure["low"]
            title = f"L1 {operation}, undisturbed, bytes per cycle"
            yield Row(title, spread(reached, 1), text_of(figure), figure["source"], fits)


def instruction_rows(reports, design):
    with open(ROOT / "bench/published-instructions.csv", newline="") as file:
        # Instructions are the same for all variants of a design, such as Golden Cove (server).
        published = [row for row in csv.DictReader(file) if row["design"] == design.split(" (")[0]]
    for row in published:
        name = "core_cycles" if row["timing"] == "latency" else "per_cycle"
        seen = []
        for report in reports:
            for dataset in report["datasets"]:
                for point in dataset["points"]:
                    at, outcome = point["coordinates"], point["outcome"]
                    same = all(at.get(a) == row[b] for a, b in (("operation", "instruction"), ("timing", "timing")))
                    if same and outcome.get("status") == "measured":
                        seen.append(outcome["also"][name])
        if seen:
            fits = abs(statistics.median(seen) / float(row["value"]) - 1) <= INSTRUCTION
            title = f"{row['instruction']}, {row['timing']}, {row['unit']}"
            yield Row(title, spread(seen), row["value"], row["source"], fits)


def section(profiles, instructions):
    """Lines of the section of this machine."""
    host = profiles[0]["provenance"]["host"]
    design = host["cpu"]["microarchitecture"]["value"]
    published = Published(profiles[0])
    rows = [*cache_rows(profiles, published), *tlb_rows(profiles, published), *port_rows(profiles, published)]
    rows += instruction_rows(instructions, design)
    if not rows:
        sys.exit(f"validate.py: nothing is published about this core design: {design}")
    model = host["cpu"]["model_name"]["value"]
    virtual = host["system"]["virtualization"]["value"]
    agree = sum(row.agrees for row in rows)
    lines = [f"## {design}", "",
             f"{model}, {virtual} guest, {len(profiles)} sessions, {datetime.date.today()}: "
             f"{agree} of {len(rows)} rows agree.", "",
             "| quantity | measured | published | agrees | source |", "|---|---|---|---|---|"]
    return design, lines + ["| " + " | ".join(row.cells) + " |" for row in rows]


def put(design, lines):
    """Replaces the section of this design in the page, or adds one."""
    old = PAGE.read_text() if PAGE.exists() else HEAD
    sections = re.split(r"(?m)^(?=## )", old)
    kept = [s.rstrip() for s in sections[1:] if not s.startswith(f"## {design}\n")]
    PAGE.write_text("\n\n".join([HEAD.rstrip(), *sorted([*kept, "\n".join(lines)])]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"))
    parser.add_argument("--sessions", type=int, default=5)
    parser.add_argument("--keep", help="a folder for the reports")
    args = parser.parse_args()
    reports = {"profile": [], "instructions": []}
    Path(args.keep or ".").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for session in range(args.sessions):
            for kind, command in (("profile", []), ("instructions", ["instructions", "--budget", "10s"])):
                file = Path(args.keep or folder) / f"{kind}-{session}.json"
                subprocess.run([args.binary, *command, "-o", file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
                reports[kind].append(json.loads(file.read_text()))
            print(f"  session {session + 1}/{args.sessions}", file=sys.stderr, flush=True)
    put(*section(reports["profile"], reports["instructions"]))


if __name__ == "__main__":
    main()
