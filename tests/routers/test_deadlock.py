"""Messages that wait for each other in a circle are found and named; datelines prevent it."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.simulation.flits import Routers, TrafficSettings, simulate_schedule, simulate_traffic
from routers.flit_twin import bare_messages

ONE = Routers(virtual_channels=1, dateline="none")


def around(n, hops, flits):
    """Every node of a ring of n sends so many hops up at once."""
    return bare_messages(gossamer.network(f"ring:{n}"), [0] * n, range(n), [[hops]] * n, [flits] * n)


@pytest.mark.uncompiled
@pytest.mark.parametrize("n", [3, 4, 9])
def test_a_ring_without_dateline_deadlocks_and_names_its_channels(n):
    run = simulate_schedule(around(n, 2, 20), settings=ONE)
    assert run.deadlock is not None
    assert sorted(run.deadlock.channels) == [2 * v for v in range(n)]
    assert (run.latency == -1).all()
    assert "(0)->(1) virtual channel 0, which waits for (1)->(2) virtual channel 0" in str(run.deadlock)
    assert run.cycles < 100


@pytest.mark.parametrize("dateline", ["plain", "balanced"])
@pytest.mark.parametrize("starts", ["barrier", "dependencies"])
def test_a_dateline_prevents_it(dateline, starts):
    run = simulate_schedule(around(9, 8, 20), settings=Routers(dateline=dateline), starts=starts)
    assert run.deadlock is None
    assert (run.latency > 0).all()
    assert run.blocked > 0


def test_short_messages_pass_without_dateline():
    assert simulate_schedule(around(4, 2, 2), settings=ONE).deadlock is None


def test_a_deadlock_is_found_while_the_rest_of_the_network_works():
    """One ring of a torus is stuck; traffic on the others goes on, so some flit always moves."""
    network = gossamer.network("torus:4x8")
    destinations = [-1] * 32
    for j in range(8):
        destinations[j] = (j + 3) % 8  # row 0: round the ring
    for j in range(8):
        destinations[16 + j] = 24 + j  # rows 2 and 3: one hop down
    run = simulate_traffic(
        network, destinations, 0.5, settings=TrafficSettings(message_flits=32, routers=ONE, warmup=0, measured=20_000)
    )
    assert run.deadlock is not None
    assert all(channel // 4 < 8 and channel % 4 == 2 for channel in run.deadlock.channels)
    assert run.throughput < run.offered
    free = simulate_traffic(
        network, destinations, 0.1, settings=TrafficSettings(message_flits=32, warmup=0, measured=20_000)
    )
    assert free.deadlock is None


def test_a_torus_under_overload_never_deadlocks_with_datelines():
    for dateline in ("plain", "balanced"):
        routers = Routers(dateline=dateline, buffer_depth=1)
        run = simulate_traffic(
            gossamer.network("torus:4x4"),
            "uniform",
            2.0,
            settings=TrafficSettings(routers=routers, warmup=0, measured=5000),
        )
        assert run.deadlock is None
        assert run.saturated


def test_a_torus_without_datelines_deadlocks_under_overload():
    run = simulate_traffic(
        gossamer.network("torus:8x8"), "uniform", 2.0, settings=TrafficSettings(routers=ONE, warmup=0, measured=20_000)
    )
    assert run.deadlock is not None
    assert run.deadlock.blocked >= len(run.deadlock.channels) >= 2
    assert run.cycles < 20_000
