"""The links of a network as the rules let them be used: how many packets they pass, and when packets can be where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.jit.heap import pop, push
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.questions.cases.demands import Counts
from gossamer.questions.rules import Rules


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def earliest(first, target, hold, latency, kind, kind_hold, stores, start, far, heap, time, usable, depart):
    """Find when a packet that is at the nodes of `start` in slot 0 can leave over each link and be usable at each node.

    A link e is held `hold[e]` slots and has `latency[e]`; a node that stores sends on what is usable, another one what
    came over a link of kind k as soon as its head is there, and so late that its tail can follow. `kind_hold` int64[K]
    are the holds of the kinds. `time` int64[N*(K+1)] is room for states, the last of a node for what is usable there;
    `heap` int64[] for ``L*(K+1) + N`` keys. `usable` int64[N] and `depart` int64[L] are written, `far` where never.
    """
    kinds = kind_hold.size + 1
    states = time.size
    for state in range(time.size):
        time[state] = far
    for u in range(usable.size):
        usable[u] = far
    for e in range(depart.size):
        depart[e] = far
    size = 0
    for i in range(start.size):
        state = start[i] * kinds + kinds - 1
        if time[state] != 0:
            time[state] = 0
            usable[start[i]] = 0
            size = push(heap, 0, size, state)
    while size > 0:
        key = pop(heap, 0, size)
        size -= 1
        now, state = key // states, key % states
        if time[state] < now:
            continue
        u, k = state // kinds, state % kinds
        came = 0 if k == kinds - 1 else kind_hold[k]
        for e in range(first[u], first[u + 1]):
            t = now + max(0, came - hold[e])
            if t >= depart[e]:
                continue
            depart[e] = t
            v = target[e]
            whole = t + hold[e] + latency[e]
            usable[v] = min(usable[v], whole)
            if stores[v]:
                then, there = whole, v * kinds + kinds - 1
            else:
                then, there = t + latency[e], v * kinds + kind[e]
            if then < time[there]:
                time[there] = then
                size = push(heap, 0, size, then * states + there)


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def lengths_of_ways(
    first, tail, target, length, sources, row, wanted, amount, heap, distance, link_to, order, carried, load
):
    """Route demands over shortest ways; return the sum of ``amount * distance``, -1 if there is no way.

    Link e leads from `tail[e]` to `target[e]`. Source i wants ``amount[j]`` at the nodes ``wanted[j]`` for j from
    ``row[i]`` to ``row[i+1]``; with one row only, all sources want the same. `length` int64[L] >= 0. `load` float64[L]
    is added to by what each link carries. The other arrays are room: `heap` int64[L+N], `distance`, `link_to`, `order`
    int64[N], `carried` float64[N].
    """
    n = first.size - 1
    far = np.int64(1) << 60
    total = np.int64(0)
    for i in range(sources.size):
        source = sources[i]
        begin, end = (row[i], row[i + 1]) if row.size > 2 else (row[0], row[1])
        for u in range(n):
            distance[u], carried[u] = far, 0.0
        distance[source] = 0
        link_to[source] = -1
        size, reached = push(heap, 0, 0, source), 0
        while size > 0:
            key = pop(heap, 0, size)
            size -= 1
            now, u = key // n, key % n
            if carried[u] < 0.0 or distance[u] < now:
                continue
            carried[u] = -1.0  # settled; becomes a sum below
            order[reached] = u
            reached += 1
            for e in range(first[u], first[u + 1]):
                v = target[e]
                if now + length[e] < distance[v]:
                    distance[v] = now + length[e]
                    link_to[v] = e
                    size = push(heap, 0, size, distance[v] * n + v)
        for u in range(n):
            carried[u] = 0.0
        for j in range(begin, end):
            v = wanted[j]
            if distance[v] >= far:
                return np.int64(-1)
            carried[v] += amount[j]
            total += amount[j] * distance[v]
        for j in range(reached - 1, 0, -1):
            v = order[j]
            if carried[v] > 0.0:
                e = link_to[v]
                load[e] += carried[v]
                carried[tail[e]] += carried[v]
    return total


FAR = 1 << 60
"""The time of what never happens."""

_KINDS = 16
"""The most occupancies that are told apart on the way through a switch; of more, none is, which is never too late."""

_LEVELS = 3
"""Speeds, and heights of switches, at which a network is taken apart."""


def _few(values: npt.NDArray[Any]) -> list[Any]:
    """Return a few of some values, evenly spread."""
    places = np.linspace(0, values.size - 1, min(values.size, _LEVELS)).astype(np.int64)
    some: list[Any] = values[places].tolist()
    return some


_REMEMBERED = 40_000
"""Numbers that all answers of `travel` may have together that are remembered."""


_FEW = 256
"""Up to so many links, a dictionary finds those that are alike fastest."""


class Travel(NamedTuple):
    """When a packet can be where: int64 arrays in slots of a whole packet, `FAR` where never.

    `usable` [N] is the first slot in which it may be sent on from a node that stores, and by which it is there whole;
    `depart` [L] the first slot in which it can leave over a link.
    """

    usable: Counts
    depart: Counts


class Shares(NamedTuple):
    """Ports that links share: those through which each link sends and receives, int64[L], -1 for none; int64[P]."""

    sending: Counts
    receiving: Counts
    capacity: Counts
    occupancy: Counts

    @classmethod
    def of(cls, ports: SharedPorts) -> Shares:
        """Return the ports in the order of the network's links."""
        return cls(*(np.asarray(c).astype(np.int64) for c in ports.columns[:4]))

    def turned(self, order: Counts) -> Shares:
        """Return the ports of the links turned round, in an order."""
        return self._replace(sending=self.receiving[order], receiving=self.sending[order])


@dataclass(frozen=True, eq=False)
class Links:
    """Links sorted by source, int64[L] each, in slots of whole packets.

    * `first` (int64[N+1]): links of node u are ``first[u]:first[u+1]``.
    * `source`, `target`, `number` (int64[L]): ends, and the number of the link in the network.
    * `capacity`, `occupancy`, `latency` (int64[L]): as in the network; capacity 1 under a port limit.
    * `ports`: ports that links share.
    * `stores` (bool[N]): whether a node sends on only what it has whole: all but switches that cut through.
    * `send_limited`, `receive_limited`, `whole`: as in the case.

    >>> import gossamer
    >>> slow = gossamer.network("array:3").with_times(2, 1)
    >>> links_of(slow, Rules()).travel(np.array([0])).usable.tolist()
    [0, 3, 6]
    >>> links_of(slow, Rules(segmented=True)).travel(np.array([0])).usable.tolist()
    [0, 1, 2]
    """

    first: Counts
    source: Counts
    target: Counts
    number: Counts
    capacity: Counts
    occupancy: Counts
    latency: Counts
    ports: Shares | None
    stores: npt.NDArray[np.bool_]
    terminal_count: int
    send_limited: bool
    receive_limited: bool
    whole: bool

    @property
    def node_count(self) -> int:
        """Number of nodes N."""
        return int(self.stores.size)

    @cached_property
    def rate(self) -> npt.NDArray[np.float64]:
        """Packets that each link passes in a step, float64[L]; exactly ``capacity / occupancy``."""
        return self.capacity / self.occupancy

    @cached_property
    def fair_rate(self) -> npt.NDArray[np.float64]:
        """Packets that each link passes in a step while all links through its ports are busy, float64[L]."""
        rate = self.rate
        if self.ports is not None:
            for side in (self.ports.sending, self.ports.receiving):
                wanted = np.bincount(side + 1, self.rate, self.ports.capacity.size + 1)
                share = self.ports.capacity / self.ports.occupancy / np.maximum(wanted[1:], 1e-300)
                rate = np.minimum(rate, self.rate * np.append(np.minimum(share, 1.0), 1.0)[side])
        return rate

    @cached_property
    def partitions(self) -> list[Counts]:
        """The part of each node, int64[N], where the slower links or the higher switches are left out: servers, racks.

        Of several speeds and levels a few are taken. A switch is as high as it is far from the nearest terminal.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n, kept = self.node_count, list[npt.NDArray[np.bool_]]()
        for slow in (self.occupancy / self.capacity, (self.hold + self.latency).astype(np.float64)):
            kept += [slow <= value for value in _few(np.unique(slow)[:-1])]
        height = self._heights
        for level in _few(np.unique(height)[1:-1]):
            kept.append(np.maximum(height[self.source], height[self.target]) <= level)
        found: dict[bytes, Counts] = {}
        for links in kept:
            ends = self.source[links], self.target[links]
            graph = coo_array((np.ones(int(links.sum())), ends), shape=(n, n))
            parts, part = connected_components(graph, directed=False)
            if 1 < parts < n:
                found[part.tobytes()] = part.astype(np.int64)
        return list(found.values())

    @cached_property
    def _heights(self) -> Counts:
        """How many links each node is away from the nearest terminal, int64[N]; -1 if it is joined to none."""
        height = np.where(np.arange(self.node_count) < self.terminal_count, 0, -1)
        step = 0
        while (new := self.source[(height[self.target] == step) & (height[self.source] < 0)]).size:
            step += 1
            height[new] = step
        return height

    @cached_property
    def hold(self) -> Counts:
        """Slots for which a packet holds a link: none for the smallest parts of segmented messages."""
        return self.occupancy if self.whole else np.zeros_like(self.occupancy)

    @cached_property
    def turned(self) -> Links:
        """The links turned round, as reversed schedules use them."""
        whole: Links | None = vars(self).get("of_whole")
        if whole is not None:  # as messages in parts use them, with the same columns
            back: Links = replace(whole.turned, whole=False)
            vars(back).update(turned=self, turned_place=whole.turned.turned_place)
            vars(self)["turned_place"] = whole.turned_place
            return back
        order = np.argsort(self.target, kind="stable")
        counts = np.bincount(self.target, minlength=self.node_count)
        found = replace(
            self, first=np.concatenate([[0], np.cumsum(counts)]), source=self.target[order], target=self.source[order],
            number=self.number[order], capacity=self.capacity[order], occupancy=self.occupancy[order],
            latency=self.latency[order], send_limited=self.receive_limited, receive_limited=self.send_limited,
            ports=None if self.ports is None else self.ports.turned(order),
        )  # fmt: skip
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        vars(found)["turned"], vars(found)["turned_place"] = self, order
        vars(self)["turned_place"] = place
        return found

    @cached_property
    def in_parts(self) -> Links:
        """The links as messages in parts use them, with the same columns."""
        found = replace(self, whole=False)
        vars(found)["of_whole"] = self
        return found

    @cached_property
    def turned_place(self) -> Counts:
        """The place of each link among the links of `turned`, int64[L]."""
        known = self.turned
        del known
        place: Counts = vars(self)["turned_place"]
        return place

    def travel(self, start: Counts) -> Travel:
        """Return when a packet that is at each of the nodes `start` in slot 0 can be where: read-only. O(L log L).

        Different bounds ask the same, so answers are remembered.
        """
        asked = np.asarray(start, np.int64).tobytes()
        found = self._asked.get(asked)
        if found is None:
            found = self._travel(start)
            if (len(self._asked) + 1) * (self.node_count + self.source.size) <= _REMEMBERED:
                self._asked[asked] = found
        return found

    @cached_property
    def _asked(self) -> dict[bytes, Travel]:
        """What is known of `travel`."""
        return {}

    def _travel(self, start: Counts) -> Travel:

        n, heap = self.node_count, self._room
        usable, depart = np.empty(n, np.int64), np.empty(self.source.size, np.int64)
        kind, kind_hold = self._kinds
        earliest(
            self.first, self.target, self.hold, self.latency, kind, kind_hold, self.stores,
            np.asarray(start, np.int64), FAR, heap, np.empty(n * (kind_hold.size + 1), np.int64), usable, depart,
        )  # fmt: skip
        usable.flags.writeable = depart.flags.writeable = False
        return Travel(usable, depart)

    @cached_property
    def _kinds(self) -> tuple[Counts, Counts]:
        """The kind of each link by occupancy, and the holds of the kinds; one where all nodes store."""
        none = np.zeros(self.source.size, np.int64), np.zeros(1, np.int64)
        if bool(self.stores.all()):
            return none
        holds, kind = np.unique(self.hold, return_inverse=True)
        return (kind.astype(np.int64), holds) if holds.size <= _KINDS else none

    @cached_property
    def _room(self) -> Counts:
        return np.empty(self.source.size * (self._kinds[1].size + 1) + self.node_count, np.int64)


def links_of(network: Network, rules: Rules) -> Links:
    """Return the links of a network under given rules."""
    stores = np.ones(network.node_count, np.bool_)
    if rules.cut_through:
        stores[network.terminal_count :] = False
    limited = rules.send_limited or rules.receive_limited
    capacity = np.int64(1) if limited else network.link_capacity.astype(np.int64)
    return Links(
        network.first_link.copy(),  # may be written to, as where links are turned round: kernels are compiled once
        network.link_source.astype(np.int64),
        network.link_target.astype(np.int64),
        np.arange(network.link_count, dtype=np.int64),
        np.broadcast_to(capacity, network.link_source.shape),
        network.link_occupancy.astype(np.int64),
        network.link_latency.astype(np.int64),
        None if network.shared_ports is None else Shares.of(network.shared_ports),
        stores,
        network.terminal_count,
        rules.send_limited,
        rules.receive_limited,
        not rules.segmented,
    )


def least_time(needed: int, capacity: Counts, occupancy: Counts, wait: Counts, whole: bool) -> Fraction | None:
    """Return the least time by which so many packets can have passed over links side by side.

    * `needed`: packets, at least 1.
    * `capacity`, `occupancy` (int64[k]): packets that a link carries at once, and steps for which one occupies it.
    * `wait` (int64[k]): steps before the first packet enters a link and after the last has left it, together; less than
      0 is allowed.
    * `whole`: whether packets are whole. Parts pass as a fluid.

    Returns: the least T, 0 or more, with ``sum(capacity * floor((T - wait) / occupancy)) >= needed``, for parts without
    the floor; None if there is no link.

    >>> links = np.array([1, 1]), np.array([1, 3]), np.array([0, 2])
    >>> least_time(6, *links, True), least_time(6, *links, False)
    (Fraction(5, 1), Fraction(5, 1))
    """
    use = np.flatnonzero((capacity > 0) & (wait < FAR // 2))
    if not use.size:
        return None
    rows = _alike(capacity[use], occupancy[use], wait[use])
    if not whole:
        return _fluid_time(needed, rows)
    high = max(0, min(w + o * -(-needed // c) for o, w, c in rows))
    low = -1  # too early
    while high - low > 1:
        middle = (low + high) // 2
        if sum(c * max(0, (middle - w) // o) for o, w, c in rows) >= needed:
            high = middle
        else:
            low = middle
    return Fraction(high)


def _alike(capacity: Counts, occupancy: Counts, wait: Counts) -> list[tuple[int, int, int]]:
    """Return occupancy, wait and total capacity of links that are alike."""
    total: dict[tuple[int, int], int] = {}
    if capacity.size > _FEW:
        kinds, group = np.unique(np.stack([occupancy, wait]), axis=1, return_inverse=True)
        sums = np.zeros(kinds.shape[1], np.int64)
        np.add.at(sums, group.reshape(-1), capacity)
        capacity, (occupancy, wait) = sums, kinds
    for o, w, c in zip(occupancy.tolist(), wait.tolist(), capacity.tolist(), strict=True):
        total[o, w] = total.get((o, w), 0) + c
    return [(o, w, c) for (o, w), c in total.items()]


def _fluid_time(needed: int, rows: list[tuple[int, int, int]]) -> Fraction:
    """Return the least T with ``sum(c/o * max(0, T - w)) >= needed``."""
    rows = sorted(rows, key=lambda row: row[1])
    rate, offset = Fraction(0), Fraction(0)  # T * rate - offset have passed at T
    for i, (o, w, c) in enumerate(rows):
        rate += Fraction(c, o)
        offset += Fraction(c * w, o)
        time = (needed + offset) / rate
        if i + 1 == len(rows) or time <= rows[i + 1][1]:
            return max(time, Fraction(0))
    raise AssertionError("unreachable")
