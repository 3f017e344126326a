"""Simulations as scenes: the columns are those of the recording."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.explorer import explore
from gossamer.explorer.pages import flit_scene, queue_scene
from gossamer.simulation.flits import TrafficSettings, record_traffic, simulate_schedule
from gossamer.simulation.random_arrivals import Settings, record, schemes

NETWORK = gossamer.network("torus:4x4")


@pytest.fixture(scope="module")
def recording():
    return record(schemes.star(NETWORK), load=0.8, settings=Settings(steps=40, warmup=30, seed=2))


def test_queues_over_time_are_those_of_the_links(recording):
    column = queue_scene(recording).columns
    assert column["start"].size == np.isfinite(recording.start).sum()
    assert (np.diff(column["start"]) >= 0).all()
    bins = column["held"].size - 1
    for k in (3, 40, 101, bins):
        time = k * recording.steps / bins
        waiting = recording.waiting(time)
        assert column["held"][k] == waiting.sum()
        nodes = np.bincount(NETWORK.link_source, waiting, NETWORK.node_count)
        assert column["deepest"][k] == nodes.max()
        there = (column["since"] <= time) & (column["until"] > time)
        assert np.bincount(column["gate"][there], minlength=NETWORK.link_count).sum() == waiting.sum()
        assert np.bincount(column["spot"][there], minlength=NETWORK.node_count).tolist() == nodes.tolist()


def test_the_share_in_use_adds_up_to_what_was_sent(recording):
    column = queue_scene(recording).columns
    sent = (column["end"] - column["start"]).sum()
    assert column["busy"].mean() == pytest.approx(sent / recording.steps / NETWORK.link_count, rel=1e-4)


def test_worms_are_on_the_channels_of_the_recording():
    found = record_traffic(NETWORK, load=0.3, cycles=200, settings=TrafficSettings(warmup=50))
    shown = flit_scene(found)
    column = shown.columns
    assert column["from"].tolist() == found.source.tolist()
    assert column["to"].tolist() == found.target.tolist()
    assert column["source"][column["way"]].tolist() == found.source.tolist()
    assert (column["weight"] * (column["end"] - column["start"])).sum() == pytest.approx(found.flits.sum(), rel=1e-5)
    assert shown.head["worms"]
    assert column["busy"].max() <= 1


def test_pages_of_simulations_are_written(tmp_path, recording):
    explore([recording, record_traffic(NETWORK, load=0.1, cycles=50)], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "broadcasts at random on torus:4x4 | uniform traffic on torus:4x4" in text
    schedule = gossamer.plan("torus:5x5", "allgather", switching="wormhole").schedule
    explore(simulate_schedule(schedule, record=True), tmp_path / "b.html")
    assert "flit by flit" in (tmp_path / "b.html").read_text()


def test_commands_write_pages_of_simulations(tmp_path, capsys):
    page = str(tmp_path / "a.html")
    short = ["--steps", "50", "--warmup", "20"]
    assert (
        main(["simulate", "arrivals", "torus:4x4", "--load", "0.5", "--scheme", "priority,fifo", *short, "-o", page])
        == 0
    )
    assert f"wrote {page}" in capsys.readouterr().out
    assert main(["simulate", "traffic", "torus:4x4", "--load", "0.2", "--measured", "200", "--warmup", "50",
                 "--jobs", "1", "-o", page]) == 0  # fmt: skip
    plan = str(tmp_path / "a.parquet")
    assert main(["plan", "torus:5x5", "allgather", "--switching", "wormhole", "-o", plan]) == 0
    assert main(["simulate", "wormhole", plan, "-o", page]) == 0
    capsys.readouterr()
    for words, fact in (
        (["simulate", "arrivals", "torus:4x4", "--load", "0.1:0.5:0.1", "-o", page], "not 5: name one load"),
        (
            ["simulate", "arrivals", "torus:4x4", "--load", "0.1", "--scheme", "varvarigos-bertsekas", "-o", page],
            "has no trees",
        ),
        (["simulate", "traffic", "torus:4x4", "--saturation", "-o", page], "leave out --saturation"),
        (["simulate", "wormhole", plan, "-o", str(tmp_path / "a.txt")], "must end in .html"),
        (["simulate", "arrivals", "torus:4x4", "--load", "0.1", "-o", str(tmp_path / "no" / "a.html")], "no"),
    ):
        assert main(words) == 2
        assert fact in capsys.readouterr().err
