"""Loads a filled package.py with a stand-in for Spack: stand_in.py PACKAGE FILES_FOLDER.

Checked: directives have values of the right kinds, the digest is that of the archive, and files
that are installed are in it.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import runpy
import sys
import tarfile
import types
from pathlib import Path

calls: list[tuple[str, tuple, dict]] = []


def directive(name: str):
    """A directive that notes its arguments."""
    return lambda *values, **options: calls.append((name, values, options))


class CargoPackage:
    """What the package inherits from."""


def main(package: str, files: str) -> None:
    """Loads and checks the package."""
    spack = types.ModuleType("spack.package")
    for name in ("license", "version", "depends_on"):
        setattr(spack, name, directive(name))
    spack.run_after = lambda phase: lambda function: function
    cargo = types.ModuleType("cargo")
    cargo.CargoPackage = CargoPackage
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["spack.package"] = spack
    sys.modules["spack_repo.builtin.build_systems.cargo"] = cargo
    recipe = runpy.run_path(package)["Memgauge"]

    assert issubclass(recipe, CargoPackage)
    archive = Path(files, recipe.url.rpartition("/")[2])
    (given,) = (options for name, _, options in calls if name == "version")
    assert given["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    (rust,) = (
        values[0] for name, values, _ in calls if name == "depends_on" and "rust" in values[0]
    )
    assert re.fullmatch(r"rust@\d+\.\d+:", rust), rust
    assert recipe().build_args[-1] == "dist"
    with tarfile.open(archive) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    installed = re.findall(r'install\("([^"]+)"', inspect.getsource(recipe.install_manual))
    assert len(installed) == 4 and set(installed) <= names, installed
    assert f"{recipe.build_directory}/Cargo.toml" in names
    print(archive.name, calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
