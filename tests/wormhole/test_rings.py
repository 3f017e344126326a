"""All-gather along the dimensions, packed or not, and packet-switched schedules under the wormhole model."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.questions.costs import LinearCost
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.packet_schedules import PACKET_SWITCHED, from_store_and_forward
from gossamer.wormhole.ring_all_gather import PACKED, RINGS

ALGORITHMS = {a.name: a for a in (*RINGS, *PACKED, *PACKET_SWITCHED)}
SPECS = ["torus:4x4", "torus:5x3", "torus:2x3", "torus:2x2", "array:4x3", "torus:3x4x2", "torus:7", "array:5",
         "torus:1x4", "hypercube:3", "array:1"]  # fmt: skip


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=15, deadline=None)
@given(spec=st.sampled_from(SPECS), data=st.data(), size=st.sampled_from([3, 10, 64]), hop=st.sampled_from([0, 2]))
def test_any_active_set_is_served_at_the_claimed_time(name, spec, data, size, hop):
    network = gossamer.network(spec)
    active = data.draw(st.sets(st.integers(0, network.node_count - 1), min_size=1).map(sorted))
    task = gossamer.task("partial-multinode-broadcast", active=active)
    model = LinearCost(startup=9, message_bytes=size, hop_time=hop)
    case = WormholeCase(network, task, model)
    schedule = ALGORITHMS[name].build(case)
    assert verify(schedule)
    offer = ALGORITHMS[name].offer(case)
    assert offer.promise in ("none", "exact")
    assert offer.time is None or offer.time == schedule.completion_time


@pytest.mark.parametrize("n", range(2, 9))
def test_rows_then_columns_in_halves_take_2_floor_half_n_steps_of_one_hop(n):
    network, task = gossamer.network(f"torus:{n}x{n}"), gossamer.task("allgather")
    schedule = ALGORITHMS["ring-all-gather"].build(WormholeCase(network, task, LinearCost(message_bytes=2)))
    assert schedule.startups == 2 * (n // 2)
    assert schedule.volume == (n // 2) * (1 + n)
    assert set(schedule.hops.tolist()) == {1}
    whole = ALGORITHMS["ring-all-gather-whole"].build(WormholeCase(network, task, LinearCost(message_bytes=2)))
    assert (whole.startups, whole.volume) == (schedule.startups, 2 * schedule.volume)


def test_full_load_is_within_a_few_percent_of_the_receiving_bound():
    network, task = gossamer.network("torus:15x15"), gossamer.task("allgather")
    model = LinearCost(startup=0, message_bytes=1024)
    schedule = ALGORITHMS["ring-all-gather"].build(WormholeCase(network, task, model))
    assert verify(schedule)
    assert schedule.completion_time <= Fraction(105, 100) * Fraction(224 * 1024, 4)


def test_uneven_rows_slow_the_rings_and_packing_mends_it():
    """Ten active nodes in one row: the second phase carries all ten halves at once, packed at most one for each row."""
    network, task = (
        gossamer.network("torus:10x10"),
        gossamer.task("partial-multinode-broadcast", active=list(range(10))),
    )
    model = LinearCost(startup=0, message_bytes=1000)
    plain, packed = (
        ALGORITHMS[n].build(WormholeCase(network, task, model)) for n in ("ring-all-gather", "packed-ring-all-gather")
    )
    along = [p for p in packed.phases if p.name.startswith("along")]
    volume = sum(int(packed.step_length[p.first_step : p.first_step + p.steps].sum()) for p in along)
    assert verify(packed)
    assert plain.volume == 5 * 500 + 5 * 5000
    assert volume == 5 * 500 + 5 * 500


def test_packed_phases_take_the_expected_steps():
    network = gossamer.network("torus:6x6")
    task = gossamer.task("partial-multinode-broadcast", active=[3, 4, 5, 20, 21, 35])
    schedule = ALGORITHMS["packed-ring-all-gather"].build(WormholeCase(network, task, LinearCost()))
    assert [p.steps for p in schedule.phases] == [4 * 5, 2 * 5, 3, 3]


@pytest.mark.parametrize(
    ("spec", "task"), [("torus:4x4", "allgather"), ("array:3x4", "alltoall"), ("torus:2x3", "broadcast")]
)
def test_every_slot_becomes_a_step(spec, task):
    plan = gossamer.plan(spec, task)
    schedule = from_store_and_forward(plan.schedule, LinearCost(startup=1, per_byte=0))
    assert verify(schedule)
    assert schedule.message_count == plan.schedule.hop_count
    assert schedule.completion_time == plan.schedule.slot_count


def test_the_packet_switched_broadcast_has_no_product_of_distance_and_sources():
    """Errata X9: s/4 + 1.5 (n-1) unit slots, so the transmission is s m/4 plus a term in n only."""
    n, model = 9, LinearCost(startup=0, message_bytes=4)
    network = gossamer.network(f"torus:{n}x{n}")
    for s in (9, 40, 81):
        active = np.random.default_rng(s).choice(n * n, s, replace=False).tolist()
        task = gossamer.task("partial-multinode-broadcast", active=sorted(active))
        schedule = ALGORITHMS["packet-switched"].build(WormholeCase(network, task, model))
        control = sum(p.steps for p in schedule.phases if p.name == "prefix") * model.counter_bytes
        assert verify(schedule)
        assert schedule.volume - control <= s * 4 / 4 + 1.5 * (n - 1) * 4


def test_messages_too_short_to_cut_are_refused():
    network, task = gossamer.network("torus:4x4"), gossamer.task("partial-multinode-broadcast", active=[1])
    for name in ("ring-all-gather", "packed-ring-all-gather"):
        with pytest.raises(NotApplicableError, match="cuts messages in 2 parts, so they need as many bytes"):
            ALGORITHMS[name].build(WormholeCase(network, task, LinearCost(message_bytes=1)))
