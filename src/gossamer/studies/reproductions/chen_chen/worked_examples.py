"""The worked figures of Chen and Chen: Figs. 2c, 4 to 9, 10 to 15, 18 and 22, from our own schedules.

The pictures themselves were not at hand; the sources are `operations.TWENTY`, with the loads that the text names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from gossamer.studies.reproductions.chen_chen.operations import TWENTY
from gossamer.studies.reproductions.chen_chen.schedule_costs import case_of, cost_of, scheduled
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated
from gossamer.wormhole import WormholeSchedule, verify
from gossamer.wormhole.aggregation_distribution import ATD_5
from gossamer.wormhole.aggregation_distribution.closed_forms import destinations, movement
from gossamer.wormhole.aggregation_distribution.collection import aggregate
from gossamer.wormhole.aggregation_distribution.prefix_sums import gather_rounds, prefix_sums, ranks
from gossamer.wormhole.aggregation_distribution.recording import ScheduleRecorder
from gossamer.wormhole.group_trees import group_tree, offset
from gossamer.wormhole.partition import TorusPartition

__all__ = ["TABLES", "Listed", "destination_lists", "listed", "result"]

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
        yield _place(node, _N), ddn, alpha, len(rank), _words(to), _words(offsets)


def _words(values: list[int]) -> str:
    return " ".join(map(str, values))


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
        rows.append((number, _words([p.places for p in partners]), known, known + gained))
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


TABLES: tuple[Callable[[], Table], ...] = (
    aggregation_levels, five_prefix_sums, diagonal_sums, destination_lists, far_movement, data_movement,
    larger_all_to_all, result,
)  # fmt: skip
"""The functions that make the tables of the figures."""
