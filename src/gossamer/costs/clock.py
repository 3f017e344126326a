"""The clock of a network whose links have bandwidths: slots of so many seconds, in which every link keeps its time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.costs.steps import StepCost
from gossamer.errors import ModelError, NetworkError
from gossamer.networks.network import Network
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.reading import fraction, whole
from gossamer.writing import bytes_text, seconds_text

__all__ = ["Clock", "Clocked", "clocked"]

_FINEST = 64
"""Into how many slots the time of a packet on the fastest link is divided at the most."""
_CLOSE = Fraction(1, 50)
"""Rounding up that is close enough, so that no finer slot is looked for."""
_LONGEST = 100_000
"""Slots that the slowest link may take for a packet."""


@dataclass(frozen=True)
class Clock(StepCost):
    """What hops cost in seconds: so many slots each, as the network's links say, of one length.

    Attributes
    ----------
    control_time : Fraction
        As of `StepCost`, in slots.
    slot_seconds : Fraction
        Length of a slot in seconds, above 0.
    packet_bytes, message_bytes, buffer_bytes : int
        Bytes of a packet, of a message, and of the buffer that the algorithm bandwidth counts.
    bus : Fraction or None
        Bus bandwidth over algorithm bandwidth; None where it is not defined.
    rounding : Fraction
        By what share of its time the link that is rounded up most takes longer in whole slots, at least 0.
    """

    slot_seconds: Fraction = Fraction(1)
    packet_bytes: int = 1
    message_bytes: int = 1
    buffer_bytes: int = 1
    bus: Fraction | None = None
    rounding: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        slot = fraction(self.slot_seconds, "slot_seconds", allowed="a number of seconds above 0")
        if not slot:
            raise ModelError("slot_seconds must be a number of seconds above 0, got 0")
        object.__setattr__(self, "slot_seconds", slot)
        for name in ("packet_bytes", "message_bytes", "buffer_bytes"):
            object.__setattr__(self, name, whole(getattr(self, name), name, 1, 2**63 - 1))
        for name in ("bus", "rounding"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, fraction(value, name, allowed="a number that is 0 or more"))

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "slot"

    def seconds(self, time: Fraction) -> Fraction:
        """Return the seconds of a time in slots."""
        return time * self.slot_seconds

    def bandwidth(self, time: Fraction) -> Fraction | None:
        """Return the algorithm bandwidth, bytes of the buffer a second; None where no time passes."""
        return self.buffer_bytes / self.seconds(time) if time else None

    def bus_bandwidth(self, time: Fraction) -> Fraction | None:
        """Return the bus bandwidth in bytes a second; None where it is not defined or no time passes."""
        found = self.bandwidth(time)
        return None if found is None or self.bus is None else found * self.bus

    def describe(self) -> str:
        """Return the sizes and the slot, for people.

        >>> Clock(slot_seconds="1/1000000", packet_bytes=500, message_bytes=1000).describe()
        'messages of 1 kB in packets of 500 B, slots of 1 us'
        """
        packets = f" in packets of {bytes_text(self.packet_bytes)}" if self.packet_bytes < self.message_bytes else ""
        rounded = f", rounded up by at most {float(self.rounding):.2g} of a link's time" if self.rounding else ""
        slot = f"slots of {seconds_text(self.slot_seconds)}{rounded}"
        return f"messages of {bytes_text(self.message_bytes)}{packets}, {slot}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            **super().to_dict(),
            "slot_seconds": str(self.slot_seconds),
            "packet_bytes": self.packet_bytes,
            "message_bytes": self.message_bytes,
            "buffer_bytes": self.buffer_bytes,
            "bus": None if self.bus is None else str(self.bus),
            "rounding": str(self.rounding),
        }


class Clocked(NamedTuple):
    """A network with its links' times in slots, the length of a slot in seconds, and the largest rounding up."""

    network: Network
    slot: Fraction
    rounding: Fraction


def clocked(
    network: Network, packet_bytes: int, bandwidth: Fraction | None = None, latency: Fraction = Fraction(0)
) -> Clocked:
    """Return the network with occupancies and latencies in slots for packets of so many bytes.

    Parameters
    ----------
    network : Network
        Its structure `Speeds` has the bandwidths and latencies.
    packet_bytes : int
        Bytes of a packet.
    bandwidth, latency : Fraction
        Bytes a second of a link of occupancy 1, and seconds of every link, for a network without `Speeds`. Default: the
        published speed, `RatedLinks`, of a machine that has one.

    Returns
    -------
    Clocked
        Times are rounded up, so that what the schedule takes is what the links can keep. The network itself where every
        link takes one slot.

    Raises
    ------
    NetworkError
        If the network has no speeds and no bandwidth is given, or has speeds and one is given, or its links differ in
        time so much that a packet would take more than 2**31 slots.

    Notes
    -----
    The slot is the time of a packet on the fastest link, divided by the least whole number, up to 64, for which no link
    is rounded up by more than 2 % of its time, and by the best of them if there is none such. O(links).

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> found = clocked(ring(4), 1000, Fraction(10**9), Fraction(1, 10**7))
    >>> found.slot, found.network.uniform_occupancy, found.network.uniform_latency
    (Fraction(1, 9000000), 9, 1)
    """
    rated = network.find(RatedLinks)
    if bandwidth is None and rated is not None and network.find(Speeds) is None:
        bandwidth = Fraction(rated.bandwidth)
    transfer, latencies, kind = _times(network, packet_bytes, bandwidth, latency)
    through, gate = _port_times(network, packet_bytes, bandwidth)
    links = len(transfer)
    transfer, latencies = [*transfer, *through], [*latencies, *[Fraction(0)] * len(through)]
    if not transfer:
        return Clocked(network, Fraction(packet_bytes) / (bandwidth or 1), Fraction(0))
    fastest, slowest = min(transfer), max(busy + wait for busy, wait in zip(transfer, latencies, strict=True))
    best: tuple[Fraction, Fraction] | None = None
    for parts in range(1, _FINEST + 1):
        slot = max(fastest / parts, slowest / _LONGEST)
        loss = _rounding(transfer, latencies, slot)
        if best is None or loss < best[0]:
            best = loss, slot
        if loss <= _CLOSE or slot > fastest / parts:
            break
    assert best is not None
    rounding, slot = best
    taken, waits = (np.array([-(-value // slot) for value in c], np.int64) for c in (transfer, latencies))
    if set(taken.tolist()) == {1} and set(waits.tolist()) == {0} and network.plain:
        return Clocked(network, slot, rounding)
    occupancy, held, ports = taken[:links][kind], taken[links:][gate], network.shared_ports
    if ports is not None:  # a link is no faster than its ports
        for side in (ports.sending, ports.receiving):
            occupancy = np.maximum(occupancy, np.append(held, 0)[side])
    return Clocked(network.with_times(occupancy, waits[:links][kind], ports=held), slot, rounding)


def _port_times(
    network: Network, packet_bytes: int, bandwidth: Fraction | None
) -> tuple[list[Fraction], npt.NDArray[np.intp]]:
    """Return the different times of a packet in shared ports in seconds, exact, and which of them each port has."""
    ports = network.shared_ports
    if ports is None:
        return [], np.zeros(0, np.intp)
    if ports.bandwidth is not None:
        rates, kind = np.unique(ports.bandwidth, return_inverse=True)
        return [packet_bytes / Fraction(float(rate)) for rate in rates], kind.reshape(-1)
    if bandwidth is None:
        raise NetworkError(f"network {network.spec!r}: its links have bandwidths, and its shared ports have none")
    slots, kind = np.unique(np.asarray(ports.occupancy), return_inverse=True)
    return [int(k) * packet_bytes / bandwidth for k in slots], kind.reshape(-1)


def _times(
    network: Network, packet_bytes: int, bandwidth: Fraction | None, latency: Fraction
) -> tuple[list[Fraction], list[Fraction], np.ndarray]:
    """Return the different (transfer, latency) of links in seconds, exact, and which of them each link has."""
    speeds = network.find(Speeds)
    if speeds is not None and bandwidth is not None:
        raise NetworkError(f"network {network.spec!r} has bandwidths of its own; leave --bandwidth and --latency out")
    if speeds is None and bandwidth is None:
        raise NetworkError(
            f"network {network.spec!r} has no bandwidths, so bytes take no time; give --bandwidth, such as 400Gbit/s"
        )
    if speeds is None:
        assert bandwidth is not None
        slow, kind = np.unique(network.link_occupancy, return_inverse=True)
        each = [int(k) * packet_bytes / bandwidth for k in slow]
        return each, [latency] * len(each), kind.reshape(-1)
    pairs, kind = np.unique(np.stack([speeds.bandwidth, speeds.latency]), axis=1, return_inverse=True)
    transfer = [packet_bytes / Fraction(float(b)) for b in pairs[0]]
    return transfer, [Fraction(float(wait)) for wait in pairs[1]], kind.reshape(-1)


def _rounding(transfer: list[Fraction], latencies: list[Fraction], slot: Fraction) -> Fraction:
    """Return the largest share by which a link's transfer, or its transfer and latency, is rounded up."""
    most = Fraction(0)
    for busy, wait in zip(transfer, latencies, strict=True):
        rounded = -(-busy // slot) * slot
        total = rounded + -(-wait // slot) * slot
        most = max(most, rounded / busy - 1, total / (busy + wait) - 1)
    return most
