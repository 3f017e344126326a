"""MSCCL XML: what collective libraries for GPUs with an interpreter for algorithms load.

A link has a threadblock that sends, one that receives, and a channel for every 64 of its blocks. A step waits for at
most one other, which is enough; see `gossamer.programs.Operations`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan, RowText
from gossamer.programs import REDUCE, SEND, Operations
from gossamer.programs.layout import plain_task
from gossamer.questions.tasks import Broadcast, Gather, MultinodeBroadcast, Scatter, TotalExchange
from gossamer.schedules import Schedule

__all__ = ["COLLECTIVES", "MSCCL_JSON", "MSCCL_XML", "STEPS"]

# The JSON of msccl-tools: an algorithm as steps of sends ``[chunk, source, destination]``.
#
# Chunks are messages in parts, numbered as the collective's output: ``origin`` in an allgather, ``destination*n +
# origin`` in an alltoall, times parts plus the part. There are no reductions in this form.

_NAMES = {
    MultinodeBroadcast: ("Allgather", "allgather"),
    TotalExchange: ("Alltoall", "alltoall"),
    Broadcast: ("Broadcast", "broadcast"),
    Scatter: ("Scatter", "scatter"),
    Gather: ("Gather", "gather"),
}
_SENDS = RowText("[{0},{1},{2}],")


def _json_limits(plan: Plan) -> Iterator[str]:
    schedule = plan.schedule
    if type(plain_task(schedule.task)) not in _NAMES:
        known = ", ".join(kind.name for kind in _NAMES)
        yield f"the JSON of msccl-tools holds {known}; not {schedule.task.name}"
    if schedule.network.terminal_count < schedule.network.node_count:
        yield f"in the JSON of msccl-tools every node is a rank; {schedule.network.spec} has switches"
    if not schedule.network.plain:
        yield f"in the JSON of msccl-tools a link takes one step; {schedule.network.spec} has links of several times"


def _chunks(schedule: Schedule, message: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the chunks of messages, before parts."""
    n = schedule.network.terminal_count
    if isinstance(plain_task(schedule.task), TotalExchange):
        return message % n * n + message // n
    return message if not isinstance(plain_task(schedule.task), Broadcast) else 0 * message


def _collective(schedule: Schedule, parts: int) -> list[tuple[list[int], list[int], int]]:
    """Return who holds and who needs each chunk, and its address, in the order of addresses."""
    task, n = plain_task(schedule.task), schedule.network.terminal_count
    everyone = list(range(n))
    if isinstance(task, TotalExchange):
        found = [([u], [v], v * n + u) for v in everyone for u in everyone]
    elif isinstance(task, Broadcast):
        found = [([task.root], everyone, 0)]
    elif isinstance(task, Scatter):
        found = [([task.root], [v], v) for v in everyone]
    elif isinstance(task, Gather):
        found = [([v], [task.root], v) for v in everyone]
    else:
        found = [([u], everyone, u) for u in everyone]
    return [(pre, post, c * parts + part) for pre, post, c in found for part in range(parts)]


def _write_json(plan: Plan, path: Path) -> None:
    schedule, rows = plan.schedule, plan.timeline
    network, n = schedule.network, schedule.network.node_count
    title, runtime_name = _NAMES[type(plain_task(schedule.task))]
    chunks = _collective(schedule, plan.parts)
    holds: dict[int, list[int]] = {v: [] for v in range(n)}
    needs: dict[int, list[int]] = {v: [] for v in range(n)}
    for pre, post, address in chunks:
        for held, nodes in ((holds, pre), (needs, post)):
            for v in nodes:
                held[v].append(address)
    links = [[0] * n for _ in range(n)]
    for u, v, c in zip(network.link_source, network.link_target, network.link_capacity, strict=True):
        links[int(v)][int(u)] = int(c)
    instance = {
        "msccl_type": "instance", "steps": schedule.slot_count, "extra_rounds": 0, "chunks": plan.parts,
        "pipeline": None, "extra_memory": None, "allow_exchange": False,
    }  # fmt: skip
    kinds = [{"msccl_type": "chunk", "pre": pre, "post": post, "addr": address} for pre, post, address in chunks]
    collective = {
        "msccl_type": "collective", "name": f"{title}(n={n})", "nodes": n, "chunks": kinds, "triggers": {},
        "runtime_name": runtime_name,
    }  # fmt: skip
    head = {
        "msccl_type": "algorithm", "name": f"{schedule.algorithm or 'schedule'}-{network.spec}", "instance": instance,
        "input_map": holds, "output_map": needs, "collective": collective,
        "topology": {"msccl_type": "topology", "name": network.spec, "switches": [], "links": links},
    }  # fmt: skip
    data = rows.message >= 0
    chunk = _chunks(schedule, rows.message) * plan.parts + rows.part
    first = np.searchsorted(rows.start, np.unique(rows.start))
    with path.open("wb") as file:
        file.write(json.dumps(head).encode()[:-1] + b', "steps": [')
        for i, (a, b) in enumerate(zip(first, np.append(first[1:], rows.count), strict=True)):
            mine = np.flatnonzero(data[a:b]) + a
            text = b"".join(_SENDS.rows(0, [chunk[mine], rows.source[mine], rows.target[mine]]))
            file.write(b",\n" * (i > 0) + b'{"msccl_type": "step", "rounds": 1, "sends": [' + text[:-1] + b"]}")
        file.write(b"]}\n")


MSCCL_JSON = Format("msccl-json", "JSON of msccl-tools, for tasks without reductions", _write_json, _json_limits)


COLLECTIVES = {
    "multinode-broadcast": "allgather",
    "total-exchange": "alltoall",
    "reduce-scatter": "reduce_scatter",
    "allreduce": "allreduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
}
"""What the format calls the tasks; others are ``custom``."""

STEPS = 64
"""The most steps that a threadblock may have."""

_GPUS, _CHANNELS, _PEERS, _BLOCKS, _OFFSET, _NODES = 1024, 32, 32, 128, 2**15, 4096

_BUFFER = "ios"
_STEP = (
    '<step s="{0}" type="%s" srcbuf="%s" srcoff="{1}" dstbuf="%s" dstoff="{2}" cnt="1" '
    'depid="{3}" deps="{4}" hasdep="{5}"/>\n'
)
_KINDS = [
    *(("s", b, b) for b in _BUFFER),
    *(("r", b, b) for b in _BUFFER),
    *(("rrc", b, b) for b in _BUFFER),
    *(("rrc", "i", b) for b in _BUFFER),
    ("cpy", "i", "o"),
]
_OPEN, _CLOSE = len(_KINDS), len(_KINDS) + 1
_TEXT = RowText(
    *(_STEP % kind for kind in _KINDS), '<tb id="{0}" send="{1}" recv="{2}" chan="{3}">\n', "</tb>\n"
)  # fmt: skip


def _layout(mine: Operations) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the order of the operations by threadblock, and of each in that order the threadblock and the step.

    Threadblocks that copy come first.
    """
    line = mine.peer.astype(np.int64) * 2 + (mine.kind != SEND)
    order = np.argsort(line, kind="stable")
    line = line[order]
    first = np.flatnonzero(np.append(True, line[1:] != line[:-1])) if line.size else np.zeros(0, np.int64)
    place = np.arange(line.size) - np.repeat(first, np.diff(np.append(first, line.size)))
    step = place % STEPS
    block = np.cumsum(step == 0) - 1 + _copying(mine)
    return order, block, step, place // STEPS


def _copies(mine: Operations, number: int) -> Iterator[bytes]:
    """Yield a threadblock of copies."""
    given, got = mine.copies[number * STEPS : (number + 1) * STEPS].T.astype(np.int64)
    none = np.full(given.size, -1)
    columns = (np.arange(given.size), given, got, none, none, none + 1)
    which = [_OPEN, *[len(_KINDS) - 1] * given.size, _CLOSE]
    opening = (number, -1, -1, 0, 0, 0)
    yield from _TEXT.rows(which, [np.append(np.insert(c, 0, o), 0) for c, o in zip(columns, opening, strict=True)])


def _rank(mine: Operations) -> Iterator[bytes]:
    """Yield the threadblocks of a rank."""
    for number in range(_copying(mine)):
        yield from _copies(mine, number)
    order, block, step, channel = _layout(mine)
    block_of, step_of = np.empty((2, mine.count), np.int64)
    block_of[order], step_of[order] = block, step
    after, kind = mine.after[order], mine.kind[order]
    waits = (after >= 0) & (block_of[np.maximum(after, 0)] != block)
    needed = np.zeros(mine.count, np.int64)
    needed[after[waits]] = 1
    depends = np.where(waits, block_of[after], -1), np.where(waits, step_of[after], -1)
    operand, buffer = mine.operand[order], mine.buffer[order].astype(np.int64)
    which = kind * np.int64(3) + buffer
    from_input = (kind == REDUCE) & (operand >= 0)
    which[from_input] += 3
    source = np.where(from_input, operand, mine.offset[order])
    columns = [step, source, mine.offset[order], *depends, needed[order]]
    # a row that opens a threadblock before its first step, and one that closes it after its last
    opens = np.flatnonzero(step == 0)
    closes = np.append(opens[1:], mine.count)[: opens.size]
    peer, sends = mine.peer[order][opens], kind[opens] == SEND
    zero = np.zeros(opens.size, np.int64)
    opening = [block[opens], np.where(sends, peer, -1), np.where(sends, -1, peer), channel[opens], zero, zero]
    at = np.concatenate([closes, opens])  # where both fall on one place, the closing row comes first
    rows = np.insert(which, at, np.repeat([_CLOSE, _OPEN], opens.size))
    yield from _TEXT.rows(
        rows, [np.insert(c, at, np.concatenate([zero, o])) for c, o in zip(columns, opening, strict=True)]
    )


def _copying(mine: Operations) -> int:
    """Return how many threadblocks of a rank copy."""
    return -(-len(mine.copies) // STEPS)


def _blocks(mine: Operations) -> tuple[int, int, int]:
    """Return threadblocks, channels and peers in one direction of a rank, at most."""
    line, counts = np.unique(mine.peer.astype(np.int64) * 2 + (mine.kind != SEND), return_counts=True)
    if not line.size:
        return _copying(mine), 1, 0
    channels = -(-counts // STEPS)
    return int(channels.sum()) + _copying(mine), int(channels.max()), int(np.bincount(line % 2).max())


def _limits(plan: Plan) -> Iterator[str]:
    program = plan.program
    if program.ranks > _GPUS:
        yield f"an MSCCL file has at most {_GPUS:,} GPUs; {program.network.spec} has {program.ranks:,} nodes"
    for mine in program:
        blocks, channels, peers = _blocks(mine)
        where = f"rank {mine.rank} would have"
        if peers > _PEERS:
            yield f"{where} {peers} peers on a channel; an MSCCL loader takes {_PEERS}"
        if channels > _CHANNELS:
            yield f"{where} {channels} channels of {STEPS} steps; an MSCCL loader takes {_CHANNELS}"
        if blocks > _BLOCKS:
            yield f"{where} {blocks} threadblocks; dependencies on them are 8-bit numbers, at most {_BLOCKS}"
        largest = max(mine.input_size, mine.output_size, mine.scratch_size)
        if largest > _OFFSET:
            yield f"{where} a buffer of {largest:,} chunks; offsets are 16-bit numbers, at most {_OFFSET:,}"
        nodes = 1 + blocks + mine.count + len(mine.copies)
        if nodes > _NODES:
            yield f"{where} {nodes:,} XML nodes; an MSCCL loader takes {_NODES:,} a rank"


def _write(plan: Plan, path: Path) -> None:
    program = plan.program
    channels = max(_blocks(mine)[1] for mine in program)
    name = quoteattr(f"{program.algorithm or 'schedule'} on {program.network.spec}")
    sizes = [(mine.input_size, mine.output_size) for mine in program]
    with path.open("wb") as file:
        file.write(
            f'<algo name={name} proto="Simple" nchannels="{channels}" '
            f'nchunksperloop="{max(map(max, sizes))}" ngpus="{program.ranks}" '
            f'coll="{COLLECTIVES.get(program.task.name, "custom")}" inplace="0" outofplace="1" minBytes="0" '
            'maxBytes="0">\n'.encode()
        )
        for mine in program:
            file.write(
                f'<gpu id="{mine.rank}" i_chunks="{mine.input_size}" o_chunks="{mine.output_size}" '
                f's_chunks="{mine.scratch_size}">\n'.encode()
            )
            for text in _rank(mine):
                file.write(text)
            file.write(b"</gpu>\n")
        file.write(b"</algo>\n")


MSCCL_XML = Format("msccl-xml", "MSCCL XML for collective libraries of GPUs", _write, _limits)
