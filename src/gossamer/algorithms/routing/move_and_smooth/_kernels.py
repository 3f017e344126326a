"""Compiled kernels of move-and-smooth routing; plain arrays in and out.

Conventions: an *item* is one copy of a packet, at ``node[i]``. ``links`` is the table of `grid_links`, flat: the link
from node u up axis a has the entry ``(u*axes + a)*2``, the one down the next. Kernels that write hops stop before a
step that might not fit the columns and can be called again; ``clock`` keeps where they are: steps done, active entries,
stamp of the last step.
"""

from __future__ import annotations

from numba import njit

__all__ = ["branches", "column_targets", "departures", "item_lists", "row_flows", "row_steps", "travel"]


@njit(cache=True, nogil=True)
def travel(
    clock, rows, node, packet, axis, hops, not_before, first_child, next_child, child_after, links, axes, strides, best,
    want, woken, step, link, carried,
):  # fmt: skip
    """Move items along their legs in lock-step, farthest remaining first; return the hops written, or -1.

    -1 means that an item would leave the network. `rows` int32[M, 8] are the active items: node, way (twice the axis,
    and 1 if down), hops left on the leg and in all, packet, item, leg, hops made; the first rows are made by `depart`.
    `best` int64[L] has the stamp of a link's last use and the row that won it then. `node` gets where items end.
    """
    count, filled, legs = clock[1], 0, hops.shape[1]
    gated, copied = not_before.size > 0, first_child.size > 0
    while count > 0 and filled + count <= step.size:
        t = clock[0] + 1
        clock[2] += 1
        tick = clock[2]
        stamp = tick << 32
        for j in range(count):
            if gated and rows[j, 2] == 1 and not_before[rows[j, 5], rows[j, 6]] > t:
                want[j] = -1
                continue
            ln = links[rows[j, 0] * (2 * axes) + rows[j, 1]]
            if ln < 0:
                return -1
            want[j] = ln
            b = best[ln]
            if b >> 32 == tick:
                o = b & 0x7FFFFFFF
                ahead = rows[j, 3] - rows[o, 3]
                if ahead == 0:
                    ahead = rows[o, 4] - rows[j, 4]
                if ahead == 0:
                    ahead = rows[o, 5] - rows[j, 5]
                if ahead < 0:
                    continue
            best[ln] = stamp | j
        kept, new = 0, 0
        for j in range(count):
            ln = want[j]
            if ln >= 0 and best[ln] == stamp | j:
                step[filled], link[filled], carried[filled] = clock[0], ln, rows[j, 4]
                filled += 1
                way = rows[j, 1]
                rows[j, 0] += -strides[way >> 1] if way & 1 else strides[way >> 1]
                rows[j, 2] -= 1
                rows[j, 3] -= 1
                rows[j, 7] += 1
                if copied:
                    i = rows[j, 5]
                    c = first_child[i]
                    while c >= 0 and child_after[c] == rows[j, 7]:
                        node[c] = rows[j, 0]
                        woken[new] = c
                        new += 1
                        c = next_child[c]
                    first_child[i] = c
                if rows[j, 3] == 0:
                    node[rows[j, 5]] = rows[j, 0]
                    continue
                if rows[j, 2] == 0:
                    i, g = rows[j, 5], rows[j, 6] + 1
                    while g < legs and hops[i, g] == 0:
                        g += 1
                    rows[j, 1] = 2 * axis[i, g] + (1 if hops[i, g] < 0 else 0)
                    rows[j, 2] = abs(hops[i, g])
                    rows[j, 6] = g
            if kept != j:
                for k in range(8):
                    rows[kept, k] = rows[j, k]
            kept += 1
        for j in range(new):
            kept = depart(rows, kept, node, packet, axis, hops, woken[j])
        count = kept
        clock[0], clock[1] = t, count
    return filled


@njit(cache=True, nogil=True)
def depart(rows, count, node, packet, axis, hops, i):
    """Add item i to the active rows if it has hops to make; return their number."""
    total, leg = 0, -1
    for g in range(hops.shape[1] - 1, -1, -1):
        if hops[i, g] != 0:
            total += abs(hops[i, g])
            leg = g
    if leg < 0:
        return count
    rows[count, 0], rows[count, 1] = node[i], 2 * axis[i, leg] + (1 if hops[i, leg] < 0 else 0)
    rows[count, 2], rows[count, 3] = abs(hops[i, leg]), total
    rows[count, 4], rows[count, 5], rows[count, 6], rows[count, 7] = packet[i], i, leg, 0
    return count + 1


@njit(cache=True, nogil=True)
def departures(rows, node, packet, axis, hops, parent):
    """Make the rows of all items that start at once; return their number."""
    count = 0
    for i in range(node.size):
        if parent.size == 0 or parent[i] < 0:
            count = depart(rows, count, node, packet, axis, hops, i)
    return count


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def item_lists(node, head, following):
    """Make the list of the items at each node, in the order of their numbers; `head` must be -1 everywhere."""
    for i in range(node.size - 1, -1, -1):
        following[i] = head[node[i]]
        head[node[i]] = i


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
