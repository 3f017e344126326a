"""ARC on meshes, choices that look at the load, mini-packets, and the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.multinode_broadcast.mesh_interior_over_surface import ARC, inner_nodes
from gossamer.bounds import best_bound as best_static_bound
from gossamer.networks.spec import network
from gossamer.networks.spec import network as parse_network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import GroupMultinodeBroadcast
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.schemes import scheme, star_minis
from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
from gossamer.simulation.random_arrivals.schemes.mesh_interior_over_surface import arc
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.theory import best_bound, stability_limit
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated
from gossamer.studies.reproductions.yeh_varvarigos_lee.delays import delay_text, simulated, steps_at
from gossamer.verification import verify

# Figs. 1 to 3 of Yeh, Varvarigos and Lee 1998: one broadcast of the priority scheme, of ARC, and its tree.


class Sent(NamedTuple):
    """One transmission of a broadcast that meets no other: its step from 1, its ends, its class, and what follows it.

    `counted` says whether the receipt is the first of a node that must receive, and `size` how many such receipts
    it brings, its own among them.
    """

    step: int
    source: int
    target: int
    priority: int
    counted: bool
    size: int


def sent_by(scheme: Scheme, source: int, choice: int) -> list[Sent]:
    """Return the transmissions of one broadcast alone in the network, by step.

    >>> [s[:3] for s in sent_by(star(parse_network("ring:3")), 0, 0)]
    [(1, 0, 1), (1, 0, 2)]
    """
    network = scheme.network
    line = 0 if scheme.translated else int(np.flatnonzero(scheme.source_nodes == source)[0])
    found: list[Sent] = []

    def send(row: int, node: int, step: int) -> int:
        column = int(scheme.step[row])
        link = int(scheme.link_table[node, column]) if scheme.link_table is not None and scheme.translated else column
        to = int(network.link_target[link])
        place = len(found)
        found.append(Sent(step, node, to, int(scheme.priority[row]), bool(scheme.counted[row]), 0))
        after = scheme.children[scheme.child_first[row] : scheme.child_last[row]]
        size = int(scheme.counted[row]) + sum(send(int(child), to, step + 1) for child in after)
        found[place] = found[place]._replace(size=size)
        return size

    entries = slice(scheme.entry_first[line, choice, 0], scheme.entry_last[line, choice, 0])
    for row in scheme.children[entries]:
        send(int(row), source, 1)
    return sorted(found)


def _grid(side: int, texts: dict[int, str]) -> list[tuple[Cell, ...]]:
    return [(i, *(texts.get(i * side + j, "") for j in range(side))) for i in range(side)]


def priority_broadcast() -> Table:
    """Fig. 1: a broadcast in the 5-ary 2-cube by the priority broadcast scheme."""
    source = 12
    sent = sent_by(star(parse_network("torus:5x5")), source, 0)
    texts = {s.target: f"{s.step} {'low' if s.priority else 'high'}" for s in sent} | {source: "source"}
    high = sum(s.priority == 0 for s in sent)
    return Table(
        "Dynamic broadcast in a 5-ary 2-cube (Fig. 1)",
        ("row", *(f"column {j}" for j in range(5))),
        tuple(_grid(5, texts)),
        f"The step in which each node receives the packet, if no other is in the way, and the class of that copy: "
        f"{high} = N/n - 1 of high and {len(sent) - high} = (1 - 1/n)N of low priority, which end the broadcast.",
    )


@tabulated(
    "Dynamic broadcast in a 6 x 6 mesh by ARC (Fig. 2)",
    ("row", *(f"column {j}" for j in range(6))),
    "Steps and classes of the copies that each node gets: (a) down to the last row, (b) along it, (c) back through "
    "the inner 4 x 4 nodes. The source, and nodes on the way out, get the packet once more.",
)
def arc_broadcast() -> Iterable[Row]:
    """Fig. 2: a broadcast in the 6 x 6 mesh by ARC."""
    network = parse_network("array:6x6")
    scheme = arc(network)
    source = 3 * 6 + 2
    broadcasts = [sent_by(scheme, source, choice) for choice in range(scheme.choice_count)]
    down = next(some for some in broadcasts if some and some[0].target == source + 6)
    texts: dict[int, str] = {source: "source"}
    for s in down:
        word = f"{s.step} {'low' if s.priority else 'high'}"
        texts[s.target] = f"{texts[s.target]}, {word}" if s.target in texts else word
    return _grid(6, texts)


@tabulated(
    "The completely unbalanced spanning tree T_1 of the 4-cube (Fig. 3)",
    ("node", "from", "dimension i", "nodes below, itself included", "class", "printed (j-i-1 mod d)+1"),
    "j = 1. The class by the number of nodes below is the printed one. Dimensions are named in the paper's order.",
)
def unbalanced_tree() -> Iterator[Row]:
    """Fig. 3: the completely unbalanced spanning tree T_1 of the 4-cube, and its classes."""
    d = 4
    scheme = star(parse_network("hypercube:4"), priority="optimal")
    choices = [sent_by(scheme, 0, choice) for choice in range(scheme.choice_count)]
    names = {1 << k: 0 for k in range(d)}
    tree = next(some for some in choices if max(some, key=lambda s: s.size).target == 1 << (d - 1))
    for place, s in enumerate(sorted((s for s in tree if s.source == 0), key=lambda s: -s.size)):
        names[s.target] = d - place  # the paper's T_1 begins with dimension d
    for s in tree:
        dimension = names[s.source ^ s.target]
        yield f"{s.target:04b}", f"{s.source:04b}", dimension, s.size, s.priority + 1, -dimension % d + 1


@tabulated(
    "ARC: largest load (section 3.1)",
    ("mesh", "printed 1 - d n/N'", "exact, nearest side", "exact, random side", "sides balanced"),
    "The printed limit is a safe understatement. Balanced: dimension and side of each source are drawn as a linear "
    "program says, which no other drawing beats. With equal sides it gains nothing over the nearest side.",
)
def arc_limits() -> Iterator[Row]:
    """Section 3.1: the largest load of ARC on n x n meshes."""
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
        yield spec, printed, nearest, random, round(balanced, 4)


@tabulated(
    "ARC: delays (section 3.3)",
    (*("mesh", "rho", "reception at least", "FIFO", "two-class", "broadcast at least", "FIFO", "two-class"),),
    "Load factor and delays of the inner nodes, which alone generate and receive.",
)
def arc_delays() -> Iterator[Row]:
    """Section 3.3: delays of ARC, first come first served and with two classes."""
    for spec, loads in (("array:6x6", (0.6, 0.75)), ("array:10x10", (0.6, 0.81)), ("array:6x6x6", (0.6, 0.859))):
        for load in loads:
            made = {rule: arc(network(spec), priority=rule) for rule in ("fifo", "two-class")}
            limit = float(stability_limit(made["fifo"]).load)
            settings = Settings(steps=steps_at(load, limit))
            found = {r: simulate(m, load=load, settings=settings) for r, m in made.items()}
            bound = best_bound(made["fifo"], load)
            both = [delay_text(found[r], what) for what in ("reception", "broadcast") for r in ("fifo", "two-class")]
            yield (spec, load, f"{bound[0]:.2f}", *both[:2], f"{bound[1]:.2f}", *both[2:])


@tabulated(
    "ARC: static multinode broadcast (section 3.2)",
    ("mesh", "inner nodes N'", "printed", "claimed at most", "measured", "bound"),
    "Printed: N'/(2d) + n - 3, which is at least 1 too small (errata X4). Claimed: ceil(N'/(2d)) + n + d - 2.",
)
def arc_multinode() -> Iterator[Row]:
    """Section 3.2: the static multinode broadcast among the inner nodes by ARC (errata X4)."""
    for spec in ("4x4", "5x5", "6x6", "8x8", "10x10", "12x12", "6x10", "4x4x4", "6x6x6"):
        net = network(f"array:{spec}")
        sides = [int(s) for s in spec.split("x")]
        inner = math.prod(s - 2 for s in sides)
        case = Case(net, GroupMultinodeBroadcast(tuple(inner_nodes(net).tolist())))
        offer = ARC.offer(case)
        schedule = offer.build()
        verify(schedule).raise_if_invalid()
        printed = inner / (2 * len(sides)) + max(sides) - 3
        bound = best_static_bound(case).value
        yield spec, inner, printed, offer.time, schedule.completion_time, bound


@tabulated(
    "Choice of the order by load: reception / broadcast (section 6.1)",
    ("network", "rho", "priorities", "oblivious", "global", "local", "neighbors", "guarded"),
    "'Global' knows every transmission still to be made, an oracle. 'Local' balances dimensions by the queues at "
    "the source and becomes unstable at high load (errata X8); in brackets the delays seen in that run. "
    "'Neighbors' goes by the mean of the queues of the source and its neighbors, which are taken as known: the "
    "shortest delays first come, first served, but with optimal priorities it becomes unstable too. 'Guarded' "
    "mixes the local choice with random ones and gives way to them where queues are long.",
)
def load_aware() -> Iterator[Row]:
    """Section 6.1: choices that look at the load (errata X8)."""
    for spec, load in (("hypercube:4", 0.5), ("hypercube:4", 0.8), ("hypercube:6", 0.8), ("hypercube:6", 0.9)):
        for name in ("fifo", "optimal"):
            cells: list[Cell] = []
            for choose in ("oblivious", "global", "local", "neighbors", "guarded"):
                found = simulated(name, spec, load, choose=choose)
                both = f"{found.reception.mean:.2f} / {found.broadcast.mean:.2f}"
                cells.append(both if found.stable else f"unstable ({found.observed[0]:.0f} / {found.observed[1]:.0f})")
            yield (spec, load, name, *cells)


@tabulated(
    "Messages in d parts: reception / broadcast (section 6.2)",
    ("network", "parts", "rho = 0.01", "rho = 0.5", "rho = 0.9"),
    "Near load 1 only the edge-disjoint trees gain about a factor d; STAR parts barely beat whole messages (errata "
    "X9).",
)
def mini_packets() -> Iterator[Row]:
    """Section 6.2: messages in d parts on edge-disjoint trees, and as d STAR broadcasts (errata X9)."""
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
            yield (spec, title, *cells)


@tabulated(
    "Earlier schemes (section 1)",
    ("network", "scheme", "limit", "rho", "at least", "reception", "at least", "broadcast"),
    "The delays of the schemes of Varvarigos and Banerjee depend on the spanning trees that were found.",
)
def baselines() -> Iterator[Row]:
    """Section 1: earlier schemes on the same networks."""
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
            yield spec, name, limit, load, f"{bound[0]:.2f}", both[0], f"{bound[1]:.2f}", both[1]


TABLES: tuple[Callable[[], Table], ...] = (
    arc_limits, arc_delays, arc_multinode, load_aware, mini_packets, baselines, priority_broadcast, arc_broadcast,
    unbalanced_tree,
)  # fmt: skip
"""The functions that make the tables."""
