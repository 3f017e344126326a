"""What algorithms ask of networks and rules, and the words in which they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.algorithm import (
    refuse_buffers,
    refuse_capacities,
    refuse_irregular,
    refuse_one_way_links,
    refuse_ports,
    refuse_send_limit,
)
from gossamer.networks import Network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.rules import Rules

UNLIMITED = "does not limit the packets that a node holds"
ONE_WAY = Network("one-way", 3, [0, 1, 2], [1, 2, 0], links_only=True)
APART = Network("apart", 4, [0, 1, 2, 3], [1, 0, 3, 2], links_only=True)


@pytest.mark.parametrize(
    ("model", "held", "why"),
    [
        (Rules(), None, None),
        (Rules(ports="one"), None, "is for all-port nodes, not one-port"),
        (Rules(ports="one-send", buffer=9), 3, "is for all-port nodes, not one-port sending"),
        (Rules(buffer=9), None, UNLIMITED),
        (Rules(buffer=3), 3, None),
        (Rules(buffer=2), 3, "may keep 3 packets at one node, more than the buffer of 2"),
    ],
)
def test_rules_are_refused_for_their_ports_first_and_then_for_their_buffer(model, held, why):
    refusal = why and Refusal(why)
    assert refuse_ports(model, held) == refusal
    if model.ports == "all":
        assert refuse_buffers(model, held) == refusal


def test_one_port_for_receiving_does_not_limit_who_receives_on_one():
    assert [refuse_send_limit(Rules(ports=ports)) is None for ports in ("all", "one-receive", "one-send", "one")] == [
        True, True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("refuse", "network", "why"),
    [
        (refuse_irregular, gossamer.network("array:3"), "needs a Cayley network"),
        (refuse_irregular, gossamer.network("torus:3x4"), None),
        (refuse_one_way_links, ONE_WAY, "needs an opposite for every link"),
        (refuse_one_way_links, APART, None),
        (refuse_one_way_links, gossamer.network("array:1"), None),
        (refuse_capacities, gossamer.network("fat-tree:k=2,h=2"), "needs links of capacity 1 and no routing nodes"),
        (refuse_capacities, Network("wide", 2, [0, 1], [1, 0], np.array([2, 2])), "needs links of capacity 1 and no"),
        (refuse_capacities, gossamer.network("array:1"), "needs at least 2 nodes"),
        (refuse_capacities, gossamer.network("array:2"), None),
    ],
)
def test_a_network_is_refused_for_what_it_lacks(refuse, network, why):
    refusal = refuse(network)
    assert refusal is None if why is None else refusal is not None and refusal.why.startswith(why)


def test_all_algorithms_have_the_same_words_for_ports_and_buffers():
    said = set()
    for algorithm in ALGORITHMS:
        for kind in algorithm.tasks:
            try:
                task = gossamer.task(kind.name)
            except gossamer.GossamerError:  # it needs fields
                continue
            for spec in ("torus:4x4", "array:4x4", "ring:5", "hypercube:3"):
                case = Case(gossamer.network(spec), task)
                if algorithm.covers(case):
                    limited = (case.related(rules=rules) for rules in (Rules(ports="one"), Rules(buffer=1)))
                    said |= {found.why for found in map(algorithm.offers, limited) if isinstance(found, Refusal)}
    about = {why for why in said if "is for all-port" in why or "limit" in why}
    hint = "is for all-port nodes; for one-port nodes furthest-first is optimal"
    about.discard("limits the packets that a node holds only for permutations")  # said by the solver, where it is
    assert about == {"is for all-port nodes, not one-port", UNLIMITED, hint}
