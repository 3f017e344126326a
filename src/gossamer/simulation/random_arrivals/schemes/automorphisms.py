"""Automorphisms of a network, found by refining colors of nodes and trying what remains open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gossamer.networks.network import Network

__all__ = ["Images", "automorphism", "generated", "stabilizer"]

Images = npt.NDArray[np.int64]


def automorphism(network: Network, nodes: Sequence[int], images: Sequence[int], *, tries: int = 2000) -> Images | None:
    """Return an automorphism that takes given nodes to given images, or None if there is none.

    Parameters
    ----------
    network : Network
        Links may be one-way; capacities are not looked at.
    nodes, images : sequence of int
        ``nodes[k]`` goes to ``images[k]``.
    tries : int
        Give up, as if there were none, after this many nodes were tried; symmetric networks need a handful.

    Returns
    -------
    int64[N] or None
        The image of each node. Every link goes to a link.

    Notes
    -----
    Nodes of both sides get colors by what is known of them and of their neighbors until nothing changes. A node
    whose color is not unique is then tried with each image of that color. One refinement is O(L log L) a round.

    Examples
    --------
    >>> import gossamer
    >>> automorphism(gossamer.network("ring:5"), [0, 1], [0, 4]).tolist()
    [0, 4, 3, 2, 1]
    >>> automorphism(gossamer.network("array:4"), [0], [1]) is None
    True
    """
    n = network.node_count
    color = np.zeros(2 * n, np.int64)
    for k, (a, b) in enumerate(zip(nodes, images, strict=True)):
        color[a], color[n + b] = k + 1, k + 1
    source = np.concatenate([network.link_source, network.link_source + n]).astype(np.int64)
    target = np.concatenate([network.link_target, network.link_target + n]).astype(np.int64)
    budget = [tries]
    return _search(color, source, target, budget)


def _search(color: Images, source: Images, target: Images, budget: list[int]) -> Images | None:
    n = color.size // 2
    refined = _refined(color, source, target)
    if refined is None:
        return None
    counts = np.bincount(refined[:n])
    if counts.max() == 1:
        image = np.empty(n, np.int64)
        image[np.argsort(refined[:n])] = np.argsort(refined[n:])
        return image
    sizes = np.where(counts > 1, counts, n + 1)
    chosen = int(np.argmin(sizes))
    node = int(np.flatnonzero(refined[:n] == chosen)[0])
    for candidate in np.flatnonzero(refined[n:] == chosen):
        if budget[0] <= 0:
            return None
        budget[0] -= 1
        trial = refined.copy()
        trial[node] = trial[n + candidate] = counts.size
        found = _search(trial, source, target, budget)
        if found is not None:
            return found
    return None


def _refined(color: Images, source: Images, target: Images) -> Images | None:
    """Return the coarsest stable refinement of `color`, or None where the two halves differ in it."""
    n = color.size // 2
    rng = np.random.default_rng(0)
    color = np.unique(color, return_inverse=True)[1].reshape(-1)
    count = int(color.max()) + 1
    while True:
        if not np.array_equal(np.bincount(color[:n], minlength=count), np.bincount(color[n:], minlength=count)):
            return None
        if count == n:
            return color if _stable(color, source, target) else None
        mark = rng.integers(1, 2**62, (2, count), dtype=np.uint64)  # sums of random marks tell multisets apart
        out, into = np.zeros(2 * n, np.uint64), np.zeros(2 * n, np.uint64)
        np.add.at(out, source, mark[0][color[target]])
        np.add.at(into, target, mark[1][color[source]])
        order = np.lexsort((into, out, color))
        differs = np.zeros(2 * n, np.int64)
        for key in (color, out, into):
            differs[1:] |= key[order][1:] != key[order][:-1]
        refined = np.empty(2 * n, np.int64)
        refined[order] = np.cumsum(differs)
        finer = int(refined.max()) + 1
        if finer == count:
            return color
        color, count = refined, finer


def _stable(color: Images, source: Images, target: Images) -> bool:
    """Whether the bijection of equal colors takes links to links."""
    n = color.size // 2
    key = color[source] * n + color[target]
    half = key.size // 2
    return bool(np.array_equal(np.sort(key[:half]), np.sort(key[half:])))


def stabilizer(network: Network, node: int = 0) -> list[Images]:
    """Return automorphisms that fix `node` and take its first neighbor to each of its neighbors, where they exist.

    The first one is the identity. If there are as many as `node` has links, and the network is node-symmetric, it is
    arc-transitive: any link can be taken to any other one.

    Examples
    --------
    >>> import gossamer
    >>> len(stabilizer(gossamer.network("hypercube:4"))), len(stabilizer(gossamer.network("ccc:3")))
    (4, 2)
    """
    neighbors = [int(network.link_target[k]) for k in network.out_links(node)]
    found = [np.arange(network.node_count, dtype=np.int64)]
    for image in neighbors[1:]:
        way = automorphism(network, [node, neighbors[0]], [node, image])
        if way is not None:
            found.append(way)
    return found


def generated(elements: Sequence[Images], most: int) -> list[Images]:
    """Return products of the given permutations, shortest first: their whole group, or its first `most` elements.

    >>> import numpy as np
    >>> len(generated([np.array([1, 2, 3, 0])], 100))
    4
    """
    first = np.arange(elements[0].size, dtype=np.int64)
    known = {first.tobytes()}
    listed = [first]
    for element in listed:
        for by in elements:
            new = by[element]
            if len(listed) < most and new.tobytes() not in known:
                known.add(new.tobytes())
                listed.append(new)
    return listed
