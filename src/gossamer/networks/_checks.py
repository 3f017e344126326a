"""What the links of every network must satisfy."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.structures import IntArray

__all__ = ["check_doubled", "check_links"]


def check_links(name: str, nodes: int, source: IntArray, target: IntArray, capacity: IntArray) -> None:
    """Refuse links out of range, out of order, to their own source or of no capacity, and a network of no nodes."""
    if nodes < 1:
        raise NetworkError(f"{name} has {nodes} nodes; at least 1 is needed")
    if source.ndim != 1 or source.shape != target.shape or capacity.shape != source.shape:
        raise NetworkError(f"{name}: link arrays must be one-dimensional and of one length")
    if not source.size:
        return
    low, high = int(min(source.min(), target.min())), int(max(source.max(), target.max()))
    if low < 0 or high >= nodes:
        raise NetworkError(f"{name}: a link end is node {low if low < 0 else high}, outside 0..{nodes - 1}")
    if np.any(source[1:] < source[:-1]):
        raise NetworkError(f"{name}: links must be sorted by source")
    if np.any(source == target):
        raise NetworkError(f"{name}: node {int(source[np.argmax(source == target)])} has a link to itself")
    if int(capacity.min()) < 1:
        raise NetworkError(f"{name}: link capacities must be at least 1")


def check_doubled(name: str, nodes: int, degree: int, source: IntArray, target: IntArray) -> None:
    """Refuse two links between the same nodes, where no node has more than `degree` links."""
    if degree <= 16:
        pairs = [(source[k:] == source[:-k]) & (target[k:] == target[:-k]) for k in range(1, degree)]
        doubled = next((int(np.argmax(p)) for p in pairs if p.any()), -1)
    else:
        key = source * np.int64(nodes) + target
        order = np.argsort(key, kind="stable")
        same = np.flatnonzero(np.diff(key[order]) == 0)
        doubled = int(order[same[0]]) if same.size else -1
    if doubled >= 0:
        raise NetworkError(f"{name}: the link from {source[doubled]} to {target[doubled]} is given twice")
