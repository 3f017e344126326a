"""Cuts of links and slots: exact for scatter and gather on small networks with all ports, and for each target alone.

What a broadcast, an allgather or any other task whose messages are copied brings to one terminal could be brought to it
alone; no copy is of use there, and a flow over time tells how long it takes at the least. It counts how soon packets
can be at a thin cut, how long they take behind it, and how many links there are on the way, all at once. Backwards in
time the same holds for contributions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.arrivals import least_arrival
from gossamer.bounds.bound import Bound
from gossamer.bounds.thin_cuts import amounts
from gossamer.cases import Case
from gossamer.cases.demands import Counts, Demand, HubDemand
from gossamer.cases.links import FAR, Links
from gossamer.writing import quantity

__all__ = ["LARGEST", "TimeCut", "cut_over_time", "cut_over_time_bounds", "target_over_time_bounds"]

LARGEST = 30_000
"""Links times slots up to which the bound is worked out."""

_WORK, _LARGEST_ALONE = 400_000, 100_000
"""Links times slots of all flows to single terminals together, and of one of them."""

_VAIN, _FREE = 8, 100_000
"""Terminals in a row that may need no more slots than those before them, after so many links times slots; from then on
one is not looked at if another needed no more to which the packets have as far to go."""


class TimeCut(NamedTuple):
    """Messages that must get across, and fewer packets that can.

    `since` int64[N] is the slot from which on a node lies on the side of the hub; nodes that never do have the number
    of slots plus 1. A packet crosses on a link (u, v) if it leaves in slot ``since[u]`` or later and is at v before
    slot ``since[v]``; of s such slots a link of capacity c and occupancy o can use ``c * ceil(s / o)``.
    """

    messages: int
    room: int
    since: Counts


def cut_over_time(links: Links, hub: int, slots: int, amount: Counts | None = None) -> TimeCut | None:
    """Return a cut that proves that a hub cannot send all messages within so many slots, if one is found.

    Parameters
    ----------
    links : Links
        The links, of whole messages.
    hub, slots : int
    amount : int64[N], optional
        The packets that each other node gets. Default: one for each terminal.

    Returns
    -------
    TimeCut or None
        Where all occupancies are 1, None only if the messages can all be delivered in time.

    Notes
    -----
    A minimum cut in the network of states (node, slot), in which packets may wait. A link of occupancy o is given an
    o-th of its capacity in each slot to find the cut; what it proves is then counted with whole packets.

    References
    ----------
    L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:4"), gossamer.task("scatter"))
    >>> cut = cut_over_time(case.links, 0, 2)
    >>> cut.messages, cut.room, cut.since.tolist()
    (3, 2, [0, 3, 3, 3])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    nodes, end = links.node_count, (slots + 1) * links.node_count
    state = np.arange(nodes)
    if amount is None:
        amount = (state < links.terminal_count).astype(np.int64)
    others = np.flatnonzero((amount > 0) & (state != hub))
    asked = amount[others]
    many = int(asked.sum()) + 1
    scale = _unit(links.occupancy, many)
    room = np.minimum(np.minimum(links.capacity, many) * scale // links.occupancy, many * scale)
    length = links.latency + np.where(links.stores[links.target], links.occupancy, 0)
    slot = np.arange(slots)[:, None]
    arrives = slot + length
    at, e = np.nonzero((arrives <= slots) & (slot + links.occupancy + links.latency <= slots))
    tail = np.concatenate([at * nodes + links.source[e], (slot * nodes + state).ravel(), slots * nodes + others])
    head = np.concatenate(
        [arrives[at, e] * nodes + links.target[e], ((slot + 1) * nodes + state).ravel(), np.full(others.size, end)]
    )  # fmt: skip
    width = np.concatenate(
        [room[e], np.full(slots * nodes, many * scale), asked * scale]
    )  # fmt: skip
    graph = coo_array((width.astype(np.int32), (tail, head)), shape=(end + 1, end + 1)).tocsr()
    found = maximum_flow(graph, hub, end)
    if found.flow_value == int(asked.sum()) * scale:
        return None
    residual = graph - found.flow
    residual.eliminate_zeros()
    inside = np.zeros(end + 1, bool)
    inside[breadth_first_order(residual, hub, return_predecessors=False)] = True
    states = inside[:-1].reshape(slots + 1, nodes)
    since = np.where(states.any(axis=0), states.argmax(axis=0), slots + 1)
    messages = int(asked[since[others] > slots].sum())
    # the last slot in which a packet may leave so that it arrives on the other side, and in time
    last = np.minimum(since[links.target] - 1 - length, slots - links.occupancy - links.latency)
    across = np.maximum(last - since[links.source] + 1, 0)
    counted = int((-(-across // links.occupancy) * np.minimum(links.capacity, many)).sum())
    return TimeCut(messages, counted, since) if counted < messages else None


def _unit(occupancy: Counts, many: int) -> int:
    """Return a multiple of all occupancies that 32 bits can take so many times, or as large a number as they can."""
    unit = 1
    for value in np.unique(occupancy).tolist():
        unit = int(np.lcm(unit, int(value)))
        if unit * many >= 2**29:
            return int(max(1, 2**29 // many))
    return unit


def cut_over_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for a scatter or gather on a small network, the least time that a flow over time allows.

    Exact with all ports and links without occupancies, and a bound with fewer. Only if it is more than what the
    distances and the links of the hub ask for.
    """
    demand = case.demands[0]
    if not isinstance(demand, HubDemand) or len(case.demands) > 1 or demand.shared or not case.whole:
        return
    hub, packets = int(demand.hubs[0]), demand.hubs.size
    if int(demand.hubs[-1]) != hub:
        return
    links = case.links if demand.outward else case.links.turned
    known = least_arrival(case, hub, not demand.outward)
    if known is None:
        return
    slots = int(known[0])
    cut: TimeCut | None = None
    amount = packets * (np.arange(links.node_count) < links.terminal_count)
    while slots * case.network.link_count <= LARGEST:
        following = cut_over_time(links, hub, slots, amount)
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


def target_over_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for a task of messages for several, the least time in which what one terminal gets can come to it alone.

    Of contributions, that in which those of one terminal can all leave it. Tried are the terminals with the longest
    and the shortest ways, as many as there is time for; one where network and task look the same from every node.
    """
    if len(case.demands) != 1 or not case.demands[0].shared or not case.whole or case.limited:
        return
    demand = case.demands[0]
    links = case.links.turned if demand.outward else case.links
    best = _latest(case, demand, links)
    if best is not None:
        hub, before, cut = best
        text = (
            f"{quantity(cut.messages, case.what)} {'for' if demand.outward else 'of'} node {case.name(hub)} must cross "
            f"a cut of links and slots that lets {quantity(cut.room, 'packet')} through in {quantity(before, 'step')}"
        )
        yield Bound("cut over time", Fraction(before + 1), text, "cut", "Ford and Fulkerson 1958")


def _latest(case: Case, demand: Demand, links: Links) -> tuple[int, int, TimeCut] | None:
    """Return a terminal that needs more slots than the others looked at, one slot less, and the cut that proves it."""
    best: tuple[int, int, TimeCut] | None = None
    slots, work, vain, alike = 0, _WORK, 0, set[int]()
    for away, hub, amount in _alone(case, demand, links):
        if away in alike and work < _WORK - _FREE:
            continue
        if not slots:
            known = least_arrival(case, hub, demand.outward)
            slots = 1 if known is None else int(known[0])
        vain += 1
        high, step = None, 1  # slots that are enough for this terminal
        while high is None or slots < high:
            now = slots + step - 1 if high is None else (slots + high) // 2
            size = now * case.network.link_count
            if size > min(work, _LARGEST_ALONE):
                return best
            work -= size
            cut = cut_over_time(links, hub, now, amount)
            if cut is None:
                high = now
            else:
                best, slots, step, vain = (hub, now, cut), now + 1, 2 * step, 0
        if vain >= _VAIN and work < _WORK - _FREE:
            break
        if vain:
            alike.add(away)
    return best


def _alone(case: Case, demand: Demand, links: Links) -> list[tuple[int, int, Counts]]:
    """Return how far packets have to go to a terminal, the terminal, and those at each node: longest, shortest, ..."""
    nodes, terminals = links.node_count, 1 if case.invariant else links.terminal_count
    if case.network.link_count * terminals > _WORK:
        return []
    found = []
    for v in range(terminals):
        amount = amounts(demand, v, nodes, demand.outward)
        if amount.any():
            away = np.minimum(links.travel(np.array([v])).usable, FAR)
            found.append((int((away * amount).sum()), v, amount))
    found.sort(key=lambda row: (-row[0], row[1]))
    return [found[-1 - i // 2 if i % 2 else i // 2] for i in range(len(found))]
