"""One-port total exchange on Cayley networks takes the status of a node, which no one-port schedule beats."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.total_exchange.node_invariant import SUCCESSIVE_OFFSETS
from gossamer.errors import NotApplicableError
from gossamer.networks import circulant, extended_ring, generalized_hypercube, to_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import TotalExchange

TASK, ONE = TotalExchange(), Rules(ports="one")

STATUS = {  # counted independently
    "complete:5": 4, "ring:7": 12, "ring:8": 16, "extended-ring:14,2": 28, "extended-ring:12,3": 16,
    "extended-ring:9,2": 12, "extended-ring:10,3": 12, "circulant:13,1,5": 20, "circulant:12,2,3": 18,
    "hypercube:3": 12, "hypercube:4": 32, "hypercube:5": 80, "hypercube:6": 192,
    "ccc:3": 74, "ccc:4": 296, "ccc:5": 952, "butterfly:3": 55, "butterfly:4": 216, "butterfly:5": 690,
    "star:3": 9, "star:4": 62, "star:5": 442, "pancake:4": 60, "bubble-sort:4": 72,
    "torus:4x3": 20, "torus:5x5": 60, "torus:3x4x2": 52,
}  # fmt: skip


@pytest.mark.parametrize(("spec", "status"), STATUS.items())
@pytest.mark.parametrize("ports", ["one", "one-send", "all"])
def test_takes_the_reference_status(spec, status, ports):
    network, model = gossamer.network(spec), Rules(ports=ports)
    schedule = SUCCESSIVE_OFFSETS.build(Case(network, TASK, model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == status == SUCCESSIVE_OFFSETS.offer(Case(network, TASK, model)).time
    assert schedule.stored_hops == status
    assert SUCCESSIVE_OFFSETS.offer(Case(network, TASK, model)).optimal == (ports != "all")


@pytest.mark.parametrize("spec", [s for s, status in STATUS.items() if status <= 74])
def test_the_expansion_is_valid_too(spec):
    assert gossamer.verify(SUCCESSIVE_OFFSETS.build(Case(gossamer.network(spec), TASK, ONE)).expand())


@pytest.mark.parametrize("spec", ["ring:1", "hypercube:0", "ring:2", "complete:2"])
def test_one_and_two_nodes(spec):
    network = gossamer.network(spec)
    schedule = SUCCESSIVE_OFFSETS.build(Case(network, TASK, ONE))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == network.node_count - 1


@given(st.integers(2, 40), st.data())
def test_extended_rings_meet_equation_4_13(n, data):
    rho = data.draw(st.integers(1, n // 2))
    q = (n - 1) // (2 * rho)
    assert SUCCESSIVE_OFFSETS.offer(Case(extended_ring(n, rho), TASK, ONE)).time == (q + 1) * (n - 1 - rho * q)


@given(st.lists(st.integers(2, 5), min_size=1, max_size=3))
@settings(max_examples=25)
def test_generalized_hypercubes_meet_their_status(sides):
    network = generalized_hypercube(*sides)
    n = network.node_count
    schedule = SUCCESSIVE_OFFSETS.build(Case(network, TASK, ONE))
    assert schedule.completion_time == n * len(sides) - sum(n // s for s in sides)
    assert gossamer.verify(schedule)


@given(st.integers(3, 24), st.data())
@settings(max_examples=40)
def test_circulants_take_the_sum_of_distances_that_networkx_finds(n, data):
    jumps = data.draw(st.lists(st.integers(2, max(n // 2, 2)), max_size=3, unique=True))
    network = circulant(n, 1, *(s for s in jumps if s <= n // 2))
    schedule = SUCCESSIVE_OFFSETS.build(Case(network, TASK, ONE))
    assert schedule.completion_time == sum(nx.single_source_shortest_path_length(to_networkx(network), 0).values())
    assert gossamer.verify(schedule)


@pytest.mark.parametrize("spec", ["torus:3x4", "star:4", "hypercube:4"])
def test_one_packet_in_transit_is_room_enough(spec):
    network = gossamer.network(spec)
    assert gossamer.verify(SUCCESSIVE_OFFSETS.build(Case(network, TASK, Rules(ports="one", buffer=1))))
    room = Rules(ports="one", buffer=network.node_count - 1, buffer_counts="all")
    assert gossamer.verify(SUCCESSIVE_OFFSETS.build(Case(network, TASK, room)))


@pytest.mark.parametrize(
    ("spec", "model", "why"),
    [
        ("array:4", ONE, "needs a Cayley network"),
        ("ring:9", Rules(ports="one", buffer=7, buffer_counts="all"), "needs room for the 8 messages of every node"),
        ("ring:100000", ONE, "would take 2500000000 slots"),
    ],
)
def test_says_why_it_does_not_cover(spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        SUCCESSIVE_OFFSETS.build(Case(gossamer.network(spec), TASK, model))
