"""Parquet files of tables: their sizes are looked at before anything is unpacked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gossamer.errors import FileFormatError, shown
from gossamer.reading.files import file_name, guarded, opened

if TYPE_CHECKING:
    import pyarrow as pa

_LEAST, _TIMES = 400_000_000, 20
"""Bytes that a table may take: so many, or so many times the size of its file."""
_BATCH = 1 << 16
_AT_ONCE = 50_000_000


@contextmanager
def open_parquet(path: str | os.PathLike[str], most_rows: int | None = None) -> Iterator[Any]:
    """Open a Parquet file, a `pyarrow.parquet.ParquetFile`; FileFormatError for whatever goes wrong in the block.

    `path`: a regular file. `most_rows`: rows that it may claim to have.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with guarded(path), opened(path) as file:
        try:
            texts = _texts(parquet.read_metadata(file))
            held = parquet.ParquetFile(file, page_checksum_verification=True, read_dictionary=texts)
            if most_rows is not None and held.metadata.num_rows > most_rows:
                raise FileFormatError(f"{file_name(path)} has {held.metadata.num_rows:,} rows; at most {most_rows:,}")
            yield held
        except pa.ArrowException as error:
            raise FileFormatError(f"cannot read {file_name(path)}: {' '.join(str(error).split())[:160]}") from None


def _texts(metadata: Any) -> list[str]:
    """Return the names of the columns of texts."""
    columns = (metadata.schema.column(i) for i in range(metadata.num_columns))
    return [c.path for c in columns if c.physical_type == "BYTE_ARRAY" and c.max_repetition_level == 0]


def parquet_batches(
    path: str | os.PathLike[str], held: Any, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an open Parquet file in batches; FileFormatError once they take more than the file warrants.

    What the file says of its sizes is compared first. A text may stand once in a file and in every row of a table:
    texts come as dictionaries, and how long they are in full is counted before they are written out.
    """
    left = max(_LEAST, _TIMES * os.stat(path).st_size)  # noqa: PTH116
    schema, rows = _schema(path, held, columns), held.metadata.num_rows
    if sum(_least_bits(kind) for kind in schema.types) * rows > 8 * left:
        raise FileFormatError(f"{file_name(path)} claims {rows:,} rows, too many for its size")
    # not the sizes of single columns: a description of them that is damaged ends the process
    groups = (held.metadata.row_group(i) for i in range(held.metadata.num_row_groups))
    widest = max((group.total_byte_size for group in groups), default=0)
    if widest > left:
        raise FileFormatError(f"{file_name(path)} claims {widest:,} bytes in {rows:,} rows, too many for its size")
    at_once = _BATCH
    if any(kind.num_fields for kind in schema.types):  # lists: one may be as large as all
        at_once = min(max(_AT_ONCE // max(widest, 1), 1), _BATCH)
    for batch in held.iter_batches(at_once, columns=schema.names):
        left -= sum(_written_out(column) for column in batch.columns)
        if left < 0:
            raise FileFormatError(f"{file_name(path)} unpacks to far more than its size warrants")
        yield batch.from_arrays([_plain(column) for column in batch.columns], schema=schema)


def _schema(path: str | os.PathLike[str], held: Any, columns: Sequence[str] | None) -> pa.Schema:
    """Return the columns that are asked for, as they are when written out."""
    import pyarrow as pa

    names = held.schema_arrow.names
    for name in columns or ():
        if name not in names:
            raise FileFormatError(f"{file_name(path)}: there is no column {name!r}, only {shown(', '.join(names))}")
    if len(set(names)) < len(names):
        raise FileFormatError(f"{file_name(path)}: there are two columns of one name")
    kinds = ((name, held.schema_arrow.field(name).type) for name in (names if columns is None else columns))
    return pa.schema([(name, kind.value_type if pa.types.is_dictionary(kind) else kind) for name, kind in kinds])


def _least_bits(kind: pa.DataType) -> int:
    """Return the bits that a value takes in memory at the least."""
    try:
        return int(kind.bit_width)
    except ValueError:  # texts and lists
        return 32


def _written_out(column: pa.Array) -> int:
    """Return the bytes of a column, of a dictionary those of the texts that it stands for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    width = _least_bits(column.type.value_type) // 8
    if width == 4 and column.type.value_type.num_buffers == 3:
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return int(pc.sum(lengths.take(column.indices)).as_py() or 0) + width * len(column)
    return width * len(column)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def parquet_table(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None, most_rows: int | None = None
) -> pa.Table:
    """Return the table that a Parquet file holds, or some of its columns; texts are written out.

    Raises FileFormatError if the file is missing, damaged, lacks one of the columns, claims more than `most_rows`, or
    unpacks to over 400 MB and 20 times its size.

    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.parquet"
    >>> pq.write_table(pa.table({"node": [3, 4]}), path)
    >>> parquet_table(path)["node"].to_pylist()
    [3, 4]
    """
    import pyarrow as pa

    with open_parquet(path, most_rows) as held:
        schema = _schema(path, held, columns)
        return pa.Table.from_batches(list(parquet_batches(path, held, columns)), schema)
