"""Broadcast over links that take time or share ports: the message goes where it can be soonest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from heapq import heapify, heappop, heappush

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.shortest_path_tree import root_of
from gossamer.cases import Case, Offer, Refusal
from gossamer.paths.trees import shortest_path_tree, unreachable
from gossamer.schedules import Phase, Schedule
from gossamer.tasks import Broadcast

__all__ = ["SOONEST_FIRST", "soonest_first"]

_MOST_LINKS = 500_000


class _Ports:
    """When the ports that links share are free: for each, the slots in which packets enter it, ascending."""

    def __init__(self, sides: list[int], capacity: list[int], occupancy: list[int]) -> None:
        self.sides, self.capacity, self.occupancy = sides, capacity, occupancy
        self.begun: list[list[int]] = [[] for _ in capacity]

    def next(self, link: int, slot: int) -> int:
        """Return the first slot from `slot` on in which what goes over a link can enter its port."""
        port = self.sides[link]
        if port < 0:
            return slot
        begun, held = self.begun[port], self.occupancy[port]
        while True:  # of all that are in the port at some time while the packet is
            low, high = bisect_right(begun, slot - held), bisect_left(begun, slot + held)
            if high - low < self.capacity[port]:
                return slot
            slot = begun[low] + held

    def enter(self, link: int, slot: int) -> None:
        """Take the port of a link from a slot on."""
        if self.sides[link] >= 0:
            insort(self.begun[self.sides[link]], slot)


def _heights(case: Case, root: int) -> list[int]:
    """Return how many hops the breadth-first tree goes on below each node."""
    tree = shortest_path_tree(case.network, root)
    height = np.zeros(case.network.node_count, np.int64)
    source = case.network.link_source
    for v in tree.order[:0:-1].tolist():
        u = int(source[tree.parent_link[v]])
        height[u] = max(height[u], height[v] + 1)
    return [int(h) for h in height]


def soonest_first(case: Case) -> Schedule:
    """Send the message again and again over the link over which it can soonest be at a node that lacks it.

    Parameters
    ----------
    case : Case
        A broadcast in whole messages, on links that take time, share ports, or both; switches store and replicate.

    Returns
    -------
    Schedule
        One hop for each node on the way to a terminal.

    Notes
    -----
    Of links over which it comes equally soon, the one to the node from which most hops lead on. On a complete network
    whose nodes have one port each these are the ``ceil(log2 n)`` slots of doubling. O(L log L) time where ports are
    free, O(L log L + N^2) at most where all share one.

    References
    ----------
    As in A. Bar-Noy, S. Kipnis, "Designing broadcasting algorithms in the postal model for message-passing systems",
    Mathematical Systems Theory 27, 1994, on any network.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.networks import SharedPorts
    >>> full = gossamer.network("complete:8")
    >>> server = full.with_ports(SharedPorts(full.link_source, full.link_target))
    >>> soonest_first(Case(server, gossamer.task("broadcast"))).completion_time
    Fraction(3, 1)
    """
    net, root = case.network, root_of(case)
    source: list[int] = net.link_source.tolist()
    target: list[int] = net.link_target.tolist()
    first = np.searchsorted(net.link_source, np.arange(net.node_count + 1)).tolist()
    occupancy: list[int] = net.link_occupancy.tolist()
    latency: list[int] = net.link_latency.tolist()
    shared, height = net.shared_ports, _heights(case, root)
    columns: list[list[int]] | None = None
    if shared is not None:
        columns = [np.asarray(c).tolist() for c in shared.columns[:4]]
    none = [-1] * net.link_count
    sending = _Ports(none, [], []) if columns is None else _Ports(columns[0], columns[2], columns[3])
    receiving = _Ports(none, [], []) if columns is None else _Ports(columns[1], columns[2], columns[3])
    usable: dict[int, int] = {root: 0}
    by: dict[int, tuple[int, int]] = {}
    free = [0] * net.node_count

    def start(link: int) -> int:
        """Return the first slot in which the link can carry the message."""
        slot = usable[source[link]]
        if case.send_limited:
            slot = max(slot, free[source[link]])
        while True:
            begins = sending.next(link, slot)
            way = occupancy[link] + latency[link] - (0 if columns is None else _held(columns, link))
            slot = receiving.next(link, begins + way) - way
            if slot == begins:
                return slot

    waiting = [
        (start(k) + occupancy[k] + latency[k], -height[target[k]], k) for k in range(first[root], first[root + 1])
    ]
    heapify(waiting)
    left = net.terminal_count - (root < net.terminal_count)
    while left:
        when, order, link = heappop(waiting)
        node = target[link]
        if node in usable:
            continue
        slot = start(link)
        arrival = slot + occupancy[link] + latency[link]
        if arrival > when:
            heappush(waiting, (arrival, order, link))
            continue
        usable[node], by[node] = arrival, (slot, link)
        sending.enter(link, slot)
        if columns is not None:
            receiving.enter(link, arrival - _held(columns, link))
        free[source[link]] = slot + occupancy[link]
        left -= node < net.terminal_count
        for k in range(first[node], first[node + 1]):
            if target[k] not in usable:
                heappush(waiting, (start(k) + occupancy[k] + latency[k], -height[target[k]], k))
    return _without_dead_ends(case, by)


def _held(columns: list[list[int]], link: int) -> int:
    """Return for how many slots a packet is in the port through which a link enters its target."""
    port = columns[1][link]
    return columns[3][port] if port >= 0 else 0


def _without_dead_ends(case: Case, by: dict[int, tuple[int, int]]) -> Schedule:
    """Return the schedule of the hops that bring the message to each node, without those that end at switches."""
    net, needed = case.network, set()
    for v in range(net.terminal_count):
        while v in by and v not in needed:
            needed.add(v)
            v = int(net.link_source[by[v][1]])
    hops = np.array(sorted(by[v] for v in needed), np.int64).reshape(-1, 2)
    slot, link = hops[:, 0], hops[:, 1].astype(np.int32)
    over = int((slot + net.link_occupancy[link] + net.link_latency[link]).max(initial=0))
    packet = np.zeros(slot.size, np.int32)
    return Schedule.of(case, slot.astype(np.int32), link, packet, phases=[Phase(case.task.name, over)])


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    net = case.network
    if net.plain:
        return Refusal("is for links that take time or share ports")
    if net.link_count > _MOST_LINKS:
        return Refusal(f"looks at {_MOST_LINKS:,} links at most, got {net.link_count:,}")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    lost = case.once(unreachable, net, root_of(case))
    if lost is not None:
        return Refusal(f"finds no path from the root to node {net.node_name(lost)}")
    return Offer(
        lambda: soonest_first(case), effort="search", hop_seconds=4e-6 * max(1, net.link_count // net.node_count)
    )


SOONEST_FIRST = Algorithm(
    name="soonest-first",
    tasks=(Broadcast,),
    propose=_propose,
    networks="any with links that take time or share ports",
    source="after Bar-Noy and Kipnis 1994",
    summary="again and again over the link over which the message can soonest be at a node that lacks it",
    timed=True,
)
"""The broadcast that knows times and ports."""
