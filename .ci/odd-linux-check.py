"""Checks what the commands of .ci/odd-linux-commands said in one environment, and prints a line about it.

    python3 .ci/odd-linux-check.py ENVIRONMENT FOLDER

Every command works, or says in one line what is missing, with an exit code of the table in crates/memgauge/src/cli/exit.rs.
"""

import json
import pathlib
import re
import sys

DONE, FAILED, USAGE, INCOMPLETE, UNSUPPORTED, KILLED = 0, 1, 2, 3, 5, 137
# Allowed exit codes of commands for which they are not `done` or `incomplete`.
CODES = {
    "version": {DONE},
    "host": {DONE},
    "kernels": {DONE},
    "interrupted": {INCOMPLETE},
    "killed": {KILLED},
    "last": {DONE},
    # Few environments have reserved huge pages.
    "pool": {DONE, INCOMPLETE, UNSUPPORTED},
}
# Commands that an environment cannot run: the exit code, and a part of the reason.
NO_RING = {"io.io_uring": (UNSUPPORTED, "no io_uring")}
FILTERED = {"io.io_uring": (UNSUPPORTED, "a container's filter of system calls")}
ENGINES = ("sync", "mmap", "aio", "io_uring", "null")
NO_FILES = {
    **{name: (USAGE, "read-only file system") for name in ("quick", "interrupted", "killed")},
    **{name: (USAGE, "cannot read the report") for name in ("resumed", "journal", "continued")},
    **{f"io.{engine}": (FAILED, "Read-only file system") for engine in ENGINES},
    "last": (USAGE, "no such run"),
}
# The system does not list its pools of huge pages, so the kernel rejects the request.
NO_POOLS = {"pool": (FAILED, "no pools are listed")}
MISSING = {
    "no-sys": NO_POOLS,
    "no-proc-no-sys": NO_POOLS,
    "booted-no-sys": NO_POOLS,
    "booted-no-proc-no-sys": NO_POOLS,
    "linux-3.10": NO_RING,
    "linux-4.18": NO_RING,
    "docker-filter-today": FILTERED,
    "docker-filter-old": FILTERED,
    "gvisor": {"io.io_uring": (UNSUPPORTED, "neither plain reads and writes")},
    "readonly": NO_FILES,
    "nobody": {"last": (USAGE, "HOME")},
    # QEMU's user mode has neither asynchronous engine.
    "pages64": {f"io.{engine}": (UNSUPPORTED, "cannot be used here") for engine in ("aio", "io_uring")},
    "one-cpu": {"bandwidth": (USAGE, "1 CPU may be used")},
}
# With too few real processors, the emulated threads may not run at the same time. This says nothing about the
# environment.
BUSY = "not running at the same time"
# Facts that must hold in an environment: a function of the document of `list host`.
FACTS = {
    f"linux-{version}": lambda host, version=version: host["system"]["kernel"]["value"].startswith(version)
    for version in ("3.10", "4.18", "5.10")
}
FACTS["offline-cpu"] = lambda host: allowed(host) == [0, 2, 3]
FACTS["cpuset-v2"] = lambda host: allowed(host) == [1, 3]
FACTS["cpuset-v1"] = lambda host: allowed(host) == [0, 2, 3]
FACTS["memory-v2"] = FACTS["memory-v1"] = lambda host: 0 < (host["memory"]["cgroup"]["value"] or 0) <= 64 << 20
FACTS["one-cpu"] = lambda host: allowed(host) == [0]

environment, folder = sys.argv[1], pathlib.Path(sys.argv[2])
wrong = []


def allowed(host):
    return [cpu["id"] for cpu in host["topology"]["cpus"] if cpu["allowed"]]


def text(name):
    path = folder / name
    return path.read_text(errors="replace") if path.exists() else ""


def own_lines(errors):
    """Lines of memgauge, without those of the shell about a program that was killed."""
    return [line for line in errors.splitlines() if line.strip() and not re.search(r"\bKilled\b", line)]


def check_command(name):
    code = int(text(f"{name}.code"))
    lines = own_lines(text(f"{name}.errors"))
    missing = MISSING.get(environment, {}).get(name)
    said = lines[-1] if lines else ""
    if missing:
        expected, word = missing
        if code != expected or word not in said:
            wrong.append(f"{name}: exit code {code} instead of {expected}, or not a word of '{word}': {said}")
    elif code not in CODES.get(name, {DONE, INCOMPLETE}) and not (code == FAILED and BUSY in said):
        wrong.append(f"{name}: exit code {code}: {said}")
    elif code == INCOMPLETE and not said:
        wrong.append(f"{name}: not a word about exit code {code}")
    foreign = [line for line in lines if not line.startswith("memgauge: ")]
    if foreign:
        wrong.append(f"{name}: lines that are not memgauge's: {' / '.join(foreign[:3])}")
    if "panicked" in text(f"{name}.errors"):
        wrong.append(f"{name}: a panic")
    return code


def check_host():
    try:
        host = json.loads(text("host.out"))
    except ValueError as error:
        return wrong.append(f"host: no JSON: {error}")
    host = host[0] if isinstance(host, list) else host
    if environment in FACTS and not FACTS[environment](host):
        wrong.append(f"host: facts are not as this environment has them: allowed CPUs {allowed(host)}, {host['system']['kernel']}")
    return None


def check_report():
    path = folder / "files" / "quick.json"
    if not path.exists():
        return
    try:
        json.loads(path.read_text())
    except ValueError as error:
        wrong.append(f"quick.json: {error}")


names = sorted(path.stem for path in folder.glob("*.code"))
codes = {name: check_command(name) for name in names}
if environment == "huge-pages" and codes.get("pool") != DONE:
    wrong.append("pool: huge pages are reserved, and not used")
if not names:
    wrong.append("no command was run")
if "host" in codes:
    check_host()
    check_report()
rest = [f"{name} {code}" for name, code in codes.items() if code not in (DONE, KILLED) and name not in ("interrupted", "pool")]
print(f"{environment:22} {'FAILED' if wrong else 'works ':6}  {len(names):2} commands"
      + (f"; exit codes other than 0: {', '.join(rest)}" if rest else ""))
for line in wrong:
    print(f"    {line}")
sys.exit(bool(wrong))
