"""The bound for scatter and gather on small networks, exact with all ports: a cut of links and slots."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.cases.demands import HubDemand
from gossamer.cases.metric import at_least
from gossamer.networks.network import IntArray
from gossamer.writing import quantity

__all__ = ["LARGEST", "TimeCut", "cut_over_time", "cut_over_time_bounds"]

LARGEST = 30_000
"""Links times slots up to which the bound is worked out."""


class TimeCut(NamedTuple):
    """Messages that must get across, and fewer packets that can.

    `since` int64[N] is the slot from which on a node lies on the side of the hub; nodes that never do have the number
    of slots plus 1. A link (u, v) can carry packets across in the slots from ``since[u]`` to ``since[v] - 2``.
    """

    messages: int
    room: int
    since: IntArray


def cut_over_time(
    source: IntArray, target: IntArray, capacity: IntArray, nodes: int, terminals: int, hub: int, slots: int
) -> TimeCut | None:
    """Return a cut that proves that a hub cannot send each terminal its message within so many slots, if there is one.

    Parameters
    ----------
    source, target, capacity : int[L]
        The links.
    nodes, terminals, hub, slots : int

    Returns
    -------
    TimeCut or None
        None if the messages can all be delivered in time.

    Notes
    -----
    A minimum cut in the network of states (node, slot), in which packets may wait.

    References
    ----------
    L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:4")
    >>> cut = cut_over_time(net.link_source, net.link_target, net.link_capacity, 4, 4, 0, 2)
    >>> cut.messages, cut.room, cut.since.tolist()
    (3, 2, [0, 3, 3, 3])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    time = np.arange(slots)[:, None] * nodes
    state = np.arange(nodes)
    others = np.delete(np.arange(terminals), hub)
    end, many = (slots + 1) * nodes, terminals
    tail = np.concatenate([(time + source).ravel(), (time + state).ravel(), slots * nodes + others])
    head = np.concatenate(
        [(time + nodes + target).ravel(), (time + nodes + state).ravel(), np.full(others.size, end)]
    )  # fmt: skip
    room = np.concatenate(
        [np.tile(np.minimum(capacity, many), slots), np.full(slots * nodes, many), np.ones(others.size)]
    )  # fmt: skip
    graph = coo_array((room.astype(np.int32), (tail, head)), shape=(end + 1, end + 1)).tocsr()
    found = maximum_flow(graph, hub, end)
    if found.flow_value == others.size:
        return None
    residual = graph - found.flow
    residual.eliminate_zeros()
    inside = np.zeros(end + 1, bool)
    inside[breadth_first_order(residual, hub, return_predecessors=False)] = True
    states = inside[:-1].reshape(slots + 1, nodes)
    since = np.where(states.any(axis=0), states.argmax(axis=0), slots + 1)
    messages = int((since[others] > slots).sum())
    across = np.maximum(np.minimum(since[target] - 1, slots) - since[source], 0)
    return TimeCut(messages, int((across * capacity).sum()), since)


def cut_over_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for a scatter or gather on a small network, the least time that a flow over time allows.

    Exact with all ports, and a bound with fewer. Only if it is more than what the distances and the links of the hub
    ask for.
    """
    demand = case.demands[0]
    if not isinstance(demand, HubDemand) or len(case.demands) > 1 or demand.shared or demand.hubs.size > 1:
        return
    if not case.whole:
        return
    net, hub = case.network, int(demand.hubs[0])
    source, target = (net.link_source, net.link_target) if demand.outward else (net.link_target, net.link_source)
    far = at_least(case.metric.profile(hub, not demand.outward))
    width = int(net.link_capacity[source == hub].sum())
    slots = int((np.arange(far.size - 1) - (-far[1:] // width)).max(initial=0))
    cut: TimeCut | None = None
    while slots * net.link_count <= LARGEST:
        following = cut_over_time(
            source, target, net.link_capacity, net.node_count, net.terminal_count, hub, slots
        )  # fmt: skip
        if following is None:
            break
        cut, slots = following, slots + 1
    if cut is not None:
        owner = f"{'of' if demand.outward else 'for'} node {case.name(hub)}"
        text = (
            f"{quantity(cut.messages, 'message')} {owner} must cross a cut of links and slots that lets "
            f"{quantity(cut.room, 'packet')} through in {quantity(slots - 1, 'step')}"
        )
        yield Bound("cut over time", Fraction(slots), text, "cut", "Ford and Fulkerson 1958")
