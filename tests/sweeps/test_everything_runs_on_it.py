"""What loops over many cases runs on the engines of sweeps, and finds the same on each."""

from __future__ import annotations

from pathlib import Path

import pytest

import gossamer
from gossamer.errors import ScheduleError
from gossamer.simulation.flits import TrafficSettings
from gossamer.simulation.random_arrivals import Settings
from gossamer.simulation.random_arrivals.schemes import broadcasts
from gossamer.studies.reproductions import Table
from gossamer.studies.reproductions.table import computed_tables
from gossamer.studies.sweeps import KINDS, BroadcastPoint, TrafficPoint, asked_point, run_points, sweep
from gossamer.studies.sweeps.link_failures import faults
from gossamer.studies.sweeps.load_sweeps import SaturationPoint
from gossamer.studies.sweeps.message_sizes import compare_sizes
from gossamer.studies.sweeps.study import read_study

STUDIES = Path(__file__).parents[2] / "examples" / "studies"


def small():
    """A table."""
    return Table("small", ("a",), ((1,),))


def test_simulations_find_the_same_in_processes():
    net, short = gossamer.network("torus:4x4"), TrafficSettings(warmup=0, measured=500)
    points = [
        TrafficPoint(net, "uniform", 0.1, short),
        SaturationPoint(net, "uniform", short, 0.3),
        BroadcastPoint(broadcasts("priority", net), 0.5, Settings(steps=200)),
        BroadcastPoint(broadcasts("varvarigos-bertsekas", net), 0.2, Settings(steps=200)),
    ]
    here, there = (run_points(points, engine=engine, jobs=2) for engine in ("in-process", "processes"))
    assert here[0].latency == there[0].latency
    assert (here[1].load, here[1].throughput) == (there[1].load, there[1].throughput)
    assert [d.broadcast.mean for d in here[2:]] == [d.broadcast.mean for d in there[2:]]


def test_failures_are_points():
    found = faults("array:3x3", "alltoall", jobs=2)
    assert list(found) == list(faults("array:3x3", "alltoall"))
    (row,) = sweep([{"kind": "faults", "network": "array:3x3", "task": "alltoall"}], engine="in-process")
    assert (row["worst_slowdown"], row["possible"]) == (found.worst.slowdown, found.possible)


def test_sizes_are_points_without_builders():
    found = compare_sizes("ring:5", "allgather", "1KiB,1MiB", cost={"bandwidth": "1GB/s", "latency": "1us"}, jobs=2)
    assert [o.seconds for o in found.best] == sorted(o.seconds for o in found.best)
    with pytest.raises(ScheduleError, match="no builders are kept"):
        found.best[0].offer.build()


def test_tables_of_reproductions_are_points():
    said = []
    assert [t.rows for t in computed_tables([small, small], said.append, jobs=2)] == [((1,),)] * 2
    assert [t.rows for t in computed_tables([small], said.append)] == [((1,),)]
    assert said[-1] == "A table"


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_studies_that_ship_have_points_that_can_be_asked(study):
    found = read_study(study)
    points = list(found.points())
    assert 10 <= len(points) <= 200
    assert len({str(p.describe()) for p in points}) == len(points)
    assert all(asked_point({"kind": p.kind, **p.words}) == p for p in points)


def test_a_point_of_each_kind_says_what_it_is():
    assert {k.name for k in KINDS.values()} == {"plan", "bounds", "faults", "dynamic", "limit", "traffic", "saturation"}
    (row,) = sweep([{"kind": "bounds", "network": "torus:4x4", "task": "alltoall"}], engine="in-process")
    assert (row["bound"], row["nodes"], row["diameter"], row["bisection"]) == (8, 16, 4, 8)
    (row,) = sweep([{"kind": "limit", "network": "hypercube:4", "scheme": "stamoulis-tsitsiklis-indirect"}],
                   engine="in-process")  # fmt: skip
    assert row["limit"] == 0.625
