"""Multinode broadcast on Cayley networks as an invariant schedule: one broadcast tree and all its translates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.multinode_broadcast.cayley.cells import fewest_slots, fill_cells
from gossamer.algorithms.preconditions import refuse_buffers, refuse_irregular, refuse_one_way_links
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule, Symmetry

__all__ = ["MULTINODE_BROADCAST_CAYLEY", "TRANSLATED_TREE", "translated_tree"]


def translated_tree(case: Case) -> Schedule:
    """Broadcast from all nodes at once along translates of one tree that never meet on a link.

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

MULTINODE_BROADCAST_CAYLEY: tuple[Algorithm, ...] = (TRANSLATED_TREE,)
"""The algorithms for multinode broadcast on Cayley networks."""
