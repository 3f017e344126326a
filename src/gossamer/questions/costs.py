"""What schedules cost: steps of packets, seconds, or start-ups and bytes.

Their rules are in `gossamer.questions.rules`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text, bytes_text, quantity, seconds_text, size_text
from gossamer.errors import ModelError, NetworkError
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumptions, RatedLinks, Speeds, Structure
from gossamer.questions.tasks import Task, packets_of
from gossamer.questions.tasks.byte_counts import sizing_of
from gossamer.reading import choice, fraction, whole
from gossamer.reading.quantities import Bytes, Duration, Rate, bandwidth, duration, size

__all__ = [
    "USUAL_BYTES",
    "AskedCost",
    "Clock",
    "Clocked",
    "Cost",
    "Counting",
    "FineTimeCost",
    "Fineness",
    "Form",
    "LinearCost",
    "SlotCost",
    "StepCost",
    "TimeCost",
    "clocked",
    "clocked_again",
    "exactly_clocked",
    "in_slots_of",
    "unclocked",
]

# The cost of store-and-forward schedules, in steps: a packet crosses a link in one, a control packet in t_p.

_TIME = "a fraction of a step in [0, 1]"


@dataclass(frozen=True)
class StepCost:
    """What hops of store-and-forward schedules cost: a step for a whole packet, 1/k step for one of k parts.

    Attributes
    ----------
    control_time : Fraction
        Steps that a control packet takes on a link (t_p of Varvarigos and Bertsekas 1994), between 0 and 1. Zero means
        that what the nodes must know about each other is known ahead.

    Examples
    --------
    >>> StepCost("1/10").control_time
    Fraction(1, 10)
    """

    control_time: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "control_time", fraction(self.control_time, "control_time", 0, 1, allowed=_TIME))

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "step"

    def time_text(self, time: Fraction | int) -> str:
        """Return a time, for people.

        >>> StepCost().time_text(2), StepCost().time_text(Fraction(3, 2))
        ('2 steps', '1.5 steps')
        """
        exact = Fraction(time)
        if exact.denominator == 1:
            return quantity(exact.numerator, self.unit)
        return f"{float(exact):.4g} {self.unit}s"

    @property
    def rate_text(self) -> str:
        """How often what passes once a step passes."""
        return f"a {self.unit}"

    def packets_text(self, count: int, what: str = "packet") -> str:
        """Return a number of packets, for people.

        >>> StepCost().packets_text(3, "message")
        '3 messages'
        """
        return quantity(count, what)

    def amount_text(self, packets: Fraction | float) -> str:
        """Return a number of packets, or of parts of some, for people.

        >>> StepCost().amount_text(1), StepCost().amount_text(2.5)
        ('1 packet', '2.5 packets')
        """
        return "1 packet" if packets == 1 else f"{float(packets):,.6g} packets"

    def carry_text(self, packets: int) -> str:
        """Return what some links carry together, with the verb, for people.

        >>> StepCost().carry_text(16)
        'make at most 16 a step'
        """
        return f"make at most {packets:,} {self.rate_text}"

    def throughput_text(self, packets: Fraction | float) -> str:
        """Return a number of packets a step, for people.

        >>> StepCost().throughput_text(16)
        '16 packets a step'
        """
        return f"{self.amount_text(packets)} {self.rate_text}"

    def speed_text(self, rates: npt.NDArray[np.float64], speeds: npt.NDArray[np.float64] | None) -> str:
        """Return what some links carry, to stand behind their number; nothing where each carries a packet a step.

        Parameters
        ----------
        rates : float64[k]
            Packets a step of each.
        speeds : float64[k] or None
            Bytes a second of each, where the network has speeds.

        Examples
        --------
        >>> StepCost().speed_text(np.ones(2), None), StepCost().speed_text(np.full(3, 2.0), None)
        ('', ' of 2 packets a step each')
        """
        if (rates == 1).all():
            return ""
        if (rates == rates[0]).all():
            return f" of {self.throughput_text(rates[0])}{' each' * (rates.size > 1)}"
        return f" of {self.throughput_text(float(rates.sum()))} together"

    def describe(self) -> str:
        """Return the cost, for people.

        >>> StepCost("1/10").describe()
        'a control packet takes 1/10 step a hop'
        """
        return f"a control packet takes {self.control_time} step a hop" if self.control_time else "steps"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {"control_time": str(self.control_time)}


class SlotCost(StepCost):
    """What hops cost in slots, where it does not matter how long these are."""

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "slot"


# The linear cost of a step: a start-up, and a time for each byte and hop of its longest message.

Price = Literal["steps", "flits"]
Starts = Literal["barrier", "dependencies"]

_LINEAR_TIME = "a number that is 0 or more, such as 100 or 1/10"
_SIZE = f"a whole number of bytes in 1..{2**31 - 1}"


@dataclass(frozen=True)
class LinearCost:
    """What a step of wormhole messages costs; all times in one unit of the user's choice.

    A step is a set of messages that start together on channel-disjoint paths. It lasts
    ``startup + max over its messages of (length * per_byte + hops * hop_time)``.

    Attributes
    ----------
    startup : Fraction
        T_s, the time to start a message, 0 or more. Ints, fractions, decimal texts and floats (by their shortest
        decimal form) are accepted here and below.
    per_byte : Fraction
        T_c, the time that a channel takes for a byte, 0 or more.
    message_bytes : int
        m, the length of each message of the task in bytes, at least 1.
    counter_bytes : int
        w, the length of a control message, which carries one counter, at least 1.
    hop_time : Fraction
        t_r, the time that the head of a message takes a hop, 0 or more. With 0 distance does not matter.
    price : {"steps", "flits"}
        What plans are compared by: ``steps`` as above; ``flits``, the cycles that the flit simulator takes, a flit of
        4 bytes a cycle.
    starts : {"barrier", "dependencies"}
        Of the price in flits: whether a message starts after all of the step before, or as soon as its source has what
        it carries and a free port.

    Examples
    --------
    >>> cost = LinearCost(startup=100, per_byte="0.1")
    >>> cost.per_byte, cost.startup_ratio
    (Fraction(1, 10), Fraction(125, 128))
    """

    startup: Fraction = Fraction(100)
    per_byte: Fraction = Fraction(1)
    message_bytes: int = 1024
    counter_bytes: int = 4
    hop_time: Fraction = Fraction(0)
    price: Price = "steps"
    starts: Starts = "barrier"

    def __post_init__(self) -> None:
        for name in ("startup", "per_byte", "hop_time"):
            object.__setattr__(self, name, fraction(getattr(self, name), name, allowed=_LINEAR_TIME))
        for name in ("message_bytes", "counter_bytes"):
            object.__setattr__(self, name, whole(getattr(self, name), name, 1, allowed=_SIZE))
        choice(self.price, "price", get_args(Price))
        choice(self.starts, "starts", get_args(Starts))
        if self.starts != "barrier" and self.price != "flits":
            raise ModelError("starts without barriers have a price in flits only; add price='flits'")

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "cycle" if self.price == "flits" else "time unit"

    @property
    def startup_ratio(self) -> Fraction | None:
        """T_s / (m T_c): the start-up in units of the transmission of one message; None where that takes no time."""
        return self.startup / (self.message_bytes * self.per_byte) if self.per_byte else None

    def step_cost(self, length: int, hops: int = 0) -> Fraction:
        """Return the cost of a step whose one message has `length` bytes and makes `hops` hops.

        >>> LinearCost(startup=10, per_byte=2).step_cost(3)
        Fraction(16, 1)
        """
        return self.startup + length * self.per_byte + hops * self.hop_time

    def describe(self) -> str:
        """Return the costs and the message length, for people.

        >>> LinearCost(per_byte="1/8").describe()
        'start-up 100, 1/8 a byte, messages of 1,024 bytes'
        """
        hop = f", {self.hop_time} a hop" if self.hop_time else ""
        size = f"{self.message_bytes:,} byte{'' if self.message_bytes == 1 else 's'}"
        price = f", in cycles of flits started by {self.starts}" if self.price == "flits" else ""
        return f"start-up {self.startup}, {self.per_byte} a byte{hop}, messages of {size}{price}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "startup": str(self.startup),
            "per_byte": str(self.per_byte),
            "message_bytes": self.message_bytes,
            "counter_bytes": self.counter_bytes,
            "hop_time": str(self.hop_time),
            "ports": "all",
            **({"price": self.price, "starts": self.starts} if self.price == "flits" else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> LinearCost:
        """Return the cost that `to_dict` described; ModelError if it is of other ports than all."""
        cost = cls(**{name: value for name, value in fields.items() if name != "ports"})
        if fields["ports"] != "all":
            raise ModelError(f"wormhole schedules use all ports; ports must be 'all', got {fields['ports']!r}")
        return cost


# The clock of a network whose links have bandwidths: slots of so many seconds, in which every link keeps its time.


class Fineness(NamedTuple):
    """How short slots are.

    `slots` (int): into how many of them the time of a packet on the fastest link is divided at the most. `close`
    (Fraction): rounding up that is close enough, so that no shorter ones are looked for.
    """

    slots: int
    close: Fraction


_COARSE, _FINE = Fineness(64, Fraction(1, 50)), Fineness(1024, Fraction(1, 1000))


_MANY = 16
"""Packets of a message from which on slots are short: so many follow each other."""
_LONGEST = 100_000
"""Slots that the slowest link may take for a packet."""


_NEAR = 0.05
"""By what share speeds in slots may differ from those that were rounded up to them."""


@dataclass(frozen=True)
class Clock(StepCost):
    """What hops cost in seconds: so many slots each, as the network's links say, of one length.

    * `control_time` (Fraction): as of `StepCost`, in slots.
    * `slot_seconds` (Fraction): length of a slot in seconds, above 0.
    * `packet_bytes`, `message_bytes`, `buffer_bytes` (int): bytes of a packet, of a message, and of the buffer that the
      algorithm bandwidth counts.
    * `bus` (Fraction or None): Bus bandwidth over algorithm bandwidth; None where it is not defined.
    * `rounding` (Fraction): by what share of its time the link that is rounded up most takes longer in whole slots, at
      least 0.
    * `asked_bytes` (int): the bytes that were asked for, as `TimeCost` counts them; 0 where that is not known.
    * `link_bandwidth` (Fraction or None): bytes a second of a link of occupancy 1, where the network has no bandwidths
      of its own.
    * `link_latency` (Fraction): seconds of every link there.
    * `overhead` (Fraction or None): seconds for which each packet occupies a link, and each port on its way, beyond its
      bytes; None where nobody said, which counts as 0.
    """

    slot_seconds: Fraction = Fraction(1)
    packet_bytes: int = 1
    message_bytes: int = 1
    buffer_bytes: int = 1
    bus: Fraction | None = None
    rounding: Fraction = Fraction(0)
    asked_bytes: int = 0
    link_bandwidth: Fraction | None = None
    link_latency: Fraction = Fraction(0)
    overhead: Fraction | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        slot = fraction(self.slot_seconds, "slot_seconds", allowed="a number of seconds above 0")
        if not slot:
            raise ModelError("slot_seconds must be a number of seconds above 0, got 0")
        object.__setattr__(self, "slot_seconds", slot)
        for name in ("packet_bytes", "message_bytes", "buffer_bytes"):
            object.__setattr__(self, name, whole(getattr(self, name), name, 1, 2**63 - 1))
        object.__setattr__(self, "asked_bytes", whole(self.asked_bytes, "asked_bytes", 0, 2**62 - 1))
        for name in ("bus", "rounding", "link_bandwidth", "link_latency", "overhead"):
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

    def time_text(self, time: Fraction | int) -> str:
        """Return a time in slots in seconds, for people.

        >>> Clock(slot_seconds="1/1000000").time_text(20)
        '20 us'
        """
        return seconds_text(self.seconds(Fraction(time)))

    @property
    def rate_text(self) -> str:
        """How often what passes once a slot passes."""
        return f"every {seconds_text(self.slot_seconds)}"

    def packets_text(self, count: int, what: str = "packet") -> str:
        """Return a number of packets in bytes, for people.

        >>> clock = Clock(packet_bytes=2**20, message_bytes=2**22)
        >>> clock.packets_text(12, "message"), clock.packets_text(1)
        ('12 MiB (12 packets of 1 MiB)', '1 packet of 1 MiB')
        """
        what = "packet" if what == "message" and self.packet_bytes < self.message_bytes else what
        each = f"{quantity(count, what)} of {size_text(self.packet_bytes)}"
        return each if count == 1 else f"{size_text(count * self.packet_bytes)} ({each})"

    def amount_text(self, packets: Fraction | float) -> str:
        """Return a number of packets, or of parts of some, in bytes, for people.

        >>> Clock(packet_bytes=2**20).amount_text(2.5)
        '2.5 MiB'
        """
        return size_text(round(packets * self.packet_bytes))

    def carry_text(self, packets: int) -> str:
        """Return what some links carry together, with the verb, for people.

        >>> Clock(slot_seconds="1/1000", packet_bytes=10**6).carry_text(16)
        'carry at most 16 GB/s'
        """
        return f"carry at most {self.throughput_text(packets)}"

    def throughput_text(self, packets: Fraction | float) -> str:
        """Return a number of packets a slot in bytes a second, for people.

        >>> Clock(slot_seconds="1/1000", packet_bytes=10**6).throughput_text(16)
        '16 GB/s'
        """
        return bandwidth_text(float(packets) * self.packet_bytes / float(self.slot_seconds))

    def speed_text(self, rates: npt.NDArray[np.float64], speeds: npt.NDArray[np.float64] | None) -> str:
        """Return what some links carry a second, to stand behind their number; nothing where slots say otherwise.

        >>> clock = Clock(slot_seconds="1/1000", packet_bytes=10**6)
        >>> clock.speed_text(np.ones(4), None), clock.speed_text(np.ones(1), np.array([0.5e9]))
        (' at 1 GB/s each', '')
        """
        known = rates * (self.packet_bytes / float(self.slot_seconds))
        if speeds is None and self.link_bandwidth is not None:
            most = float(self.link_bandwidth)
            speeds = np.where(known < most * (1 - _NEAR), known, most)  # rounded up to slots
        if speeds is not None:
            if (known > speeds * (1 + _NEAR)).any():  # bounds that count slots, and leave out how many a packet takes
                return ""
            known = speeds
        if (known == known[0]).all():
            return f" at {bandwidth_text(known[0])}{' each' * (known.size > 1)}"
        return f" at {bandwidth_text(float(known.sum()))} together"

    def bandwidth(self, time: Fraction) -> Fraction | None:
        """Return the algorithm bandwidth, bytes of the buffer a second; None where no time passes."""
        return self.buffer_bytes / self.seconds(time) if time else None

    def bus_bandwidth(self, time: Fraction) -> Fraction | None:
        """Return the bus bandwidth in bytes a second; None where it is not defined or no time passes."""
        found = self.bandwidth(time)
        return None if found is None or self.bus is None else found * self.bus

    def least_packet(self, network: Network) -> int:
        """Return how many bytes a packet has at least where the planner cuts messages, on a network with its times.

        Where no link has a latency and nobody said what a packet costs, nothing else would speak against packets of a
        byte.

        >>> from gossamer.networks import ring
        >>> clock = Clock(slot_seconds="1/1000", packet_bytes=10**6)
        >>> clock.least_packet(ring(4)), Clock(overhead=0).least_packet(ring(4))
        (1000, 1)
        """
        if self.overhead is not None or network.uniform_latency != 0:
            return 1
        fastest = int(network.link_occupancy.min(initial=2**31 - 1)) * self.slot_seconds
        return max(1, int(self.packet_bytes * LEAST_PACKET / fastest))

    def describe(self) -> str:
        """Return the sizes and the slot, for people.

        >>> Clock(slot_seconds="1/1000000", packet_bytes=500, message_bytes=1000).describe()
        'messages of 1 kB in packets of 500 B, slots of 1 us'
        """
        return f"{self.sizes_text()}, {self.slot_text()}"

    def sizes_text(self) -> str:
        """Return the sizes, for people.

        >>> Clock(packet_bytes=500, message_bytes=1000).sizes_text()
        'messages of 1 kB in packets of 500 B'
        """
        packets = f" in packets of {bytes_text(self.packet_bytes)}" if self.packet_bytes < self.message_bytes else ""
        each = f", {seconds_text(self.overhead)} a packet beyond its bytes" if self.overhead else ""
        return f"messages of {bytes_text(self.message_bytes)}{packets}{each}"

    def slot_text(self) -> str:
        """Return the slot, and how much times are rounded up to slots, for people.

        >>> Clock(slot_seconds="1/1000000", rounding="1/50").slot_text()
        'slots of 1 us, which round up the time of a link by 2% at most'
        """
        share = f"{float(100 * self.rounding):.2g}%"
        rounded = f", which round up the time of a link by {share} at most" if self.rounding else ""
        return f"slots of {seconds_text(self.slot_seconds)}{rounded}"

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
            "asked_bytes": self.asked_bytes,
            "link_bandwidth": None if self.link_bandwidth is None else str(self.link_bandwidth),
            "link_latency": str(self.link_latency),
            **({} if self.overhead is None else {"overhead": str(self.overhead)}),
        }


class Clocked(NamedTuple):
    """A network with its links' times in slots, the length of a slot in seconds, and the largest rounding up."""

    network: Network
    slot: Fraction
    rounding: Fraction


def clocked(
    network: Network,
    packet_bytes: int,
    bandwidth: Fraction | None = None,
    latency: Fraction = Fraction(0),
    overhead: Fraction = Fraction(0),
    fineness: Fineness = _COARSE,
) -> Clocked:
    """Return the network with occupancies and latencies in slots for packets of so many bytes.

    * `network` (Network): its structure `Speeds` has the bandwidths and latencies.
    * `packet_bytes` (int): bytes of a packet.
    * `bandwidth`, `latency` (Fraction): bytes a second of a link of occupancy 1, for a network without `Speeds`, and
      seconds of every link that has no latency of its own. Default: the published speed, `RatedLinks`, of a machine
      that has one.
    * `overhead` (Fraction): seconds for which a packet occupies each link and port beyond its bytes.
    * `fineness` (Fineness): how short slots are.

    Returns: times are rounded up, so that what the schedule takes is what the links can keep. The network itself where
    every link takes one slot. Raises `NetworkError` if the network has no speeds and no bandwidth is given, or has
    speeds and one is given, or latencies and one is given, or its links differ in time so much that a packet would take
    more than 2**31 slots.

    The slot is the time of a packet on the fastest link, divided by the least whole number, by default up to 64, for
    which no link is rounded up by more than, by default, 2 % of its time, and by the best of them if there is none
    such. O(links).

    >>> from gossamer.networks import ring
    >>> found = clocked(ring(4), 1000, Fraction(10**9), Fraction(1, 10**7))
    >>> found.slot, found.network.uniform_occupancy, found.network.uniform_latency
    (Fraction(1, 9000000), 9, 1)
    """
    network, bandwidth = _with_latency(network, latency), _own_bandwidth(network, bandwidth)
    transfer, latencies, kind = _times(network, packet_bytes, bandwidth, latency, overhead)
    through, gate = _port_times(network, packet_bytes, bandwidth, overhead)
    links = len(transfer)
    transfer, latencies = [*transfer, *through], [*latencies, *[Fraction(0)] * len(through)]
    if not transfer:
        return Clocked(network, Fraction(packet_bytes) / (bandwidth or 1) + overhead, Fraction(0))
    fastest, slowest = min(transfer), max(busy + wait for busy, wait in zip(transfer, latencies, strict=True))
    best: tuple[Fraction, Fraction] | None = None
    for parts in range(1, fineness.slots + 1):
        slot = max(fastest / parts, slowest / _LONGEST)
        loss = _rounding(transfer, latencies, slot)
        if best is None or loss < best[0]:
            best = loss, slot
        if loss <= fineness.close or slot > fastest / parts:
            break
    assert best is not None
    rounding, slot = best
    times = transfer[:links], latencies[:links], kind
    return Clocked(_in_slots(network, times, (through, gate), slot), slot, rounding)


def in_slots_of(network: Network, clock: Clock) -> Network:
    """Return a network whose links have `Speeds` with the times of a clock's packets, in slots of the clock.

    Times are rounded up. A network without `Speeds` is returned as it is.

    >>> import gossamer
    >>> machine = gossamer.network("mi250x")
    >>> timed, clock = TimeCost("1MiB").on(machine, gossamer.task("broadcast"))
    >>> in_slots_of(machine, clock) == timed
    True
    """
    if network.find(Speeds) is None:
        return network
    overhead = clock.overhead or Fraction(0)
    times = _times(network, clock.packet_bytes, None, Fraction(0), overhead)
    ports = _port_times(network, clock.packet_bytes, None, overhead)
    return _in_slots(network, times, ports, clock.slot_seconds)


def _in_slots(
    network: Network,
    times: tuple[list[Fraction], list[Fraction], np.ndarray],
    gates: tuple[list[Fraction], npt.NDArray[np.intp]],
    slot: Fraction,
) -> Network:
    """Return a network with the times of `_times` and `_port_times` in slots, rounded up."""
    transfer, latencies, kind = times
    taken, waits, held = (
        np.array([-(-value // slot) for value in c], np.int64) for c in (transfer, latencies, gates[0])
    )
    if {*taken.tolist(), *held.tolist()} == {1} and set(waits.tolist()) == {0} and network.plain:
        return network
    occupancy, held, ports = taken[kind], held[gates[1]], network.shared_ports
    if ports is not None:  # a link is no faster than its ports
        for side in (ports.sending, ports.receiving):
            occupancy = np.maximum(occupancy, np.append(held, 0)[side])
    return network.with_times(occupancy, waits[kind], ports=held)


_EXACT = 2**30
"""Slots of the longest time at most."""


def exactly_clocked(
    network: Network,
    packet_bytes: int,
    bandwidth: Fraction | None = None,
    latency: Fraction = Fraction(0),
    overhead: Fraction = Fraction(0),
) -> Clocked:
    """Return the network with the exact times of packets of so many bytes, in slots as short as that takes.

    `network`, `packet_bytes`, `bandwidth`, `latency`, `overhead`: as for `clocked`. Returns: the overhead is a whole
    number of slots, too. Times are rounded down only where the slot would be below 2**-30 of the longest, by about
    2**-24 of that. Raises `NetworkError`: as `clocked` does.

    >>> from gossamer.networks import ring
    >>> found = exactly_clocked(ring(4), 1000, Fraction(10**9), Fraction(1, 10**7))
    >>> found.slot, found.network.uniform_occupancy, found.network.uniform_latency
    (Fraction(1, 10000000), 10, 1)
    """
    network, bandwidth = _with_latency(network, latency), _own_bandwidth(network, bandwidth)
    transfer, latencies, kind = _times(network, packet_bytes, bandwidth, latency, overhead)
    through, gate = _port_times(network, packet_bytes, bandwidth, overhead)
    times = [time for time in (*transfer, *latencies, *through, overhead) if time]
    if not transfer:
        return Clocked(network, Fraction(packet_bytes) / (bandwidth or 1) + overhead, Fraction(0))
    below = math.lcm(*(time.denominator for time in times))
    slot = Fraction(math.gcd(*(time.numerator * (below // time.denominator) for time in times)), below)
    if max(times) / slot > _EXACT:
        slot = min(max(times) / (_EXACT // 64), *transfer, *through)
    taken, waits, ports = (
        np.array([min(int(time // slot), _EXACT) for time in some], np.int64) for some in (transfer, latencies, through)
    )
    return Clocked(network.with_times(taken[kind], waits[kind], ports=ports[gate]), slot, Fraction(0))


def clocked_again(network: Network, clock: Clock, packet_bytes: int) -> Clocked:
    """Return a network that has the times of a clock's packets with those of packets of another size, in short slots.

    Where neither the network nor the clock has bandwidths, as in files of before, times are in proportion to those of
    the clock's packets as they were rounded up.

    >>> import gossamer
    >>> cost = TimeCost("1MB", bandwidth="1GB/s", latency="2us", whole=True)
    >>> timed, clock = cost.on(gossamer.network("ring:4"), gossamer.task("broadcast"))
    >>> found = clocked_again(timed, clock, 1000)
    >>> found.slot, found.network.uniform_occupancy, found.network.uniform_latency
    (Fraction(1, 1000000), 1, 2)
    """
    return clocked(*unclocked(network, clock, packet_bytes), _FINE)


class Unclocked(NamedTuple):
    """The arguments of `clocked` for packets of another size."""

    network: Network
    packet_bytes: int
    bandwidth: Fraction | None
    latency: Fraction
    overhead: Fraction


def unclocked(network: Network, clock: Clock, packet_bytes: int) -> Unclocked:
    """Return the arguments of `clocked` for packets of so many bytes on a network that has the times of a clock."""
    overhead = clock.overhead or Fraction(0)
    if network.find(Speeds) is not None:
        return Unclocked(network, packet_bytes, None, Fraction(0), overhead)
    rate = clock.link_bandwidth or clock.packet_bytes / clock.slot_seconds
    unit = clock.packet_bytes / rate / clock.slot_seconds  # slots of a link of occupancy 1
    latency = clock.link_latency if clock.link_bandwidth else (network.uniform_latency or 0) * clock.slot_seconds
    if overhead:  # all links are alike, as `TimeCost.on` sees to
        return Unclocked(network.with_times(1, 0, ports=1), packet_bytes, rate, latency, overhead)

    def slowness(slots: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return np.maximum(1, np.rint(np.asarray(slots, np.float64) / float(unit))).astype(np.int64)

    ports = network.shared_ports
    held = None if ports is None else slowness(ports.occupancy)
    timed = network.with_times(slowness(network.link_occupancy), 0, ports=held)
    return Unclocked(timed, packet_bytes, rate, latency, overhead)


def _own_bandwidth(network: Network, bandwidth: Fraction | None) -> Fraction | None:
    """Return the bandwidth that is given, else the published one of a machine whose links have none of their own."""
    rated = network.find(RatedLinks)
    if bandwidth is None and rated is not None and network.find(Speeds) is None:
        return Fraction(rated.bandwidth)
    return bandwidth


def _with_latency(network: Network, latency: Fraction) -> Network:
    """Return the network with a latency of the links that have bandwidths and no latency of their own."""
    speeds = network.find(Speeds)
    if speeds is None or not latency:
        return network
    if not (missing := speeds.latency == 0).any():
        raise NetworkError(f"network {network.spec!r} has latencies of its own; {_its_own(network, 'latency')}")
    filled, assumed = np.where(missing, float(latency), speeds.latency), network.find(Assumptions)
    others = [] if assumed is None else [assumed.beside_latencies]
    return _with_speeds(network, Speeds(speeds.bandwidth, filled), *others)


def _with_speeds(network: Network, speeds: Speeds, *others: Structure) -> Network:
    """Return the network with speeds, and other structures, in the place of those of their kinds."""
    kinds = tuple(type(found) for found in (speeds, *others))
    return network.with_structures([*(s for s in network.structures if not isinstance(s, kinds)), speeds, *others])


def _told_apart(network: Network, bandwidth: Fraction | None, latency: Fraction) -> Network:
    """Return a network some of whose links take more than a slot with the bandwidths that follow from one; else itself.

    Where packets cost time beyond their bytes, slots no longer tell what a link carries.
    """
    ports = network.shared_ports
    held = np.ones(0, np.int64) if ports is None else np.asarray(ports.occupancy)
    if bandwidth is None or network.find(Speeds) is not None or (network.uniform_occupancy == 1 and (held == 1).all()):
        return network

    def rates(slots: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the bandwidths, rounded down, so that no plan takes less than the bounds by exact times."""
        exact = [bandwidth / int(k) for k in slots]
        near = [float(rate) for rate in exact]
        over = [Fraction(rate) > than for rate, than in zip(near, exact, strict=True)]
        return np.where(over, np.nextafter(near, 0), near)

    speeds = Speeds(rates(network.link_occupancy), np.full(network.link_count, float(latency)))
    return _with_speeds(network, speeds, *([] if ports is None else [replace(ports, bandwidth=rates(held))]))


def _port_times(
    network: Network, packet_bytes: int, bandwidth: Fraction | None, overhead: Fraction
) -> tuple[list[Fraction], npt.NDArray[np.intp]]:
    """Return the different times of a packet in shared ports in seconds, exact, and which of them each port has."""
    ports = network.shared_ports
    if ports is None:
        return [], np.zeros(0, np.intp)
    if ports.bandwidth is not None:
        rates, kind = np.unique(ports.bandwidth, return_inverse=True)
        return [packet_bytes / Fraction(float(rate)) + overhead for rate in rates], kind.reshape(-1)
    if bandwidth is None:
        raise NetworkError(f"network {network.spec!r}: its links have bandwidths, and its shared ports have none")
    slots, kind = np.unique(np.asarray(ports.occupancy), return_inverse=True)
    return [int(k) * packet_bytes / bandwidth + overhead for k in slots], kind.reshape(-1)


def _times(
    network: Network, packet_bytes: int, bandwidth: Fraction | None, latency: Fraction, overhead: Fraction
) -> tuple[list[Fraction], list[Fraction], np.ndarray]:
    """Return the different (transfer, latency) of links in seconds, exact, and which of them each link has."""
    speeds = network.find(Speeds)
    if speeds is not None and bandwidth is not None:
        raise NetworkError(f"network {network.spec!r} has bandwidths of its own; {_its_own(network, 'bandwidth')}")
    if speeds is None and bandwidth is None:
        raise NetworkError(
            f"network {network.spec!r} has no bandwidths, so bytes take no time; give --bandwidth, such as 400Gbit/s"
        )
    if speeds is None:
        assert bandwidth is not None
        slow, kind = np.unique(network.link_occupancy, return_inverse=True)
        each = [int(k) * packet_bytes / bandwidth + overhead for k in slow]
        return each, [latency] * len(each), kind.reshape(-1)
    pairs, kind = np.unique(np.stack([speeds.bandwidth, speeds.latency]), axis=1, return_inverse=True)
    transfer = [packet_bytes / Fraction(float(b)) + overhead for b in pairs[0]]
    return transfer, [Fraction(float(wait)) for wait in pairs[1]], kind.reshape(-1)


def _its_own(network: Network, option: str) -> str:
    """Return what to do instead of giving a bandwidth or latency to a network that has some."""
    assumed, unit = network.find(Assumptions), {"bandwidth": "RATE", "latency": "TIME"}[option]
    options = [each.change for each in (() if assumed is None else assumed.every) if unit in each.change]
    where = "in its name or file" if not options else f"by {', '.join(dict.fromkeys(options))}"
    return f"leave --{option} out, or change its own {where}"


def _rounding(transfer: list[Fraction], latencies: list[Fraction], slot: Fraction) -> Fraction:
    """Return the largest share by which a link's transfer, or its transfer and latency, is rounded up."""
    most = Fraction(0)
    for busy, wait in zip(transfer, latencies, strict=True):
        rounded = -(-busy // slot) * slot
        total = rounded + -(-wait // slot) * slot
        most = max(most, rounded / busy - 1, total / (busy + wait) - 1)
    return most


# Bytes instead of packets: what is asked for when times are wanted in seconds.

Counting = Literal["mpi", "nccl"]
Form = Literal["best", "blocks", "root", "gather", "sums"]

USUAL_BYTES = 64 * 2**20
"""Bytes of a collective in seconds where nobody says how many."""
LEAST_PACKET = Fraction(1, 10**6)
"""Seconds of the packets into which the planner cuts messages at the least, where nothing is known of their cost."""
_SLOW, _LONG = 10**6, 1
"""A bandwidth below the one, or a latency from the other on, was meant in other units if it has none."""


@dataclass(frozen=True)
class TimeCost:
    """What a schedule costs in seconds: a number of bytes over links that have bandwidths and latencies.

    Attributes
    ----------
    bytes : Bytes
        Bytes of the collective, such as 64MiB, as `counting` says. Default: 64 MiB.
    counting : {"mpi", "nccl"}
        What the bytes are of: one message as MPI counts (a rank's contribution, or the block of a pair; of broadcast,
        reduce and allreduce the buffer), or the largest buffer of a rank as NCCL's tests report.
    bandwidth : Rate or None
        Bandwidth of every link, such as 400Gbit/s or 50GB/s, where the network has none of its own. Numbers are bytes
        a second, such as 50e9; those below a million need a unit.
    latency : Duration
        Latency of every link, such as 2us, that has none of its own.
    overhead : Duration or None
        Time for which each packet occupies a link beyond its bytes, such as 500ns. Default: none; where links have no
        latency either, packets that the planner cuts take 1 us or more on the fastest link.
    form : {"best", "blocks", "root", "gather", "sums"}
        Of an allreduce: blocks, one a rank, reduced there and sent out; root, all reduced at one rank of each group and
        sent out; gather, every rank gets all buffers whole and combines them itself; sums, ranks exchange partial sums
        in stages, or these are combined along trees to any nodes; best, the fastest.
    whole : bool
        Leave messages whole, and partial sums in one chunk. By default they are cut into as many packets as take least.

    Examples
    --------
    >>> import gossamer
    >>> cost = TimeCost("64MiB", bandwidth="50GB/s")
    >>> found = gossamer.plan("ring:8", "allreduce", cost=cost)
    >>> f"{float(found.seconds) * 1e6:.1f} us, {float(found.bus_bandwidth) / 1e9:.0f} GB/s"
    '1174.4 us, 100 GB/s'
    """

    bytes: Bytes = USUAL_BYTES
    counting: Counting = "mpi"
    bandwidth: Rate | None = None
    latency: Duration = Fraction(0)
    overhead: Duration | None = None
    form: Form = "best"
    whole: bool = False
    fineness: ClassVar[Fineness] = _COARSE

    def __post_init__(self) -> None:
        self._check_units()
        object.__setattr__(self, "bytes", size(self.bytes, "bytes"))
        if not 1 <= self.bytes < 2**62:
            raise ModelError(f"bytes must be at least 1 and less than 2**62, got {self.bytes}")
        choice(self.counting, "counting", get_args(Counting))
        choice(self.form, "form", get_args(Form))
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", bandwidth(self.bandwidth, "bandwidth"))
        for name in ("latency", "overhead"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, duration(getattr(self, name), name))

    def _check_units(self) -> None:
        """Refuse numbers that people write who think of other units than bytes a second and seconds."""
        rate: Any = self.bandwidth
        if isinstance(rate, int | float) and 0 < rate < _SLOW:
            raise ModelError(
                f"bandwidth {rate:g} is {rate:g} bytes a second; give a text with a unit, such as '{rate:g}GB/s', or a "
                f"number such as {rate:g}e9"
            )
        for name in ("latency", "overhead"):
            time: Any = getattr(self, name)
            if isinstance(time, int | float) and time >= _LONG:
                raise ModelError(
                    f"{name} {time:g} is {time:g} seconds; give a text with a unit, such as '{time:g}us', or a number "
                    f"such as {time:g}e-6"
                )

    def on(self, network: Network, task: Task) -> tuple[Network, Clock]:
        """Return the network with its times in slots for the packets of a task, and the clock that tells seconds.

        Raises
        ------
        NetworkError
            As `clocked` does.
        """
        sizing = sizing_of(task, network)
        message = sizing.message_bytes(self.bytes, whole_buffer=self.counting == "nccl")
        packets = packets_of(task)
        packet = -(-message // packets)
        fineness, overhead = self.fineness if packets < _MANY else _FINE, self.overhead or Fraction(0)
        rate, latency = _own_bandwidth(network, self.bandwidth), self.latency
        if overhead and (apart := _told_apart(network, rate, latency)) is not network:
            network, rate, latency = apart, None, Fraction(0)
        timed, slot, rounding = clocked(network, packet, rate, latency, overhead, fineness)
        clock = Clock(
            slot_seconds=slot,
            packet_bytes=packet,
            message_bytes=message,
            buffer_bytes=sizing.buffer_bytes(message),
            bus=sizing.bus,
            rounding=rounding,
            asked_bytes=self.bytes,
            link_bandwidth=rate,
            link_latency=Fraction(0) if network.find(Speeds) is not None else latency,
            overhead=self.overhead,
        )
        return timed, clock

    def exactly_on(self, network: Network, size: int) -> tuple[Network, Clock]:
        """Return the network with the exact times of messages of so many bytes, and their clock; see `exactly_clocked`.

        >>> import gossamer
        >>> timed, clock = TimeCost("1MB", bandwidth="1GB/s").exactly_on(gossamer.network("ring:4"), 1000)
        >>> timed.uniform_occupancy, clock.slot_seconds
        (1, Fraction(1, 1000000))
        """
        timed, slot, _ = exactly_clocked(network, size, self.bandwidth, self.latency, self.overhead or Fraction(0))
        rate = _own_bandwidth(network, self.bandwidth)
        clock = Clock(
            slot_seconds=slot, packet_bytes=size, message_bytes=size, link_bandwidth=rate, link_latency=self.latency,
            overhead=self.overhead,
        )  # fmt: skip
        return timed, clock


class FineTimeCost(TimeCost):
    """A cost in seconds whose slots are so short that they round up by a thousandth or less, if that is possible."""

    fineness = _FINE


Cost = StepCost | LinearCost
"""Any cost of a case; a `Clock` is a `StepCost`."""

AskedCost = Cost | TimeCost
"""Any cost that a user asks for; a `TimeCost` becomes a `Clock` on a network."""
