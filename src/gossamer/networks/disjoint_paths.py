"""Node-disjoint paths: as many as there are in any network, and those of a product from paths in its factors."""

from __future__ import annotations

from collections import deque

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.network import IntArray, Network

__all__ = ["node_disjoint_paths", "product_disjoint_paths"]

_Path = list[int]


def node_disjoint_paths(network: Network, source: int, target: int) -> list[IntArray]:
    """Return a largest set of paths between two nodes that share no other node, the shortest first.

    Parameters
    ----------
    network : Network
    source, target : int
        Two different nodes.

    Returns
    -------
    list of int32[hops+1]
        The nodes of each path from `source` to `target`; empty if there is no path. If the two are adjacent, the first
        is their link.

    Raises
    ------
    NetworkError
        If the nodes are the same, or one is outside the network.

    Notes
    -----
    Augmenting paths in the network with each node split in two; by Menger's theorem their number is that of the nodes
    that separate the two, if they are not adjacent. O(p (N + L)) time for p paths, in plain Python.

    References
    ----------
    K. Menger, "Zur allgemeinen Kurventheorie", Fundamenta Mathematicae 10, 1927.

    Examples
    --------
    >>> import gossamer
    >>> [p.tolist() for p in node_disjoint_paths(gossamer.network("ring:5"), 0, 2)]
    [[0, 1, 2], [0, 4, 3, 2]]
    """
    _check_ends(network, source, target)
    after: dict[int, set[int]] = {}  # the links of the paths, by their source
    before: dict[int, int] = {}
    while (steps := _augmenting(network, source, target, after, before)) is not None:
        for u, w, forward in steps:
            if forward:
                after.setdefault(u, set()).add(w)
            else:
                after[u].remove(w)
        before = {w: u for u, targets in after.items() for w in targets if w != target}
    paths: list[_Path] = []
    for first in sorted(after.get(source, ())):
        path = [source, first]
        while path[-1] != target:
            path += after[path[-1]]
        paths.append(path)
    return [np.array(path, np.int32) for path in sorted(paths, key=lambda p: (len(p), p))]


def _check_ends(network: Network, source: int, target: int) -> None:
    network.out_links(source)
    network.out_links(target)
    if source == target:
        raise NetworkError(f"disjoint paths need two different nodes, got {network.node_name(source)} twice")


def _augmenting(
    network: Network, source: int, target: int, after: dict[int, set[int]], before: dict[int, int]
) -> list[tuple[int, int, bool]] | None:
    """Return the links to add (True) and to take back (False) for one more path, or None if there is none.

    State ``2v`` is having entered node v, ``2v+1`` being ready to leave it; a node on a path is entered only to go
    back.
    """
    came: dict[int, tuple[int, tuple[int, int, bool] | None]] = {2 * source + 1: (-1, None)}
    queue = deque([2 * source + 1])
    while queue:
        state = queue.popleft()
        v, leaving = divmod(state, 2)
        options: list[tuple[int, tuple[int, int, bool] | None]] = []
        if leaving:
            links = network.out_links(v)
            ends = network.link_target[links.start : links.stop].tolist()
            options += [(2 * w, (v, w, True)) for w in ends if w != source and w not in after.get(v, ())]
            if v in before:
                options.append((2 * v, None))
        elif v in before:
            options.append((2 * before[v] + 1, (before[v], v, False)))
        else:
            options.append((2 * v + 1, None))
        for state_to, step in options:
            if state_to in came:
                continue
            came[state_to] = (state, step)
            if state_to == 2 * target:
                steps = []
                while state_to >= 0:
                    state_to, step = came[state_to]
                    steps += [step] if step else []
                return steps
            queue.append(state_to)
    return None


def product_disjoint_paths(network: Network, source: int, target: int) -> list[IntArray]:
    """Return the node-disjoint paths between two nodes of a product that follow from those in its factors.

    Parameters
    ----------
    network : Network
        A product; every link of a factor needs its opposite.
    source, target : int
        Two different nodes, v = (v_1..v_k) and u = (u_1..u_k).

    Returns
    -------
    list of int32[hops+1]
        ``p_1 + ... + p_k`` paths: p_i is the number of disjoint paths from v_i to u_i in factor i if they differ, else
        the degree of v_i. The nodes of each path from `source` to `target`.

    Raises
    ------
    NetworkError
        If the network is no product, a factor has a one-way link or no path, or the nodes are the same.

    Notes
    -----
    The construction that the thesis prints is wrong (errata 9.1). Here, in each dimension i, one path corrects all
    dimensions by the shortest of the factors' paths, in cyclic order from i; each other path steps to the first inner
    node of another path in factor i (or to a neighbor, where v_i = u_i), corrects the other dimensions in cyclic
    order, and ends in dimension i. A network may have more disjoint paths than these, where factors have nodes that
    separate: see `node_disjoint_paths`.

    References
    ----------
    Dimakopoulos 1996, Theorem 2.1.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("product:(complete:2)x(array:3)")
    >>> [p.tolist() for p in product_disjoint_paths(net, 0, 5)]
    [[0, 3, 4, 5], [0, 1, 2, 5]]
    """
    _check_ends(network, source, target)
    factors = network.factors
    if not factors:
        raise NetworkError(f"network {network.spec!r} is no product of networks")
    for f in factors:
        if f.link_count and int(f.reverse_link.min()) < 0:
            raise NetworkError(f"factor {f.spec!r} has links without an opposite")
    k = len(factors)
    v, u = _coordinates(network, source), _coordinates(network, target)
    system = [_paths(*ends) for ends in zip(factors, v, u, strict=True)]
    found: list[IntArray] = []
    for i in range(k):
        order = [(i + s) % k for s in range(k)]
        if v[i] != u[i]:
            found.append(_walk(network, v, [(d, system[d][0]) for d in order if v[d] != u[d]]))
            others = system[i][1:]
        else:
            links = factors[i].out_links(v[i])
            others = [[v[i], x, v[i]] for x in factors[i].link_target[links.start : links.stop].tolist()]
        middle = [(d, system[d][0]) for d in order[1:] if v[d] != u[d]]
        found += [_walk(network, v, [(i, p[:2]), *middle, (i, p[1:])]) for p in others]
    return found


def _paths(factor: Network, v: int, u: int) -> list[_Path]:
    """Return disjoint paths between two nodes of a factor, the shortest first; none from a node to itself."""
    if v == u:
        return []
    paths = [p.tolist() for p in node_disjoint_paths(factor, v, u)]
    if not paths:
        raise NetworkError(f"factor {factor.spec!r} has no path from node {v} to node {u}")
    return paths


def _coordinates(network: Network, node: int) -> list[int]:
    digits = []
    for factor in reversed(network.factors):
        node, own = divmod(node, factor.node_count)
        digits.append(own)
    return digits[::-1]


def _walk(network: Network, start: list[int], moves: list[tuple[int, _Path]]) -> IntArray:
    """Return the nodes visited from `start` when each move (dimension, path) is made in turn."""
    strides = [1]
    for factor in network.factors[:0:-1]:
        strides.append(strides[-1] * factor.node_count)
    strides.reverse()
    at = list(start)
    nodes = [sum(x * s for x, s in zip(at, strides, strict=True))]
    for dimension, path in moves:
        for x in path[1:]:
            nodes.append(nodes[-1] + (x - at[dimension]) * strides[dimension])
            at[dimension] = x
    return np.array(nodes, np.int32)
