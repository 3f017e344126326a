"""Threadblocks: which order they have in every execution, what they send, and whether they race or wait for ever.

A threadblock carries out its steps one after the other. A step waits besides for the one that it names, and one that
receives for what is sent: what goes over a connection comes in the order in which it was sent. Nothing else orders
steps. What is between two steps in this order, *before* and *behind*, holds in every execution; two steps of a rank of
which neither is before the other may be carried out either way, and must not touch a place in a way that shows.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.jit import njit

Place = tuple[str, int]
"""A buffer of a rank, and a chunk of it."""


class Chunk(NamedTuple):
    """What is at a place: a message and a part, and of reductions the ranks whose contributions are in it, as bits."""

    message: int
    part: int
    ranks: int = 0


class Step(NamedTuple):
    """A step of a threadblock.

    * `receives`, `adds`, `writes`, `sends`: what it does, in this order: take a chunk from the connection or from
      `source`, add what is at `source`, or at `target` where it does not receive, write the sum to `target`, send it.
    * `source`, `target`: places.
    * `chunks`: how many chunks, one after the other.
    * `needs`: the threadblock and step that must be complete before.
    * `wire`: the connection on which it sends or receives: source, target and channel. None where it is the
      threadblock's. What goes over one with no chunks is a signal: who takes it comes behind who sends it.
    * `shared`: the group of the first chunk that it sends, the next one that of the next; see `Transfer`.
    """

    receives: bool
    adds: bool
    writes: bool
    sends: bool
    source: Place
    target: Place
    chunks: int
    needs: tuple[int, int] | None
    wire: tuple[int, int, int] | None = None
    shared: int = -1


@dataclass(frozen=True)
class Block:
    """A threadblock: its steps, whom it sends to and receives from (-1: nobody), on which channel.

    `names` says where each step stands, for errors; where there are none, threadblock and number do.
    """

    rank: int
    number: int
    to: int
    from_: int
    channel: int
    steps: Sequence[Step]
    names: Sequence[str] = ()

    def wire(self, step: Step) -> tuple[int, int, int]:
        """Return the connection on which a step sends, or, where it only receives, from which it does."""
        if step.wire is not None:
            return step.wire
        ends = (self.rank, self.to) if step.sends else (self.from_, self.rank)
        return (*ends, self.channel)


class Transfer(NamedTuple):
    """A chunk that goes from rank to rank, and the earlier transfers that it waits for.

    * `source`, `target`: ranks.
    * `line`: the connection; what goes over one arrives in order.
    * `chunk`: what is sent.
    * `came`: transfers that must have arrived at the source.
    * `left`: transfers that must have left the source.
    * `shared`: transfers of one number cross a link once: from one rank, copied by switches, or to one, added up by
      them; -1 for a transfer of its own.
    """

    source: int
    target: int
    line: int
    chunk: Chunk
    came: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    shared: int = -1


def first_rank(ranks: int) -> int:
    """Return the least rank of a set of ranks as bits.

    >>> first_rank(0b1100)
    2
    """
    return (ranks & -ranks).bit_length() - 1


def carry_out(
    name: str,
    blocks: Sequence[Block],
    memory: Sequence[dict[Place, Chunk]],
    alias: Sequence[Mapping[Place, Place]],
    goal: Sequence[Mapping[Place, Chunk]],
) -> list[Transfer]:
    """Carry out threadblocks, in an order that every execution has, and return what they send.

    * `name`: the file, for errors.
    * `blocks`: those of all ranks.
    * `memory`: what is at each place of each rank at the start; it ends as they leave it.
    * `alias`: places of each rank that are other places.
    * `goal`: what must be at places of each rank in the end.

    Raises `FileFormatError` if threadblocks wait for each other or for what nobody sends, a step reads what is not
    there, chunks are added that do not belong together, an output is left without its result, or two steps race: in
    some execution one reads or overwrites a place too early.

    O(steps times threadblocks of a rank) where what a rank's steps wait for within it orders them, else for each rank
    of which other ranks order steps.
    """
    order = _Order(name, blocks)
    run = _Run(order, memory, alias)
    try:
        run.all()
    except FileFormatError as error:
        raise FileFormatError(f"{error}{_also(order, run, None)}") from None
    wrong = _unmet(name, run, goal)
    if wrong is not None:
        raise FileFormatError(f"{wrong}{_also(order, run, None)}")
    race = next(_races(order, run, goal), None)
    if race is not None:
        raise FileFormatError(f"{name!r}: {race}")
    return run.transfers


def repeated(
    name: str,
    blocks: Sequence[Block],
    memory: Sequence[Mapping[Place, Chunk]],
    alias: Sequence[Mapping[Place, Place]],
    times: int,
) -> list[Transfer]:
    """Return what threadblocks send that `carry_out` accepts, if each repeats its steps for so many slices of chunks.

    Every threadblock goes on with the next slice as soon as it is through with one, whatever the others do; what it
    waits for is of the same slice, and slices have places of their own. Part p of a message becomes parts p * `times`
    to p * `times` + `times` - 1. Where several threadblocks share an end of a connection, nothing would keep slices
    apart on it: then the threadblocks have to be carried out once (`times` 1).

    `memory`: what is at each place of each rank at the start, not sliced.

    O(steps times `times`).
    """
    lengths = {(block.rank, block.number): len(block.steps) for block in blocks}

    def at(place: Place, g: int) -> Place:
        return f"{place[0]}{g}", place[1]

    def step_of(block: Block, step: Step, g: int) -> Step:
        needs = step.needs and (step.needs[0], g * lengths[block.rank, step.needs[0]] + step.needs[1])
        return step._replace(source=at(step.source, g), target=at(step.target, g), needs=needs)

    again = [
        replace(block, steps=[step_of(block, step, g) for g in range(times) for step in block.steps])
        for block in blocks
    ]  # fmt: skip
    slices = range(times)
    given = [
        {at(p, g): chunk._replace(part=chunk.part * times + g) for p, chunk in own.items() for g in slices}
        for own in memory
    ]  # fmt: skip
    same = [{at(p, g): at(q, g) for p, q in own.items() for g in slices} for own in alias]
    run = _Run(_Order(name, again), given, same)
    run.all()
    return run.transfers


def _also(order: _Order, run: _Run, goal: Sequence[Mapping[Place, Chunk]] | None) -> str:
    """Return what else is wrong: a race, which may be why; nothing if there is none."""
    race = next(_races(order, run, goal), None)
    return "" if race is None else f"; {race}"


def _unmet(name: str, run: _Run, goal: Sequence[Mapping[Place, Chunk]]) -> str | None:
    """Return what an output is left with that is not the collective's result; None if all are right."""
    for v, (has, wants) in enumerate(zip(run.memory, goal, strict=True)):
        for i, (place, chunk) in enumerate(wants.items()):
            found = has.get(place)
            if found != chunk:
                what = "nothing" if found is None else "another chunk"
                if found is not None and found[:2] == chunk[:2] and chunk.ranks & ~found.ranks:
                    what = f"a sum without the contribution of rank {first_rank(chunk.ranks & ~found.ranks)}"
                touched = run.touched[v].get(place)
                wrote = [] if touched is None else [s for s, w in zip(touched.steps, touched.writes, strict=True) if w]
                last = f", written last in slot {run.order.slot(wrote[-1])}" if wrote else ""
                return f"{name!r} leaves {what} at chunk {i} of the output of rank {v}{last}"
    return None


# What is before what.


@dataclass
class _Wire:
    """A connection: the steps that send and that take, in order; shared where several threadblocks do either."""

    sends: list[int] = field(default_factory=list)
    takes: list[int] = field(default_factory=list)
    shared: bool = False


class _Table(NamedTuple):
    """Steps in order, the threadblock and number of each, and ``before[first[s]:first[s + 1]]``, for which s waits."""

    steps: npt.NDArray[np.int64]
    block: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]


class _Order:
    """The steps of all threadblocks, numbered one after the other, and what each waits for.

    * `block`, `at`: the threadblock of each step, and its number in it.
    * `before`: the steps of its rank that each waits for.
    * `taken`: for each step that receives, the step that sends what it takes.
    * `line`: the number of each connection: source, target and channel.
    * `steps`: all steps, so that none is before one that it waits for, in the order in which they could be carried out.
    * `level`: how many chunks have crossed, one after the other, before each step.
    """

    def __init__(self, name: str, blocks: Sequence[Block]) -> None:
        self.name, self.blocks = name, blocks
        first = np.cumsum([0, *(len(block.steps) for block in blocks)]).tolist()
        self.block = [b for b, block in enumerate(blocks) for _ in block.steps]
        self.at = [i for block in blocks for i in range(len(block.steps))]
        self.number = {(block.rank, block.number): first[b] for b, block in enumerate(blocks)}
        self.before: list[list[int]] = [[s - 1] if i else [] for s, i in enumerate(self.at)]
        never: dict[int, str] = {}
        for s, b in enumerate(self.block):
            needs = blocks[b].steps[self.at[s]].needs
            if needs is not None:
                start = self.number.get((blocks[b].rank, needs[0]))
                if start is None or not 0 <= needs[1] < len(blocks[self.block[start]].steps):
                    never[s] = f"for step {needs[1]} of threadblock {needs[0]}, which is not there"
                else:
                    self.before[s].append(start + needs[1])
        self.wires = self._connections()
        self.line = {ends: i for i, ends in enumerate(self.wires)}
        self.taken = self._matched(never)
        self.steps = self._sorted(never)

    @cached_property
    def tables(self) -> tuple[_Table, _Table]:
        """What each step waits for: within its rank, and of all."""
        columns = (np.array(c, np.int64) for c in (self.steps, self.block, self.at))
        steps, block, at = columns
        found = []
        for waits in (self.before, [self.waits(s) for s in range(len(self.block))]):
            first = np.cumsum([0, *map(len, waits)])
            found.append(_Table(steps, block, at, first, np.array([w for of in waits for w in of], np.int64)))
        return found[0], found[1]

    def step(self, s: int) -> Step:
        """Return a step by its number."""
        return self.blocks[self.block[s]].steps[self.at[s]]

    def rank(self, s: int) -> int:
        """Return the rank of a step."""
        return self.blocks[self.block[s]].rank

    def slot(self, s: int) -> int:
        """Return the slot in which what a step takes is sent, or it sends, or the last one before it works on its own.

        That is, if chunks that are sent at once take a slot, and begin as soon as what they wait for is there.
        """
        if s in self.taken:
            return self.level[self.taken[s]]
        return self.level[s] if self.step(s).sends else max(0, self.level[s] - 1)

    def where(self, s: int, rank: bool = True) -> str:
        """Return where a step stands, in words."""
        block = self.blocks[self.block[s]]
        if block.names:
            return block.names[self.at[s]]
        return f"{f'rank {block.rank}, ' * rank}threadblock {block.number}, step {self.at[s]}"

    def _matched(self, never: dict[int, str]) -> dict[int, int]:
        """Return the step that sends what each one takes: over a connection, first come first served.

        Where several threadblocks share an end of a connection, `_sorted` finds who comes first.
        """
        found: dict[int, int] = {}
        for wire in self.wires.values():
            if wire.shared:
                continue
            found |= dict(zip(wire.takes, wire.sends, strict=False))
            never.update((r, "for what nobody sends") for r in wire.takes[len(wire.sends) :])
        return found

    def _connections(self) -> dict[tuple[int, int, int], _Wire]:
        """Return the connections: source, target and channel, with the steps at both ends."""
        found: dict[tuple[int, int, int], _Wire] = {}
        for s, b in enumerate(self.block):
            block, step = self.blocks[b], self.step(s)
            if step.sends:
                found.setdefault(block.wire(step), _Wire()).sends.append(s)
            if step.receives:
                taken = block.wire(step._replace(sends=False))
                found.setdefault(taken, _Wire()).takes.append(s)
        for wire in found.values():
            wire.shared = any(len({self.block[s] for s in steps}) > 1 for steps in (wire.sends, wire.takes))
        return found

    def waits(self, s: int) -> list[int]:
        """Return the steps that a step waits for, those of other ranks last."""
        return [*self.before[s], self.taken[s]] if s in self.taken else self.before[s]

    def _sorted(self, never: dict[int, str]) -> list[int]:
        """Return the steps in order; FileFormatError if some wait for each other, or for what never is."""
        shared = [wire for wire in self.wires.values() if wire.shared]
        sending = {s: wire for wire in shared for s in wire.sends}
        taking = {s: wire for wire in shared for s in wire.takes}
        for wire in shared:
            wire.sends, wire.takes = [], []
        turns = set(taking)
        missing = [len(self.waits(s)) + (s in never) for s in range(len(self.block))]
        behind: list[list[int]] = [[] for _ in missing]
        for s in range(len(missing)):
            for w in self.waits(s):
                behind[w].append(s)
        level = self.level = [0] * len(missing)
        found: list[int] = []
        ready = [(0, s) for s, count in enumerate(missing) if not count]
        while ready:
            _, s = heapq.heappop(ready)
            if s in turns:  # it is its turn to take what comes
                turns.remove(s)
                wire = taking[s]
                wire.takes.append(s)
                if len(wire.takes) <= len(wire.sends):
                    self.taken[s] = wire.sends[len(wire.takes) - 1]
                    level[s] = max(level[s], level[self.taken[s]] + (self.step(s).chunks > 0))
                    heapq.heappush(ready, (level[s], s))
                continue
            found.append(s)
            then = level[s] + (self.step(s).sends and self.step(s).chunks > 0)
            others = behind[s]
            if s in sending:
                wire = sending[s]
                wire.sends.append(s)
                if len(wire.takes) >= len(wire.sends):
                    taker = wire.takes[len(wire.sends) - 1]
                    self.taken[taker], missing[taker] = s, 1
                    others = [*others, taker]
            for other in others:
                level[other] = max(level[other], then)
                missing[other] -= 1
                if not missing[other]:
                    heapq.heappush(ready, (level[other], other))
        if len(found) < len(missing):
            for s in taking:
                if s not in self.taken and not missing[s]:
                    never.setdefault(s, "for what nobody sends")
            raise FileFormatError(f"{self.name!r} does not end: {self._stuck(missing, never)}")
        for (u, v, channel), wire in self.wires.items():
            if len(wire.sends) > len(wire.takes):
                raise FileFormatError(
                    f"{self.name!r}: rank {u} sends chunks to {v} on channel {channel} that nobody receives"
                )
        for r, s in self.taken.items():
            if self.step(s).chunks != self.step(r).chunks:
                raise FileFormatError(
                    f"{self.name!r}: {self.where(s)} sends {self.step(s).chunks} chunks at once, which "
                    f"{self.where(r)} takes as {self.step(r).chunks}"
                )
        return found

    def _stuck(self, missing: list[int], never: dict[int, str]) -> str:
        """Return why some step waits for ever, in words."""
        if never:
            s = min(never)
            return f"{self.where(s)} waits for ever {never[s]}"
        s = next(s for s, count in enumerate(missing) if count)
        seen: list[int] = []
        while s not in seen:
            seen.append(s)
            s = next(w for w in self.waits(s) if missing[w])
        circle = seen[seen.index(s) :]
        among = " waits for ".join(self.where(x) for x in [*circle[:4], *circle[:1]][: 5 if len(circle) < 5 else 4])
        return f"{self.where(s)} waits for ever, in a circle of {len(circle)} steps: {among}" + (
            "" if len(circle) < 5 else " waits for ..."
        )


# What is where.


@dataclass
class _Touched:
    """How a place is used: steps in order with what they read or write there, and what becomes of what is read.

    `name` is what a step calls the place, which may be another one.
    """

    name: Place
    steps: list[int] = field(default_factory=list)
    writes: list[bool] = field(default_factory=list)
    chunks: list[Chunk | None] = field(default_factory=list)
    values: list[int] = field(default_factory=list)


class _Run:
    """Threadblocks carried out in order: what every place holds, and what is sent."""

    def __init__(
        self, order: _Order, memory: Sequence[dict[Place, Chunk]], alias: Sequence[Mapping[Place, Place]]
    ) -> None:
        self.order, self.memory, self.alias = order, memory, alias
        self.start = [dict(places) for places in memory]
        self.touched: list[dict[Place, _Touched]] = [{} for _ in memory]
        self.made_of: list[tuple[int, ...]] = []  # what each value, a chunk that was made or moved, was made of
        self.now: list[dict[Place, int]] = [{} for _ in memory]
        self.sent: dict[int, list[tuple[Chunk, int]]] = {}
        self.transfers: list[Transfer] = []
        self.numbers: dict[int, range] = {}
        self.behind: list[dict[tuple[bool, int], int] | None] = [None] * len(order.block)

    def all(self) -> None:
        """Carry out all steps."""
        for s in self.order.steps:
            self._carry_out(s)

    def _carry_out(self, s: int) -> None:
        order = self.order
        step, rank, block = order.step(s), order.rank(s), order.blocks[order.block[s]]
        behind: dict[tuple[bool, int], int] = {}  # transfers that came, or left, of which each threadblock's last
        for w in order.before[s]:
            for key, transfer in (self.behind[w] or {}).items():
                behind[key] = max(behind.get(key, -1), transfer)
        sender = order.taken.get(s)
        if sender is not None and self.numbers[sender]:
            behind[True, order.block[s]] = self.numbers[sender][-1]
        elif sender is not None and step.needs is None:  # a signal: who takes it knows what its sender knew
            for key, transfer in (self.behind[sender] or {}).items():
                behind[key] = max(behind.get(key, -1), transfer)
        chunks = self._made(s, step, rank)
        if step.writes:
            for i, (chunk, value) in enumerate(chunks):
                here = (step.target[0], step.target[1] + i)
                self._touch(rank, here, s, True, chunk, value)
                place = self.alias[rank].get(here, here)
                self.memory[rank][place], self.now[rank][place] = chunk, value
        if step.sends:
            self.sent[s] = chunks
            wire = block.wire(step)
            line = order.line[wire]
            came, left = (tuple(t for (kind, _), t in behind.items() if kind == which) for which in (True, False))
            first = len(self.transfers)
            shared = [step.shared if step.shared < 0 else step.shared + i for i in range(len(chunks))]
            self.transfers += [
                Transfer(rank, wire[1], line, chunk, came, left, of)
                for (chunk, _), of in zip(chunks, shared, strict=True)
            ]
            self.numbers[s] = range(first, len(self.transfers))
            if step.chunks:
                behind = {(False, order.block[s]): len(self.transfers) - 1}
        self.behind[s] = behind

    def _made(self, s: int, step: Step, rank: int) -> list[tuple[Chunk, int]]:
        """Return the chunks that a step works on, each with the number of its value."""
        own = [(step.source[0], step.source[1] + i) for i in range(step.chunks)]
        if step.receives:
            chunks = self.sent[self.order.taken[s]]
            return [self._sum(s, rank, *c, p) for c, p in zip(chunks, own, strict=True)] if step.adds else chunks
        if not step.writes and not step.sends:
            return []
        there = [(step.target[0], step.target[1] + i) for i in range(step.chunks)]
        found = []
        for i, place in enumerate(own):
            chunk = self._held(s, rank, place)
            value = self._value(self.now[rank].get(self.alias[rank].get(place, place)))
            self._touch(rank, place, s, False, chunk, value)
            found.append(self._sum(s, rank, chunk, value, there[i]) if step.adds else (chunk, value))
        return found

    def _sum(self, s: int, rank: int, one: Chunk, value: int, place: Place) -> tuple[Chunk, int]:
        other = self._held(s, rank, place)
        where, at = self._place_of(s), f"chunk {place[1]} of buffer {place[0]!r}"
        if one[:2] != other[:2] or not (one.ranks and other.ranks):
            raise FileFormatError(f"{where} adds a chunk to {at} that does not belong there")
        if one.ranks & other.ranks:
            twice = first_rank(one.ranks & other.ranks)
            raise FileFormatError(f"{where} adds the contribution of rank {twice} to {at} twice")
        total = self._value(value, self.now[rank].get(self.alias[rank].get(place, place)))
        self._touch(rank, place, s, False, other, total)
        return Chunk(one.message, one.part, one.ranks | other.ranks), total

    def _place_of(self, s: int) -> str:
        """Return the file, slot and place of a step, in words."""
        return f"{self.order.name!r}, slot {self.order.slot(s)}: {self.order.where(s)}"

    def _held(self, s: int, rank: int, place: Place) -> Chunk:
        found = self.memory[rank].get(self.alias[rank].get(place, place))
        if found is None:
            self._touch(rank, place, s, False, None, self._value())
            for w in self.order.steps:  # what would have been written
                step = self.order.step(w)
                if self.order.rank(w) != rank or self.behind[w] is not None or not step.writes or w == s:
                    continue
                here = [(step.target[0], step.target[1] + i) for i in range(step.chunks)]
                if self.alias[rank].get(place, place) in [self.alias[rank].get(x, x) for x in here]:
                    self._touch(rank, place, w, True, Chunk(-1, -1), self._value())
            raise FileFormatError(
                f"{self._place_of(s)} reads chunk {place[1]} of buffer {place[0]!r}, where nothing is yet"
            )
        return found

    def _value(self, *of: int | None) -> int:
        self.made_of.append(tuple(v for v in of if v is not None))
        return len(self.made_of) - 1

    def _touch(self, rank: int, place: Place, s: int, writes: bool, chunk: Chunk | None, value: int) -> None:
        """Note that a step reads or writes a place; of a read the value is that of what is made of it."""
        known = self.touched[rank].setdefault(self.alias[rank].get(place, place), _Touched(place))
        known.steps.append(s)
        known.writes.append(writes)
        known.chunks.append(chunk)
        known.values.append(value)

    def used(self, goal: Sequence[Mapping[Place, Chunk]]) -> list[bool]:
        """Return which values something in an output is made of."""
        found = [False] * len(self.made_of)
        stack = [now[place] for now, wants in zip(self.now, goal, strict=True) for place in wants if place in now]
        while stack:
            value = stack.pop()
            if not found[value]:
                found[value] = True
                stack += self.made_of[value]
        return found


# Races: two steps of a rank of which neither is before the other, and what shows it.


@njit(cache=True, nogil=True, small=100_000)
def _clocks(order, first, before, column, at, clock):
    """Write how many steps of each threadblock of a rank are before each step, itself included; 0 at the start.

    ``before[first[s]:first[s + 1]]`` are the steps that step s waits for. `column` int64[S] is the threadblock of each
    step of the rank, and -1 for those of others; `clock` int32[S, threadblocks].
    """
    for i in range(order.size):
        s = order[i]
        for j in range(first[s], first[s + 1]):
            for c in range(clock.shape[1]):
                clock[s, c] = max(clock[s, c], clock[before[j], c])
        if column[s] >= 0:
            clock[s, column[s]] = at[s] + 1


class _Clocks:
    """Which steps of a rank are before which, told by the rank's own waits and, where these do not, by all."""

    def __init__(self, order: _Order, rank: int, everyone: bool) -> None:
        own = [b for b, block in enumerate(order.blocks) if block.rank == rank]
        table = order.tables[everyone]
        column = np.full(len(order.blocks), -1, np.int64)
        column[own] = np.arange(len(own))
        self._column = column[table.block]
        steps = table.steps if everyone else table.steps[self._column[table.steps] >= 0]
        self._at, self._clock = table.at, np.zeros((table.at.size, len(own)), np.int32)
        _clocks(steps, table.first, table.before, self._column, table.at, self._clock)

    def before(self, one: int, other: int) -> bool:
        """Whether a step is before another, or the same."""
        return bool(self._clock[other, self._column[one]] > self._at[one])

    def keep(self, pair: _Conflict) -> bool:
        """Whether the steps of a pair come in its order in every execution."""
        return any(self.before(one, pair.step) for one in pair.others)


def _races(order: _Order, run: _Run, goal: Sequence[Mapping[Place, Chunk]] | None) -> Iterator[str]:
    """Yield the races of all ranks, in words."""
    used = None if goal is None else run.used(goal)
    for rank, places in enumerate(run.touched):
        if sum(block.rank == rank and bool(block.steps) for block in order.blocks) < 2:
            continue  # one threadblock has one order
        kept = {} if goal is None else goal[rank]
        pairs = [pair for place in places for pair in _conflicts(run, rank, place, used, place in kept)]
        for (u, v, channel), wire in order.wires.items():
            for steps, end in ((wire.sends, u), (wire.takes, v)) if wire.shared else ():
                if end == rank:
                    place = (f"{u} to {v}", channel)
                    pairs += [_Conflict(place, b, (a,), "shares") for a, b in pairwise(steps)]
        for everyone in (False, True):
            clocks = _Clocks(order, rank, everyone) if pairs else None
            pairs = [pair for pair in pairs if clocks is not None and not clocks.keep(pair)]
        for pair in pairs:
            yield pair.text(order)


class _Conflict(NamedTuple):
    """A step that must come behind one of some others: behind what writes what it reads, or what must not see it."""

    place: Place
    step: int
    others: tuple[int, ...]
    does: str

    def text(self, order: _Order) -> str:
        """Return what may happen, in words."""
        step, other = (self.others[0], self.step) if self.does == "has nothing of" else (self.step, self.others[0])
        told = {
            "reads": "reads {}, which {} may not have written yet",
            "has nothing of": "reads {}, which {} may not have written yet",
            "overwrites": "overwrites {}, which {} may not have read yet",
            "writes": "writes to {}, to which {} may write later",
            "shares": "uses {}, which {} may use later",
        }[self.does]
        at = f"chunk {self.place[1]} of buffer {self.place[0]!r}"
        if self.does == "shares":
            at = f"the connection from rank {self.place[0]} on channel {self.place[1]}"
        where, after = order.where(step), order.where(other, False)
        return f"race in slot {order.slot(step)}: {where} {told.format(at, after)}, as it does not wait for it"


@dataclass
class _Version:
    """What a place holds for a while: the steps that write it, all the same, and those that read it to some effect."""

    chunk: Chunk | None
    writes: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    shows: bool = False


def _conflicts(run: _Run, rank: int, place: Place, used: list[bool] | None, kept: bool) -> Iterator[_Conflict]:
    """Yield what must be before what at a place.

    A version that shows, in a step that reads it to some effect or in an output, comes behind all of the one before
    that shows, and behind what is written between, whose order does not matter. What writes the same again may.
    """
    touched = run.touched[rank][place]
    versions = [_Version(run.start[rank].get(place))]
    for step, writes, chunk, value in zip(touched.steps, touched.writes, touched.chunks, touched.values, strict=True):
        if writes:
            if chunk != versions[-1].chunk:
                versions.append(_Version(chunk))
            versions[-1].writes.append(step)
        elif used is None or used[value]:
            versions[-1].reads.append(step)
    for i, version in enumerate(versions):
        version.shows = bool(version.reads) or used is None or (kept and i == len(versions) - 1)
    place, last, between = touched.name, _Version(None), list[int]()
    for i, version in enumerate(versions):
        behind = [("writes", s) for s in (between if version.shows and between else last.writes)]
        if not (version.shows and between):
            behind += [("has nothing of" if last.chunk is None else "overwrites", s) for s in last.reads]
        for step in version.writes:
            yield from (_Conflict(place, step, (other,), does) for does, other in behind)
        if not version.shows:
            between += version.writes
            continue
        if i:
            yield from (_Conflict(place, step, tuple(version.writes), "reads") for step in version.reads)
        last, between = version, []
