"""Two published heuristics for virtual layers, written from their papers: what our tables are set beside."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict, deque

import networkx as nx

from gossamer.networks import Network

Pair = tuple[int, int]


def _passed_on(network: Network) -> list[bool]:
    count = network.terminal_count
    return [v >= count or count == network.node_count for v in range(network.node_count)]


def lash(network: Network) -> int:
    """Count the layers of LASH: a path and its way back in the first layer where they close no circle.

    T. Skeie, O. Lysne and I. Theiss, IPDPS (2002). Shortest paths, those found first.
    """
    passes, count = _passed_on(network), network.terminal_count
    near = [network.link_target[network.out_links(v)].tolist() for v in range(network.node_count)]
    paths: dict[Pair, list[Pair]] = {}
    for s in range(count):
        parent, queue = {s: s}, deque([s])
        while queue:
            v = queue.popleft()
            for w in near[v] if v == s or passes[v] else ():
                if w not in parent:
                    parent[w] = v
                    queue.append(w)
        for d in range(count):
            way = [d]
            while way[-1] != s:
                way.append(parent[way[-1]])
            paths[s, d] = list(itertools.pairwise(way[::-1]))
    layers: list[nx.DiGraph] = []
    for s in range(count):
        for d in range(s + 1, count):
            arcs = [arc for p in (paths[s, d], paths[d, s]) for arc in itertools.pairwise(p)]
            if not any(_fits(layer, arcs) for layer in layers):
                layers.append(nx.DiGraph())
                if not _fits(layers[-1], arcs):
                    raise AssertionError("a path and its way back wait for each other")
    return max(1, len(layers))


def _fits(layer: nx.DiGraph, arcs: list[tuple[Pair, Pair]]) -> bool:
    new = [arc for arc in dict.fromkeys(arcs) if not layer.has_edge(*arc)]
    layer.add_edges_from(new)
    if any(nx.has_path(layer, b, a) for a, b in new):
        layer.remove_edges_from(new)
        return False
    return True


def dfsssp(network: Network) -> int:
    """Count the layers of DFSSSP: all paths in one layer; of each circle the edge of fewest paths moves to the next.

    J. Domke, T. Hoefler and W. Nagel, IPDPS (2011). Paths by Dijkstra from one destination after the other,
    where a cable weighs as many paths as it has.
    """
    passes, count = _passed_on(network), network.terminal_count
    into = [[e for e in range(network.link_count) if network.link_target[e] == v] for v in range(network.node_count)]
    weight = [float(count * count)] * network.link_count  # so that shortest paths stay shortest
    paths: dict[Pair, list[int]] = {}
    for d in range(count):
        onward, cost, heap = [-1] * network.node_count, [float("inf")] * network.node_count, [(0.0, d)]
        cost[d] = 0.0
        while heap:
            spent, v = heapq.heappop(heap)
            if spent > cost[v] or (v != d and not passes[v]):
                continue
            for e in into[v]:
                u = int(network.link_source[e])
                if spent + weight[e] < cost[u]:
                    cost[u], onward[u] = spent + weight[e], e
                    heapq.heappush(heap, (cost[u], u))
        for s in range(count):
            way, v = [], s
            while v != d:
                way.append(onward[v])
                weight[onward[v]] += 1
                v = int(network.link_target[onward[v]])
            paths[s, d] = way
    layers = [paths]
    for layer in layers:
        graph, users = nx.DiGraph(), defaultdict(set)
        for pair, way in layer.items():
            for arc in itertools.pairwise(way):
                graph.add_edge(*arc)
                users[arc].add(pair)
        moved: dict[Pair, list[int]] = {}
        while True:
            try:
                circle = nx.find_cycle(graph)
            except nx.NetworkXNoCycle:
                break
            for pair in list(users[min(circle, key=lambda arc: len(users[arc[:2]]))[:2]]):
                moved[pair] = layer.pop(pair)
                for arc in itertools.pairwise(moved[pair]):
                    users[arc].discard(pair)
                    if not users[arc] and graph.has_edge(*arc):
                        graph.remove_edge(*arc)
        if moved:
            layers.append(moved)
    return len(layers)
