"""Figs. 2 to 4 of Varvarigos and Bertsekas 1994: the parallel prefix, slow sets of active nodes, intervals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gossamer.graphs.parallel_prefix import prefix_hops, prefix_ranks
from gossamer.graphs.rotation import links_along, rotations
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.planning.planner import plan
from gossamer.questions.tasks import task as parse_task
from gossamer.simulation.random_arrivals.intervals import interval_scheme
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES", "interval_diagram", "parallel_prefix", "slow_positions"]

_ACTIVE = (1, 4, 5, 8)


def parallel_prefix() -> Table:
    """Fig. 2: the parallel prefix operation on the 3 x 3 mesh, step by step."""
    network = parse_network("array:3x3")
    assert network.grid is not None
    rotation = rotations(network.grid)[0]
    rank, total = prefix_ranks(rotation, np.isin(np.arange(9), _ACTIVE))
    step, link = prefix_hops(rotation, links_along(network), [2, 2])
    rows: list[tuple[Cell, ...]] = []
    for t in range(8):
        phase, subphase = ("forward", t // 2 + 1) if t < 4 else ("reverse", (t - 4) // 2 + 1)
        hops = link[step == t]
        sent = ", ".join(f"{network.link_source[e]}>{network.link_target[e]}" for e in hops.tolist())
        dimension = {int(np.flatnonzero(_difference(network, int(e)))[0]) for e in hops}
        rows.append((t + 1, phase, subphase, 1 - dimension.pop(), sent))
    ranks = ", ".join(f"{rank[v]} at node {v}" for v in _ACTIVE)
    return Table(
        "The parallel prefix operation, p = 3, d = 2 (Fig. 2)",
        ("step", "phase", "subphase", "dimension", "links used"),
        tuple(rows),
        f"Nodes 0 to 8, of which {', '.join(map(str, _ACTIVE))} are active: the ranks are {ranks}, and every node "
        f"learns M = {total}. 2d(p-1) steps of t_p, in each of them links of one dimension only.",
    )


def _difference(network: Network, link: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    assert network.coordinates is not None
    ends = network.coordinates[network.link_target[link]] - network.coordinates[network.link_source[link]]
    return np.asarray(ends, np.int64)


def slow_positions() -> Table:
    """Fig. 3: active nodes for which a partial exchange must take long."""
    rows: list[tuple[Cell, ...]] = []
    for p, part, m in ((4, "a", 2), (8, "a", 2), (8, "a", 4), (8, "a", 5), (4, "b", 4), (8, "b", 8), (7, "b", 7)):
        nodes = np.arange(p * p).reshape(p, p)
        chosen = nodes[:m, :m] if part == "a" else nodes[:, : (p + 1) // 2]
        active = sorted(chosen.reshape(-1).tolist())
        found = plan(f"array:{p}x{p}", parse_task("partial-exchange", active=active))
        size = p * p
        printed = Fraction(m * (size - m * m), 2) if part == "a" else Fraction(size * p, 4)
        rows.append((part, p, len(active), printed, found.bound, found.completion_time))
    return Table(
        "Positions of the active nodes for the lower bounds of the partial exchange (Fig. 3)",
        ("part", "p", "M", "by the cut of the figure", "bound", "measured"),
        tuple(rows),
        "a: the m x m nodes of a corner, m(N-m^2)/2 for its 2m links. b: the left half of the columns, Np/4 for the p "
        "links of the middle cut; for odd p the half is rounded up, and Np/4 is too much (errata X6).",
    )


def interval_diagram() -> Table:
    """Fig. 4: the first intervals of the dynamic scheme."""
    scheme = interval_scheme(parse_network("torus:5x5"), control_time=Fraction(1, 10))
    nodes, rate = scheme.network.node_count, float(scheme.largest_rate / 2)
    random = np.random.default_rng(0)
    waiting = np.zeros(nodes, np.int64)
    begin, rows = Fraction(0), []
    for number in range(1, 11):
        active = int(np.count_nonzero(waiting))
        length = scheme.length(active)
        waiting -= waiting > 0
        came = random.poisson(rate * float(length), nodes)
        waiting += came
        rows.append((number, begin, active, scheme.fixed, active * scheme.per_packet, begin + length, int(came.sum())))
        begin += length
    return Table(
        "The dynamic broadcasting scheme (Fig. 4)",
        ("interval", "begins", "active M", "reservation V", "broadcast MX", "ends", "requests meanwhile"),
        tuple(rows),
        "The first intervals on the 5 x 5 torus with split packets, t_p = 0.1, at half of the largest rate. A request "
        "waits for the next interval, and a node with several serves one in each.",
    )


TABLES: tuple[Callable[[], Table], ...] = (parallel_prefix, slow_positions, interval_diagram)
"""The functions that make the tables of the figures."""
