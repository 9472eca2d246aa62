"""Runs memgauge, which measures memory systems, and gives its reports as typed data.

    import memgauge

    report = memgauge.run("latency", sizes="512MiB", budget="20s")
    for point in report.dataset("latency").points:
        print(point.coordinates["size_bytes"], point.value, point.unit, point.trust)

`memgauge.load` reads a saved report; `report.to_pandas()` and `report.to_polars()` make frames.
The program measures; this package has no measuring code.
"""

from __future__ import annotations

from . import model
from ._errors import MemgaugeError, ReportError
from ._program import call, compare, find_program, load, loads, run
from .model import Dataset, Finding, Measured, Missing, Point, Report

__version__ = "0.1.0"

__all__ = [
    "Dataset",
    "Finding",
    "Measured",
    "MemgaugeError",
    "Missing",
    "Point",
    "Report",
    "ReportError",
    "call",
    "compare",
    "find_program",
    "load",
    "loads",
    "model",
    "run",
]
