"""Routing functions by which heads find their way step by step among several links."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.errors import ModelError
from gossamer.networks.network import IntArray
from gossamer.routers.fabric import Fabric
from gossamer.routers.routing.function import Routing, Sent, halves, phases
from gossamer.routers.routing.grids import grid_of, needs_dateline
from gossamer.routers.routing.tables import ranks
from gossamer.routers.settings import Routers
from gossamer.routers.state import Adaptive

__all__ = ["AdaptiveAnywhere", "AdaptiveGrid", "NegativeFirst"]

_ADAPTIVE = -2
_EJECT = -1
_MOST = 1 << 22


class _StepByStep(Routing):
    """A function that is a table of ways by router and target; a message's route is one step that says so."""

    longest = 0
    draws: int | None = 0

    def write(self, sent: Sent) -> None:
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
    """Any shortest way on arrays and tori, with an escape in dimension order (Duato).

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
    """Any shortest way on any network, with an escape up and down a tree on virtual channel 0, which is not left."""

    name = "adaptive"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        from gossamer.routers.routing import _kernels

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
            _kernels.distances(into[0], into[1], fabric.source, rank, t, False, far, queue)
            _kernels.distances(into[0], into[1], fabric.source, rank, t, True, down, queue)
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
