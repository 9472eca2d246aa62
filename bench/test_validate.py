"""Tests of validate.py: when a measured figure agrees with a published one, and what becomes of the page."""

import tempfile
import unittest
from pathlib import Path

import validate


def report(design="Zen 4", cycles=4.0, entries=(64, 91), read=236e9):
    figure = {"source": "a manual"}
    documented = [
        {**figure, "quantity": "l1d_latency_cycles", "low": 4, "high": 4},
        {**figure, "quantity": "l1d_bytes", "low": 32768, "high": 32768},
        {**figure, "quantity": "l1_dtlb_entries_4k", "low": 72, "high": 72},
        {**figure, "quantity": "load_bytes_per_cycle", "low": 64, "high": 64},
    ]
    cache = {"level": 1, "core_cycles": cycles, "low_bytes": 32768, "high_bytes": 46000}
    tlb = {"level": 1, "page_bytes": 4096, "entries_at_least": entries[0], "entries_below": entries[1]}
    point = {"coordinates": {"operation": "read", "level": "L1", "threads": 1},
             "outcome": {"status": "measured", "limit": {"value": 236e9},
                         "summary": {"median": 0.9 * read}, "also": {"undisturbed": read}}}
    host = {"cpu": {"microarchitecture": {"value": design}, "model_name": {"value": "a processor"},
                    "documented": documented},
            "system": {"virtualization": {"value": "KVM"}}}
    return {"provenance": {"host": host}, "datasets": [{"experiment": "bandwidth", "points": [point]}],
            "findings": [{"kind": "cache-level", "values": cache}, {"kind": "tlb-level", "values": tlb}]}


def instruction(cycles):
    point = {"coordinates": {"operation": "multiply", "timing": "latency"},
             "outcome": {"status": "measured", "also": {"core_cycles": cycles}}}
    return {"datasets": [{"experiment": "instructions", "points": [point]}]}


def answers(**figures):
    _, lines = validate.section([report(**figures)], [])
    return {line.split(" | ")[0].strip("| "): line.split(" | ")[3] for line in lines[6:]}


class Agreement(unittest.TestCase):
    def test_each_kind_of_figure_is_compared(self):
        self.assertEqual(set(answers().values()), {"yes"})
        self.assertEqual(len(answers()), 4)

    def test_what_differs_is_told(self):
        self.assertEqual(answers(cycles=4.5)["L1 latency, cycles"], "no")
        self.assertEqual(answers(entries=(512, 861))["first TLB, 4k pages, entries"], "no")
        self.assertEqual(answers(read=221e9)["L1 read, undisturbed, bytes per cycle"], "no")

    def test_instructions_are_those_of_the_design(self):
        rows = list(validate.instruction_rows([instruction(3.01), instruction(3.0)], "Zen 4"))
        self.assertEqual([(row.cells[0], row.agrees) for row in rows], [("multiply, latency, cycles", True)])
        self.assertEqual(list(validate.instruction_rows([instruction(3.0)], "Zen 99")), [])
        self.assertFalse(next(validate.instruction_rows([instruction(4.0)], "Zen 4")).agrees)


class Page(unittest.TestCase):
    def test_a_section_replaces_that_of_its_design_only(self):
        with tempfile.TemporaryDirectory() as folder:
            kept, validate.PAGE = validate.PAGE, Path(folder) / "validation.md"
            try:
                validate.put("Zen 5", ["## Zen 5", "", "old"])
                validate.put("Zen 4", ["## Zen 4", "", "first"])
                validate.put("Zen 5", ["## Zen 5", "", "new"])
                text = validate.PAGE.read_text()
            finally:
                validate.PAGE = kept
        self.assertNotIn("old", text)
        self.assertLess(text.index("## Zen 4"), text.index("## Zen 5"))
        self.assertIn("first", text)
        self.assertTrue(text.startswith("# Measured"))


if __name__ == "__main__":
    unittest.main()
