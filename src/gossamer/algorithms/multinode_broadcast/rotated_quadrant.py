"""The optimal multinode broadcast on p x p tori as an explicit invariant schedule.

Varvarigos and Bertsekas 1994, Theorem 1, cites the time; the construction is Gossamer's. Every offset v but zero gets
one cell (slot, direction): in that slot every node u sends on, in that direction D, the packet of the node at offset
v - D behind it. A quarter of the offsets, sorted by their distance, take direction 0 in slots 1, 2, ..., and their
rotations by quarter turns the other directions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.algorithms.derived import on_array
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule, Symmetry


def quadrant_cells(p: int) -> npt.NDArray[np.int64]:
    """Return the cell of each offset of the p x p torus.

    `p`: at least 3.

    Returns: int64[p*p-1, 4]: rows ``x, y, slot, direction``, by slot and then by direction; slots from 1. Directions
    0..3 are (1,0), (0,1), (-1,0), (0,-1).

    With k = floor(p/2), the quadrant Q is {1 <= x <= k, 0 <= y <= k} for odd p, and for even p
    {1 <= x <= k-1, 0 <= y <= k-1} with {(k,y): 1 <= y <= k-1}. Sorted by x+y, then by x, its t-th element v takes slot
    t and direction 0, and R^r v takes direction r, where R(x,y) = (-y,x). If p is even, the last slot is for (k,0),
    (0,k) and (k,k), in directions 0, 1 and 2. The parent of (x,y) in Q is (x-1,y), which is in Q, or (0,y), a rotation
    of (y,0): earlier in both cases. O(p*p log p).

    Source: Varvarigos and Bertsekas 1994, Theorem 1.

    >>> quadrant_cells(3).tolist()[:5]
    [[1, 0, 1, 0], [0, 1, 1, 1], [2, 0, 1, 2], [0, 2, 1, 3], [1, 1, 2, 0]]
    """
    k, even = p // 2, p % 2 == 0
    x, y = (a.reshape(-1) for a in np.mgrid[1 : k + 1, 0 : k + 1])
    if even:
        inside = (y < k) & ((x < k) | (y > 0))
        x, y = x[inside], y[inside]
    order = np.lexsort((x, x + y))
    x, y = x[order], y[order]
    slot = np.arange(1, x.size + 1)
    turned = [(x, y), (-y, x), (-x, -y), (y, -x)]
    cells = np.stack(
        [np.stack([a % p, b % p, slot, np.full(slot.size, r)], axis=1) for r, (a, b) in enumerate(turned)], axis=1
    ).reshape(-1, 4)
    if even:
        last = slot.size + 1
        cells = np.concatenate([cells, [[k, 0, last, 0], [0, k, last, 1], [k, k, last, 2]]])
    return cells.astype(np.int64)


def rotated_quadrant(case: Case) -> Schedule:
    """Build the multinode broadcast on a torus of two equal sides in which four quadrants rotate into each other.

    Around a node of a square torus lie four quadrants, which turn into each other by a quarter of a circle. If the
    tree of one quadrant uses one direction in each slot, the same tree turned three times uses the other three, so
    that all four links of a node bring something new in every slot.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports on a p x p torus, p >= 3; dimensions of side 1 do not count.

    Returns
    -------
    Schedule
        Invariant: one packet, p*p - 1 stored hops. ``p*p/4`` steps for even p, ``(p*p-1)/4`` for odd p: optimal for
        whole messages, and for odd p for split ones.

    Notes
    -----
    The formula for even p does not hold for p = 2, unless neighbors have two parallel links (erratum X1).
    O(p*p log p).

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 1.

    Examples
    --------
    >>> import gossamer
    >>> torus = gossamer.network("torus:5x5")
    >>> rotated_quadrant(Case(torus, gossamer.task("allgather"))).completion_time
    Fraction(6, 1)
    """
    network = case.network
    assert network.grid is not None
    axes = _axes(network)
    p = network.grid.sides[axes[0]]
    # Step 1: sort the nodes of one quadrant by distance; the t-th is reached in slot t, in direction 0
    cells = quadrant_cells(p)
    # Step 2: turn the quadrant three times for directions 1, 2 and 3; for an even side the last slot has three nodes
    stride = np.array(network.grid.strides)[axes]
    direction = cells[:, 3]
    step = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
    # Step 3: the parent of a node is one step back in its direction; every other node does the same, moved to it
    parent = ((cells[:, :2] - step[direction]) % p) @ stride
    link = grid_links(network)[:, axes][parent, direction % 2, direction // 2]
    packet = np.zeros(link.size, np.int32)
    return Schedule.of(case, cells[:, 2] - 1, link, packet, symmetry=Symmetry(network))


def _axes(network: Network) -> list[int]:
    """Return the dimensions of side 2 and more."""
    return [] if network.grid is None else [i for i, side in enumerate(network.grid.sides) if side > 1]


def _is_optimal(case: Case) -> bool:
    """Whether the time is a lower bound, on the torus or on the array of the same shape."""
    return case.network.uniform_capacity == 1 and (case.whole or case.network.node_count % 2 == 1)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, grid, axes = case.network, case.network.grid, _axes(case.network)
    if grid is None or len(axes) != 2 or grid.sides[axes[0]] != grid.sides[axes[1]] or not grid.wraps[axes[0]]:
        return Refusal("needs a torus of two equal sides of 3 nodes or more")
    if not grid.wraps[axes[1]] or network.group is None:
        return Refusal("needs wrap-around in both dimensions")
    if network.uniform_capacity is None:
        return Refusal("needs links of one capacity")
    time = Fraction(network.node_count // 4)
    return refuse_ports(case.rules) or Offer(
        lambda: rotated_quadrant(case), time, optimal=_is_optimal(case), orbit=case.network.node_count
    )


ROTATED_QUADRANT = Algorithm(
    name="rotated-quadrant",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="tori of two equal sides, 3 or more",
    source="Varvarigos and Bertsekas 1994, Theorem 1",
    summary="an explicit broadcast tree made of four quadrants that rotate into each other",
)

ROTATED_QUADRANT_ON_ARRAY = on_array(ROTATED_QUADRANT, lambda n: n.node_count * (n.node_count - 1), _is_optimal)
"""Equation (2): ``floor(p*p/2)`` steps on the p x p array, p >= 3."""
