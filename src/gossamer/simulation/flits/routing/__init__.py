"""Routing functions of the flit simulator by name, and the proof that they cannot deadlock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, nearest
from gossamer.networks.network import IntArray, Network
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.deadlock_freedom import DeadlockFreedom, deadlock_freedom
from gossamer.simulation.flits.routing.grids import (
    DimensionOrder,
    OneTurn,
    ReverseOrder,
    Ugal,
    Valiant,
    grid_of,
    needs_dateline,
)
from gossamer.simulation.flits.routing.path_tables import Layered, ShortestPath, UgalTable, UpDown, ValiantTable, ranks
from gossamer.simulation.flits.routing.routing_function import RoutedMessages, Routing, halves, phases
from gossamer.simulation.flits.settings import Routers
from gossamer.simulation.flits.state import Adaptive

__all__ = [
    "ROUTINGS",
    "AdaptiveAnywhere",
    "AdaptiveGrid",
    "DeadlockFreedom",
    "HopClasses",
    "NegativeFirst",
    "Routing",
    "deadlock_freedom",
    "routing",
    "routing_on",
    "shared",
]


# Routing on any network along evenly chosen shortest paths, with virtual channels that grow from hop to hop.

_ROUNDS = 6


class HopClasses(ShortestPath):
    """Evenly chosen shortest paths, each hop in a higher class of virtual channels than the one before it.

    Channels wait for channels of higher classes only, so that no circle of them can wait for each other, whatever the
    paths: these can be chosen to load all links evenly. A path that is shorter than the longest may begin in a higher
    class, which evens out the classes; the classes have virtual channels by the hops made in them. As many virtual
    channels are needed as the diameter has hops.
    """

    name = "hop-classes"
    rounds = _ROUNDS

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        lanes, classes = settings.virtual_channels, max(1, self.longest)
        if lanes < classes:
            raise ModelError(
                f"routing {self.name!r} needs virtual_channels of at least {classes} on {fabric.network.spec}, one for "
                f"each hop of the longest path, got {lanes}; 'up-down' needs 1"
            )
        length = np.diff(self.first)
        spare = classes - length
        begin = np.arange(length.size) % (spare + 1)  # every place in turn
        hop = np.arange(self.step.size) - np.repeat(self.first[:-1], length)
        kind = np.repeat(begin, length) + hop
        groups = shared(lanes, np.bincount(kind, minlength=classes))
        self.classes = np.array([self.classes[0], *groups], np.int64)
        self.step = np.asarray(self.step + 1 + kind, np.int32)


def shared(lanes: int, weight: npt.NDArray[np.int64]) -> list[int]:
    """Share virtual channels among classes, at least one each, the others one by one where they help most; as bits.

    >>> shared(8, np.array([10, 30, 10]))
    [3, 60, 192]
    """
    count = np.ones(weight.size, np.int64)
    for _ in range(lanes - weight.size):
        count[int(np.argmax(weight / count))] += 1
    last = np.cumsum(count)
    return [(1 << int(b)) - (1 << int(b - c)) for b, c in zip(last, count, strict=True)]


# Routing functions by which heads find their way step by step among several links.

_ADAPTIVE = -2
_MOST = 1 << 22


class _StepByStep(Routing):
    """A function that is a table of ways by router and target; a message's route is one step that says so."""

    longest = 0
    draws: int | None = 0

    def write(self, sent: RoutedMessages) -> None:
        """Write the step; see `Routing.write`."""
        sent.route[sent.begin - 1] = 0
        sent.route[sent.begin] = _ADAPTIVE

    def every_route(self) -> Iterator[IntArray]:
        """Yield nothing: see `adaptive`."""
        yield from ()

    def _table(self, router: IntArray, target: IntArray, way: IntArray, rank: IntArray) -> Adaptive:
        """Return rows (router, target router, way, rank) as a table by router and terminal, with the ends added."""
        routers, terminals = self.fabric.router_count, self.fabric.terminal_count
        if routers * terminals > _MOST:
            raise ModelError(
                f"routing {self.name!r} keeps a table of routers times terminals of at most {_MOST:,} entries, "
                f"{self.fabric.network.spec} has {routers * terminals:,}"
            )
        per = self.fabric.per_router
        here = np.arange(terminals) // per
        ends = self.ends(np.arange(terminals))
        rows = np.stack([router, target, way, rank], axis=1).astype(np.int64)
        if per > 1:
            rows = np.repeat(rows, per, axis=0)
            rows[:, 1] = rows[:, 1] * per + np.tile(np.arange(per), router.size)
        rows = np.concatenate([rows, np.stack([here, np.arange(terminals), ends, np.zeros_like(ends)], axis=1)])
        rows = rows[rows[:, 1] < terminals]
        order = np.lexsort((-rows[:, 3], rows[:, 1], rows[:, 0]))
        rows = rows[order]
        key = rows[:, 0] * terminals + rows[:, 1]
        first = np.searchsorted(key, np.arange(routers * terminals + 1))
        table = np.zeros((routers, terminals + 1), np.int32)
        table[:, :-1] = first[:-1].reshape(routers, terminals)
        table[:, -1] = first[terminals::terminals]
        return Adaptive(table, rows[:, 2:].astype(np.int32))


class AdaptiveGrid(_StepByStep):
    """Any shortest path on arrays and tori, with an escape in dimension order (Duato).

    The escape takes the lowest virtual channel, on rings the two lowest: one while the way ahead crosses the closing
    channel of the ring, and the other behind it.
    """

    name = "adaptive"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        grid = grid_of(fabric, self.name)
        lanes, rings = settings.virtual_channels, needs_dateline(fabric, settings)
        escapes = 2 if rings else 1
        phases(lanes, escapes + 1, self.name, 1)
        every = (1 << lanes) - 1
        below = (1 << escapes) - 1
        self.classes = np.array([every, *halves(every), every & ~below, 1, 2 if rings else 1], np.int64)
        n, d = fabric.router_count, grid.dimensions
        u, t = (x.reshape(-1) for x in np.divmod(np.arange(n * n), n))
        x, y = grid.coordinates(u), grid.coordinates(t)
        rows: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        settled = np.zeros(n * n, np.bool_)  # an earlier dimension is still to go
        for i, (side, wraps) in enumerate(zip(grid.sides, grid.wraps, strict=True)):
            up = y[:, i] - x[:, i]
            if wraps:
                up = up % side
                goes = (up > 0) & (2 * up <= side), (up > 0) & (2 * up >= side)
            else:
                goes = up > 0, up < 0
            for down in (0, 1):
                where = np.flatnonzero(goes[down])
                way = fabric.link_of[(u[where] * d + i) * 2 + down].astype(np.int64) << 8
                rows.append((u[where], t[where], way | 3, np.ones_like(way)))
            escape = np.flatnonzero((goes[0] | goes[1]) & ~settled)
            down_way = ~goes[0][escape]
            crosses = np.where(down_way, y[escape, i] > x[escape, i], y[escape, i] < x[escape, i])
            kind = np.where(rings & crosses & bool(wraps), 4, 5)
            way = fabric.link_of[(u[escape] * d + i) * 2 + down_way].astype(np.int64) << 8
            rows.append((u[escape], t[escape], way | kind, np.zeros_like(way)))
            settled |= goes[0] | goes[1]
        self.adaptive = self._table(*(np.concatenate([r[k] for r in rows]) for k in range(4)))


class NegativeFirst(_StepByStep):
    """The turn model on arrays: first all hops towards lower coordinates, in any order, then the others (Glass, Ni)."""

    name = "negative-first"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        grid = grid_of(fabric, self.name)
        if any(grid.wraps):
            raise ModelError(f"routing 'negative-first' needs an array such as array:8x8, got {fabric.network.spec}")
        self.classes = np.array([(1 << settings.virtual_channels) - 1], np.int64)
        n, d = fabric.router_count, grid.dimensions
        u, t = (x.reshape(-1) for x in np.divmod(np.arange(n * n), n))
        ahead = grid.coordinates(t) - grid.coordinates(u)
        negative = (ahead < 0).any(axis=1)
        rows = []
        for i in range(d):
            for down, goes in ((1, ahead[:, i] < 0), (0, (ahead[:, i] > 0) & ~negative)):
                where = np.flatnonzero(goes)
                way = fabric.link_of[(u[where] * d + i) * 2 + down].astype(np.int64) << 8
                rows.append((u[where], t[where], way, np.zeros_like(way)))
        self.adaptive = self._table(*(np.concatenate([r[k] for r in rows]) for k in range(4)))


class AdaptiveAnywhere(_StepByStep):
    """Any shortest path on any network, with an escape up and down a tree on virtual channel 0, which is not left."""

    name = "adaptive"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        from gossamer.simulation.flits.routing import path_tables

        super().__init__(fabric, settings)
        lanes = settings.virtual_channels
        phases(lanes, 2, self.name, 1)
        every = (1 << lanes) - 1
        self.classes = np.array([every, *halves(every), every & ~1, 1], np.int64)
        self.escape = 1
        n, rank = fabric.router_count, ranks(fabric)
        into = fabric.entering
        far, down, queue = (np.zeros((n, 2), np.int32), np.zeros((n, 2), np.int32), np.zeros(2 * n + 2, np.int32))
        goes_up = rank[fabric.target] < rank[fabric.source]
        rows = []
        for t in range(fabric.network.terminal_count):
            path_tables.distances(into[0], into[1], fabric.source, rank, t, False, far, queue)
            path_tables.distances(into[0], into[1], fabric.source, rank, t, True, down, queue)
            if (down[:, 1] < 0).any():
                raise ModelError(
                    f"routing 'adaptive' needs links both ways up and down a tree on {fabric.network.spec}"
                )
            near = np.flatnonzero(far[fabric.target, 1] == far[fabric.source, 1] - 1)
            rows.append((fabric.source[near], near, np.full(near.size, 3), np.ones(near.size, int), t))
            # down if that leads there, else up
            descends = (down[fabric.source, 0] > 0) & ~goes_up
            descends &= down[fabric.target, 0] == down[fabric.source, 0] - 1
            climbs = (down[fabric.source, 0] < 0) & goes_up & (down[fabric.target, 1] == down[fabric.source, 1] - 1)
            tree = np.flatnonzero(descends | climbs)
            rows.append((fabric.source[tree], tree, np.full(tree.size, 4), np.zeros(tree.size, int), t))
        self.adaptive = self._table(
            np.concatenate([r[0] for r in rows]),
            np.concatenate([np.full(r[0].size, r[4]) for r in rows]),
            np.concatenate([(r[1].astype(np.int64) << 8) | r[2] for r in rows]),
            np.concatenate([r[3] for r in rows]),
        )


ROUTINGS: dict[str, str] = {
    "dimension-order": "arrays and tori: one dimension after the other, the first first (XY)",
    "reverse-order": "arrays and tori: the last dimension first (YX)",
    "one-turn": "arrays and tori: either order at random, each on virtual channels of its own (O1TURN)",
    "negative-first": "arrays: hops towards lower coordinates first, else any shortest way (turn model)",
    "adaptive": "any shortest way, with an escape that cannot deadlock (Duato)",
    "valiant": "to a random router first, then to the target",
    "ugal": "the source chooses the shortest way or Valiant's by the queues that it sees",
    "up-down": "any network: shortest paths that go up towards a root, then down",
    "layered": "any network: shortest paths, spread over layers of virtual channels without circles (LASH)",
    "hop-classes": "any network: evenly chosen shortest paths, each hop on higher virtual channels than the last",
    "shortest-path": "any network: shortest paths on all virtual channels; they may deadlock",
}
"""Every routing function with a line about it."""

_OTHER_NAMES = {
    "dor": "dimension-order", "xy": "dimension-order", "yx": "reverse-order", "o1turn": "one-turn",
    "minimal-adaptive": "adaptive", "turn-model": "negative-first", "up*/down*": "up-down", "updown": "up-down",
    "lash": "layered", "minimal": "shortest-path",
    "hop-based": "hop-classes", "distance-classes": "hop-classes",
}  # fmt: skip
_ON_GRIDS: dict[str, type[Routing]] = {
    c.name: c for c in (DimensionOrder, ReverseOrder, OneTurn, NegativeFirst, AdaptiveGrid, Valiant, Ugal)
}
_ANYWHERE: dict[str, type[Routing]] = {
    c.name: c for c in (AdaptiveAnywhere, ValiantTable, UgalTable, UpDown, Layered, HopClasses, ShortestPath)
}


def routing(network: Network, name: str = "default", settings: Routers | None = None, per_router: int = 1) -> Routing:
    """Return a routing function on a network.

    Parameters
    ----------
    network : Network
        Any.
    name : str
        A key of ``ROUTINGS`` or a usual name such as ``xy``, ``o1turn``, ``lash``; ``default`` is dimension order on
        arrays and tori, else layered shortest paths where the virtual channels suffice, else up-down.
    settings : Routers, optional
        Default: ``Routers()``.
    per_router : int
        Terminals of each router that has any.

    Raises
    ------
    ModelError, NetworkError
        If the function is unknown or not for this network or so few virtual channels.

    Examples
    --------
    >>> import gossamer
    >>> routing(gossamer.network("star:4")).name
    'up-down'
    """
    settings = Routers() if settings is None else settings
    return routing_on(Fabric(network, per_router), name, settings)


def routing_on(fabric: Fabric, name: str, settings: Routers) -> Routing:
    """Return a routing function on a fabric; see `routing`."""
    key = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    key = _OTHER_NAMES.get(key, key)
    if key == "default":
        if fabric.grid is not None:
            return DimensionOrder(fabric, settings)
        try:
            return Layered(fabric, settings)
        except ModelError:
            return UpDown(fabric, settings)
    if key not in ROUTINGS:
        hint = nearest(key, ROUTINGS) or f"; known are {', '.join(ROUTINGS)}"
        raise ModelError(f"unknown routing {name!r}{hint}")
    if key in _ON_GRIDS and (fabric.grid is not None or key not in _ANYWHERE):
        return _ON_GRIDS[key](fabric, settings)
    return _ANYWHERE[key](fabric, settings)
