"""Wheels: tags, bytes, digests, and the programs that are refused."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import importlib.util
import io
import os
import struct
import sys
import tempfile
import unittest
import zipfile
from email import message_from_bytes
from pathlib import Path
from unittest import mock

import samples

import memgauge

EPOCH = 1_790_000_000


def elf(machine: int, wide: bool = True, kinds: tuple[int, ...] = (1,)) -> bytes:
    """Headers of an ELF program with segments of these kinds."""
    head = bytearray(64 if wide else 52)
    head[:5] = b"\x7fELF" + (b"\x02" if wide else b"\x01")
    size = 56 if wide else 32
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<Q" if wide else "<I", head, 32 if wide else 28, len(head))
    struct.pack_into("<HH", head, 54 if wide else 42, size, len(kinds))
    return bytes(head) + b"".join(struct.pack("<I", kind).ljust(size, b"\0") for kind in kinds)


def windows(machine: int) -> bytes:
    return b"MZ".ljust(0x3C, b"\0") + struct.pack("<I4sH", 0x40, b"PE\0\0", machine)


def universal(*types: int) -> bytes:
    entries = b"".join(struct.pack(">IIIII", kind, 0, 0, 0, 0) for kind in types)
    return struct.pack(">II", 0xCAFEBABE, len(types)) + entries


PROGRAMS = {
    "x86_64-unknown-linux-musl": elf(62),
    "i686-unknown-linux-musl": elf(3, wide=False),
    "aarch64-unknown-linux-musl": elf(183),
    "armv7-unknown-linux-musleabihf": elf(40, wide=False),
    "riscv64gc-unknown-linux-musl": elf(243),
    "x86_64-apple-darwin": struct.pack("<II", 0xFEEDFACF, 0x01000007),
    "aarch64-apple-darwin": struct.pack("<II", 0xFEEDFACF, 0x0100000C),
    "universal-apple-darwin": universal(0x01000007, 0x0100000C),
    "x86_64-pc-windows-gnu": windows(0x8664),
    "x86_64-pc-windows-gnullvm": windows(0x8664),
    "aarch64-pc-windows-gnullvm": windows(0xAA64),
}


@unittest.skipIf(sys.version_info < (3, 11), "wheels are made with Python 3.11 or newer")
class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = samples.ROOT / ".ci" / "wheels.py"
        spec = importlib.util.spec_from_file_location("wheels", path)
        cls.wheels = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.wheels)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def make(self, output: str = "wheels") -> tuple[int, dict[str, Path]]:
        """Exit code, and the wheels by the last of their tags."""
        environment = {"SOURCE_DATE_EPOCH": str(EPOCH)}
        quiet = io.StringIO()
        with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(quiet):
            with contextlib.redirect_stderr(quiet):
                code = self.wheels.main(str(self.folder / "bin"), str(self.folder / output))
        found = (self.folder / output).glob("*.whl")
        return code, {path.stem.rpartition(".")[2].rpartition("-")[2]: path for path in found}

    def put(self, triple: str, program: bytes) -> None:
        folder = self.folder / "bin" / triple
        folder.mkdir(parents=True)
        name = "memgauge.exe" if "windows" in triple else "memgauge"
        (folder / name).write_bytes(program)

    def test_a_wheel_for_each_target(self):
        self.assertEqual(set(PROGRAMS), set(self.wheels.TAGS))
        for triple, program in PROGRAMS.items():
            # Two names of one target: the wheel is the same.
            if triple != "x86_64-pc-windows-gnu":
                self.put(triple, program)
        code, made = self.make()
        self.assertEqual((code, len(made)), (0, 10))
        for wheel in made.values():
            with zipfile.ZipFile(wheel) as archive:
                self.check(wheel, archive)

    def check(self, wheel: Path, archive: zipfile.ZipFile) -> None:
        name = f"memgauge-{memgauge.__version__}"
        entries = archive.infolist()
        paths = [entry.filename for entry in entries]
        suffix = ".exe" if "-win_" in wheel.name else ""
        program = f"{name}.data/scripts/memgauge{suffix}"
        modes = {entry.filename: entry.external_attr >> 16 for entry in entries}
        self.assertEqual({p for p, mode in modes.items() if mode == 0o100755}, {program})
        self.assertEqual(set(modes.values()), {0o100755, 0o100644})
        # RECORD has each file with its digest, and is the last.
        self.assertEqual(paths[-1], f"{name}.dist-info/RECORD")
        lines = list(csv.reader(io.StringIO(archive.read(paths[-1]).decode())))
        self.assertEqual({line[0] for line in lines}, set(paths))
        for path, digest, size in lines[:-1]:
            data = archive.read(path)
            text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, size), (f"sha256={text}", str(len(data))), path)
        # The tags of the name are those in WHEEL.
        message = message_from_bytes(archive.read(f"{name}.dist-info/WHEEL"))
        tags = wheel.stem.rpartition("-")[2].split(".")
        self.assertEqual(message.get_all("Tag"), [f"py3-none-{tag}" for tag in tags])
        self.assertEqual(message["Root-Is-Purelib"], "false")
        # Each licence that METADATA names is there.
        message = message_from_bytes(archive.read(f"{name}.dist-info/METADATA"))
        self.assertEqual(message["Version"], memgauge.__version__)
        self.assertEqual(message["Requires-Python"], ">=3.9")
        licenses = message.get_all("License-File")
        self.assertGreaterEqual(set(licenses), {"LICENSE-MIT", "LICENSE-APACHE"})
        for license_file in licenses:
            self.assertIn(f"{name}.dist-info/licenses/{license_file}", paths)
        # The module of the repository, whole.
        source = samples.ROOT / "python" / "src"
        module = {p.relative_to(source).as_posix() for p in source.rglob("*.py")}
        self.assertEqual({p for p in paths if p.endswith(".py")}, module)
        self.assertIn("memgauge/py.typed", paths)

    def test_equal_inputs_make_equal_bytes(self):
        self.put("x86_64-unknown-linux-musl", PROGRAMS["x86_64-unknown-linux-musl"])
        first = self.make("first")[1]
        os.utime(self.folder / "bin/x86_64-unknown-linux-musl/memgauge", (1, 1))
        second = self.make("second")[1]
        self.assertEqual(len(first), 1)
        for tag, wheel in first.items():
            self.assertEqual(wheel.read_bytes(), second[tag].read_bytes())

    def test_a_program_that_does_not_fit_its_tags_is_refused(self):
        for triple in PROGRAMS:
            for program in (b"", b"#!/bin/sh\n", elf(21), windows(0x14C), universal(7)):
                self.assertIsNotNone(self.wheels.why_not(triple, program), triple)
            for other, program in PROGRAMS.items():
                fits = self.wheels.why_not(triple, program) is None
                same = self.wheels.TAGS[other] == self.wheels.TAGS[triple]
                self.assertEqual(fits, same, (triple, other))

    def test_a_dynamic_program_is_refused(self):
        for triple, machine, wide in (
            ("x86_64-unknown-linux-musl", 62, True),
            ("i686-unknown-linux-musl", 3, False),
        ):
            program = elf(machine, wide, kinds=(6, 3, 1))
            self.assertIsNotNone(self.wheels.why_not(triple, program))
        self.put("x86_64-unknown-linux-musl", elf(62, kinds=(3,)))
        self.assertEqual(self.make(), (1, {}))

    def test_no_program_at_all(self):
        (self.folder / "bin").mkdir()
        self.assertEqual(self.make()[0], 1)


if __name__ == "__main__":
    unittest.main()
