"""All routes of a routing function written once, where messages need not have routes of their own."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.simulation.flits.destinations import Draws
from gossamer.simulation.flits.routing.function import Routing, Sent
from gossamer.simulation.flits.settings import Routers

__all__ = ["WrittenRoutes", "written_routes"]

_MOST = 1 << 22
"""Most places of a table of all routes."""


class WrittenRoutes:
    """The routes between any two terminals, for whatever is drawn.

    Attributes
    ----------
    route : int32[...]
        As `Routing.write` writes them.
    draws : int
        How often 0 or 1 is drawn for a message.
    begin : int64[T * T * 2**draws]
        Where the route begins: by source, target, and what is drawn, the first draw in the lowest bit.
    """

    def __init__(self, rule: Routing, draws: int) -> None:
        self.terminals, self.draws = rule.fabric.terminal_count, draws
        shape = self.terminals**2, 1 << draws, rule.row_size
        entry = np.arange(shape[0] * shape[1])
        pair, drawn = np.divmod(entry, shape[1])
        begin = entry * shape[2] + 1
        route = np.zeros(entry.size * shape[2], np.int32)
        rule.write(Sent(route, begin, *np.divmod(pair, self.terminals), _Drawn(drawn)))
        # few pairs have several routes; without the other rows and what is behind their ends the caches hold them
        rows = route.reshape(shape)
        other = (rows != rows[:, :1]).any(axis=2)
        other[:, 0] = True
        length = np.where(other, rows[:, :, 0] + 2, 0)
        kept = np.arange(shape[2]) < length[:, :, None]
        self.route = rows[kept]
        begin = (np.cumsum(length) - length.reshape(-1) + 1).reshape(shape[:2])
        self.begin = np.where(other, begin, begin[:, :1]).reshape(-1)

    def draw(self, count: int, random: Draws) -> npt.NDArray[np.int64]:
        """Return what is drawn for so many messages, int64[draws, count]: what `Routing.write` would draw."""
        drawn = np.empty((self.draws, count), np.int64)
        for row in drawn:
            row[:] = random.integers(0, 2, count)
        return drawn


class _Drawn:
    """Draws of 0 or 1 that are known: the bits of numbers, the lowest first."""

    def __init__(self, bits: npt.NDArray[np.int64]) -> None:
        self.bits = bits

    def integers(self, low: int, high: int, size: tuple[int, ...] | int, /) -> npt.NDArray[np.int64]:
        """Return the next bit of each."""
        found = self.bits & 1
        self.bits = self.bits >> 1
        return found


def written_routes(rule: Routing, messages: float) -> WrittenRoutes | None:
    """Return all routes of a function if about so many messages make them worth it; None if not, or if it cannot be.

    The last ones are kept: the loads of a sweep, and of a search for saturation, follow each other on one network.
    """
    global _last
    if rule.draws is None:
        return None
    entries = rule.fabric.terminal_count**2 << rule.draws
    if entries > min(messages, _MOST / rule.row_size):
        return None
    network, how = rule.fabric.network, (type(rule), rule.fabric.per_router, rule.settings)
    last = _last
    if last is None or last.network() is not network or last.how != how:
        _last = last = _Last(weakref.ref(network), how, WrittenRoutes(rule, rule.draws))
    return last.routes


class _Last(NamedTuple):
    """Routes, with the network and the kind of rule, terminals of a router and routers that they are of."""

    network: weakref.ref[Network]
    how: tuple[type[Routing], int, Routers]
    routes: WrittenRoutes


_last: _Last | None = None
