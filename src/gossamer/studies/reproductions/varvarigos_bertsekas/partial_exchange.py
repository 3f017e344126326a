"""Partial exchange of Varvarigos and Bertsekas 1994 on p x p arrays, and in any dimension, which they leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.multinode_broadcast.partial import split_bound, whole_bound
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialExchange
from gossamer.questions.tasks import task as parse_task
from gossamer.studies.reproductions.table import Curve, Row, Table, tabulated
from gossamer.verification import verify

__all__ = [
    "MULTINODE_TABLES",
    "OPEN_CASES",
    "PARTIAL_ROWS",
    "PLANE_CASES",
    "TABLES",
    "Active",
    "active_counts",
    "active_nodes",
    "any_dimension",
    "curves",
    "plane",
]

# Multinode broadcasts of Varvarigos and Bertsekas 1994, full and partial, on arrays and tori.

PARTIAL_ROWS: tuple[tuple[str, int, int, int], ...] = (
    ("torus", 3, 2, 1), ("torus", 3, 2, 4), ("torus", 3, 2, 9), ("torus", 4, 2, 5), ("torus", 4, 2, 16),
    ("torus", 5, 2, 12), ("torus", 3, 3, 10), ("torus", 3, 3, 27), ("torus", 4, 3, 20), ("torus", 4, 3, 64),
    ("torus", 6, 3, 216), ("array", 3, 2, 1), ("array", 3, 2, 4), ("array", 3, 2, 9), ("array", 4, 2, 5),
    ("array", 4, 2, 16), ("array", 5, 2, 12), ("array", 3, 3, 27), ("array", 4, 3, 64), ("array", 6, 3, 216),
)  # fmt: skip
"""Family, side p, dimensions d and active nodes M of the rows."""


def _spec(family: str, p: int, d: int) -> str:
    return f"{family}:{'x'.join([str(p)] * d)}"


def _active(nodes: int, count: int) -> list[int]:
    return sorted(np.random.default_rng(0).choice(nodes, count, replace=False).tolist())


def _partial(spec: str, nodes: int, count: int, split: bool) -> Outcome:
    name = f"rotated-dimensions-{'split' if split else 'whole'}"
    return plan(
        spec,
        parse_task("partial-multinode-broadcast", active=_active(nodes, count)),
        algorithm=name,
        rules=Rules(split=split),
    )


@tabulated(
    "Multinode broadcast on p x p nodes (Theorem 1)",
    ("p", "torus claimed", "measured", "bound", "array claimed", "measured", "bound"),
    "Claims hold for p >= 3; for p = 2 the torus is the array of the same shape (errata X1).",
)
def multinode_broadcast() -> Iterator[Row]:
    """Theorem 1 and (2): multinode broadcast on p x p tori and arrays."""
    for p in range(3, 11):
        torus, array = plan(f"torus:{p}x{p}", "multinode-broadcast"), plan(f"array:{p}x{p}", "multinode-broadcast")
        claimed = p * p // 4 if p % 2 == 0 else (p * p - 1) // 4
        yield p, claimed, torus.completion_time, torus.bound, p * p // 2, array.completion_time, array.bound


@tabulated(
    "Partial multinode broadcast (Theorem 6, section 3.2), t_p = 0",
    ("network", "M", "split", "(5a)/(6a)", "bound", "whole", "(5b)/(6b)", "bound"),
    "The times do not depend on which M nodes are active. (5a)-(6b) are the paper's upper bounds.",
)
def partial_multinode_broadcast() -> Iterator[Row]:
    """Sections 3.1 and 3.2: M active nodes, split and whole packets, t_p = 0."""
    for family, p, d, count in PARTIAL_ROWS:
        split, whole = (_partial(_spec(family, p, d), p**d, count, s) for s in (True, False))
        torus = family == "torus"
        yield (
                f"{family} {p}^{d}", count,
                split.completion_time, split_bound(p, d, count, torus=torus), split.bound,
                whole.completion_time, whole_bound(p, d, count, torus=torus), whole.bound,
            )  # fmt: skip


def active_counts(nodes: int) -> list[int]:
    """Return numbers of active nodes for a curve: 1, 2, 4, ... and all.

    >>> active_counts(20)
    [1, 2, 4, 8, 16, 20]
    """
    return [2**i for i in range(nodes.bit_length()) if 2**i < nodes] + [nodes]


def curves() -> Iterator[Curve]:
    """Yield completion time against M for several networks, split and whole, with lower and upper bounds."""
    for family, p, d in (("array", 8, 2), ("torus", 8, 2), ("array", 4, 3), ("torus", 5, 3)):
        for split in (True, False):
            counts = active_counts(p**d)
            plans = [_partial(_spec(family, p, d), p**d, count, split) for count in counts]
            promised = split_bound if split else whole_bound
            yield Curve(
                f"{_spec(family, p, d)}, {'split' if split else 'whole'} packets",
                "active nodes M",
                tuple(counts),
                tuple(made.completion_time for made in plans),
                tuple(made.bound for made in plans),
                tuple(promised(p, d, count, torus=family == "torus") for count in counts),
            )


MULTINODE_TABLES: tuple[Callable[[], Table], ...] = (multinode_broadcast, partial_multinode_broadcast)


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


@tabulated(
    "Partial exchange on p x p arrays (section 4), t_p = 0",
    ("array", "active nodes", "M", "claimed at most", "measured", "balanced orders", "bound"),
    "Claimed: 2m(N-p) + 2(p-1), m the root of M rounded down. Measured: the paper's rule with the best order in "
    "its classes. Balanced orders are Gossamer's.",
)
def plane() -> Iterator[Row]:
    """Section 4: partial exchange on p x p arrays."""
    for some in PLANE_CASES:
        count = len(active_nodes(some))
        turns = _plan(some, "rows-and-columns")
        name = f"{some.p}x{some.p}"
        times = (turns.completion_time, _time(turns, "balanced-orders"))
        yield (name, some.what, count, turns.claim, *times, turns.bound)


@tabulated(
    "Partial exchange on d-dimensional arrays (open in the paper), t_p = 0",
    ("array", "active nodes", "M", "balanced orders", "spread", "bound", "time / bound"),
)
def any_dimension() -> Iterator[Row]:
    """Partial exchange on d-dimensional arrays, which the paper leaves open."""
    for some in OPEN_CASES:
        orders = _plan(some, "balanced-orders")
        count = len(active_nodes(some))
        times = (orders.completion_time, _time(orders, "spread"))
        ratio = f"{float(min(times) / orders.bound):.3f}"
        yield (f"{some.p}^{some.d}", some.what, count, *times, orders.bound, ratio)


TABLES: tuple[Callable[[], Table], ...] = (plane, any_dimension)
