"""Multinode broadcast on Cayley networks as an invariant schedule: one broadcast tree and all its translates."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_irregular, refuse_one_way_links
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule, Symmetry

_NEWEST = 16  # candidates that a cell compares


@njit(cache=True, nogil=True, inline="always")
def _random(state, below):
    """Advance the xorshift generator in state[0]; return a number in 0..below-1."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(33)) % below


@njit(cache=True, nogil=True, small=100_000)
def _fill(target, inverse, duration, attempt, slot, pool, hop_slot, hop_link):
    """Give every element but the identity a cell (slot, generator); return the number of slots that have cells.

    `target` int32[N*degree] is the network's, `inverse` int64[degree] the column of each generator's inverse,
    `duration` int64[degree] the slots that a hop by it takes: 1, or 2 for a generator that is used in every other
    slot, from the first on. Attempt 0 takes candidates in their order, the others shuffle. Work arrays: `slot` int32[N]
    and `pool` int32[degree, N]; results, in order of slots: `hop_slot` and `hop_link` int32[N-1].
    """
    nodes, degree = slot.size, inverse.size
    state = np.full(1, 88172645463325252 + attempt * 2654435761, np.uint64)
    # Step 1: the root has its message before the first slot; from it every kind of link (generator) may lead on
    slot[:] = -1
    slot[0] = 0
    # pool[g, :size[g]] are the reached elements u that may still have u*g unreached, oldest first
    pool[:, 0] = 0
    size = np.ones(degree, np.int64)
    taken = np.empty(degree, np.int64)  # the element that each generator reaches in this slot
    late = np.full(degree, -1, np.int64)  # the element that it began to reach in the slot before
    giver = np.empty(degree, np.int64)  # the generator that takes over what this one has, -1 at the start of a path
    queue = np.empty(degree, np.int64)
    reached, t, first = 1, 0, 0
    while reached < nodes:
        t += 1
        # Step 2: begin a row of the table: in this slot each generator reaches at most one new node
        taken[:] = -1
        if attempt:
            first = _random(state, degree)
        for i in range(degree):
            start = (first + i) % degree
            if duration[start] > 1 and t % 2 == 0:
                continue
            giver[:] = -2
            giver[start] = -1
            queue[0] = start
            length, k = 1, 0
            v, g = -1, -1
            while k < length and v < 0:
                g = queue[k]
                k += 1
                # Step 3: of the newest nodes that the generator reaches take the one with the most neighbors that
                #   still wait
                most, seen = -1, 0
                z = size[g] - 1
                while z >= 0 and seen < _NEWEST and most < degree - 1:
                    if attempt:
                        j = _random(state, z + 1)
                        pool[g, z], pool[g, j] = pool[g, j], pool[g, z]
                    w = target[pool[g, z] * np.int64(degree) + g]
                    if slot[w] < 0:
                        seen += 1
                        opened = 0
                        for h in range(degree):
                            opened += slot[target[w * np.int64(degree) + h]] < 0
                        if opened > most:
                            v, most = w, opened
                    else:
                        size[g] -= 1
                        pool[g, z] = pool[g, size[g]]
                    z -= 1
                # Step 4: if all that it reaches are taken in this slot, let their generators take others (an
                #   augmenting path)
                if v < 0:  # none is free: whose element of this slot could be reached by g instead?
                    for h in range(degree):
                        if giver[h] == -2 and taken[h] >= 0:
                            s = slot[target[taken[h] * np.int64(degree) + inverse[g]]]
                            if 0 <= s < t:
                                giver[h] = g
                                queue[length] = h
                                length += 1
            if v >= 0:
                while g >= 0:
                    slot[v] = t + duration[g] - 1
                    v, taken[g] = taken[g], v
                    g = giver[g]
        for g in range(degree):
            # Step 5: write the row down as hops; what was reached passes the message on from the next slot
            v = taken[g]
            if v >= 0:
                hop_slot[reached - 1] = t - 1
                hop_link[reached - 1] = target[v * np.int64(degree) + inverse[g]] * np.int64(degree) + g
                reached += 1
            if duration[g] > 1:
                v, late[g] = late[g], v
            if v >= 0:
                for h in range(degree):
                    pool[h, size[h]] = v
                    size[h] += 1
    return t


# Cells of a translated tree: each element but the identity is reached in one slot by one generator.
#
# A multinode broadcast that looks the same from every node is one broadcast tree from the identity and all its
# translates. They never meet on a link if no two tree links have both slot and generator in common: of all the nodes'
# trees, link (u, g) is used in slot t by the one whose translation takes the tree's hop (t, g) to u. So the tree is a
# table with a row for each slot and a column for each generator, and every element but the identity stands in one
# cell (t, g), with its parent ``v*g^-1`` in an earlier row.

ATTEMPTS = 64
"""The most fillings that are tried; those after the first shuffle the candidates."""

_WORK = 50_000_000  # cells compared with candidates, over all attempts after the second


def fewest_slots(network: Network) -> int:
    """Return the least number of slots that the distances from a node allow in a Cayley network.

    A node gets at most one message a slot on each of its links, and one from distance r in slot r at the earliest.
    With R_r nodes at distance r or more, the time is at least ``max_r (r - 1 + ceil(R_r / degree))``. Distance 1 gives
    ``ceil((N-1)/degree)`` and the largest distance the diameter.

    `network`: a Cayley network with links of capacity 1.

    Returns: the bound, in slots of one step; 0 for a single node.

    Holds for every schedule of whole messages, invariant or not. O(N degree) time.

    >>> import gossamer
    >>> fewest_slots(gossamer.network("torus:5x5")), fewest_slots(gossamer.network("ring:12"))
    (6, 6)
    """
    if network.node_count == 1:
        return 0
    at_distance = np.bincount(network.distances(0))
    r = np.arange(1, at_distance.size)
    farther = np.cumsum(at_distance[::-1])[::-1][1:]
    return int((r - 1 - (-farther // network.degree)).max())


def fill_cells(network: Network, fewest: int) -> tuple[IntArray, IntArray]:
    """Return a translated tree of as few slots as the search finds.

    `network`: a Cayley network whose generators are closed under inverses. `fewest`: slots that are good enough, such
    as `fewest_slots`: a tree of no more ends the search.

    Returns: `slot`, `link`, int32[N-1]: the tree's hops, sorted by slot; link ``u*degree + g`` reaches element ``u*g``.

    Slot by slot, the generators are matched with unreached elements, by augmenting paths, so that as many cells of
    the slot are filled as can be. Among the 16 latest candidates of a cell the one with the most unreached neighbors
    is taken: it opens the most cells later. If the result has more slots than `fewest`, the candidates are
    shuffled and the best of at most ``ATTEMPTS`` results is returned. O(N degree) for one attempt in practice.

    >>> import gossamer
    >>> slot, link = fill_cells(gossamer.network("hypercube:3"), 3)
    >>> slot.tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    best, found = -1, (np.empty(0, np.int32), np.empty(0, np.int32))
    if network.node_count == 1:
        return found
    for slots, slot, link in fillings(network):
        if best < 0 or slots < best:
            best, found = slots, (slot.copy(), link.copy())
        if best <= fewest:
            break
    return found


def fillings(
    network: Network, duration: npt.NDArray[np.int64] | None = None
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield translated trees, the first without chance and the others by shuffled candidates.

    `network`: a Cayley network of 2 elements or more, whose generators are closed under inverses. `duration`,
    int64[degree]: slots that a hop by each generator takes: 1, or 2 for one that is used in slots 0, 2, 4, ... only.
    Default: 1.

    Yields: `slots`: the number of slots in which a hop begins; `slot`, `link`, int32[N-1]: the hops, sorted by slot;
    overwritten when the next tree is asked for.
    """
    n, degree = network.node_count, network.link_count // network.node_count
    generators = network.generators
    opposite = network.group.inverse(generators)[:, None] == generators  # type: ignore[union-attr]
    inverse = opposite.argmax(axis=1)
    lasts = np.ones(degree, np.int64) if duration is None else duration
    seen, pool = np.empty(n, np.int32), np.empty((degree, n), np.int32)
    slot, link = np.empty((2, n - 1), np.int32)
    for attempt in range(max(2, min(ATTEMPTS, _WORK // network.link_count))):
        yield _fill(network.link_target, inverse, lasts, attempt, seen, pool, slot, link), slot, link


def translated_tree(case: Case) -> Schedule:
    """Broadcast from all nodes at once along translates of one tree that never meet on a link.

    On a Cayley network every node sees the same network around it, so every node may follow the same plan. One tree is
    chosen along which the message of node 0 reaches all others; the message of any other node goes along a copy of it,
    moved there (translated). The tree is written as a table with a row for each slot and a column for each kind of
    link (generator), in which every node but the root has one cell. Two of the moved trees would need a link in the
    same slot only if two nodes stood in the same cell, so none ever does, and a full table means that all links are
    busy all the time.

    Parameters
    ----------
    case : Case
        A multinode broadcast on a Cayley network with N nodes of degree d. With ports ``all`` a slot reaches up to d
        elements, under a port limit exactly one.

    Returns
    -------
    Schedule
        Invariant under the whole group: one packet, N-1 stored hops.

    Notes
    -----
    All ports: ``max_r (r - 1 + ceil(R_r / d))`` slots, with R_r nodes at distance r or more, on every network of the
    spec language that was tried; that is ``ceil((N-1)/d)``, or the diameter where it is larger. No schedule of
    whole messages is faster. It is not a theorem: there are Cayley networks on which no invariant schedule gets there,
    and on a network of your own group the time is only what the search finds. One port: N-1 slots, one element a slot
    in breadth-first order, which is optimal because each node must receive N-1 messages. O(N d) time.

    References
    ----------
    Translations: Dimakopoulos 1996, Lemma 4.7. The thesis leaves the multinode broadcast on Cayley graphs open.

    Examples
    --------
    >>> import gossamer
    >>> s = translated_tree(Case(gossamer.network("star:4"), gossamer.task("allgather")))
    >>> s.completion_time, s.stored_hops, s.hop_count
    (Fraction(8, 1), 23, 552)
    """
    network = case.network
    if not case.limited:
        slot, link = fill_cells(network, case.once(fewest_slots, network))
    else:
        search = network.breadth_first(0)
        link = search.parent_link[search.order[1:]]
        slot = np.arange(link.size, dtype=np.int32)
    return Schedule.of(case, slot, link, np.zeros(slot.size, np.int32), symmetry=Symmetry(network))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, others = case.network, case.network.node_count - 1
    refusal = refuse_irregular(network) or refuse_one_way_links(network) or refuse_buffers(case.rules)
    if refusal is not None:
        return refusal

    def build() -> Schedule:
        return translated_tree(case)

    if case.limited:
        return Offer(build, Fraction(others), optimal=True, orbit=case.network.node_count)
    if network.links_only:
        return Offer(build, orbit=case.network.node_count)
    fewest = case.once(fewest_slots, network)
    optimal = network.uniform_capacity == 1 and (case.whole or fewest * network.degree == others)
    return Offer(build, Fraction(fewest), optimal=optimal, orbit=case.network.node_count)


TRANSLATED_TREE = Algorithm(
    name="translated-tree",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="Cayley networks",
    source="gossamer; translations by Dimakopoulos 1996, Lemma 4.7",
    summary="one broadcast tree whose translates never meet on a link",
)
