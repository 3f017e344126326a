"""ARC on meshes, choices that look at the load, mini-packets, and the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable

from gossamer.algorithms.multinode_broadcast.arc import ARC, inner_nodes
from gossamer.bounds import best_bound as best_static_bound
from gossamer.networks.spec import network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import GroupMultinodeBroadcast
from gossamer.schedules import verify
from gossamer.simulation.random_arrivals.schemes import arc, scheme, star_minis
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.theory import best_bound, stability_limit
from gossamer.studies.reproductions.table import Cell, Table
from gossamer.studies.reproductions.yeh_varvarigos_lee.delays import delay_text, simulated, steps_at

__all__ = ["TABLES"]


def arc_limits() -> Table:
    """Section 3.1: the largest load of ARC on n x n meshes."""
    rows: list[tuple[Cell, ...]] = []
    for spec, printed in (
        ("array:6x6", 0.25),
        ("array:10x10", 0.6875),
        ("array:14x14", 0.8056),
        ("array:6x6x6", 0.7188),
        ("array:4x8", None),
        ("array:6x10", None),
        ("array:4x6x8", None),
    ):
        nearest, random = (stability_limit(arc(network(spec), side=s)).load for s in ("nearest", "random"))
        balanced = float(stability_limit(arc(network(spec), side="balanced")).load)
        rows.append((spec, printed, nearest, random, round(balanced, 4)))
    return Table(
        "ARC: largest load (section 3.1)",
        ("mesh", "printed 1 - d n/N'", "exact, nearest side", "exact, random side", "sides balanced"),
        tuple(rows),
        "The printed limit is a safe understatement. Balanced: dimension and side of each source are drawn as a linear "
        "program says, which no other drawing beats. With equal sides it gains nothing over the nearest side.",
    )


def arc_delays() -> Table:
    """Section 3.3: delays of ARC, first come first served and with two classes."""
    rows: list[tuple[Cell, ...]] = []
    for spec, loads in (("array:6x6", (0.6, 0.75)), ("array:10x10", (0.6, 0.81)), ("array:6x6x6", (0.6, 0.859))):
        for load in loads:
            made = {rule: arc(network(spec), priority=rule) for rule in ("fifo", "two-class")}
            limit = float(stability_limit(made["fifo"]).load)
            settings = Settings(steps=steps_at(load, limit))
            found = {r: simulate(m, load=load, settings=settings) for r, m in made.items()}
            bound = best_bound(made["fifo"], load)
            both = [delay_text(found[r], what) for what in ("reception", "broadcast") for r in ("fifo", "two-class")]
            rows.append((spec, load, f"{bound[0]:.2f}", *both[:2], f"{bound[1]:.2f}", *both[2:]))
    return Table(
        "ARC: delays (section 3.3)",
        (*("mesh", "rho", "reception at least", "FIFO", "two-class", "broadcast at least", "FIFO", "two-class"),),
        tuple(rows),
        "Load factor and delays of the inner nodes, which alone generate and receive.",
    )


def arc_multinode() -> Table:
    """Section 3.2: the static multinode broadcast among the inner nodes by ARC (errata X4)."""
    rows: list[tuple[Cell, ...]] = []
    for spec in ("4x4", "5x5", "6x6", "8x8", "10x10", "12x12", "6x10", "4x4x4", "6x6x6"):
        net = network(f"array:{spec}")
        sides = [int(s) for s in spec.split("x")]
        inner = math.prod(s - 2 for s in sides)
        case = Case(net, _inner_task(spec))
        offer = ARC.offer(case)
        schedule = offer.build()
        verify(schedule).raise_if_invalid()
        printed = inner / (2 * len(sides)) + max(sides) - 3
        bound = best_static_bound(case).value
        rows.append((spec, inner, printed, offer.time, schedule.completion_time, bound))
    return Table(
        "ARC: static multinode broadcast (section 3.2)",
        ("mesh", "inner nodes N'", "printed", "claimed at most", "measured", "bound"),
        tuple(rows),
        "Printed: N'/(2d) + n - 3, which is at least 1 too small (errata X4). Claimed: ceil(N'/(2d)) + n + d - 2.",
    )


def load_aware() -> Table:
    """Section 6.1: choices that look at the load (errata X8)."""
    rows: list[tuple[Cell, ...]] = []
    for spec, load in (("hypercube:4", 0.5), ("hypercube:4", 0.8), ("hypercube:6", 0.8), ("hypercube:6", 0.9)):
        for name in ("fifo", "optimal"):
            cells: list[Cell] = []
            for choose in ("oblivious", "global", "local", "neighbors", "guarded"):
                found = simulated(name, spec, load, choose=choose)
                both = f"{found.reception.mean:.2f} / {found.broadcast.mean:.2f}"
                cells.append(both if found.stable else f"unstable ({found.observed[0]:.0f} / {found.observed[1]:.0f})")
            rows.append((spec, load, name, *cells))
    return Table(
        "Choice of the order by load: reception / broadcast (section 6.1)",
        ("network", "rho", "priorities", "oblivious", "global", "local", "neighbors", "guarded"),
        tuple(rows),
        "'Global' knows every transmission still to be made, an oracle. 'Local' balances dimensions by the queues at "
        "the source and becomes unstable at high load (errata X8); in brackets the delays seen in that run. "
        "'Neighbors' goes by the mean of the queues of the source and its neighbors, which are taken as known: the "
        "shortest delays first come, first served, but with optimal priorities it becomes unstable too. 'Guarded' "
        "mixes the local choice with random ones and gives way to them where queues are long.",
    )


def mini_packets() -> Table:
    """Section 6.2: messages in d parts on edge-disjoint trees, and as d STAR broadcasts (errata X9)."""
    rows: list[tuple[Cell, ...]] = []
    for spec in ("hypercube:4", "hypercube:6"):
        net = network(spec)
        cases = (
            ("whole, optimal", scheme("optimal", net)),
            ("STAR parts, FIFO", star_minis(net)),
            ("STAR parts, optimal", star_minis(net, priority="optimal")),
            ("disjoint trees, FIFO", scheme("mini-packets", net)),
        )
        for title, made in cases:
            cells: list[Cell] = []
            for load in (0.01, 0.5, 0.9):
                found = simulate(made, load=load, settings=Settings(steps=steps_at(load)))
                cells.append(f"{found.reception.mean:.2f} / {found.broadcast.mean:.2f}")
            rows.append((spec, title, *cells))
    return Table(
        "Messages in d parts: reception / broadcast (section 6.2)",
        ("network", "parts", "rho = 0.01", "rho = 0.5", "rho = 0.9"),
        tuple(rows),
        "Near load 1 only the edge-disjoint trees gain about a factor d; STAR parts barely beat whole messages (errata "
        "X9).",
    )


def baselines() -> Table:
    """Section 1: earlier schemes on the same networks."""
    rows: list[tuple[Cell, ...]] = []
    for spec, name, loads in (
        ("hypercube:4", "stamoulis-tsitsiklis-indirect", (0.1, 0.3, 0.5)),
        ("hypercube:6", "stamoulis-tsitsiklis-indirect", (0.1, 0.3, 0.5, 0.6)),
        ("hypercube:4", "varvarigos-banerjee-direct", (0.1, 0.3, 0.45)),
        ("hypercube:4", "varvarigos-banerjee-indirect", (0.1, 0.3, 0.45)),
        ("torus:5x5", "varvarigos-banerjee-direct", (0.1, 0.3, 0.45)),
        ("torus:5x5", "varvarigos-banerjee-indirect", (0.1, 0.3, 0.45)),
    ):
        made = scheme(name, network(spec))
        limit = stability_limit(made).load
        for load in loads:
            found, bound = simulated(name, spec, load, limit=float(limit)), best_bound(made, load)
            both = delay_text(found, "reception"), delay_text(found, "broadcast")
            rows.append((spec, name, limit, load, f"{bound[0]:.2f}", both[0], f"{bound[1]:.2f}", both[1]))
    return Table(
        "Earlier schemes (section 1)",
        ("network", "scheme", "limit", "rho", "at least", "reception", "at least", "broadcast"),
        tuple(rows),
        "The delays of the schemes of Varvarigos and Banerjee depend on the spanning trees that were found.",
    )


def _inner_task(spec: str) -> GroupMultinodeBroadcast:
    return GroupMultinodeBroadcast(tuple(inner_nodes(network(f"array:{spec}")).tolist()))


TABLES: tuple[Callable[[], Table], ...] = (
    arc_limits, arc_delays, arc_multinode, load_aware, mini_packets, baselines,
)  # fmt: skip
"""The functions that make the tables."""
