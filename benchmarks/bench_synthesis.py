"""Schedules for any network: steps, bound, ratio, CPU seconds and memory.

Random and damaged graphs are made here by NetworkX, so that they are the same everywhere; files of links in a folder,
given as argument, are measured too.

    python benchmarks/bench_synthesis.py [--large] [--task TASK] [FOLDER]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import numpy as np

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.bounds import bounds
from gossamer.cases import Case
from gossamer.errors import GossamerError
from gossamer.networks import from_networkx
from gossamer.networks.network import Network

TASKS = ("allgather", "alltoall", "reduce-scatter", "allreduce")


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
    yield "hoffman-singleton", nx.hoffman_singleton_graph()
    yield "two 8x8 tori, 4 links", joined_tori(4)
    yield "8 cliques of 8 in a ring", nx.ring_of_cliques(8, 8)
    yield "8 clusters of 16, 2 links", clusters(8, 16, 2)
    yield "torus 16x16 as edges", nx.grid_2d_graph(16, 16, periodic=True)
    for name in ("petersen", "karate_club", "tutte", "desargues", "les_miserables", "florentine_families"):
        yield name, getattr(nx, f"{name}_graph")()
    yield "binary tree of 63", nx.balanced_tree(2, 5)
    yield "4 servers of 8 with rails", rails(4, 8)


def networks(large: bool, folder: str | None) -> Iterator[tuple[str, Network]]:
    """Yield names and networks: graphs, those with times, and the files of a folder."""
    for name, graph in graphs(large):
        plain = nx.Graph(graph) if graph.is_multigraph() else graph
        for _, _, data in plain.edges(data=True):
            data.pop("weight", None)
        yield name, from_networkx(plain, name)
    torus = gossamer.network("torus:8x8")
    yield "torus 8x8, one dimension 4 times slower", torus.with_times(np.tile([1, 1, 4, 4], 64), 0)
    for path in sorted(Path(folder).iterdir()) if folder else ():
        try:
            yield path.name, gossamer.network(str(path))
        except GossamerError as error:
            print(f"{path.name}: {error}")


def measure(name: str, network: Network, task: str) -> None:
    """Print the best schedule of the algorithms for any network, and what each took."""
    case = Case(network, gossamer.task(task))
    limit = bounds(case)[0].value
    found = []
    for algorithm in (a for a in ALGORITHMS if a.timed and "exact" not in a.name and a.covers(case)):
        began = time.process_time()
        schedule = algorithm.build(case)
        took = time.process_time() - began
        if not gossamer.verify(schedule):
            raise SystemExit(f"{algorithm.name} on {name}: {gossamer.verify(schedule)}")
        found.append((schedule.completion_time, took, algorithm.name, schedule.hop_count))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    for steps, took, algorithm, hops in sorted(found):
        rate = hops / max(took, 1e-9) / 1e6
        print(
            f"{task:15} {name:40} {network.node_count:5} {float(steps):8.6g} {float(limit):8.6g} "
            f"{float(steps / limit) if limit else 1:6.3f} {took:8.2f} s {rate:7.2f} M hops/s {memory:6} MB {algorithm}",
            flush=True,
        )


def main() -> None:
    """Print a table a task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--large", action="store_true", help="up to 4,096 nodes (allgather only beyond 256)")
    parser.add_argument("--task", choices=TASKS, action="append")
    asked = parser.parse_args()
    small = from_networkx(nx.petersen_graph())
    for task in asked.task or TASKS:
        case = Case(small, gossamer.task(task))  # compile
        for algorithm in (a for a in ALGORITHMS if a.timed and "exact" not in a.name and a.covers(case)):
            algorithm.build(case)
        for name, network in networks(asked.large, asked.folder):
            if network.node_count <= 256 or task == "allgather":
                measure(name, network, task)


if __name__ == "__main__":
    main()
