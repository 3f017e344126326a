"""Partial exchange on p x p arrays: rows first for some of the active nodes, columns first for the others.

Varvarigos and Bertsekas 1994, section 4. An active node is in R if its row has at most as many active nodes as its
column, else in C. The packets of R go along the row first and then along the column, those of C the other way round. On
the links of rows packets of R have priority, on those of columns packets of C, and no link is idle while a packet
waits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.partial_exchange import balanced_orders
from gossamer.algorithms.partial_exchange.balanced_orders import counts_of_lines
from gossamer.graphs.list_scheduling import ORDERS, Order, non_wasting
from gossamer.graphs.path_and_hop_tables import Paths
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import PartialExchange
from gossamer.schedules import Schedule


def in_rows_first(network: Network, active: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Say of each active node whether it is in the set R.

    `network`: an array or torus of two dimensions; rows run along the last one. `active`: the active nodes.

    Returns: bool[M]: true in R: at most as many active nodes in the row as in the column. At most floor(sqrt(M)) nodes
    of R are in one row, and of C in one column (Lemma 3).

    >>> from gossamer.networks import array
    >>> in_rows_first(array(3, 3), [0, 1, 2, 3]).tolist()
    [False, False, False, True]
    """
    row, column = _places(network, np.asarray(active, np.int32))
    in_row, in_column = np.bincount(row), np.bincount(column)
    return in_row[row] <= in_column[column]


def exchange_bound(rows: int, columns: int, active: int, control_time: Fraction = Fraction(0)) -> Fraction:
    """Return the steps that the exchange of `active` nodes takes at the most, wherever they are.

    On p x p arrays ``2m(N-p) + 2(p-1) + p t_p`` with m = floor(sqrt(M)). With p rows and q columns, p >= q, first legs
    take ``m(N-q) + p-1`` steps at the most and second legs ``m p(p-1) + p-1``. The bound is not tight: a line of p
    nodes carries K packets in K+p-2 steps, not K+p-1.

    Source: Varvarigos and Bertsekas 1994, section 4.

    >>> exchange_bound(4, 4, 4), exchange_bound(8, 8, 16), exchange_bound(4, 2, 4)
    (Fraction(54, 1), Fraction(462, 1), Fraction(42, 1))
    """
    p, q, m = max(rows, columns), min(rows, columns), math.isqrt(active)
    return m * (p * q - q) + m * p * (p - 1) + 2 * (p - 1) + p * control_time


def rows_and_columns(case: Case, order: Order | Literal["best"] = "best") -> Schedule:
    """Build the partial exchange on a two-dimensional array from paths with one turn and non-wasting links.

    Every packet makes one turn: along its row first, or along its column first. Packets of rows with few active nodes
    go along the row first, the others along the column, so that no line gets too much. A link that has something to
    send is never idle.

    Parameters
    ----------
    case : Case
        A partial exchange of M active nodes with all ports on an array or torus with at most two sides greater than 1;
        wrap-around links are not used. The seed is for the random order.
    order : {"best", "random", "farthest-first", "nearest-first", "lowest-id"}
        Which packet of R, or of C, leaves a queue first. The paper leaves it open; "best" tries all four.

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
    Varvarigos and Bertsekas 1994, section 4, Lemma 3.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-exchange", active=[0, 1, 4, 5])
    >>> s = rows_and_columns(Case(gossamer.network("array:4x4"), task), order="farthest-first")
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(16, 1), True)
    """
    network = case.network
    # Step 1: every node learns the counts of its row and its column
    control = counts_of_lines(network)
    origin, target = balanced_orders.ends(case)
    active, place = np.unique(origin, return_inverse=True)
    rows_first = in_rows_first(network, active)[place] if active.size else np.zeros(0, np.bool_)
    # Step 2: all packets at once, each on its first leg and then on its second; no link idles that could send
    paths, later = _one_turn(network, origin, target, rows_first)
    orders: tuple[Order, ...] = ORDERS if order == "best" else (order,)
    found = (non_wasting(paths, network.link_count, each, later=later, seed=case.seed) for each in orders)
    hops = min(found, key=lambda hops: hops.slots)
    return balanced_orders.schedule(case, hops, control)


def _one_turn(
    network: Network, origin: IntArray, target: IntArray, rows_first: npt.NDArray[np.bool_]
) -> tuple[Paths, npt.NDArray[np.bool_]]:
    """Return the path of each packet, and of each of its hops whether it is on the second leg."""
    from gossamer.algorithms.partial_exchange import spread_then_deliver

    assert network.grid is not None
    places = (*_places(network, origin), *_places(network, target))
    strides = [network.grid.strides[axis] if axis >= 0 else 0 for axis in _axes(network)]
    links = grid_links(network)
    both = np.stack([links[:, axis] for axis in _axes(network)], axis=1)  # a missing dimension has no hops
    hops = int((np.abs(places[2] - places[0]) + np.abs(places[3] - places[1])).sum())
    first, link, later = np.empty(origin.size + 1, np.int64), np.empty(hops, np.int32), np.empty(hops, np.bool_)
    spread_then_deliver.one_turn(*places, rows_first, *strides, both, first, link, later)
    return Paths(first, link), later


def _axes(network: Network) -> tuple[int, int]:
    """Return the dimensions in which the row and the column of a node are counted, -1 for one that is missing."""
    assert network.grid is not None
    row, column = [-1, -1, *(c for c, side in enumerate(network.grid.sides) if side > 1)][-2:]
    return row, column


def _places(network: Network, node: IntArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row and column of each node."""
    assert network.grid is not None
    at = node.astype(np.int64)
    sides, strides = (*network.grid.sides, 1), (*network.grid.strides, 1)  # the last entries are for a missing one
    row, column = (at // strides[axis] % sides[axis] for axis in _axes(network))
    return row, column


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    if grid is not None and sum(side > 1 for side in grid.sides) > 2:
        return Refusal("needs an array or a torus of at most two dimensions")
    refusal = balanced_orders.refuse(case)
    if refusal is not None:
        return refusal
    assert grid is not None
    rows, columns = (grid.sides[axis] if axis >= 0 else 1 for axis in _axes(case.network))
    time = exchange_bound(rows, columns, balanced_orders.active_count(case), case.control_time)
    return Offer(lambda: rows_and_columns(case), time if case.network.node_count > 1 else Fraction(0), at_most=True)


ROWS_AND_COLUMNS = Algorithm(
    name="rows-and-columns",
    tasks=(PartialExchange,),
    propose=_propose,
    networks="arrays of two dimensions (tori too, without their wrap-around links)",
    source="Varvarigos and Bertsekas 1994, section 4",
    summary="paths with one turn, along rows first where these hold few active nodes; no link is idle for nothing",
)
