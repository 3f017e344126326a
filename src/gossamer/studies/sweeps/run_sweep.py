"""Many points: each once, on any engine, kept in a file that a later sweep continues."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from gossamer.atomic_files import Rows, quantity, whole_file
from gossamer.errors import FileFormatError, ModelError, nearest, shown
from gossamer.processes.work_items import WorkItem, WorkResult
from gossamer.reading import choice
from gossamer.studies.sweeps.executors import engine_of
from gossamer.studies.sweeps.point_protocol import Line, Progress, StoredPoint, identity
from gossamer.studies.sweeps.store import Row, Store, columns_of, read_results, row_of, row_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "RETRIES",
    "TABLE_FORMATS",
    "SweepResults",
    "listed_points",
    "point_needs",
    "sweep",
    "table_format",
    "write_table",
]

RETRIES = ("none", "failed", "all")
"""What is tried again: nothing, what failed or was too large, or what was refused as well."""
_AGAIN = {"none": (), "failed": ("failed", "too large"), "all": ("failed", "too large", "refused")}


def sweep(
    points: Iterable[StoredPoint | Mapping[str, Any]] | Mapping[str, Any],
    store: str | os.PathLike[str] | None = None,
    *,
    engine: str = "processes",
    jobs: int | None = None,
    memory: int | str | None = None,
    scheduler: str | None = None,
    retry: str = "none",
    progress: Progress | None = None,
) -> SweepResults:
    """Carry out many points and return what came of them, as rows that pandas reads.

    Parameters
    ----------
    points : iterable of mappings or points, or a mapping
        Each a mapping such as ``{"network": "torus:4x4", "task": "allgather"}``: a ``kind`` (default ``plan``) and its
        words, see `gossamer.studies.sweeps.KINDS`; or an object that fulfills `gossamer.studies.sweeps.StoredPoint`. A
        mapping instead of a list is a grid, see `gossamer.studies.sweeps.grid`.
    store : path, optional
        A Parquet file. Points that it has are not carried out again; what is found is added to it as it is found, so
        that the same call continues where a sweep was interrupted or killed.
    engine : {"in-process", "processes", "dask"}
        Here, in worker processes, or on a Dask cluster. The results are the same.
    jobs : int, optional
        Points at once. Default: one a processor.
    memory : int or str, optional
        Bytes that all points together may have. Default: four fifths of what is free. A point that needs more is
        ``too large``.
    scheduler : str, optional
        Address of a Dask scheduler. Default: a cluster of this machine is started.
    retry : {"none", "failed", "all"}
        Which points of the file that came to nothing are tried again: none, those that failed or were too large, or
        those that were refused too.
    progress : callable, optional
        Told how many points are done, how long the rest takes, and what is being looked at.

    Returns
    -------
    SweepResults
        A row a point, in the order in which they were asked, each once. A point that was refused, or failed, has a
        ``reason`` in place of results.

    Raises
    ------
    ModelError
        If a point or a setting is illegal.
    FileFormatError
        If the file is no file of results, or cannot be written.

    Notes
    -----
    The rows hold nothing that differs from run to run, so that the file of a sweep that was killed and continued is
    equal to that of one that was not.

    Examples
    --------
    >>> import gossamer
    >>> grid = {"network": ["ring:4", "ring:8"], "task": "allgather"}
    >>> found = gossamer.sweep(grid, engine="in-process")
    >>> found["network"], found["time"], found["optimal"]
    (['ring:4', 'ring:8'], [2, 4], [True, True])
    """
    choice(retry, "retry", RETRIES)
    running = engine_of(engine, jobs=jobs, memory=memory, scheduler=scheduler)
    asked: dict[str, Any] = {}
    for point in listed_points(points):
        asked.setdefault(identity(point.describe()), point)
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store(store))
        again = _AGAIN[retry]
        todo = [(key, p) for key, p in asked.items() if kept is None or kept.status(key) in (None, *again)]
        tally = _Tally([p for _, p in todo], len(asked), progress)
        rows: dict[str, Row] = {}
        jobs_given = (WorkItem(i, p, int(point_needs(p)[0])) for i, (_, p) in enumerate(todo))
        for done in running.run(jobs_given, tally.say):
            key, point = todo[done.place]
            row = _row(point, done)
            if kept is None:
                rows[key] = row
            else:
                kept.append(row)
            tally.count(done)
    if store is None:
        return SweepResults(columns_of([rows[key] for key in asked]), running.deaths)
    return SweepResults(_chosen(store, asked), running.deaths)


def listed_points(points: Iterable[StoredPoint | Mapping[str, Any]] | Mapping[str, Any]) -> Iterator[StoredPoint]:
    """Yield points from whatever names them; ModelError if something is none."""
    if isinstance(points, Mapping):
        from gossamer.studies.sweeps.point_grids import grid

        points = grid(points)
    given: Any = points
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise ModelError(
            f"points are mappings such as {{'network': 'torus:4x4', 'task': 'allgather'}}, got {shown(points)}"
        )
    for point in points:
        if isinstance(point, Mapping):
            from gossamer.studies.sweeps.point_grids import asked_point

            yield asked_point(point)
        elif isinstance(point, StoredPoint):
            yield point
        else:
            raise ModelError(f"a point is a mapping, or has title, describe and run, got {shown(point)}")


def point_needs(point: StoredPoint) -> tuple[float, float]:
    """Return about the bytes of memory and the seconds that a point takes; 0 and 0.1 for what does not say."""
    needs: tuple[float, float] = getattr(point, "needs", (0, 0.1))
    return needs


def _row(point: StoredPoint, done: WorkResult) -> Row:
    if done.failure is not None:
        return row_of(point.describe(), done.failure.kind, done.failure.reason, None)
    return row_of(point.describe(), "done", "", done.value)


def _chosen(store: str | os.PathLike[str], asked: Mapping[str, Any]) -> Any:
    """Return the rows of the points that were asked, in their order."""
    import pyarrow as pa

    if not asked:
        return columns_of([])
    table = read_results(store)
    place = {key: i for i, key in enumerate(table.column("identity").to_pylist())}
    found = table.take(pa.array([place[key] for key in asked], pa.int64()))
    return found.select([n for n in found.column_names if found.column(n).null_count < found.num_rows])


class _Tally:
    """How far a sweep is, in words."""

    def __init__(self, points: list[Any], total: int, progress: Progress | None) -> None:
        self._say: Callable[[str], None] = progress or (lambda text: None)
        self._weights = [point_needs(p)[1] for p in points] if progress else [0.0] * len(points)
        self._left, self._total, self._done, self._lost = sum(self._weights), total, total - len(points), 0
        self._known, self._began, self._spent = self._done, monotonic(), 0.0

    def count(self, done: WorkResult) -> None:
        """Take in what came of a point."""
        self._done += 1
        self._lost += done.failure is not None
        self._spent += self._weights[done.place]

    def say(self, text: str) -> None:
        """Say how far it is, and a text."""
        words = [f"{self._done:,} of {self._total:,} points"]
        if self._lost:
            words.append(f"{self._lost:,} without result")
        passed = monotonic() - self._began
        if self._spent and self._done - self._known >= 3 and passed > 1:
            from gossamer.planning.switching.resource_limits import time_text

            words.append(f"about {time_text(passed * (self._left - self._spent) / self._spent)} left")
        self._say(f"{', '.join(words)}: {text}")


# What came of many points: rows that pandas reads, and what one asks of them.

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
