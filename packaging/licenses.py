"""Writes docs/third-party-licenses.txt: the licences of everything that is in the program.

    python3 packaging/licenses.py            writes the file
    python3 packaging/licenses.py --check    exits with 1 if the file is not what would be written
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from dependencies import LIBRARIES, ROOT, Crate, crates

PAGE = ROOT / "docs/third-party-licenses.txt"
TEXTS = Path(__file__).resolve().parent / "licenses"
RULE = "=" * 100
NAMES = re.compile(r"(UN)?LICEN[CS]E|COPYING|NOTICE", re.IGNORECASE)


def chosen(crate: Crate) -> list[Path]:
    """The files of the licence that is taken of several: MIT where it is offered."""
    files = sorted(path for path in crate.folder.iterdir() if NAMES.match(path.name))
    for word in ("MIT", "ZLIB", "BSD"):
        if word in crate.license.upper():
            taken = [path for path in files if word in path.name.upper()]
            if taken:
                return taken
    return files


def page() -> str:
    """The text of the page."""
    listed = crates()
    texts: dict[str, list[str]] = defaultdict(list)
    without = []
    for crate in listed:
        files = chosen(crate)
        label = f"{crate.name} {crate.version}"
        if not files:
            without.append(f"{label} ({crate.license})")
        for path in files:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            texts["\n".join(line.rstrip() for line in lines).strip()].append(label)
    out = ["Licences of everything that is in the program memgauge.", ""]
    out += ["memgauge itself: MIT OR Apache-2.0.", ""]
    out += [f"{crate.name} {crate.version}: {crate.license}" for crate in listed]
    out += [f"{library.name}: {library.license}, {library.where}" for library in LIBRARIES]
    if without:
        out += ["", "These crates name a licence and carry no text of it:", *without]
    for library in LIBRARIES:
        out += ["", RULE, library.name, RULE, "", (TEXTS / library.text).read_text().strip()]
    for text, labels in sorted(texts.items(), key=lambda item: item[1]):
        out += ["", RULE, *sorted(labels), RULE, "", text]
    return "\n".join(out) + "\n"


def main() -> int:
    """Writes or checks the page; returns the exit code."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/third-party-licenses.txt is not current: python3 packaging/licenses.py writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
