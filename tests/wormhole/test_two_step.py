"""Gather, then broadcast: on any network, few start-ups."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.questions.cases import Refusal
from gossamer.questions.costs import LinearCost
from gossamer.questions.rules import Rules
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.flooding import TWO_STEP, flooded, gather_then_broadcast, middle

ALGORITHM = TWO_STEP[0]
NETWORKS = (
    "array:3x4", "torus:3x3", "array:2x3x2", "hypercube:3", "kautz:2,2", "dragonfly:a=2,h=1", "fat-tree:2,2", "star:3",
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NETWORKS), st.sampled_from(["all", "one", "one-send", "one-receive"]), st.data())
def test_all_messages_arrive_from_any_sources_over_any_root(spec, ports, data):
    network = gossamer.network(spec)
    nodes = st.integers(0, network.terminal_count - 1)
    task = gossamer.task("partial-multinode-broadcast", active=data.draw(st.sets(nodes, min_size=2, max_size=6)))
    case = WormholeCase(network, task, LinearCost(startup=3, message_bytes=5), Rules(ports=ports))
    schedule = gather_then_broadcast(case, data.draw(nodes))
    verify(schedule).raise_if_invalid()
    assert [p.name for p in schedule.phases] == ["gather", "broadcast"]


@pytest.mark.parametrize("spec", NETWORKS)
def test_nodes_send_once_to_gather_and_receive_once_after(spec):
    network = gossamer.network(spec)
    case = WormholeCase(network, gossamer.task("allgather"), LinearCost())
    schedule = ALGORITHM.build(case)
    n, root = network.terminal_count, middle(case)
    gather = schedule.step < schedule.phases[0].steps
    assert sorted(schedule.source[gather].tolist()) == [v for v in range(n) if v != root]
    assert sorted(schedule.target[~gather].tolist()) == [v for v in range(n) if v != root]
    assert schedule.phases[1].steps == flooded(case.varied(gossamer.task("broadcast", root=root)), 1).step_count


def test_it_takes_one_start_up_more_than_the_best_where_they_cost_most():
    task = gossamer.task("partial-multinode-broadcast", active=range(0, 64, 4))
    cost = LinearCost(startup=10_000, message_bytes=16)
    dear = gossamer.plan("array:8x8", task, switching="wormhole", cost=cost, algorithm="gather-then-broadcast")
    best = gossamer.plan("array:8x8", task, switching="wormhole", cost=cost)
    assert (dear.schedule.step_count, best.schedule.step_count) == (6, 5)
    assert best.completion_time <= dear.completion_time - 10_000 <= best.completion_time * Fraction(51, 50)
    cheap = gossamer.plan("array:8x8", task, switching="wormhole", cost=LinearCost(startup=1, message_bytes=1024))
    assert cheap.algorithm != "gather-then-broadcast"


def test_one_message_is_declined():
    case = WormholeCase(gossamer.network("array:3x3"), gossamer.task("partial-multinode-broadcast", active=[4]))
    assert ALGORITHM.offers(case) == Refusal("needs several messages")
