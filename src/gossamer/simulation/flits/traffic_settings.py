"""What random traffic is like, and how long it is measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.reading import number, seed, whole
from gossamer.simulation.flits.settings import Routers

__all__ = ["Lengths", "TrafficSettings"]

_LEAST_RATE = 1e-15
"""Messages per node and cycle at least: the gap between two must be a whole number of 64 bits."""
_MOST_FLITS = 1 << 20


@dataclass(frozen=True)
class Lengths:
    """Lengths of messages and their shares, such as 80 % of one flit and 20 % of five.

    Attributes
    ----------
    flits : tuple of int
        The lengths.
    shares : tuple of float
        The share of the messages of each, which sum up to 1.

    Examples
    --------
    >>> Lengths.of("1:0.8,5:0.2").mean
    1.8
    >>> str(Lengths.of(8))
    '8'
    """

    flits: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, value: int | str | Lengths) -> Lengths:
        """Read a length, or lengths with weights such as ``1:4,5:1``; ModelError if it is neither."""
        if isinstance(value, Lengths):
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
        object.__setattr__(self, "lengths", Lengths.of(self.message_flits))
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

    lengths: Lengths = field(init=False, repr=False, compare=False)

    def check_load(self, load: float) -> float:
        """Return a load in flits per sending node and cycle, as a float; ModelError if no traffic can have it."""
        mean = self.lengths.mean
        return number(load, "load", _LEAST_RATE * mean, mean)
