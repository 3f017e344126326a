"""The examples run as shown, and what they print about themselves is true."""

from __future__ import annotations

import csv
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

import gossamer

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "tutorials" / "example_fixed_point.md"


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    """Run the script as a user would, in an empty folder; return what it printed and the folder."""
    folder = tmp_path_factory.mktemp("example")
    tested = str(Path(gossamer.__file__).parents[1])  # PYTHONPATH may be relative
    done = subprocess.run(
        [sys.executable, EXAMPLES / "fixed_point.py", "--plot", "curve.svg", "--csv", "curve.csv"],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONPATH": tested},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, folder


@pytest.fixture
def example(monkeypatch, capsys):
    """Run the script in this process; return its exit status, output and errors."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    script = importlib.import_module("fixed_point")

    def run(*words):
        try:
            status = script.main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        return (status, *capsys.readouterr())

    yield run
    for name in ("fixed_point", "import_graph"):
        sys.modules.pop(name, None)


def listed(output):
    """Return the rows of the table of iterations as (label, active, partial, control, full, cheaper, bound, error)."""
    lines = output.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == ["iteration"])
    rows = [line.split() for line in lines[first + 1 : lines.index("", first)]]
    return [(row[0], *map(float, row[1:])) for row in rows]


def number_after(words, output):
    return float(re.search(re.escape(words) + r" (-?[\d.]+)", output)[1])


def thresholded(graph, tolerance, accuracy, d=0.85):
    """Iterate with dictionaries, one component a node; return active counts, errors, and bounds on their sum."""
    n = len(graph)
    strength = {u: sum(data["weight"] for _, _, data in graph.edges(u, data=True)) for u in graph}
    exact = nx.pagerank(graph, alpha=d, tol=1e-14, max_iter=1000)
    told = dict.fromkeys(graph, 1 / n)
    active, known = [], [2.0]
    while known[-1] > accuracy:
        new = {v: (1 - d) / n + d * sum(graph[u][v]["weight"] / strength[u] * told[u] for u in graph[v]) for v in graph}
        moved = {v: new[v] - told[v] for v in graph if abs(new[v] - told[v]) > tolerance / n}
        told.update({v: new[v] for v in moved})
        known.append((d * sum(map(abs, moved.values())) + (n - len(moved)) * tolerance / n) / (1 - d))
        if not moved:
            break
        active.append(len(moved))
    return active, [abs(told[v] - exact[v]) for v in graph], known[1:]


def test_the_page_shows_what_the_script_prints(default):
    shown = re.search(r"```sh\npython examples/fixed_point.py\n```\n\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert shown[1] == default[0], (
        "put the output of python examples/fixed_point.py into docs/tutorials/example_fixed_point.md"
    )


def test_steps_saved_are_those_of_the_table(default):
    output, _ = default
    *iterations, total = listed(output)
    assert total[0] == "sum"
    for column in range(1, 6):
        assert total[column] == pytest.approx(sum(row[column] for row in iterations), abs=0.005 * len(iterations))
    saved = sum(row[4] - row[2] for row in iterations)
    assert number_after("saved by the partial broadcast:", output) == pytest.approx(saved, abs=0.05)
    saved = sum(row[4] - row[5] for row in iterations)
    assert number_after("saved by the cheaper of the two:", output) == pytest.approx(saved, abs=0.05)
    assert saved > 0


def test_no_broadcast_beats_its_bound_and_the_cheaper_one_is_the_cheaper(default):
    for _, _, partial, control, full, cheaper, bound, _ in listed(default[0])[:-1]:
        assert bound <= partial
        assert cheaper == pytest.approx(min(partial, control + full), abs=0.011)


def test_active_nodes_errors_and_bounds_are_those_of_a_plain_computation(default):
    output, _ = default
    active, errors, known = thresholded(nx.les_miserables_graph(), 0.01, 0.1)
    rows = listed(output)[:-1]
    assert [row[1] for row in rows] == active
    assert [row[7] for row in rows] == pytest.approx(known, abs=6e-5)
    assert number_after("sum of the errors", output) == pytest.approx(sum(errors), abs=6e-5)
    assert number_after("largest", output) == pytest.approx(max(errors), abs=6e-6)
    assert sum(errors) <= known[-1] <= 0.1


def test_csv_and_picture_hold_the_iterations(default):
    output, folder = default
    assert sorted(path.name for path in folder.iterdir()) == ["curve.csv", "curve.svg"]
    with (folder / "curve.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = [row for row in rows if row["network"] == rows[0]["network"]]
    assert [float(row["partial"]) for row in first] == pytest.approx([r[2] for r in listed(output)[:-1]], abs=0.006)
    assert {row["network"] for row in rows} == set(re.findall(r"^ *(\S+:\S*\w) +\d+ ", output, re.M))
    words = {element.text for element in ElementTree.parse(folder / "curve.svg").iter() if element.text}
    assert {"active nodes", "steps", "iteration", "full broadcast", "partial broadcast", "8"} <= words


def test_a_silent_end_costs_the_control_packets_that_find_it_out(example):
    status, output, _ = example("--network", "hypercube:6", "--tolerance", 0.05, "--accuracy", 0.01)
    assert status == 0
    *iterations, end, total = listed(output)
    assert end[:3] == ("end", 0, pytest.approx(1.2))
    assert total[2] == pytest.approx(sum(row[2] for row in [*iterations, end]), abs=0.1)
    assert number_after("known to be at most", output) == pytest.approx(0.05 / 0.15, abs=1e-4)
    assert number_after("sum of the errors", output) <= 0.05 / 0.15


def test_without_control_time_and_split_packets_times_are_whole(example, tmp_path):
    words = ("--network", "array:5x5", "--whole", "--control-time", 0, "--tolerance", 0.1, "--accuracy", 1)
    status, output, _ = example(*words, "--plot", tmp_path / "a.png")
    assert status == 0
    assert "2 of 25 nodes hold 4 components, the others 3" in output
    for row in listed(output)[:-1]:
        assert row[3] == 0
        assert row[2] == int(row[2])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--network", "torus:0"), "side"),
        (("--network", "star:4"), "no algorithm"),
        (("--graph", "moby-dick"), "les-miserables"),
        (("--graph", "imports:no_such_package"), "no_such_package"),
        (("--damping", "1"), "between 0 and 0.99"),
        (("--tolerance", "nan"), "between"),
        (("--tolerance", "9.9"), "smaller"),
        (("--control-time", "2"), "[0, 1]"),
        (("--plot", "curve.gif"), ".svg"),
        (("--network", "array:2", "--csv", "nowhere/a.csv"), "nowhere"),
    ],
)
def test_bad_options_end_with_status_2_and_one_line(example, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    status, _, errors = example(*words)
    assert status == 2
    assert expected in errors.splitlines()[-1]
    assert len([line for line in errors.splitlines() if line.startswith("fixed_point.py")]) <= 1
    assert list(tmp_path.iterdir()) == []


def test_the_import_graph_has_an_edge_for_each_import_inside_the_package(tmp_path, monkeypatch):
    files = {
        "__init__.py": "from . import a\n",
        "a.py": "import os, tiny.sub.deep\nfrom tiny.b import name\n",
        "b.py": "def later():\n    from .sub import deep\n",
        "broken.py": "def (:\n",
        "sub/__init__.py": "from .deep import x\nfrom .. import b as other\n",
        "sub/deep.py": "from ...elsewhere import y\n",
        "tests/test_a.py": "import tiny.a\n",
    }
    for name, text in files.items():
        path = tmp_path / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    graph = importlib.import_module("import_graph").import_graph("tiny")
    sys.modules.pop("import_graph")
    assert set(graph) == {"tiny", "tiny.a", "tiny.b", "tiny.broken", "tiny.sub", "tiny.sub.deep"}
    assert set(graph.edges) == {
        ("tiny", "tiny.a"),
        ("tiny.a", "tiny.sub.deep"),
        ("tiny.a", "tiny.b"),
        ("tiny.b", "tiny.sub.deep"),
        ("tiny.sub", "tiny.sub.deep"),
        ("tiny.sub", "tiny.b"),
    }
    assert "tiny" not in sys.modules
