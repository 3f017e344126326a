"""When and where broadcasts are requested: Poisson, Bernoulli, on-off, or a recorded trace.

Rates are in broadcasts per source and step; times are in steps. An arrival process makes a *stream*, which is asked for
the next requests a few thousand at a time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, ModelError, shown
from gossamer.reading import number, whole_text
from gossamer.reading.files import file_name, read_array, text_lines
from gossamer.reading.parquet import parquet_table

__all__ = ["ArrivalProcess", "Bernoulli", "OnOff", "Poisson", "Stream", "Trace"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

_MOST_REQUESTS = 100_000_000
_SHORTEST_CYCLE = 0.1


class Stream(Protocol):
    """A run of requests, in the order of time."""

    def take(self, count: int) -> tuple[FloatArray, IntArray]:
        """Return the times in steps, float64, and the sources as index into the chosen nodes, int32.

        At least one request unless the stream has ended; about `count` of them.
        """


class ArrivalProcess(Protocol):
    """An arrival process."""

    def stream(self, random: np.random.Generator, nodes: IntArray, rate: float, slot: float) -> Stream:
        """Return a new stream of requests at `nodes`, `rate` per node and step; a slot lasts `slot` steps."""


_LARGEST_RATIO = 1e6
"""How many times as long as a burst a pause may last."""
_BURST = 10**7
"""Requests that are drawn at once at most, however many nodes are on."""
_QUIET = 1000
"""Windows of time without a node that is on after which the rest of the pause is skipped."""


@dataclass(frozen=True)
class Poisson:
    """Independent Poisson processes.

    Examples
    --------
    >>> stream = Poisson().stream(np.random.default_rng(1), np.arange(4, dtype=np.int32), 0.25, 1.0)
    >>> time, node = stream.take(1000)
    >>> bool(900 < time[-1] < 1100)
    True
    """

    def stream(self, random: np.random.Generator, nodes: IntArray, rate: float, slot: float) -> Stream:
        """Return a new stream."""
        return _PoissonStream(random, nodes.size, rate * nodes.size)


@dataclass
class _PoissonStream:
    random: np.random.Generator
    nodes: int
    rate: float
    time: float = 0.0

    def take(self, count: int) -> tuple[FloatArray, IntArray]:
        time = self.time + np.cumsum(self.random.standard_exponential(count) / self.rate)
        self.time = float(time[-1])
        return time, self.random.integers(self.nodes, size=count, dtype=np.int32)


@dataclass(frozen=True)
class Bernoulli:
    """At most one request per node and slot, each with the same probability, at the beginning of the slot."""

    def stream(self, random: np.random.Generator, nodes: IntArray, rate: float, slot: float) -> Stream:
        """Return a new stream.

        Raises
        ------
        ModelError
            If the probability per slot is above 1.
        """
        if rate * slot > 1:
            raise ModelError(
                f"at most one request per node and slot: the rate must be at most {1 / slot:g}, got {rate:g}"
            )
        return _BernoulliStream(random, nodes.size, rate * slot, slot)


@dataclass
class _BernoulliStream:
    random: np.random.Generator
    nodes: int
    probability: float
    slot: float
    cell: int = -1

    def take(self, count: int) -> tuple[FloatArray, IntArray]:
        cell = self.cell + np.cumsum(self.random.geometric(self.probability, count))
        self.cell = int(cell[-1])
        return (cell // self.nodes).astype(np.float64) * self.slot, (cell % self.nodes).astype(np.int32)


@dataclass(frozen=True)
class OnOff:
    """Bursts: every node is on and off in turn for exponential times, and a Poisson source while it is on.

    The rate while a node is on is raised so that the mean rate is what was asked for.

    Attributes
    ----------
    on, off : float
        Mean times in steps, 1e-6 to 1e9, together at least 0.1; off at most a million times on.

    Raises
    ------
    ModelError
        If a time is out of range.
    """

    on: float = 20.0
    off: float = 80.0

    def __post_init__(self) -> None:
        for name, time in (("on", self.on), ("off", self.off)):
            number(time, f"the mean number of steps {name}", 1e-6, 1e9)
        if self.on + self.off < _SHORTEST_CYCLE:
            raise ModelError(
                f"bursts must last at least {_SHORTEST_CYCLE} steps on and off together, got {self.on} and {self.off}"
            )
        if self.off > _LARGEST_RATIO * self.on:
            raise ModelError(
                f"the mean time off must be at most {_LARGEST_RATIO:g} times the mean time on, got {self.off:g} and "
                f"{self.on:g}"
            )

    def turns(self, steps: float) -> float:
        """Return how often a node goes on or off in `steps` steps.

        >>> OnOff(20, 80).turns(1000)
        20.0
        """
        return 2 * steps / (self.on + self.off)

    def stream(self, random: np.random.Generator, nodes: IntArray, rate: float, slot: float) -> Stream:
        """Return a new stream; every node starts in its long-run state."""
        active = random.random(nodes.size) < self.on / (self.on + self.off)
        mean = np.where(active, self.on, self.off)
        peak = rate * (self.on + self.off) / self.on
        return _OnOffStream(
            random, self.on, self.off, peak, rate, active, mean * random.standard_exponential(nodes.size)
        )


@dataclass
class _OnOffStream:
    random: np.random.Generator
    on: float
    off: float
    peak: float
    rate: float
    active: npt.NDArray[np.bool_]
    turn: FloatArray
    time: float = 0.0

    def take(self, count: int) -> tuple[FloatArray, IntArray]:
        times: list[FloatArray] = []
        nodes: list[IntArray] = []
        while not times:
            window = max(min(count / (self.rate * self.active.size), _BURST / (self.peak * self.active.size)), 1e-9)
            if not self.active.any() and (pause := float(self.turn.min()) - self.time) > _QUIET * window:
                self.time += pause // window * window
            end = self.time + window
            begin = np.full(self.active.size, self.time)
            every = np.arange(self.active.size, dtype=np.int32)
            which = every
            while which.size:
                until = np.minimum(self.turn[which], end)
                length = np.where(self.active[which], until - begin[which], 0.0)
                number = self.random.poisson(length * self.peak)
                if number.any():
                    nodes.append(np.repeat(which, number))
                    low, high = np.repeat(begin[which], number), np.repeat(until, number)
                    times.append(low + (high - low) * self.random.random(low.size))
                begin[which] = until
                which = which[self.turn[which] < end]
                self.active[which] ^= True
                mean = np.where(self.active[which], self.on, self.off)
                self.turn[which] += mean * self.random.standard_exponential(which.size)
            self.time = end
        time, node = np.concatenate(times), np.concatenate(nodes)
        order = np.argsort(time, kind="stable")
        return time[order], node[order]


@dataclass(frozen=True, eq=False)
class Trace:
    """Recorded requests, replayed as they are.

    Attributes
    ----------
    time : float64[K]
        Times in steps, ascending, at least 0.
    node : int32[K]
        Node numbers.
    name : str
        Where the trace is from, for messages.

    Raises
    ------
    ModelError
        If the two differ in length, are empty, or a time is negative or goes back.

    Examples
    --------
    >>> Trace([0.0, 0.5, 0.5], [3, 1, 2]).time.size
    3
    """

    time: FloatArray
    node: IntArray
    name: str = "trace"

    def __init__(self, time: npt.ArrayLike, node: npt.ArrayLike, name: str = "trace") -> None:
        when, where = np.asarray(time, np.float64), np.asarray(node)
        if where.dtype.kind not in "iuf" or not ((where == np.floor(where)) & (np.abs(where) < 2.0**31)).all():
            raise ModelError(f"{name}: node numbers must be whole numbers")
        if when.ndim != 1 or when.shape != where.shape:
            raise ModelError(
                f"{name}: {when.size} times and {where.size} nodes are given; one of each per request is needed"
            )
        if not when.size:
            raise ModelError(f"{name}: there are no requests")
        wrong = np.flatnonzero(~np.isfinite(when) | (when < 0))
        if wrong.size:
            raise ModelError(f"{name}: request {wrong[0] + 1} is at time {when[wrong[0]]}; times are at least 0")
        back = np.flatnonzero(np.diff(when) < 0)
        if back.size:
            b = int(back[0])
            raise ModelError(
                f"{name}: request {b + 2} is at time {when[b + 1]:g}, before request {b + 1} at {when[b]:g}"
            )
        object.__setattr__(self, "time", when)
        object.__setattr__(self, "node", where.astype(np.int64))
        object.__setattr__(self, "name", name)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Trace:
        """Read a trace: two columns, time and node.

        ``.npy`` (shape (K, 2)), ``.parquet`` (columns time, node), else text: one request a line, separated by a comma
        or by spaces, with ``#`` comments and an optional first line of titles (``node,time`` turns the columns round).

        Raises
        ------
        FileFormatError
            If the file cannot be read, naming the line.
        """
        name, ending = file_name(path), Path(path).suffix.lower()
        if ending == ".npy":
            columns = _array_columns(path)
        else:
            columns = _parquet_columns(path) if ending == ".parquet" else _text_columns(path)
        try:
            return cls(*columns, name)
        except ModelError as error:
            raise FileFormatError(str(error)) from None

    def stream(self, random: np.random.Generator, nodes: IntArray, rate: float, slot: float) -> Stream:
        """Return a new stream.

        Raises
        ------
        ModelError
            If a node of the trace is not among `nodes`.
        """
        index = np.searchsorted(nodes, self.node)
        index[index == nodes.size] = 0
        wrong = np.flatnonzero(nodes[index] != self.node)
        if wrong.size:
            raise ModelError(
                f"{self.name}: request {wrong[0] + 1} is at node {self.node[wrong[0]]}, which generates no broadcasts"
                f"; {nodes.size} nodes do, from {nodes[0]} to {nodes[-1]}"
            )
        return _TraceStream(self.time, index.astype(np.int32))


@dataclass
class _TraceStream:
    time: FloatArray
    node: IntArray
    place: int = 0

    def take(self, count: int) -> tuple[FloatArray, IntArray]:
        some = slice(self.place, self.place + count)
        self.place += count
        return self.time[some], self.node[some]


def _array_columns(path: str | os.PathLike[str]) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    table = read_array(path)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iuf":
        raise FileFormatError(
            f"{file_name(path)} has shape {table.shape} of {table.dtype}; numbers of shape (requests, 2) are needed"
        )
    return table[:, 0], table[:, 1]


def _parquet_columns(path: str | os.PathLike[str]) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    import pyarrow as pa

    name = file_name(path)
    found = parquet_table(path, ("time", "node"), _MOST_REQUESTS)
    kinds = [found[title].type for title in ("time", "node")]
    if not all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        raise FileFormatError(f"{name}: time and node must be numbers, got {kinds[0]} and {kinds[1]}")
    return found["time"].to_numpy(), found["node"].to_numpy()


def _text_columns(path: str | os.PathLike[str]) -> tuple[Sequence[float], Sequence[int]]:
    times: list[float] = []
    nodes: list[int] = []
    swapped = False
    for at, line in text_lines(path, "text in UTF-8; a trace is text, .csv, .npy or .parquet"):
        fields = line.replace(",", " ").split()
        try:
            time, node = reversed(fields) if swapped else fields
            request = float(time), whole_text(node, "a node")
        except ValueError:
            if not times and at == 1 and not any(ch.isdigit() for ch in line):
                swapped = [word.lower() for word in fields] == ["node", "time"]
                continue
            raise FileFormatError(
                f"{file_name(path)}, line {at}: {shown(line)} is not a time and a node number"
            ) from None
        times.append(request[0])
        nodes.append(request[1])
    return times, nodes
