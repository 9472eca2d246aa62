#!/usr/bin/env python3
"""Holds memgauge's core-to-core latencies against those of the crates.io program core-to-core-latency.

Both hand one word to and fro between every pair of CPUs by compare-and-swap, in turn, in alternating order; what is compared is
the one-way time (half a round trip in both programs) of each pair within each alternation. The other program measures one
cache line of a pair, memgauge the mean over many. Nothing else should run on the machine meanwhile. Standard library and cargo only.
"""

import argparse
import csv
import io
import os
import statistics
import sys
from pathlib import Path

import comparators as programs
from comparators import NoResult

ROOT = Path(__file__).resolve().parent.parent
CRATE = "core-to-core-latency"

# Defaults of the other program: round trips of a sample, and number of samples.
ROUND_TRIPS, SAMPLES = 1000, 300


def install(folder):
    """The other program, built into `folder` unless it is there."""
    binary = folder / "bin" / CRATE
    if not binary.exists():
        print(f"installing {CRATE} into {folder}", file=sys.stderr, flush=True)
        programs.run(["cargo", "install", "--quiet", "--locked", "--root", str(folder), CRATE])
    return binary


def theirs(args, cpus):
    """One-way ns by ordered pair: the CPU of the row starts."""
    text, _ = programs.run([str(args.other), str(ROUND_TRIPS), str(SAMPLES), "--csv", "--cores", ",".join(map(str, cpus))])
    return matrix(text, cpus)


def matrix(text, cpus):
    """The pairs in the other program's matrix: a row for each CPU, empty where nothing was measured."""
    pairs = {}
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if len(rows) != len(cpus):
        raise NoResult(f"{len(rows)} rows of {CRATE} for {len(cpus)} CPUs")
    for start, row in zip(cpus, rows):
        pairs |= {(start, answer): float(value) for answer, value in zip(cpus, row) if value}
    return pairs


def ours(args, cpus):
    """One-way ns by ordered pair, as memgauge measures them."""
    command = [
        args.binary, "core-to-core", "--kernel", "compare-and-swap", "--cpus", ",".join(map(str, cpus)), "--format", "csv",
        "--budget", f"{args.seconds:g}s", "-o", "-"]
    rows = programs.parse_memgauge(programs.run(command)[0])
    pairs = {(int(row["from"]), int(row["to"])): float(row["value"]) / 2 for row in rows if row["status"] == "measured"}
    if not pairs:
        raise NoResult("memgauge measured no pair")
    return pairs


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"), help="memgauge")
    parser.add_argument("--other", type=Path, help=f"{CRATE} [default: installed into --folder]")
    parser.add_argument("--folder", type=Path, default=ROOT / "target/comparators", help="where to install it")
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="time of each of memgauge's turns")
    parser.add_argument("--cpus", help="0,1,8 [default: all that are allowed, sixteen at most]")
    return parser.parse_args(given)


def main(given=None):
    args = arguments(given)
    cpus = [int(cpu) for cpu in args.cpus.split(",")] if args.cpus else sorted(os.sched_getaffinity(0))[:16]
    turns = []
    try:
        args.other = args.other or install(args.folder)
        for turn in range(args.alternations):
            both = {}
            for name in ("ours", "theirs") if turn % 2 == 0 else ("theirs", "ours"):
                both[name] = ours(args, cpus) if name == "ours" else theirs(args, cpus)
            turns.append(both)
    except NoResult as reason:
        sys.exit(f"core_to_core.py: no figure: {reason}")
    for pair in sorted(set.intersection(*(set(both["ours"]) & set(both["theirs"]) for both in turns))):
        ratios = [both["ours"][pair] / both["theirs"][pair] for both in turns]
        mine, others = (statistics.median(both[name][pair] for both in turns) for name in ("ours", "theirs"))
        print(
            f"{pair[0]:4} to {pair[1]:4}  memgauge {mine:8.2f} ns  {CRATE} {others:8.2f} ns  ratio {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f}, n={len(ratios)})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
