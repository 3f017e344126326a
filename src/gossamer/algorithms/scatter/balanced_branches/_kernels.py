"""Compiled kernel that evens out the branches of a tree; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["rebalance"]


@njit(cache=True, nogil=True)
def _offer(v, used, root, branches, first_link, link_target, parent_link, branch, below, head, tail, pool, after):
    """Queue leaf v for every other branch next to it; return the number of places used in the pool.

    The first node of a branch stays in it.
    """
    if below[v] or v == root or first_link[root] <= parent_link[v] < first_link[root + 1]:
        return used
    for e in range(first_link[v], first_link[v + 1]):
        b = branch[link_target[e]]
        if b >= 0 and b != branch[v] and used < pool.size:
            pair = branch[v] * branches + b
            pool[used], after[used] = v, -1
            if head[pair] < 0:
                head[pair] = used
            else:
                after[tail[pair]] = used
            tail[pair] = used
            used += 1
    return used


@njit(cache=True, nogil=True)
def _next(a, b, branches, first_link, link_target, branch, below, head, pool, after):
    """Return the first queued leaf of branch a that still has a neighbor in branch b, or -1; drop those before it."""
    pair = a * branches + b
    while head[pair] >= 0:
        v = pool[head[pair]]
        if branch[v] == a and below[v] == 0:
            for e in range(first_link[v], first_link[v + 1]):
                if branch[link_target[e]] == b:
                    return v
        head[pair] = after[head[pair]]
    return -1


@njit(cache=True, nogil=True)
def _free(x, root, first_link, link_target, reverse_link, parent_link, branch, below):
    """Hang as many children of node x as possible on other nodes of its branch that are not behind x."""
    for d in range(first_link[x], first_link[x + 1]):
        y = link_target[d]
        if y == root or parent_link[y] != d:
            continue
        for e in range(first_link[y], first_link[y + 1]):
            z = link_target[e]
            if z == x or branch[z] != branch[x]:
                continue
            u = z
            while u != root and u != x:
                u = link_target[reverse_link[parent_link[u]]]
            if u == root:
                parent_link[y] = reverse_link[e]
                below[z] += 1
                below[x] -= 1
                break


@njit(cache=True, nogil=True, small=100_000)
def rebalance(root, size_limit, first_link, link_target, reverse_link, parent_link, branch, size):
    """Move leaves between neighboring branches until none has more than `size_limit` nodes, or none can move.

    `parent_link` int32[N] and `size` int64[branches] are changed, and `branch` int32[N], which is -1 at the root.
    Leaves go along a shortest chain of branches from the largest one to one with room. Where there is no chain, inner
    nodes at the border become leaves. Returns the number of moves.
    """
    nodes, branches = branch.size, size.size
    below = np.zeros(nodes, np.int64)  # children
    for v in range(nodes):
        if v != root:
            below[link_target[reverse_link[parent_link[v]]]] += 1
    head, tail = np.full((2, branches * branches), -1, np.int64)
    pool, after = np.empty((2, 2 * link_target.size + 64), np.int64)
    state = (root, branches, first_link, link_target, parent_link, branch, below, head, tail, pool, after)
    chain = np.empty(branches, np.int64)
    came = np.empty(branches, np.int64)
    moves, used, freed_at = 0, pool.size, -1
    while moves < 64 * nodes:
        if used > pool.size - pool.size // 4:  # full of old entries: queue all leaves again, at most one a link
            head[:] = -1
            used = 0
            for v in range(nodes):
                used = _offer(v, used, *state)
        start = np.argmax(size)
        if size[start] <= size_limit:
            return moves
        came[:] = -1
        came[start] = start
        chain[0] = start
        i, j, end = 0, 1, -1
        while i < j and end < 0:
            a = chain[i]
            i += 1
            for b in range(branches):
                if came[b] >= 0:
                    continue
                if _next(a, b, branches, first_link, link_target, branch, below, head, pool, after) >= 0:
                    came[b] = a
                    chain[j] = b
                    j += 1
                    if size[b] < size_limit:
                        end = b
                        break
        if end < 0:  # no leaf leads out of the branches found: make some
            if freed_at == moves:
                return moves
            freed_at = moves
            for v in range(nodes):
                if v != root and came[branch[v]] >= 0 and below[v]:
                    for e in range(first_link[v], first_link[v + 1]):
                        w = link_target[e]
                        if w != root and came[branch[w]] < 0:
                            _free(v, root, first_link, link_target, reverse_link, parent_link, branch, below)
                            break
            used = pool.size
            continue
        b = end
        while b != start:
            a = came[b]
            v = _next(a, b, branches, first_link, link_target, branch, below, head, pool, after)
            if v < 0:
                break
            old = link_target[reverse_link[parent_link[v]]]
            below[old] -= 1
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if branch[w] == b:
                    parent_link[v] = reverse_link[e]
                    below[w] += 1
                    break
            branch[v] = b
            size[a] -= 1
            size[b] += 1
            moves += 1
            used = _offer(v, used, *state)
            used = _offer(old, used, *state)
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if branch[w] != b:
                    used = _offer(w, used, *state)
            b = a
    return moves
