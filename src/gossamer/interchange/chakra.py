"""Chakra execution traces, version of May 2024 and later: a file ``trace.<rank>.et`` for each rank.

Distributed-machine-learning simulators take them as a custom implementation of a collective. A file is a sequence of
protocol-buffer messages, each after its length: one with the metadata, then a node for each operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gossamer.interchange.format import Format, Plan, earlier_on_link
from gossamer.jit import njit
from gossamer.programs import SEND, Operations

__all__ = ["CHAKRA"]

_MOST = 2**31


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


def _rank(mine: Operations, part_bytes: int) -> bytes:
    sends = mine.kind == SEND
    earlier = earlier_on_link(mine)
    out = np.empty(mine.count * _LONGEST, np.uint8)
    size = _nodes(
        sends, np.where(sends, mine.rank, mine.peer), np.where(sends, mine.peer, mine.rank), mine.slot, part_bytes,
        mine.after, np.where(earlier == mine.after, -1, earlier), np.frombuffer(b"".join(_TEXTS), np.uint8),
        np.cumsum([0, *map(len, _TEXTS)]), out,
    )  # fmt: skip
    return bytes([len(_METADATA)]) + _METADATA + out[:size].tobytes()


def _limits(plan: Plan) -> Iterator[str]:
    if plan.schedule.slot_count >= _MOST:
        yield f"a Chakra trace has tags of 31 bits; the schedule has {plan.schedule.slot_count:,} slots"


def _write(plan: Plan, folder: Path) -> None:
    for mine in plan.program:
        (folder / f"trace.{mine.rank}.et").write_bytes(_rank(mine, plan.part_bytes))


CHAKRA = Format(
    "chakra", "Chakra execution traces for ASTRA-sim and its like", _write, _limits, folder=True, sized=True
)
