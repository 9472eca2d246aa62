"""Tests of the parsers on recorded output, of the statistics, and of whole runs against a stub of memgauge."""

import contextlib
import io
import json
import os
import stat
import tempfile
import unittest
from pathlib import Path

import comparators
import compare
from comparators import MIB, Cell, NoResult

SAMPLES = Path(__file__).resolve().parent / "samples"
STUB = """#!/usr/bin/env python3
import sys
mode, options = sys.argv[1], dict(zip(sys.argv[2::2], sys.argv[3::2]))
if mode == "--version":
    print("memgauge 9.8.7")
    sys.exit()
print("experiment,operation,kernel,size_bytes,threads,status,value,trust,reason,core_cycles")
size, threads = options["--sizes"], options.get("--threads", "1")
if mode == "latency":
    print(f"latency,,,{size},1,measured,0.95,solid,,4.01")
elif options["--ops"] == "write":
    print(f"bandwidth,write,write-avx512,{size},{threads},unsupported,,,no such thing,")
else:
    for kernel, value in (("avx2", 1e11), ("avx512", 2e11)):
        print(f"bandwidth,{options['--ops']},read-{kernel},{size},{threads},measured,{value},solid,,")
"""


def sample(name):
    return (SAMPLES / name).read_text()


class Parsers(unittest.TestCase):
    def test_likwid(self):
        result = comparators.parse_likwid(sample("likwid-bench-copy.txt"))
        self.assertEqual(result["size"], 65536)
        self.assertEqual(result["iterations"], 1_000_000)
        # The megabyte is decimal, a copy counts read and write: the volume over the time says so.
        volume = 1_000_000 * 2 * 32768 * 2
        self.assertAlmostEqual(result["rate"] / (volume / 2 / result["seconds"]), 1, places=3)

    def test_likwid_kernels(self):
        listing = sample("likwid-bench-list.txt")
        kernels = {op: comparators.likwid_kernels(listing, op) for op in comparators.LIKWID_KERNELS}
        self.assertIn("load_avx512", kernels["read"])
        self.assertEqual(kernels["write"], ["store", "store_avx", "store_avx512", "store_sse"])
        self.assertEqual((kernels["touch"], kernels["read-nt"]), (["clload"], ["load_mem"]))
        self.assertEqual(kernels["copy-nt"], ["copy_mem", "copy_mem_avx", "copy_mem_avx512", "copy_mem_sse"])
        self.assertFalse(set(kernels["copy"]) & set(kernels["copy-nt"]))

    def test_mbw(self):
        # A median of five, doubled because mbw counts a copy once.
        rate = comparators.parse_mbw(sample("mbw-memcpy.txt"))
        lines = [line for line in sample("mbw-memcpy.txt").splitlines() if line[:1].isdigit()]
        figures = sorted(float(line.split("Copy: ")[1].split()[0]) for line in lines)
        self.assertEqual(rate, 2 * MIB * figures[2])
        self.assertGreater(comparators.parse_mbw(sample("mbw-dumb.txt")), 0)

    def test_sysbench(self):
        text = sample("sysbench-read.txt")
        rate = comparators.parse_sysbench(text)
        self.assertIn(f"({rate / MIB:.2f} MiB/sec)", text)

    def test_stress_ng(self):
        rates = comparators.parse_memrate(sample("stress-ng-memrate.txt"))
        self.assertIn("read128pf", rates)
        self.assertIn("memset", rates)
        self.assertEqual(
            [comparators.memrate_operation(m) for m in ("read64", "write512", "write64stoq", "write128nt", "memset")],
            ["read", "write", "write-nt", "write-nt", "write-nt"])
        stream = comparators.parse_stream(sample("stress-ng-stream.txt"))
        self.assertTrue(1e9 < stream < 1e12)

    def test_output_without_figures_has_a_reason(self):
        parsers = (comparators.parse_likwid, comparators.parse_mbw, comparators.parse_sysbench,
                   comparators.parse_memrate, comparators.parse_stream, comparators.parse_memgauge)
        for parser in parsers:
            with self.assertRaises(NoResult):
                parser("nothing here\n")

    def test_memgauge(self):
        head = "operation,kernel,size_bytes,threads,status,value,reason\n"
        cell = Cell("L1", "read", 1, 4096)
        rows = comparators.parse_memgauge(head + "read,a,4096,1,measured,5e9,\nread,b,4096,2,measured,6e9,\n")
        self.assertEqual([row["kernel"] for row in comparators.pick(rows, cell)], ["a"])
        for line, reason in (("read,a,4096,1,skipped,,too small", "too small"), ("read,a,8192,1,measured,5e9,", "8192")):
            with self.assertRaisesRegex(NoResult, reason):
                comparators.pick(comparators.parse_memgauge(head + line + "\n"), cell)


class Statistics(unittest.TestCase):
    def test_order_interval(self):
        # Of 5 values the range covers the median with 1 - 2/32, of 6 with 1 - 2/64.
        self.assertEqual(compare.order_interval([3, 1, 2, 5, 4]), (1, 5, 0.9375))
        self.assertEqual(compare.order_interval(range(6)), (0, 5, 0.96875))
        low, high, coverage = compare.order_interval(range(20))
        self.assertEqual((low, high), (5, 14))
        self.assertAlmostEqual(coverage, 0.9586, places=4)
        self.assertEqual(compare.order_interval([7]), (7, 7, 0.0))

    def test_ratios_stay_within_an_alternation(self):
        shots = [
            {"memgauge": {"figures": {"k": 9.0}}, "a": {"figures": {"x": 10.0, "y": 8.0}}, "b": {"reason": "gone"}},
            {"memgauge": {"figures": {"k": 4.0}}, "a": {"figures": {"x": 3.0, "y": 2.0}}, "b": {"reason": "gone"}},
            {"memgauge": {"reason": "refused"}, "a": {"figures": {"x": 1.0}}, "b": {"reason": "gone"}},
        ]
        summary = compare.summarize(Cell("L1", "read", 1, 4096), shots)
        ratio = summary["ratio_to_best"]
        self.assertEqual((ratio["count"], ratio["min"]), (2, 0.9))
        self.assertEqual(summary["no_result"], {"memgauge": "refused", "b": "gone"})
        self.assertEqual(summary["programs"]["a"]["median"], 3.0)


class Requests(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual(compare.parse_sizes("L1=24KiB,DRAM=1GiB,L2=4096"), {"L1": 24576, "DRAM": 1 << 30, "L2": 4096})
        for text in ("L9=1KiB", "L1=", "L1=1XB", "L1"):
            with self.assertRaises(SystemExit):
                compare.parse_sizes(text)

    def test_default_sizes_fit_their_levels(self):
        caches = {"L1": 48 << 10, "L2": 1 << 20, "L3": 32 << 20}
        self.assertEqual(compare.default_sizes(caches, 2)["L3"], 4 << 20)
        self.assertEqual(compare.default_sizes(caches, 2)["DRAM"], 128 << 20)
        self.assertNotIn("L3", compare.default_sizes(caches, 16))
        self.assertEqual(set(compare.default_sizes({}, 1)), {"DRAM"})

    def test_cells_are_matched_by_their_parts(self):
        cell = Cell("L1", "read", 1, 4096)
        for pattern, wanted in (("L1", True), ("L1/read/1", True), ("DRAM,read/1", True), ("L1/copy", False), (None, True)):
            self.assertEqual(compare.matches(cell, pattern), wanted, pattern)


class WholeRuns(unittest.TestCase):
    def compare(self, *args):
        """The JSON and the table of a run against the stub alone."""
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder) / "memgauge"
            stub.write_text(STUB)
            stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
            mode = args[0]
            others, compare.programs.comparators = compare.programs.comparators, list
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    compare.main([*args, "--quick", "--binary", str(stub), "--output", folder])
            finally:
                compare.programs.comparators = others
            return json.loads((Path(folder) / f"{mode}.json").read_text()), (Path(folder) / f"{mode}.md").read_text()

    def test_bandwidth(self):
        document, table = self.compare("bandwidth", "--cells", "L1/read,L1/write", "--sizes", "L1=16KiB", "--threads", "1")
        read, write = document["cells"]
        self.assertEqual(read["programs"]["memgauge"]["median"], 2e11)
        self.assertEqual(read["bytes_per_thread"], 16384)
        self.assertIsNone(read["ratio_to_best"])
        self.assertEqual(write["no_result"], {"memgauge": "unsupported: no such thing"})
        self.assertIn("no result: unsupported", table)
        self.assertEqual(document["versions"]["memgauge"], "9.8.7")

    def test_latency(self):
        document, table = self.compare("latency", "--sizes", "L1=16KiB")
        first = document["points"][0]
        self.assertEqual((first["level"], first["whole_cycles"]), ("L1", 4))
        self.assertIn("yes: 4 +0.010", table)

    def test_startup(self):
        document, table = self.compare("startup")
        self.assertEqual(document["wall"]["memgauge --version"]["count"], 20)
        self.assertIn("median ms", table)


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent)
    unittest.main()
