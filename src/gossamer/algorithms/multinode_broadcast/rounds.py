"""Broadcasts along lines and rings in rounds, and the broadcast phase of algorithm A_0 made of them.

In round w every node that still has a w-th packet broadcasts it along its line or ring. At most one packet a node
never makes another one wait, so a round takes p-1 steps on a line of p nodes, floor(p/2) on a ring (floor(p/2) hops up,
ceil(p/2)-1 down), and (p-1)/2 on a ring whose packets are cut in halves, one for each direction. The insertion rule
of Varvarigos and Bertsekas 1994, Theorem 2, can take longer on a ring than the rounds that Lemma 1 counts (erratum X3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.graphs.rotation import Columns, RotatedClass, Rotation, stacked
from gossamer.networks.network import IntArray

__all__ = ["round_slots", "subphase_slots", "write_rounds"]


def round_slots(side: int, wraps: bool, halves: int = 1) -> int:
    """Return the slots of a round on a line or ring, in which every node broadcasts a packet, or both halves of one.

    Parameters
    ----------
    side : int
        Nodes of the line or ring, at least 2.
    wraps : bool
        Whether it is a ring.
    halves : int
        1, or 2 for packets cut in halves, of which each takes a slot to cross a link. On a ring one half goes up and
        one down; on a line the second half follows when the first has arrived everywhere.

    Examples
    --------
    >>> round_slots(5, False), round_slots(5, True), round_slots(6, True), round_slots(6, True, halves=2)
    (4, 2, 3, 5)
    """
    if not wraps:
        return halves * (side - 1)
    return side // 2 if halves == 1 else side - 1


def subphase_slots(rotations: Sequence[Rotation], packets: int, halves: int = 1) -> list[int]:
    """Return the slots of subphases 1..d of the broadcast phase, common to all classes.

    Parameters
    ----------
    rotations : sequence of Rotation
        Of the classes that run together.
    packets : int
        Packets of the largest class, M or M'.
    halves : int
        As for `round_slots`.

    Returns
    -------
    list of int
        For subphase l the longest, over the classes, of ``ceil(packets / places[d-l+1])`` rounds along digit d-l.
        Classes that went on by themselves could meet in a dimension (erratum X5).

    References
    ----------
    Varvarigos and Bertsekas 1994, Lemma 1.
    """
    d = len(rotations[0].sides) if rotations else 0
    return [
        max(-(-packets // r.places[k + 1]) * round_slots(r.sides[k], r.wraps[k], halves) for r in rotations)
        for k in reversed(range(d))
    ]


def write_rounds(
    columns: Columns,
    at: int,
    first_slot: int,
    classes: Sequence[RotatedClass],
    links: IntArray,
    slots: Sequence[int],
    halves: int = 1,
) -> int:
    """Write the hops of the broadcast phase of all classes together, sorted by slot.

    Subphase l = 1..d uses digit d-l, the most significant first. Before it, the node of name y holds the packets whose
    ranks agree with y in digits 0..d-l; in its round w it broadcasts the w-th of them, of rank
    ``y mod places[d-l+1] + w * places[d-l+1]``. Nodes that the packet passed on its way in the packing phase
    are left out.

    Parameters
    ----------
    columns, at, first_slot, classes, links
        As for `write_packing`, which must have put the packet of rank r of each class at its node of name r.
    slots : sequence of int, d
        Slots of each subphase, from `subphase_slots`.
    halves : int
        As for `round_slots`.

    Returns
    -------
    int
        The row after the last one written.

    Notes
    -----
    Time linear in the hops.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 3.1, phase 3, and Theorem 5.
    """
    from gossamer.algorithms.multinode_broadcast import _kernels

    node, size, origin, packet = stacked(classes)
    width = links.shape[1] * 2
    for turn, length in enumerate(slots):
        fields = []
        for r in (each.rotation for each in classes):
            k = r.dimensions - 1 - turn
            rounds = round_slots(r.sides[k], r.wraps[k], halves)
            fields.append(
                (r.sides[k], r.wraps[k], r.places[k], r.places[k + 1], r.strides[k] * width, 2 * r.columns[k], rounds)
            )
        at = _kernels.rounds(
            *columns, at, first_slot, length, halves, node, size, origin, packet, np.array(fields, np.int64),
            width, links.reshape(-1),
        )  # fmt: skip
        first_slot += length
    return int(at)
