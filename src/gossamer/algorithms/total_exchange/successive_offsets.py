"""One-port total exchange on Cayley networks: all messages of one offset at a time, each on a shortest path."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_irregular
from gossamer.graphs.trees import path_hops, shortest_path_tree
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

__all__ = ["SUCCESSIVE_OFFSETS", "offset_by_offset", "refuse_status", "status"]


def offset_by_offset(case: Case) -> Schedule:
    """Exchange one offset y after another: every node v sends its message for ``v*y`` on a shortest path.

    Parameters
    ----------
    case : Case
        A total exchange on a Cayley network with N nodes, with any ports; in every slot each node sends one packet and
        receives one.

    Returns
    -------
    Schedule
        Invariant under the whole group: N-1 stored packets, one stored hop a slot.

    Notes
    -----
    Takes as many slots as the status of a node, the sum of its distances to all others. That is optimal with one port:
    every message needs its distance in hops and a node makes one hop a slot. Offsets go in the order of element
    numbers, and the generators of an offset are those of its path in the breadth-first tree of the identity.
    A node never holds more than one packet in transit. Time O(status + N degree).

    References
    ----------
    Dimakopoulos 1996, Theorem 4.11: any node-invariant algorithm that follows shortest paths takes the status.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("star:4"), gossamer.task("alltoall"), gossamer.Rules(ports="one"))
    >>> offset_by_offset(case).completion_time
    Fraction(62, 1)
    """
    tree = shortest_path_tree(case.network, 0)
    depth = tree.depth[1:].astype(np.int64)
    slot, link, packet = path_hops(tree, tree.destinations, np.cumsum(depth) - depth)
    return Schedule.of(case, slot, link, packet, symmetry=Symmetry(case.network))


def status(network: Network) -> int:
    """Return the status of node 0, the sum of its distances to all others.

    >>> import gossamer
    >>> status(gossamer.network("star:4"))
    62
    """
    return int(network.distances(0).sum(dtype=np.int64))


def refuse_status(case: Case) -> Refusal | None:
    """Refuse for a schedule of as many slots as the status, the same at every node, or not."""
    refusal = case.once(refuse_irregular, case.network)
    if refusal is not None:
        return refusal
    slots = case.once(status, case.network)
    if slots <= 2**31 - 2:
        return None
    return Refusal(f"would take {slots} slots, and a schedule has at most {2**31 - 2}")


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    refusal = refuse_status(case)
    if refusal is not None:
        return refusal
    own, rules = case.network.node_count - 1, case.rules
    if rules.buffer is not None and rules.buffer_counts == "all" and rules.buffer < own:
        return Refusal(f"needs room for the {own} messages of every node")
    return Offer(
        lambda: offset_by_offset(case),
        Fraction(case.once(status, case.network)),
        optimal=case.limited,
        orbit=case.network.node_count,
    )


SUCCESSIVE_OFFSETS = Algorithm(
    name="successive-offsets",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="Cayley networks",
    source="Dimakopoulos 1996, Theorem 4.11",
    summary="the messages of one offset after another on shortest paths, one hop a slot at every node",
)
