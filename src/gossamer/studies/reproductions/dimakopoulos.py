"""The tables of Dimakopoulos 1996: as printed, corrected, measured, bound.

Every measured time is the completion time of a schedule that the checker accepted. In the order of the thesis: trees
from one source (chapter 3), exchanges in arrays, rings, Cayley networks and products (chapters 4 and 5), fat trees
(chapter 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.scatter.area_division import area_division
from gossamer.networks.network import Network
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.rules import Ports, Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules import Schedule
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.verification import buffer_peak

# Chapter 3 of Dimakopoulos 1996: broadcast and scatter from one source.

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

    from gossamer.networks.networkx_conversion import from_networkx

    return from_networkx(Graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)]), "two-cycles-and-leaves")


@tabulated(
    "Broadcast from one source (3.1, 3.2)",
    ("network", "source", "tree", "claimed", "measured", "bound", "one port: measured", "bound"),
    "Claimed, measured and the first bound are for all ports. With one port the thesis has bounds only; the "
    "largest of Theorem 3.3 and Gossamer's others is shown.",
)
def broadcasts() -> Iterator[Row]:
    """Chapter 3: broadcasts down the trees of 3.1, and with one port."""
    for spec, root, algorithm in BROADCASTS:
        every = plan(spec, parse_task("broadcast", root=root), algorithm=algorithm)
        one = plan(spec, parse_task("broadcast", root=root), rules=Rules(ports="one"))
        name = every.schedule.network.node_name(root)
        yield spec, name, algorithm, every.claim, every.completion_time, every.bound, one.completion_time, one.bound


@tabulated(
    "Scatter from one source (3.3, 3.4)",
    ("network", "algorithm", "claimed", "measured", "bound", "one port: measured", "bound"),
    "Claimed: Theorem 3.8, the largest branch of the tree (Theorem 3.7), (nm-1)/4 in tori. In the network of Fig. "
    "3.4b (edges va, vb, ac, bc, cd, ce) paths that form no tree are faster than every tree. One port: n - 1 "
    "(Theorem 3.6).",
)
def scatters() -> Iterator[Row]:
    """Chapter 3: scatters, in extended rings and elsewhere, all ports and one."""
    cases: list[tuple[Network | str, int, str, int]] = [
        (f"extended-ring:{n},{rho}", 0, "extended-ring-paths", -(-(n - 1) // (2 * rho)))
        for n, rho in ((6, 2), (14, 2), (15, 3), (30, 4), (33, 8))
    ]
    cases += [("ring:9", 0, "extended-ring-paths", 4), ("array:9", 2, "furthest-first", 6)]
    cases += [("torus:7x7", 0, "area-division", 12), ("torus:8x4", 0, "area-division", 8)]
    cases += [(small_network(), 0, "furthest-first", 4), (small_network(), 0, "flow-over-time", 3)]
    for where, root, algorithm, claimed in cases:
        every = plan(where, parse_task("scatter", root=root), algorithm=algorithm)
        one = plan(where, parse_task("scatter", root=root), rules=Rules(ports="one"))
        name = where if isinstance(where, str) else "Fig. 3.4b"
        yield name, algorithm, claimed, every.completion_time, every.bound, one.completion_time, one.bound


@tabulated(
    "Scatter in tori by area division (3.4.2)",
    ("rows x columns", "A", "B", "C", "D", "claimed", "measured", "bound"),
    "A, B, C and D count the nodes of each area. 4x4, 6x4 and 3x3 follow the corrections and additions of errata 9.5.",
)
def torus_areas() -> Iterator[Row]:
    """Section 3.4.2: areas of tori and the time of the scatter."""
    for n, m in TORI:
        sizes = np.bincount(area_division(n, m).region + 1)[1:].tolist()
        found = plan(f"torus:{n}x{m}", parse_task("scatter", root=0), algorithm="area-division")
        yield (f"{n}x{m}", *sizes, -(-(n * m - 1) // 4), found.completion_time, found.bound)


# Tables 5.1 and 5.2 of Dimakopoulos 1996: when the messages of one node are sent by algorithms A2 and A3.


def trips(schedule: Schedule, origin: int) -> dict[int, tuple[int, int]]:
    """Return the steps, from 1, in which each message of a node leaves it and arrives, by destination.

    >>> trips(plan("array:3", "total-exchange").schedule, 0)
    {1: (2, 2), 2: (1, 2)}
    """
    explicit = schedule.expand()
    network = explicit.network
    message = explicit.packets.message[explicit.packet]
    found = {}
    for to in range(network.terminal_count):
        hops = np.flatnonzero(message == origin * network.terminal_count + to)
        if to != origin:
            found[to] = (int(explicit.slot[hops].min()) + 1, int(explicit.slot[hops].max()) + 1)
    return found


def _of_node(schedule: Schedule, columns: int) -> list[tuple[Cell, ...]]:
    sent = trips(schedule, 0)
    rows = -(-(len(sent) + 1) // columns)
    steps = {to: str(out) if out == there else f"{out} to {there}" for to, (out, there) in sent.items()}
    return [(f"v_{r + 1}", *(steps.get(r * columns + c, "") for c in range(columns))) for r in range(rows)]


@tabulated(
    "Messages to be transferred from s = (v_1, u_1), 4 x 3 torus (Table 5.1)",
    ("m_s of", "u_1", "u_2", "u_3"),
    "The steps from which and until which m_s(v_r, u_c) travels by algorithm A2. Row r is the batch R_r of the "
    "r-th total exchange in the copies of B, the rings of 3; the total exchanges in the copies of A follow.",
)
def messages_of_a2() -> Iterable[Row]:
    """Table 5.1: the messages of node (v_1, u_1) of the 4 x 3 torus of Fig. 5.1, by algorithm A2."""
    made = plan("torus:4x3", "total-exchange", algorithm="two-phase-product", rules=Rules(ports="one")).schedule
    return _of_node(made, 3)


@tabulated(
    "Messages to be transferred from node (1, 1), 3 x 3 mesh (Table 5.2)",
    ("m of (1, 1)", "1", "2", "3"),
    "The steps from which and until which the message to (row, column) travels by algorithm A3, in 6 steps in all.",
)
def messages_of_a3() -> Iterable[Row]:
    """Table 5.2: the messages of node (1, 1) of the 3 x 3 mesh of Fig. 5.4, by algorithm A3."""
    made = plan("array:3x3", "total-exchange", algorithm="homogeneous-product").schedule
    return ((str(r + 1), *row[1:]) for r, row in enumerate(_of_node(made, 3)))


STATUSES: tuple[tuple[str, int], ...] = (
    ("complete:5", 4), ("ring:7", 12), ("ring:8", 16), ("extended-ring:14,2", 28), ("extended-ring:12,3", 16),
    ("extended-ring:9,2", 12), ("extended-ring:10,3", 12), ("circulant:13,1,5", 20), ("circulant:12,2,3", 18),
    ("hypercube:3", 12), ("hypercube:4", 32), ("hypercube:5", 80), ("hypercube:6", 192),
    ("ccc:3", 74), ("ccc:4", 296), ("ccc:5", 952), ("ccc:8", 21704),
    ("butterfly:3", 55), ("butterfly:4", 216), ("butterfly:5", 690),
    ("star:3", 9), ("star:4", 62), ("star:5", 442), ("star:6", 3444), ("pancake:4", 60), ("bubble-sort:4", 72),
    ("torus:4x3", 20), ("torus:5x5", 60), ("torus:3x4x2", 52),
)  # fmt: skip
"""Cayley networks and their status: the sum of the distances from a node to all others."""


def departures(schedule: Schedule, node: int, link: int | None = None) -> dict[int, tuple[int, int]]:
    """Return what a node sends over its first link, or over `link`: origin and destination by slot.

    >>> found = plan("array:4", "total-exchange").schedule
    >>> departures(found, 0)
    {0: (0, 3), 1: (0, 2), 2: (0, 1)}
    """
    explicit = schedule.expand()
    network = explicit.network
    if link is None:
        link = int(np.flatnonzero((network.link_source == node) & (network.link_target == node + 1))[0])
    sent = np.flatnonzero(explicit.link == link)
    message = explicit.packets.message[explicit.packet[sent]]
    ends = [divmod(int(m), network.terminal_count) for m in message]
    return dict(zip(explicit.slot[sent].tolist(), ends, strict=True))


@tabulated("Total exchange in linear arrays (Theorem 4.3)", ("n", "n scatters in turn", "claimed", "measured", "bound"))
def arrays() -> Iterator[Row]:
    """Section 4.2: total exchange in linear arrays."""
    for n in range(2, 11):
        found = plan(f"array:{n}", "total-exchange")
        best = n // 2 * ((n + 1) // 2)
        yield n, 3 * best - n // 2, best, found.completion_time, found.bound


@tabulated(
    "Total exchange in the linear array of 6 nodes (Fig. 4.2)",
    ("step", *(f"node {i} sends" for i in range(1, 6))),
    "Source > destination of the messages to the right, nodes 1 to 6; those to the left are the mirror image.",
)
def six_node_array() -> Iterable[Row]:
    """Fig. 4.2: what each node of the array of 6 sends to the right, step by step."""
    found = plan("array:6", "total-exchange").schedule
    sent = [departures(found, node) for node in range(5)]
    return [(slot + 1, *(_ends(s.get(slot), 1) for s in sent)) for slot in range(found.slot_count)]


def _ends(pair: tuple[int, int] | None, first: int) -> str:
    return "" if pair is None else f"{pair[0] + first} > {pair[1] + first}"


@tabulated(
    "Total exchange with one port in linear arrays",
    ("n", "(4.4)", "floor((n^2-1)/2)", "measured", "bound"),
    "The thesis has only (4.4), the mean status, for them. The middle nodes must send more than that: no exchange "
    "meets (4.4) for n >= 3, so Theorem 5.5 does not cover arrays (errata 9.8).",
)
def single_port_arrays() -> Iterator[Row]:
    """Linear arrays with one port."""
    for n in range(2, 13):
        found = plan(f"array:{n}", "total-exchange", rules=Rules(ports="one"))
        yield n, Fraction(n * n - 1, 3), (n * n - 1) // 2, found.completion_time, found.bound


@tabulated("Total exchange in rings (Theorems 4.5 and 4.6)", ("n", "algorithm", "claimed", "measured", "bound"))
def rings() -> Iterator[Row]:
    """Section 4.3: total exchange in rings."""
    for n in range(3, 13):
        found = plan(f"ring:{n}", "total-exchange", algorithm="message-shift" if n % 2 else "parity-shift")
        yield n, found.algorithm, -(-(n * n - 1) // 8), found.completion_time, found.bound


@tabulated(
    "Queues in the rings of 7 and 6 nodes (Fig. 4.4)",
    ("step", "of 7: node 0 sends", "of 6: node 0 sends", "of 6: node 1 sends"),
    "Source > destination of the messages that go clockwise. In the ring of 7 every node does as node 0. In "
    "that of 6 every even node does as node 0 and every odd one as node 1; counterclockwise the other way round.",
)
def ring_queues() -> Iterable[Row]:
    """Fig. 4.4: what nodes of the rings of 7 and of 6 send clockwise."""
    seven = plan("ring:7", "total-exchange", algorithm="message-shift").schedule
    six = plan("ring:6", "total-exchange", algorithm="parity-shift").schedule
    sent = [departures(seven, 0), departures(six, 0), departures(six, 1)]
    return [(slot + 1, *(_ends(s.get(slot), 0) for s in sent)) for slot in range(seven.slot_count)]


@tabulated(
    "Total exchange with one port in hypercubes (Fig. 4.6)",
    ("step", "Q_2: node 0 sends", "Q_3: node 0 sends"),
    "Source > destination, and the neighbor that gets the message. The others send the same, all addresses xor "
    "their own.",
)
def hypercube_queues() -> Iterable[Row]:
    """Fig. 4.6: what node 0 of the hypercubes Q_2 and Q_3 sends with one port."""
    sent = []
    for dimensions in (2, 3):
        made = plan(
            f"hypercube:{dimensions}", "total-exchange", algorithm="node-invariant-fifo", rules=Rules(ports="one")
        ).schedule
        sent.append({
            slot: f"{_ends(pair, 0)} to node {int(made.network.link_target[link])}"
            for link in np.flatnonzero(made.network.link_source == 0).tolist()
            for slot, pair in departures(made, 0, link).items()
        })  # fmt: skip
    return [(t + 1, *(s.get(t, "") for s in sent)) for t in range(len(sent[1]))]


@tabulated(
    "Total exchange with one port in Cayley networks (Theorem 4.11)",
    ("network", "nodes", "status", "measured", "bound", "hops stored"),
    "The status of a node is the sum of its distances to all others. The schedules are invariant: the hops of one "
    "node's messages are stored.",
)
def statuses() -> Iterator[Row]:
    """Section 4.4: total exchange with one port in Cayley networks."""
    for spec, status in STATUSES:
        found = plan(spec, "total-exchange", algorithm="node-invariant-fifo", rules=Rules(ports="one"))
        nodes = found.schedule.network.node_count
        yield spec, nodes, status, found.completion_time, found.bound, found.schedule.stored_hops


@tabulated(
    "Total exchange with one port in products (Corollary 5.4)",
    ("network", "nodes n", "n sum T_i/n_i", "A2 measured", "best measured", "bound"),
    "T_i is the measured time in factor i of n_i nodes. A2 is optimal where the factors meet their mean status, "
    "which arrays do not.",
)
def single_port_products() -> Iterator[Row]:
    """Section 5.3: total exchange with one port in products by algorithm A2."""
    factors = {"torus:4x3": ("ring:4", "ring:3"), "torus:5x5": ("ring:5", "ring:5"),
               "product:(ring:4)x(extended-ring:7,2)": ("ring:4", "extended-ring:7,2"),
               "hypercycle:7,3x4,2": ("extended-ring:7,3", "extended-ring:4,2"),
               "torus:3x4x2": ("ring:3", "ring:4", "hypercube:1"),
               "generalized-hypercube:4x4x3": ("complete:4", "complete:4", "complete:3"),
               "array:3x4": ("array:3", "array:4")}  # fmt: skip
    for spec, parts in factors.items():
        found = plan(spec, "total-exchange", algorithm="two-phase-product", rules=Rules(ports="one"))
        best = plan(spec, "total-exchange", rules=Rules(ports="one")).completion_time
        nodes = found.schedule.network.node_count
        times = [plan(part, "total-exchange", rules=Rules(ports="one")) for part in parts]
        shares = [t.completion_time / t.schedule.network.node_count for t in times]
        yield spec, nodes, nodes * sum(shares, Fraction(0)), found.completion_time, best, found.bound


@tabulated(
    "Total exchange with all ports in products H^d (Corollary 5.7)",
    ("network", "n^(d-1) T_H", "A3 measured", "best measured", "bound"),
    "T_H is the measured time in the factor H of n nodes. The thesis has d = 2, 4, 8, ...; 3 is Gossamer's. In "
    "tori with n = 2 mod 4 and n >= 6 algorithm A3 is not optimal, and edge coloring is (errata 9.6).",
)
def products() -> Iterator[Row]:
    """Section 5.4: total exchange with all ports in products of equal factors by algorithm A3."""
    for family, line, sides in (("array", "array", range(2, 8)), ("torus", "ring", (*range(3, 9), 10))):
        shapes = [(n, 2) for n in sides] + [(n, d) for d in (3, 4) for n in (2, 3) if n in sides]
        for n, d in shapes:
            factor = plan(f"{line}:{n}", "total-exchange").completion_time
            spec = f"{family}:{'x'.join([str(n)] * d)}"
            found = plan(spec, "total-exchange", algorithm="homogeneous-product")
            best = plan(spec, "total-exchange").completion_time
            yield f"{family} {n}^{d}", n ** (d - 1) * factor, found.completion_time, best, found.bound


# Chapter 6 of Dimakopoulos 1996: fat trees, Tables 6.1 and 6.2.

SHAPES: tuple[tuple[int, int], ...] = ((2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3), (4, 2), (4, 3))
"""Arity k and height h of the trees in the tables."""

_CURVE_HEIGHTS = {2: range(2, 9), 4: range(2, 5)}


class TableFormula(NamedTuple):
    """A row of Table 6.1 or 6.2: the formula as printed and as corrected, in words and as functions of k and h."""

    task: str
    ports: Ports
    printed: str
    corrected: str
    as_printed: Callable[[int, int], Fraction]
    as_corrected: Callable[[int, int], Fraction]


def _leaves(k: int, h: int) -> Fraction:
    return Fraction(k**h + (k == 2))


def _branch(k: int, h: int) -> Fraction:
    """Return (6.4) with capacity 1: what crosses a branch of the root, rounded up, and the way there and back."""
    n = k**h
    return Fraction(-(-n * n * (k - 1) // k**2) + 2 * h - 1)


def _single_exchange(k: int, h: int) -> Fraction:
    n = k**h
    return Fraction(n * n * (2 * k + 1) * (k - 1), k**3) + 2 * h - 3


def _root_exchange(k: int, h: int) -> Fraction:
    n = k**h
    return _single_exchange(k, h) if k == 2 else Fraction(n * n * (k - 1), k) + 2 * h - 1


FORMULAS: tuple[TableFormula, ...] = (
    TableFormula("broadcast", "one-send", "(k+1)h - 1", "the same",
            lambda k, h: Fraction((k + 1) * h - 1), lambda k, h: Fraction((k + 1) * h - 1)),
    TableFormula("scatter", "one-send", "n; n + 1 for k = 2", "the same, for h >= 2", _leaves, _leaves),
    TableFormula("multinode-broadcast", "one-send", "kn + (k+1)(h-2) + 1", "the same, for h >= 2",
            lambda k, h: Fraction(k ** (h + 1) + (k + 1) * (h - 2) + 1),
            lambda k, h: Fraction(k ** (h + 1) + (k + 1) * (h - 2) + 1)),
    TableFormula("total-exchange", "one-send", "n^2 (2k+1)(k-1)/k^3 + 2h - 3", "n^2 (k-1)/k + 2h - 1 for k >= 3",
            _single_exchange, _root_exchange),
    TableFormula("broadcast", "all", "2h - 1", "2h", lambda k, h: Fraction(2 * h - 1), lambda k, h: Fraction(2 * h)),
    TableFormula("scatter", "all", "n; n + 1 for k = 2", "the same, for h >= 2", _leaves, _leaves),
    TableFormula("multinode-broadcast", "all", "n; n + 1 for k = 2", "the same, for h >= 2", _leaves, _leaves),
    TableFormula("total-exchange", "all", ">= n^2 (k-1)/(k^2 c_h) + 2h - 1", "met for capacities 1", _branch, _branch),
)  # fmt: skip
"""Tables 6.1 (one send at a time) and 6.2 (all ports; the total exchange with capacities 1)."""


def _plan(k: int, h: int, task: str, ports: Ports, capacity: str = "constant", algorithm: str = "best") -> Outcome:
    spec = f"fat-tree:k={k},h={h},capacity={capacity}"
    return plan(spec, parse_task(task), algorithm=algorithm, rules=Rules(ports=ports))


@tabulated(
    "Formulas of Tables 6.1 and 6.2 (fat trees)",
    ("table, ports", "task", "as printed", "as corrected"),
    "Arity k, height h, n = k^h leaves, capacity c_h at the root. One port: a node sends one packet a step and "
    "receives on all links. See the errata 9.7, 9.10 and 9.12.",
)
def formulas() -> Iterable[Row]:
    """Tables 6.1 and 6.2: the formulas as printed and as corrected."""
    ports = {"one-send": "6.1, one", "all": "6.2, all"}
    return ((ports[f.ports], f.task, f.printed, f.corrected) for f in FORMULAS)


def _measured(ports: Ports, title: str, note: str) -> Table:
    rows = []
    for formula in (f for f in FORMULAS if f.ports == ports):
        for k, h in SHAPES:
            found = _plan(k, h, formula.task, ports)
            printed, corrected = formula.as_printed(k, h), formula.as_corrected(k, h)
            rows.append((formula.task, k, h, k**h, printed, corrected, found.completion_time, found.bound))
    columns = ("task", "k", "h", "n", "as printed", "corrected", "measured", "bound")
    return Table(title, columns, tuple(rows), note)


def table_6_1() -> Table:
    """Table 6.1: fat trees, one send at a time."""
    note = "Measured times meet the bound everywhere. For k >= 3 no schedule can keep the printed total exchange time."
    return _measured("one-send", "Table 6.1, measured (fat trees, one send at a time)", note)


def table_6_2() -> Table:
    """Table 6.2: fat trees, all ports, capacities 1."""
    note = "The printed total exchange time is a lower bound; digitwise partners meet it where the thesis leaves a gap."
    return _measured("all", "Table 6.2, measured (fat trees, all ports, capacities 1)", note)


@tabulated(
    "All algorithms on fat trees, measured (chapter 6)",
    (
        "k", "h", "n", "1: bcast", "scatter", "MNB", "TE",
        "all: bcast", "MNB", "no queue", "TE c=1, phases", "best", "TE exp., phases", "best",
    ),
    "1: one send at a time; all: all ports. MNB is the multinode broadcast, TE the total exchange, "
    "phases are those of 6.3.3. Exponential capacities are c_i = k^(i-1). Every best time meets its lower bound.",
)  # fmt: skip
def fat_tree_times() -> Iterator[Row]:
    """Chapter 6: every algorithm for fat trees on trees of up to 64 leaves."""
    for k, h in SHAPES:
        single = [_plan(k, h, f.task, "one-send").completion_time for f in FORMULAS[:4]]
        waiting, queue_free = "fat-tree-flooding", "fat-tree-climbing-star-exchanges"
        several = [
            _plan(k, h, "broadcast", "all"),
            _plan(k, h, "multinode-broadcast", "all", algorithm=waiting),
            _plan(k, h, "multinode-broadcast", "all", algorithm=queue_free),
            _plan(k, h, "total-exchange", "all", algorithm="fat-tree-phases"),
            _plan(k, h, "total-exchange", "all"),
            _plan(k, h, "total-exchange", "all", "exponential", "fat-tree-phases"),
            _plan(k, h, "total-exchange", "all", "exponential"),
        ]
        yield (k, h, k**h, *single, *(p.completion_time for p in several))


def curves() -> Iterator[Curve]:
    """Yield times against the leaves between lower bounds and what the thesis promises.

    Total exchanges, whose promise is (6.5), and the multinode broadcast without queues, whose promise is (6.3).
    """
    for k, capacity in ((2, "constant"), (4, "constant"), (2, "exponential")):
        plans = [_plan(k, h, "total-exchange", "all", capacity) for h in _CURVE_HEIGHTS[k]]
        title = f"total exchange, k = {k}, {capacity} capacities"
        yield _curve(title, k, plans, partial(_phased, capacity))
    climbing = "fat-tree-climbing-star-exchanges"
    plans = [_plan(2, h, "multinode-broadcast", "all", algorithm=climbing) for h in _CURVE_HEIGHTS[2]]
    yield _curve("multinode broadcast without queues, k = 2", 2, plans, lambda k, h: Fraction(k**h + h * h - 1))


def _curve(title: str, k: int, plans: list[Outcome], promised: Callable[[int, int], Fraction]) -> Curve:
    heights = _CURVE_HEIGHTS[k]
    return Curve(
        title,
        "leaves n",
        tuple(k**h for h in heights),
        tuple(found.completion_time for found in plans),
        tuple(found.bound for found in plans),
        tuple(promised(k, h) for h in heights),
    )


def _phased(capacity: str, k: int, h: int) -> Fraction:
    """Return (6.5) for the two patterns of capacities."""
    n = k**h
    return Fraction(n + 2 * h - 2 if capacity == "exponential" else (n * n - 1) // (k + 1) + 2 * h - 1)


@tabulated(
    "Queues of the multinode broadcast, all ports, capacities 1 (6.3.2.1, 6.3.2.2)",
    (
        "k", "h", "n", "flooding", "packets", "kept", "packets", "climbing again", "packets",
        "rising", "packets", "n + 2h - 2", "bound",
    ),
    "Steps, and packets in transit at the fullest node. Climbing again is the thesis's algorithm of Fig. 6.10: a "
    "node gives away what it got and gets it again for the next phase. Kept: messages climb once and wait, which "
    "saves hops and costs memory. Rising: the lowest phase first, so that leaves receive all the time. "
    "Neither is the thesis's.",
)  # fmt: skip
def queues() -> Iterator[Row]:
    """6.3.2.1 and 6.3.2.2: what the multinode broadcast leaves waiting at nodes, with queues and without."""
    for k, h in ((2, 3), (2, 4), (2, 6), (3, 3), (4, 3)):
        cells: list[Cell] = []
        for name in ("flooding", "star-exchanges", "climbing-star-exchanges", "rising-star-exchanges"):
            found = _plan(k, h, "multinode-broadcast", "all", algorithm=f"fat-tree-{name}")
            cells += [found.completion_time, buffer_peak(found.schedule).packets]
        yield (k, h, k**h, *cells, k**h + 2 * h - 2, found.bound)


def flooding_by_steps() -> Table:
    """Fig. 6.9: the messages that every link of the tree of four leaves carries, step by step."""
    made = _plan(2, 2, "multinode-broadcast", "all", algorithm="fat-tree-flooding").schedule
    made = made.expand()
    network = made.network
    rows = []
    for link in range(network.link_count):
        mine = made.link == link
        at = dict(zip(made.slot[mine].tolist(), made.packets.origin[made.packet[mine]].tolist(), strict=True))
        rows.append((network.link_name(link), *(at.get(slot, "-") for slot in range(made.slot_count))))
    return Table(
        "Flooding in the binary tree of 4 leaves (Fig. 6.9)",
        ("link", *(f"step {slot + 1}" for slot in range(made.slot_count))),
        tuple(rows),
        "The leaf whose message a link carries. Nodes (0,0) to (0,3) are the leaves, (2,0) is the root.",
    )


TABLES: tuple[Callable[[], Table], ...] = (
    broadcasts, scatters, torus_areas, arrays, six_node_array, single_port_arrays, rings, ring_queues, statuses,
    hypercube_queues, single_port_products, products, messages_of_a2, messages_of_a3, formulas, table_6_1,
    table_6_2, fat_tree_times, flooding_by_steps, queues,
)  # fmt: skip
"""The functions that make the tables, in the order of the thesis."""
