"""Chakra execution traces, version of May 2024 and later (1.0 too), and all that ASTRA-sim takes beside them.

Distributed-machine-learning simulators take traces as a custom implementation of a collective: a file for each rank,
which is a sequence of protocol-buffer messages, each after its length. The first has the metadata, then there is a node
for each operation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np

from gossamer.interchange.format import Format, Plan, earlier_on_link
from gossamer.interchange.smpi import link_speeds
from gossamer.jit import njit
from gossamer.networks.files.simulators import NS3
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.programs import SEND, Operations
from gossamer.programs.layout import plain_task
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, PartialSumAllreduce, ReduceScatter, TotalExchange

_TAGS = 2**31


@njit(cache=True, nogil=True, inline="always")
def _varint(value, out, at):
    """Write a number of 0 or more in groups of 7 bits; return where it ends."""
    while value > 127:
        out[at] = 128 | (value & 127)
        at += 1
        value >>= 7
    out[at] = value
    return at + 1


@njit(cache=True, nogil=True, inline="always")
def _varint_size(value):
    size = 1
    while value > 127:
        value >>= 7
        size += 1
    return size


@njit(cache=True, nogil=True)
def _nodes(sends, source, target, tag, size, waits_for, also, names, name_start, out):
    """Write a node for each operation, each after its length; return the size of all.

    `names` holds, from ``name_start[i]`` on, 0 and 1 the names of a receive and a send, 2 to 5 the beginnings of the
    attributes comm_src, comm_dst, comm_tag and comm_size up to the number, 6 all of is_cpu_op. An attribute's
    beginning is followed by a byte for its length, which the caller left out: it is written here.
    """
    at = 0
    for k in range(sends.size):
        name = 1 if sends[k] else 0
        label = name_start[name + 1] - name_start[name]
        deps = 0
        if waits_for[k] >= 0:
            deps += _varint_size(waits_for[k])
        if also[k] >= 0:
            deps += _varint_size(also[k])
        body = 1 + _varint_size(k) + 2 + label + 2 + (2 + deps if deps else 0)
        for a in range(4):
            value = source[k] if a == 0 else target[k] if a == 1 else tag[k] if a == 2 else size
            body += 2 + name_start[a + 3] - name_start[a + 2] + _varint_size(value)
        body += 2 + name_start[7] - name_start[6]
        at = _varint(body, out, at)
        out[at] = 8  # id
        at = _varint(k, out, at + 1)
        out[at], out[at + 1] = 18, label  # name
        at += 2
        for j in range(name_start[name], name_start[name + 1]):
            out[at] = names[j]
            at += 1
        out[at], out[at + 1] = 24, 5 if sends[k] else 6  # type
        at += 2
        if deps:
            out[at], out[at + 1] = 42, deps  # data_deps, packed
            at += 2
            if waits_for[k] >= 0:
                at = _varint(waits_for[k], out, at)
            if also[k] >= 0:
                at = _varint(also[k], out, at)
        for a in range(5):
            first, last = name_start[a + 2], name_start[a + 3]
            value = source[k] if a == 0 else target[k] if a == 1 else tag[k] if a == 2 else size
            out[at], out[at + 1] = 82, last - first + (_varint_size(value) if a < 4 else 0)  # attr
            at += 2
            for j in range(first, last):
                out[at] = names[j]
                at += 1
            if a < 4:
                at = _varint(value, out, at)
    return at


_INT32, _INT64, _BOOL = b"\x38", b"\x48", b"\xd8\x01"
"""Keys of the fields 7, 9 and 27, in which an attribute has its number."""


def _attribute(name: str, key: bytes) -> bytes:
    """Return an attribute up to its number: its name, and the key of the field that holds the number."""
    return b"\x0a" + bytes([len(name)]) + name.encode() + key


_TEXTS = (
    b"receive",
    b"send",
    _attribute("comm_src", _INT32),
    _attribute("comm_dst", _INT32),
    _attribute("comm_tag", _INT32),
    _attribute("comm_size", _INT64),
    _attribute("is_cpu_op", _BOOL) + b"\x00",
)
_METADATA = b"\x0a\x05" + b"0.0.4"
_LONGEST = 170
"""Bytes that a node takes at most."""


def _file(nodes: bytes) -> bytes:
    return bytes([len(_METADATA)]) + _METADATA + nodes


def _chakra_rank(mine: Operations, part_bytes: int) -> bytes:
    sends = mine.kind == SEND
    earlier = earlier_on_link(mine)
    out = np.empty(mine.count * _LONGEST, np.uint8)
    size = _nodes(
        sends, np.where(sends, mine.rank, mine.peer), np.where(sends, mine.peer, mine.rank), mine.slot, part_bytes,
        mine.after, np.where(earlier == mine.after, -1, earlier), np.frombuffer(b"".join(_TEXTS), np.uint8),
        np.cumsum([0, *map(len, _TEXTS)]), out,
    )  # fmt: skip
    return _file(out[:size].tobytes())


def _chakra_limits(plan: Plan) -> Iterator[str]:
    if plan.schedule.slot_count >= _TAGS:
        yield f"a Chakra trace has tags of 31 bits; the schedule has {plan.schedule.slot_count:,} slots"


def _write_chakra(plan: Plan, folder: Path) -> None:
    for mine in plan.program:
        (folder / f"trace.{mine.rank}.et").write_bytes(_chakra_rank(mine, plan.part_bytes))


CHAKRA = Format(
    "chakra",
    "Chakra execution traces for ASTRA-sim and its like",
    _write_chakra,
    _chakra_limits,
    folder=True,
    sized=True,
    by_rank=True,
)


# ASTRA-sim: one node of a collective for each rank as the workload, a system whose implementation of it is the traces,
# and the network. Files are named as seen from the folder, in which ASTRA-sim is run.

_COLLECTIVES = {
    Allreduce: ("all-reduce", 0),
    PartialSumAllreduce: ("all-reduce", 0),
    MultinodeBroadcast: ("all-gather", 2),
    TotalExchange: ("all-to-all", 6),
    ReduceScatter: ("reduce-scatter", 7),
}
"""Its names of collectives, and the numbers that Chakra has for them."""

_COLLECTIVE_NODE = 7
_GIGABYTE = Decimal(2**30)
"""Bytes of a gigabyte of ASTRA-sim's analytical networks."""


def _varint_bytes(value: int) -> bytes:
    out = np.empty(10, np.uint8)
    return out[: _varint(value, out, 0)].tobytes()


def _collective(name: str, kind: int, size: int) -> bytes:
    """Return the trace of a rank that does nothing but a collective of `size` bytes in its input."""
    attributes = (
        _attribute("is_cpu_op", _BOOL) + b"\x00",
        _attribute("comm_type", _INT64) + _varint_bytes(kind),
        _attribute("comm_size", _INT64) + _varint_bytes(size),
    )
    node = b"\x08\x00\x12" + bytes([len(name)]) + name.encode() + bytes([24, _COLLECTIVE_NODE])
    node += b"".join(b"\x52" + bytes([len(each)]) + each for each in attributes)
    return _file(_varint_bytes(len(node)) + node)


def _with_speeds(plan: Plan) -> Network:
    """Return the network with bytes a second and seconds for every link: its own, those of the plan, or the default."""
    network, clock = plan.network, plan.schedule.cost
    told: tuple[float, ...] = ()
    if network.find(Speeds) is None and isinstance(clock, Clock) and clock.link_bandwidth is not None:
        told = float(clock.link_bandwidth), float(clock.link_latency)
    rate, delay = link_speeds(network, *told)
    return network.with_structures([*(s for s in network.structures if not isinstance(s, Speeds)), Speeds(rate, delay)])


def _dimensions(network: Network) -> list[tuple[str, int, float, float]] | None:
    """Return the dimensions of ASTRA-sim's analytical network that this one is, the fastest varying first, or None.

    Each is Ring, FullyConnected or Switch, its ranks, bytes a second and seconds of a link. Links are compared one by
    one: a damaged network, or one whose links of a dimension differ, is none.
    """
    speeds, ranks, grid = network.find(Speeds), network.terminal_count, network.grid
    if speeds is None or network.shared_ports is not None or network.parallel or ranks < 2:
        return None
    rate, source, target = speeds.bandwidth * network.link_capacity, network.link_source, network.link_target
    if network.node_count == ranks + 1:
        switch = (source == ranks) | (target == ranks)
        alike = switch.all() and np.ptp(rate) == 0 and np.ptp(speeds.latency) == 0
        return [("Switch", ranks, rate[0], speeds.latency[0])] if alike and source.size == 2 * ranks else None
    sides = grid.sides if grid is not None else tuple(each.node_count for each in network.factors) or (ranks,)
    if network.node_count != ranks or np.prod(sides) != ranks:
        return None
    ends = [np.stack(np.unravel_index(each, sides)) for each in (source, target)]
    moved = (ends[1] - ends[0]) % np.array(sides)[:, None]  # [dimensions, links]
    if ((moved != 0).sum(axis=0) != 1).any():
        return None
    found = []
    for side, steps in zip(reversed(sides), reversed(moved), strict=True):
        if side == 1:
            continue
        here = np.flatnonzero(steps)
        jumps = set(steps[here].tolist())
        kind = "Ring" if jumps == {1, side - 1} else "FullyConnected" if jumps == set(range(1, side)) else None
        if kind is None or here.size != ranks * len(jumps) or np.ptp(rate[here]) or np.ptp(speeds.latency[here]):
            return None
        found.append((kind, side, rate[here[0]], speeds.latency[here[0]]))
    return found


def _decimal(value: Decimal) -> str:
    return format(value.normalize(), "f") if value % 1 else f"{value:.1f}"


def _write_network(network: Network, folder: Path) -> list[int]:
    """Write the network, ``network.yml`` or ``network.ns3``; return the ranks of its dimensions."""
    found = _dimensions(network)
    if found is None:
        assert NS3.write is not None
        NS3.write(network, folder / "network.ns3")
        return [network.terminal_count]
    rows = {
        "topology": [kind for kind, _, _, _ in found],
        "npus_count": [str(side) for _, side, _, _ in found],
        "bandwidth": [_decimal(Decimal(repr(float(rate))) / _GIGABYTE) for _, _, rate, _ in found],
        "latency": [_decimal(Decimal(repr(float(delay))).scaleb(9)) for _, _, _, delay in found],
    }
    units = {"bandwidth": "  # GB/s of 2^30 bytes", "latency": "  # ns"}
    text = "".join(f"{name}: [ {', '.join(row)} ]{units.get(name, '')}\n" for name, row in rows.items())
    (folder / "network.yml").write_text(text, encoding="utf-8")
    return [side for _, side, _, _ in found]


def _astra_sim_limits(plan: Plan) -> Iterator[str]:
    yield from _chakra_limits(plan)
    network = plan.network
    in_steps = network.find(Speeds) is None and not isinstance(plan.schedule.cost, Clock)
    if in_steps and bool((network.link_occupancy > 1).any() or network.link_latency.any()):
        yield f"ASTRA-sim's links have bandwidths; {network.spec} has times in steps: plan with --bandwidth"


def _write_astra_sim(plan: Plan, folder: Path) -> None:
    name, kind = _COLLECTIVES[type(plain_task(plan.schedule.task))]
    sides = _write_network(_with_speeds(plan), folder)
    for part in ("workload", "collective"):
        (folder / part).mkdir()
    _write_chakra(plan, folder / "collective")
    for mine in plan.program:
        trace = _collective(name, kind, mine.input_size * plan.part_bytes)
        (folder / "workload" / f"{name}.{mine.rank}.et").write_bytes(trace)
    system = {
        "scheduling-policy": "FIFO",
        "preferred-dataset-splits": 1,
        f"{name}-implementation-custom": ["collective/trace"],
        "local-mem-bw": 50,
    }
    files = {
        "system": system,
        "memory": {"memory-type": "NO_MEMORY_EXPANSION"},
        "logical_topology": {"logical-dims": [str(side) for side in sides]},
    }
    for each, told in files.items():
        (folder / f"{each}.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


ASTRA_SIM = Format(
    "astra-sim",
    "all that ASTRA-sim 2 takes: workload, system with the plan as its collective, network, memory",
    _write_astra_sim,
    _astra_sim_limits,
    folder=True,
    sized=True,
    tasks=tuple(_COLLECTIVES),
    groups=False,
    by_rank=True,
)
