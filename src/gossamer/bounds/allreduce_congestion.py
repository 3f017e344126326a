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
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound, around_text
from gossamer.bounds.earliest_arrivals import spread
from gossamer.bounds.grid_cuts import Floats, thin_cuts
from gossamer.bounds.proofs import Load, Mask, Partition, Region, least_cut
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.links import FAR, Links
from gossamer.questions.tasks import Allreduce, Chunked

# Regions that must share few links: what is combined leaves some of them, and results enter some, over the same links.
#
# A link from one region to another serves what leaves the first and what enters the second. Of all sets of leavings and
# enterings, that with most packets for its links is found by flows (A. V. Goldberg, "Finding a maximum density
# subgraph", 1984): either the packets of all can be shared out among the links in a time, or the minimum cut is a set
# that needs longer; from there the search goes on (Newton's method).

_ROUNDS = 8
_SCALE = 1 << 20


class Crowd(NamedTuple):
    """Regions that packets leave, and regions that packets enter, bool[R]."""

    leaves: Mask
    enters: Mask


def crowded(
    source: Counts, target: Counts, server: Counts, rate: npt.NDArray[np.float64], amount: Counts
) -> Iterator[Crowd]:
    """Yield sets of leavings and enterings that need ever more time, the first of them all.

    * `source`, `target` (int64[L]): the regions between which each link leads.
    * `server` (int64[L]): what passes the packets of each link: the link, or a port that it shares with others; numbers
      from 0.
    * `rate` (float64[]): packets that each server passes in a step.
    * `amount` (int64[R]): packets that must leave each region; as many must enter it.

    A flow for each of at most 8 rounds.

    Two links into node 1 and two out of node 0, of which one is the same, and a link from 1 to 0:

    >>> source, target = np.array([0, 0, 2, 1, 1]), np.array([1, 2, 1, 0, 2])
    >>> [c.leaves.tolist() for c in crowded(source, target, np.arange(5), np.ones(5), np.full(3, 2))][-1]
    [True, True, True]
    """
    regions, servers = amount.size, rate.size
    needs = np.concatenate([amount, amount]).astype(np.float64)  # what leaves, then what enters
    side = np.concatenate([source, target + regions])
    serves = np.concatenate([server, server])
    kept = needs[side] > 0
    pairs = np.unique(np.stack([side[kept], serves[kept]]), axis=1)
    chosen = needs > 0
    start, end = 2 * regions + servers, 2 * regions + servers + 1
    tail = np.concatenate([np.full(2 * regions, start), pairs[0], np.arange(servers) + 2 * regions])
    head = np.concatenate([np.arange(2 * regions), pairs[1] + 2 * regions, np.full(servers, end)])
    unit = 2**30 / max(needs.sum() + 1, 1) if needs.sum() > 2**30 / _SCALE else float(_SCALE)
    time = 0.0
    for _ in range(_ROUNDS):
        open_ = np.zeros(servers, bool)
        open_[pairs[1][chosen[pairs[0]]]] = True
        if not chosen.any() or not open_.any() or needs[chosen].sum() / rate[open_].sum() <= time * (1 + 1e-6):
            return
        time = float(needs[chosen].sum() / rate[open_].sum())
        yield Crowd(chosen[:regions], chosen[regions:])
        room = np.concatenate([needs, np.full(pairs.shape[1], needs.sum()), np.minimum(rate * time, needs.sum())])
        chosen = least_cut(tail, head, room * unit, start, end).near[: 2 * regions] & (needs > 0)


# The regions of a network between which the links are fewest for their number: the strength of a graph.
#
# Of all partitions into k regions, the one with the least capacity between regions over k - 1. For a price x of a
# region the partition of least capacity less x k is found by flows, region by region (W. H. Cunningham, "Optimal attack
# and reinforcement of a network", 1985); from the price at which it costs nothing the search goes on (Newton's method).

_STRENGTH_ROUNDS = 6
_STRENGTH_SCALE = 5040


def weakest_regions(links: Links) -> Counts:
    """Return the number of the region of each node, int64[N], of regions that each hold a terminal.

    N flows for each of at most 6 rounds.

    >>> import gossamer
    >>> import networkx as nx
    >>> from gossamer.questions.cases import Case
    >>> network = gossamer.networks.from_networkx(nx.barbell_graph(3, 0), "two triangles")
    >>> case = Case(network, gossamer.task("allreduce"))
    >>> weakest_regions(case.links).tolist()
    [2, 2, 2, 5, 5, 5]
    """
    low, high = np.minimum(links.source, links.target), np.maximum(links.source, links.target)
    nodes = links.node_count
    home = _with_switches(np.arange(nodes), low, high, links.rate, links.terminal_count)
    names, place = np.unique(home, return_inverse=True)
    place, count = place.reshape(-1), names.size
    low, high = np.minimum(place[low], place[high]), np.maximum(place[low], place[high])
    pair, row = np.unique(low * count + high, return_inverse=True)
    weight = np.bincount(row.reshape(-1), links.rate, pair.size)
    low, high = pair // count, pair % count
    low, high, weight = (x[low != high] for x in (low, high, weight))
    region = np.arange(count)
    price = _ratio(region, low, high, weight)
    for _ in range(_STRENGTH_ROUNDS):
        found = _cheapest(low, high, weight, price, count)
        if np.unique(found).size < 2:
            break
        ratio = _ratio(found, low, high, weight)
        if ratio >= price * (1 - 1e-9):
            break
        region, price = found, ratio
    return names[region][place]


def _ratio(region: Counts, low: Counts, high: Counts, weight: Floats) -> float:
    """Return the capacity between regions over the number of regions less 1."""
    return float(weight[region[low] != region[high]].sum()) / max(np.unique(region).size - 1, 1)


def _with_switches(region: Counts, low: Counts, high: Counts, weight: Floats, terminals: int) -> Counts:
    """Put every switch into a region of a terminal, that to which most capacity leads."""
    region = region.copy()
    left = set(range(terminals, region.size))
    while left:
        best = -1.0, -1, -1
        for a, b, w in zip(low.tolist(), high.tolist(), weight.tolist(), strict=True):
            for x, y in ((a, b), (b, a)):
                if x in left and y not in left and w > best[0]:
                    best = w, x, y
        if best[1] < 0:
            break
        region[best[1]] = region[best[2]]
        left.discard(best[1])
    return region


def _cheapest(low: Counts, high: Counts, weight: Floats, price: float, nodes: int) -> Counts:
    """Return the partition of least capacity between regions less `price` for each region.

    The greedy algorithm for polymatroids: node after node gets as much as no set of nodes forbids, each set of them
    half the capacity around it less the price; sets that forbid more are put together.
    """
    given = np.zeros(nodes)
    region = np.full(nodes, -1, np.int64)
    for v in range(nodes):
        region[v] = v
        inside, given[v] = _tightest(v, low, high, weight, given, price, region >= 0)
        region[np.isin(region, region[inside])] = v
    return region


def _tightest(
    v: int, low: Counts, high: Counts, weight: Floats, given: Floats, price: float, known: Mask
) -> tuple[Mask, float]:
    """Return, of the sets of known nodes with v, the one that allows least for v, and how much."""
    nodes = given.size
    around = np.bincount(low, weight, nodes) + np.bincount(high, weight, nodes)
    within = known[low] & known[high]
    low, high, weight = low[within], high[within], weight[within] / 2
    # what a node costs in the set: half its capacity to nodes that are not known yet, less what it was given
    cost = around / 2 - np.bincount(low, weight, nodes) - np.bincount(high, weight, nodes) - given
    others = np.flatnonzero(known & (np.arange(nodes) != v))
    gain, pay = others[cost[others] < 0], others[cost[others] > 0]
    source, sink = nodes, nodes + 1
    tail = np.concatenate([low, high, np.full(gain.size, source), pay, [source]])
    head = np.concatenate([high, low, gain, np.full(pay.size, sink), [v]])
    room = np.concatenate([weight, weight, -cost[gain], cost[pay], [float(around.sum()) + 1.0]])
    whole = np.rint(room * min(_STRENGTH_SCALE, 2**30 / room.max()))
    mine = least_cut(tail, head, whole, source, sink).near[:nodes] & known
    mine[v] = True
    return mine, float(weight[mine[low] != mine[high]].sum() + cost[mine].sum() - price)


_WORK = 5_000_000
"""Terminals times links up to which the distances of all are found."""

_STRENGTH = 60_000
"""Nodes times links up to which the weakest regions are found exactly."""

_SETS = 24
_TIMES = 12

_SOURCE = "Nash-Williams 1961 and Tutte 1961 for trees; folklore for what comes before and after"


class _TerminalDistances(NamedTuple):
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

    O(T L log L) time for T terminals, and some flows.

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
    between = (found for region in _partitions(case, sets) for found in _between(case, ways, region, packets))
    around = (_around(case, ways, inside, packets) for inside in sets)
    for name, several in (("between regions", between), ("around a region", around)):
        best = max((found for found in several if found is not None), key=lambda found: found[0], default=None)
        if best is not None:
            _, proof, text = best
            yield Bound.of(name, proof, text, "cut", _SOURCE)


def _ways(links: Links) -> _TerminalDistances:
    """Return the distances; none count where switches cut through."""
    n = links.terminal_count
    to, since = np.zeros((links.node_count, n), np.int64), np.zeros((n, links.node_count), np.int64)
    if bool(links.stores.all()):
        for k in range(n):
            since[k] = links.travel(np.array([k])).usable
            to[:, k] = links.turned.travel(np.array([k])).usable
    return _TerminalDistances(to, since, to[:n].max(axis=0), since[:, :n].max(axis=1))


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


def _between(
    case: Case, ways: _TerminalDistances, region: Counts, packets: int
) -> Iterator[tuple[Fraction, Partition, str]]:
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
        what = case.links_text(links.number[across][use])
        if limited:
            order = np.argsort(server[use], kind="stable")
            first = np.flatnonzero(np.diff(server[use][order], prepend=-1))
            occupancy, wait = (np.minimum.reduceat(x[order], first) for x in (occupancy, wait))
            capacity = np.ones(first.size, np.int64)
            what = f"{quantity(use.size, 'link')} of {quantity(first.size, 'node')}, one each at a time"
        needed = int(amount[crowd.leaves].sum() + amount[crowd.enters].sum())
        proof = Partition(
            needed, capacity, occupancy, wait, case.whole, region, np.flatnonzero(crowd.leaves & (amount > 0)),
            np.flatnonzero(crowd.enters & (amount > 0)),
        )  # fmt: skip
        least = int(wait.min())
        around = f", plus at least {case.time_text(least)} before and after together" if least > 0 else ""
        told = f"{_moves(crowd, amount > 0, n * packets)}, {case.packets_text(needed, 'hop')} over {what}{around}"
        yield proof.value, proof, told


def _moves(crowd: Crowd, held: Mask, packets: int) -> str:
    """Return which packets leave and enter which regions, in words."""
    regions, out, into = (int(mask.sum()) for mask in (held, crowd.leaves, crowd.enters))
    if out == into == regions:
        return f"each of {packets:,} packets must leave {regions - 1:,} of {regions:,} regions and enter as many"
    if not out or not into:
        moved = f"results must enter {into:,}" if into else f"contributions must leave {out:,}"
        return f"{moved} of {regions:,} regions, those of other regions"
    return f"contributions must leave {out:,} of {regions:,} regions, and results of others enter {into:,}"


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


def _around(case: Case, ways: _TerminalDistances, inside: Mask, packets: int) -> tuple[Fraction, Region, str] | None:
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
    best: tuple[Fraction, Load, int, int] | None = None
    for early in spread(np.unique(release), _TIMES).tolist():
        for late in spread(np.unique(tail), _TIMES).tolist():
            count = int(((release >= early) & (tail >= late)).sum()) * packets
            load = Load(count, capacity, occupancy, wait + early + late, case.whole)
            if count and (best is None or load.value > best[0]):
                best = load.value, load, early, late
    if best is None:
        return None
    time, load, early, late = best
    few = np.flatnonzero(inside if 2 * int(inside.sum()) <= inside.size else ~inside)
    way = "leave" if inside[few[0]] else "enter"
    side = case.set_text(few.size, case.names(few))
    text = (
        f"{case.packets_text(load.needed, 'packet')} must {way} {side} over {case.links_text(links.number[out])}, as "
        f"contributions or results{around_text(case.units, int(early), int(late))}"
    )
    deepest = np.flatnonzero(mine)[np.argmax(ways.since[mine][:, source].min(axis=1))]
    furthest = np.flatnonzero(~mine)[np.argmax(ways.to[target][:, ~mine].min(axis=0))]
    roots = np.flatnonzero((release >= early) & (tail >= late))
    told = {"nodes": np.flatnonzero(inside), "roots": roots, "deepest": int(deepest), "furthest": int(furthest)}
    return time, Region.by(load, **told), text
