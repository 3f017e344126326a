"""Serving the busiest nodes first is optimal with one port on linear arrays, and valid on any network."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.busiest_node_first import BUSIEST_FIRST, busiest_first_exchange, total_distance
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK, ONE = TotalExchange(), Rules(ports="one")


LONG = [pytest.param(n, marks=pytest.mark.slow) for n in range(13, 101)]


@pytest.mark.parametrize("n", [*range(2, 13), 24, 33, *LONG])
def test_linear_array_meets_the_load_of_the_middle_node(n):
    network = gossamer.network(f"array:{n}")
    schedule = busiest_first_exchange(Case(network, TASK, ONE))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == (n * n - 1) // 2 == BUSIEST_FIRST.offer(Case(network, TASK, ONE)).time
    assert schedule.completion_time == best_bound(Case(network, TASK, ONE)).value


def test_errata_9_8_no_exchange_on_a_linear_array_takes_the_average_status():
    for n in range(3, 20):
        network = gossamer.network(f"array:{n}")
        average = total_distance(network) / n
        assert best_bound(Case(network, TASK, ONE)).value == (n * n - 1) // 2 > average
    assert total_distance(gossamer.network("array:3")) == 8  # 8/3 against 4


@given(st.integers(2, 12), st.floats(0, 1), st.integers(0, 10**6), st.sampled_from(["one", "one-send", "one-receive"]))
@settings(max_examples=40, deadline=None)
def test_any_connected_network_is_served_on_shortest_paths(n, density, seed, ports):
    graph = nx.compose(nx.random_labeled_tree(n, seed=seed), nx.gnp_random_graph(n, density, seed=seed))
    network, model = from_networkx(graph), Rules(ports=ports)
    schedule = BUSIEST_FIRST.build(Case(network, TASK, model))
    assert gossamer.verify(schedule)
    hops = sum(sum(lengths.values()) for _, lengths in nx.all_pairs_shortest_path_length(graph))
    assert schedule.hop_count == hops == total_distance(network)


@pytest.mark.parametrize(
    ("network", "model", "why"),
    [
        (gossamer.network("array:4"), Rules(), "is for one-port nodes"),
        (gossamer.network("array:5000"), ONE, "needs at most 4,000 nodes"),
        (Network("one-way", 3, [0, 1, 2], [1, 2, 0], links_only=True), ONE, "needs an opposite for every link"),
        (Network("apart", 3, [0, 1], [1, 0], links_only=True), ONE, "needs a connected network"),
        (gossamer.network("array:4"), Rules(ports="one", buffer=2), "does not limit the packets that a node holds"),
    ],
)
def test_says_why_it_does_not_cover(network, model, why):
    with pytest.raises(NotApplicableError, match=why):
        BUSIEST_FIRST.build(Case(network, TASK, model))
