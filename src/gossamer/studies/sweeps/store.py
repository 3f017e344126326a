"""What came of points, kept: a journal while they are run, then a Parquet file."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError
from gossamer.reading.files import file_name, guarded
from gossamer.reading.parquet import parquet_table
from gossamer.studies.sweeps.point_protocol import canonical, identity

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FIRST",
    "Journal",
    "Row",
    "Store",
    "columns_of",
    "joined",
    "journal_of",
    "journal_rows",
    "merge",
    "natural",
    "read_results",
    "row_of",
    "row_values",
]

# Rows of results as columns, and back: the same rows give the same file, in whatever order they came.

Row = dict[str, Any]
"""Plain values by name; ``identity``, ``status``, ``reason`` and ``point`` are in every row."""

FIRST = ("kind", "network", "without", "task", "bytes", "scheme", "pattern", "load", "algorithm", "seed", "status")
"""The columns that stand first, where there are any such; ``reason``, ``point`` and ``identity`` stand last."""
_LAST = ("reason", "point", "identity")
_UNSHOWN = ("semantics", "files")


def row_of(description: Mapping[str, Any], status: str, reason: str, result: Mapping[str, Any] | None) -> Row:
    """Return the row of a point: what was asked, what came of it, and what both are called."""
    told = {n: _cell(v) for n, v in (result or {}).items() if v is not None}
    asked = {n: _cell(v) for n, v in description.items() if n not in _UNSHOWN and v is not None}
    return told | asked | {
        "status": status, "reason": reason, "point": canonical(description), "identity": identity(description),
    }  # fmt: skip


def _cell(value: Any) -> Any:
    """Return a value that a column can hold."""
    if isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, sort_keys=True)


def natural(text: str) -> list[tuple[int, float, str]]:
    """Return a key by which torus:4x4 stands before torus:10x10."""
    parts = re.split(r"(\d{1,15}(?:\.\d{1,15})?)", text)
    return [(1, float(part), "") if i % 2 else (0, 0.0, part) for i, part in enumerate(parts)]


def columns_of(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table, in the order given; columns in the order of files, missing values as nulls."""
    import pyarrow as pa

    names = _names({name for row in rows for name in row})
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _names(found: set[str]) -> list[str]:
    first = [name for name in FIRST if name in found]
    return [*first, *sorted(found.difference(FIRST, _LAST)), *(name for name in _LAST if name in found)]


def _column(values: list[Any]) -> pa.Array:
    """Return a column of one type: truth values, whole numbers, numbers, or texts."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _text(value: Any) -> str:
    """Return a value of a column of texts; numbers look the same whether they come from a whole number or not."""
    return value if isinstance(value, str) else str(float(value)) if isinstance(value, int | float) else str(value)


def row_values(table: pa.Table) -> Iterator[Row]:
    """Yield the rows of a table, without what is missing."""
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            yield {name: value for name, value in row.items() if value is not None}


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables below each other, in the order of files, each column of a type that holds what all of them have."""
    import pyarrow as pa

    names = _names({name for table in tables for name in table.column_names})
    columns = {name: _stacked([(t.column(name) if name in t.column_names else t.num_rows) for t in tables])
               for name in names}  # fmt: skip
    whole = pa.table(columns)
    points, identities = whole.column("point").to_pylist(), whole.column("identity").to_pylist()
    order = sorted(range(whole.num_rows), key=lambda i: (natural(points[i]), identities[i]))
    return whole.take(pa.array(order, pa.int64())).combine_chunks()


def _stacked(parts: list[Any]) -> Any:
    """Return chunks, or numbers of rows without values, as one column."""
    import pyarrow as pa
    from pyarrow import compute

    types = {part.type for part in parts if not isinstance(part, int)}
    kind = _common(types)
    chunks = []
    for part in parts:
        if isinstance(part, int):
            chunks.append(pa.nulls(part, kind))
            continue
        if part.type != kind and kind == pa.string():
            if part.type == pa.int64():
                part = compute.cast(part, pa.float64())
            values = [None if v is None else _text(v) for v in part.to_pylist()]
            chunks.append(pa.array(values, pa.string()))
            continue
        chunks += compute.cast(part, kind).chunks if part.type != kind else part.chunks
    return pa.chunked_array(chunks, kind)


def _common(types: set[Any]) -> Any:
    import pyarrow as pa

    if len(types) == 1:
        return next(iter(types))
    return pa.float64() if types == {pa.int64(), pa.float64()} else pa.string()


# The journal of a sweep under way: a line for each finished point, there as soon as it is finished.

_KEYS = {"identity", "status", "reason", "point"}


def journal_of(path: str | os.PathLike[str]) -> Path:
    """Return the name of the journal of a file of results."""
    return Path(f"{os.fspath(path)}.journal")


class Journal:
    """The journal of a file of results, open for one process alone.

    A line is one write to the end of the file, so that a process which is killed leaves whole lines, and of the line
    that it was writing at most a part, which is cut off when the journal is opened again.

    `path` (path): the file of results; the journal stands beside it. Raises `FileFormatError` if it cannot be written,
    or another process writes it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = journal_of(path)
        self._file = self._opened()
        self._cut()

    def _opened(self) -> int:
        while True:
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise FileFormatError(f"cannot write {file_name(self.path)}: {error.strerror}") from None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                raise FileFormatError(f"another process is writing {file_name(self.path)}") from None
            if self.path.exists() and os.fstat(file).st_ino == self.path.stat().st_ino:
                return file
            os.close(file)  # another process was just done with it, and removed it

    def _cut(self) -> None:
        """Cut off what stands after the last end of a line."""
        size = os.fstat(self._file).st_size
        while size:
            start = max(0, size - 65536)
            last = os.pread(self._file, size - start, start).rfind(b"\n")
            if last >= 0:
                size = start + last + 1
                break
            size = start
        os.ftruncate(self._file, size)

    def append(self, row: Row) -> None:
        """Add a row."""
        line = json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise FileFormatError(f"cannot write {file_name(self.path)}: {error.strerror}") from None

    def __iter__(self) -> Iterator[Row]:
        yield from journal_rows(self.path)

    def remove(self) -> None:
        """Remove the journal: what it has is in the file of results."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others write it."""
        os.close(self._file)


def journal_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a journal that somebody may be writing; FileFormatError if it is none."""
    if not path.exists():
        return
    with guarded(path), path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n"):  # the last line may be under way
                yield _row(line, path, number)


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    plain = isinstance(row, dict) and row.keys() >= _KEYS and all(
        isinstance(v, bool | int | float | str) for v in row.values()
    )  # fmt: skip
    if not plain or not all(isinstance(row[key], str) for key in _KEYS):
        raise FileFormatError(f"{file_name(path)} is no journal of a sweep: line {number}")
    found: Row = row
    return found


# Files of results: Parquet, the same content for the same points, beside the journal of what is not in it yet.

_CHUNK = 20_000
_NEEDED = ("status", "reason", "point", "identity")
_FORMAT = b"gossamer results 1"


class Store:
    """What is known of points, in a file: used with ``with``, by one process at a time.

    `path` (path): the file of results (``.parquet``), there or not. While points are added, a journal stands beside it;
    it goes into the file when the block ends, however it ends. A process that is killed leaves the journal, which the
    next one continues. Raises `FileFormatError` if the file is no file of results, cannot be written, or another
    process writes it.
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
