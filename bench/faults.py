#!/usr/bin/env python3
"""Puts real faults into this machine while memgauge measures, and looks whether the verdicts name them.

Each fault runs a measurement with something done to it from outside: a hog beside it, a quota, stops, moves. What the
verdict must name is known beforehand. Faults that need root or control groups are skipped where there are none.
What cannot be done to a machine from outside (stolen time, heat, a counter that changes) is tested on the simulated
machine: crates/memgauge/tests/it/simulated/trust.rs. Standard library only.
"""

import argparse
import contextlib
import ctypes
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CGROUPS = Path("/sys/fs/cgroup")
SHORT = ["--ops", "read", "--sizes", "16KiB,1MiB", "--threads", "1"]


class Skipped(Exception):
    """The fault cannot be made here."""


# -- running memgauge --------------------------------------------------------------------------------------------------


def measure(binary, words, beside=None, prepare=None):
    """The report of a run, with `beside(pid)` called over and over while it is under way."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r.json"
        run = subprocess.Popen(
            [binary, *words, "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=prepare)
        ended = threading.Event()
        worker = threading.Thread(target=repeat, args=(beside, run.pid, ended)) if beside else None
        if worker:
            worker.start()
        errors = run.stderr.read()
        run.wait()
        ended.set()
        if worker:
            worker.join()
        if not out.exists():
            raise Skipped(f"no report: {errors.strip()}")
        return json.loads(out.read_text())


def repeat(action, pid, ended):
    while not ended.is_set():
        with contextlib.suppress(ProcessLookupError, FileNotFoundError, PermissionError):
            action(pid, ended)


def measured(report):
    points = [p for d in report["datasets"] for p in d["points"]]
    return [p["outcome"] for p in points if p["outcome"]["status"] == "measured"]


def causes(report):
    """How many measured points name each cause."""
    count = {}
    for outcome in measured(report):
        for cause in {r["cause"] for r in outcome["verdict"]["reasons"]}:
            count[cause] = count.get(cause, 0) + 1
    return count


# -- faults ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def processes(command, count):
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(count)]
    try:
        time.sleep(0.3)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@contextlib.contextmanager
def group(controller, settings):
    """A control group of version 1 with these settings; yields what puts the calling process into it."""
    folder = CGROUPS / controller
    name = folder / f"memgauge-fault-{os.getpid()}"
    if not (folder / "cgroup.procs").exists():
        raise Skipped(f"no {controller} control groups of version 1")
    try:
        name.mkdir()
        for file, value in settings.items():
            (name / file).write_text(str(value))
    except OSError as error:
        raise Skipped(f"cannot make a control group: {error}") from error
    try:
        yield lambda: (name / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        for _ in range(50):
            try:
                name.rmdir()
                break
            except OSError:
                time.sleep(0.1)


def cpu_hog(binary):
    with processes(["sh", "-c", "while :; do :; done"], os.cpu_count()):
        return measure(binary, ["bandwidth", *SHORT, "--budget", "5s"])


def memory_hog(binary):
    words = ["bandwidth", "--ops", "copy", "--sizes", "256MiB", "--threads", "1", "--cpus", "1", "--samples", "100000",
             "--budget", "1h", "--format", "csv", "-o", "-"]
    if os.cpu_count() < 2:
        raise Skipped("needs two cpus")
    with processes([binary, *words], 1):
        time.sleep(1)
        return measure(binary, ["bandwidth", "--ops", "read", "--sizes", "256MiB", "--threads", "1", "--cpus", "0",
                                "--budget", "10s"])


def pressure():
    """Microseconds in which somebody waited for memory."""
    return int(Path("/proc/pressure/memory").read_text().split("total=")[1].split()[0])


def thrashing(binary):
    """A program that reads more of a file than its control group may keep: everybody's memory pressure rises."""
    if not Path("/proc/pressure/memory").exists():
        raise Skipped("no /proc/pressure/memory")
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file, group("memory", {"memory.limit_in_bytes": 24 << 20}) as join:
        file.write(os.urandom(1 << 20) * 200)
        file.flush()
        os.sync()
        hog = subprocess.Popen(["sh", "-c", f"while :; do cat {file.name}; done"], stdout=subprocess.DEVNULL,
                               preexec_fn=join)
        try:
            before = pressure()
            time.sleep(2)
            if pressure() - before < 0.2e6:
                raise Skipped("no memory pressure can be made by a control group here")
            return measure(binary, ["bandwidth", *SHORT, "--budget", "5s"])
        finally:
            hog.kill()
            subprocess.run(["pkill", "-f", file.name], check=False)
            hog.wait()
            time.sleep(0.5)


def quota(binary):
    with group("cpu", {"cpu.cfs_period_us": 20000, "cpu.cfs_quota_us": 8000}) as join:
        return measure(binary, ["bandwidth", *SHORT, "--budget", "5s"], prepare=join)


def stops(binary):
    def stop(pid, ended):
        time.sleep(0.15)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.6)
        os.kill(pid, signal.SIGCONT)

    return measure(binary, ["bandwidth", *SHORT, "--budget", "20s", "--samples", "900"], beside=stop)


def moves(binary):
    if os.cpu_count() < 2:
        raise Skipped("needs two cpus")

    def move(pid, ended):
        # A stop while the program pins its threads would be noticed at once, and nothing would be measured.
        while not ended.is_set() and time.monotonic() < begin + 2:
            time.sleep(0.1)
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), {random.randrange(2)})
        time.sleep(0.002)

    begin = time.monotonic()
    return measure(binary, ["bandwidth", *SHORT, "--budget", "20s", "--samples", "4000"], beside=move)


def no_huge_pages(binary):
    PR_SET_THP_DISABLE = 41
    forbid = lambda: ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    return measure(binary, ["bandwidth", "--ops", "read", "--sizes", "16MiB", "--threads", "1", "--budget", "5s"],
                   prepare=forbid)


def memory_group(binary):
    with group("memory", {"memory.limit_in_bytes": 160 << 20}) as join:
        return measure(binary, ["run", "--profile", "quick"], prepare=join)


def address_space(binary):
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
    return measure(binary, ["run", "--profile", "quick"], prepare=limit)


def undisturbed(binary):
    return measure(binary, ["bandwidth", *SHORT, "--budget", "5s"])


# Each fault with the cause that most points must name. With None, the points must not change.
FAULTS = {
    "nothing": (undisturbed, None),
    "a cpu hog on every cpu": (cpu_hog, "others"),
    "a memory hog on the other cpu": (memory_hog, "others"),
    "a program that thrashes": (thrashing, "memory-pressure"),
    "a cpu quota of 40%": (quota, "throttled"),
    "stops and continues (SIGSTOP)": (stops, "stopped"),
    "threads moved from outside": (moves, "moved"),
    "huge pages forbidden": (no_huge_pages, "page-size"),
    "a memory limit of 160 MiB (control group)": (memory_group, "memory"),
    "an address space of 200 MiB": (address_space, "memory"),
}


def look(report, expected):
    """Whether the report says what it must, and what it says."""
    named = causes(report)
    if expected == "memory":
        # Too little memory makes no number wrong. Points that do not fit must name memory as the reason.
        left_out = [p["outcome"].get("reason", "") for d in report["datasets"] for p in d["points"]
                    if p["outcome"]["status"] == "skipped"]
        said = [reason for reason in left_out if "memory" in reason or "fit" in reason]
        return report["status"] == "complete" and bool(measured(report)) and bool(said), f"{len(said)} points skipped: {said[:1]}"
    count = len(measured(report))
    told = ", ".join(f"{cause} {n} of {count}" for cause, n in sorted(named.items(), key=lambda item: -item[1]))
    if expected is None:
        return True, told or "all solid"
    return named.get(expected, 0) * 2 > count, told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/memgauge"))
    parser.add_argument("--only", default="", help="faults with this word in their name")
    args = parser.parse_args()
    wrong = 0
    print("| fault | must name | says | |\n|---|---|---|---|")
    for name, (fault, expected) in FAULTS.items():
        if args.only not in name:
            continue
        try:
            good, told = look(fault(args.binary), expected)
            result = "yes" if good else "NO"
            wrong += not good
        except Skipped as reason:
            told, result = str(reason), "skipped"
        print(f"| {name} | {expected or '-'} | {told} | {result} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
