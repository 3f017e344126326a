"""A slow twin: the channels of dimension-ordered messages, node by node."""

from __future__ import annotations

import math
from collections import Counter


def channels(sides, source, displacement):
    """Yield the channels (coordinates of the sender, dimension, sign) of one message."""
    at = list(source)
    for t, hops in enumerate(displacement):
        sign = 1 if hops > 0 else -1
        for _ in range(abs(hops)):
            yield (*at, t, sign)
            at[t] = (at[t] + sign) % sides[t]


def target(sides, source, displacement):
    return tuple((x + d) % n for x, d, n in zip(source, displacement, sides, strict=True))


def shared(sides, messages):
    """Return the channels that more than one of the messages (source, displacement) uses."""
    used = Counter(c for source, displacement in messages for c in channels(sides, source, displacement))
    return sorted(c for c, count in used.items() if count > 1)


def node(sides, place):
    return sum(x % n * math.prod(sides[t + 1 :]) for t, (x, n) in enumerate(zip(place, sides, strict=True)))


def place(sides, number):
    digits = []
    for n in reversed(sides):
        digits.append(number % n)
        number //= n
    return tuple(reversed(digits))
