"""Which crates are in the program, on any of the targets that releases are built for."""

import json
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def targets() -> list[tuple[str, str]]:
    """Pairs of Rust's name and zig's name of each target of a release."""
    lines = (ROOT / "packaging/targets.txt").read_text().splitlines()
    return [tuple(line.split()[:2]) for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True)
class Library:
    """A part of the program that no crate brings."""

    name: str
    license: str
    text: str
    """File in packaging/licenses."""
    where: str


LIBRARIES = [
    Library("Rust standard library", "MIT OR Apache-2.0", "rust.txt", "in every program"),
    Library("musl", "MIT", "musl.txt", "in programs for Linux"),
    Library("mingw-w64", "ZPL-2.1", "mingw-w64.txt", "in programs for Windows"),
    Library("libunwind", "Apache-2.0 WITH LLVM-exception", "libunwind.txt", "in programs for Windows"),
    Library("FreeBSD start-up code", "BSD-2-Clause", "freebsd.txt", "in programs for FreeBSD"),
    Library("DejaVu fonts", "Bitstream-Vera", "dejavu.txt", "in every program"),
]


@dataclass(frozen=True)
class Crate:
    """A crate of another author that the program contains."""

    name: str
    version: str
    license: str
    folder: Path
    sha256: str


def metadata(target: str) -> dict:
    """What cargo says about the crates for `target`, from the lock file."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def reachable(graph: dict) -> set[str]:
    """Identifiers of the crates that the program is linked with, or that are used to build it.

    A crate that only writes code for the compiler (a procedural macro) and what it uses are not in
    the program. Crates used by build scripts count: the font in the program is from one.
    """
    macros = {
        package["id"]
        for package in graph["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    found: set[str] = set()
    open_ids = [package["id"] for package in graph["packages"] if package["name"] == "memgauge"]
    while open_ids:
        identifier = open_ids.pop()
        if identifier in found or identifier in macros:
            continue
        found.add(identifier)
        for dependency in nodes[identifier]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                open_ids.append(dependency["pkg"])
    return found


def crates() -> list[Crate]:
    """The crates of others in the program, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock}
    found = set()
    for target, _ in targets():
        graph = metadata(target)
        inside = reachable(graph)
        for package in graph["packages"]:
            if package["id"] not in inside or package["source"] is None:
                continue
            name, version = package["name"], package["version"]
            found.add(
                Crate(
                    name,
                    version,
                    (package["license"] or "see its text").replace("/", " OR "),
                    Path(package["manifest_path"]).parent,
                    checksums[name, version],
                )
            )
    return sorted(found, key=lambda crate: (crate.name, crate.version))
