"""From a schedule to the program that carries it out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, VerificationError, shown
from gossamer.programs.layout import Layout, blocks_of_message, invariant_layout, layout
from gossamer.programs.operations import Operations
from gossamer.programs.program import Columns, Program, Templates
from gossamer.schedules import CONTROL, Schedule, Symmetry, expand, verify
from gossamer.schedules.state import message_rows

__all__ = ["lower"]

_MOST = 2**31 - 1


def lower(schedule: Schedule) -> Program:
    """Return the program of a schedule: what each rank sends and receives, from where and into what.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant. It is verified first. Hops of control packets are left out: what they tell the nodes is
        in the program.

    Returns
    -------
    Program
        With a rank for each node.

    Raises
    ------
    ScheduleError
        If it is no schedule for store and forward, a packet leaves a switch in the slot in which it came, or a buffer
        would have 2**31 parts or more.
    VerificationError
        If the checker does not accept the schedule.

    Notes
    -----
    O(hops + packets) time after the verification, 70 bytes a hop; of an invariant schedule O(stored hops).

    Reductions need no copy of the input: the first block that comes is added to the rank's own as it arrives, and a
    rank to which nothing comes sends its own from the input. A block that a rank passes on without keeping it, and
    partial sums, lie in scratch, whose places are used again.

    Examples
    --------
    >>> import gossamer
    >>> program = lower(gossamer.plan("ring:4", "reduce-scatter").schedule)
    >>> program
    <program of reduce-scatter on ring:4: 2 slots, 12 hops>
    >>> mine = program.rank(0)
    >>> mine.input_size, mine.output_size, mine.scratch_size
    (4, 1, 1)
    """
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a program is made of a store-and-forward schedule, got {shown(schedule)}")
    found = verify(schedule, 1)
    if not found:
        raise VerificationError(f"a schedule that is not valid has no program: {found.violations[0].text}")
    stored: Columns | Templates | None = None
    if schedule.symmetry is not None:
        stored = _templates(schedule, schedule.symmetry)
    if stored is None:
        schedule = expand(schedule)
        stored = _columns(schedule)
    control = int(np.count_nonzero(schedule.packet == CONTROL))
    times = schedule.hop_count // max(schedule.stored_hops, 1)
    return Program(
        schedule.network,
        schedule.task,
        stored,
        algorithm=schedule.algorithm,
        parts=blocks_of_message(schedule),
        slots=schedule.slot_count,
        hops=schedule.hop_count - control * times,
    )


class Carried(NamedTuple):
    """What the packets of operations are: arguments of `_kernels.trace` between its operations and what it writes."""

    row_of: npt.NDArray[np.int32]
    part: npt.NDArray[np.int32]
    parts: int
    discipline: npt.NDArray[np.uint8]
    origin: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    adds_up: bool
    target_start: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]
    to_all: bool
    at_origin: npt.NDArray[np.int64]
    at_target: npt.NDArray[np.int64]


def _columns(schedule: Schedule) -> Columns:
    """Return the operations of all ranks of an explicit schedule."""
    from gossamer.programs import _kernels

    network, messages, table = schedule.network, schedule.messages, schedule.packets
    parts = blocks_of_message(schedule)
    places = layout(schedule.task, network, messages)
    _check_sizes(places, parts)
    ends = 2 * int(np.count_nonzero(schedule.packet != CONTROL))
    first = np.zeros(network.node_count + 1, np.int64)
    slot, kind = np.empty(ends, np.int32), np.empty(ends, np.uint8)
    peer, packet = np.empty(ends, np.int32), np.empty(ends, np.int32)
    _kernels.sort_by_rank(
        schedule.slot, schedule.link, schedule.packet, network.link_source, network.link_target,
        first, slot, kind, peer, packet,
    )  # fmt: skip
    rows = message_rows(messages, table)
    to_all = messages.targets is None or messages.target_start is None
    carried = Carried(
        rows, table.part, parts, messages.discipline, messages.origin[rows],
        _before(schedule, rows), schedule.rules.reduction,
        np.zeros(2, np.int64) if messages.target_start is None else messages.target_start,
        np.zeros(1, np.int32) if messages.targets is None else messages.targets,
        to_all, places.at_origin, places.at_target,
    )  # fmt: skip
    columns, scratch = _traced(schedule, (first, slot, kind, peer, packet), carried)
    sizes = np.column_stack([places.input_size * parts, places.output_size * parts, scratch])
    return Columns(first, columns, _in_parts(places.copies, parts), sizes)


def _traced(
    schedule: Schedule, ends: tuple[npt.NDArray[Any], ...], carried: Carried, lowest: int = 0
) -> tuple[tuple[npt.NDArray[Any], ...], npt.NDArray[np.int64]]:
    """Return the columns of the operations, and the scratch of each rank, from rank `lowest` on."""
    from gossamer.programs import _kernels

    network = schedule.network
    first, slot, kind, peer, packet = ends
    count = slot.size
    order = np.empty(count, np.int32 if count < _MOST else np.int64)
    _kernels.group_by_packet(packet, carried.row_of.size, order)
    ranks = np.repeat(np.arange(lowest, lowest + first.size - 1, dtype=np.int32), np.diff(first))
    offset, operand, after, instance = np.empty((4, count), np.int32)
    buffer, uses = np.empty(count, np.uint8), np.empty(count // 2 + 1, np.int32)
    instances, bad = _kernels.trace(
        first, lowest, ranks, order, kind, packet, *carried, network.terminal_count,
        buffer, offset, operand, after, instance, uses,
    )  # fmt: skip
    if bad >= 0:
        where = f"slot {slot[bad]}: node {network.node_name(int(ranks[bad]))}"
        raise ScheduleError(f"{where} passes a packet on in the slot in which it comes; a program cannot")
    scratch = np.zeros(first.size - 1, np.int64)
    _kernels.place_scratch(first, slot, kind, offset, after, instance, uses[:instances], scratch)
    return (slot, kind, peer, buffer, offset, operand, after, carried.part[packet]), scratch


def _before(schedule: Schedule, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return, for each packet of a result, the packet of the reduction that it is the result of; -1 for others."""
    after, table = schedule.messages.after, schedule.packets
    if after is None:
        return np.full(table.count, -1, np.int32)
    parts = blocks_of_message(schedule)
    of_cell = np.empty(schedule.messages.count * parts, np.int32)
    of_cell[rows * np.int64(parts) + table.part] = np.arange(table.count, dtype=np.int32)
    needed = after[rows]
    cell = np.maximum(needed, 0) * parts + table.part
    return np.where(needed < 0, np.int32(-1), of_cell[cell]).astype(np.int32)


def _templates(schedule: Schedule, symmetry: Symmetry) -> Templates | None:
    """Return the operations of a rank of each orbit; None where places are not known to follow translations."""
    found = invariant_layout(schedule.task, schedule.network, schedule.messages)
    if found is None:
        return None
    places, input_by_node, output_by_node = found
    parts = blocks_of_message(schedule)
    _check_sizes(places, parts)
    rows = message_rows(schedule.messages, schedule.packets)
    before = _before(schedule, rows)
    sizes = [int(places.input_size[0]) * parts, int(places.output_size[0]) * parts]
    made = []
    for rank in symmetry.representatives.tolist():
        ends, mine, by = _touching(schedule, symmetry, rank)
        carried = _translated(schedule, symmetry, mine, by, rows, before, found)
        columns, scratch = _traced(schedule, ends, carried, rank)
        made.append(Operations.of(rank, columns, np.zeros((0, 2)), [*sizes, scratch[0]]))
    copies = _in_parts(places.copies, parts)
    return Templates(symmetry, tuple(made), copies, input_by_node, output_by_node, parts)


def _touching(
    schedule: Schedule, symmetry: Symmetry, rank: int
) -> tuple[tuple[npt.NDArray[Any], ...], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the ends of hops at a representative, with packets numbered, and what each number is.

    Every stored hop has one translate that leaves the rank, if its source is in the orbit, and one that enters it. A
    packet is a stored one and the element that translates it.
    """
    network = schedule.network
    data = schedule.packet != CONTROL
    link, packet, slot = schedule.link[data], schedule.packet[data].astype(np.int64), schedule.slot[data]
    ends = network.link_source[link].astype(np.int64), network.link_target[link].astype(np.int64)
    found = []
    for kind, (here, there) in enumerate((ends, ends[::-1])):
        hops = np.flatnonzero(symmetry.orbit[here] == symmetry.orbit[rank])
        by = symmetry.taking(here[hops], rank)
        key = packet[hops] * np.int64(network.node_count) + by
        found.append((slot[hops], np.full(hops.size, kind, np.uint8), symmetry.translate(by, there[hops]), key))
    slots, kinds, peers, keys = (np.concatenate(c) for c in zip(*found, strict=True))
    order = np.lexsort((kinds, slots))
    known, number = np.unique(keys[order], return_inverse=True)
    first = np.array([0, slots.size], np.int64)
    columns = (slots[order].astype(np.int32), kinds[order], peers[order].astype(np.int32), number.astype(np.int32))
    return (first, *columns), known // network.node_count, known % network.node_count


def _translated(
    schedule: Schedule,
    symmetry: Symmetry,
    packets: npt.NDArray[np.int64],
    by: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int32],
    before: npt.NDArray[np.int32],
    found: tuple[Layout, bool, bool],
) -> Carried:
    """Return what translated packets are, each with a message row of its own."""
    messages = schedule.messages
    n = schedule.network.node_count
    places, input_by_node, output_by_node = found
    row = rows[packets]
    keys = packets * n + by
    needed = before[packets] * np.int64(n) + by
    at = np.minimum(np.searchsorted(keys, needed), max(keys.size - 1, 0))
    waits = np.where((before[packets] >= 0) & (keys[at] == needed), at, -1) if keys.size else at

    def moved(nodes: npt.NDArray[Any], by_node: bool = True) -> npt.NDArray[np.int64]:
        return symmetry.translate(by, nodes[row]) if by_node else nodes[row]

    to_all = messages.targets is None
    return Carried(
        np.arange(packets.size, dtype=np.int32), schedule.packets.part[packets], blocks_of_message(schedule),
        messages.discipline[row], moved(messages.origin).astype(np.int32),
        waits.astype(np.int32), schedule.rules.reduction,
        np.arange(packets.size + 1, dtype=np.int64),
        np.zeros(1, np.int32) if messages.targets is None else moved(messages.targets).astype(np.int32),
        to_all, moved(places.at_origin, input_by_node), moved(places.at_target, output_by_node),
    )  # fmt: skip


def _in_parts(copies: npt.NDArray[np.int64], parts: int) -> npt.NDArray[np.int64]:
    """Return copies of messages as copies of all their parts."""
    every = np.repeat(copies, parts, axis=0)
    every[:, 1:] = every[:, 1:] * parts + np.tile(np.arange(parts), len(copies))[:, None]
    return every


def _check_sizes(places: Layout, parts: int) -> None:
    most = int(max(places.input_size.max(), places.output_size.max())) * parts
    if most > _MOST:
        raise ScheduleError(f"a buffer of the program would have {most:,} parts; at most {_MOST:,} are allowed")
