"""Allreduces of two halves that overlap: never longer than the halves, in all port models, with times and switches."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.overlapped_allreduce import (
    _GATHER,
    _REDUCE,
    OVERLAPPED_HALVES,
    _shortest,
    overlapped_halves,
)
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast, ReduceScatter


@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_halves_are_valid_and_no_longer_than_one_after_the_other(ports):
    draw = np.random.default_rng(5)
    graph = nx.random_regular_graph(3, 10, seed=4)
    nx.set_node_attributes(graph, {9: False}, "terminal")
    network = from_networkx(graph, "ten nodes")
    slow = network.with_times(draw.integers(1, 3, network.link_count), draw.integers(0, 2, network.link_count))
    for each in (network, slow):
        rules = Rules(ports=ports).on(each)
        case = Case(each, gossamer.task("allreduce"), rules)
        found = overlapped_halves(case)
        assert gossamer.verify(found).ok
        halves = [_shortest(case, ReduceScatter(), _REDUCE), _shortest(case, MultinodeBroadcast(), _GATHER)]
        assert found.completion_time <= sum(half.completion_time for half in halves)


def test_a_torus_of_two_speeds_comes_within_a_tenth_of_its_bound():
    torus = gossamer.network("torus:6x6")
    slow = torus.with_times(np.tile([1, 1, 2, 2], 36), 0)
    found = gossamer.plan(slow, "allreduce")
    assert found.ratio <= 1.1
    assert OVERLAPPED_HALVES.covers(found.case)
    assert not OVERLAPPED_HALVES.covers(Case(torus, gossamer.task("allreduce"), Rules(split=True)))
