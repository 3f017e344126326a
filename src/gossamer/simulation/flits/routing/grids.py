"""Routing on arrays, tori and hypercubes by coordinates, along routes that the source writes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import IntArray
from gossamer.schedules.wormhole.channels import Channels
from gossamer.simulation.flits.destinations import shortest_displacement
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.routing_function import (
    NO_STEP,
    Choosing,
    Joined,
    Legs,
    RoutedMessages,
    TwoLegs,
    halves,
    phases,
)
from gossamer.simulation.flits.settings import Routers

Ints = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]

_DATELINES = {"none": 0, "plain": 1, "balanced": 2}
_CHUNK = 1 << 20


def grid_of(fabric: Fabric, name: str) -> Channels:
    """Return the channels of an array or torus; ModelError on another network."""
    if fabric.grid is None:
        raise ModelError(f"routing {name!r} needs an array or torus such as torus:8x8, got {fabric.network.spec}")
    return fabric.grid


def needs_dateline(fabric: Fabric, settings: Routers) -> bool:
    """Return whether there are rings on which messages change virtual channels."""
    return fabric.grid is not None and any(fabric.grid.wraps) and settings.dateline != "none"


class DimensionOrder(Legs):
    """One dimension after the other, the first first, the shorter way round rings; half way round, either."""

    name = "dimension-order"
    order = 0

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        self.grid = grid_of(fabric, self.name)
        lanes = settings.virtual_channels
        if needs_dateline(fabric, settings) and lanes < 2:
            raise ModelError(
                f"datelines on the rings of {fabric.network.spec} need virtual_channels of at least 2, got {lanes}; "
                "with dateline 'none' messages can deadlock"
            )
        every = (1 << lanes) - 1
        self.classes = np.array([every, *halves(every)], np.int64)
        self.draws = sum(w and s % 2 == 0 for s, w in zip(self.grid.sides, self.grid.wraps, strict=True))
        self.longest = sum(s // 2 if w else s - 1 for s, w in zip(self.grid.sides, self.grid.wraps, strict=True))

    def leg(self, sent: RoutedMessages, at: Integers, to: Integers, kind: int, hops: Ints) -> None:
        """Write ways between routers; see `Legs.leg`."""
        move = shortest_displacement(self.grid, at, to, sent.random)
        order = np.full(at.size, self.order, np.int64)
        write_paths(self, sent.route, sent.begin, at, move, order, kind, self.ends(sent.target), hops)

    def in_two(self) -> None:
        """Part the virtual channels into two groups, each with its halves for datelines: classes 3 to 5 and 6 to 8."""
        each = 2 if needs_dateline(self.fabric, self.settings) else 1
        groups = phases(self.settings.virtual_channels, 2, self.name, each)
        self.classes = np.concatenate([self.classes, *([g, *halves(g)] for g in groups)]).astype(np.int64)

    def every_route(self) -> Iterator[IntArray]:
        """Yield the routes of all pairs, both ways where both are as short."""
        for source, move in every_displacement(self.grid):
            yield self.laid_out(source, move, self.order, 0)

    def laid_out(self, source: Integers, move: Integers, order: int, kind: int) -> IntArray:
        """Return the steps of paths as rows, int32[M, longest], for a class `kind` and the two behind it."""
        width = int(np.abs(move).sum(axis=1).max(initial=0)) + 1
        rows = np.full(source.size * width, NO_STEP, np.int32)
        begin = np.arange(source.size, dtype=np.int64) * width
        write_paths(self, rows, begin, source, move, np.full(source.size, order), kind, np.full(source.size, NO_STEP))
        return rows.reshape(-1, width)[:, :-1]


class ReverseOrder(DimensionOrder):
    """One dimension after the other, the last first."""

    name = "reverse-order"
    order = 1


class OneTurn(DimensionOrder):
    """Either order, drawn for each message; each has virtual channels of its own (O1TURN)."""

    name = "one-turn"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        self.in_two()
        self.draws = (self.draws or 0) + 1

    def write(self, sent: RoutedMessages) -> None:
        """Write routes; see `Routing.write`."""
        per, (route, begin, source, target, random) = self.fabric.per_router, sent
        move = shortest_displacement(self.grid, source // per, target // per, random)
        order, ends = random.integers(0, 2, source.size), self.ends(target)
        for which in (0, 1):
            rows = np.flatnonzero(order == which)
            hops = write_paths(
                self, route, begin[rows], source[rows] // per, move[rows], order[rows], 3 + 3 * which, ends[rows]
            )
            route[begin[rows] - 1] = hops

    def every_route(self) -> Iterator[IntArray]:
        """Yield the routes of all pairs in both orders."""
        for source, move in every_displacement(self.grid):
            yield self.laid_out(source, move, 0, 3)
            yield self.laid_out(source, move, 1, 6)


class Valiant(TwoLegs, DimensionOrder):
    """To a random router first, then to the target, each leg in dimension order on virtual channels of its own."""

    kinds = (3, 6)

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        self.in_two()
        self.direct, self.longest = self.longest, 2 * self.longest
        self.draws = None

    def every_route(self) -> Iterator[IntArray]:
        """Yield the legs of both kinds between all pairs."""
        for source, move in every_displacement(self.grid):
            yield self.laid_out(source, move, 0, 3)
            yield self.laid_out(source, move, 0, 6)

    def joined(self) -> list[Joined]:
        """Return the classes of the first and the second leg."""
        return [Joined(3, 6)]


class Ugal(Choosing, Valiant):
    """The shortest path in dimension order, or Valiant's where that promises to be faster."""


def every_displacement(grid: Channels) -> Iterator[tuple[Ints, Ints]]:
    """Yield sources and shortest displacements that have every two successive steps; in parts.

    Two dimensions suffice: a step is followed by one in its own dimension or by the first one in another.
    """
    n, d = grid.network.node_count, grid.dimensions
    ranges = [
        np.arange(-(s // 2), s // 2 + 1) if w else np.arange(1 - s, s)
        for s, w in zip(grid.sides, grid.wraps, strict=True)
    ]
    node = np.arange(n)
    digits = grid.coordinates(node)
    for i in range(d):
        for j in range(i + (d > 1), d):
            for x in ranges[i]:
                moves = np.zeros((ranges[j].size, d), np.int64)
                moves[:, j] = ranges[j]
                moves[:, i] = x
                source = np.repeat(node, len(moves))
                move = np.tile(moves, (n, 1))
                kept = move.any(axis=1)
                for k, (side, wraps) in enumerate(zip(grid.sides, grid.wraps, strict=True)):
                    end = np.repeat(digits[:, k], len(moves)) + move[:, k]
                    kept &= wraps | ((end >= 0) & (end < side))
                yield source[kept], move[kept]


def write_paths(
    routing: DimensionOrder,
    route: IntArray,
    begin: Ints,
    source: Integers,
    move: Integers,
    order: Integers,
    kind: int,
    ends: Integers,
    hops: Ints | None = None,
) -> Ints:
    """Write dimension-ordered paths behind `hops` steps that are there; return the steps that are then there."""
    from gossamer.simulation.flits.routing import path_tables

    grid = routing.grid
    dateline = _DATELINES[routing.settings.dateline]
    done = np.zeros(source.size, np.int64) if hops is None else hops
    path_tables.dimension_order(
        np.array(grid.sides, np.int64), np.array(grid.strides, np.int64), np.array(grid.wraps, np.int64),
        routing.fabric.link_of, grid.coordinates(source), np.asarray(move, np.int64), np.asarray(order, np.int64),
        min(dateline, 1) if kind else dateline, kind, begin, done, np.asarray(ends, np.int64), route,
    )  # fmt: skip
    return done
