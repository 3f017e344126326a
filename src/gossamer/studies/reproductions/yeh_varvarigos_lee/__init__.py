"""The tables of Yeh, Varvarigos and Lee: schemes for broadcasts that arrive at random, simulated beside theory.

Delays come from the queueing simulator, with confidence intervals; lower bounds, and limits from exact link loads,
stand beside them. Static schedules are verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from gossamer.networks.spec import network
from gossamer.simulation.random_arrivals.interval_broadcasts import interval_scheme
from gossamer.studies.reproductions.table import Curve, Table
from gossamer.studies.reproductions.yeh_varvarigos_lee import arc_and_mini_packets, delays

__all__ = ["ABOUT", "CURVES_ABOUT", "CURVES_TITLE", "TABLES", "curves"]

ABOUT = """Delays are in steps, simulated with 95% confidence intervals, beside lower bounds that no order of service on
the same trees can beat."""
"""What the page of the reproduction says first."""
CURVES_TITLE = "Delays of the interval scheme between their bounds"
"""What the picture of the curves shows."""
CURVES_ABOUT = """The scheme of Varvarigos and Bertsekas, one partial multinode broadcast after the other, t_p = 0.1:
points are simulated; the band lies between a lower bound and their bound (11). The other schemes are compared below."""
"""What the page says of the curves."""

TABLES: tuple[Callable[[], Table], ...] = (*delays.TABLES, *arc_and_mini_packets.TABLES)
"""The functions that make the tables."""


def curves() -> Iterator[Curve]:
    """Yield delay against load of the interval scheme, between a lower bound and the bound (11)."""
    for spec in ("hypercube:8", "torus:8x8", "array:8x8", "torus:4x4x4"):
        scheme = interval_scheme(network(spec), control_time=Fraction(1, 10))
        shares = (2, 5, 10, 20, 40, 60, 80, 90)
        runs = [scheme.simulate(Fraction(share, 100) * scheme.largest_rate, packets=400_000) for share in shares]
        yield Curve(
            f"{spec}, delay", "percent of the largest stable load", shares,
            tuple(Fraction(run.delay).limit_denominator(10**6) for run in runs),
            tuple(run.lower_bound for run in runs), tuple(run.upper_bound for run in runs),
            simulated=True,
        )  # fmt: skip
