"""Compiled kernels of the partial multinode broadcast; they write hops sorted by slot into given columns.

A *cell* is a place in the flat table of links: ``(node * d + digit column) * 2 + way``, way 0 up and 1 down.
"""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["heaviest_hops", "insert", "rounds"]


@njit(cache=True, nogil=True)
def _sources(low, high, nodes, origin, packet, side, place, above, stride, first_cell, width, out):
    """List who broadcasts what in a round: the packets of ranks low..high-1, each from every node that holds it.

    Rows of `out`: position in the line, cell of the line's node at digit 0, packet, first and last position that
    has the packet already.
    """
    n = 0
    for r in range(low, high):
        s = origin[r]
        begin = r - low
        at = begin // place
        came = s // place % side
        for y in range(begin, nodes.size, above):
            out[0, n] = at
            out[1, n] = nodes[y - at * place] * width + first_cell
            out[2, n] = packet[r]
            passed = y // above == s // above
            out[3, n] = min(came, at) if passed else side
            out[4, n] = max(came, at) if passed else -1
            n += 1
    return n


@njit(cache=True, nogil=True, small=100_000)
def rounds(slot, link, packet, at, first_slot, slots, halves, node, size, origin, ranked, fields, width, links):
    """Run one subphase of broadcasts along lines or rings in rounds, for all classes together.

    `fields` has one row a class: side, wraps, place of the digit, place above it, stride of a step in cells,
    first cell of the digit, slots of a round. Returns the row after the last one written.
    """
    classes, count = node.shape
    sources = np.empty((classes, 5, count), np.int32)
    listed = np.zeros(classes, np.int64)
    for t in range(slots):
        for c in range(classes):
            side, wraps, place, above = fields[c, 0], fields[c, 1], fields[c, 2], fields[c, 3]
            stride, first_cell, length = fields[c, 4], fields[c, 5], fields[c, 6]
            w = t // length
            k = t - w * length
            if k == 0:
                low = w * above
                high = min(low + above, size[c])
                listed[c] = _sources(
                    low, high, node[c], origin[c], ranked[c], side, place, above, stride, first_cell, width, sources[c]
                )
            half_up, half_down, reach_up, reach_down = 0, 0, side - 1, side - 1
            if wraps and halves == 2:
                half_down = 1
            elif wraps:
                reach_up, reach_down = side // 2, (side - 1) // 2
            elif k >= side - 1:
                half_up, half_down = 1, 1
                k -= side - 1
            for i in range(listed[c]):
                at_line = sources[c, 0, i]
                from_held, to_held = sources[c, 3, i], sources[c, 4, i]
                up = at_line + k + 1
                if k < reach_up and (wraps or up < side):
                    v = up - side if up >= side else up
                    if v < from_held or v > to_held:
                        u = v - 1 if v > 0 else side - 1
                        slot[at] = first_slot + t
                        link[at] = links[sources[c, 1, i] + u * stride]
                        packet[at] = sources[c, 2, i] + half_up
                        at += 1
                down = at_line - k - 1
                if k < reach_down and (wraps or down >= 0):
                    v = down + side if down < 0 else down
                    if v < from_held or v > to_held:
                        u = v + 1 if v < side - 1 else 0
                        slot[at] = first_slot + t
                        link[at] = links[sources[c, 1, i] + u * stride + 1]
                        packet[at] = sources[c, 2, i] + half_down
                        at += 1
    return at


@njit(cache=True, nogil=True, small=100_000)
def insert(slot, link, packet, first, release, reach, parts, links):
    """Broadcast along a line or ring: pass on what came in the slot before, else insert a message of one's own.

    Messages ``first[u]..first[u+1]-1`` are those of node u, in their order; message m makes ``reach[w, m]`` hops in way
    w (0 up, 1 down), its first one in slot ``release[m]`` at the earliest. With 2 parts, part w goes way w. Links are
    ``links[u, w]``. Fills the columns, which must have a row for each hop.
    """
    nodes = first.size - 1
    waiting = np.empty((2, nodes), np.int64)
    for u in range(nodes):
        waiting[0, u] = waiting[1, u] = first[u]
    passing, arriving = np.empty((2, nodes), np.int64), np.empty((2, nodes), np.int64)  # message of a packet, -1: none
    left, still = np.zeros((2, nodes), np.int64), np.zeros((2, nodes), np.int64)  # hops that it has to go
    passing[:, :] = -1
    at, t = 0, 0
    while at < slot.size:
        arriving[:, :] = -1
        for way in range(2):
            for u in range(nodes):
                m, hops = passing[way, u], left[way, u]
                if m < 0:
                    k = waiting[way, u]
                    while k < first[u + 1] and reach[way, k] == 0:
                        k += 1
                    waiting[way, u] = k
                    if k == first[u + 1] or release[k] > t:
                        continue
                    waiting[way, u] = k + 1
                    m, hops = k, reach[way, k]
                slot[at] = t
                link[at] = links[u, way]
                packet[at] = m * parts + (way if parts == 2 else 0)
                at += 1
                if hops > 1:
                    v = (u + 1 - 2 * way) % nodes
                    arriving[way, v], still[way, v] = m, hops - 1
        passing, arriving = arriving, passing
        left, still = still, left
        t += 1


@njit(cache=True, nogil=True)
def heaviest_hops(right, left, slot, link, packet):
    """Fill the columns slot by slot; `right` and `left` int32[n] are the links of each node, -1 where there is none."""
    n = right.size
    rest = np.zeros((2, n), np.int64)  # still to be sent to the left and to the right
    queue = np.empty((2, n, n), np.int32)  # the messages that came for each direction, and from where on they wait
    head, tail = np.zeros((2, n), np.int64), np.zeros((2, n), np.int64)
    for i in range(n):
        rest[0, i] = n - i if i > 0 else 0
        rest[1, i] = i + 1 if i < n - 1 else 0
        for way in range(2):
            queue[way, i, 0], tail[way, i] = i, 1
    best, weight = np.zeros(n + 4, np.int64), np.zeros(n + 4, np.int64)
    moves = np.empty((n, 2), np.int64)
    rows, t, left_over = 0, 0, n * (n - 1)
    while left_over:
        began = rows
        for parity in range(2):
            # hops in the order left, right of senders parity, parity + 2, ...: neighbors in it share a node
            count = 0
            for i in range(parity, n, 2):
                for way in range(2):
                    weight[count] = rest[way, i] if head[way, i] < tail[way, i] else 0
                    best[count + 2] = max(best[count + 1], best[count] + weight[count])
                    count += 1
            e = count - 1
            while e >= 0:
                if weight[e] > 0 and best[e] + weight[e] > best[e + 1]:
                    i, way = parity + 2 * (e // 2), e % 2
                    slot[rows], link[rows] = t, right[i] if way else left[i]
                    packet[rows] = queue[way, i, head[way, i]]
                    moves[rows - began, 0], moves[rows - began, 1] = i, way
                    rows += 1
                    e -= 2
                else:
                    e -= 1
        for row in range(began, rows):
            i, way = moves[row - began, 0], moves[row - began, 1]
            j = i + 1 if way else i - 1
            head[way, i] += 1
            rest[way, i] -= 1
            queue[way, j, tail[way, j]] = packet[row]
            tail[way, j] += 1
        left_over -= rows - began
        t += 1
