"""What the page on the five papers names is there: commands, objects, and the tables and pictures of the pages."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest

import gossamer
from command_lines import parsed
from gossamer.algorithms.registry import ALGORITHMS
from gossamer.cli import main
from gossamer.simulation.random_arrivals.schemes import SCHEMES
from gossamer.studies.reproductions import REPRODUCTIONS
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))

from generating.coverage import KINDS, coverage, coverage_page, pictures_of_paper  # noqa: E402

ROWS = [(source, row) for source, part in coverage().items() for row in part["rows"]]
COMMANDS = sorted({command for _, row in ROWS for command in row.get("run", [])})
OBJECTS = sorted({name for _, row in ROWS for name in row.get("use", [])})


def imported(name):
    """Return the object of a dotted name."""
    words = name.split(".")
    for cut in range(len(words), 0, -1):
        try:
            found = importlib.import_module(".".join(words[:cut]))
        except ModuleNotFoundError:
            continue
        for word in words[cut:]:
            found = getattr(found, word)
        return found
    raise ModuleNotFoundError(name)


def test_every_source_is_told_and_every_row_says_where_or_why_not():
    assert set(coverage()) == set(REPRODUCTIONS)
    for source, row in ROWS:
        assert row["kind"] in KINDS, (source, row)
        assert set(row) <= {"kind", "place", "what", "run", "use", "shows", "why"}
        assert any(row.get(key) for key in ("run", "use", "shows", "why")), (source, row["what"])
    assert len(ROWS) > 100


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_read_and_name_what_there_is(command):
    parsed(command)
    words = shlex.split(command)
    if words[0] in ("plan", "bounds") or words[:2] == ["simulate", "arrivals"]:
        assert gossamer.network(words[2 if words[0] == "simulate" else 1]).node_count > 0
    for option, known in (
        ("--algorithm", {a.name for a in (*ALGORITHMS, *WORMHOLE_ALGORITHMS)}),
        ("--scheme", {*SCHEMES, "varvarigos-bertsekas"}),
    ):
        if option in words:
            assert set(words[words.index(option) + 1].split(",")) <= known


@pytest.mark.parametrize("command", [c for c in COMMANDS if not c.startswith("reproduce")])
def test_commands_do_what_they_say(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demands.csv").write_text("origin,destinations\n0,12\n", encoding="utf-8")
    assert main(shlex.split(command)) == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    if command.startswith("plan"):
        assert re.search(r"^verified +yes", out, re.MULTILINE), out


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_can_be_imported(name):
    assert imported(name) is not None


def test_tests_that_a_reason_names_are_there():
    named = {name for _, row in ROWS for name in re.findall(r"`(test_\w+)`", row.get("why", ""))}
    assert len(named) >= 4
    text = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    assert not {name for name in named if f"def {name}(" not in text}


def test_commands_that_are_wrong_are_noticed():
    for wrong in ("plan torus:5x5 allgather --algoritm greedy", "plot torus:5x5", "plan"):
        with pytest.raises(Exception, match=r"(?i)no such|missing|unexpected|plot"):
            parsed(wrong)
    with pytest.raises(AttributeError):
        imported("gossamer.planning.planner.plans")


def test_headings_are_those_of_the_pages():
    for source, part in coverage().items():
        page = (DOCS / "papers" / f"{part['page']}.md").read_text(encoding="utf-8")
        headings = set(re.findall(r"^## (.*)$", page, re.MULTILINE))
        named = {title for row in part["rows"] for title in row.get("shows", [])}
        assert named <= headings, (source, named - headings)


def test_the_page_is_that_of_the_data():
    assert (DOCS / "papers" / "coverage.md").read_text(encoding="utf-8") == coverage_page()


def test_a_page_lists_the_tables_and_figures_of_its_paper_and_names_those_left_out():
    for source, part in coverage().items():
        text = pictures_of_paper(source)
        for row in part["rows"]:
            if row["kind"] in ("table", "figure"):
                assert f"| {row['place']} | {row['what']} |" in text
                assert row.get("shows") or row.get("run") or row["why"]
    assert "None is left out." in pictures_of_paper("chen-chen")
    assert "Left out: Figs. 1.1, 1.2, 1.3, Fig. 2.2, Fig. 3.10." in pictures_of_paper("han")
    assert "| `gossamer network torus:4x3 -o torus.svg`" in pictures_of_paper("dimakopoulos")
    assert "Table 1.1, Table 5.1" not in pictures_of_paper("han").splitlines()[2]
