"""Places for the nodes of any network, such that distances on paper follow distances in hops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.layouts.layout import Points, circle

__all__ = ["stress_positions"]

PIVOTS = 100
"""Networks with more nodes than EXACT are measured from this many nodes only, chosen far from each other."""
EXACT = 500
ROUNDS = 80
_ROOM = 0.55


def stress_positions(network: Network) -> Points:
    """Return places that make the stress small, float64[N, 2], neighbors about one unit apart.

    The stress is the sum over pairs of nodes of ``(|x_i - x_j| - d_ij)^2 / d_ij^2``, with d the distance in hops in
    either direction. It starts from classical scaling; nodes on top of each other are moved apart at the end.

    Notes
    -----
    O(rounds * N * min(N, pivots)) time; no random numbers.

    References
    ----------
    Gansner, Koren, North, "Graph drawing by stress majorization", GD 2004; Brandes, Pich, "Eigensolver methods for
    progressive multidimensional scaling of large data", GD 2006.

    Examples
    --------
    >>> import gossamer
    >>> path = gossamer.network("array:3")
    >>> bool(np.ptp(stress_positions(path), axis=0).max() > 1.9)
    True
    """
    n = network.node_count
    if n <= 2:
        return circle(n)
    pivots, distance = _distances(network)
    x = _classical_scaling(distance)
    # each node against every pivot and against its neighbors
    source, target = network.link_source, network.link_target
    own, other = np.concatenate([source, target]), np.concatenate([target, source])
    weight = np.where(distance > 0, 1.0 / np.maximum(distance, 1e-9) ** 2, 0.0)
    wanted = weight * distance
    total = weight.sum(axis=1) + np.bincount(own, minlength=n)
    for _ in range(ROUNDS):
        fixed = x[pivots]
        length = np.hypot(x[:, :1] - fixed[:, 0], x[:, 1:] - fixed[:, 1])
        push = wanted / np.maximum(length, 1e-9)
        pull = (weight - push) @ fixed + push.sum(axis=1, keepdims=True) * x
        link = x[own] - x[other]
        place = x[other] + link / np.maximum(np.hypot(link[:, 0], link[:, 1]), 1e-9)[:, None]
        for axis in range(2):
            pull[:, axis] += np.bincount(own, place[:, axis], minlength=n)
        x = 0.4 * x + 0.6 * pull / total[:, None]
    return _roomy(_apart(x))


def _distances(network: Network) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the pivots and the hops between every node and every pivot, float64[N, pivots]."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = network.node_count
    ones = np.ones(network.link_count, np.int8)
    matrix = csr_array((ones, (network.link_source, network.link_target)), shape=(n, n))

    def hops(start: Any) -> npt.NDArray[np.float64]:
        found = np.asarray(dijkstra(matrix, directed=False, unweighted=True, indices=start))
        reached = np.isfinite(found)
        return np.where(reached, found, 2.0 + float(found[reached].max()))

    if n <= EXACT:
        return np.arange(n), hops(np.arange(n)).T
    pivots = [int(np.argmax(np.bincount(network.link_source, minlength=n)))]
    columns = [hops(pivots[0])]
    nearest = columns[0]
    while len(pivots) < PIVOTS:
        pivots.append(int(np.argmax(nearest)))
        columns.append(hops(pivots[-1]))
        nearest = np.minimum(nearest, columns[-1])
    return np.array(pivots), np.stack(columns, axis=1)


def _classical_scaling(distance: npt.NDArray[np.float64]) -> Points:
    """Return the plane that shows the distances to the pivots best, sized to match them."""
    square = distance**2
    centered = square - square.mean(axis=0) - square.mean(axis=1, keepdims=True) + square.mean()
    values, vectors = np.linalg.eigh(centered.T @ centered)  # squares of the singular values, ascending
    flat = np.zeros((len(distance), 2))
    keep = min(2, len(values))
    size = np.maximum(values[::-1][:keep], 1e-12) ** 0.25
    flat[:, :keep] = centered @ vectors[:, ::-1][:, :keep] / size
    flat *= np.where(flat[np.abs(flat).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    spread = np.sqrt((flat**2).sum(axis=1).mean())
    flat *= np.sqrt((square.mean()) / 2) / max(float(spread), 1e-9)
    # a little disorder, the same every time, so that nodes with equal distances do not stay together
    golden = np.arange(len(flat)) * 2.399963
    return flat + 0.05 * np.stack([np.cos(golden), np.sin(golden)], axis=1)


def _roomy(x: Points) -> Points:
    """Enlarge the picture until most nodes are at least a unit from their nearest neighbor."""
    from scipy.spatial import cKDTree

    nearest = np.asarray(cKDTree(x).query(x, k=2)[0])[:, 1]
    return x / min(1.0, max(float(np.quantile(nearest, 0.1)), 0.3))


def _apart(x: Points) -> Points:
    """Push nodes apart that are closer than _ROOM, a few times over the whole picture."""
    from scipy.spatial import cKDTree

    for _ in range(60):
        pairs = cKDTree(x).query_pairs(_ROOM, output_type="ndarray")
        if not len(pairs):
            break
        a, b = pairs[:, 0], pairs[:, 1]
        way = x[a] - x[b]
        length = np.hypot(way[:, 0], way[:, 1])
        flat = length < 1e-9
        turn = 2.399963 * (a + 1)[flat]
        way[flat] = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        length[flat] = 1.0
        push = way / length[:, None] * (0.26 * np.maximum(_ROOM - np.where(flat, 0, length), 0.02))[:, None]
        for axis in range(2):
            x[:, axis] += np.bincount(a, push[:, axis], minlength=len(x))
            x[:, axis] -= np.bincount(b, push[:, axis], minlength=len(x))
    return x
