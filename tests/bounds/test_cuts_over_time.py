"""The cut over time: the exact bound on scatter and gather with all ports."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.algorithms.multinode_broadcast.greedy_flooding import GREEDY_FLOODING
from gossamer.algorithms.scatter.flow_over_time import FLOW_OVER_TIME
from gossamer.bounds import best_bound, bounds
from gossamer.bounds.allreduce_any_form import quickest_flow
from gossamer.bounds.cuts_over_time import (
    cut_over_time,
    cut_over_time_bounds,
    root_flow_bounds,
    target_over_time_bounds,
)
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, Gather, Scatter, TotalExchange


@st.composite
def networks(draw):
    """A connected random graph with random capacities, some nodes of which may only pass packets on."""
    n = draw(st.integers(2, 9))
    graph = nx.random_labeled_tree(n, seed=draw(st.integers(0, 10**6)))
    for a, b in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=9)):
        if a != b:
            graph.add_edge(a, b)
    for edge in graph.edges:
        graph.edges[edge]["capacity"] = draw(st.integers(1, 2))
    for v in draw(st.sets(st.integers(1, n - 1), max_size=n // 2)):
        graph.nodes[v]["terminal"] = False
    return from_networkx(graph)


@given(networks(), st.data())
@settings(max_examples=100)
def test_the_bound_is_the_least_time_in_both_directions(network, data):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    time = FLOW_OVER_TIME.build(Case(network, Scatter(root), Rules())).completion_time
    assert best_bound(Case(network, Scatter(root), Rules())).value == time
    assert best_bound(Case(network, Gather(root), Rules())).value == time


def counted(network, hub, cut, slots):
    """What a cut lets through: of the slots in which a packet crosses, a link of occupancy o uses each o-th."""
    assert cut.since[hub] == 0
    assert cut.messages == sum(cut.since[v] > slots for v in range(network.terminal_count))
    room = 0
    for e in range(network.link_count):
        u, v = network.link_source[e], network.link_target[e]
        takes = int(network.link_occupancy[e] + network.link_latency[e])
        crossing = [t for t in range(slots) if cut.since[u] <= t and t + takes < cut.since[v] and t + takes <= slots]
        room += len(crossing[:: network.link_occupancy[e]]) * int(network.link_capacity[e])
    return room


@given(networks(), st.data(), st.integers(0, 8))
@settings(max_examples=100)
def test_a_cut_lets_fewer_packets_through_than_must_cross_it(network, data, slots):
    root = data.draw(st.integers(0, network.terminal_count - 1))
    case = Case(network, Scatter(root), Rules())
    cut = cut_over_time(case.links, root, slots)
    assert (cut is None) == (slots >= FLOW_OVER_TIME.build(case).completion_time)
    if cut is not None:
        assert counted(network, root, cut, slots) == cut.room < cut.messages


@given(networks(), st.data(), st.integers(0, 20), st.integers(1, 3))
@settings(max_examples=60)
def test_links_that_take_time_let_fewer_packets_through(network, data, slots, most):
    kinds = st.lists(st.integers(1, most), min_size=network.link_count, max_size=network.link_count)
    slow = network.with_times(data.draw(kinds), [x - 1 for x in data.draw(kinds)])
    root = data.draw(st.integers(0, network.terminal_count - 1))
    cut = cut_over_time(Case(slow, Scatter(root)).links, root, slots)
    if cut is not None:
        assert counted(slow, root, cut, slots) == cut.room < cut.messages
    elif most == 1:  # with latencies alone the bound is exact, here those of plain links
        assert slots >= FLOW_OVER_TIME.build(Case(network, Scatter(root), Rules())).completion_time


def test_a_network_on_which_only_cuts_that_count_ways_are_as_large():
    network = from_networkx(nx.Graph(["va", "vb", "vc", "bc", "cd", "ce", "ef", "eg"]))
    found = {b.name: b for b in bounds(Case(network, Scatter(0), Rules()))}
    assert found["cut over time"].value == 4 == found["cut around nodes"].value
    assert all(b.value < 4 for name, b in found.items() if name not in ("cut over time", "cut around nodes"))
    assert found["cut over time"].witness.startswith("4 messages of node v must pass a bottleneck that lets ")


@pytest.mark.parametrize(
    ("task", "model"),
    [
        (Scatter(0), Rules(ports="one")),
        (Scatter(0), Rules(split=True)),
        (Broadcast(0), Rules()),
        (TotalExchange(), Rules()),
        (Scatter(0), Rules()),  # the distances and the links of the root say as much
    ],
)
def test_where_it_says_nothing(task, model):
    assert not list(cut_over_time_bounds(Case(gossamer.network("hypercube:3"), task, model)))


def test_fewer_ports_keep_the_bound_of_all_ports():
    slow = from_networkx(nx.Graph(["va", "vb", "vc", "bc", "cd", "ce", "ef", "eg"]))
    links = [(0, 1), (0, 4), (1, 0), (1, 2), (2, 3), (2, 4), (3, 2), (3, 4), (4, 0), (4, 2), (4, 3)]
    source, target = (list(ends) for ends in zip(*links, strict=True))
    network = Network("some graph", 5, source, target, terminal_count=4)
    values = [best_bound(Case(network, Gather(0), Rules(ports=p))).value for p in ("all", "one-send", "one")]
    assert values == [3, 3, 3]
    limited = [list(cut_over_time_bounds(Case(slow, Scatter(0), Rules(ports=p)))) for p in ("all", "one-receive")]
    assert [[b.value for b in found] for found in limited] == [[4], [4]]


@pytest.mark.parametrize("task", ["allgather", "reduce-scatter"])
@given(networks())
@settings(max_examples=40, deadline=None)
def test_what_is_for_many_takes_as_long_as_for_the_slowest_alone(task, network):
    scatters = (Case(network, Scatter(v), Rules()) for v in range(network.terminal_count))
    slowest = max(FLOW_OVER_TIME.build(case).completion_time for case in scatters)  # links lead both ways
    case = Case(network, gossamer.task(task))
    found = [bound.value for bound in target_over_time_bounds(case)]
    assert best_bound(case).value >= slowest
    assert found in ([], [slowest])


@given(networks(), st.data())
@settings(max_examples=40, deadline=None)
def test_no_schedule_of_what_is_copied_is_faster(network, data):
    kinds = st.lists(st.integers(1, 3), min_size=network.link_count, max_size=network.link_count)
    slow = network.with_times(data.draw(kinds), [x - 1 for x in data.draw(kinds)])
    packets = data.draw(st.integers(2, 9))
    for task in (gossamer.task("broadcast", packets=packets), gossamer.task("allgather")):
        case = Case(slow, task)
        time = GREEDY_FLOODING.build(case).completion_time
        assert all(bound.value <= time for bound in target_over_time_bounds(case))


def ring_of_clusters():
    graph = nx.disjoint_union_all([nx.random_regular_graph(4, 16, seed=c) for c in range(4)])
    graph.add_edges_from((c * 16, (c + 1) % 4 * 16 + 1) for c in range(4))
    return graph


@pytest.mark.parametrize(
    ("graph", "task", "value", "others"),
    [
        (ring_of_clusters(), gossamer.task("allgather"), 27, 26),
        (ring_of_clusters(), gossamer.task("reduce-scatter"), 27, 26),
        (nx.petersen_graph(), gossamer.task("broadcast", packets=64), 24, 23),
        (nx.tutte_graph(), gossamer.task("broadcast", packets=64), 28, 26),
    ],
)
def test_ways_before_and_behind_a_cut_count_for_one_target(graph, task, value, others):
    case = Case(from_networkx(graph), task)
    found = bounds(case)
    assert max(b.value for b in found if b.name != "cut over time") == others
    assert next(b.value for b in found if b.name == "cut over time") == value == best_bound(case).value


def test_a_root_needs_the_quickest_flow_to_each_terminal_and_back():
    """Two paths through switches, one of them three times as slow and five times as long: both end together."""
    graph = nx.DiGraph()
    graph.add_nodes_from((1, 3), terminal=False)
    for path, slots, wait in (((0, 1, 2), 1, 1), ((0, 3, 2), 3, 5)):
        for u, v in ((path[0], path[1]), (path[1], path[2])):
            for source, target in ((u, v), (v, u)):
                graph.add_edge(source, target, bandwidth=1e9 / slots, latency=wait * 1e-6)
    network, cost = from_networkx(graph), gossamer.TimeCost("100kB")
    for task in ("broadcast", "reduce"):
        found = gossamer.plan(network, task, cost=cost)
        # (T - 2 us) at 1 GB/s and (T - 10 us) at 1/3 GB/s are 100 kB
        assert float(found.bound_seconds) == pytest.approx((100 + 2 + 10 / 3) * 0.75e-6, rel=1e-3)
        assert found.bound_seconds <= found.seconds < found.bound_seconds * 1.05
    petersen, cost = from_networkx(nx.petersen_graph()), gossamer.TimeCost("1MiB", bandwidth="50GB/s", latency="1us")
    first, *others = gossamer.lower_bounds(petersen, "broadcast", cost=cost)
    assert first.name == "quickest flow"
    assert first.value > 1.03 * max(bound.value for bound in others if not bound.scope)
    boxes = nx.Graph()  # two rings of four with fast cables, and narrow ones to a switch, by which none is far away
    boxes.add_node("switch", terminal=False)
    for u in range(8):
        boxes.add_edge(u, u // 4 * 4 + (u + 1) % 4, bandwidth=100e9, latency=1e-6)
        boxes.add_edge(u, "switch", bandwidth=10e9, latency=1e-6)
    timed, clock = gossamer.TimeCost("1MB").exactly_on(from_networkx(boxes), 10**6)
    case = Case(timed, Broadcast(0), gossamer.Rules(segmented=True), clock)
    flows = {v: quickest_flow(case.links, 0, v, 1).value for v in range(1, 8)}
    assert min(flows[v] for v in range(4, 8)) > 2 * max(flows[v] for v in range(1, 4))
    assert next(root_flow_bounds(case)).value == max(flows.values())
    whole = Case(petersen.with_times(1, 2), Broadcast(0))
    assert not list(root_flow_bounds(whole))  # packets that are not cut: `target_over_time_bounds`
