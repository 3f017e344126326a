"""The tables of Chen and Chen: as printed, corrected, measured, beside the bound.

Every measured figure comes from schedules that the checker accepted. Here are the worked figures, Lemmas 2 and 3,
Theorem 1 and what follows from them; a module each has the operations, the costs of schedules, and the comparison with
rivals. Figs. 2c, 4 to 9, 10 to 15, 18 and 22 come from our own schedules: the pictures themselves were not at hand; the
sources are `operations.TWENTY`, with the loads that the text names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from gossamer.studies.reproductions.chen_chen import comparison, operations, schedule_costs
from gossamer.studies.reproductions.chen_chen.comparison import curves
from gossamer.studies.reproductions.chen_chen.operations import FLITS_TABLES, FULL, TWENTY
from gossamer.studies.reproductions.chen_chen.schedule_costs import (
    VARIANTS,
    case_of,
    cost_of,
    lemma_2,
    lemma_3,
    partitioned,
    rival,
    scheduled,
    theorem_1,
)
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated, words
from gossamer.wormhole import WormholeSchedule, verify
from gossamer.wormhole.aggregation_distribution import ATD_5
from gossamer.wormhole.aggregation_distribution.closed_forms import closed_form, destinations, movement
from gossamer.wormhole.aggregation_distribution.final_all_gather import aggregate
from gossamer.wormhole.aggregation_distribution.prefix_sums import gather_rounds, prefix_sums, ranks
from gossamer.wormhole.aggregation_distribution.recording import ScheduleRecorder
from gossamer.wormhole.arc_disjoint_trees import shallow_trees, tree_a, tree_b
from gossamer.wormhole.contraction_trees import ceil_log, group_tree, offset
from gossamer.wormhole.partition import TorusPartition, common_divisors

__all__ = [
    "ABOUT",
    "CURVES_ABOUT",
    "CURVES_TITLE",
    "TABLES",
    "curves",
]

ABOUT = """Every step costs a start-up T_s, and m T_c for each message of m bytes that its longest wormhole message
holds; tau = T_s / (m T_c). *Messages* are added up over the steps. Every measured figure comes from schedules that the
checker accepted; *bound* is what no schedule can beat. How to plan such broadcasts is told on the page about
[wormhole switching](../explanation/wormhole.md)."""
"""What the page of the reproduction says first."""
CURVES_TITLE = "Time of ATD-5 against the number of sources"
"""What the curves show."""
CURVES_ABOUT = """ATD-5, the published algorithm, at its best h. The band lies between the lower bound, below, and the
corrected closed form at the same h, above."""
"""What is said below the curves."""

_N, _H, _BYTES = 10, 5, 120

Listed = dict[int, tuple[int, list[int]]]
"""By node: its prefix sum, and the ranks of its messages."""


@lru_cache(maxsize=4)
def _schedule(n: int, chosen: tuple[int, ...], h: int) -> WormholeSchedule:
    schedule = scheduled(n, chosen, ATD_5, h, _BYTES)
    verify(schedule).raise_if_invalid()
    return schedule


def _place(node: int, n: int) -> str:
    return f"{node // n},{node % n}"


def _moves(schedule: WormholeSchedule, phase: str, n: int) -> list[tuple[int, list[str]]]:
    """Return the steps of a phase from 1, and in each the ends of the messages."""
    found = next(p for p in schedule.phases if p.name == phase)
    steps = []
    for number in range(found.steps):
        rows = np.flatnonzero(schedule.step == found.first_step + number)
        ends = [f"{_place(int(schedule.source[m]), n)} > {_place(int(schedule.target[m]), n)}" for m in rows]
        steps.append((number + 1, ends))
    return steps


@tabulated(
    "Aggregation when h = 25 (Fig. 2c)",
    ("step", "diagonal", "gets the messages of the diagonals"),
    "Diagonals by their distance from the one that stays.",
)
def aggregation_levels() -> Iterator[Row]:
    """Fig. 2c: twenty-five diagonals to one."""
    for number, edges in enumerate(group_tree(25).levels, 1):
        into: dict[int, list[int]] = {}
        for edge in edges:
            into.setdefault(edge.parent, []).append(edge.child)
        yield from ((number, parent, " ".join(map(str, sorted(some)))) for parent, some in sorted(into.items()))


@tabulated(
    "Simple prefix-sum procedure for five nodes (Figs. 4 to 6)",
    ("step", "stage", "counters"),
    "Row, column of a node of the 5 x 5 torus; k = 2 is the center.",
)
def five_prefix_sums() -> Iterable[Row]:
    """Figs. 4 to 6: the prefix sums of five nodes of a diagonal."""
    schedule = _schedule(5, (0, 6, 12, 18, 24), 5)
    ways = ("forward: to the corners", "forward: to the center", "backward: to the corners", "backward: to the nodes")
    return [
        (step, way, ", ".join(ends)) for (step, ends), way in zip(_moves(schedule, "prefix sums", 5), ways, strict=True)
    ]


@lru_cache(maxsize=1)
def listed() -> Listed:
    """Return the prefix sum and the ranks of the messages of every node that has messages after the aggregation."""
    partition = TorusPartition((_N, _N), _H)
    recording = ScheduleRecorder(case_of(_N, TWENTY, cost_of(Fraction(1), _BYTES)), partition, 1, 1)
    aggregate(recording, group_tree(_H, 5), 1, "aggregation")
    before = prefix_sums(recording, 5)
    rank = ranks(recording, before)
    return {
        int(node): (int(before[node]), sorted(rank[recording.holder == node].tolist()))
        for node in np.unique(recording.holder)
    }


@tabulated(
    "Example of the prefix-sum procedure on 10 x 10 nodes (Figs. 7 to 9)",
    ("step", "stage", "counters", "such as"),
    "h = 5. Into the main diagonal (Fig. 7a), two stages along it of two steps each (Figs. 7b and 8a), and back "
    "(Figs. 8b and 9). The sums are in the table of the destination lists.",
)
def diagonal_sums() -> Iterator[Row]:
    """Figs. 7 to 9: the prefix sums of all nodes of the DDNs."""
    schedule = _schedule(_N, TWENTY, _H)
    for step, ends in _moves(schedule, "prefix sums", _N):
        shown = ", ".join(ends[:3]) + (", ..." if len(ends) > 3 else "")
        yield step, "forward" if step <= 5 else "backward", len(ends), shown


@tabulated(
    "Final destination lists of twenty sources on 10 x 10 nodes (Figs. 10 and 13)",
    ("node", "DDN i", "prefix sum alpha", "messages beta", "F", "F'"),
    "h = 5. F are the DDNs (alpha, ..., alpha + beta - 1) mod h, F' their offsets from the node's own. The node "
    "1,6 has the prefix sum, the messages and the lists of the example of Fig. 10. The paper's list goes to "
    "alpha + beta + 1, its example to alpha + beta - 1.",
)
def destination_lists() -> Iterator[Row]:
    """Figs. 10 and 13: what each node sends to which DDN."""
    partition = TorusPartition((_N, _N), _H)
    for node, (alpha, rank) in sorted(listed().items(), key=lambda some: some[1][0]):
        ddn = int(partition.ddn[node])
        to = destinations(partition, np.array(rank)).tolist()
        offsets = [offset(t, ddn, _H) for t in to]
        yield _place(node, _N), ddn, alpha, len(rank), words(to), words(offsets)


@tabulated(
    "Data-movement operations of twenty sources on 10 x 10 nodes (Figs. 14 and 15)",
    ("step", "from", "to", "down", "right", "messages"),
    "First Fig. 14, then Fig. 15. Offsets of 1 go down or up first and those of 2 sideways first, so that no two "
    "messages need one channel.",
)
def data_movement() -> Iterator[Row]:
    """Figs. 14 and 15: the two steps of the data movement."""
    schedule = _schedule(_N, TWENTY, _H)
    found = next(p for p in schedule.phases if p.name == "tuning")
    for number in range(found.steps):
        for m in np.flatnonzero(schedule.step == found.first_step + number).tolist():
            down, right = schedule.displacement[m].tolist()
            ends = [_place(int(v), _N) for v in (schedule.source[m], schedule.target[m])]
            yield (number + 1, *ends, down, right, len(schedule.pieces_of(m)))


def far_movement() -> Table:
    """Fig. 12: the data movement when h > 5."""
    rows: list[tuple[Cell, ...]] = []
    moves = movement("mix5", 25)
    for value, steps in zip(range(-12, 13), moves.swapaxes(0, 1).tolist(), strict=True):
        rows.append((value, *(f"{down}, {right}" for down, right in steps)))
    return Table(
        "Data-movement operation if h > 5: h = 25 (Fig. 12)",
        ("offset", *(f"step {s}: down, right" for s in range(1, len(moves) + 1))),
        tuple(rows),
        "An offset's digits in base 5, from -2 to 2, are made one after the other, each in two steps.",
    )


def larger_all_to_all() -> Table:
    """Fig. 18: all-to-all broadcast on the diagonal of 25 nodes."""
    rows: list[tuple[Cell, ...]] = []
    known = 1
    for number, partners in enumerate(gather_rounds(25, 4), 1):
        gained = sum(p.nodes for p in partners)
        rows.append((number, words([p.places for p in partners]), known, known + gained))
        known += gained
    measured = len(_moves(_schedule(25, tuple(range(0, 625, 26)), 1), "all-gather", 25))
    return Table(
        "All-to-all diagonal broadcast in the 25 x 25 torus (Fig. 18)",
        ("round", "partners, places along the diagonal", "messages known before", "after"),
        tuple(rows),
        f"Every node of the diagonal. A round takes two steps, {measured} in all: far partners send through a corner.",
    )


@tabulated(
    "Broadcasting result of twenty sources on 10 x 10 nodes (Figs. 20 to 22)",
    ("after", "steps", "fewest messages known", "most", "nodes that know all 20"),
    "h = 5, ATD-5. A node knows what it had or got, also what it has passed on.",
)
def result() -> Iterator[Row]:
    """Fig. 22: how many messages the nodes know after each phase."""
    schedule = _schedule(_N, TWENTY, _H)
    known: list[set[int]] = [set() for _ in range(_N * _N)]
    for packet, node in enumerate(schedule.packets.origin.tolist()):
        known[node].add(packet)
    for phase in schedule.phases:
        for step in range(phase.first_step, phase.first_step + phase.steps):
            sent = np.flatnonzero(schedule.step == step).tolist()
            for m in sent if not phase.control else ():
                known[int(schedule.target[m])].update(map(int, schedule.pieces_of(m)))
        counts = [len(some) for some in known]
        full = sum(count == len(TWENTY) for count in counts)
        yield phase.name, phase.steps, min(counts), max(counts), full


_FEW = 120
SHAPES: tuple[tuple[int, int], ...] = ((4, 2), (5, 5), (10, 5), (16, 4), (20, 5), (25, 5), (30, 6))
"""Side n and h of the rows of Table 1."""
SIDES: tuple[int, ...] = (3, 4, 5, 6, 8, 10, 15, 16, 20, 25, 30)
"""Sides for which the transmission is compared."""

_AGGREGATION = ("aggregation", "prefix sums", "tuning")
_DISTRIBUTION = ("alignment", "all-gather", "broadcast", "rows", "columns")


@tabulated(
    "Table 1, with s = n² sources",
    ("n", "h", "start-ups: ours", "ATD-5", "EDST", "EDST", "bound", "messages: ours", "ATD-5", "EDST", "EDST",
     "bound"),
    "Left of each pair the printed order of growth without its constant, right of it the measured schedule. The "
    "printed EDST has neither start-ups nor messages for the way to the root (errata X17).",
)  # fmt: skip
def table_1() -> Iterator[Row]:
    """Table 1, evaluated where every node is a source."""
    for n, h in SHAPES:
        s, N = n * n, n // h
        ours, edst = partitioned(n, s, ATD_5, h), rival(n, s, "spanning-trees")
        yield (
            n, h, max(ceil_log(5, n), h), ours.startups, 2 * (n // 2), edst.startups, ceil_log(5, s),
            Fraction(max(ceil_log(5, N), h) * s, h), ours.data.messages, Fraction(2 * (n // 2) * s, 4),
            edst.data.messages, Fraction(s - 1, 4),
        )  # fmt: skip


@tabulated(
    "Lemmas 2 and 3 and Theorem 1, with s = n² sources",
    ("n", "h", "", "start-ups", "corrected", "measured", "messages", "corrected", "measured", "counters",
     "corrected", "bound", "messages"),
    "Corrected is the closed form of ATD-5, exact in start-ups and an upper bound in messages. Counters are those "
    "sent one after the other: Theorem 1 prints 4 log_5 h where Lemma 2 has 4 log_5 n (errata X14). For h = 10 "
    "tuning sends more than Lemma 2 has (X4).",
)  # fmt: skip
def lemmas() -> Iterator[Row]:
    """Lemmas 2 and 3 and Theorem 1 where every node is a source."""
    for n, h in dict.fromkeys((n, h) for n, h, _ in FULL):
        s = n * n
        found = partitioned(n, s, ATD_5, h, _FEW)
        forms = closed_form((n, n), s, h, cost_of(Fraction(1), _FEW), ATD_5)
        least = ceil_log(5, s), Fraction(s - 1, 4)
        for name, printed, parts in (
            ("Lemma 2", lemma_2(n, h), _AGGREGATION),
            ("Lemma 3", lemma_3(n, h, s), _DISTRIBUTION),
            ("Theorem 1", theorem_1(n, h, s), _AGGREGATION + _DISTRIBUTION),
        ):
            steps = sum(len(p.bytes) for p in forms if p.name in parts)
            counters = sum(len(p.bytes) for p in forms if p.name in parts and p.control)
            carried = sum(sum(p.bytes) for p in forms if p.name in parts and not p.control)
            phases = {k: c for k, c in found.phases.items() if k in parts}
            messages = sum((c.messages for c in phases.values() if not c.control), Fraction(0))
            yield (
                n, h, name, printed.startups, steps, sum(c.startups for c in phases.values()),
                printed.messages, Fraction(carried, _FEW), messages,
                printed.counters, counters, *(least if name == "Theorem 1" else (None, None)),
            )  # fmt: skip


@tabulated(
    "Start-ups against spanning trees by the printed constants (section 4)",
    ("n", "best h", "Theorem 1", "EDST", "Theorem 1 has", "better in both", "ATD-5", "bound"),
    "EDST is 2 floor(n/2) of Table 1. The paper has fewer start-ups for all n; by its own constants that begins at "
    "n = 22 and is lost again for n = 26 to 29 (errata X11). Better in both: those h with fewer start-ups and less "
    "transmission. ATD-5: the fewest steps of its schedules.",
)
def startups() -> Iterator[Row]:
    """Start-ups by the printed constants against those of the trees."""
    for n in range(5, 32):
        costs = {h: theorem_1(n, h, n * n) for h in common_divisors((n, n))}
        h = min(costs, key=lambda k: costs[k].startups)
        depth = 2 * (n // 2)
        printed = costs[h].startups
        both = [k for k, c in costs.items() if c.startups < depth and _per_source(n, k) < Fraction(depth, 4)]
        verdict = "fewer" if printed < depth else "equal" if printed == depth else "more"
        found = min(partitioned(n, (0,), ATD_5, k, _FEW).steps for k in costs)
        named = f"h = {', '.join(map(str, both))}" if both else "-"
        yield n, h, printed, depth, verdict, named, found, ceil_log(5, n * n)


def _per_source(n: int, h: int) -> Fraction:
    """Return the messages of Theorem 1 as printed for each source, without what does not depend on s."""
    return lemma_3(n, h, 1).messages


@tabulated(
    "Transmission for each source, with s = n² sources (section 4)",
    ("n", "Theorem 1", "EDST", "Theorem 1 has", *(v.replace("atd", "ATD") for v in VARIANTS), "EDST",
     "EDST pipelined", "rings", "bound"),
    "Messages sent one after the other over s, at the h with the fewest; the first EDST is D/4 of Table 1. By the "
    "printed constants the claim is false for n <= 5 (errata X10). Against trees that are pipelined, here for "
    "tau = 0.1, and against rings it is false for the published schedule at all n.",
)  # fmt: skip
def transmission() -> Iterator[Row]:
    """Transmission for each source, where every node is one."""
    for n in SIDES:
        s, divisors = n * n, common_divisors((n, n))
        printed = min(_per_source(n, h) for h in divisors)
        tree = Fraction(2 * (n // 2), 4)
        measured = [min(partitioned(n, s, v, h).data.messages for h in divisors) / s for v in VARIANTS.values()]
        rivals = [rival(n, s, name, tau).data.messages / s for name, tau in _RIVALS]
        verdict = "less" if printed < tree else "more"
        yield (n, printed, tree, verdict, *measured, *rivals, Fraction(s - 1, 4 * s))


_RIVALS = (
    ("spanning-trees", Fraction(1)), ("spanning-trees-pipelined", Fraction(1, 10)), ("ring-all-gather", Fraction(1)),
)  # fmt: skip


@tabulated(
    "Four spanning trees of the n x n torus (section 4)",
    ("n", "printed height", "tree A", "tree B", "found", "bound", "arcs of four", "edges there", "arcs there"),
    "Four trees that share no edge do not fit, four that share no arc do (errata X12). Height D + 1 is the least, "
    "and found but for n = 5, where no tree with its three rotations has it (errata X13).",
)
def tree_heights() -> Iterator[Row]:
    """Heights of four arc-disjoint spanning trees."""
    for n in (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 25, 30):
        depth = 2 * (n // 2)
        heights = [trees.height for trees in (tree_a(n), tree_b(n), shallow_trees(n))]
        edges = 4 * (n * n - 1)
        yield (n, depth + 2, *heights, depth + 1, edges, 2 * n * n, 4 * n * n)


_WORKED: tuple[Callable[[], Table], ...] = (
    aggregation_levels, five_prefix_sums, diagonal_sums, destination_lists, far_movement, data_movement,
    larger_all_to_all, result, table_1, lemmas, startups, transmission, tree_heights,
)  # fmt: skip
"""The functions that make the tables of worked figures, lemmas and what follows from them."""


TABLES: tuple[Callable[[], Table], ...] = (
    *operations.TABLES, *_WORKED, *comparison.TABLES, *FLITS_TABLES, *schedule_costs.TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the paper."""
