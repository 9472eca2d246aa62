"""Checks what memgauge said of the disks of .ci/storage: everything but the figures."""

import json
import pathlib
import sys

BLOCKS, UNREADABLE = 4096, 64

folder = pathlib.Path(sys.argv[1])


def text(name):
    return (folder / name).read_text()


def code(name):
    return int(text(f"{name}.code"))


def require(condition, *what):
    if not condition:
        sys.exit("storage check failed: " + " ".join(map(str, what)))


def outcome(name):
    try:
        return json.loads(text(name))["datasets"][0]["points"][0]["outcome"]
    except ValueError:
        sys.exit(f"{name}: no JSON (exit code {code(name)}): {text(name + '.errors')}")


def measured(name):
    found = outcome(name)
    require(found["status"] == "measured", name, found["status"], found.get("reason"))
    return found


def causes(found):
    return [reason["cause"] for reason in found["verdict"]["reasons"]]


def interrupts(at, disk):
    """Interrupts of all queues of a disk but that of commands about itself."""
    total = 0
    for line in text(f"interrupts.{at}").splitlines():
        words = line.split()
        if words and words[-1].startswith(disk + "q") and words[-1] != disk + "q0":
            total += sum(int(word) for word in words[1:] if word.isdigit())
    return total


def check_polling():
    disk = text("name").strip().removeprefix("/dev/").removesuffix("n1")
    counts = [interrupts(at, disk) for at in range(3)]
    polled, waited = counts[1] - counts[0], counts[2] - counts[1]
    for name in ("polled", "waited"):
        storage = measured(name)["storage"]
        require(storage["operations"] == 2000, name, storage["operations"])
    remarks = measured("polled")["storage"]["remarks"]
    require(not any("polled" in remark for remark in remarks), remarks)
    require(polled < 200 and waited > 200, polled, "interrupts while polling,", waited, "while waiting")
    print(f"2000 operations: {polled} interrupts polled for, {waited} waited for")


def check_errors():
    for engine in ("sync", "mmap", "aio", "io_uring"):
        found = measured(f"counted.{engine}")
        storage = found["storage"]
        failed = sum(storage["errors"].values())
        require((storage["operations"], failed) == (BLOCKS - UNREADABLE, UNREADABLE), engine, storage["operations"], storage["errors"])
        require("io-errors" in causes(found) and storage["short"] == 0, engine, found["verdict"])
        require(code(f"counted.{engine}") == 0, engine, code(f"counted.{engine}"))
        ended = outcome(f"ended.{engine}")
        require(ended["status"] == "failed" and code(f"ended.{engine}") == 1, engine, ended)
        print(f"{engine}: {failed} of {BLOCKS} operations failed ({', '.join(storage['errors'])}); without leave: {ended['reason']}")


def check_safety():
    for name in ("mounted", "refused"):
        require(code(name) == 2 and not text(name), name, code(name), text(name))
        print(f"{name}: {text(name + '.errors').strip()}")
    require(text("sum.0") == text("sum.1"), "a mounted disk was changed")
    require(measured("written")["storage"]["operations"] == BLOCKS, "blocks written")
    verified = measured("verified")["storage"]
    require((verified["operations"], verified["wrong"]) == (BLOCKS, 0), "verified", verified["operations"], verified["wrong"])


check_polling()
check_errors()
check_safety()
