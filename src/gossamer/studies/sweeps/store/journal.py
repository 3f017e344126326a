"""The journal of a sweep under way: a line for each finished point, there as soon as it is finished."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer.errors import FileFormatError
from gossamer.reading.files import file_name, guarded
from gossamer.studies.sweeps.store.rows import Row

__all__ = ["Journal", "journal_of", "journal_rows"]

_KEYS = {"identity", "status", "reason", "point"}


def journal_of(path: str | os.PathLike[str]) -> Path:
    """Return the name of the journal of a file of results."""
    return Path(f"{os.fspath(path)}.journal")


class Journal:
    """The journal of a file of results, open for one process alone.

    A line is one write to the end of the file, so that a process which is killed leaves whole lines, and of the line
    that it was writing at most a part, which is cut off when the journal is opened again.

    Parameters
    ----------
    path : path
        The file of results; the journal stands beside it.

    Raises
    ------
    FileFormatError
        If it cannot be written, or another process writes it.
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
