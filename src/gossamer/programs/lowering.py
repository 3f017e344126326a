"""From a schedule to the program that carries it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, VerificationError, shown
from gossamer.jit import njit
from gossamer.programs.layout import BufferLayout, blocks_of_message, invariant_layout, layout
from gossamer.programs.partial_sums import InRounds, in_rounds, trace_sums
from gossamer.programs.program import Columns, Operations, Program, Templates
from gossamer.questions.tasks import COMBINE, Messages
from gossamer.schedules import CONTROL, Schedule, Symmetry, expand
from gossamer.schedules.hop_table import summed_packets
from gossamer.schedules.packets import message_rows
from gossamer.verification import verify

# Operations are sorted by rank and slot; within a slot the sends of a rank stand before its receives, and both in the
# order of the hops. `first` int64[ranks + 1] has where those of a rank begin.

_COPY, _MOVE, _COMBINE = 0, 1, 2
_SEND, _RECEIVE, _REDUCE = 0, 1, 2
_INPUT, _OUTPUT, _SCRATCH = 0, 1, 2


@njit(cache=True, nogil=True)
def _sort_by_rank(slot, link, packet, link_source, link_target, first, op_slot, op_kind, op_peer, op_packet):
    """Write both ends of every hop but control hops, by rank, slot and kind, where `first` is zero at the start."""
    ranks = first.size - 1
    for h in range(slot.size):
        if packet[h] >= 0:
            first[link_source[link[h]] + 1] += 1
            first[link_target[link[h]] + 1] += 1
    for v in range(ranks):
        first[v + 1] += first[v]
    free = first[:-1].copy()
    a = 0
    while a < slot.size:
        b = a
        while b < slot.size and slot[b] == slot[a]:
            b += 1
        for h in range(a, b):
            if packet[h] >= 0:
                u, v = link_source[link[h]], link_target[link[h]]
                i = free[u]
                free[u] = i + 1
                op_slot[i], op_kind[i], op_peer[i], op_packet[i] = slot[h], _SEND, v, packet[h]
        for h in range(a, b):
            if packet[h] >= 0:
                u, v = link_source[link[h]], link_target[link[h]]
                i = free[v]
                free[v] = i + 1
                op_slot[i], op_kind[i], op_peer[i], op_packet[i] = slot[h], _RECEIVE, u, packet[h]
        a = b


@njit(cache=True, nogil=True)
def _group_by_packet(op_packet, packets, order):
    """Write the numbers of the operations by packet, those of a packet in the order in which they stand."""
    start = np.zeros(packets + 1, np.int64)
    for i in range(op_packet.size):
        start[op_packet[i] + 1] += 1
    for p in range(packets):
        start[p + 1] += start[p]
    for i in range(op_packet.size):
        p = op_packet[i]
        order[start[p]] = i
        start[p] += 1


@njit(cache=True, nogil=True, inline="always")
def _target_place(m, v, target_start, targets, to_all, at_target, terminals):
    """Return the place of message row m at node v, -1 where v is no target, or of a reduction no contributor."""
    if to_all:
        return at_target[m] if v < terminals else -1
    for i in range(target_start[m], target_start[m + 1]):
        if targets[i] == v:
            return at_target[i]
    return -1


@njit(cache=True, nogil=True)
def _trace(
    first, lowest, ranks, order, op_kind, op_packet, row_of, part, parts, discipline, origin, before, adds_up,
    target_start, targets, to_all, at_origin, at_target, terminals,
    op_buffer, op_offset, op_operand, op_after, op_instance, uses, complete, instances,
):  # fmt: skip
    """Follow every packet through every rank: what an operation touches, and what must be complete before it.

    `order` has the operations by packet; `ranks` int32[operations] whose they are, from rank `lowest` on; `before`
    int32[packets] the packet of the reduction whose result a packet is, or -1. A block in scratch is an instance,
    numbered in `op_instance` from `instances` on; `uses` counts how often each is sent. `complete` int32[packets] gets
    the last operation at the root of each reduction, -1 before. `op_kind` becomes REDUCE where a contribution is
    added to something; switches add only if they may, `adds_up`.

    Returns (instances, number of an operation that sends what its rank does not hold, or that receives what it has sent
    on, or -1).
    """
    for combined in (True, False):  # results may leave only after their reductions
        a = 0
        while a < order.size:
            p = op_packet[order[a]]
            v = ranks[order[a]]
            b = a
            while b < order.size and op_packet[order[b]] == p and ranks[order[b]] == v:
                b += 1
            m = row_of[p]
            if (discipline[m] == _COMBINE) != combined:
                a = b
                continue
            place = _target_place(m, v, target_start, targets, to_all, at_target, terminals)
            kept_at = at_origin[m] * parts + part[p]
            base = first[v - lowest]
            instance, last, holds = -1, -1, False
            buffer, offset = _SCRATCH, -1
            if combined and v >= terminals and not adds_up:  # partial sums pass one by one
                came = a
                for j in range(a, b):
                    i = order[j]
                    op_buffer[i], op_offset[i], op_operand[i], op_after[i] = _SCRATCH, -1, -1, -1
                    if op_kind[i] != _SEND:
                        op_instance[i] = instances
                        uses[instances] = 0
                        instances += 1
                        continue
                    while came < j and op_kind[order[came]] == _SEND:
                        came += 1
                    if came == j:
                        return instances, i
                    op_instance[i], op_after[i] = op_instance[order[came]], order[came] - base
                    uses[op_instance[i]] += 1
                    came += 1
                a = b
                continue
            if combined:
                own = place * parts + part[p] if place >= 0 else -1  # in the input, if the rank contributes
                left = False
                for j in range(a, b):
                    i = order[j]
                    op_offset[i], op_operand[i], op_after[i], op_instance[i] = own, -1, -1, -1
                    if op_kind[i] == _SEND:
                        left = True
                        op_buffer[i] = _INPUT
                        if holds:
                            op_buffer[i], op_offset[i], op_after[i], op_instance[i] = buffer, offset, last, instance
                            uses[instance] += 1
                        elif own < 0:
                            return instances, i
                        continue
                    if left:  # a share of a sum that cut through
                        return instances, i
                    if not holds and v == origin[p]:
                        buffer, offset = _OUTPUT, kept_at
                    elif not holds:
                        instance = instances
                        uses[instance] = 0
                        instances += 1
                    op_buffer[i], op_offset[i], op_instance[i] = buffer, offset, instance
                    if holds or own >= 0:
                        op_kind[i] = _REDUCE
                        op_operand[i] = -1 if holds else own
                    op_after[i] = last
                    last, holds = i - base, True
                if v == origin[p]:
                    complete[p] = last
                a = b
                continue
            if v == origin[p]:
                holds, buffer, offset = True, _INPUT, kept_at
                if before[p] >= 0:
                    buffer, last = _OUTPUT, complete[before[p]]
            kept = holds and discipline[m] == _COPY
            for j in range(a, b):
                i = order[j]
                op_operand[i], op_after[i], op_instance[i] = -1, -1, -1
                if op_kind[i] == _SEND:
                    if not holds:
                        return instances, i
                    op_buffer[i], op_offset[i], op_after[i], op_instance[i] = buffer, offset, last, instance
                    if instance >= 0:
                        uses[instance] += 1
                    if discipline[m] == _MOVE:
                        holds = False
                        last = i - base
                    continue
                if kept or place < 0:  # on its way, or here already
                    uses[instances] = 0
                    op_buffer[i], op_offset[i], op_instance[i] = _SCRATCH, -1, instances
                    instances += 1
                    if kept:
                        continue
                    holds, buffer, offset, instance, last = True, _SCRATCH, -1, instances - 1, i - base
                    continue
                op_buffer[i], op_offset[i] = _OUTPUT, place * parts + part[p]
                if discipline[m] == _MOVE and buffer == _OUTPUT:
                    op_after[i] = last  # it was here before and left
                holds, buffer, offset, instance, last = True, _OUTPUT, op_offset[i], -1, i - base
                kept = discipline[m] == _COPY
            a = b
    return instances, -1


@njit(cache=True, nogil=True)
def _place_scratch(first, op_slot, op_kind, op_offset, op_after, op_instance, uses, sizes):
    """Give each instance a place in its rank's scratch; write how many places each rank needs.

    A place is taken again in a slot after the one in which its block was sent on, and the operation that takes it
    waits for that send. A block that is sent several times keeps its place.
    """
    place = np.full(uses.size, -1, np.int32)
    free_place = np.empty(uses.size + 1, np.int32)
    free_slot = np.empty(uses.size + 1, np.int32)
    free_after = np.empty(uses.size + 1, np.int32)
    for v in range(first.size - 1):
        head, tail, size = 0, 0, 0
        for i in range(first[v], first[v + 1]):
            k = op_instance[i]
            if k < 0:
                continue
            if place[k] < 0:
                if head < tail and free_slot[head] < op_slot[i]:
                    place[k] = free_place[head]
                    op_after[i] = free_after[head]
                    head += 1
                else:
                    place[k] = size
                    size += 1
            op_offset[i] = place[k]
            if uses[k] == (1 if op_kind[i] == _SEND else 0):
                free_place[tail], free_slot[tail], free_after[tail] = place[k], op_slot[i], i - first[v]
                tail += 1
        sizes[v] = size


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
    rank to which nothing comes sends its own from the input; a rank that does not contribute adds only what comes. A
    block that a rank passes on without keeping it, and partial sums, lie in scratch, whose places are used again.

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
    schedule = schedule.unrolled()
    if schedule.symmetry is not None and not summed_packets(schedule).any():
        stored = _templates(schedule, schedule.symmetry)
    if stored is None:
        schedule = expand(schedule)
        stored = _columns(schedule)
    control = int(np.count_nonzero(schedule.packet == CONTROL))
    slots = schedule.slot_count
    if isinstance(stored, Columns) and stored.rows[0].size:
        slots = max(slots, int(stored.rows[0].max()) + 1)
    times = schedule.hop_count // max(schedule.stored_hops, 1)
    return Program(
        schedule.network,
        schedule.task,
        stored,
        algorithm=schedule.algorithm,
        parts=blocks_of_message(schedule),
        slots=slots,
        hops=schedule.hop_count - control * times,
    )


class Carried(NamedTuple):
    """What the packets of operations are: arguments of `_trace` between its operations and what it writes."""

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
    network, messages, table = schedule.network, schedule.messages, schedule.packets
    parts = blocks_of_message(schedule)
    places = layout(schedule.task, network, messages)
    check_sizes(places, parts)
    rows = message_rows(messages, table)
    before = packets_before(schedule, rows)
    sums = in_rounds(schedule, before)
    ends = 2 * int(np.count_nonzero(schedule.packet != CONTROL))
    first = np.zeros(network.node_count + 1, np.int64)
    slot, kind = np.empty(ends, np.int32), np.empty(ends, np.uint8)
    peer, packet = np.empty(ends, np.int32), np.empty(ends, np.int32)
    carries = schedule.packet
    if sums is not None:  # operations are of hops, whose arrivals do several things
        carries = np.where(sums.packet < 0, sums.packet, np.arange(sums.packet.size, dtype=np.int32))
    _sort_by_rank(
        schedule.slot if sums is None else sums.slot, schedule.link if sums is None else sums.link, carries,
        network.link_source, network.link_target, first, slot, kind, peer, packet,
    )  # fmt: skip
    carried = listed_messages(messages, places, rows, table.part, parts, before, schedule.rules.reduction)
    columns, scratch = traced(schedule, (first, slot, kind, peer, packet), carried, sums=sums)
    sizes = np.column_stack([places.input_size * parts, places.output_size * parts, scratch])
    return Columns(first, columns, in_parts(places.copies, parts), sizes)


def listed_messages(
    messages: Messages,
    places: BufferLayout,
    rows: npt.NDArray[np.int32],
    part: npt.NDArray[np.int32],
    parts: int,
    before: npt.NDArray[np.int32],
    adds_up: bool,
) -> Carried:
    """Return what packets are, given the rows of their messages among all messages of the task, and their parts."""
    to_all = messages.targets is None or messages.target_start is None
    return Carried(
        rows, part, parts, messages.discipline, messages.origin[rows],
        before, adds_up,
        np.zeros(2, np.int64) if messages.target_start is None else messages.target_start,
        np.zeros(1, np.int32) if messages.targets is None else messages.targets,
        to_all, places.at_origin, places.at_target,
    )  # fmt: skip


def traced(
    schedule: Schedule,
    ends: tuple[npt.NDArray[Any], ...],
    carried: Carried,
    lowest: int = 0,
    sums: InRounds | None = None,
) -> tuple[tuple[npt.NDArray[Any], ...], npt.NDArray[np.int64]]:
    """Return the columns of the operations, and the scratch of each rank, from rank `lowest` on.

    Operations are of packets, or, where there are partial sums, of the hops of those.
    """
    network = schedule.network
    first, slot, kind, peer, packet = ends
    count = slot.size
    hop = packet
    if sums is not None:
        packet = sums.packet[hop]
    order = np.empty(count, np.int32 if count < _MOST else np.int64)
    _group_by_packet(packet, carried.row_of.size, order)
    ranks = np.repeat(np.arange(lowest, lowest + first.size - 1, dtype=np.int32), np.diff(first))
    offset, operand, after, instance = np.empty((4, count), np.int32)
    buffer, uses = np.empty(count, np.uint8), np.empty(count // 2 + 1, np.int32)
    complete = np.full(carried.row_of.size, -1, np.int32)  # of reductions: the last operation at the root
    written = buffer, offset, operand, after, instance, uses, complete
    instances, bad = 0, -1
    if sums is not None:
        added = sums.summed[packet[order]]
        instances, bad = trace_sums(
            first, lowest, ranks, order[added], slot, kind, packet, hop, sums.fate[hop], sums.repeats, *carried,
            network.terminal_count, *written,
        )  # fmt: skip
        order = order[~added]
    if bad < 0:
        instances, bad = _trace(
            first, lowest, ranks, order, kind, packet, *carried, network.terminal_count, *written, instances
        )
    if bad >= 0:
        where = f"slot {slot[bad]}: node {network.node_name(int(ranks[bad]))}"
        raise ScheduleError(f"{where} passes a packet on in the slot in which it comes; a program cannot")
    scratch = np.zeros(first.size - 1, np.int64)
    _place_scratch(first, slot, kind, offset, after, instance, uses[:instances], scratch)
    return (slot, kind, peer, buffer, offset, operand, after, carried.part[packet]), scratch


def packets_before(schedule: Schedule, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
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
    if schedule.network.terminal_count < schedule.network.node_count:
        return None
    if found is None or not symmetry.free:  # at a switch that stays where it is several translates of a hop meet
        return None
    places, input_by_node, output_by_node = found
    parts = blocks_of_message(schedule)
    check_sizes(places, parts)
    rows = message_rows(schedule.messages, schedule.packets)
    before = packets_before(schedule, rows)
    sizes = [int(places.input_size[0]) * parts, int(places.output_size[0]) * parts]
    made = []
    for rank in symmetry.representatives.tolist():
        ends, mine, by = _touching(schedule, symmetry, rank)
        carried = _translated(schedule, symmetry, mine, by, rows, before, found)
        columns, scratch = traced(schedule, ends, carried, rank)
        made.append(Operations.of(rank, columns, np.zeros((0, 2)), [*sizes, scratch[0]]))
    copies = in_parts(places.copies, parts)
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
    found: tuple[BufferLayout, bool, bool],
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

    return moved_messages(
        messages, places, (input_by_node, output_by_node), row, lambda nodes: symmetry.translate(by, nodes),
        schedule.packets.part[packets], blocks_of_message(schedule), waits.astype(np.int32), schedule.rules.reduction,
    )  # fmt: skip


def moved_messages(
    messages: Messages,
    places: BufferLayout,
    by_node: tuple[bool, bool],
    row: npt.NDArray[np.int32],
    translated: Callable[[npt.NDArray[Any]], npt.NDArray[np.int64]],
    part: npt.NDArray[np.int32],
    parts: int,
    before: npt.NDArray[np.int32],
    adds_up: bool,
) -> Carried:
    """Return what packets are, each of a message of its own: that of a row, moved by the translation of the packet.

    `by_node` says whether the places in input and output are nodes, `translated` takes nodes of packets to others.
    """
    input_by_node, output_by_node = by_node
    if messages.discipline[row[:1]].tolist() == [COMBINE]:  # from inputs of all into the output of the root
        input_by_node, output_by_node = output_by_node, input_by_node

    def moved(nodes: npt.NDArray[Any], by_node: bool = True) -> npt.NDArray[np.int64]:
        return translated(nodes[row]) if by_node else nodes[row]

    to_all = messages.targets is None
    return Carried(
        np.arange(row.size, dtype=np.int32), part, parts,
        messages.discipline[row], moved(messages.origin).astype(np.int32),
        before, adds_up,
        np.arange(row.size + 1, dtype=np.int64),
        np.zeros(1, np.int32) if messages.targets is None else moved(messages.targets).astype(np.int32),
        to_all, moved(places.at_origin, input_by_node), moved(places.at_target, output_by_node),
    )  # fmt: skip


def in_parts(copies: npt.NDArray[np.int64], parts: int) -> npt.NDArray[np.int64]:
    """Return copies of messages as copies of all their parts."""
    every = np.repeat(copies, parts, axis=0)
    every[:, 1:] = every[:, 1:] * parts + np.tile(np.arange(parts), len(copies))[:, None]
    return every


def check_sizes(places: BufferLayout, parts: int) -> None:
    """Raise `ScheduleError` if what a rank holds has more blocks than can be numbered."""
    most = int(max(places.input_size.max(), places.output_size.max())) * parts
    if most > _MOST:
        raise ScheduleError(f"a buffer of the program would have {most:,} parts; at most {_MOST:,} are allowed")
