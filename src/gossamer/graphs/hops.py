"""What schedulers take and give: the paths of packets, the hops along them, which are of use, and shared ports."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray, Network

__all__ = ["Hops", "Paths", "PortTable", "leads_on"]


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


Longs = npt.NDArray[np.int64]


class PortTable(NamedTuple):
    """Shared ports, each way of a port one of its own; all arrays are empty where links share none.

    Attributes
    ----------
    sending, receiving : int64[L]
        The ports through which each link sends and receives, -1 for none.
    hold : int64[P]
        Slots for which a packet is in a port.
    ring : int64[P + 1]
        Where the packets in a port are kept: as many places as it passes packets at once.
    """

    sending: Longs
    receiving: Longs
    hold: Longs
    ring: Longs

    @classmethod
    def of(cls, network: Network) -> PortTable:
        """Return the ports of a network.

        >>> import gossamer
        >>> PortTable.of(gossamer.network("ring:4")).ring.tolist()
        [0]
        """
        ports = network.shared_ports
        none = np.zeros(0, np.int64)
        if ports is None:
            return cls(none, none, none, np.zeros(1, np.int64))
        count = ports.count
        sides = (
            ports.sending.astype(np.int64),
            np.where(ports.receiving < 0, -1, ports.receiving.astype(np.int64) + count),
        )
        room = np.zeros(2 * count, np.int64)  # no more than its links carry at once, to and after their own latencies
        longest = network.link_occupancy.astype(np.int64) + network.link_latency
        for side in sides:
            np.add.at(room, side[side >= 0], (network.link_capacity * longest)[side >= 0])
        ring = np.zeros(2 * count + 1, np.int64)
        np.cumsum(np.minimum(np.tile(np.asarray(ports.capacity), 2), np.maximum(room, 1)), out=ring[1:])
        return cls(*sides, np.tile(np.asarray(ports.occupancy).astype(np.int64), 2), ring)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Slots of all of a port that a packet takes, float64[P]: `hold` over the packets that it passes at once."""
        return self.hold / np.diff(self.ring)

    def turned_round(self) -> PortTable:
        """Return the ports of the links in opposite direction."""
        return self._replace(sending=self.receiving, receiving=self.sending)
