"""Packets that wait in the nodes of a schedule, counted from its timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.schedules import Timeline
from gossamer.tasks import MOVE

__all__ = ["Waiting", "stays", "waiting"]

_MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Waiting:
    """Packets in transit: those that came over a link and leave again later.

    Attributes
    ----------
    total : int32[bins]
        In all nodes, at the times ``k * length / bins`` where there are more ticks than bins, else at each tick.
    deepest : int32[bins]
        In the node that has most; empty where nodes times bins are too many to count.
    peak : int
        The largest of `deepest`, -1 where it is empty.
    """

    total: npt.NDArray[np.int32]
    deepest: npt.NDArray[np.int32]
    peak: int


def stays(
    rows: Timeline, message: npt.NDArray[np.int32], origin: npt.NDArray[Any], kind: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return since when and until when packets are in transit, and where: int64[S] each.

    A packet that moves stays from each arrival to its next departure; one that is copied or combined from its first
    arrival to its last departure.
    """
    real = np.flatnonzero(message >= 0)
    packet = message[real].astype(np.int64) * (int(rows.part.max(initial=0)) + 1) + rows.part[real]
    nodes = int(max(rows.source.max(initial=0), rows.target.max(initial=0))) + 1
    moved = kind[message[real]] == MOVE
    came = packet * nodes + rows.target[real]
    left = packet * nodes + rows.source[real]
    found = [_pairs(came[moved], rows.end[real][moved], left[moved], rows.start[real][moved])]
    found.append(_spans(came[~moved], rows.end[real][~moved], left[~moved], rows.start[real][~moved]))
    key, since, until = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return since, until, key % nodes


def _pairs(came: Any, end: Any, left: Any, start: Any) -> tuple[Any, Any, Any]:
    """Join each arrival with the next departure of the same packet from the same node."""
    what = np.concatenate([np.zeros(came.size, np.int8), np.ones(left.size, np.int8)])
    key, time = np.concatenate([came, left]), np.concatenate([end, start])
    order = np.lexsort((what, time, key))
    key, time, what = key[order], time[order], what[order]
    joined = np.flatnonzero((key[:-1] == key[1:]) & (what[:-1] == 0) & (what[1:] == 1))
    return key[joined], time[joined], time[joined + 1]


def _spans(came: Any, end: Any, left: Any, start: Any) -> tuple[Any, Any, Any]:
    """Join the first arrival of each packet at each node with its last departure, where there are both."""
    order = np.lexsort((end, came))
    key, first = np.unique(came[order], return_index=True)
    since = end[order][first]
    order = np.lexsort((-start, left))
    keys, last = np.unique(left[order], return_index=True)
    until = start[order][last]
    both = np.intersect1d(key, keys, return_indices=True)
    since, until = since[both[1]], until[both[2]]
    kept = until >= since
    return both[0][kept], since[kept], until[kept]


def waiting(
    rows: Timeline,
    message: npt.NDArray[np.int32],
    origin: npt.NDArray[Any],
    kind: npt.NDArray[Any],
    nodes: int,
    most: int,
) -> Waiting:
    """Return how many packets are in transit over time.

    Examples
    --------
    >>> import gossamer
    >>> rows = gossamer.plan("array:3", "broadcast").schedule.timeline()
    >>> waiting(rows, np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(1, np.uint8), 3, 100).total.tolist()
    [0, 1, 0]
    """
    since, until, node = stays(rows, message, origin, kind)
    bins = min(rows.length, most) + 1
    scale = (bins - 1) / max(rows.length, 1)
    # a stay is seen at the times of a bin that lie in it
    a, b = np.ceil(since * scale).astype(np.int64), np.floor(until * scale).astype(np.int64) + 1
    kept = a < b
    a, b, node = a[kept], b[kept], node[kept]
    total = np.cumsum(np.bincount(a, minlength=bins + 1) - np.bincount(b, minlength=bins + 1))[:bins]
    if nodes * (bins + 1) > _MOST_CELLS:
        return Waiting(total.astype(np.int32), np.zeros(0, np.int32), -1)
    size = nodes * (bins + 1)
    change = np.bincount(node * (bins + 1) + a, minlength=size) - np.bincount(node * (bins + 1) + b, minlength=size)
    deepest = np.cumsum(change.reshape(nodes, -1), axis=1).max(axis=0)[:bins]
    return Waiting(total.astype(np.int32), deepest.astype(np.int32), int(deepest.max(initial=0)))
