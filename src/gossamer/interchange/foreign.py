"""Schedules of what foreign files send."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, GossamerError, nearest
from gossamer.networks.network import Network
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Gather,
    MultinodeBroadcast,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)
from gossamer.schedules import Packets, Schedule

__all__ = [
    "COLLECTIVES",
    "Block",
    "Chunk",
    "ChunkHop",
    "ForeignCollective",
    "Step",
    "capacities",
    "carry_out",
    "collective",
    "schedule_of",
    "whole_parts",
]

# Threadblocks carried out slot by slot, to see which chunk crosses which link when.
#
# A file of threadblocks has no clock. Here every step is carried out as early as what it waits for and the capacity of
# its link allow: a send takes a slot, and what it brings can be used in the next; copies take no time. A chunk that has
# come waits for the step that receives it.

Place = tuple[str, int]
"""A buffer of a rank, and a chunk of it."""


class Chunk(NamedTuple):
    """What is at a place: a message and a part, and of reductions the ranks whose contributions are in it, as bits."""

    message: int
    part: int
    ranks: int = 0


class Step(NamedTuple):
    """A step of a threadblock.

    Attributes
    ----------
    receives, adds, writes, sends : bool
        What it does, in this order: take a chunk from the wire or from `source`, add what is at `source`, write the
        sum to `target`, send it.
    source, target : tuple of str and int
        Places.
    chunks : int
        How many chunks, one after the other.
    needs : tuple of int and int, or None
        The threadblock and step that must be complete before.
    """

    receives: bool
    adds: bool
    writes: bool
    sends: bool
    source: Place
    target: Place
    chunks: int
    needs: tuple[int, int] | None


@dataclass
class Block:
    """A threadblock: its steps, whom it sends to and receives from (-1: nobody), on which channel."""

    rank: int
    number: int
    to: int
    from_: int
    channel: int
    steps: Sequence[Step]
    at: int = 0
    sending: bool = False


class ChunkHop(NamedTuple):
    """A chunk that crosses a link in a slot."""

    slot: int
    source: int
    target: int
    chunk: Chunk


class _Machine:
    def __init__(
        self,
        name: str,
        blocks: Sequence[Block],
        memory: Sequence[dict[Place, Chunk]],
        alias: Sequence[Mapping[Place, Place]],
    ) -> None:
        self.name, self.blocks, self.memory, self.alias = name, blocks, memory, alias
        self.wires: dict[tuple[int, int, int], deque[Chunk]] = {}
        self.receivers = {(b.from_, b.rank, b.channel): b for b in blocks if b.from_ >= 0}
        self.done: set[tuple[int, int, int]] = set()
        self.waiting: dict[tuple[int, int, int], list[Block]] = {}
        self.pending: dict[tuple[int, int], deque[tuple[Block, list[Chunk]]]] = {}

    def advance(self, ready: deque[Block]) -> None:
        """Carry out what takes no time, and queue what is to be sent."""
        while ready:
            block = ready.popleft()
            while not block.sending and block.at < len(block.steps) and self._step(block, block.steps[block.at], ready):
                pass

    def _step(self, block: Block, step: Step, ready: deque[Block]) -> bool:
        """Carry out a step up to its send; say whether the next one may follow at once."""
        if step.needs is not None and (block.rank, *step.needs) not in self.done:
            self.waiting.setdefault((block.rank, *step.needs), []).append(block)
            return False
        chunks = self._taken(block, step)
        if chunks is None:
            return False
        if step.writes:
            for i, chunk in enumerate(chunks):
                self.memory[block.rank][self._place(block.rank, step.target, i)] = chunk
        if step.sends:
            block.sending = True
            self.pending.setdefault((block.rank, block.to), deque()).append((block, chunks))
            return False
        self.complete(block, ready)
        return True

    def _taken(self, block: Block, step: Step) -> list[Chunk] | None:
        """Return the chunks that a step works on, None if they have not come."""
        own = [self._place(block.rank, step.source, i) for i in range(step.chunks)]
        if not step.receives:
            return [self._read(block, place) for place in own] if step.writes or step.sends else []
        wire = self.wires.get((block.from_, block.rank, block.channel), ())
        if len(wire) < step.chunks:
            return None
        chunks = [wire.popleft() for _ in range(step.chunks)]  # type: ignore[union-attr]
        if not step.adds:
            return chunks
        return [self._sum(block, chunk, self._read(block, place)) for chunk, place in zip(chunks, own, strict=True)]

    def _place(self, rank: int, place: Place, i: int) -> Place:
        here = (place[0], place[1] + i)
        return self.alias[rank].get(here, here)

    def _read(self, block: Block, place: Place) -> Chunk:
        found = self.memory[block.rank].get(place)
        if found is None:
            raise FileFormatError(
                f"{self.name!r}: rank {block.rank}, threadblock {block.number}, step {block.at} reads chunk {place[1]} "
                f"of buffer {place[0]!r}, where nothing is yet"
            )
        return found

    def _sum(self, block: Block, one: Chunk, other: Chunk) -> Chunk:
        if one[:2] != other[:2] or one.ranks & other.ranks or not (one.ranks and other.ranks):
            raise FileFormatError(
                f"{self.name!r}: rank {block.rank}, threadblock {block.number}, step {block.at} adds chunks that do "
                "not belong together, or adds a contribution twice"
            )
        return Chunk(one.message, one.part, one.ranks | other.ranks)

    def complete(self, block: Block, ready: deque[Block]) -> None:
        """Note that a block's step is complete, and wake what waits for it."""
        key = (block.rank, block.number, block.at)
        self.done.add(key)
        block.at += 1
        block.sending = False
        ready.extend(self.waiting.pop(key, ()))


def carry_out(
    name: str,
    blocks: Sequence[Block],
    memory: Sequence[dict[Place, Chunk]],
    alias: Sequence[Mapping[Place, Place]],
    capacity: Mapping[tuple[int, int], int],
) -> list[ChunkHop]:
    """Carry out threadblocks and return the hops by slot; `memory` of each rank ends as they leave it.

    Parameters
    ----------
    name : str
        The file, for errors.
    blocks : sequence of Block
        Those of all ranks.
    memory : sequence of dict
        What is at each place of each rank at the start.
    alias : sequence of mappings
        Places of each rank that are other places.
    capacity : mapping
        Chunks that each link carries in a slot, by its two ends.

    Raises
    ------
    FileFormatError
        If a step reads what is not there, chunks are added that do not belong together, or the threadblocks wait for
        each other.
    """
    machine = _Machine(name, blocks, memory, alias)
    hops: list[ChunkHop] = []
    ready = deque(blocks)
    slot = 0
    while True:
        machine.advance(ready)
        moving = [(ends, queue) for ends, queue in machine.pending.items() if queue]
        if not moving:
            break
        for ends, queue in moving:
            for _ in range(min(capacity[ends], len(queue))):
                block, chunks = queue[0]
                hops.append(ChunkHop(slot, *ends, chunks.pop(0)))
                wire = machine.wires.setdefault((*ends, block.channel), deque())
                wire.append(hops[-1].chunk)
                receiver = machine.receivers.get((*ends, block.channel))
                if receiver is not None:
                    ready.append(receiver)
                if not chunks:
                    queue.popleft()
                    machine.complete(block, ready)
                    ready.append(block)
        slot += 1
    for block in blocks:
        if block.at < len(block.steps):
            raise FileFormatError(
                f"{name!r} does not end: rank {block.rank}, threadblock {block.number} waits for ever at step "
                f"{block.at}"
            )
    for (u, v, channel), wire in machine.wires.items():
        if wire:
            raise FileFormatError(f"{name!r}: rank {u} sends chunks to {v} on channel {channel} that nobody receives")
    return hops


# What the chunks of a collective are here: tasks with their packets, for formats that number chunks in buffers.
#
# A *place* is a chunk of a rank's input or output, numbered as the formats do: an input that is for all ranks, or an
# output from all, has those of rank 0 first, then those of rank 1, and so on.


@dataclass(frozen=True)
class ForeignCollective:
    """A collective on n ranks, with messages in k chunks.

    Attributes
    ----------
    task : callable
        Takes the root and gives the task.
    key : callable
        Takes rank, place in the input, n and k, and gives message and part; of reductions the part of all chunks.
    goal : callable
        Takes rank, n, k and root, and gives the keys that the rank's output must have, in the order of places.
    wide_input, wide_output : bool
        Whether an input or output has k chunks for each rank, or k chunks.
    reduces : bool
        Whether contributions are added.
    root_input, root_output : bool
        Whether only the root has an input or output.
    """

    task: Callable[[int], Task]
    key: Callable[[int, int, int, int], tuple[int, int]]
    goal: Callable[[int, int, int, int], list[tuple[int, int]]]
    wide_input: bool = False
    wide_output: bool = False
    reduces: bool = False
    root_input: bool = False
    root_output: bool = False


def _all_of(n: int, k: int) -> list[tuple[int, int]]:
    return [(u, j) for u in range(n) for j in range(k)]


COLLECTIVES = {
    "allgather": ForeignCollective(
        lambda root: MultinodeBroadcast(), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True,
    ),
    "alltoall": ForeignCollective(
        lambda root: TotalExchange(), lambda v, i, n, k: (v * n + i // k, i % k),
        lambda v, n, k, root: [(u * n + v, j) for u, j in _all_of(n, k)], wide_input=True, wide_output=True,
    ),
    "reduce_scatter": ForeignCollective(
        lambda root: ReduceScatter(), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)], wide_input=True, reduces=True,
    ),
    "allreduce": ForeignCollective(
        lambda root: Allreduce(), lambda v, i, n, k: (0, i),
        lambda v, n, k, root: [(0, i) for i in range(n * k)], wide_input=True, wide_output=True, reduces=True,
    ),
    "broadcast": ForeignCollective(
        lambda root: Broadcast(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: [(root, j) for j in range(k)],
        root_input=True,
    ),
    "reduce": ForeignCollective(
        lambda root: Reduce(root), lambda v, i, n, k: (0, i), lambda v, n, k, root: [(0, j) for j in range(k)],
        reduces=True, root_output=True,
    ),
    "scatter": ForeignCollective(
        lambda root: Scatter(root), lambda v, i, n, k: (i // k, i % k),
        lambda v, n, k, root: [(v, j) for j in range(k)],
        wide_input=True, root_input=True,
    ),
    "gather": ForeignCollective(
        lambda root: Gather(root), lambda v, i, n, k: (v, i), lambda v, n, k, root: _all_of(n, k),
        wide_output=True, root_output=True,
    ),
}  # fmt: skip
"""The collectives that can be read, by the names of the formats."""


def collective(name: str, file: str) -> ForeignCollective:
    """Return the collective of a name in any spelling; FileFormatError if it is none that can be judged.

    >>> collective("AllGather", "x.xml").wide_output
    True
    """
    plain = {key.replace("_", ""): value for key, value in COLLECTIVES.items()}
    found = plain.get(name.lower().replace("_", "").replace("-", ""))
    if found is None:
        hint = nearest(name, COLLECTIVES) or f"; there are: {', '.join(COLLECTIVES)}"
        raise FileFormatError(f"{file!r} is of collective {name!r}, which has no task here{hint}")
    return found


def capacities(name: str, network: Network, ends: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the capacity of each link between pairs of ranks; FileFormatError where there is no link."""
    n = network.terminal_count
    known = {
        (int(u), int(v)): int(c)
        for u, v, c in zip(network.link_source, network.link_target, network.link_capacity, strict=True)
    }
    for u, v in sorted(ends):
        if not (0 <= u < n and 0 <= v < n):
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}; ranks are 0..{n - 1}")
        if (u, v) not in known:
            raise FileFormatError(f"{name!r}: rank {u} sends to {v}, but {network.spec} has no link {u} -> {v}")
    return known


def whole_parts(name: str, kind: ForeignCollective, n: int, sizes: tuple[int, int]) -> int:
    """Return in how many parts messages are, from the chunks of a rank's input and output."""
    given, got = sizes
    size, wide = (got, kind.wide_output) if kind.root_output or not given else (given, kind.wide_input)
    parts, rest = divmod(size, n) if wide else (size, 0)
    if parts < 1 or rest:
        raise FileFormatError(f"{name!r} has {size} chunks in a buffer for {n} ranks; it must be a multiple of {n}")
    return parts


def schedule_of(
    name: str,
    network: Network,
    kind: ForeignCollective,
    hops: Sequence[ChunkHop],
    n: int,
    k: int,
    root: int,
    algorithm: str,
) -> Schedule:
    """Return the schedule of hops, with packets as the collective's task numbers them.

    An allreduce is a reduction to one rank for each chunk, and a broadcast from there: the rank at which a chunk is
    complete first must be that of k chunks.

    Raises
    ------
    FileFormatError
        If an allreduce is none of these, or a chunk that is no message of the task is sent.
    """
    task = kind.task(root)
    messages = task.messages(network)
    if isinstance(task, Allreduce):
        keys = _allreduce_packets(name, hops, n, k)
    elif isinstance(task, Reduce):
        keys = [(root, hop.chunk.part) for hop in hops]
    else:
        keys = [(hop.chunk.message, hop.chunk.part) for hop in hops]
    order = np.argsort(np.array([hop.slot for hop in hops], np.int64), kind="stable")
    table = np.array(keys, np.int64).reshape(-1, 2)[order]
    rows = np.searchsorted(messages.ids, table[:, 0])
    if np.any(messages.ids[np.minimum(rows, messages.count - 1)] != table[:, 0]):
        raise FileFormatError(f"{name!r} sends a rank's chunk for itself to another")
    ends = np.array([(hop.slot, hop.source, hop.target) for hop in hops], np.int64).reshape(-1, 3)[order]
    try:
        return Schedule(
            network,
            task,
            Rules(split=k > 1),
            ends[:, 0].astype(np.int32),
            network.links_between(ends[:, 1], ends[:, 2]).astype(np.int32),
            (rows * k + table[:, 1]).astype(np.int32),
            parts=k,
            packets=Packets.of(messages, k),
            algorithm=algorithm,
        )
    except GossamerError as error:
        raise FileFormatError(f"{name!r} is no schedule: {error}") from None


def _allreduce_packets(name: str, hops: Sequence[ChunkHop], n: int, k: int) -> list[tuple[int, int]]:
    """Return message and part of each hop of an allreduce: chunks become reductions to the ranks that complete them."""
    everyone = (1 << n) - 1
    root_of: dict[int, int] = {}
    for hop in hops:
        if hop.chunk.ranks == everyone:
            root_of.setdefault(hop.chunk.part, hop.source)
    taken = [0] * n
    part_of = {}
    for chunk in range(n * k):
        if chunk not in root_of:
            raise FileFormatError(f"{name!r}: the sum of chunk {chunk} is never sent on, so no rank broadcasts it")
        part_of[chunk] = taken[root_of[chunk]]
        taken[root_of[chunk]] += 1
    uneven = [v for v in range(n) if taken[v] != k]
    if uneven:
        v = uneven[0]
        raise FileFormatError(
            f"{name!r}: rank {v} completes {taken[v]} of {n * k} chunks; an allreduce here has {k} for each rank"
        )
    return [(root_of[h.chunk.part] + n * (h.chunk.ranks == everyone), part_of[h.chunk.part]) for h in hops]
