#!/usr/bin/env python3
"""Compares memgauge with other programs on this machine and keeps every figure.

The programs take turns: in each alternation every one of them measures the cell once, in rotating order, so that drift
of the machine meets all of them alike. What is compared are the ratios within an alternation, never figures far apart
in time. Standard library only; README.md beside this file says what is counted how.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from math import comb
from pathlib import Path

import comparators as programs
from comparators import Cell, NoResult

ROOT = Path(__file__).resolve().parent.parent
LEVELS = ("L1", "L2", "L3", "DRAM")
OPERATIONS = ("read", "write", "copy", "update", "triad", "touch")
PAST_CACHES = ("read-nt", "write-nt", "copy-nt", "triad-nt")
# Largest distance of a median from a whole number of cycles that still counts as whole.
WHOLE_CYCLE = 0.05


# -- the machine -------------------------------------------------------------------------------------------------------


def read_text(path):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def cache_sizes():
    """Bytes of each data cache of CPU 0 by level; empty where the system does not say."""
    sizes = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = (read_text(index / name) for name in ("type", "level", "size"))
        if kind in ("Data", "Unified") and size and size.endswith("K"):
            sizes[f"L{level}"] = int(size[:-1]) * 1024
    return sizes


def default_sizes(caches, threads):
    """Bytes per thread that lie inside each level, and four times the last cache for DRAM (the rule of STREAM)."""
    sizes = {level: caches[level] // 2 for level in ("L1", "L2") if level in caches}
    last = max(caches.values(), default=32 << 20)
    if "L3" in caches:
        # A virtual machine may report more of the cache than it can use.
        share = min(caches["L3"] // 2 // threads, 4 * caches.get("L2", caches["L3"]))
        if share > 2 * caches.get("L2", 0):
            sizes["L3"] = share
    # Each thread has this much, so that the rule holds for any number of threads.
    sizes["DRAM"] = max(4 * last, 64 << 20)
    # The sizes are multiples of every block and vector, for two streams.
    return {level: size // 8192 * 8192 for level, size in sizes.items()}


def machine():
    """What a reader has to know about the machine to judge the figures."""
    cpuinfo = read_text("/proc/cpuinfo") or ""
    model = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return {
        "cpu": model[0] if model else platform.processor() or None,
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "hypervisor": "hypervisor" in cpuinfo,
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "caches": cache_sizes(),
        "transparent_hugepage": read_text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "load_average_at_end": os.getloadavg()[0],
    }


# -- statistics --------------------------------------------------------------------------------------------------------


def order_interval(values, confidence=0.95):
    """The narrowest symmetric pair of order statistics that holds the median with this confidence, and its coverage.

    With fewer than six values there is none at 95%; the whole range is given with the coverage that it has.
    """
    ordered = sorted(values)
    n = len(ordered)
    best = None
    for drop in range((n + 1) // 2):
        coverage = 1 - 2 * sum(comb(n, k) for k in range(drop + 1)) / 2**n
        if best is None or coverage >= confidence:
            best = (ordered[drop], ordered[n - 1 - drop], max(coverage, 0.0))
    return best


def spread(values):
    low, high, coverage = order_interval(values)
    return {
        "median": statistics.median(values), "min": min(values), "max": max(values),
        "interval": [low, high], "coverage": round(coverage, 4), "count": len(values),
    }


# -- alternations ------------------------------------------------------------------------------------------------------


def alternate(cell, contestants, args, cpus):
    """All shots of a cell: for each alternation and program its figures by variant, or the reason why there are none."""
    alternations = []
    for turn in range(args.alternations):
        shots = {}
        first = turn % len(contestants)
        for program in contestants[first:] + contestants[:first]:
            began = time.monotonic()
            try:
                shots[program.name] = {"figures": program.measure(cell, args.seconds, cpus)}
            except NoResult as reason:
                shots[program.name] = {"reason": str(reason)}
            shots[program.name]["wall_s"] = round(time.monotonic() - began, 2)
        alternations.append(shots)
        tell(f"  {cell.name} {turn + 1}/{args.alternations}")
    return alternations


def best_variant(alternations, name):
    """The variant of a program with the highest median over the alternations, with its rate in each (`None` where it
    gave none). Chosen over all of them: the largest of several noisy figures of one moment is no program's speed."""
    figures = [shots.get(name, {}).get("figures") or {} for shots in alternations]
    variants = sorted({variant for shot in figures for variant in shot})
    rates = {v: [shot.get(v) for shot in figures] for v in variants}
    found = {v: [r for r in rates[v] if r is not None] for v in variants}
    # A variant with more figures comes first: a single high figure is no median.
    best = max(variants, key=lambda v: (len(found[v]), statistics.median(found[v])), default=None)
    return (best, rates[best]) if best else None


def summarize(cell, alternations, ours="memgauge"):
    """Medians of all programs and the ratio of ours to the best of the others within each alternation."""
    names = sorted({name for shots in alternations for name in shots})
    chosen = {name: best for name in names if (best := best_variant(alternations, name))}
    spreads = {name: spread([r for r in rates if r is not None]) for name, (_, rates) in chosen.items()}
    others = [name for name in chosen if name != ours]
    best = max(others, key=lambda name: spreads[name]["median"], default=None)
    ratios = []
    if best and ours in chosen:
        pairs = zip(chosen[ours][1], chosen[best][1])
        ratios = [mine / theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    reasons = {name: shots[name]["reason"] for shots in alternations for name in shots if "reason" in shots[name]}
    return {
        "level": cell.level, "operation": cell.operation, "threads": cell.threads, "bytes_per_thread": cell.size,
        "programs": {name: {**spreads[name], "variants": [variant]} for name, (variant, _) in chosen.items()},
        "ratio_to_best": spread(ratios) if ratios else None,
        "no_result": reasons,
        "alternations": alternations,
    }


def cells_wanted(args, caches):
    """The cells of the request; those whose size or CPUs the machine does not have are told and left out."""
    wanted = []
    for threads in (int(t) for t in args.threads.split(",")):
        if threads > len(os.sched_getaffinity(0)):
            tell(f"left out: {threads} threads, more than the CPUs allowed")
            continue
        sizes = {**default_sizes(caches, threads), **parse_sizes(args.sizes)}
        for level in LEVELS:
            operations = OPERATIONS + (PAST_CACHES if level == "DRAM" else ())
            if level not in sizes:
                tell(f"left out: {level} with {threads} threads, the size of the cache leaves no room for it")
                continue
            wanted += [Cell(level, operation, threads, sizes[level]) for operation in operations]
    return [cell for cell in wanted if matches(cell, args.cells)]


def matches(cell, patterns):
    """Whether any of `L1/read/1`, `L1/read`, `DRAM`, `copy` names this cell; no pattern names all."""
    parts = cell.name.split("/")
    return not patterns or any(set(pattern.split("/")) <= set(parts) for pattern in patterns.split(","))


def parse_sizes(text):
    """`L1=24KiB,DRAM=256MiB` as bytes by level."""
    units = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    sizes = {}
    for entry in filter(None, (text or "").split(",")):
        level, _, size = entry.partition("=")
        number = size.rstrip("BKMGi")
        if level not in LEVELS or not number.isdigit() or size[len(number):] not in units:
            sys.exit(f"compare.py: --sizes: '{entry}'; a size is a level and bytes; type L1=24KiB,DRAM=256MiB")
        sizes[level] = int(number) * units[size[len(number):]]
    return sizes


def bandwidth(args):
    contestants = [programs.Memgauge(args.binary, args.width)]
    for comparator in programs.comparators():
        if programs.installed(comparator):
            contestants.append(comparator)
        else:
            tell(f"not installed: {comparator.name}")
    order = programs.likwid_cpus() or sorted(os.sched_getaffinity(0))
    cells = []
    for cell in cells_wanted(args, cache_sizes()):
        playing = [program for program in contestants if program.answers(cell)]
        cells.append(summarize(cell, alternate(cell, playing, args, order[: cell.threads])))
    document = {
        "what": "bandwidth against other programs", "unit": "payload bytes per second",
        "versions": versions(contestants), "machine": machine(), "settings": settings(args), "cells": cells,
        "memgauge_trust": sorted(set(contestants[0].trust)), "memgauge_kernels": contestants[0].kernels,
    }
    return document, bandwidth_table(document)


# -- latency -----------------------------------------------------------------------------------------------------------


def latency(args):
    """There is no free latency comparator among Debian's packages; the L1 figure is held to whole core cycles."""
    sizes = {**default_sizes(cache_sizes(), 1), **parse_sizes(args.sizes)}
    points = {}
    for turn in range(args.alternations):
        for pages in ("4k", "thp"):
            for level, size in sizes.items():
                point = points.setdefault((level, pages), {"level": level, "pages": pages, "bytes": size, "shots": []})
                point["shots"].append(latency_shot(args, size, pages))
        tell(f"  latency {turn + 1}/{args.alternations}")
    results = [summarize_latency(point) for point in points.values()]
    document = {
        "what": "latency of dependent loads", "unit": "ns", "versions": versions([programs.Memgauge(args.binary)]),
        "machine": machine(), "settings": settings(args), "points": results,
    }
    return document, latency_table(document)


def latency_shot(args, size, pages):
    command = [
        args.binary, "latency", "--sizes", str(size), "--pages", pages, "--format", "csv", "--budget",
        f"{args.seconds:g}s", "-o", "-"]
    try:
        rows = programs.parse_memgauge(programs.run(command)[0])
        measured = [row for row in rows if row["status"] == "measured"]
        if not measured:
            raise NoResult("; ".join(f"{row['status']}: {row.get('reason', '')}" for row in rows))
        row = measured[0]
        cycles = row.get("core_cycles")
        return {"ns": float(row["value"]), "core_cycles": float(cycles) if cycles else None}
    except NoResult as reason:
        return {"reason": str(reason)}


def summarize_latency(point):
    ns = [shot["ns"] for shot in point["shots"] if "ns" in shot]
    cycles = [shot["core_cycles"] for shot in point["shots"] if shot.get("core_cycles")]
    summary = {**point, "ns": spread(ns) if ns else None, "core_cycles": spread(cycles) if cycles else None}
    if cycles and point["level"] == "L1":
        # A load that hits L1 takes a whole number of core cycles. This checks the clock and the memgauge figure.
        median = statistics.median(cycles)
        summary["whole_cycles"] = round(median)
        summary["off_whole_cycles"] = median - round(median)
    return summary


# -- start-up ----------------------------------------------------------------------------------------------------------


def startup(args):
    """Time of commands that measure nothing, and size of the program."""
    asked = {"memgauge --version": [args.binary, "--version"], "true": ["true"]}
    asked |= {"sysbench --version": ["sysbench", "--version"], "stress-ng --version": ["stress-ng", "--version"]}
    walls = {name: [] for name in asked}
    for _ in range(10 * args.alternations):
        for name, command in asked.items():
            wall = wall_time(command)
            if wall is not None:
                walls[name].append(wall)
    document = {
        "what": "start-up", "unit": "s", "versions": versions([programs.Memgauge(args.binary)]), "machine": machine(),
        "binary_bytes": os.path.getsize(args.binary),
        "wall": {name: spread(values) for name, values in walls.items() if values},
    }
    return document, startup_table(document)


def wall_time(command):
    began = time.perf_counter()
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        return None
    # Exit code 3: not every point was measured, and the report says which.
    return time.perf_counter() - began if done.returncode in (0, 3) else None


# -- tables ------------------------------------------------------------------------------------------------------------


def markdown(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def size_text(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def rate_text(program):
    return f"{program['median'] / 1e9:.1f} ({', '.join(program['variants'])})"


def bandwidth_table(document):
    rows = []
    for cell in document["cells"]:
        others = {name: p for name, p in cell["programs"].items() if name != "memgauge"}
        ranked = sorted(others.items(), key=lambda item: -item[1]["median"])
        ours, ratio = cell["programs"].get("memgauge"), cell["ratio_to_best"]
        rows.append([
            cell["level"], cell["operation"], str(cell["threads"]), size_text(cell["bytes_per_thread"]),
            rate_text(ours) if ours else f"no result: {cell['no_result'].get('memgauge', 'not asked')}",
            "; ".join(f"{name} {rate_text(program)}" for name, program in ranked) or "no result",
            ratio_text(ratio),
        ])
    head = ["level", "operation", "threads", "per thread", "memgauge GB/s", "others GB/s", "ratio to the best"]
    return heading(document) + markdown(head, rows) + (
        "\nMedians over the alternations, payload bytes (a copy counts read and write), best variant of each program "
        "by its median. The ratio is the median of the ratios within the alternations, with their range and the "
        "order-statistic interval of the median.\n")


def ratio_text(ratio):
    if not ratio:
        return "-"
    low, high = ratio["interval"]
    return (f"{ratio['median']:.3f} ({ratio['min']:.3f}..{ratio['max']:.3f}; "
            f"{100 * ratio['coverage']:.1f}%: {low:.3f}..{high:.3f}; n={ratio['count']})")


def latency_table(document):
    rows = []
    for point in document["points"]:
        ns, cycles = point["ns"], point["core_cycles"]
        reason = next((shot["reason"] for shot in point["shots"] if "reason" in shot), "")
        rows.append([
            point["level"], point["pages"], size_text(point["bytes"]),
            f"{ns['median']:.3g} ({ns['min']:.3g}..{ns['max']:.3g})" if ns else f"no result: {reason}",
            f"{cycles['median']:.2f}" if cycles else "-", whole_text(point),
        ])
    return heading(document) + markdown(["level", "pages", "size", "ns", "core cycles", "whole cycles"], rows)


def whole_text(point):
    if "whole_cycles" not in point:
        return "-"
    off = point["off_whole_cycles"]
    return f"{'yes' if abs(off) <= WHOLE_CYCLE else 'no'}: {point['whole_cycles']} {off:+.3f}"


def startup_table(document):
    rows = [[name, f"{1e3 * wall['median']:.2f}", f"{1e3 * wall['min']:.2f}..{1e3 * wall['max']:.2f}"]
            for name, wall in document["wall"].items()]
    size = f"\nThe binary has {document['binary_bytes'] / 1e6:.2f} MB.\n"
    return heading(document) + markdown(["program", "median ms", "range ms"], rows) + size


def heading(document):
    about = document["machine"]
    place = " in a virtual machine" if about["hypervisor"] else ""
    named = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return f"{about['cpu']}{place}, {about['cpus_allowed']} CPUs, Linux {about['kernel']}. {named}.\n\n"


# -- the program -------------------------------------------------------------------------------------------------------


def versions(contestants):
    found = {}
    for program in contestants:
        try:
            # The version is the last word with a digit, after the program's name and build details are removed.
            words = program.version().split("\n")[0].split("(")[0].replace("version", "").split()
            found[program.name] = next((word for word in reversed(words) if word[0].isdigit()), "unknown")
        except NoResult as reason:
            found[program.name] = str(reason)
    return found


def settings(args):
    kept = ("cells", "alternations", "seconds", "sizes", "threads", "width", "quick")
    return {name: getattr(args, name) for name in kept}


def tell(line):
    print(line, file=sys.stderr, flush=True)


def write(document, table, args):
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{args.mode}.json").write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
    (folder / f"{args.mode}.md").write_text(table)
    print(table, end="")
    tell(f"saved {args.mode}.json and {args.mode}.md")


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", nargs="?", default="bandwidth", choices=["bandwidth", "latency", "startup"])
    parser.add_argument("--cells", help="only these: L1/read/1, L1/read, DRAM, copy; several by commas")
    parser.add_argument("--alternations", type=int, default=5, help="turns of every program in a cell (5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a shot (1)")
    parser.add_argument("--threads", default="1,2", help="thread counts (1,2)")
    parser.add_argument("--sizes", help="bytes per thread over all streams by level: L1=24KiB,DRAM=256MiB")
    parser.add_argument("--width", default="best", help="memgauge's register width (best)")
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"), help="the memgauge to ask")
    parser.add_argument("--output", default=str(ROOT / "docs/performance-data"), help="folder of the result")
    parser.add_argument("--quick", action="store_true", help="two alternations of short shots, to try the script")
    args = parser.parse_args(given)
    if args.quick:
        args.alternations, args.seconds = 2, 0.2
    if args.alternations < 1 or not args.seconds > 0:
        parser.error("--alternations and --seconds must be above 0")
    return args


def main(given=None):
    args = arguments(given)
    args.binary = str(Path(args.binary).resolve())
    if not os.access(args.binary, os.X_OK):
        sys.exit("compare.py: --binary: no such program; build it with: cargo build --release")
    modes = {"bandwidth": bandwidth, "latency": latency, "startup": startup}
    document, table = modes[args.mode](args)
    write(document, table, args)


if __name__ == "__main__":
    main()
