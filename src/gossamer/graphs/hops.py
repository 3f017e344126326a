"""What schedulers take and give: the paths of packets, the hops along them, and which of these are of use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray, Network

__all__ = ["Hops", "Paths", "leads_on"]


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


def leads_on(network: Network, link: IntArray, packet: IntArray) -> npt.NDArray[np.bool_]:
    """Return which hops end at a terminal or at a switch that sends the packet on to one, bool[H]."""
    kept = np.ones(link.size, bool)
    if not link.size:
        return kept
    terminals, switches = network.terminal_count, network.node_count - network.terminal_count
    source, target = network.link_source[link], network.link_target[link]
    into, out = (np.flatnonzero(end >= terminals) for end in (target, source))
    # of each hop at a switch, the packet and the switch
    comes, leaves = (
        packet[rows] * np.int64(switches) + end[rows] - terminals for rows, end in ((into, target), (out, source))
    )
    while True:
        sends = np.zeros((int(packet.max()) + 1) * switches, bool)
        sends[leaves[kept[out]]] = True
        dead = into[kept[into] & ~sends[comes]]
        if not dead.size:
            return kept
        kept[dead] = False
