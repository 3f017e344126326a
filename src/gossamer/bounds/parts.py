"""Bounds from what must get from part to part of a network, all parts counted together.

The terminals are divided into parts; what lies between them are switches. A message enters every part that wants it and
does not have it, and leaves the part that has it; contributions of a part leave it. Where switches between the parts do
not combine, each of these departures is an arrival in another part, so that a reduction enters as many parts as have a
share in it; where they do not copy, a message leaves parts as often as it enters some. The largest cut around one part
counts one of these alone: what a reduction brings into its root's part, say, but not what it brings into the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.arrivals import takes_time
from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.links import FAR, least_time
from gossamer.writing import quantity

__all__ = ["Moves", "moves_between", "part_bounds", "time_between"]

LARGEST = 200_000
"""Links up to which networks are divided."""

_DIVISIONS = 4


class Moves(NamedTuple):
    """How often messages must enter parts, and leave parts, in all."""

    enter: int
    leave: int


def moves_between(demand: Demand, part: Counts, copies: bool, combines: bool) -> Moves:
    """Return how often messages of a demand must enter parts and leave parts.

    Parameters
    ----------
    demand : HubDemand or PairDemand
    part : int64[N]
        The part of each node, from 0; -1 of a switch that is in none. Every terminal is in one.
    copies, combines : bool
        Whether a node outside the parts may copy messages, or combine contributions.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=2"), gossamer.task("reduce"))
    >>> part = np.array([0, 0, 1, 1, -1, -1, -1])
    >>> moves_between(case.demands[0], part, True, False), moves_between(case.demands[0], part, True, True)
    (Moves(enter=1, leave=1), Moves(enter=1, leave=1))
    """
    if isinstance(demand, HubDemand):
        own, every = part[demand.hubs], np.bincount(part[: demand.terminal_count])
        if demand.shared:
            others = int((every > 0).sum()) - 1
            many, once = demand.hubs.size * others, demand.hubs.size * min(others, 1)
        else:
            many = once = demand.hubs.size * demand.terminal_count - int(every[own].sum())
    else:
        origin, target = part[demand.origin[demand.message]], part[demand.target]
        away = np.flatnonzero(origin != target)
        message = demand.message[away]
        many = once = away.size
        if demand.shared:
            parts = int(part.max()) + 1
            many, once = (np.unique(x).size for x in (message * parts + target[away], message))
    if not demand.shared:
        return Moves(many, many)
    if demand.outward:
        return Moves(many, once if copies else many)
    return Moves(once if combines else many, many)


def time_between(case: Case, part: Counts, enter: bool) -> tuple[Fraction, int, int] | None:
    """Return the time that messages need to enter (or leave) parts, how many do, and over how many links; None if none.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=2"), gossamer.task("reduce-scatter"))
    >>> time_between(case, np.array([0, 1, 2, 3, -1, -1, -1]), True)
    (Fraction(4, 1), 12, 4)
    """
    links = case.links
    outside = bool((part < 0).any())
    copies, combines = outside and case.rules.replication, outside and case.rules.reduction
    messages = sum(moves_between(d, part, copies, combines)[0 if enter else 1] for d in case.demands)
    here, there = part[links.source], part[links.target]
    across = np.flatnonzero((here != there) & ((there if enter else here) >= 0))
    if not messages or not across.size:
        return None
    terminals = np.arange(case.network.terminal_count)
    head = links.travel(terminals).depart[across]
    tail = links.turned.travel(terminals).depart[links.turned_place[across]]
    capacity, occupancy, latency = (x[across] for x in (links.capacity, links.occupancy, links.latency))
    times = [least_time(messages, capacity, occupancy, np.minimum(head + latency + tail, FAR), case.whole)]
    for limited, ends, early, late in (
        (links.send_limited, links.source[across], head, latency + tail),
        (links.receive_limited, links.target[across], head + latency, tail),
    ):
        if limited:
            order = np.argsort(ends, kind="stable")
            first = np.flatnonzero(np.diff(ends[order], prepend=-1))
            fastest, early, late = (np.minimum.reduceat(x[order], first) for x in (occupancy, early, late))
            wait = np.minimum(early + late, FAR)
            times.append(least_time(messages, np.ones(first.size, np.int64), fastest, wait, case.whole))
    found = [time for time in times if time is not None]
    return (max(found), messages, int(across.size)) if found else None


def part_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best division of the terminals into parts, by what enters them and by what leaves them.

    It tells more than cuts around single parts where several collectives share the links, or where switches do not
    combine or not copy; elsewhere it is left out.
    """
    net = case.network
    told = len(case.demands) > 1 or net.terminal_count < net.node_count
    if not told or not any(d.shared for d in case.demands) or not net.link_count or net.link_count > LARGEST:
        return
    if net.terminal_count == net.node_count and not takes_time(case):
        return  # then every terminal alone is "total hops", and nothing else divides
    best: tuple[Fraction, str] | None = None
    for part in _divisions(case):
        for enter in (True, False):
            found = time_between(case, part, enter)
            if found is None or (best is not None and found[0] <= best[0]):
                continue
            time, messages, links = found
            count = int(part.max()) + 1
            parts = "each terminal" if count == net.terminal_count else f"each of {quantity(count, 'part')}"
            size = int(np.bincount(part[part >= 0]).max())
            of = "" if count == net.terminal_count else f" of up to {quantity(size, 'node')}"
            way, many = "enter" if enter else "leave", quantity(messages, case.what)
            best = time, f"what must {way} {parts}{of} comes to {many} in all, over {quantity(links, 'link')}"
    if best is not None:
        yield Bound("between parts", best[0], best[1], "cut", "folklore: all cuts around parts, counted together")


def _divisions(case: Case) -> Iterator[Counts]:
    """Yield divisions: each terminal by itself, and what fast links, or switches at terminals, join."""
    links, n, terminals = case.links, case.network.node_count, case.network.terminal_count
    alone = np.full(n, -1, np.int64)
    alone[:terminals] = np.arange(terminals)
    yield alone
    measure = links.occupancy / links.capacity
    for value in np.unique(measure)[:-1][:_DIVISIONS].tolist():
        yield from _joined(case, measure <= value)
    if terminals < n:  # what hangs on the same first switches
        yield from _joined(case, np.minimum(links.source, links.target) < terminals)


def _joined(case: Case, some: np.ndarray) -> Iterator[Counts]:
    """Yield the parts that some links join, if there are several and not each terminal is one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links, n, terminals = case.links, case.network.node_count, case.network.terminal_count
    graph = coo_array((np.ones(int(some.sum())), (links.source[some], links.target[some])), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    used = np.unique(part[:terminals])
    if 1 < used.size < terminals:
        place = np.full(int(part.max()) + 1, -1, np.int64)
        place[used] = np.arange(used.size)
        yield place[part]
