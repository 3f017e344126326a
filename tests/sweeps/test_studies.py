"""Studies in files and on the command line: grids, conditions, dry runs, reports and pages."""

from __future__ import annotations

import json

import pytest

from gossamer.cli import main
from gossamer.errors import FileFormatError, ModelError
from gossamer.studies.sweeps import asked_point, grid
from gossamer.studies.sweeps.conditions import formula
from gossamer.studies.sweeps.point_grids import expanded
from gossamer.studies.sweeps.point_protocol import identity
from gossamer.studies.sweeps.report import front
from gossamer.studies.sweeps.study import estimated, read_study

STUDY = """
title = "small ones"
[define]
price = "10 * links + 3 * nodes"
[[points]]
network = ["torus:{a=2..8}x{b=2..8}", "hypercube:4", "ring:16"]
task = ["allgather", "alltoall"]
where = ["nodes == 16", "price <= 700", "degree <= 4"]
[[points]]
network = ["ring:8", "ring:16"]
task = ["allgather", "alltoall"]
zip = ["network", "task"]
[report]
against = ["links", "-nodes"]
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def test_a_study_names_its_points_once(study):
    titles = [point.title for point in read_study(study).points()]
    assert len(titles) == len(set(titles)) == 11
    assert titles[:2] == ["allgather on torus:2x8", "alltoall on torus:2x8"]
    assert titles[-1] == "allgather on ring:8"  # alltoall on ring:16 was there before


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ring:{4..6}", ["ring:4", "ring:5", "ring:6"]),
        ("torus:{2,4}x{3..9..3}", [f"torus:{a}x{b}" for a in (2, 4) for b in (3, 6, 9)]),
        ("{1..3}", [1, 2, 3]),
        ("{0.1..0.3..0.1}", [0.1, 0.2, 0.3]),
        ("{all,one}", ["all", "one"]),
        ("plain", ["plain"]),
        ("{n=2..3}-{n=5,6}", ["2-5", "2-6", "3-5", "3-6"]),
    ],
)
def test_braces_stand_for_several_texts(text, values):
    assert [value for value, _ in expanded(text)] == values


@pytest.mark.parametrize(
    "text", ["ring:{4..", "ring:4}", "{}", "{4..2}", "{1..2..0}", "{a..b}", "{1..9999999999}", "{{1..2}}"]
)
def test_wrong_braces_get_one_line(text):
    with pytest.raises(ModelError) as refused:
        list(expanded(text, "network"))
    assert "\n" not in str(refused.value)


def test_a_grid_that_is_too_large_is_refused_before_it_is_made():
    with pytest.raises(ModelError, match="at most 1,000,000"):
        list(grid({"network": "ring:{2..2000}", "task": "allgather", "seed": "{0..600}"}))
    with pytest.raises(ModelError, match="as many values each: network has 2, task has 1"):
        list(grid({"network": ["ring:4", "ring:5"], "task": "allgather"}, zipped=[["network", "task"]]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nodes == 512", True), ("nodes = 512 and degree <= 6", True), ("nodes / 2 in [255, 256]", True),
        ("not nodes < 512", True), ("2 ** 3 == 8", True), ("bytes >= 64KiB", True), ("bytes < 1 MB", True),
        ("network == 'ring:512'", True), ("min(nodes, 4) + max(1, 2) == 6", True), ("1 / 0 > 0", False),
        ("missing > 3", False), ("not missing", False), ("degree if nodes > 1 else 0", True), ("wraps == true", True),
        ("routers.buffer_depth == 4", True), ("log2(nodes) == 9", True), ("1 < 2 < 3", True), ("1 < 3 < 2", False),
    ],
)  # fmt: skip
def test_formulas_mean_what_they_say(text, value):
    row = {"nodes": 512, "degree": 4, "bytes": 65536, "network": "ring:512", "wraps": True, "routers.buffer_depth": 4}
    assert formula(text).holds(row.get) is value


@pytest.mark.parametrize(
    "text",
    [
        "", "nodes ==", "__import__('os').system('x')", "(lambda: 1)()", "[x for x in y]", "a.b.c", "f'{x}'",
        "x[0]", "open('a')", "nodes; links", "not " * 100 + "x", "a := 3", "min(*x)", "1e999",
        "x" * 3000,
        "b'x'", "...", "None", "1j",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused_in_one_line(text):
    with pytest.raises(ModelError) as refused:
        formula(text)
    assert "\n" not in str(refused.value)


def test_numbers_of_formulas_do_not_grow_without_end():
    assert formula("9 ** 9 ** 9 ** 9 > 1").value({}.get) is None
    assert formula("10 ** 400").value({}.get) is None
    with pytest.raises(ModelError, match="has no value"):
        formula("'a' * 1000").value({}.get)
    with pytest.raises(ModelError, match="has no value"):
        formula("network < 3").value({"network": "ring:4"}.get)


def test_a_condition_on_named_braces_holds_only_where_they_are():
    found = grid({"network": ["torus:{a=2..3}x{b=2..3}", "ring:4"], "task": "allgather"}, where="a <= b")
    assert [p.words["network"] for p in found] == ["torus:2x2", "torus:2x3", "torus:3x3"]


def test_conditions_that_cannot_be_met_or_read_are_told():
    with pytest.raises(ModelError, match="names 'knots', which a point does not have; there are: nodes, links"):
        list(grid({"network": "ring:4", "task": "allgather"}, where="knots > 3"))
    with pytest.raises(ModelError, match="defined by each other: a -> b -> a"):
        list(grid({"network": "ring:4", "task": "allgather"}, where="a > 1", define={"a": "b", "b": "a + 1"}))
    with pytest.raises(ModelError, match="too large to be built"):
        list(grid({"network": "torus:4000x4000", "task": "allgather"}, where="diameter > 1"))


def test_a_front_holds_what_nothing_beats():
    rows = [{"x": x, "y": y} for x, y in [(3, 1), (1, 5), (2, 5), (2, 2), (2, 2), (4, 1), (5, 0)]] + [{"x": 1}]
    assert [(m["x"], m["y"]) for m in front(rows, "x", "y").members] == [(1, 5), (2, 2), (2, 2), (3, 1), (5, 0)]
    assert [(m["x"], m["y"]) for m in front(rows, "-x", "y").members] == [(5, 0)]


# -- the commands -----------------------------------------------------------------------------------------------


def test_a_study_runs_resumes_and_is_reported(study, capsys, tmp_path):
    assert main(["sweep", "small.toml", "--dry-run"]) == 0
    assert "11, of which 0 are known" in capsys.readouterr().out
    assert main(["sweep", str(study), "--engine", "in-process"]) == 0
    printed = capsys.readouterr().out
    assert "11 points" in printed
    assert "front of time against links" in printed
    content = (tmp_path / "small.parquet").read_bytes()
    assert main(["sweep", "small.toml", "--engine", "in-process", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 11
    assert (tmp_path / "small.parquet").read_bytes() == content
    assert main(["sweep", "small.toml", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 11


def test_an_estimate_looks_at_some_points_and_takes_the_others_to_be_like_them():
    points = list(grid({"network": "ring:{4..40..4}", "task": ["allgather", "alltoall"]}))
    whole, one = estimated(points, set()), estimated(points, set(), patience=0)
    assert (whole.points, whole.known, whole.looked, one.looked) == (20, 0, 20, 1)
    assert whole.largest == "alltoall on ring:40"
    assert 0 < one.seconds < 100
    known = {identity(point.describe()) for point in points[:18]}
    few = estimated(points, known)
    assert (few.known, few.looked) == (18, 2)
    assert 0 < few.seconds < whole.seconds
    nothing = estimated(points[:18], known)
    assert (nothing.known, nothing.looked, nothing.memory, nothing.seconds, nothing.largest) == (18, 0, 0, 0.0, "")


def test_estimates_count_what_is_tried_and_what_fails():
    def seconds(**words):
        return estimated([asked_point(words)], set()).seconds

    one = {"network": "jellyfish:n=32,d=4", "task": "allreduce"}
    plain = seconds(**one)
    assert seconds(**one, bytes="1MiB", bandwidth="1GB/s") > plain  # links with times
    assert seconds(**one, kind="faults", sample=5) > 5 * plain
    assert seconds(**one, kind="faults", sample=3) < seconds(**one, kind="faults", sample=9)
    assert seconds(network="torus:4x4", task="alltoall", algorithm="no such") < 0.1  # a refusal takes no time
    assert seconds(network="torus:4x4", task="alltoall", algorithm="edge-colored") < seconds(
        network="torus:4x6", task="alltoall"
    )
    assert estimated([asked_point({"network": "torus:4000x4000", "task": "broadcast"})], set()).memory > 10**8


def test_a_report_is_written_as_a_page_a_picture_and_a_table(study, capsys, tmp_path):
    main(["sweep", "small.toml", "--engine", "in-process"])
    words = ["sweep", "report", "small.parquet", "--study", "small.toml", "-o", "r.html", "-o", "r.svg", "-o", "r.csv"]
    assert main(words) == 0
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") == 2
    assert page.count("<h2>") == 3
    assert "small ones" in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert "<svg" in (tmp_path / "r.svg").read_text()
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 12
    main(words)
    assert (tmp_path / "r.html").read_text() == page
    capsys.readouterr()
    assert main(["sweep", "report", "small.parquet", "--where", "nodes == 8", "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert [row["network"] for row in group["rows"]] == ["ring:8"]


def test_points_in_options_halves_and_a_merge(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = ["sweep", "--task", "allgather,broadcast", "--engine", "in-process"]
    assert main([*base, "--network", "ring:{4..6}", "-o", "a.parquet"]) == 0
    assert main([*base, "--network", "ring:{6..8}", "-o", "b.parquet"]) == 0
    assert main([*base, "--network", "ring:{4..8}", "-o", "all.parquet"]) == 0
    assert main(["sweep", "merge", "a.parquet", "b.parquet", "-o", "ab.parquet"]) == 0
    assert "10 points" in capsys.readouterr().out
    assert (tmp_path / "ab.parquet").read_bytes() == (tmp_path / "all.parquet").read_bytes()


def test_simulations_are_points_too(capsys):
    words = [
        "--kind",
        "dynamic",
        "--network",
        "hypercube:3",
        "--set",
        "scheme=fifo,optimal",
        "--set",
        "load=0.2:0.4:0.2",
    ]
    assert main(["sweep", *words, "--set", "steps=200", "--engine", "in-process"]) == 0
    assert "optimal  0.4" in capsys.readouterr().out
    words = ["--kind", "saturation", "--network", "torus:4x4", "--set", "buffer_depth=1,4", "--set", "measured=500"]
    assert main(["sweep", *words, "--set", "warmup=200", "--set", "resolution=0.2", "--engine", "in-process"]) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name a study"),
        (["none.toml"], "no such file: 'none.toml'"),
        (["--network", "ring:4"], "needs 'task'"),
        (["--network", "ring:4", "--task", "allgather", "--where", "nodes > 9"], "no point meets the conditions"),
        (["--network", "ring:4", "--task", "allgather", "--where", "import os"], "cannot read the formula"),
        (["--network", "ring:4", "--task", "allgather", "--set", "steps"], "--set must be a word and its values"),
        (["--network", "ring:4", "--task", "allgather", "--set", "budget=3"], "has no 'budget'"),
        (["--network", "ring:4", "--task", "allgather", "--engine", "threads"], "engine must be 'in-process'"),
        (["--network", "ring:4", "--task", "allgather", "-o", "x.csv"], "ends in .parquet"),
        (["--network", "ring:4", "--task", "allgather", "-o", "no/x.parquet"], "cannot write"),
        (["report", "none.parquet"], "no such file"),
        (["merge", "a.parquet"], "'--output'"),
        (["bad.toml"], "is no TOML"),
        (["odd.toml"], "has 'pionts' (did you mean 'points'?)"),
        (["empty.toml"], "needs a table [points]"),
    ],
)
def test_bad_words_get_one_line_and_status_2(words, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text("[points\n")
    (tmp_path / "odd.toml").write_text("[pionts]\n")
    (tmp_path / "empty.toml").write_text("points = []\n")
    if words == []:
        words = ["--task", "allgather"]
    assert main(["sweep", *words]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1


def test_failed_points_give_status_1_and_refused_ones_do_not(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [
        "sweep",
        "--network",
        "ring:8",
        "--network",
        "torus:300x300",
        "--task",
        "alltoall",
        "--engine",
        "in-process",
    ]
    assert main([*words, "--memory", "10MB"]) == 1
    assert "too large  it needs about" in capsys.readouterr().out
    assert (
        main(["sweep", "--network", "ring:0", "--network", "ring:4", "--task", "allgather", "--engine", "in-process"])
        == 0
    )
    assert "refused" in capsys.readouterr().out


def test_results_of_another_kind_are_refused(study):
    with pytest.raises(FileFormatError, match="no such file"):
        read_study("nowhere.toml")
