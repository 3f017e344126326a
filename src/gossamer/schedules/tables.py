"""Several tables in one Parquet file, with a description of them in its metadata.

Each table has columns of its own and fills row groups of its own, one table after the other; in its rows the columns
of the other tables are null. The file's key-value metadata holds, under ``gossamer``, a JSON object, and under
``gossamer_sha256`` a checksum of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.schedules.stored import DAMAGE, Columns, Room, Rows, Stored
from gossamer.writing import whole_file

__all__ = ["open_tables", "write_tables"]

_KEY, _SUM = b"gossamer", b"gossamer_sha256"
_ROWS = 4_000_000


def write_tables(path: str | os.PathLike[str], header: Mapping[str, Any], tables: Sequence[Columns]) -> None:
    """Write tables to a Parquet file, whole or not at all.

    Parameters
    ----------
    path : path
        Replaced if it exists.
    header : mapping
        Plain values for the JSON object.
    tables : sequence of mappings
        Columns by name, all names different; the columns of a table have one length and integer types. The last
        table is the chief one: its columns come first.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(name, pa.from_numpy_dtype(values.dtype)) for table in reversed(tables) for name, values in table.items()]
    text = json.dumps(header).encode()
    schema = pa.schema(fields, metadata={_KEY: text, _SUM: hashlib.sha256(text).hexdigest()})
    with (
        whole_file(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False, write_page_checksum=True) as writer,
    ):
        for table in tables:
            size = next(iter(table.values())).size
            for a in range(0, size, _ROWS):
                rows = min(_ROWS, size - a)
                arrays = [
                    pa.array(table[f.name][a : a + rows], f.type) if f.name in table else pa.nulls(rows, f.type)
                    for f in schema
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=rows)


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
        file = pq.ParquetFile(path, page_checksum_verification=True)
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
        room = Room(Path(path).stat().st_size)
        yield Stored(name, header, room, lambda tables: _read(file, tables, room))


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


def _read(parquet: Any, tables: Sequence[Rows], room: Room) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of all tables, in the order of writing; ValueError if rows are missing or empty."""
    import pyarrow as pa

    groups, group = parquet.metadata.num_row_groups, 0
    columns: dict[str, npt.NDArray[Any]] = {}
    for names, expected, what, _ in tables:
        first, rows = group, 0
        while group < groups and (expected is None or rows < expected):
            rows += parquet.metadata.row_group(group).num_rows
            group += 1
        if expected is not None and rows != expected:
            raise ValueError(f"it lists {expected} {what}s, but has {rows} {what} rows")
        for name in names:
            kind = parquet.schema_arrow.field(name).type
            if not pa.types.is_integer(kind):
                raise ValueError(f"column {name!r} must hold integers, got {kind}")
            size = np.dtype(kind.to_pandas_dtype())
            room.take(rows * size.itemsize, f"{rows} {what} rows")
            columns[name] = np.empty(rows, size)
        at = 0
        for batch in parquet.iter_batches(1 << 20, row_groups=list(range(first, group)), columns=list(names)):
            for name in names:
                values = batch.column(name)
                if values.null_count:
                    raise ValueError(f"column {name!r} has {values.null_count} empty rows")
                columns[name][at : at + len(values)] = values.to_numpy()
            at += batch.num_rows
        if at != rows:
            raise ValueError(f"it lists {rows} {what}s, but has {at} {what} rows")
    return columns
