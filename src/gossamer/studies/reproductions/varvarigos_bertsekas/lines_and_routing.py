"""Several broadcasts on a line or ring, packing and monotone routing, of Varvarigos and Bertsekas 1994."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gossamer.planning.planner import plan
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules.torus_on_array import ring_labels
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["LOADS", "TABLES", "line_broadcasts", "ring_broadcasts", "ring_on_a_line", "routing"]

LOADS: tuple[tuple[int, ...], ...] = (
    (2, 0, 1, 3), (0, 2, 2), (1, 1, 1, 1, 1), (1, 1, 1), (1, 0), (4, 0, 0, 0, 0, 0), (0, 0, 3, 0, 0, 3),
    (1, 2, 3, 2, 1, 0, 0, 4),
)  # fmt: skip
"""Messages of each node."""


def line_broadcasts() -> Table:
    """Theorem 2: several broadcasts on a line."""
    rows = []
    for loads in LOADS:
        count, p = sum(loads), len(loads)
        insertion, rounds = (
            plan(f"array:{p}", parse_task("multiple-broadcast", counts=loads), algorithm=name)
            for name in ("insertion", "rounds")
        )
        printed, improved = count + p - 1, min(count + p - 2, max(loads) * (p - 1))
        times = (insertion.completion_time, rounds.completion_time)
        rows.append((_loads(loads), printed, improved, *times, insertion.bound))
    return Table(
        "Several broadcasts on a line (Theorem 2)",
        ("messages of each node", "printed", "improved", "insertion", "rounds", "bound"),
        tuple(rows),
        "K messages on p nodes, at most W of one node. Printed: at most K + p - 1. Improved: at most K + p - 2 and at "
        "most W(p - 1) (errata X8).",
    )


def ring_broadcasts() -> Table:
    """Theorem 2 and remark: several broadcasts on a ring."""
    rows: list[tuple[Cell, ...]] = []
    for loads in LOADS:
        p = len(loads)
        if p < 3:
            continue
        times = [
            plan(
                f"ring:{p}",
                parse_task("multiple-broadcast", counts=loads),
                algorithm=name,
                rules=Rules(split=split),
            )
            for split in (True, False)
            for name in ("insertion", "rounds")
        ]
        halves = Fraction(max(loads) * (p - 1), 2)
        measured = [found.completion_time for found in times]
        rows.append(
            (_loads(loads), Fraction(sum(loads) + p - 1, 2), halves, *measured[:2], times[0].bound, *measured[2:])
        )
    return Table(
        "Several broadcasts on a ring (Theorem 2, remark and Lemma 1)",
        ("messages of each", "Theorem 2", "W(p-1)/2", "insertion", "rounds", "bound", "whole: insertion", "rounds"),
        tuple(rows),
        "Messages are halved; in the last two columns they are whole. Rounds take W(p-1)/2, which Lemma 1 counts; "
        "insertion can take longer (errata X3).",
    )


def _loads(loads: tuple[int, ...]) -> str:
    return " ".join(map(str, loads))


def routing() -> Table:
    """Theorems 3 and 4: packing and monotone routing."""
    rows = []
    for p, d in ((4, 1), (3, 2), (5, 2), (3, 3), (4, 3)):
        n = p**d
        for family in ("array", "torus"):
            spec = f"{family}:{'x'.join([str(p)] * d)}"
            random = np.random.default_rng(0)
            count = (n + 1) // 2
            sources, targets = (np.sort(random.choice(n, count, replace=False)) for _ in range(2))
            row: list[str | int | Fraction] = [spec, count]
            for name, to, claimed in (
                ("packing", np.arange(count), d * (p - 1)), ("monotone", targets, 2 * d * (p - 1)),
            ):  # fmt: skip
                destination = np.full(n, -1)
                destination[sources] = to
                found = plan(spec, parse_task("permutation", destination=destination.tolist()), algorithm=name)
                row += [claimed, found.completion_time, found.bound]
            rows.append(tuple(row))
    return Table(
        "Packing and monotone routing (Theorems 3 and 4)",
        ("network", "messages", "packing claimed", "measured", "bound", "monotone claimed", "measured", "bound"),
        tuple(rows),
        "Half of the nodes, drawn at random, send. Packing takes the message of the i-th source to node i; monotone "
        "routing keeps the order of the sources. Claims are d(p-1) and 2d(p-1) steps at most.",
    )


def ring_on_a_line() -> Table:
    """Fig. 1: where a line simulates the nodes of a ring, and how long the links of the ring are there."""
    rows = []
    for p in (5, 6, 7, 8):
        labels = ring_labels(p)
        place = np.argsort(labels)
        rows.append((p, _loads(tuple(labels.tolist())), int(np.abs(place - np.roll(place, -1)).max())))
    return Table(
        "A ring on a line (Fig. 1)",
        ("p", "nodes of the ring along the line", "longest link of the ring, in links of the line"),
        tuple(rows),
        "A step of the ring takes two steps of the line.",
    )


TABLES: tuple[Callable[[], Table], ...] = (ring_on_a_line, line_broadcasts, ring_broadcasts, routing)
