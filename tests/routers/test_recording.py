"""What the flit simulator writes down: whole messages on the channels of their ways, in the order of their heads."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError
from gossamer.simulation.flits import Routers, TrafficSettings, record_run, record_traffic, simulate_schedule

SETTINGS = TrafficSettings(warmup=0, message_flits=6)


@pytest.mark.parametrize("spec", ["torus:4x4", "fat-tree:k=2,h=3,capacity=exponential", "hypercube:3"])
def test_a_message_holds_the_channels_of_a_path_one_after_the_other(spec):
    network = gossamer.network(spec)
    found = record_traffic(network, load=0.2, cycles=300, settings=SETTINGS)
    ends = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    assert found.flits.max() == 6
    for m in np.unique(found.message):
        rows = found.message == m
        way = list(zip(found.source[rows].tolist(), found.target[rows].tolist(), strict=True))
        assert set(way) <= ends
        assert way[0][0] == found.origin[m]
        assert [a for a, _ in way[1:]] == [b for _, b in way[:-1]]
        assert (np.diff(found.start[rows]) > 0).all()
        if way[-1][1] == found.goal[m] and found.end[rows][-1] < 280:
            assert (found.flits[rows] == 6).all()
    assert (found.end - found.start >= found.flits).all()
    assert (found.start >= found.created[found.message]).all()


def test_no_channel_carries_more_than_a_flit_a_cycle():
    found = record_traffic(gossamer.network("torus:4x4"), "transpose", 0.6, cycles=400, settings=SETTINGS)
    flits = np.zeros((16, 16))
    np.add.at(flits, (found.source, found.target), found.flits)
    assert 200 < flits.max() <= 400


def test_what_cannot_enter_waits_at_its_source_to_the_end():
    found = record_traffic(gossamer.network("ring:8"), "tornado", 0.9, cycles=500, settings=SETTINGS)
    node, since, until = found.waits()
    assert (since >= 0).all()
    assert (until > since).all()
    still = np.setdiff1d(np.arange(found.origin.size), found.message)
    assert still.size > 20
    assert (until > 500).sum() >= still.size
    assert np.bincount(node[until > 500], minlength=8).min() > 0


def test_the_links_carry_what_the_load_and_the_distances_say():
    settings = TrafficSettings(warmup=300, message_flits=6)
    found = record_traffic(gossamer.network("torus:4x4"), "neighbor", 0.3, cycles=3000, settings=settings)
    hops = 2  # a step in each dimension
    assert found.flits.sum() / 3000 / 16 == pytest.approx(0.3 * hops, rel=0.05)


def test_a_run_of_a_schedule_has_the_schedules_messages():
    schedule = gossamer.plan("torus:5x5", "allgather", switching="wormhole", algorithm="atd-5").schedule
    run = simulate_schedule(schedule, record=True)
    found = record_run(run)
    assert found.flits.sum() == run.flit_hops
    assert found.message.size == schedule.hops.sum()
    assert np.bincount(found.message).tolist() == schedule.hops.tolist()
    assert found.origin.tolist() == schedule.source.tolist()
    last = np.append(np.flatnonzero(np.diff(np.sort(found.message, kind="stable"))), found.message.size - 1)
    order = np.lexsort((found.start, found.message))
    assert found.target[order][last].tolist() == found.goal.tolist()
    with pytest.raises(ModelError, match="not recorded"):
        record_run(simulate_schedule(schedule))


def test_what_cannot_be_recorded_is_refused():
    network = gossamer.network("torus:4x4")
    with pytest.raises(ModelError, match=r"cycles must be a whole number in 1\.\.100000, got 0"):
        record_traffic(network, cycles=0)
    with pytest.raises(ModelError, match="movements would be recorded, of at most 50,000,000"):
        record_traffic(gossamer.network("torus:32x32"), cycles=100_000)
    stuck = TrafficSettings(warmup=5000, routers=Routers(dateline="none", virtual_channels=1))
    with pytest.raises(ModelError, match="nothing is recorded, as the routers deadlock in the warm-up"):
        record_traffic(gossamer.network("ring:6"), load=0.9, settings=stuck)
