"""The lines of a sweep in a file: CSV or Parquet, as the suffix says."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError
from gossamer.studies.sweeps.points import Line
from gossamer.writing import whole_file

__all__ = ["TABLE_FORMATS", "table_format", "write_table"]

TABLE_FORMATS = ("csv", "parquet")
"""What the name of a file with the lines may end in."""


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of a file names; FileFormatError if it is none of `TABLE_FORMATS`."""
    target = Path(path)
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in TABLE_FORMATS:
        given = f"the suffix {target.suffix!r}" if suffix else "no suffix"
        raise FileFormatError(f"{str(target)!r} has {given}; a table is one of .csv, .parquet")
    return suffix


def write_table(lines: Sequence[Line], path: str | os.PathLike[str]) -> None:
    """Write what came of points as CSV or Parquet, one line each; the file appears whole or not at all.

    A value that is a table itself is written by column, as ``routers.buffer_depth``.

    Raises
    ------
    FileFormatError
        If the suffix names no format, or the file cannot be written.
    """
    kind = table_format(path)
    rows = [_flat(line.to_dict()) for line in lines]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with whole_file(path) as part:
        if kind == "csv":
            with Path(part).open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows(rows)
            return
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({c: [row.get(c) for row in rows] for c in columns}), part)


def _flat(line: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in line.items():
        row |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return row
