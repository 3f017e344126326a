"""The schedules run flit by flit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gossamer.simulation.flits import simulate_schedule
from gossamer.studies.reproductions.chen_chen.operations import TWENTY
from gossamer.studies.reproductions.chen_chen.runs import VARIANTS, case_of, cost_of
from gossamer.studies.reproductions.table import Cell, Table
from gossamer.wormhole import verify
from gossamer.wormhole.aggregation_distribution import aggregation_distribution
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

__all__ = ["ALGORITHMS", "TABLES", "flit_by_flit"]

ALGORITHMS = (
    "atd-5", "atd-opt", "atd-piece", "ring-all-gather", "packed-ring-all-gather",
    "spanning-trees", "spanning-trees-pipelined", "sequential-broadcasts",
)  # fmt: skip
"""The algorithms that are run, aggregation-then-distribution with h = 5."""


def flit_by_flit() -> Table:
    """Schedules for twenty sources on 10 x 10 nodes, flit by flit."""
    case = case_of(10, TWENTY, cost_of(Fraction(1, 10)))
    rows: list[tuple[Cell, ...]] = []
    for name in ALGORITHMS:
        if name in VARIANTS:
            schedule = aggregation_distribution(case, h=5, variant=VARIANTS[name])
        else:
            schedule = next(a for a in WORMHOLE_ALGORITHMS if a.name == name).build(case)
        verify(schedule).raise_if_invalid()
        barrier = simulate_schedule(schedule, starts="barrier")
        free = simulate_schedule(schedule, starts="dependencies")
        rows.append((
            name, schedule.startups, barrier.model_cycles, barrier.predicted_cycles, barrier.cycles, barrier.blocked,
            free.cycles, free.blocked, "none" if free.deadlock is None else str(free.deadlock),
        ))  # fmt: skip
    return Table(
        "Flit by flit: twenty sources on 10 x 10 nodes, tau = 0.1",
        ("algorithm", "start-ups", "model", "predicted", "with barriers", "blocked", "without", "blocked", "deadlock"),
        tuple(rows),
        "Cycles in which a channel carries one flit of 4 bytes; m = 1024 bytes, routers of 1 cycle, buffers of 4 "
        "flits, 2 virtual channels. Rules: the schedule's time, distance left out. Predicted: with the way of the "
        "slowest head in each step. Blocked: cycles that flits waited for a channel. Without barriers a message starts "
        "as soon as its source has what it carries; then messages of different steps can meet.",
    )


TABLES: tuple[Callable[[], Table], ...] = (flit_by_flit,)
