"""Uneven exchanges in milliseconds: shortest ways that share the loads, then list scheduling.

Loads of experts change every few hundred milliseconds, so that a schedule for them must be there at once. Most of such
traffic is held up by a few nodes or servers; shortest ways that share the links there evenly are as good as any.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.demands import demand_of
from gossamer.algorithms.any_network.priced_routing import timed
from gossamer.graphs.forests import Forest
from gossamer.graphs.precedence import Roads, scheduled
from gossamer.graphs.shortest_routes import short_ways
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, COPY, DemandTable, Grouped, UnevenExchange
from gossamer.schedules import Schedule

__all__ = ["SHARED_SHORTEST_WAYS", "exchanged_at_once", "propose_at_once"]

_SLACK = 2
"""A schedule of so many slots more than the largest load is not tried again."""

LARGEST = 20_000_000
"""Targets times nodes up to which all distances are kept."""


def exchanged_at_once(case: Case) -> Schedule:
    """Build a schedule of shortest ways, each packet on the least loaded of a few.

    Parameters
    ----------
    case : Case
        A task whose packets are moved, on a network whose switches store.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    O(T L log N) for the distances to T targets, and O(H log H) for H hops: for 256 nodes and 60,000 hops some tens of
    milliseconds.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoallv", counts=[[0, 0, 4, 0], *[[0] * 4] * 3]))
    >>> exchanged_at_once(case).completion_time
    Fraction(3, 1)
    """
    demand, roads = demand_of(case), Roads.of(case.network, case.rules)
    targets, row = np.unique(demand.target, return_inverse=True)
    away = np.empty((targets.size, case.network.node_count), np.int32)
    back = case.links.turned
    for i, v in enumerate(targets.tolist()):
        away[i] = np.minimum(back.travel(np.array([v])).usable, np.iinfo(np.int32).max)
    forest, load = short_ways(roads, demand.origin, row.astype(np.int32), away, case.seed)
    graph = forest.graph()
    orders = [-_bottleneck(forest, roads), np.zeros(graph.link.size)]  # then what has furthest to go
    found = scheduled(graph, roads, least=int(load) + _SLACK, orders=orders, rounds=1, seed=case.seed)
    return timed(case, found, graph.link, graph.packet)


def _bottleneck(forest: Forest, roads: Roads) -> npt.NDArray[np.float64]:
    """Return for each hop the largest load of its link and those after it: who must get through there goes first."""
    taken = np.bincount(forest.link, minlength=roads.source.size) * roads.occupancy / roads.capacity
    step = float(taken.max(initial=0.0)) + 1.0
    back = taken[forest.link][::-1] + step * np.cumsum((forest.parent < 0)[::-1])  # each way above those before it
    back -= np.where((forest.parent < 0)[::-1], step, 0.0)
    found: npt.NDArray[np.float64] = np.maximum.accumulate(back)[::-1] % step
    return found


def propose_at_once(case: Case) -> Offer[Schedule] | Refusal:
    """Offer shortest ways for what is moved."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not case.whole or not bool(case.links.stores.all()):
        return Refusal("sends whole messages through nodes that store them")
    if case.network.terminal_count * case.network.node_count > LARGEST:
        return Refusal(f"keeps all distances; at most {LARGEST:,} of them")
    kinds = case.messages.discipline
    if case.messages.waits or bool(((kinds == COMBINE) | (kinds == COPY)).any()):
        return Refusal("is for packets that are moved")
    return Offer(lambda: exchanged_at_once(case), effort="closed form", least=Fraction(0))


# The algorithm of `gossamer.algorithms.any_network.alltoallv`, for uneven exchanges that cannot wait for a search.

SHARED_SHORTEST_WAYS = Algorithm(
    name="shared-shortest-ways",
    tasks=(UnevenExchange, DemandTable, Grouped),
    propose=propose_at_once,
    networks="any with switches that store, in which the targets can be reached",
    source="gossamer; no promised time",
    summary="shortest ways that share the loads; what must get through a bottleneck is sent first",
    passes_on=True,
    timed=True,
)
