"""The operations of one rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray

__all__ = ["BUFFERS", "INPUT", "KINDS", "OUTPUT", "RECEIVE", "REDUCE", "SCRATCH", "SEND", "Operations"]

SEND, RECEIVE, REDUCE = 0, 1, 2
"""Kinds of operations: send a block, receive one, receive one and add it to something."""

INPUT, OUTPUT, SCRATCH = 0, 1, 2
"""Buffers of a rank: what it brings, what it gets, and what is on its way."""

KINDS = ("send", "receive", "receive and reduce")
BUFFERS = ("input", "output", "scratch")


@dataclass(frozen=True, eq=False)
class Operations:
    """What one rank does, in the order of slots; in a slot sends stand before receives.

    In a slot a rank sends what it held before the slot. Two ranks exchange blocks over a link in the order in which
    both list them, so that no tags are needed.

    Attributes
    ----------
    rank : int
        The node.
    slot : int32[K]
        When.
    kind : uint8[K]
        `SEND`, `RECEIVE` or `REDUCE`.
    peer : int32[K]
        The other end of the link.
    buffer : uint8[K]
        `INPUT`, `OUTPUT` or `SCRATCH`: what is sent from or received into.
    offset : int32[K]
        Where in the buffer, in parts of a message.
    operand : int32[K]
        Of `REDUCE`: the place in the input to whose block the received one is added, and the sum goes to `offset`; -1
        where it is added to what is at `offset`. -1 for other kinds.
    after : int32[K]
        The operation of this rank that must be complete before, -1 if there is none. One is enough: it has itself
        waited for what came before it.
    part : int32[K]
        Which part of its message the block is, so that parts of unequal sizes are known in scratch too.
    copies : int32[C, 2]
        Places in the input and in the output: what the rank copies from the one to the other before slot 0.
    input_size, output_size, scratch_size : int
        Sizes of the buffers, in parts.
    """

    rank: int
    slot: IntArray
    kind: npt.NDArray[np.uint8]
    peer: IntArray
    buffer: npt.NDArray[np.uint8]
    offset: IntArray
    operand: IntArray
    after: IntArray
    part: IntArray
    copies: IntArray
    input_size: int
    output_size: int
    scratch_size: int

    @classmethod
    def of(
        cls, rank: int, columns: Sequence[npt.NDArray[Any]], copies: npt.NDArray[Any], sizes: Sequence[Any]
    ) -> Operations:
        """Return the operations with the given columns, from `slot` to `part`, copies, and sizes of the buffers."""
        slot, kind, peer, buffer, offset, operand, after, part = columns
        given, got, scratch = map(int, sizes)
        places = np.asarray(copies, np.int32).reshape(-1, 2)
        return cls(rank, slot, kind, peer, buffer, offset, operand, after, part, places, given, got, scratch)

    @property
    def count(self) -> int:
        """Number of operations K."""
        return int(self.slot.size)

    @property
    def length(self) -> IntArray:
        """Parts that each operation moves, int32[K]: one."""
        return np.broadcast_to(np.int32(1), self.slot.shape)
