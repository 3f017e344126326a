"""One broadcast after the other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.questions.costs import LinearCost
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.contraction_trees import ceil_log
from gossamer.wormhole.sequential_broadcasts import SEQUENTIAL

ALGORITHM = SEQUENTIAL[0]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["torus", "array"]),
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.data(),
)
def test_any_sides_and_sources_are_delivered_in_the_claimed_time(family, sides, data):
    network = gossamer.network(f"{family}:{'x'.join(map(str, sides))}")
    nodes = st.integers(0, network.node_count - 1)
    task = gossamer.task("partial-multinode-broadcast", active=data.draw(st.sets(nodes, min_size=1, max_size=5)))
    model = LinearCost(startup=3, per_byte="1/7", message_bytes=5, hop_time="0.3")
    schedule = ALGORITHM.build(WormholeCase(network, task, model))
    verify(schedule).raise_if_invalid()
    assert schedule.completion_time == ALGORITHM.offer(WormholeCase(network, task, model)).time
    assert schedule.message_count == len(task.active) * (network.node_count - 1)
    if family == "torus":
        assert schedule.startups == len(task.active) * sum(ceil_log(3, side) for side in sides)


@pytest.mark.parametrize(("n", "s", "tau", "printed"), [(10, 10, 0.1, 66), (10, 100, 10, 6600), (16, 64, 1, 768)])
def test_costs_of_the_comparison_table(n, s, tau, printed):
    # in units of m T_c
    network, task = gossamer.network(f"torus:{n}x{n}"), gossamer.task("partial-multinode-broadcast", active=range(s))
    model = LinearCost(startup=round(tau * 1000), per_byte=1, message_bytes=1000)
    assert round(float(ALGORITHM.offer(WormholeCase(network, task, model)).time) / 1000) == printed


@pytest.mark.parametrize("task", ["broadcast", "allgather"])
def test_full_tasks_are_covered(task):
    network = gossamer.network("torus:4x6")
    schedule = ALGORITHM.build(WormholeCase(network, gossamer.task(task), LinearCost()))
    assert verify(schedule)
    assert len(schedule.phases) == (24 if task == "allgather" else 1)
    assert schedule.algorithm == "sequential-broadcasts"


def test_too_many_messages_are_declined():
    network = gossamer.network("torus:100x100")
    refusal = ALGORITHM.offers(WormholeCase(network, gossamer.task("allgather"), LinearCost()))
    assert str(refusal) == "would write out 99,990,000 messages; at most 50,000,000 are allowed"
