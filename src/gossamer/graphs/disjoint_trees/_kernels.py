"""Compiled packing of out-trees that share no arc; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["packed"]


@njit(cache=True, nogil=True)
def _feeds(v, here, lacking, tail, head, first_in, into, first_out, out, taken, flow, entry, by, seen, queue, stamp):
    """Return whether every tree of `lacking` can still get to node v, over arcs that no other of them needs.

    A flow of a unit for each such tree, from any of its nodes. `flow`, `entry` (the node from which each tree comes)
    and `by` are room for it; `seen` holds the number of the search, which is returned too.
    """
    trees = entry.size
    touched = np.empty(flow.size, np.int64)
    count = 0
    fine = True
    for j in range(trees):
        entry[j] = -1
    for goal in range(trees):
        if not lacking >> goal & 1:
            continue
        # backwards from v to a node of a tree that sends nothing yet
        stamp += 1
        queue[0], seen[v] = v, stamp
        low, high, found, source = 0, 1, -1, -1
        visited = 0  # trees
        while low < high and found < 0:
            x = queue[low]
            low += 1
            reach = here[x] & lacking & ~visited
            j = 0
            while reach >> j:
                if reach >> j & 1:
                    visited |= 1 << j
                    if entry[j] < 0:
                        found, source = x, j
                        break
                    y = entry[j]
                    if seen[y] != stamp:
                        seen[y], by[y] = stamp, -2 - x * trees - j
                        queue[high] = y
                        high += 1
                j += 1
            if found >= 0:
                break
            for i in range(first_in[x], first_in[x + 1]):
                a = into[i]
                y = tail[a]
                if not taken[a] and not flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a
                    queue[high] = y
                    high += 1
            for i in range(first_out[x], first_out[x + 1]):
                a = out[i]
                y = head[a]
                if flow[a] and seen[y] != stamp:
                    seen[y], by[y] = stamp, 2 * a + 1
                    queue[high] = y
                    high += 1
        if found < 0:
            fine = False
            break
        x = found
        entry[source] = x
        while x != v:
            step = by[x]
            if step <= -2:  # a tree that came in here comes in elsewhere
                code = -2 - step
                x = code // trees
                entry[code % trees] = x
            else:
                a = step >> 1
                flow[a] = not step & 1
                touched[count] = a
                count += 1
                x = tail[a] if step & 1 else head[a]
                if count == touched.size:
                    kept = 0
                    for i in range(count):
                        if flow[touched[i]]:
                            touched[kept] = touched[i]
                            kept += 1
                    count = kept
    for i in range(count):
        flow[touched[i]] = False
    return fine, stamp


@njit(cache=True, nogil=True)
def packed(root, trees, tail, head, first_in, into, first_out, out, key, parent, depth):
    """Grow trees from a root level by level, and take an arc only if all trees can still be completed.

    Parameters
    ----------
    root, trees : int
        At most 62 trees.
    tail, head : int64[A]
        The arcs.
    first_in, into, first_out, out : int64[N + 1], int64[A]
        The arcs into each node, and out of it.
    key : float64[T, A]
        Of the arcs that can be taken at a level, that with the least key is tried first.
    parent, depth : int64[T, N]
        Written: the arc by which each node comes to each tree, -1 at the root and where there is none; its level.

    Returns
    -------
    bool
        Whether all trees reach all nodes: there are no more of them than arcs must be cut to part a node from the root.
    """
    nodes, arcs = first_in.size - 1, tail.size
    here = np.zeros(nodes, np.int64)
    every = (1 << trees) - 1
    here[root] = every
    parent[:] = -1
    depth[:] = -1
    depth[:, root] = 0
    taken, flow = np.zeros(arcs, np.bool_), np.zeros(arcs, np.bool_)
    entry, by = np.empty(trees, np.int64), np.empty(nodes, np.int64)
    seen, queue = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
    now_tree, now_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    next_tree, next_node = np.empty(trees * nodes, np.int64), np.empty(trees * nodes, np.int64)
    asked, value = np.empty(trees * arcs, np.int64), np.empty(trees * arcs)
    stamp, level, count, reached = 0, 0, trees, trees
    for t in range(trees):
        now_tree[t], now_node[t] = t, root
    while count:
        wanted = 0
        for i in range(count):
            t, u = now_tree[i], now_node[i]
            for j in range(first_out[u], first_out[u + 1]):
                a = out[j]
                if not taken[a] and not here[head[a]] >> t & 1:
                    asked[wanted], value[wanted] = a * trees + t, key[t, a]
                    wanted += 1
        level += 1
        coming = 0
        for i in np.argsort(value[:wanted]):
            a, t = asked[i] // trees, asked[i] % trees
            v = head[a]
            if taken[a] or here[v] >> t & 1:
                continue
            taken[a] = True
            lacking = every & ~(here[v] | 1 << t)
            fine, stamp = _feeds(
                v, here, lacking, tail, head, first_in, into, first_out, out, taken, flow, entry, by, seen, queue, stamp
            )
            if not fine:
                taken[a] = False
                continue
            here[v] |= 1 << t
            parent[t, v], depth[t, v] = a, level
            next_tree[coming], next_node[coming] = t, v
            coming += 1
        reached += coming
        count = coming
        now_tree, next_tree = next_tree, now_tree
        now_node, next_node = next_node, now_node
    return reached == trees * nodes


@njit(cache=True, nogil=True)
def pipelined(root, terminals, packets, trees, tail, head, tree_of, place, order, slot, arc, packet):
    """Send packets down trees, each tree its own in turn; arcs with nothing to do send on what would come last.

    Parameters
    ----------
    root, terminals, packets, trees : int
        Packet p belongs to tree ``place[p] % trees`` and is sent there in turn ``place[p] // trees``.
    tail, head, tree_of : int64[A]
        Arcs, and the tree of each, -1 for none.
    place : int64[P]
        Ascending turns in each tree.
    order : int64[N, P]
        For each node the packets, what its own tree brings last first.
    slot, arc, packet : int32[N * P]
        Written, by slot.

    Returns
    -------
    (int, int)
        Slots until all terminals have all packets, and hops; 0 slots if nothing more can be sent.
    """
    nodes, arcs = order.shape[0], tail.size
    when = np.full((nodes, packets), 2**31 - 1, np.int64)
    when[root] = 0
    # the packets of each tree in turn
    first = np.zeros(trees + 1, np.int64)
    for p in range(packets):
        first[place[p] % trees + 1] += 1
    for t in range(trees):
        first[t + 1] += first[t]
    mine = np.empty(packets, np.int64)
    filled = first[:-1].copy()
    for p in range(packets):
        t = place[p] % trees
        mine[filled[t]] = p
        filled[t] += 1
    at = np.empty(arcs, np.int64)
    for a in range(arcs):
        at[a] = first[tree_of[a]] if tree_of[a] >= 0 else 0
    lacks = np.full(nodes, packets, np.int64)
    lacks[root] = 0
    left = terminals * packets - (packets if root < terminals else 0)
    busy = np.zeros(arcs, np.int64)
    hops, s = 0, 0
    while left:
        before = hops
        for own in (True, False):
            for a in range(arcs):
                u, v, t = tail[a], head[a], tree_of[a]
                if not lacks[v] or busy[a] > s:
                    continue
                chosen = -1
                if own and t >= 0:
                    while at[a] < first[t + 1] and when[v, mine[at[a]]] < 2**31 - 1:
                        at[a] += 1
                    for i in range(at[a], first[t + 1]):
                        p = mine[i]
                        if when[u, p] <= s and when[v, p] == 2**31 - 1:
                            chosen = p
                            break
                elif not own:
                    for i in range(packets):
                        p = order[v, i]
                        if when[u, p] <= s and when[v, p] == 2**31 - 1:
                            chosen = p
                            break
                if chosen >= 0:
                    when[v, chosen] = s + 1
                    busy[a] = s + 1
                    lacks[v] -= 1
                    left -= v < terminals
                    slot[hops], arc[hops], packet[hops] = s, a, chosen
                    hops += 1
        s += 1
        if hops == before:
            return 0, hops
    return s, hops
