"""Threadblocks carried out slot by slot, to see which chunk crosses which link when.

A file of threadblocks has no clock. Here every step is carried out as early as what it waits for and the capacity of
its link allow: a send takes a slot, and what it brings can be used in the next; copies take no time. A chunk that has
come waits for the step that receives it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gossamer.errors import FileFormatError

__all__ = ["Block", "Chunk", "Hop", "Step", "carry_out"]

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


class Hop(NamedTuple):
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
) -> list[Hop]:
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
    hops: list[Hop] = []
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
                hops.append(Hop(slot, *ends, chunks.pop(0)))
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
