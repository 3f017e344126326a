"""Where messages of random traffic go, and the channels that they then load."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, TaskError, nearest, shown
from gossamer.networks.network import IntArray, Network
from gossamer.questions.tasks.patterns import PATTERNS, pattern
from gossamer.reading import number, whole_text
from gossamer.reading.files import file_name, read_array, text_lines
from gossamer.schedules.wormhole.channels import Channels

__all__ = ["Destinations", "Draws", "destinations", "read_demands", "shortest_displacement"]

Integers = npt.NDArray[np.integer]

# Tables of demands in files: how much each terminal sends to each other one.


def read_demands(path: str | os.PathLike[str]) -> npt.NDArray[np.float64]:
    """Read a square table of numbers: a ``.npy`` file, or text of one row a line (``#`` begins a comment).

    Returns: float64[T, T]. Raises `FileFormatError` if the file is missing or unreadable, or holds anything else.
    """
    name = file_name(path)
    if str(path).lower().endswith(".npy"):
        table = read_array(path)
    else:
        rows = [line.replace(",", " ").split() for _, line in text_lines(path, "a table of demands: not text in UTF-8")]
        try:
            table = np.array([[float(word) for word in row] for row in rows], np.float64)
        except ValueError as error:
            raise FileFormatError(f"{name} holds no table of demands: {shown(str(error), 160)}") from None
    if table.dtype.kind not in "iufb":
        raise FileFormatError(f"{name} holds no table of demands, but {table.dtype} values")
    table = table.astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise FileFormatError(f"{name} holds no square table of demands, but one of shape {table.shape}")
    return table


_HOT_SHARE = 0.1
_OTHER_NAMES = {
    "bit-complement": "reversal", "bitcomp": "reversal", "bit-reverse": "bit-reversal", "bitrev": "bit-reversal",
    "perfect-shuffle": "shuffle", "bit-rotation": "shuffle", "randperm": "random", "random-permutation": "random",
    "tor": "tornado", "nearest-neighbor": "neighbor", "matrix-transpose": "transpose",
}  # fmt: skip
"""Names of the field for patterns that are called otherwise here."""


class Draws(Protocol):
    """Random whole numbers, as a `numpy.random.Generator` draws them."""

    def integers(self, low: int, high: int, size: tuple[int, ...] | int, /) -> npt.NDArray[np.int64]:
        """Return numbers from `low` to ``high - 1``."""
        ...


@dataclass(frozen=True, eq=False)
class Destinations:
    """Where the messages of each node go.

    Attributes
    ----------
    name : str
        Of the pattern.
    fixed : int32[N] or None
        The destination of each node, -1 for a node that sends nothing; None where it is drawn for each message.
    hot : int32[...]
        Nodes that draw more than the others; empty for uniform traffic.
    hot_share : float
        Share of the messages that go to one of `hot`; the others go to any other node.
    demand : float64[T, T] or None
        Row u holds the shares of what terminal u sends, summed up along the row, the last is 1 or 0.
    weight : float64[T] or None
        How much each terminal sends, as a share of the most.
    """

    name: str
    fixed: IntArray | None
    hot: IntArray
    hot_share: float
    demand: npt.NDArray[np.float64] | None = None
    weight: npt.NDArray[np.float64] | None = None

    def sources(self, nodes: int) -> npt.NDArray[np.int64]:
        """Return the nodes that send, int64[...]."""
        if self.weight is not None:
            return np.flatnonzero(self.weight > 0)
        if self.fixed is None:
            return np.arange(nodes)
        return np.flatnonzero((self.fixed >= 0) & (self.fixed != np.arange(nodes)))

    def draw(self, source: Integers, nodes: int, random: np.random.Generator) -> Integers:
        """Return a destination other than itself for a message from each of `source`, int[...]."""
        if self.fixed is not None:
            return np.asarray(self.fixed[source])
        if self.demand is not None:
            found = np.zeros(source.size, np.int64)
            x = random.random(source.size)
            order = np.argsort(source, kind="stable")
            cuts = np.flatnonzero(np.diff(source[order], prepend=-1))
            for rows in np.split(order, cuts[1:]):
                found[rows] = np.searchsorted(self.demand[source[rows[0]]], x[rows], side="right")
            return found
        away = random.integers(0, nodes - 1, source.size)
        to = away + (away >= source)
        if self.hot.size:
            chosen = random.random(source.size) < self.hot_share
            hot = self.hot[random.integers(0, self.hot.size, source.size)]
            to = np.where(chosen & (hot != source), hot, to)
        return to


def destinations(
    network: Network,
    pattern_: str | npt.ArrayLike,
    *,
    hot_share: float = _HOT_SHARE,
    seed: int = 0,
    per_router: int = 1,
) -> Destinations:
    """Return the destinations of a named pattern or of a list.

    Parameters
    ----------
    network : Network
        Any, with at least 2 terminals.
    pattern_ : str or array_like of int, shape (T,) or (T, T)
        ``uniform``: any other terminal. ``hotspot``: the middle one with probability `hot_share`, else any other;
        ``hotspot:5,9`` names other hot terminals. A name of `gossamer.questions.tasks.PATTERNS`, or a usual name such
        as
        ``bit-complement``, ``bitrev`` or ``randperm``. Or the destination of each terminal, -1 for none. A terminal
        whose destination is itself sends nothing. Or a table of demands: row u holds the shares of terminal u's flits
        that go to each other one, of any sum; with sums that differ, terminals send that much more or less than the
        largest, which sends the load.
    hot_share : float
        Share of hotspot traffic that goes to the hot nodes, above 0 and at most 1.
    seed : int
        For the pattern ``random``.
    per_router : int
        Terminals of each router that has any.

    Raises
    ------
    TaskError
        If the pattern is unknown or does not fit the network, or nothing is sent.
    """
    n = network.terminal_count * per_router
    if n < 2:
        raise TaskError(f"traffic needs at least 2 nodes, {network.spec} has {n}")
    none = np.zeros(0, np.int32)
    if not isinstance(pattern_, str):
        return _given(network, np.asarray(pattern_), n)
    name = pattern_.strip().lower().replace("_", "-")
    kind, _, nodes = name.partition(":")
    if kind == "uniform" and not nodes:
        return Destinations("uniform", None, none, 0.0)
    if kind == "hotspot":
        share = number(hot_share, "hot_share", above=0, most=1, error=TaskError)
        return Destinations(name, None, _hot_nodes(network, nodes, per_router), share)
    name = _OTHER_NAMES.get(name, name)
    if name == "random" and per_router > 1:
        return _sending(
            Destinations("random", np.random.default_rng(seed).permutation(n).astype(np.int32), none, 0.0), n
        )
    if name in PATTERNS and per_router > 1:
        raise TaskError(f"pattern {name!r} is one of nodes; with {per_router} terminals a router give destinations")
    if name not in PATTERNS:
        hint = nearest(name, ["uniform", "hotspot", *PATTERNS])
        known = ", ".join(["uniform", "hotspot", *PATTERNS])
        raise TaskError(f"unknown pattern {pattern_!r}{hint or f'; known patterns: {known}'}")
    return _sending(Destinations(name, pattern(name, network, seed=seed), none, 0.0), n)


def _given(network: Network, given: npt.NDArray[np.generic], n: int) -> Destinations:
    """Return destinations or a table of demands that were given."""
    none = np.zeros(0, np.int32)
    if given.ndim == 2 and given.dtype.kind in "iuf":
        table = given.astype(np.float64)
        if table.shape != (n, n):
            raise TaskError(f"demands must be a table of {n} x {n} numbers for {network.spec}, got {table.shape}")
        np.fill_diagonal(table, 0.0)
        if not np.isfinite(table).all() or (table < 0).any():
            raise TaskError("demands must be numbers of at least 0")
        sums = table.sum(axis=1)
        if not sums.any():
            raise TaskError("with these demands no node sends to another")
        shares = np.cumsum(table, axis=1) / np.where(sums > 0, sums, 1)[:, None]
        last = n - 1 - (table[:, ::-1] > 0).argmax(axis=1)
        shares[np.arange(n)[None, :] >= last[:, None]] = 1.0
        return Destinations("given demands", None, none, 0.0, shares, sums / sums.max())
    if given.shape != (n,) or given.dtype.kind not in "iu":
        got = f"{given.size} in shape {given.shape}" if given.ndim != 1 else f"{given.size} of type {given.dtype}"
        raise TaskError(f"destinations must be {n} whole numbers, one a node of {network.spec}, got {got}")
    fixed = given.astype(np.int64)
    wrong = np.flatnonzero((fixed < -1) | (fixed >= n))
    if wrong.size:
        u = int(wrong[0])
        raise TaskError(
            f"the destination of node {u} is {fixed[u]}; it must be 0..{n - 1} on {network.spec}, or -1 for none"
        )
    return _sending(Destinations("given destinations", fixed.astype(np.int32), none, 0.0), n)


def _sending(found: Destinations, n: int) -> Destinations:
    if not found.sources(n).size:
        raise TaskError(f"with pattern {found.name!r} no node sends to another")
    return found


def _hot_nodes(network: Network, text: str, per_router: int) -> IntArray:
    if not text:
        if network.grid is None:
            return np.array([(network.terminal_count * per_router) // 2], np.int32)
        sides = np.array(Channels(network).sides)
        return (Channels(network).nodes(sides // 2) * per_router).astype(np.int32).reshape(1)
    most = network.terminal_count * per_router - 1
    allowed = f"node numbers in 0..{most} such as hotspot:5,9"
    nodes = [whole_text(word, "hot nodes", 0, most, allowed=allowed, error=TaskError) for word in text.split(",")]
    return np.array(nodes, np.int32)


def shortest_displacement(
    channels: Channels, source: Integers, target: Integers, random: Draws | None = None
) -> npt.NDArray[np.int64]:
    """Return signed hops along each dimension on a shortest path, int64[M, d].

    Half way round a ring both directions are as short: `random` chooses, and without it the message goes up.

    >>> import gossamer
    >>> c = Channels(gossamer.network("torus:4x5"))
    >>> shortest_displacement(c, np.array([0]), np.array([14])).tolist()
    [[2, -1]]
    """
    move = channels.coordinates(target) - channels.coordinates(source)
    for i, (side, wraps) in enumerate(zip(channels.sides, channels.wraps, strict=True)):
        if not wraps:
            continue
        up = np.arange(1 - side, side) % side
        hops = np.where(2 * up > side, up - side, up)
        place = move[..., i] + (side - 1)
        if side % 2 == 0 and random is not None:
            hops = np.concatenate([hops, np.where(2 * up == side, -up, hops)])
            place += (2 * side - 1) * random.integers(0, 2, place.shape)
        move[..., i] = hops[place]
    return move
