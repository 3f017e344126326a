"""An allreduce of 64 MiB on two servers of eight GPUs, its numbers by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import gossamer
from gossamer.cli import main
from schedules import timed_twin

SERVERS = Path(__file__).parents[1] / "examples" / "machines" / "two_servers.edges"
MiB = 2**20


@pytest.fixture(scope="module")
def plan():
    return gossamer.plan(SERVERS, "allreduce", cost=gossamer.TimeCost("64MiB", form="blocks", whole=True))


def test_times_of_links_in_slots(plan):
    # sixteen ranks: a block is 4 MiB; 13.98 us on an NVLink of 300 GB/s, 83.89 us on a rail of 50 GB/s, six times that
    network, clock = plan.case.network, plan.clock
    assert clock.message_bytes == 4 * MiB
    nvlink = clock.packet_bytes / Fraction(300 * 10**9)
    slots = nvlink / clock.slot_seconds
    assert slots.denominator == 1
    assert set(network.link_occupancy.tolist()) == {int(slots), 6 * int(slots)}
    assert all(
        (wait - 1) * clock.slot_seconds < seconds <= wait * clock.slot_seconds
        for wait, seconds in zip(sorted(set(network.link_latency.tolist())), sorted({5e-7, 2e-6}), strict=False)
    )


def test_the_schedule_is_valid_in_plain_python_too(plan):
    assert not timed_twin.violations(plan.schedule)


def test_seconds_and_bandwidths(plan):
    seconds = plan.completion_time * plan.clock.slot_seconds
    assert plan.seconds == seconds
    assert plan.bandwidth == 64 * MiB / seconds
    assert plan.bus_bandwidth == plan.bandwidth * 2 * Fraction(15, 16)
    assert f"bus {float(plan.bus_bandwidth) / 1e9:.4g} GB/s" in dict(plan.rows(verbose=True))["bandwidth"]
    assert f"(bus {float(plan.bus_bandwidth) / 1e9:.4g} GB/s)" in plan.summary


def test_the_bound_counts_what_must_cross_the_rails(plan):
    # each way eight contributions, for the roots there, and eight results, of the roots here, cross eight rails: two
    # blocks a rail, 83.89 us each
    assert plan.bound_seconds >= 2 * 4 * MiB / Fraction(50 * 10**9)
    assert plan.completion_time >= plan.bound
    assert plan.ratio < 1.6  # to the bound of any form


@pytest.mark.parametrize("suffix", ["parquet", "txt"])
def test_a_file_keeps_the_seconds_of_its_slots(tmp_path, capsys, suffix):
    path = tmp_path / f"plan.{suffix}"
    network = Path(__file__).parent / "data" / "networks" / "server_ports.edges"
    outcome = gossamer.plan(network, "alltoall", cost=gossamer.TimeCost(bytes="1MiB", whole=True))
    outcome.save(path)
    again = gossamer.load(path)
    assert again == outcome.schedule
    assert again.cost == outcome.clock
    assert again.cost.seconds(again.completion_time) == outcome.clock.seconds(outcome.completion_time)
    assert again.reverse().cost == outcome.clock
    assert main(["verify", str(path)]) == 0
    told = capsys.readouterr().out
    assert "11.53 us, 363.6 GB/s (bus 272.7 GB/s)" in " ".join(told.split())
    assert "messages of 1 MiB, slots of 349.5 ns" in told
    assert main(["verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["completion_seconds"] == pytest.approx(11.5343e-6, rel=1e-4)


def test_a_broken_clock_in_a_file_is_refused_in_one_line(tmp_path):
    path = tmp_path / "plan.txt"
    network = Path(__file__).parent / "data" / "networks" / "server_ports.edges"
    gossamer.plan(network, "scatter", cost=gossamer.TimeCost(bytes="1MiB", whole=True)).save(path)
    good = path.read_text()
    for old, new in (('"packet_bytes": 1048576', '"packet_bytes": -3'), ('"slot_seconds": "', '"slot_second": "')):
        assert old in good
        path.write_text(good.replace(old, new))
        with pytest.raises(gossamer.GossamerError) as caught:
            gossamer.load(path)
        assert "\n" not in str(caught.value)
