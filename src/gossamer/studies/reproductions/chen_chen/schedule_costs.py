"""What verified schedules cost: start-ups and bytes, phase by phase, kept for every table that asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gossamer.networks.spec import network as parse_network
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.reading.node_lists import named_nodes
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.studies.reproductions.table import Cell, Table
from gossamer.wormhole import WormholeSchedule, verify
from gossamer.wormhole.aggregation_distribution import (
    ATD_5,
    ATD_OPT,
    ATD_PIECE,
    Variant,
    aggregation_distribution,
    best_h,
    with_tuning,
)
from gossamer.wormhole.aggregation_distribution.closed_forms import destinations
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.contraction_trees import ceil_log, offset
from gossamer.wormhole.partition import TorusPartition, common_divisors
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS


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


MESSAGE = 1024
"""Bytes of a message, m."""
VARIANTS = {v.name: v for v in (ATD_5, ATD_OPT, ATD_PIECE)}

Sources = int | tuple[int, ...]
"""Sources: a number of nodes drawn with seed 0, or the nodes themselves."""


class Cost(NamedTuple):
    """Start-ups, and the longest messages of all steps in units of m; `control` where these are counters."""

    startups: int
    messages: Fraction
    control: bool = False


class ScheduleCost(NamedTuple):
    """What a schedule that the checker accepted costs.

    * `steps`: steps of the schedule; they do not depend on the sources.
    * `startups`: steps with messages.
    * `bytes_`: bytes of the longest messages of all steps, counters included.
    * `message`: bytes of a message, m.
    * `phases`: `Cost` by the name of the phase.
    """

    steps: int
    startups: int
    bytes_: int
    message: int
    phases: dict[str, Cost]

    def time(self, tau: Fraction) -> Fraction:
        """Return the time in units of m T_c for tau = T_s / (m T_c)."""
        return self.startups * tau + Fraction(self.bytes_, self.message)

    @property
    def data(self) -> Cost:
        """All start-ups, and the messages without the counters."""
        carried = (c.messages for c in self.phases.values() if not c.control)
        return Cost(self.startups, sum(carried, Fraction(0)))


def cost_of(tau: Fraction, message: int = MESSAGE) -> LinearCost:
    """Return the cost with a byte a time unit and start-ups of tau messages."""
    return LinearCost(startup=tau * message, per_byte=Fraction(1), message_bytes=message)


@lru_cache(maxsize=256)
def sources(n: int, chosen: Sources) -> PartialMultinodeBroadcast:
    """Return the broadcast of a source set on n x n nodes; a number is what ``--active random:NUMBER`` draws."""
    if not isinstance(chosen, int):
        return PartialMultinodeBroadcast(chosen)
    return PartialMultinodeBroadcast(tuple(range(n * n)) if chosen == n * n else drawn(n, chosen, 0))


def case_of(n: int, chosen: Sources, cost: LinearCost) -> WormholeCase:
    """Return the case of a source set on n x n nodes."""
    return WormholeCase(parse_network(f"torus:{n}x{n}"), sources(n, chosen), cost)


def _run(schedule: WormholeSchedule) -> ScheduleCost:
    verify(schedule).raise_if_invalid()
    message = schedule.cost.message_bytes
    phases = {
        phase.name: Cost(startups, Fraction(length, message), phase.control)
        for phase, startups, length in schedule.phase_costs()
    }
    return ScheduleCost(schedule.step_count, schedule.startups, schedule.volume, message, phases)


def scheduled(n: int, chosen: Sources, variant: Variant, h: int, message: int = MESSAGE) -> WormholeSchedule:
    """Return the schedule of a variant with its tuning chosen."""
    return aggregation_distribution(case_of(n, chosen, cost_of(Fraction(1), message)), h=h, variant=variant)


@lru_cache(maxsize=4096)
def partitioned(n: int, chosen: Sources, variant: Variant, h: int, message: int = MESSAGE) -> ScheduleCost:
    """Return what a variant with its tuning chosen costs; it does not depend on tau."""
    return _run(scheduled(n, chosen, variant, h, message))


def _tuned(n: int, chosen: Sources, variant: Variant, h: int, tau: Fraction) -> Variant:
    count = chosen if isinstance(chosen, int) else len(chosen)
    return with_tuning(TorusPartition((n, n), h), count, cost_of(tau), variant)


def drawn(n: int, count: int, seed: int) -> tuple[int, ...]:
    """Return the sources that ``--active random:COUNT --seed SEED`` draws on n x n nodes."""
    return tuple(int(v) for v in named_nodes(f"random:{count}", n * n, seed=seed))


def fastest(n: int, chosen: Sources, name: str, tau: Fraction) -> tuple[int, Fraction]:
    """Return the h whose measured time is least, and that time in units of m T_c."""
    variant = VARIANTS[name]
    times = {
        h: partitioned(n, chosen, _tuned(n, chosen, variant, h, tau), h).time(tau) for h in common_divisors((n, n))
    }
    h = min(times, key=lambda k: times[k])
    return h, times[h]


def automatic(n: int, chosen: int, name: str, tau: Fraction) -> tuple[int, Fraction]:
    """Return the h that the closed form chooses, and the measured time with it in units of m T_c."""
    variant = VARIANTS[name]
    h = best_h((n, n), chosen, cost_of(tau), variant)
    return h, partitioned(n, chosen, _tuned(n, chosen, variant, h, tau), h).time(tau)


@lru_cache(maxsize=8)
def _on_torus(n: int) -> WormholeCase:
    """Return a case with which those of the rivals share what is known, such as spanning trees."""
    return WormholeCase(parse_network(f"torus:{n}x{n}"), MultinodeBroadcast())


@lru_cache(maxsize=1024)
def rival(n: int, chosen: Sources, name: str, tau: Fraction = Fraction(1)) -> ScheduleCost:
    """Return what another algorithm costs; `tau` matters only for those that choose the size of packets by it."""
    algorithm = next(a for a in WORMHOLE_ALGORITHMS if a.name == name)
    return _run(algorithm.build(_on_torus(n).varied(sources(n, chosen), cost_of(tau))))


def bound(n: int, chosen: Sources, tau: Fraction) -> Fraction:
    """Return the lower bound in units of m T_c."""
    return bounds(case_of(n, chosen, cost_of(tau)))[0].value / MESSAGE


def with_movement(variant: Variant, movement: str) -> Variant:
    """Return the variant with a given movement of the tuning.

    >>> with_movement(ATD_OPT, "mix3").tuning
    'mix3'
    """
    return replace(variant, tuning=movement)


# Smallest cases against statements as printed that no other table shows.


def smallest_cases() -> Table:
    """Smallest cases against statements as printed."""
    rows: list[tuple[Cell, ...]] = [
        ("X1", "L_(j n/h) are the diagonals of the DDNs", "n = 6, h = 2", _printed(6, 2), _diagonals(6, 2)),
        ("X3", "offset j = t - i, less h where j > h/2", "h = 3, t = 0, i = 2", -2, offset(0, 2, 3)),
        ("X7", "a step sends at most s m/h", "s = 1, h = 2", Fraction(1, 2), _longest(4, 2)),
        ("X8", "log_5 n start-ups", "n = h = 25", ceil_log(5, 25), partitioned(25, (0,), ATD_5, 25, 120).steps),
        ("X14", "counters 4 log_5 h + 2 log_5 N", "n = 25, h = 5", theorem_1(25, 5, 1).counters, _counters(25, 5)),
        ("X16", "every DDN gets the same number", "s = 3, h = 2", Fraction(3, 2), _shares(4, 2, 3)),
    ]
    return Table(
        "Smallest cases against statements as printed",
        ("errata", "statement", "case", "printed", "found"),
        tuple(rows),
        f"X8 drops the h - 1 steps of the columns; Lemma 3 has them, and {lemma_3(25, 25, 1).startups} steps in all.",
    )


def _printed(n: int, h: int) -> str:
    return " ".join(str(d) for d in sorted({j * -(-n // h) % n for j in range(n // h)}))


def _shares(n: int, h: int, sources: int) -> str:
    words = destinations(TorusPartition((n, n), h), np.arange(sources))
    return " ".join(map(str, np.bincount(words, minlength=h).tolist()))


def _diagonals(n: int, h: int) -> str:
    partition = TorusPartition((n, n), h)
    there = sorted({int(v) % n for v in partition.level[partition.ddn >= 0]})
    return " ".join(map(str, there))


def _longest(n: int, h: int) -> Fraction:
    run = partitioned(n, (0,), ATD_5, h, 120)
    return max(c.messages / c.startups for name, c in run.phases.items() if c.startups and name != "prefix sums")


def _counters(n: int, h: int) -> int:
    return partitioned(n, (0,), ATD_5, h, 120).phases["prefix sums"].startups


TABLES: tuple[Callable[[], Table], ...] = (smallest_cases,)
