"""Replaces the words between @ in a recipe, for a release.

    fill.py RECIPE VERSION REPOSITORY FILES_FOLDER

The filled recipe goes to standard output. @VERSION@ and @REPOSITORY@ (an address without a slash
at its end) are the arguments. @RUST@ is the oldest Rust that builds the program. @SHA256 FILE@ is
the digest of a file in FILES_FOLDER. A missing file is an error: no recipe has a wrong digest.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def rust_version() -> str:
    """The oldest version of Rust, from Cargo.toml."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    return re.search(r'^rust-version = "([\d.]+)"', text, re.MULTILINE).group(1)


def fill(text: str, version: str, repository: str, files: Path) -> str:
    """The text with all words filled in.

    Errors: `LookupError` for unknown words and missing files.
    """
    words = {"@VERSION@": version, "@REPOSITORY@": repository, "@RUST@": rust_version()}
    for word, value in words.items():
        text = text.replace(word, value)

    def digest(match: re.Match[str]) -> str:
        path = files / match.group(1)
        if not path.is_file():
            raise LookupError(f"no file {path}")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    text = re.sub(r"@SHA256 ([\w.-]+)@", digest, text)
    left = re.search(r"@[A-Z][A-Z0-9]*[@ ]", text)
    if left:
        raise LookupError(f"unknown word {left.group()}")
    return text


def main(arguments: list[str]) -> int:
    """Fills one recipe; returns an exit code."""
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    recipe, version, repository, files = arguments
    try:
        text = Path(recipe).read_text(encoding="utf-8")
        print(fill(text, version, repository.rstrip("/"), Path(files)), end="")
    except (OSError, LookupError) as error:
        print(f"{recipe}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
