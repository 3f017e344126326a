"""Bounds for messages that are copied, where links take time or where switches cannot copy.

Where switches make no copies, every copy that a terminal receives left another terminal, which sends one after the
other. Backwards in time the same holds for contributions that switches do not combine.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gossamer.bounds.arrivals import spread, takes_time
from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.links import FAR, Links, least_time
from gossamer.writing import quantity

__all__ = ["copied_by_terminals", "copy_bounds", "informed_time", "spread_time"]

_LONGEST = 100_000
"""Slots up to which terminals that inform each other are counted."""

_WORK = 20_000_000
_ROOTS = 16


def copied_by_terminals(case: Case, demand: Demand) -> bool:
    """Return whether only terminals copy the messages of a demand (or combine its contributions)."""
    if not demand.shared or case.network.terminal_count == case.network.node_count:
        return False
    return not (case.rules.replication if demand.outward else case.rules.reduction)


def copy_bounds(case: Case) -> Iterator[Bound]:
    """Yield what copies that only terminals make need, and how fast a message spreads where ports are limited."""
    for demand in case.demands:
        if not demand.shared:
            continue
        links = case.links if demand.outward else case.links.turned
        if copied_by_terminals(case, demand):
            yield from _copies(case, demand, links)
            if case.whole:
                yield from _informed(case, demand, links)
        if case.whole and links.send_limited and takes_time(case) and bool(links.stores.all()):
            yield from _spreading(case, demand, links)


def _deliveries(demand: Demand) -> int:
    """Return how many terminals must get a copy, of all messages together."""
    if isinstance(demand, HubDemand):
        return demand.hubs.size * (demand.terminal_count - 1)
    return int(demand.target.size)


def _copies(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield the bound of all copies over the links that leave terminals, and over those that enter them."""
    copies = _deliveries(demand)
    terminals = links.terminal_count
    verb = "leave" if demand.outward else "enter"
    for ends, limited, out in (
        (links.source, links.send_limited, True),
        (links.target, links.receive_limited, False),
    ):
        mine = np.flatnonzero(ends < terminals)
        capacity, occupancy, wait = links.capacity[mine], links.occupancy[mine], links.latency[mine]
        many = quantity(mine.size, "link")
        if limited:
            best = np.full(terminals, FAR, np.int64)
            early = best.copy()
            np.minimum.at(best, ends[mine], occupancy)
            np.minimum.at(early, ends[mine], wait)
            used = np.flatnonzero(best < FAR)
            capacity, occupancy, wait = np.ones(used.size, np.int64), best[used], early[used]
            many = f"{quantity(used.size, 'port')} one at a time"
        time = least_time(copies, capacity, occupancy, wait, case.whole)
        if time is not None:
            side = verb if out else {"leave": "enter", "enter": "leave"}[verb]
            what = "copy" if demand.outward else "contribution"
            number = f"{copies:,} {'copies' if demand.outward else 'contributions'}" if copies != 1 else f"1 {what}"
            text = f"switches {'copy' if demand.outward else 'combine'} nothing: {number} {side} terminals over {many}"
            yield Bound(f"copies {side} terminals", time, text, "load", "folklore: copies are made at terminals")
    yield from _hops_of_copies(case, demand, links)


def _hops_of_copies(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield the bound of the links that all copies need, each from the terminal nearest by occupancies."""
    terminals = links.terminal_count
    if (links.source.size + links.node_count) * terminals > _WORK:
        return
    near = _nearest(links)
    if isinstance(demand, HubDemand):
        needed = int(demand.hubs.size * near[:terminals].sum() - near[demand.hubs].sum())
    else:
        needed = int(near[demand.target].sum())
    if links.send_limited or links.receive_limited:
        return
    # a packet uses a link for its occupancy, so that capacity * (T - latency) is what a link has
    time = least_time(needed, links.capacity, np.ones_like(links.occupancy), links.latency, False)
    if time is not None:
        time = Fraction(-(-time // 1)) if case.whole else time
        text = (
            f"{'copies' if demand.outward else 'contributions'} from terminal to terminal use links for "
            f"{quantity(needed, 'step')} in all, over {quantity(links.source.size, 'link')}"
        )
        yield Bound("hops of copies", time, text, "load", "folklore: copies are made at terminals")


def _nearest(links: Links) -> Counts:
    """Return the least sum of occupancies of a way to each terminal from another one, int64[T]."""
    from dataclasses import replace

    busy = replace(
        links, latency=links.occupancy, occupancy=links.occupancy, whole=False, stores=np.ones_like(links.stores)
    )  # latencies alone count where messages are split
    found = np.full(links.terminal_count, FAR, np.int64)
    for v in range(links.terminal_count):
        usable = busy.travel(np.array([v])).usable[: links.terminal_count].copy()
        usable[v] = FAR
        found = np.minimum(found, usable)
    return np.where(found < FAR, found, 0)


def _informed(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield the time in which terminals that inform each other can all be informed."""
    terminals = links.terminal_count
    mine = links.source < terminals
    if not mine.any():
        return
    at_once = 1 if links.send_limited else int(np.bincount(links.source[mine], links.capacity[mine]).max())
    every = int(links.occupancy[mine].min())
    delay = _least_delay(links)
    count = demand.terminal_count if isinstance(demand, HubDemand) else 1 + int(np.diff(demand.first).max())
    time = informed_time(count, at_once, every, delay)
    if time is not None:
        verb = "starts" if demand.outward else "takes in"
        text = (
            f"{quantity(count, 'terminal')} inform each other: each {verb} at most {quantity(at_once, 'copy')} "
            f"every {quantity(every, 'step')}, which take {quantity(delay, 'step')} or more"
        )
        yield Bound("terminals inform terminals", Fraction(time), text, "broadcast", "folklore: doubling with delays")


def _least_delay(links: Links) -> int:
    """Return the least time from a terminal to another one (its two links at the least, where it is not worked out)."""
    terminals = links.terminal_count
    if (links.source.size + links.node_count) * terminals > _WORK:
        return int((links.hold + links.latency)[links.source < terminals].min())
    return min(int(np.delete(links.travel(np.array([v])).usable[:terminals], v).min()) for v in range(terminals))


def informed_time(count: int, at_once: int, every: int, delay: int) -> int | None:
    """Return the first slot by which so many terminals can be informed.

    Parameters
    ----------
    count : int
        Terminals, with the first one, at least 1.
    at_once, every : int
        An informed terminal starts at most `at_once` copies, then again every so many slots.
    delay : int
        Slots after which a copy arrives at the earliest, at least 1.

    Returns
    -------
    int or None
        None if it is too long to count.

    Examples
    --------
    >>> [informed_time(n, 1, 1, 1) for n in (1, 2, 4, 5)], informed_time(5, 1, 1, 2), informed_time(4, 1, 3, 4)
    ([0, 1, 2, 3], 4, 8)
    """
    fresh = [1]  # fresh[t]: terminals informed in slot t
    known = 1
    while known < count:
        t = len(fresh)
        if t > _LONGEST:
            return None
        again = fresh[t - every] if t - every > 0 else 0  # whoever informed one then informs another now
        begun = at_once * fresh[t - delay] if t >= delay else 0
        fresh.append(min(again + begun, count))
        known += fresh[t]
    return len(fresh) - 1


def _spreading(case: Case, demand: Demand, links: Links) -> Iterator[Bound]:
    """Yield how long a message takes to spread, from one of the roots from which it travels longest."""
    rows: list[tuple[int, Counts | None]]
    if isinstance(demand, HubDemand):
        rows = [(v, None) for v in spread(np.unique(case.hubs(demand)), _ROOTS).tolist()]
    else:
        row = np.argsort(-np.diff(demand.first), kind="stable")[:_ROOTS]
        rows = [(int(demand.origin[i]), demand.target[demand.first[i] : demand.first[i + 1]]) for i in row]
    least, every = int((links.occupancy + links.latency).min()), int(links.occupancy.min())
    most = int((links.occupancy + links.latency).max())
    best = 0, 0, 0, 0
    for root, targets in rows:
        usable = links.travel(np.array([root])).usable
        usable = usable[: links.terminal_count] if targets is None else np.append(usable[targets], 0)
        if int(usable.max()) < FAR:
            best = max(best, (*spread_time(np.sort(usable), least, most, every), root))
    time, distance, count, root = best
    if time:
        verb = "reach" if demand.outward else "come from"
        far = f" {quantity(distance, 'step')} or more away" if distance else ", itself included"
        text = (
            f"the {demand.what} of node {case.name(root)} must {verb} {quantity(count, 'node')}{far}, one at a time, "
            f"every {quantity(every, 'step')} at the most"
        )
        yield Bound(
            "doubling", Fraction(time), text, "broadcast", "Dimakopoulos 1996, Theorem 3.3, with times of links"
        )


def spread_time(times: Counts, least: int, most: int, every: int) -> tuple[int, int, int]:
    """Return T, d and R with the largest T that R nodes at d or more slots from a root need, one informed at a time.

    Parameters
    ----------
    times : int64[n]
        Ascending: how long the message takes to each node at the least, 0 for the root.
    least, most : int
        The least and the most slots that a link takes, occupancy and latency.
    every : int
        Slots after which a node can begin to inform another one, at the least.

    Notes
    -----
    As Theorem 3.3. A node is informed over a path; on it, the sender of hop i informed k_i others first. By T, paths of
    l hops with ``max(d, l * least) + every * (k_1 + ... + k_l) <= T`` inform ``C(K + l, l)`` nodes, where K is the
    largest sum. Plain links give ``C(T, l)``.

    Examples
    --------
    >>> spread_time(np.array([0, 1, 1, 2]), 1, 1, 1), spread_time(np.array([0, 1, 1, 1]), 1, 1, 1)
    ((2, 0, 4), (2, 0, 4))
    >>> spread_time(np.array([0, 5, 5, 5]), 5, 5, 2)
    (9, 0, 4)
    """
    best = 0, 0, int(times.size)
    distances = np.unique(times)
    for d in [0, *distances[distances > 0][-64:].tolist()]:
        nodes = int(times.size - np.searchsorted(times, d))
        low = max(best[0], d) - 1  # too early, or no better
        if low >= 0 and _informs(low, d, nodes, least, most, every):
            continue
        high = max(low, 0) + 1
        while not _informs(high, d, nodes, least, most, every):
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            if _informs(middle, d, nodes, least, most, every):
                high = middle
            else:
                low = middle
        if high > best[0]:
            best = high, d, nodes
    return best


def _informs(time: int, distance: int, nodes: int, least: int, most: int, every: int) -> bool:
    """Whether so many nodes at a distance or more can be informed by a time."""
    total = int(distance == 0)
    hops = max(1, -(-distance // most))
    while total < nodes and max(distance, hops * least) <= time:
        spare = (time - max(distance, hops * least)) // every
        term = 1
        for i in range(1, min(hops, spare) + 1):  # C(spare + hops, hops), as far as it matters
            term = term * (spare + hops + 1 - i) // i
            if term >= nodes:
                break
        total += term
        hops += 1
    return total >= nodes
