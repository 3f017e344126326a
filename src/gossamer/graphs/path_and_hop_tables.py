"""What schedulers take and give: the paths of packets, the hops along them, which are of use, and shared ports."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network

__all__ = ["Hops", "Paths", "PortTable", "hold_ports", "index_ranges", "leads_on", "ports_free"]


class Paths(NamedTuple):
    """The links that each packet has to cross, in order.

    `first` (int64[P+1]): packet p crosses ``link[first[p]:first[p+1]]``, which may be empty. `link` (int32[H]): link
    numbers.
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

    `slots` (int): number of slots. `slot`, `link`, `packet` (int32[H]): one row a hop.
    """

    slots: int
    slot: IntArray
    link: IntArray
    packet: IntArray


def index_ranges(
    low: npt.NDArray[np.int64], high: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the pairs of i and each number of ``low[i]:high[i]``, int64[pairs] each.

    >>> index_ranges(np.array([0, 5, 7]), np.array([2, 5, 8]))
    (array([0, 0, 2]), array([0, 1, 7]))
    """
    count = np.maximum(high - low, 0)
    which = np.repeat(np.arange(low.size), count)
    return which, np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + low[which]


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

    * `sending`, `receiving` (int64[L]): the ports through which each link sends and receives, -1 for none.
    * `hold` (int64[P]): slots for which a packet is in a port.
    * `ring` (int64[P + 1]): where the packets in a port are kept: as many places as it passes packets at once.
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


@njit(cache=True, nogil=True, _nrt=False)
def ports_free(e, takes, ports, free, turn):
    """Return from when on the shared ports of link e let a hop start that is over `takes` slots later.

    `free` int64[] is when each place of a port, as in `PortTable.ring`, is free again, and `turn` int64[P] which place
    of a port comes next.
    """
    x, y, hold, ring = ports[0][e], ports[1][e], ports[2], ports[3]
    start = np.int64(0)
    if x >= 0:
        start = max(start, free[ring[x] + turn[x]])
    if y >= 0:
        start = max(start, free[ring[y] + turn[y]] - takes + hold[y])
    return start


@njit(cache=True, nogil=True, _nrt=False)
def hold_ports(e, start, takes, ports, free, turn):
    """Put a hop that starts then into the shared ports of its link, as for `ports_free`."""
    x, y, hold, ring = ports[0][e], ports[1][e], ports[2], ports[3]
    if x >= 0:
        free[ring[x] + turn[x]] = start + hold[x]
        turn[x] = (turn[x] + 1) % (ring[x + 1] - ring[x])
    if y >= 0:
        free[ring[y] + turn[y]] = start + takes
        turn[y] = (turn[y] + 1) % (ring[y + 1] - ring[y])
