"""What the routers of the flit simulator are like."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from gossamer.errors import ModelError
from gossamer.reading import choice, whole

__all__ = ["PRESETS", "Dateline", "Interface", "Preset", "Routers"]

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
