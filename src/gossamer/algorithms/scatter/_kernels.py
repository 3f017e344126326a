"""Compiled kernels of the all-port scatter; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["augment", "balance", "branch_rates", "load_paths", "separate"]


@njit(cache=True, nogil=True, small=100_000)
def balance(order, distance, first, link, link_source, terminals, rate, parent_link, branch):
    """Choose a parent for each node so that the branches at the root have few terminals; see `balanced_tree`.

    `order` is breadth-first. Node v may be reached by ``link[first[v]:first[v+1]]``. `rate` int64[branches] is the
    capacity of the root's links. `branch` int32[N] must hold the branches of the nodes at distance 1, -1 elsewhere.
    """
    branches = rate.size
    size = np.zeros(branches, np.int64)
    stamp = np.full(branches, -1, np.int64)
    options = np.zeros(order.size, np.int64)
    room = np.zeros(branches + 2, np.int64)
    turn = np.empty(order.size, np.int32)
    a = 1
    while a < order.size:
        b = a
        room[:] = 0
        while b < order.size and distance[order[b]] == distance[order[a]]:
            v = order[b]
            if branch[v] < 0:
                for i in range(first[v], first[v + 1]):
                    c = branch[link_source[link[i]]]
                    if stamp[c] != v:
                        stamp[c] = v
                        options[b] += 1
            room[options[b] + 1] += 1
            b += 1
        for k in range(1, branches + 2):
            room[k] += room[k - 1]
        for i in range(a, b):  # fewest options first
            turn[a + room[options[i]]] = order[i]
            room[options[i]] += 1
        for i in range(a, b):
            v = turn[i]
            if branch[v] < 0:
                for k in range(first[v], first[v + 1]):
                    c = branch[link_source[link[k]]]
                    if branch[v] < 0 or size[c] * rate[branch[v]] < size[branch[v]] * rate[c]:
                        branch[v] = c
                        parent_link[v] = link[k]
            if v < terminals:
                size[branch[v]] += 1
        a = b


@njit(cache=True, nogil=True, small=100_000)
def branch_rates(order, parent_link, link_source, link_capacity, branch, rate):
    """Fill `branch` int32[N] of every node of a tree and lower `rate` to the least capacity in each branch.

    `order` holds each node after its parent; the i-th link of the root is branch i.
    """
    root = order[0]
    branch[root] = -1
    for i in range(1, order.size):
        v = order[i]
        u = link_source[parent_link[v]]
        if u != root:
            branch[v] = branch[u]
        rate[branch[v]] = min(rate[branch[v]], link_capacity[parent_link[v]])


@njit(cache=True, nogil=True, small=100_000)
def load_paths(destination, depth, start, horizon, parent_link, link_source, flow, arrival):
    """Put those packets of a tree that arrive by `horizon` into `flow` [slots, L] and `arrival` int32[N].

    Packet i leaves the root in slot start[i] and never waits. Returns how many packets are left out.
    """
    late = 0
    for i in range(destination.size):
        t = start[i] + depth[i]
        if t > horizon:
            late += 1
            continue
        v = destination[i]
        arrival[v] = t
        while parent_link[v] >= 0:
            t -= 1
            flow[t, parent_link[v]] += 1
            v = link_source[parent_link[v]]
    return late


@njit(cache=True, nogil=True, small=100_000)
def augment(
    horizon, root, terminals, first_link, link_source, link_target, link_capacity, into_first, into_link,
    flow, arrival, came, stamp, queue, turn,
):  # fmt: skip
    """Find one more packet room within `horizon` slots by an augmenting path; return whether there was one.

    State (t, v) is being at node v after t slots. Packets never wait, so flow is conserved at every state but those
    of the root and those where a packet ends. `came` holds how a state was reached: by link e (e), by taking back
    link e (L+e), by ending an earlier packet of v somewhere else (2L + its new arrival), or from the root (-1).
    `stamp` marks the states seen in this `turn`, and so the min cut when the answer is no.
    """
    nodes, links = arrival.size, link_source.size
    tail = 0
    for t in range(horizon - 1, -1, -1):
        came[t, root] = -1
        stamp[t, root] = turn
        queue[tail] = t * nodes + root
        tail += 1
    head = 0
    while head < tail:
        t, v = divmod(queue[head], nodes)
        head += 1
        if v < terminals and v != root:
            if arrival[v] < 0:
                arrival[v] = t
                while came[t, v] >= 0:
                    code = came[t, v]
                    if code < links:
                        t -= 1
                        flow[t, code] += 1
                        v = link_source[code]
                    elif code < 2 * links:
                        flow[t, code - links] -= 1
                        t += 1
                        v = link_target[code - links]
                    else:
                        t = code - 2 * links
                        arrival[v] = t
                return True
            other = arrival[v]
            if stamp[other, v] != turn:
                stamp[other, v] = turn
                came[other, v] = 2 * links + t
                queue[tail] = other * nodes + v
                tail += 1
        if t < horizon:
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if stamp[t + 1, w] != turn and w != root and flow[t, e] < link_capacity[e]:
                    stamp[t + 1, w] = turn
                    came[t + 1, w] = e
                    queue[tail] = (t + 1) * nodes + w
                    tail += 1
        if t > 0 and v != root:
            for i in range(into_first[v], into_first[v + 1]):
                e = into_link[i]
                w = link_source[e]
                if stamp[t - 1, w] != turn and flow[t - 1, e] > 0:
                    stamp[t - 1, w] = turn
                    came[t - 1, w] = links + e
                    queue[tail] = (t - 1) * nodes + w
                    tail += 1
    return False


@njit(cache=True, nogil=True, small=100_000)
def separate(root, destination, into_first, into_link, link_source, flow, arrival, slot, link, packet):
    """Take `flow` apart into one path a packet, without the loops, and return the number of hops written."""
    place = np.full(arrival.size, -1, np.int64)
    path = np.empty(flow.shape[0] + 1, np.int64)
    rows = 0
    for p in range(destination.size):
        v = destination[p]
        t = arrival[v]
        first = rows
        path[0] = v
        place[v] = rows
        while v != root:
            t -= 1
            for i in range(into_first[v], into_first[v + 1]):
                e = into_link[i]
                if flow[t, e] > 0:
                    flow[t, e] -= 1
                    slot[rows], link[rows], packet[rows] = t, e, p
                    v = link_source[e]
                    break
            if place[v] >= 0:  # been here later: wait instead of going round
                for k in range(place[v] + 1 - first, rows + 1 - first):
                    place[path[k]] = -1
                rows = place[v]
            else:
                rows += 1
                place[v] = rows
                path[rows - first] = v
        for k in range(rows - first + 1):
            place[path[k]] = -1
    return rows
