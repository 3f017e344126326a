"""Chakra execution traces, version of May 2024 and later: a file ``trace.<rank>.et`` for each rank.

Distributed-machine-learning simulators take them as a custom implementation of a collective. A file is a sequence of
protocol-buffer messages, each after its length: one with the metadata, then a node for each operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gossamer.interchange.format import Format, Plan, earlier_on_link
from gossamer.programs import SEND, Operations

__all__ = ["CHAKRA"]

_MOST = 2**31


def _attribute(name: str, field: int) -> bytes:
    """Return an attribute up to its number: its name, and the key of the field that holds the number."""
    key = field << 3
    return (
        b"\x0a"
        + bytes([len(name)])
        + name.encode()
        + (bytes([key & 127 | 128, key >> 7]) if key > 127 else bytes([key]))
    )


_INT32, _INT64, _BOOL = 7, 9, 27
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
    from gossamer.interchange import rows

    sends = mine.kind == SEND
    earlier = earlier_on_link(mine)
    out = np.empty(mine.count * _LONGEST, np.uint8)
    size = rows.chakra_nodes(
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
