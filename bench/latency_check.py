#!/usr/bin/env python3
"""Holds memgauge's latencies against a pointer chase that shares nothing with it.

`independent_chase.rs` and memgauge measure the same sizes in 4 KiB pages on the same CPU in turn, in alternating order, each
spread over several allocations: caches behind the first are filled by where pages lie, which is different each time. Large
memory takes seconds to map, in which the host moves on: there the programs take turns after each allocation. What is
compared is the ratio within each alternation of the medians of runs of a millisecond (memgauge's are 4 ms long in memory). A median ratio
further from 1 than `--within` ends with 1. Nothing else should run on the machine meanwhile. Standard library and rustc only.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path

import compare
import comparators as programs
from comparators import NoResult

ROOT = Path(__file__).resolve().parent.parent

# Least size that the two programs map in turn, an allocation at a time. Otherwise the machine could change between the
# two programs: it moved by 3%.
LARGE = 128 << 20

# Least time for the samples of an allocation, in seconds.
LEAST_SECONDS = 0.4


def build(binary):
    """The independent program, compiled anew where its source is younger."""
    source = ROOT / "bench" / "independent_chase.rs"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        binary.parent.mkdir(parents=True, exist_ok=True)
        programs.run(["rustc", "-O", "--edition", "2024", "-o", str(binary), str(source)])
    return binary


def independent(args, size, cpu, allocations):
    """ns per load in `size` bytes, as the independent program measures it."""
    seconds = max(LEAST_SECONDS, args.seconds * allocations / args.allocations)
    command = [str(args.chase), "--allocations", str(allocations), "--seconds", f"{seconds:g}", str(size)]
    text, _ = programs.run(command, {cpu})
    return float(text.split()[1])


def memgauge(args, size, cpu, allocations):
    """ns per load in `size` bytes, as memgauge measures it."""
    # Mapping and linking large memory takes time in addition to the samples.
    seconds = max(LEAST_SECONDS, args.seconds * allocations / args.allocations)
    budget = seconds + 1 + 4 * size * allocations / (1 << 30)
    command = [
        args.binary, "latency", "--sizes", str(size), "--pages", "4k", "--cpus", str(cpu), "--format", "csv", "--reallocate",
        str(allocations), "--budget", f"{budget:g}s", "-o", "-"]
    rows = programs.parse_memgauge(programs.run(command)[0])
    measured = [row for row in rows if row["status"] == "measured"]
    if not measured:
        raise NoResult("; ".join(f"{row['status']}: {row.get('reason', '')}" for row in rows))
    return float(measured[0]["value"])


def alternation(args, size, cpu, turn):
    """The medians of both programs over the allocations of a turn."""
    runs, each = (args.allocations, 1) if size >= LARGE else (1, args.allocations)
    found = {"ours": [], "theirs": []}
    for run in range(runs):
        for name in ("ours", "theirs") if (turn + run) % 2 == 0 else ("theirs", "ours"):
            found[name].append((memgauge if name == "ours" else independent)(args, size, cpu, each))
    return {name: statistics.median(values) for name, values in found.items()}


def check(args, level, size, cpu):
    """Ratios of memgauge to the independent program, one for each alternation, and the medians of both."""
    pairs = [alternation(args, size, cpu, turn) for turn in range(args.alternations)]
    ratios = [pair["ours"] / pair["theirs"] for pair in pairs]
    ours, theirs = (statistics.median(pair[name] for pair in pairs) for name in ("ours", "theirs"))
    print(
        f"{level:5} {compare.size_text(size):>10}  memgauge {ours:8.3f} ns  independent {theirs:8.3f} ns  ratio "
        f"{statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})", flush=True)
    return statistics.median(ratios)


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"), help="memgauge")
    parser.add_argument("--chase", type=Path, default=ROOT / "target/independent_chase", help="where to compile the other to")
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="time of each turn's samples, about")
    parser.add_argument("--allocations", type=int, default=5, help="of the memory in each turn")
    parser.add_argument("--sizes", help="L1=24KiB,DRAM=256MiB instead of what the caches suggest")
    parser.add_argument("--within", type=float, default=0.03, help="how far a median ratio may lie from 1")
    return parser.parse_args(given)


def main(given=None):
    args = arguments(given)
    cpu = min(os.sched_getaffinity(0))
    sizes = {**compare.default_sizes(compare.cache_sizes(), 1), **compare.parse_sizes(args.sizes)}
    try:
        build(args.chase)
        ratios = {level: check(args, level, size, cpu) for level, size in sizes.items()}
    except NoResult as reason:
        sys.exit(f"latency_check.py: no figure: {reason}")
    far = [level for level, ratio in ratios.items() if abs(ratio - 1) > args.within]
    if far:
        print(f"further than {args.within:.0%} from 1: {', '.join(far)}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
