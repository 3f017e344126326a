"""Compiled kernels that turn hops into the operations of every rank; plain arrays in and out.

Operations are sorted by rank and slot; within a slot the sends of a rank stand before its receives, and both in the
order of the hops. `first` int64[ranks + 1] has where those of a rank begin.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["group_by_packet", "place_scratch", "sort_by_rank", "trace"]

COPY, MOVE, COMBINE = 0, 1, 2
SEND, RECEIVE, REDUCE = 0, 1, 2
INPUT, OUTPUT, SCRATCH = 0, 1, 2


@njit(cache=True, nogil=True)
def sort_by_rank(slot, link, packet, link_source, link_target, first, op_slot, op_kind, op_peer, op_packet):
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
                op_slot[i], op_kind[i], op_peer[i], op_packet[i] = slot[h], SEND, v, packet[h]
        for h in range(a, b):
            if packet[h] >= 0:
                u, v = link_source[link[h]], link_target[link[h]]
                i = free[v]
                free[v] = i + 1
                op_slot[i], op_kind[i], op_peer[i], op_packet[i] = slot[h], RECEIVE, u, packet[h]
        a = b


@njit(cache=True, nogil=True)
def group_by_packet(op_packet, packets, order):
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
    """Return the place of message row m in the output of node v, -1 where v is no target."""
    if to_all:
        return at_target[m] if v < terminals else -1
    for i in range(target_start[m], target_start[m + 1]):
        if targets[i] == v:
            return at_target[i]
    return -1


@njit(cache=True, nogil=True)
def trace(
    first, lowest, ranks, order, op_kind, op_packet, row_of, part, parts, discipline, origin, before, adds_up,
    target_start, targets, to_all, at_origin, at_target, terminals,
    op_buffer, op_offset, op_operand, op_after, op_instance, uses,
):  # fmt: skip
    """Follow every packet through every rank: what an operation touches, and what must be complete before it.

    `order` has the operations by packet; `ranks` int32[operations] whose they are, from rank `lowest` on; `before`
    int32[packets] the packet of the reduction whose result a packet is, or -1. A block in scratch is an instance,
    numbered in `op_instance`; `uses` counts how often each is sent. `op_kind` becomes REDUCE where a contribution is
    added to something; switches add only if they may, `adds_up`.

    Returns (instances, number of an operation that sends what its rank does not hold or -1).
    """
    instances = 0
    complete = np.full(row_of.size, -1, np.int32)  # of reductions: the last operation at the root
    for combined in (True, False):  # results may leave only after their reductions
        a = 0
        while a < order.size:
            p = op_packet[order[a]]
            v = ranks[order[a]]
            b = a
            while b < order.size and op_packet[order[b]] == p and ranks[order[b]] == v:
                b += 1
            m = row_of[p]
            if (discipline[m] == COMBINE) != combined:
                a = b
                continue
            own = at_origin[m] * parts + part[p]
            base = first[v - lowest]
            instance, last, holds = -1, -1, False
            buffer, offset = SCRATCH, -1
            if combined and v >= terminals and not adds_up:  # partial sums pass one by one
                came = a
                for j in range(a, b):
                    i = order[j]
                    op_buffer[i], op_offset[i], op_operand[i], op_after[i] = SCRATCH, -1, -1, -1
                    if op_kind[i] != SEND:
                        op_instance[i] = instances
                        uses[instances] = 0
                        instances += 1
                        continue
                    while came < j and op_kind[order[came]] == SEND:
                        came += 1
                    if came == j:
                        return instances, i
                    op_instance[i], op_after[i] = op_instance[order[came]], order[came] - base
                    uses[op_instance[i]] += 1
                    came += 1
                a = b
                continue
            if combined:
                for j in range(a, b):
                    i = order[j]
                    op_offset[i], op_operand[i], op_after[i], op_instance[i] = own, -1, -1, -1
                    if op_kind[i] == SEND:
                        op_buffer[i] = INPUT
                        if holds:
                            op_buffer[i], op_offset[i], op_after[i], op_instance[i] = buffer, offset, last, instance
                            uses[instance] += 1
                        elif v >= terminals:
                            return instances, i
                        continue
                    if not holds and v == origin[p]:
                        buffer, offset = OUTPUT, at_target[m] * parts + part[p]
                    elif not holds:
                        instance = instances
                        uses[instance] = 0
                        instances += 1
                    op_buffer[i], op_offset[i], op_instance[i] = buffer, offset, instance
                    if holds or v < terminals:
                        op_kind[i] = REDUCE
                        op_operand[i] = -1 if holds else own
                    op_after[i] = last
                    last, holds = i - base, True
                if v == origin[p]:
                    complete[p] = last
                a = b
                continue
            place = _target_place(m, v, target_start, targets, to_all, at_target, terminals)
            if v == origin[p]:
                holds, buffer, offset = True, INPUT, own
                if before[p] >= 0:
                    buffer, offset, last = OUTPUT, place * parts + part[p], complete[before[p]]
            kept = holds and discipline[m] == COPY
            for j in range(a, b):
                i = order[j]
                op_operand[i], op_after[i], op_instance[i] = -1, -1, -1
                if op_kind[i] == SEND:
                    if not holds:
                        return instances, i
                    op_buffer[i], op_offset[i], op_after[i], op_instance[i] = buffer, offset, last, instance
                    if instance >= 0:
                        uses[instance] += 1
                    if discipline[m] == MOVE:
                        holds = False
                        last = i - base
                    continue
                if kept or place < 0:  # on its way, or here already
                    uses[instances] = 0
                    op_buffer[i], op_offset[i], op_instance[i] = SCRATCH, -1, instances
                    instances += 1
                    if kept:
                        continue
                    holds, buffer, offset, instance, last = True, SCRATCH, -1, instances - 1, i - base
                    continue
                op_buffer[i], op_offset[i] = OUTPUT, place * parts + part[p]
                if discipline[m] == MOVE and buffer == OUTPUT:
                    op_after[i] = last  # it was here before and left
                holds, buffer, offset, instance, last = True, OUTPUT, op_offset[i], -1, i - base
                kept = discipline[m] == COPY
            a = b
    return instances, -1


@njit(cache=True, nogil=True)
def place_scratch(first, op_slot, op_kind, op_offset, op_after, op_instance, uses, sizes):
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
            if uses[k] == (1 if op_kind[i] == SEND else 0):
                free_place[tail], free_slot[tail], free_after[tail] = place[k], op_slot[i], i - first[v]
                tail += 1
        sizes[v] = size
