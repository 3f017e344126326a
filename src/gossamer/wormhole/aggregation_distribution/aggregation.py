"""Diagonal-based data aggregation, its use inside the DDNs, and its reverse, the dilated-diagonal broadcast."""

from __future__ import annotations

import numpy as np

from gossamer.wormhole.aggregation_distribution.recording import PhaseCost, Recording
from gossamer.wormhole.contraction import GroupTree, contraction

__all__ = ["aggregate", "contraction_cost", "diagonal_broadcast"]


def aggregate(recording: Recording, tree: GroupTree, unit: int, name: str) -> None:
    """Move all units along a contraction of diagonals.

    Parameters
    ----------
    recording : Recording
        The schedule so far; its holders are moved.
    tree : GroupTree
        Of h diagonals with unit 1: from all diagonals to those that are 0 modulo h. Of g diagonals with unit h: in all
        DDNs at once, from all of their diagonals to the main one.
    unit : int
        Distance of the diagonals.
    name : str
        Name of the phase.

    Notes
    -----
    One step a level. Units are moved, not copied.

    References
    ----------
    Chen and Chen 2000, sections 3.1.1 (Lemma 1) and 3.2.1.
    """
    here = np.full(recording.partition.node_count, -1, np.int64)
    with recording.phase(name):
        for moves in contraction(recording.partition, tree, unit):
            recording.step()
            here[moves.source] = np.arange(moves.source.size)
            move = here[recording.holder]
            units = np.flatnonzero(move >= 0)
            recording.move(units, moves.displacement[move[units]])
            here[moves.source] = -1


def diagonal_broadcast(recording: Recording, tree: GroupTree, name: str = "broadcast") -> None:
    """Send all that belongs to a DDN from its main diagonal to all of its nodes, in all DDNs at once.

    Notes
    -----
    The moves of the contraction of the DDNs' diagonals, backward. One step a level, each as long as all messages of the
    largest DDN.

    References
    ----------
    Chen and Chen 2000, section 3.2.2.
    """
    partition = recording.partition
    rows = np.array([recording.row(units) for units in recording.of_ddn()], np.int64)
    with recording.phase(name):
        for moves in reversed(list(contraction(partition, tree, partition.h))):
            recording.step()
            back = moves.backward
            recording.send(back.source, back.displacement, rows[partition.ddn[back.source]])


def contraction_cost(name: str, tree: GroupTree, unit: int, unit_bytes: int, held: int, most: int) -> PhaseCost:
    """Return the closed form of a contraction of units of `unit_bytes`.

    Parameters
    ----------
    name : str
        Name of the phase.
    tree : GroupTree
        The contraction.
    unit : int
        Distance of its diagonals.
    unit_bytes : int
        Bytes of a unit.
    held : int
        The most units that a node holds before.
    most : int
        The most units that may come together.

    Notes
    -----
    Attained for the aggregation when all nodes are sources; an upper bound otherwise.

    Examples
    --------
    >>> from gossamer.wormhole.contraction import group_tree
    >>> contraction_cost("aggregation", group_tree(6), 1, 1, 1, 36).bytes
    (1, 3)
    """
    return PhaseCost(
        name,
        tuple(min(most, held * load) * unit_bytes for load in tree.loads),
        tuple(reach * unit for reach in tree.reaches),
    )
