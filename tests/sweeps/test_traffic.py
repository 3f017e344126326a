"""Latency against load."""

from __future__ import annotations

import csv

import pytest

import gossamer
from gossamer.errors import FileFormatError
from gossamer.simulation.flits import TrafficSettings
from gossamer.studies.sweeps import latency_load, write_table

ARRAY = gossamer.network("array:8x8")


def test_latency_rises_with_load():
    runs = latency_load(ARRAY, "uniform", [0.05, 0.2, 0.3], settings=TrafficSettings(warmup=1000, measured=5000))
    assert runs[0].latency < runs[1].latency < runs[2].latency


def test_csv_has_a_line_a_run(tmp_path):
    runs = latency_load(
        gossamer.network("torus:4x4"), "uniform", [0.1, 0.2], settings=TrafficSettings(warmup=0, measured=500)
    )
    write_table(runs, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["load"]) for line in lines] == [0.1, 0.2]
    assert float(lines[0]["latency"]) == pytest.approx(runs[0].latency, rel=1e-5)
    with pytest.raises(FileFormatError, match="cannot write"):
        write_table(runs, tmp_path / "no folder" / "x.csv")


def test_threads_find_the_same_runs():
    settings = TrafficSettings(warmup=0, measured=500)
    alone, together = (latency_load(ARRAY, "uniform", [0.1, 0.2, 0.3], settings=settings, jobs=j) for j in (1, 3))
    assert [r.latency for r in alone] == [r.latency for r in together]
