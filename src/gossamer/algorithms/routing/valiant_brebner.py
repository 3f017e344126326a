"""Randomized routing: every message goes to a random place first, so that no permutation is worse than others.

Valiant and Brebner send a message to a random row of its column, along that row to the column of its destination, and
along this column: 3n + O(n^(3/4)) steps with high probability. With random rows of a slice of n/log n rows only, it is
2n + o(n). Valiant's first scheme goes to a random node in dimension order, and on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.routing.greedy import Leg, grid_reason, legs_between, send
from gossamer.algorithms.routing.packing import sources_and_targets
from gossamer.model import Model
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.schedules import Phase, Schedule
from gossamer.tasks import Permutation, Task

__all__ = ["RANDOMIZED", "random_nodes", "random_slices", "valiant_brebner"]


def _by_way_of(
    name: str,
    network: Network,
    task: Task,
    model: Model,
    between: Callable[[Grid, IntArray], IntArray],
    first: Callable[[int], range],
) -> Schedule:
    """Build the routing over the nodes that `between` draws; the legs to them correct the axes `first` gives."""
    source, target = sources_and_targets(task)
    grid = network.grid
    assert grid is not None
    middle = between(grid, source)
    legs: list[Leg] = legs_between(grid, source, middle, first(grid.dimensions))
    legs += legs_between(grid, middle, target, range(grid.dimensions)[::-1])
    columns, (slots,) = send(network, source, [legs])
    return Schedule(network, task, model, *columns, phases=[Phase(name, slots)])


def _redrawn(grid: Grid, node: IntArray, axis: int, draw: np.random.Generator, slice_length: int) -> IntArray:
    """Return nodes with the coordinate of one axis drawn anew within its slice of at most `slice_length` positions."""
    side, stride = grid.sides[axis], grid.strides[axis]
    slices = -(-side // slice_length)
    at = node // stride % side
    low = at * slices // side  # slice s holds the positions ceil(s*side/slices) up to those of slice s+1
    first, last = -(-low * side // slices), -(-(low + 1) * side // slices)
    drawn: IntArray = (node + (draw.integers(first, last) - at) * stride).astype(np.int32)
    return drawn


def valiant_brebner(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the routing over a random row of the column, then in dimension order.

    Parameters
    ----------
    network : Network
        An array or torus; in d dimensions the first d-1 coordinates are drawn.
    task : Permutation
        Full or partial.
    model : Model
        All ports, no limit of the buffers.
    seed : int
        Of the random rows; another seed gives another schedule.

    Returns
    -------
    Schedule
        Of one phase. A message begins its next leg as soon as it can; the furthest from the end of its leg goes first.

    Notes
    -----
    On n x n arrays 3n + O(n^(3/4)) steps and O(log n) buffers with high probability; nothing is certain.

    References
    ----------
    Valiant and Brebner 1981; Han 1990, section 1.4.2 and Table 1.1.

    Examples
    --------
    >>> import gossamer
    >>> p = gossamer.plan("array:8x8", "permutation", pattern="transpose", algorithm="valiant-brebner")
    >>> bool(p.verification), p.claim
    (True, None)
    """
    draw = np.random.default_rng(seed)

    def row_of_column(grid: Grid, node: IntArray) -> IntArray:
        for axis in range(max(grid.dimensions - 1, 1)):
            node = _redrawn(grid, node, axis, draw, grid.sides[axis])
        return node

    return _by_way_of("over random rows", network, task, model, row_of_column, lambda d: range(max(d - 1, 1)))


def random_slices(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the routing over a random row of the at most n/log2(n) rows of a slice; else as `valiant_brebner`.

    Notes
    -----
    On n x n arrays 2n + o(n) steps and O(log n) buffers with high probability. For 2n + O(log n) the sources also treat
    messages between opposite corners in a special way, which is left out here.

    References
    ----------
    Rajasekaran and Tsantilas 1987; Krizanc, Rajasekaran and Tsantilas 1988; Han 1990, section 1.4.2.

    Examples
    --------
    >>> import gossamer
    >>> bool(gossamer.plan("array:8x8", "permutation", pattern="shuffle", algorithm="random-slices").verification)
    True
    """
    draw = np.random.default_rng(seed)

    def row_of_slice(grid: Grid, node: IntArray) -> IntArray:
        for axis in range(max(grid.dimensions - 1, 1)):
            side = grid.sides[axis]
            node = _redrawn(grid, node, axis, draw, math.ceil(side / max(math.log2(side), 1)))
        return node

    return _by_way_of("over random rows", network, task, model, row_of_slice, lambda d: range(max(d - 1, 1)))


def random_nodes(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the routing over a random node, to it and from it in dimension order.

    Notes
    -----
    Up to twice the diameter in distance; the load of every link is that of random traffic, whatever the permutation.

    References
    ----------
    Valiant 1982; Valiant and Brebner 1981.

    Examples
    --------
    >>> import gossamer
    >>> bool(gossamer.plan("torus:8x8", "permutation", pattern="tornado", algorithm="random-nodes").verification)
    True
    """
    draw = np.random.default_rng(seed)

    def anywhere(grid: Grid, node: IntArray) -> IntArray:
        return draw.integers(0, network.node_count, node.size).astype(np.int32)

    return _by_way_of("over random nodes", network, task, model, anywhere, lambda d: range(d)[::-1])


def _reason(network: Network, task: Task, model: Model) -> str | None:
    return grid_reason(network, task, model, paths=3)


_VALIANT_BREBNER = separate(
    name="valiant-brebner",
    task=Permutation,
    builder=valiant_brebner,
    reason=_reason,
    claim=lambda network, task, model: None,
    networks="arrays and tori",
    source="Valiant and Brebner 1981; Han 1990, Table 1.1: 3n + o(n) with high probability",
    summary="a random row of the column, then row and column; unbounded buffers",
)

RANDOMIZED = (
    _VALIANT_BREBNER,
    replace(
        _VALIANT_BREBNER,
        name="random-slices",
        builder=random_slices,
        source="Rajasekaran and Tsantilas 1987; Krizanc, Rajasekaran and Tsantilas 1988: "
        "2n + o(n) with high probability",
        summary="a random row of a slice of n/log n rows, then row and column; unbounded buffers",
    ),
    replace(
        _VALIANT_BREBNER,
        name="random-nodes",
        builder=random_nodes,
        source="Valiant 1982; Valiant and Brebner 1981",
        summary="in dimension order to a random node, then to the destination; unbounded buffers",
    ),
)
"""The randomized algorithms; they claim no time, because none is certain."""
