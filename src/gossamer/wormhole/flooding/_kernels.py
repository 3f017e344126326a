"""Compiled kernel that floods pieces by wormhole messages; plain arrays in and out."""

from __future__ import annotations

import math

from gossamer.jit import njit

__all__ = ["one_step"]

_FEW = 40
"""With so many holders or fewer, each message of a piece is chosen for what it brings to all nodes."""


@njit(cache=True, nogil=True, _nrt=False)
def _sender(p, v, longest, nodes, has, dist, first, path, busy, sent, most):
    """Return the holder of piece p that is nearest to node v over a free path of at most so many channels, or -1."""
    best, chosen = longest + 1, -1
    for u in range(nodes):
        if has[p, u] and dist[u, v] < best and sent[u] < most:
            free = True
            for k in range(first[u * nodes + v], first[u * nodes + v + 1]):
                if busy[path[k]]:
                    free = False
                    break
            if free:
                best, chosen = dist[u, v], u
    return chosen


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def one_step(
    has, near, holders, dist, first, path, urgent, order, busy, one_out, one_in, share, copies, noise, state, source,
    target, piece, room,
):  # fmt: skip
    """Choose the messages of a step and carry them out; return how many there are.

    ``has[p, v]`` says whether node v has piece p, ``near[p, v]`` how far it is from a holder, ``holders[p]`` how many
    there are. The message from node u to v takes the channels ``path[first[u*N+v]:first[u*N+v+1]]``, ``dist[u, v]`` of
    them. With `one_out` a node sends one message, with `one_in` it receives one. Pieces are taken in the given `order`,
    and nodes in that of `urgent`; a piece goes at most `share` of the way to the node that is furthest from it. `noise`
    blurs choices, by chance from `state` on. `source`, `target` and `piece` are written; `room` uint8[3, N] and `busy`
    are to work in.
    """
    nodes = dist.shape[0]
    sent, got = room[0], room[1]
    barred = room[2]  # nodes to which no way is free; none becomes free within a turn
    written = 0
    for v in range(nodes):
        sent[v] = got[v] = 0
    for c in range(busy.size):
        busy[c] = 0
    for turn in range(2 if copies < 64 else 1):
        for q in range(order.size):
            p = order[q]
            if holders[p] == nodes:
                continue
            for v in range(nodes):
                barred[v] = 0
                if not one_out:
                    sent[v] = 0
            most = 1 if one_out else copies if turn == 0 else 255
            furthest = 0
            for v in range(nodes):
                if near[p, v] > furthest:
                    furthest = near[p, v]
            longest = math.ceil(share * furthest)
            if longest < 1:
                longest = 1
            few = holders[p] <= _FEW
            reach = longest
            begin = 0  # nodes before it are done with at this reach
            while reach > 0:
                best, to, by = -1, -1, -1
                for i in range(begin, nodes):
                    v = urgent[i]
                    if near[p, v] == 0 or barred[v] or (one_in and got[v]) or (not few and near[p, v] < reach):
                        continue
                    gain = 0
                    if few:
                        for w in range(nodes):
                            if dist[v, w] < near[p, w]:
                                gain += near[p, w] - dist[v, w]
                        if noise:
                            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                            gain = gain * (256 + noise * (state >> 23))
                    if gain > best:
                        u = _sender(p, v, longest, nodes, has, dist, first, path, busy, sent, most)
                        if u < 0:
                            barred[v] = 1
                            continue
                        best, to, by = gain, v, u
                        if not few:
                            begin = i + 1
                            break
                if to < 0:
                    reach = 0 if few else reach - 1
                    begin = 0
                    continue
                for k in range(first[by * nodes + to], first[by * nodes + to + 1]):
                    busy[path[k]] = 1
                sent[by] += 1
                got[to] = 1
                for w in range(nodes):
                    if dist[to, w] < near[p, w]:
                        near[p, w] = dist[to, w]
                source[written], target[written], piece[written] = by, to, p
                written += 1
    for k in range(written):
        has[piece[k], target[k]] = 1
        holders[piece[k]] += 1
    return written
