"""Networks on which `bench_synthesis.py` measures schedules, the same everywhere: random ones are made by NetworkX."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

import gossamer
from gossamer.networks import from_networkx
from gossamer.networks.network import Network

__all__ = ["networks"]

FAMOUS = (
    *("petersen", "karate_club", "tutte", "desargues", "les_miserables", "florentine_families"),
    *("davis_southern_women", "dodecahedral", "heawood", "icosahedral", "krackhardt_kite", "moebius_kantor", "pappus"),
    "sedgewick_maze",
)


def damaged_torus(percent: int) -> nx.Graph:
    """Return an 8x8 torus without some of its edges, still connected."""
    graph, draw = nx.grid_2d_graph(8, 8, periodic=True), np.random.default_rng(1)
    edges = list(graph.edges)
    for i in draw.permutation(len(edges))[: round(len(edges) * percent / 100)]:
        graph.remove_edge(*edges[i])
    assert nx.is_connected(graph)
    return graph


def joined_tori(links: int) -> nx.Graph:
    """Return two 8x8 tori joined by a few links."""
    torus = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8, periodic=True))
    graph = nx.disjoint_union(torus, torus)
    graph.add_edges_from((i, 64 + i) for i in range(0, 18 * links, 18))
    return graph


def clusters(count: int, size: int, links: int) -> nx.Graph:
    """Return clusters, each a random 4-regular graph, in a ring with a few links between neighbors."""
    graph = nx.disjoint_union_all([nx.random_regular_graph(4, size, seed=c) for c in range(count)])
    for c in range(count):
        after = (c + 1) % count
        graph.add_edges_from((c * size + i, after * size + i + links) for i in range(links))
    return graph


def rails(servers: int, size: int) -> nx.Graph:
    """Return servers of terminals around a switch each, and a switch for each rail."""
    graph = nx.Graph()
    graph.add_nodes_from(range(servers * size))
    graph.add_nodes_from([f"server {i}" for i in range(servers)] + [f"rail {j}" for j in range(size)], terminal=False)
    for i in range(servers):
        graph.add_edges_from((f"server {i}", i * size + j, {"capacity": 4}) for j in range(size))
        graph.add_edges_from((f"rail {j}", i * size + j) for j in range(size))
    return graph


def graphs(large: bool) -> Iterator[tuple[str, nx.Graph]]:
    """Yield names and graphs."""
    yield from ((f"torus 8x8 less {p} %", damaged_torus(p)) for p in (2, 5, 10))
    sizes = (64, 256, 1024, 4096) if large else (64, 256)
    yield from ((f"random 4-regular {n}", nx.random_regular_graph(4, n, seed=1)) for n in sizes)
    yield "jellyfish 50 (degree 7)", nx.random_regular_graph(7, 50, seed=1)
    yield "two 8x8 tori, 4 links", joined_tori(4)
    yield "8 cliques of 8 in a ring", nx.ring_of_cliques(8, 8)
    for count, size, links in ((4, 16, 1), (8, 16, 2), (8, 32, 3), (16, 32, 4)):
        yield f"{count} clusters of {size}, {links} link{'s' * (links > 1)}", clusters(count, size, links)
    yield "torus 16x16 as edges", nx.grid_2d_graph(16, 16, periodic=True)
    for name in FAMOUS:
        yield name, getattr(nx, f"{name}_graph")()
    yield "binary tree of 63", nx.balanced_tree(2, 5)
    yield "4 servers of 8 with rails", rails(4, 8)
    if large:
        yield "32 servers of 8 with rails", rails(32, 8)


def named(large: bool) -> Iterator[tuple[str, str]]:
    """Yield specs of families, and whether they are measured as lists of links, of which no structure is known."""
    yield from (
        (spec, "")
        for spec in ("dragonfly:4,2", "slim-fly:5", "hyperx:4x8", "kautz:2,5", "de-bruijn:2,6", "leaf-spine:4,4,8")
    )
    yield from ((spec, "") for spec in ("dgx-1:v100", "dgx-a100:servers=2"))
    yield from ((spec, "as edges") for spec in ("torus:4x4x4", "star:4", "hypercube:6", "generalized-hypercube:4x4x4"))
    if large:
        yield from ((spec, "as edges") for spec in ("torus:32x32", "slim-fly:13"))


def as_edges(network: Network) -> nx.DiGraph:
    """Return the links of a network, and nothing else of it."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.node_count))
    graph.add_edges_from(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    return graph


def networks(large: bool) -> Iterator[tuple[str, Network]]:
    """Yield names and networks: graphs, families, links with times."""
    for name, graph in graphs(large):
        plain = nx.Graph(graph) if graph.is_multigraph() else graph
        for _, _, data in plain.edges(data=True):
            data.pop("weight", None)
        yield name, from_networkx(plain, name)
    for spec, how in named(large):
        network = gossamer.network(spec)
        yield f"{spec} {how}".strip(), from_networkx(as_edges(network), spec) if how else network
    torus = gossamer.network("torus:8x8")
    yield "torus 8x8, one dimension 4 times slower", torus.with_times(np.tile([1, 1, 4, 4], 64), 0)
    ring = gossamer.network("torus:6x6")
    yield "torus 6x6, one dimension twice as slow", ring.with_times(np.tile([1, 1, 2, 2], 36), 0)
