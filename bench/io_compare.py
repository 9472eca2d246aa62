#!/usr/bin/env python3
"""Holds `memgauge io` against fio: the same file, engine, block size, depth and direction, in
alternating order.

What is compared is the ratio of operations per second and of the 99th percentile of latency within
each alternation, and the processor time per operation of the two null engines. Both are pinned to
one CPU: one that takes the interrupts of the disk itself hears of completions tens of microseconds
before another, and a thread that is not pinned moves there. The file is made for it and removed
afterwards. Nothing else should run on the machine meanwhile. Needs fio (Debian: `apt-get install
fio`); standard library only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Engines by their names in memgauge: fio's name, and the depth of the comparison.
ENGINES = {"sync": ("psync", 1), "aio": ("libaio", 16), "io_uring": ("io_uring", 16)}

# Works by name: operation, pattern, fio's word for both, and bytes of an operation.
WORKS = {
    "random read 4 KiB": ("read", "random", "randread", 4096),
    "sequential read 1 MiB": ("read", "sequential", "read", 1 << 20),
    "sequential write 1 MiB": ("write", "sequential", "write", 1 << 20),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not done.stdout:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()[-400:]}")
    return done.stdout


def memgauge(args, path, engine, depth, work):
    """Operations per second, and the 99th percentile in ns."""
    operation, pattern, _, block = WORKS[work]
    command = [args.binary, "io", str(path), "--ops", operation, "--pattern", pattern, "--block", str(block)]
    command += ["--cpus", str(args.cpu), "--engine", engine, "--depth", str(depth), "--time", f"{args.seconds}s"]
    command += ["--format", "json", "-o", "-"]
    if operation == "write":
        command += ["--destroy-data", str(path)]
    outcome = json.loads(run(command))["datasets"][0]["points"][0]["outcome"]
    if outcome["status"] != "measured":
        sys.exit(f"memgauge measured nothing: {outcome.get('reason')}")
    return outcome["summary"]["median"], outcome["also"]["latency_p99"]


def fio(args, path, engine, depth, work):
    """Operations per second of fio, and the 99th percentile in ns."""
    operation, _, mode, block = WORKS[work]
    command = [args.fio, "--name=x", f"--filename={path}", f"--rw={mode}", f"--bs={block}", "--direct=1", "--thread"]
    command += [f"--cpus_allowed={args.cpu}"]
    command += [f"--ioengine={engine}", f"--iodepth={depth}", "--time_based", f"--runtime={args.seconds}"]
    command += ["--refill_buffers=0", "--norandommap", "--output-format=json"]
    text = run(command)
    side = json.loads(text[text.index("{"):])["jobs"][0][operation]
    return side["iops"], side["clat_ns"]["percentile"]["99.000000"] + side["slat_ns"]["mean"]


def null_engines(args, path):
    """Nanoseconds per operation of the two programs where nothing is done."""
    command = [args.binary, "io", str(path), "--engine", "null", "--time", f"{args.seconds}s", "--format", "json", "-o", "-"]
    ours = 1e9 / json.loads(run(command))["datasets"][0]["points"][0]["outcome"]["summary"]["median"]
    command = [args.fio, "--name=x", "--ioengine=null", "--rw=read", "--bs=4k", "--size=512m", "--thread", "--time_based"]
    command += [f"--runtime={args.seconds}", "--output-format=json"]
    text = run(command)
    return ours, 1e9 / json.loads(text[text.index("{"):])["jobs"][0]["read"]["iops"]


def line(name, ratios, ours, theirs, unit):
    print(
        f"| {name} | {statistics.median(ours):.4g} {unit} | {statistics.median(theirs):.4g} {unit} "
        f"| {statistics.median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}) |", flush=True)


def compare(args, path, name, engine, work):
    other, depth = ENGINES[engine]
    rates, tails = [], []
    for turn in range(args.alternations):
        both = {}
        for who in ("ours", "theirs") if turn % 2 == 0 else ("theirs", "ours"):
            program = memgauge if who == "ours" else fio
            both[who] = program(args, path, engine if who == "ours" else other, depth, work)
            time.sleep(0.2)
        rates.append((both["ours"][0], both["theirs"][0]))
        tails.append((both["ours"][1], both["theirs"][1]))
    for what, pairs, unit in (("IOPS", rates, "/s"), ("p99", tails, "ns")):
        line(f"{name}, {what}", [a / b for a, b in pairs], [a for a, _ in pairs], [b for _, b in pairs], unit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"), help="memgauge")
    parser.add_argument("--fio", default="fio", help="fio")
    parser.add_argument("--folder", default=".", help="where the file is made")
    parser.add_argument("--mebibytes", type=int, default=512, help="its size")
    parser.add_argument("--seconds", type=int, default=2, help="of a measurement")
    parser.add_argument("--cpu", type=int, default=min(os.sched_getaffinity(0)), help="where both wait")
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--engines", default=",".join(ENGINES))
    args = parser.parse_args()
    handle, path = tempfile.mkstemp(dir=args.folder, prefix="io-compare-")
    try:
        with os.fdopen(handle, "wb") as file:
            for _ in range(args.mebibytes):
                file.write(os.urandom(1 << 20))
            file.flush()
            os.fsync(file.fileno())
        print("| work | memgauge | fio | ratio (range) |\n|---|---|---|---|")
        pairs = [null_engines(args, path) for _ in range(args.alternations)]
        line("null engine, time of an operation", [a / b for a, b in pairs], [a for a, _ in pairs], [b for _, b in pairs], "ns")
        for engine in args.engines.split(","):
            for work in WORKS:
                compare(args, path, f"{engine}, {work}", engine, work)
    finally:
        os.unlink(path)


if __name__ == "__main__":
    main()
