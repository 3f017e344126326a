"""Any task whose packets are copied or moved, on any network: trees or paths by prices, then list scheduling.

Trees are grown again and again over links whose prices rise with their loads (`gossamer.graphs.priced_trees`), so that
the most loaded link or port carries little. Then every link sends, whenever it can, the waiting packet with the most
still to go (`gossamer.graphs.precedence_scheduling`). Little is lost there: a schedule is often no longer than the
largest load.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import GENERAL_TASKS, demand_of, least_slots
from gossamer.algorithms.any_network.schedule_shortening import QUICK, STEADY, squeezed
from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import LinkResources, StartTimes, scheduled
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth, charge, cost_of, toll
from gossamer.jit import njit
from gossamer.jit.heap import pop_node, rise
from gossamer.jit.intrinsics import lowest
from gossamer.networks.network import IntArray, Network
from gossamer.questions import tasks
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.rules import Rules
from gossamer.schedules import Phase, Schedule

__all__ = [
    "MANY",
    "MOST_LOOKS",
    "PRICED_PATHS",
    "PRICED_TREES",
    "branching",
    "bundled",
    "forests",
    "propose_moves",
    "propose_trees",
    "refusal",
    "routed",
    "timed",
]

# Plain arrays in and out. No kernel allocates arrays: without the runtime that counts references to them (``_nrt``) to
# choose takes a sixth of the time.


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _sweep(
    visit, source, first_packet, target, first, out, tail, head, use, occupancy, delay, ports, depth_cost,
    loads, price, scale, power, send_limited, receive_limited, old, new, key, count, place, heap, order,
):  # fmt: skip
    """Give each source a new tree of cheapest paths to all nodes; return a source that misses a target, or -1.

    * `visit`, int64[S]: the order of the sources.
    * `source`, `first_packet`, `target`, int32[S], int64[S + 1], int32[P]: the packets of source i are for
      ``target[first_packet[i]:first_packet[i + 1]]``.
    * `old`, `new`, int32[S, N]: the link by which a tree comes to each node, -1 at the source; `old` is empty in the
      first round.
    * `key`, `count`, float64[N]: room; `count` is 0, and is again.
    * `place`, `heap`, `order`, int64[N]: room.
    """
    roads = tail, head, use, occupancy, ports, send_limited, receive_limited
    market = loads, price, scale, power
    nodes, shared = first.size - 1, ports[2].size > 0
    for i in visit:
        s = source[i]
        if old.shape[0]:  # give up the old tree
            for j in range(first_packet[i], first_packet[i + 1]):
                x = target[j]
                while x != s:
                    e = old[i, x]
                    charge(e, -1.0, roads, market)
                    x = tail[e]
        for x in range(nodes):
            key[x], place[x], new[i, x] = np.inf, -1, -1
        key[s], heap[0], place[s] = 0.0, s, 0
        size, seen = 1, 0
        while size:
            x = pop_node(heap, place, size, key)
            size -= 1
            order[seen] = x
            seen += 1
            for j in range(first[x], first[x + 1]):
                e = out[j]
                y = head[e]
                cost = key[x] + depth_cost * delay[e]
                cost += cost_of(e, 0.0, roads, price)
                if shared:
                    cost += toll(e, ports, price[3])
                if cost < key[y]:
                    key[y], new[i, y] = cost, e
                    if place[y] < 0:
                        heap[size], place[y] = y, size
                        size += 1
                    rise(heap, place, place[y], key)
        for j in range(first_packet[i], first_packet[i + 1]):
            if key[target[j]] == np.inf:
                return i
            count[target[j]] += 1.0
        for k in range(seen - 1, 0, -1):
            x = order[k]
            if count[x] > 0.0:
                e = new[i, x]
                charge(e, count[x], roads, market)
                count[tail[e]] += count[x]
                count[x] = 0.0
        count[s] = 0.0
    return -1


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _choose(
    visit, source, owner, target, trees, tail, head, use, occupancy, delay, ports, depth_cost,
    loads, price, scale, power, send_limited, receive_limited, choice,
):  # fmt: skip
    """Let each packet of `visit` take the cheapest of the paths to its target in several trees of its source.

    `owner` int32[P] is the place of each packet's source, `trees` int32[R, S, N], and `choice` int32[P] is changed.
    """
    roads = tail, head, use, occupancy, ports, send_limited, receive_limited
    market = loads, price, scale, power
    shared = ports[2].size > 0
    for p in visit:
        i = owner[p]
        s = source[i]
        x = target[p]
        while x != s:
            e = trees[choice[p], i, x]
            charge(e, -1.0, roads, market)
            x = tail[e]
        least, best = np.inf, choice[p]
        for r in range(trees.shape[0]):
            total, x = 0.0, target[p]
            while x != s and total < least:
                e = trees[r, i, x]
                total += depth_cost * delay[e]
                total += cost_of(e, 0.0, roads, price)
                if shared:
                    total += toll(e, ports, price[3])
                x = tail[e]
            if total < least:
                least, best = total, r
        choice[p] = best
        x = target[p]
        while x != s:
            e = trees[best, i, x]
            charge(e, 1.0, roads, market)
            x = tail[e]


@njit(cache=True, nogil=True, small=100_000)
def _forest(source, owner, target, trees, tail, choice, begin, end, link, parent):
    """Write the chosen paths, one after the other; only count their hops where `link` is empty. Return the hops."""
    used = 0
    for p in range(owner.size):
        i = owner[p]
        begin[p] = used
        x, hops = target[p], 0
        while x != source[i]:
            x = tail[trees[choice[p], i, x]]
            hops += 1
        if link.size:
            x = target[p]
            for k in range(hops - 1, -1, -1):
                e = trees[choice[p], i, x]
                link[used + k], parent[used + k] = e, k - 1
                x = tail[e]
        used += hops
        end[p] = used
    return used


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _lengths(source, owner, target, trees, tail, choice, length):
    """Write the number of links of the path of each packet, int16[P]."""
    for p in range(owner.size):
        x, hops = target[p], 0
        while x != source[owner[p]]:
            x = tail[trees[choice[p], owner[p], x]]
            hops += 1
        length[p] = hops


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def _first_fit(order, source, owner, target, trees, choice, tail, taken, way, place, slot, link, packet):
    """Let each packet of `order` leave over each link of its path in the first slot that is free; return the slots.

    * `source`, `owner`, `target`, `trees`, `choice`, `tail`: as for `_choose`.
    * `taken`, uint64[L, W]: a bit for each slot of each link; none set.
    * `way`, int32[]: room for the longest path.
    * `place`, int64[64 W]: where `slot` has room, the place of the next hop of each slot in the columns; else how many
      hops begin in it, written.
    * `slot`, `link`, `packet`, int32[H]: written, by slots, or without room.

    Returns -1 if 64 W slots are not enough.
    """
    last, words = 0, taken.shape[1]
    for p in order:
        i, x, hops = owner[p], target[p], 0
        while x != source[i]:
            way[hops] = trees[choice[p], i, x]
            x = tail[way[hops]]
            hops += 1
        t = 0
        for k in range(hops - 1, -1, -1):
            e = way[k]
            w = t >> 6
            if w >= words:
                return -1
            free = ~taken[e, w] & (np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(t & 63))
            while free == np.uint64(0):
                w += 1
                if w >= words:
                    return -1
                free = ~taken[e, w]
            bit = lowest(free)
            taken[e, w] |= np.uint64(1) << np.uint64(bit)
            t = w * 64 + bit
            if slot.size:
                slot[place[t]], link[place[t]], packet[place[t]] = t, e, p
            place[t] += 1
            t += 1
        last = max(last, t)
    return last


# Paths for exchanges: packets of one origin are routed together, and then choose among a few paths each.

_SWEEPS = 8
_KEPT = 8
"""Trees of each origin among which its packets choose."""
_MOST_TREES = 100_000_000
"""Entries of all trees that are kept."""
_CHOICES = 12


def bundled(growth: TreeGrowth, demand: PacketDemand, depth_cost: float, seed: int) -> Forest:
    """Return a path for each packet, chosen by prices, and put them on the links of `growth`.

    `growth`: links without loads. `demand`: packets for one node each, those of one origin in a row. `depth_cost`: what
    a slot of delay costs; a slot of a most loaded link costs 1. `seed`: for the orders in which origins and packets
    take their turn.

    Raises NetworkError if no path leads to a target.

    In each of 8 rounds every origin gives up its tree for a tree of cheapest paths. The trees of the last rounds are
    kept, 8 where memory allows, and in 12 further rounds each packet takes the cheapest of its paths in them. O(S (L +
    N) log N + hops) a round for S origins; 4 bytes for each origin, node and tree that is kept.

    Source: Gossamer.

    >>> import gossamer
    >>> from gossamer.graphs.precedence_scheduling import LinkResources
    >>> growth = TreeGrowth(LinkResources.of(gossamer.network("ring:4"), gossamer.Rules()))
    >>> pairs = np.array([(a, b) for a in range(4) for b in range(4) if a != b], np.int32)
    >>> bundled(growth, PacketDemand(pairs[:, 0], np.arange(13), pairs[:, 1]), 0.01, 0).hops, growth.congestion
    (16, 2.0)
    """
    found, packets = chosen_paths(growth, demand, depth_cost, seed), demand.origin.size
    begin, end = np.empty(packets, np.int64), np.empty(packets, np.int64)
    shared = found.source, found.owner, demand.target, found.trees, growth.roads.source, found.choice, begin, end
    hops = _forest(*shared, np.empty(0, np.int32), np.empty(0, np.int32))
    link, parent = np.empty(hops, np.int32), np.empty(hops, np.int32)
    _forest(*shared, link, parent)
    return Forest(begin, end, link, parent)


class ChosenPaths(NamedTuple):
    """The path of each packet, in a tree of its origin.

    `source`, int32[S]: the origins. `owner`, int32[P]: which of them is that of each packet. `trees`, int32[R, S, N]:
    the link by which each node is reached in tree r of origin i. `choice`, int32[P]: the tree of each packet.
    """

    source: IntArray
    owner: IntArray
    trees: IntArray
    choice: IntArray


def chosen_paths(growth: TreeGrowth, demand: PacketDemand, depth_cost: float, seed: int) -> ChosenPaths:
    """Return the paths of `bundled` as trees, which take 4 bytes a packet instead of those of its hops."""
    roads, draw = growth.roads, np.random.default_rng(seed)
    start = np.flatnonzero(np.diff(demand.origin, prepend=-1))
    source, packets = demand.origin[start], demand.origin.size
    first_packet = np.append(start, packets)
    owner = np.repeat(np.arange(source.size, dtype=np.int32), np.diff(first_packet))
    nodes = roads.cut.size
    kept = max(1, min(_KEPT, _MOST_TREES // (source.size * nodes)))
    trees = np.empty((kept, source.size, nodes), np.int32)
    ends, limits = (roads.source, roads.target), (roads.send_limited, roads.receive_limited)
    costs = growth.use, growth.occupancy, growth.delay, growth.ports, depth_cost
    now = np.empty((0, 0), np.int32)
    room = (np.empty(nodes), np.zeros(nodes), *np.empty((3, nodes), np.int64))
    guess = packets / max(1, roads.source.size)
    for turn, power in enumerate(np.geomspace(4.0, 30.0, _SWEEPS)):
        scale = max(growth.congestion, guess, 1.0)
        new = trees[turn % kept] if kept > 1 else np.empty((source.size, nodes), np.int32)
        missed = _sweep(
            draw.permutation(source.size), source, first_packet, demand.target, *growth.onward, *ends, *costs,
            growth.loads, growth.prices(scale, power), scale, power, *limits, now, new, *room,
        )  # fmt: skip
        if missed >= 0:
            raise NetworkError(f"no path from node {int(source[missed])} to some target")
        now = new
    if kept == 1:
        trees[0] = now
    choice = np.full(packets, (_SWEEPS - 1) % kept, np.int32)
    near = _NEAR // (trees.itemsize * kept * nodes)
    for power in np.geomspace(12.0, 60.0, _CHOICES if kept > 1 else 0):
        scale = max(growth.congestion, 1.0)
        _choose(
            _in_turn(draw, owner, near), source, owner, demand.target, trees, *ends, *costs, growth.loads,
            growth.prices(scale, power), scale, power, *limits, choice,
        )  # fmt: skip
    return ChosenPaths(source, owner, trees, choice)


_BLOCKED = 100_000
"""Packets from which on those of some origins choose in a row, so that the trees of these stay near at hand."""
_NEAR = 1 << 20
"""Bytes of the trees that are near."""


def _in_turn(draw: np.random.Generator, owner: IntArray, origins: int) -> npt.NDArray[np.int64]:
    """Return an order of packets at random, of very many those of a few origins at a time."""
    order = draw.permutation(owner.size)
    if owner.size < _BLOCKED:
        return order
    turn = (draw.permutation(int(owner[-1]) + 1) // max(1, origins)).astype(np.int32)
    return order[np.argsort(turn[owner[order]], kind="stable")]


MANY = 256
"""Packets of a message, beyond which the same trees are used again."""
_WORK = 150_000_000
"""Links looked at, after which trees are not grown again."""
MOST_LOOKS = 5_000_000_000
"""Links looked at in one round (minutes), above which a case is refused."""
_ROUNDS = 24
_VAIN = 8
_MOST_TRIES, _HOPS = 40, 8_000
"""Orders in which the hops of a small case are tried, and hops of all of them."""
_BELOW = (1, 2, 3, 5)
"""How far below the largest load links are still relieved of packets, in shares of 1/300, in turn."""
_BLUNT, _STEEP = 4.0, 60.0


def routed(case: Case) -> Schedule:
    """Build a schedule of paths or trees that load links and ports evenly.

    Links get prices, which rise with the load that they carry. Each message takes the cheapest tree, or path, to its
    targets at the prices of the moment, and pays into the prices by what it loads. Then every message gives its tree
    up and chooses again, many times, so that load moves from busy links to free ones. When the loads are even, every
    link sends in each slot the waiting packet that has furthest to go.

    Parameters
    ----------
    case : Case
        A task whose packets are copied or moved, on any network in which each gets to its targets; any ports, links
        and switches. The seed is that of the orders in which trees are grown.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    O(P (L + N log N)) time for each of at most 24 rounds, of P packets; fewer rounds in large cases.

    References
    ----------
    Gossamer. Takahashi and Matsuyama 1980 for trees.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("alltoall"))
    >>> routed(case).completion_time
    Fraction(6, 1)
    """
    demand, roads = demand_of(case), LinkResources.of(case.network, case.rules)
    moved = case.messages.count > 0 and bool((case.messages.discipline == tasks.MOVE).all())
    least = max(least_slots(demand, roads, moved), ceil(case.floor))
    best: _Tried | None = None
    costs: tuple[float, ...] = (0.03, 0.3) if moved else (0.03, 0.3, 2.0)
    effort = max(1, demand.origin.size) * max(1, roads.source.size)
    tries = costs if effort * _ROUNDS < _WORK else costs[:1]
    if moved and least <= _CLOSE:  # a detour around links that are loaded takes longer than they do
        tries = (8.0, 2.0, 1.0, *costs)
    for _, found in case.tries.in_order(_tried, ((case, moved, depth_cost, least) for depth_cost in tries)):
        if best is None or found.starts.slots < best.starts.slots:
            best = found
        if best.starts.slots <= least:
            break
    assert best is not None
    # packets that wait for ports leave more to gain than those that wait for links, if a bound says where it ends
    patience = STEADY if moved and case.limited and case.floor else QUICK
    shorter = squeezed(
        demand, roads, branching(case.network, case.rules) | moved, best.starts.slots, least, case.seed, patience
    )
    if shorter is not None:
        best = _Tried(StartTimes(shorter[0], shorter[1].astype(np.int64)), shorter[2], shorter[3])
    return timed(case, *best)


class _Tried(NamedTuple):
    """The starts, links and packets of all hops."""

    starts: StartTimes
    link: IntArray
    packet: IntArray


def _tried(case: Case, moved: bool, depth_cost: float, least: int) -> _Tried:
    """Return the schedule of trees in which a slot of delay costs so much."""
    demand, roads = demand_of(case), LinkResources.of(case.network, case.rules)
    best: _Tried | None = None
    # Step 1: grow cheapest trees, or paths, at prices that rise with the loads; give each up in turn and grow it
    #   again
    for forest, _ in forests(case, demand, moved, depth_cost, least):
        graph = forest.graph()
        # Step 2: stop when the busiest link carries no more than the bound allows, or nothing improves
        tries, rounds = (6, 4) if graph.link.size < 100_000 else (3, 1)
        tries = max(tries, min(_MOST_TRIES, _HOPS // max(1, graph.link.size)))
        # Step 3: list scheduling: a free link sends the waiting packet with most still to go
        starts = scheduled(graph, roads, least=least, tries=tries, rounds=rounds, seed=case.seed)
        if best is None or starts.slots < best.starts.slots:
            best = _Tried(starts, graph.link, graph.packet)
        if best.starts.slots <= least:
            break
    assert best is not None
    return best


def routed_by_origins(case: Case) -> Schedule:
    """Build a schedule of paths for very many packets that are moved, in the memory of the schedule and little more.

    Each origin has a few trees of cheapest paths, as `routed` grows them for exchanges, and its packets choose among
    them. The packets with the longest paths go first; each leaves over every link of its path in the first slot in
    which the link is free, so that of the others no time is kept.

    `case`: a task whose packets are moved, each to one node, on plain links between all-port nodes. Raises
    `NetworkError` if some target cannot be reached.

    O(S (L + N) log N) time for S origins and O(1) for each hop; one bit for each link and slot.

    Source: Gossamer.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("alltoall"))
    >>> routed_by_origins(case).completion_time
    Fraction(6, 1)
    """
    demand, growth = demand_of(case), TreeGrowth(LinkResources.of(case.network, case.rules))
    # Step 1: trees of cheapest paths from each origin, of which packets choose
    found = chosen_paths(growth, demand, _DEPTH_COST, case.seed)
    length = np.empty(demand.origin.size, np.int16)
    paths = found.source, found.owner, demand.target, found.trees
    _lengths(*paths, growth.roads.source, found.choice, length)
    # Step 2: who has furthest to go takes the first free slots, the packets of an origin in a row
    order = _in_turn(np.random.default_rng(case.seed), found.owner, 1)
    order = order[np.argsort(-length[order], kind="stable")]
    words = int(growth.congestion) // 32 + 4
    way, none = np.empty(int(length.max(initial=0)) + 1, np.int32), np.empty(0, np.int32)
    columns = *paths, found.choice, growth.roads.source
    while True:
        count = np.zeros(64 * words, np.int64)
        taken = np.zeros((case.network.link_count, words), np.uint64)
        slots = _first_fit(order, *columns, taken, way, count, none, none, none)
        if slots >= 0:
            break
        words *= 2
    # Step 3: the same once more, each hop to its place by slots
    hops = int(count.sum())
    slot, link, packet = (np.empty(hops, np.int32) for _ in range(3))
    taken[:] = 0
    _first_fit(order, *columns, taken, way, np.cumsum(count) - count, slot, link, packet)
    del taken, found, paths, columns, order, length
    return Schedule.of(case, slot, link, packet, phases=[Phase(case.task.name, int(slots))])


_DEPTH_COST = 0.03
_CLOSE = 4
"""Slots that a bound asks for, up to which short paths come first: of messages whose targets are near, so few at each
node that searches for paths are short, however many they are together."""


def forests(
    case: Case, demand: PacketDemand, moved: bool, depth_cost: float, least: int
) -> Iterator[tuple[Forest, float]]:
    """Yield trees of packets, with their congestion in slots: enough for `least` slots, then as little as is found."""
    roads = LinkResources.of(case.network, case.rules)
    if moved and _bundles(demand, roads):
        yield _exchanged(demand, roads, depth_cost, least, case.seed)
    else:
        load = least_slots(demand, roads, moved)
        yield from _grown(
            demand, roads, branching(case.network, case.rules) | moved, depth_cost, least, load, case.seed
        )


def branching(network: Network, rules: Rules, inward: bool = False) -> npt.NDArray[np.bool_]:
    """Return whether each node sends several copies of what it has, or adds up what comes (`inward`), bool[N]."""
    some = rules.reduction if inward else rules.replication
    return (np.arange(network.node_count) < network.terminal_count) | some


def _grown(
    demand: PacketDemand,
    roads: LinkResources,
    branches: np.ndarray,
    depth_cost: float,
    least: int,
    load: int,
    seed: int,
) -> Iterator[tuple[Forest, float]]:
    """Yield trees of a congestion that is enough for a schedule of `least` slots, then those of the least congestion.

    There are no trees of less congestion than `load`. With room to spare the schedule is often shorter.
    """
    growth, draw = TreeGrowth(roads), np.random.default_rng(seed)
    best: Forest | None = None
    now: Forest | None = None
    lowest, vain = np.inf, 0
    powers = _powers(demand, roads)
    growth.seldom(len(powers) * demand.origin.size)
    for power in powers:
        visit = draw.permutation(demand.origin.size)
        now = growth.grow(demand, branches, now, power=power, depth_cost=depth_cost, visit=visit)
        if growth.congestion < lowest - 1e-9:
            enough = growth.congestion <= least < lowest
            best, lowest, vain = now, growth.congestion, 0
            if enough:
                yield best, lowest
                best = None
        else:
            vain += 1
        if lowest <= load or vain == _VAIN:
            break
    if best is not None:
        yield best, lowest


def _bundles(demand: PacketDemand, roads: LinkResources) -> bool:
    """Return whether packets of an origin are so many that they are routed together."""
    origins = int(np.count_nonzero(np.diff(demand.origin, prepend=-1)))
    return demand.origin.size * roads.source.size * _ROUNDS > _WORK and demand.origin.size > 4 * origins


def _exchanged(
    demand: PacketDemand, roads: LinkResources, depth_cost: float, least: int, seed: int
) -> tuple[Forest, float]:
    """Return paths found for all packets of an origin at once; those on the most loaded links are then chosen anew."""
    growth, draw = TreeGrowth(roads), np.random.default_rng(seed)
    best = now = bundled(growth, demand, depth_cost, seed)
    lowest, vain, looks = growth.congestion, 0, 0
    branches = np.ones(roads.cut.size, bool)
    for turn, below in enumerate(_BELOW * 4):
        hot = growth.congestion - below * growth.congestion / 300
        crossed = int((growth.loads[0][now.link] >= hot).sum())
        looks += min(crossed, demand.origin.size) * roads.source.size
        if lowest <= least or vain == len(_BELOW) or looks > 2 * _WORK:
            break
        visit, power = draw.permutation(demand.origin.size), (60.0, 100.0)[turn % 2]
        now = growth.grow(demand, branches, now, power=power, depth_cost=depth_cost, hot=hot, visit=visit)
        vain = 0 if growth.congestion < lowest - 1e-9 else vain + 1
        if not vain:
            best, lowest = now, growth.congestion
    return best, lowest


def _powers(demand: PacketDemand, roads: LinkResources) -> list[float]:
    rounds = max(2, min(_ROUNDS, _WORK // max(1, demand.origin.size * roads.source.size)))
    powers: list[float] = np.geomspace(_BLUNT, _STEEP, rounds).tolist()
    return powers


def timed(case: Case, starts: StartTimes, link: IntArray, packet: IntArray) -> Schedule:
    """Return the schedule of hops with their starts."""
    start = starts.start  # below 2**31, as slots are: sorting one number for each hop is faster than stably
    order = np.argsort(start * start.size + np.arange(start.size))
    phases = [Phase(case.task.name, starts.slots)]
    return Schedule.of(case, starts.start[order].astype(np.int32), link[order], packet[order], phases=phases)


def refusal(case: Case, moved: bool) -> Refusal | None:
    """Return why trees by prices are not for a case of packets that are moved, or are copied; None if they are."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    looks = case.task.most_messages(case.network) * case.network.link_count
    if looks > MOST_LOOKS:  # by arithmetic: so many messages are not even listed
        return Refusal(_too_much(case, looks, moved))
    kinds = case.messages.discipline
    if case.messages.waits:
        return Refusal("does not plan collectives that wait for others")
    if bool((kinds == tasks.COMBINE).any()):
        return Refusal("does not combine contributions")
    if kinds.size and bool((kinds == tasks.MOVE).all()) != moved:
        return Refusal("is for packets that are moved" if moved else "is for packets that are copied")
    if case.control_time and hasattr(case.task, "active"):
        return Refusal("needs the active nodes known ahead (control time 0)")
    return None


def _too_much(case: Case, looks: int, moved: bool) -> str:
    """Return how much too large a case is, and what would make it fit."""
    nodes, packets = case.network.terminal_count, tasks.packets_of(case.task)
    several = packets * MOST_LOOKS // looks
    if 1 <= several < packets:
        fits = f"{several:,} packets a message would fit"
    else:  # packets grow with the square of the nodes where each sends to each, and links with the nodes
        root = 3 if isinstance(case.task, tasks.TotalExchange) else 2
        fits = f"about {int(nodes * (MOST_LOOKS / looks) ** (1 / root)):,} nodes of this degree would fit"
    if moved and isinstance(case.task, tasks.TotalExchange) and not case.network.plain:
        fits += ", and more on links that are all alike (a cost in steps)"
    return f"would look at up to {looks:,} links for its packets; at most {MOST_LOOKS:,} are allowed: {fits}"


def _many(case: Case) -> Refusal | None:
    """Refuse messages of so many packets that trees for each of them gain nothing; None for others."""
    if tasks.packets_of(case.task) > MANY:
        return Refusal(f"leaves messages of more than {MANY} packets to periodic-trees")
    return None


def _very_many(case: Case) -> bool:
    """Return whether an exchange on plain links has so many packets that its paths are chosen origin by origin."""
    looks = case.task.most_messages(case.network) * case.network.link_count
    if looks <= MOST_LOOKS or case.network.terminal_count * case.network.link_count > MOST_LOOKS:
        return False
    plain = case.network.plain and case.whole and not case.limited and case.rules.buffer is None
    return plain and isinstance(case.task, tasks.TotalExchange)


def propose_trees(case: Case) -> Offer[Schedule] | Refusal:
    """Offer trees for what is copied."""
    found = _many(case) or refusal(case, moved=False)
    return found or Offer(lambda: routed(case), effort="search", hop_bytes=100, hop_seconds=4e-6)


def propose_moves(case: Case) -> Offer[Schedule] | Refusal:
    """Offer paths for what is moved."""
    if _very_many(case):
        return Offer(lambda: routed_by_origins(case), effort="search", hop_bytes=32, hop_seconds=2e-6)
    found = _many(case) or refusal(case, moved=True)
    return found or Offer(lambda: routed(case), effort="search", hop_bytes=150, hop_seconds=1e-5)


PRICED_TREES = Algorithm(
    name="congestion-priced-trees",
    tasks=(
        tasks.Broadcast,
        tasks.MultinodeBroadcast,
        tasks.PartialMultinodeBroadcast,
        tasks.MultipleBroadcast,
        tasks.GroupMultinodeBroadcast,
        tasks.OneToManyRouting,
        *GENERAL_TASKS,
    ),
    propose=propose_trees,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="trees over links that cost the more the more they carry; what has furthest to go is sent first",
    passes_on=True,
    timed=True,
)

PRICED_PATHS = Algorithm(
    name="congestion-priced-paths",
    tasks=(
        tasks.Scatter,
        tasks.Gather,
        tasks.TotalExchange,
        tasks.PartialExchange,
        tasks.PartialGather,
        tasks.Permutation,
        tasks.UnevenExchange,
        tasks.UnevenScatter,
        tasks.UnevenGather,
        tasks.NeighborExchange,
        *GENERAL_TASKS,
    ),
    propose=propose_moves,
    networks="any in which the targets can be reached",
    source="gossamer; no promised time",
    summary="paths over links that cost the more the more they carry; what has furthest to go is sent first",
    passes_on=True,
    timed=True,
)
