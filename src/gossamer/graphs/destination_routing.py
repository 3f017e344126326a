"""Routing tables for any network: a tree to each destination, balanced for alltoall, in layers that cannot deadlock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NetworkError
from gossamer.jit import njit
from gossamer.jit.heap import pop_node, rise
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.networks.routing_tables import Cables, Ints, RoutingTable, check_size
from gossamer.reading import seed as read_seed

__all__ = ["destination_routes", "layered", "routing_table"]

Floats = npt.NDArray[np.float64]

_POWERS = (2.0, 4.0, 8.0, 8.0, 16.0, 16.0, 32.0, 32.0, 64.0, 64.0, 128.0, 128.0, 256.0, 256.0)
"""Exponents of the prices, round by round: the larger, the more the most loaded cables alone count."""
_WORK = 5e8
"""Looks at cables that all rounds together may take."""
_SWEEPS, _VAIN = 60, 24
"""Times that every node may change its ways, and how many of these without a lower load are the last."""
_MOST_ARCS = 400_000_000
_ORDERS = 24
"""Orders of paths that are tried for few layers."""
_LARGE = 2_000_000
"""Steps along paths of an order from which on further orders only count that need fewer layers."""
_ORDER_WORK = 4e7
"""Steps along paths that all orders together may take."""


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
def _mend(visit, first, head, time, forwards, terminals, table, load, size, power, scale, longer):
    """Let nodes change their next cable for a destination, with all that they pass on, where it costs less.

    `visit` are node times T plus destination; `size` int32[N, T] how many messages a node has for a destination,
    its own among them. A way may be `longer` by so many cables than the one it replaces. Return how many changed.
    """
    changed = 0
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
        best, least = table[v, d], was * (1.0 + 1e-9)
        for c in range(first[v], first[v + 1]):
            u = head[c]
            if c == table[v, d] or not (forwards[u] or u == d) or (u != d and table[u, d] < 0):
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


# Layers: each path in the first layer in which it closes no circle of cables that wait for each other.

_ABSENT, _PRESENT, _CLOSES, _TRIED = 0, 1, 2, 3


@njit(cache=True, nogil=True, small=100_000)
def _leads_to(a, b, first, head, first_arc, state, seen, mark, stack):
    """Return whether cable a is reached from cable b over arcs that are there or tried; counts of `seen` are `mark`."""
    stack[0], top = b, 1
    seen[b] = mark
    while top:
        top -= 1
        c = stack[top]
        if c == a:
            return True
        v = head[c]
        for k in range(first[v + 1] - first[v]):
            kind = state[first_arc[c] + k]
            if kind in (_PRESENT, _TRIED):
                e = first[v] + k
                if seen[e] != mark:
                    seen[e] = mark
                    stack[top] = e
                    top += 1
    return False


@njit(cache=True, nogil=True, small=100_000)
def _first_fit(
    visit, terminals, table, first, head, first_arc, state, layer, seen, stack, tried
):  # fmt: skip
    """Put the paths of `visit`, source times T plus destination, each into the first layer where it closes no circle.

    `state` uint8[layers, arcs] is what is known of an arc from one cable to the next in a layer: once it closes a
    circle there it always will, as arcs only come. Return how many layers are used, -1 if there are too few.
    """
    used, mark = 0, 0
    for p in visit:
        s, d = p // terminals, p % terminals
        placed = False
        for k in range(state.shape[0]):
            count = 0
            c = table[s, d]
            fits = True
            while head[c] != d:
                v = head[c]
                e = table[v, d]
                arc = first_arc[c] + e - first[v]
                kind = state[k, arc]
                if kind == _CLOSES:
                    fits = False
                    break
                if kind == _ABSENT:
                    mark += 1
                    if _leads_to(c, e, first, head, first_arc, state[k], seen, mark, stack):
                        for i in range(count):
                            state[k, tried[i]] = _ABSENT
                        mark += 1
                        if count == 0 or _leads_to(c, e, first, head, first_arc, state[k], seen, mark, stack):
                            state[k, arc] = _CLOSES
                        count = 0
                        fits = False
                        break
                    state[k, arc] = _TRIED
                    tried[count] = arc
                    count += 1
                c = e
            for i in range(count):
                state[k, tried[i]] = _PRESENT if fits else _ABSENT
            if fits:
                layer[p] = k
                used = max(used, k + 1)
                placed = True
                break
        if not placed:
            return -1
    return used


@njit(cache=True, nogil=True, small=100_000)
def _lengths(terminals, table, head, length):
    for s in range(terminals):
        for d in range(terminals):
            v, count = s, 0
            while v != d:
                v = head[table[v, d]]
                count += 1
            length[s * terminals + d] = count


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

    Parameters
    ----------
    network : Network
        Any in which every terminal reaches every other.
    enough : float
        A load of the busiest cable, times its `Cables.time`, at which the search ends.
    seed : int
        For the order of the destinations.
    progress : callable, optional
        Told what happens.

    Raises
    ------
    NetworkError
        If a terminal does not reach another.

    Notes
    -----
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
) -> Iterator[IntArray]:
    """Yield tables with a lower load, node by node; `load` becomes that of the last one."""
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
            rng.permutation(table.size), c.first, c.target, c.time, graph.forwards, t, now, its_load, size, power,
            scale, longer,
        )  # fmt: skip
        busiest = int((its_load * c.time).max(initial=0))
        vain = 0 if busiest < least else vain + 1
        if busiest < least:
            least, load[:] = busiest, its_load
            yield now.copy()
        elif not changed and power == _POWERS[-1]:
            return


def layered(network: Network, table: IntArray, *, most: int = 16, seed: int = 0) -> npt.NDArray[np.uint8] | None:
    """Return the layer of each path so that in none of them messages can wait for each other in a circle.

    Parameters
    ----------
    network : Network
        With T terminals.
    table : int32[N, T]
        The next cable by node and destination; every terminal reaches every other.
    most : int
        Layers at most.
    seed : int
        For orders at random.

    Returns
    -------
    uint8[T, T] or None
        By source and destination; None if some path finds no layer.

    Notes
    -----
    Each path takes the first layer in which it closes no circle of dependencies (LASH). The order in which they choose
    decides how many are needed: short ones first, long ones first, by source, by destination, and then layer by layer
    from the last one of the best order, which never needs more.

    References
    ----------
    T. Skeie, O. Lysne, I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks", IPDPS 2002.
    J. C. Culberson, "Iterated greedy graph coloring and the difficulty landscape", 1992.
    """
    cables, t = Cables.of(network), network.terminal_count
    out = np.diff(cables.first)[cables.target]
    first_arc = np.cumsum(out) - out
    arcs = int(out.sum())
    if arcs * most > _MOST_ARCS:
        raise ModelError(f"{network.spec} has {arcs:,} pairs of cables one after the other; layers are made for fewer")
    length = np.zeros(t * t, np.int64)
    _lengths(t, table, cables.target, length)
    rng = np.random.default_rng(seed)
    every, like = _told_apart(network, cables, table, length)
    seen, stack, tried = (
        np.zeros(out.size, np.int64),
        np.empty(out.size + 1, np.int64),
        np.empty(out.size + 1, np.int64),
    )
    best: npt.NDArray[np.uint8] | None = None
    used, work = most + 1, max(1, int(length[every].sum()))
    budget, large = max(1, min(_ORDERS, int(_ORDER_WORK / work))), work > _LARGE
    for k in range(budget):
        key = _key(k, every, t, length, best, rng)
        visit = every[np.argsort(key, kind="stable")]
        layer = np.zeros(t * t, np.uint8)
        state = np.zeros((min(most, used - 1 if large else used), arcs), np.uint8)
        seen[:] = 0
        count = _first_fit(visit, t, table, cables.first, cables.target, first_arc, state, layer, seen, stack, tried)
        if 0 <= count <= used:
            used, best = count, layer
        if used <= 1:
            break
    return None if best is None else best[like].reshape(t, t)


def _told_apart(network: Network, cables: Cables, table: IntArray, length: Ints) -> tuple[Ints, Ints]:
    """Return the paths that need a layer of their own, and for each path the one whose layer it takes.

    Paths that leave the same node for the same destination are alike. Where terminals pass nothing on, the cables by
    which they send wait for others, and none for them, so that only what lies behind them counts.
    """
    t = network.terminal_count
    path = np.arange(t * t)
    source, target = np.divmod(path, t)
    if t == network.node_count or _through_terminals(cables, table, t):
        return np.flatnonzero(length > 1), path
    behind = np.where(length > 0, cables.target[table[source, target]], source)
    _, first, which = np.unique(behind.astype(np.int64) * t + target, return_index=True, return_inverse=True)
    like = first[which.reshape(-1)]
    return np.unique(like[length > 1]), like


def _through_terminals(cables: Cables, table: IntArray, terminals: int) -> bool:
    """Return whether some route goes on from a terminal that it is not for."""
    node, target = np.nonzero(table >= 0)
    ends = cables.target[table[node, target]]
    return bool(((ends < terminals) & (ends != target)).any())


def _key(
    k: int, every: Ints, t: int, length: Ints, best: npt.NDArray[np.uint8] | None, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the k-th order of paths, as keys to sort them by."""
    if k == 0:
        return np.asarray(length[every])
    if k == 1:
        return np.asarray(-length[every])
    if k == 2:
        return np.asarray(every // t)
    if k == 3 or best is None:
        return np.asarray(every % t) if k == 3 else rng.permutation(every.size)
    mine = best[every].astype(np.int64)
    layers = int(mine.max(initial=0)) + 1
    turn = layers - 1 - np.arange(layers) if k % 2 else rng.permutation(layers)
    within = length[every] if k % 3 == 0 else rng.permutation(every.size) if k % 3 == 1 else -length[every]
    return np.asarray(turn[mine] * (4 * every.size + 4) + within)


def routing_table(
    network: Network,
    *,
    enough: float = 0.0,
    layers: int = 16,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> RoutingTable:
    """Return a routing table that is balanced for alltoall and cannot deadlock.

    Parameters
    ----------
    network : Network
        Any in which every terminal reaches every other.
    enough : float
        A load at which the search for a better balance ends; see `destination_routes`.
    layers : int
        Virtual layers at most.
    seed : int
        The same seed gives the same table.
    progress : callable, optional
        Told what happens.

    Raises
    ------
    NetworkError
        If a terminal does not reach another.
    ModelError
        If more layers are needed.

    Examples
    --------
    >>> import gossamer
    >>> routing_table(gossamer.network("torus:4x4")).layers
    1
    """
    time, say = Cables.of(network).time, progress or (lambda stage: None)
    found: list[tuple[int, IntArray]] = []
    for table in _candidates(network, enough, seed, progress):
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
    if best is None:
        raise ModelError(f"the routes on {network.spec} need more than {layers} virtual layers")
    return best


_CLOSE = 1.03
"""Tables that are loaded up to so many times as much as the best are taken if they need fewer layers."""
_LAYERED = 4
"""Tables for which layers are looked for."""


def _candidates(
    network: Network, enough: float, seed: int, progress: Callable[[str], None] | None
) -> Iterator[IntArray]:
    """Yield routes in the order of dimensions and of cables, which need few layers; then balanced ones."""
    say = progress or (lambda stage: None)
    every = np.ones(network.node_count, np.bool_)
    alike = network.node_count == network.terminal_count
    if not alike:
        every[: network.terminal_count] = False
    graph = _Graph.of(network, every)
    table = np.full((network.node_count, network.terminal_count), -1, np.int32)
    c = graph.cables
    _first_shortest(c.first, c.target, graph.first_in, graph.entering, c.source, every, table)
    plain = [_dimension_order(network, network.grid)] if alike and network.grid is not None else []
    complete = bool(
        (table[: network.terminal_count] >= 0).sum() == network.terminal_count * (network.terminal_count - 1)
    )
    for routes in [*plain, table] if complete else plain:
        yield routes
        load = _loads(network, routes)
        yield from _mended(graph, routes, load, enough, 0, np.random.default_rng(seed), say)
    again = int(np.clip(_RESTARTED // (network.terminal_count * int(network.link_capacity.sum())), 1, _RESTARTS))
    for k in range(again):
        yield from destination_routes(network, enough=enough, seed=seed + k, progress=progress)


_RESTARTED, _RESTARTS = 200_000, 12
"""Terminals times cables that searches from other orders of the destinations may take together; so many searches."""


def _dimension_order(network: Network, grid: Grid) -> IntArray:
    """Return routes that correct coordinates one after the other; opposite places of a ring are reached both ways."""
    check_size(network)
    n = network.node_count
    links, cables = grid_links(network), Cables.of(network)
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
