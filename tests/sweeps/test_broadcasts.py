"""Delays of schemes against load: beside bounds, in files and pictures, and the commands."""

from __future__ import annotations

import csv
import json
import math

import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError, ModelError, NotApplicableError
from gossamer.plots.curves import delay_figure, draw_results
from gossamer.simulation.random_arrivals import Bernoulli, Settings, Trace
from gossamer.simulation.random_arrivals.scheme_evaluation import by_scheme
from gossamer.simulation.random_arrivals.schemes import broadcasts, covering, scheme
from gossamer.studies.sweeps import delay_load, read_loads, write_table


@pytest.fixture(scope="module")
def points():
    network = gossamer.network("hypercube:4")
    names = ["fifo", "priority", "stamoulis-tsitsiklis-indirect", "varvarigos-bertsekas"]
    return delay_load(network, names, [0.2, 0.5, 0.8], settings=Settings(steps=400))


def test_points_come_by_scheme_and_then_by_load(points):
    assert [(name, [p.load for p in theirs]) for name, theirs in by_scheme(points)] == [
        (name, [0.2, 0.5, 0.8])
        for name in ("fifo", "priority", "stamoulis-tsitsiklis-indirect", "varvarigos-bertsekas")
    ]


def test_delays_are_above_their_bounds_and_grow_with_load(points):
    for name, theirs in by_scheme(points):
        stable = [p for p in theirs if p.stable]
        assert [p.broadcast.mean for p in stable] == sorted(p.broadcast.mean for p in stable)
        for p in stable:
            assert p.broadcast.mean + p.broadcast.half_width >= p.broadcast_bound
            if name != "varvarigos-bertsekas":
                assert p.reception.mean + p.reception.half_width >= p.reception_bound


def test_a_load_above_the_limit_is_a_point_without_a_mean(points):
    (above,) = (p for p in points if p.scheme.endswith("indirect") and p.load == 0.8)
    assert (above.stable, above.limit.load, above.result) == (False, 0.625, None)
    assert above.reason == "not below the limit 0.625"
    assert math.isnan(above.reception.mean)


def test_the_interval_scheme_stays_below_bound_11(points):
    theirs = [p for p in points if p.scheme == "varvarigos-bertsekas" and p.stable]
    assert theirs
    assert all(p.broadcast_bound <= p.broadcast.mean <= p.broadcast_upper_bound for p in theirs)


def test_threads_find_the_same_points(points):
    names = ["fifo", "priority"]
    again = delay_load(gossamer.network("hypercube:4"), names, [0.2, 0.5, 0.8], settings=Settings(steps=400), jobs=3)
    assert [(p.scheme, p.load, p.reception.mean) for p in again] == [
        (p.scheme, p.load, p.reception.mean) for p in points if p.scheme in names
    ]


def test_a_trace_has_its_own_load():
    network = gossamer.network("hypercube:3")
    trace = Trace([float(t) for t in range(400)], [t % 8 for t in range(400)])
    (point,) = delay_load(network, ["fifo"], [], settings=Settings(arrivals=trace))
    assert point.stable
    assert point.load == pytest.approx(7 / 24, rel=0.05)


@pytest.mark.parametrize(
    ("text", "loads"),
    [("0.5", (0.5,)), ("0.1, 0.9", (0.1, 0.9)), ("0.1:0.3:0.1", (0.1, 0.2, 0.3)), ("0.1:0.29:0.1", (0.1, 0.2)),
     ("0.05:0.95:0.05", tuple(i / 20 for i in range(1, 20)))],
)  # fmt: skip
def test_loads_are_read_exactly(text, loads):
    assert read_loads(text) == loads


@pytest.mark.parametrize(
    ("text", "why"),
    [("a", "loads must be numbers"), ("0.1:0.5", "first:last:step"), ("0.5:0.1:0.1", "is empty"),
     ("0.1:0.5:0", "must be numbers of at least 1e-06"), ("0", "at least 1e-06"), ("-0.5,0.5", "at least 1e-06"),
     ("1e-300", "at most 50 digits"), ("nan", "loads must be numbers"), ("0.1:0.9:0.00001", "over 10,000 numbers"),
     ("", "loads must be numbers")],
)  # fmt: skip
def test_bad_loads_get_one_clear_line(text, why):
    with pytest.raises(ModelError, match=why) as refused:
        read_loads(text)
    assert "\n" not in str(refused.value)


def test_points_are_written_as_csv_and_parquet(points, tmp_path):
    from pyarrow import parquet

    write_table(points, tmp_path / "p.csv")
    write_table(points, tmp_path / "p.parquet")
    with (tmp_path / "p.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(points) == parquet.read_table(tmp_path / "p.parquet").num_rows
    assert float(lines[0]["reception"]) == points[0].reception.mean
    assert "greatest_utilization" in lines[0]
    with pytest.raises(FileFormatError, match=r"a table is one of \.csv, \.parquet"):
        write_table(points, tmp_path / "p.xls")


def test_a_figure_has_a_curve_for_each_scheme(points, tmp_path):
    draw_results(delay_figure, points, tmp_path / "d.svg", "delays")
    text = (tmp_path / "d.svg").read_text()
    assert all(f">{name}</text>" in text for name, _ in by_scheme(points))


def test_a_curve_goes_through_the_loads_in_their_order(points):
    drawn = delay_figure(points[::-1], "").axes[0].containers[0].lines[0].get_xdata()
    assert list(drawn) == sorted(drawn)
    assert len(drawn) > 1


def test_a_load_without_stable_delays_is_marked_at_the_top(points):
    reception, broadcast = delay_figure(points, "").axes
    marks = [[line for line in panel.lines if line.get_linestyle() == "None" and "arrow" in str(line.get_marker())]
             for panel in (reception, broadcast)]  # fmt: skip
    unstable = {(p.scheme, p.load) for p in points if not p.stable}
    assert len(unstable) == 2  # the indirect scheme and the intervals at 0.8
    assert [sum(len(line.get_xdata()) for line in lines) for lines in marks] == [1, 2]


def test_refusals_say_what_would_work():
    network = gossamer.network("array:4x4")
    with pytest.raises(
        ModelError, match=r"every load is at or above the limit on array:4x4, 0\.\d+ for priority; choose a lower one"
    ):
        delay_load(network, ["priority"], [0.9])
    with pytest.raises(NotApplicableError, match=r"unknown scheme 'prority'.*priority"):
        delay_load(network, ["prority"], [0.1])
    with pytest.raises(ModelError, match="jobs must be a whole number in 1"):
        delay_load(network, ["fifo"], [0.1], jobs=0)
    with pytest.raises(ModelError, match="at least one scheme and one load"):
        delay_load(network, ["fifo"], [])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"arrivals": Bernoulli()}, "Poisson arrivals only, not with Bernoulli"),
        ({"arrivals": Trace([0.0], [0])}, "Poisson arrivals only, not with Trace"),
        ({"ties": "age"}, "with ties 'fifo' only, not 'age'"),
        ({"time": "slotted"}, "with time 'continuous' only, not 'slotted'"),
        ({"choose": "global"}, "with choose 'oblivious' only, not 'global'"),
    ],
)
def test_the_interval_scheme_refuses_what_it_cannot_simulate(options, why):
    with pytest.raises(NotApplicableError, match=why):
        delay_load(gossamer.network("torus:4x4"), ["varvarigos-bertsekas"], [0.2], settings=Settings(**options))


@pytest.mark.parametrize("alias", ["varvarigos-bertsekas", "Intervals"])
def test_the_interval_scheme_is_a_scheme_like_the_others(alias):
    network = gossamer.network("torus:4x4")
    assert "varvarigos-bertsekas" in covering(network)
    assert "varvarigos-bertsekas" not in covering(gossamer.network("star:4"))
    made = broadcasts(alias, network, control_time="1/10")
    assert str(made.limit(Settings())) == "it is not stable from load 0.3968"
    with pytest.raises(NotApplicableError, match="has no trees"):
        scheme(alias, network)
    with pytest.raises(NotApplicableError, match=r"has no option 'split_' \(did you mean 'split'\?\)"):
        broadcasts(alias, network, split_=True)


def test_no_estimate_is_printed_below_its_bound(capsys):
    """Mini-packets: the mean part (1.42) is not the message (at least 1.78)."""
    assert main(["simulate", "arrivals", "star:4", "--scheme", "mini-packets", "--load", "0.1", "--steps", "300"]) == 0
    header = capsys.readouterr().out.splitlines()[4]
    assert header.split("  ")[0] == "load"
    assert "at least" in header
    assert "expected" not in header


def test_bound_11_is_printed_as_what_it_is(capsys):
    assert main(["simulate", "arrivals", "torus:4x4", "--scheme", "intervals", "--load", "0.2,0.9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].split() == ["load", "broadcast", "at", "least", "at", "most"]
    assert lines[7].split() == ["0.9", "unstable", "-", "-"]


# -- the commands -----------------------------------------------------------------------------------------------


def test_the_command_prints_writes_and_draws(capsys, tmp_path):
    files = [tmp_path / name for name in ("d.csv", "d.svg")]
    words = [
        "simulate",
        "arrivals",
        "hypercube:3",
        "--scheme",
        "fifo,optimal",
        "--load",
        "0.2:0.4:0.2",
        "--steps",
        "200",
    ]
    assert main([*words, "-o", str(files[0]), "-o", str(files[1])]) == 0
    printed = capsys.readouterr().out
    assert "optimal: its links are saturated at load 1" in printed
    assert all(path.exists() for path in files)
    assert main([*words, "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert [(line["scheme"], line["load"]) for line in lines] == [
        ("fifo", 0.2), ("fifo", 0.4), ("optimal", 0.2), ("optimal", 0.4),
    ]  # fmt: skip


def test_schemes_are_listed_with_their_limits(capsys):
    assert main(["list", "schemes", "torus:4x4", "--json"]) == 0
    limits = {line["scheme"]: line["saturated_at"] for line in json.loads(capsys.readouterr().out)}
    assert limits["priority"] == 1
    assert "arc" not in limits
    assert 0 < limits["varvarigos-bertsekas"] < 1
    assert (
        main(["list", "schemes", "hypercube:14", "--json"]) == 0
    )  # none of the limits is counted, which would take a minute
    large = json.loads(capsys.readouterr().out)
    assert {line["scheme"] for line in large} >= {"priority", "symmetric"}
    assert {line["saturated_at"] for line in large} == {None}
    assert main(["list", "schemes", "array:1"]) == 0
    assert capsys.readouterr().out == "no scheme covers array:1\n"
    assert main(["list", "schemes"]) == 0
    assert "arc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["torus:4x4", "--load", "1.0"],
            "every load is at or above the limit on torus:4x4, 1 for priority; choose a lower",
        ),
        (["torus:4x4", "--load", "0.5", "--seed", "-1"], "seed must be a whole number in 0..9223372036854775807"),
        (["torus:4x4", "--load", "0.5", "--burst", "3:4"], "--burst is for on-off arrivals"),
        (["torus:4x4", "--trace", "t.csv", "--arrivals", "bernoulli"], "leave out --arrivals"),
        (["torus:4x4", "--load", "0.9:0.1:0.1"], "is empty"),
        (["torus:4x4"], "say which loads to simulate"),
        (["torus:4x4", "--scheme", "arc", "--load", "0.5"], "needs an array"),
        (["torus:4x4", "--load", "0.5", "-o", "d.gif"], "a picture is one of"),
        (["torus:4x4", "--load", "0.5", "-o", "nowhere/d.csv"], "cannot write"),
        (["torus:4x4", "--load", "0.5", "--arrivals", "on-off", "--burst", "3"], "two mean times in steps"),
        (["torus:4x4", "--load", "0.5", "--trace", "t.csv"], "a trace has a load of its own"),
        (["torus:4x4", "--trace", "t.csv"], "t.csv"),
        (["torus:4x4", "--load", "0.5", "--steps", "-3"], "steps must be a number above 0, got -3"),
        (["torus:4x4", "--load", "0.5", "--steps", "1e12"], "about 4.3e+13 transmissions would be simulated"),
        (["torus:4x4", "--load", "0.5", "--replications", "1000000000"], "replications must be a whole number in 1..1"),
        (["torus:4x4", "--load", "0.5", "--arrivals", "on-off", "--burst", "1e-5:1e-5"], "at least 0.1 steps"),
        (["torus:4x4", "--load", "0.5", "--arrivals", "on-off", "--burst", "1e-300:1e300"], "number of steps on must"),
        (["torus:4x4", "--load", "0.5", "--arrivals", "on-off", "--burst", "1e-6:1e6"], "at most 1e+06 times"),
        (["torus:4x4", "--load", "1e-300"], "loads must"),
    ],
)
def test_bad_words_get_one_line_and_status_2(words, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "arrivals", *words]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_mean_below_its_bound_is_noted_as_a_short_run(capsys):
    assert main(["simulate", "arrivals", "hypercube:4", "--load", "0.999999", "--steps", "500"]) == 0
    assert "at 0.999999: the run is too short, as its mean is below the bound" in capsys.readouterr().out


def test_requests_may_come_from_some_nodes_only(capsys):
    """One node of a hypercube can send on its four links: a broadcast a step, at load factor 15/4."""
    words = ["simulate", "arrivals", "hypercube:4", "--nodes", "3", "--steps", "1000", "--json"]
    assert main([*words, "--load", "2"]) == 0
    (line,) = json.loads(capsys.readouterr().out)
    assert (line["limit"], line["stable"]) == (3.75, True)
    assert line["reception_bound"] == pytest.approx(32 / 15)
    assert line["reception_estimate"] is None
    assert main([*words, "--load", "4"]) == 2
    assert "3.75 for priority" in capsys.readouterr().err
    assert main(["simulate", "arrivals", "hypercube:4", "--nodes", "16", "--load", "0.5"]) == 2
    assert "node 16" in capsys.readouterr().err
    assert (
        main(
            ["simulate", "arrivals", "hypercube:4", "--nodes", "1", "--load", "0.5", "--scheme", "varvarigos-bertsekas"]
        )
        == 2
    )
    assert "requests at all nodes only" in capsys.readouterr().err
