"""Schedules of what foreign files send."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, GossamerError, nearest
from gossamer.networks.network import Network
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    COMBINE,
    Allreduce,
    Broadcast,
    DemandTable,
    Gather,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
    chunked,
)
from gossamer.schedules import Packets, Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows
from gossamer.verification import verify
from gossamer.verification.timed_replay import carried_sums

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
    "first_rank",
    "schedule_of",
    "schedule_of_table",
    "scheduled",
    "table_places",
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
        What it does, in this order: take a chunk from the wire or from `source`, add what is at `source`, or at
        `target` where it does not receive, write the sum to `target`, send it.
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


def first_rank(ranks: int) -> int:
    """Return the least rank of a set of ranks as bits.

    >>> first_rank(0b1100)
    2
    """
    return (ranks & -ranks).bit_length() - 1


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
                here = (step.target[0], step.target[1] + i)
                self.memory[block.rank][self.alias[block.rank].get(here, here)] = chunk
        if step.sends:
            block.sending = True
            self.pending.setdefault((block.rank, block.to), deque()).append((block, chunks))
            return False
        self.complete(block, ready)
        return True

    def _taken(self, block: Block, step: Step) -> list[Chunk] | None:
        """Return the chunks that a step works on, None if they have not come."""
        own = [(step.source[0], step.source[1] + i) for i in range(step.chunks)]
        if not step.receives:
            chunks = [self._read(block, place) for place in own] if step.writes or step.sends else []
            if step.adds:
                there = [(step.target[0], step.target[1] + i) for i in range(step.chunks)]
                chunks = [self._sum(block, chunk, place) for chunk, place in zip(chunks, there, strict=True)]
            return chunks
        wire = self.wires.get((block.from_, block.rank, block.channel), ())
        if len(wire) < step.chunks:
            return None
        chunks = [wire.popleft() for _ in range(step.chunks)]  # type: ignore[union-attr]
        if not step.adds:
            return chunks
        return [self._sum(block, chunk, place) for chunk, place in zip(chunks, own, strict=True)]

    def _where(self, block: Block) -> str:
        return f"{self.name!r}: rank {block.rank}, threadblock {block.number}, step {block.at}"

    def _read(self, block: Block, place: Place) -> Chunk:
        found = self.memory[block.rank].get(self.alias[block.rank].get(place, place))
        if found is None:
            raise FileFormatError(
                f"{self._where(block)} reads chunk {place[1]} of buffer {place[0]!r}, where nothing is yet"
            )
        return found

    def _sum(self, block: Block, one: Chunk, place: Place) -> Chunk:
        other = self._read(block, place)
        where = f"chunk {place[1]} of buffer {place[0]!r}"
        if one[:2] != other[:2] or not (one.ranks and other.ranks):
            raise FileFormatError(f"{self._where(block)} adds a chunk to {where} that does not belong there")
        if one.ranks & other.ranks:
            twice = first_rank(one.ranks & other.ranks)
            raise FileFormatError(f"{self._where(block)} adds the contribution of rank {twice} to {where} twice")
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
        lambda root: PartialSumAllreduce(), lambda v, i, n, k: (0, i),
        lambda v, n, k, root: [(0, i) for i in range(k)], reduces=True,
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

    An allreduce in which each chunk is added up at one rank and broadcast from there, the same number at every rank, is
    an allreduce of n messages in parts; any other one is of partial sums, in as many packets as chunks.

    Raises
    ------
    FileFormatError
        If a chunk that is no message of the task is sent, or a rank keeps two sums of a chunk.
    """
    task, parts = kind.task(root), k
    if isinstance(task, PartialSumAllreduce):
        rooted = _rooted_packets(hops, n, k)
        task, parts = (chunked(task, k), 1) if rooted is None else (Allreduce(), k // n)
        keys = [(0, hop.chunk.part) for hop in hops] if rooted is None else rooted
    elif isinstance(task, Reduce):
        keys = [(root, hop.chunk.part) for hop in hops]
    else:
        keys = [(hop.chunk.message, hop.chunk.part) for hop in hops]
    messages = task.messages(network)
    order = np.argsort(np.array([hop.slot for hop in hops], np.int64), kind="stable")
    table = np.array(keys, np.int64).reshape(-1, 2)[order]
    rows = np.searchsorted(messages.ids, table[:, 0])
    if np.any(messages.ids[np.minimum(rows, messages.count - 1)] != table[:, 0]):
        raise FileFormatError(f"{name!r} sends a rank's chunk for itself to another")
    packet = messages.first_packet()[rows] * parts + table[:, 1]
    found = scheduled(name, network, task, [hops[i] for i in order.tolist()], packet, parts, algorithm)
    return _with_sums(name, found, [hops[i].chunk for i in order.tolist()]) if kind.reduces else found


def scheduled(
    name: str,
    network: Network,
    task: Task,
    hops: Sequence[ChunkHop],
    packet: npt.NDArray[np.int64],
    parts: int,
    algorithm: str,
) -> Schedule:
    """Return the schedule of a task whose hops, by slot, carry the given packets; FileFormatError if there is none."""
    ends = np.array([(hop.slot, hop.source, hop.target) for hop in hops], np.int64).reshape(-1, 3)
    try:
        return Schedule(
            network,
            task,
            Rules(segmented=parts > 1),
            ends[:, 0].astype(np.int32),
            network.links_between(ends[:, 1], ends[:, 2]).astype(np.int32),
            packet.astype(np.int32),
            parts=parts,
            packets=Packets.of(task.messages(network), parts),
            algorithm=algorithm,
        )
    except GossamerError as error:
        raise FileFormatError(f"{name!r} is no schedule: {error}") from None


def table_places(table: DemandTable, network: Network) -> tuple[list[dict[Place, Chunk]], list[dict[Place, Chunk]]]:
    """Return what each rank has in its input, and what it must have in its output, of a table of demands.

    As everywhere in programs: a buffer has the messages of its rank in the order of the rows, each in its packets.
    """
    n = network.terminal_count
    given: list[dict[Place, Chunk]] = [{} for _ in range(n)]
    goal: list[dict[Place, Chunk]] = [{} for _ in range(n)]
    for i, row in enumerate(table.to_rows()):
        shares = row.get("contributors", [])
        whole = sum(1 << v for v in shares)
        for part in range(row["packets"]):
            for v in shares or [row["origin"]]:
                given[v]["i", len(given[v])] = Chunk(i, part, 1 << v if shares else 0)
            for v in row["destinations"]:
                goal[v]["o", len(goal[v])] = Chunk(i, part, whole)
    return given, goal


def schedule_of_table(
    name: str, network: Network, table: DemandTable, hops: Sequence[ChunkHop], algorithm: str
) -> Schedule:
    """Return the schedule of hops that carry chunks of the rows of a table.

    What combines a row goes to its first destination, and the result from there to the others.
    """
    rows = table.to_rows()
    whole = [sum(1 << v for v in row.get("contributors", ())) for row in rows]
    having: set[tuple[int, int, int]] = set()  # rows, parts and ranks that have a result
    ids = []
    for hop in hops:
        row, part, ranks = hop.chunk
        ends = rows[row]["destinations"]
        result = bool(ranks) and ranks == whole[row] and len(ends) > 1
        result = result and (hop.source == ends[0] or (row, part, hop.source) in having)
        if result:
            having.add((row, part, hop.target))
        ids.append(2 * row + result)
    messages = table.messages(network)
    first = messages.first_packet()[np.searchsorted(messages.ids, np.array(ids, np.int64))]
    packet = first + np.array([hop.chunk.part for hop in hops], np.int64)
    found = scheduled(name, network, table, hops, packet, 1, algorithm)
    return _with_sums(name, found, [hop.chunk for hop in hops])


def _rooted_packets(hops: Sequence[ChunkHop], n: int, chunks: int) -> list[tuple[int, int]] | None:
    """Return message and part of each hop, by slot, of an allreduce that adds each chunk up at a rank of its own.

    None where a chunk has no such rank, a rank sends a sum of it twice, or ranks complete different numbers of chunks.
    """
    everyone = (1 << n) - 1
    root_of: dict[int, int] = {}
    complete: set[tuple[int, int]] = set()  # chunks and ranks that have its result, or sent their sum
    for hop in hops:
        part, whole = hop.chunk.part, hop.chunk.ranks == everyone
        if whole:
            root = root_of.setdefault(part, hop.source)
            if hop.source != root and (part, hop.source) not in complete:
                return None
            complete.add((part, hop.target))
        elif (part, ~hop.source) in complete or root_of.get(part) is not None:
            return None
        else:
            complete.add((part, ~hop.source))
    taken = [0] * n
    part_of = {}
    for chunk in range(chunks):
        if chunk not in root_of or (chunk, ~root_of[chunk]) in complete:
            return None
        part_of[chunk] = taken[root_of[chunk]]
        taken[root_of[chunk]] += 1
    if len(set(taken)) > 1 or not chunks:
        return None
    return [(root_of[h.chunk.part] + n * (h.chunk.ranks == everyone), part_of[h.chunk.part]) for h in hops]


def _with_sums(name: str, schedule: Schedule, chunks: Sequence[Chunk]) -> Schedule:
    """Return the schedule whose hops carry the sums of a file, older ones or such as pass through where they must.

    A schedule whose nodes send what else they have of a chunk as well, and which is valid, says no less.

    Raises
    ------
    FileFormatError
        If a rank goes on adding to two sums of a chunk.
    """
    if verify(schedule, 1):
        return schedule
    found = _repeating(schedule, chunks)
    if found is not None:
        again = schedule.replace(repeats=found)
        if verify(again, 1):
            return again
    combined = schedule.messages.discipline[message_rows(schedule.messages, schedule.packets)] >= COMBINE
    network = schedule.network
    for packet in np.flatnonzero(combined).tolist():
        sums = carried_sums(schedule, packet)
        for hop, row in zip(sums.hops.tolist(), sums.contributions, strict=True):
            sent = sum(1 << v for v in np.flatnonzero(row).tolist())
            if sent & ~chunks[hop].ranks:
                u, v = (int(ends[schedule.link[hop]]) for ends in (network.link_source, network.link_target))
                raise FileFormatError(
                    f"{name!r}: rank {u} sends a sum of chunk {chunks[hop].part} to {v} in slot {schedule.slot[hop]} "
                    f"without the contribution of {first_rank(sent & ~chunks[hop].ranks)}, which it has: a schedule "
                    "holds one sum of a chunk that it adds to, not two side by side"
                )
    return schedule


_MOST_PASSING = 100


def _repeating(schedule: Schedule, chunks: Sequence[Chunk]) -> npt.NDArray[np.int64] | None:
    """Return the column ``repeats`` with which hops carry the given chunks; None where none is found."""
    network, packet = schedule.network, schedule.packet.tolist()
    source, target = (ends[schedule.link].tolist() for ends in (network.link_source, network.link_target))
    slot, ends = schedule.slot.tolist(), hop_ends(network, schedule.parts, schedule.slot, schedule.link).tolist()
    arriving = sorted(range(len(slot)), key=ends.__getitem__)
    passing: set[int] = set()
    for _ in range(_MOST_PASSING):
        history: dict[tuple[int, int], list[tuple[int, int]]] = {}  # since when a rank has which sum
        repeats, came, known = np.full(len(slot), -1, np.int64), iter([*arriving, -1]), len(passing)
        coming = next(came)
        for h, u in enumerate(source):
            while coming >= 0 and ends[coming] <= slot[h]:
                of = history.setdefault((packet[coming], target[coming]), [(0, 1 << target[coming])])
                held, new = of[-1][1], chunks[coming].ranks
                if coming not in passing and new & ~held:
                    if new & held and held & ~new:
                        return None
                    of.append((ends[coming], held | new))
                coming = next(came)
            sums = history.setdefault((packet[h], u), [(0, 1 << u)])
            if chunks[h].ranks == sums[-1][1]:
                continue
            since = [time for time, ranks in sums if ranks == chunks[h].ranks]
            brought = [
                q for q in range(h) if packet[q] == packet[h] and target[q] == u and ends[q] <= slot[h]
                and chunks[q].ranks == chunks[h].ranks
            ]  # fmt: skip
            if not since and not brought:
                return None
            repeats[h] = -2 - since[-1] if since else brought[-1]
            if not since:
                passing.add(brought[-1])
        if len(passing) == known:
            return repeats
    return None
