"""What verified schedules cost: start-ups and bytes, phase by phase, kept for every table that asks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gossamer.networks.spec import network as parse_network
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.reading.tables import named_nodes
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
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.partition import Partition, common_divisors
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

__all__ = [
    "MESSAGE", "VARIANTS", "Cost", "Run", "Sources", "automatic", "bound", "case_of", "cost_of", "drawn", "fastest",
    "partitioned", "rival", "scheduled", "sources", "with_movement",
]  # fmt: skip

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


class Run(NamedTuple):
    """What a schedule that the checker accepted costs.

    Attributes
    ----------
    steps : int
        Steps of the schedule; they do not depend on the sources.
    startups : int
        Steps with messages.
    bytes_ : int
        Bytes of the longest messages of all steps, counters included.
    message : int
        Bytes of a message, m.
    phases : dict
        `Cost` by the name of the phase.
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


def _run(schedule: WormholeSchedule) -> Run:
    verify(schedule).raise_if_invalid()
    message = schedule.cost.message_bytes
    phases = {
        phase.name: Cost(startups, Fraction(length, message), phase.control)
        for phase, startups, length in schedule.phase_costs()
    }
    return Run(schedule.step_count, schedule.startups, schedule.volume, message, phases)


def scheduled(n: int, chosen: Sources, variant: Variant, h: int, message: int = MESSAGE) -> WormholeSchedule:
    """Return the schedule of a variant with its tuning chosen."""
    return aggregation_distribution(case_of(n, chosen, cost_of(Fraction(1), message)), h=h, variant=variant)


@lru_cache(maxsize=4096)
def partitioned(n: int, chosen: Sources, variant: Variant, h: int, message: int = MESSAGE) -> Run:
    """Return what a variant with its tuning chosen costs; it does not depend on tau."""
    return _run(scheduled(n, chosen, variant, h, message))


def _tuned(n: int, chosen: Sources, variant: Variant, h: int, tau: Fraction) -> Variant:
    count = chosen if isinstance(chosen, int) else len(chosen)
    return with_tuning(Partition((n, n), h), count, cost_of(tau), variant)


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
def rival(n: int, chosen: Sources, name: str, tau: Fraction = Fraction(1)) -> Run:
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
