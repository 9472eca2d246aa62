#!/usr/bin/env python3
"""How often `memgauge` doubts a number without need, and trusts one that it should not: default runs, held against each other.

What a number really is nobody knows; what separate runs of the same measurement find in the middle is the nearest thing to it. Of each point
that all runs measured, the level is the median of the runs' headlines. A number is *near* when it lies within --near of its level, and a point
*repeats* when nine tenths of its runs are near.

false doubt   a number that is called doubtful, of a point that repeats, and is near: nothing about it was wrong.
false trust   a number that is called solid and lies further from the level than --near and its own interval together.

A doubt about something that is true whatever the number (pages that were not granted, a CPU that others use) is counted with its cause; whether it
is false is for the reader of the causes to say. Nothing else should run on the machine meanwhile. Standard library only.
"""

import argparse
import collections
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Coordinates that kernel selection can change from run to run, although the measurement is the same.
CHOSEN = ("kernel", "prefetch_bytes")


def points(report):
    """Key of each point that has a headline: its experiment and what was asked."""
    for dataset in report["datasets"]:
        for point in dataset["points"]:
            outcome = point["outcome"]
            if outcome.get("status") != "measured" or not outcome.get("summary"):
                continue
            asked = {k: v for k, v in point["coordinates"].items() if k not in CHOSEN or not outcome.get("choice")}
            yield dataset["experiment"] + " " + json.dumps(asked, sort_keys=True), outcome


class Number:
    """A headline number with its verdict."""

    def __init__(self, outcome):
        summary = outcome["summary"]
        self.value = summary["median"]
        self.half = max(summary["ci_high"] - self.value, self.value - summary["ci_low"])
        self.grade = outcome["verdict"]["grade"]
        self.causes = [reason["cause"] for reason in outcome["verdict"].get("reasons", [])]


def judge(numbers, near):
    """Grades, false doubts and false trusts of one point's numbers over all runs."""
    level = statistics.median(n.value for n in numbers)
    if level == 0:
        return [], []
    off = [abs(n.value - level) / abs(level) for n in numbers]
    repeats = sum(o <= near for o in off) >= 0.9 * len(numbers)
    doubts = [n for n, o in zip(numbers, off) if n.grade == "doubtful" and repeats and o <= near]
    trusts = [n for n, o in zip(numbers, off) if n.grade == "solid" and o > near + n.half / abs(level)]
    return doubts, trusts


def table(runs, near):
    """Lines of Markdown from the reports of all runs."""
    found = collections.defaultdict(list)
    for report in runs:
        for key, outcome in points(report):
            found[key].append(Number(outcome))
    complete = {key: numbers for key, numbers in found.items() if len(numbers) == len(runs)}
    rows = collections.defaultdict(lambda: [0] * 4)
    causes, of_false, grades = collections.Counter(), collections.Counter(), collections.Counter()
    for key, numbers in complete.items():
        doubts, trusts = judge(numbers, near)
        row = rows[key.split(" ")[0]]
        for k, count in enumerate((len(numbers), sum(n.grade != "solid" for n in numbers), len(doubts), len(trusts))):
            row[k] += count
        for number in numbers:
            grades[number.grade] += 1
            causes.update(number.causes)
        for number in doubts:
            of_false.update(number.causes)
    total = [sum(row[k] for row in rows.values()) for k in range(4)]
    lines = ["| experiment | numbers | not solid | false doubts | false trust |", "|---|---|---|---|---|"]
    for name, row in [*sorted(rows.items()), ("all", total)]:
        shares = [f"{n} ({n / row[0]:.1%})" for n in row[1:]] if row[0] else [""] * 3
        lines.append(f"| {name} | {row[0]} | {' | '.join(shares)} |")
    lines += ["", f"{len(complete)} points in each of {len(runs)} runs; {len(found) - len(complete)} not in all of them.",
              "Causes: " + ", ".join(f"{c} {n}" for c, n in causes.most_common()) + ".",
              "Causes of false doubts: " + (", ".join(f"{c} {n}" for c, n in of_false.most_common()) or "none") + "."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--near", type=float, default=0.05, help="share by which a number may miss the level (0.05)")
    parser.add_argument("--keep", help="a folder for the reports")
    parser.add_argument("reports", nargs="*", help="reports of runs that are there already, instead of new runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(name) for name in args.reports]
        folder = Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for run in range(0 if files else args.runs):
            files.append(folder / f"run-{run:02}.json")
            # A run that could not measure every point has a report as well, whose doubts are counted here.
            subprocess.run([args.binary, "-o", files[-1]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            print(f"  run {run + 1}/{args.runs}", file=sys.stderr, flush=True)
        reports = [json.loads(file.read_text()) for file in files if file.exists()]
    if len(reports) < 3:
        sys.exit("doubts.py: fewer than three reports; nothing can be held against anything")
    print("\n".join(table(reports, args.near)))


if __name__ == "__main__":
    main()
