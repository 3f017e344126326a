"""Chapter 6 of Dimakopoulos 1996: fat trees, Tables 6.1 and 6.2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import plan
from gossamer.questions.rules import Ports, Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.verification import buffer_peak

__all__ = [
    "FORMULAS",
    "SHAPES",
    "TABLES",
    "TableFormula",
    "curves",
    "fat_tree_times",
    "formulas",
    "table_6_1",
    "table_6_2",
]

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


TABLES: tuple[Callable[[], Table], ...] = (formulas, table_6_1, table_6_2, fat_tree_times, flooding_by_steps, queues)
