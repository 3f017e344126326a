"""The closed forms of aggregation-then-distribution: steps, bytes, time, and the best dilation.

They know the sides, the number of messages, the partition and the variant, but not which nodes are sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from gossamer.questions.costs import LinearCost
from gossamer.wormhole.aggregation_distribution.final_all_gather import collection_cost, contraction_cost
from gossamer.wormhole.aggregation_distribution.prefix_sums import gathering_cost, prefix_cost
from gossamer.wormhole.aggregation_distribution.recording import PhaseCost, ScheduleRecorder
from gossamer.wormhole.contraction_trees import balanced_digits, ceil_log, group_tree
from gossamer.wormhole.partition import Ints, TorusPartition, common_divisors

__all__ = [
    "ATD_5",
    "ATD_OPT",
    "ATD_PIECE",
    "MAX_HOLDINGS",
    "MOVEMENTS",
    "Variant",
    "best_h",
    "closed_form",
    "closed_form_time",
    "destinations",
    "holdings",
    "movement",
    "times_by_h",
    "tune",
    "tuning_cost",
    "with_tuning",
]

# Data tuning: giving every DDN the same number of units, by moves along diagonals.
#
# A unit at a node of one DDN goes to another DDN by the *offset* l of their residues: from ``P(k, k')`` to
# ``P(k+l, k'+l)``. Three ways to make all offsets at once are `MOVEMENTS`:
#
# =========  ==============================================================  ==============================
# movement   how                                                             steps
# =========  ==============================================================  ==============================
# mix5       digit after digit of l in base 5; a digit takes two steps,      ``2 * ceil_log(5, h)``
#            digits of +-1 vertical first and those of +-2 horizontal first
# mix3       digit after digit in base 3, in one step each                   ``ceil_log(3, h)``
# direct     offsets in pairs (1,2), (3,4), ..., the second step of a pair   ``ceil(floor(h/2) / 2) + 1``
#            together with the first step of the next
# =========  ==============================================================  ==============================


def movement(name: str, h: int) -> Ints:
    """Return the moves by which all offsets are made.

    Parameters
    ----------
    name : {"mix5", "mix3", "direct"}
        Which movement.
    h : int
        Number of residues; the offsets are -((h-1)//2) .. h//2.

    Returns
    -------
    int64[steps, h, 2]
        For each step and offset (ascending) the hops down and the hops to the right.

    References
    ----------
    Chen and Chen 2000, section 3.1.2.2 (Figs. 10-12).

    Examples
    --------
    >>> movement("mix5", 5)[:, 3:].tolist()  # offsets 1 and 2
    [[[1, 0], [0, 2]], [[0, 1], [2, 0]]]
    """
    return MOVEMENTS[name](np.arange(-((h - 1) // 2), h // 2 + 1))


def _by_digits(offsets: Ints, base: int) -> Ints:
    count = ceil_log(base, offsets.size)
    digits = np.array([balanced_digits(int(v), base, count) for v in offsets], np.int64).reshape(offsets.size, count)
    return np.asarray(digits.T * base ** np.arange(count)[:, None], np.int64)


def _mix5(offsets: Ints) -> Ints:
    steps = []
    for hops, unit in zip(_by_digits(offsets, 5), 5 ** np.arange(10), strict=False):
        near, far = np.where(abs(hops) == unit, hops, 0), np.where(abs(hops) == 2 * unit, hops, 0)
        steps += [np.stack([near, far], axis=1), np.stack([far, near], axis=1)]
    return np.array(steps, np.int64).reshape(-1, offsets.size, 2)


def _mix3(offsets: Ints) -> Ints:
    return np.repeat(_by_digits(offsets, 3)[:, :, None], 2, axis=2)


def _direct(offsets: Ints) -> Ints:
    far = int(offsets[-1])
    pairs = -(-far // 2)
    moves = np.zeros((pairs + 1 if far else 0, offsets.size, 2), np.int64)
    for p in range(pairs):
        for distance, first in ((2 * p + 1, 0), (2 * p + 2, 1)):
            chosen = abs(offsets) == distance
            moves[p, chosen, first] = offsets[chosen]
            moves[p + 1, chosen, 1 - first] = offsets[chosen]
    return moves


MOVEMENTS: dict[str, Callable[[Ints], Ints]] = {"mix5": _mix5, "mix3": _mix3, "direct": _direct}
"""The movements by name: each makes the moves of all offsets."""


def destinations(partition: TorusPartition, rank: Ints) -> Ints:
    """Return the DDN of the units with the given ranks: rank modulo the number of DDNs.

    At most h units of a node have consecutive ranks, so that they take different offsets.

    >>> destinations(TorusPartition((10, 10), 5), np.array([9, 10, 11])).tolist()
    [4, 0, 1]
    """
    return np.asarray(rank % partition.ddn_count, np.int64)


def tune(recording: ScheduleRecorder, name: str) -> None:
    """Move every unit to a node of the DDN that is its `word`.

    Parameters
    ----------
    recording : ScheduleRecorder
        The schedule so far; all holders are nodes of DDNs.
    name : {"mix5", "mix3", "direct"}
        The movement.

    Notes
    -----
    In d dimensions there are d - 1 rounds, one for each residue k_t, t = d-1..1, along dimensions 0 and t.

    References
    ----------
    Chen and Chen 2000, section 3.1.2.2.
    """
    partition, h = recording.partition, recording.partition.h
    steps = movement(name, h)
    low = -((h - 1) // 2)
    with recording.phase("tuning"):
        for t in range(partition.dimensions - 1, 0, -1):
            residue = partition.coordinates[recording.holder, t]
            index = (partition.word(recording.word)[:, t] - residue - low) % h
            for moves in steps:
                recording.step()
                down, right = moves[index].T
                units = np.flatnonzero((down != 0) | (right != 0))
                recording.move(units, partition.along(0, down[units]) + partition.along(t, right[units]))


def tuning_cost(partition: TorusPartition, name: str, sources: int, unit_bytes: int, words: int) -> PhaseCost:
    """Return the closed form of `tune` after an aggregation.

    Parameters
    ----------
    partition : TorusPartition
        The partition.
    name : {"mix5", "mix3", "direct"}
        The movement.
    sources : int
        Number of messages s.
    unit_bytes : int
        Bytes of a unit.
    words : int
        Units of a message: 1, or the number of DDNs.

    Notes
    -----
    Unsegmented messages: attained in two dimensions when all nodes are sources, an upper bound otherwise.

    Examples
    --------
    >>> p = TorusPartition((50, 50), 25)
    >>> [sum(tuning_cost(p, name, 2500, 1, 1).bytes) for name in ("mix5", "mix3", "direct")]
    [20, 24, 7]
    """
    h, d = partition.h, partition.dimensions
    lengths, hops = [], []
    for done in range(d - 1):
        for moves in movement(name, h):
            ways, counts = np.unique(moves, axis=0, return_counts=True)
            shared = int(counts[ways.any(axis=1)].max(initial=0))
            if words == 1:
                units = min(shared * h**done, sources)
            else:
                units = min(h ** (done + 1), sources) * h ** (d - 2 - done) * shared
            lengths.append(units * unit_bytes)
            hops.append(int(np.abs(moves).sum(axis=1).max()))
    return PhaseCost("tuning", tuple(lengths), tuple(hops))


MAX_HOLDINGS = 2**33
"""The most pieces times nodes of a schedule, each a bit in the checker: 1 GiB."""


@dataclass(frozen=True)
class Variant:
    """The choices of a schedule.

    Attributes
    ----------
    name : str
        Its name in the registry.
    pieces : bool
        Whether messages are cut into a piece for each DDN, rather than given whole to DDNs by their rank.
    prefix_fan : {5, 3}
        Groups along the diagonal in the prefix sums.
    tuning : str
        A movement of `tuning.MOVEMENTS`, or ``"cheapest"`` for the one with the least closed form.
    gather_fan : {4, 2}
        Partners in a round of the all-gather on the diagonals.
    rows, columns : str
        As of `final_all_gather.collect`.
    halves : bool
        Whether the data collection goes in as many parts as there are dimensions, with rotated dimensions.
    """

    name: str
    pieces: bool
    prefix_fan: Literal[3, 5]
    tuning: str
    gather_fan: Literal[2, 4]
    rows: str = "window"
    columns: str = "shift"
    halves: bool = True


ATD_5 = Variant("atd-5", False, 5, "mix5", 4, columns="ring", halves=False)
ATD_OPT = Variant("atd-opt", False, 3, "cheapest", 2)
ATD_PIECE = Variant("atd-piece", True, 3, "cheapest", 2)


def with_tuning(partition: TorusPartition, sources: int, cost: LinearCost, variant: Variant) -> Variant:
    """Return the variant with the movement chosen that has the least closed form, where it is ``"cheapest"``.

    >>> with_tuning(TorusPartition((25, 25), 25), 625, LinearCost(startup=0), ATD_OPT).tuning
    'direct'
    """
    if variant.tuning != "cheapest":
        return variant
    words = partition.ddn_count if variant.pieces else 1
    unit = _unit_bytes(partition, cost, variant)[0]
    times = {name: closed_form_time([tuning_cost(partition, name, sources, unit, words)], cost) for name in MOVEMENTS}
    return replace(variant, tuning=min(("mix3", "direct", "mix5"), key=lambda name: times[name]))


def _unit_bytes(partition: TorusPartition, cost: LinearCost, variant: Variant) -> tuple[int, int]:
    """Return the bytes of the largest unit and of its largest packet."""
    copies = partition.dimensions if variant.halves else 1
    packets = (partition.ddn_count if variant.pieces else 1) * copies
    least, longer = divmod(cost.message_bytes, packets)
    return least * copies + min(copies, longer), least + (longer > 0)


def closed_form(
    sides: tuple[int, ...], sources: int, h: int, cost: LinearCost, variant: Variant
) -> tuple[PhaseCost, ...]:
    """Return the steps of a schedule, phase by phase, and the most bytes and hops of a message in each.

    Parameters
    ----------
    sides : tuple of int
        Sides of the torus.
    sources : int
        Number of messages s.
    h : int
        Dilation of the DDNs.
    cost : LinearCost
        Lengths; its costs choose the tuning.
    variant : Variant
        The choices of the schedule.

    Returns
    -------
    tuple of PhaseCost
        Phases without steps left out. The steps are exact. The bytes are exact in the phases broadcast, rows and
        columns in two dimensions, but for roundings of pieces; in the others they are upper bounds, attained in the
        aggregation and the tuning of unsegmented messages when all nodes are sources.

    References
    ----------
    Chen and Chen 2000, Lemmas 1-3 and Theorem 1, corrected: see the errata.

    Examples
    --------
    >>> [(p.name, sum(p.bytes)) for p in closed_form((25, 25), 625, 5, LinearCost(message_bytes=1), ATD_5)][2:5]
    [('tuning', 2), ('alignment', 5), ('all-gather', 50)]
    """
    partition = TorusPartition(sides, h)
    if not sources or partition.node_count == 1:
        return ()
    variant = with_tuning(partition, sources, cost, variant)
    d, words = partition.dimensions, partition.ddn_count
    unit, packet = _unit_bytes(partition, cost, variant)
    whole, inside = group_tree(h, 2 * d + 1), group_tree(partition.diagonals, 2 * d + 1)
    if variant.pieces:
        held, most, everything = h**d, sources, sources * words
    else:
        held, most, everything = max(words, h), -(-sources // words), sources
    phases = [contraction_cost("aggregation", whole, 1, cost.message_bytes, 1, sources)]
    if not variant.pieces:
        phases.append(prefix_cost(partition, variant.prefix_fan, cost.counter_bytes))
    phases += [
        tuning_cost(partition, variant.tuning, sources, unit, words if variant.pieces else 1),
        contraction_cost("alignment", inside, h, unit, held, most),
        gathering_cost(partition, variant.gather_fan, unit, held * partition.diagonals, most),
        PhaseCost(
            "broadcast", (most * unit,) * len(inside.levels), tuple(reach * h for reach in reversed(inside.reaches))
        ),
        *collection_cost(partition, packet, most, everything, rows=variant.rows, columns=variant.columns),
    ]
    return tuple(phase for phase in phases if phase.bytes)


def holdings(sides: tuple[int, ...], sources: int, h: int, variant: Variant) -> int:
    """Return the pieces that the messages are cut into, times the nodes.

    >>> holdings((10, 10), 20, 5, ATD_PIECE)
    20000
    """
    words = h ** (len(sides) - 1) if variant.pieces else 1
    return sources * words * (len(sides) if variant.halves else 1) * math.prod(sides)


def closed_form_time(phases: Iterable[PhaseCost], cost: LinearCost) -> Fraction:
    """Return the time of the steps of closed forms.

    >>> closed_form_time([PhaseCost("rows", (10, 20), (1, 1))], LinearCost(startup=5, per_byte="0.1"))
    Fraction(13, 1)
    """
    steps = bytes_ = hops = 0
    for phase in phases:
        steps, bytes_, hops = steps + len(phase.bytes), bytes_ + sum(phase.bytes), hops + sum(phase.hops)
    return steps * cost.startup + bytes_ * cost.per_byte + hops * cost.hop_time


def times_by_h(sides: tuple[int, ...], sources: int, cost: LinearCost, variant: Variant) -> dict[int, Fraction]:
    """Return the time by its closed form for every h that keeps to `MAX_HOLDINGS`; for h = 1 if there is none.

    >>> sorted(times_by_h((10, 10), 20, LinearCost(), ATD_OPT))
    [1, 2, 5, 10]
    """
    divisors = [h for h in common_divisors(sides) if holdings(sides, sources, h, variant) <= MAX_HOLDINGS]
    return {h: closed_form_time(closed_form(sides, sources, h, cost, variant), cost) for h in divisors or [1]}


def best_h(sides: tuple[int, ...], sources: int, cost: LinearCost, variant: Variant) -> int:
    """Return the h with the least closed form, the smallest of equals, among those that keep to `MAX_HOLDINGS`.

    >>> [best_h((25, 25), 25, LinearCost(startup=t, message_bytes=1000), ATD_OPT) for t in (100, 10000, 100000)]
    [25, 5, 1]
    """
    times = times_by_h(sides, sources, cost, variant)
    return min(times, key=lambda h: times[h])
