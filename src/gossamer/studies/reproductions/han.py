"""The tables of Han 1990: as printed, corrected, measured.

Every measured figure comes from schedules that the checker accepted, the largest of several instances. Comparisons
come first, then worked examples, of which the pictures were not at hand: where a figure's numbers are in the text they
are taken from there, what the text leaves open is chosen here, and the notes say what.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth.mappings import MAPPINGS, multiplicity
from gossamer.algorithms.routing.move_and_smooth.smoothing import flow_numbers, row_movement
from gossamer.bounds.ports import distance_bounds
from gossamer.errors import TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.networks.spec import network as parse_network
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.questions.tasks.patterns import PATTERNS, pattern
from gossamer.schedules import Schedule
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated, words
from gossamer.verification import buffer_peak, verify

# Routing the standard instances: what an algorithm took at worst, by schedules that the checker accepted.

_RANDOM = 3


class Worst(NamedTuple):
    """The most that a router took over the instances, each figure on its own.

    `data`, `control`: steps with messages, and steps of counting. `total`: both, counted one each, on the worst
    instance for both. `buffers`: messages in one node between two steps, its own and delivered ones included.
    `distance`: the largest distance between a source and its destination: no router takes fewer steps on that instance.
    """

    data: int
    control: int
    total: int
    buffers: int
    distance: int


def algorithm(name: str) -> Algorithm:
    """Return the permutation routing algorithm of that name."""
    return next(a for a in ALGORITHMS if a.name == name and Permutation in a.tasks)


def instances(network: Network) -> Iterator[tuple[str, Permutation]]:
    """Yield the named permutations that the network's size allows, and three random ones."""
    for name in PATTERNS:
        if name == "random":
            continue
        try:
            yield name, Permutation(tuple(pattern(name, network).tolist()))
        except TaskError:
            continue
    for seed in range(_RANDOM):
        yield f"random {seed}", Permutation(tuple(pattern("random", network, seed=seed).tolist()))


def split_time(schedule: Schedule) -> tuple[int, int]:
    """Return the slots with messages and those of counting, of a schedule whose control packets take no time."""
    control = sum(phase.slots for phase in schedule.phases if phase.slot_length == 0)
    return schedule.slot_count - control, control


@lru_cache(maxsize=256)
def worst(name: str, spec: str) -> Worst:
    """Return the worst over `instances` of one router on one array.

    Raises VerificationError if the checker refuses a schedule.
    """
    network = parse_network(spec)
    router = algorithm(name)
    data = control = total = buffers = distance = 0
    for _, task in instances(network):
        schedule = router.build(Case(network, task))
        verify(schedule).raise_if_invalid()
        moving, counting = split_time(schedule)
        data, control = max(data, moving), max(control, counting)
        total = max(total, moving + counting)
        buffers = max(buffers, buffer_peak(schedule, "all").packets)
        distance = max(distance, max((int(b.value) for b in distance_bounds(Case(network, task))), default=0))
    return Worst(data, control, total, buffers, distance)


def guaranteed(name: str, spec: str) -> tuple[Fraction, Fraction]:
    """Return the guaranteed steps of a move-and-smooth router with messages, and of counting."""
    network, router = parse_network(spec), algorithm(name)
    task = Permutation(tuple(range(network.node_count)))
    data, both = (_promised(router, Case(network, task, Rules(), StepCost(Fraction(t_p)))) for t_p in (0, 1))
    return data, both - data


def _promised(router: Algorithm, case: Case) -> Fraction:
    """Return the guaranteed steps, also of a schedule that is too large to keep."""
    offers = router.offers(case, streamed=True)
    assert not isinstance(offers, Refusal)
    return offers[0].time or Fraction(0)


# Steps and buffers of the routers against n, for the figures.

ROUTERS: tuple[str, ...] = ("Q", "H", "kunde-2", "kunde-4", "greedy", "valiant-brebner", "random-slices")
"""The routers that are compared."""
SIZES: tuple[int, ...] = (4, 8, 16, 32, 64)
"""The sides n."""


class RouterGrowth(NamedTuple):
    """What one router took at worst on n x n for each of `SIZES`: steps (control included) and buffers."""

    name: str
    steps: tuple[int, ...]
    buffers: tuple[int, ...]


def growth() -> Iterator[RouterGrowth]:
    """Yield the growth of every router."""
    for name in ROUTERS:
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        yield RouterGrowth(name, tuple(w.total for w in found), tuple(w.buffers for w in found))


def curves() -> Iterator[Curve]:
    """Yield steps against n for Q and H, with messages and in all, between diameter and guarantee."""
    for name in ("Q", "H"):
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        most = [guaranteed(name, f"array:{n}x{n}") for n in SIZES]
        lower = tuple(Fraction(w.distance) for w in found)
        yield Curve(
            f"Algorithm {name} on n x n: steps with messages", "side n", SIZES,
            tuple(Fraction(w.data) for w in found), lower, tuple(data for data, _ in most),
        )  # fmt: skip
        yield Curve(
            f"Algorithm {name} on n x n: control steps included", "side n", SIZES,
            tuple(Fraction(w.total) for w in found), lower, tuple(data + control for data, control in most),
        )  # fmt: skip


# Tables 1.1 and 5.1 to 5.3 of Han 1990 as facts: what the thesis says of its own algorithms and of others'.


def routing_before() -> Table:
    """Table 1.1: routing algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, routing (as printed)",
        ("algorithm", "model", "problems", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "perfect shuffle, bit reversal", "4n - 4", "wrap-around"),
            ("Nassimi and Sahni 1980", "ILLIAC", "BPC", "4n - 4", ""),
            ("Flanders", "ILLIAC", "BPC", "-", "DAP"),
            ("Raghavendra, Kumar", "ILLIAC", "permutation", "3n - 3", "wrap-around"),
            ("Nassimi and Sahni 1981", "ILLIAC", "broadcast, partial", "O(n)", ""),
            ("Algorithm Q", "distributed", "broadcast, partial", "5.5n", ""),
            ("Krizanc et al.", "distributed", "permutation, partial", "2n + o(n)", "random"),
            ("Kunde", "distributed", "permutation, partial", "2n + o(n)", "unbounded buffers"),
            ("Leighton et al.", "distributed", "permutation, partial", "2n - 2", "constant buffers"),
            ("Valiant, Brebner", "distributed", "permutation, partial", "3n + o(n)", "random, unbounded buffers"),
        ),
    )


def sorting_before() -> Table:
    """Table 1.1: sorting algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, sorting (as printed)",
        ("algorithm", "model", "order", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "row-major", "O(n log n)", "wrap-around"),
            ("Thompson, Kung", "ILLIAC", "snake", "6n + o(n)", ""),
            ("Nassimi, Sahni", "ILLIAC", "row-major", "14n + o(n)", ""),
            ("Kumar, Hirschberg", "ILLIAC", "row-major", "11n + o(n)", "wrap-around"),
            ("Lang et al.", "distributed", "snake", "7n", ""),
            ("Schnorr, Shamir", "distributed", "snake", "3n + o(n)", ""),
            ("Scherson, Sen", "distributed", "blocked snake", "3n + o(n)", ""),
            ("Sado, Igarashi", "distributed", "snake", "5.5n + o(n)", ""),
            ("Ma et al.", "extended ILLIAC", "blocked snake", "8n + o(n)", "n^(1/4) buffers"),
        ),
        "Not ours to run: claims about other authors' algorithms were not checked.",
    )


def compared() -> Table:
    """Table 5.3: deterministic routing algorithms compared, as printed."""
    return Table(
        "Table 5.3 (as printed)",
        ("algorithm", "steps", "buffers", "problems"),
        (
            ("Q", "5.5n", "5", "full, partial, restricted broadcast"),
            ("H", "9n", "3", "full, partial, restricted broadcast"),
            ("Kunde", "3.5n .. 5.5n", "4", "full, partial; by block sorting"),
            ("Leighton, Makedon, Tollis", "2n - 2", "constant (> 500)", "full, partial; by sorting"),
            ("sorting", "3n + O(n^(3/4)) .. 7n", "2", "full permutations only"),
        ),
        "The figures of Q and H count control messages as one step each. What is ours to run follows below.",
    )


_Q = (
    ("Q", "array:16x16", "4n ; 1.5n", "5"),
    ("Q", "array:32x32", "4n ; 1.5n", "5"),
    ("Q-k-partition", "array:16x16", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q-k-partition", "array:64x64", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q", "array:8x8x8", "O(K 2^K n)", "2^K + 1"),
    ("Q", "array:13x13", "4.3n ; 1.5n", "5"),
    ("Q-A", "array:13x13", "4.5n ; 1.5n", "9"),
    ("Q", "array:19x19", "4.3n ; 1.5n", "5"),
    ("Q", "array:32x8", "1.75r + 2.2c ; 0.5r + c", "5"),
)
_H = (
    ("H", "array:16x16", "5.5n ; 3.5n", "3"),
    ("H", "array:32x32", "5.5n ; 3.5n", "3"),
    ("H-k-strips", "array:16x16", "4.05n ; 1.5n", "k + 1"),
    ("H-k-strips", "array:64x64", "4.05n ; 1.5n", "k + 1"),
    ("H", "array:8x8x8", "12.5n ; 9.5n", "3"),
    ("H", "array:13x13", "5.5n ; 3.5n", "3"),
    ("H", "array:17x17", "5.5n ; 3.5n", "3"),
    ("H", "array:32x8", "2.5r + 3c ; 1.5r + 2c", "3"),
)
_ROUTERS = (
    ("Q", "5.5n", "5"),
    ("H", "9n", "3"),
    ("kunde-2", "3.5n .. 5.5n", "4"),
    ("kunde-4", "2.75n .. 3.75n", "8"),
    ("greedy", "2n - 2", "n"),
    ("valiant-brebner", "3n + o(n)", "O(log n)"),
    ("random-slices", "2n + o(n)", "constant, large"),
)
_COLUMNS = (
    *("algorithm", "mesh", "printed steps", "printed buffers", "guaranteed data", "control", "measured data"),
    *("control", "buffers", "distance"),
)
_NOTE = (
    "k = 4. 'Guaranteed' is the exact length that the phases of the clock version take on every instance; 'measured' "
    "is the worst over the named and three random permutations, phases ending with their last hop; 'distance' is the "
    "largest distance that one of these messages has to go. Buffers count all messages in a node, also delivered ones."
)


def _family(title: str, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
    found: list[tuple[Cell, ...]] = []
    for name, spec, steps, buffers in rows:
        data, control = guaranteed(name, spec)
        most = worst(name, spec)
        mesh = spec.removeprefix("array:")
        taken = (most.data, most.control, most.buffers, most.distance)
        found.append((name, mesh, steps, buffers, data, control, *taken))
    return Table(title, _COLUMNS, tuple(found), _NOTE)


def family_q() -> Table:
    """Table 5.1: the family of Algorithm Q."""
    return _family("Table 5.1, the family of Algorithm Q", _Q)


def family_h() -> Table:
    """Table 5.2: the family of Algorithm H."""
    return _family("Table 5.2, the family of Algorithm H", _H)


@tabulated(
    "Table 5.3 measured, n = 32",
    ("algorithm", "printed steps", "printed buffers", "data", "control", "total", "buffers", "distance"),
    "Worst over the named and three random permutations. Kunde's steps depend on the sorter: 2n + O(n/eps) besides "
    "it. The randomized routers draw with seed 0.",
)
def routers() -> Iterator[Row]:
    """Table 5.3: the routers that are ours to run, on the 32 x 32 array."""
    for name, steps, buffers in _ROUTERS:
        most = worst(name, "array:32x32")
        yield name, steps, buffers, most.data, most.control, most.total, most.buffers, most.distance


@tabulated(
    "Guaranteed lengths on n x n (Theorems 3.3 and 4.5)",
    ("n", "Q data", "control", "total", "5.5n", "H data", "control", "total", "9n", "distance"),
    "Q: at most 3.95n - 6.4 and exactly 1.5n - 2 log2 n - 1 for n >= 4; H: exactly 5.5n - 6 - 2 log2 n and "
    "3.5n - 3 - 4 log2 n. 'Distance' is the diameter, which the reversal makes a message travel.",
)
def guaranteed_lengths() -> Iterator[Row]:
    """Theorems 3.3 and 4.5: the exact guaranteed lengths of Q and H on n x n."""
    for n in (2, 4, 8, 16, 32, 64, 128, 1024):
        q, h = guaranteed("Q", f"array:{n}x{n}"), guaranteed("H", f"array:{n}x{n}")
        yield (n, *q, sum(q), 5.5 * n, *h, sum(h), 9 * n, 2 * n - 2)


@tabulated(
    "Guaranteed lengths of H on squares of any size (section 4.6.4)",
    ("n", "data", "control", "total", "9n", "claim"),
    '"Time unchanged" holds to leading order: 9n + O(log n).',
)
def arbitrary_h() -> Iterator[Row]:
    """Section 4.6.4: sizes at which the guarantee of H exceeds 9n (errata 10)."""
    for n in (3, 5, 9, 16, 17, 32, 33, 65, 129):
        data, control = guaranteed("H", f"array:{n}x{n}")
        yield n, data, control, data + control, 9 * n, "above" if data + control > 9 * n else "within"


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
        yield name, words(before), words(after), words(flow), max(map(abs, flow)), steps, most


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
        flow = words(flow_numbers(before, after))
        yield (i, words(before), sum(before), int(half[: i if i < 4 else None].sum()), extra, flow,
                     words(after), words(single[i].tolist()))  # fmt: skip


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
    rows: list[tuple[Cell, ...]] = [(i, *(words(count[i].tolist()) for count in counts)) for i in range(11)]
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


ABOUT = """Steps with messages (data) and steps of counting (control) stand apart; the thesis's totals count both as
one step each. Every measured figure comes from schedules that the checker accepted."""
"""What the page of the reproduction says first."""

TABLES: tuple[Callable[[], Table], ...] = (
    routing_before, sorting_before, row_movements, first_stage, buffers_in_the_move, smoothing, spread_messages,
    worst_move, odd_squares, partitions, guaranteed_lengths, family_q, family_h, arbitrary_h, compared, routers,
)  # fmt: skip
"""The functions that make the tables, in the order of the thesis."""
