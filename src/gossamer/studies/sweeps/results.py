"""What came of many points: rows that pandas reads, and what one asks of them."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.atomic_files import Rows, quantity, whole_file
from gossamer.errors import FileFormatError, ModelError, nearest
from gossamer.studies.sweeps.point_protocol import Line
from gossamer.studies.sweeps.store import Row, row_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["TABLE_FORMATS", "SweepResults", "table_format", "write_table"]

# The lines of a sweep in a file: CSV or Parquet, as the suffix says.

TABLE_FORMATS = ("csv", "parquet")
"""What the name of a file with the lines may end in."""


def table_format(path: str | os.PathLike[str], formats: Sequence[str] = TABLE_FORMATS) -> str:
    """Return the format that the suffix of a file names; FileFormatError if it is none of `formats`."""
    target = Path(path)
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in formats:
        given = f"the suffix {target.suffix!r}" if suffix else "no suffix"
        raise FileFormatError(f"{str(target)!r} has {given}; a table is one of .{', .'.join(formats)}")
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


_SHOWN = 10


class SweepResults(Rows):
    """What came of the points of a sweep.

    Iterating gives one mapping of plain values a point, which pandas reads: ``pandas.DataFrame(results)``.

    Parameters
    ----------
    table : pyarrow.Table
        A row a point; see `gossamer.studies.sweeps.read_results`.
    deaths : sequence of str
        Workers that died, with the points that they were at.

    Attributes
    ----------
    table : pyarrow.Table
        As given.
    deaths : tuple of str
        As given.
    """

    def __init__(self, table: pa.Table, deaths: Sequence[str] = ()) -> None:
        self.table = table
        self.deaths = tuple(deaths)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        return row_values(self.table)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)

    def __getitem__(self, column: str) -> list[Any]:
        """Return the values of a column, None where a point has none."""
        if column not in self.table.column_names:
            raise ModelError(f"the results have no column {column!r}{nearest(column, self.columns)}")
        values: list[Any] = self.table.column(column).to_pylist()
        return values

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame; needs pandas."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many points are ``done``, ``refused``, ``too large`` and ``failed``."""
        found = Counter(self["status"] if len(self) else [])
        return {status: found[status] for status in ("done", "refused", "too large", "failed") if found[status]}

    @property
    def done(self) -> SweepResults:
        """The points of which there is a result."""
        import pyarrow as pa

        chosen = pa.array([status == "done" for status in self["status"]], pa.bool_()) if len(self) else None
        return self if chosen is None else SweepResults(self.table.filter(chosen), self.deaths)

    @property
    def failures(self) -> list[tuple[str, str, int]]:
        """Status, reason and number of the points without a result, the most frequent first."""
        rows = zip(self["status"], self["reason"], strict=True) if len(self) else ()
        found = Counter(row for row in rows if row[0] != "done")
        return [(status, reason, count) for (status, reason), count in found.most_common()]

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        found = [("points", quantity(len(self), "point"))]
        found += [(status, f"{count:,}") for status, count in self.counts.items()]
        for status, reason, count in self.failures[:_SHOWN]:
            found.append((status, f"{reason}{f' ({count:,} points)' if count > 1 else ''}"))
        more = len(self.failures) - _SHOWN
        if more > 0:
            found.append(("", f"and {quantity(more, 'other reason')}"))
        return found + [("died", text) for text in self.deaths[:_SHOWN]]

    def _repr_html_(self) -> str:
        try:
            html: str = self.to_pandas()._repr_html_()
        except ImportError:
            return super()._repr_html_()
        return html

    def __repr__(self) -> str:
        told = ", ".join(f"{count:,} {status}" for status, count in self.counts.items())
        return f"<SweepResults: {told or 'no points'}>"
