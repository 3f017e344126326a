"""The number h of data-distribution networks: what is best, and what the closed form chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.studies.reproductions.chen_chen.comparison import POINTS, TAUS
from gossamer.studies.reproductions.chen_chen.runs import (
    MESSAGE,
    VARIANTS,
    automatic,
    bound,
    cost_of,
    fastest,
    partitioned,
    with_movement,
)
from gossamer.studies.reproductions.table import Cell, Table
from gossamer.wormhole.aggregation_distribution import ATD_5
from gossamer.wormhole.aggregation_distribution.closed_forms import closed_form
from gossamer.wormhole.aggregation_distribution.load_balancing import MOVEMENTS
from gossamer.wormhole.partition import common_divisors

__all__ = ["TABLES", "automatic_choice", "best_choice", "chosen", "larger_is_slower"]


def larger_is_slower() -> Table:
    """Whether a larger h always lowers the latency."""
    rows: list[tuple[Cell, ...]] = []
    for tau in TAUS:
        for h in common_divisors((25, 25)):
            run = partitioned(25, 25, ATD_5, h)
            rows.append((tau, h, run.startups, run.data.messages, run.time(tau), bound(25, 25, tau)))
    return Table(
        "ATD-5 for 25 sources on 25 x 25 nodes by h (section 3.1.1)",
        ("tau", "h", "start-ups", "messages", "time", "bound"),
        tuple(rows),
        '"The higher the value of h is, the lower latency will be": start-ups grow with h, and with tau = 100 the best '
        "h is 1 (errata X15). Times in units of m T_c.",
    )


def best_choice() -> Table:
    """Choice of h for 30 x 30 nodes."""
    rows: list[tuple[Cell, ...]] = []
    for name in VARIANTS:
        for s in (30, 225, 900):
            found = [fastest(30, s, name, tau)[0] for tau in TAUS]
            chosen = [automatic(30, s, name, tau)[0] for tau in TAUS]
            rows.append((name.replace("atd", "ATD"), s, *(c for pair in zip(found, chosen, strict=True) for c in pair)))
    columns = [c for tau in TAUS for c in (f"tau {float(tau):g}", "auto")]
    return Table(
        "The best h on 30 x 30 nodes by s and tau",
        ("algorithm", "s", *columns),
        tuple(rows),
        "Measured, beside what the closed form chooses without knowing which nodes are sources.",
    )


def automatic_choice() -> Table:
    """Choice of h by the closed form, and what it costs."""
    rows: list[tuple[Cell, ...]] = []
    for name in VARIANTS:
        losses = []
        for n, s in POINTS:
            for tau in TAUS:
                best, chosen = fastest(n, s, name, tau), automatic(n, s, name, tau)
                losses.append((chosen[1] / best[1] - 1, f"{n}, {s}: {float(tau):g}"))
        most, where = max(losses)
        mean = sum((loss for loss, _ in losses), Fraction(0)) / len(losses)
        rows.append((
            name.replace("atd", "ATD"), sum(loss == 0 for loss, _ in losses), mean * 100, most * 100,
            where if most else "",
        ))  # fmt: skip
    return Table(
        "The h of the closed form over the 32 points of the comparison",
        ("algorithm", "as fast as the best h", "mean loss %", "largest %", "at n, s: tau"),
        tuple(rows),
        "The closed form bounds alignment and all-gather for the worst set of sources, so it can miss the best h where "
        "these weigh.",
    )


def chosen(n: int, name: str, counts: Sequence[int], taus: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the h with the least closed form, the smallest of equals.

    Parameters
    ----------
    n : int
        Side of the torus.
    name : str
        A key of `runs.VARIANTS`.
    counts : sequence of int
        Numbers of sources.
    taus : float64[T]
        Start-ups in units of m T_c.

    Returns
    -------
    int64[T, len(counts)]
        As `best_h` would choose, but for ties within rounding.
    """
    variant, divisors = VARIANTS[name], common_divisors((n, n))
    movements = MOVEMENTS if variant.tuning == "cheapest" else (variant.tuning,)
    best = np.zeros((taus.size, len(counts)), np.int64)
    for place, s in enumerate(counts):
        times = np.full((len(divisors), taus.size), np.inf)
        for row, h in enumerate(divisors):
            for movement in movements:
                phases = closed_form((n, n), s, h, cost_of(Fraction(1)), with_movement(variant, movement))
                steps, carried = sum(len(p.bytes) for p in phases), sum(sum(p.bytes) for p in phases)
                times[row] = np.minimum(times[row], steps * taus + carried / MESSAGE)
        best[:, place] = np.array(divisors)[times.argmin(axis=0)]
    return best


TABLES: tuple[Callable[[], Table], ...] = (larger_is_slower, best_choice, automatic_choice)
