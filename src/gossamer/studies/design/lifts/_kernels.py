"""Compiled search for the lift of a small graph whose nodes are near each other."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["best_lift"]


@njit(cache=True, nogil=True)
def _status(far, element, product, stop, queue, mark):
    """Return the sum of the distances from one node of each vertex, -1 if it is over `stop` or some are not reached.

    Port j of vertex b leads to vertex ``far[b, j]`` by ``element[b, j]``. Ends as soon as the sum must be over `stop`
    even if every node from now on has degree - 1 links to new ones.
    """
    vertices, degree = far.shape
    order = product.shape[0]
    n = vertices * order
    total = 0
    for s in range(vertices):
        mark[:] = False
        queue[0] = s * order
        mark[s * order] = True
        start, end, tail, away = 0, 1, 1, 1
        while tail < n:
            for i in range(start, end):
                b = queue[i] // order
                x = queue[i] - b * order
                for j in range(degree):
                    v = far[b, j] * order + product[x, element[b, j]]
                    if not mark[v]:
                        mark[v] = True
                        queue[tail] = v
                        tail += 1
            if tail == end:
                return -1
            total += away * (tail - end)
            start, end = end, tail
            away += 1
            left, room, least, layer = n - tail, (end - start) * (degree - 1), total, away
            while left > 0 and room > 0:
                fill = min(room, left)
                least += fill * layer
                left -= fill
                room *= degree - 1
                layer += 1
            if left > 0 or least > stop:
                return -1
    return total


@njit(cache=True, nogil=True)
def _join(far, element, inverse, pair, a, b, g):
    """Join ports a and b, numbered vertex by vertex: the first leads by g, the second by its inverse."""
    degree = far.shape[1]
    pair[a], pair[b] = b, a
    far[a // degree, a % degree], element[a // degree, a % degree] = b // degree, g
    far[b // degree, b % degree], element[b // degree, b % degree] = a // degree, inverse[g]


@njit(cache=True, nogil=True)
def _keep(other, here, pair, element):
    """Write the ports that belong together, and their group elements, to the arrays of the best lift."""
    for port in range(other.size):
        pair[port] = other[port]
        element[port // here.shape[1], port % here.shape[1]] = here[port // here.shape[1], port % here.shape[1]]


@njit(cache=True, nogil=True)
def best_lift(vertices, degree, product, inverse, looks, heat, seed, pair, element):
    """Anneal which ports are joined and by which elements; return the least sum of distances from all vertices.

    `product` int64[Q, Q] and `inverse` int64[Q] are those of the group. `pair` int64[vertices*degree] and `element`
    int64[vertices, degree] receive the best. A look exchanges the ends of two edges, or the element of one.
    """
    np.random.seed(seed)
    order = inverse.size
    ports = vertices * degree
    n = vertices * order
    queue = np.empty(n, np.int64)
    mark = np.zeros(n, np.bool_)
    far = np.zeros((vertices, degree), np.int64)
    here = np.zeros((vertices, degree), np.int64)
    other = np.zeros(ports, np.int64)
    mixed = np.random.permutation(ports)
    for i in range(0, ports, 2):
        _join(far, here, inverse, other, mixed[i], mixed[i + 1], np.random.randint(order))
    best = 1 << 40
    current = _status(far, here, product, best, queue, mark)
    if current < 0:
        current = best
    _keep(other, here, pair, element)
    for look in range(looks):
        a, c = np.random.randint(ports), np.random.randint(ports)
        b, e = other[a], other[c]
        one, two = here[a // degree, a % degree], here[c // degree, c % degree]
        swap = np.random.randint(2) == 1 and c != a and c != b
        g = np.random.randint(order)
        if swap:
            _join(far, here, inverse, other, a, c, g)
            _join(far, here, inverse, other, b, e, np.random.randint(order))
        else:
            _join(far, here, inverse, other, a, b, g)
        warm = heat * (1.0 - look / looks)
        room = current - warm * np.log(max(np.random.random(), 1e-12))
        found = _status(far, here, product, int(room), queue, mark)
        if found >= 0:
            current = found
            if found < best:
                best = found
                _keep(other, here, pair, element)
        else:
            _join(far, here, inverse, other, a, b, one)
            if swap:
                _join(far, here, inverse, other, c, e, two)
    return best
