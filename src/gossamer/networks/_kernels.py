"""Compiled kernels of the networks floor: breadth-first search on plain arrays."""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["breadth_first"]


@njit(cache=True, nogil=True, small=100_000)
def breadth_first(first_link, link_target, source, distance, parent_link, order):
    """Fill `distance` (-1 where unreachable), `parent_link` and the visiting `order`; return the nodes reached."""
    distance[:] = -1
    parent_link[:] = -1
    distance[source] = 0
    order[0] = source
    head, tail = 0, 1
    while head < tail:
        u = order[head]
        head += 1
        for link in range(first_link[u], first_link[u + 1]):
            v = link_target[link]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                parent_link[v] = link
                order[tail] = v
                tail += 1
    return tail
