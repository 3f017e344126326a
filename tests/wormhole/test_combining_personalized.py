"""Personalized messages that travel together: few start-ups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.combining_personalized import COMBINING, neighbor_exchange, scatter_or_gather_on_tree
from gossamer.wormhole.demand import NodeDemand
from gossamer.wormhole.flooding import flooded

TREE, NEIGHBORS, _ = COMBINING
WITH_SWITCHES = ("fat-tree:2,2",)
DIRECT = (
    "array:3x4", "torus:3x3", "torus:2x4", "ring:7", "array:2x3x2", "hypercube:3", "kautz:2,2", "star:3", "complete:5",
)  # fmt: skip
COST = LinearCost(startup=1000, message_bytes=64)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(DIRECT + WITH_SWITCHES), st.sampled_from(["all", "one", "one-send", "one-receive"]),
    st.sampled_from(["scatter", "gather"]), st.integers(1, 70), st.data(),
)  # fmt: skip
def test_scatter_and_gather_bring_all_with_no_more_than_a_message_to_or_from_each_node(spec, ports, name, size, data):
    network = gossamer.network(spec)
    root = data.draw(st.integers(0, network.terminal_count - 1))
    case = WormholeCase(
        network, gossamer.task(name, root=root), LinearCost(startup=3, message_bytes=size), Rules(ports=ports)
    )
    schedule = TREE.build(case)
    verify(schedule).raise_if_invalid()
    once = schedule.target if name == "scatter" else schedule.source
    assert sorted(once.tolist()) == [v for v in range(network.terminal_count) if v != root]


@pytest.mark.parametrize("spec", DIRECT)
def test_a_scatter_takes_the_steps_of_one_flooded_message(spec):
    case = WormholeCase(gossamer.network(spec), gossamer.task("scatter"), COST)
    assert scatter_or_gather_on_tree(case).step_count == flooded(case.varied(Broadcast(0)), 1).step_count


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DIRECT), st.sampled_from(["all", "one", "one-send", "one-receive"]), st.integers(1, 70))
def test_exchanges_between_neighbors_deliver_with_any_ports(spec, ports, size):
    cost = LinearCost(startup=3, message_bytes=size)
    case = WormholeCase(gossamer.network(spec), gossamer.task("alltoall"), cost, Rules(ports=ports))
    verify(NEIGHBORS.build(case)).raise_if_invalid()


@pytest.mark.parametrize("spec", DIRECT)
def test_an_exchange_takes_as_many_steps_as_the_diameter_and_the_fewest_hops(spec):
    case = WormholeCase(gossamer.network(spec), gossamer.task("alltoall"), COST)
    schedule = neighbor_exchange(case)
    origin, target = case.messages.origin, case.messages.targets
    hops = case.channels.hops(origin, case.channels.shortest(origin, target))
    assert schedule.step_count == int(hops.max())
    assert int((schedule.hops * schedule.length).sum()) == 64 * int(hops.sum())
    assert np.all(schedule.hops == 1)


@pytest.mark.parametrize(
    "spec", ["torus:10x10", "array:10x10", "ring:30", "hypercube:7", "torus:7x9", "ring:23", "array:5x11"]
)
@pytest.mark.parametrize("name", ["scatter", "gather"])
def test_scatter_and_gather_of_short_messages_are_within_one_and_a_half_times_the_bound(spec, name):
    plan = gossamer.plan(spec, name, switching="wormhole", cost=COST)
    assert plan.schedule.completion_time <= plan.bounds[0].value * 3 / 2


@pytest.mark.parametrize("name", ["scatter", "gather", "alltoall"])
def test_the_plan_follows_start_up_and_length(name):
    combined = ("combining-tree", "neighbor-exchange", "exchange-patterns")
    dear = gossamer.plan("torus:5x5", name, switching="wormhole", cost=LinearCost(startup=1000, message_bytes=64))
    cheap = gossamer.plan("torus:5x5", name, switching="wormhole", cost=LinearCost(startup=1, message_bytes=4096))
    assert dear.algorithm in combined
    for cost, plan in ((dear.schedule.cost, dear), (cheap.schedule.cost, cheap)):
        case = WormholeCase(gossamer.network("torus:5x5"), gossamer.task(name), cost)
        algorithm = NEIGHBORS if name == "alltoall" else TREE
        assert plan.schedule.completion_time <= algorithm.build(case).completion_time


@pytest.mark.parametrize(("spec", "ports", "startups"), [("torus:5x5", "all", 2), ("ring:9", "all", 2),
                                                         ("ring:10", "all", 3), ("torus:4x4", "one", 4)])  # fmt: skip
@pytest.mark.parametrize("name", ["scatter", "gather", "alltoall"])
def test_the_bound_counts_the_start_ups_of_all_that_one_node_sends_or_receives(spec, ports, startups, name):
    case = WormholeCase(gossamer.network(spec), gossamer.task(name), COST, Rules(ports=ports))
    assert NodeDemand(case).startups().value == startups
