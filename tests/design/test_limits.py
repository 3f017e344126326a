"""No network beats a limit: all regular graphs of up to 10 nodes against the bounds of Moore's kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.bounds import best_bound
from gossamer.cases import Case
from gossamer.design import least_diameter, least_status, limit, limits
from gossamer.design.limits import LIMITED_TASKS
from gossamer.networks import from_networkx
from gossamer.rules import Rules

SIZES = [(4, 3), (5, 2), (5, 4), (6, 3)]
LARGE = [(6, 4), (7, 4), (6, 5), (8, 3), (8, 4), (8, 5), (9, 4), (10, 3)]


def regular_graphs(n: int, d: int) -> Iterator[list[tuple[int, int]]]:
    """Yield edges of regular graphs, every isomorphism class at least once.

    The least node with free places gets neighbors; of nodes that have none yet, the lowest are taken, as these can be
    renamed into each other.
    """

    def go(edges: list[tuple[int, int]], free: list[int]) -> Iterator[list[tuple[int, int]]]:
        u = next((u for u in range(n) if free[u]), None)
        if u is None:
            yield edges
            return
        touched = [v for v in range(u + 1, n) if 0 < free[v] < d]
        fresh = [v for v in range(u + 1, n) if free[v] == d]
        for k in range(min(free[u], len(fresh)) + 1):
            for some in itertools.combinations(touched, free[u] - k) if free[u] - k <= len(touched) else ():
                chosen = [*some, *fresh[:k]]
                after = free.copy()
                after[u] = 0
                for v in chosen:
                    after[v] -= 1
                yield from go([*edges, *((u, v) for v in chosen)], after)

    yield from go([], [d] * n)


def connected_classes(n: int, d: int) -> list[nx.Graph]:
    """Return connected regular graphs, one of each isomorphism class."""
    kinds: dict[object, list[nx.Graph]] = {}
    for edges in regular_graphs(n, d):
        graph = nx.Graph(edges)
        distances = dict(nx.all_pairs_shortest_path_length(graph))
        if len(distances[0]) < n:
            continue
        squares = np.linalg.matrix_power(nx.to_numpy_array(graph, nodelist=range(n)), 4).diagonal()
        key = tuple(
            sorted((sum(row.values()), int(s)) for (_, row), s in zip(sorted(distances.items()), squares, strict=True))
        )
        alike = kinds.setdefault(key, [])
        if not any(nx.faster_could_be_isomorphic(graph, other) and nx.is_isomorphic(graph, other) for other in alike):
            alike.append(graph)
    return [graph for alike in kinds.values() for graph in alike]


@pytest.mark.parametrize(
    ("n", "d", "count"),
    [
        (6, 3, 2),
        (7, 4, 2),
        (8, 3, 5),
        pytest.param(8, 4, 6, marks=pytest.mark.slow),
        pytest.param(10, 3, 19, marks=pytest.mark.slow),
    ],
)
def test_the_enumeration_finds_as_many_graphs_as_are_known(n: int, d: int, count: int) -> None:
    assert len(connected_classes(n, d)) == count


@pytest.mark.parametrize(("n", "d"), [*SIZES, *(pytest.param(*size, marks=pytest.mark.slow) for size in LARGE)])
def test_no_regular_graph_beats_a_limit(n: int, d: int) -> None:
    graphs = connected_classes(n, d)
    for task in LIMITED_TASKS:
        for ports in ("all", "one", "one-send", "one-receive"):
            most = limit(task, n, d, ports=ports).value
            times = []
            for graph in graphs:
                network = from_networkx(nx.convert_node_labels_to_integers(graph, ordering="sorted"))
                rooted = task in ("broadcast", "reduce", "scatter", "gather")
                for root in range(n) if rooted and task == "broadcast" and n < 7 else [0]:
                    asked = gossamer.task(task, root=root) if rooted else gossamer.task(task)
                    rules = Rules(ports=ports)
                    time = gossamer.plan(network, asked, rules=rules, effort="search").completion_time
                    assert best_bound(Case(network, asked, rules)).value <= time
                    times.append(time)
            assert most <= min(times), (task, ports)


@pytest.mark.parametrize(
    ("n", "d"), [*SIZES, *(pytest.param(*s, marks=pytest.mark.slow) for s in [(8, 3), (8, 4), (9, 4), (10, 3)])]
)
def test_sums_of_distances_and_diameters_are_no_smaller_than_moores(n: int, d: int) -> None:
    sums, wide = [], []
    for graph in connected_classes(n, d):
        for _, row in nx.all_pairs_shortest_path_length(graph):
            sums.append(sum(row.values()))
            wide.append(max(row.values()))
    assert least_status(n, d) <= min(sums)
    assert least_diameter(n, d) <= min(wide)


def test_petersens_graph_meets_them() -> None:
    petersen = from_networkx(nx.petersen_graph())
    assert int(petersen.distances(0).sum()) == least_status(10, 3) == 15
    assert petersen.diameter == least_diameter(10, 3) == 2
    assert gossamer.plan(petersen, "allgather").completion_time == limit("allgather", 10, 3).value


@pytest.mark.parametrize("spec", ["ring:7", "torus:4x4", "hypercube:4", "star:4", "kautz:2,3", "complete:6", "ccc:3"])
@pytest.mark.parametrize("ports", ["all", "one"])
def test_schedules_of_families_are_no_faster(spec: str, ports: str) -> None:
    network = gossamer.network(spec)
    for task in LIMITED_TASKS:
        found = gossamer.plan(network, task, rules=Rules(ports=ports))
        most = limit(task, network.node_count, network.degree, ports=ports, one_way=not network.two_way)
        assert most.value <= found.completion_time, (task, str(most))


def test_the_limits_of_the_largest_examples() -> None:
    values = {(512, 6): 303, (1024, 4): 1356, (4096, 6): 3219, (256, 4): 261, (64, 4): 45, (1000, 6): 639, (96, 5): 51}
    assert {size: limit("alltoall", *size).value for size in values} == values


def test_tasks_without_limits_and_impossible_sizes_are_refused() -> None:
    with pytest.raises(gossamer.GossamerError, match="no limit over all networks"):
        limit("permutation", 8, 3)
    with pytest.raises(gossamer.GossamerError, match="no network of 8 nodes with 1 link a node"):
        limit("alltoall", 8, 1)
    with pytest.raises(gossamer.GossamerError, match="nodes must be"):
        limits("alltoall", 0, 3)
    assert limits("alltoall", 1, 3)[0].value == 0
