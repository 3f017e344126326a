"""Traces of messages: a text format of one line a message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, shown
from gossamer.reading.files import file_name, text_lines
from gossamer.writing import whole_file

__all__ = ["Trace", "read_trace", "write_trace"]

_MOST = (1 << 30, 1 << 31, 1 << 31, 1 << 20)
_WORDS = ("cycle", "source", "target", "flits")


@dataclass(frozen=True)
class Trace:
    """Messages in order of time.

    Attributes
    ----------
    when, source, target, flits : int64[M]
        Cycle of creation, terminals and length of each message.

    Raises
    ------
    TaskError
        If the columns differ in length, are out of range or not in order of time.

    Examples
    --------
    >>> Trace([0, 3], [0, 1], [1, 0], [8, 1]).cycles
    4
    """

    when: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    flits: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        for word, most, name in zip(_WORDS, _MOST, ("when", "source", "target", "flits"), strict=True):
            column = np.asarray(getattr(self, name), np.int64)
            least = 1 if name == "flits" else 0
            if column.ndim != 1 or column.size != np.asarray(self.when).size:
                raise TaskError(f"a trace needs columns of one length, got {column.shape} for {word}")
            wrong = np.flatnonzero((column < least) | (column >= most))
            if wrong.size:
                k = int(wrong[0])
                raise TaskError(f"message {k} of the trace: {word} must be in {least}..{most - 1}, got {column[k]}")
            object.__setattr__(self, name, column)
        later = np.flatnonzero(np.diff(self.when) < 0)
        if later.size:
            k = int(later[0]) + 1
            raise TaskError(f"message {k} of the trace is of cycle {self.when[k]}, before {self.when[k - 1]}")

    @property
    def count(self) -> int:
        """Messages M."""
        return int(self.when.size)

    @property
    def cycles(self) -> int:
        """Cycles up to the last message."""
        return int(self.when[-1]) + 1 if self.count else 0


def read_trace(path: str | Path) -> Trace:
    """Read a trace: lines of ``cycle source target flits``, in order of time; ``#`` begins a comment.

    Raises
    ------
    FileFormatError
        If the file cannot be read.
    TaskError
        If a line is not of this form.
    """
    rows: list[tuple[int, ...]] = []
    for number, line in text_lines(path, "a trace: not text in UTF-8"):
        words = line.split()
        if len(words) != 4 or not all(re.fullmatch("[0-9]{1,10}", word) for word in words):
            where = f"{file_name(path)}, line {number}"
            raise TaskError(f"{where}: expected 'cycle source target flits', got {shown(line)}")
        rows.append(tuple(map(int, words)))
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return Trace(*columns)


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace that `read_trace` reads."""
    lines = [f"# {' '.join(_WORDS)}"]
    columns = (trace.when, trace.source, trace.target, trace.flits)
    lines += [" ".join(map(str, row)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    with whole_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
