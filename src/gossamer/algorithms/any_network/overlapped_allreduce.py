"""Allreduce on any network with its two halves overlapped: each result is sent out as soon as it is complete.

Contributions are combined on the way along trees that lead to the roots, results go out along trees that lead away from
them; all trees are grown together by the prices of `gossamer.graphs.forests`. Where the two halves follow each other,
as in a reduce-scatter and then an allgather, links stand idle that only one of them uses: most of a tree's links.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.demands import demand_of, least_slots
from gossamer.algorithms.any_network.priced_routing import branching, timed
from gossamer.graphs.forests import Demand, Forest, Growth
from gossamer.graphs.precedence import HopGraph, Roads, Starts, heights, scheduled, shaken
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, Allreduce, Chunked, Messages
from gossamer.schedules import Schedule

__all__ = ["OVERLAPPED_TREES", "overlapped_allreduce", "propose_allreduce"]

_WORK = 150_000_000
_ROUNDS = 16
_BLUNT, _STEEP = 4.0, 40.0


def overlapped_allreduce(case: Case) -> Schedule:
    """Build an allreduce in which results go out while other contributions still come in.

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
    roads = Roads.of(case.network, case.rules)
    outward = _halves(case)[1]
    # and a contribution before the first result
    least = max(least_slots(outward, roads, moved=False) + 1, ceil(case.floor))
    best: _Built | None = None
    effort = 2 * max(1, outward.origin.size) * max(1, roads.source.size)
    costs = (0.3, 0.03, 2.0)
    tries = costs if effort * _ROUNDS < _WORK else costs[:1]
    for _, found in case.tries.in_order(_built, ((case, depth_cost, least) for depth_cost in tries)):
        if best is None or found.starts.slots < best.starts.slots:
            best = found
        if best.starts.slots <= least:
            break
    assert best is not None
    starts, graph, reductions = best
    starts = shaken(graph, roads, starts, least=least, seed=case.seed)
    packet = graph.packet + np.int32(outward.origin.size) * (np.arange(graph.link.size) >= reductions)
    return timed(case, starts, graph.link, packet.astype(np.int32))


class _Built(NamedTuple):
    """The starts of the hops of both halves, of which so many reduce."""

    starts: Starts
    graph: HopGraph
    reductions: int


def _built(case: Case, depth_cost: float, least: int) -> _Built:
    """Return the schedule of trees in which a slot of delay costs so much."""
    roads = Roads.of(case.network, case.rules)
    inward, outward = _halves(case)
    come, go = _grown(case, roads, inward, outward, depth_cost)
    graph = _graph(come, go, _message_of(case))
    orders = _orders(case, graph, roads, come.hops, outward.origin)
    starts = scheduled(graph, roads, least=least, rounds=4 if graph.link.size < 100_000 else 1, orders=orders)
    return _Built(starts, graph, come.hops)


def _halves(case: Case) -> tuple[Demand, Demand]:
    """Return the reductions, taken backwards in time, and the broadcasts of their results."""
    return tuple(
        demand_of(case, _rows(case.messages, (case.messages.discipline == COMBINE) == combined))
        for combined in (True, False)
    )  # type: ignore[return-value]


def _rows(messages: Messages, kept: np.ndarray) -> Messages:
    sizes = None if messages.sizes is None else messages.sizes[kept]
    return Messages(messages.ids[kept], messages.origin[kept], messages.discipline[kept], sizes=sizes)


def _grown(case: Case, roads: Roads, inward: Demand, outward: Demand, depth_cost: float) -> tuple[Forest, Forest]:
    """Return trees to the roots and trees from them, of least congestion."""
    growth, draw, packets = Growth(roads), np.random.default_rng(case.seed), outward.origin.size
    rounds = max(2, min(_ROUNDS, _WORK // max(1, 2 * packets * roads.source.size)))
    growth.seldom(2 * rounds * packets)
    combining = branching(case.related(rules=case.rules.dual.on(case.network)))
    best: tuple[Forest, Forest] | None = None
    come: Forest | None = None
    go: Forest | None = None
    lowest = np.inf
    for power in np.geomspace(_BLUNT, _STEEP, rounds):
        for half in (inward, outward):
            trees = growth.grow(
                half, combining if half is inward else branching(case), come if half is inward else go,
                power=float(power), depth_cost=depth_cost, inward=half is inward, visit=draw.permutation(packets),
            )  # fmt: skip
            come, go = (trees, go) if half is inward else (come, trees)
        assert come is not None
        assert go is not None
        if growth.congestion < lowest - 1e-9:
            best, lowest = (come, go), growth.congestion
    assert best is not None
    return best


def _message_of(case: Case) -> npt.NDArray[np.int64]:
    """Return the message, as it is counted among the results, of each packet."""
    first = case.messages.first_packet()
    count = case.messages.count // 2
    return np.repeat(np.arange(count), np.diff(first[: count + 1]))


def _graph(come: Forest, go: Forest, message: npt.NDArray[np.int64]) -> HopGraph:
    """Return the hops of both halves: those that lead to a root in opposite order, and then those that lead from it."""
    inward, broadcasts = come.graph().turned_round(), go.graph()
    packet, before = inward.packet, inward.link.size
    # the hops from a root wait for all hops to it, those of all packets of the message
    last = np.flatnonzero(np.diff(inward.first) == 0)
    begin = np.flatnonzero(broadcasts.need == 0)
    waits = _pairs(message[packet[last]], last, message[broadcasts.packet[begin]], begin + before)
    source = np.concatenate([_sources(inward), _sources(broadcasts) + before, waits[0]])
    following = np.concatenate([inward.following, broadcasts.following + before, waits[1]])
    order = np.argsort(source, kind="stable")
    total = before + broadcasts.link.size
    first = np.zeros(total + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=total), out=first[1:])
    link = np.concatenate([inward.link, broadcasts.link])
    numbers = np.concatenate([packet, broadcasts.packet]).astype(np.int32)
    return HopGraph(link, numbers, first, following[order].astype(np.int32))


def _orders(
    case: Case, graph: HopGraph, roads: Roads, reductions: int, origin: IntArray
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


def _sources(graph: HopGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.link.size), np.diff(graph.first))


def _pairs(left: np.ndarray, before: np.ndarray, right: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of a hop of `before` and one of `after` of the same message."""
    order = np.argsort(left, kind="stable")
    count = np.bincount(left, minlength=int(right.max(initial=-1)) + 1)
    start = np.concatenate([[0], np.cumsum(count)])
    size = count[right]
    first = np.repeat(start[right], size)
    place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + first
    return before[order][place], np.repeat(after, size)


def propose_allreduce(case: Case) -> Offer[Schedule] | Refusal:
    """Offer an allreduce."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if case.messages.after is None or case.messages.targets is not None:
        return Refusal("is for allreduces among all terminals")
    return Offer(lambda: overlapped_allreduce(case), effort="search", hop_bytes=350, hop_seconds=7e-5)


OVERLAPPED_TREES = Algorithm(
    name="overlapped-trees",
    tasks=(Allreduce, Chunked),
    propose=propose_allreduce,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="combines along trees that lead to the roots and sends out each result at once along trees from them",
    passes_on=True,
    timed=True,
)
