"""Tests of compare_check.py against a stub of memgauge, whose runs take what the test says."""

import contextlib
import io
import stat
import tempfile
import unittest
from pathlib import Path

import compare_check

STUB = """#!/usr/bin/env python3
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
words = sys.argv[1:]
if words[0] == "compare":
    # Whatever the numbers are.
    change, pairs = (folder / "change").read_text(), []
    for value, size in ((json.load(open(words[2]))["value"], 1), (1.0, 2)):
        change_of = change if size == 1 else "same"
        pairs.append({"coordinates": {"size_bytes": size, "kernel": "k"}, "change": change_of, "ratio_low": value,
                      "ratio_high": value, "remark": None})
    tally = {word: sum(p["change"] == word for p in pairs) for word in ("worse", "better", "cannot-tell", "same")}
    print(json.dumps({"tally": tally, "unaligned": [], "groups": [
        {"experiment": "latency", "quantity": {"higher_is_better": False}, "pairs": pairs}]}))
    sys.exit()
values = json.loads((folder / "values").read_text())
value = values.pop(0)
(folder / "values").write_text(json.dumps(values))
points = [{"coordinates": {"size_bytes": size, "kernel": "k"}, "outcome": {"status": "measured", "summary": {"median": median}}}
          for size, median in ((1, value), (2, 1.0))]
report = {"value": value, "datasets": [{"experiment": "latency", "points": points}]}
pathlib.Path(words[words.index("-o") + 1]).write_text(json.dumps(report))
"""


class Checks(unittest.TestCase):
    def run_check(self, name, values, change, *options):
        """Exit code and output of a check whose runs give `values`, and of which `compare` says `change`."""
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder) / "memgauge"
            stub.write_text(STUB)
            stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
            (Path(folder) / "values").write_text(str(values))
            (Path(folder) / "change").write_text(change)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = compare_check.main([name, "--binary", str(stub), *options])
            return code, out.getvalue()

    def test_runs_that_come_out_the_same_are_as_promised(self):
        code, out = self.run_check("same", [1.0, 1.0, 1.0], "same", "--pairs", "2")
        self.assertEqual(code, 0, out)
        self.assertIn("0 of 4 better or worse (0.0%, allowed 2%)", out)
        code, out = self.run_check("same", [1.0, 1.0], "worse", "--pairs", "1")
        self.assertEqual(code, 1, out)
        self.assertIn("not as promised: same", out)

    def test_what_became_faster_in_every_pair_may_come_out_better(self):
        for ratios, truth in (([1.1, 1.3], "slower"), ([0.86, 0.95], "faster"), ([0.95, 1.02], "as before"),
                              ([0.99, 1.2], "unclear")):
            self.assertEqual(compare_check.truth_of(ratios, 0.1), truth, ratios)
        code, out = self.run_check("pages", [1.2, 1.0] * 3, "better")
        self.assertEqual(code, 0, out)
        code, out = self.run_check("pages", [1.2, 1.0] * 3, "worse")
        self.assertEqual(code, 1, out)
        self.assertIn("WRONG worse", out)

    def test_a_slowdown_has_to_be_found(self):
        # Before and with the fault in turns.
        slower = [1.0, 1.2, 1.0, 1.3]
        for change, code in (("worse", 0), ("same", 1), ("better", 1), ("cannot-tell", 1)):
            got, out = self.run_check("pages", slower, change, "--turns", "2")
            self.assertEqual((got, "1 points became at least 10% slower" in out), (code, True), out)

    def test_what_did_not_become_slower_must_not_come_out_worse(self):
        code, out = self.run_check("pages", [1.0, 1.01, 1.0, 1.02], "worse", "--turns", "2")
        self.assertEqual(code, 1, out)
        self.assertIn("WRONG worse", out)
        code, out = self.run_check("pages", [1.0, 1.01, 1.0, 1.02], "same", "--turns", "2")
        self.assertEqual(code, 0, out)
        self.assertIn("nothing was proven", out)

    def test_unknown_checks_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            compare_check.main(["all"])


if __name__ == "__main__":
    unittest.main()
