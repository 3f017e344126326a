"""Designs as sweeps: the same on every engine, gone on with, one file for several degrees."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.cli import main
from gossamer.studies.design import Wishes, designs
from gossamer.studies.design import design_sweeps as module
from gossamer.studies.design.design_sweeps import NetworkPoint, SearchPoint
from gossamer.studies.sweeps import read_results


def _told(found):
    return [(d.problem.degree, d.looked, d.to_dicts()) for d in found]


def test_a_design_is_the_same_on_every_engine_and_is_gone_on_with(tmp_path, monkeypatch) -> None:
    how = {"wishes": Wishes(families="semidirect,torus"), "rounds": 2, "parts": 2, "top": 2}
    store = tmp_path / "designs.parquet"
    first = designs(24, "3:4", **how, store=store, engine="in-process")
    assert [d.problem.degree for d in first] == [3, 4]
    for found in first:
        task = found.best.tasks[0]
        assert not gossamer.verify(task.outcome.schedule).violations
        assert task.time >= task.bound >= task.limit
    content = store.read_bytes()
    assert {row["kind"] for row in read_results(store).to_pylist()} == {"search", "network"}
    # a second call carries out nothing
    for point in (SearchPoint, NetworkPoint):
        monkeypatch.setattr(point, "run", lambda *_: pytest.fail("it was carried out again"))
    assert _told(designs(24, "3:4", **how, store=store, engine="in-process")) == _told(first)
    assert store.read_bytes() == content
    monkeypatch.undo()
    other = tmp_path / "other.parquet"
    assert _told(designs(24, "3:4", **how, store=other, engine="processes", jobs=2)) == _told(first)
    assert other.read_bytes() == content


def test_parts_search_with_chances_of_their_own() -> None:
    points = [SearchPoint(problem(), 1.0, 3, 5, part) for part in (0, 1)]
    rows = [point.run(lambda text: None) for point in points]
    assert rows[0]["candidates"] != rows[1]["candidates"]
    assert rows[0] == points[0].run(lambda text: None)
    assert points[0].describe() != points[1].describe()


def problem(wishes=None):
    from gossamer.studies.design.problem import Problem, read_goals

    return Problem((16, 16), 6, read_goals(["alltoall"]), wishes or Wishes())


def test_networks_without_a_spec_are_kept_by_their_links(tmp_path) -> None:
    wheel = tmp_path / "wheel.edges"
    wheel.write_text("".join(f"{u} {(u + d) % 16}\n" for u in range(16) for d in (1, 3)))
    how = {"wishes": Wishes(contains=f"edges:{wheel}"), "rounds": 1, "top": 2, "engine": "in-process"}
    one, again = (designs(16, 4, **how, store=tmp_path / "joined.parquet")[0] for _ in range(2))
    assert one.to_dicts() == again.to_dicts()
    assert one.best.candidate.network is not None
    assert one.found[-1].network == again.found[-1].network
    assert int(again.best.network.out_degree.max()) == 4


def test_a_placement_in_a_file_is_part_of_the_identity(tmp_path) -> None:
    path = tmp_path / "places.csv"
    told = []
    for x in (0, 1):
        path.write_text("".join(f"{x},{i},0\n" for i in range(16)))
        told.append(SearchPoint(problem(Wishes(placement=str(path))), 1.0, 1, 0, 0).describe())
    assert told[0] != told[1]


def test_a_store_that_says_something_else_is_refused(tmp_path, monkeypatch) -> None:
    how = {
        "rounds": 1,
        "top": 1,
        "store": tmp_path / "d.parquet",
        "engine": "in-process",
        "wishes": Wishes(families="torus"),
    }
    designs(16, 4, **how)
    real = module.found_of

    def other(*given):
        from dataclasses import replace

        found = real(*given)
        return replace(found, tasks=(replace(found.tasks[0], time=found.tasks[0].time + 1),))

    monkeypatch.setattr(module, "found_of", other)
    with pytest.raises(gossamer.GossamerError, match="another time"):
        designs(16, 4, **how)


def test_the_command_designs_for_several_degrees(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["design", "--nodes", "16", "--degree", "3:4", "--rounds", "3", "--top", "2", "--engine", "in-process"]
    assert main([*words, "--store", "d.parquet"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("networks of 16 nodes with at most") == 2
    assert "front of time against links:" in printed
    assert "wrote d.parquet" in printed
    assert main(["sweep", "report", "d.parquet", "--where", 'kind == "network"', "--measure", "time"]) == 0
    assert "front of time against" in capsys.readouterr().out
    for wrong, told in ((["--degree", "4:3"], "did you mean 3:4"), (["--degree", "six"], "degree must be"),
                        (["--degree", "4", "--parts", "0"], "parts"), (["--degree", "4", "--engine", "mpi"], "engine"),
                        (["--degree", "4", "--store", "d.csv"], ".parquet")):  # fmt: skip
        assert main(["design", "--nodes", "16", "--rounds", "1", *wrong]) == 2
        assert told in capsys.readouterr().err
