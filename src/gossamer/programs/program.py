"""A program: the operations of every rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.tasks import Task
from gossamer.reading import whole
from gossamer.schedules import Symmetry

# The operations of one rank.

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


@dataclass(frozen=True, eq=False)
class Columns:
    """The operations of all ranks one after the other; those of rank r are rows ``first[r]`` to ``first[r + 1]``.

    Columns as those of `Operations`; sizes int64[ranks, 3] of input, output and scratch; ``copies`` int64[C, 3] of rank
    and two places, by rank.
    """

    first: npt.NDArray[np.int64]
    rows: tuple[npt.NDArray[Any], ...]
    copies: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @property
    def representatives(self) -> list[int]:
        """All ranks: each may be another."""
        return list(range(self.first.size - 1))

    def rank(self, rank: int) -> Operations:
        """Return the operations of a rank, without copying them."""
        part = slice(int(self.first[rank]), int(self.first[rank + 1]))
        own = slice(*np.searchsorted(self.copies[:, 0], [rank, rank + 1]).tolist())
        return Operations.of(rank, [c[part] for c in self.rows], self.copies[own, 1:], self.sizes[rank])


@dataclass(frozen=True, eq=False)
class Templates:
    """The operations of the representatives of a symmetry's orbits.

    `input_by_node` and `output_by_node` say whether the places of a buffer are nodes, so that a translation moves them.
    """

    symmetry: Symmetry
    operations: tuple[Operations, ...]
    copies: npt.NDArray[np.int64]
    input_by_node: bool
    output_by_node: bool
    parts: int

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Sizes of the buffers, int64[ranks, 3]."""
        of = [(mine.input_size, mine.output_size, mine.scratch_size) for mine in self.operations]
        return np.array(of, np.int64)[self.symmetry.orbit]

    @property
    def representatives(self) -> list[int]:
        """One rank of each orbit."""
        return [int(r) for r in self.symmetry.representatives]

    def rank(self, rank: int) -> Operations:
        """Return the operations of a rank: those of its representative, translated."""
        symmetry = self.symmetry
        template = self.operations[int(symmetry.orbit[rank])]
        by = symmetry.taking(template.rank, rank)
        image = symmetry.translate(by, np.arange(symmetry.network.node_count)).astype(np.int32)

        def moved(places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
            kept = np.maximum(places, 0)
            there = image[kept // self.parts] * np.int32(self.parts) + kept % self.parts
            return np.where(places < 0, places, there).astype(np.int32)

        offset, operand = template.offset.copy(), template.operand
        for buffer, by_node in ((INPUT, self.input_by_node), (OUTPUT, self.output_by_node)):
            here = template.buffer == buffer if by_node else np.zeros(0, np.intp)
            offset[here] = moved(offset[here])
        own = slice(*np.searchsorted(self.copies[:, 0], [rank, rank + 1]).tolist())
        return replace(
            template,
            rank=rank,
            peer=image[template.peer],
            offset=offset,
            operand=moved(operand) if self.input_by_node else operand,
            copies=self.copies[own, 1:].astype(np.int32),
        )


class Stored(Protocol):
    """What a program keeps, from which the operations of each rank are made."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Sizes of input and output of each rank in parts, int64[ranks, 2 or more]."""

    @property
    def representatives(self) -> list[int]:
        """Ranks such that each other one is like one of them, but for the numbers of ranks and places."""

    def rank(self, rank: int) -> Operations:
        """Return the operations of a rank."""


class Program:
    """What each rank of a schedule does.

    Made by `lower` of a schedule that the checker accepts.

    Attributes
    ----------
    network : Network
        The ranks are its nodes.
    task : Task
        What is carried out.
    algorithm : str
        What built the schedule.
    parts : int
        Blocks that a message is: its packets times its parts. Offsets and sizes count these.
    slots : int
        Slots of the schedule.
    hops : int
        Blocks that cross links.

    Notes
    -----
    36 bytes an operation. The program of an invariant schedule holds the operations of one rank for each orbit.

    Examples
    --------
    >>> import gossamer
    >>> program = gossamer.lower(gossamer.plan("ring:3", "allgather").schedule)
    >>> mine = program.rank(1)
    >>> mine.slot.tolist(), mine.kind.tolist(), mine.peer.tolist(), mine.offset.tolist()
    ([0, 0, 0, 0], [0, 0, 1, 1], [2, 0, 0, 2], [0, 0, 0, 2])
    """

    def __init__(
        self,
        network: Network,
        task: Task,
        stored: Stored,
        *,
        algorithm: str = "",
        parts: int = 1,
        slots: int = 0,
        hops: int = 0,
    ) -> None:
        self.network = network
        self.task = task
        self.algorithm = algorithm
        self.parts = parts
        self.slots = slots
        self.hops = hops
        self._stored = stored
        self._chosen: range | tuple[int, ...] = range(network.node_count)

    def of(self, ranks: Sequence[int]) -> Program:
        """Return the program of some ranks: iterating over it gives these, and ``rank`` gives any."""
        found = copy(self)
        found._chosen = tuple(ranks)
        return found

    @property
    def ranks(self) -> int:
        """Number of ranks, the nodes of the network."""
        return self.network.node_count

    @property
    def complete(self) -> bool:
        """Whether iterating over it gives all ranks."""
        return isinstance(self._chosen, range)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Sizes of the input and the output of each rank in parts, int64[ranks, 2], of all ranks."""
        return self._stored.sizes[: self.ranks, :2]

    def representatives(self) -> Iterator[Operations]:
        """Yield what ranks do of which each other one is like one, but for the numbers of ranks and places."""
        return map(self._stored.rank, self._stored.representatives)

    @property
    def operation_count(self) -> int:
        """Number of operations of all ranks: two for each hop."""
        return 2 * self.hops

    def rank(self, rank: int) -> Operations:
        """Return what a rank does.

        Raises
        ------
        ScheduleError
            If there is no such rank.
        """
        most = self.ranks - 1
        return self._stored.rank(whole(rank, "the rank", 0, most, allowed=f"0..{most}", error=ScheduleError))

    def __iter__(self) -> Iterator[Operations]:
        """Yield what each rank does, in the order of ranks."""
        return map(self._stored.rank, self._chosen)

    def __repr__(self) -> str:
        return f"<program of {self.task.name} on {self.network.spec}: {self.slots} slots, {self.hops} hops>"
