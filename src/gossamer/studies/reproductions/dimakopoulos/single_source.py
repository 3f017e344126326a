"""Chapter 3 of Dimakopoulos 1996: broadcast and scatter from one source."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gossamer.algorithms.scatter.area_division import area_division
from gossamer.networks.network import Network
from gossamer.planning.planner import plan
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.studies.reproductions.table import Table

__all__ = ["BROADCASTS", "TABLES", "TORI", "broadcasts", "scatters", "small_network", "torus_areas"]

BROADCASTS: tuple[tuple[str, int, str], ...] = (
    ("hypercube:3", 0, "binomial-tree"), ("hypercube:8", 0, "binomial-tree"),
    ("extended-ring:6,2", 0, "extended-ring-tree"), ("extended-ring:14,2", 0, "extended-ring-tree"),
    ("extended-ring:30,4", 0, "extended-ring-tree"), ("complete:8", 0, "extended-ring-tree"),
    ("array:3x4x2", 12, "product-tree"), ("torus:5x5", 0, "product-tree"),
    ("hypercycle:5,2x7,3", 0, "product-tree"), ("generalized-hypercube:4x4x3", 0, "product-tree"),
    ("star:4", 0, "shortest-path-tree"), ("ccc:3", 0, "shortest-path-tree"),
)  # fmt: skip
"""Network, source and algorithm with all ports; node 12 of the 3x4x2 array is (2, 3, 1) of Fig. 3.3."""

TORI: tuple[tuple[int, int], ...] = ((7, 7), (5, 5), (4, 5), (5, 4), (4, 6), (6, 4), (6, 6), (8, 5), (3, 3), (4, 4))
"""Rows and columns of the tori whose areas are counted."""


def small_network() -> Network:
    """Return the network of Fig. 3.4b, on which a scatter beats all trees.

    Edges v-a, v-b, a-c, b-c, c-d, c-e for nodes v, a, b, c, d, e = 0..5.
    """
    from networkx import Graph

    from gossamer.networks.conversion import from_networkx

    return from_networkx(Graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)]), "two-cycles-and-leaves")


def broadcasts() -> Table:
    """Chapter 3: broadcasts down the trees of 3.1, and with one port."""
    rows = []
    for spec, root, algorithm in BROADCASTS:
        every = plan(spec, parse_task("broadcast", root=root), algorithm=algorithm)
        one = plan(spec, parse_task("broadcast", root=root), rules=Rules(ports="one"))
        name = every.schedule.network.node_name(root)
        rows.append(
            (spec, name, algorithm, every.claim, every.completion_time, every.bound, one.completion_time, one.bound)
        )
    return Table(
        "Broadcast from one source (3.1, 3.2)",
        ("network", "source", "tree", "claimed", "measured", "bound", "one port: measured", "bound"),
        tuple(rows),
        "Claimed, measured and the first bound are for all ports. With one port the thesis has bounds only; the "
        "largest of Theorem 3.3 and Gossamer's others is shown.",
    )


def scatters() -> Table:
    """Chapter 3: scatters, in extended rings and elsewhere, all ports and one."""
    cases: list[tuple[Network | str, int, str, int]] = [
        (f"extended-ring:{n},{rho}", 0, "extended-ring-paths", -(-(n - 1) // (2 * rho)))
        for n, rho in ((6, 2), (14, 2), (15, 3), (30, 4), (33, 8))
    ]
    cases += [("ring:9", 0, "extended-ring-paths", 4), ("array:9", 2, "furthest-first", 6)]
    cases += [("torus:7x7", 0, "area-division", 12), ("torus:8x4", 0, "area-division", 8)]
    cases += [(small_network(), 0, "furthest-first", 4), (small_network(), 0, "flow-over-time", 3)]
    rows = []
    for where, root, algorithm, claimed in cases:
        every = plan(where, parse_task("scatter", root=root), algorithm=algorithm)
        one = plan(where, parse_task("scatter", root=root), rules=Rules(ports="one"))
        name = where if isinstance(where, str) else "Fig. 3.4b"
        rows.append((name, algorithm, claimed, every.completion_time, every.bound, one.completion_time, one.bound))
    return Table(
        "Scatter from one source (3.3, 3.4)",
        ("network", "algorithm", "claimed", "measured", "bound", "one port: measured", "bound"),
        tuple(rows),
        "Claimed: Theorem 3.8, the largest branch of the tree (Theorem 3.7), (nm-1)/4 in tori. In the network of Fig. "
        "3.4b (edges va, vb, ac, bc, cd, ce) paths that form no tree are faster than every tree. One port: n - 1 "
        "(Theorem 3.6).",
    )


def torus_areas() -> Table:
    """Section 3.4.2: areas of tori and the time of the scatter."""
    rows = []
    for n, m in TORI:
        sizes = np.bincount(area_division(n, m).region + 1)[1:].tolist()
        found = plan(f"torus:{n}x{m}", parse_task("scatter", root=0), algorithm="area-division")
        rows.append((f"{n}x{m}", *sizes, -(-(n * m - 1) // 4), found.completion_time, found.bound))
    return Table(
        "Scatter in tori by area division (3.4.2)",
        ("rows x columns", "A", "B", "C", "D", "claimed", "measured", "bound"),
        tuple(rows),
        "A, B, C and D count the nodes of each area. 4x4, 6x4 and 3x3 follow the corrections and additions of errata "
        "9.5.",
    )


TABLES: tuple[Callable[[], Table], ...] = (broadcasts, scatters, torus_areas)
