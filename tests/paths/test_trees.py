"""Rooted trees: shortest paths by NetworkX, pruning to terminals, and hops along paths."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NetworkError
from gossamer.graphs.trees import path_hops, shortest_path_tree, unreachable
from gossamer.networks import from_networkx, to_networkx


@st.composite
def rooted_networks(draw):
    """A connected random graph with some nodes that only pass packets on, and a terminal as root."""
    n = draw(st.integers(1, 12))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8)):
        if a != b:
            graph.add_edge(a, b)
    for v in draw(st.sets(st.integers(1, n - 1))) if n > 1 else ():
        graph.nodes[v]["terminal"] = False
    network = from_networkx(graph)
    return network, draw(st.integers(0, network.terminal_count - 1))


@given(rooted_networks())
def test_terminals_are_at_their_distances_and_every_leaf_is_a_terminal(case):
    network, root = case
    tree = shortest_path_tree(network, root)
    distance = nx.single_source_shortest_path_length(to_networkx(network), root)
    assert all(tree.depth[v] == distance[v] for v in range(network.terminal_count))
    inside = [v for v in range(network.node_count) if tree.depth[v] >= 0]
    assert sorted(tree.order.tolist()) == inside
    parents = {int(network.link_source[tree.parent_link[v]]) for v in inside if v != root}
    assert all(v < network.terminal_count for v in inside if v not in parents)
    for v in inside:
        if v != root:
            assert network.link_target[tree.parent_link[v]] == v
            assert tree.depth[network.link_source[tree.parent_link[v]]] == tree.depth[v] - 1


@given(rooted_networks(), st.randoms(use_true_random=False))
def test_path_hops_are_the_paths_to_the_destinations_without_a_wait(case, random):
    network, root = case
    tree = shortest_path_tree(network, root)
    to = tree.destinations
    start = np.array([random.randint(0, 5) for _ in to], np.int64)
    hops = sorted(zip(*(column.tolist() for column in path_hops(tree, to, start)), strict=True))
    expected = []
    for i, v in enumerate(to.tolist()):
        path = []
        while v != root:
            path.append(int(tree.parent_link[v]))
            v = int(network.link_source[tree.parent_link[v]])
        expected += [(int(start[i]) + s, link, i) for s, link in enumerate(reversed(path))]
    assert hops == sorted(expected)


def test_columns_are_sorted_by_slot_and_then_by_packet():
    tree = shortest_path_tree(gossamer.network("torus:4x4"), 3)
    slot, _, packet = path_hops(tree, tree.destinations, np.arange(15, dtype=np.int64) // 3)
    assert list(zip(slot, packet, strict=True)) == sorted(zip(slot, packet, strict=True))


def test_an_unreachable_terminal_is_named():
    network = from_networkx(nx.DiGraph([(0, 1), (2, 1)]))
    assert unreachable(network, 0) == 2
    with pytest.raises(NetworkError, match="no path from node 0 to node 2"):
        shortest_path_tree(network, 0)
