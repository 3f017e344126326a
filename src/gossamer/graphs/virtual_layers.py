"""Virtual layers for given routes: in each of them no messages can wait for each other in a circle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.networks.routing_tables import Cables, Ints

__all__ = ["layered"]

_MOST_ARCS = 400_000_000
_ORDERS = 24
"""Orders of paths that are tried for few layers."""
_LARGE = 2_000_000
"""Steps along paths of an order from which on further orders only count that need fewer layers."""
_ORDER_WORK = 4e7
"""Steps along paths that all orders together may take."""

# Each path in the first layer in which it closes no circle of cables that wait for each other.

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


def layered(network: Network, table: IntArray, *, most: int = 16, seed: int = 0) -> npt.NDArray[np.uint8] | None:
    """Return the layer of each path so that in none of them messages can wait for each other in a circle.

    * `network` (Network): with T terminals.
    * `table` (int32[N, T]): the next cable by node and destination; every terminal reaches every other.
    * `most` (int): layers at most.
    * `seed` (int): for orders at random.

    Returns: uint8[T, T] or None: by source and destination; None if some path finds no layer.

    Each path takes the first layer in which it closes no circle of dependencies (LASH). The order in which they choose
    decides how many are needed: short ones first, long ones first, by source, by destination, and then layer by layer
    from the last one of the best order, which never needs more.

    Source: T. Skeie, O. Lysne, I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks",
    IPDPS 2002. J. C. Culberson, "Iterated greedy graph coloring and the difficulty landscape", 1992.
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
