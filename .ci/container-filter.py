"""Runs a program under the filter of system calls that containers get, with libseccomp.

    python3 .ci/container-filter.py KIND PROGRAM [ARGUMENT ...]

KIND: `today` is the filter of Podman and Docker. `old` is that of a Docker from before io_uring and statx. It refuses with EPERM
what it does not know, where kernels without the call say ENOSYS. The filter is that of Debian's golang-github-containers-common,
with the rules for a container without privileges. Needs Debian's python3-seccomp.
"""

import csv
import errno
import json
import os
import pathlib
import sys

import seccomp

PROFILE = pathlib.Path("/usr/share/containers/seccomp.json")
TABLE = pathlib.Path(__file__).with_name("old-kernel.csv")
# Capabilities that containers have by default, among those that rules of the filter name.
CAPABILITIES = {"CAP_AUDIT_WRITE", "CAP_SYS_CHROOT"}
ARCHITECTURE = "amd64"
OLD_KERNEL = (4, 10)
COMPARISONS = {"SCMP_CMP_EQ": seccomp.EQ, "SCMP_CMP_NE": seccomp.NE}


def applies(rule):
    """True for a rule of this architecture and of a container without privileges."""
    needs, without = rule["includes"], rule["excludes"]
    return (
        ARCHITECTURE in needs.get("arches", [ARCHITECTURE])
        and CAPABILITIES.issuperset(needs.get("caps", []))
        and not CAPABILITIES.intersection(without.get("caps", []))
    )


def calls_newer_than(kernel):
    with TABLE.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["call"] for row in rows if not row["mask"] and tuple(map(int, row["since"].split("."))) > kernel}


def install(kind):
    profile = json.loads(PROFILE.read_text())
    unknown = calls_newer_than(OLD_KERNEL) if kind == "old" else set()
    refused = errno.EPERM if kind == "old" else profile["defaultErrnoRet"]
    filter = seccomp.SyscallFilter(seccomp.ERRNO(refused))
    for rule in filter_rules(profile, unknown):
        add(filter, rule, refused)
    filter.load()


def filter_rules(profile, unknown):
    for rule in filter(applies, profile["syscalls"]):
        for name in rule["names"]:
            if name not in unknown:
                yield {**rule, "name": name}


def add(filter, rule, refused):
    allowed = rule["action"] == "SCMP_ACT_ALLOW"
    if not allowed and rule["errnoRet"] == refused:
        return
    arguments = [seccomp.Arg(a["index"], COMPARISONS[a["op"]], a["value"]) for a in rule["args"] or []]
    try:
        filter.add_rule(seccomp.ALLOW if allowed else seccomp.ERRNO(rule["errnoRet"]), rule["name"], *arguments)
    except RuntimeError:
        # The call is of another architecture, or unknown to this libseccomp.
        pass


def main():
    kind, program = sys.argv[1], sys.argv[2:]
    install(kind)
    os.execvp(program[0], program)


main()
