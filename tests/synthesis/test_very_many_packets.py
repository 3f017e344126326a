"""Exchanges of so many packets that their paths are chosen origin by origin."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network import priced_routing
from gossamer.algorithms.any_network.priced_routing import routed_by_origins
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case


def regular(degree, nodes):
    return from_networkx(nx.random_regular_graph(degree, nodes, seed=2), f"random {degree}-regular {nodes}")


@pytest.mark.parametrize(("degree", "nodes"), [(3, 10), (4, 40), (8, 96), (5, 120)])
def test_it_takes_hardly_longer_than_the_busiest_link_is_busy(degree, nodes):
    schedule = routed_by_origins(Case(regular(degree, nodes), gossamer.task("alltoall")))
    assert gossamer.verify(schedule).ok
    assert (np.diff(schedule.slot) >= 0).all()
    load = np.bincount(schedule.link, minlength=schedule.network.link_count)
    assert load.max() <= schedule.completion_time <= load.max() + 4


def test_switches_have_no_packets_of_their_own():
    graph = nx.random_regular_graph(4, 30, seed=1)
    nx.set_node_attributes(graph, {29: False, 28: False}, "terminal")
    schedule = routed_by_origins(Case(from_networkx(graph, "with switches"), gossamer.task("alltoall")))
    assert gossamer.verify(schedule).ok


def test_exchanges_beyond_the_limit_of_work_are_planned_so(monkeypatch):
    network = regular(4, 48)
    before = gossamer.plan(network, "alltoall", algorithm="congestion-priced-paths")
    monkeypatch.setattr(priced_routing, "MOST_LOOKS", 48 * network.link_count + 1)
    found = gossamer.plan(network, "alltoall", algorithm="congestion-priced-paths")
    assert found.verification.ok
    assert before.bound <= found.completion_time <= before.completion_time * 1.1


def test_what_is_too_much_is_said_with_what_would_fit(monkeypatch):
    network = regular(4, 48)
    monkeypatch.setattr(priced_routing, "MOST_LOOKS", 48 * 48 * network.link_count // 8)
    rules = gossamer.Rules(ports="one")  # not of the plain links for which paths are chosen origin by origin
    with pytest.raises(NotApplicableError, match=r"about 2[34] nodes of this degree would fit"):
        gossamer.plan(network, "alltoall", rules=rules, algorithm="congestion-priced-paths")


def test_packets_of_an_origin_choose_in_a_row(monkeypatch):
    draw, owner = np.random.default_rng(0), np.repeat(np.arange(5, dtype=np.int32), 7)
    monkeypatch.setattr(priced_routing, "_BLOCKED", 35)
    order = priced_routing._in_turn(draw, owner, 1)
    assert sorted(order.tolist()) == list(range(35))
    assert np.count_nonzero(np.diff(owner[order])) == 4
