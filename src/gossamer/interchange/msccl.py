"""MSCCL XML: what collective libraries for GPUs with an interpreter for algorithms load.

A link has a threadblock that sends, one that receives, and a channel for every 64 of its blocks. A step waits for at
most one other, which is enough; see `gossamer.programs.Operations`. What loads a file repeats each threadblock by
itself for slices of the chunks; of a plan that repeats a generation, a link has further threadblocks, so that none
holds up the next generation.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, GossamerError
from gossamer.interchange.format import Format, Plan, RowText
from gossamer.interchange.imported_schedules import (
    ChunkHop,
    ForeignCollective,
    capacities,
    collective,
    in_seconds,
    schedule_of,
    schedule_of_table,
    table_places,
    whole_parts,
)
from gossamer.interchange.threadblocks import Block, Chunk, Step, Transfer, carry_out, repeated
from gossamer.networks.network import Network
from gossamer.programs import REDUCE, SEND, Operations
from gossamer.programs.layout import plain_task
from gossamer.questions.tasks import Broadcast, DemandTable, Gather, MultinodeBroadcast, Scatter, TotalExchange
from gossamer.questions.tasks.chunked import MAX_CHUNKS
from gossamer.reading.files import XML_PIECES, check_pieces, read_bytes, read_json
from gossamer.schedules import Schedule

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
    if plan.network is not schedule.network:
        yield f"in the JSON of msccl-tools every node is a rank; {schedule.network.spec} has switches"
    elif not schedule.network.plain:
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


MSCCL_JSON = Format(
    "msccl-json", "JSON of msccl-tools, for tasks without reductions", _write_json, _json_limits,
    tasks=tuple(_NAMES), groups=False,
)  # fmt: skip


COLLECTIVES = {
    "multinode-broadcast": "allgather",
    "total-exchange": "alltoall",
    "reduce-scatter": "reduce_scatter",
    "allreduce": "allreduce",
    "partial-sum-allreduce": "allreduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
}
"""What the format calls the tasks; others are ``custom``."""

STEPS = 64
"""The most steps that a threadblock may have."""

SLICE = 2 << 20
"""Bytes of a chunk that a loader's interpreter moves at once: half of a connection's buffer of 4 MiB."""

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


class _Layout(NamedTuple):
    """The order of the operations by threadblock, and of each in that order the threadblock, step and channel.

    Threadblocks that copy come first.
    """

    order: npt.NDArray[np.int64]
    block: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    channel: npt.NDArray[np.int64]


def _layout(mine: Operations, window: int) -> _Layout:
    """Return where the operations of a rank stand, those of a threadblock begun within so many slots.

    A loader repeats the steps of each threadblock in turn. So one with steps that lie further apart than two
    generations begin would hold up the next generation with its first steps until this one is through the last.
    """
    line = mine.peer.astype(np.int64) * 2 + (mine.kind != SEND)
    order = np.argsort(line, kind="stable")
    line, slot = line[order], mine.slot[order].astype(np.int64)
    own = _first_of_run(line)  # the first operation on the same link
    stage = (slot - slot[own]) // window
    place = np.arange(line.size) - _first_of_run(line * (int(stage.max(initial=0)) + 1) + stage)
    step = place % STEPS
    block = np.cumsum(step == 0) - 1
    return _Layout(order, block + _copying(mine), step, block - block[own])


def _first_of_run(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each of ascending keys the place of the first that is the same, int64[n]."""
    return np.searchsorted(keys, keys).astype(np.int64)


def _copies(mine: Operations, number: int) -> Iterator[bytes]:
    """Yield a threadblock of copies."""
    given, got = mine.copies[number * STEPS : (number + 1) * STEPS].T.astype(np.int64)
    none = np.full(given.size, -1)
    columns = (np.arange(given.size), given, got, none, none, none + 1)
    which = [_OPEN, *[len(_KINDS) - 1] * given.size, _CLOSE]
    opening = (number, -1, -1, 0, 0, 0)
    yield from _TEXT.rows(which, [np.append(np.insert(c, 0, o), 0) for c, o in zip(columns, opening, strict=True)])


def _rank(mine: Operations, window: int) -> Iterator[bytes]:
    """Yield the threadblocks of a rank."""
    for number in range(_copying(mine)):
        yield from _copies(mine, number)
    order, block, step, channel = _layout(mine, window)
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


def _blocks(mine: Operations, window: int) -> tuple[int, int, int]:
    """Return threadblocks, channels and peers in one direction of a rank, at most."""
    if not mine.count:
        return _copying(mine), 1, 0
    found = _layout(mine, window)
    peers = [np.unique(mine.peer[sends]).size for sends in (mine.kind == SEND, mine.kind != SEND)]
    return int(found.block[-1]) + 1, int(found.channel.max()) + 1, max(peers)


_ALL = 2**40
"""More slots than there are."""


def _window(plan: Plan) -> int:
    """Return within how many slots the operations of a threadblock begin: the period, or as many as loaders ask for."""
    if plan.period is None:
        return _ALL
    window, most = plan.period, plan.program.slots
    while window < most and next(_broken(plan, window), None) is not None:
        window *= 2
    return window if window < most else _ALL


def _limits(plan: Plan) -> Iterator[str]:
    return _broken(plan, _window(plan))


def _broken(plan: Plan, window: int) -> Iterator[str]:
    """Yield the limits of loaders that a program breaks whose threadblocks begin all steps within so many slots."""
    program = plan.program
    if program.ranks > _GPUS:
        yield f"an MSCCL file has at most {_GPUS:,} GPUs; {program.network.spec} has {program.ranks:,} nodes"
    for mine in program:
        blocks, channels, peers = _blocks(mine, window)
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
    program, window = plan.program, _window(plan)
    channels = max(_blocks(mine, window)[1] for mine in program.representatives())
    name = quoteattr(f"{program.algorithm or 'schedule'} on {program.network.spec}")
    with path.open("wb") as file:
        file.write(
            f'<algo name={name} proto="Simple" nchannels="{channels}" '
            f'nchunksperloop="{int(program.sizes.max())}" ngpus="{program.ranks}" '
            f'coll="{COLLECTIVES.get(program.task.name, "custom")}" inplace="0" outofplace="1" minBytes="0" '
            'maxBytes="0">\n'.encode()
        )
        for mine in program:
            file.write(
                f'<gpu id="{mine.rank}" i_chunks="{mine.input_size}" o_chunks="{mine.output_size}" '
                f's_chunks="{mine.scratch_size}">\n'.encode()
            )
            for text in _rank(mine, window):
                file.write(text)
            file.write(b"</gpu>\n")
        file.write(b"</algo>\n")


# The JSON of msccl-tools read as a schedule: its steps are slots already.

_DAMAGE = (KeyError, TypeError, ValueError, IndexError, RecursionError, AttributeError, OverflowError)


def read_msccl_json(path: Path, network: Network, bytes: int | None = None) -> Schedule:
    """Read an algorithm of msccl-tools for a network whose node r is rank r.

    A step of several rounds is as many slots. Where links have speeds, or switches join ranks, a chunk leaves as soon
    as it is there and those before it on its way have left, and links with speeds take seconds for so many bytes.

    Raises `FileFormatError` if it is no such file, or uses links that the network does not have.
    """
    name = str(path)
    try:
        fields = read_json(path)
        if fields["msccl_type"] != "algorithm":
            raise ValueError("it is no algorithm")
        return _schedule(name, fields, network, path.stem, in_seconds(name, network, bytes))
    except FileFormatError:
        raise
    except _DAMAGE as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise FileFormatError(f"{name!r} is not the JSON of an msccl-tools algorithm: {reason}") from None


def _schedule(name: str, fields: dict[str, Any], network: Network, stem: str, bytes: int | None) -> Schedule:
    described = fields["collective"]
    if str(described["runtime_name"]).lower() == "custom":
        return _custom_schedule(name, fields, network, stem, bytes)
    kind = collective(str(described["runtime_name"]), name)
    if kind.reduces:
        raise FileFormatError(
            f"{name!r} is of {described['runtime_name']}; steps of sends say nothing of what is added"
        )
    n = int(described["nodes"])
    if n != network.terminal_count:
        raise FileFormatError(f"{name!r} has {n} nodes; {network.spec} has {network.terminal_count} terminals")
    chunks = described["chunks"]
    root = int(chunks[0]["pre" if kind.root_input else "post"][0]) if kind.root_input or kind.root_output else 0
    keys: dict[int, tuple[int, int]] = {}
    count: dict[int, int] = {}
    for chunk in sorted(chunks, key=lambda c: int(c["addr"])):
        message = _message(name, kind, chunk, n, root)
        keys[int(chunk["addr"])] = (message, count.get(message, 0))
        count[message] = count.get(message, 0) + 1
    k = max(count.values())
    if set(count.values()) != {k}:
        raise FileFormatError(f"{name!r} has messages of several numbers of chunks")
    sent = _sent(name, fields, network, {address: Chunk(*key) for address, key in keys.items()}, bytes)
    return schedule_of(name, network, kind, sent, n, k, root, str(fields.get("name") or stem), bytes)


def _custom_schedule(name: str, fields: dict[str, Any], network: Network, stem: str, bytes: int | None) -> Schedule:
    """Return the schedule of a custom collective: its chunks say who has them and who must get them."""
    chunks = sorted(fields["collective"]["chunks"], key=lambda c: int(c["addr"]))
    held = {int(c["addr"]): [int(v) for v in c["pre"]] for c in chunks}
    for address, ranks in held.items():
        if len(ranks) != 1:
            raise FileFormatError(f"{name!r}: chunk {address} is held by {len(ranks)} ranks at the start; one may")
    wanted = {int(c["addr"]): [int(v) for v in c["post"] if int(v) != held[int(c["addr"])][0]] for c in chunks}
    moving = [address for address in held if wanted[address]]
    try:
        table = DemandTable.of([(held[address][0], wanted[address], 1) for address in moving])
        table.check(network)
    except GossamerError as error:
        raise FileFormatError(f"{name!r}: {error}") from None
    row = {address: Chunk(i, 0) for i, address in enumerate(moving)}
    sent = _sent(name, fields, network, row, bytes)
    return schedule_of_table(name, network, table, sent, str(fields.get("name") or stem), bytes)


def _sent(
    name: str, fields: dict[str, Any], network: Network, chunks: dict[int, Chunk], bytes: int | None
) -> list[ChunkHop] | list[Transfer]:
    """Return what the steps send: in slots, or where links have speeds or there are switches, what waits for what."""
    steps = _slots(fields["steps"])
    if bytes is not None or network.terminal_count < network.node_count:
        return _in_order(steps, chunks)
    capacity = capacities(name, network, {(u, v) for _, _, sends in steps for _, u, v in sends})
    hops: list[ChunkHop] = []
    used: dict[tuple[int, int, int], int] = {}
    for first, rounds, sends in steps:
        for address, *ends in sends:
            u, v = ends
            slot = next((t for t in range(first, first + rounds) if used.get((t, u, v), 0) < capacity[u, v]), first)
            used[slot, u, v] = used.get((slot, u, v), 0) + 1
            hops.append(ChunkHop(slot, u, v, chunks[address]))
    return sorted(hops, key=lambda hop: hop.slot)


def _in_order(steps: list[tuple[int, int, list[tuple[int, int, int]]]], chunks: dict[int, Chunk]) -> list[Transfer]:
    """Return what the steps send, each waiting for its chunk and for those before it between the same ranks."""
    lines: dict[tuple[int, int], int] = {}
    last: dict[tuple[int, int], int] = {}
    brought: dict[tuple[int, int], int] = {}  # the transfer that brought a chunk to a rank
    sent: list[Transfer] = []
    for _, _, sends in steps:
        arrived = {}
        for address, u, v in sends:
            came, left = ((table[key],) if key in table else () for table, key in (
                (brought, (address, u)), (last, (u, v)),
            ))  # fmt: skip
            arrived[address, v] = last[u, v] = len(sent)
            sent.append(Transfer(u, v, lines.setdefault((u, v), len(lines)), chunks[address], came, left))
        brought |= arrived
    return sent


def _slots(steps: list[dict[str, Any]]) -> list[tuple[int, int, list[tuple[int, int, int]]]]:
    """Return the first slot and the number of slots of each step, and its sends."""
    found: list[tuple[int, int, list[tuple[int, int, int]]]] = []
    slot = 0
    for step in steps:
        rounds = int(step["rounds"])
        if not 1 <= rounds <= 1_000_000:
            raise ValueError(f"a step has {rounds} rounds")
        found.append((slot, rounds, [(int(chunk), int(u), int(v)) for chunk, u, v in step["sends"]]))
        slot += rounds
    return found


def _message(name: str, kind: Any, chunk: dict[str, Any], n: int, root: int) -> int:
    """Return the message that a chunk is part of, from who has it and who needs it."""
    held, needed = [int(v) for v in chunk["pre"]], [int(v) for v in chunk["post"]]
    if len(held) != 1 or not needed:
        raise FileFormatError(f"{name!r}: chunk {chunk['addr']} is held by {len(held)} ranks at the start; one may")
    if kind.wide_input and kind.wide_output:  # a different chunk for each pair
        return held[0] * n + needed[0]
    return needed[0] if kind.wide_input else held[0]


# MSCCL XML read as a schedule: what its threadblocks send, carried out as early as they allow.

_STEP_KINDS = {
    "s": (False, False, False, True),
    "r": (True, False, True, False),
    "rcs": (True, False, True, True),
    "rrs": (True, True, False, True),
    "rrc": (True, True, True, False),
    "rrcs": (True, True, True, True),
    "re": (False, True, True, False),
    "cpy": (False, False, True, False),
    "nop": (False, False, False, False),
}
"""What each kind of step does: receive, add, write, send."""
_MOST = 5_000_000

_CARRIED = 100_000
"""Steps that are carried out at most, so that reading takes seconds; slices are larger where there would be more."""


def _slices(bytes: int | None, k: int, blocks: list[Block]) -> int:
    """Return for how many slices of chunks threadblocks are repeated, of messages of some bytes in k chunks."""
    steps = sum(len(block.steps) for block in blocks)
    ends = [
        (block.rank, peer, block.channel, sends)
        for block in blocks
        for sends, peer in ((1, block.to), (0, block.from_))
    ]
    ends = [end for end in ends if end[1] >= 0]
    if bytes is None or len(set(ends)) < len(ends):
        return 1
    return max(1, min(-(-bytes // (k * SLICE)), _CARRIED // max(steps, 1), MAX_CHUNKS // k))


def read_msccl_xml(
    path: Path, network: Network, table: DemandTable | None = None, bytes: int | None = None
) -> Schedule:
    """Read MSCCL XML for a network whose node r is rank r; a custom collective with its table of demands.

    Where links have speeds, it is judged in seconds for so many bytes, and each threadblock repeats its steps for
    slices of the chunks, as the interpreters that load such files do; of a custom collective, and where threadblocks
    share a connection, chunks are sent as wholes.

    Raises `FileFormatError` if it is no MSCCL XML, its steps do not fit together or race, or it sends between ranks
    that the network does not link, through switches at most.
    """
    name = str(path)
    algo = _parsed(path)
    gpus = algo.findall("gpu")
    n = len(gpus)
    ranks = [_number(gpu, "id", name) for gpu in gpus]
    if ranks != list(range(n)) or n != network.terminal_count:
        raise FileFormatError(f"{name!r} has {n} GPUs; {network.spec} has {network.terminal_count} terminals")
    custom = algo.get("coll", "").lower() == "custom"
    if custom != (table is not None):
        if custom:
            raise FileFormatError(f"{name!r} is of a custom collective; name the file of its demands as the task")
        raise FileFormatError(f"{name!r} says itself which collective it is; only a custom one has a table of demands")
    blocks = [block for gpu, rank in zip(gpus, ranks, strict=True) for block in _threadblocks(gpu, rank, name)]
    bytes = in_seconds(name, network, bytes)
    if table is not None:
        memory, goal = table_places(table, network)
        sent = carry_out(name, blocks, memory, [{}] * n, goal)
        return schedule_of_table(name, network, table, sent, algo.get("name") or path.stem, bytes)
    kind = collective(algo.get("coll", ""), name)
    sizes = [(_number(gpu, "i_chunks", name), _number(gpu, "o_chunks", name)) for gpu in gpus]
    root = _root(kind, sizes)
    k = whole_parts(name, kind, n, sizes[root if kind.root_output or kind.root_input else 0])
    for v, size in enumerate(sizes):
        if kind.reduces and not kind.wide_input and (size[0] or size[1]) != k:
            raise FileFormatError(f"{name!r}: rank {v} has {size[0] or size[1]} chunks to add up, rank {root} has {k}")
    memory = [{} for _ in range(n)]
    goal = [{} for _ in range(n)]
    in_place = algo.get("inplace", "0") == "1" and algo.get("outofplace", "0") != "1"
    alias = [kind.shared_places(v, n, k) if in_place else {} for v in range(n)]
    everyone = (1 << n) - 1 if kind.reduces else 0
    for v in range(n):
        for i in range(n * k if kind.wide_input else k):
            if not kind.root_input or v == root:
                message, part = kind.key(v, i, n, k)
                memory[v][alias[v].get(("i", i), ("i", i))] = Chunk(message, part, (1 << v) * kind.reduces)
        if not kind.root_output or v == root:
            for i, (message, part) in enumerate(kind.goal(v, n, k, root)):
                goal[v][alias[v].get(("o", i), ("o", i))] = Chunk(message, part, everyone)
    times = _slices(bytes, k, blocks)
    given = [dict(places) for places in memory]
    sent = carry_out(name, blocks, memory, alias, goal)
    if times > 1:
        sent, k = repeated(name, blocks, given, alias, times), k * times
    return schedule_of(name, network, kind, sent, n, k, root, algo.get("name") or path.stem, bytes)


def program_ranks(path: Path) -> int:
    """Return the number of ranks of MSCCL XML; FileFormatError if it is none."""
    return len(_parsed(path).findall("gpu"))


def _parsed(path: Path) -> ElementTree.Element:
    name = str(path)
    data = read_bytes(path)
    check_pieces(path, data, XML_PIECES)
    if b"<!" in data.replace(b"<!--", b""):
        raise FileFormatError(f"{name!r} declares a document type or entities; an MSCCL file does not")
    try:
        algo = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise FileFormatError(f"{name!r} is not XML: {error}") from None
    if algo.tag != "algo" or not algo.findall("gpu"):
        raise FileFormatError(f"{name!r} is not MSCCL XML: it has no <algo> with a <gpu>")
    return algo


def _number(element: ElementTree.Element, attribute: str, name: str) -> int:
    text = element.get(attribute)
    if text is None or not text.strip().lstrip("-").isascii() or not text.strip().lstrip("-").isdigit():
        raise FileFormatError(f"{name!r}: a <{element.tag}> needs a whole number {attribute!r}, got {str(text)[:40]!r}")
    if len(text) > 12 or abs(int(text)) > _MOST:
        raise FileFormatError(f"{name!r}: {attribute!r} of a <{element.tag}> is {text[:20]}, more than {_MOST:,}")
    return int(text)


def _root(kind: ForeignCollective, sizes: list[tuple[int, int]]) -> int:
    """Return the root: the only rank with an input, or an output, where one alone has it, else rank 0."""
    have = [v for v, size in enumerate(sizes) if size[0 if kind.root_input else 1]]
    return have[0] if len(have) == 1 and (kind.root_input or kind.root_output) else 0


def _threadblocks(gpu: ElementTree.Element, rank: int, name: str) -> list[Block]:
    found = []
    for tb in gpu.findall("tb"):
        to, from_, channel = (_number(tb, a, name) for a in ("send", "recv", "chan"))
        steps = []
        for step in tb.findall("step"):
            does = _STEP_KINDS.get(step.get("type", ""))
            where = f"{name!r}: rank {rank}, threadblock {tb.get('id')}, step {step.get('s')}"
            if does is None:
                raise FileFormatError(f"{where} has type {step.get('type')!r}; known are {', '.join(_STEP_KINDS)}")
            if (does[0] and from_ < 0) or (does[3] and to < 0):
                raise FileFormatError(f"{where} sends or receives, but its threadblock has no peer for that")
            places = [(step.get(f"{end}buf", ""), _number(step, f"{end}off", name)) for end in ("src", "dst")]
            count = _number(step, "cnt", name)
            if not does[0] and not does[2] and not does[3]:
                count = 0
            elif count < 1 or any(b not in ("i", "o", "s") or at < 0 for b, at in places):
                raise FileFormatError(f"{where} has no chunks in buffers i, o or s")
            depends = _number(step, "depid", name), _number(step, "deps", name)
            steps.append(Step(*does, places[0], places[1], count, depends if depends[0] >= 0 else None))
        found.append(Block(rank, _number(tb, "id", name), to, from_, channel, steps))
    if sum(step.chunks for block in found for step in block.steps) > _MOST:
        raise FileFormatError(f"{name!r}: rank {rank} moves more than {_MOST:,} chunks")
    return found


MSCCL_XML = Format(
    "msccl-xml", "MSCCL XML for collective libraries of GPUs", _write, _limits, groups=False, slice_bytes=SLICE,
    by_rank=True, read=lambda path, network, bytes: read_msccl_xml(path, network, bytes=bytes),
)  # fmt: skip
