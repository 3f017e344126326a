"""No network beats a limit: all regular graphs of up to 10 nodes against the bounds of Moore's kind."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest

import gossamer
from gossamer.bounds import best_bound
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.studies.design import least_diameter, least_status, limit, limits
from gossamer.studies.design.moore_bounds import LIMITED_TASKS

COUNTS = {
    **{(n, 2): 1 for n in range(4, 11)}, (4, 3): 1, (6, 3): 2, (8, 3): 5, (10, 3): 19, (5, 4): 1, (6, 4): 1, (7, 4): 2,
    (8, 4): 6, (9, 4): 16, (10, 4): 59, (6, 5): 1, (8, 5): 3, (10, 5): 60, (7, 6): 1, (8, 6): 1, (9, 6): 4, (10, 6): 21,
    (8, 7): 1, (10, 7): 5, (9, 8): 1, (10, 8): 1, (10, 9): 1,
}  # fmt: skip
"""How many connected regular graphs of so many nodes and links a node there are (Meringer 1999)."""
LARGE = ((8, 3), (9, 4), (9, 6), (10, 7), (10, 3), (10, 4), (10, 5), (10, 6))
EVERY = [pytest.param(*size, marks=pytest.mark.slow) if size in LARGE else size for size in COUNTS]


def regular_graphs(n: int, d: int) -> list[nx.Graph]:
    """Return all regular graphs, connected or not, one of each isomorphism class.

    Any two regular graphs of a size and degree go over into each other by switches, two edges a-b, c-e for a-c, b-e
    (Hakimi 1962 and others for all degree sequences). So whatever switches reach from one graph is all there is.
    """
    first = nx.to_numpy_array(nx.circulant_graph(n, _offsets(n, d)), dtype=np.int64)
    known = {_invariant(first): first}
    waiting = [first]
    while waiting:
        graph = waiting.pop()
        edges = np.argwhere(np.triu(graph)).tolist()
        for (a, b), (c, e) in itertools.combinations(edges, 2):
            for x, y in ((c, e), (e, c)):
                if len({a, b, x, y}) == 4 and not graph[a, x] and not graph[b, y]:
                    other = graph.copy()
                    for u, v, value in ((a, b, 0), (x, y, 0), (a, x, 1), (b, y, 1)):
                        other[u, v] = other[v, u] = value
                    key = _invariant(other)
                    if key not in known:
                        known[key] = other
                        waiting.append(other)
    return [nx.Graph(np.argwhere(np.triu(graph)).tolist()) for graph in known.values()]


def _offsets(n: int, d: int) -> list[int]:
    """Return the offsets of a circulant graph of a degree."""
    return [*range(1, d // 2 + 1), *([n // 2] if d % 2 else [])]


def _invariant(graph: npt.NDArray[np.int64]) -> bytes:
    """Return what is the same for isomorphic graphs: how nodes see each other by walks, refined once.

    That it tells apart all that are not is checked by the counts.
    """
    two = graph @ graph
    three = two @ graph
    pairs = ((two * 1009 + three) * 1013 + three @ graph) * 3 + graph
    np.fill_diagonal(pairs, np.diagonal(pairs) + 1)
    seen = (pairs * pairs % 1000003 * 31 + pairs).sum(axis=1)
    again = np.sort((seen[None, :] * (pairs % 999983 + 7)) % 1000000007, axis=1)
    rows = np.sort(np.column_stack([seen, again @ (np.arange(len(graph)) * 97 + 1)]), axis=0)
    return bytes(rows.tobytes())


def connected_classes(n: int, d: int) -> list[nx.Graph]:
    """Return connected regular graphs, one of each isomorphism class."""
    return [graph for graph in regular_graphs(n, d) if nx.is_connected(graph)]


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize(("n", "d"), EVERY)
def test_no_regular_graph_beats_a_limit(n: int, d: int) -> None:
    graphs = connected_classes(n, d)
    assert len(graphs) == COUNTS[n, d]
    sums, wide = [], []
    for graph in graphs:
        for _, row in nx.all_pairs_shortest_path_length(graph):
            sums.append(sum(row.values()))
            wide.append(max(row.values()))
    assert least_status(n, d) <= min(sums)
    assert least_diameter(n, d) <= min(wide)
    asked_for = list(itertools.product(LIMITED_TASKS, ("all", "one", "one-send", "one-receive")))
    turns = 5 if len(graphs) > 5 else 1  # of many graphs each takes its turn: another fifth of the questions, a prime
    for k, (task, ports) in enumerate(asked_for):
        most = limit(task, n, d, ports=ports).value
        asked = gossamer.task(task)
        for graph in graphs[k % turns :: turns]:
            network = from_networkx(nx.convert_node_labels_to_integers(graph, ordering="sorted"))
            if best_bound(Case(network, asked, Rules(ports=ports))).value < most:  # else nothing beats it there
                time = gossamer.plan(network, asked, rules=Rules(ports=ports)).completion_time
                assert most <= time, (task, ports, sorted(graph.edges))


@pytest.mark.parametrize(("n", "d"), [(4, 3), (5, 2), (5, 4), (6, 3)])
def test_no_schedule_on_a_small_graph_beats_a_limit_from_any_root(n: int, d: int) -> None:
    for graph, task, ports in itertools.product(
        connected_classes(n, d), LIMITED_TASKS, ("all", "one", "one-send", "one-receive")
    ):
        network = from_networkx(nx.convert_node_labels_to_integers(graph, ordering="sorted"))
        for root in range(n) if task == "broadcast" else [None]:
            asked = gossamer.task(task) if root is None else gossamer.task(task, root=root)
            found = gossamer.plan(network, asked, rules=Rules(ports=ports))
            assert limit(task, n, d, ports=ports).value <= found.bound <= found.completion_time


def test_petersens_graph_meets_them() -> None:
    petersen = from_networkx(nx.petersen_graph())
    assert int(petersen.distances(0).sum()) == least_status(10, 3) == 15
    assert petersen.diameter == least_diameter(10, 3) == 2
    assert gossamer.plan(petersen, "allgather").completion_time == limit("allgather", 10, 3).value


@pytest.mark.exhaustive(always=6)
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
