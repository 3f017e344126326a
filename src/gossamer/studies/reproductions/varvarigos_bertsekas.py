"""The tables of Varvarigos and Bertsekas 1994: claim beside measured beside bound.

Every measured time is the completion time of a schedule that the checker accepted. Multinode broadcasts and partial
exchanges come first (on p x p arrays, and in any dimension, which the paper leaves open), then counterexamples,
intervals, lines and rings, and the parallel prefix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import subphase_slots, write_rounds
from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split, split_bound, whole_bound
from gossamer.graphs.concentration_routing import RotatedClass, links_along, rotations, write_packing
from gossamer.graphs.parallel_prefix import prefix_hops, prefix_ranks
from gossamer.networks.network import Network
from gossamer.networks.spec import network
from gossamer.networks.spec import network as parse_network
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialExchange, PartialMultinodeBroadcast
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules.torus_on_array import ring_labels
from gossamer.simulation.random_arrivals.interval_broadcasts import interval_scheme
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.verification import verify

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
    name = f"rotated-dimensions-{'segmented' if split else 'unsegmented'}"
    return plan(
        spec,
        parse_task("partial-multinode-broadcast", active=_active(nodes, count)),
        algorithm=name,
        rules=Rules(segmented=split),
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


# The smallest cases in which statements of Varvarigos and Bertsekas 1994 fail or are not tight (errata X1 to X8).


def _broadcasts(spec: str, counts: tuple[int, ...], algorithm: str, split: bool = False) -> Fraction:
    task = parse_task("multiple-broadcast", counts=counts)
    found = plan(spec, task, algorithm=algorithm, rules=Rules(segmented=split))
    return found.completion_time


def _rows() -> Iterator[tuple[Cell, ...]]:
    whole = plan("torus:2x2", "multinode-broadcast")
    yield ("X1", "multinode broadcast in p^2/4", "torus 2x2", 1, whole.completion_time,
           "p >= 3 only: the diameter is 2")  # fmt: skip
    ports = plan("torus:2x2x2x2", "multinode-broadcast", rules=Rules(segmented=True))
    yield ("X1", "(5a), at most", "torus 2^4, M = 16", split_bound(2, 4, 16), ports.completion_time,
           f"p >= 3 only: {ports.bound} is a lower bound")  # fmt: skip
    yield ("X2", "ring, whole, one each: ceil(p/2)", "ring 3", 2, _broadcasts("ring:3", (1, 1, 1), "rounds"),
           "floor(p/2)")  # fmt: skip
    insertion = _broadcasts("ring:3", (0, 2, 2), "insertion", split=True)
    rounds = _broadcasts("ring:3", (0, 2, 2), "rounds", split=True)
    yield ("X3", "insertion keeps to W(p-1)/2 of Lemma 1", "ring 3, messages 0 2 2", 2, insertion,
           f"rounds do: {rounds}")  # fmt: skip
    net, task = network("torus:4x4x4"), PartialMultinodeBroadcast(tuple(range(64)))
    in_thirds = rotated_dimensions_split(Case(net, task, Rules(segmented=True)), parts=3)
    verify(in_thirds).raise_if_invalid()
    in_sixths = plan(net, task, algorithm="rotated-dimensions-segmented", rules=Rules(segmented=True)).completion_time
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


# Dynamic broadcasting of Varvarigos and Bertsekas 1994, section 5: delays of the interval scheme beside (11).

INTERVAL_ROWS: tuple[tuple[str, Fraction], ...] = tuple(
    (spec, share)
    for spec in ("torus:3", "array:4x4", "torus:5x5", "torus:8x8", "array:8x8", "torus:4x4x4", "array:6x6x6",
                 "torus:10x10x10", "hypercube:8")
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
)  # fmt: skip
"""Network, and share of the largest stable rate, of the rows."""

_T_P = Fraction(1, 10)


@tabulated(
    "Dynamic broadcasting in intervals (section 5), split packets, t_p = 0.1",
    ("network", "rho", "rho* (14)", "at least", "delay", "+-", "(11)", "exact: at least", "delay", "+-"),
    "Delays in steps with 95% intervals from 20 batch means of 1,000,000 packets in all; 'exact': intervals as "
    "long as their broadcasts really take. (11) is the paper's upper bound.",
)
def intervals() -> Iterator[Row]:
    """Section 5: mean delay of broadcasts that arrive at random, intervals of V + XM and of exact length."""
    for spec, share in INTERVAL_ROWS:
        scheme = interval_scheme(network(spec), control_time=_T_P)
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
                rules=Rules(segmented=split),
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


TABLES: tuple[Callable[[], Table], ...] = (
    multinode_broadcast, partial_multinode_broadcast, ring_on_a_line, line_broadcasts, ring_broadcasts, routing,
    plane, any_dimension, intervals, largest_utilization, parallel_prefix, slow_positions, interval_diagram,
    counterexamples,
)  # fmt: skip
"""The functions that make the tables, in the order of the paper."""
