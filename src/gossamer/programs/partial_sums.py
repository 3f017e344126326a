"""Partial sums in programs: where a rank has its sum of a packet, and what each arrival does to it.

A rank sends its own contribution from its input. What comes first is added to that on its way into the place of the
sum: the rank's output where the sum is for it, else scratch. From then on it sends what lies there. A result that
replaces the sum is received over it, one that adds nothing goes to a place of its own that nobody reads.

The sum that a slot begins with is what is sent in it, so whatever changes the sum waits for the sends of what is there.
An operation waits for one other: of several sends of a sum that is changed later, each waits for the one before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.schedules import CONTROL, Schedule
from gossamer.schedules.hop_table import hop_ends, latencies, summed_packets
from gossamer.verification.partial_sums import COMBINED, PASSED_ON, REPLACED, WASTED
from gossamer.verification.replay_inputs import ReplayState
from gossamer.verification.timed_replay import replay_timed

_SEND, _RECEIVE, _REDUCE = 0, 1, 2
_INPUT, _OUTPUT, _SCRATCH = 0, 1, 2
_ALLCOMBINE = 3


@njit(cache=True, nogil=True)
def _sum_places(
    v, p, m, parts, part, everywhere, origin, target_start, targets, to_all, at_origin, at_target, terminals
):
    """Return the places of rank v's contribution in its input and of its sum in its output; -1 where it has none."""
    own, kept = -1, -1
    if to_all and v < terminals:
        own = at_target[m]
        kept = own if everywhere else -1
    elif not to_all:
        for i in range(target_start[m], target_start[m + 1]):
            if targets[i] == v:
                own = at_target[i]
                kept = own if everywhere else -1
    if not everywhere and v == origin[p]:
        kept = at_origin[m]
    return (own * parts + part[p] if own >= 0 else -1), (kept * parts + part[p] if kept >= 0 else -1)


@njit(cache=True, nogil=True)
def _pass_through(
    order, a, b, base, op_kind, op_hop, op_fate, repeats, brought, op_buffer, op_after, op_instance, uses, instances
):
    """Let a rank pass on what other hops carry further, and mark these operations by their instances.

    `repeats` has the hop that each carries on, or -1; `brought` int32[hops] gets the operation by which each came.
    """
    for j in range(a, b):
        i = order[j]
        if op_kind[i] == _SEND and repeats[op_hop[i]] >= 0:
            came = brought[repeats[op_hop[i]]]
            op_instance[i], op_after[i], op_buffer[i] = op_instance[came], came - base, _SCRATCH
            uses[op_instance[i]] += 1
        elif op_kind[i] != _SEND and op_fate[i] == PASSED_ON:
            brought[op_hop[i]] = i
            op_instance[i], op_buffer[i] = instances, _SCRATCH
            uses[instances] = 0
            instances += 1
    return instances


@njit(cache=True, nogil=True)
def trace_sums(
    first, lowest, ranks, order, op_slot, op_kind, op_packet, op_hop, op_fate, repeats,
    row_of, part, parts, discipline, origin, before, adds_up,
    target_start, targets, to_all, at_origin, at_target, terminals,
    op_buffer, op_offset, op_operand, op_after, op_instance, uses, complete,
):  # fmt: skip
    """Follow every partial sum through every rank; see `gossamer.programs.lowering._trace`.

    `order` has the operations on partial sums by packet, `op_hop` and `op_fate` their hops and what each arrival does,
    as in `gossamer.verification.partial_sums`, `repeats` int32[hops] the hop that each carries on, or -1. `complete`
    int32[packets] gets the last operation at the origin of each.

    Returns (instances, number of an operation that sends what its rank does not hold or -1).
    """
    instances = 0
    brought = np.full(repeats.size, -1, np.int32)
    a = 0
    while a < order.size:
        p = op_packet[order[a]]
        v = ranks[order[a]]
        b = a
        while b < order.size and op_packet[order[b]] == p and ranks[order[b]] == v:
            i = order[b]
            op_offset[i], op_operand[i], op_after[i], op_instance[i] = -1, -1, -1, -1
            b += 1
        m, base = row_of[p], first[v - lowest]
        instances = _pass_through(
            order, a, b, base, op_kind, op_hop, op_fate, repeats, brought, op_buffer, op_after, op_instance, uses,
            instances,
        )  # fmt: skip
        everywhere = discipline[m] == _ALLCOMBINE
        own, kept = _sum_places(
            v, p, m, parts, part, everywhere, origin, target_start, targets, to_all, at_origin, at_target, terminals
        )
        changed = b - 1  # the last arrival that matters: of a sum that is not kept, the last before it is sent
        while changed >= a and kept < 0 and (op_kind[order[changed]] != _SEND or op_instance[order[changed]] >= 0):
            changed -= 1
        while changed >= a and (
            op_kind[order[changed]] == _SEND
            or op_fate[order[changed]] == WASTED
            or op_fate[order[changed]] == PASSED_ON
        ):
            changed -= 1
        buffer, offset, instance = _OUTPUT, kept, -1
        holds, last, sent = False, -1, -1
        for j in range(a, b):
            i = order[j]
            if op_instance[i] >= 0:  # it passes through
                continue
            if op_kind[i] == _SEND:
                if holds:
                    op_buffer[i], op_offset[i], op_instance[i], op_after[i] = buffer, offset, instance, last
                    if instance >= 0:
                        uses[instance] += 1
                    if j < changed:
                        op_after[i] = last if sent < 0 else sent
                        sent = i - base
                elif own >= 0:
                    op_buffer[i], op_offset[i] = _INPUT, own
                else:
                    return instances, i
                continue
            useless = op_fate[i] == WASTED or j > changed
            k = j + 1
            while k < b and op_slot[order[k]] == op_slot[i] and not useless:  # replaced before it can be sent
                useless = op_fate[order[k]] == REPLACED
                k += 1
            if useless:
                op_buffer[i], op_instance[i] = _SCRATCH, instances
                uses[instances] = 0
                instances += 1
                continue
            if not holds and kept < 0:
                buffer, instance = _SCRATCH, instances
                uses[instances] = 0
                instances += 1
            op_buffer[i], op_offset[i], op_instance[i] = buffer, offset, instance
            op_after[i] = last if sent < 0 else sent
            if op_fate[i] == COMBINED and (holds or own >= 0):
                op_kind[i] = _REDUCE
                op_operand[i] = -1 if holds else own
            holds, last, sent = True, i - base, -1
        if v == origin[p]:
            complete[p] = last
        a = b
    return instances, -1


class InRounds(NamedTuple):
    """The hops of a schedule with partial sums, in the order in which a program carries them out.

    * `summed` (bool[P]): which packets are sent as partial sums.
    * `slot`, `link`, `packet` (int32[H]): the hops, ascending by slot.
    * `fate` (uint8[H]): what the arrival of each partial sum does, as in `gossamer.verification.partial_sums`.
    * `repeats` (int32[H]): the hop that each carries on through its sender, in this order, or -1.
    """

    summed: npt.NDArray[np.bool_]
    slot: npt.NDArray[np.int32]
    link: npt.NDArray[np.int32]
    packet: npt.NDArray[np.int32]
    fate: npt.NDArray[np.uint8]
    repeats: npt.NDArray[np.int32]


def in_rounds(schedule: Schedule, before: npt.NDArray[np.int32]) -> InRounds | None:
    """Return the hops of a valid schedule with partial sums in the order of a program; None if it has none.

    In a program both ends of a hop are in one slot, and a rank sends what it has before what comes in that slot. Where
    links take time, a sum may be sent while another is on its way, and a hop may carry the sum of an earlier slot. Then
    slots are numbers of rounds: an arrival is in no earlier round than what its receiver sends before it, and in an
    earlier one than what it sends after it.

    `schedule`: explicit, accepted by the checker. `before` (int32[P]): for each packet the one of which it is the
    result, or -1. Raises `ScheduleError` if there is no such order.

    O(hops log hops), and what a replay of the schedule takes.
    """
    summed = summed_packets(schedule)
    if not summed.any():
        return None
    state = ReplayState(schedule)
    state.judge_sums()
    replayed = replay_timed(schedule, state, 1)
    leaves, repeats = _as_of(schedule, replayed.carries_on)
    hops = InRounds(summed, schedule.slot, schedule.link, schedule.packet, replayed.fate, repeats)
    if schedule.network.plain and not schedule.rules.cut_through and bool((leaves == schedule.slot).all()):
        return hops
    return _by_round(schedule, before, hops, leaves)


def _as_of(
    schedule: Schedule, carries_on: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the slot in which the sum of each hop was what it carries, and the hop that each carries on, or -1."""
    leaves, repeats = schedule.slot.copy(), carries_on.copy()
    if schedule.repeats is None:
        return leaves, repeats
    repeats = np.where(repeats < 0, schedule.repeats, repeats)
    source, target = schedule.network.link_source[schedule.link], schedule.network.link_target[schedule.link]
    earlier = repeats < -1
    leaves[earlier] = -2 - repeats[earlier]
    repeats[earlier] = -1
    for h in np.flatnonzero((repeats >= 0) & (target[np.maximum(repeats, 0)] != source)).tolist():
        leaves[h], repeats[h] = leaves[repeats[h]], repeats[repeats[h]]  # what that one carries, once more
    return leaves, repeats


_MOST_SWEEPS = 1000


@njit(cache=True, nogil=True)
def _raise_rounds(hop, arrives, replaces, place, sent, came, replaced, rounds):
    """Put hops into later rounds where the order at a node wants it; say whether any moved.

    Events are in the order of time, arrivals before departures. Of each place, a packet at a node, `sent`, `came` and
    `replaced` int64 are the latest rounds of what left, what came, and what replaced the sum.
    """
    moved = False
    for e in range(hop.size):
        h, x = hop[e], place[e]
        least = came[x] + 1
        if arrives[e]:
            least = max(sent[x], came[x] if replaces[e] else replaced[x])
        if rounds[h] < least:
            rounds[h], moved = least, True
        if not arrives[e]:
            sent[x] = max(sent[x], rounds[h])
            continue
        came[x] = max(came[x], rounds[h])
        if replaces[e]:
            replaced[x] = max(replaced[x], rounds[h])
    return moved


def _by_round(
    schedule: Schedule, before: npt.NDArray[np.int32], hops: InRounds, leaves: npt.NDArray[np.int32]
) -> InRounds:
    """Return hops by rounds that keep what happens at each node in order, where links take time or sums leave late.

    What is sent is the sum as it stood in the slot `leaves` int32[H].
    """
    network, table = schedule.network, schedule.packets
    rows = np.flatnonzero(schedule.packet != CONTROL)
    slot, link, packet = schedule.slot[rows], schedule.link[rows], schedule.packet[rows]
    ends = hop_ends(network, schedule.parts, slot, link)
    target = network.link_target[link]
    if schedule.rules.cut_through:
        delay = latencies(network, schedule.parts)
        head = slot + (delay[link] if delay.size > 1 else delay)
        ends = np.where(target >= network.terminal_count, head, ends)
    key = np.where(before >= 0, before, np.arange(table.count))[packet]  # a result follows its reduction
    time = np.concatenate([ends, leaves[rows]])
    arrives = np.repeat([True, False], rows.size)
    order = np.lexsort((~arrives, time))
    fate = np.tile(hops.fate[rows], 2)
    order = order[~arrives[order] | (fate[order] != WASTED)]
    node = np.concatenate([target, network.link_source[link]]).astype(np.int64)
    at = node * table.count + np.tile(key, 2)
    passing = np.concatenate([np.where(fate[: rows.size] == PASSED_ON, rows, -1), hops.repeats[rows]])
    at = np.where(passing >= 0, network.node_count * table.count + passing, at)  # beside the sum of the node
    places, place = np.unique(at, return_inverse=True)
    events = [c[order] for c in (np.tile(np.arange(rows.size), 2), arrives, fate == REPLACED, place)]
    rounds = leaves[rows].astype(np.int64)
    for _ in range(_MOST_SWEEPS):
        never = np.full((3, places.size), -1, np.int64)
        if not _raise_rounds(*events, *never, rounds):
            break
    else:
        name = network.node_name(int(target[int(np.argmax(rounds))]))
        raise ScheduleError(
            f"node {name} sends partial sums while others that it may not add yet come to it, which a program cannot"
        )
    order = np.lexsort((ends, rounds))
    rows = rows[order]
    moved = np.full(schedule.slot.size + 1, -1, np.int32)
    moved[rows] = np.arange(rows.size)
    return hops._replace(
        slot=rounds[order].astype(np.int32), link=schedule.link[rows], packet=schedule.packet[rows],
        fate=hops.fate[rows], repeats=moved[hops.repeats[rows]],
    )  # fmt: skip
