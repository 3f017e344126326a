"""Files of traffic: matrices of sources by destinations, and tables of demands and contributions."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, TaskError, shown
from gossamer.reading.files import (
    JSON_PIECES,
    check_pieces,
    file_name,
    guarded,
    read_array,
    read_bytes,
    read_json,
    read_text,
)
from gossamer.reading.matrix_market import MATRIX_MARKET, read_matrix
from gossamer.reading.parquet import open_parquet, parquet_batches
from gossamer.reading.quantities import nodes

_MOST_ROWS = 20_000_000
_ROW = 450
"""Bytes that a row takes, about."""
_SIDE = 2048
"""Of matrices that are read whatever the network is, so that the answer is the number of its terminals."""
_COLUMNS = ("origin", "contributors", "destinations", "packets", "bytes", "message")

Row = tuple[Any, list[int], list[int], int]
"""Origin (-1 in contribution rows), contributors, destinations, packets or bytes."""


class TrafficTable(NamedTuple):
    """What a file holds: a matrix, or rows with where each stands; and whether amounts are bytes."""

    matrix: npt.NDArray[np.int64] | None
    rows: list[Row]
    where: list[str]
    in_bytes: bool


def read_traffic(path: str | os.PathLike[str], node_count: int) -> TrafficTable:
    r"""Read a traffic matrix or a table of demands.

    `path`: ``.npy`` or Matrix Market (``.mtx``, ``.mtx.gz``, ``.mtx.bz2``): a square matrix, entry (u, v) what u sends
    v. ``.csv``: such a matrix, or a table whose first line names columns: ``origin`` or ``contributors``,
    ``destinations``, ``packets`` or ``bytes``, and if need be ``message``, a name. ``.parquet``: a table with these
    columns. ``.json``: ``{"demands": [...], "contributions": [...]}`` with rows of these keys, or ``{"rows": [...]}``.
    Several nodes are separated by spaces; ``0-7`` is a range, and ``all`` is every terminal. `node_count`: number of
    terminals, for ``all``. Raises `FileFormatError` if the file is missing, of no known kind or malformed, with the
    row. Raises `TaskError` if a row names a node that cannot be.

    Whether nodes exist, differ and sizes are legal is for the task to say. O(rows).

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "traffic.csv"
    >>> _ = path.write_text("origin,contributors,destinations,packets\n0,,1 2,3\n,0-2,2,1\n")
    >>> read_traffic(path, 3).rows
    [(0, [], [1, 2], 3), (-1, [0, 1, 2], [2], 1)]
    """
    ending = os.fspath(path).lower()
    if ending.endswith(".npy"):
        return TrafficTable(_whole_matrix(read_array(path), path), [], [], False)
    if ending.endswith(MATRIX_MARKET):
        return TrafficTable(_whole_matrix(read_matrix(path, max(node_count, _SIDE)), path), [], [], False)
    if ending.endswith(".csv"):
        return _csv(path, node_count)
    if ending.endswith(".parquet"):
        return _table(_parquet_rows(path), path, node_count)
    if ending.endswith(".json"):
        return _json(path, node_count)
    raise FileFormatError(f"{file_name(path)} is of no known kind; traffic is .csv, .parquet, .json, .npy or .mtx")


def in_units(traffic: TrafficTable, unit: int) -> TrafficTable:
    """Return traffic of bytes as packets of `unit` bytes, rounded up.

    Raises TaskError if `unit` is less than 1.

    >>> in_units(TrafficTable(np.array([[0, 5], [8, 0]]), [], [], False), 4).matrix.tolist()
    [[0, 2], [2, 0]]
    """
    if unit < 1:
        raise TaskError(f"a packet has at least 1 byte, got {unit}")
    matrix = None if traffic.matrix is None else -(-traffic.matrix // unit)
    rows = [(origin, shares, ends, -(-amount // unit)) for origin, shares, ends, amount in traffic.rows]
    return TrafficTable(matrix, rows, traffic.where, False)


def _whole_matrix(matrix: npt.NDArray[Any], path: str | os.PathLike[str]) -> npt.NDArray[np.int64]:
    """Return a matrix of whole numbers; FileFormatError if it has other values."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        said = f"{matrix.dtype} values in {matrix.ndim} dimensions"
        raise FileFormatError(f"{file_name(path)} must hold a matrix of whole numbers, got {said}")
    if matrix.dtype.kind == "f":
        wrong = np.argwhere(~(np.isfinite(matrix) & (matrix == np.floor(matrix)) & (np.abs(matrix) < 2.0**62)))
    else:
        wrong = np.argwhere(matrix >= 2**62) if matrix.dtype.kind == "u" else np.zeros((0, 2), int)
    for row, column in wrong[:1].tolist():
        raise FileFormatError(
            f"{file_name(path)}, row {row}: the value for node {column} is {matrix[row, column]}; it must be whole"
        )
    return matrix.astype(np.int64)


def _csv(path: str | os.PathLike[str], node_count: int) -> TrafficTable:
    lines = _csv_lines(path)
    at, first = next(lines, (0, []))
    if not first:
        raise FileFormatError(f"{file_name(path)} is empty; it must hold a matrix or a table of demands")
    if not any(re.search("[a-zA-Z]", word) for word in first):
        return TrafficTable(_csv_matrix((at, first), lines, path), [], [], False)
    columns = [word.strip().lower() for word in first]
    _check_columns(columns, f"{file_name(path)}, line {at}")
    check_pieces(path, read_bytes(path), {b"\n": _ROW})
    return _table(_csv_rows(columns, lines, path), path, node_count)


def _csv_rows(
    columns: list[str], lines: Iterator[tuple[int, list[str]]], path: str | os.PathLike[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for at, words in lines:
        if len(words) != len(columns):
            where = f"{file_name(path)}, line {at}"
            raise FileFormatError(f"{where}: there are {len(words)} values for {len(columns)} columns")
        yield f"line {at}", dict(zip(columns, words, strict=True))


def _csv_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(read_text(path)))
    try:
        for words in reader:
            if any(word.strip() for word in words) and not words[0].lstrip().startswith("#"):
                yield reader.line_num, words
    except csv.Error as error:
        raise FileFormatError(f"{file_name(path)}, line {reader.line_num}: {error}") from None


def _csv_matrix(
    first: tuple[int, list[str]], lines: Iterator[tuple[int, list[str]]], path: str | os.PathLike[str]
) -> npt.NDArray[np.int64]:
    """Return a matrix of as many rows as its first row has values."""
    side = len(first[1])
    rows: list[npt.NDArray[np.int64]] = []
    for at, words in itertools.chain([first], lines):
        where = f"{file_name(path)}, line {at}"
        if len(words) != side or len(rows) == side:
            count = len(rows) + 1 + sum(1 for _ in lines)
            raise FileFormatError(f"{where}: there are {len(words)} values in a matrix of {count} rows")
        rows.append(np.array([_number(word, where) for word in words], np.int64))
    if len(rows) != side:
        where = f"{file_name(path)}, line {first[0]}"
        raise FileFormatError(f"{where}: there are {side} values in a matrix of {len(rows)} rows")
    return np.stack(rows)


def _check_columns(columns: list[str], where: str) -> None:
    for column in columns:
        if column not in _COLUMNS:
            raise FileFormatError(f"{where}: column {shown(column)} is unknown; there are {', '.join(_COLUMNS)}")
        if columns.count(column) > 1:
            raise FileFormatError(f"{where}: column {shown(column)} is given twice")
    if "destinations" not in columns or not {"origin", "contributors"} & set(columns):
        raise FileFormatError(f"{where}: a table needs columns destinations, and origin or contributors")
    if {"packets", "bytes"} <= set(columns):
        raise FileFormatError(f"{where}: a table has packets or bytes, not both")


def _table(
    rows: Iterable[tuple[str, Mapping[str, Any]]], path: str | os.PathLike[str], node_count: int
) -> TrafficTable:
    found: list[Row] = []
    places: list[str] = []
    in_bytes = False
    for at, row in rows:
        where = f"{file_name(path)}, {at}"
        if len(found) >= _MOST_ROWS:
            raise FileFormatError(f"{where}: a table has at most {_MOST_ROWS:,} rows")
        origin = _nodes(row.get("origin"), where, "origin", node_count)
        shares = _nodes(row.get("contributors"), where, "contributors", node_count)
        ends = _nodes(row.get("destinations"), where, "destinations", node_count)
        if bool(origin) == bool(shares):
            raise FileFormatError(f"{where}: a row has an origin or contributors{', not both' if origin else ''}")
        if len(origin) > 1:
            raise FileFormatError(f"{where}: a message has one origin, got {len(origin)}")
        in_bytes = in_bytes or "bytes" in row
        amount = row.get("bytes", row.get("packets"))
        size = 1 if amount in (None, "") and "bytes" not in row else _number(amount, where)
        if origin and str(row.get("destinations")).strip() == "all":
            ends = [v for v in ends if v != origin[0]]
        found.append((origin[0] if origin else -1, shares, ends, size))
        places.append(where)
    return TrafficTable(None, found, places, in_bytes)


def _number(value: Any, where: str) -> int:
    """Return a whole number of packets or bytes that is 0 or more."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        return int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 10**18:
        return int(value)
    raise FileFormatError(f"{where}: an amount must be a whole number that is 0 or more, got {shown(value)}")


def _nodes(value: Any, where: str, what: str, node_count: int) -> list[int]:
    """Return the nodes of a cell: a number, a list, or words such as ``0 3 5-7`` and ``all``."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if isinstance(value, list | tuple | np.ndarray):
        return [_node(v, where, what) for v in value]
    if not isinstance(value, str):
        return [_node(value, where, what)]
    if value.strip() == "all":
        return list(range(node_count))
    allowed = "node number, range such as 0-7, or 'all'"
    return nodes(value.replace(";", " "), where, node_count, what=what, allowed=allowed, form_error=FileFormatError)


def _node(value: Any, where: str, what: str) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and -1 < value < 2**31:
        return int(value)
    raise FileFormatError(f"{where}: {what} {shown(value)} is no node number")


def _parquet_rows(path: str | os.PathLike[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with open_parquet(path, _MOST_ROWS) as held:
        _check_columns([name.lower() for name in held.schema_arrow.names], file_name(path))
        at = 0
        for batch in parquet_batches(path, held):
            for row in batch.to_pylist():
                yield f"row {at}", {name.lower(): value for name, value in row.items()}
                at += 1


def _json(path: str | os.PathLike[str], node_count: int) -> TrafficTable:
    with guarded(path):
        try:
            held = read_json(path, {**JSON_PIECES, b"{": _ROW + 70})
        except RecursionError:
            raise FileFormatError(f"cannot read {file_name(path)}: it is nested too deeply") from None
    if not isinstance(held, dict) or not held or not set(held) <= {"demands", "contributions", "rows"}:
        raise FileFormatError(f"{file_name(path)} must hold an object with 'demands', 'contributions' or 'rows'")
    rows: list[tuple[str, Mapping[str, Any]]] = []
    for kind, listed in held.items():
        if not isinstance(listed, list):
            raise FileFormatError(f"{file_name(path)}: {kind!r} must be a list of rows")
        for i, row in enumerate(listed):
            where = f"{kind} {i}"
            if not isinstance(row, dict):
                raise FileFormatError(f"{file_name(path)}, {where}: a row must be an object, got {shown(row)}")
            _check_columns(list(row), f"{file_name(path)}, {where}")
            rows.append((where, row))
    return _table(rows, path, node_count)
