"""Routing tables for any network: a tree to each destination, balanced for alltoall, in layers that cannot deadlock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NetworkError
from gossamer.graphs.virtual_layers import layered
from gossamer.jit import njit
from gossamer.jit.heap import pop_node, rise
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.networks.routing_tables import Cables, Ints, RoutingTable, check_size
from gossamer.reading import seed as read_seed

__all__ = ["destination_routes", "routing_table"]

Floats = npt.NDArray[np.float64]

_POWERS = (2.0, 4.0, 8.0, 8.0, 16.0, 16.0, 32.0, 32.0, 64.0, 64.0, 128.0, 128.0, 256.0, 256.0)
"""Exponents of the prices, round by round: the larger, the more the most loaded cables alone count."""
_NO_RANK = np.zeros(0, np.int64)
_WORK = 5e8
"""Looks at cables that all rounds together may take."""
_SWEEPS, _VAIN = 60, 24
"""Times that every node may change its ways, and how many of these without a lower load are the last."""


@njit(cache=True, nogil=True, small=100_000)
def _hops_from(target, first_in, entering, source, forwards, far, order):
    """Fill int32[N] `far` with the cables from each node to a destination, -1 for none; return how many reach it.

    `order` int64[N] becomes the nodes from near to far. A node that does not forward is passed by nobody.
    """
    far[:] = -1
    far[target] = 0
    order[0] = target
    count, head = 1, 0
    while head < count:
        v = order[head]
        head += 1
        if v != target and not forwards[v]:
            continue
        for i in range(first_in[v], first_in[v + 1]):
            u = source[entering[i]]
            if far[u] < 0:
                far[u] = far[v] + 1
                order[count] = u
                count += 1
    return count


@njit(cache=True, nogil=True, small=100_000)
def _nearest_by_price(target, first_in, entering, source, forwards, price, cost, order, heap, place):
    """Fill float64[N] `cost` with the least price of a way from each node to a destination; order them by it."""
    n = cost.size
    for v in range(n):
        cost[v], place[v] = np.inf, -1
    cost[target], heap[0], place[target] = 0.0, target, 0
    size, count = 1, 0
    while size:
        v = pop_node(heap, place, size, cost)
        size -= 1
        order[count] = v
        count += 1
        if v != target and not forwards[v]:
            continue
        for i in range(first_in[v], first_in[v + 1]):
            c = entering[i]
            u = source[c]
            spent = cost[v] + price[c]
            if spent < cost[u]:
                cost[u] = spent
                if place[u] < 0:
                    heap[size], place[u] = u, size
                    size += 1
                rise(heap, place, place[u], cost)
    return count


@njit(cache=True, nogil=True, small=100_000)
def _round(
    visit, first, head, time, first_in, entering, source, forwards, terminals, table, load, placed, power, scale, short
):  # fmt: skip
    """Lead the destinations of `visit` anew, one after the other, over cables that are little loaded.

    `table` int32[N, T] and `load` int64[C] change. Each destination gives up its tree if it is `placed`. A cable costs
    ``(time * packets / scale)**power``; with `short` only shortest paths are taken, else the cheapest. Nodes choose
    from the furthest to the nearest, each with all whose messages it passes on. Return a destination that some terminal
    does not reach, or -1.
    """
    n = first.size - 1
    far, order = np.empty(n, np.int32), np.empty(n, np.int64)
    cost, size = np.empty(n, np.float64), np.empty(n, np.int64)
    heap, place = np.empty(n, np.int64), np.empty(n, np.int64)
    price = np.empty(load.size, np.float64)
    for d in visit:
        count = _hops_from(d, first_in, entering, source, forwards, far, order)
        for s in range(terminals):
            if far[s] < 0:
                return d
        if placed:
            _take_off(d, first, head, terminals, table, load, size, order, far)
        if short:
            cost[d] = 0.0
            for i in range(1, count):
                v = order[i]
                cost[v] = np.inf
                for c in range(first[v], first[v + 1]):
                    u = head[c]
                    if far[u] == far[v] - 1 and (forwards[u] or u == d):
                        spent = cost[u] + (time[c] * (load[c] + 1) / scale) ** power
                        cost[v] = min(cost[v], spent)
        else:
            for c in range(load.size):
                price[c] = (time[c] * (load[c] + 1) / scale) ** power + 1e-3
            count = _nearest_by_price(d, first_in, entering, source, forwards, price, cost, order, heap, place)
        for v in range(n):
            size[v] = 1 if v < terminals else 0
        for i in range(count - 1, 0, -1):
            v = order[i]
            best, least = -1, np.inf
            out = first[v + 1] - first[v]
            for k in range(out):
                c = first[v] + (k + d) % out  # ties are broken in turn
                u = head[c]
                if not (forwards[u] or u == d):
                    continue
                if (far[u] != far[v] - 1) if short else not cost[u] < cost[v]:
                    continue
                spent = cost[u] + (time[c] * (load[c] + max(size[v], 1)) / scale) ** power
                if spent < least:
                    best, least = c, spent
            table[v, d] = best
            load[best] += size[v]
            size[head[best]] += size[v]
        table[d, d] = -1
    return -1


@njit(cache=True, nogil=True, inline="never", small=100_000)
def _take_off(d, first, head, terminals, table, load, size, order, depth):
    """Take the messages for a destination off the cables. `order` and `depth` are those of hops, and stay."""
    n = first.size - 1
    # the depth of nodes in the tree that is given up may differ from their distance: count children, then peel leaves
    children = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    for v in range(n):
        size[v] = 1 if v < terminals else 0
        if v != d and table[v, d] >= 0:
            children[head[table[v, d]]] += 1
    tail = 0
    for v in range(n):
        if children[v] == 0 and v != d and table[v, d] >= 0:
            queue[tail] = v
            tail += 1
    at = 0
    while at < tail:
        v = queue[at]
        at += 1
        c = table[v, d]
        load[c] -= size[v]
        u = head[c]
        size[u] += size[v]
        children[u] -= 1
        if children[u] == 0 and u != d:
            queue[tail] = u
            tail += 1


@njit(cache=True, nogil=True, small=100_000)
def _first_shortest(first, head, first_in, entering, source, forwards, table):
    """Let every node send on by its first cable that is on a shortest path to the destination."""
    n = first.size - 1
    far, order = np.empty(n, np.int32), np.empty(n, np.int64)
    for d in range(table.shape[1]):
        _hops_from(d, first_in, entering, source, forwards, far, order)
        for v in range(n):
            for c in range(first[v], first[v + 1]):
                u = head[c]
                if far[v] > 0 and far[u] == far[v] - 1 and (forwards[u] or u == d):
                    table[v, d] = c
                    break


@njit(cache=True, nogil=True, small=100_000)
def _mend(
    visit, first, head, time, first_in, entering, source, forwards, terminals, table, load, size, power, scale, longer,
    rank,
):  # fmt: skip
    """Let nodes change their next cable for a destination, with all that they pass on, where it costs less.

    `visit` are node times T plus destination; `size` int32[N, T] how many messages a node has for a destination,
    its own among them. A way may be `longer` by so many cables than the one it replaces. Where `rank` int64[C] has
    numbers, cables of every path stay in ascending order of them. Return how many changed.
    """
    changed = 0
    ordered = rank.size > 0
    for x in visit:
        v, d = x // terminals, x % terminals
        much = size[v, d]
        if v == d or much == 0 or table[v, d] < 0:
            continue
        was, hops = 0.0, 0
        w = v
        while w != d:
            c = table[w, d]
            was += (time[c] * load[c] / scale) ** power
            load[c] -= much
            hops += 1
            w = head[c]
        latest = -1  # rank of the cables by which messages for the destination come to the node
        for i in range(first_in[v], first_in[v + 1] if ordered else first_in[v]):
            c = entering[i]
            if table[source[c], d] == c and size[source[c], d] > 0:
                latest = max(latest, rank[c])
        best, least = table[v, d], was * (1.0 + 1e-9)
        for c in range(first[v], first[v + 1]):
            u = head[c]
            if c == table[v, d] or not (forwards[u] or u == d) or (u != d and table[u, d] < 0):
                continue
            if ordered and (rank[c] <= latest or (u != d and rank[table[u, d]] <= rank[c])):
                continue
            spent, count, w, e = 0.0, 0, v, c
            while spent < least and count < hops + longer:
                spent += (time[e] * (load[e] + much) / scale) ** power
                count += 1
                w = head[e]
                if w in (d, v):
                    break
                e = table[w, d]
            if w == d and spent < least:
                best, least = c, spent
        if best != table[v, d]:
            changed += 1
            w = head[table[v, d]]
            while w != d:
                size[w, d] -= much
                w = head[table[w, d]]
            size[d, d] -= much
            table[v, d] = best
            w = head[best]
            while w != d:
                size[w, d] += much
                w = head[table[w, d]]
            size[d, d] += much
        w = v
        while w != d:
            c = table[w, d]
            load[c] += much
            w = head[c]
    return changed


@njit(cache=True, nogil=True, small=100_000)
def _sizes(terminals, table, head, size):
    """Count in int32[N, T] `size` the messages of an alltoall that each node has for each destination."""
    size[:] = 0
    for s in range(terminals):
        for d in range(terminals):
            v = s
            size[v, d] += 1
            while v != d:
                v = head[table[v, d]]
                size[v, d] += 1


class _Graph(NamedTuple):
    """What kernels know of a network."""

    network: Network
    cables: Cables
    first_in: Ints
    entering: IntArray
    forwards: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, network: Network, forwards: npt.NDArray[np.bool_]) -> _Graph:
        cables = Cables.of(network)
        entering = np.argsort(cables.target, kind="stable").astype(np.int32)
        first_in = np.searchsorted(cables.target[entering], np.arange(network.node_count + 1)).astype(np.int64)
        return cls(network, cables, first_in, entering, forwards)

    def lead(
        self, table: IntArray, load: Ints, visit: Ints, placed: bool, power: float, scale: float, short: bool
    ) -> int:
        """Lead destinations anew; see `_round`."""
        c = self.cables
        return int(
            _round(
                visit, c.first, c.target, c.time, self.first_in, self.entering, c.source, self.forwards,
                self.network.terminal_count, table, load, placed, power, scale, short,
            )
        )  # fmt: skip


def destination_routes(
    network: Network,
    *,
    enough: float = 0.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Iterator[IntArray]:
    """Yield tables of the next cable by node and destination, int32[N, T], each loaded less in an alltoall.

    * `network` (Network): any in which every terminal reaches every other.
    * `enough` (float): a load of the busiest cable, times its `Cables.time`, at which the search ends.
    * `seed` (int): for the order of the destinations.
    * `progress` (callable): told what happens.

    Raises `NetworkError` if a terminal does not reach another.

    Terminals do not pass messages on where the network has switches that do; without these ways, all may. Destinations
    are led one after the other along trees of shortest paths; a cable costs a power of what it carries, and the power
    grows from round to round. Then the same with cheapest paths of any length. A round takes O(T (N + L log N)).
    """
    check_size(network)
    t = network.terminal_count
    forwards = np.ones(network.node_count, np.bool_)
    forwards[:t] = network.node_count == t
    graph = _Graph.of(network, forwards)
    rng = np.random.default_rng(read_seed(seed))
    table, load = np.full((network.node_count, t), -1, np.int32), np.zeros(graph.cables.source.size, np.int64)
    say = progress or (lambda stage: None)
    say("leading destinations")
    visit = rng.permutation(t)
    alone = graph.lead(table, load, visit, False, 1.0, 1.0, True)
    if alone >= 0 and not forwards.all():
        graph = _Graph.of(network, np.ones(network.node_count, np.bool_))
        table[:], load[:] = -1, 0
        alone = graph.lead(table, load, visit, False, 1.0, 1.0, True)
    if alone >= 0:
        raise NetworkError(f"{network.spec}: not every terminal reaches {network.node_name(alone)}")
    time = graph.cables.time
    least = int((load * time).max(initial=0))
    yield table.copy()
    rounds = int(np.clip(_WORK / max(1.0, 30.0 * t * time.size), 2, len(_POWERS)))
    for short in (True, False):
        now, its_load = table.copy(), load.copy()
        for k in range(rounds):
            if least <= enough:
                return
            say(f"balancing: {least} on the busiest cable")
            power = _POWERS[k * len(_POWERS) // rounds]
            graph.lead(now, its_load, rng.permutation(t), True, power, float(max(1, (its_load * time).max())), short)
            busiest = int((its_load * time).max(initial=0))
            if busiest < least:
                least, table, load = busiest, now.copy(), its_load.copy()
                yield table.copy()
        for better in _mended(graph, table, load, enough, 0 if short else 2, rng, say):
            table, least = better, int((load * time).max(initial=0))
            yield table.copy()


def _mended(
    graph: _Graph,
    table: IntArray,
    load: Ints,
    enough: float,
    longer: int,
    rng: np.random.Generator,
    say: Callable[[str], None],
    rank: Ints = _NO_RANK,
) -> Iterator[IntArray]:
    """Yield tables with a lower load, node by node; `load` becomes that of the last one; for `rank` see `_mend`."""
    c, t = graph.cables, graph.network.terminal_count
    now, its_load = table.copy(), load.copy()
    size = np.zeros(table.shape, np.int32)
    _sizes(t, table, c.target, size)
    least = int((load * c.time).max(initial=0))
    hops = max(1, int(load.sum()) // max(1, t * t))
    sweeps = int(np.clip(_WORK / max(1, 8 * hops * table.size * (c.source.size // c.first.size + 1)), 1, _SWEEPS))
    vain = 0
    for k in range(sweeps):
        if least <= enough or vain == _VAIN:
            return
        say(f"balancing: {least} on the busiest cable")
        scale = float(max(1, (its_load * c.time).max()))
        power = _POWERS[min(2 + k * len(_POWERS) // sweeps, len(_POWERS) - 1)]
        changed = _mend(
            rng.permutation(table.size), c.first, c.target, c.time, graph.first_in, graph.entering, c.source,
            graph.forwards, t, now, its_load, size, power, scale, longer, rank,
        )  # fmt: skip
        busiest = int((its_load * c.time).max(initial=0))
        vain = 0 if busiest < least else vain + 1
        if busiest < least:
            least, load[:] = busiest, its_load
            yield now.copy()
        elif not changed and power == _POWERS[-1]:
            return


def routing_table(
    network: Network,
    *,
    enough: float = 0.0,
    layers: int = 16,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> RoutingTable:
    """Return a routing table that is balanced for alltoall and cannot deadlock.

    * `network` (Network): any in which every terminal reaches every other.
    * `enough` (float): a load at which the search for a better balance ends; see `destination_routes`.
    * `layers` (int): virtual layers at most.
    * `seed` (int): the same seed gives the same table.
    * `progress` (callable): told what happens.

    Raises `NetworkError` if a terminal does not reach another. Raises `ModelError` if more layers are needed.

    >>> import gossamer
    >>> routing_table(gossamer.network("torus:4x4")).layers
    1
    """
    time, say = Cables.of(network).time, progress or (lambda stage: None)
    found: list[tuple[int, IntArray]] = []
    plain = list(_plain(network))
    for table in _candidates(network, plain, enough, seed, progress):
        found.append((int((_loads(network, table) * time).max(initial=0)), table))
        if found[-1][0] <= enough:
            break
    found.sort(key=lambda pair: pair[0])  # of equal loads those that came first, which are plainer
    close = [table for congestion, table in found if congestion <= _CLOSE * found[0][0]]
    best: RoutingTable | None = None
    for table in close[:_LAYERED]:
        say("finding layers")
        layer = layered(network, table, most=layers if best is None else best.layers - 1, seed=seed)
        if layer is not None:
            best = RoutingTable(network, table, layer, "balanced routes by destination")
        if best is not None and best.layers == 1:
            break
    if best is None or best.layers > 1:
        say("looking for routes in one layer")
        single = _in_one_layer(network, best is None, _CLOSE * found[0][0], plain, enough, seed, say)
        best = best if single is None else single
    if best is None:
        raise ModelError(f"the routes on {network.spec} need more than {layers} virtual layers")
    return best


def _in_one_layer(
    network: Network,
    needed: bool,
    most: float,
    plain: list[IntArray],
    enough: float,
    seed: int,
    say: Callable[[str], None],
) -> RoutingTable | None:
    """Return routes of which every path takes cables in ascending order of a rank, so that one layer is enough.

    The rank is that of the dependencies of `plain` routes that have no circle; None if there are none, or the load is
    above `most` and above `_WITHIN` times `enough`. Then other ranks are tried as well: cables up to a root before
    those down (up*/down*). So they are if routes are `needed`, whatever the load.

    Source: M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area network using point-to-point
    links", IEEE J. Selected Areas in Communications 9 (1991).
    """
    t, time = network.terminal_count, Cables.of(network).time
    graph = _Graph.of(network, np.arange(network.node_count) >= t % network.node_count)
    starts = [(table, rank) for table in plain if (rank := _rank(network, table)) is not None]
    if needed and network.two_way:
        starts += [(table, rank) for table in _unwrapped(network) if (rank := _rank(network, table)) is not None]
    if (needed or starts) and network.two_way:
        starts += [way for place in _orders(graph) if (way := _up_down(graph, place)) is not None]
    least, best = float("inf") if needed else max(most, _WITHIN * enough), None
    for start, rank in starts:
        load, rng = _loads(network, start), np.random.default_rng(seed)
        for table in (start, *_mended(graph, start, load, enough, _DETOUR, rng, say, rank)):
            congestion = int((_loads(network, table) * time).max(initial=0))
            if congestion < least or (best is None and congestion <= least):
                least, best = congestion, table
        if best is not None and least <= enough:
            break
    if best is None:
        return None
    return RoutingTable(network, best, np.zeros((t, t), np.uint8), "balanced routes by destination")


_WITHIN = 1.1
"""Routes in one layer are taken up to so many times the bound where plain ones need one layer too."""
_DETOUR = 4
"""Cables that a path may be longer than the one it replaces where all are to be in one layer."""
_ROOTS = 4


def _rank(network: Network, table: IntArray) -> Ints | None:
    """Return numbers of the cables that ascend along every path from a terminal, None if there are none."""
    cables, size = Cables.of(network), np.zeros(table.shape, np.int32)
    _sizes(network.terminal_count, table, cables.target, size)
    node, target = np.nonzero((table >= 0) & (size > 0))
    cable = table[node, target].astype(np.int64)
    on = cables.target[cable] != target
    pairs = np.unique(cable[on] * cables.source.size + table[cables.target[cable[on]], target[on]])
    before, after = np.divmod(pairs, cables.source.size)
    first = np.searchsorted(before, np.arange(cables.source.size + 1)).tolist()
    left, onward = np.bincount(after, minlength=cables.source.size).tolist(), after.tolist()
    order = [c for c, waits in enumerate(left) if not waits]
    for c in order:
        for e in onward[first[c] : first[c + 1]]:
            left[e] -= 1
            if not left[e]:
                order.append(e)
    if len(order) < cables.source.size:
        return None
    rank = np.empty(cables.source.size, np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _unwrapped(network: Network) -> Iterator[IntArray]:
    """Yield the routes of the array that a torus is without the cables that close its rings."""
    grid = network.grid
    if grid is not None and network.node_count == network.terminal_count and any(grid.wraps):
        yield _dimension_order(network, Grid(grid.sides, (False,) * grid.dimensions), grid_links(network))


def _orders(graph: _Graph) -> Iterator[Ints]:
    """Yield numbers of the nodes, by distance from a root and as a search in depth meets them; terminals come last.

    Roots are nodes that pass messages on and are near to all others.
    """
    c, n = graph.cables, graph.forwards.size
    inside = np.flatnonzero(graph.forwards)
    far, order = np.empty(n, np.int32), np.empty(n, np.int64)
    roots = []
    for root in inside[np.linspace(0, inside.size - 1, min(inside.size, 64)).astype(np.int64)].tolist():
        _hops_from(root, graph.first_in, graph.entering, c.source, graph.forwards, far, order)
        roots.append((int(far.max()), int(far.sum()), root))
    first, head = c.first.tolist(), c.target.tolist()
    for _, _, root in sorted(roots)[:_ROOTS]:
        _hops_from(root, graph.first_in, graph.entering, c.source, graph.forwards, far, order)
        met, stack = dict[int, None](), [root]
        while stack:
            v = stack.pop()
            if v not in met:
                met[v] = None
                stack += [u for u in head[first[v] : first[v + 1]] if graph.forwards[u] and u not in met]
        depth = np.full(n, n, np.int64)
        depth[list(met)] = np.arange(len(met))
        for key in (far, depth):
            place = np.empty(n, np.int64)
            place[np.lexsort((np.arange(n), key, ~graph.forwards))] = np.arange(n)
            yield place


def _up_down(graph: _Graph, place: Ints) -> tuple[IntArray, Ints] | None:
    """Return routes up, to lower numbers of nodes, and then down, with the rank of the cables.

    None if some terminal is not reached so. A node from which ways down lead to a destination takes the shortest of
    them; the others go up by the shortest way to such a node.
    """
    c, t, n = graph.cables, graph.network.terminal_count, graph.network.node_count
    up = place[c.target] < place[c.source]
    rank = np.where(up, n - place[c.target], 2 * n + place[c.target])
    table = np.full((n, t), -1, np.int32)
    _lead_up_down(np.argsort(place), up, c.first, c.target, graph.forwards, table)
    away = ~np.eye(t, dtype=np.bool_)
    return (table, rank) if bool((table[:t] >= 0)[away].all()) else None


@njit(cache=True, nogil=True, small=100_000)
def _lead_up_down(by_place, up, first, head, forwards, table):
    """Fill in the next cables; nodes come in the order of `by_place`, downwards."""
    n = by_place.size
    cost = np.empty(n, np.int64)
    far = 4 * n
    for d in range(table.shape[1]):
        for v in range(n):
            cost[v] = far
        cost[d] = 0
        for i in range(n - 1, -1, -1):  # down: nodes below are known
            v = by_place[i]
            for c in range(first[v], first[v + 1]):
                u = head[c]
                if v != d and not up[c] and (forwards[u] or u == d) and cost[u] + 1 < cost[v]:
                    cost[v] = cost[u] + 1
                    table[v, d] = c
        for i in range(n):  # up: nodes above are known
            v = by_place[i]
            if v == d or table[v, d] >= 0:
                continue
            for c in range(first[v], first[v + 1]):
                u = head[c]
                if up[c] and (forwards[u] or u == d) and cost[u] + 1 < cost[v]:
                    cost[v] = cost[u] + 1
                    table[v, d] = c


_CLOSE = 1.03
"""Tables that are loaded up to so many times as much as the best are taken if they need fewer layers."""
_LAYERED = 4
"""Tables for which layers are looked for."""


def _plain(network: Network) -> Iterator[IntArray]:
    """Yield routes in the order of dimensions, and in that of cables, which need few layers."""
    alike = network.node_count == network.terminal_count
    every = np.arange(network.node_count) >= network.terminal_count % network.node_count
    graph = _Graph.of(network, every)
    if alike and network.grid is not None:
        yield _dimension_order(network, network.grid)
    table = np.full((network.node_count, network.terminal_count), -1, np.int32)
    c = graph.cables
    _first_shortest(c.first, c.target, graph.first_in, graph.entering, c.source, every, table)
    if int((table[: network.terminal_count] >= 0).sum()) == network.terminal_count * (network.terminal_count - 1):
        yield table


def _candidates(
    network: Network, plain: list[IntArray], enough: float, seed: int, progress: Callable[[str], None] | None
) -> Iterator[IntArray]:
    """Yield plain routes, which need few layers, and balanced ones."""
    say = progress or (lambda stage: None)
    graph = _Graph.of(
        network, np.arange(network.node_count) >= network.terminal_count % network.node_count
    )  # where there are switches, terminals pass nothing on
    for routes in plain:
        yield routes
        load = _loads(network, routes)
        yield from _mended(graph, routes, load, enough, 0, np.random.default_rng(seed), say)
    again = int(np.clip(_RESTARTED // (network.terminal_count * int(network.link_capacity.sum())), 1, _RESTARTS))
    for k in range(again):
        yield from destination_routes(network, enough=enough, seed=seed + k, progress=progress)


_RESTARTED, _RESTARTS = 200_000, 12
"""Terminals times cables that searches from other orders of the destinations may take together; so many searches."""


def _dimension_order(network: Network, grid: Grid, links: npt.NDArray[np.int32] | None = None) -> IntArray:
    """Return routes that correct coordinates one after the other; opposite places of a ring are reached both ways."""
    check_size(network)
    n = network.node_count
    links, cables = grid_links(network) if links is None else links, Cables.of(network)
    first = np.searchsorted(cables.link, np.arange(network.link_count)).astype(np.int32)
    room = network.link_capacity
    table = np.full((n, n), -1, np.int32)
    node = np.arange(n)
    sums = np.sum([node // stride % side for side, stride in zip(grid.sides, grid.strides, strict=True)], axis=0)
    for dimension in range(grid.dimensions - 1, -1, -1):  # what is written last is corrected first
        side, stride = grid.sides[dimension], grid.strides[dimension]
        place = node // stride % side
        ahead = (place[None, :] - place[:, None]) % side if grid.wraps[dimension] else place[None, :] - place[:, None]
        up = ahead > 0
        if grid.wraps[dimension] and side > 2:
            up = (2 * ahead < side) | ((2 * ahead == side) & (place[None, :] % 2 == 0))
        link = np.where(up, links[:, dimension, 0][:, None], links[:, dimension, 1][:, None])
        turn = sums[None, :] % room[link]
        table = np.where(ahead != 0, first[link] + turn, table).astype(np.int32)
    return table


def _loads(network: Network, table: IntArray) -> Ints:
    """Return how many messages of an alltoall cross each direction of a cable."""
    cables, size = Cables.of(network), np.zeros(table.shape, np.int32)
    _sizes(network.terminal_count, table, cables.target, size)
    used = table >= 0
    return np.bincount(table[used], size[used], cables.time.size).astype(np.int64)
