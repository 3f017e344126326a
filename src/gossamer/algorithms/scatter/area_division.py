"""Scatter in a two-dimensional torus, divided in four areas of equal size around the root."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_send_limit
from gossamer.algorithms.scatter.furthest_first import refuse_root, root_of, scatter_down
from gossamer.graphs.trees import RootedTree, tree_of_parents
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule

_Points = npt.NDArray[np.int64]
A, B, C, D = 0, 1, 2, 3


class Areas(NamedTuple):
    """The points of the plane around the source of a torus, their regions and their parents.

    `i`, `j`, int64[P]: coordinates of each point: ``[i, j]`` is torus node ``((r-j) mod n, (c-i) mod m)`` for the
    source ``(r, c)``. `region`, int64[P]: 0, 1, 2, 3 for A, B, C, D; -1 at the source. `parent_i`, `parent_j`,
    int64[P]: the point from which each point is reached; at the source itself.
    """

    i: _Points
    j: _Points
    region: _Points
    parent_i: _Points
    parent_j: _Points


def area_division(n: int, m: int) -> Areas:
    """Return the division of an n x m torus, n rows and m columns, into areas A, B, C and D.

    `n`, `m`: at least 3.

    Returns: regions of at most ``ceil((nm-1)/4)`` points, each a tree that hangs off one neighbor of the source: A off
    [0,1], B off [1,0], C off [0,-1], D off [-1,0].

    Each axis belongs to one region, or in turn to the two at its sides: the odd points to the region whose neighbor
    of the source lies on it. Which axes are shared depends on the parities of n and m; single points are moved where
    the sizes ask for it. Gossamer differs from the source for n even and m = 4, for the moved point of case 4, and in
    treating sides of 3 (errata 9.5).

    Source: Dimakopoulos 1996, section 3.4.2.

    >>> np.bincount(area_division(5, 4).region + 1).tolist()
    [1, 5, 5, 4, 5]
    """
    xp, xm, yp, ym = m // 2, (m - 1) // 2, n // 2, (n - 1) // 2
    i, j = (p.ravel() for p in np.meshgrid(np.arange(-xm, xp + 1), np.arange(-ym, yp + 1), indexing="ij"))
    odd = (i + j) % 2 == 1  # on an axis: the odd points of that axis
    shared_y, shared_x = m % 2 == 1, n % 2 == 1
    conditions = [
        (i > 0) & (j > 0), (i > 0) & (j < 0), (i < 0) & (j < 0), (i < 0) & (j > 0),
        (i == 0) & (j > 0), (j == 0) & (i > 0), (i == 0) & (j < 0), (j == 0) & (i < 0),
    ]  # fmt: skip
    axes = [
        np.where(odd, A, D) if shared_y else np.where(j == 1, A, D),
        np.where(odd, B, A) if shared_x else np.full(i.size, B),
        np.where(odd, C, B) if shared_y else np.full(i.size, C),
        np.where(odd, D, C) if shared_x else np.where(i == -1, D, C),
    ]
    region = np.select(conditions, [np.full(i.size, r) for r in (A, B, C, D)] + axes, -1)
    up, low = i.copy(), j.copy()
    # in its quadrant a region is a spine beside an axis, with the lines across it
    for r, si, sj, along_x in ((A, 1, 1, True), (B, 1, -1, False), (C, -1, -1, True), (D, -1, 1, False)):
        inside = (region == r) & (i * si > 0) & (j * sj > 0)
        if along_x:
            spine = inside & (j == sj)
            up[spine] -= si
            low[inside & ~spine] -= sj
        else:
            spine = inside & (i == si)
            low[spine] -= sj
            up[inside & ~spine] -= si
    for on_x, r, si, sj in (
        (False, A, 1, 1), (True, A, 1, 1), (True, B, 1, -1), (False, B, 1, -1),
        (False, C, -1, -1), (True, C, -1, -1), (True, D, -1, 1), (False, D, -1, 1),
    ):  # fmt: skip
        points = (region == r) & (j == 0 if on_x else i == 0)
        if on_x:
            low[points] = sj
        else:
            up[points] = si
    owner = np.abs(i) + np.abs(j) == 1
    up[owner] = low[owner] = 0
    for point, r, parent in _moves(n, m):
        at = (i == point[0]) & (j == point[1])
        region[at], up[at], low[at] = r, parent[0], parent[1]
    return Areas(i, j, region, up, low)


_Point = tuple[int, int]


def _moves(n: int, m: int) -> list[tuple[_Point, int, _Point]]:
    """Return the points that change their region: point, region, parent."""
    xp, xm, yp, ym = m // 2, (m - 1) // 2, n // 2, (n - 1) // 2
    from_d = ((-xm, 1), C, (-xm, 0))
    from_a = ((1, yp), D, (0, yp))
    match n % 2, m % 2:
        case 0, 1 if m == 3:
            return [((0, yp), C, (0, -ym))] if yp % 2 == 0 else []
        case 0, 1:
            return [from_d]
        case 1, 0 if n == 3:
            return [((xp, 0), D, (-xm, 0))] if xp % 2 == 0 else []
        case 1, 0:
            return [from_a]
        case 0, 0 if m == 4:
            return [((0, yp), C, (0, -ym)), ((1, yp), C, (0, yp))]
        case 0, 0:
            return [from_a, from_d]
    return []


def area_division_tree(network: Network, root: int) -> RootedTree:
    """Return the tree of the area division of a two-dimensional torus with sides of at least 3.

    >>> import gossamer
    >>> int(area_division_tree(gossamer.network("torus:7x7"), 0).depth.max())
    6
    """
    assert network.grid is not None
    n, m = network.grid.sides
    r, c = divmod(root, m)
    areas = area_division(n, m)
    parent = np.empty(n * m, np.int64)
    parent[(r - areas.j) % n * m + (c - areas.i) % m] = (r - areas.parent_j) % n * m + (c - areas.parent_i) % m
    return tree_of_parents(network, root, parent)


def area_division_scatter(case: Case) -> Schedule:
    """Send the messages of each area through its own link of the root, the furthest first.

    The root of a torus has four links, and a quarter of all messages should leave by each. So the torus is divided
    into four areas of equal size around the root, one behind each link, and each area is filled down a tree of its
    own, the furthest node first.

    Parameters
    ----------
    case : Case
        A scatter on a two-dimensional torus n x m with n, m >= 3, where a node may send on all links at once.

    Notes
    -----
    ``ceil((nm-1)/4)`` steps, which is optimal. O(hops) time.

    References
    ----------
    Dimakopoulos 1996, section 3.4.2, with its corrections.

    Examples
    --------
    >>> import gossamer
    >>> area_division_scatter(Case(gossamer.network("torus:8x4"), gossamer.task("scatter"))).completion_time
    Fraction(8, 1)
    """
    # Step 1: divide the torus into four areas of equal size around the root; points on the axes go to the areas in turn
    # Step 2: in each area a tree that hangs off one neighbor of the root: a spine with lines across it
    tree = area_division_tree(case.network, root_of(case))
    # Step 3: into each area one message a slot, the furthest first
    return scatter_down(tree, case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid, n = case.network.grid, case.network.node_count
    if grid is None or grid.wraps != (True, True):
        return Refusal("needs a two-dimensional torus with sides of at least 3")
    refusal = first_refusal(refuse_send_limit(case.rules), refuse_buffers(case.rules, held=1), refuse_root(case))
    if refusal is not None:
        return refusal
    return Offer(lambda: area_division_scatter(case), Fraction(-(-(n - 1) // 4)), optimal=case.whole or n % 4 == 1)


AREA_DIVISION = Algorithm(
    name="area-division",
    tasks=(Scatter,),
    propose=_propose,
    networks="two-dimensional tori with sides of at least 3",
    source="Dimakopoulos 1996, section 3.4.2, corrected",
    summary="the torus in four equal areas around the root, a tree in each, the furthest first",
)
