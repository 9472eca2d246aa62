"""Reports of the repository, and the program if there is one, for the tests."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))
sys.path.insert(0, str(ROOT / "python" / "tools"))

PROGRAM = os.environ.get("MEMGAUGE") or shutil.which("memgauge")


def reports() -> list[Path]:
    """JSON reports of this schema version under docs and fuzz."""
    found = []
    for path in [*ROOT.glob("docs/**/*.json"), *ROOT.glob("fuzz/corpus/saved/*.json")]:
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and data.get("schema_version") == 3:
            found.append(path)
    return sorted(found)
