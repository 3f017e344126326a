"""The cost model of wormhole switching: start-up, time a byte, message length."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from gossamer.errors import ModelError

__all__ = ["WormholeModel", "cost"]


@dataclass(frozen=True)
class WormholeModel:
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
    ports : {"all"}
        A node sends on all its channels and receives on all of them at once.

    Examples
    --------
    >>> model = WormholeModel(startup=100, per_byte="0.1")
    >>> model.per_byte, model.startup_ratio
    (Fraction(1, 10), Fraction(125, 128))
    """

    startup: Fraction = Fraction(100)
    per_byte: Fraction = Fraction(1)
    message_bytes: int = 1024
    counter_bytes: int = 4
    hop_time: Fraction = Fraction(0)
    ports: Literal["all"] = "all"

    def __post_init__(self) -> None:
        for name in ("startup", "per_byte", "hop_time"):
            object.__setattr__(self, name, cost(getattr(self, name), name))
        for name in ("message_bytes", "counter_bytes"):
            object.__setattr__(self, name, _bytes(getattr(self, name), name))
        if self.ports != "all":
            raise ModelError(f"wormhole schedules use all ports; ports must be 'all', got {self.ports!r}")

    @property
    def startup_ratio(self) -> Fraction | None:
        """T_s / (m T_c): the start-up in units of the transmission of one message; None where that takes no time."""
        return self.startup / (self.message_bytes * self.per_byte) if self.per_byte else None

    def step_cost(self, length: int, hops: int = 0) -> Fraction:
        """Return the cost of a step whose one message has `length` bytes and makes `hops` hops.

        >>> WormholeModel(startup=10, per_byte=2).step_cost(3)
        Fraction(16, 1)
        """
        return self.startup + length * self.per_byte + hops * self.hop_time

    def describe(self) -> str:
        """Return the costs and the message length, for people.

        >>> WormholeModel(per_byte="1/8").describe()
        'start-up 100, 1/8 a byte, messages of 1,024 bytes'
        """
        hop = f", {self.hop_time} a hop" if self.hop_time else ""
        size = f"{self.message_bytes:,} byte{'' if self.message_bytes == 1 else 's'}"
        return f"start-up {self.startup}, {self.per_byte} a byte{hop}, messages of {size}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "startup": str(self.startup),
            "per_byte": str(self.per_byte),
            "message_bytes": self.message_bytes,
            "counter_bytes": self.counter_bytes,
            "hop_time": str(self.hop_time),
            "ports": self.ports,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> WormholeModel:
        """Return the model that `to_dict` described."""
        return cls(**fields)


def cost(value: Any, name: str) -> Fraction:
    """Return a time of 0 or more as a fraction, or raise a ModelError that calls it `name`.

    >>> cost("1/3", "startup"), cost(0.1, "per_byte")
    (Fraction(1, 3), Fraction(1, 10))
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        time = Fraction(repr(value) if isinstance(value, float) else value)
    except (TypeError, ValueError, ArithmeticError):
        raise ModelError(f"{name} must be a number that is 0 or more, such as 100 or 1/10, got {value!r}") from None
    if time < 0:
        raise ModelError(f"{name} must be 0 or more, got {time}")
    return time


def _bytes(value: Any, name: str) -> int:
    try:
        size = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        size = 0
    if not 1 <= size < 2**31:
        raise ModelError(f"{name} must be a whole number of bytes in 1..{2**31 - 1}, got {value!r}")
    return size
