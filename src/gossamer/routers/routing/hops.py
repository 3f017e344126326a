"""Routing on any network along evenly chosen shortest paths, with virtual channels that grow from hop to hop."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.routers.fabric import Fabric
from gossamer.routers.routing.tables import ShortestPath
from gossamer.routers.settings import Routers

__all__ = ["HopClasses", "shared"]

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
