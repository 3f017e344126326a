"""What the links of every network must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.structures import IntArray

__all__ = ["check_doubled", "check_links", "check_times"]


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


def check_times(name: str, occupancy: IntArray, latency: IntArray, links: int) -> None:
    """Refuse occupancies and latencies that are not one for each link, or too small."""
    for what, column, least in (("occupancies", occupancy, 1), ("latencies", latency, 0)):
        if column.shape != (links,):
            raise NetworkError(f"{name}: link {what} must be one for each of {links} links")
        if links and int(column.min()) < least:
            raise NetworkError(f"{name}: link {what} must be at least {least}")


def check_doubled(
    name: str, nodes: int, degree: int, ends: tuple[IntArray, IntArray], kinds: Sequence[npt.NDArray[Any]]
) -> None:
    """Refuse two links between the same nodes that are alike in every column of `kinds`: they are one of more capacity.

    No node has more than `degree` links.
    """
    source, target = ends
    if degree <= 16 and not kinds:
        pairs = [(source[k:] == source[:-k]) & (target[k:] == target[:-k]) for k in range(1, degree)]
        doubled = next((int(np.argmax(p)) for p in pairs if p.any()), -1)
    else:
        order = np.lexsort((*kinds, source * np.int64(nodes) + target))
        same = np.ones(max(order.size - 1, 0), np.bool_)
        for column in (source, target, *kinds):
            same &= np.diff(column[order]) == 0
        doubled = int(order[np.argmax(same)]) if same.any() else -1
    if doubled >= 0:
        again = "given twice" if not kinds else "given twice with the same times; give it more capacity"
        raise NetworkError(f"{name}: the link from {source[doubled]} to {target[doubled]} is {again}")
