"""Randomized routing: every message goes to a random place first, so that no permutation is worse than others.

Valiant and Brebner send a message to a random row of its column, along that row to the column of its destination, and
along this column: 3n + O(n^(3/4)) steps with high probability. With random rows of a slice of n/log n rows only, it is
2n + o(n). Valiant's first scheme goes to a random node in dimension order, and on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.algorithms.routing.greedy import refuse_paths, sources_and_targets
from gossamer.graphs.lock_step_movement import LockStep, legs_between, moves_along
from gossamer.networks.network import Grid, IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.hop_sinks import Sink, record


def _over(name: str, case: Case, source: IntArray, middle: IntArray, axes: Sequence[int], sink: Sink) -> None:
    """Route from the sources over the nodes in the middle; the legs to these correct the given axes."""
    grid = case.network.grid
    assert grid is not None
    _, target = sources_and_targets(case)
    legs = legs_between(grid, source, middle, axes)
    legs += legs_between(grid, middle, target, range(grid.dimensions)[::-1])
    LockStep(case.network, sink).move(moves_along(source, legs), name, rank="leg")


def _over_random_rows(slice_length: Callable[[int], int], case: Case, sink: Sink) -> None:
    """Route over random rows of slices, so many of the rows of a side, and then in dimension order."""
    source, _ = sources_and_targets(case)
    grid = case.network.grid
    assert grid is not None
    # Step 1: draw a random row for each message, within its slice
    draw = np.random.default_rng(case.seed)
    axes = range(max(grid.dimensions - 1, 1))
    middle = source
    for axis in axes:
        middle = _redrawn(grid, middle, axis, draw, slice_length(grid.sides[axis]))
    # Step 2: go along the column to that row, then in dimension order to the destination; the furthest goes first
    _over("over random rows", case, source, middle, axes, sink)


def _over_random_nodes(case: Case, sink: Sink) -> None:
    """Route over random nodes, in dimension order both times."""
    source, _ = sources_and_targets(case)
    network = case.network
    assert network.grid is not None
    # Step 1: draw a random node for each message
    middle = np.random.default_rng(case.seed).integers(0, network.node_count, source.size).astype(np.int32)
    # Step 2: go there in dimension order, and on to the destination in dimension order
    _over("over random nodes", case, source, middle, range(network.grid.dimensions)[::-1], sink)


def _whole_side(side: int) -> int:
    return side


def _logarithmic_slice(side: int) -> int:
    """Return the length of a slice of n/log2(n) rows."""
    return math.ceil(side / max(math.log2(side), 1))


def _redrawn(grid: Grid, node: IntArray, axis: int, draw: np.random.Generator, slice_length: int) -> IntArray:
    """Return nodes with the coordinate of one axis drawn anew within its slice of at most `slice_length` positions."""
    side, stride = grid.sides[axis], grid.strides[axis]
    slices = -(-side // slice_length)
    at = node // stride % side
    low = at * slices // side  # slice s holds the positions ceil(s*side/slices) up to those of slice s+1
    first, last = -(-low * side // slices), -(-(low + 1) * side // slices)
    drawn: IntArray = (node + (draw.integers(first, last) - at) * stride).astype(np.int32)
    return drawn


def valiant_brebner(case: Case) -> Schedule:
    """Build the routing over a random row of the column, then in dimension order.

    Parameters
    ----------
    case : Case
        A permutation, full or partial, on an array or torus, of which the first d-1 coordinates are drawn with the
        case's seed; all ports, no limit of the buffers.

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
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="transpose")
    >>> p = gossamer.plan("array:8x8", task, algorithm="valiant-brebner")
    >>> bool(p.verification), p.claim
    (True, None)
    """
    return record(case, partial(_over_random_rows, _whole_side, case))


def random_slices(case: Case) -> Schedule:
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
    >>> task = gossamer.task("permutation", network="array:8x8", pattern="shuffle")
    >>> bool(gossamer.plan("array:8x8", task, algorithm="random-slices").verification)
    True
    """
    return record(case, partial(_over_random_rows, _logarithmic_slice, case))


def random_nodes(case: Case) -> Schedule:
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
    >>> task = gossamer.task("permutation", network="torus:8x8", pattern="tornado")
    >>> bool(gossamer.plan("torus:8x8", task, algorithm="random-nodes").verification)
    True
    """
    return record(case, partial(_over_random_nodes, case))


def _propose(route: Callable[[Case, Sink], None], case: Case) -> Offer[Schedule] | Refusal:
    if case.network.grid is None:
        return Refusal("needs an array or a torus")
    return refuse_ports(case.rules) or Offer(
        lambda: record(case, partial(route, case)),
        stream=partial(route, case),
        too_large=refuse_paths(case.network.grid, *sources_and_targets(case), times=3),
    )


def _randomized(name: str, route: Callable[[Case, Sink], None], source: str, summary: str) -> Algorithm:
    return Algorithm(name, (Permutation,), partial(_propose, route), "arrays and tori", source, summary)


RANDOMIZED = (
    _randomized(
        "valiant-brebner",
        partial(_over_random_rows, _whole_side),
        "Valiant and Brebner 1981; Han 1990, Table 1.1: 3n + o(n) with high probability",
        "a random row of the column, then row and column; unbounded buffers",
    ),
    _randomized(
        "random-slices",
        partial(_over_random_rows, _logarithmic_slice),
        "Rajasekaran and Tsantilas 1987; Krizanc, Rajasekaran and Tsantilas 1988: 2n + o(n) with high probability",
        "a random row of a slice of n/log n rows, then row and column; unbounded buffers",
    ),
    _randomized(
        "random-nodes",
        _over_random_nodes,
        "Valiant 1982; Valiant and Brebner 1981",
        "in dimension order to a random node, then to the destination; unbounded buffers",
    ),
)
"""The randomized algorithms; they claim no time, because none is certain."""
