"""Traffic in files: matrices and tables of demands, read or refused in one line with the place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import FileFormatError, GossamerError, TaskError
from gossamer.reading.traffic_files import TrafficTable, in_units, read_traffic
from gossamer.simulation.flits.destinations import read_demands

HEAD = "origin,contributors,destinations,packets\n"


def written(tmp_path, name, content):
    path = tmp_path / name
    if isinstance(content, np.ndarray):
        np.save(path, content)
    elif isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(
    ("name", "content", "matrix"),
    [
        ("x.npy", np.array([[0, 2], [1, 0]], np.uint8), [[0, 2], [1, 0]]),
        ("x.npy", np.array([[0.0, 2.0], [1.0, 0.0]]), [[0, 2], [1, 0]]),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n", [[0, 5], [0, 0]]),
        ("x.mtx", "%%MatrixMarket matrix array integer symmetric\n2 2\n0\n7\n0\n", [[0, 7], [7, 0]]),
        ("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n", [[0, 5], [5, 0]]),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 0\n", [[0, 0], [0, 0]]),
        ("x.csv", "# a matrix\n0, 3\n\n4, 0\n", [[0, 3], [4, 0]]),
    ],
)
def test_matrices(tmp_path, name, content, matrix):
    found = read_traffic(written(tmp_path, name, content), 2)
    assert found.matrix.tolist() == matrix
    assert not found.rows


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("x.csv", HEAD + "0,,1 2-3,2\n", [(0, [], [1, 2, 3], 2)]),
        ("x.csv", HEAD + "0,,all,\n", [(0, [], [1, 2, 3], 1)]),
        ("x.csv", "contributors,destinations\n0;2,1\n", [(-1, [0, 2], [1], 1)]),
        ("x.json", '{"demands": [{"origin": 1, "destinations": [2, 3]}]}', [(1, [], [2, 3], 1)]),
        ("x.json", '{"rows": [{"origin": 1, "destinations": "0", "packets": 4}]}', [(1, [], [0], 4)]),
        ("x.parquet", {"Origin": [1, 2], "destinations": [[2], [0, 1]], "packets": [3, 1]},
         [(1, [], [2], 3), (2, [], [0, 1], 1)]),
        ("x.parquet", {"origin": [1.0, None], "contributors": [None, "0 1"], "destinations": ["2", "3"]}, None),
        ("x.parquet", {"origin": pa.array([1, None]), "contributors": [None, "0 1"], "destinations": ["2", "3"]},
         [(1, [], [2], 1), (-1, [0, 1], [3], 1)]),
    ],
)  # fmt: skip
def test_tables(tmp_path, name, content, rows):
    path = written(tmp_path, name, content)
    if rows is None:
        with pytest.raises(FileFormatError, match=r"row 0: origin 1.0 is no node number"):
            read_traffic(path, 4)
    else:
        found = read_traffic(path, 4)
        assert found.rows == rows
        assert found.matrix is None


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.txt", "0", "is of no known kind"),
        ("x.npy", np.array([1, 2]), "must hold a matrix of whole numbers, got int64 values in 1 dimensions"),
        ("x.npy", np.array([[1, 2]], complex), "must hold a matrix of whole numbers, got complex128"),
        ("x.npy", np.array([[0, 0.5], [0, 0]]), "row 0: the value for node 1 is 0.5; it must be whole"),
        ("x.npy", np.array([[0, np.nan], [0, 0]]), "row 0: the value for node 1 is nan"),
        ("x.npy", np.array([[0, 0], [2**63, 0]], np.uint64), "row 1: the value for node 0 is 9223372036854775808"),
        ("x.mtx", "%%MatrixMarket matrix array pattern general\n1 1\n1\n", "'pattern' says nothing"),
        ("x.mtx", "%%MatrixMarket matrix array real symmetric\n1 2\n1\n", "a symmetric matrix must be square"),
        ("x.csv", "", "is empty"),
        ("x.csv", "0,1\n", "line 1: there are 2 values in a matrix of 1 rows"),
        ("x.csv", "0,-1\n1,0\n", "line 1: an amount must be a whole number"),
        ("x.csv", '"0\r1\n', "line 1: an amount must be a whole number"),
        ("x.csv", "0,1\n" + "1" * 200_000 + ",0\n", "line 2: field larger than field limit"),
        ("x.csv", "origin,weight\n", "line 1: column 'weight' is unknown"),
        ("x.csv", "origin,origin,destinations\n", "line 1: column 'origin' is given twice"),
        ("x.csv", "origin,packets\n", "line 1: a table needs columns destinations, and origin or contributors"),
        ("x.csv", "origin,destinations,packets,bytes\n", "line 1: a table has packets or bytes, not both"),
        ("x.csv", HEAD + "0,,1\n", "line 2: there are 3 values for 4 columns"),
        ("x.csv", HEAD + ",,1,1\n", "line 2: a row has an origin or contributors"),
        ("x.csv", HEAD + "0,1,2,1\n", "line 2: a row has an origin or contributors, not both"),
        ("x.csv", HEAD + "0 1,,2,1\n", "line 2: a message has one origin, got 2"),
        ("x.csv", HEAD + "0,,x,1\n", "line 2: destinations 'x' is no node number"),
        ("x.csv", HEAD + "0,,3-1,1\n", "line 2: destinations: the range 3-1 is empty"),
        ("x.csv", HEAD + "0,,0-4000000000,1\n", "destinations"),
        ("x.csv", HEAD + "0,,4,1\n", "line 2: destinations 4 is outside 0..3"),
        ("x.csv", HEAD + "0,,1,many\n", "line 2: an amount must be a whole number that is 0 or more, got 'many'"),
        ("x.json", "[" * 200_000, "nested too deeply"),
        ("x.json", "[]", "must hold an object with 'demands', 'contributions' or 'rows'"),
        ("x.json", '{"demands": 1}', "'demands' must be a list of rows"),
        ("x.json", '{"demands": [1]}', "demands 0: a row must be an object, got 1"),
        ("x.json", '{"demands": [{"origin": 1, "destinations": [true]}]}', "destinations True is no node number"),
        ("x.json", '{"demands": [{"origin": 1, "destinations": [2], "packets": true}]}', "an amount must be"),
        ("x.json", '{"demands": [{"origin": -5, "destinations": [2]}]}', "origin -5 is no node number"),
        ("x.parquet", {"origin": [1], "weight": [2]}, "column 'weight' is unknown"),
    ],
)  # fmt: skip
def test_what_is_no_traffic_is_refused_in_one_line_with_the_place(tmp_path, name, content, told):
    with pytest.raises(GossamerError) as caught:
        read_traffic(written(tmp_path, name, content), 4)
    assert told in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_table_of_too_many_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.reading.traffic_files._MOST_ROWS", 2)
    with pytest.raises(FileFormatError, match=r"line 4: a table has at most 2 rows"):
        read_traffic(written(tmp_path, "x.csv", HEAD + "0,,1,1\n" * 3), 4)
    with pytest.raises(FileFormatError, match=r"has 3 rows; at most 2"):
        read_traffic(written(tmp_path, "x.parquet", {"origin": [1] * 3, "destinations": [2] * 3}), 4)


def test_bytes_become_packets():
    table = TrafficTable(None, [(0, [], [1], 5), (1, [], [2], 8), (2, [], [0], 0)], ["", "", ""], True)
    assert [row[3] for row in in_units(table, 4).rows] == [2, 2, 0]
    with pytest.raises(TaskError, match="a packet has at least 1 byte, got 0"):
        in_units(table, 0)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.npy", np.zeros((2, 2), complex), "holds no table of demands, but complex128 values"),
        ("x.npy", np.zeros((2, 3)), "holds no square table of demands, but one of shape (2, 3)"),
        ("x.npy", np.zeros((0, 0)), "holds no square table of demands, but one of shape (0, 0)"),
        ("x.txt", "0 1\n1\n", "holds no table of demands"),
        ("x.txt", "0 one\n1 0\n", "could not convert string to float: 'one'"),
    ],
)
def test_demands_of_traffic_are_a_square_table(tmp_path, name, content, told):
    with pytest.raises(FileFormatError) as caught:
        read_demands(written(tmp_path, name, content))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_demands_of_traffic_come_from_text_and_arrays_alike(tmp_path):
    text, array = (
        written(tmp_path, *x) for x in (("x.txt", "# two\n0, 2\n1 0\n"), ("x.npy", np.array([[0, 2], [1, 0]])))
    )
    assert read_demands(text).tolist() == read_demands(array).tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "origin,destinations\n" + "0,1\n" * 1_200_000),
        ("x.json", '{"rows": [' + '{"origin":0,"destinations":1},' * 700_000 + "{}]}"),
    ],
)
def test_a_table_of_rows_beyond_memory_is_refused_by_counting_them(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"would take about \d+ MB, too much for its \d+ MB"):
        read_traffic(path, 8)


def test_a_column_is_no_matrix_and_takes_no_memory(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1\n" * 300_000)
    with pytest.raises(FileFormatError, match="line 2: there are 1 values in a matrix of 300000 rows"):
        read_traffic(path, 8)
