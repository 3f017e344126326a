"""The worked examples of Han 1990: Figs. 2.1, 3.1 to 3.9, 3.11 to 3.19 and 4.1 to 4.4, from schedules of our own.

Where a figure's numbers are in the text they are taken from there; the pictures themselves were not at hand, so that
what the text leaves open is chosen here, and the notes say what.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.lines import flow_numbers, row_movement
from gossamer.algorithms.routing.move_and_smooth.mappings import MAPPINGS, multiplicity
from gossamer.networks.network import IntArray
from gossamer.networks.spec import network as parse_network
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.questions.tasks.patterns import pattern
from gossamer.schedules import Schedule
from gossamer.studies.reproductions.han.comparison_tables import algorithm
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated
from gossamer.verification import verify

__all__ = ["FIRST_STAGE", "ROW_MOVEMENTS", "SPREAD", "TABLES", "held", "places"]

Place = tuple[int, int]

ROW_MOVEMENTS: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = (
    ("a", (4, 0, 4, 3, 0, 3, 2, 3), (2, 2, 2, 3, 3, 3, 2, 2)),
    ("b", (2, 3, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 1, 1, 1, 1)),
    ("c", (2, 1, 1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 1, 1, 1)),
    ("d", (4, 4, 4, 4, 0, 0, 0, 0), (2, 2, 2, 2, 2, 2, 2, 2)),
)
"""Packets of the eight nodes of a row before and after, with what the text says of each part of Fig. 2.1."""

FIRST_STAGE: dict[str, tuple[Place, Place]] = {
    "A": ((0, 1), (2, 0)), "B": ((4, 1), (2, 1)), "C": ((0, 5), (2, 2)), "D": ((4, 5), (2, 3)),
    "E": ((1, 1), (6, 7)), "F": ((3, 6), (0, 1)), "G": ((6, 2), (0, 2)), "H": ((5, 4), (0, 6)),
    "J": ((7, 7), (3, 0)), "K": ((0, 7), (3, 1)),
}  # fmt: skip
"""Messages of Fig. 3.1: where they are, chosen so that the text is right, and their destinations, which are printed."""

FULLEST: dict[str, tuple[Place, Place]] = {
    "A": ((0, 2), (4, 6)), "B": ((2, 0), (2, 5)), "C": ((2, 4), (1, 0)), "D": ((4, 2), (0, 3)), "E": ((2, 2), (1, 1)),
    "H": ((7, 7), (6, 0)), "J": ((7, 3), (5, 1)), "K": ((3, 3), (7, 0)),
}  # fmt: skip
"""Messages of Fig. 3.3 with the places that the text names, each to some node of the quadrant that it goes to."""

SPREAD: dict[str, tuple[Place, tuple[Place, ...]]] = {
    "A": ((0, 1), ((2, 0), (5, 3))), "B": ((4, 1), ((2, 1), (6, 6), (7, 3))), "C": ((0, 4), ((2, 2),)),
    "D": ((5, 5), ((2, 3),)), "E": ((1, 2), ((0, 1), (6, 7), (3, 4), (5, 0), (3, 5), (5, 1))),
    "F": ((2, 3), ((1, 0),)), "G": ((6, 4), ((0, 2), (6, 3))), "H": ((3, 7), ((0, 6), (1, 6), (2, 6))),
    "J": ((1, 6), ((1, 7),)),
}  # fmt: skip
"""Messages of Figs. 3.11 and 4.1: where they are, chosen here but for A and E, and their destinations."""


def held(schedule: Schedule, slot: int) -> list[set[int]]:
    """Return the packets in each node before a slot, those that have arrived included.

    >>> [len(some) for some in held(_routed("array:2x2", "Q", {"A": ((0, 0), (1, 1))}), 1)]
    [0, 0, 1, 0]
    """
    some: list[set[int]] = [set() for _ in range(schedule.network.node_count)]
    for packet, node in enumerate(schedule.packets.origin.tolist()):
        some[node].add(packet)
    for t in range(slot):
        hops = np.flatnonzero((schedule.slot == t) & (schedule.packet >= 0))  # not those of counting
        for packet, link in zip(schedule.packet[hops].tolist(), schedule.link[hops].tolist(), strict=True):
            some[int(schedule.network.link_source[link])].discard(packet)
            some[int(schedule.network.link_target[link])].add(packet)
    return some


def places(schedule: Schedule, phase: int) -> dict[int, int]:
    """Return the node of each packet at the end of a phase."""
    last = schedule.phases[phase]
    return {p: node for node, some in enumerate(held(schedule, last.first_slot + last.slots)) for p in some}


def _routed(spec: str, name: str, messages: Mapping[str, tuple[Place, Place]]) -> Schedule:
    network = parse_network(spec)
    assert network.grid is not None
    side = network.grid.sides[1]
    destination = np.full(network.node_count, -1)
    for (i, j), (row, column) in messages.values():
        destination[i * side + j] = row * side + column
    schedule = algorithm(name).build(Case(network, Permutation(tuple(destination.tolist()))))
    verify(schedule).raise_if_invalid()
    return schedule


def _named(schedule: Schedule, messages: Mapping[str, tuple[Place, object]], side: int) -> dict[int, str]:
    name = {i * side + j: word for word, ((i, j), _) in messages.items()}
    return {p: name[int(origin)] for p, origin in enumerate(schedule.packets.origin)}


def _place(node: int, side: int = 8) -> str:
    return f"{node // side},{node % side}"


@tabulated(
    "Row movement on eight processors (Fig. 2.1)",
    ("part", "before", "after", "flow numbers", "largest flow", "steps", "buffers"),
    "A flow number below 0 is a flow to the left. The text gives the sum 19, the segments and the final messages "
    "of a and the final messages, the largest flow and the 6 steps of b; c takes as long as its distance and d as "
    "its largest flow. The messages before are chosen here. No processor holds more than before or after "
    "(Theorem 2.2).",
)
def row_movements() -> Iterator[Row]:
    """Fig. 2.1: four row movements on eight nodes."""
    for name, before, after in ROW_MOVEMENTS:
        flow = flow_numbers(before, after)
        steps, most = row_movement(before, after)
        yield name, _words(before), _words(after), _words(flow), max(map(abs, flow)), steps, most


def _words(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


@tabulated(
    "The first stage of Algorithm Q on the 8 x 8 array (Figs. 3.1 and 3.2)",
    ("message", "from", "destination", "target of the move", "after rows", "after columns"),
    "Row, column of a processor. The destinations are those of Fig. 3.1; where the messages begin is chosen here, "
    "so that four of them meet at 0,1 and K comes into the same row, as the text says.",
)
def first_stage() -> Iterator[Row]:
    """Figs. 3.1 and 3.2: the first stage of Algorithm Q on ten messages."""
    schedule = _routed("array:8x8", "Q", FIRST_STAGE)
    name = _named(schedule, FIRST_STAGE, 8)
    ends = [places(schedule, phase) for phase in (0, 2, 3)]
    for packet, word in sorted(name.items(), key=lambda some: some[1]):
        start, to = FIRST_STAGE[word]
        yield (word, _place(8 * start[0] + start[1]), _place(8 * to[0] + to[1]), *(_place(e[packet]) for e in ends))


@tabulated(
    "Buffers during the move step on the 8 x 8 array (Fig. 3.3, Theorem 3.1)",
    ("steps done", "in 2,2", "in 7,3", "most in a processor"),
    "The places are those that the text names: E and J stay, and after two steps A, B, C and D pass through 2,2.",
)
def buffers_in_the_move() -> Iterator[Row]:
    """Fig. 3.3: messages in two processors during the move step."""
    schedule = _routed("array:8x8", "Q", FULLEST)
    name = _named(schedule, FULLEST, 8)
    for step in range(schedule.phases[0].slots + 1):
        some = held(schedule, step)
        inside = [" ".join(sorted(name[p] for p in some[8 * i + j])) for i, j in ((2, 2), (7, 3))]
        yield (step, *inside, max(map(len, some)))


def _quadrant() -> tuple[IntArray, IntArray, IntArray]:
    """Return messages in the processors of the upper left quadrant of 16 x 16, after the move, rows and columns."""
    network = parse_network("array:16x16")
    schedule = algorithm("Q").build(Case(network, Permutation(tuple(pattern("random", network, seed=0).tolist()))))
    verify(schedule).raise_if_invalid()
    counts = []
    for phase in (0, 2, 3):
        there = np.bincount(list(places(schedule, phase).values()), minlength=256).reshape(16, 16)
        counts.append(there[:8, :8].astype(np.int32))
    return counts[0], counts[1], counts[2]


@tabulated(
    "Counting and smoothing of an 8 x 8 submesh (Figs. 3.4 to 3.9)",
    ("row", "after the move", "in the row", "counted before it", "extra messages in columns", "flow numbers",
     "after rows", "after columns"),
    "Messages in the processors of each row. The submesh is the upper left quadrant of 16 x 16 processors with a "
    "random permutation (seed 0); the numbers of the figures were not at hand. Rows 0 to 3 count from above and "
    "rows 4 to 7 from below. Extra messages of successive rows lie in successive columns, so that no column has "
    "more than 8 (Lemma 3.3).",
)  # fmt: skip
def smoothing() -> Iterator[Row]:
    """Figs. 3.4 to 3.9: counting, row movement and column movement of one quadrant."""
    moved, spread, single = _quadrant()
    for i, (before, after) in enumerate(zip(moved.tolist(), spread.tolist(), strict=True)):
        half = moved[:i] if i < 4 else moved[i + 1 :]
        least = min(after)
        extra = " ".join(str(j) for j, count in enumerate(after) if count > least)
        flow = _words(flow_numbers(before, after))
        yield (i, _words(before), sum(before), int(half[: i if i < 4 else None].sum()), extra, flow,
                     _words(after), _words(single[i].tolist()))  # fmt: skip


def spread_messages() -> Table:
    """Figs. 3.11 and 4.1: copies of messages with several destinations in the first stages of Q and H."""
    network = parse_network("array:8x8")
    destinations: list[tuple[int, ...]] = [()] * 64
    for (i, j), there in SPREAD.values():
        destinations[8 * i + j] = tuple(8 * row + column for row, column in there)
    task = OneToManyRouting(tuple(destinations))
    after = {name: _copies(plan(network, task, algorithm=name).schedule, rows) for name, rows in (("Q", 4), ("H", 8))}
    rows: list[tuple[Cell, ...]] = []
    for word, ((i, j), to) in SPREAD.items():
        copies = ["; ".join(map(_place, after[name][8 * i + j])) for name in ("Q", "H")]
        rows.append((word, f"{i},{j}", "; ".join(f"{row},{column}" for row, column in to), *copies))
    return Table(
        "Restricted broadcasting on the 8 x 8 array (Figs. 3.11 and 4.1)",
        ("message", "from", "destinations", "copies after the move of Q", "after the first move of H"),
        tuple(rows),
        "One copy goes to each quadrant, or half, with a destination. The destinations are printed; where the "
        "messages begin is chosen here but for A and E.",
    )


def _copies(schedule: Schedule, height: int) -> dict[int, list[int]]:
    """Return the nodes that keep a message at the end of the first phase, by the message's origin.

    They are those that it came to, at the same place in their region of `height` rows and 4 columns, and with a
    destination in the region.
    """
    assert isinstance(schedule.task, OneToManyRouting)
    move = np.flatnonzero((schedule.slot < schedule.phases[0].slots) & (schedule.packet >= 0))
    came = defaultdict(set)
    for packet, link in zip(schedule.packet[move].tolist(), schedule.link[move].tolist(), strict=True):
        came[int(schedule.packets.origin[packet])].add(int(schedule.network.link_target[link]))

    def region(node: int) -> tuple[int, int]:
        return node // 8 // height, node % 8 // 4

    kept = {}
    for origin, wanted in enumerate(schedule.task.destinations):
        place = (origin // 8 % height, origin % 4)
        there = {v for v in came[origin] | {origin} if (v // 8 % height, v % 4) == place}
        kept[origin] = sorted(v for v in there if region(v) in set(map(region, wanted)))
    return kept


@tabulated(
    "A move step of the k^2-partition (Fig. 3.12)",
    ("n", "kn/2", "printed (k-1)n", "measured"),
    "k = 4; processors at the same places of the 16 blocks send to the block in the lower left corner, as "
    "many as it has places for. With n = 16 that are too few for the worst time.",
)
def worst_move() -> Iterator[Row]:
    """Fig. 3.12: the move step of the k^2-partition at its worst."""
    for n in (16, 64):
        side = n // 4
        block = [(n - side + i // side, i % side) for i in range(side * side)]
        froms = [(a * side + side - 1, b * side + y) for y in range(side) for a in range(4) for b in range(4)]
        messages = {str(i): ends for i, ends in enumerate(zip(froms, block, strict=False))}
        schedule = _routed(f"array:{n}x{n}", "Q-k-partition", messages)
        yield n, 2 * n, 3 * n, schedule.phases[0].slots


def odd_squares() -> Table:
    """Figs. 3.13 to 3.19: of how many processors each one is the target, for the three mappings on 11 x 11."""
    counts = [multiplicity(MAPPINGS[name], 11, 11) for name in "123"]
    rows: list[tuple[Cell, ...]] = [(i, *(_words(count[i].tolist()) for count in counts)) for i in range(11)]
    rows.append(("most", *(int(count.max()) for count in counts)))
    return Table(
        "Targets on an odd square, 11 x 11 (Figs. 3.13 to 3.19)",
        ("row", "first mapping", "second mapping", "third mapping"),
        tuple(rows),
        "The processors, itself included, whose message may go to each processor: so many messages it can hold after "
        "the move. Submesh II has rows and columns 0 to 5, submesh IV the last five of both. Special are the first row "
        "and column for the first mapping (Fig. 3.14b), those of number 5 for the others (Fig. 3.14a).",
    )


@tabulated(
    "Partitions of Algorithm H (Figs. 4.2 to 4.4)",
    ("figure", "algorithm", "mesh", "submeshes of the moves, the largest of each"),
    "k = 4. A move step divides each submesh; the next one has its parts.",
)
def partitions() -> Iterator[Row]:
    """Figs. 4.2 to 4.4: the submeshes into which Algorithm H divides a cube, strips and an odd square."""
    for figure, name, spec in (("4.2", "H", "array:8x8x8"), ("4.3", "H-k-strips", "array:16x16"),
                               ("4.4", "H", "array:9x9")):  # fmt: skip
        network = parse_network(spec)
        task = Permutation(tuple(pattern("random", network, seed=0).tolist()))
        schedule = algorithm(name).build(Case(network, task))
        verify(schedule).raise_if_invalid()
        moves = [phase.name.removeprefix("move ") for phase in schedule.phases if phase.name.startswith("move ")]
        yield figure, name, spec.removeprefix("array:"), ", ".join(moves)


TABLES: tuple[Callable[[], Table], ...] = (
    row_movements, first_stage, buffers_in_the_move, smoothing, spread_messages, worst_move, odd_squares, partitions,
)  # fmt: skip
"""The functions that make the tables of worked examples."""
