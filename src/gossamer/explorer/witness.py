"""The nodes that prove a bound, found in its witness: those named, and those of a box."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from gossamer.bounds import Bound
from gossamer.networks.network import Network

__all__ = ["witness_nodes"]

_MOST = 4096


def witness_nodes(network: Network, bound: Bound) -> list[int]:
    """Return the nodes that the witness of a bound speaks of; none where it counts links or hops only.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:5x5")
    >>> witness_nodes(net, gossamer.lower_bounds(net, "broadcast")[0])
    [0, 24]
    """
    if network.node_count > _MOST:
        return []
    grid = network.grid
    box = re.search(r"in the box \(([^)]*)\)", bound.witness)
    if box and grid is not None:
        spans = [_span(text) for text in box[1].split(",")]
        if len(spans) == grid.dimensions:
            digits = np.unravel_index(np.arange(network.node_count), grid.sides)
            inside = [_in(d, a, b) for d, (a, b) in zip(digits, spans, strict=True)]
            return np.flatnonzero(np.logical_and.reduce(inside)).tolist()
    named = {network.node_name(v): v for v in range(network.node_count)}
    words = re.findall(r"\bnodes? (\([^)]*\)|[\w.-]+)", bound.witness)
    return sorted({named[word] for word in words if word in named})


def _span(text: str) -> tuple[int, int]:
    """Return the ends of what stands for a coordinate in the name of a box: ``3``, ``2..5``, or ``*`` for all."""
    found = [int(number) for number in re.findall(r"\d+", text)]
    return (found[0], found[-1]) if found else (0, 2**31)


def _in(digit: npt.NDArray[np.integer], first: int, last: int) -> npt.NDArray[np.bool_]:
    """Return which places lie from first to last, round the end of a ring where the last is smaller."""
    above, below = digit >= first, digit <= last
    return above & below if first <= last else above | below
