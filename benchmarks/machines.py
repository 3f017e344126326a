"""Machines and networks with speeds, on which `bench_every_size.py` measures plans: made by NetworkX."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

__all__ = ["machines", "networks"]

GB = 1e9


def cable(graph: nx.DiGraph, first: object, second: object, speed: float, latency: float = 1e-6) -> None:
    """Join two nodes both ways, at so many GB/s and after so many seconds."""
    for source, target in ((first, second), (second, first)):
        graph.add_edge(source, target, bandwidth=speed * GB, latency=latency)


def servers(sizes: list[int], inside: float, outside: float, rails: bool = True) -> nx.DiGraph:
    """Return servers of GPUs around a switch each; the NICs of GPUs meet in one switch, or in one for each rail."""
    graph = nx.DiGraph()
    for i, size in enumerate(sizes):
        graph.add_node(f"server{i}", terminal=False)
        for j in range(size):
            rail = f"rail{j}" if rails else "fabric"
            graph.add_node(rail, terminal=False)
            cable(graph, f"{i}.{j}", f"server{i}", inside, 5e-7)
            cable(graph, f"{i}.{j}", rail, outside)
    return graph


def dies(boxes: int, nic: float) -> nx.DiGraph:
    """Return boxes of eight packages of two dies: 200 GB/s inside a package, three cables of 50 GB/s from each die."""
    graph = nx.DiGraph()
    for b in range(boxes):
        for p in range(8):
            cable(graph, f"{b}.{2 * p}", f"{b}.{2 * p + 1}", 200)
            for step in (1, 3, 6):
                cable(graph, f"{b}.{2 * p}", f"{b}.{(2 * (p + step) + 1) % 16}", 50)
        if boxes > 1:
            for d in range(16):
                cable(graph, f"{b}.{d}", "fabric", nic)
    if boxes > 1:
        graph.nodes["fabric"]["terminal"] = False
    return graph


def dgx_1(boxes: int) -> nx.DiGraph:
    """Return boxes of 8 GPUs with 6 NVLinks of 25 GB/s each, and 4 NICs of 12 GB/s behind PCIe switches."""
    double = ((0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7))
    single = ((0, 1), (0, 2), (1, 3), (4, 5), (4, 6), (5, 7), (2, 6), (3, 7))
    graph = nx.DiGraph()
    graph.add_node("fabric", terminal=False)
    for b in range(boxes):
        for pairs, speed in ((double, 50), (single, 25)):
            for u, v in pairs:
                cable(graph, f"{b}.{u}", f"{b}.{v}", speed, 7e-7)
        for switch in range(4):
            graph.add_node(f"{b}.pcie{switch}", terminal=False)
            cable(graph, f"{b}.pcie{switch}", "fabric", 12, 2e-6)
            for gpu in (2 * switch, 2 * switch + 1):
                cable(graph, f"{b}.{gpu}", f"{b}.pcie{switch}", 12)
    return graph


def leaf_spine(leaves: int, hosts: int, spines: int, host: float, up: float) -> nx.DiGraph:
    """Return hosts under leaves, and a link from each leaf to each spine."""
    graph = nx.DiGraph()
    graph.add_nodes_from([f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)], terminal=False)
    for i in range(leaves):
        for j in range(hosts):
            cable(graph, f"{i}.{j}", f"leaf{i}", host)
        for j in range(spines):
            cable(graph, f"leaf{i}", f"spine{j}", up)
    return graph


def fat_tree(arity: int, speed: float) -> nx.DiGraph:
    """Return the fat tree of three tiers of switches with so many ports each, and arity^3 / 4 hosts."""
    graph, half = nx.DiGraph(), arity // 2
    for pod in range(arity):
        for i in range(half):
            graph.add_nodes_from((f"edge{pod}.{i}", f"agg{pod}.{i}"), terminal=False)
            for j in range(half):
                graph.add_node(f"core{i}.{j}", terminal=False)
                cable(graph, f"{pod}.{i}.{j}", f"edge{pod}.{i}", speed)
                cable(graph, f"edge{pod}.{i}", f"agg{pod}.{j}", speed)
                cable(graph, f"agg{pod}.{i}", f"core{i}.{j}", speed)
    return graph


def bridges() -> nx.DiGraph:
    """Return a root complex with four PCIe bridges of two GPUs each, one of the links half as wide."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["root", *(f"bridge{i}" for i in range(4))], terminal=False)
    for i in range(4):
        cable(graph, f"bridge{i}", "root", 7 if i == 3 else 14)
        for j in range(2):
            cable(graph, f"{i}.{j}", f"bridge{i}", 14)
    return graph


def machines() -> Iterator[tuple[str, nx.DiGraph]]:
    """Yield ten machines."""
    yield "2 x 8 A100", servers([8] * 2, 300, 25, rails=False)
    yield "4 x 8 A100", servers([8] * 4, 300, 25, rails=False)
    yield "MI250, 16 dies", dies(1, 0)
    yield "2 x 16 MI250", dies(2, 16)
    yield "two DGX-1", dgx_1(2)
    yield "leaf-spine 2:1", leaf_spine(6, 4, 2, 50, 50)
    yield "2 servers, rails", servers([4] * 2, 50, 25)
    yield "8 + 8 + 4 GPUs", servers([8, 8, 4], 300, 25, rails=False)
    yield "fat tree of 16", fat_tree(4, 100)
    yield "PCIe bridges", bridges()


def speeded(
    graph: nx.Graph, seed: int, speeds: tuple[float, ...], latencies: tuple[float, ...] = (1e-6,)
) -> nx.DiGraph:
    """Return a graph with speeds in GB/s and latencies drawn for its cables; switches stay switches."""
    draw, told = np.random.default_rng(seed), nx.DiGraph()
    told.add_nodes_from((str(v), data) for v, data in graph.nodes(data=True))
    for u, v in graph.edges:
        cable(told, str(u), str(v), float(draw.choice(speeds)), float(draw.choice(latencies)))
    return told


def without(graph: nx.DiGraph, cables: int, seed: int) -> nx.DiGraph:
    """Return a machine without some of its cables, still connected."""
    damaged, draw = graph.copy(), np.random.default_rng(seed)
    pairs = sorted((u, v) for u, v in graph.edges if u < v)
    for i in draw.permutation(len(pairs)):
        if cables == 0:
            break
        u, v = pairs[i]
        damaged.remove_edges_from(((u, v), (v, u)))
        if nx.is_strongly_connected(damaged):
            cables -= 1
        else:
            damaged.add_edges_from((a, b, graph.edges[a, b]) for a, b in ((u, v), (v, u)))
    return damaged


def one_way(graph: nx.DiGraph, seed: int) -> nx.DiGraph:
    """Return a network whose cables are faster one way than the other."""
    draw = np.random.default_rng(seed)
    for u, v in graph.edges:
        graph.edges[u, v]["bandwidth"] *= float(draw.choice([1, 2]))
    return graph


def networks() -> Iterator[tuple[str, nx.DiGraph]]:
    """Yield twenty networks: irregular, unequal, oversubscribed, damaged, with and without switches."""
    torus = nx.grid_2d_graph(8, 8, periodic=True)
    yield "torus 8x8", speeded(torus, 0, (50,))
    yield "torus 8x8 less 6", without(speeded(torus, 0, (50,)), 6, 1)
    yield "torus 4x4x4", speeded(nx.grid_graph([4, 4, 4], periodic=True), 0, (50,))
    yield "array 5x5", speeded(nx.grid_2d_graph(5, 5), 0, (50,))
    yield "karate club", speeded(nx.Graph(nx.karate_club_graph().edges), 0, (25,))
    yield "Petersen", speeded(nx.petersen_graph(), 0, (50,))
    yield "Tutte, two speeds", speeded(nx.tutte_graph(), 2, (25, 50))
    yield "5-regular 32, 1 2 5", speeded(nx.random_regular_graph(5, 32, seed=3), 3, (10, 20, 50), (5e-7, 3e-6))
    yield "7-regular 50", speeded(nx.random_regular_graph(7, 50, seed=4), 4, (25,))
    yield "ring of 7", speeded(nx.cycle_graph(7), 0, (25,))
    yield "ring of 12, unequal", speeded(nx.cycle_graph(12), 5, (25, 50, 100))
    yield "two rings of 6, joined", speeded(nx.circular_ladder_graph(6), 0, (50, 50, 25))
    yield "8 cliques of 4", speeded(nx.ring_of_cliques(8, 4), 0, (50,))
    yield "random tree of 20", speeded(nx.random_labeled_tree(20, seed=6), 6, (25, 50))
    yield "complete 8", speeded(nx.complete_graph(8), 0, (25,), (7e-7,))
    yield "hypercube 5, less 4", without(speeded(nx.hypercube_graph(5), 0, (50,)), 4, 7)
    yield "leaf-spine 4:1, less 1", without(leaf_spine(4, 8, 4, 50, 25), 1, 8)
    yield "3 x 8 rails, less 2", without(servers([8] * 3, 450, 50), 2, 9)
    yield "16-node, one way faster", one_way(speeded(nx.random_regular_graph(4, 16, seed=10), 10, (25,)), 10)
    yield "grid of switches", switched_grid()


def switched_grid() -> nx.DiGraph:
    """Return a 3x3 grid of switches with two hosts at each, joined by cables of two speeds."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3))
    nx.set_node_attributes(grid, False, "terminal")
    told = speeded(nx.relabel_nodes(grid, {i: f"switch{i}" for i in grid}), 11, (50, 100))
    for i in range(18):
        cable(told, f"host{i}", f"switch{i // 2}", 50)
    return told
