"""Multinode broadcasts of Varvarigos and Bertsekas 1994, full and partial, on arrays and tori."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gossamer.algorithms.multinode_broadcast.partial_times import split_bound, whole_bound
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.studies.reproductions.table import Curve, Table

__all__ = ["PARTIAL_ROWS", "TABLES", "active_counts", "curves"]

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


def multinode_broadcast() -> Table:
    """Theorem 1 and (2): multinode broadcast on p x p tori and arrays."""
    rows = []
    for p in range(3, 11):
        torus, array = plan(f"torus:{p}x{p}", "multinode-broadcast"), plan(f"array:{p}x{p}", "multinode-broadcast")
        claimed = p * p // 4 if p % 2 == 0 else (p * p - 1) // 4
        rows.append((p, claimed, torus.completion_time, torus.bound, p * p // 2, array.completion_time, array.bound))
    return Table(
        "Multinode broadcast on p x p nodes (Theorem 1)",
        ("p", "torus claimed", "measured", "bound", "array claimed", "measured", "bound"),
        tuple(rows),
        "Claims hold for p >= 3; for p = 2 the torus is the array of the same shape (errata X1).",
    )


def partial_multinode_broadcast() -> Table:
    """Sections 3.1 and 3.2: M active nodes, split and whole packets, t_p = 0."""
    rows = []
    for family, p, d, count in PARTIAL_ROWS:
        split, whole = (_partial(_spec(family, p, d), p**d, count, s) for s in (True, False))
        torus = family == "torus"
        rows.append(
            (
                f"{family} {p}^{d}", count,
                split.completion_time, split_bound(p, d, count, torus=torus), split.bound,
                whole.completion_time, whole_bound(p, d, count, torus=torus), whole.bound,
            )
        )  # fmt: skip
    return Table(
        "Partial multinode broadcast (Theorem 6, section 3.2), t_p = 0",
        ("network", "M", "split", "(5a)/(6a)", "bound", "whole", "(5b)/(6b)", "bound"),
        tuple(rows),
        "The times do not depend on which M nodes are active. (5a)-(6b) are the paper's upper bounds.",
    )


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


TABLES: tuple[Callable[[], Table], ...] = (multinode_broadcast, partial_multinode_broadcast)
