"""Ports that several links share, such as that of a server to a full switch inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.structures import IntArray, Structure, int_array


@dataclass(frozen=True, eq=False)
class SharedPorts(Structure):
    """Ports, each of which passes so many packets at once out over the links that leave through it, and as many in.

    A packet that starts in slot t on a link of occupancy o and latency l is in the port of the sender in the slots
    ``t .. t + p - 1`` for the occupancy p of that port, and in the port of the receiver in the last slots of its way,
    ``t + o + l - p .. t + o + l - 1``. The two directions of a port do not hinder each other.

    Attributes
    ----------
    sending, receiving : int32[L]
        The port through which what each link carries leaves its source, and the one through which it enters its
        target; -1 for none.
    capacity : int32[P]
        Packets that a port passes at once, each way; at least 1. Default: 1.
    occupancy : int32[P]
        Slots for which a packet is in a port, at least 1 and at most the occupancy of each of its links. Default: 1.
    bandwidth : float64[P] or None
        Bytes a second of each port, for each of the packets that it passes at once, where links have `Speeds`.
    names : tuple of str or None
        Of the ports, each once. Default: ``p0, p1, ...``

    Raises
    ------
    NetworkError
        If the columns do not fit together.

    Notes
    -----
    Ports are kept in the order in which links use them first, those that none uses are left out.

    Examples
    --------
    >>> import gossamer
    >>> full = gossamer.network("complete:4")
    >>> ports = SharedPorts(full.link_source, full.link_target)
    >>> server = full.with_ports(ports)
    >>> gossamer.plan(server, "alltoall").schedule.completion_time, server.plain
    (Fraction(3, 1), False)
    """

    sending: IntArray
    receiving: IntArray
    capacity: npt.ArrayLike = 1
    occupancy: npt.ArrayLike = 1
    bandwidth: npt.NDArray[np.float64] | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        sides = [int_array(side, "ports") for side in (self.sending, self.receiving)]
        used = np.concatenate([side[side >= 0] for side in sides])
        if any(side.size and int(side.min()) < -1 for side in sides):
            raise NetworkError("a port is a number from 0 on, or -1 for none")
        count = int(used.max(initial=-1)) + 1
        found, first = np.unique(used, return_index=True)
        order = found[np.argsort(first)]  # the old number of each port
        new = np.full(count + 1, -1, np.int32)
        new[order] = np.arange(order.size, dtype=np.int32)
        names = tuple(f"p{i}" for i in range(order.size)) if self.names is None else tuple(self.names)
        if self.names is not None:
            if len(set(names)) < len(names) or len(names) < count:
                raise NetworkError(f"{len(set(names))} names are given for {count} ports")
            names = tuple(names[i] for i in order.tolist())
        for name, side in zip(("sending", "receiving"), sides, strict=True):
            object.__setattr__(self, name, int_array(new[side], "ports"))
        for name in ("capacity", "occupancy"):
            column = self._column(getattr(self, name), name, count)[order]
            if column.size and int(column.min()) < 1:
                raise NetworkError(f"the {name} of every port must be at least 1")
            object.__setattr__(self, name, int_array(column, f"the {name} of ports"))
        if self.bandwidth is not None:
            rates = self._column(self.bandwidth, "bandwidth", count)[order].astype(np.float64)
            if rates.size and not (np.isfinite(rates).all() and float(rates.min()) > 0):
                raise NetworkError("the bandwidth of every port must be a finite number, above 0")
            rates.flags.writeable = False
            object.__setattr__(self, "bandwidth", rates)
        object.__setattr__(self, "names", names)

    @staticmethod
    def _column(values: npt.ArrayLike, what: str, count: int) -> npt.NDArray[np.generic]:
        column = np.asarray(values) if what == "bandwidth" else int_array(values, f"the {what} of ports")
        if column.ndim > 1 or (column.ndim and column.size < count):
            raise NetworkError(f"ports need a {what} for each of {count}")
        return column if column.ndim else np.full(count, column[()])

    @property
    def count(self) -> int:
        """Number of ports P."""
        return int(np.size(self.capacity))

    @property
    def columns(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All that makes two of them equal, besides names."""
        told = (self.sending, self.receiving, np.asarray(self.capacity), np.asarray(self.occupancy))
        return told if self.bandwidth is None else (*told, self.bandwidth)

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse anything but two ports for each link."""
        if self.sending.shape == self.receiving.shape == (links,):
            return None
        return f"shared ports need one to send by and one to receive by for each of {links} links"

    def too_slow(self, occupancy: IntArray) -> str | None:
        """Return in a clause which port a packet would not have passed when it leaves a link; None if there is none."""
        held = np.append(np.asarray(self.occupancy), 0)
        most = np.maximum(held[self.sending], held[self.receiving])
        bad = np.flatnonzero(most > occupancy)
        if not bad.size:
            return None
        port = max((int(side[bad[0]]) for side in (self.sending, self.receiving)), key=lambda p: held[p])
        assert self.names is not None
        return (
            f"port {self.names[port]} has occupancy {held[port]}, more than that of a link through it, "
            f"{occupancy[bad[0]]}"
        )

    def same_turned(self, opposite: IntArray) -> bool:
        """Return whether each link's opposite sends by the port by which it receives, and receives where it sends."""
        return bool(
            np.array_equal(self.sending[opposite], self.receiving)
            and np.array_equal(self.receiving[opposite], self.sending)
        )

    def passed(
        self, links: npt.NDArray[np.bool_], rate: npt.NDArray[np.float64], port_rate: npt.NDArray[np.float64]
    ) -> float:
        """Return what some links pass together, of so much each and no more than their ports, `port_rate`, pass."""
        found = []
        for side in (self.sending[links], self.receiving[links]):
            wanted = np.bincount(side + 1, rate[links], self.count + 1)
            found.append(float(wanted[0] + np.minimum(wanted[1:], port_rate).sum()))
        return min(found)

    def replaced(self, occupancy: npt.ArrayLike) -> SharedPorts:
        """Return the ports with other occupancies."""
        return SharedPorts(self.sending, self.receiving, self.capacity, occupancy, self.bandwidth, self.names)

    def transposed(self, order: IntArray) -> Structure:
        """Keep them: what was sent through a port is received through it."""
        return SharedPorts(
            self.receiving[order], self.sending[order], self.capacity, self.occupancy, self.bandwidth, self.names
        )

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure | None:
        """Keep those that links which remain go through."""
        sides = self.sending[links], self.receiving[links]
        if max(int(side.max(initial=-1)) for side in sides) < 0:
            return None
        return SharedPorts(*sides, self.capacity, self.occupancy, self.bandwidth, self.names)
