"""Split messages on any network: close to the fluid optimum, in all port models, refused where parts are not known."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.in_parts import IN_PARTS, IN_PARTS_TWO_WAY, in_parts
from gossamer.cases import Case
from gossamer.networks import from_networkx

SPLIT = Rules(split=True)


@pytest.mark.parametrize(
    ("spec", "task", "steps"),
    [
        ("kautz:2,3", "allgather", Fraction(11, 2)),
        ("dgx-1:v100", "allgather", Fraction(7, 6)),
        ("dgx-1:v100", "alltoall", Fraction(8, 3)),
        ("dgx-1:v100", "reduce-scatter", Fraction(7, 6)),
        ("dgx-1:v100", "allreduce", Fraction(7, 3)),
    ],
)
def test_fluid_optima_are_met_in_steps(spec, task, steps):
    found = gossamer.plan(spec, task, rules=SPLIT)
    assert (found.completion_time, found.bound) == (steps, steps)


def test_a_broadcast_of_many_parts_comes_close_to_the_least_flow():
    found = gossamer.plan("kautz:2,3", "broadcast", rules=SPLIT)
    assert found.bound == Fraction(1, 2)
    assert found.ratio <= 1.03


@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
def test_parts_are_valid_under_all_ports_and_with_slow_links(ports):
    graph = nx.gnm_random_graph(7, 12, seed=2)
    network = from_networkx(graph, "seven nodes")
    slow = network.with_times([1 + i % 2 for i in range(network.link_count)], 0)
    for each in (network, slow):
        for task in ("broadcast", "allgather", "alltoall"):
            case = Case(each, gossamer.task(task), Rules(ports=ports, split=True))
            assert gossamer.verify(in_parts(case)).ok


def test_what_parts_do_not_know_is_refused():
    network = gossamer.network("ring:5")
    for each, rules, why in (
        (network, Rules(), "let messages be split"),
        (network.with_times(1, 2), SPLIT, "without latency"),
        (network, Rules(split=True, buffer=3), "packets that a node holds"),
    ):
        for algorithm, task in ((IN_PARTS, "allgather"), (IN_PARTS_TWO_WAY, "allreduce")):
            assert why in str(algorithm.offers(Case(each, gossamer.task(task), rules)))


def test_parts_stop_where_the_bound_is_met():
    assert in_parts(Case(gossamer.network("complete:5"), gossamer.task("allgather"), SPLIT)).parts == 1
