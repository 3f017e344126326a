"""Parquet files are refused by what they say of their sizes, or by what their texts would take, before it is taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import FileFormatError
from gossamer.reading import parquet
from gossamer.reading.parquet import parquet_table

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"


def written(folder, table, **options):
    pq.write_table(table, folder / "x.parquet", **options)
    return folder / "x.parquet"


def test_a_table_comes_back_as_it_was_with_its_texts_written_out(tmp_path):
    table = pa.table(
        {
            "text": ["a", None, "b" * 100, "a"],
            "kind": pa.array(["x", "y", "x", None]).dictionary_encode(),
            "list": [["a", "b"], [], None, ["a"]],
            "number": [1, 2, None, 4],
            "bytes": [b"\xff", b"", None, b"\xff"],
        }
    )
    found = parquet_table(written(tmp_path, table, row_group_size=3))
    assert found.to_pylist() == table.to_pylist()
    assert found.schema.field("kind").type == pa.string()
    assert parquet_table(tmp_path / "x.parquet", ["number", "text"]).column_names == ["number", "text"]


def test_a_column_that_is_missing_or_there_twice_is_told_in_one_line(tmp_path):
    path = written(tmp_path, pa.table({"node": [1], "tim": [2]}))
    with pytest.raises(FileFormatError, match=r"x\.parquet': there is no column 'time', only 'node, tim'"):
        parquet_table(path, ("time", "node"))
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["node", "node"])
    with pytest.raises(FileFormatError, match="there are two columns of one name"):
        parquet_table(written(tmp_path, twice))


def test_a_long_text_in_every_row_is_counted_before_it_is_written_out(tmp_path, monkeypatch):
    path = written(tmp_path, pa.table({"text": ["x" * 20_000] * 25_000}))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(parquet, "_plain", None)  # 500 MB
    with pytest.raises(FileFormatError, match="unpacks to far more than its size warrants"):
        parquet_table(path)


@pytest.mark.parametrize(
    ("column", "told"),
    [([0] * 400_000, "claims 400,000 rows"), (["x" * 3_000_000], r"claims 3,000,\d+ bytes in 1 row")],
)
def test_sizes_that_a_file_claims_are_compared_before_it_is_unpacked(tmp_path, monkeypatch, column, told):
    path = written(tmp_path, pa.table({"x": column}))
    monkeypatch.setattr(parquet, "_LEAST", 1_000_000)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    with pytest.raises(FileFormatError, match=told):
        parquet_table(path)


def test_more_rows_than_are_allowed_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="has 3 rows; at most 2"):
        parquet_table(written(tmp_path, pa.table({"x": [1, 2, 3]})), most_rows=2)


def test_a_description_of_a_column_that_is_damaged_does_not_end_the_process():
    """Looking at the sizes of this file's columns ends the process from within the library that reads it."""
    command = [
        sys.executable,
        "-m",
        "gossamer",
        "simulate",
        "arrivals",
        "ring:4",
        "--trace",
        str(HOSTILE / "column_sizes.parquet"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("gossamer: ")
