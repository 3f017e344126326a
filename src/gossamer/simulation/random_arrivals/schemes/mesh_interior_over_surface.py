"""ARC, algorithm-reconfigured communication: broadcasts among the inner nodes of a mesh that use its surface.

Only the nodes that are at no end of any dimension compute. A broadcast leaves the inside straight along some dimension
i, spreads over the face that it reaches (over the positions that have an inner node behind them), and comes back
along i through all inner nodes. All links inside carry nearly the same traffic, so that the inner nodes get almost all
their 2d links' worth, about twice what broadcasts among all nodes of the mesh can have.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gossamer.algorithms.multinode_broadcast.mesh_interior_over_surface import inner_nodes, refuse_without_inside
from gossamer.errors import NotApplicableError
from gossamer.networks.grids import grid_links
from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows, refuse_uncovered

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.scheme import Scheme
    from gossamer.simulation.random_arrivals.schemes.transmission_tables import Entries, SchemeRows

__all__ = ["arc", "arc_limit", "arc_reason", "balanced_choice"]

# How often each source of a scheme makes each of its choices so that the busiest link carries least.

_PARTS = 720_720
"""Probabilities are multiples of one over this, the least number that 1 to 16 divide."""


def balanced_choice(rows: SchemeRows, entries: Entries, links: int) -> list[list[Fraction]]:
    """Return the probability of each choice of each source for which the largest load of a link is least.

    * `rows` (SchemeRows): whose steps are links.
    * `entries` (nested sequences of int): rows by source, choice and part; see `Entries`.
    * `links` (int): number of links.

    Returns: list of list of Fraction: each of sum 1.

    A linear program with a variable for each choice of each source. Rounding to multiples of 1/720,720 costs less than
    a part in 100,000 of the load.

    >>> from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows
    >>> rows = SchemeRows()
    >>> first, second = rows.add(0), rows.add(1)
    >>> balanced_choice(rows, [[[[first]]], [[[first]], [[second]]]], 2)
    [[Fraction(1, 1)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    loads = _row_loads(rows, links)
    width = [len(choices) for choices in entries]
    queued: Any = sparse.lil_array((sum(width), len(rows.step)))
    for variable, choice in enumerate(choice for choices in entries for choice in choices):
        for row in (row for part in choice for row in part):
            queued[variable, row] += 1
    load: Any = (queued.tocsr() @ loads).T
    source = np.repeat(np.arange(len(width)), width)
    ones: Any = sparse.csr_array((np.ones(source.size), (source, np.arange(source.size))))
    found: Any = linprog(
        np.append(np.zeros(source.size), 1.0),
        A_ub=sparse.hstack([load, sparse.csr_array(np.full((links, 1), -1.0))]).tocsr(),
        b_ub=np.zeros(links),
        A_eq=sparse.hstack([ones, sparse.csr_array((len(width), 1))]).tocsr(),
        b_eq=np.ones(len(width)),
        method="highs",
    )
    parts = np.rint(np.clip(found.x[:-1], 0, 1) * _PARTS).astype(np.int64)
    probability = []
    for mine in np.split(parts, np.cumsum(width)[:-1]):
        mine[np.argmax(mine)] += _PARTS - mine.sum()
        probability.append([Fraction(int(part), _PARTS) for part in mine])
    return probability


def _row_loads(rows: SchemeRows, links: int) -> Any:
    """Return how often a packet that is queued for each row crosses each link in all, a sparse array [rows, links]."""
    import scipy.sparse as sparse

    count = len(rows.step)
    parent = np.repeat(np.arange(count), [len(below) for below in rows.children])
    child = np.array([row for below in rows.children for row in below], np.int64)
    below: Any = sparse.csr_array((np.ones(child.size), (parent, child)), shape=(count, count))
    now: Any = sparse.csr_array((np.ones(count), (np.arange(count), np.array(rows.step))), shape=(count, links))
    total = now
    for _ in range(max(rows.height) - 1):
        now = below @ now
        total = total + now
    return total


SOURCE = "Yeh, Varvarigos and Lee 1998, section 3"

Place = tuple[int, ...]


def arc_reason(network: Network) -> str | None:
    """Say why ARC does not cover a network, or None if it does.

    >>> import gossamer
    >>> arc_reason(gossamer.network("torus:4x4"))
    'needs an array (mesh)'
    """
    refusal = refuse_without_inside(network)
    return None if refusal is None else refusal.why


def arc_limit(sides: tuple[int, ...], side: Literal["nearest", "random"] = "nearest") -> Fraction:
    """Return the load factor at which ARC saturates a link of an array with equal even sides, from the formula.

    Notes
    -----
    ``(N'-1) / (N' + n - 4)`` with the nearest side, ``(N'-1) / (N' + n - 3)`` with a random one, N' being the number of
    inner nodes. The paper states 1 - d n / N', which is less. `stability_limit` counts, on any sides.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 3.1; the limits are Gossamer's.

    Examples
    --------
    >>> str(arc_limit((6, 6))), str(arc_limit((6, 6), "random"))
    ('5/6', '15/19')
    """
    inner = math.prod(n - 2 for n in sides)
    return Fraction(inner - 1, inner + max(sides) - (4 if side == "nearest" else 3))


def arc(
    network: Network, *, priority: str = "two-class", side: Literal["nearest", "random", "balanced"] = "nearest"
) -> Scheme:
    """Return the ARC scheme on a mesh.

    Parameters
    ----------
    network : Network
        An array, sides of 3 or more, one of 4 or more.
    priority : str
        A key of `PRIORITIES`; low class: the way back but for its first hop.
    side : str
        Whether a source takes the nearer end of the dimension that is drawn (a fair coin in the middle), or either; or
        whether dimension and end are drawn so that the busiest link carries least, ``balanced``.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    Dimension i is drawn evenly but for ``balanced``, and so is one of the d-1 rotations of the order in which the face
    is covered. Sources and receivers are the inner nodes. Nodes that a copy crosses on its way out receive it then;
    what comes back to them does not count. With equal sides no way to draw dimension and end allows more load than the
    nearest; with sides that differ, a balanced one does, 11/16 to 55/64 on 4x8 nodes.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, sections 3.1 and 3.3.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> scheme = arc(gossamer.network("array:6x6"))
    >>> str(stability_limit(scheme).load)
    '5/6'
    """
    refuse_uncovered("arc", network, arc_reason(network))
    if side not in ("nearest", "random", "balanced"):
        raise NotApplicableError(f"side must be 'nearest', 'random' or 'balanced', got {side!r}")
    assert network.grid is not None
    assert network.coordinates is not None
    sides, d = network.grid.sides, network.grid.dimensions
    rows = SchemeRows()
    nodes = inner_nodes(network)
    coordinates = [tuple(c) for c in network.coordinates[nodes].tolist()]
    makers = {(i, end): _Face(rows, network, i, end) for i in range(d) for end in (0, 1)}
    rotations = max(d - 1, 1)
    entries = []
    for at in coordinates:
        choices = []
        for i, coin, turn in itertools.product(range(d), (0, 1), range(rotations)):
            behind = 2 * at[i] - (sides[i] - 1)  # below 0: nearer to the low end
            end = coin if side != "nearest" or behind == 0 else int(behind > 0)
            choices.append([[makers[i, end](at, turn)]])
        entries.append(choices)
    count = 2 * d * rotations
    probability = [[Fraction(1, count)] * count] * nodes.size
    if side == "balanced":
        probability = balanced_choice(rows, entries, network.link_count)
    dimension = np.argmax(network.coordinates[network.link_source] != network.coordinates[network.link_target], axis=1)
    return rows.scheme(
        "arc-balanced" if side == "balanced" else "arc",
        network,
        SOURCE,
        entries,
        probability,
        priority=priority,
        translated=False,
        receivers=nodes.size - 1,
        sources=nodes.tolist(),
        dimension=dimension.tolist(),
    )


def _moved(at: Place, j: int, to: int) -> Place:
    """Return a place with another coordinate j."""
    return (*at[:j], to, *at[j + 1 :])


class _Face:
    """The rows of sources over the face at one end of dimension i."""

    def __init__(self, rows: SchemeRows, network: Network, i: int, end: int) -> None:
        assert network.grid is not None
        self.rows, self.i, self.end = rows, i, end
        self.sides, self.strides = network.grid.sides, network.grid.strides
        self.links = grid_links(network)
        self.last = self.sides[i] - 1
        self.surface = 0 if end == 0 else self.last
        self.inward, self.outward = (0, 1) if end == 0 else (1, 0)  # columns of links up and down
        self.back, self.along, self.spread = cache(self._back), cache(self._along), cache(self._spread)

    def __call__(self, source: Place, turn: int) -> int:
        """Add the rows of a source with a rotation of the other dimensions, and return the first row."""
        others = tuple((self.i + 1 + k) % len(self.sides) for k in range(len(self.sides) - 1))
        rest = others[turn:] + others[:turn]
        face = _moved(source, self.i, self.surface)
        sent = [*self.spread(face, rest), self._back_over(source, 0)]
        row = -1
        for depth in range(1, self._depth(source) + 1):
            row = self.rows.add(self._link(self._deep(source, depth), self.i, self.outward), sent, counted=depth > 1)
            sent = [row]
        return row

    def _link(self, at: Place, j: int, way: int) -> int:
        return int(self.links[sum(x * s for x, s in zip(at, self.strides, strict=True)), j, way])

    def _depth(self, at: Place) -> int:
        """Return how many hops behind the face a place is."""
        return at[self.i] if self.end == 0 else self.last - at[self.i]

    def _deep(self, at: Place, depth: int) -> Place:
        """Return the place of the same column that is `depth` hops behind the face."""
        return _moved(at, self.i, depth if self.end == 0 else self.last - depth)

    def _back(self, column: Place, depth: int) -> int:
        """Return the row that brings a copy from `depth` to `depth` + 1, and on through the column."""
        following = [self.back(column, depth + 1)] if depth + 2 < self.last else []
        return self.rows.add(self._link(self._deep(column, depth), self.i, self.inward), following, low=depth > 0)

    def _back_over(self, source: Place, depth: int) -> int:
        """Return the row of the column of the source itself, whose nodes up to the source have received before."""
        if depth == self._depth(source):
            return self.back(_moved(source, self.i, self.surface), depth)
        following = [self._back_over(source, depth + 1)] if depth + 2 < self.last else []
        link = self._link(self._deep(source, depth), self.i, self.inward)
        return self.rows.add(link, following, counted=False, low=depth > 0)

    def _along(self, at: Place, j: int, way: int, rest: Place) -> int:
        """Return the row that takes a copy over the face in dimension j, `rest` being the dimensions after it."""
        to = at[j] + (1 if way == 0 else -1)
        there = _moved(at, j, to)
        following = [] if to == (self.sides[j] - 2 if way == 0 else 1) else [self.along(there, j, way, rest)]
        sent = [*following, *self.spread(there, rest), self.back(there, 0)]
        return self.rows.add(self._link(at, j, way), sent, counted=False)

    def _spread(self, at: Place, rest: Place) -> tuple[int, ...]:
        """Return the rows by which a node of the face serves the dimensions `rest`."""
        return tuple(
            self.along(at, j, way, rest[place + 1 :])
            for place, j in enumerate(rest)
            for way, limit in ((0, self.sides[j] - 2), (1, 1))
            if at[j] != limit
        )
