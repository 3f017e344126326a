"""Figs. 2 to 4 of Varvarigos and Bertsekas 1994: the parallel prefix, slow sets of active nodes, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import numpy as np

from gossamer.algorithms.multinode_broadcast.lines_and_rings import subphase_slots, write_rounds
from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split, split_bound
from gossamer.graphs.mesh_packing import RotatedClass, links_along, rotations, write_packing
from gossamer.graphs.parallel_prefix import prefix_hops, prefix_ranks
from gossamer.networks.network import Network
from gossamer.networks.spec import network
from gossamer.networks.spec import network as parse_network
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules.torus_on_array import ring_labels
from gossamer.simulation.random_arrivals.interval_broadcasts import IntervalScheme, interval_scheme
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated
from gossamer.verification import verify

__all__ = [
    "COUNTEREXAMPLES_TABLES",
    "DYNAMIC_TABLES",
    "INTERVAL_ROWS",
    "LINES_AND_ROUTING_TABLES",
    "LOADS",
    "TABLES",
    "counterexamples",
    "interval_diagram",
    "line_broadcasts",
    "parallel_prefix",
    "ring_broadcasts",
    "ring_on_a_line",
    "routing",
    "slow_positions",
]

# The smallest cases in which statements of Varvarigos and Bertsekas 1994 fail or are not tight (errata X1 to X8).


def _broadcasts(spec: str, counts: tuple[int, ...], algorithm: str, split: bool = False) -> Fraction:
    found = plan(spec, parse_task("multiple-broadcast", counts=counts), algorithm=algorithm, rules=Rules(split=split))
    return found.completion_time


def _rows() -> Iterator[tuple[Cell, ...]]:
    whole = plan("torus:2x2", "multinode-broadcast")
    yield ("X1", "multinode broadcast in p^2/4", "torus 2x2", 1, whole.completion_time,
           "p >= 3 only: the diameter is 2")  # fmt: skip
    ports = plan("torus:2x2x2x2", "multinode-broadcast", rules=Rules(split=True))
    yield ("X1", "(5a), at most", "torus 2^4, M = 16", split_bound(2, 4, 16), ports.completion_time,
           f"p >= 3 only: {ports.bound} is a lower bound")  # fmt: skip
    yield ("X2", "ring, whole, one each: ceil(p/2)", "ring 3", 2, _broadcasts("ring:3", (1, 1, 1), "rounds"),
           "floor(p/2)")  # fmt: skip
    insertion = _broadcasts("ring:3", (0, 2, 2), "insertion", split=True)
    rounds = _broadcasts("ring:3", (0, 2, 2), "rounds", split=True)
    yield ("X3", "insertion keeps to W(p-1)/2 of Lemma 1", "ring 3, messages 0 2 2", 2, insertion,
           f"rounds do: {rounds}")  # fmt: skip
    net, task = network("torus:4x4x4"), PartialMultinodeBroadcast(tuple(range(64)))
    in_thirds = rotated_dimensions_split(Case(net, task, Rules(split=True)), parts=3)
    verify(in_thirds).raise_if_invalid()
    in_sixths = plan(net, task, algorithm="rotated-dimensions-split", rules=Rules(split=True)).completion_time
    yield ("X4", "(5a) with d parts, at most", "torus 4^3, M = 64", split_bound(4, 3, 64), in_thirds.completion_time,
           f"needs 2d parts for even p: {float(in_sixths)}")  # fmt: skip
    yield ("X5", "classes never meet: packets on a link", "array 2^5, nodes 0 to 20", 1, _on_one_link(own_lengths=True),
           f"with subphases of common lengths: {_on_one_link(own_lengths=False)}")  # fmt: skip
    yield ("X6", "total exchange at least Np/4", "array 3x3", Fraction(27, 4),
           plan("array:3x3", "total-exchange").completion_time, "even p only; N(p^2-1)/(4p) for odd p")  # fmt: skip
    yield ("X8", "K messages on a line: K + p - 1", "array 2, K = 1", 2, _broadcasts("array:2", (1, 0), "insertion"),
           "true, but K + p - 2 is enough")  # fmt: skip


def _on_one_link(own_lengths: bool) -> int:
    """Return the most packets on a link at once if the classes of whole packets have subphases of own lengths or not.

    Nodes 0 to 20 of the array 2^5 are active.
    """
    net, active = network("array:2x2x2x2x2"), 21
    assert net.grid is not None
    links, sides = links_along(net), len(net.grid.sides)
    classes = []
    for turn in rotations(net.grid):
        packet = np.arange(turn.shift, active, sides, dtype=np.int32)
        packet = packet[np.argsort(turn.name[packet])]
        classes.append(RotatedClass(turn, turn.name[packet], packet))
    hops = active * (net.node_count - 1)
    columns = np.empty(hops, np.int32), np.empty(hops, np.int32), np.empty(hops, np.int32)
    at = write_packing(columns, 0, 0, classes, links, 1)
    for each in classes:
        slots = subphase_slots([each.rotation], each.size if own_lengths else classes[0].size)
        at = write_rounds(columns, at, sides, [each], links, slots)
    return int(np.unique(np.stack(columns[:2]), axis=1, return_counts=True)[1].max())


@tabulated(
    "Smallest cases against statements as printed (errata)",
    ("erratum", "as printed", "smallest case", "printed value", "measured", "finding"),
    "Values are steps, of X5 packets. X7 is about random traffic.",
)
def counterexamples() -> Iterable[Row]:
    """Errata X1 to X8: smallest cases."""
    return _rows()


COUNTEREXAMPLES_TABLES: tuple[Callable[[], Table], ...] = (counterexamples,)


# Dynamic broadcasting of Varvarigos and Bertsekas 1994, section 5: delays of the interval scheme beside (11).

INTERVAL_ROWS: tuple[tuple[str, Fraction], ...] = tuple(
    (spec, share)
    for spec in ("torus:3", "array:4x4", "torus:5x5", "torus:8x8", "array:8x8", "torus:4x4x4", "array:6x6x6",
                 "torus:10x10x10", "hypercube:8")
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
)  # fmt: skip
"""Network, and share of the largest stable rate, of the rows."""

_T_P = Fraction(1, 10)


def _scheme(spec: str) -> IntervalScheme:
    return interval_scheme(network(spec), control_time=_T_P)


@tabulated(
    "Dynamic broadcasting in intervals (section 5), split packets, t_p = 0.1",
    ("network", "rho", "rho* (14)", "at least", "delay", "+-", "(11)", "exact: at least", "delay", "+-"),
    "Delays in steps with 95% intervals from 20 batch means of 1,000,000 packets in all; 'exact': intervals as "
    "long as their broadcasts really take. (11) is the paper's upper bound.",
)
def intervals() -> Iterator[Row]:
    """Section 5: mean delay of broadcasts that arrive at random, intervals of V + XM and of exact length."""
    for spec, share in INTERVAL_ROWS:
        scheme = _scheme(spec)
        rate = share * scheme.largest_rate
        linear, exact = (scheme.simulate(rate, exact=e, packets=1_000_000) for e in (False, True))
        yield (
                spec, scheme.utilization(rate), scheme.stable_utilization, linear.lower_bound, linear.delay,
                linear.half_width, linear.upper_bound, exact.lower_bound, exact.delay, exact.half_width,
            )  # fmt: skip


@tabulated(
    "Largest stable utilization lambda (N-1)/(2d) on tori p^d, t_p = 0.1",
    ("torus", "split (14)", "whole", "(p-1)/p"),
    "Whole packets: for even p the utilization cannot exceed (p-1)/p (errata X7).",
)
def largest_utilization() -> Iterator[Row]:
    """Section 5: how near to 1 the utilization may come (errata X7, X9)."""
    for p, d in ((3, 1), (4, 2), (8, 2), (16, 2), (4, 3), (10, 3), (16, 3), (8, 4)):
        spec = "torus:" + "x".join([str(p)] * d)
        split, whole = (interval_scheme(network(spec), split=s, control_time=_T_P) for s in (True, False))
        nodes = p**d
        unit = Fraction(nodes - 1, 2 * d)
        yield f"{p}^{d}", split.stable_utilization, whole.largest_rate * unit, Fraction(p - 1, p)


DYNAMIC_TABLES: tuple[Callable[[], Table], ...] = (intervals, largest_utilization)
"""The functions that make the tables."""


# Several broadcasts on a line or ring, packing and monotone routing, of Varvarigos and Bertsekas 1994.

LOADS: tuple[tuple[int, ...], ...] = (
    (2, 0, 1, 3), (0, 2, 2), (1, 1, 1, 1, 1), (1, 1, 1), (1, 0), (4, 0, 0, 0, 0, 0), (0, 0, 3, 0, 0, 3),
    (1, 2, 3, 2, 1, 0, 0, 4),
)  # fmt: skip
"""Messages of each node."""


@tabulated(
    "Several broadcasts on a line (Theorem 2)",
    ("messages of each node", "printed", "improved", "insertion", "rounds", "bound"),
    "K messages on p nodes, at most W of one node. Printed: at most K + p - 1. Improved: at most K + p - 2 and at "
    "most W(p - 1) (errata X8).",
)
def line_broadcasts() -> Iterator[Row]:
    """Theorem 2: several broadcasts on a line."""
    for loads in LOADS:
        count, p = sum(loads), len(loads)
        insertion, rounds = (
            plan(f"array:{p}", parse_task("multiple-broadcast", counts=loads), algorithm=name)
            for name in ("insertion", "rounds")
        )
        printed, improved = count + p - 1, min(count + p - 2, max(loads) * (p - 1))
        times = (insertion.completion_time, rounds.completion_time)
        yield (_loads(loads), printed, improved, *times, insertion.bound)


@tabulated(
    "Several broadcasts on a ring (Theorem 2, remark and Lemma 1)",
    ("messages of each", "Theorem 2", "W(p-1)/2", "insertion", "rounds", "bound", "whole: insertion", "rounds"),
    "Messages are halved; in the last two columns they are whole. Rounds take W(p-1)/2, which Lemma 1 counts; "
    "insertion can take longer (errata X3).",
)
def ring_broadcasts() -> Iterator[Row]:
    """Theorem 2 and remark: several broadcasts on a ring."""
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
        yield (_loads(loads), Fraction(sum(loads) + p - 1, 2), halves, *measured[:2], times[0].bound, *measured[2:])


def _loads(loads: tuple[int, ...]) -> str:
    return " ".join(map(str, loads))


@tabulated(
    "Packing and monotone routing (Theorems 3 and 4)",
    ("network", "messages", "packing claimed", "measured", "bound", "monotone claimed", "measured", "bound"),
    "Half of the nodes, drawn at random, send. Packing takes the message of the i-th source to node i; monotone "
    "routing keeps the order of the sources. Claims are d(p-1) and 2d(p-1) steps at most.",
)
def routing() -> Iterator[Row]:
    """Theorems 3 and 4: packing and monotone routing."""
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
            yield tuple(row)


@tabulated(
    "A ring on a line (Fig. 1)",
    ("p", "nodes of the ring along the line", "longest link of the ring, in links of the line"),
    "A step of the ring takes two steps of the line.",
)
def ring_on_a_line() -> Iterator[Row]:
    """Fig. 1: where a line simulates the nodes of a ring, and how long the links of the ring are there."""
    for p in (5, 6, 7, 8):
        labels = ring_labels(p)
        place = np.argsort(labels)
        yield p, _loads(tuple(labels.tolist())), int(np.abs(place - np.roll(place, -1)).max())


LINES_AND_ROUTING_TABLES: tuple[Callable[[], Table], ...] = (ring_on_a_line, line_broadcasts, ring_broadcasts, routing)


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


@tabulated(
    "Positions of the active nodes for the lower bounds of the partial exchange (Fig. 3)",
    ("part", "p", "M", "by the cut of the figure", "bound", "measured"),
    "a: the m x m nodes of a corner, m(N-m^2)/2 for its 2m links. b: the left half of the columns, Np/4 for the p "
    "links of the middle cut; for odd p the half is rounded up, and Np/4 is too much (errata X6).",
)
def slow_positions() -> Iterator[Row]:
    """Fig. 3: active nodes for which a partial exchange must take long."""
    for p, part, m in ((4, "a", 2), (8, "a", 2), (8, "a", 4), (8, "a", 5), (4, "b", 4), (8, "b", 8), (7, "b", 7)):
        nodes = np.arange(p * p).reshape(p, p)
        chosen = nodes[:m, :m] if part == "a" else nodes[:, : (p + 1) // 2]
        active = sorted(chosen.reshape(-1).tolist())
        found = plan(f"array:{p}x{p}", parse_task("partial-exchange", active=active))
        size = p * p
        printed = Fraction(m * (size - m * m), 2) if part == "a" else Fraction(size * p, 4)
        yield part, p, len(active), printed, found.bound, found.completion_time


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
