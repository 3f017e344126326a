"""The source chooses between the shortest and a random longer way by the queues that it sees (UGAL)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray
from gossamer.routers.routing.grids import Valiant, write_paths
from gossamer.routers.routing.tables import ValiantTable

__all__ = ["Ugal", "UgalTable"]


class Ugal(Valiant):
    """The shortest way in dimension order, or Valiant's where that promises to be faster.

    The source compares flits waiting for the first link times links of the way. Shortest ways take the virtual
    channels of second legs.
    """

    name = "ugal"
    routes = 2

    def write(
        self,
        route: IntArray,
        begin: npt.NDArray[np.int64],
        source: npt.NDArray[np.integer],
        target: npt.NDArray[np.integer],
        random: np.random.Generator,
    ) -> None:
        """Write both routes; see `Routing.write`."""
        from gossamer.routers.destinations import shortest_displacement

        per = self.fabric.per_router
        move = shortest_displacement(self.grid, source // per, target // per, random)
        first = np.zeros(source.size, np.int64)
        route[begin - 1] = write_paths(self, route, begin, source // per, move, first, 6, self.ends(target))
        super().write(route, begin + self.longest + 2, source, target, random)


class UgalTable(ValiantTable):
    """The same with tables of paths, on any network."""

    name = "ugal"
    routes = 2

    def write(
        self,
        route: IntArray,
        begin: npt.NDArray[np.int64],
        source: npt.NDArray[np.integer],
        target: npt.NDArray[np.integer],
        random: np.random.Generator,
    ) -> None:
        """Write both routes; see `Routing.write`."""
        per = self.fabric.per_router
        hops = np.zeros(source.size, np.int64)
        self.copy(route, begin, source // per, target // per, hops, self.layers, self.ends(target))
        route[begin - 1] = hops
        super().write(route, begin + self.longest + 2, source, target, random)
