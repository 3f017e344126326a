"""Compiled kernel that grows arc-disjoint spanning trees from one root."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["grow_disjoint"]


@njit(cache=True, nogil=True)
def _augment(
    sink, barred, trees, n, source, target, first_out, first_in, into, owner, member, flow, dest, seen, came, queue
):
    """Find one more unit of flow to `sink` in the residual network and add it; return whether there was one.

    Tree j is a source of one unit at any of its nodes (place n + j). Links that are in a tree, and `barred`, carry
    none. `came` holds how a place was reached, backwards: link e as e, the return along link e as e + links, a tree's
    step to a node as -2.
    """
    links = owner.size
    seen[:] = -1  # the place that the search came from, nearer to the sink
    head, tail = 0, 1
    queue[0] = sink
    seen[sink] = sink
    last = -1
    while head < tail and last < 0:
        x = queue[head]
        head += 1
        if x >= n:
            j = x - n
            if dest[j] < 0:
                last = x
                break
            y = dest[j]
            if seen[y] < 0:
                seen[y], came[y] = x, -2
                queue[tail] = y
                tail += 1
            continue
        for j in range(trees):
            if member[j, x] and seen[n + j] < 0 and dest[j] != x:
                seen[n + j], came[n + j] = x, -2
                queue[tail] = n + j
                tail += 1
        for k in range(first_in[x], first_in[x + 1]):
            e = into[k]
            y = source[e]
            if seen[y] < 0 and owner[e] < 0 and e != barred and not flow[e]:
                seen[y], came[y] = x, e
                queue[tail] = y
                tail += 1
        for e in range(first_out[x], first_out[x + 1]):
            y = target[e]
            if seen[y] < 0 and flow[e]:
                seen[y], came[y] = x, e + links
                queue[tail] = y
                tail += 1
    if last < 0:
        return False
    x = last
    while x != sink:
        y = seen[x]
        if x >= n:  # tree x now feeds y
            dest[x - n] = y
        elif y < n:
            if came[x] >= links:
                flow[came[x] - links] = False
            else:
                flow[came[x]] = True
        x = y
    return True


@njit(cache=True, nogil=True, small=100_000)
def grow_disjoint(trees, source, target, first_out, first_in, into, parent_link, depth):
    """Grow `trees` arc-disjoint spanning trees from node 0 by turns, each breadth-first; return whether all span.

    `into` lists the links into each node, from `first_in`. Writes int32[trees, N] of links, -1 at the root, and depths.
    A link is added only if the other trees can still be completed: every set of nodes must keep as many free links into
    it as there are trees that have no node in it.
    """
    n = first_out.size - 1
    owner = np.full(source.size, -1, np.int32)
    member = np.zeros((trees, n), np.bool_)
    member[:, 0] = True
    order = np.zeros((trees, n), np.int32)
    size = np.ones(trees, np.int64)
    at = np.zeros(trees, np.int64)
    turn = np.zeros(trees, np.int64)
    flow = np.zeros(source.size, np.bool_)
    dest = np.empty(trees, np.int64)
    seen = np.empty(n + trees, np.int64)
    came = np.empty(n + trees, np.int64)
    queue = np.empty(n + trees, np.int64)
    parent_link[:] = -1
    depth[:] = 0
    growing = True
    while growing:
        growing = False
        for k in range(trees):
            added = False
            while not added and at[k] < size[k]:
                u = order[k, at[k]]
                degree = first_out[u + 1] - first_out[u]
                if turn[k] >= degree:
                    at[k] += 1
                    turn[k] = 0
                    continue
                e = first_out[u] + (turn[k] + k) % degree
                turn[k] += 1
                v = target[e]
                if member[k, v] or owner[e] >= 0:
                    continue
                member[k, v] = True
                flow[:] = False
                units = 0
                for j in range(trees):
                    dest[j] = -1
                    if member[j, v]:
                        dest[j] = v
                        units += 1
                while units < trees and _augment(
                    v,
                    e,
                    trees,
                    n,
                    source,
                    target,
                    first_out,
                    first_in,
                    into,
                    owner,
                    member,
                    flow,
                    dest,
                    seen,
                    came,
                    queue,
                ):
                    units += 1
                if units < trees:
                    member[k, v] = False
                    continue
                owner[e] = k
                parent_link[k, v] = e
                depth[k, v] = depth[k, u] + 1
                order[k, size[k]] = v
                size[k] += 1
                added = True
            growing |= added
    return size.min() == n
