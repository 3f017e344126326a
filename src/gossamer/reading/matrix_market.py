"""Matrix Market files: matrices, and which columns of one hold a non-zero.

The header, the sizes and every entry are checked here, before any number is used; nothing is allocated because a file
says so, only for what it holds.
"""

from __future__ import annotations

import bz2
import gzip
import itertools
import math
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, shown
from gossamer.reading.files import file_name, opened
from gossamer.reading.values import whole_text

MATRIX_MARKET = (".mtx", ".mtx.gz", ".mtx.bz2")
"""How the names of Matrix Market files end."""

_LAYOUTS = ("coordinate", "array")
_FIELDS = ("real", "double", "integer", "unsigned-integer", "complex", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_LINE = 1024
_EXPANSION = 200
"""The most that compressed text may grow; tables of numbers grow by 3 to 20."""

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class _Header(NamedTuple):
    """What the first two lines say."""

    layout: str
    field: str
    symmetry: str
    rows: int
    columns: int
    entries: int
    """How many lines follow."""


def read_matrix(path: str | os.PathLike[str], most: int = 32_768) -> FloatArray:
    """Return the matrix of a Matrix Market file, float64[rows, columns]; entries of one place add up.

    Raises FileFormatError if the file is missing, compressed beyond all measure, no matrix of real numbers, or one with
    a side over `most`.
    """
    with opened(path) as file:
        lines, name = _lines(file, path), file_name(path)
        header = _header(lines, name)
        if header.field == "complex" or max(header.rows, header.columns) > most:
            what = f"a {header.rows:,} x {header.columns:,} matrix of {header.field} values"
            raise FileFormatError(f"{name} holds {what}; at most {most:,} a side, of real numbers")
        table = _table(lines, header, name)
        matrix = np.zeros((header.rows, header.columns))
        if table.size:
            row, column, value = (_places if header.layout == "array" else _entries)(table, header, name)
            np.add.at(matrix, (row, column), value[:, 0])
            if header.symmetry != "general":
                below = row != column
                sign = -1 if header.symmetry == "skew-symmetric" else 1
                np.add.at(matrix, (column[below], row[below]), sign * value[below, 0])
    return matrix


def nonempty_columns(path: str | os.PathLike[str]) -> list[int]:
    """Return the columns of a Matrix Market file, from 0, that hold a non-zero; entries of one place add up.

    Raises
    ------
    FileFormatError
        If the file is missing, compressed beyond all measure, or is no matrix.
    """
    with opened(path) as file:
        lines = _lines(file, path)
        header = _header(lines, file_name(path))
        table = _table(lines, header, file_name(path))
        if not table.size:
            return []
        row, column, value = (_places if header.layout == "array" else _entries)(table, header, file_name(path))
    where = np.flatnonzero(_sums(row, column, value))
    nonempty = np.unique(column[where])
    if header.symmetry != "general":
        nonempty = np.union1d(nonempty, row[where])
    return [int(c) for c in nonempty]


def _lines(file: BinaryIO, path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines that are not empty: the first one, then all but comments."""
    ending = os.fspath(path).lower()
    source: Any = file
    if ending.endswith((".gz", ".bz2")):
        source = gzip.GzipFile(fileobj=file) if ending.endswith(".gz") else bz2.BZ2File(file)
    most = math.inf if source is file else _EXPANSION * os.fstat(file.fileno()).st_size + 2**16
    first, total = True, 0
    while line := source.readline(_LINE + 1):
        total += len(line)
        if len(line) > _LINE or total > most:
            what = f"a line has over {_LINE} characters" if len(line) > _LINE else "it is compressed beyond measure"
            raise FileFormatError(f"{file_name(path)} is no Matrix Market file: {what}")
        said = line.decode("latin-1").strip()
        if said and (first or not said.startswith("%")):
            first = False
            yield said


def _header(lines: Iterator[str], name: str) -> _Header:
    words = next(lines, "").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise FileFormatError(f"{name} does not start with '%%MatrixMarket matrix LAYOUT FIELD SYMMETRY'")
    for what, given, known in zip(
        ("layout", "field", "symmetry"), words[2:], (_LAYOUTS, _FIELDS, _SYMMETRIES), strict=True
    ):
        if given not in known:
            raise FileFormatError(
                f"{name}: the {what} of the matrix must be one of {', '.join(known)}, got {shown(given)}"
            )
    layout, field, symmetry = words[2:]
    line = next(lines, "")
    sizes = line.split()
    form = "ROWS COLUMNS ENTRIES" if layout == "coordinate" else "ROWS COLUMNS"
    if len(sizes) != len(form.split()):
        raise FileFormatError(f"{name}: the sizes must be of the form {form}, got {shown(line)}")
    rows, columns, *rest = (
        whole_text(size, f"{name}: a size", 0, most, error=FileFormatError)
        for size, most in zip(sizes, (2**31 - 1, 2**31 - 1, 2**62), strict=False)
    )
    if symmetry != "general" and rows != columns:
        raise FileFormatError(f"{name}: a {symmetry} matrix must be square, got {rows} x {columns}")
    if layout == "array" and field == "pattern":
        raise FileFormatError(
            f"{name}: a matrix that is written as an array has values, so that 'pattern' says nothing"
        )
    below = 1 if symmetry == "skew-symmetric" else 0
    entries = rest[0] if rest else rows * columns if symmetry == "general" else rows * (rows + 1 - 2 * below) // 2
    return _Header(layout, field, symmetry, rows, columns, entries)


def _table(lines: Iterator[str], header: _Header, name: str) -> FloatArray:
    """Return the numbers of the other lines, float64[entries, numbers of a line]."""
    width = {"pattern": 0, "complex": 2}.get(header.field, 1) + (2 if header.layout == "coordinate" else 0)
    first = next(lines, None)
    table = np.zeros((0, width))
    if first is not None:
        some = itertools.islice(itertools.chain([first], lines), header.entries + 1)
        try:
            table = np.loadtxt(some, np.float64, comments=None, ndmin=2)
        except ValueError as error:
            reason = " ".join(str(error).partition(";")[0].split())
            raise FileFormatError(f"{name}: an entry is not {width} numbers: {reason[:160]}") from None
    if len(table) != header.entries or table.shape[1] != width:
        many = "more" if len(table) > header.entries else f"{len(table):,}"
        raise FileFormatError(
            f"{name}: {header.entries:,} entries of {width} numbers are announced, {many} of {table.shape[1]} follow"
        )
    return table


def _entries(table: FloatArray, header: _Header, name: str) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the rows and columns from 0 and the values of a coordinate matrix."""
    for what, numbers, most in zip(("row", "column"), table.T, (header.rows, header.columns), strict=False):
        wrong = np.flatnonzero(~((numbers >= 1) & (numbers <= most) & (numbers == np.floor(numbers))))
        if wrong.size:
            raise FileFormatError(
                f"{name}: the {what} of entry {wrong[0] + 1} must be in 1..{most}, got {numbers[wrong[0]]:.15g}"
            )
    value = table[:, 2:] if table.shape[1] > 2 else np.ones((len(table), 1))
    _check_whole(value, header, name)
    return table[:, 0].astype(np.int64) - 1, table[:, 1].astype(np.int64) - 1, value


def _places(table: FloatArray, header: _Header, name: str) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the same of an array, whose values stand column by column; of a symmetric one only the lower triangle."""
    _check_whole(table, header, name)
    start = np.zeros(header.columns, np.int64)
    if header.symmetry != "general":
        start = np.arange(header.columns) + (header.symmetry == "skew-symmetric")
    count = header.rows - start
    column = np.repeat(np.arange(header.columns), count)
    first = np.cumsum(count) - count
    return np.arange(len(table)) - np.repeat(first - start, count), column, table


def _check_whole(value: FloatArray, header: _Header, name: str) -> None:
    if not header.field.endswith("integer"):
        return
    wrong = np.flatnonzero(~((value[:, 0] == np.floor(value[:, 0])) & (np.abs(value[:, 0]) < 2.0**63)))
    if wrong.size:
        given = f"{value[wrong[0], 0]:.15g}"
        raise FileFormatError(
            f"{name}: the value of entry {wrong[0] + 1} must be a whole number of 64 bits, got {given}"
        )


def _sums(row: IntArray, column: IntArray, value: FloatArray) -> npt.NDArray[np.bool_]:
    """Return for each entry whether it is the first of its place, and those of the place do not add up to zero."""
    order = np.lexsort((row, column))
    new = np.ones(order.size, np.bool_)
    new[1:] = (np.diff(row[order]) != 0) | (np.diff(column[order]) != 0)
    with np.errstate(all="ignore"):
        total = np.add.reduceat(value[order], np.flatnonzero(new), axis=0)
    result = np.zeros(order.size, np.bool_)
    result[order[new]] = (total != 0).any(axis=1)
    return result
