"""Bounds from cuts around any set of nodes, with the times of links and of the ways before and after the cut.

If m messages must leave a set, each over one of the links out of it, link i can take a packet from the slot d_i on, in
which the nearest of them can be there, and must have passed it on early enough for the nearest of their targets: of T
slots, w_i are no use to it, its own latency among them. So ``sum(c_i * floor((T - w_i) / o_i)) >= m`` for capacities c
and occupancies o. Under a port limit the links of a node count as one. Any set gives a valid bound; good ones are found
by maximum flows, by sweeps, and around nodes joined by fast links. Messages that come from further inside, or go
further outside, are also looked at by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound, around_text
from gossamer.bounds.earliest_arrivals import spread, takes_time
from gossamer.bounds.grid_cuts import SOURCE, Floats, thin_cuts
from gossamer.bounds.proofs import Cut, Load, Mask, Separator, least_cut, served
from gossamer.networks.network import Network
from gossamer.networks.recognition.missing_links import almost_torus
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand, NodeLine, PairDemand
from gossamer.questions.cases.distances import axes_of
from gossamer.questions.cases.links import FAR, Links

# Bounds from sets of nodes with few neighbors, where nodes use one port at a time.
#
# The messages that the nodes of a set must receive come from the neighbors of the set, and where a node sends one
# packet a step, no more of them come in a step than there are neighbors. So a set that needs m messages and has k
# neighbors takes ``ceil(m/k)`` steps; time reversed, the same holds for what a set must send where nodes receive one
# packet a step. On an array with an odd number N of nodes the larger color class has one node more than its neighbors:
# an allgather, of N-1 messages for each node, takes N+1 steps. Looked at are the two color classes of bipartite
# networks, all terminals, the terminals of degree 1, and, where degrees differ, the best set of all: if neighbors send
# at a rate of x in all, a flow brings every node what it needs, or its minimum cut is a set that proves a larger x
# (Newton's method).

_ROUNDS = 12


def color_classes(network: Network) -> tuple[Mask, Mask] | None:
    """Return the two sets of nodes of which none has links inside, each bool[N], or None if there are none.

    >>> import gossamer
    >>> [int(nodes.sum()) for nodes in color_classes(gossamer.network("array:3x5"))]
    [8, 7]
    >>> color_classes(gossamer.network("ring:5")) is None
    True
    """
    odd = network.breadth_first(0).distance % 2 == 1
    if (odd[network.link_source] == odd[network.link_target]).any():
        return None
    return ~odd, odd


def _sets(network: Network) -> Iterator[tuple[str, Mask]]:
    """Yield sets worth looking at, and what they are."""
    terminal = np.arange(network.node_count) < network.terminal_count
    for nodes in color_classes(network) or ():
        yield "nodes that have no links among each other", nodes & terminal
    if not terminal.all():
        yield "terminals", terminal
    ends = terminal & (network.out_degree == 1)
    if ends.any():
        yield "terminals with one neighbor", ends


def _narrowest(network: Network, need: Counts, incoming: bool) -> Mask | None:
    """Return the set that needs most for its number of neighbors, None if it is not larger than a single node."""
    n, every, source, sink = network.node_count, np.arange(network.node_count), network.link_source, network.link_target
    if not incoming:
        source, sink = sink, source
    rate, best = Fraction(int(need.max())), None
    for _ in range(_ROUNDS):
        top = max(int(need.sum()) * rate.denominator, n * rate.numerator)
        if top > 2**30:
            break
        room = np.concatenate([np.full(n, rate.numerator), np.full(source.size, top), need * rate.denominator])
        tail = np.concatenate([np.full(n, 2 * n), source, n + every])
        head = np.concatenate([every, n + sink, np.full(n, 2 * n + 1)])
        fed = least_cut(tail, head, room, 2 * n, 2 * n + 1).near
        nodes = ~fed[n : 2 * n] & (need > 0)
        found = Fraction(int(need[nodes].sum()), max(np.unique(source[nodes[sink]]).size, 1))
        if not nodes.any() or found <= rate:
            break
        rate, best = found, nodes
    return best


def port_set_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best bound of a set of nodes with few neighbors, for what it must receive and for what it must send."""
    net = case.network
    if not case.limited or case.invariant or not net.two_way or net.node_count + net.link_count > LARGEST:
        return
    every = np.arange(net.node_count)
    for incoming, limited in ((True, case.send_limited), (False, case.receive_limited)):
        if not limited:
            continue
        need = np.sum([demand.handled(every, incoming) for demand in case.demands], axis=0)
        best: Bound | None = None
        narrow = _narrowest(net, need, incoming) if np.unique(net.out_degree).size > 1 else None
        for what, nodes in [*_sets(net), *([] if narrow is None else [("nodes", narrow)])]:
            neighbors = np.unique(net.link_source[nodes[net.link_target]]).size
            if not neighbors:
                continue
            load = Load.of(need[nodes].sum(), neighbors, whole=case.whole)
            if best is None or load.value > best.value:
                verb, does = ("receive", "send") if incoming else ("send", "take")
                text = (
                    f"{int(nodes.sum()):,} {what} must {verb} {case.packets_text(int(need[nodes].sum()))}, but have "
                    f"only {quantity(neighbors, 'neighbor')} to {does} them, one each at a time"
                )
                beside = np.unique(net.link_source[nodes[net.link_target]])  # links are two-way
                proof = Separator.by(load, nodes=beside, send=incoming, alone=np.flatnonzero(nodes))
                best = Bound.of("few neighbors", proof, text, "ports", "gossamer; Hall's condition for ports")
        if best is not None:
            yield best


LARGEST, _LARGEST_PARTS = 200_000, 4_000_000
"""Links up to which sets are looked for; and up to which they are the parts without higher switches or slow links."""

_SETS = 5
"""How many sets, those with most messages for their links, are worked out with times."""

_SWEEPS = 4
_LEVELS = 3
_SINGLE = 2


class Crossing(NamedTuple):
    """So much time, because messages load links or ports across, the first after `before`, the last `after` the end.

    Those from some nodes, bool[N], to some others.
    """

    time: Fraction
    load: Load
    sources: Mask
    targets: Mask
    links: int
    before: int
    after: int


def holders(case: Case) -> Mask:
    """Return which nodes have messages, or contributions, that others want, bool[N]."""
    return _ends(case, True)


def wanters(case: Case) -> Mask:
    """Return which nodes want messages, or contributions, of others, bool[N]."""
    return _ends(case, False)


def _ends(case: Case, origins: bool) -> Mask:
    found = np.zeros(case.network.node_count, np.bool_)
    for demand in case.demands:
        if not isinstance(demand, HubDemand):
            found[demand.holders if origins else demand.wanters] = True
        elif demand.outward == origins:
            found[demand.hubs] = True
        else:
            found[: demand.terminal_count] = True
    return found


def crossings(demand: Demand, sources: Mask, targets: Mask) -> int:
    """Return how many messages must get from one set of nodes to another that is disjoint from it."""
    if not isinstance(demand, HubDemand):
        start, end = demand.pairs
        asked = sources[start] & targets[end]
        return int(np.unique(demand.message[asked]).size if demand.shared else asked.sum())
    hubs_at, others_at = (sources, targets) if demand.outward else (targets, sources)
    hubs = int(hubs_at[demand.hubs].sum())
    others = int(others_at[: demand.terminal_count].sum())
    return hubs * (min(others, 1) if demand.shared else others)


def crossing(case: Case, inside: Mask, sources: Mask, targets: Mask) -> Crossing | None:
    """Return what it takes that the messages from some nodes of a set to some nodes outside leave it.

    `inside`, `sources`, `targets` (bool[N]): the set; nodes of it; nodes that are not in it. Returns: None if no
    message must leave.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:4").with_times(2, 1), gossamer.task("alltoall"))
    >>> half = np.arange(4) < 2
    >>> crossing(case, half, half, ~half).time
    Fraction(9, 1)
    """
    messages = sum(crossings(d, sources, targets) for d in case.demands)
    links = case.links
    out = np.flatnonzero(inside[links.source] & ~inside[links.target])
    if not messages or not out.size:
        return None
    head = links.travel(np.flatnonzero(sources & holders(case))).depart[out]
    tail = links.turned.travel(np.flatnonzero(targets & wanters(case))).depart[links.turned_place[out]]
    open_ = np.flatnonzero((head < FAR) & (tail < FAR))
    out, head, tail = out[open_], head[open_], tail[open_]
    if not out.size:
        return None
    latency = links.latency[out]
    loads = [*served(links, out, messages, head, tail)]
    if links.ports is not None:
        sides = (links.ports.sending[out], head, latency + tail, True), (
            links.ports.receiving[out], head + latency, tail, False,
        )  # fmt: skip
        through = (_through_ports(case, messages, out, *side) for side in sides)
        loads += [load for load in through if load is not None]
    time, load = max(((load.value, load) for load in loads), key=lambda found: found[0])
    return Crossing(time, load, sources, targets, out.size, int(head.min()), int((latency + tail).min()))


def _through_ports(
    case: Case, messages: int, out: Counts, port: Counts, early: Counts, late: Counts, sends: bool
) -> Load | None:
    """Return what messages load over links of which some share the ports of one side, `port`, -1 for none.

    A packet is in the port of its sender first and then for the rest of the link's occupancy on the link alone; in that
    of the receiver last. Links that together pass less than their port count by themselves.
    """
    links, ports = case.links, case.links.ports
    assert ports is not None
    capacity, occupancy, wait = links.capacity[out], links.occupancy[out], early + late
    rate = np.bincount(port + 1, links.rate[out], ports.capacity.size + 1)[1:]
    narrow = np.append(ports.capacity / ports.occupancy < rate, False)[port]
    if not narrow.any():
        return None
    through = np.flatnonzero(narrow)
    found, group = np.unique(port[through], return_inverse=True)
    beyond = (links.hold[out] - np.where(case.whole, ports.occupancy[port], 0))[through]  # on the link alone
    first, last = np.full(found.size, FAR), np.full(found.size, FAR)
    np.minimum.at(first, group, early[through] + (0 if sends else beyond))
    np.minimum.at(last, group, late[through] + (beyond if sends else 0))
    return Load(
        messages,
        np.concatenate([capacity[~narrow], ports.capacity[found]]),
        np.concatenate([occupancy[~narrow], ports.occupancy[found]]),
        np.concatenate([wait[~narrow], first + last]),
        case.whole,
    )


def best_crossing(case: Case, inside: Mask) -> Crossing | None:
    """Return the longest time that messages need to leave a set: all, or those from or to further away."""
    links = case.links
    sources, targets = inside & holders(case), ~inside & wanters(case)
    best = crossing(case, inside, sources, targets)
    if best is None:
        return None
    out = np.flatnonzero(inside[links.source] & ~inside[links.target])
    beyond = links.travel(links.target[out]).usable
    within = links.turned.travel(links.source[out]).usable
    for some in _further(sources, within):
        for others in _further(targets, beyond):
            found = crossing(case, inside, some, others)
            if found is not None and found.time > best.time:
                best = found
    return best


def _further(nodes: Mask, time: Counts) -> list[Mask]:
    """Return the nodes at least so far away, for a few times between the nearest and the furthest."""
    times = np.unique(time[nodes & (time < FAR)])
    return [nodes & (time >= step) for step in spread(times, _LEVELS).tolist()] if times.size else []


def set_cut_bounds(case: Case, *, quick: bool = False) -> Iterator[Bound]:
    """Yield the best cut around a set of nodes, on networks whose structure does not say which it is.

    Where it must be `quick`, no thin cuts are looked for by flows.
    """
    net = case.network
    known = net.group is not None or net.levels is not None or bool(axes_of(case.metric)) or _one_message(case)
    if not 0 < net.link_count <= _LARGEST_PARTS or (known and not takes_time(case)):
        return
    yield from best_cut(case, _chosen(case, quick))


def best_cut(case: Case, sets: Iterable[Mask]) -> Iterator[Bound]:
    """Yield the best cut around some sets of nodes, bool[N] each, that messages must leave; none if none must.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:8"), gossamer.task("alltoall"))
    >>> print(next(best_cut(case, [np.arange(8) < 4])))
    8 steps, cut around nodes: 16 messages must leave the 4 nodes (0), (1), (2), (3) over 2 links
    """
    best: tuple[Crossing, Mask] | None = None
    for inside in sets:
        found = best_crossing(case, inside)
        if found is not None and (best is None or found.time > best[0].time):
            best = found, inside
    if best is not None:
        yield _bound(case, *best)


_KEPT_SETS = 4_096


class KnownSets:
    """Sets of nodes of a network, and how fast each can be left and entered, for exchanges that differ in counts alone.

    They are the terminals, each by itself, and the servers, racks and pods into which the network falls without its
    slower links, or without its higher switches.

    `inside`: list of bool[N]. `rates` (float64[2, K]): packets a step over the links out of each set, and into it.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoall"))
    >>> known = KnownSets(case.links)
    >>> len(known.inside), [sides.tolist() for sides in known.busiest(np.eye(4)[[2, 0, 1, 3]], 1)]
    (4, [[True, False, False, False]])
    """

    def __init__(self, links: Links) -> None:
        nodes, size = np.arange(links.node_count), links.terminal_count
        self.inside = [nodes == v for v in range(size)]
        self._parts: list[tuple[Counts, Counts, Mask]] = []
        for part in links.partitions:
            mine = part[:size]
            sizes = np.bincount(mine)
            kept = np.flatnonzero((sizes > 1) & (sizes < size))
            if kept.size and len(self.inside) + kept.size <= max(size, _KEPT_SETS):
                self.inside += [part == k for k in kept.tolist()]
                self._parts.append((mine, kept, mine[:, None] != mine))
        self.rates = np.empty((2, len(self.inside)))
        for k, inside in enumerate(self.inside):
            leaves, enters = inside[links.source], inside[links.target]
            for side, across in enumerate((leaves & ~enters, enters & ~leaves)):
                self.rates[side, k] = _rate_out(links, np.flatnonzero(across))

    @property
    def parts(self) -> bool:
        """Whether there are other sets than single terminals."""
        return bool(self._parts)

    def busiest(self, table: Floats, most: int = _SETS) -> list[Mask]:
        """Return the sets that most must leave for the links out of them, bool[N] each, the most first.

        `table`, float64[T, T]: what each terminal has for each other, in any unit. What must enter a set leaves the
        other nodes, which are then returned.
        """
        leave, enter = table.sum(axis=1), table.sum(axis=0)
        for part, kept, across in self._parts:
            away = table * across
            ends = (np.bincount(part, away.sum(axis=side))[kept] for side in (1, 0))
            leave, enter = (np.append(known, more) for known, more in zip((leave, enter), ends, strict=True))
        long = np.where(self.rates > 0, np.stack([leave, enter]) / np.maximum(self.rates, 1e-300), 0.0).reshape(-1)
        first = np.argsort(-long, kind="stable")[:most]
        count = len(self.inside)
        return [self.inside[k] if k < count else ~self.inside[k - count] for k in first.tolist() if long[k] > 0]


def _one_message(case: Case) -> bool:
    """Return whether a single whole message is for all, so that a cut says no more than a distance."""
    demand = case.demands[0]
    return case.whole and isinstance(demand, HubDemand) and demand.shared and demand.hubs.size == len(case.demands) == 1


def _bound(case: Case, found: Crossing, inside: Mask) -> Bound:
    text = cut_text(case, found, inside, case.packets_text(found.load.needed))
    sources, targets = np.flatnonzero(found.sources), np.flatnonzero(found.targets)
    proof = Cut.by(found.load, nodes=np.flatnonzero(inside), sources=sources, targets=targets)
    return Bound.of("cut around nodes", proof, text, "cut", SOURCE)


def cut_text(case: Case, found: Crossing, inside: Mask, amount: str) -> str:
    """Return for a witness what must leave a set, or enter the other nodes, over which links."""
    near = 2 * int(inside.sum()) <= inside.size
    few = np.flatnonzero(inside == near)
    side = case.set_text(few.size, case.names(few))
    out = np.flatnonzero(inside[case.links.source] & ~inside[case.links.target])
    way, over = "leave" if near else "enter", case.links_text(case.links.number[out])
    shared, known = case.links.ports, case.network.shared_ports
    if shared is not None and known is not None:
        rate = shared.capacity / shared.occupancy
        sides = (np.unique(port[out][port[out] >= 0]) for port in (shared.sending, shared.receiving))
        used = min((s for s in sides if s.size), key=lambda s: float(rate[s].sum()), default=None)
        if used is not None:
            speeds = None if known.bandwidth is None else np.asarray(known.bandwidth)[used] * shared.capacity[used]
            ports = "1 shared NIC or uplink" if used.size == 1 else f"{used.size:,} shared NICs or uplinks"
            over = f"{quantity(out.size, 'link')} through {ports}{case.units.speed_text(rate[used], speeds)}"
    around = around_text(case.units, int(found.before), int(found.after))
    return f"{amount} must {way} {side} over {over}{around}"


def _chosen(case: Case, quick: bool) -> list[Mask]:
    """Return the sets to work out, with their complements: of all proposed, those with most messages for their links.

    The same ones for a case and its dual, whose proposals are those of the other direction of time.
    """
    scored: dict[bytes, tuple[float, Mask]] = {}
    for proposed in _proposed(case, quick):
        inside = proposed if proposed[0] else ~proposed
        key = np.packbits(inside).tobytes()
        if key not in scored:
            scored[key] = max(_score(case, inside), _score(case, ~inside)), inside
    order = sorted(scored, key=lambda key: (-round(scored[key][0], 9), key))
    chosen = [scored[key][1] for key in order[:_SETS] if scored[key][0] > 0]
    return [side for inside in chosen for side in (inside, ~inside)]


def _score(case: Case, inside: Mask) -> float:
    """Return about how long messages need to leave a set."""
    links = case.links
    messages = sum(crossings(d, inside, ~inside) for d in case.demands)
    out = np.flatnonzero(inside[links.source] & ~inside[links.target])
    if not messages or not out.size:
        return 0.0
    return messages / _rate_out(links, out) + float(links.latency[out].min())


def _rate_out(links: Links, out: Counts) -> float:
    """Return how many packets a step can cross some links, those out of a set, about."""
    rate = float(links.rate[out].sum())
    for limited, ends in ((links.send_limited, links.source), (links.receive_limited, links.target)):
        if limited:
            best = np.zeros(links.node_count)
            np.maximum.at(best, ends[out], links.rate[out])
            rate = min(rate, float(best.sum()))
    if links.ports is not None:
        for side in (links.ports.sending[out], links.ports.receiving[out]):
            wanted = np.bincount(side + 1, links.rate[out], links.ports.capacity.size + 1)
            passed = np.minimum(wanted[1:], links.ports.capacity / links.ports.occupancy)
            rate = min(rate, float(wanted[0] + passed.sum()))
    return rate


def _proposed(case: Case, quick: bool) -> Iterator[Mask]:
    """Yield sets of nodes, of which the complements are meant too."""
    yield from _layers(case)
    if case.network.link_count > LARGEST:
        yield from _parts(case)
        return
    if not quick:
        yield from thin_cuts(case)
    yield from _prefixes(case)
    yield from _parts(case)
    yield from _single_nodes(case)
    yield from _ends_of_ports(case)


def _layers(case: Case) -> Iterator[Mask]:
    """Yield halves of a torus of which a few links failed: for each dimension the one with the fewest links out."""
    torus, links = almost_torus(case.network), case.links
    for i, side in enumerate(torus.sides if torus is not None else ()):
        halves = [(torus.place[:, i] - first) % side < side // 2 for first in range(side)] if torus is not None else []
        yield min(halves, key=lambda half: float(links.fair_rate[half[links.source] & ~half[links.target]].sum()))


def _prefixes(case: Case) -> Iterator[Mask]:
    """Yield, in the order in which a message reaches nodes, those reached first that make the best cut."""
    links, n = case.links, case.network.node_count
    terminals = np.flatnonzero(holders(case) | wanters(case))
    first = spread(terminals, _SWEEPS)
    place = np.arange(n)
    for way in (links, links.turned):
        far = first[np.argmax(way.travel(first[:1]).usable[first])]
        for start in dict.fromkeys([int(far), *first.tolist()]):
            order = np.argsort(way.travel(np.array([start])).usable, kind="stable")
            rank = np.empty(n, np.int64)
            rank[order] = place
            for cut in _prefix_cuts(case, rank), _prefix_cuts(case, n - 1 - rank):
                if cut is not None:
                    yield cut


def _prefix_cuts(case: Case, rank: Counts) -> Mask | None:
    """Return the nodes up to the rank that most messages must leave for the links that lead up."""
    links, n = case.links, rank.size
    line = NodeLine(n, lambda nodes: rank[nodes], np.bincount(rank[: links.terminal_count], minlength=n))
    low, high = rank[links.source], rank[links.target]
    up = low < high
    rate = np.bincount(low[up], links.fair_rate[up], n) - np.bincount(high[up], links.fair_rate[up], n)
    count: Counts = sum(d.upward(line, False) for d in case.demands)  # type: ignore[assignment]
    ratio = np.where(count > 0, count / np.maximum(np.cumsum(rate)[:-1], 1e-9), 0.0)
    cut = int(np.argmax(ratio))
    return rank <= cut if ratio[cut] > 0 else None


def _single_nodes(case: Case) -> Iterator[Mask]:
    """Yield the nodes that have most to receive, or to send, for their links."""
    links, nodes = case.links, np.arange(case.network.node_count)
    for incoming, ends in ((True, links.target), (False, links.source)):
        rate = np.bincount(ends, links.fair_rate, nodes.size)
        count: Counts = sum(d.handled(nodes, incoming) for d in case.demands)  # type: ignore[assignment]
        ratio = np.where(rate > 0, count / np.maximum(rate, 1e-300), 0.0)
        for v in np.argsort(-ratio, kind="stable")[:_SINGLE].tolist():
            if ratio[v] > 0:
                yield nodes == v


def _ends_of_ports(case: Case) -> Iterator[Mask]:
    """Yield the nodes that share a port to send or to receive by, for the ports that pass least for their nodes."""
    links, ports = case.links, case.links.ports
    if ports is None:
        return
    for side, ends in ((ports.sending, links.source), (ports.receiving, links.target)):
        rate = (
            ports.capacity
            / ports.occupancy
            / np.maximum(np.bincount(side + 1, minlength=ports.capacity.size + 1)[1:], 1)
        )
        for port in np.argsort(rate, kind="stable")[: 2 * _SINGLE].tolist():
            inside = np.zeros(links.node_count, np.bool_)
            inside[ends[side == port]] = True
            if inside.any() and not inside.all():
                yield inside


def _crossing_parts(case: Case, part: Counts, parts: int) -> Floats:
    """Return for each part of a network how long listed messages need to leave or enter it, about, float64[parts]."""
    links = case.links
    tail, head = part[links.source], part[links.target]
    out = tail != head
    ends = [np.zeros(parts), np.zeros(parts)]
    for demand in case.demands:
        if isinstance(demand, PairDemand) and not demand.shared:
            here, there = (part[nodes] for nodes in demand.pairs)
            away = here != there
            for side, nodes in enumerate((here, there)):
                ends[side] += np.bincount(nodes[away], minlength=parts)
    rates = [np.bincount(nodes[out], links.fair_rate[out], parts) for nodes in (tail, head)]
    return np.asarray(np.max([count / np.maximum(r, 1e-300) for count, r in zip(ends, rates, strict=True)], axis=0))


def _parts(case: Case) -> Iterator[Mask]:
    """Yield the parts into which a network falls without its slower links, or without its higher switches."""
    for part in case.links.partitions:
        sizes = np.bincount(part)
        some = np.argsort(-sizes, kind="stable")[:_SWEEPS]
        busiest = np.argsort(-_crossing_parts(case, part, sizes.size), kind="stable")[:1]
        for k in dict.fromkeys([*some.tolist(), *busiest.tolist()]):
            if sizes[k] > 1:
                yield part == k
