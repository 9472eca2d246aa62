#!/usr/bin/env python3
"""How far separate runs of the same measurement lie apart: memgauge, likwid-bench and mbw in turn.

In each turn every program measures every cell once, with its widest kernel (no choice among several, which would add to the
scatter): the others each cell in a process of its own, memgauge all of them in one run, as it is used, which takes rounds over all
points and has in all the time that the others have for a cell, times the number of cells; `--apart` gives it a process for each cell too.
What is compared is the coefficient of variation over the turns. Standard library only.
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


def memgauge_run(binary, cells, seconds):
    """Bytes per second of each of `cells` with the same number of threads, from one run of `seconds`."""
    def listed(values):
        return ",".join(dict.fromkeys(map(str, values)))

    command = [binary, "bandwidth", "--ops", listed(cell.operation for cell in cells), "--sizes",
               listed(cell.size for cell in cells), "--threads", str(cells[0].threads), "--width", "widest", "--budget",
               f"{seconds:g}s", "--format", "csv", "-o", "-"]
    rows = programs.parse_memgauge(programs.run(command)[0])

    def of(cell):
        here = [row for row in rows if abs(int(row["size_bytes"]) - cell.size) <= 0.05 * cell.size]
        return float(programs.pick(here, cell, cell.operation)[0]["value"])

    return {cell: of(cell) for cell in cells}


def shots(args, cell, likwid, mbw):
    """The programs that answer a cell in a process of their own, each as a name and a call."""
    if args.apart:
        yield "memgauge", lambda: memgauge_run(args.binary, [cell], args.seconds)[cell]
    yield "likwid-bench", lambda: likwid.shot(LIKWID[cell.operation], cell, args.seconds)
    if mbw.answers(cell):
        yield "mbw", lambda: next(iter(mbw.measure(cell, args.seconds, {0}).values()))


def together(args, cells, found):
    """One run of memgauge over the cells of each number of threads."""
    for threads in dict.fromkeys(cell.threads for cell in cells):
        here = [cell for cell in cells if cell.threads == threads]
        try:
            values = memgauge_run(args.binary, here, args.seconds * len(here))
        except NoResult as reason:
            print(f"memgauge: {reason}", file=sys.stderr)
            continue
        for cell, value in values.items():
            found[cell.name].setdefault("memgauge", []).append(value)


def one_by_one(args, cells, programs_of, turn, found):
    """Measures every cell with each program that can."""
    for cell in cells:
        order = list(programs_of(cell))
        for name, shot in order[turn % len(order):] + order[:turn % len(order)]:
            try:
                found[cell.name].setdefault(name, []).append(shot())
            except NoResult as reason:
                print(f"{cell.name} {name}: {reason}", file=sys.stderr)


def variation(values):
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(compare.ROOT / "target/release/memgauge"))
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--apart", action="store_true", help="a process of memgauge for each cell, too")
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
        parts = [] if args.apart else [lambda: together(args, cells, found)]
        parts.append(lambda: one_by_one(args, cells, lambda cell: shots(args, cell, likwid, mbw), turn, found))
        for part in parts if turn % 2 == 0 else parts[::-1]:
            part()
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
