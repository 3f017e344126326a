"""Compiled kernels of the one-port broadcast; plain arrays in and out."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["layered_parents", "one_port_times", "spread"]


@njit(cache=True, nogil=True)
def _descending(values):
    """Return the places of float64 `values` from the largest to the smallest."""
    return np.argsort(-values, kind="mergesort")


@njit(cache=True, nogil=True, small=100_000)
def one_port_times(order, parent_link, link_source, needed, time):
    """Fill `needed` and `time` int32[N]: slots that a node's subtree takes, and when each node has the message.

    `order` holds each node after its parent, the children of a node in a row and in the order of their parents.
    A node serves its children by decreasing `needed`; of equal ones the first in `order` goes first.
    """
    end = order.size
    for i in range(order.size - 1, -1, -1):  # the children of order[i] end before `end`
        v = order[i]
        first = end
        while first > i + 1 and link_source[parent_link[order[first - 1]]] == v:
            first -= 1
        children = order[first:end]
        ranks = _descending(needed[children].astype(np.float64))
        needed[v] = 0
        for k in range(children.size):
            c = children[ranks[k]]
            needed[v] = max(needed[v], needed[c] + k + 1)
            time[c] = k + 1
        end = first
    time[order[0]] = 0
    for i in range(1, order.size):
        v = order[i]
        time[v] += time[link_source[parent_link[v]]]


@njit(cache=True, nogil=True, small=100_000)
def layered_parents(order, distance, into_first, into_link, link_source, key, parent_link):
    """Choose for every node a parent one hop nearer to the root so that subtrees need few slots.

    Layers are treated from the furthest to the nearest; within one, nodes whose subtrees need most choose first, each
    the parent that would then need least. `key` float64[N] in [0, 1) decides between nodes that need the same.
    """
    need = np.zeros(distance.size, np.int64)
    children = np.zeros(distance.size, np.int64)
    b = order.size
    while b > 1:
        a = b
        while distance[order[a - 1]] == distance[order[b - 1]]:
            a -= 1
        layer = order[a:b]
        for v in layer[_descending(need[layer] + key[layer])]:
            best = -1
            cost = distance.size * 2.0
            for i in range(into_first[v], into_first[v + 1]):
                u = link_source[into_link[i]]
                if distance[u] == distance[v] - 1:
                    c = max(need[u], need[v] + children[u] + 1) + key[u]
                    if c < cost:
                        cost, best = c, into_link[i]
            u = link_source[best]
            parent_link[v] = best
            children[u] += 1
            need[u] = max(need[u], need[v] + children[u])
        b = a


@njit(cache=True, nogil=True, small=100_000)
def spread(
    root, terminals, first_link, link_target, link_source, into_first, into_link, weight, time, parent_link
):  # fmt: skip
    """Inform in every slot the uninformed nodes of greatest weight that a matching with informed nodes allows.

    Fills `time` int32[N] (slots until a node is informed, -1 where it is not) and `parent_link` int32[N], which must
    hold -1, until every terminal is informed. Among informed nodes those with the fewest uninformed neighbors send
    first.
    """
    nodes = time.size
    left = first_link[1:] - first_link[:-1]  # uninformed neighbors of a node
    edge = np.empty(nodes, np.int64)  # the frontier: uninformed nodes next to informed ones
    on_edge = np.zeros(nodes, np.bool_)
    match = np.full(nodes, -1, np.int64)  # whom an informed node informs in this slot
    link_of = np.full(nodes, -1, np.int64)  # the link by which a node will be informed in this slot
    back = np.empty(nodes, np.int64)  # the link by which a search came to an informed node
    seen, dead = np.full((2, nodes), -1, np.int64)
    queue, fresh = np.empty((2, nodes), np.int64)
    fresh[0], new = root, 1
    size, missing, senders, turn, slot = 0, terminals, 0, 0, 0
    while True:
        for k in range(new):
            v = fresh[k]
            time[v] = slot
            missing -= v < terminals
            senders += left[v] > 0
            for i in range(into_first[v], into_first[v + 1]):
                u = link_source[into_link[i]]
                left[u] -= 1
                senders -= left[u] == 0 and time[u] >= 0
        kept = 0
        for k in range(size):
            if time[edge[k]] < 0:
                edge[kept] = edge[k]
                kept += 1
        size = kept
        for k in range(new):
            for e in range(first_link[fresh[k]], first_link[fresh[k] + 1]):
                w = link_target[e]
                if time[w] < 0 and not on_edge[w]:
                    on_edge[w] = True
                    edge[size] = w
                    size += 1
        if missing == 0 or size == 0:
            return slot
        chosen = edge[:size].copy()
        for k, place in enumerate(_descending(weight[chosen])):
            edge[k] = chosen[place]
        slot += 1
        matched = 0
        for k in range(size):
            if matched == senders:
                break
            turn += 1
            queue[0] = edge[k]
            head, tail, free = 0, 1, -1
            while head < tail and free < 0:
                v = queue[head]
                head += 1
                fewest = nodes
                for i in range(into_first[v], into_first[v + 1]):
                    u = link_source[into_link[i]]
                    if time[u] >= 0 and match[u] < 0 and left[u] < fewest:
                        fewest, free = left[u], u
                        back[u] = into_link[i]
                if free >= 0:
                    break
                for i in range(into_first[v], into_first[v + 1]):
                    u = link_source[into_link[i]]
                    if time[u] >= 0 and seen[u] != turn and dead[u] != slot:
                        seen[u] = turn
                        back[u] = into_link[i]
                        queue[tail] = match[u]
                        tail += 1
            if free < 0:  # these senders are settled for this slot
                for i in range(1, tail):
                    dead[link_source[link_of[queue[i]]]] = slot
                continue
            matched += 1
            u = free
            while True:
                e = back[u]
                v = link_target[e]
                before = link_of[v]
                match[u], link_of[v] = v, e
                if before < 0:
                    break
                u = link_source[before]
        new = 0
        for k in range(size):
            v = edge[k]
            if link_of[v] >= 0:
                parent_link[v] = link_of[v]
                match[link_source[link_of[v]]] = -1
                fresh[new] = v
                new += 1
