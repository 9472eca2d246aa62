"""The example notebook: its code, and what it keeps of the session that was run."""

from __future__ import annotations

import ast
import json
import unittest

import samples

import memgauge

NOTEBOOK = samples.ROOT / "python" / "examples" / "bandwidth.ipynb"


class Example(unittest.TestCase):
    def setUp(self):
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        self.cells = [cell for cell in cells if cell["cell_type"] == "code"]

    def test_names_exist(self):
        code = "\n".join("".join(cell["source"]) for cell in self.cells)
        used = {
            node.attr
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "memgauge"
        }
        self.assertEqual(used - set(memgauge.__all__), set())
        self.assertIn("run", used)

    def test_outputs_are_there_and_small(self):
        outputs = [output for cell in self.cells for output in cell["outputs"]]
        kinds = [output["output_type"] for output in outputs]
        self.assertNotIn("error", kinds)
        self.assertTrue(any("image/png" in output.get("data", {}) for output in outputs))
        self.assertLess(NOTEBOOK.stat().st_size, 64 * 1024)


if __name__ == "__main__":
    unittest.main()
