"""Compiled kernels of move-and-smooth routing; plain arrays in and out.

Conventions: an *item* is one copy of a packet, at ``node[i]``. ``links`` is the table of `grid_links`, flat: the link
from node u up axis a has the entry ``(u*axes + a)*2``, the one down the next. Kernels that write hops stop before a
step that might not fit the columns and can be called again; ``clock`` keeps where they are: steps done, active entries,
stamp of the last step.
"""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["branches", "column_targets", "item_lists", "row_flows", "row_steps"]


@njit(cache=True, nogil=True, small=100_000)
def branches(owner, legs, parent, after, offset):
    """Find where each copy of a packet leaves another one, for the copies of each owner in `branch_order`.

    `legs` int32[M, L] are signed hops. Writes `parent` (-1: starts on its own), `after`, hops of the parent before, and
    `offset`, hops of the route that others make for it.
    """
    for i in range(owner.size):
        parent[i], after[i], offset[i] = -1, 0, 0
        if i == 0 or owner[i] != owner[i - 1]:
            continue
        shared = 0
        for g in range(legs.shape[1]):
            a, b = legs[i - 1, g], legs[i, g]
            if a == b:
                shared += abs(a)
                continue
            if (a > 0 and b > 0) or (a < 0 and b < 0):
                shared += min(abs(a), abs(b))
            break
        p = i - 1
        while p >= 0 and shared <= offset[p]:
            p = parent[p]
        if shared > 0 and p >= 0:
            parent[i], after[i], offset[i] = p, shared - offset[p], shared


@njit(cache=True, nogil=True, small=100_000)
def item_lists(node, head, following):
    """Make the list of the items at each node, in the order of their numbers; `head` must be -1 everywhere."""
    for i in range(node.size - 1, -1, -1):
        following[i] = head[node[i]]
        head[node[i]] = i


@njit(cache=True, nogil=True, small=100_000)
def row_flows(order, line_first, fresh, held, flow):
    """Write the flow numbers of row movement; return the number of links used and of hops.

    Line l is ``order[line_first[l]:line_first[l+1]]``; `fresh` marks the lines before which nothing is counted. A flow
    at position p is over the link between ``order[p-1]`` and ``order[p]``, positive towards p.
    """
    used, hops, before = 0, 0, 0
    for ln in range(line_first.size - 1):
        a, b = line_first[ln], line_first[ln + 1]
        size = b - a
        if fresh[ln]:
            before = 0
        total = before
        for p in range(a, b):
            total += held[order[p]]
        low, high = before // size, total // size
        below, above = before % size, total % size
        owed = 0
        for p in range(a, b):
            flow[p] = owed
            if owed != 0:
                used += 1
                hops += abs(owed)
            k = p - a
            final = high + (1 if k < above else 0) - low - (1 if k < below else 0)
            owed += held[order[p]] - final
        before = total
    return used, hops


@njit(cache=True, nogil=True, small=100_000)
def row_steps(
    clock, active, flow, order, node, packet, head, following, links, axes, axis, moving, step, link, carried,
):  # fmt: skip
    """Make row movements by the eager rule on all lines at once; return the hops written."""
    count, filled = clock[1], 0
    while count > 0 and filled + count <= step.size:
        first = filled
        kept = 0
        for j in range(count):
            p = active[j]
            u, v = order[p - 1], order[p]
            if flow[p] < 0:
                u, v = v, u
            i = head[u]
            if i >= 0:
                head[u] = following[i]
                moving[filled - first] = i
                node[i] = v
                step[filled], carried[filled] = clock[0], packet[i]
                link[filled] = links[(u * axes + axis) * 2 + (1 if v < u else 0)]
                filled += 1
                flow[p] += 1 if flow[p] < 0 else -1
            if flow[p] != 0:
                active[kept] = p
                kept += 1
        for j in range(filled - first):
            i = moving[j]
            following[i] = head[node[i]]
            head[node[i]] = i
        count = kept
        clock[0] += 1
        clock[1] = count
        if filled == first:
            return -1
    return filled


@njit(cache=True, nogil=True, small=100_000)
def column_targets(order, line_first, head, following, hops):
    """Write how far each item goes up or down its line in the column movement; return the hops of all, or -1.

    -1 means that a line has more items than nodes. Item lists as from `item_lists`.
    """
    total = 0
    for ln in range(line_first.size - 1):
        a, b = line_first[ln], line_first[ln + 1]
        middle = a + (b - a) // 2
        target = a
        for p in range(a, middle):
            i = head[order[p]]
            while i >= 0:
                hops[i] = target - p
                total += abs(target - p)
                target += 1
                i = following[i]
        lowest = target
        target = b - 1
        for p in range(b - 1, middle - 1, -1):
            i = head[order[p]]
            while i >= 0:
                hops[i] = target - p
                total += abs(target - p)
                target -= 1
                i = following[i]
        if target < lowest - 1:
            return -1
    return total
