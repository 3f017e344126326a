"""Partial exchange on p x p arrays: rows first for some of the active nodes, columns first for the others.

Seed 000, section 4. An active node is in R if its row has at most as many active nodes as its column, else in C. The
packets of R go along the row first and then along the column, those of C the other way round. On the links of rows
packets of R have priority, on those of columns packets of C, and no link is idle while a packet waits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.partial_exchange import exchange
from gossamer.algorithms.partial_exchange.census import counts_of_lines
from gossamer.algorithms.partial_exchange.non_wasting import Order, Paths, non_wasting
from gossamer.model import Model
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.tasks import PartialExchange, Task

__all__ = ["ROWS_AND_COLUMNS", "exchange_bound", "in_rows_first", "rows_and_columns"]


def in_rows_first(network: Network, active: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Say of each active node whether it is in the set R.

    Parameters
    ----------
    network : Network
        An array or torus of two dimensions; rows run along the last one.
    active : array_like of int, shape (M,)
        The active nodes.

    Returns
    -------
    bool[M]
        True in R: at most as many active nodes in the row as in the column. At most floor(sqrt(M)) nodes of R are in
        one row, and of C in one column (Lemma 3).

    Examples
    --------
    >>> from gossamer.networks import array
    >>> in_rows_first(array(3, 3), [0, 1, 2, 3]).tolist()
    [False, False, False, True]
    """
    row, column = _places(network, np.asarray(active))
    in_row, in_column = np.bincount(row), np.bincount(column)
    return in_row[row] <= in_column[column]


def exchange_bound(rows: int, columns: int, active: int, control_time: Fraction = Fraction(0)) -> Fraction:
    """Return the steps that the exchange of `active` nodes takes at the most, wherever they are.

    Notes
    -----
    On p x p arrays ``2m(N-p) + 2(p-1) + p t_p`` with m = floor(sqrt(M)). With p rows and q columns, p >= q, first legs
    take ``m(N-q) + p-1`` steps at the most and second legs ``m p(p-1) + p-1``. The bound is not tight: a line of p
    nodes carries K packets in K+p-2 steps, not K+p-1.

    References
    ----------
    Seed 000, section 4.

    Examples
    --------
    >>> exchange_bound(4, 4, 4), exchange_bound(8, 8, 16), exchange_bound(4, 2, 4)
    (Fraction(54, 1), Fraction(462, 1), Fraction(42, 1))
    """
    p, q, m = max(rows, columns), min(rows, columns), math.isqrt(active)
    return m * (p * q - q) + m * p * (p - 1) + 2 * (p - 1) + p * control_time


def rows_and_columns(
    network: Network, task: Task, model: Model, *, seed: int = 0, order: Order = "random"
) -> Schedule:
    """Build the partial exchange on a two-dimensional array from paths with one turn and non-wasting links.

    Parameters
    ----------
    network : Network
        An array or torus with at most two sides greater than 1; wrap-around links are not used.
    task : PartialExchange
        M active nodes.
    model : Model
        All ports.
    seed : int
        For the random order.
    order : {"random", "farthest-first", "nearest-first", "lowest-id"}
        Which packet of R, or of C, leaves a queue first. The paper leaves it open.

    Returns
    -------
    Schedule
        Phases ``prefix`` (slots of t_p), ``exchange``. Completion time at most `exchange_bound`.

    Raises
    ------
    ScheduleError
        If the order is unknown.

    Notes
    -----
    O(hops) time and memory.

    References
    ----------
    Seed 000, section 4, Lemma 3.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-exchange", active=[0, 1, 4, 5])
    >>> s = rows_and_columns(gossamer.network("array:4x4"), task, Model(), order="farthest-first")
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(18, 1), True)
    """
    origin, target = exchange.ends(network, task)
    active, place = np.unique(origin, return_inverse=True)
    rows_first = in_rows_first(network, active)[place] if active.size else np.zeros(0, np.bool_)
    paths, later = _one_turn(network, origin, target, rows_first)
    hops = non_wasting(paths, network.link_count, order, later=later, seed=seed)
    return exchange.schedule(network, task, model, hops, counts_of_lines(network))


def _one_turn(
    network: Network, origin: npt.NDArray[np.int32], target: npt.NDArray[np.int32], rows_first: npt.NDArray[np.bool_]
) -> tuple[Paths, npt.NDArray[np.bool_]]:
    """Return the path of each packet, and of each of its hops whether it is on the second leg."""
    links = grid_links(network)
    row_axis, column_axis = _axes(network)
    (i, j), (k, l) = _places(network, origin), _places(network, target)
    rows, columns = np.abs(k - i), np.abs(l - j)
    first = np.zeros(origin.size + 1, np.int64)
    np.cumsum(rows + columns, out=first[1:])
    leg = np.where(rows_first, columns, rows)  # hops of the first leg
    packet = np.repeat(np.arange(origin.size), rows + columns)
    at = np.arange(first[-1]) - first[packet]
    later = at >= leg[packet]
    done = at - np.where(later, leg[packet], 0)
    along_row = rows_first[packet] != later
    turned = np.where(later, 1, 0)
    row = np.where(along_row, np.where(turned, k[packet], i[packet]), i[packet] + np.sign(k - i)[packet] * done)
    column = np.where(along_row, j[packet] + np.sign(l - j)[packet] * done, np.where(turned, l[packet], j[packet]))
    node = row * _stride(network, row_axis) + column * _stride(network, column_axis)
    link = np.empty(node.size, np.int32)
    for along, axis, sign in ((True, column_axis, l - j), (False, row_axis, k - i)):
        hop = np.flatnonzero(along_row == along)
        if hop.size:
            link[hop] = links[node[hop], axis, (sign[packet[hop]] < 0).astype(np.int64)]
    return Paths(first, link), later


def _axes(network: Network) -> tuple[int, int]:
    """Return the dimensions in which the row and the column of a node are counted, -1 for one that is missing."""
    assert network.grid is not None
    long = [c for c, side in enumerate(network.grid.sides) if side > 1]
    return (-1, *long)[-2], (-1, *long)[-1]  # type: ignore[return-value]


def _stride(network: Network, axis: int) -> int:
    assert network.grid is not None
    return network.grid.strides[axis] if axis >= 0 else 0


def _places(network: Network, node: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row and column of each node."""
    assert network.grid is not None
    row, column = (
        node.astype(np.int64) // network.grid.strides[axis] % network.grid.sides[axis] if axis >= 0 else node * np.int64(0)
        for axis in _axes(network)
    )
    return row, column
