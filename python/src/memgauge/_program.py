"""Finds and runs the program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

from ._errors import MemgaugeError, ReportError
from ._load import report_of
from .model import SCHEMA_VERSION, Report

Value = Union[None, bool, int, float, str, "os.PathLike[str]"]
Option = Union[Value, Iterable[Value]]

NAME = "memgauge.exe" if os.name == "nt" else "memgauge"

# Reports exist with these codes: incomplete (3), and a slow machine (4). See docs/usage.md.
WITH_REPORT = (0, 3, 4)


def find_program() -> str:
    """Path of the program: of `$MEMGAUGE`, of this package's wheel, or in `$PATH`.

    Errors: `MemgaugeError` if there is none.
    """
    named = os.environ.get("MEMGAUGE")
    if named:
        return named
    for folder in _script_folders():
        path = os.path.join(folder, NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which(NAME)
    if found:
        return found
    raise MemgaugeError(
        "no program memgauge: not in the wheel, nor in $PATH; set MEMGAUGE to its path"
    )


def _script_folders() -> list[str]:
    """Folders where an installer puts the program of the wheel that has this file."""
    here = Path(__file__).resolve().parent.parent
    # pip install --target FOLDER, and --prefix FOLDER.
    folders = [here / "bin", here / "Scripts"]
    folders += [parent / ("Scripts" if os.name == "nt" else "bin") for parent in here.parents[:3]]
    user_scheme = "nt_user" if os.name == "nt" else "posix_user"
    paths = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user_scheme)]
    # A folder named after this Python is surer than one that only lies near this file.
    return [*paths, *map(str, folders)]


def _written(value: Value) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def arguments(words: Iterable[Value], options: dict[str, Option]) -> list[str]:
    """The command line: `sizes=["16KiB", "1GiB"]` is `--sizes 16KiB,1GiB`.

    `True` is an option without value. `None` and `False` leave the option out.
    """
    line = [_written(word) for word in words]
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            line.append(option)
        elif isinstance(value, (str, int, float, os.PathLike)):
            line.append(f"{option}={_written(value)}")
        else:
            line.append(f"{option}={','.join(_written(item) for item in value)}")
    return line


def call(*words: Value, **options: Option) -> subprocess.CompletedProcess[str]:
    """Runs the program with these words and options; waits for its end.

    The result has the exit code, standard output and the messages, whatever the exit code is.
    Ctrl-C ends the session as in a terminal: it is saved first, then `KeyboardInterrupt` is raised.
    Errors: `MemgaugeError` if the program cannot be started.
    """
    command = [find_program(), *arguments(words, options)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # A terminal would send the signal of Ctrl-C to the program as well, and a second
            # signal ends it at once. So the program is in a group of its own.
            start_new_session=os.name != "nt",
        )
    except (OSError, ValueError) as error:
        raise MemgaugeError(f"cannot start {command[0]}: {error}") from error
    with process:
        try:
            output, messages = process.communicate()
        except BaseException:
            if os.name != "nt":
                process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, messages)


def _checked(words: tuple[Value, ...], options: dict[str, Option]) -> str:
    """Standard output of a command that made a result."""
    done = call(*words, **options)
    if done.returncode not in WITH_REPORT or not done.stdout.strip():
        message = done.stderr.strip() or f"{' '.join(done.args)} left no result"
        prefix = "memgauge: "
        text = message[len(prefix) :] if message.startswith(prefix) else message
        raise MemgaugeError(text, done.returncode)
    return done.stdout


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"not JSON: {error}") from error


def run(*words: Value, **options: Option) -> Report:
    """Measures, and returns the report.

    Arguments are those of the command line: `run("latency", sizes="512MiB", budget="20s")` is
    `memgauge latency --sizes 512MiB --budget 20s`. Lists become lists with commas. The session is
    saved as from the command line; `output="r.json"` chooses the file.

    An incomplete session is no error: `report.status` and the points say what is missing. Errors:
    `MemgaugeError` if there is no report.
    """
    return report_of(_json(_checked(words, {**options, "format": "json"})))


def load(source: str | os.PathLike[str]) -> Report:
    """The report in a file, or a saved session: `load("last")`.

    The program converts what is no JSON report of this version: journals, CSV, other tools'
    results, older reports, saved sessions. Errors: `ReportError` for a JSON report with wrong
    contents, `MemgaugeError` if the program cannot convert the file.
    """
    path = Path(source)
    if path.suffix == ".json" and path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ReportError(f"cannot read {path}: {error}") from error
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and data.get("schema_version") == SCHEMA_VERSION:
            return report_of(data)
    return report_of(_json(_checked(("report", source), {"format": "json"})))


def loads(text: str | bytes) -> Report:
    """The report in the text of a JSON report. Errors: `ReportError`."""
    return report_of(_json(text if isinstance(text, str) else text.decode("utf-8", "replace")))


def compare(
    before: str | os.PathLike[str], *after: str | os.PathLike[str], **options: Option
) -> dict[str, Any]:
    """Differences between reports beyond chance, as `memgauge compare --format json` says them.

    `["tally"]["worse"]` is the number of points that are worse. Errors: `MemgaugeError`.
    """
    data = _json(_checked(("compare", before, *after), {**options, "format": "json"}))
    if not isinstance(data, dict):
        raise ReportError("compare did not return an object")
    return data


def main() -> int:
    """Replaces this process by the program, with the arguments of this process."""
    try:
        program = find_program()
        command = [program, *sys.argv[1:]]
        if os.name != "nt":
            os.execv(program, command)
        # Windows has no exec; Ctrl-C goes to both processes, and the program's answer counts.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return subprocess.call(command)
    except MemgaugeError as error:
        print(f"memgauge: {error.message}", file=sys.stderr)
    except OSError as error:
        print(f"memgauge: cannot start {program}: {error}", file=sys.stderr)
    return 127
