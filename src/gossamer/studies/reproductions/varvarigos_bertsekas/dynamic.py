"""Dynamic broadcasting of Varvarigos and Bertsekas 1994, section 5: delays of the interval scheme beside (11)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gossamer.networks.spec import network
from gossamer.simulation.random_arrivals.intervals import IntervalScheme, interval_scheme
from gossamer.studies.reproductions.table import Table

__all__ = ["INTERVAL_ROWS", "TABLES"]

INTERVAL_ROWS: tuple[tuple[str, Fraction], ...] = tuple(
    (spec, share)
    for spec in ("torus:3", "array:4x4", "torus:5x5", "torus:8x8", "array:8x8", "torus:4x4x4", "array:6x6x6",
                 "torus:10x10x10", "hypercube:8")
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
)  # fmt: skip
"""Network, and share of the largest stable rate, of the rows."""

_T_P = Fraction(1, 10)


def _scheme(spec: str) -> IntervalScheme:
    return interval_scheme(network(spec), control_time=_T_P)


def intervals() -> Table:
    """Section 5: mean delay of broadcasts that arrive at random, intervals of V + XM and of exact length."""
    rows = []
    for spec, share in INTERVAL_ROWS:
        scheme = _scheme(spec)
        rate = share * scheme.largest_rate
        linear, exact = (scheme.simulate(rate, exact=e, packets=1_000_000) for e in (False, True))
        rows.append(
            (
                spec, scheme.utilization(rate), scheme.stable_utilization, linear.lower_bound, linear.delay,
                linear.half_width, linear.upper_bound, exact.lower_bound, exact.delay, exact.half_width,
            )
        )  # fmt: skip
    return Table(
        "Dynamic broadcasting in intervals (section 5), split packets, t_p = 0.1",
        ("network", "rho", "rho* (14)", "at least", "delay", "+-", "(11)", "exact: at least", "delay", "+-"),
        tuple(rows),
        "Delays in steps with 95% intervals from 20 batch means of 1,000,000 packets in all; 'exact': intervals as "
        "long as their broadcasts really take. (11) is the paper's upper bound.",
    )


def largest_utilization() -> Table:
    """Section 5: how near to 1 the utilization may come (errata X7, X9)."""
    rows = []
    for p, d in ((3, 1), (4, 2), (8, 2), (16, 2), (4, 3), (10, 3), (16, 3), (8, 4)):
        spec = "torus:" + "x".join([str(p)] * d)
        split, whole = (interval_scheme(network(spec), split=s, control_time=_T_P) for s in (True, False))
        nodes = p**d
        unit = Fraction(nodes - 1, 2 * d)
        rows.append((f"{p}^{d}", split.stable_utilization, whole.largest_rate * unit, Fraction(p - 1, p)))
    return Table(
        "Largest stable utilization lambda (N-1)/(2d) on tori p^d, t_p = 0.1",
        ("torus", "split (14)", "whole", "(p-1)/p"),
        tuple(rows),
        "Whole packets: for even p the utilization cannot exceed (p-1)/p (errata X7).",
    )


TABLES: tuple[Callable[[], Table], ...] = (intervals, largest_utilization)
"""The functions that make the tables."""
