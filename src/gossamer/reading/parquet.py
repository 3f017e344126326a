"""Parquet files of tables: their sizes are looked at before anything is unpacked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gossamer.errors import FileFormatError
from gossamer.reading.files import file_name, guarded, opened

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["open_parquet", "parquet_batches", "parquet_table"]

_LEAST, _TIMES = 400_000_000, 20
"""Bytes that a table may take: so many, or so many times the size of its file."""
_BATCH = 1 << 16
_AT_ONCE = 50_000_000


@contextmanager
def open_parquet(path: str | os.PathLike[str], most_rows: int | None = None) -> Iterator[Any]:
    """Open a Parquet file, a `pyarrow.parquet.ParquetFile`; FileFormatError for whatever goes wrong in the block.

    Parameters
    ----------
    path : str or path
        A regular file.
    most_rows : int, optional
        Rows that it may claim to have.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with guarded(path), opened(path) as file:
        try:
            held = parquet.ParquetFile(file, page_checksum_verification=True)
            if most_rows is not None and held.metadata.num_rows > most_rows:
                raise FileFormatError(f"{file_name(path)} has {held.metadata.num_rows:,} rows; at most {most_rows:,}")
            yield held
        except pa.ArrowException as error:
            raise FileFormatError(f"cannot read {file_name(path)}: {' '.join(str(error).split())[:160]}") from None


def parquet_batches(
    path: str | os.PathLike[str], held: Any, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an open Parquet file in batches; FileFormatError once they take more than the file warrants.

    A value can be far larger than its place in a column, so that batches are short where a column has large values.
    """
    left = max(_LEAST, _TIMES * os.stat(path).st_size)  # noqa: PTH116
    groups = [held.metadata.row_group(i) for i in range(held.metadata.num_row_groups)]
    widest = max((g.column(i).total_uncompressed_size for g in groups for i in range(g.num_columns)), default=1)
    names = held.schema_arrow.names if columns is None else columns
    rows = min(max(_AT_ONCE // max(widest * len(names), 1), 1), _BATCH)
    if 8 * len(names) * held.metadata.num_rows > 10 * left:
        raise FileFormatError(f"{file_name(path)} claims {held.metadata.num_rows:,} rows, too many for its size")
    for batch in held.iter_batches(rows, columns=columns):
        left -= batch.nbytes
        if left < 0:
            raise FileFormatError(f"{file_name(path)} unpacks to far more than its size warrants")
        yield batch


def parquet_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> pa.Table:
    """Return the table that a Parquet file holds.

    Raises
    ------
    FileFormatError
        If the file is missing, damaged, or unpacks to over 400 MB and 20 times its size.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.parquet"
    >>> pq.write_table(pa.table({"node": [3, 4]}), path)
    >>> parquet_table(path)["node"].to_pylist()
    [3, 4]
    """
    import pyarrow as pa

    with open_parquet(path) as held:
        schema = held.schema_arrow if columns is None else pa.schema([held.schema_arrow.field(n) for n in columns])
        return pa.Table.from_batches(list(parquet_batches(path, held, columns)), schema)
