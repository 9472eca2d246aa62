"""The programs memgauge is compared with: how each is asked, and how its answer is read.

Every figure leaves this file as payload bytes per second: decimal bytes that the program asked to move, a copy counted
as read plus write. Every size is the working set of one thread over all its streams, in bytes.
"""

import csv
import io
import os
import re
import shutil
import statistics
import subprocess
from dataclasses import dataclass

MIB = 1024 * 1024
# glibc requests huge pages for large allocations, so other programs get the same kind of memory as memgauge.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "LC_ALL": "C"}
LONGEST_SHOT_S = 300


class NoResult(Exception):
    """Why there is no figure, in words."""


@dataclass(frozen=True)
class Cell:
    """One question: which operation, on how much memory per thread, by how many threads."""

    level: str
    operation: str
    threads: int
    size: int

    @property
    def name(self):
        return f"{self.level}/{self.operation}/{self.threads}"


def run(command, cpus=None):
    """The standard output and error of `command`, pinned to `cpus` if given."""
    pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LONGEST_SHOT_S,
            env={**os.environ, **ENVIRONMENT}, preexec_fn=pin, check=False)
    except FileNotFoundError:
        raise NoResult(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise NoResult(f"{command[0]} did not end within {LONGEST_SHOT_S} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise NoResult(f"{command[0]} ended with {done.returncode}: {' '.join(last)}")
    return done.stdout, done.stderr


def find(pattern, text, what):
    """The first number `pattern` captures in `text`."""
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise NoResult(f"no {what} in the output")
    return float(match.group(1))


# -- likwid-bench ------------------------------------------------------------------------------------------------------

LIKWID_KERNELS = {
    "read": r"load(_mem)?",
    "write": r"store",
    "copy": r"copy",
    "write-nt": r"store_mem",
    "copy-nt": r"copy_mem",
    "update": r"update",
    # The kernel `stream` of likwid-bench is the triad of STREAM. Its kernel `triad` has four streams.
    "triad": r"stream",
    "triad-nt": r"stream_mem",
    "read-nt": r"load_mem",
    # The kernel reads one element of each cache line. Whole lines are counted, as in memgauge.
    "touch": r"clload",
}
LIKWID_SETS = r"(_(sse|avx|avx512|neon|sve\d*|vsx|vmx))?(_fma)?"


def likwid_kernels(listing, operation):
    """The kernels in the output of `likwid-bench -a` that do `operation` on plain doubles."""
    names = re.findall(r"^(\w+) - ", listing, re.MULTILINE)
    wanted = re.compile(LIKWID_KERNELS[operation] + LIKWID_SETS)
    return [name for name in names if wanted.fullmatch(name)]


def parse_likwid(text):
    """Rate, total size, seconds and iterations per thread of one likwid-bench run. Its MByte is 10^6 bytes."""
    return {
        "rate": find(r"^MByte/s:\s+([\d.]+)", text, "MByte/s") * 1e6,
        "size": int(find(r"^Size \(Byte\):\s+(\d+)", text, "size")),
        "seconds": find(r"^Time:\s+([\d.e+-]+) sec", text, "time"),
        "iterations": int(find(r"^Iterations per thread:\s+(\d+)", text, "iterations")),
    }


class Likwid:
    name = "likwid-bench"

    def __init__(self):
        self.listing = None
        self.iterations = {}

    def version(self):
        return run(["likwid-bench", "-v"])[0].strip() or "unknown"

    def answers(self, cell):
        return True

    def measure(self, cell, seconds, cpus):
        """One figure for each kernel that does the cell's operation; kernels this CPU lacks are left out."""
        if self.listing is None:
            self.listing = run(["likwid-bench", "-a"])[0]
        figures, reasons = {}, []
        for kernel in likwid_kernels(self.listing, cell.operation):
            try:
                figures[kernel] = self.shot(kernel, cell, seconds)
            except NoResult as reason:
                reasons.append(f"{kernel}: {reason}")
        if not figures:
            raise NoResult("; ".join(reasons) or "no kernel for this operation")
        return figures

    def shot(self, kernel, cell, seconds):
        key = (kernel, cell.size, cell.threads)
        if key not in self.iterations:
            # likwid-bench takes seconds to choose the iterations, so one short run chooses them here.
            guess = self.ask(kernel, cell, max(10, int(5e9 / cell.size)))
            lasting = guess["iterations"] * seconds / max(guess["seconds"], 1e-6)
            self.iterations[key] = max(10, int(lasting))
        return self.ask(kernel, cell, self.iterations[key])["rate"]

    @staticmethod
    def ask(kernel, cell, iterations):
        # The size is that of all threads and streams together. With -W, each thread first touches its own part.
        total = cell.size * cell.threads
        group = f"N:{total}B:{cell.threads}"
        result = parse_likwid(run(["likwid-bench", "-t", kernel, "-W", group, "-i", str(iterations)])[0])
        if abs(result["size"] - total) > 0.05 * total:
            raise NoResult(f"used {result['size']} bytes instead of {total}")
        return result


def likwid_cpus():
    """The CPUs in the order in which likwid-bench fills its domain N, physical cores first; `None` without it."""
    try:
        found = re.search(r"Tag N: ([\d ]+)", run(["likwid-bench", "-p"])[0])
    except NoResult:
        return None
    return [int(cpu) for cpu in found.group(1).split()] if found else None


# -- mbw ---------------------------------------------------------------------------------------------------------------


def parse_mbw(text):
    """Median payload rate of the runs of one mbw test. It counts a copy once, in MiB."""
    runs = re.findall(r"^\d+\tMethod: \w+\t.*Copy: ([\d.]+) MiB/s", text, re.MULTILINE)
    if not runs:
        raise NoResult("no runs in the output")
    return 2 * MIB * statistics.median(float(r) for r in runs)


class Mbw:
    name = "mbw"
    # At these sizes glibc's memcpy bypasses the caches. The other test is a plain loop.
    tests = {"copy": ("dumb", "-t1"), "copy-nt": ("memcpy", "-t0")}

    def version(self):
        # mbw does not print its version.
        return run(["dpkg-query", "-W", "-f", "${Version}", "mbw"])[0]

    def answers(self, cell):
        return cell.level == "DRAM" and cell.operation in self.tests and cell.threads == 1

    def measure(self, cell, seconds, cpus):
        test, option = self.tests[cell.operation]
        array = max(1, cell.size // 2 // MIB)
        # mbw counts a copy once, at about 10 GB/s. This number of runs then fills the time.
        runs = max(3, int(seconds * 1e10 / (array * MIB)))
        return {test: parse_mbw(run(["mbw", option, "-n", str(runs), str(array)], cpus)[0])}


# -- sysbench ----------------------------------------------------------------------------------------------------------


def parse_sysbench(text):
    """The rate of a sysbench memory run over all threads. Its MiB are binary."""
    return MIB * find(r"transferred \(([\d.]+) MiB/sec\)", text, "rate")


def power_of_two_below(size):
    return 1 << (size.bit_length() - 1)


class Sysbench:
    name = "sysbench"

    def version(self):
        return run(["sysbench", "--version"])[0].strip()

    def answers(self, cell):
        return cell.operation in ("read", "write")

    def measure(self, cell, seconds, cpus):
        # Blocks must be powers of two. With the global scope, all threads would share one block.
        block = power_of_two_below(cell.size)
        output = run([
            "sysbench", "memory", f"--memory-block-size={block}", "--memory-total-size=1000T",
            f"--memory-oper={cell.operation}", "--memory-access-mode=seq", "--memory-scope=local",
            f"--threads={cell.threads}", f"--time={max(1, round(seconds))}", "run"], cpus)[0]
        return {f"seq-{cell.operation}": parse_sysbench(output)}


# -- stress-ng ---------------------------------------------------------------------------------------------------------


def parse_memrate(text):
    """The rate of one instance by method of `stress-ng --memrate`. Its MB are MiB (kilobytes of 1024 over 1024)."""
    found = re.findall(r"memrate +([\d.]+) (\w+) MB per sec", text)
    if not found:
        raise NoResult("no memrate figures in the output")
    return {method: MIB * float(rate) for rate, method in found}


def parse_stream(text):
    """Read plus write rate of one instance of `stress-ng --stream`. Its MB are MiB."""
    if "too short" in text:
        raise NoResult("the run was too short for stress-ng to say")
    parts = re.findall(r"stream +([\d.]+) memory (?:read|write) rate \(MB per sec\)", text)
    if len(parts) != 2:
        raise NoResult("no stream figures in the output")
    return MIB * sum(float(part) for part in parts)


def memrate_operation(method):
    """The cell a memrate method belongs to: string stores and memset choose by themselves to pass the caches."""
    if method.startswith("read"):
        return "read"
    return "write-nt" if "nt" in method or "sto" in method or method == "memset" else "write"


class StressMemrate:
    name = "stress-ng memrate"

    def version(self):
        return run(["stress-ng", "--version"])[0].strip()

    def answers(self, cell):
        return cell.level == "DRAM" and cell.operation in ("read", "write", "write-nt")

    def measure(self, cell, seconds, cpus):
        # One run measures all methods.
        output = run([
            "stress-ng", "--memrate", str(cell.threads), "--memrate-bytes", f"{cell.size}b", "--metrics", "-t",
            str(max(3, round(3 * seconds)))], cpus)
        # stress-ng prints the geometric mean over its instances. All of them together move that much each.
        rates = {m: cell.threads * r for m, r in parse_memrate("".join(output)).items()}
        figures = {m: r for m, r in rates.items() if memrate_operation(m) == cell.operation}
        if not figures:
            raise NoResult("no method for this operation")
        return figures


class StressStream:
    name = "stress-ng stream"

    def version(self):
        return run(["stress-ng", "--version"])[0].strip()

    def answers(self, cell):
        return cell.level == "DRAM" and cell.operation == "copy"

    def measure(self, cell, seconds, cpus):
        # stress-ng uses three arrays of four times this cache size, and gives no result below 4.5 s of work.
        output = run([
            "stress-ng", "--stream", str(cell.threads), "--stream-l3-size", f"{cell.size // 4}b", "--stream-madvise",
            "hugepage", "--metrics", "-t", "7"], cpus)
        return {"copy+scale+add+triad": cell.threads * parse_stream("".join(output))}


# -- memgauge ----------------------------------------------------------------------------------------------------------


def parse_memgauge(text):
    """The rows of memgauge's CSV; numbers stay text until they are asked for."""
    rows = list(csv.DictReader(io.StringIO(text)))
    missing = {"operation", "status", "value", "size_bytes", "threads"} - set(rows[0] if rows else {})
    if missing:
        raise NoResult(f"the CSV lacks {', '.join(sorted(missing))}")
    return rows


def pick(rows, cell, operation=None):
    """The measured rows of a cell, or of another operation that answers its question; a reason where there is none."""
    operation = operation or cell.operation

    def belongs(row):
        return (row["operation"], row["threads"]) == (operation, str(cell.threads))

    mine = [row for row in rows if belongs(row)]
    measured = [row for row in mine if row["status"] == "measured"]
    if not measured:
        reasons = {f"{row['status']}: {row.get('reason', '')}" for row in mine}
        raise NoResult("; ".join(sorted(reasons)) or "the cell is not in the CSV")
    off = [row["size_bytes"] for row in measured if abs(int(row["size_bytes"]) - cell.size) > 0.05 * cell.size]
    if off:
        raise NoResult(f"used {off[0]} bytes instead of {cell.size}")
    return measured


# Operations for which memgauge's kernels differ only in speed. The fastest kernel of each program counts for them.
# Kernels for `write` differ in what they leave in the caches, so `write` is not among them.
CHOSEN = ("read", "touch")


class Memgauge:
    name = "memgauge"

    def __init__(self, binary, width="best"):
        self.binary, self.width = binary, width
        self.trust = []
        self.kernels = {}

    def version(self):
        return run([self.binary, "--version"])[0].strip()

    def answers(self, cell):
        return True

    def measure(self, cell, seconds, cpus):
        variants = {f"--width {self.width}": self.measure_one(cell, cell.operation, seconds, cpus)}
        if cell.operation in CHOSEN:
            chosen = f"{cell.operation}-best"
            variants[chosen] = self.measure_one(cell, chosen, seconds, cpus)
        return variants

    def measure_one(self, cell, operation, seconds, cpus):
        command = [
            self.binary, "bandwidth", "--ops", operation, "--sizes", str(cell.size), "--threads",
            str(cell.threads), "--width", self.width, "--pages", "thp", "--format", "csv", "--budget", f"{seconds:g}s",
            "-o", "-"]
        if cpus:
            command += ["--cpus", ",".join(str(cpu) for cpu in cpus)]
        rows = pick(parse_memgauge(run(command)[0]), cell, operation)
        self.trust += [(cell.name, row.get("trust", ""), row.get("reason", "")) for row in rows]
        # With `best`, memgauge itself selects the kernel: this is one variant, whichever kernel was selected.
        self.kernels.setdefault(cell.name, []).extend(row.get("kernel", "") for row in rows)
        return max(float(row["value"]) for row in rows)


def comparators():
    """Every program there is a way to ask; those not installed say so when asked."""
    return [Likwid(), Mbw(), Sysbench(), StressMemrate(), StressStream()]


def installed(comparator):
    return shutil.which(comparator.name.split()[0]) is not None
