"""Allreduce on any network with its two halves overlapped: each result is sent out as soon as it is complete.

Contributions are combined on the way along trees that lead to the roots, results go out along trees that lead away
from them; all trees are grown together by the prices of `gossamer.graphs.priced_trees`. Where the two halves follow
each other, as in a reduce-scatter and then an allgather, links stand idle that only one of them uses: most of a tree's
links.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.dependent_collectives import grown_halves, halves_of, joined
from gossamer.algorithms.any_network.packet_demands import demand_of, least_slots
from gossamer.algorithms.any_network.priced_routing import PRICED_TREES, timed
from gossamer.algorithms.any_network.repair import rescheduled
from gossamer.algorithms.derived import dual
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, StartTimes, heights, scheduled, shaken
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Allreduce, Chunked, MultinodeBroadcast, ReduceScatter, Task
from gossamer.schedules import Schedule, then

_WORK, _ROUNDS = 150_000_000, 16
"""Links looked at, and rounds in which trees are grown, up to which several costs of delay are tried."""


def overlapped_allreduce(case: Case) -> Schedule:
    """Build an allreduce in which results go out while other contributions still come in.

    An allreduce is a reduce-scatter, in which the sum of each block comes together at a root, and an allgather, in
    which it goes out again. Roots that are done early need not wait for the others: as soon as a sum is complete it
    leaves again, over links that the other half leaves free.

    Parameters
    ----------
    case : Case
        An allreduce on any strongly connected network, in any number of packets; any ports, links and switches.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    The trees are grown as in `gossamer.algorithms.any_network.priced_routing`, O(P (L + N log N)) a round.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> overlapped_allreduce(Case(gossamer.network("array:7"), gossamer.task("allreduce"))).completion_time
    Fraction(12, 1)
    """
    roads = LinkResources.of(case.network, case.rules)
    # Step 1: each block has a root; a tree leads to it, another one from it
    outward = halves_of(case)[-1].demand
    # and a contribution before the first result
    least = max(least_slots(outward, roads, moved=False) + 1, ceil(case.floor))
    best: _Built | None = None
    effort = 2 * max(1, outward.origin.size) * max(1, roads.source.size)
    costs = (0.3, 0.03, 2.0)
    tries = costs if effort * _ROUNDS < _WORK else costs[:1]
    # Step 2: grow trees of both directions at common prices; a result waits for its last contribution only
    for _, found in case.tries.in_order(_built, ((case, depth_cost, least) for depth_cost in tries)):
        if best is None or found.starts.slots < best.starts.slots:
            best = found
        if best.starts.slots <= least:
            break
    assert best is not None
    # Step 3: try other orders of the hops as long as that makes the schedule shorter
    starts = shaken(best.graph, roads, best.starts, least=least, seed=case.seed)
    return timed(case, starts, best.graph.link, best.packet)


class _Built(NamedTuple):
    """The starts of the hops of both halves, the hops with the result that each is for, and their packets."""

    starts: StartTimes
    graph: HopGraph
    packet: IntArray


def _built(case: Case, depth_cost: float, least: int) -> _Built:
    """Return the schedule of trees in which a slot of delay costs so much."""
    roads = LinkResources.of(case.network, case.rules)
    halves = halves_of(case)
    results = halves[-1].demand.origin
    forests = grown_halves(case, roads, halves, depth_cost)
    graph, packet = joined(case, forests, whole=True)
    graph = graph._replace(packet=packet % max(results.size, 1))
    orders = _orders(case, graph, roads, forests[True].hops, results)
    starts = scheduled(graph, roads, least=least, rounds=4 if graph.link.size < 100_000 else 1, orders=orders)
    return _Built(starts, graph, packet)


def _orders(
    case: Case, graph: HopGraph, roads: LinkResources, reductions: int, origin: IntArray
) -> list[npt.NDArray[np.float64]]:
    """Return orders in which roots are served in turn, their results some turns later than contributions for them."""
    draw, roots = np.random.default_rng(case.seed), origin.size
    out = (np.arange(graph.link.size) >= reductions).astype(np.float64)
    height, _ = heights(graph, roads)
    way = float(height[reductions:].max(initial=0))  # slots from a root to all terminals
    turns = [np.arange(roots)] + [draw.permutation(roots) for _ in range(3 if graph.link.size < 100_000 else 1)]
    turns.append(np.argsort(np.argsort(_apart(case.network)[origin], kind="stable"), kind="stable"))
    waits = (roots, 0.0, way, 2 * way)
    return [-height.astype(np.float64)] + [turn[graph.packet] + wait * out for turn in turns for wait in waits]


def _apart(network: Network) -> npt.NDArray[np.int64]:
    """Return a place for each node, int64[N]: those that follow each other lie in different branches.

    Of a breadth-first tree from the middle. A link then brings results out of its branch while contributions for roots
    outside pass it in the slots between. A node comes after those below it.
    """
    far = int(network.breadth_first(0).order[-1])
    search = network.breadth_first(far)
    middle = int(search.order[-1])
    for _ in range(int(search.distance[middle]) // 2):
        middle = int(network.link_source[search.parent_link[middle]])
    search = network.breadth_first(middle)
    place = np.zeros(network.node_count)  # in its branch, as a share of it
    below: list[list[int]] = [[] for _ in range(network.node_count)]
    for v in search.order[::-1].tolist():
        below[v].sort(key=place.__getitem__)
        below[v].append(v)
        place[below[v]] = (np.arange(len(below[v])) + 0.5) / len(below[v])
        if v != middle:
            below[int(network.link_source[search.parent_link[v]])] += below[v]
            below[v] = []
    return np.argsort(below[middle])


_MOST_PACKETS = 32
"""Packets of a message, beyond which halves that overlap gain little."""


def propose_allreduce(case: Case) -> Offer[Schedule] | Refusal:
    """Offer an allreduce."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if case.messages.after is None or case.messages.targets is not None:
        return Refusal("is for allreduces among all terminals")
    if isinstance(case.task, Chunked) and case.task.packets > _MOST_PACKETS:
        return Refusal(f"leaves messages of more than {_MOST_PACKETS} packets to packed-trees")
    return Offer(lambda: overlapped_allreduce(case), effort="search", hop_bytes=350, hop_seconds=7e-5)


OVERLAPPED_TREES = Algorithm(
    name="pipelined-trees",
    tasks=(Allreduce, Chunked),
    propose=propose_allreduce,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="combines along trees that lead to the roots and sends out each result at once along trees from them",
    passes_on=True,
    timed=True,
)


# A reduce-scatter and an allgather, each the best of those for any network, moved into each other.

_GATHER = (GREEDY_FLOODING, PRICED_TREES)
_REDUCE = tuple(dual(algorithm, ReduceScatter) for algorithm in _GATHER)


def overlapped_halves(case: Case) -> Schedule:
    """Build an allreduce of the shortest halves that flooding and trees find, then let them overlap.

    The shortest reduce-scatter and the shortest allgather that are known are put one after the other. Then every hop
    of the second moves forward to the first slot in which what it sends is complete and its link is free.

    Parameters
    ----------
    case : Case
        An allreduce among all terminals of unsegmented messages, on any network that one of the two covers.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    Links that are busy all the time in both halves gain nothing by overlapping; there the halves are as good as they
    come. Elsewhere hops of the second half fill the slots that the first leaves free.

    Examples
    --------
    >>> import gossamer
    >>> overlapped_halves(Case(gossamer.network("array:3x3"), gossamer.task("allreduce"))).completion_time
    Fraction(8, 1)
    """
    # Step 1: the shortest reduce-scatter of those that flooding and trees find, and the shortest allgather
    reduce = _shortest(case, ReduceScatter(), _REDUCE)
    gather = _shortest(case, MultinodeBroadcast(), _GATHER)
    # Step 2: one after the other
    found = then(reduce, gather)
    # Step 3: every hop as soon as it can; the shorter one of the two schedules is kept
    again = rescheduled(found, case)
    return found if again is None or found.completion_time <= again.completion_time else again


def _shortest(case: Case, task: Task, algorithms: tuple[Algorithm, ...]) -> Schedule:
    """Return the shortest schedule of a half; the later ones are not built if the first cannot be beaten."""
    half = case.related(task=task)
    forward = half if task.name == "multinode-broadcast" else half.dual
    least = least_slots(demand_of(forward), LinkResources.of(forward.network, forward.rules), moved=False)
    best: Schedule | None = None
    for algorithm in algorithms:
        offers = algorithm.offers(half)
        if isinstance(offers, Refusal) or (best is not None and best.completion_time <= least):
            continue
        found = offers[0].build()
        if best is None or found.completion_time < best.completion_time:
            best = found
    assert best is not None
    return best


def _propose_halves(case: Case) -> Offer[Schedule] | Refusal:
    if not case.whole:
        return Refusal("sends unsegmented messages")
    for task, algorithms in ((ReduceScatter(), _REDUCE), (MultinodeBroadcast(), _GATHER)):
        refusals = [algorithm.offers(case.related(task=task)) for algorithm in algorithms]
        if all(isinstance(refusal, Refusal) for refusal in refusals):
            assert isinstance(refusals[-1], Refusal)
            return refusals[-1]
    return Offer(lambda: overlapped_halves(case), effort="search", hop_bytes=250, hop_seconds=6e-6)


OVERLAPPED_HALVES = Algorithm(
    name="pipelined-reduce-scatter-allgather",
    tasks=(Allreduce,),
    propose=_propose_halves,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="the shortest reduce-scatter and allgather of flooding and priced trees, every hop as soon as it can",
    passes_on=True,
    timed=True,
)
