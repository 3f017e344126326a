"""What is written for ASTRA-sim is read by a reader of its own, from the fields of the public formats.

These are what the readers of ASTRA-sim 2 of March 2026 (518bd513), of its analytical networks (599a0473) and memory
(641cce85) take, and messages of Chakra's schema of May 2026 (21585d8f).
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.interchange import export

GIGABYTE = 2**30
NAMES = {
    "allreduce": ("all-reduce", 0), "allgather": ("all-gather", 2), "alltoall": ("all-to-all", 6),
    "reduce-scatter": ("reduce-scatter", 7),
}  # fmt: skip

SYSTEM = {  # what is read of the system, and of which type or which words it is
    "scheduling-policy": ("LIFO", "FIFO", "EXPLICIT"),
    "collective-optimization": ("baseline", "localBWAware"),
    "preferred-dataset-splits": int, "active-chunks-per-dimension": int, "endpoint-delay": int,
    "model-shared-bus": int, "local-mem-bw": (int, float), "peak-perf": (int, float), "roofline-enabled": int,
    "trace-enabled": int, "replay-only": int, "track-local-mem": int, "local-mem-trace-filename": str,
    **{f"{name}-implementation": list for name, _ in NAMES.values()},
    **{f"{name}-implementation-custom": list for name, _ in NAMES.values()},
}  # fmt: skip


def is_read(name, value):
    """Return whether a field of the system is one that is read, of its type or one of its words."""
    kind = SYSTEM.get(name, ())
    return value in kind if isinstance(kind, tuple) and kind and isinstance(kind[0], str) else isinstance(value, kind)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Yield the fields of a protocol-buffer message, as (number, value): whole numbers and bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        assert key & 7 in (0, 2)
        if key & 7 == 2:
            at, value = at + value, data[at : at + value]
        yield key >> 3, value
    assert at == len(data)


def trace(path):
    """Return the nodes of a trace by number: kind, what each waits for, and attributes."""
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        messages.append(data[at : at + size])
        at += size
    assert at == len(data)
    assert dict(fields(messages[0]))[1].decode() == "0.0.4"
    nodes = {}
    for message in messages[1:]:
        told = {3: 0}
        waits, attributes = [], {}
        for number, value in fields(message):
            if number == 5:
                place = 0
                while place < len(value):
                    one, place = varint(value, place)
                    waits.append(one)
            elif number == 10:
                (one, name), (field, got) = fields(value)
                assert one == 1
                attributes[name.decode()] = field, got
            else:
                told[number] = value
        assert told[2].decode()
        assert told[1] not in nodes
        nodes[told[1]] = told[3], waits, attributes
    return nodes


def network_file(path):
    rows = dict(re.fullmatch(r"(\w+): \[ (.*) \](?:  # .*)?", line).groups() for line in path.read_text().splitlines())
    assert list(rows) == ["topology", "npus_count", "bandwidth", "latency"]
    table = {name: row.split(", ") for name, row in rows.items()}
    assert len({len(row) for row in table.values()}) == 1
    assert set(table["topology"]) <= {"Ring", "FullyConnected", "Switch"}
    assert all(int(side) > 1 for side in table["npus_count"])
    assert all(float(rate) > 0 for rate in table["bandwidth"])
    assert all(float(delay) >= 0 for delay in table["latency"])
    assert all("." in each and "e" not in each for each in table["bandwidth"] + table["latency"])
    return table


def links_of(table):
    """Return the links of an analytical network: pairs of ranks, the first dimension varying fastest; Counter."""
    sides = [int(each) for each in table["npus_count"]]
    if table["topology"] == ["Switch"]:
        return Counter(pair for r in range(sides[0]) for pair in ((r, sides[0]), (sides[0], r)))
    found, stride = set(), 1
    for kind, side in zip(table["topology"], sides, strict=True):
        for u in range(int(np.prod(sides))):
            own = u // stride % side
            jumps = {1, side - 1} if kind == "Ring" else range(1, side)
            found |= {(u, u + ((own + j) % side - own) * stride) for j in jumps}
        stride *= side
    return Counter(found)


def carried_out(ranks):
    """Carry out the traces, each node after what it waits for; return how many are done."""
    ready = deque((r, k) for r in range(len(ranks)) for k, node in ranks[r].items() if not node[1])
    left = {(r, k): len(node[1]) for r in range(len(ranks)) for k, node in ranks[r].items()}
    after, sent, wanted, done = {}, Counter(), {}, 0
    for r, nodes in enumerate(ranks):
        for k, (_, waits, _) in nodes.items():
            for each in waits:
                after.setdefault((r, each), []).append((r, k))
    while ready:
        r, k = ready.popleft()
        kind, _, told = ranks[r][k]
        line = tuple(told[name][1] for name in ("comm_src", "comm_dst", "comm_tag", "comm_size"))
        finished = [(r, k)]
        if kind == 5:
            sent[line] += 1
        else:
            wanted.setdefault(line, deque()).append((r, k))
            finished = []
        while sent[line] and wanted.get(line):
            sent[line] -= 1
            finished.append(wanted[line].popleft())
        for each in finished:
            done += 1
            for follower in after.get(each, ()):
                left[follower] -= 1
                if not left[follower]:
                    ready.append(follower)
    return done


KNOWN = [
    ("ring:6", ["Ring"], [6]),
    ("complete:5", ["FullyConnected"], [5]),
    ("torus:4x5", ["Ring", "Ring"], [5, 4]),
    ("hypercube:3", ["Ring"] * 3, [2, 2, 2]),
    ("generalized-hypercube:4x5", ["FullyConnected"] * 2, [5, 4]),
    ("fat-tree:k=4,h=1", ["Switch"], [4]),
]


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(
    ("network", "kinds", "sides", "task"),
    [(*row, task) for i, row in enumerate(KNOWN) for task in [*NAMES, *NAMES][i % 4 :][:2]],
)
def test_the_whole_set_is_read_back(tmp_path, network, kinds, sides, task):
    cost = gossamer.TimeCost("64KiB", bandwidth="50GB/s", latency="500ns")
    rules = gossamer.Rules(replication=False) if kinds == ["Switch"] else gossamer.Rules()
    schedule = gossamer.plan(network, task, cost=cost, rules=rules).schedule
    export(schedule, tmp_path / "x", "astra-sim")
    name, number = NAMES[task]
    n = int(np.prod(sides))
    system = json.loads((tmp_path / "x" / "system.json").read_text())
    assert all(is_read(*field) for field in system.items())
    (prefix,) = system[f"{name}-implementation-custom"]  # one for all dimensions, found from where it is run
    assert system["preferred-dataset-splits"] == 1  # more would carry the traces out several times
    assert json.loads((tmp_path / "x" / "memory.json").read_text()) == {"memory-type": "NO_MEMORY_EXPANSION"}
    logical = json.loads((tmp_path / "x" / "logical_topology.json").read_text())
    assert logical == {"logical-dims": list(map(str, sides))}

    table = network_file(tmp_path / "x" / "network.yml")
    assert (table["topology"], table["npus_count"]) == (kinds, list(map(str, sides)))
    net = schedule.network
    assert links_of(table) == Counter(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    assert [float(each) * GIGABYTE for each in table["bandwidth"]] == pytest.approx([50e9] * len(sides))
    assert [float(each) for each in table["latency"]] == [500] * len(sides)

    buffer = schedule.cost.buffer_bytes // (n if task == "allgather" else 1)
    assert len(list((tmp_path / "x" / "workload").iterdir())) == n
    for r in range(n):
        ((kind, waits, told),) = trace(tmp_path / "x" / "workload" / f"{name}.{r}.et").values()
        assert (kind, waits) == (7, [])
        assert told == {"is_cpu_op": (27, 0), "comm_type": (9, number), "comm_size": (9, told["comm_size"][1])}
        assert buffer <= told["comm_size"][1] <= buffer * 1.01  # blocks are rounded up

    ranks = [trace(tmp_path / "x" / f"{prefix}.{r}.et") for r in range(n)]
    assert len(list((tmp_path / "x" / "collective").iterdir())) == n
    assert carried_out(ranks) == sum(map(len, ranks)) > 0
    sends = [told["comm_size"][1] for nodes in ranks for kind, _, told in nodes.values() if kind == 5]
    assert len(set(sends)) == 1
    once = schedule.cost.buffer_bytes * (n - 1)  # what ranks lack of a result, or of the blocks of others
    assert sum(sends) >= once * (2 if task == "allreduce" and schedule.rules.reduction else 1)


def test_another_network_is_a_topology_of_ns3(tmp_path):
    """Hosts have the numbers of the ranks."""
    for network, ranks in (("array:3x2", 6), ("leaf-spine:2,2,2", 4)):
        schedule = gossamer.plan(network, "alltoall", rules=gossamer.Rules(replication=False)).schedule
        export(schedule, tmp_path / network[:4], "astra-sim")
        folder = tmp_path / network[:4]
        assert not (folder / "network.yml").exists()
        head, *_ = (folder / "network.ns3").read_text().splitlines()
        net = gossamer.network(network)
        assert head == f"{net.node_count} {net.node_count - ranks} {net.link_count // 2}"
        assert json.loads((folder / "logical_topology.json").read_text()) == {"logical-dims": [str(ranks)]}
        assert len(list((folder / "collective").iterdir())) == ranks


def test_a_damaged_ring_is_no_ring(tmp_path):
    network = gossamer.network("ring:6").without(links=[(0, 1)])
    export(gossamer.plan(network, "allgather").schedule, tmp_path / "x", "astra-sim")
    assert not (tmp_path / "x" / "network.yml").exists()
    assert (tmp_path / "x" / "network.ns3").read_text().startswith("6 0 5\n")


@pytest.mark.parametrize(
    ("network", "task", "error", "said"),
    [
        ("ring:5", "broadcast", NotApplicableError, r"astra-sim has words for allreduce, .*; not for broadcast"),
        ("ring:5", "scatter", NotApplicableError, r"astra-sim has words for .*; not for scatter"),
        (
            "torus:3x3,occupancy=2",
            "allgather",
            NotApplicableError,
            r"ASTRA-sim's links have .*,occupancy=2 has times in",
        ),
        ("kautz:2,2", "allgather", FileFormatError, r"a topology of ns-3 has cables, and kautz:2,2 has links without"),
    ],
)
def test_what_it_has_no_word_for_is_refused_in_a_line(tmp_path, network, task, error, said):
    with pytest.raises(error, match=f"^{said}") as found:
        export(gossamer.plan(network, task).schedule, tmp_path / "x", "astra-sim")
    assert "\n" not in str(found.value)
    assert not list(tmp_path.iterdir())
