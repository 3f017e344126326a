"""A slow, plain twin of the queues of fat trees, with the other rules that the sources compare with."""

from __future__ import annotations

from collections import deque

import numpy as np


def serve(network, waiting, destination, one_send, lowest_child_first=False):
    """Return the hops (slot, link, packet) of `gossamer.algorithms.fat_trees.serve_queues`, sorted."""
    leaves, root = network.terminal_count, network.node_count - 1
    parent = {v: int(network.link_target[network.out_links(v)[0]]) for v in range(root)}
    children = {
        v: [w for w in map(int, network.link_target[network.out_links(v)]) if w < v] for v in range(leaves, root + 1)
    }
    below = {v: {v} for v in range(leaves)}
    for v in range(leaves, root + 1):
        below[v] = set().union(*(below[c] for c in children[v]))
    queue = {(v, parent[v]): deque() for v in parent} | {(parent[v], v): deque() for v in parent}
    for a in range(leaves if root else 0):
        queue[a, parent[a]].extend(int(p) for p in waiting[a])
    turn = dict.fromkeys(children, 0)
    hops, slot = [], 0
    while any(queue.values()):
        crossing = []
        for v in range(network.node_count):
            up = [(v, parent[v])] if v != root else []
            if not one_send:
                for edge in up + [(v, c) for c in children.get(v, [])]:
                    capacity = int(network.link_capacity[network.link_between(*edge)])
                    crossing += [(edge, queue[edge].popleft()) for _ in range(min(capacity, len(queue[edge])))]
                continue
            if up and queue[up[0]]:
                crossing.append((up[0], queue[up[0]].popleft()))
                continue
            k = len(children.get(v, []))
            order = range(k) if lowest_child_first else [(turn.get(v, 0) + j) % k for j in range(k)]
            for c in order if v in children else ():
                if queue[v, children[v][c]]:
                    crossing.append(((v, children[v][c]), queue[v, children[v][c]].popleft()))
                    turn[v] = c + 1
                    break
        for (u, v), p in crossing:
            hops.append((slot, network.link_between(u, v), p))
            if v < leaves:
                continue
            for w in [*children[v], *([parent[v]] if v != root else [])]:
                if destination is None:
                    takes = w != u
                else:
                    inside = int(destination[p]) in below[v]
                    takes = int(destination[p]) in below[w] if w in children[v] and inside else not inside
                    takes = takes and (w in children[v]) == inside
                if takes:
                    queue[v, w].append(p)
        slot += 1
    return sorted(hops)


def queue_peaks(schedule):
    """Return the most packets that wait for each link at the end of a slot, those not counted that cross it next.

    Packets that still start at their origin do not count. Meant for links of capacity 1.
    """
    network = schedule.network
    arrival = {}
    events = {}
    for t, e, p in zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True):
        u, v = int(network.link_source[e]), int(network.link_target[e])
        arrival[v, p] = t
        if (u, p) in arrival:
            events.setdefault(e, []).append((arrival[u, p], t))
    peaks = np.zeros(network.link_count, int)
    for e, waits in events.items():
        change = np.zeros(schedule.slot_count + 2, int)
        for a, b in waits:
            change[a] += 1  # waits at the ends of slots a..b-1
            change[b] -= 1
        peaks[e] = np.cumsum(change).max() - 1
    return peaks
