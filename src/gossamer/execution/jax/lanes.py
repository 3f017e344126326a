"""Lanes: partial permutations of all devices over which every slot of a schedule can be carried out, and tables.

In a Cayley network the links of one generator are a permutation of all nodes. In others the links are colored so that
no two of a color leave or enter one node; as many colors as the largest degree are enough.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError, ScheduleError, shown
from gossamer.graphs.edge_coloring import color_edges
from gossamer.programs import REDUCE, SEND, Operations, Program, lower
from gossamer.questions.tasks import Allreduce, Broadcast
from gossamer.schedules import Schedule, reverse

__all__ = ["Prepared", "prepare"]

Table = npt.NDArray[np.int32]


class Prepared:
    """A schedule made ready for JAX: prepare once, use in as many functions as wanted.

    Blocks of a device lie in one array: input, output, scratch, and a spare block at the end which is sent and written
    where a lane is idle.

    Attributes
    ----------
    schedule : Schedule
        What is carried out.
    program : Program
        Its operations.
    lanes : tuple of tuple of (int, int)
        For each lane the pairs (source, target) that may exchange a block in a slot.
    blocks : int
        Blocks of a device, with the spare one.
    output : slice
        Where the output lies.
    send, write, addend : int32[N, T, lanes]
        For each device and slot in which something hops: the block that is sent on a lane, where the block that comes
        is written, and the block to which it is added, -1 where it is not.
    copies : int32[N, C, 2]
        What is copied at the start: from where to where; idle rows copy the spare block.
    """

    def __init__(self, schedule: Schedule) -> None:
        network = schedule.network
        if network.terminal_count < network.node_count:
            raise NotApplicableError(f"a switch is no device; {network.spec} has switches")
        self.schedule = schedule
        self.program: Program = lower(schedule)
        ranks = list(self.program)
        self.input_blocks = max(mine.input_size for mine in ranks)
        self.output_blocks = max(mine.output_size for mine in ranks)
        self.blocks = self.input_blocks + self.output_blocks + max(mine.scratch_size for mine in ranks) + 1
        self.output = slice(self.input_blocks, self.input_blocks + self.output_blocks)
        lane_of, self.lanes = _lanes(ranks)
        slots = np.unique(np.concatenate([mine.slot for mine in ranks]))
        shape = self.program.ranks, slots.size, len(self.lanes)
        self.send: Table = np.full(shape, self.blocks - 1, np.int32)
        self.write: Table = np.full(shape, self.blocks - 1, np.int32)
        self.addend: Table = np.full(shape, -1, np.int32)
        for mine in ranks:
            self._fill(mine, slots, lane_of)
        most = max(len(mine.copies) for mine in ranks)
        self.copies: Table = np.full((self.program.ranks, most, 2), self.blocks - 1, np.int32)
        for mine in ranks:
            self.copies[mine.rank, : len(mine.copies)] = mine.copies + np.array([0, self.input_blocks])

    def _fill(self, mine: Operations, slots: npt.NDArray[Any], lane_of: dict[tuple[int, int, int], int]) -> None:
        """Write the tables of a device."""
        base = np.array([0, self.input_blocks, self.input_blocks + self.output_blocks])
        place = base[mine.buffer] + mine.offset
        slot = np.searchsorted(slots, mine.slot)
        sends = mine.kind == SEND
        ends = np.where(sends, mine.rank, mine.peer), np.where(sends, mine.peer, mine.rank)
        turn = _turns(mine.slot, *ends)
        lane = np.array([lane_of[key] for key in zip(*(e.tolist() for e in (*ends, turn)), strict=True)], np.int64)
        self.send[mine.rank, slot[sends], lane[sends]] = place[sends]
        self.write[mine.rank, slot[~sends], lane[~sends]] = place[~sends]
        adds = mine.kind == REDUCE
        self.addend[mine.rank, slot[adds], lane[adds]] = np.where(mine.operand < 0, place, mine.operand)[adds]
        # blocks are added lane by lane: of several in a slot, that of the lowest lane meets the operand
        first = np.flatnonzero(adds & (mine.operand >= 0))
        for k in first.tolist():
            together = np.flatnonzero(adds & (mine.slot == mine.slot[k]) & (place == place[k]))
            if together.size > 1:
                self.addend[mine.rank, slot[k], lane[together]] = place[k]
                self.addend[mine.rank, slot[k], lane[together].min()] = mine.operand[k]

    @cached_property
    def dual(self) -> Prepared:
        """What carries gradients back: the schedule reversed in time; of an allreduce itself."""
        return self if isinstance(self.schedule.task, Allreduce) else Prepared(reverse(self.schedule))

    @property
    def parts(self) -> int:
        """Blocks of a message."""
        return self.program.parts

    @property
    def root(self) -> int:
        """The root of a broadcast or reduction, else 0."""
        return int(getattr(self.schedule.task, "root", 0)) if isinstance(self.schedule.task, Broadcast) else 0


def prepare(schedule: Any) -> Prepared:
    """Return a schedule, or what `gossamer.plan` returned, made ready for JAX.

    Raises
    ------
    ScheduleError, VerificationError, NotApplicableError
        If it is no valid schedule for store and forward, or its network has switches.

    Notes
    -----
    O(operations); three tables of 4 bytes for each device, slot and lane, which the compiled program holds.

    Examples
    --------
    >>> import gossamer
    >>> ready = prepare(gossamer.plan("torus:4x4", "allgather"))
    >>> len(ready.lanes), ready.send.shape
    (4, (16, 4, 4))
    """
    if isinstance(schedule, Prepared):
        return schedule
    found = getattr(schedule, "schedule", schedule)
    if not isinstance(found, Schedule):
        raise ScheduleError(f"a store-and-forward schedule is wanted, got {shown(schedule)}")
    return Prepared(found)


def _turns(slot: npt.NDArray[Any], source: npt.NDArray[Any], target: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return which of the blocks on a link in a slot each is."""
    order = np.lexsort((target, source, slot))
    rows = np.column_stack([slot, source, target])[order]
    new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1)) if len(rows) else np.zeros(0, bool)
    first = np.flatnonzero(new)
    turn = np.empty(slot.size, np.int64)
    turn[order] = np.arange(slot.size) - np.repeat(first, np.diff(np.append(first, slot.size)))
    return turn


def _lanes(ranks: list[Operations]) -> tuple[dict[tuple[int, int, int], int], tuple[tuple[tuple[int, int], ...], ...]]:
    """Return the lane of each (source, target, turn), and the pairs of each lane."""
    used: set[tuple[int, int, int]] = set()
    for mine in ranks:
        sends = mine.kind == SEND
        turn = _turns(mine.slot[sends], np.full(int(sends.sum()), mine.rank), mine.peer[sends])
        used |= {(mine.rank, v, t) for v, t in zip(mine.peer[sends].tolist(), turn.tolist(), strict=True)}
    edges = sorted(used)
    if not edges:
        return {}, ()
    ends = np.array(edges, np.int64)
    color = color_edges(ends[:, 0], ends[:, 1])
    lane_of = dict(zip(edges, color.tolist(), strict=True))
    pairs = [tuple((u, v) for (u, v, _), c in lane_of.items() if c == lane) for lane in range(int(color.max()) + 1)]
    return lane_of, tuple(pairs)
