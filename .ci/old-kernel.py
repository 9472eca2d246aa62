"""Runs a program as an old kernel would: system calls and flags that are newer (.ci/old-kernel.csv) fail.

    python3 .ci/old-kernel.py VERSION PROGRAM [ARGUMENT ...]
    python3 .ci/old-kernel.py VERSION --try          makes each call of the table and compares the errors

Needs libseccomp for Python (Debian: python3-seccomp) and x86-64. uname still tells the version of the real kernel.
"""

import csv
import ctypes
import errno
import os
import pathlib
import sys

import seccomp

TABLE = pathlib.Path(__file__).with_name("old-kernel.csv")


def version(text):
    return tuple(int(part) for part in text.split("."))


def newer_than(kernel):
    """Rows of the table with calls and flags that the old kernel does not know."""
    with TABLE.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [row for row in rows if version(row["since"]) > kernel]


def number(text):
    return int(text, 0)


def applies_to_whole_call(row):
    return not row["mask"]


def install(rows):
    """Loads the filter; it holds for this process and all that it starts."""
    filter = seccomp.SyscallFilter(seccomp.ALLOW)
    whole = {row["number"] for row in rows if applies_to_whole_call(row)}
    for row in rows:
        action = seccomp.ERRNO(getattr(errno, row["error"]))
        call = number(row["number"])
        if applies_to_whole_call(row):
            filter.add_rule(action, call)
        elif row["number"] not in whole:
            argument, mask, value = (number(row[name]) for name in ("argument", "mask", "value"))
            filter.add_rule(action, call, seccomp.Arg(argument, seccomp.MASKED_EQ, mask, value))
    # A 32-bit program, or x32 calls, would bypass the table. The filter rejects both by default.
    filter.load()


def answer(row):
    """Error number of a call as in this row, with 0 for its other arguments; 0 if it succeeds."""
    arguments = [0] * 6
    if not applies_to_whole_call(row):
        arguments[number(row["argument"])] = number(row["value"])
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(*(ctypes.c_long(value) for value in [number(row["number"]), *arguments]))
    return ctypes.get_errno() if result == -1 else 0


def expected(row, rows):
    """Error number of this row's call; the rule for a whole call precedes those for its arguments."""
    whole = [other for other in rows if other["number"] == row["number"] and applies_to_whole_call(other)]
    return getattr(errno, (whole or [row])[0]["error"])


def main():
    rows, rest = newer_than(version(sys.argv[1])), sys.argv[2:]
    install(rows)
    if rest != ["--try"]:
        os.execvp(rest[0], rest)
    wrong = [f"{row['call']}: {os.strerror(answer(row))}" for row in rows if answer(row) != expected(row, rows)]
    print(f"{len(rows)} calls and flags are newer than Linux {sys.argv[1]}: {len(wrong)} do not fail as they should")
    sys.exit("; ".join(wrong) or 0)


main()
