"""Files of results: Parquet, the same content for the same points, beside the journal of what is not in it yet."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.errors import FileFormatError
from gossamer.reading.files import file_name
from gossamer.reading.parquet import parquet_table
from gossamer.studies.sweeps.store.journal import Journal, journal_of, journal_rows
from gossamer.studies.sweeps.store.rows import Row, columns_of, joined, row_values
from gossamer.writing import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Store", "merge", "read_results"]

_CHUNK = 20_000
_NEEDED = ("status", "reason", "point", "identity")
_FORMAT = b"gossamer results 1"


class Store:
    """What is known of points, in a file: used with ``with``, by one process at a time.

    Parameters
    ----------
    path : path
        The file of results (``.parquet``), there or not. While points are added, a journal stands beside it; it goes
        into the file when the block ends, however it ends. A process that is killed leaves the journal, which the next
        one goes on with.

    Raises
    ------
    FileFormatError
        If the file is no file of results, cannot be written, or another process writes it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if Path(path).suffix.lower() != ".parquet":
            raise FileFormatError(f"a file of results ends in .parquet, got {file_name(path)}")
        self.path = Path(path)
        self._known: dict[str, str] = {}

    def __enter__(self) -> Store:
        self._journal = Journal(self.path)
        try:
            self._known = {row[0]: row[1] for row in _states(self.path)}
            self._known |= {row["identity"]: row["status"] for row in self._journal}
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._into_file()
        finally:
            self._leave()

    def _leave(self) -> None:
        if journal_of(self.path).exists() and not journal_of(self.path).stat().st_size:
            self._journal.remove()
        self._journal.close()

    def status(self, identity: str) -> str | None:
        """Return how a point ended that is known, or None."""
        return self._known.get(identity)

    def append(self, row: Row) -> None:
        """Add what came of a point: on the disk when this returns, in place of what was known of it before."""
        self._journal.append(row)
        self._known[row["identity"]] = row["status"]

    def _into_file(self) -> None:
        """Put what the journal has into the file, and remove the journal."""
        if not journal_of(self.path).stat().st_size:
            return
        write_results(_newest(self.path), self.path)
        self._journal.remove()


def read_results(path: str | os.PathLike[str]) -> pa.Table:
    """Return all that is known of points: a table with a row for each, in the order of files.

    Parameters
    ----------
    path : path
        A file of results, or where one will be whose sweep is under way.

    Returns
    -------
    pyarrow.Table
        With the columns ``status`` (``done``, ``refused``, ``too large`` or ``failed``), ``reason``, ``point`` (what
        was asked, as JSON) and ``identity``, and those of the words and the results.

    Raises
    ------
    FileFormatError
        If there is no such file, or it is none of results.
    """
    if not Path(path).exists() and not journal_of(path).exists():
        raise FileFormatError(f"no such file: {file_name(path)}")
    return _newest(Path(path))


def merge(paths: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> pa.Table:
    """Merge files of results into one, write and return it.

    Of points that several files have, what is done stands before what failed.

    Raises
    ------
    FileFormatError
        If a file is none of results, or two files have other results for one point, which is then named.
    """
    import pyarrow as pa

    tables = [read_results(path) for path in paths]
    kept: dict[str, tuple[int, int, str, Any]] = {}
    for which, table in enumerate(tables):
        for place, row in enumerate(row_values(table)):
            mark = {n: v for n, v in row.items() if n not in ("identity", "point")}
            before = kept.get(row["identity"])
            if before is not None and before[2] == row["status"] == "done" and not _same(before[3], mark):
                names = " and ".join(file_name(p) for p in (paths[before[0]], paths[which]))
                raise FileFormatError(f"{names} have different results for one point: {row['point'][:200]}")
            if before is None or (before[2] != "done" and row["status"] == "done"):
                kept[row["identity"]] = (which, place, row["status"], mark)
    chosen: list[list[int]] = [[] for _ in tables]
    for which, place, _, _ in kept.values():
        chosen[which].append(place)
    parts = [t.take(pa.array(places, pa.int64())) for t, places in zip(tables, chosen, strict=True) if places]
    whole = joined([_without_empty(p) for p in parts]) if parts else tables[0]
    write_results(whole, output)
    return whole


def _same(first: Row, second: Row) -> bool:
    return first.keys() == second.keys() and all(
        v == second[n] or str(v) == str(second[n]) for n, v in first.items()
    )  # fmt: skip


def write_results(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table of results; the file appears whole or not at all."""
    from pyarrow import parquet

    with whole_file(path) as part:
        marked = table.replace_schema_metadata({b"gossamer": _FORMAT})
        parquet.write_table(marked, part, compression="zstd", row_group_size=1 << 16)


def _newest(path: Path) -> pa.Table:
    """Return file and journal together; of a point in both, or twice in the journal, the last."""
    tables = [_read(path)] if path.exists() else []
    last: dict[str, int] = {}
    rows = journal_rows(journal_of(path))
    count = 0
    while some := list(itertools.islice(rows, _CHUNK)):
        for row in some:
            last[row["identity"]] = count
            count += 1
        tables.append(columns_of(some))
    if not tables:
        return columns_of([])
    if not count:
        return tables[0]
    return joined([_without_empty(part) for part in _kept(tables, last, path.exists())])


def _kept(tables: list[pa.Table], last: dict[str, int], file: bool) -> Iterator[pa.Table]:
    """Yield of each table the rows that no later one replaces."""
    import pyarrow as pa

    start = 0
    for which, table in enumerate(tables):
        identities = table.column("identity").to_pylist()
        if file and which == 0:
            yield table.filter(pa.array([i not in last for i in identities], pa.bool_()))
            continue
        yield table.filter(pa.array([last[i] == start + k for k, i in enumerate(identities)], pa.bool_()))
        start += table.num_rows


def _without_empty(table: pa.Table) -> pa.Table:
    """Return a table without columns that have no values."""
    return table.select([n for n in table.column_names if table.column(n).null_count < table.num_rows])


def _read(path: Path) -> pa.Table:
    found = parquet_table(path)
    if any(name not in found.column_names for name in _NEEDED):
        raise FileFormatError(f"{file_name(path)} holds no results of points: it has no column 'identity'")
    return found


def _states(path: Path) -> Iterator[tuple[str, str]]:
    """Yield identity and status of each point in a file."""
    if path.exists():
        table = _read(path)
        yield from zip(table.column("identity").to_pylist(), table.column("status").to_pylist(), strict=True)
