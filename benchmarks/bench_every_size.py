"""Plans of bytes for machines and networks: fluid optimum, and time beside the bound at three sizes.

    python benchmarks/bench_every_size.py [--only WORD] [--task TASK ...] [--bytes SIZE ...] [--machines]

The fluid optimum is that of an independent program: maximum flows for broadcast and reduce, linear programs for the
others, of allreduce by columns of spanning trees (only where both directions of every cable are alike). At the largest
size the plan's time is also told as a multiple of it. A mark stands where 1.02 x the fluid optimum is missed at 1 GiB,
or 1.15 x the bound at 1 MiB; the last line counts them.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
from machines import machines, networks
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, kron

import gossamer
from gossamer.networks import from_networkx
from gossamer.reading.quantities import size as byte_count

SIZES = ("1MiB", "64MiB", "1GiB")
LIMITS = {"1MiB": 1.15, "1GiB": 1.02}


def terminals(graph: nx.DiGraph) -> list[str]:
    """Return the nodes that take part."""
    return [v for v, told in graph.nodes(data=True) if told.get("terminal", True)]


def speeds(graph: nx.DiGraph) -> np.ndarray:
    """Return GB/s of every link."""
    return np.array([told["bandwidth"] / 1e9 for _, _, told in graph.edges(data=True)])


def balance(graph: nx.DiGraph) -> csr_array:
    """Return what goes out less what comes in: a row a node, a column a link."""
    place = {v: i for i, v in enumerate(graph)}
    sources, targets = np.array([(place[u], place[v]) for u, v in graph.edges]).T
    links = np.arange(len(sources))
    ones = np.ones(len(links))
    rows, columns = np.concatenate([sources, targets]), np.concatenate([links, links])
    return coo_array((np.concatenate([ones, -ones]), (rows, columns)), (len(place), len(links))).tocsr()


def least(supplies: np.ndarray, graph: nx.DiGraph) -> float:
    """Return the least seconds of a GB for each unit of supplies: a row a commodity, a column a node."""
    links, (kinds, _) = speeds(graph), supplies.shape
    flows = kron(np.eye(kinds), balance(graph)).tocsr()
    conserved = hstack([flows, coo_array((flows.shape[0], 1))]).tocsr()
    loads = hstack([kron(np.ones((1, kinds)), np.eye(len(links))), coo_array(-links[:, None])]).tocsr()
    cost = np.zeros(kinds * len(links) + 1)
    cost[-1] = 1
    told = linprog(cost, loads, np.zeros(len(links)), conserved, supplies.ravel(), method="highs")
    return float(told.fun)


def scattered(graph: nx.DiGraph, roots: list[str]) -> float:
    """Return the fluid optimum where each root has a message for every other terminal."""
    ends = terminals(graph)
    supplies = np.array([[(len(ends) * (v == r) - 1) if v in ends else 0 for v in graph] for r in roots], float)
    return least(supplies, graph)


def broadcast(graph: nx.DiGraph) -> float:
    """Return the fluid optimum from the first terminal: the least maximum flow."""
    root, *others = terminals(graph)
    return max(1e9 / nx.maximum_flow_value(graph, root, v, capacity="bandwidth") for v in others)


def allgather(graph: nx.DiGraph) -> float:
    """Return the fluid optimum: for each terminal, a flow that brings it a unit from every other."""
    ends = terminals(graph)
    rows = ([1.0 - len(ends) * (u == v) if u in ends else 0.0 for u in graph] for v in ends)
    return max(least(np.array([row]), graph) for row in rows)


def allreduce(graph: nx.DiGraph) -> float:
    """Return the fluid optimum by columns of spanning trees of the terminals, routed; not a number if one-sided."""
    pairs = {frozenset(link): told["bandwidth"] / 1e9 for *link, told in graph.edges(data=True)}
    if any(abs(pairs[frozenset((u, v))] - told["bandwidth"] / 1e9) > 1e-9 for u, v, told in graph.edges(data=True)):
        return float("nan")
    cables, ends = list(pairs), terminals(graph)
    place, widths = {c: i for i, c in enumerate(cables)}, np.array(list(pairs.values()))
    columns: list[np.ndarray] = []
    prices, least_time = 1 / widths, 0.0
    while True:
        priced = nx.Graph()
        priced.add_weighted_edges_from((*c, prices[i] + 1e-9) for c, i in place.items())
        ways = {u: nx.single_source_dijkstra(priced, u) for u in ends}
        complete = nx.Graph()
        complete.add_weighted_edges_from((u, v, ways[u][0][v]) for u, v in itertools.combinations(ends, 2))
        tree = np.zeros(len(cables))
        for u, v in nx.minimum_spanning_edges(complete, data=False):
            for hop in itertools.pairwise(ways[u][1][v]):
                tree[place[frozenset(hop)]] += 1
        if columns and tree @ prices >= 1 - 1e-7:
            return least_time
        columns.append(tree)
        told = linprog(-np.ones(len(columns)), csr_array(np.array(columns).T), widths, method="highs")
        prices, least_time = -told.ineqlin.marginals, float(-1 / told.fun)


def turned(fluid: Callable[[nx.DiGraph], float]) -> Callable[[nx.DiGraph], float]:
    """Return the fluid optimum of the reverse of a task."""
    return lambda graph: fluid(graph.reverse())


FLUID: dict[str, Callable[[nx.DiGraph], float]] = {
    "broadcast": broadcast,
    "reduce": turned(broadcast),
    "scatter": lambda graph: scattered(graph, terminals(graph)[:1]),
    "gather": turned(lambda graph: scattered(graph, terminals(graph)[:1])),
    "allgather": allgather,
    "reduce-scatter": turned(allgather),
    "allreduce": allreduce,
    "alltoall": lambda graph: scattered(graph, terminals(graph)),
}
"""Seconds of a message of a GB (10^9 bytes), as the task counts messages."""


def cells(graph: nx.DiGraph, name: str, task: str, sizes: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield what is told of each size, and whether an aim is missed."""
    network = from_networkx(graph, name)
    optimum = FLUID[task](graph)
    yield f"{optimum:9.5f} s/GB", False
    for size in sizes:
        began = time.process_time()
        found = gossamer.plan(network, task, cost=gossamer.TimeCost(size))
        took = time.process_time() - began
        ratio = float(found.seconds) / float(found.bound_seconds)
        fluid = float(found.seconds) / (optimum * byte_count(size, "bytes") / 1e9)
        told = f"{size} {found.seconds * 1e6:10.1f} us, {ratio:5.3f}"
        last = size == "1GiB"
        if last:
            told += f", fluid {fluid:5.3f}"
        asked = LIMITS.get(size)
        missed = asked is not None and (fluid if last and fluid == fluid else ratio) > asked + 5e-4
        yield f"{told} {took:5.1f} s{' <--' if missed else ''}", missed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--task", choices=FLUID, nargs="*", default=list(FLUID))
    parser.add_argument("--bytes", nargs="*", default=SIZES, help="sizes of a message")
    parser.add_argument("--machines", action="store_true", help="the ten machines alone")
    asked = parser.parse_args()
    count, missed = 0, 0
    for name, graph in (*machines(), *(() if asked.machines else networks())):
        if asked.only not in name:
            continue
        for task in asked.task:
            print(f"{name[:24]:24} {task:14}", end=" ", flush=True)
            for text, far in cells(graph, name, task, tuple(asked.bytes)):
                count, missed = count + 1, missed + far
                print(text, end=" | ", flush=True)
            print(flush=True)
    print(f"{missed} of {count} cells miss their aim")


if __name__ == "__main__":
    main()
