"""Checks what memgauge said on an emulated machine of several NUMA nodes: everything but the figures."""

import json
import pathlib
import sys

MACHINES = {
    "far": {"cpus": {0: [0, 1], 1: [2, 3], 2: []}, "distances": [[10, 21, 31], [21, 10, 41], [31, 41, 10]]},
    "unequal": {
        "cpus": {0: [0, 1], 1: [2], 2: [3], 3: [4]},
        "distances": [[10 if row == column else 20 for column in range(4)] for row in range(4)],
    },
}
# The machine `far`, with a kernel that interleaves by weights.
MACHINES["weighted"] = {**MACHINES["far"], "weights": {0: 4, 1: 3, 2: 2}}
BASE_PAGE = 4096
SIZE = 1 << 20
# With too few real processors, the emulated threads may not run at the same time. This says nothing about nodes.
ELSEWISE = "not running at the same time"

folder, machine = pathlib.Path(sys.argv[1]), MACHINES[sys.argv[2]]


def report(name):
    code = (folder / f"{name}.code").read_text()
    try:
        return json.loads((folder / name).read_text()), code
    except ValueError:
        sys.exit(f"{name}: no JSON (exit code {code}): {(folder / (name + '.errors')).read_text()}")


def require(condition, *what):
    if not condition:
        sys.exit("numa check failed: " + " ".join(map(str, what)))


def check_host():
    nodes = report("host")[0]["topology"]["nodes"]
    require({n["id"]: n["cpus"] for n in nodes} == machine["cpus"], "cpus of nodes", nodes)
    require([n["distances"] for n in nodes] == machine["distances"], "distances", nodes)
    require(all(n["available"] and n["allowed"] for n in nodes), "memory of nodes", nodes)
    if "weights" in machine:
        require({n["id"]: n["weight"] for n in nodes} == machine["weights"], "weights", nodes)


def points(document, experiment):
    return next(d for d in document["datasets"] if d["experiment"] == experiment)["points"]


def check_placed(point, document):
    """Threads where they were pinned, every page where it was asked for."""
    at, outcome = point["coordinates"], point["outcome"]
    if outcome["status"] != "measured":
        require(outcome["status"] == "failed" and ELSEWISE in outcome["reason"], at, outcome)
        return False
    evidence = outcome["evidence"]
    own = machine["cpus"].get(at["cpu_node"], [cpu for cpus in machine["cpus"].values() for cpu in cpus])
    expected = own[:1] if "cpu" in at else own
    require(sorted(evidence["cpus"]) == sorted(expected), at, "ran on", evidence["cpus"])
    require(evidence["affinity_held"], at, "moved")
    pages = evidence["pages"]
    counts = {p["node"]: p["pages"] for p in pages["pages_by_node"]}
    require(pages["elsewhere"] == 0, at, pages)
    # A window may begin in the middle of a page, which adds up to two pages for each node.
    least = SIZE // BASE_PAGE * len(expected)
    require(least <= sum(counts.values()) <= least + 2 * len(expected), at, "pages looked at", counts)
    memory = at["memory_node"]
    if isinstance(memory, int):
        require(list(counts) == [memory], at, counts)
    elif memory == "local":
        require(set(counts) == {n for n, cpus in machine["cpus"].items() if cpus}, at, counts)
    else:
        require(set(counts) == set(machine["cpus"]), at, counts)
        shares = machine.get("weights") if memory == "weighted" else None
        shares = shares or {node: 1 for node in counts}
        # In each thread's window, interleaving may end before it has used all nodes once more.
        for node, count in counts.items():
            wanted = sum(counts.values()) * shares[node] / sum(shares.values())
            require(abs(count - wanted) <= (sum(shares.values()) + 2) * len(expected), at, counts)
    return True


def check_matrices():
    document, code = report("numa")
    require(document["provenance"]["tool"]["machine"].startswith("emulated"), document["provenance"]["tool"])
    with_cpus = {n for n, cpus in machine["cpus"].items() if cpus}
    every = {(row, column) for row in with_cpus for column in machine["cpus"]}
    measured = failed = 0
    for experiment, operations in (("numa", ["read", "write"]), ("numa-latency", ["chase"])):
        for operation in operations:
            here = [p for p in points(document, experiment) if p["coordinates"]["operation"] == operation]
            ends = [(p["coordinates"]["cpu_node"], p["coordinates"]["memory_node"]) for p in here]
            numbers = [pair for pair in ends if all(isinstance(end, int) for end in pair)]
            require(sorted(numbers) == sorted(every), operation, "matrix", numbers)
            among = {pair for pair in numbers if pair[1] in with_cpus}
            require({(b, a) for a, b in among} == among, operation, "shape", among)
            if experiment == "numa":
                rest = {pair for pair in ends if pair not in every}
                rows = with_cpus | {"all"}
                spread = {(row, column) for row in rows for column in ("interleaved", "weighted")}
                require(rest == spread | {("all", "local")}, operation, "rest", rest)
            for point in here:
                at = point["coordinates"]
                if at["memory_node"] == "weighted" and "weights" not in machine:
                    require(point["outcome"]["status"] == "unsupported" and "Linux 6.9" in point["outcome"]["reason"], point["outcome"])
                    continue
                if isinstance(at["cpu_node"], int) and isinstance(at["memory_node"], int):
                    told = machine["distances"][at["cpu_node"]][at["memory_node"]]
                    require(at["distance"] == told, at)
                if check_placed(point, document):
                    measured += 1
                else:
                    failed += 1
    require(measured >= 3 * failed and measured > 0, measured, "measured", failed, "failed")
    print(f"{measured} points measured with every page in its place, {failed} whose threads did not meet, exit code {code}")


def check_one_node_option():
    document, _ = report("node")
    [point] = points(document, "bandwidth")
    require(point["coordinates"]["node"] == 2, point["coordinates"])
    evidence = point["outcome"]["evidence"]
    require(evidence["cpus"] == [1], evidence["cpus"])
    require([p["node"] for p in evidence["pages"]["pages_by_node"]] == [2], evidence["pages"])


def check_part():
    """A control group that may use the memory of one node only."""
    document, _ = report("part")
    for point in points(document, "numa-latency"):
        outcome, memory = point["outcome"], point["coordinates"]["memory_node"]
        if memory == 0:
            require(outcome["status"] == "measured", point)
        else:
            require(outcome["status"] == "skipped" and "Mems_allowed_list" in outcome["reason"], point)


def check_quota():
    """A quota of one and a half CPUs: one thread is measured, two are not, with the reason."""
    document, _ = report("quota")
    for point in points(document, "scaling"):
        outcome, threads = point["outcome"], point["coordinates"]["threads"]
        if threads == 1:
            require(outcome["status"] == "measured", point)
        else:
            require(outcome["status"] == "unsupported" and "1.5 cpus' worth" in outcome["reason"], point)
            require("/groups/quota/cpu.max" in outcome["reason"], outcome)


def check_holes():
    """A set of CPUs with holes: its CPUs are used and no others."""
    document, _ = report("holes")
    used = [p["outcome"]["evidence"]["cpus"] for p in points(document, "scaling") if p["outcome"]["status"] == "measured"]
    require(sorted(map(sorted, used)) in ([[1], [1, 3]], [[1]]), "cpus", used)


def check_pressure():
    """Memory pressure, which a control group of version 2 makes for the whole machine."""
    document, _ = report("pressure")
    [point] = points(document, "bandwidth")
    named = {reason["cause"] for reason in point["outcome"]["verdict"]["reasons"]}
    require("memory-pressure" in named, named, point["outcome"]["evidence"]["surroundings"])


check_host()
check_matrices()
check_one_node_option()
check_part()
check_quota()
check_holes()
check_pressure()
