"""Smallest cases against statements as printed that no other table shows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gossamer.studies.reproductions.chen_chen.formulas import lemma_3, theorem_1
from gossamer.studies.reproductions.chen_chen.runs import partitioned
from gossamer.studies.reproductions.table import Cell, Table
from gossamer.wormhole.aggregation_distribution import ATD_5
from gossamer.wormhole.aggregation_distribution.load_balancing import destinations
from gossamer.wormhole.contraction import ceil_log, offset
from gossamer.wormhole.partition import Partition

__all__ = ["TABLES", "smallest_cases"]


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
    words = destinations(Partition((n, n), h), np.arange(sources))
    return " ".join(map(str, np.bincount(words, minlength=h).tolist()))


def _diagonals(n: int, h: int) -> str:
    partition = Partition((n, n), h)
    there = sorted({int(v) % n for v in partition.level[partition.ddn >= 0]})
    return " ".join(map(str, there))


def _longest(n: int, h: int) -> Fraction:
    run = partitioned(n, (0,), ATD_5, h, 120)
    return max(c.messages / c.startups for name, c in run.phases.items() if c.startups and name != "prefix sums")


def _counters(n: int, h: int) -> int:
    return partitioned(n, (0,), ATD_5, h, 120).phases["prefix sums"].startups


TABLES: tuple[Callable[[], Table], ...] = (smallest_cases,)
