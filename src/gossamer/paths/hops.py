"""What the non-wasting scheduler takes and gives: the paths of packets, and the hops along them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray

__all__ = ["Hops", "Paths"]


class Paths(NamedTuple):
    """The links that each packet has to cross, in order.

    Attributes
    ----------
    first : int64[P+1]
        Packet p crosses ``link[first[p]:first[p+1]]``, which may be empty.
    link : int32[H]
        Link numbers.
    """

    first: npt.NDArray[np.int64]
    link: IntArray

    def load(self, links: int) -> npt.NDArray[np.int64]:
        """Return how many packets cross each of the network's links, int64[links]."""
        return np.bincount(self.link, minlength=links).astype(np.int64)

    def congestion(self, links: int) -> int:
        """Return the largest load of a link."""
        return int(self.load(links).max(initial=0))

    @property
    def longest(self) -> int:
        """Hops of the longest path."""
        return int(np.diff(self.first).max(initial=0))


class Hops(NamedTuple):
    """The hops of a schedule, by slot.

    Attributes
    ----------
    slots : int
        Number of slots.
    slot, link, packet : int32[H]
        One row a hop.
    """

    slots: int
    slot: IntArray
    link: IntArray
    packet: IntArray
