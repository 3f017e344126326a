"""Reproductions: what they print is the sources' tables, with every measured time between its bounds."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from gossamer.cli import main
from gossamer.errors import TaskError
from gossamer.experiments import REPRODUCTIONS, reproduction
from gossamer.experiments import varvarigos_bertsekas as vb
from gossamer.experiments.table import Table, number


@pytest.fixture(scope="module")
def tables():
    return {t.title.split(" (")[0]: t for t in vb.tables()}


def column(table, name, which=0):
    places = [i for i, c in enumerate(table.columns) if c == name]
    return [row[places[which]] for row in table.rows]


def test_multinode_broadcast_takes_what_theorem_1_claims(tables):
    table = tables["Multinode broadcast on p x p nodes"]
    assert column(table, "torus claimed") == column(table, "measured", 0) == [2, 4, 6, 9, 12, 16, 20, 25]
    assert column(table, "array claimed") == column(table, "measured", 1) == [4, 8, 12, 18, 24, 32, 40, 50]
    assert column(table, "measured", 0) == column(table, "bound", 0)


def test_partial_multinode_broadcast_lies_between_its_bounds(tables):
    table = tables["Partial multinode broadcast"]
    assert len(table.rows) == 20
    for variant, upper, which in (("split", "(5a)/(6a)", 0), ("whole", "(5b)/(6b)", 1)):
        rows = zip(column(table, "bound", which), column(table, variant), column(table, upper), strict=True)
        assert all(low <= measured <= high for low, measured, high in rows)
    assert column(table, "split")[:6] == [3, Fraction(7, 2), 4, Fraction(21, 4), Fraction(27, 4), 8]


def test_curves_lie_between_their_bounds():
    for curve in vb.curves():
        assert list(curve.x) == sorted(set(curve.x))
        assert all(a <= b <= c for a, b, c in zip(curve.lower, curve.measured, curve.upper, strict=True))


def test_table_prints_for_terminal_markdown_and_json():
    table = Table("Title", ("name", "value"), (("a", 1), ("bb", Fraction(1, 3)), ("c", None)), "Note.")
    lines = ["Title", "", "name  value", "----  -----", "a         1", "bb    0.333", "c         -", "", "Note."]
    assert table.text().splitlines() == lines
    assert "| bb | 0.333 |" in table.markdown()
    assert json.loads(json.dumps(table.to_dict()))["rows"] == [["a", 1], ["bb", "1/3"], ["c", None]]
    assert number(Fraction(5, 1)) == "5"


def test_every_reproduction_has_tables_and_curves():
    for name in REPRODUCTIONS:
        assert callable(reproduction(name).tables)
        assert callable(reproduction(name).curves)
    with pytest.raises(TaskError, match="nothing to reproduce is called 'varvarigos'"):
        reproduction("varvarigos")


def test_command_prints_draws_and_refuses_bad_input(capsys, tmp_path):
    assert main(["reproduce", "varvarigos-bertsekas", "--figure", str(tmp_path / "curves.svg")]) == 0
    assert "Partial multinode broadcast (Theorem 6" in capsys.readouterr().out
    assert (tmp_path / "curves.svg").stat().st_size > 10_000
    assert main(["reproduce", "nothing"]) == 2
    assert main(["reproduce", "varvarigos-bertsekas", "--figure", str(tmp_path / "curves.doc")]) == 2
    _, err = capsys.readouterr()
    assert err.count("\n") == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["curves.svg"]
