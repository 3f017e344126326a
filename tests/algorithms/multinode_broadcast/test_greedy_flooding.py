"""Greedy flooding works on any network, in every port model, and comes close to the bound."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.multinode_broadcast import greedy_flooding
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING, _nearby
from gossamer.bounds import best_bound
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.graphs.retiming import retimed
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules


def planned(network, task, rules=None, cost=None):
    schedule = GREEDY_FLOODING.build(Case(network, task, rules, cost))
    found = gossamer.verify(schedule)
    assert found.ok, str(found)
    return schedule


@st.composite
def connected_graphs(draw):
    n = draw(st.integers(1, 12))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 999)))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    if n > 1:
        graph.add_edges_from(draw(st.lists(pairs, max_size=12)))
    return from_networkx(graph)


@settings(max_examples=60)
@given(connected_graphs(), st.sampled_from(["all", "one", "one-send", "one-receive"]), st.data())
def test_any_connected_network_any_active_set_any_ports(network, ports, data):
    nodes = st.sets(st.integers(0, network.node_count - 1), min_size=1)
    task = gossamer.task("partial-multinode-broadcast", active=data.draw(nodes))
    schedule = planned(network, task, Rules(ports=ports))
    assert schedule.stored_hops == len(task.active) * (network.node_count - 1)
    assert schedule.completion_time <= max(schedule.stored_hops, 0)


MEETS = [
    ("torus:8x8", 40), ("array:8x8", 64), ("array:8x8", 1), ("array:8x8", 16), ("array:32x32", 200),
    ("torus:4x4x4", 20), ("fat-tree:k=2,h=4", 16), ("hypercube:6", 64),
]  # fmt: skip


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(("spec", "count"), MEETS)
def test_meets_the_bound_on_these(spec, count):
    network = gossamer.network(spec)
    active = np.random.default_rng(0).choice(network.terminal_count, count, replace=False)
    task = gossamer.task("partial-multinode-broadcast", active=active.tolist())
    assert planned(network, task).completion_time == best_bound(Case(network, task)).value


def joined_tori():
    torus = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8, periodic=True))
    graph = nx.disjoint_union(torus, torus)
    graph.add_edges_from((i, 64 + i) for i in (0, 18, 36, 54))
    return graph


@pytest.mark.parametrize(
    "graph",
    [joined_tori(), nx.ring_of_cliques(8, 8), nx.hoffman_singleton_graph(), nx.random_regular_graph(7, 50, seed=1)],
    ids=["thin cut", "ring of cliques", "diameter 2", "random"],
)
def test_meets_the_bound_at_thin_cuts_and_on_dense_graphs(graph):
    network = from_networkx(graph, "a graph")
    task = gossamer.task("allgather")
    assert planned(network, task).completion_time == best_bound(Case(network, task)).value


def ring_of_clusters(count, size, links):
    graph = nx.disjoint_union_all([nx.random_regular_graph(4, size, seed=c) for c in range(count)])
    for c in range(count):
        after = (c + 1) % count
        graph.add_edges_from((c * size + i, after * size + i + links) for i in range(links))
    return graph


@pytest.mark.parametrize(
    ("network", "task", "past"),
    [
        (from_networkx(ring_of_clusters(8, 16, 2), "8 clusters of 16"), gossamer.task("allgather"), 1),
        (from_networkx(nx.tutte_graph(), "Tutte's"), gossamer.task("allgather"), 0),
        (gossamer.network("torus:8x8").with_times(np.tile([1, 1, 4, 4], 64), 0), gossamer.task("allgather"), 0),
        (gossamer.network("torus:6x6").with_times(np.tile([1, 1, 2, 2], 36), 0), gossamer.task("allgather"), 0),
        (from_networkx(ring_of_clusters(8, 32, 3), "8 of 32"), gossamer.task("broadcast", packets=64), 2),
        (
            gossamer.network("torus:8x8").with_times(np.tile([1, 1, 4, 4], 64), 0),
            gossamer.task("broadcast", packets=64),
            4,
        ),
    ],
    ids=["clusters", "tutte", "four times slower", "twice as slow", "64 over clusters", "64, four times slower"],
)
def test_what_is_rare_around_a_node_is_sent_there_first(network, task, past):
    """By what is rare anywhere it took 5, 1, 3, 1, 8 and 11 slots more than the bound."""
    assert planned(network, task).completion_time <= best_bound(Case(network, task)).value + past


@settings(max_examples=40, deadline=None)
@given(connected_graphs(), st.integers(0, 4), st.data())
def test_nodes_around_are_those_within_so_much_time(network, radius, data):
    n, lengths = (
        network.node_count,
        st.lists(st.integers(1, 3), min_size=network.link_count, max_size=network.link_count),
    )
    length = np.array(data.draw(lengths), np.int64)
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), length.tolist(), strict=True)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(ends)
    first, (node, distance) = np.empty(n + 1, np.int64), np.empty((2, n * n), np.int32)
    where = network.first_link, network.link_target, length, radius, first
    assert _nearby(*where, node, distance, np.full(n, -1))
    for u in range(n):
        mine = slice(first[u], first[u + 1])
        found = dict(zip(node[mine].tolist(), distance[mine].tolist(), strict=True))
        assert found == nx.single_source_dijkstra_path_length(graph, u, cutoff=radius)
    if first[n] > 1:
        assert not _nearby(*where, node[: first[n] - 1], distance, np.full(n, -1))


def test_times_of_links_are_taken_into_account():
    torus = gossamer.network("torus:8x8")
    slow = torus.with_times(np.tile([1, 1, 4, 4], 64), 1)
    schedule = planned(slow, gossamer.task("allgather"))
    assert schedule.completion_time < 0.7 * retimed(planned(torus, gossamer.task("allgather")), slow).completion_time
    assert set(np.unique(schedule.link % 4)) == {0, 1, 2, 3}


@pytest.mark.exhaustive(always=5)
@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
@pytest.mark.parametrize(("occupancy", "latency"), [(1, 0), (1, 200_000), (200_000, 0), (70_000, 130_000)])
def test_slots_in_which_nothing_happens_are_passed_over(ports, occupancy, latency):
    """Each packet takes one way round a ring of 3 in one hop: with all ports both at once, else one after the other."""
    network = gossamer.network("ring:3").with_times(occupancy, latency)
    schedule = planned(network, gossamer.task("allgather"), Rules(ports=ports))
    assert schedule.completion_time == (1 if ports == "all" else 2) * occupancy + latency


def test_links_that_lead_nowhere_in_a_long_time_are_one_line():
    one_way = Network("one way", 3, [0, 1], [1, 2], links_only=True).with_times(1, 10**5)
    assert planned(one_way, gossamer.task("partial-multinode-broadcast", active=[0])).completion_time == 2 * 10**5 + 2
    with pytest.raises(NetworkError, match="is not connected"):
        GREEDY_FLOODING.build(Case(one_way, gossamer.task("partial-multinode-broadcast", active=[2])))


def test_same_seed_gives_the_same_schedule_and_another_seed_another():
    network, task = gossamer.network("torus:5x5"), gossamer.task("allgather")
    first, again, other = (GREEDY_FLOODING.build(Case(network, task, seed=seed)) for seed in (3, 3, 11))
    assert first == again
    assert first != other


def test_full_links_of_capacity_are_used():
    network = gossamer.network("fat-tree:k=2,h=3,capacity=exponential")
    schedule = planned(network, gossamer.task("allgather"))
    _, used = np.unique(np.stack([schedule.slot, schedule.link]), axis=1, return_counts=True)
    assert used.max() > 1


def test_unreachable_terminal_is_one_line():
    one_way = Network("one way", 3, [0, 1], [1, 2], links_only=True)
    assert planned(one_way, gossamer.task("partial-multinode-broadcast", active=[0])).completion_time == 2
    with pytest.raises(NetworkError, match="is not connected"):
        GREEDY_FLOODING.build(Case(one_way, gossamer.task("partial-multinode-broadcast", active=[2])))


def test_needs_the_active_set_ahead_and_no_buffer_limit():
    network, task = gossamer.network("ring:5"), gossamer.task("partial-multinode-broadcast", active=[1])
    with pytest.raises(NotApplicableError, match="known ahead"):
        GREEDY_FLOODING.build(Case(network, task, Rules(), StepCost(1)))
    with pytest.raises(NotApplicableError, match="does not limit the packets that a node holds"):
        GREEDY_FLOODING.build(Case(network, task, Rules(buffer=3)))
    assert planned(network, gossamer.task("allgather"), Rules(), StepCost(1)).completion_time == 2


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("spec", ["leaf-spine:2,2,2", "k-ary-n-tree:2,3", "servers:s=2,g=3,rails=2,spines=2"])
@pytest.mark.parametrize("task", ["allgather", "reduce-scatter", "allreduce"])
def test_no_copy_ends_at_a_switch_so_that_it_can_be_run_backwards(spec, task):
    """Two hosts below two switches were enough for a reduction in which a switch sent what it did not have."""
    schedule = gossamer.plan(spec, task).schedule
    assert gossamer.verify(schedule)


def test_the_copies_that_are_left_out_are_those_that_lead_nowhere():
    schedule = planned(gossamer.network("leaf-spine:2,2,2"), gossamer.task("allgather"))
    network = schedule.network
    target, source = network.link_target[schedule.link], network.link_source[schedule.link]
    left = set(zip(schedule.packet.tolist(), source.tolist(), strict=True))
    entered = {(p, v) for p, v in zip(schedule.packet.tolist(), target.tolist(), strict=True) if v >= 4}
    assert entered <= left
    for p in range(4):  # a switch next to the origin, one spine, the other leaf
        assert sum(q == p for q, _ in entered) == 3


@pytest.mark.parametrize(("spec", "ports"), [("jellyfish:n=640,d=4,seed=1", "all"), ("torus:25x25", "one-send")])
def test_looking_at_few_packets_in_a_slot_takes_hardly_longer(monkeypatch, spec, ports):
    case = Case(gossamer.network(spec), gossamer.task("allgather"), Rules(ports=ports))
    often = GREEDY_FLOODING.build(case)
    monkeypatch.setattr(greedy_flooding, "_WIDE", 0)
    seldom = GREEDY_FLOODING.build(case)
    assert seldom != often
    assert gossamer.verify(seldom)
    assert seldom.completion_time <= 1.02 * often.completion_time


def test_few_packets_are_looked_at_all_over(monkeypatch):
    """A node's words for 512 packets are not more than the memory brings at once."""
    case = Case(gossamer.network("jellyfish:n=512,d=4,seed=1"), gossamer.task("allgather"))
    often = GREEDY_FLOODING.build(case)
    monkeypatch.setattr(greedy_flooding, "_WIDE", 0)
    assert GREEDY_FLOODING.build(case) == often
