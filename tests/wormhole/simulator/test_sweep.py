"""Latency against load and the saturation load."""

from __future__ import annotations

import csv

import pytest

import gossamer
from gossamer.errors import FileFormatError, ModelError
from gossamer.tasks.patterns import pattern
from gossamer.wormhole.simulator import (
    Routers,
    ideal_throughput,
    latency_load,
    loads,
    saturation_throughput,
    simulate_traffic,
    write_csv,
)

TORUS, ARRAY = gossamer.network("torus:8x8"), gossamer.network("array:8x8")


def test_latency_rises_with_load():
    runs = latency_load(ARRAY, "uniform", [0.05, 0.2, 0.3], warmup=1000, measured=5000)
    assert runs[0].latency < runs[1].latency < runs[2].latency


@pytest.mark.parametrize(("channels", "depth"), [(2, 8), (4, 8), (8, 8)])
@pytest.mark.parametrize("network", [ARRAY, TORUS])
def test_in_overload_as_much_gets_through_as_in_booksim(network, channels, depth):
    """BookSim 2.0 with the settings of docs/flit_simulator.md; its pipelines differ in detail."""
    booksim = {ARRAY: {2: 0.365, 4: 0.395, 8: 0.417}, TORUS: {2: 0.342, 4: 0.505, 8: 0.619}}[network][channels]
    one = {"injection": "node", "ejection": "node"}
    routers = Routers(virtual_channels=channels, buffer_depth=depth, router_delay=3, dateline="plain", **one)
    run = simulate_traffic(network, "uniform", 0.9, settings=routers, warmup=2000, measured=3000)
    assert run.saturated
    assert run.throughput == pytest.approx(booksim, rel=0.12)


@pytest.mark.parametrize("network", [ARRAY, TORUS])
def test_saturation_lies_between_half_and_all_of_the_ideal(network):
    routers = Routers(virtual_channels=8, buffer_depth=8)
    found = saturation_throughput(network, settings=routers, resolution=0.05, warmup=1000, measured=3000)
    assert 0.55 < found.share < 0.9
    assert [r.saturated for r in found.runs] == sorted(r.saturated for r in found.runs)


def test_more_virtual_channels_accept_more():
    few, many = (
        simulate_traffic(TORUS, "uniform", 0.9, settings=Routers(virtual_channels=v), warmup=1000, measured=4000)
        for v in (2, 4)
    )
    assert few.throughput < many.throughput


def test_csv_has_a_line_a_run(tmp_path):
    runs = latency_load(gossamer.network("torus:4x4"), "uniform", [0.1, 0.2], warmup=0, measured=500)
    write_csv(runs, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["load"]) for line in lines] == [0.1, 0.2]
    assert float(lines[0]["latency"]) == pytest.approx(runs[0].latency, rel=1e-5)
    with pytest.raises(FileFormatError, match="cannot write"):
        write_csv(runs, tmp_path / "no folder" / "x.csv")


@pytest.mark.parametrize(
    "text", ["", "0.1:0.5", "0.5:0.1:0.1", "0.1:0.5:0", "a", "0.1,-1", "nan", "0.1:9:0.00001", "1:2:3,4"]
)
def test_bad_loads(text):
    with pytest.raises(ModelError, match=r"^loads"):
        loads(text)


def test_a_range_of_loads_ends_where_it_says():
    assert loads("0.05:0.9:0.05")[-1] == 0.9
    assert len(loads("0.05:0.9:0.05")) == 18


def test_bad_resolution():
    with pytest.raises(ModelError, match=r"resolution must be a number in 0\.001\.\.0\.5, got 0"):
        saturation_throughput(TORUS, resolution=0)


def test_the_ideal_of_a_drawn_pattern_is_that_of_the_same_draw():
    ideals = {ideal_throughput(TORUS, "random", seed=seed) for seed in range(4)}
    assert len(ideals) > 1
    for seed in range(4):
        found = saturation_throughput(TORUS, "random", seed=seed, resolution=0.5, warmup=0, measured=200)
        assert found.ideal == ideal_throughput(TORUS, pattern("random", TORUS, seed=seed))
