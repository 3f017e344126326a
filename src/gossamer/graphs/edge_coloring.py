"""Edge coloring of bipartite multigraphs: the open shop behind optimal exchanges.

Jobs on one side, machines on the other, one edge for each unit operation: a proper coloring is a timetable in which
no job and no machine does two things at once. As many colors as the largest degree are enough.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit

__all__ = ["color_edges", "largest_degree"]


@njit(cache=True, nogil=True)
def _halve(edges, ends, open_at, partner, half):
    """Split `edges` in two halves (half[e] = 0 or 1) that share the edges of every vertex evenly."""
    for e in edges:
        half[e] = -1
        for side in range(2):
            partner[side, e] = -1
            v = ends[side, e]
            f = open_at[v]
            if f < 0:
                open_at[v] = e
            else:
                partner[side, e] = f
                partner[side, f] = e
                open_at[v] = -1
    for e in edges:
        open_at[ends[0, e]] = -1
        open_at[ends[1, e]] = -1
    # edges joined by partnership form paths and even cycles: alternate along them
    for start in edges:
        if half[start] >= 0:
            continue
        for side in range(2):
            e, s, color = start, side, 0
            half[start] = 0
            while True:
                f = partner[s, e]
                if f < 0 or half[f] >= 0:
                    break
                color = 1 - color
                half[f] = color
                e, s = f, 1 - s


@njit(cache=True, nogil=True)
def _cover(root, full, first, listed, edges_at, ends, match, via, queue, stamp, seen):
    """Change the matching along an alternating path from `root`: it covers `root` then, and no full vertex loses cover.

    Breadth-first over vertices on the side of `root`: leave over any edge, come back over a matching edge; stop at an
    unmatched vertex opposite, or at a vertex of the own side that need not be covered.
    """
    queue[0] = root
    seen[root] = stamp
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for i in range(first[u], first[u] + listed[u]):
            e = edges_at[i]
            v = ends[0, e] + ends[1, e] - u
            if seen[v] == stamp:
                continue
            seen[v] = stamp
            via[v] = e
            back = match[v]
            w = -1
            if back >= 0:
                w = ends[0, back] + ends[1, back] - v
                if seen[w] == stamp:
                    continue
                if full[w]:
                    seen[w] = stamp
                    queue[tail] = w
                    tail += 1
                    continue
                match[w] = -1
            # v is free, or was freed from a vertex w that can do without: flip the path back to the root
            while True:
                e = via[v]
                x = ends[0, e] + ends[1, e] - v
                old = match[x]
                match[x] = e
                match[v] = e
                if x == root:
                    return True
                v = ends[0, old] + ends[1, old] - x
    return False


@njit(cache=True, nogil=True)
def _matching(
    edges, colors, color, ends, degree, budget, first, listed, edges_at, match, via, queue, seen, full, stamp
):
    """Give `color` to a matching of `edges` that covers every vertex of degree `budget`; return the next stamp."""
    place = 0
    for e in edges:
        for side in range(2):
            v = ends[side, e]
            if listed[v] < 0:
                first[v] = place
                place += degree[v]
                listed[v] = 0
                match[v] = -1
                full[v] = degree[v] == budget
            edges_at[first[v] + listed[v]] = e
            listed[v] += 1
    for e in edges:
        for side in range(2):
            v = ends[side, e]
            if full[v] and match[v] < 0:
                stamp += 1
                _cover(v, full, first, listed, edges_at, ends, match, via, queue, stamp, seen)
    for e in edges:
        if match[ends[0, e]] == e:
            colors[e] = color
    for e in edges:
        listed[ends[0, e]] = -1
        listed[ends[1, e]] = -1
    return stamp


@njit(cache=True, nogil=True, small=100_000)
def _color_edges(ends, vertices, budget, colors):
    """Fill `colors` int32[E] with a proper coloring in ``budget`` >= largest degree colors.

    ``ends`` int64[2, E] holds vertex numbers 0..vertices-1; the two sides do not share numbers.
    """
    count = ends.shape[1]
    order = np.arange(count)
    spare = np.empty(count, np.int64)
    half = np.empty(count, np.int8)
    partner = np.empty((2, count), np.int64)
    edges_at = np.empty(2 * count, np.int64)
    open_at = np.full(vertices, -1, np.int64)
    degree = np.zeros(vertices, np.int64)
    first = np.empty(vertices, np.int64)
    listed = np.full(vertices, -1, np.int64)
    match = np.empty(vertices, np.int64)
    via = np.empty(vertices, np.int64)
    queue = np.empty(vertices, np.int64)
    seen = np.zeros(vertices, np.int64)
    full = np.zeros(vertices, np.bool_)
    stamp = 0
    colors[:] = -1
    stack = np.empty((4 * 64, 4), np.int64)
    stack[0] = (0, count, budget, 0)
    depth = 1
    while depth:
        depth -= 1
        a, b, limit, base = stack[depth]
        if a == b:
            continue
        if limit == 1:
            for i in range(a, b):
                colors[order[i]] = base
            continue
        if limit % 2:
            edges = order[a:b]
            for e in edges:
                degree[ends[0, e]] += 1
                degree[ends[1, e]] += 1
            stamp = _matching(
                edges, colors, base, ends, degree, limit, first, listed, edges_at, match, via, queue, seen, full, stamp
            )
            for e in edges:
                degree[ends[0, e]] = 0
                degree[ends[1, e]] = 0
            keep = a
            for i in range(a, b):
                if colors[order[i]] < 0:
                    order[keep] = order[i]
                    keep += 1
            b, limit, base = keep, limit - 1, base + 1
            if a == b:
                continue
        edges = order[a:b]
        _halve(edges, ends, open_at, partner, half)
        low, high = a, 0
        for i in range(a, b):
            e = order[i]
            if half[e] == 0:
                order[low] = e
                low += 1
            else:
                spare[high] = e
                high += 1
        for i in range(high):
            order[low + i] = spare[i]
        stack[depth] = (a, low, limit // 2, base)
        stack[depth + 1] = (low, b, limit // 2, base + limit // 2)
        depth += 2


def largest_degree(left: npt.NDArray[np.integer], right: npt.NDArray[np.integer]) -> int:
    """Return the largest number of edges at one vertex of either side."""
    if not left.size:
        return 0
    return int(max(np.bincount(left).max(), np.bincount(right).max()))


def color_edges(
    left: npt.NDArray[np.integer], right: npt.NDArray[np.integer], colors: int | None = None
) -> npt.NDArray[np.int32]:
    """Color the edges so that no two edges of one color share a vertex.

    `left`, `right` (integer arrays, shape (E,)): the ends of each edge, numbered from 0 on each side apart; parallel
    edges are allowed. `colors` (int): number of colors, at least the largest degree. Default: the largest degree.
    Returns: int32[E]: colors 0..colors-1.

    Euler splitting: halve the graph so that every degree halves; where the number of colors is odd, first take out a
    matching that covers every vertex of full degree. O(E log colors) besides the matchings.

    Source: D. Koenig 1916 (as many colors as the largest degree are enough); H. N. Gabow 1976 (Euler splitting).

    >>> import numpy as np
    >>> color_edges(np.array([0, 0, 1]), np.array([0, 1, 0])).tolist()
    [0, 1, 1]
    """
    result = np.empty(left.size, np.int32)
    if left.size:
        offset = int(left.max()) + 1
        ends = np.stack([left, np.asarray(right) + offset]).astype(np.int64)
        _color_edges(ends, int(ends.max()) + 1, colors or largest_degree(left, right), result)
    return result
