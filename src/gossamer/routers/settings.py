"""What the routers of the flit simulator are like, and what random traffic they carry."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from gossamer.errors import ModelError
from gossamer.reading import choice, number, seed, whole

__all__ = ["Dateline", "Interface", "Routers", "TrafficSettings"]

Interface = Literal["channels", "node"]
Dateline = Literal["balanced", "plain", "none"]

_LEAST = {
    "virtual_channels": 1,
    "buffer_depth": 1,
    "flit_bytes": 1,
    "router_delay": 0,
    "credit_delay": 0,
    "injection_lanes": 1,
}
_MOST = 4096
_LEAST_RATE = 1e-15
"""Messages per node and cycle at least: the gap between two must be a whole number of 64 bits."""


@dataclass(frozen=True)
class Routers:
    """Routers with input buffers, virtual channels and credits; one flit crosses a channel in a cycle.

    Attributes
    ----------
    virtual_channels : int
        Virtual channels V of each channel, 1 or more; 2 or more where datelines are in use.
    buffer_depth : int
        Flits B that the buffer of a virtual channel takes, 1 or more.
    flit_bytes : int
        Bytes of a flit.
    router_delay : int
        Cycles t_r, 0 or more, between the arrival of a flit at a router and the first cycle in which it can leave.
        Crossing the channel takes one more cycle.
    credit_delay : int
        Cycles, 0 or more, after which a slot that a flit has left is known to be free at the other end of the channel.
    injection : {"channels", "node"}
        A source queue for each channel that leaves a node (all-port) or a single one for the node.
    ejection : {"channels", "node"}
        Whether a node takes one flit a cycle from each channel (all-port) or one in all.
    injection_lanes : int
        Messages of one source queue that may be on their way into the network at once, at most V. They share one port,
        which carries one flit a cycle.
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
    4
    """

    virtual_channels: int = 2
    buffer_depth: int = 4
    flit_bytes: int = 4
    router_delay: int = 1
    credit_delay: int = 1
    injection: Interface = "channels"
    ejection: Interface = "channels"
    injection_lanes: int = 1
    dateline: Dateline = "balanced"

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            object.__setattr__(self, name, whole(getattr(self, name), name, least, _MOST))
        for name, kind in (("injection", Interface), ("ejection", Interface), ("dateline", Dateline)):
            choice(getattr(self, name), name, get_args(kind))
        if self.injection_lanes > self.virtual_channels:
            most = f"virtual_channels = {self.virtual_channels}"
            raise ModelError(f"injection_lanes must be at most {most}, got {self.injection_lanes}")

    @property
    def round_trip(self) -> int:
        """Cycles between two uses of one slot: a channel is kept busy only if the buffer has as many slots."""
        return self.router_delay + self.credit_delay + 2

    def head_latency(self, hops: int) -> int:
        """Return the cycles before the first flit leaves the network: ``t_r + hops * (t_r + 1)``.

        >>> Routers(router_delay=2).head_latency(3)
        11
        """
        return self.router_delay + hops * (self.router_delay + 1)

    def zero_load_latency(self, hops: int, flits: int) -> int:
        """Return the cycles from release to delivery of a message that meets no other.

        Notes
        -----
        ``hops * (t_r + 1) + t_r + flits``: each of the ``hops + 1`` routers takes t_r cycles, each channel and the
        ejection one, and the other ``flits - 1`` flits follow one a cycle. If the buffer has fewer slots B than the
        round trip R, flits come in bursts of B every R cycles, and ``flits`` becomes
        ``floor((flits - 1)/B) R + (flits - 1) mod B + 1`` for messages of at least one hop.

        Examples
        --------
        >>> Routers().zero_load_latency(hops=3, flits=8)
        15
        """
        last = flits - 1
        if hops and self.buffer_depth < self.round_trip:
            last = last // self.buffer_depth * self.round_trip + last % self.buffer_depth
        return self.head_latency(hops) + last + 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class TrafficSettings:
    """Random traffic: its messages, the routers that carry them, and how long is measured.

    Attributes
    ----------
    message_flits : int
        Flits of a message, at least 1.
    hot_share : float
        Share of hotspot traffic that goes to hot nodes.
    routers : Routers
        Default: ``Routers()``.
    warmup, measured : int
        Cycles before the measurement, 0 or more, and of the measurement, at least 100.
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

    message_flits: int = 8
    hot_share: float = 0.1
    routers: Routers = field(default_factory=Routers)
    warmup: int = 5_000
    measured: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("message_flits", 1), ("warmup", 0), ("measured", 100)):
            object.__setattr__(self, name, whole(getattr(self, name), name, least))
        object.__setattr__(self, "seed", seed(self.seed))

    def check_load(self, load: float) -> float:
        """Return a load in flits per sending node and cycle, as a float; ModelError if no traffic can have it."""
        return number(load, "load", _LEAST_RATE * self.message_flits, self.message_flits)
