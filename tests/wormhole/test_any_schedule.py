"""Plans that no schedule which the library makes otherwise beats, and personalized messages."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.greedy_flooding import greedy_flooding
from gossamer.questions.cases import Case
from gossamer.questions.costs import LinearCost
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.direct_messages import direct_messages
from gossamer.wormhole.packet_schedules import as_steps, flooded_in_pieces, from_store_and_forward


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("startup", [0, 10, 100, 1000])
@pytest.mark.parametrize("spec", ["torus:6x6", "array:5x4"])
def test_best_is_never_above_floods_whole_or_in_pieces(spec, startup):
    network, cost = gossamer.network(spec), LinearCost(startup=startup, message_bytes=1024)
    active = np.random.default_rng(startup).choice(network.node_count, 7, replace=False).tolist()
    task = gossamer.task("partial-multinode-broadcast", active=sorted(active))
    best = gossamer.plan(network, task, switching="wormhole", cost=cost)
    case = WormholeCase(network, task, cost)
    whole = from_store_and_forward(greedy_flooding(Case(network, task)), cost)
    assert best.completion_time <= whole.completion_time
    for pieces in (1, 2):
        cut = flooded_in_pieces(case, pieces)
        assert verify(cut)
        assert cut.completion_time >= bounds(case)[0].value
    assert best.completion_time <= flooded_in_pieces(case, 1).completion_time


@pytest.mark.parametrize("seed", range(4))
def test_best_is_never_above_any_schedule_of_packets_taken_as_steps(seed):
    """What the other switching plans for the task, by every algorithm of its own, is a candidate too."""
    random = np.random.default_rng(seed)
    spec = ("torus:4x4", "array:3x4", "hypercube:3", "star:3")[seed]
    name = ("allgather", "scatter", "total-exchange", "broadcast")[int(random.integers(4))]
    cost = LinearCost(startup=int(random.choice([0, 10, 300])), message_bytes=int(random.choice([3, 64, 1000])))
    best = gossamer.plan(spec, name, switching="wormhole", cost=cost)
    packets = gossamer.compare(spec, name)
    case = WormholeCase(gossamer.network(spec), gossamer.task(name), cost)
    for row in packets:
        other = gossamer.plan(spec, name, algorithm=row["algorithm"]).schedule
        assert best.completion_time <= as_steps(case, other).completion_time, row["algorithm"]


def test_twenty_sources_are_within_half_of_the_bound():
    task = gossamer.task("partial-multinode-broadcast", active=list(range(0, 100, 5)))
    best = gossamer.plan("torus:10x10", task, switching="wormhole", cost=LinearCost(startup=100, message_bytes=1024))
    assert best.completion_time <= 1.5 * best.bounds[0].value


@pytest.mark.parametrize("name", ["scatter", "gather", "total-exchange"])
@pytest.mark.parametrize("spec", ["torus:4x4", "array:3x5", "ring:6", "hypercube:3", "torus:3x2x3"])
def test_personalized_messages_are_valid_and_near_the_bound(spec, name):
    network, cost = gossamer.network(spec), LinearCost(startup=20, message_bytes=256)
    case = WormholeCase(network, gossamer.task(name), cost)
    schedule = direct_messages(case)
    assert verify(schedule)
    bound = bounds(case)[0].value
    best = gossamer.plan(network, name, switching="wormhole", cost=cost)
    assert bound <= best.completion_time <= schedule.completion_time
    assert best.completion_time <= 2 * bound


def test_a_pair_exchange_over_one_channel_takes_a_step_for_each_message():
    """Three messages from one end of a line to the others: the first channel carries them one by one."""
    case = WormholeCase(gossamer.network("array:4"), gossamer.task("scatter"), LinearCost(startup=0, message_bytes=8))
    assert direct_messages(case).step_count == 3
    assert bounds(case)[0].value == 24
