"""The scripts of the recipes with a stand-in for memgauge, and filling recipes in.

.ci/recipes tries them with the real program and the real tools.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import fill

CONTRIB = Path(__file__).resolve().parent

METRICS = """\
# TYPE memgauge_latency_seconds gauge
# UNIT memgauge_latency_seconds seconds
# HELP memgauge_latency_seconds latency, median
memgauge_latency_seconds{kernel="a} 1 2",level="L1"} 1e-9 1795552017
# TYPE memgauge_run gauge
memgauge_run{host="vm",trust="solid"} 1 1795552017
# EOF
"""


class WithStandIn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def call(self, script: str, memgauge: str, *arguments: str) -> subprocess.CompletedProcess:
        """Runs a script of a recipe; `memgauge` is the body of a shell script."""
        program = self.folder / "stand-in"
        program.write_text(f"#!/bin/sh\necho \"$@\" >>'{self.folder}/calls'\n{memgauge}\n")
        program.chmod(0o755)
        environment = {**os.environ, "MEMGAUGE": str(program), "FOLDER": str(self.textfile)}
        command = [str(CONTRIB / script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    @property
    def textfile(self) -> Path:
        path = self.folder / "textfile"
        path.mkdir(exist_ok=True)
        return path


class MemoryCheck(WithStandIn):
    # Writes a report to what follows -o; the exit code of `compare` is in COMPARE.
    BODY = """
    case $1 in
    compare)
        case "$*" in
        *json) printf '{\\n "tally": {\\n "worse": 0,\\n "better": 0,\\n'
               printf ' "cannot_tell": 2,\\n "same": SAME\\n },\\n "same": 7\\n}\\n' ;;
        *"--fail-on worse"*) exit COMPARE ;;
        esac ;;
    *) while [ "$1" != -o ]; do shift; done; echo report >"$2"; exit MEASURE ;;
    esac
    """

    def check(self, measure: int = 0, compare: int = 0, same: int = 1, *arguments: str) -> int:
        body = self.BODY.replace("SAME", str(same)).replace("COMPARE", str(compare))
        report = str(self.folder / "r.json")
        done = self.call(
            "ci/memory-check", body.replace("MEASURE", str(measure)), report, *arguments
        )
        return done.returncode

    def test_first_call_writes_the_report(self):
        self.assertEqual(self.check(0, 4), 0)
        self.assertEqual((self.folder / "r.json").read_text(), "report\n")
        self.assertFalse((self.folder / "r.json.new.json").exists())
        self.assertIn("health -o", (self.folder / "calls").read_text())

    def test_exit_codes_of_later_calls(self):
        self.assertEqual(self.check(0, 0, 1, "latency", "--sizes", "1GiB"), 0)
        self.assertIn("latency --sizes 1GiB -o", (self.folder / "calls").read_text())
        for measure, compare, same, expected in (
            (0, 0, 1, 0),
            (3, 0, 1, 0),
            (0, 4, 1, 4),
            (3, 4, 1, 4),
            (0, 0, 0, 3),
            (1, 0, 1, 1),
            (2, 0, 1, 2),
            (5, 0, 1, 5),
        ):
            with self.subTest(measure=measure, compare=compare, same=same):
                self.assertEqual(self.check(measure, compare, same), expected)


class Textfile(WithStandIn):
    def test_lines_have_no_timestamps(self):
        for code in (0, 3):
            body = f"cat <<'METRICS'\n{METRICS}METRICS\nexit {code}"
            done = self.call("prometheus/memgauge-textfile", body, "--profile", "quick")
            self.assertEqual(done.returncode, 0, done.stderr)
            (file,) = self.textfile.iterdir()
            lines = file.read_text().splitlines()
            self.assertIn('memgauge_latency_seconds{kernel="a} 1 2",level="L1"} 1e-9', lines)
            self.assertIn('memgauge_run{host="vm",trust="solid"} 1', lines)
            self.assertEqual(lines[-1], "memgauge_finished_timestamp_seconds 1795552017")
            self.assertFalse([line for line in lines if line.startswith(("# UNIT", "# EOF"))])
            self.assertEqual(file.stat().st_mode & 0o777, 0o644)

    def test_a_failed_session_keeps_fresh_figures_and_removes_old_ones(self):
        figures = self.textfile / "memgauge.prom"
        other = self.textfile / "other.prom"
        for body, code in (("exit 1", 1), ("exit 0", 1), ("echo cut; exit 3", 3)):
            for path in (figures, other):
                path.write_text("kept\n")
            self.assertEqual(self.call("prometheus/memgauge-textfile", body).returncode, code)
            self.assertEqual(figures.read_text(), "kept\n")
            for path in (figures, other):
                os.utime(path, (0, 0))
            self.assertEqual(self.call("prometheus/memgauge-textfile", body).returncode, code)
            self.assertEqual(list(self.textfile.iterdir()), [other])


class Fill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = Path(folder.name)

    def test_words(self):
        (self.files / "a-1.2.tar.gz").write_bytes(b"archive")
        text = "@REPOSITORY@/v@VERSION@ @SHA256 a-@VERSION@.tar.gz@ rust@@RUST@: user@example"
        digest = hashlib.sha256(b"archive").hexdigest()
        expected = f"x:/v1.2 {digest} rust@{fill.rust_version()}: user@example"
        self.assertEqual(fill.fill(text, "1.2", "x:", self.files), expected)

    def test_missing_files_and_unknown_words_are_errors(self):
        for text in ("@SHA256 none@", "@SHA256 ../x@", "@OTHER@"):
            with self.assertRaises(LookupError):
                fill.fill(text, "1.2", "x:", self.files)

    def test_recipes_have_no_other_address_of_the_project(self):
        recipes = ("homebrew/memgauge.rb", "easybuild/memgauge.eb", "spack/package.py")
        for recipe in recipes:
            text = (CONTRIB / recipe).read_text(encoding="utf-8")
            self.assertIn("@REPOSITORY@", text)
            self.assertNotIn("://", text)


if __name__ == "__main__":
    unittest.main()
