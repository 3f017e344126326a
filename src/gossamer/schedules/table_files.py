"""Files that hold a description and tables: Parquet for any tool that reads it, or text for people.

In Parquet the rows of the file are those of one table, and no value of them is null. The file's key-value metadata
holds, under ``gossamer``, a JSON object, in which the columns of the other tables are packed, and under
``gossamer_sha256`` a checksum of it. Files of old have all tables as rows, one after the other, in row groups of their
own; in the rows of a table the columns of the others are null.

In text the first line names the format, its version and the switching. Lines ``key: value`` follow, where a value is
JSON, and then the tables: a line ``name: number of rows``, and the rows. Empty lines and lines that begin with ``#``
are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import memory_text, whole_file
from gossamer.errors import FileFormatError, GossamerError, shown
from gossamer.reading.files import regular
from gossamer.schedules.columns import packed_differences, unpacked_differences, whole

_DAMAGE = (
    *(GossamerError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, OSError, zlib.error),
    MemoryError,
)
"""What goes wrong when a tampered description or column is read."""

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Columns of a table by name."""

_ROWS = 4_000_000
"""Rows that are written at once to Parquet."""
_LINES = 100_000
"""Rows that are written or read at once as text."""


def _compare_nothing(known: Columns, first: int, rows: Columns) -> None:
    pass


class FileTable(NamedTuple):
    """What a table is in both kinds of files.

    * `name`: its title in text, and its key in the description of a Parquet file.
    * `row`: what a row is, for errors.
    * `columns`: those that are read from Parquet.
    * `line`: a row as text, with columns in braces: ``{number}`` is the number of the row, from 0; ``{packet:control}``
      is the word ``control`` where the column has -1. It ends with a column.
    * `told`: further columns of a Parquet file, which say again what follows from the others; not in files of old.
    * `compare`, callable: takes all columns known so far, the number of the first of some rows and all their columns by
      name; ValueError if what they tell does not follow.
    """

    name: str
    row: str
    columns: Sequence[str]
    line: str
    told: Sequence[str] = ()
    compare: Callable[[Columns, int, Columns], None] = _compare_nothing


class TableRows(NamedTuple):
    """The rows of a table that is written: how many, and what gives the columns of those from one to before another."""

    table: FileTable
    size: int
    rows: Callable[[int, int], Columns]

    @classmethod
    def of(cls, table: FileTable, columns: Columns) -> TableRows:
        """Return all rows of columns that are there."""
        size = next(iter(columns.values())).size
        return cls(table, size, lambda a, b: {name: values[a:b] for name, values in columns.items()})


class Room:
    """The memory that a file may ask for: 400 MB or some times its size, whichever is more.

    What a file describes is small where the file is; so a small file that asks for gigabytes is damaged or hostile,
    and is refused by arithmetic before anything is built.
    """

    def __init__(self, size: int, times: int = 20) -> None:
        self.size = size
        self.left = max(400_000_000, times * size)

    def take(self, amount: int, what: str) -> None:
        """Set memory aside for `what`; ValueError if there is not as much left."""
        if amount > self.left:
            raise ValueError(
                f"{what} would take {memory_text(amount)}, too much for a file of {memory_text(self.size)}"
            )
        self.left -= amount


class OpenFile(NamedTuple):
    """An open file: its name, its description, the memory that it may ask for, and a reader of all its tables in order.

    `text` says whether the file is in text form.
    """

    name: str
    header: dict[str, Any]
    room: Room
    read: Callable[[Sequence[FileTable]], dict[str, npt.NDArray[Any]]]
    text: bool = False


def is_text(path: str | os.PathLike[str]) -> bool:
    """Return whether a file of this name holds a schedule as text: its suffix is ``.txt``."""
    return Path(path).suffix.lower() == ".txt"


@contextmanager
def whole_schedule(name: str) -> Iterator[None]:
    """Turn what goes wrong while the block reads a damaged file into one FileFormatError of one line."""
    import pyarrow as pa

    try:
        yield
    except FileFormatError:
        raise
    except (*_DAMAGE, pa.ArrowException) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        reason = reason or "it does not fit in memory"
        raise FileFormatError(f"{name!r} does not hold a whole schedule: {reason}") from None


def write_tables(
    path: str | os.PathLike[str], switching: str, header: Mapping[str, Any], tables: Sequence[TableRows]
) -> None:
    """Write a description and tables to a file, whole or not at all: as text if `is_text`, otherwise as Parquet.

    `path`: replaced if it exists. `switching`: of the schedule, for the first line of a text. `header`: plain values of
    JSON. In Parquet all tables but the last are put among them under their names. In text those of ``version`` and
    ``switching`` stand in the first line, numbers of rows at the tables. `tables`: in the order of writing; the columns
    of a table have one length and integer types.

    Raises FileFormatError if the file cannot be written.
    """
    if is_text(path):
        _write_text(path, switching, header, tables)
    else:
        _write_parquet(path, header, tables)


@contextmanager
def open_tables(path: str | os.PathLike[str], newest: int, first: tuple[str, str] = ("", "")) -> Iterator[OpenFile]:
    """Open a file that `write_tables` wrote.

    `path`: the file; a text if `is_text`. `newest`: the highest ``version`` that the caller reads. `first`: a
    switching, and the name of its first table: of a text for another switching only the first line is read.

    Raises FileFormatError if the file is missing, unreadable, truncated, foreign, or newer, or its description is not
    what its checksum says; or, once it is read, if a line of text is malformed, which is then named by its number.
    """
    with _open_text(path, newest, first) if is_text(path) else _open_parquet(path, newest) as file:
        yield file


# Parquet.

_KEY, _SUM = b"gossamer", b"gossamer_sha256"
_DENSE = 200
"""Times of its size that the rows of a file may take: those of a regular schedule pack into a tenth of a byte."""
_LEAST = 100_000_000
"""Bytes of a description that Parquet's reader takes by default; no description is larger than its file."""


def _write_parquet(path: str | os.PathLike[str], header: Mapping[str, Any], tables: Sequence[TableRows]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    *others, (_, count, rows) = tables
    packed = {
        table.name: {"rows": size, **{n: packed_differences(v) for n, v in columns(0, size).items()}}
        for table, size, columns in others
    }
    text = json.dumps({**header, **packed}).encode()
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
def _open_parquet(path: str | os.PathLike[str], newest: int) -> Iterator[OpenFile]:
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
        if "magic bytes" in reason:
            told = "is no schedule or table that gossamer wrote (.parquet or .txt)"
            other = Path(path).suffix.lower() in (".xml", ".json", ".goal")
            rest = "; a program of another tool is checked on a network: --network" if other else ", or it is truncated"
            raise FileFormatError(f"{name!r} {told}{rest}") from None
        raise FileFormatError(f"{name!r} is not a readable Parquet file, or is truncated: {reason}") from None
    with file:
        metadata = file.schema_arrow.metadata or {}
        if _KEY not in metadata:
            raise FileFormatError(
                f"{name!r} is a Parquet file, but not a gossamer schedule: it has no 'gossamer' metadata"
            )
        header = _parquet_header(name, metadata[_KEY], metadata.get(_SUM))
        if header["version"] > newest:
            raise FileFormatError(
                f"{name!r} has format version {header['version']}; this gossamer reads up to {newest}"
            )
        room = Room(size)
        yield OpenFile(name, header, room, lambda tables: _read_parquet(file, header, tables, room))


def _parquet_header(name: str, text: bytes, checksum: bytes | None) -> dict[str, Any]:
    """Return the description of a file; older files have no checksum of it."""
    if checksum is not None and hashlib.sha256(text).hexdigest().encode() != checksum:
        raise FileFormatError(f"{name!r} has damaged gossamer metadata: its checksum is another")
    try:
        header = json.loads(text)
        version = header["version"]
    except _DAMAGE:
        version = None
    if type(version) is not int or version < 1:
        raise FileFormatError(f"{name!r} has unreadable gossamer metadata")
    found: dict[str, Any] = header
    return found


def _read_parquet(
    parquet: Any, header: Mapping[str, Any], tables: Sequence[FileTable], room: Room
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of tables, those that are rows in the order of writing; ValueError if any are missing."""
    columns: dict[str, npt.NDArray[Any]] = {}
    group, dense, last = 0, Room(room.size, _DENSE), tables[-1]
    for table in tables[:-1]:
        given = header[table.name]
        if isinstance(given, dict):
            count = whole(given["rows"], f"the number of {table.row}s")
            room.take(16 * len(table.columns) * count, f"{count} {table.row}s")  # with the differences, for a while
            for name in table.columns:
                columns[name] = unpacked_differences(given[name], count, f"column {name!r}")
        else:
            count = whole(given, f"the number of {table.row}s")
            group = _read_rows(parquet, group, table, count, dense, columns)
            last = last._replace(told=(), compare=_compare_nothing)
    _read_rows(parquet, group, last, None, dense, columns)
    return columns


def _read_rows(
    parquet: Any, first: int, table: FileTable, expected: int | None, room: Room, columns: dict[str, npt.NDArray[Any]]
) -> int:
    """Add the columns of a table that is rows, from a row group on; return the group after it.

    `expected` is how many rows it must have, None for whatever is left.
    """
    groups, group, rows = parquet.metadata.num_row_groups, first, 0
    names, what = table.columns, table.row
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
        table.compare(columns, at, given)
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


# Text.

_FIRST = re.compile(r"gossamer schedule, version ([0-9]{1,9}), ([a-z-]{1,40})")
_NUMBER, _CONTROL = "number", "control"


def _fields(table: FileTable) -> list[tuple[str, str, bool]]:
    """Return the text before each column of a row, its name, and whether -1 is a word in it."""
    return [(text, name, word == _CONTROL) for text, name, word, _ in Formatter().parse(table.line) if name]


def _pattern(table: FileTable) -> re.Pattern[str]:
    """Return what a row looks like; spaces may be wider."""
    parts = []
    for text, _, word in _fields(table):
        parts.append(re.escape(text).replace(r"\ ", r"\s+"))
        parts.append(f"(-?[0-9]{{1,18}}{'|' + _CONTROL if word else ''})")
    return re.compile(rf"\s*{''.join(parts)}\s*")


def _lines(table: FileTable, columns: Columns, first: int, last: int) -> Iterator[str]:
    """Yield the rows of columns, `first` to ``last-1`` of their table."""
    form, values = "", []
    for text, name, word in _fields(table):
        form += text.replace("%", "%%") + "%s"
        numbers = list(range(first, last)) if name == _NUMBER else columns[name].tolist()
        values.append([_CONTROL if n == -1 else n for n in numbers] if word else numbers)
    for row in zip(*values, strict=True):
        yield form % row + "\n"


def _write_text(
    path: str | os.PathLike[str], switching: str, header: Mapping[str, Any], tables: Sequence[TableRows]
) -> None:
    apart = {"version", "switching", *(table.name for table, _, _ in tables)}
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"gossamer schedule, version {header['version']}, {switching}\n")
        file.writelines(f"{key}: {json.dumps(value)}\n" for key, value in header.items() if key not in apart)
        for table, count, rows in tables:
            file.write(f"\n{table.name}: {count}\n")
            for a in range(0, count, _LINES):
                b = min(a + _LINES, count)
                file.writelines(_lines(table, rows(a, b), a, b))


class _Lines:
    """The lines of a file that say something, with their numbers, one ahead."""

    def __init__(self, name: str, lines: Iterator[str]) -> None:
        self.name, self._lines, self.number, self.text = name, lines, 0, ""
        self.step()

    def step(self) -> None:
        """Go to the next line; at the end the text is empty."""
        for line in self._lines:
            self.number += 1
            self.text = line.strip()
            if self.text and not self.text.startswith("#"):
                return
        self.text = ""

    def matching(self, pattern: re.Pattern[str], count: int) -> Iterator[tuple[str, ...] | None]:
        """Yield the groups of the next `count` lines, None for one that does not match."""
        for line in self._lines:
            self.number += 1
            found = pattern.fullmatch(line)
            if found is None:
                self.text = line.strip()
                if not self.text or self.text.startswith("#"):
                    continue
                yield None
            else:
                self.text = line
                yield found.groups()
            count -= 1
            if not count:
                return
        self.text = ""
        yield None

    def wrong(self, why: str) -> FileFormatError:
        """Return an error about the present line."""
        got = f"got {shown(self.text.strip())}" if self.text else "but the file ends"
        return FileFormatError(f"{self.name!r}, line {self.number}: {why}, {got}")


@contextmanager
def _open_text(path: str | os.PathLike[str], newest: int, first: tuple[str, str]) -> Iterator[OpenFile]:
    name = str(path)
    try:
        regular(path)
        with Path(path).open(encoding="utf-8") as file:
            lines = _Lines(name, iter(file))
            form = _FIRST.fullmatch(lines.text)
            if form is None:
                raise lines.wrong("a schedule begins with 'gossamer schedule, version 1, store-and-forward'")
            header: dict[str, Any] = {"version": int(form[1]), "switching": form[2]}
            if not 1 <= header["version"] <= newest:
                raise FileFormatError(f"{name!r} has format version {form[1]}; this gossamer reads 1 to {newest}")
            if form[2] == first[0]:
                lines.step()
                _read_text_header(lines, header, first[1])
            yield OpenFile(name, header, Room(Path(path).stat().st_size), partial(_read_text, lines), text=True)
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name!r}") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{name!r} is not text in UTF-8") from None
    except OSError as error:
        raise FileFormatError(f"cannot read {name!r}: {error.strerror}") from None


def _read_text_header(lines: _Lines, header: dict[str, Any], first: str) -> None:
    """Read lines ``key: JSON`` up to the first table."""
    while lines.text:
        key, colon, value = lines.text.partition(":")
        if not colon or not re.fullmatch("[a-z_]+", key):
            raise lines.wrong("expected a line 'key: value'")
        if key == first:
            return
        if key in header:
            raise lines.wrong(f"{key!r} is given twice")
        try:
            header[key] = json.loads(value)
        except _DAMAGE:
            raise lines.wrong(f"the value of {key!r} must be JSON") from None
        lines.step()


def _read_text(lines: _Lines, tables: Sequence[FileTable]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of all tables."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for table in tables:
        title = re.fullmatch(rf"{table.name}:\s*([0-9]{{1,18}})", lines.text)
        if title is None:
            raise lines.wrong(f"expected the table '{table.name}: number of rows'")
        columns |= _read_lines(lines, table, int(title[1]))
    if lines.text:
        raise lines.wrong("expected nothing more")
    return columns


def _read_lines(lines: _Lines, table: FileTable, count: int) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table whose title is the present line; the line after it is the present one then."""
    names = [name for _, name, _ in _fields(table) if name]
    words = table.line.replace(":" + _CONTROL, "")
    found: list[npt.NDArray[np.int64]] = [np.zeros((0, len(names)), np.int64)]
    for first in range(0, count, _LINES):
        rows: list[list[int]] = []
        for row in lines.matching(_pattern(table), min(_LINES, count - first)):
            if row is None:
                raise lines.wrong(f"expected row {first + len(rows)} of {count}, '{words}'")
            rows.append([-1 if text == _CONTROL else int(text) for text in row])
            if names[0] == _NUMBER and rows[-1][0] != first + len(rows) - 1:
                raise lines.wrong(f"expected number {first + len(rows) - 1}")
        found.append(np.array(rows, np.int64))
    lines.step()
    values = np.concatenate(found)
    return {name: values[:, i].copy() for i, name in enumerate(names)}
