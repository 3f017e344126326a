"""Messages of many packets: the trees of a few packets of each message, used again and again.

A *generation* is a few packets of every message with their trees or paths. The busiest link needs so many slots for
it, the *period*; later generations follow by the same trees, a period apart. The time is then as many periods as there
are generations, and what one generation takes by itself: as near to what links can carry as one generation is, at the
cost of finding the trees of one generation.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import forests, refusal, timed
from gossamer.graphs.precedence_scheduling import LinkResources, StartTimes, heights, scheduled
from gossamer.graphs.priced_trees import Forest
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, MOVE, Chunked, Grouped, packets_of
from gossamer.schedules import Schedule

__all__ = ["REPEATED_TREES", "EvenTrees", "even_generation", "even_trees", "repeated_trees"]

_FEWEST = 16
"""Packets a message from which on trees are repeated."""
_SIZES = (*range(1, 17), 18, 20, 21, 24, 28, 30, 32, 36, 40, 48, 56, 60, 64, 80, 96, 128, 192, 256)
"""Packets of a message in a generation that are tried."""
_WORK = 1_000_000
"""Packets times links, after which no larger generation is tried."""
_CLOSE = 1.002
"""Times the bound: so near to it, no other generation is tried."""
_DEPTHS = (0.0, 0.03, 0.3)
"""What a slot of delay costs beside a slot of a most loaded link."""
_USUAL, _OTHERS, _VARIED = 0.01, (0.0, 0.003, 0.03, 0.1), 4
"""The same for `even_trees`: first, and others for those that promise most, so many."""
_SCHEDULED = 3
"""Generations of the least promise that are scheduled."""


class _Generation(NamedTuple):
    """Trees of so many packets of each message, and the slots that the busiest link needs for them, and all about."""

    packets: int
    trees: Forest
    period: float
    promise: float


def repeated_trees(case: Case) -> Schedule:
    """Build a schedule of generations that use the same trees, one after the other.

    Parameters
    ----------
    case : Case
        A task of 16 packets a message or more, which are copied or moved.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    Trees of 1, 2, 3, ... packets a message are grown by prices, until what all generations take at the busiest link,
    and the longest way, are together near the bound, or the work is spent. Then O(H log H) time for H hops, which are
    scheduled in the order of generations. No hop waits for one of an earlier generation but for its link, so that a
    schedule with the period of the busiest link exists (modulo scheduling without recurrences: Rau 1994).

    References
    ----------
    Gossamer; Rau 1994 for schedules that repeat.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), gossamer.task("allgather", packets=96))
    >>> repeated_trees(case).completion_time  # 11 packets over 4 links, 96 times
    Fraction(264, 1)
    """
    roads = LinkResources.of(case.network, case.rules)
    best: StartTimes | None = None
    for each in _generations(case, roads):
        graph = _tiled(each, case).graph()
        number = graph.packet % packets_of(case.task)
        turn = number // each.packets
        alone = scheduled(each.trees.graph(), roads).start[_place(each, case)]
        orders = [(turn * each.period + alone).astype(np.float64), number.astype(np.float64)]
        starts = scheduled(graph, roads, orders=orders, rounds=1)
        if best is None or starts.slots < best.slots:
            best, link, packet = starts, graph.link, graph.packet
        if best.slots <= case.floor * _CLOSE:
            break
    assert best is not None
    return timed(case, best, link, packet)


def _generations(case: Case, roads: LinkResources) -> list[_Generation]:
    """Return the generations that promise most, the best first."""
    work, found = 0, list[_Generation]()
    for size in _SIZES:
        if 2 * size > packets_of(case.task) or work > _WORK:
            break
        for depth_cost in _DEPTHS:
            found.append(_grown(case, roads, size, depth_cost))
            work += size * case.messages.count * case.network.link_count
        found.sort(key=lambda each: each.promise)
        if found[0].promise <= case.floor * _CLOSE:
            break
    return found[:_SCHEDULED]


def _grown(case: Case, roads: LinkResources, packets: int, depth_cost: float) -> _Generation:
    """Return trees for so many packets of each message."""
    messages = replace(case.messages, sizes=np.full(case.messages.count, packets, np.int64))
    moved = bool((messages.discipline == MOVE).all())
    times = packets_of(case.task) / packets
    least = ceil(case.floor / times)
    *_, (trees, period) = forests(case, demand_of(case, messages), moved, depth_cost, least)
    longest = int(heights(trees.graph(), roads)[0].max(initial=0))
    return _Generation(packets, trees, period, times * period + longest)


class EvenTrees(NamedTuple):
    """Trees to be repeated: packets of a message, what depth costs, and the slots that all packets promise to take."""

    packets: int
    depth_cost: float
    promise: float


def even_trees(case: Case) -> list[EvenTrees]:
    """Return for which few packets a message there are trees that use the busiest link little and are not deep.

    Parameters
    ----------
    case : Case
        A task whose packets are copied, moved, or combined, of many packets a message; with others there are none.

    Returns
    -------
    list of EvenTrees
        Promising what the busiest link takes for all packets, and the latencies of the longest way; the least first.

    Notes
    -----
    Trees of 1, 2, 3, ... packets are grown by prices, as in `repeated_trees`, at several costs of depth, for some
    seconds at the most.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("torus:3x4"), gossamer.task("allgather", packets=64))
    >>> even_trees(case)[0].packets, even_trees(case)[0].promise  # 11 packets over 4 links
    (4, 176.0)
    """
    asked = _forwards(case)
    if asked is None:
        return []
    roads, work = LinkResources.of(asked.network, asked.rules), 0
    waits = roads._replace(occupancy=np.zeros_like(roads.occupancy))
    found: list[EvenTrees] = []

    def grow(packets: int, depth_cost: float) -> None:
        nonlocal work
        each = _grown(asked, roads, packets, depth_cost)
        longest = int(heights(each.trees.graph(), waits)[0].max(initial=0))
        found.append(EvenTrees(packets, depth_cost, packets_of(asked.task) / packets * each.period + longest))
        work += packets * asked.messages.count * asked.network.link_count

    for packets in _SIZES:
        if work > _WORK or packets > packets_of(asked.task):
            break
        grow(packets, _USUAL)
    found.sort(key=lambda each: each.promise)
    for packets in [each.packets for each in found[:_VARIED]]:
        for depth_cost in _OTHERS:
            if work <= 2 * _WORK:
                grow(packets, depth_cost)
    return sorted(found, key=lambda each: (each.promise, each.packets))


def even_generation(case: Case, depth_cost: float) -> Schedule:
    """Return the schedule of a case with few packets a message along the trees of `even_trees`, to be repeated.

    Alone it may take longer than others.
    """
    asked = _forwards(case)
    assert asked is not None
    roads = LinkResources.of(asked.network, asked.rules)
    graph = _grown(asked, roads, packets_of(asked.task), depth_cost).trees.graph()
    found = timed(asked, scheduled(graph, roads), graph.link, graph.packet)
    return found if asked is case else found.reverse()


def _forwards(case: Case) -> Case | None:
    """Return the case, or its dual if contributions are combined; None if there are no trees or paths for it."""
    kinds = case.messages.discipline
    if kinds.size and bool((kinds == COMBINE).all()):
        case = case.dual
        kinds = case.messages.discipline
    if not kinds.size or refusal(case, moved=bool((kinds == MOVE).all())) is not None:
        return None
    return case


def _like(each: _Generation, case: Case) -> npt.NDArray[np.int64]:
    """Return the packet of a generation whose tree each packet of the case has."""
    message, number = np.divmod(np.arange(case.messages.count * packets_of(case.task)), packets_of(case.task))
    return np.asarray(message * each.packets + number % each.packets)


def _tiled(each: _Generation, case: Case) -> Forest:
    """Return the trees of all packets."""
    like, trees = _like(each, case), each.trees
    return Forest(trees.begin[like], trees.end[like], trees.link, trees.parent)


def _place(each: _Generation, case: Case) -> npt.NDArray[np.int64]:
    """Return the hop of the generation that each hop of `_tiled` repeats."""
    like, trees = _like(each, case), each.trees
    size = (trees.end - trees.begin)[like]
    first = np.cumsum(size) - size
    before = np.cumsum(trees.end - trees.begin) - (trees.end - trees.begin)
    return np.asarray(np.arange(size.sum()) + np.repeat(before[like] - first, size))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if packets_of(case.task) < _FEWEST:
        return Refusal(f"repeats the trees of messages of {_FEWEST} packets or more")
    kinds = case.messages.discipline
    found = refusal(case, moved=bool(kinds.size and (kinds == MOVE).all()))
    return found or Offer(lambda: repeated_trees(case), effort="search", hop_bytes=100, hop_seconds=3e-6)


REPEATED_TREES = Algorithm(
    name="repeated-trees",
    tasks=(Chunked, Grouped),
    propose=_propose,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="the trees of a few packets of each message, used again and again: for messages of many packets",
    passes_on=True,
    timed=True,
)
