"""Multinode broadcast on Cayley networks as an invariant schedule: one broadcast tree and all its translates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, separate
from gossamer.algorithms.multinode_broadcast.cayley.cells import fewest_slots, fill_cells
from gossamer.algorithms.reasons import buffer_reason, cayley_reason, opposite_reason
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule, Symmetry
from gossamer.tasks import MultinodeBroadcast, Task

__all__ = ["MULTINODE_BROADCAST_CAYLEY", "TRANSLATED_TREE", "translated_tree"]


def translated_tree(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Broadcast from all nodes at once along translates of one tree that never meet on a link.

    Parameters
    ----------
    network : Network
        A Cayley network with N nodes of degree d.
    task : MultinodeBroadcast
    model : Model
        With ports ``all`` a slot reaches up to d elements, with one port exactly one.
    seed : int
        Ignored: the tree is the same every time.

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
    >>> s = translated_tree(gossamer.network("star:4"), gossamer.task("allgather"), Model())
    >>> s.completion_time, s.stored_hops, s.hop_count
    (Fraction(8, 1), 23, 552)
    """
    if model.ports == "all":
        slot, link = fill_cells(network)
    else:
        search = network.breadth_first(0)
        link = search.parent_link[search.order[1:]]
        slot = np.arange(link.size, dtype=np.int32)
    return Schedule(network, task, model, slot, link, np.zeros(slot.size, np.int32), symmetry=Symmetry(network))


def _reason(network: Network, task: Task, model: Model) -> str | None:
    return cayley_reason(network) or opposite_reason(network) or buffer_reason(model)


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    if model.ports != "all":
        return Fraction(network.node_count - 1)
    return None if network.links_only else Fraction(fewest_slots(network))


def _optimal(network: Network, task: Task, model: Model) -> bool:
    if model.ports != "all":
        return True
    if network.links_only or network.uniform_capacity != 1:
        return False
    return not model.split or fewest_slots(network) * network.degree == network.node_count - 1


TRANSLATED_TREE = separate(
    name="translated-tree",
    task=MultinodeBroadcast,
    builder=translated_tree,
    reason=_reason,
    claim=_claim,
    networks="Cayley networks",
    source="gossamer; translations by Dimakopoulos 1996, Lemma 4.7",
    summary="one broadcast tree whose translates never meet on a link",
    optimal=_optimal,
)

MULTINODE_BROADCAST_CAYLEY: tuple[Algorithm, ...] = (TRANSLATED_TREE,)
"""The algorithms for multinode broadcast on Cayley networks."""
