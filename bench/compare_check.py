#!/usr/bin/env python3
"""Holds `memgauge compare` to its promises on this machine, with real runs.

same    default runs of the undisturbed machine, each against the one before it: at most 2% of the points may come out better or worse.
aggressor   other CPUs stream through memory meanwhile: what became 10% slower must come out worse, what did not must not.
pages   the same where the system grants no huge pages: a slowdown of what lies behind the reach of the TLB.
quota   the same where a control group stops the program for a tenth of the time: what is stopped is left out of a number and named
        beside it, so that nothing may come out worse that did not become slower.

Whether a point became slower is decided without memgauge's intervals: by the medians of three runs before and three runs with the fault,
taken in turns, which must lie apart, all of them, by the slowdown. A fault that slows nothing here says so. Nothing else should run on the machine
meanwhile; figures are worth what the machine's quiet is worth. Standard library only.
"""

import argparse
import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import faults

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = ["run", "--only", "bandwidth,latency", "--cpus", "0"]
PR_SET_THP_DISABLE = 41


class Bench:
    """Runs of one binary, their reports kept in a folder."""

    def __init__(self, binary, folder, budget):
        self.binary, self.folder, self.budget = binary, Path(folder), budget
        self.count = 0

    def run(self, words, prepare=None):
        """The report of a run, by its file."""
        self.count += 1
        path = self.folder / f"{self.count:02}.json"
        command = [self.binary, *words, "--budget", self.budget, "-o", str(path)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=prepare)
        if not path.exists():
            raise faults.Skipped(f"no report: {done.stderr.strip()}")
        return path

    def compare(self, before, after):
        done = subprocess.run([self.binary, "compare", before, after, "--format", "json"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"compare_check.py: {done.stderr.strip()}")
        return json.loads(done.stdout)


def key(experiment, coordinates):
    """What a point asks, whichever kernel answered."""
    asked = {axis: at for axis, at in coordinates.items() if axis not in ("kernel", "prefetch_bytes", "repeat")}
    return experiment + " " + " ".join(f"{axis}={at}" for axis, at in sorted(asked.items()))


def pairs(comparison):
    return {key(g["experiment"], p["coordinates"]): (p, g["quantity"]["higher_is_better"])
            for g in comparison["groups"] for p in g["pairs"]}


def medians(path):
    report = json.loads(path.read_text())
    return {key(d["experiment"], p["coordinates"]): p["outcome"]["summary"]["median"] for d in report["datasets"]
            for p in d["points"] if p["outcome"]["status"] == "measured" and not d.get("auxiliary")}


def describe(tally):
    return ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in tally.items())


# -- what is checked ---------------------------------------------------------------------------------------------------


def same(bench, args):
    """Whether undisturbed runs come out the same."""
    before, all_points, differ, unaligned = bench.run(["run"]), 0, 0, 0
    for turn in range(args.pairs):
        after = bench.run(["run"])
        comparison = bench.compare(before, after)
        tally = comparison["tally"]
        print(f"  pair {turn + 1}: {describe(tally)}; {len(comparison['unaligned'])} not compared", flush=True)
        for place, (pair, _) in pairs(comparison).items():
            if pair["change"] in ("worse", "better"):
                print(f"    {pair['change']} {pair['ratio_low']:.3f} to {pair['ratio_high']:.3f}: {place}; {pair['remark'] or ''}")
        all_points += sum(tally.values())
        differ += tally["worse"] + tally["better"]
        unaligned += len(comparison["unaligned"])
        before = after
    share = differ / max(1, all_points)
    print(f"  {differ} of {all_points} better or worse ({share:.1%}, allowed 2%), {unaligned} not compared")
    return share <= 0.02


def fault(bench, args, beside, prepare=None):
    """Whether what a fault slows is found, and nothing else."""
    before, after = [], []
    for _ in range(args.turns):
        before.append(bench.run(ONE_THREAD))
        with beside():
            after.append(bench.run(ONE_THREAD, prepare))
    ends = [[medians(path) for path in side] for side in (before, after)]
    found = pairs(bench.compare(before[0], after[0]))
    wrong, slower = [], 0
    for place, (pair, higher_is_better) in found.items():
        values = [[run[place] for run in side if place in run] for side in ends]
        if not all(values):
            continue
        # Slow-down of the point in all pairs of runs: the least and the greatest factor.
        ratios = [b / a if higher_is_better else a / b for b in values[0] for a in values[1]]
        change = pair["change"]
        truth = truth_of(ratios, args.slowdown)
        slower += truth == "slower"
        wrong_words = {"slower": ("same", "better"), "faster": ("same", "worse"), "as before": ("worse", "better")}
        bad = change in wrong_words.get(truth, ())
        missed = truth == "slower" and change == "cannot-tell"
        if bad:
            wrong.append(place)
        if bad or missed or change != "same":
            print(f"  {'WRONG ' if bad else ''}{change}: {min(ratios):.3f} to {max(ratios):.3f} times as slow, {truth}: {place}")
    told = sum(1 for place, (pair, _) in found.items() if pair["change"] == "worse")
    print(f"  {slower} points became at least {args.slowdown:.0%} slower, {told} of {len(found)} came out worse, {len(wrong)} wrongly")
    if slower == 0:
        print("  this fault slows nothing by so much here: nothing was proven")
    return not wrong and (slower == 0 or told > 0)


def truth_of(ratios, slowdown):
    """What became of a point, where `ratios` say how many times as slow it is now, for each pair of runs."""
    if min(ratios) >= 1 + slowdown:
        return "slower"
    # Faster in every pair of runs: the machine changed meanwhile, and a result that says so is right.
    if max(ratios) <= 1 / 1.03:
        return "faster"
    return "as before" if max(ratios) <= 1.03 else "unclear"


def aggressor(bench, args):
    others = sorted(os.sched_getaffinity(0) - {0})
    if not others:
        raise faults.Skipped("needs two CPUs")
    cpus = ",".join(map(str, others))
    words = ["bandwidth", "--ops", "copy-nt", "--sizes", "512MiB", "--threads", str(len(others)), "--cpus", cpus,
             "--samples", "1000000", "--budget", "1h", "--format", "csv", "-o", "-"]
    return fault(bench, args, lambda: faults.processes([bench.binary, *words], 1))


def pages(bench, args):
    forbid = lambda: ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    return fault(bench, args, contextlib.nullcontext, forbid)


def quota(bench, args):
    # With either version of control groups: nine tenths of 20 ms of CPU time, for the single thread.
    unified = faults.CGROUPS / "cgroup.controllers"
    if unified.exists():
        raise faults.Skipped("only control groups of version 1 are known to this script")
    with faults.group("cpu", {"cpu.cfs_period_us": 20000, "cpu.cfs_quota_us": 18000}) as join:
        return fault(bench, args, contextlib.nullcontext, join)


CHECKS = {"same": same, "aggressor": aggressor, "pages": pages, "quota": quota}


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", default=list(CHECKS), help="all of them without")
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"))
    parser.add_argument("--budget", default="60s", help="for each run")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of undisturbed runs")
    parser.add_argument("--turns", type=int, default=3, help="runs with a fault, and as many without")
    parser.add_argument("--slowdown", type=float, default=0.1, help="what has to be found")
    parser.add_argument("--keep", help="a folder for the reports")
    args = parser.parse_args(given)
    if unknown := set(args.checks) - set(CHECKS):
        parser.error(f"unknown checks: {', '.join(sorted(unknown))}; known are {', '.join(CHECKS)}")
    binary = str(Path(args.binary).resolve())
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.checks:
            folder = Path(args.keep or scratch) / name
            folder.mkdir(parents=True, exist_ok=True)
            print(f"{name}:", flush=True)
            try:
                if not CHECKS[name](Bench(binary, folder, args.budget), args):
                    failed.append(name)
            except faults.Skipped as reason:
                print(f"  skipped: {reason}")
    print("all as promised" if not failed else f"not as promised: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
