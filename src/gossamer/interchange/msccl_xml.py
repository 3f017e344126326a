"""MSCCL XML: what collective libraries for GPUs with an interpreter for algorithms load.

A link has a threadblock that sends, one that receives, and a channel for every 64 of its blocks. A step waits for at
most one other, which is enough; see `gossamer.programs.Operations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan
from gossamer.interchange.rows import RowText
from gossamer.programs import REDUCE, SEND, Operations

__all__ = ["COLLECTIVES", "MSCCL_XML", "STEPS"]

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
