"""Schedules as text: a description line by line, then a line for each row of each table, for people to read and write.

The first line names the format, its version and the switching. Lines ``key: value`` follow, where a value is JSON, and
then the tables: a line ``name: number of rows``, and the rows. Empty lines and lines that begin with ``#`` are skipped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, shown
from gossamer.reading.files import regular
from gossamer.schedules.stored import DAMAGE, Columns, Room, Rows, Section, Stored
from gossamer.writing import whole_file

__all__ = ["open_text", "write_text"]

_FIRST = re.compile(r"gossamer schedule, version ([0-9]{1,9}), ([a-z-]{1,40})")
_NUMBER, _CONTROL = "number", "control"
_ROWS = 100_000


def _fields(section: Section) -> list[tuple[str, str, bool]]:
    """Return the text before each column of a row, its name, and whether -1 is a word in it."""
    return [(text, name, word == _CONTROL) for text, name, word, _ in Formatter().parse(section.line) if name]


def _pattern(section: Section) -> re.Pattern[str]:
    """Return what a row looks like; spaces may be wider."""
    parts = []
    for text, _, word in _fields(section):
        parts.append(re.escape(text).replace(r"\ ", r"\s+"))
        parts.append(f"(-?[0-9]{{1,18}}{'|' + _CONTROL if word else ''})")
    return re.compile(rf"\s*{''.join(parts)}\s*")


def _lines(section: Section, columns: Columns, first: int, last: int) -> Iterator[str]:
    """Yield rows `first` to ``last-1``."""
    form, values = "", []
    for text, name, word in _fields(section):
        form += text.replace("%", "%%") + "%s"
        numbers = list(range(first, last)) if name == _NUMBER else columns[name][first:last].tolist()
        values.append([_CONTROL if n == -1 else n for n in numbers] if word else numbers)
    for row in zip(*values, strict=True):
        yield form % row + "\n"


def write_text(
    path: str | os.PathLike[str],
    switching: str,
    header: Mapping[str, Any],
    tables: Sequence[tuple[Section, Columns]],
) -> None:
    """Write tables to a text file, whole or not at all.

    Parameters
    ----------
    path : path
        Replaced if it exists.
    switching : str
        Of the schedule.
    header : mapping
        Plain values; those of ``version`` and ``switching`` stand in the first line, numbers of rows at the tables.
    tables : sequence of (Section, columns)
        In the order of writing.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    apart = {"version", "switching", *(section.name for section, _ in tables)}
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"gossamer schedule, version {header['version']}, {switching}\n")
        file.writelines(f"{key}: {json.dumps(value)}\n" for key, value in header.items() if key not in apart)
        for section, columns in tables:
            size = next(iter(columns.values())).size
            file.write(f"\n{section.name}: {size}\n")
            for a in range(0, size, _ROWS):
                file.writelines(_lines(section, columns, a, min(a + _ROWS, size)))


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
def open_text(path: str | os.PathLike[str], newest: int, first: tuple[str, str] = ("", "")) -> Iterator[Stored]:
    """Open a file that `write_text` wrote.

    Parameters
    ----------
    path : path
        The file.
    newest : int
        The highest version that the caller reads.
    first : (str, str)
        A switching, and the name of its first table; of a file of another switching only the first line is read.

    Raises
    ------
    FileFormatError
        If the file is missing, is no text, is newer, or a line is malformed, which is then named by its number.
    """
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
                _read_header(lines, header, first[1])
            yield Stored(name, header, Room(Path(path).stat().st_size), partial(_read, lines), text=True)
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name!r}") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{name!r} is not text in UTF-8") from None
    except OSError as error:
        raise FileFormatError(f"cannot read {name!r}: {error.strerror}") from None


def _read_header(lines: _Lines, header: dict[str, Any], first: str) -> None:
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
        except DAMAGE:
            raise lines.wrong(f"the value of {key!r} must be JSON") from None
        lines.step()


def _read(lines: _Lines, tables: Sequence[Rows]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of all tables."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for section in (rows.section for rows in tables):
        title = re.fullmatch(rf"{section.name}:\s*([0-9]{{1,18}})", lines.text)
        if title is None:
            raise lines.wrong(f"expected the table '{section.name}: number of rows'")
        columns |= _read_rows(lines, section, int(title[1]))
    if lines.text:
        raise lines.wrong("expected nothing more")
    return columns


def _read_rows(lines: _Lines, section: Section, count: int) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table whose title is the present line; the line after it is the present one then."""
    names = [name for _, name, _ in _fields(section) if name]
    words = section.line.replace(":" + _CONTROL, "")
    found: list[npt.NDArray[np.int64]] = [np.zeros((0, len(names)), np.int64)]
    for first in range(0, count, _ROWS):
        rows: list[list[int]] = []
        for row in lines.matching(_pattern(section), min(_ROWS, count - first)):
            if row is None:
                raise lines.wrong(f"expected row {first + len(rows)} of {count}, '{words}'")
            rows.append([-1 if text == _CONTROL else int(text) for text in row])
            if names[0] == _NUMBER and rows[-1][0] != first + len(rows) - 1:
                raise lines.wrong(f"expected number {first + len(rows) - 1}")
        found.append(np.array(rows, np.int64))
    lines.step()
    table = np.concatenate(found)
    return {name: table[:, i].copy() for i, name in enumerate(names)}
