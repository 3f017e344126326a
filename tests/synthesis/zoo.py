"""Small networks of all kinds: named and not, one-way, with switches, with times, with thin cuts."""

from __future__ import annotations

import networkx as nx
import numpy as np

import gossamer
from gossamer.networks import from_networkx
from gossamer.networks.network import Network


def slowed(network, seed):
    """Return the network with times drawn at random."""
    draw, links = np.random.default_rng(seed), network.link_count
    return network.with_times(draw.integers(1, 4, links), draw.integers(0, 3, links))


def barbell(side, links):
    graph = nx.disjoint_union(nx.complete_graph(side), nx.complete_graph(side))
    graph.add_edges_from((i, side + i) for i in range(links))
    return graph


def servers(count, size, rails):
    """Return servers of terminals around a switch each, and rail switches that join one terminal of each."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count * size))
    graph.add_nodes_from([f"s{i}" for i in range(count)] + [f"r{j}" for j in range(rails)], terminal=False)
    for i in range(count):
        graph.add_edges_from((f"s{i}", i * size + j, {"capacity": 3}) for j in range(size))
        graph.add_edges_from((f"r{j}", i * size + j) for j in range(rails))
    return graph


def damaged_torus():
    graph = nx.grid_2d_graph(4, 4, periodic=True)
    graph.remove_edges_from([((0, 0), (0, 1)), ((1, 1), (2, 1)), ((3, 3), (0, 3))])
    return graph


def two_ways():
    """Two terminals and two switches, each terminal linked to both."""
    graph = nx.Graph([(0, "a"), (0, "b"), (1, "a"), (1, "b")])
    nx.set_node_attributes(graph, {"a": False, "b": False}, "terminal")
    return graph


def one_way():
    graph = nx.gn_graph(9, seed=1).reverse()
    graph.add_edges_from((v, 0) for v in range(1, 9))
    return graph


def leaves_and_spines():
    graph = nx.Graph()
    for i in range(4):
        graph.add_node(f"leaf{i}", terminal=False)
        graph.add_edges_from((f"leaf{i}", 2 * i + j) for j in range(2))
    for k in range(2):
        graph.add_node(f"spine{k}", terminal=False)
        graph.add_edges_from((f"spine{k}", f"leaf{i}") for i in range(4))
    return graph


GRAPHS = {
    "single": nx.empty_graph(1),
    "pair": nx.path_graph(2),
    "path": nx.path_graph(6),
    "star": nx.star_graph(6),
    "tree": nx.balanced_tree(2, 3),
    "petersen": nx.petersen_graph(),
    "frucht": nx.frucht_graph(),
    "krackhardt": nx.krackhardt_kite_graph(),
    "random 4-regular": nx.random_regular_graph(4, 14, seed=2),
    "wheel": nx.wheel_graph(8),
    "barbell": barbell(5, 2),
    "clique ring": nx.ring_of_cliques(3, 4),
    "damaged torus": damaged_torus(),
    "lollipop": nx.lollipop_graph(4, 4),
    "one-way ring": nx.cycle_graph(7, create_using=nx.DiGraph),
    "one-way": one_way(),
    "tournament": nx.DiGraph([(i, (i + d) % 7) for i in range(7) for d in (1, 2, 4)]),
    "two ways": two_ways(),
    "servers": servers(3, 3, 2),
    "rails": servers(2, 4, 4),
    "leaf and spine": leaves_and_spines(),
}

SPECS = ("ring:6", "torus:3x3", "array:3x4", "hypercube:3", "kautz:2,2", "de-bruijn:2,3", "fat-tree:k=2,h=3",
         "fat-tree:k=2,h=2,capacity=exponential", "complete:5")  # fmt: skip


def zoo() -> list[Network]:
    """Return the networks, of which some are there with times too."""
    plain = [from_networkx(graph, name) for name, graph in GRAPHS.items()] + [gossamer.network(s) for s in SPECS]
    return plain + [slowed(network, i) for i, network in enumerate(plain) if i % 3 == 1]
