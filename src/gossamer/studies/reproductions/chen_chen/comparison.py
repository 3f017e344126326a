"""The comparison of the broadcasts with their rivals: times by verified schedules at 32 points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.studies.reproductions.chen_chen.schedule_costs import (
    MESSAGE,
    VARIANTS,
    automatic,
    best_theorem_1,
    bound,
    cost_of,
    drawn,
    fastest,
    partitioned,
    rival,
    trees,
    with_movement,
)
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.wormhole.aggregation_distribution import ATD_5
from gossamer.wormhole.aggregation_distribution.closed_forms import MOVEMENTS, closed_form, closed_form_time
from gossamer.wormhole.partition import common_divisors

POINTS: tuple[tuple[int, int], ...] = (
    (10, 10), (10, 100), (16, 64), (20, 100), (25, 25), (25, 156), (25, 625), (30, 225),
)  # fmt: skip
"""Sides n and numbers of sources s."""
TAUS: tuple[Fraction, ...] = (Fraction(1, 10), Fraction(1), Fraction(10), Fraction(100))
"""Start-ups in units of the transmission of a message, T_s / (m T_c)."""
RIVALS: dict[str, str] = {
    "EDST": "spanning-trees",
    "EDST pipelined": "spanning-trees-pipelined",
    "tree by rank": "tree-by-rank",
    "rings": "ring-all-gather",
    "packed rings": "packed-ring-all-gather",
    "sequential": "sequential-broadcasts",
}
"""The rivals' names in the tables and in the registry."""
PAIRS: tuple[tuple[str, str], ...] = (
    ("ATD-5", "EDST as printed"), ("ATD-5", "EDST"), ("ATD-5", "EDST pipelined"), ("ATD-5", "rings"),
    ("ATD-5", "packed rings"), ("ATD-opt", "ATD-5"), ("ATD-opt", "EDST pipelined"), ("ATD-opt", "rings"),
    ("ATD-piece", "ATD-opt"), ("ATD-piece", "EDST pipelined"), ("ATD-piece", "rings"), ("ATD-piece", "packed rings"),
)  # fmt: skip
"""Who is compared with whom."""

_PIPELINED = "EDST pipelined"


class ComparisonPoint(NamedTuple):
    """One point of the comparison.

    * `n`, `sources`: side of the torus, and number of sources s.
    * `tau`: t_s / (m T_c).
    * `bound`: lower bound in units of m T_c.
    * `h`: the best h by algorithm, for those that have one.
    * `times`: time by algorithm in units of m T_c; Theorem 1 and EDST as printed are formulas, all others measured.
    """

    n: int
    sources: int
    tau: Fraction
    bound: Fraction
    h: dict[str, int]
    times: dict[str, Fraction]


def _shown(name: str) -> str:
    return name.replace("atd", "ATD")


def rival_time(n: int, sources: int, tau: Fraction, shown: str) -> Fraction:
    """Return the measured time of one of `RIVALS` in units of m T_c."""
    name = RIVALS[shown]
    run = rival(n, sources, name, tau) if shown == _PIPELINED else rival(n, sources, name)
    return run.time(tau)


@lru_cache(maxsize=512)
def compared(n: int, sources: int, tau: Fraction) -> ComparisonPoint:
    """Return the times of all algorithms at one point."""
    h, times = {}, {}
    h["Theorem 1"], times["Theorem 1"] = best_theorem_1(n, sources, tau)
    for name in VARIANTS:
        h[_shown(name)], times[_shown(name)] = fastest(n, sources, name, tau)
    times["EDST as printed"] = trees(n, sources).time(tau)
    for shown in RIVALS:
        times[shown] = rival_time(n, sources, tau, shown)
    return ComparisonPoint(n, sources, tau, bound(n, sources, tau), h, times)


def _points() -> Iterator[ComparisonPoint]:
    for n, sources in POINTS:
        for tau in TAUS:
            yield compared(n, sources, tau)


@tabulated(
    "Aggregation-then-distribution at its best h (section 4)",
    ("n", "s", "tau", "bound", "Theorem 1", "h", "ATD-5", "h", "ATD-opt", "h", "ATD-piece", "h"),
    "Times in units of m T_c. Theorem 1 is the formula as printed, with the h that makes it least. The others are "
    "measured on n x n nodes with s random sources, m = 1024 bytes, counters of 4, and the fastest h.",
)
def broadcasts() -> Iterable[Row]:
    """Aggregation-then-distribution against its bound, at the best h."""
    names = ("Theorem 1", "ATD-5", "ATD-opt", "ATD-piece")
    return [
        (p.n, p.sources, p.tau, p.bound, *(cell for name in names for cell in (p.times[name], p.h[name])))
        for p in _points()
    ]


def others() -> Table:
    """Rivals at the same points."""
    names = ("EDST as printed", *RIVALS)
    rows: list[tuple[Cell, ...]] = [
        (p.n, p.sources, p.tau, p.bound, p.times["ATD-piece"], *(p.times[name] for name in names)) for p in _points()
    ]
    return Table(
        "Its rivals at the same points (Table 1)",
        ("n", "s", "tau", "bound", "ATD-piece", *names),
        tuple(rows),
        "Times in units of m T_c. EDST as printed is the formula (D + 2)(tau + s/4), which leaves out the way to the "
        "root; EDST are the same quarters on the shallowest trees found, with that way; pipelined, in packets of the "
        "best length; tree by rank, whole messages on tree rank mod 4. Rings: two-phase all-gather in halves; packed "
        "rings: after ranking and spreading (Varvarigos and Bertsekas). Sequential: one broadcast after the other.",
    )


@tabulated(
    "Who is faster at how many of the 32 points",
    ("A", "B", "A faster", "equal", "A slower", "the rarer case: A is"),
    "Points are n, s: tau.",
)
def headlines() -> Iterator[Row]:
    """Who is faster at how many of the points."""
    points = list(_points())
    for first, second in PAIRS:
        gaps = [(p.times[second] - p.times[first], p) for p in points]
        wins = [p for gap, p in gaps if gap > 0]
        losses = [p for gap, p in gaps if gap < 0]
        few = losses if len(losses) <= len(wins) else wins
        told = f"{'slower' if few is losses else 'faster'} at {_grouped(few)}" if few else ""
        yield first, second, len(wins), sum(gap == 0 for gap, _ in gaps), len(losses), told


def _grouped(points: list[ComparisonPoint]) -> str:
    """Return points as text, those of one n and s together."""
    taus: dict[str, list[str]] = {}
    for p in points:
        taus.setdefault(f"{p.n}, {p.sources}", []).append(f"{float(p.tau):g}")
    return "; ".join(f"{place}: {' '.join(at)}" for place, at in taus.items())


@tabulated(
    "Times in multiples of the bound over the 32 points",
    ("algorithm", "fastest of all at", "least", "median", "most"),
    "Measured times over the lower bound.",
)
def standing() -> Iterator[Row]:
    """How far each algorithm is from the bound."""
    points = list(_points())
    measured = [name for name in points[0].times if name not in ("Theorem 1", "EDST as printed")]
    for name in measured:
        ratios = [p.times[name] / p.bound for p in points]
        best = sum(p.times[name] == min(p.times[m] for m in measured) for p in points)
        yield name, best, min(ratios), Fraction(median(ratios)), max(ratios)


@tabulated(
    "ATD-piece against rings on five source sets",
    ("n", "s", "tau", "ATD-piece faster", "rings: least", "most", "bound"),
    "The comparison has one source set for each n and s. Here are five: the time of the rings, and the bound at "
    "most, in multiples of the time of ATD-piece.",
)
def source_sets() -> Iterator[Row]:
    """Whether the source sets matter: ATD-piece against rings on five of them."""
    for n, s in POINTS:
        if s == n * n or n > _SMALL:
            continue
        sets = [drawn(n, s, seed) for seed in range(5)]
        for tau in TAUS:
            ratios = [
                rival(n, chosen, RIVALS["rings"]).time(tau) / fastest(n, chosen, "atd-piece", tau)[1] for chosen in sets
            ]
            least = max(bound(n, chosen, tau) / fastest(n, chosen, "atd-piece", tau)[1] for chosen in sets)
            yield n, s, tau, sum(r > 1 for r in ratios), min(ratios), max(ratios), least


_SMALL = 25


CURVES: tuple[tuple[int, Fraction], ...] = (
    (10, Fraction(1)), (10, Fraction(100)), (30, Fraction(1)), (30, Fraction(100)),
)  # fmt: skip
"""Sides n and start-ups tau for which times are drawn against s."""


def counts(n: int) -> tuple[int, ...]:
    """Return the numbers of sources for which times are drawn.

    >>> counts(10)
    (1, 3, 10, 30, 100)
    """
    return tuple(s for s in (1, 3, 10, 30, 100, 300, 900) if s <= n * n)


def curves() -> Iterator[Curve]:
    """Yield the time of ATD-5 against s at its best h, between the bound and its closed form at the same h."""
    for n, tau in CURVES:
        found = [fastest(n, s, ATD_5.name, tau) for s in counts(n)]
        costs = cost_of(tau)
        promised = [
            closed_form_time(closed_form((n, n), s, h, costs, ATD_5), costs) / costs.message_bytes
            for s, (h, _) in zip(counts(n), found, strict=True)
        ]
        yield Curve(
            f"ATD-5 on {n} x {n}, tau = {tau}", "sources s", counts(n), tuple(time for _, time in found),
            tuple(bound(n, s, tau) for s in counts(n)), tuple(promised), unit="m T_c",
        )  # fmt: skip


# The number h of data-distribution networks: what is best, and what the closed form chooses.


@tabulated(
    "ATD-5 for 25 sources on 25 x 25 nodes by h (section 3.1.1)",
    ("tau", "h", "start-ups", "messages", "time", "bound"),
    '"The higher the value of h is, the lower latency will be": start-ups grow with h, and with tau = 100 the best '
    "h is 1 (errata X15). Times in units of m T_c.",
)
def larger_is_slower() -> Iterator[Row]:
    """Whether a larger h always lowers the latency."""
    for tau in TAUS:
        for h in common_divisors((25, 25)):
            run = partitioned(25, 25, ATD_5, h)
            yield tau, h, run.startups, run.data.messages, run.time(tau), bound(25, 25, tau)


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


@tabulated(
    "The h of the closed form over the 32 points of the comparison",
    ("algorithm", "as fast as the best h", "mean loss %", "largest %", "at n, s: tau"),
    "The closed form bounds alignment and all-gather for the worst set of sources, so it can miss the best h where "
    "these weigh.",
)
def automatic_choice() -> Iterator[Row]:
    """Choice of h by the closed form, and what it costs."""
    for name in VARIANTS:
        losses = []
        for n, s in POINTS:
            for tau in TAUS:
                best, chosen = fastest(n, s, name, tau), automatic(n, s, name, tau)
                losses.append((chosen[1] / best[1] - 1, f"{n}, {s}: {float(tau):g}"))
        most, where = max(losses)
        mean = sum((loss for loss, _ in losses), Fraction(0)) / len(losses)
        yield (
            name.replace("atd", "ATD"), sum(loss == 0 for loss, _ in losses), mean * 100, most * 100,
            where if most else "",
        )  # fmt: skip


def chosen(n: int, name: str, counts: Sequence[int], taus: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the h with the least closed form, the smallest of equals.

    `n`: side of the torus. `name`: a key of `runs.VARIANTS`. `counts`: numbers of sources. `taus`, float64[T]:
    start-ups in units of m T_c.

    Returns: int64[T, len(counts)]: as `best_h` would choose, but for ties within rounding.
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


TABLES: tuple[Callable[[], Table], ...] = (
    broadcasts, others, headlines, standing, source_sets, larger_is_slower, best_choice, automatic_choice,
)  # fmt: skip
"""The functions that make the tables."""
