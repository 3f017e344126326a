"""The picture of latency against load."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.errors import FileFormatError
from gossamer.plots.curves import draw_results, latency_figure
from gossamer.simulation.flits import TrafficSettings
from gossamer.studies.sweeps import latency_load


@pytest.fixture(scope="module")
def runs():
    return latency_load(
        gossamer.network("torus:4x4"), "uniform", [0.1, 0.3, 1.5], settings=TrafficSettings(warmup=0, measured=1000)
    )


def test_saturated_loads_have_a_throughput_but_no_latency(runs):
    assert [r.saturated for r in runs] == [False, False, True]
    left, right = latency_figure({"torus": runs}, "uniform").axes
    assert left.lines[0].get_xdata().tolist() == [0.1, 0.3]
    assert left.lines[0].get_ydata().tolist() == [r.latency for r in runs[:2]]
    assert list(right.lines[0].get_ydata()) == [r.throughput for r in runs]


def test_a_saturated_load_is_marked_at_the_top(runs):
    left = latency_figure({"torus": runs}, "uniform").axes[0]
    (mark,) = (line for line in left.lines if line.get_linestyle() == "None" and len(line.get_xdata()) == 1)
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (1.5, 0.97)
    assert "arrows: saturated" in left.texts[0].get_text()
    assert not latency_figure({"torus": runs[:2]}, "uniform").axes[0].texts


def test_the_same_runs_give_the_same_file(runs, tmp_path):
    for name in ("a.svg", "b.svg"):
        draw_results(latency_figure, {"torus": runs}, tmp_path / name, "uniform")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_bad_input(runs, tmp_path):
    with pytest.raises(FileFormatError, match="a picture is one of"):
        draw_results(latency_figure, {"torus": runs}, tmp_path / "a.txt", "uniform")
    with pytest.raises(FileFormatError, match="at least one run"):
        draw_results(latency_figure, {}, tmp_path / "a.svg", "uniform")


def test_a_network_saturated_at_every_load_can_be_drawn(runs, tmp_path):
    draw_results(latency_figure, {"torus": runs[2:]}, tmp_path / "a.svg", "uniform")
    assert (tmp_path / "a.svg").exists()
