"""Bounds of allreduces from regions: every packet leaves each region as a contribution or enters it as a result.

Let the network be cut into k regions with terminals. On its way to its root a packet leaves all regions but the root's,
and its result enters all of them: 2 (k - 1) hops between regions for each packet. Of one region alone, every packet
must get out of it once, as a contribution for a root outside or as the result of a root inside, and into it once. Deep
in a region stands a terminal whose contribution comes to the border late, and whose result must be back early; so must
what still has to go to its root and back to all.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.arrivals import spread
from gossamer.bounds.bound import Bound
from gossamer.bounds.crowded import Crowd, crowded
from gossamer.bounds.strength import weakest_regions
from gossamer.bounds.thin_cuts import Mask, thin_cuts
from gossamer.cases import Case
from gossamer.cases.demands import Counts
from gossamer.cases.links import FAR, Links, least_time
from gossamer.tasks import Allreduce, Chunked
from gossamer.writing import quantity

__all__ = ["region_bounds"]

_WORK = 5_000_000
"""Terminals times links up to which the distances of all are found."""

_STRENGTH = 60_000
"""Nodes times links up to which the weakest regions are found exactly."""

_SETS = 24
_TIMES = 12

_SOURCE = "Nash-Williams 1961 and Tutte 1961 for trees; folklore for what comes before and after"


class _Ways(NamedTuple):
    """Distances between terminals and nodes, int64[N, T] and int64[T, N], and how far roots are from the furthest.

    `to[v, k]` is the time from node v to terminal k, `since[k, v]` back; `collect[k]` and `tell[k]` the times from the
    furthest terminal to k, and from k to the furthest.
    """

    to: Counts
    since: Counts
    collect: Counts
    tell: Counts


def region_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bounds of an allreduce between regions, and of the links around one of them.

    Notes
    -----
    O(T L log L) time for T terminals, and some flows.

    Examples
    --------
    >>> import gossamer
    >>> import networkx as nx
    >>> network = gossamer.networks.from_networkx(nx.barbell_graph(3, 0), "two triangles")
    >>> case = Case(network, gossamer.task("allreduce"))
    >>> max(region_bounds(case), key=lambda bound: bound.value).value
    Fraction(8, 1)
    """
    task, packets = (case.task.task, case.task.packets) if isinstance(case.task, Chunked) else (case.task, 1)
    n = case.network.terminal_count
    if not isinstance(task, Allreduce) or not case.demands or case.invariant:
        return
    if n * case.network.link_count > _WORK or n < 2:
        return
    ways = _ways(case.links)
    sets = _sets(case)
    best: tuple[Fraction, str] | None = None
    for region in _partitions(case, sets):
        for time in _between(case, ways, region, packets):
            best = time if best is None or time[0] > best[0] else best
    if best is not None:
        yield Bound("between regions", *best, "cut", _SOURCE)
    best = None
    for inside in sets:
        found = _around(case, ways, inside, packets)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    if best is not None:
        yield Bound("around a region", *best, "cut", _SOURCE)


def _ways(links: Links) -> _Ways:
    """Return the distances; none count where switches cut through."""
    n = links.terminal_count
    to, since = np.zeros((links.node_count, n), np.int64), np.zeros((n, links.node_count), np.int64)
    if bool(links.stores.all()):
        for k in range(n):
            since[k] = links.travel(np.array([k])).usable
            to[:, k] = links.turned.travel(np.array([k])).usable
    return _Ways(to, since, to[:n].max(axis=0), since[:, :n].max(axis=1))


def _sets(case: Case) -> list[Mask]:
    """Return sets of nodes that are not all of them, and their complements."""
    n, nodes = case.network.terminal_count, case.network.node_count
    found: dict[bytes, Mask] = {}
    for inside in thin_cuts(case):
        found.setdefault(np.packbits(inside if inside[0] else ~inside).tobytes(), inside)
    masks = list(found.values())[-_SETS:]
    rate = np.bincount(case.links.source, case.links.rate, nodes) + np.bincount(
        case.links.target, case.links.rate, nodes
    )
    for v in np.argsort(rate[:n], kind="stable")[:_SETS].tolist():
        masks.append(np.arange(nodes) == v)
    return [side for inside in masks for side in (inside, ~inside) if inside[:n].any() and not inside[:n].all()]


def _partitions(case: Case, sets: list[Mask]) -> Iterator[Counts]:
    """Yield numbers of regions, int64[N]; switches by themselves make one, or belong to their neighbors."""
    n, nodes = case.network.terminal_count, case.network.node_count
    yield np.minimum(np.arange(nodes), n)
    if sets:
        yield np.unique(np.stack(sets[:62]), axis=1, return_inverse=True)[1].reshape(-1)
    if nodes * case.links.source.size <= _STRENGTH:
        yield weakest_regions(case.links)


def _between(case: Case, ways: _Ways, region: Counts, packets: int) -> Iterator[tuple[Fraction, str]]:
    """Yield the times that hops between regions take: all of them, and those that have the fewest links."""
    links, n = case.links, case.network.terminal_count
    held = np.bincount(region[:n], minlength=int(region.max()) + 1)
    across = np.flatnonzero(region[links.source] != region[links.target])
    if np.count_nonzero(held) < 2 or not across.size:
        return
    source, target = links.source[across], links.target[across]
    collect = _deepest(ways.since, region, source, n)  # of the region that a contribution leaves
    spread_ = _deepest(ways.to.T, region, target, n)
    result = (ways.collect[:, None] + ways.since).min(axis=0)[source]
    answer = (ways.to + ways.tell[None, :]).min(axis=1)[target]
    limited = links.send_limited or links.receive_limited
    ends = source if links.send_limited else target if links.receive_limited else np.arange(across.size)
    server = np.unique(ends, return_inverse=True)[1].reshape(-1)
    rate = np.zeros(int(server.max()) + 1)
    np.maximum.at(rate, server, links.rate[across])
    amount = np.where(held > 0, n - held, 0) * packets
    for crowd in crowded(region[source], region[target], server, rate, amount):
        leaves, enters = crowd.leaves[region[source]], crowd.enters[region[target]]
        wait = (
            np.minimum(np.where(leaves, collect, FAR), np.where(enters, result, FAR))
            + np.minimum(np.where(leaves, answer, FAR), np.where(enters, spread_, FAR))
            + links.latency[across]
        )
        use = np.flatnonzero(leaves | enters)
        capacity, occupancy, wait = links.capacity[across][use], links.occupancy[across][use], wait[use]
        what = quantity(use.size, "link")
        if limited:
            order = np.argsort(server[use], kind="stable")
            first = np.flatnonzero(np.diff(server[use][order], prepend=-1))
            occupancy, wait = (np.minimum.reduceat(x[order], first) for x in (occupancy, wait))
            capacity, what = np.ones(first.size, np.int64), f"{quantity(first.size, 'port')} one at a time"
        needed = int(amount[crowd.leaves].sum() + amount[crowd.enters].sum())
        time = least_time(needed, capacity, occupancy, wait, case.whole)
        if time is None:
            continue
        around = f", {int(wait.min()):,} steps or more before and after" if int(wait.min()) > 0 else ""
        yield time, f"{_moves(crowd, amount > 0, n * packets)}: {needed:,} hops over {what}{around}"


def _moves(crowd: Crowd, held: Mask, packets: int) -> str:
    """Return which packets leave and enter which regions, in words."""
    regions, out, into = (int(mask.sum()) for mask in (held, crowd.leaves, crowd.enters))
    if out == into == regions:
        return f"each of {packets:,} packets leaves {regions - 1:,} of {regions:,} regions and enters as many"
    return f"contributions leave {out:,} of {regions:,} regions and results enter {into:,}, those of other regions"


def _deepest(away: Counts, region: Counts, ends: Counts, terminals: int) -> Counts:
    """Return for the end of each link how far it is from the terminal of its region that is furthest from all ends."""
    found = np.zeros(ends.size, np.int64)
    order = np.argsort(region[ends], kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(region[ends][order])) + 1):
        mine = np.flatnonzero(region[:terminals] == region[ends[group[0]]])
        if mine.size:
            table = away[np.ix_(mine, ends[group])]
            found[group] = table[int(np.argmax(table.min(axis=1)))]
    return np.minimum(found, FAR // 8)


def _around(case: Case, ways: _Ways, inside: Mask, packets: int) -> tuple[Fraction, str] | None:
    """Return the time in which every packet can get out of a set of nodes, as a contribution or as a result."""
    links, n = case.links, case.network.terminal_count
    out = np.flatnonzero(inside[links.source] & ~inside[links.target])
    if not out.size:
        return None
    source, target = links.source[out], links.target[out]
    mine = inside[:n]
    begin = int(ways.since[mine][:, source].min(axis=1).max(initial=0))  # of the deepest contribution
    end = int(ways.to[target][:, ~mine].min(axis=0).max(initial=0))
    release = np.where(mine, ways.collect + ways.since[:, source].min(axis=1), begin)
    tail = np.where(mine, end, ways.to[target].min(axis=0) + ways.tell)
    capacity, occupancy, wait = links.capacity[out], links.occupancy[out], links.latency[out]
    for limited, ends in ((links.send_limited, source), (links.receive_limited, target)):
        if limited:
            order = np.argsort(ends, kind="stable")
            first = np.flatnonzero(np.diff(ends[order], prepend=-1))
            occupancy, wait = (np.minimum.reduceat(x[order], first) for x in (occupancy, wait))
            capacity = np.ones(first.size, np.int64)
            break
    best: tuple[Fraction, int, int, int] | None = None
    for early in spread(np.unique(release), _TIMES).tolist():
        for late in spread(np.unique(tail), _TIMES).tolist():
            count = int(((release >= early) & (tail >= late)).sum()) * packets
            time = least_time(count, capacity, occupancy, wait + early + late, case.whole) if count else None
            if time is not None and (best is None or time > best[0]):
                best = time, count, early, late
    if best is None:
        return None
    time, count, early, late = best
    return time, (
        f"{quantity(int(inside.sum()), 'node')}, {quantity(out.size, 'link')} out of them: {quantity(count, 'packet')} "
        f"must leave them as contributions or results, {early:,} steps or more before and {late:,} after"
    )
