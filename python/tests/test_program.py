"""How the program is found, called and ended. Most tests use a stand-in for it."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path
from unittest import mock

import samples

import memgauge
from memgauge import _program

SAMPLE = samples.ROOT / "docs" / "results" / "zen4-kvm-2cpus.json"
SOURCE = str(samples.ROOT / "python" / "src")


@unittest.skipIf(os.name == "nt", "the stand-ins are scripts for sh")
class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.arguments = self.folder / "arguments"

    def stand_in(self, body: str) -> str:
        """A program that writes its arguments to a file and then does `body`."""
        path = self.folder / "memgauge"
        lines = f"#!/bin/sh\nprintf '%s\\n' \"$@\" >'{self.arguments}'\n{textwrap.dedent(body)}\n"
        path.write_text(lines, encoding="utf-8")
        path.chmod(0o755)
        patch = mock.patch.dict(os.environ, {"MEMGAUGE": str(path)})
        patch.start()
        self.addCleanup(patch.stop)
        return str(path)

    def typed(self) -> list[str]:
        return self.arguments.read_text(encoding="utf-8").splitlines()

    def test_options_become_arguments(self):
        self.stand_in(f"cat '{SAMPLE}'")
        memgauge.run(
            "latency", sizes=["4KiB", 512], threads=1, strict=True, pages=None, verbose=False,
            output=Path("a b.json"), dram_peak="1GB/s",
        )  # fmt: skip
        expected = ["latency", "--sizes=4KiB,512", "--threads=1", "--strict"]
        expected += ["--output=a b.json", "--dram-peak=1GB/s", "--format=json"]
        self.assertEqual(self.typed(), expected)

    def test_reports_of_incomplete_sessions_and_slow_machines_are_returned(self):
        for code in (0, 3, 4):
            self.stand_in(f"cat '{SAMPLE}'; exit {code}")
            self.assertEqual(len(memgauge.run("health").datasets), 9)

    def test_errors_have_exit_code_and_message(self):
        for code in (1, 2, 3, 5):
            self.stand_in(f"echo 'memgauge: no room: 1 B' >&2; exit {code}")
            with self.assertRaises(memgauge.MemgaugeError) as caught:
                memgauge.run("latency")
            self.assertEqual(caught.exception.exit_code, code)
            self.assertEqual(caught.exception.message, "no room: 1 B")

    def test_a_signal_is_a_negative_exit_code(self):
        self.stand_in("kill -TERM $$")
        with self.assertRaises(memgauge.MemgaugeError) as caught:
            memgauge.run("latency")
        self.assertEqual(caught.exception.exit_code, -signal.SIGTERM)

    def test_a_result_that_is_no_report(self):
        for text in ("no", "{}", "[1]"):
            self.stand_in(f"echo '{text}'")
            with self.assertRaises(memgauge.ReportError):
                memgauge.run("latency")

    def test_call_returns_any_exit_code(self):
        self.stand_in("echo out; echo err >&2; exit 4")
        done = memgauge.call("compare", "a", "b", fail_on="worse")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "out\n", "err\n"))
        self.assertEqual(self.typed(), ["compare", "a", "b", "--fail-on=worse"])

    def test_compare_returns_what_the_program_says(self):
        self.stand_in("""echo '{"tally": {"worse": 2}}'; exit 4""")
        self.assertEqual(memgauge.compare("a", "b", fail_on="worse")["tally"], {"worse": 2})

    def test_load_has_other_files_converted(self):
        self.stand_in(f"cat '{SAMPLE}'")
        memgauge.load("last")
        self.assertEqual(self.typed(), ["report", "last", "--format=json"])

    def test_a_missing_program_is_an_error(self):
        with mock.patch.dict(os.environ, {"MEMGAUGE": str(self.folder / "none")}):
            with self.assertRaises(memgauge.MemgaugeError) as caught:
                memgauge.call("--version")
        self.assertIsNone(caught.exception.exit_code)

    def test_the_environment_names_the_program_first(self):
        self.assertEqual(self.stand_in("exit 0"), memgauge.find_program())

    def test_the_program_beside_this_python_comes_before_path(self):
        path = self.stand_in("exit 0")
        del os.environ["MEMGAUGE"]
        with mock.patch.object(_program, "_script_folders", return_value=[str(self.folder)]):
            self.assertEqual(memgauge.find_program(), path)
        with mock.patch.object(_program, "_script_folders", return_value=[]):
            with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
                self.assertEqual(memgauge.find_program(), path)
            with mock.patch.dict(os.environ, {"PATH": ""}):
                with self.assertRaises(memgauge.MemgaugeError):
                    memgauge.find_program()

    def module(self, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": SOURCE}
        command = [sys.executable, "-m", "memgauge", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe)

    def test_module_has_exit_code_and_arguments_of_the_program(self):
        self.stand_in("exit 5")
        with self.module("list", "a b", "--sizes", "1") as process:
            self.assertEqual(process.wait(30), 5)
        self.assertEqual(self.typed(), ["list", "a b", "--sizes", "1"])

    def test_module_is_replaced_so_that_signals_reach_the_program(self):
        self.stand_in("trap 'exit 43' TERM; echo ready; while :; do sleep 0.05; done")
        with self.module() as process:
            process.stdout.readline()
            process.terminate()
            self.assertEqual(process.wait(30), 43)

    def test_module_without_program(self):
        with mock.patch.dict(os.environ, {"MEMGAUGE": str(self.folder / "none")}):
            with self.module() as process:
                self.assertEqual(process.wait(30), 127)
                self.assertIn(b"cannot start", process.stderr.read())

    def test_interrupt_lets_the_program_end_its_session(self):
        ended = self.folder / "ended"
        # Each signal adds a line. Python waits for the program by the time that it is ready.
        self.stand_in(
            f"""
            trap 'echo saved >>{ended}' INT
            sleep 1
            echo ready >{self.folder}/ready
            while [ ! -e {ended} ]; do sleep 0.05; done
            sleep 0.3
            exit 3
            """
        )
        code = "import memgauge; memgauge.run('latency')"
        environment = {**os.environ, "PYTHONPATH": SOURCE}
        with subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            until = time.monotonic() + 30
            while not (self.folder / "ready").exists() and time.monotonic() < until:
                time.sleep(0.02)
            # As a terminal does: a signal to the whole group.
            os.killpg(process.pid, signal.SIGINT)
            messages = process.communicate(timeout=30)[1]
        self.assertIn(b"KeyboardInterrupt", messages)
        self.assertEqual(ended.read_text(), "saved\n")


@unittest.skipUnless(samples.PROGRAM, "no program: set MEMGAUGE to its path")
class RealProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.dict(
            os.environ, {"MEMGAUGE": samples.PROGRAM, "XDG_STATE_HOME": folder.name}
        )
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_session(self):
        report = memgauge.run("bandwidth", ops="read", sizes="16KiB", threads=1, budget="10s")
        (point,) = report.dataset("bandwidth").points
        self.assertEqual(point.coordinates["size_bytes"], 16384)
        self.assertEqual((point.status, point.unit), ("measured", "B/s"))
        self.assertEqual(memgauge.load("last"), report)

    def test_a_request_that_cannot_be_carried_out(self):
        with self.assertRaises(memgauge.MemgaugeError) as caught:
            memgauge.run("bandwidth", sizes=0)
        self.assertEqual(caught.exception.exit_code, 2)

    def test_journals_and_csv_are_read(self):
        journal = samples.ROOT / "fuzz" / "corpus" / "saved" / "latency.jsonl"
        self.assertEqual(memgauge.load(journal).datasets[0].experiment, "latency")

    def test_a_report_is_as_fast_as_itself(self):
        tally = memgauge.compare(SAMPLE, SAMPLE, fail_on="worse")["tally"]
        self.assertEqual((tally["worse"], tally["better"]), (0, 0))

    def test_rows_have_the_cells_of_csv(self):
        text = memgauge.call("report", SAMPLE, format="csv").stdout
        cells = list(csv.DictReader(io.StringIO(text)))
        rows = memgauge.load(SAMPLE).rows()
        self.assertEqual(len(rows), len(cells))
        for row, cell in zip(rows, cells):
            for name, value in row.items():
                # Figures without a column of their own are in CSV, too, at the end.
                if isinstance(value, float):
                    self.assertAlmostEqual(float(cell[name]) / value if value else 1, 1, 5, name)
                else:
                    self.assertEqual(cell[name], "" if value is None else str(value), name)


if __name__ == "__main__":
    unittest.main()
