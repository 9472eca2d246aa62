"""Python wheels that carry the program, one for each target.

    wheels.py BINARIES OUTPUT

BINARIES/TARGET_TRIPLE/memgauge[.exe] are the programs. A wheel is a zip file whose layout is in
"Binary distribution format" of the Python packaging specifications. maturin and hatchling make such
wheels too, but for the machine that they run on, or one at a time with a tag that nothing checks.

SOURCE_DATE_EPOCH is the time of every file in a wheel. Equal inputs and an equal zlib make equal
bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import struct
import sys
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python"

# Linux programs are static and need no C library. So they have the oldest tags of glibc and of musl that installers and
# registries know for the architecture.
TAGS = {
    "x86_64-unknown-linux-musl": "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "i686-unknown-linux-musl": "manylinux2014_i686.manylinux_2_17_i686.musllinux_1_1_i686",
    "aarch64-unknown-linux-musl": (
        "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64"
    ),
    "armv7-unknown-linux-musleabihf": (
        "manylinux2014_armv7l.manylinux_2_17_armv7l.musllinux_1_2_armv7l"
    ),
    "riscv64gc-unknown-linux-musl": "manylinux_2_31_riscv64.musllinux_1_2_riscv64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "universal-apple-darwin": "macosx_11_0_universal2",
    "x86_64-pc-windows-gnu": "win_amd64",
    "x86_64-pc-windows-gnullvm": "win_amd64",
    "aarch64-pc-windows-gnullvm": "win_arm64",
}

# Numbers of processors in the headers of programs: e_machine of ELF, Machine of PE, cputype of
# Mach-O.
ELF_MACHINES = {"x86_64": 62, "i686": 3, "aarch64": 183, "armv7": 40, "riscv64gc": 243}
PE_MACHINES = {"x86_64": 0x8664, "aarch64": 0xAA64}
MACHO_TYPES = {"x86_64": 0x0100_0007, "aarch64": 0x0100_000C}

MANUAL = {
    "share/man/man1/memgauge.1": "docs/memgauge.1",
    "share/bash-completion/completions/memgauge": "docs/completions/memgauge.bash",
    "share/fish/vendor_completions.d/memgauge.fish": "docs/completions/memgauge.fish",
    "share/zsh/site-functions/_memgauge": "docs/completions/_memgauge",
}

LICENSES = ["LICENSE-APACHE", "LICENSE-MIT", "docs/third-party-licenses.txt"]


def why_not(triple: str, program: bytes) -> str | None:
    """The reason why `program` is not one for the tags of the target; `None` if it is one."""
    processor = triple.partition("-")[0]
    try:
        if "linux" in triple:
            return why_not_elf(processor, program)
        if "windows" in triple:
            (header,) = struct.unpack_from("<I", program, 0x3C)
            magic, machine = struct.unpack_from("<4sH", program, header)
            named = program[:2] == b"MZ" and magic == b"PE\0\0"
            right = named and machine == PE_MACHINES[processor]
            return None if right else f"no program for Windows on {processor}"
        return why_not_macho(processor, program)
    except struct.error:
        return "too short for a program"


def why_not_elf(processor: str, program: bytes) -> str | None:
    wide = program[4:5] == b"\x02"
    (machine,) = struct.unpack_from("<H", program, 18)
    if program[:4] != b"\x7fELF" or machine != ELF_MACHINES[processor]:
        return f"no program for Linux on {processor}"
    (table,) = struct.unpack_from("<Q" if wide else "<I", program, 32 if wide else 28)
    size, count = struct.unpack_from("<HH", program, 54 if wide else 42)
    kinds = [struct.unpack_from("<I", program, table + size * place)[0] for place in range(count)]
    # PT_INTERP names the dynamic loader, which belongs to one C library.
    return "not static: it names a dynamic loader" if 3 in kinds else None


def why_not_macho(processor: str, program: bytes) -> str | None:
    if processor == "universal":
        magic, count = struct.unpack_from(">II", program, 0)
        if magic != 0xCAFE_BABE:
            return "no universal program"
        types = {struct.unpack_from(">I", program, 8 + 20 * place)[0] for place in range(count)}
        return None if types == set(MACHO_TYPES.values()) else "not for both processors"
    magic, cpu = struct.unpack_from("<II", program, 0)
    right = magic == 0xFEED_FACF and cpu == MACHO_TYPES[processor]
    return None if right else f"no program for macOS on {processor}"


def version() -> str:
    text = (PACKAGE / "src/memgauge/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE).group(1)


def metadata(licenses: list[str]) -> str:
    """METADATA, from pyproject.toml."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in licenses),
        *(f"Classifier: {name}" for name in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (PACKAGE / project["readme"]).read_text(encoding="utf-8")


def contents(triple: str, program: bytes) -> dict[str, bytes]:
    """Files of the wheel by path, without RECORD."""
    name = f"memgauge-{version()}"
    suffix = ".exe" if "windows" in triple else ""
    files = {f"{name}.data/scripts/memgauge{suffix}": program}
    source = PACKAGE / "src"
    for path in [*source.rglob("*.py"), *source.rglob("py.typed")]:
        files[path.relative_to(source).as_posix()] = path.read_bytes()
    if "windows" not in triple:
        for target, path in MANUAL.items():
            files[f"{name}.data/data/{target}"] = (ROOT / path).read_bytes()
    licenses = [path for path in LICENSES if (ROOT / path).exists()]
    for path in licenses:
        files[f"{name}.dist-info/licenses/{Path(path).name}"] = (ROOT / path).read_bytes()
    text = metadata([Path(path).name for path in licenses])
    files[f"{name}.dist-info/METADATA"] = text.encode()
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in TAGS[triple].split("."))
    head = "Wheel-Version: 1.0\nGenerator: memgauge .ci/wheels\nRoot-Is-Purelib: false\n"
    files[f"{name}.dist-info/WHEEL"] = (head + tags).encode()
    return files


def record(files: dict[str, bytes], place: str) -> bytes:
    """RECORD: path, digest and size of each file, and its own path."""
    lines = []
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=")
        lines.append(f"{path},sha256={digest.decode()},{len(files[path])}\n")
    return ("".join(lines) + f"{place},,\n").encode()


def make(triple: str, program: bytes, output: Path, epoch: int) -> Path:
    """Writes the wheel of a target into the folder `output`; returns its path."""
    name = f"memgauge-{version()}"
    files = contents(triple, program)
    place = f"{name}.dist-info/RECORD"
    files[place] = record(files, place)
    # A zip file begins its years at 1980, and counts seconds in steps of two.
    when = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
    wheel = output / f"{name}-py3-none-{TAGS[triple]}.whl"
    # Installers read the folder dist-info last; its files stand at the end of the zip file.
    order = sorted(files, key=lambda path: (".dist-info/" in path, path == place, path))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in order:
            entry = zipfile.ZipInfo(path, when)
            mode = 0o100755 if ".data/scripts/" in path else 0o100644
            entry.create_system = 3
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[path])
    return wheel


def main(binaries: str, output: str) -> int:
    """Makes all wheels; returns an exit code."""
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    Path(output).mkdir(parents=True, exist_ok=True)
    made = 0
    for triple in TAGS:
        for path in Path(binaries, triple).glob("memgauge*"):
            if path.name not in ("memgauge", "memgauge.exe"):
                continue
            program = path.read_bytes()
            reason = why_not(triple, program)
            if reason:
                print(f"{path}: {reason}", file=sys.stderr)
                return 1
            wheel = make(triple, program, Path(output), epoch)
            print(f"{wheel.stat().st_size:9} {wheel.name}")
            made += 1
    if not made:
        print(f"{binaries}: no TARGET_TRIPLE/memgauge of {', '.join(TAGS)}", file=sys.stderr)
    return 0 if made else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: wheels.py BINARIES OUTPUT")
    sys.exit(main(*sys.argv[1:]))
