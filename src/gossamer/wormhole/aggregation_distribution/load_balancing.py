"""Data tuning: giving every DDN the same number of units, by moves along diagonals.

A unit at a node of one DDN goes to another DDN by the *offset* l of their residues: from ``P(k, k')`` to
``P(k+l, k'+l)``. Three ways to make all offsets at once are `MOVEMENTS`:

=========  ==============================================================  ==============================
movement   how                                                             steps
=========  ==============================================================  ==============================
mix5       digit after digit of l in base 5; a digit takes two steps,      ``2 * ceil_log(5, h)``
           digits of +-1 vertical first and those of +-2 horizontal first
mix3       digit after digit in base 3, in one step each                   ``ceil_log(3, h)``
direct     offsets in pairs (1,2), (3,4), ..., the second step of a pair   ``ceil(floor(h/2) / 2) + 1``
           together with the first step of the next
=========  ==============================================================  ==============================
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gossamer.wormhole.aggregation_distribution.recording import PhaseCost, Recording
from gossamer.wormhole.contraction import balanced_digits, ceil_log
from gossamer.wormhole.partition import Ints, Partition

__all__ = ["MOVEMENTS", "destinations", "movement", "tune", "tuning_cost"]


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


def destinations(partition: Partition, rank: Ints) -> Ints:
    """Return the DDN of the units with the given ranks: rank modulo the number of DDNs.

    At most h units of a node have consecutive ranks, so that they take different offsets.

    >>> destinations(Partition((10, 10), 5), np.array([9, 10, 11])).tolist()
    [4, 0, 1]
    """
    return np.asarray(rank % partition.ddn_count, np.int64)


def tune(recording: Recording, name: str) -> None:
    """Move every unit to a node of the DDN that is its `word`.

    Parameters
    ----------
    recording : Recording
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


def tuning_cost(partition: Partition, name: str, sources: int, unit_bytes: int, words: int) -> PhaseCost:
    """Return the closed form of `tune` after an aggregation.

    Parameters
    ----------
    partition : Partition
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
    Whole messages: attained in two dimensions when all nodes are sources, an upper bound otherwise.

    Examples
    --------
    >>> p = Partition((50, 50), 25)
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
