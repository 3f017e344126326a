"""The linear cost of a step: a start-up, and a time for each byte and hop of its longest message."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from gossamer.errors import ModelError
from gossamer.reading import choice, fraction, whole

__all__ = ["LinearCost"]

Price = Literal["steps", "flits"]
Starts = Literal["barrier", "dependencies"]

_TIME = "a number that is 0 or more, such as 100 or 1/10"
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
            object.__setattr__(self, name, fraction(getattr(self, name), name, allowed=_TIME))
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
