"""The compiled engine of lock-step movement; plain arrays in and out.

Conventions: an *item* is one copy of a packet, at ``node[i]``. ``links`` is the table of `grid_links`, flat: the link
from node u up axis a has the entry ``(u*axes + a)*2``, the one down the next. The engine stops before a step that might
not fit the columns and can be called again; ``clock`` keeps where it is: steps done, active entries, stamp of the last
step.
"""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["IN_ALL", "ON_LEG", "advance", "departures"]

ON_LEG, IN_ALL = 2, 3
"""Columns of the rows by which items that want one link are ranked: the hops left on the leg, and on all legs."""


@njit(cache=True, nogil=True, small=100_000)
def advance(
    clock, rows, far, node, packet, axis, hops, not_before, first_child, next_child, child_after, links, axes,
    strides, around, link_target, best, want, woken, step, link, carried,
):  # fmt: skip
    """Move items along their legs in lock step while hops fit the columns; return the hops written, or -1.

    -1 means that an item would leave the network. `rows` int32[M, 8] are the active items: node, way (twice the axis,
    and 1 if down), hops left on the leg and in all, packet, item, leg, hops made; the first rows are made by `depart`.
    Who has the most in column `far` of them, `ON_LEG` or `IN_ALL`, goes first. `strides` int32[2*axes] says by how
    much a hop each way changes the node's number, unless the network may lead `around` a ring. `best` int64[L] has the
    stamp of a link's last use and the row that won it then. `node` gets where items end.
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
                ahead = rows[j, far] - rows[o, far]
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
                rows[j, 0] = link_target[ln] if around else rows[j, 0] + strides[rows[j, 1]]
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


@njit(cache=True, nogil=True, small=100_000)
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


@njit(cache=True, nogil=True, small=100_000)
def departures(rows, node, packet, axis, hops, parent):
    """Make the rows of all items that start at once; return their number."""
    count = 0
    for i in range(node.size):
        if parent.size == 0 or parent[i] < 0:
            count = depart(rows, count, node, packet, axis, hops, i)
    return count
