"""The load at which a network saturates."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.errors import ModelError
from gossamer.questions.tasks.patterns import pattern
from gossamer.simulation.flits import (
    Routers,
    TrafficSettings,
    ideal_throughput,
    saturation_throughput,
    simulate_traffic,
)

TORUS, ARRAY = gossamer.network("torus:8x8"), gossamer.network("array:8x8")


@pytest.mark.parametrize(
    ("network", "channels", "depth", "flits", "booksim"),
    [(TORUS, 2, 4, 8, 0.2020), (TORUS, 8, 8, 8, 0.5531), (TORUS, 4, 8, 8, 0.4461), (ARRAY, 4, 8, 8, 0.3888),
     (TORUS, 4, 8, 1, 0.3648)],
)  # fmt: skip
def test_in_overload_as_much_gets_through_as_in_booksim(network, channels, depth, flits, booksim):
    """BookSim 2 with the settings of docs/explanation/flit_simulator.md, uniform traffic at a load of 0.9."""
    routers = Routers.preset("booksim", virtual_channels=channels, buffer_depth=depth)
    settings = TrafficSettings(message_flits=flits, routers=routers, warmup=3000, measured=6000)
    run = simulate_traffic(network, "uniform", 0.9, settings=settings)
    assert run.saturated
    assert run.throughput == pytest.approx(booksim, rel=0.04 if channels == 8 else 0.03)


@pytest.mark.parametrize("network", [ARRAY, TORUS])
def test_saturation_lies_between_half_and_all_of_the_ideal(network):
    routers = Routers(virtual_channels=8, buffer_depth=8)
    found = saturation_throughput(
        network, resolution=0.05, settings=TrafficSettings(routers=routers, warmup=1000, measured=3000)
    )
    assert 0.55 < found.share < 0.9
    assert [r.saturated for r in found.runs] == sorted(r.saturated for r in found.runs)


def test_more_virtual_channels_accept_more():
    few, many = (
        simulate_traffic(
            TORUS,
            "uniform",
            0.9,
            settings=TrafficSettings(routers=Routers(virtual_channels=v), warmup=1000, measured=4000),
        )
        for v in (2, 4)
    )
    assert few.throughput < many.throughput


def test_bad_resolution():
    with pytest.raises(ModelError, match=r"resolution must be a number in 0\.001\.\.0\.5, got 0"):
        saturation_throughput(TORUS, resolution=0)


def test_the_ideal_of_a_drawn_pattern_is_that_of_the_same_draw():
    ideals = {ideal_throughput(TORUS, "random", seed=seed) for seed in range(4)}
    assert len(ideals) > 1
    for seed in range(4):
        found = saturation_throughput(
            TORUS, "random", resolution=0.5, settings=TrafficSettings(seed=seed, warmup=0, measured=200)
        )
        assert found.ideal == ideal_throughput(TORUS, pattern("random", TORUS, seed=seed))
