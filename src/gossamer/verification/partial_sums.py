"""Partial sums: which contributions a node's sum of a packet holds, and what an arrival does to it.

A node holds of each packet of a reduction one partial sum: a set of contributions. A hop copies the sum as it stands
when the hop begins. When the set A arrives at a node that holds B, then

* A and B disjoint: the node holds both combined,
* A contains B: the node holds A, a result replaces what went into it,
* A inside B: nothing happens, the arrival is wasted,
* otherwise some contribution would count twice, which is a violation.

Arrivals at the same time count as one: those that lie inside others are wasted, the rest must be disjoint. If A is then
in neither of these relations to B, the arrivals inside B are wasted, too, and the rest must be disjoint from it.
``docs/decisions/0017`` has the proof that this is right for every associative and commutative operation.

A hop that repeats another (`gossamer.Schedule`) carries what that one carried: a sum that passes through its node,
where it is added to nothing, or one that its node has sent before. A hop may also carry the sum of its node as it stood
in an earlier slot. Where switches cut through, a hop waits in its slot for what it repeats, or, if it carries the sum
of a switch as it stands, for all that is added to that in the slot; nothing else waits for what passes through.

Sets are rows of 64-bit words, a bit a node.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

COMBINED, REPLACED, WASTED, COUNTED_TWICE, PASSED_ON = 0, 1, 2, 3, 4
"""What an arrival does: it is added to what is there, takes its place (or comes first), is dropped, or is wrong; or it
passes through the node, as another hop carries it on."""


def words_of(nodes: int) -> int:
    """Return how many words of 64 bits a set of nodes takes."""
    return (nodes + 63) // 64


@njit(cache=True, nogil=True)
def add_member(sums, row, node):
    """Put a node into the set of a row."""
    sums[row, node >> 6] |= np.uint64(1) << np.uint64(node & 63)


@njit(cache=True, nogil=True)
def _compare(a, b):
    """Say whether two sets share something, and whether each has something that the other has not."""
    shared, only_a, only_b = False, False, False
    for w in range(a.size):
        both = a[w] & b[w]
        shared |= both != 0
        only_a |= both != a[w]
        only_b |= both != b[w]
    return shared, only_a, only_b


@njit(cache=True, nogil=True)
def _drop_inside_others(first, after, fate, carried):
    """Let arrivals be wasted that lie inside others that are not; of equal ones the first stays."""
    i = first
    while i >= 0 and after[first] >= 0:
        j = first
        while j >= 0 and fate[i] != WASTED:
            if j != i and fate[j] != WASTED:
                _, only_i, only_j = _compare(carried[i], carried[j])
                if not only_i and (only_j or j < i):
                    fate[i] = WASTED
            j = after[j]
        i = after[i]


@njit(cache=True, nogil=True)
def _unite(first, after, fate, carried, total):
    """Add to a set the arrivals that are not wasted; what shares something with it counts twice and is left out."""
    disjoint = True
    i = first
    while i >= 0:
        if fate[i] != WASTED:
            shared, _, _ = _compare(carried[i], total)
            fate[i] = COUNTED_TWICE if shared else COMBINED
            if shared:
                disjoint = False
            else:
                total |= carried[i]
        i = after[i]
    return disjoint


@njit(cache=True, nogil=True)
def settle(first, after, fate, carried, held, total):
    """Let arrivals at the same time at a node that holds the set `held` do what they do.

    `first`: the first arrival; `after` int64[] has the next one of each, or -1. `fate`, int64[]: written for each
    arrival. `carried`, uint64[:, W]: the set that each arrival brings. `held`, `total`, uint64[W]: what the node holds,
    which is changed; room for a set.
    """
    i = first
    while i >= 0:
        fate[i] = COMBINED
        i = after[i]
    _drop_inside_others(first, after, fate, carried)
    total[:] = 0
    disjoint = _unite(first, after, fate, carried, total)
    shared, new, old = _compare(total, held)
    if disjoint and not (shared and new and old):
        replaces = not old  # what was there is contained, or there was nothing
        i = first
        while i >= 0:
            if fate[i] == COMBINED and not new:
                fate[i] = WASTED
            elif fate[i] == COMBINED and replaces:
                fate[i], replaces = REPLACED, False
            i = after[i]
        held |= total
        return
    i = first
    while i >= 0:
        _, new, _ = _compare(carried[i], held)
        fate[i] = COMBINED if new else WASTED
        i = after[i]
    _drop_inside_others(first, after, fate, carried)
    _unite(first, after, fate, carried, held)
