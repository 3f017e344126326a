"""The example that transposes a matrix: it covers all messages with the fewest active nodes, and checks the result."""

from __future__ import annotations

import importlib
import itertools
import re
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(EXAMPLES))
    yield importlib.import_module("transpose")
    sys.path.remove(str(EXAMPLES))
    sys.modules.pop("transpose", None)


@pytest.fixture
def example(script, capsys):
    """Run the script in this process; return its exit status, output and errors."""

    def run(*words):
        try:
            status = script.main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        return (status, *capsys.readouterr())

    return run


def test_the_made_matrix_is_transposed_in_fewer_steps_than_by_a_total_exchange(example):
    status, output, _ = example()
    assert status == 0
    pairs = re.findall(r"by exchange and gather (\d+) steps, by total exchange (\d+)", output)
    assert len(pairs) == 2
    assert all(int(a) < int(b) for a, b in pairs)
    assert output.count("entries, all where they belong") == 2
    for row in re.findall(r"^ +partial-\w+ +\d+ +(\d+) +(\d+)", output, re.M):
        assert int(row[0]) >= int(row[1])


def test_a_matrix_market_file_with_one_dense_row_needs_an_exchange_alone(example, tmp_path):
    matrix = scipy.sparse.lil_array((12, 12))
    matrix[5, :] = np.arange(1, 13)
    matrix.setdiag(7)
    scipy.io.mmwrite(tmp_path / "arrow.mtx", matrix.tocoo())
    status, output, _ = example("--matrix", tmp_path / "arrow.mtx", "--network", "array:3x4", "--control-time", "1/2")
    assert status == 0
    assert "11 messages of 1 entries" in output
    assert re.search(r"partial-exchange +1 ", output)
    assert "partial-gather" not in output
    assert "23 entries, all where they belong" in output


def test_a_diagonal_matrix_needs_no_message(example, tmp_path):
    scipy.io.mmwrite(tmp_path / "d.mtx", scipy.sparse.coo_array(np.eye(8)))
    status, output, _ = example("--matrix", tmp_path / "d.mtx", "--network", "ring:4")
    assert status == 0
    assert "by exchange and gather 0 steps" in output


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_active_nodes_are_the_fewest_that_cover_all_messages(script, pairs):
    pairs = sorted(p for p in pairs if p[0] != p[1])
    source, target = (np.array([p[k] for p in pairs], int) for k in (0, 1))
    rows, columns = script.active_sets(source, target, 6)
    assert all(u in rows or v in columns for u, v in pairs)
    ends = sorted({("row", u) for u, _ in pairs} | {("column", v) for _, v in pairs})
    least = next(
        size
        for size in range(len(ends) + 1)
        for cover in itertools.combinations(ends, size)
        if all(("row", u) in cover or ("column", v) in cover for u, v in pairs)
    )
    assert len(rows) + len(columns) == least


def test_a_message_that_went_astray_is_noticed(script):
    import gossamer

    matrix = scipy.sparse.coo_array(np.eye(4)[[1, 0, 2, 3]])
    plan = gossamer.plan("array:4", gossamer.task("partial-exchange", active=[0, 1]))
    owner = script.owners(4, 4)
    right = scipy.sparse.csr_array(matrix.T)
    assert (script.transposed(matrix, owner, [plan]) != right).nnz == 0
    assert (script.transposed(matrix, owner, []) != right).nnz == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--matrix", "nowhere.mtx"), "nowhere.mtx"),
        (("--network", "torus:0"), "side"),
        (("--control-time", "2"), "[0, 1]"),
    ],
)
def test_bad_options_end_with_status_2_and_one_line(example, words, expected):
    status, _, errors = example(*words)
    assert status == 2
    assert expected in errors.splitlines()[-1]


def test_other_files_are_refused(example, tmp_path):
    (tmp_path / "a.mtx").write_text("no matrix")
    scipy.io.mmwrite(tmp_path / "b.mtx", scipy.sparse.coo_array(np.ones((2, 3))))
    for name, words in (("a.mtx", "is not a Matrix Market file"), ("b.mtx", "2 x 3 matrix; it must be square")):
        status, _, errors = example("--matrix", tmp_path / name)
        assert status == 2
        assert words in errors.splitlines()[-1]


def test_it_runs_as_a_program_of_its_own():
    script = [sys.executable, str(EXAMPLES / "transpose.py"), "--network"]
    done = subprocess.run([*script, "array:8x8"], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "all where they belong" in done.stdout
    done = subprocess.run([*script, "tours:4x4"], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert "unknown network family 'tours'" in done.stderr.splitlines()[-1]
