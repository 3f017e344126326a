"""Partial exchange of Varvarigos and Bertsekas 1994 on p x p arrays, and in any dimension, which they leave open."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms import ALGORITHMS
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.tasks import PartialExchange
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules import verify
from gossamer.studies.reproductions.table import Table

__all__ = ["OPEN_CASES", "PLANE_CASES", "TABLES", "Active", "active_nodes", "any_dimension", "plane"]


class Active(NamedTuple):
    """An array of d sides p, and which of its nodes are active: a block of sides `block` at `corner`, or by name."""

    p: int
    d: int
    what: str
    block: tuple[int, ...] = ()
    corner: int = 0


PLANE_CASES: tuple[Active, ...] = (
    Active(4, 2, "corner 2x2", (2, 2)), Active(4, 2, "all", (4, 4)), Active(8, 2, "corner 2x2", (2, 2)),
    Active(8, 2, "corner 4x4", (4, 4)), Active(8, 2, "center 4x4", (4, 4), 2), Active(8, 2, "two rows", (2, 8)),
    Active(8, 2, "diagonal"), Active(8, 2, "all", (8, 8)), Active(10, 2, "corner 5x5", (5, 5)),
    Active(10, 2, "all", (10, 10)),
)  # fmt: skip
"""Active sets on p x p arrays."""

OPEN_CASES: tuple[Active, ...] = (
    Active(3, 3, "one corner", (1, 1, 1)), Active(3, 3, "corner 2x2x2", (2, 2, 2)), Active(3, 3, "line", (1, 1, 3)),
    Active(3, 3, "plane", (1, 3, 3)), Active(3, 3, "9 at random"), Active(3, 3, "all", (3, 3, 3)),
    Active(4, 3, "corner 2x2x2", (2, 2, 2)), Active(4, 3, "center 2x2x2", (2, 2, 2), 1),
    Active(4, 3, "plane", (1, 4, 4)), Active(4, 3, "16 at random"),
    Active(4, 3, "corner 3x3x3", (3, 3, 3)), Active(4, 3, "all", (4, 4, 4)),
    Active(5, 3, "corner 3x3x3", (3, 3, 3)), Active(3, 4, "corner 2x2x2x2", (2, 2, 2, 2)),
    Active(8, 2, "corner 4x4", (4, 4)),
)  # fmt: skip
"""Active sets on d-dimensional arrays."""


def active_nodes(some: Active) -> list[int]:
    """Return the active nodes of a some.

    >>> active_nodes(PLANE_CASES[0]), active_nodes(PLANE_CASES[6])
    ([0, 1, 4, 5], [0, 9, 18, 27, 36, 45, 54, 63])
    """
    shape = (some.p,) * some.d
    nodes = np.arange(math.prod(shape)).reshape(shape)
    if some.block:
        return sorted(nodes[tuple(slice(some.corner, some.corner + side) for side in some.block)].reshape(-1).tolist())
    if some.what == "diagonal":
        return list(map(int, np.diagonal(nodes)))
    count = int(some.what.split()[0])
    return sorted(np.random.default_rng(0).choice(nodes.size, count, replace=False).tolist())


def _plan(some: Active, algorithm: str) -> Outcome:
    spec = f"array:{'x'.join([str(some.p)] * some.d)}"
    return plan(spec, parse_task("partial-exchange", active=active_nodes(some)), algorithm=algorithm)


def _time(planned: Outcome, algorithm: str) -> Fraction:
    """Return the time of a verified schedule by another algorithm for what is planned, without its bounds again."""
    found = next(a for a in ALGORITHMS if a.name == algorithm and PartialExchange in a.tasks)
    schedule = found.build(planned.case)
    verify(schedule).raise_if_invalid()
    return schedule.completion_time


def plane() -> Table:
    """Section 4: partial exchange on p x p arrays."""
    rows = []
    for some in PLANE_CASES:
        count = len(active_nodes(some))
        turns = _plan(some, "rows-and-columns")
        name = f"{some.p}x{some.p}"
        times = (turns.completion_time, _time(turns, "balanced-orders"))
        rows.append((name, some.what, count, turns.claim, *times, turns.bound))
    return Table(
        "Partial exchange on p x p arrays (section 4), t_p = 0",
        ("array", "active nodes", "M", "claimed at most", "measured", "balanced orders", "bound"),
        tuple(rows),
        "Claimed: 2m(N-p) + 2(p-1), m the root of M rounded down. Measured: the paper's rule with the best order in "
        "its classes. Balanced orders are Gossamer's.",
    )


def any_dimension() -> Table:
    """Partial exchange on d-dimensional arrays, which the paper leaves open."""
    rows = []
    for some in OPEN_CASES:
        orders = _plan(some, "balanced-orders")
        count = len(active_nodes(some))
        times = (orders.completion_time, _time(orders, "spread"))
        ratio = f"{float(min(times) / orders.bound):.3f}"
        rows.append((f"{some.p}^{some.d}", some.what, count, *times, orders.bound, ratio))
    return Table(
        "Partial exchange on d-dimensional arrays (open in the paper), t_p = 0",
        ("array", "active nodes", "M", "balanced orders", "spread", "bound", "time / bound"),
        tuple(rows),
    )


TABLES: tuple[Callable[[], Table], ...] = (plane, any_dimension)
