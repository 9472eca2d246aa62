"""docs/platforms.md: on which systems memgauge was tried, and how far.

Scripts under .ci add a line to target/tried.csv when they have seen something work (.ci/packages,
`tried`). Lines of that file take the place of older ones in docs/platforms.csv.

    python3 packaging/platforms.py           takes the new lines over and writes the page
    python3 packaging/platforms.py --check   exits with 1 if the page is not that of the CSV
"""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEN = ROOT / "docs/platforms.csv"
PAGE = ROOT / "docs/platforms.md"
NEW = ROOT / "target/tried.csv"
COLUMNS = ["system", "architecture", "how", "by", "date"]
# Words for how far something was tried, the best one first.
HOW = {
    "run": "the program measured on this system, on a processor of this kind",
    "emulated": "the program or its tests ran under an emulator, where times mean nothing",
    "installed": "a package manager installed the package, the program started, and it was removed",
    "linked": "the program was built; nothing could run it",
    "checked": "the compiler accepted the code",
}


def rows(file: Path) -> list[dict[str, str]]:
    """The lines of a CSV file; none if there is no file."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, COLUMNS))


def merged(old: list[dict[str, str]], new: list[dict[str, str]]) -> list[dict[str, str]]:
    """Old and new lines. Of several with the same system, architecture and `how`, the newest."""
    by_key = {(row["system"], row["architecture"], row["how"]): row for row in [*old, *new]}
    order = list(HOW)
    return sorted(
        by_key.values(), key=lambda row: (row["system"], row["architecture"], order.index(row["how"]))
    )


def page(seen: list[dict[str, str]]) -> str:
    """The page, from what was seen."""
    out = ["# Platforms", ""]
    out += ["Scripts of the project wrote this table when they saw each row happen. A system that is"]
    out += ["not in it was not tried. `.ci/run` tries some rows at each change, other scripts the rest."]
    out += ["`.ci/odd-linux` says what each of its environments (`Linux: NAME`) is.", ""]
    out += ["| how | meaning |", "|---|---|"]
    out += [f"| {how} | {meaning} |" for how, meaning in HOW.items()]
    out += ["", "| system | architecture | how | tried by | last seen |", "|---|---|---|---|---|"]
    out += ["| " + " | ".join([row[c] if c != "by" else f"`{row[c]}`" for c in COLUMNS]) + " |" for row in seen]
    return "\n".join(out) + "\n\n" + (ROOT / "packaging/platforms-rest.md").read_text(encoding="utf-8")


def main() -> int:
    """Renews or checks the page; returns the exit code."""
    seen = merged(rows(SEEN), [])
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page(seen):
            return 0
        print("docs/platforms.md is not current: python3 packaging/platforms.py writes it")
        return 1
    seen = merged(seen, rows(NEW))
    with SEEN.open("w", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(seen)
    PAGE.write_text(page(seen), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
