"""Networks drawn at random: regular ones (Jellyfish) and lifts of complete networks (Xpander)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.router_networks import both_ways, router_network, router_size
from gossamer.reading import seed as check_seed

Numbers = npt.NDArray[np.int64]

TRIES = 1000
"""How many lifts are drawn before none is called connected."""


def jellyfish(n: int, d: int, seed: int = 0, p: int = 0) -> Network:
    """Return a connected random network of n routers, each with d links to others and p terminals.

    Parameters
    ----------
    n : int
        Routers, at least 1.
    d : int
        Links of each router to others, 0..n-1; n*d is even.
    seed : int
        Another seed gives another network.
    p : int
        Terminals at each router. 0: the routers are the terminals themselves.

    Returns
    -------
    Network
        Spec ``jellyfish:n=N,d=D,seed=S,p=P``, with what is not at its default. The neighbors of a router are in
        ascending order.

    Raises
    ------
    NetworkError
        If a parameter is out of range, no such network is connected, or it is too large.

    Notes
    -----
    The stubs of the routers are paired at random. An edge that joins a router to itself or to one that it is joined to
    already trades an end with another edge, drawn at random, that makes both new; so do edges of two parts that are not
    connected. If d is above (n-1)/2 it is the complement that is drawn. Every network can come up, not all with one
    probability. Diameter near ``log(n) / log(d-1)``. O(L log L) time.

    References
    ----------
    Singla, Hong, Popa and Godfrey 2012.

    Examples
    --------
    >>> jellyfish(50, 7)
    <Network jellyfish:n=50,d=7: 50 nodes, 350 links>
    >>> jellyfish(50, 7, seed=1) == jellyfish(50, 7, seed=2)
    False
    """
    _jellyfish_size(n, d, seed, p)
    n, d, p = int(n), int(d), int(p)
    draw = np.random.default_rng(int(seed))
    if d <= (n - 1) // 2:
        ends = _connected(n, _regular(n, d, draw), draw)
    else:
        absent = _regular(n, n - 1 - d, draw)
        near = np.triu(np.ones((n, n), bool), 1)
        near[absent.min(axis=1), absent.max(axis=1)] = False
        ends = np.argwhere(near)
    source, target, _ = both_ways(ends[:, 0], ends[:, 1])
    order = np.lexsort((target, source))
    spec = spec_parameters.canonical("jellyfish", {"n": n, "d": d, "seed": int(seed), "p": p}, seed=0, p=0)
    return router_network(spec, n, [(source[order], target[order], 1)], p=p)


def xpander(d: int, k: int, seed: int = 0, p: int = 0) -> Network:
    """Return a connected random k-lift of the complete network of d+1 nodes, with p terminals at each router.

    Parameters
    ----------
    d : int
        Links of each router to others, at least 3.
    k : int
        Routers that stand for each node of the complete network, at least 1.
    seed : int
        Another seed gives another network.
    p : int
        Terminals at each router. 0: the routers are the terminals themselves.

    Returns
    -------
    Network
        Spec ``xpander:d=D,k=K,seed=S,p=P``, with what is not at its default. Router x of part u has coordinates
        (u, x), with a last one as in `dragonfly` if there are terminals. It has one link to each other part, in
        ascending order.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Any two parts are joined by a random perfect matching. Almost all such networks are near to the best possible
    expanders; one that is not connected is drawn again. O(L log L) time.

    References
    ----------
    Valadarsky, Shahaf, Dinitz and Schapira 2016.

    Examples
    --------
    >>> xpander(5, 8)
    <Network xpander:d=5,k=8: 48 nodes, 240 links>
    """
    _xpander_size(d, k, seed, p)
    d, k, p = int(d), int(k), int(p)
    draw = np.random.default_rng(int(seed))
    u, v = np.triu_indices(d + 1, 1)
    number = np.arange((d + 1) * k)
    for _ in range(TRIES):
        match = draw.permuted(np.tile(np.arange(k), (u.size, 1)), axis=1)
        pairs = np.repeat(u, k) * k + np.tile(np.arange(k), u.size), (v[:, None] * k + match).ravel()
        if _parts(number.size, np.stack(pairs, axis=1)).max() == 0:
            break
    else:
        raise NetworkError(f"xpander: {TRIES} lifts of {k} routers a part are not connected; take another seed")
    source, target, _ = both_ways(*pairs)
    order = np.lexsort((target, source))
    spec = spec_parameters.canonical("xpander", {"d": d, "k": k, "seed": int(seed), "p": p}, seed=0, p=0)
    links = source[order], target[order], 1
    places = np.stack([number // k, number % k], axis=1)
    return router_network(spec, number.size, [links], p=p, places=places, groups=number // k)


def _regular(n: int, d: int, draw: np.random.Generator) -> Numbers:
    """Return the edges of a random d-regular graph without loops and doubled edges, int64[n*d/2, 2]; d <= (n-1)/2."""
    ends = draw.permutation(np.repeat(np.arange(n), d)).reshape(-1, 2)
    patience = 1000 + 100 * len(ends)  # of a handful of edges all may be such that no trade helps
    key = ends.min(axis=1) * n + ends.max(axis=1)
    order = np.argsort(key, kind="stable")
    bad = ends[:, 0] == ends[:, 1]
    bad[order[1:]] |= key[order[1:]] == key[order[:-1]]
    known = set(key[~bad].tolist())
    waiting = np.flatnonzero(bad).tolist()
    broken = set(waiting)
    while waiting:
        patience -= 1
        if not patience:
            return _regular(n, d, draw)
        i = waiting[-1]
        j = int(draw.integers(len(ends)))
        if j in broken:
            continue
        (a, b), (x, y) = ends[i].tolist(), ends[j].tolist()
        if draw.integers(2):
            x, y = y, x
        new = min(a, x) * n + max(a, x), min(b, y) * n + max(b, y)
        if a == x or b == y or new[0] == new[1] or new[0] in known or new[1] in known:
            continue
        known.discard(min(x, y) * n + max(x, y))
        known.update(new)
        ends[i], ends[j] = (a, x), (b, y)
        broken.discard(waiting.pop())
    return ends


def _connected(n: int, ends: Numbers, draw: np.random.Generator) -> Numbers:
    """Return the edges after trades between unconnected parts, each of an edge that is on a cycle with any other."""
    part = _parts(n, ends)
    for other in range(1, int(part.max(initial=0)) + 1):
        # the part of node 0 grows; a breadth-first tree leaves an edge out that is on a cycle, as degrees are 2 or more
        own = np.flatnonzero(part[ends[:, 0]] == 0)
        loose = own[~_in_tree(n, ends[own])]
        i = int(draw.choice(loose))
        j = int(draw.choice(np.flatnonzero(part[ends[:, 0]] == other)))
        (a, b), (x, y) = ends[i].tolist(), ends[j].tolist()
        ends[i], ends[j] = (a, x), (b, y)
        part[part == other] = 0
    return ends


def _parts(n: int, ends: Numbers) -> Numbers:
    """Return the number of the connected part of each node, the part of node 0 first, int64[n]."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def _in_tree(n: int, ends: Numbers) -> npt.NDArray[np.bool_]:
    """Return which edges are in a spanning forest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    low, high = ends.min(axis=1), ends.max(axis=1)
    graph = coo_array((np.arange(1, len(ends) + 1, dtype=float), (low, high)), shape=(n, n)).tocsr()
    inside = np.zeros(len(ends), bool)
    inside[minimum_spanning_tree(graph).data.astype(np.int64) - 1] = True
    return inside


def _jellyfish_size(n: int, d: int, seed: int = 0, p: int = 0) -> Size:
    n = whole_number(n, "jellyfish", "n")
    d = whole_number(d, "jellyfish", "d", 0, n - 1)
    check_seed(seed, "jellyfish: seed", error=NetworkError)
    if n * d % 2:
        raise NetworkError(f"jellyfish: n*d must be even, got {n}*{d}; take {n + 1} routers or degree {d - 1}")
    if d < min(2, n - 1):
        raise NetworkError(f"jellyfish: {n} routers of degree {d} are not connected; d is at least {min(2, n - 1)}")
    return router_size("jellyfish", n, n * d, p)


def _xpander_size(d: int, k: int, seed: int = 0, p: int = 0) -> Size:
    d, k = whole_number(d, "xpander", "d", low=3), whole_number(k, "xpander", "k")
    check_seed(seed, "xpander: seed", error=NetworkError)
    return router_size("xpander", (d + 1) * k, (d + 1) * k * d, p)


JELLYFISH = Family(
    name="jellyfish",
    function=jellyfish,
    size=_jellyfish_size,
    form=spec_parameters.named(dict.fromkeys(("n", "d", "seed", "p"), spec_parameters.integer), seed=0, p=0),
    parameters="n=N,d=D,seed=0,p=0",
    summary="connected random network of n routers, d links of each to others, p terminals at each (0: the routers)",
    example="jellyfish:n=20,d=4,seed=1,p=3",
    source="Singla, Hong, Popa and Godfrey 2012",
    small=("jellyfish:n=8,d=3",),
    aliases=("random-regular",),
)
XPANDER = Family(
    name="xpander",
    function=xpander,
    size=_xpander_size,
    form=spec_parameters.named(dict.fromkeys(("d", "k", "seed", "p"), spec_parameters.integer), seed=0, p=0),
    parameters="d=D,k=K,seed=0,p=0",
    summary="connected random k-lift of the complete network of d+1 nodes, p terminals at each (0: the routers)",
    example="xpander:d=5,k=8,seed=1,p=3",
    source="Valadarsky, Shahaf, Dinitz and Schapira 2016",
    small=("xpander:d=3,k=2",),
)
