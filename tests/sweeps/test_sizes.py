"""Crossovers: the sizes at which another algorithm becomes the best."""

from __future__ import annotations

import json
from fractions import Fraction
from types import SimpleNamespace

import pytest

import gossamer
from gossamer.cli import main
from gossamer.studies.sweeps.message_sizes import Crossover, _between, compare_sizes, plan_sizes


def lines(**algorithms):
    """Comparisons of algorithms that take so many seconds, and so many more a byte."""

    def at(size):
        outcomes = [
            SimpleNamespace(algorithm=name, seconds=Fraction(start) + Fraction(each) * size)
            for name, (start, each) in algorithms.items()
        ]
        outcomes.sort(key=lambda o: o.seconds)
        return SimpleNamespace(best=outcomes[0], outcomes=outcomes)

    return at


def crossovers(low, high, at):
    return list(_between(low, high, at(low), at(high), SimpleNamespace(at=lambda sizes: [at(size) for size in sizes])))


def test_a_crossover_is_where_two_lines_meet():
    at = lines(quick=(10, Fraction(2, 1000)), wide=(110, Fraction(1, 1000)))
    (found,) = crossovers(1, 10**9, at)
    assert (found.before, found.after) == ("quick", "wide")
    assert 100_000 < found.bytes <= 102_100  # the best changes at 100,000; a crossover is found to within 2 %
    assert at(found.bytes).best.algorithm == "wide"
    assert at(round(found.bytes / 1.021)).best.algorithm == "quick"


def test_every_crossover_between_two_sizes_is_found():
    at = lines(a=(1, 100), b=(1001, 90), c=(100_001, 80))
    found = crossovers(1, 2**30, at)
    assert [(c.before, c.after) for c in found] == [("a", "b"), ("b", "c")]
    for crossover, exact in zip(found, (100, 9900), strict=True):
        assert exact <= crossover.bytes <= exact * 1.03


def test_no_crossover_where_one_is_always_best_or_both_are_equal():
    at = lines(a=(1, 1), b=(2, 2))
    assert crossovers(1, 1000, at) == []
    same = lines(a=(1, 1), b=(1, 1))
    assert crossovers(1, 1000, same) == []


@pytest.fixture(scope="module")
def mesh():
    cost = {"bandwidth": "50GB/s", "latency": "5us"}
    return cost, compare_sizes("array:3x5", "allreduce", [2**20, 2**22], cost=cost)


def test_a_crossover_of_plans_is_one_of_the_times_on_both_sides(mesh):
    cost, found = mesh
    (crossover,) = found.crossovers
    assert isinstance(crossover, Crossover)
    assert crossover.before == found.best[0].algorithm != found.best[1].algorithm == crossover.after
    assert 2**20 < crossover.bytes < 2**22
    near = compare_sizes("array:3x5", "allreduce", [crossover.bytes * 100 // 103, crossover.bytes], cost=cost)
    for comparison, best, other in zip(
        near.comparisons, (crossover.before, crossover.after), (crossover.after, crossover.before), strict=True
    ):
        seconds = {o.algorithm: o.seconds for o in reversed(comparison.outcomes)}
        assert seconds[best] <= seconds[other]


def test_the_command_tells_the_crossover(mesh, capsys):
    words = ["--bytes", "1MiB,4MiB", "--bandwidth", "50GB/s", "--latency", "5us"]
    assert main(["compare", "array:3x5", "allreduce", *words, "--memory", "2GB", "--unsegmented"]) == 0
    told = capsys.readouterr().out
    (crossover,) = mesh[1].crossovers
    assert f"on {crossover.after} is faster than {crossover.before}" in told


LINKS = {"bandwidth": "50GB/s", "latency": "2us"}


@pytest.fixture(scope="module")
def planned():
    return plan_sizes("array:4", "broadcast", "1KiB..64MiB", cost=LINKS)


def test_plans_of_sizes_are_those_of_each_size(planned):
    assert planned.sizes == tuple(4**k for k in range(5, 14))
    for size, outcome in zip(planned.sizes, planned.best, strict=True):
        assert outcome.verification.ok
        alone = gossamer.plan("array:4", "broadcast", cost=gossamer.TimeCost(size, **LINKS))
        assert outcome.seconds == alone.seconds >= outcome.bound_seconds
    assert [row["bytes"] for row in planned] == list(planned.sizes)
    assert len(planned.table()[1]) == len(planned) == 9


def test_a_crossing_lies_between_the_sizes_of_two_plans(planned):
    assert planned.crossovers
    for crossover in planned.crossovers:
        assert planned.sizes[0] < crossover.bytes <= planned.sizes[-1]
        assert crossover.before != crossover.after


@pytest.mark.parametrize("given", ["1KiB..1MiB", "1KiB:1MiB:1024", "1KiB,1MiB"])
def test_the_command_plans_several_sizes(given, tmp_path, capsys):
    picture = tmp_path / "curve.svg"
    words = ["plan", "ring:4", "allgather", "--bytes", given, "--bandwidth", "50GB/s", "--latency", "2us"]
    assert main([*words, "-o", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "allgather on ring:4" in out
    assert out.count(" KiB ") + out.count(" MiB ") >= 2
    assert picture.stat().st_size > 1000
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["task"] == "multinode-broadcast"
    assert [row["bytes"] for row in told["sizes"]][:: len(told["sizes"]) - 1] == [1024, 2**20]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bytes", "1KiB..x"], "x"),
        (["--bytes", "1MiB..1KiB"], "empty"),
        (["--bytes", "1KiB,1MiB", "-o", "plan.parquet"], "parquet"),
        (["--bytes", "1KiB,1MiB", "--switching", "wormhole", "--startup", "1us"], ""),
    ],
)
def test_what_cannot_be_planned_for_several_sizes_is_refused_in_one_line(words, said, capsys):
    assert main(["plan", "ring:4", "allgather", "--bandwidth", "50GB/s", "--latency", "2us", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.fixture(scope="module")
def beside():
    cost = {"bandwidth": "50GB/s", "latency": "2us", "overhead": "500ns"}
    return cost, plan_sizes("ring:4", "allreduce", "1KiB,1MiB,64MiB", cost=cost, usual=True)


def test_usual_algorithms_stand_beside_plans_with_the_chunks_that_take_least(beside):
    _cost, found = beside
    assert {"ring", "binomial tree", "halving and doubling"} <= set(found.usual)
    for name, row in found.usual.items():
        for size, each, outcome in zip(found.sizes, row, found.best, strict=True):
            assert each.time >= outcome.bound_seconds, (name, size)
    ring = found.usual["ring"]
    assert ring[0].packets == 1 < ring[-1].packets  # each packet costs half a microsecond
    # twice three rounds of a block each, one after the other, or quicker in parts
    whole = 6 * (Fraction(2**18, 50 * 10**9) + Fraction(25, 10**7))
    assert float(ring[1].time) <= float(whole) * 1.02
    columns, rows = found.table()
    assert columns[0] == "bytes"
    assert columns[-3:] == ("plan", "bound", "plan / bound")
    assert len(rows) == 3
    assert rows[0][-1] == found.best[0].ratio_text
    told = found.to_dict()
    assert [row["usual"]["ring"] for row in told["sizes"]] == [float(each.time) for each in ring]


def test_a_crossover_of_usual_algorithms_is_one_of_the_times_on_both_sides():
    cost = {"bandwidth": "10GB/s", "latency": "5us", "overhead": "1us"}
    found = plan_sizes("complete:8", "allgather", "1KiB,16MiB", cost=cost, usual=True)
    first, last = (min(row, key=lambda each: (each.time is None, each.time)).name for row in found.beside)
    if first == last:
        assert not found.crossovers
    for crossover in found.crossovers:
        near = plan_sizes("complete:8", "allgather", [crossover.bytes], cost=cost, usual=True)
        times = {name: row[0].time for name, row in near.usual.items()}
        assert times[crossover.after] <= times[crossover.before]


def test_a_comparison_of_one_size_has_the_times_and_bounds_of_the_table():
    cost = {"bandwidth": "3GB/s", "latency": "2us", "overhead": "300ns"}
    table = compare_sizes("array:2x3", "broadcast", [1000, 10**6], cost=cost)
    for size, row in zip(table.sizes, table.comparisons, strict=True):
        alone = gossamer.compare("array:2x3", "broadcast", cost=gossamer.TimeCost(size, **cost))
        told = [[(o.algorithm, o.seconds, o.bound_seconds, o.among) for o in c.outcomes] for c in (row, alone)]
        assert told[0] == told[1]


def test_the_command_sets_usual_algorithms_beside_plans_and_draws_one_panel(tmp_path, capsys):
    words = ["compare", "ring:4", "broadcast", "--bytes", "1KiB,1MiB", "--bandwidth", "50GB/s", "--latency", "2us"]
    files = [str(tmp_path / name) for name in ("all.svg", "time.tex", "table.tex")]
    assert main([*words, "-o", files[0], "-o", files[2]]) == 0
    out = capsys.readouterr().out
    assert "binomial tree" in out
    assert "plan / bound" in out
    assert main([*words, "--kind", "time", "-o", files[1]]) == 0
    tikz, table = ((tmp_path / name).read_text() for name in ("time.tex", "table.tex"))
    assert "\\begin{axis}" in tikz
    assert tikz.count("\\addplot") == tikz.count("\\addlegendentry") >= 4
    assert "\\begin{tabular}" in table
    assert main([*words[:3], "--bytes", "1MiB", "--bandwidth", "50GB/s", "--kind", "time"]) == 2


@pytest.mark.parametrize("kind", [None, "time", "bandwidth", "bound"])
def test_a_key_covers_no_curve_and_names_every_one_once(beside, kind):
    from gossamer.plots.curves import sizes_figure

    figure = sizes_figure(beside[1], kind=kind)
    figure.draw_without_rendering()
    (key,) = figure.legends
    names = [text.get_text() for text in key.get_texts()]
    assert len(names) == len(set(names))
    assert set(names) == {"plan", "lower bound", *beside[1].usual}
    box = key.get_window_extent()
    for panel in figure.axes:
        assert not panel.get_window_extent().overlaps(box)
        assert not panel.get_tightbbox().overlaps(box)
