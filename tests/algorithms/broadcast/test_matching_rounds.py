"""One-port broadcast in rounds of matchings: exact on small networks and on trees, near the bounds elsewhere."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.broadcast import shortest_path_tree
from gossamer.algorithms.broadcast.matching_rounds import MATCHING_ROUNDS, one_port_tree
from gossamer.algorithms.broadcast.shortest_path_tree import SHORTEST_PATH_TREE, one_port_times, quick_bound
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast

ONE = Rules(ports="one")


def optimum(graph, root):
    """The least one-port time, by trying every set of nodes that can be informed after each step."""
    everyone, sets, steps = frozenset(graph), {frozenset([root])}, 0
    while everyone not in sets:
        following = set()
        for known in sets:
            options = [[w for w in graph[u] if w not in known] or [u] for u in known]
            following |= {known | set(choice) for choice in product(*options)}
        largest = sorted(following, key=len, reverse=True)
        sets = set()
        for s in largest:
            if not any(s < t for t in sets):
                sets.add(s)
        steps += 1
    return steps


def steps(network, root=0, seed=0):
    schedule = MATCHING_ROUNDS.build(Case(network, Broadcast(root), ONE, seed=seed))
    assert gossamer.verify(schedule)
    return int(schedule.completion_time)


def test_all_connected_graphs_of_five_nodes_and_some_of_six_take_the_least_time():
    graphs = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 6 and nx.is_connected(g)]
    for graph in [g for g in graphs if len(g) < 6] + graphs[-112::8]:
        for root in graph:
            assert steps(from_networkx(graph), root) == optimum(graph, root)


@st.composite
def networks(draw):
    """A connected random graph, some nodes of which may only pass packets on."""
    n = draw(st.integers(1, 14))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)):
        if a != b:
            graph.add_edge(a, b)
    for v in draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=n // 2)) if n > 1 else ():
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data(), st.sampled_from(["one", "one-send"]))
@settings(max_examples=40)
def test_it_is_valid_and_between_the_bound_and_the_breadth_first_tree(network, data, ports):
    task, model = Broadcast(data.draw(st.integers(0, network.terminal_count - 1))), Rules(ports=ports)
    schedule = MATCHING_ROUNDS.build(Case(network, task, model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time <= SHORTEST_PATH_TREE.offer(Case(network, task, model)).time
    assert schedule.completion_time >= quick_bound(network, task.root)
    assert schedule.completion_time >= best_bound(Case(network, task, model)).value


@st.composite
def one_way_networks(draw):
    n = draw(st.integers(3, 9))
    graph = nx.cycle_graph(n, create_using=nx.DiGraph)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=12)) if a != b)
    return graph


@given(one_way_networks())
@settings(max_examples=40)
def test_links_of_one_direction(graph):
    assert steps(from_networkx(graph)) >= quick_bound(from_networkx(graph), 0)


@given(one_way_networks())
@settings(max_examples=40)
def test_every_slot_informs_as_many_nodes_as_a_largest_matching(graph):
    network = from_networkx(graph)
    n = network.node_count
    into = np.argsort(network.link_target, kind="stable").astype(np.int32)
    first = np.append(0, np.cumsum(np.bincount(network.link_target, minlength=n)))
    time, parent_link = np.full((2, n), -1, np.int32)
    slots = shortest_path_tree.spread(
        0, n, network.first_link, network.link_target, network.link_source, first, into, np.ones(n), time, parent_link
    )
    assert slots == time.max()
    for t in range(slots):
        known = np.flatnonzero(time <= t).tolist()
        pairs = nx.Graph()
        pairs.add_nodes_from((u, 0) for u in known)
        pairs.add_edges_from(((u, 0), (w, 1)) for u in known for w in graph[u] if time[w] > t)
        largest = len(nx.bipartite.maximum_matching(pairs, [(u, 0) for u in known])) // 2
        assert int((time == t + 1).sum()) == largest
    for v in range(1, n):
        assert network.link_target[parent_link[v]] == v
        assert time[network.link_source[parent_link[v]]] < time[v]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 100])
def test_complete_networks_double(n):
    assert steps(gossamer.network(f"complete:{n}"), n // 2) == (n - 1).bit_length()


@pytest.mark.parametrize("d", range(1, 11))
def test_hypercubes_take_their_dimension(d):
    assert steps(gossamer.network(f"hypercube:{d}"), 2**d // 3) == d


@given(st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=40)
def test_trees_take_the_least_time(n, seed):
    graph = nx.random_labeled_tree(n, seed=seed)
    network = from_networkx(graph)
    assert MATCHING_ROUNDS.offer(Case(network, Broadcast(0), ONE)).optimal
    assert steps(network) == best_bound(Case(network, Broadcast(0), ONE)).value


MET = [
    "array:7x7", "array:5x7x3", "torus:7x7", "torus:8x8", "torus:5x5x5", "torus:15x15", "star:4", "star:5", "pancake:4",
    "pancake:5", "bubble-sort:5", "ccc:3", "ccc:4", "ccc:5", "ccc:7", "butterfly:3", "butterfly:4", "circulant:13,1,5",
    "hypercycle:5,2x4,1", "extended-ring:30,3", "generalized-hypercube:4x4x3", "product:(ring:5)x(star:4)",
]  # fmt: skip


@pytest.mark.parametrize("spec", MET)
def test_networks_on_which_it_meets_the_bound(spec):
    network = gossamer.network(spec)
    assert steps(network) == best_bound(Case(network, Broadcast(0), ONE)).value


@pytest.mark.parametrize("spec", ["star:6", "butterfly:5", "butterfly:6", "circulant:101,1,7", "ccc:6"])
def test_networks_on_which_it_stays_within_a_step_of_the_bound(spec):
    network = gossamer.network(spec)
    assert steps(network) <= best_bound(Case(network, Broadcast(0), ONE)).value + 1


@pytest.mark.uncompiled
def test_small_networks_take_the_least_time():
    for spec in ("extended-ring:8,2", "generalized-hypercube:3x3", "complete:6"):
        network = gossamer.network(spec)
        assert steps(network) == best_bound(Case(network, Broadcast(0), ONE)).value


def test_a_seed_gives_the_same_tree_again():
    network = gossamer.network("ccc:4")
    for seed in (0, 5):
        first, second = (one_port_tree(network, 3, seed) for _ in range(2))
        assert np.array_equal(first.parent_link, second.parent_link)
        assert one_port_times(first)[0][3] >= quick_bound(network, 3)


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (gossamer.network("ring:5"), Rules(), "is for one-port nodes; for all-port nodes the shortest"),
        (from_networkx(nx.DiGraph([(0, 1), (2, 0)])), ONE, "finds no path from the root to node 2"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        MATCHING_ROUNDS.build(Case(network, Broadcast(0), model))


def test_the_plan_uses_it_where_the_tree_is_too_slow():
    plan = gossamer.plan("torus:7x7", "broadcast", rules=gossamer.Rules(ports="one"))
    assert (plan.schedule.algorithm, plan.completion_time, plan.optimal) == ("matching-rounds", 7, True)
