"""Shared ports as compiled kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

__all__ = ["PortTable"]

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
