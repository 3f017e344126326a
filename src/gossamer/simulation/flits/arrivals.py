"""When and where messages are created: at random, in bursts, or as a trace says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log1p
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import whole_file
from gossamer.errors import TaskError, shown
from gossamer.reading.files import file_name, text_lines
from gossamer.simulation.flits.destinations import Destinations
from gossamer.simulation.flits.settings import MessageLengths

__all__ = ["Created", "MessageSource", "MessageTrace", "RandomArrivals", "TraceArrivals", "read_trace", "write_trace"]

Ints = npt.NDArray[np.int64]

# Traces of messages: a text format of one line a message.

_MOST = (1 << 30, 1 << 31, 1 << 31, 1 << 20)
_WORDS = ("cycle", "source", "target", "flits")


@dataclass(frozen=True)
class MessageTrace:
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
    >>> MessageTrace([0, 3], [0, 1], [1, 0], [8, 1]).cycles
    4
    """

    when: Ints
    source: Ints
    target: Ints
    flits: Ints

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


def read_trace(path: str | Path) -> MessageTrace:
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
    return MessageTrace(*columns)


def write_trace(trace: MessageTrace, path: str | Path) -> None:
    """Write a trace that `read_trace` reads."""
    lines = [f"# {' '.join(_WORDS)}"]
    columns = (trace.when, trace.source, trace.target, trace.flits)
    lines += [" ".join(map(str, row)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    with whole_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


_BURST_RATE = 4.0


class Created(NamedTuple):
    """Messages in order of time: cycle, source, target and length, int64[M] each."""

    when: Ints
    source: Ints
    target: Ints
    flits: Ints


class MessageSource(Protocol):
    """A source of messages."""

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        ...

    def take(self, first: int, cycles: int) -> Created:
        """Return the messages that are created in so many cycles from `first` on; called for successive spans."""
        ...


class RandomArrivals:
    """In each cycle each sending terminal creates a message by chance, at one rate or in bursts."""

    def __init__(
        self,
        where: Destinations,
        terminals: int,
        rate: float,
        lengths: MessageLengths,
        burst: float,
        random: np.random.Generator,
    ) -> None:
        self.where, self.terminals, self.rate, self.lengths, self.random = where, terminals, rate, lengths, random
        self.nodes = where.sources(terminals)
        self.burst = burst
        share = max(1 / _BURST_RATE, rate)  # of the time that a burst is on
        self.on = random.random(self.nodes.size) < share
        self.begins = min(1.0, share / (1 - share) / burst) if burst and share < 1 else 1.0
        self.within = rate / share

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        return self.rate * self.nodes.size

    def take(self, first: int, cycles: int) -> Created:
        """Return messages; see `MessageSource`."""
        cell = self._in_bursts(cycles) if self.burst else self._cells(cycles * self.nodes.size)
        when = cell // self.nodes.size
        source = self.nodes.take(np.subtract(cell, when * self.nodes.size, out=cell))
        when += first
        if self.where.weight is not None:
            kept = self.random.random(source.size) < self.where.weight[source]
            source, when = source[kept], when[kept]
        target = np.asarray(self.where.draw(source, self.terminals, self.random), np.int64)
        return Created(when, source, target, self.lengths.draw(source.size, self.random))

    def _cells(self, cells: int) -> Ints:
        """Return which of so many places, cycle by cycle, have a message."""
        if self.rate >= 1:
            return np.arange(cells)
        expected = cells * self.rate
        draw = int(expected + 8 * expected**0.5 + 16)
        cell = _geometric(self.random, self.rate, draw)
        cell[0] -= 1
        cell = np.cumsum(cell, out=cell)
        while cell[-1] < cells:
            cell = np.concatenate([cell, cell[-1] + np.cumsum(_geometric(self.random, self.rate, draw))])
        return np.asarray(cell[: np.searchsorted(cell, cells)], np.int64)

    def _in_bursts(self, cycles: int) -> Ints:
        size = self.nodes.size
        found = []
        for c in range(cycles):
            x = self.random.random((2, size))
            self.on = np.where(self.on, x[0] >= 1 / self.burst, x[0] < self.begins)
            found.append(c * size + np.flatnonzero(self.on & (x[1] < self.within)))
        return np.concatenate(found).astype(np.int64)


def _geometric(random: np.random.Generator, share: float, count: int) -> Ints:
    """Return numbers of trials up to the first success: those of ``random.geometric``, in half the time.

    It takes one logarithm of `share` for every number, as long as this is below a third.
    """
    if share >= 1 / 3:
        return random.geometric(share, count)
    trials = random.standard_exponential(count)
    trials /= -log1p(-share)
    return np.ceil(trials, out=trials).astype(np.int64)


class TraceArrivals:
    """The messages of a trace."""

    def __init__(self, trace: MessageTrace) -> None:
        self.trace = trace

    @property
    def per_cycle(self) -> float:
        """Messages per cycle, about."""
        return self.trace.count / max(1, self.trace.cycles)

    def take(self, first: int, cycles: int) -> Created:
        """Return messages; see `MessageSource`."""
        low, high = np.searchsorted(self.trace.when, [first, first + cycles])
        t = self.trace
        return Created(t.when[low:high], t.source[low:high], t.target[low:high], t.flits[low:high])
