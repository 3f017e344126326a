"""What the routers of the flit simulator are like."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.reading import choice, number, seed, whole

__all__ = [
    "ENERGY_COSTS",
    "PRESETS",
    "Dateline",
    "Energy",
    "Interface",
    "MessageLengths",
    "Preset",
    "Routers",
    "TrafficSettings",
]

# Energy by counting events: each event of a kind costs the same.

ENERGY_COSTS: dict[str, float] = {"buffer": 1.0, "switch": 1.0, "link": 1.0, "allocation": 0.1}
"""What an event costs unless said otherwise, in units of one flit crossing a link: a flit written into a buffer and
read again, a flit through a switch, a flit over a link, a virtual channel granted to a message. They stand for no
technology; give your own to `Energy.total`."""


@dataclass(frozen=True)
class Energy:
    """Events of a run that take energy.

    Attributes
    ----------
    buffer, switch, link, allocation : int
        Flits written into buffers, flits through switches, flits over links, and virtual channels granted.

    Examples
    --------
    >>> Energy(buffer=10, switch=10, link=8, allocation=5).total(link=2.0)
    36.5
    """

    buffer: int
    switch: int
    link: int
    allocation: int

    def total(self, **costs: float) -> float:
        """Return the energy, with some of `ENERGY_COSTS` replaced."""
        each = {**ENERGY_COSTS, **costs}
        return float(sum(each[kind] * getattr(self, kind) for kind in ENERGY_COSTS))


Interface = Literal["channels", "node"]
Dateline = Literal["balanced", "plain", "none"]
Preset = Literal["plain", "booksim"]

_RANGE = {
    "virtual_channels": (1, 31),
    "buffer_depth": (1, 4096),
    "flit_bytes": (1, 4096),
    "routing_delay": (0, 4096),
    "allocation_delay": (0, 4096),
    "switch_delay": (1, 4096),
    "link_latency": (1, 4096),
    "credit_delay": (0, 4096),
    "injection_delay": (0, 4096),
    "ejection_delay": (1, 4096),
    "input_speedup": (1, 31),
    "output_speedup": (1, 31),
}

PRESETS: dict[str, dict[str, Any]] = {
    "plain": {},
    "booksim": {
        "virtual_channels": 4,
        "buffer_depth": 8,
        "routing_delay": 0,
        "allocation_delay": 1,
        "link_latency": 3,
        "credit_delay": 2,
        "injection_delay": 2,
        "ejection_delay": 3,
        "injection": "node",
        "ejection": "node",
        "dateline": "plain",
    },
}
"""Settings by name: those of `Routers` itself, and those with which BookSim 2 is compared."""


@dataclass(frozen=True)
class Routers:
    """Routers with input buffers, virtual channels and credits; one flit crosses a channel in a cycle.

    Attributes
    ----------
    virtual_channels : int
        Virtual channels V of each channel, 1..31; 2 or more where datelines are in use.
    buffer_depth : int
        Flits B that the buffer of a virtual channel takes, 1 or more.
    flit_bytes : int
        Bytes of a flit.
    routing_delay : int
        Cycles t_r, 0 or more, from when a head is at the front of its buffer until it asks for a virtual channel. Body
        flits follow without.
    allocation_delay : int
        Cycles t_a, 0 or more, from when a head gets a virtual channel until it asks for the switch.
    switch_delay : int
        Cycles that the allocation of the switch takes, 1 or more; a queue sends a flit in so many cycles.
    link_latency : int
        Cycles t_l, 1 or more, from when a flit leaves a buffer until it is in the next one; latencies of a network's
        links come on top.
    credit_delay : int
        Cycles, 0 or more, after which a slot that a flit has left is known to be free at the other end of the channel.
    injection_delay : int
        Cycles, 0 or more, from a terminal to the buffer of its router.
    ejection_delay : int
        Cycles, 1 or more, from a router to a terminal.
    injection : {"channels", "node"}
        A source queue for each link that leaves a node (all-port) or a single one for the node. A source sends one
        message after the other, a flit a cycle, each into a virtual channel of its own.
    ejection : {"channels", "node"}
        Whether a node takes one flit a cycle from each input port (all-port) or one in all.
    input_speedup : int
        Flits that an input port can send in a cycle, from different virtual channels.
    output_speedup : int
        Flits that an output takes from the switch in a cycle; they leave one by one.
    dateline : {"balanced", "plain", "none"}
        Virtual channels on rings. ``plain``: a message uses the lower half of them up to the channel that closes the
        ring, and the upper half from there on. ``balanced``: a message that does not use that channel takes either
        half and stays in it. ``none``: any virtual channel; messages can deadlock on rings. Arrays need no dateline.

    Raises
    ------
    ModelError
        If a value is outside what is allowed.

    References
    ----------
    Dally, Towles, Principles and Practices of Interconnection Networks, chapters 13, 14, 16 and 19.

    Examples
    --------
    >>> Routers(buffer_depth=8).round_trip
    3
    >>> Routers.preset("booksim", virtual_channels=8).zero_load_latency(hops=4, flits=1)
    22
    """

    virtual_channels: int = 2
    buffer_depth: int = 4
    flit_bytes: int = 4
    routing_delay: int = 1
    allocation_delay: int = 0
    switch_delay: int = 1
    link_latency: int = 1
    credit_delay: int = 1
    injection_delay: int = 0
    ejection_delay: int = 1
    injection: Interface = "channels"
    ejection: Interface = "channels"
    input_speedup: int = 1
    output_speedup: int = 1
    dateline: Dateline = "balanced"

    def __post_init__(self) -> None:
        for name, (least, greatest) in _RANGE.items():
            object.__setattr__(self, name, whole(getattr(self, name), name, least, greatest))
        for word, kind in (("injection", Interface), ("ejection", Interface), ("dateline", Dateline)):
            choice(getattr(self, word), word, get_args(kind))
        if self.input_speedup > self.virtual_channels:
            most = f"virtual_channels = {self.virtual_channels}"
            raise ModelError(f"input_speedup must be at most {most}, got {self.input_speedup}")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Routers:
        """Return settings by name, with some changed.

        ``plain`` is `Routers` itself. ``booksim`` has the pipeline of BookSim 2 (lookahead routing, allocation of a
        virtual channel, of the switch, crossbar, link: 4 cycles a hop for heads and 3 for body flits), 4 virtual
        channels of 8 flits; for its ``routing_delay = 1`` add ``routing_delay=1``.

        Raises
        ------
        ModelError
            If the name or a value is outside what is allowed.
        """
        choice(name, "preset", get_args(Preset))
        return cls(**{**PRESETS[name], **changes})

    @property
    def round_trip(self) -> int:
        """Cycles between two uses of one slot by body flits: with so many slots a channel can be kept busy."""
        return self.switch_delay + max(self.link_latency, self.ejection_delay) + self.credit_delay

    def head_latency(self, hops: int) -> int:
        """Return the cycles before the first flit arrives: each router t_r + t_a, each link t_l, and both ends.

        >>> Routers(routing_delay=2).head_latency(3)
        12
        """
        router = self.routing_delay + self.allocation_delay + self.switch_delay - 1
        return self.injection_delay + (hops + 1) * router + hops * self.link_latency + self.ejection_delay

    def zero_load_latency(self, hops: int, flits: int) -> int:
        """Return the cycles from release to delivery of a message that meets no other, on links of no own latency.

        Notes
        -----
        ``head_latency(hops) + flits - 1``: the other flits follow one in `switch_delay` cycles. If the buffer has
        fewer slots B than the round trip R of a body flit, they come in bursts of B every R cycles, and ``flits - 1``
        becomes ``floor((flits - 1)/B) R + (flits - 1) mod B``.

        Examples
        --------
        >>> Routers().zero_load_latency(hops=3, flits=8)
        15
        """
        return self.head_latency(hops) + int(self.following(flits - 1))

    def following(self, flits: Any) -> Any:
        """Return the cycles by which so many flits, a number or an array, follow the head at zero load."""
        burst = max(self.round_trip, self.buffer_depth * self.switch_delay)
        return flits // self.buffer_depth * burst + flits % self.buffer_depth * self.switch_delay

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


# What random traffic is like, and how long it is measured.

_LEAST_RATE = 1e-15
"""Messages per node and cycle at least: the gap between two must be a whole number of 64 bits."""
_MOST_FLITS = 1 << 20


@dataclass(frozen=True)
class MessageLengths:
    """Lengths of messages and their shares, such as 80 % of one flit and 20 % of five.

    `flits` (tuple of int): the lengths. `shares` (tuple of float): the share of the messages of each, which sum up to
    1.

    >>> MessageLengths.of("1:0.8,5:0.2").mean
    1.8
    >>> str(MessageLengths.of(8))
    '8'
    """

    flits: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, value: int | str | MessageLengths) -> MessageLengths:
        """Read a length, or lengths with weights such as ``1:4,5:1``; ModelError if it is neither."""
        if isinstance(value, MessageLengths):
            return value
        text = str(value).strip() if isinstance(value, str) else value
        if not isinstance(text, str) or ":" not in text:
            whole_number = int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 10 else text
            return cls((whole(whole_number, "message_flits", 1),), (1.0,))
        flits, weights = [], []
        for word in text.split(","):
            length, _, weight = word.partition(":")
            if not length.strip().isdecimal() or len(length) > 9:
                raise ModelError(
                    f"message_flits must be a length or lengths with weights such as 1:4,5:1, got {value!r}"
                )
            try:
                share = float(weight)
            except ValueError:
                raise ModelError(f"message_flits: a weight must be a number above 0, got {weight!r}") from None
            flits.append(whole(int(length), "message_flits", 1, _MOST_FLITS))
            weights.append(number(share, "a weight of message_flits", above=0))
        return cls(tuple(flits), tuple(w / sum(weights) for w in weights))

    @property
    def mean(self) -> float:
        """The mean length in flits."""
        return float(sum(f * s for f, s in zip(self.flits, self.shares, strict=True)))

    def draw(self, count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return lengths of so many messages, int64[count]."""
        if len(self.flits) == 1:
            return np.full(count, self.flits[0], np.int64)
        which = np.searchsorted(np.cumsum(self.shares)[:-1], random.random(count), side="right")
        return np.array(self.flits, np.int64)[which]

    def __str__(self) -> str:
        if len(self.flits) == 1:
            return str(self.flits[0])
        return ",".join(f"{f}:{s:.4g}" for f, s in zip(self.flits, self.shares, strict=True))


@dataclass(frozen=True)
class TrafficSettings:
    """Random traffic: its messages, the routers that carry them, and how long is measured.

    Attributes
    ----------
    message_flits : int or str
        Flits of a message, at least 1, or a mix such as ``1:0.8,5:0.2``.
    hot_share : float
        Share of hotspot traffic that goes to hot nodes.
    burst : float
        Mean cycles of a burst, 0 for none. Between bursts a node is silent; within, it creates messages four times
        as often as on average (as often as one each cycle at most).
    reply_flits : int
        Flits of a reply that each message causes when it arrives, 0 for none. The load is that of the requests.
    routing : str
        The routing function: default, dimension-order, reverse-order, one-turn, negative-first, adaptive, valiant,
        ugal, up-down, layered, hop-classes or shortest-path.
    terminals : int
        Terminals of each router, which share its links; more than one needs injection and ejection by node.
    routers : Routers
        Default: ``Routers()``.
    warmup : int or None
        Cycles before the measurement, 0 or more. Default: until a test finds the number of messages on their way
        steady.
    measured : int
        Cycles of the measurement, at least 100.
    seed : int
        The same seed gives the same run.

    Raises
    ------
    ModelError
        If a value is outside what is allowed.

    Examples
    --------
    >>> TrafficSettings(measured=50)
    Traceback (most recent call last):
    gossamer.errors.ModelError: measured must be a whole number in 100..2147483647, got 50
    """

    message_flits: int | str = 8
    hot_share: float = 0.1
    burst: float = 0
    reply_flits: int = 0
    routing: str = "default"
    terminals: int = 1
    routers: Routers = field(default_factory=Routers)
    warmup: int | None = None
    measured: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.message_flits, str):
            object.__setattr__(self, "message_flits", whole(self.message_flits, "message_flits", 1))
        object.__setattr__(self, "lengths", MessageLengths.of(self.message_flits))
        object.__setattr__(self, "measured", whole(self.measured, "measured", 100))
        if self.warmup is not None:
            object.__setattr__(self, "warmup", whole(self.warmup, "warmup", 0))
        object.__setattr__(self, "reply_flits", whole(self.reply_flits, "reply_flits", 0, _MOST_FLITS))
        object.__setattr__(self, "terminals", whole(self.terminals, "terminals", 1, 1024))
        burst = number(self.burst, "burst", 0, 1e9)
        if 0 < burst < 1:
            raise ModelError(f"burst must be 0 for none or at least 1 cycle, got {self.burst}")
        object.__setattr__(self, "burst", burst)
        object.__setattr__(self, "seed", seed(self.seed))

    lengths: MessageLengths = field(init=False, repr=False, compare=False)

    def check_load(self, load: float) -> float:
        """Return a load in flits per sending node and cycle, as a float; ModelError if no traffic can have it."""
        mean = self.lengths.mean
        return number(load, "load", _LEAST_RATE * mean, mean)
