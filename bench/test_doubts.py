"""Tests of doubts.py: what counts as a doubt without need, and as trust without ground."""

import unittest

import doubts


def number(value, grade="solid", half=0.01, causes=()):
    """A headline as doubts.py keeps it; `half` is the interval's relative to the value."""
    return doubts.Number({
        "summary": {"median": value, "ci_low": value * (1 - half), "ci_high": value * (1 + half)},
        "verdict": {"grade": grade, "reasons": [{"cause": cause} for cause in causes]},
    })


def report(kernel, *numbers):
    points = [{"coordinates": {"size_bytes": size, "kernel": kernel},
               "outcome": {"status": "measured", "choice": {"kernel": kernel}, "verdict": {"grade": grade},
                           "summary": {"median": value, "ci_low": value, "ci_high": value}}}
              for size, (value, grade) in enumerate(numbers)]
    return {"datasets": [{"experiment": "bandwidth", "points": points}]}


class Judging(unittest.TestCase):
    def test_a_doubt_about_what_repeats_is_false(self):
        values = [number(100 + k / 10) for k in range(9)] + [number(101, "doubtful")]
        self.assertEqual(len(doubts.judge(values, 0.05)[0]), 1)

    def test_a_doubt_about_what_does_not_repeat_or_is_off_is_none(self):
        wild = [number(value) for value in (80, 120, 90, 110, 100, 100, 70, 130, 100)] + [number(100, "doubtful")]
        self.assertEqual(doubts.judge(wild, 0.05)[0], [])
        off = [number(100)] * 9 + [number(120, "doubtful")]
        self.assertEqual(doubts.judge(off, 0.05), ([], []))

    def test_trust_in_what_is_off_is_false_unless_its_interval_says_so(self):
        narrow, wide = number(112, half=0.01), number(112, half=0.10)
        self.assertEqual(doubts.judge([number(100)] * 9 + [narrow], 0.05)[1], [narrow])
        self.assertEqual(doubts.judge([number(100)] * 9 + [wide], 0.05)[1], [])

    def test_nothing_is_said_of_a_level_of_zero(self):
        self.assertEqual(doubts.judge([number(0.0)] * 3, 0.05), ([], []))


class Counting(unittest.TestCase):
    def test_only_points_of_all_runs_count_whatever_kernel_was_chosen(self):
        runs = [report("read/avx", (100, "solid"), (50, "solid")), report("read/sse2", (101, "solid")),
                report("read/avx", (100, "doubtful"))]
        lines = doubts.table(runs, 0.05)
        self.assertIn("| bandwidth | 3 | 1 (33.3%) | 1 (33.3%) | 0 (0.0%) |", lines)
        self.assertIn("1 points in each of 3 runs; 1 not in all of them.", lines)


if __name__ == "__main__":
    unittest.main()
