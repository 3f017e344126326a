"""A table in a Parquet file, with a description of it and smaller tables in its metadata.

The rows of the file are those of one table, and no value of them is null. The file's key-value metadata holds, under
``gossamer``, a JSON object, in which the columns of the other tables are packed, and under ``gossamer_sha256`` a
checksum of it. Files of old have all tables as rows, one after the other, in row groups of their own; in the rows of a
table the columns of the others are null.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.reading.files import regular
from gossamer.schedules.columns import packed_differences, unpacked_differences, whole
from gossamer.schedules.stored import DAMAGE, Columns, Room, Rows, Stored
from gossamer.writing import whole_file

__all__ = ["open_tables", "write_tables"]

_KEY, _SUM = b"gossamer", b"gossamer_sha256"
_ROWS = 4_000_000
_DENSE = 200
"""Times of its size that the rows of a file may take: those of a regular schedule pack into a tenth of a byte."""
_LEAST = 100_000_000
"""Bytes of a description that Parquet's reader takes by default; no description is larger than its file."""


def write_tables(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    packed: Mapping[str, Columns],
    rows: Callable[[int, int], Columns],
    count: int,
) -> None:
    """Write a table to a Parquet file, and others into its description, whole or not at all.

    Parameters
    ----------
    path : path
        Replaced if it exists.
    header : mapping
        Plain values for the JSON object.
    packed : mapping of str to columns
        The tables of the description, each under its name; the columns of a table have one length and integer types.
    rows : callable
        Takes the first row and the one after the last, and gives the columns of these rows, in order.
    count : int
        Number of rows.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = {
        name: {"rows": next(iter(table.values())).size, **{n: packed_differences(v) for n, v in table.items()}}
        for name, table in packed.items()
    }
    text = json.dumps({**header, **tables}).encode()
    fields = [(name, pa.from_numpy_dtype(values.dtype)) for name, values in rows(0, 0).items()]
    schema = pa.schema(fields, metadata={_KEY: text, _SUM: hashlib.sha256(text).hexdigest()})
    form = dict.fromkeys(schema.names, "DELTA_BINARY_PACKED")  # several times smaller than plain numbers, and faster
    with (
        whole_file(path) as part,
        pq.ParquetWriter(
            part, schema, compression="zstd", use_dictionary=False, column_encoding=form, write_page_checksum=True
        ) as writer,
    ):
        for a in range(0, count, _ROWS):
            columns = rows(a, min(a + _ROWS, count))
            arrays = [pa.array(columns[f.name], f.type) for f in schema]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=_ROWS)


@contextmanager
def open_tables(path: str | os.PathLike[str], newest: int) -> Iterator[Stored]:
    """Open a file that `write_tables` wrote.

    Parameters
    ----------
    path : path
        The file.
    newest : int
        The highest ``version`` in its description that the caller reads.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, foreign, or newer, or its description is not what its checksum
        says.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = str(path)
    try:
        size = regular(path).st_size
        file = pq.ParquetFile(path, page_checksum_verification=True, thrift_string_size_limit=max(size, _LEAST))
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name!r}") from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:  # ValueError: names that are no text
        reason = str(error).partition("\n")[0].rstrip(".")
        raise FileFormatError(f"{name!r} is not a readable Parquet file, or is truncated: {reason}") from None
    with file:
        metadata = file.schema_arrow.metadata or {}
        if _KEY not in metadata:
            raise FileFormatError(
                f"{name!r} is a Parquet file, but not a gossamer schedule: it has no 'gossamer' metadata"
            )
        header = _header(name, metadata[_KEY], metadata.get(_SUM))
        if header["version"] > newest:
            raise FileFormatError(
                f"{name!r} has format version {header['version']}; this gossamer reads up to {newest}"
            )
        room = Room(size)
        yield Stored(name, header, room, lambda tables: _read(file, header, tables, room))


def _header(name: str, text: bytes, checksum: bytes | None) -> dict[str, Any]:
    """Return the description of a file; older files have no checksum of it."""
    if checksum is not None and hashlib.sha256(text).hexdigest().encode() != checksum:
        raise FileFormatError(f"{name!r} has damaged gossamer metadata: its checksum is another")
    try:
        header = json.loads(text)
        version = header["version"]
    except DAMAGE:
        version = None
    if type(version) is not int or version < 1:
        raise FileFormatError(f"{name!r} has unreadable gossamer metadata")
    found: dict[str, Any] = header
    return found


def _read(parquet: Any, header: Mapping[str, Any], tables: Sequence[Rows], room: Room) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of tables, those that are rows in the order of writing; ValueError if any are missing."""
    columns: dict[str, npt.NDArray[Any]] = {}
    group, dense = 0, Room(room.size, _DENSE)
    for table in tables:
        packed = header.get(table.section.name)
        if isinstance(packed, dict):
            columns |= _unpacked(packed, table, room)
        else:
            group = _read_rows(parquet, group, table, dense, columns)
    return columns


def _unpacked(packed: Mapping[str, Any], table: Rows, room: Room) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table of the description."""
    rows = whole(packed["rows"], f"the number of {table.what}s")
    room.take(16 * len(table.names) * rows, f"{rows} {table.what}s")  # with the differences, for a while
    return {name: unpacked_differences(packed[name], rows, f"column {name!r}") for name in table.names}


def _read_rows(parquet: Any, first: int, table: Rows, room: Room, columns: dict[str, npt.NDArray[Any]]) -> int:
    """Add the columns of a table that is rows, from a row group on; return the group after it."""
    groups, group, rows = parquet.metadata.num_row_groups, first, 0
    names, expected, what = table.names, table.size, table.what
    while group < groups and (expected is None or rows < expected):
        rows += parquet.metadata.row_group(group).num_rows
        group += 1
    if expected is not None and rows != expected:
        raise ValueError(f"it lists {expected} {what}s, but has {rows} {what} rows")
    for name in names:
        size = np.dtype(str(_integer(parquet, name)))
        room.take(rows * size.itemsize, f"{rows} {what} rows")
        columns[name] = np.empty(rows, size)
    for name in table.told:
        _integer(parquet, name)
    at = 0
    for batch in parquet.iter_batches(1 << 20, row_groups=list(range(first, group)), columns=[*names, *table.told]):
        given = {}
        for name in (*names, *table.told):
            values = batch.column(name)
            if values.null_count:
                raise ValueError(f"column {name!r} has {values.null_count} empty rows")
            given[name] = values.to_numpy()
        for name in names:
            columns[name][at : at + batch.num_rows] = given[name]
        table.compare(at, given)
        at += batch.num_rows
    if at != rows:
        raise ValueError(f"it lists {rows} {what}s, but has {at} {what} rows")
    return group


def _integer(parquet: Any, name: str) -> Any:
    """Return the type of a column; ValueError if it is none of integers."""
    import pyarrow as pa

    kind = parquet.schema_arrow.field(name).type
    if not pa.types.is_integer(kind):
        raise ValueError(f"column {name!r} must hold integers, got {kind}")
    return kind
