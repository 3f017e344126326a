"""The formulas of Chen and Chen as printed, in start-ups, messages of m bytes and counters."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gossamer.wormhole.contraction_trees import ceil_log
from gossamer.wormhole.partition import common_divisors

__all__ = ["Printed", "best_theorem_1", "lemma_1", "lemma_2", "lemma_3", "theorem_1", "trees"]


class Printed(NamedTuple):
    """A printed cost: `startups` times T_s, `messages` times m T_c and `counters` times T_c."""

    startups: int
    messages: Fraction
    counters: int = 0

    def time(self, tau: Fraction) -> Fraction:
        """Return the time in units of m T_c for tau = T_s / (m T_c), counters left out.

        >>> Printed(3, Fraction(1, 2)).time(Fraction(10))
        Fraction(61, 2)
        """
        return self.startups * tau + self.messages


def lemma_1(h: int) -> Printed:
    """Return the cost of the data aggregation, by the closed form of Lemma 1.

    >>> lemma_1(25)
    Printed(startups=2, messages=Fraction(6, 1), counters=0)
    """
    levels = ceil_log(5, h)
    return Printed(levels, Fraction(5**levels - 1, 4))


def lemma_2(n: int, h: int) -> Printed:
    """Return the cost of the aggregation phase.

    >>> lemma_2(25, 5)
    Printed(startups=13, messages=Fraction(3, 1), counters=10)
    """
    counters = 4 * ceil_log(5, n) + 2 * ceil_log(5, n // h)
    gather = lemma_1(h)
    return Printed(counters + 3 * ceil_log(5, h), 2 * ceil_log(5, h) + gather.messages, counters)


def lemma_3(n: int, h: int, sources: int) -> Printed:
    """Return the cost of the distribution phase.

    >>> lemma_3(25, 5, 625)
    Printed(startups=10, messages=Fraction(1250, 1), counters=0)
    """
    steps = 4 * ceil_log(5, n // h) + ceil_log(3, h) + h - 1
    return Printed(steps, steps * Fraction(sources, h))


def theorem_1(n: int, h: int, sources: int) -> Printed:
    """Return the cost of the whole broadcast, with the constant of T_c as printed in Theorem 1.

    >>> theorem_1(25, 5, 625)
    Printed(startups=23, messages=Fraction(1253, 1), counters=6)
    """
    before, after = lemma_2(n, h), lemma_3(n, h, sources)
    counters = 4 * ceil_log(5, h) + 2 * ceil_log(5, n // h)
    return Printed(before.startups + after.startups, before.messages + after.messages, counters)


def best_theorem_1(n: int, sources: int, tau: Fraction) -> tuple[int, Fraction]:
    """Return the h with the least time by Theorem 1 as printed, and that time in units of m T_c.

    >>> best_theorem_1(10, 10, Fraction(1, 10))
    (10, Fraction(123, 5))
    """
    times = {h: theorem_1(n, h, sources).time(tau) for h in common_divisors((n, n))}
    h = min(times, key=lambda k: times[k])
    return h, times[h]


def trees(n: int, sources: int) -> Printed:
    """Return the cost of four spanning trees of the printed height D + 2 level by level, without a gather.

    >>> trees(10, 10)
    Printed(startups=12, messages=Fraction(30, 1), counters=0)
    """
    height = 2 * (n // 2) + 2
    return Printed(height, height * Fraction(sources, 4))
