#!/usr/bin/env python3
"""How far separate runs of the same measurement lie apart: memgauge, likwid-bench and mbw in turn.

In each turn every program measures every cell once, in a process of its own, with its widest kernel (no choice among
several, which would add to the scatter). What is compared is the coefficient of variation over the turns. Standard library only.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import comparators as programs
import compare
from comparators import Cell, NoResult

LIKWID = {"read": "load_avx512", "write": "store_avx512", "copy": "copy_avx512"}


def memgauge_shot(binary, cell, seconds):
    command = [binary, "bandwidth", "--ops", cell.operation, "--sizes", str(cell.size), "--threads", str(cell.threads),
               "--width", "widest", "--budget", f"{seconds:g}s", "--format", "csv", "-o", "-"]
    row = programs.pick(programs.parse_memgauge(programs.run(command)[0]), cell, cell.operation)[0]
    return float(row["value"])


def shots(args, cell, likwid, mbw):
    """The programs that answer a cell, each as a name and a call."""
    yield "memgauge", lambda: memgauge_shot(args.binary, cell, args.seconds)
    yield "likwid-bench", lambda: likwid.shot(LIKWID[cell.operation], cell, args.seconds)
    if mbw.answers(cell):
        yield "mbw", lambda: next(iter(mbw.measure(cell, args.seconds, {0}).values()))


def variation(values):
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(compare.ROOT / "target/release/memgauge"))
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--levels", help="L1,DRAM instead of all")
    parser.add_argument("--output", default="repeat.json")
    args = parser.parse_args()
    caches = compare.cache_sizes()
    cells = [Cell(level, operation, threads, size) for threads in map(int, args.threads.split(","))
             for level, size in compare.default_sizes(caches, threads).items() for operation in LIKWID
             if args.levels is None or level in args.levels.split(",")]
    likwid, mbw = programs.Likwid(), programs.Mbw()
    found = {cell.name: {} for cell in cells}
    for turn in range(args.turns):
        for cell in cells:
            order = list(shots(args, cell, likwid, mbw))
            for name, shot in order[turn % len(order):] + order[:turn % len(order)]:
                try:
                    found[cell.name].setdefault(name, []).append(shot())
                except NoResult as reason:
                    print(f"{cell.name} {name}: {reason}", file=sys.stderr)
        print(f"  turn {turn + 1}/{args.turns}", file=sys.stderr, flush=True)
    Path(args.output).write_text(json.dumps({"seconds": args.seconds, "turns": args.turns, "cells": found}, indent=1))
    print("| cell | memgauge % | likwid-bench % | mbw % | |\n|---|---|---|---|---|")
    for name, values in found.items():
        variations = {program: variation(v) for program, v in values.items()}
        text = [f"{variations[p] * 100:.2f}" if variations.get(p) is not None else "" for p in ("memgauge", "likwid-bench", "mbw")]
        others = [v for p, v in variations.items() if p != "memgauge" and v is not None]
        ours = variations.get("memgauge")
        good = ours is not None and others and ours <= min(others)
        print(f"| {name} | {' | '.join(text)} | {'at most the best' if good else 'above'} |")


if __name__ == "__main__":
    sys.exit(main())
