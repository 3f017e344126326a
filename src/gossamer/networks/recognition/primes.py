"""Prime factors by name: a path, a ring, a complete network, or another one; and an order of their nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Prime", "prime"]

Ints = npt.NDArray[np.int64]


class Prime(NamedTuple):
    """A factor.

    Attributes
    ----------
    kind : str
        ``"edge"``, ``"path"``, ``"ring"``, ``"complete"`` or ``"other"``.
    size : int
        How many nodes it has.
    order : int64[size]
        Its nodes in the order of the positions: along a path or ring, otherwise that of the numbers in the network.
    step : int
        The number, in the network, of the node one step from node 0 along the factor: the smaller, the less significant
        the factor is in the numbering of the network.
    """

    kind: str
    size: int
    order: Ints
    step: int


def prime(edges: Ints, layer: Ints) -> Prime:
    """Return what a factor is.

    Parameters
    ----------
    edges : int64[edges, 2]
        Its edges.
    layer : int64[size]
        For each of its nodes, the number of the node of the network in the layer of node 0; 0 is node 0.
    """
    size = layer.size
    near: list[list[int]] = [[] for _ in range(size)]
    for a, b in edges.tolist():
        near[a].append(b)
        near[b].append(a)
    degrees = sorted(map(len, near))
    start = int(np.argmin(layer))
    by_number = np.argsort(layer)
    step = int(layer[near[start]].min()) if near[start] else 0
    if size == 2:
        return Prime("edge", 2, by_number, step)
    if degrees[0] == degrees[-1] == size - 1:
        return Prime("complete" if size > 3 else "ring", size, by_number, step)
    if degrees[-1] == 2 and len(edges) in (size - 1, size):
        ends = [i for i in range(size) if len(near[i]) == 1]
        first = start if not ends else min(ends, key=lambda i: (i != start, layer[i]))
        order = _walk(near, first, layer)
        return Prime("path" if ends else "ring", size, np.array(order), step)
    return Prime("other", size, by_number, step)


def _walk(near: list[list[int]], first: int, layer: Ints) -> list[int]:
    """Return the nodes along a path or ring from one on, first to the neighbor of the smaller number."""
    order = [first]
    before, at = -1, first
    while True:
        onward = [v for v in near[at] if v != before and v != first]
        if not onward or len(order) == len(near):
            return order
        before, at = at, min(onward, key=lambda v: layer[v])
        order.append(at)
