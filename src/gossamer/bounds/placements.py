"""Lower bounds over every assignment of ranks to nodes: what no placement of a job can beat.

The bounds of a case are about the nodes on which its ranks are. These hold however the ranks are put on the terminals:

* **ports**: sort the ranks by the packets that each must send, and the terminals by what their links carry. Whatever
  the placement, the k busiest ranks are on k terminals, one of which carries no more than the k-th best terminal; so
  one of these ranks needs its packets, at least those of the k-th, over that.
* **hops**: a message from one rank to another makes as many hops as their nodes are apart. Row by row, the messages of
  a rank go at best to the nodes that are nearest, the largest amounts least far (the least scalar product of the two
  sorted rows); which rank is on which node is then an assignment, whose least sum no placement beats (Gilmore 1962,
  Lawler 1963). What is copied to k nodes, or combined from them, makes at least k hops. All links together carry only
  so much in a slot.
* **shapes**: where all ranks of a group exchange the same amount, on an array or torus, their messages make the sum of
  the distances between the k nodes of the group, wherever these are. It is the sum over the dimensions of what depends
  on how many nodes of the group have each coordinate alone. Let a_i coordinates be taken in dimension i: each is that
  of 1 node or more, and of at most the product of the others a_j. Distances on a path or ring are of negative type, so
  that their sum is a concave function of these numbers: it is least where all but one of them are as small or as large
  as they may be, and where the largest stand next to each other (Riesz; Hardy, Littlewood and Polya 1934, theorem 371).
  The least over all a_1, a_2, ... is what no shape beats.
* **eigenvalues**: where every rank has as much to send as to all in all, and every node the same sum of distances, let
  V be an orthonormal basis of the vectors that sum to 0. A placement is a permutation matrix X, and V^T X V is
  orthogonal, so that the hops are at least (sum of amounts) (sum of distances) / n^2 plus the least scalar product of
  the eigenvalues of both matrices on that space (Hadley, Rendl and Wolkowicz 1992).
* **distance**: an unsegmented packet needs a slot for each hop; where the result of contributions goes back to those
  who made them, as in an allreduce by roots, it needs as many again. If all ranks that exchange were d hops apart or
  less, the graph of the job would be part of the graph of terminals that are, and would have no more of what such a
  part has no more of: degrees, the largest, the second largest and so on; triangles; odd circles where the other has
  none; ranks that all exchange with each other, whose number is at most that of the colors of a coloring (Tomita and
  Seki 2003: the search for so many terminals that are all close is cut off by colorings). Where as many pairs exchange
  as there are pairs of such terminals, both graphs would be the same, and as many ranks so many exchanges from a rank
  as terminals so many hops of that graph from one of them. Where a search through all partial placements ends, it has
  shown that there is none.
* **cut**: of n ranks, those on one side of a cut of the network with s terminals exchange with the others at least
  2 lambda s (n - s) / n packets both ways together, where lambda is the second eigenvalue of the Laplacian of the mean
  amounts of both ways (Fiedler 1973); its links carry only so much in a slot.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.graphs.rank_placement import PARTIAL, embedded
from gossamer.networks.bottleneck import bottleneck
from gossamer.networks.cable_orbits import symmetries
from gossamer.networks.network import Network
from gossamer.networks.structures import Grid
from gossamer.questions.cases import Case
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, MOVE, Messages
from gossamer.questions.tasks.composite_tasks import with_targets

__all__ = ["Needs", "PlacementBound", "needs_of", "placement_bounds", "terminal_distances"]

Ints = npt.NDArray[np.int64]

_MOST_ASSIGNED = 1500
"""Kinds of ranks and of nodes up to which the assignment is solved; beyond, each rank takes its best kind of node."""
_MOST_EIGEN = 1200
_SHAPES = 20_000
"""Numbers of coordinates that a group takes in each dimension, up to which all are looked at."""
_MOST_CLOSE = 3_000_000
"""Pairs of terminals that are close, up to which triangles are counted."""
_CLIQUES = 20_000
"""Sets of terminals that the search for some that are all close looks at."""
_MOST_TOGETHER = 600
"""Terminals that are close to one, up to which those that are all close are searched among them."""
_MOST_PARTNERS = 8
"""Ranks with which one exchanges at most, of jobs of which all placements on close terminals are searched."""
_SAFE = 1e-6
"""Share by which a floating-point bound is lowered before it counts."""


class PlacementBound(NamedTuple):
    """A time that no placement beats.

    Attributes
    ----------
    slots : Fraction
        In slots of the case.
    method : str
        ``ports``, ``hops``, ``shapes``, ``eigenvalues``, ``distance`` or ``cut``.
    text : str
        Why, with the numbers.
    """

    slots: Fraction
    method: str
    text: str


class Needs(NamedTuple):
    """What ranks must send, receive and have carried, in packets.

    `pair`, a sparse matrix of int64[T, T], what is moved from rank to rank; `send` and `receive` int64[T], at least;
    `hops` of what is copied or combined, at least; `near`, like `pair`, how much ranks have to do with each other, in
    copies and sums too: what a search brings together; `back`, those of them who contribute to what the other sums up
    and are sent the result.
    """

    pair: Any
    near: Any
    back: Any
    send: Ints
    receive: Ints
    hops: int


def needs_of(messages: Messages, terminals: int) -> Needs:
    """Return what messages among so many ranks need.

    Notes
    -----
    A message that is copied leaves its origin once or more and enters each target; a result that is combined leaves
    each contributor and enters the root; one that all combine and get enters and leaves each of k nodes, in 2 (k - 1)
    hops or more (each sum needs k - 1 hops to be complete anywhere and as many to be everywhere).
    """
    from scipy.sparse import coo_array

    listed = with_targets(messages, terminals)
    assert listed.target_start is not None
    assert listed.targets is not None
    row = np.repeat(np.arange(listed.count), np.diff(listed.target_start))
    origin, target = listed.origin[row].astype(np.int64), listed.targets.astype(np.int64)
    size = np.ones(listed.count, np.int64) if listed.sizes is None else listed.sizes
    kind = listed.discipline
    other = origin != target
    moved = (kind[row] == MOVE) & other
    send, receive = np.zeros((2, terminals), np.int64)
    np.add.at(send, origin[moved], size[row[moved]])
    np.add.at(receive, target[moved], size[row[moved]])
    hops = 0
    for discipline in np.unique(kind[kind != MOVE]).tolist():
        mine = (kind[row] == discipline) & (other | (discipline == ALLCOMBINE))
        count = np.bincount(row[mine], minlength=listed.count)
        some = count > 0
        if discipline == ALLCOMBINE:
            some = count > 1
            ends = mine & some[row]
            np.add.at(send, target[ends], size[row[ends]])
            np.add.at(receive, target[ends], size[row[ends]])
            hops += int((2 * (count - 1) * size)[some].sum())
            continue
        many, once = (send, receive) if discipline == COMBINE else (receive, send)
        np.add.at(many, target[mine], size[row[mine]])
        np.add.at(once, listed.origin[some].astype(np.int64), size[some])
        hops += int((count * size).sum())
    shape = (terminals, terminals)
    pair = coo_array((size[row[moved]], (origin[moved], target[moved])), shape=shape).tocsr()
    near = coo_array((size[row[other]], (origin[other], target[other])), shape=shape).tocsr()
    back = coo_array((terminals, terminals), dtype=np.int64).tocsr()
    if listed.after is not None:
        asked = other & (listed.after[row] >= 0)
        gave = np.isin(
            listed.after[row] * terminals + target, (row * terminals + target)[other & (kind[row] == COMBINE)]
        )
        both = asked & gave
        back = coo_array((size[row[both]], (origin[both], target[both])), shape=shape).tocsr()
    return Needs(pair, near, back, send, receive, hops)


def terminal_distances(network: Network) -> npt.NDArray[np.int16]:
    """Return the hops between terminals, int16[T, T]."""
    t = network.terminal_count
    return np.stack([network.distances(v)[:t] for v in range(t)]).astype(np.int16)


def placement_bounds(case: Case, distances: npt.NDArray[np.int16] | None = None) -> list[PlacementBound]:
    """Return lower bounds of the time over every assignment of the ranks of a task to the terminals, largest first.

    Parameters
    ----------
    case : Case
        A network with a task that is placed somehow; where does not matter.
    distances : int16[T, T], optional
        The hops between terminals, where they are known.

    Returns
    -------
    list of PlacementBound
        See the page of the module for the proofs.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.cases import Case
    >>> from gossamer.questions.tasks.exchanges import NeighborExchange
    >>> case = Case(gossamer.network("array:4x4"), NeighborExchange.along("complete:16"), gossamer.Rules())
    >>> [(bound.method, int(bound.slots)) for bound in placement_bounds(case)]
    [('cut', 16), ('hops', 14), ('shapes', 14), ('ports', 8), ('distance', 6)]
    """
    network = case.network
    t = network.terminal_count
    needs = needs_of(case.task.messages(network), t)
    rate = network.link_capacity / network.link_occupancy
    found = _ports(network, needs, rate)
    room = Fraction(0)
    for capacity, slots in zip(network.link_capacity.tolist(), network.link_occupancy.tolist(), strict=True):
        room += Fraction(capacity, slots)
    if needs.near.nnz:
        far = terminal_distances(network) if distances is None else distances
        moved = _nearest_rows(needs.pair, far)
        total = Fraction(moved + needs.hops) / room
        text = f"the messages make at least {moved + needs.hops:,} hops wherever ranks are, and all links {room} a slot"
        found.append(PlacementBound(total, "hops", text))
        apart = _by_shapes(needs.pair, network.grid) if t == network.node_count else None
        if apart is not None:
            text = f"the nodes of groups are so far apart, whatever shapes they have, that messages make {apart:,} hops"
            text += f" or more, and all links {room} a slot"
            found.append(PlacementBound(Fraction(apart + needs.hops) / room, "shapes", text))
        if t <= _MOST_EIGEN and needs.pair.nnz:
            found += _by_eigenvalues(network, needs, far, room)
    if case.whole:
        found = [each._replace(slots=Fraction(-(-each.slots.numerator // each.slots.denominator))) for each in found]
        if needs.near.nnz and not case.cuts_through:
            if needs.back.nnz < needs.near.nnz:
                found.append(_apart(network, needs.near, far))
            if needs.back.nnz:
                found.append(_apart(network, needs.back, far, 2))
    return sorted(found, key=lambda each: -each.slots)


def _ports(network: Network, needs: Needs, rate: npt.NDArray[np.float64]) -> list[PlacementBound]:
    best = PlacementBound(Fraction(0), "ports", "there is nothing to send")
    t = network.terminal_count
    for need, ends, verb in (
        (needs.send, network.link_source, "send"),
        (needs.receive, network.link_target, "receive"),
    ):
        room = np.bincount(ends, rate, network.node_count)[:t]
        wanted, most = -np.sort(-need), -np.sort(-room)
        for k in np.flatnonzero(np.diff(wanted, append=-1)).tolist():  # the last of each amount: the least room
            if most[k] <= 0:
                continue
            links = Fraction(float(most[k])).limit_denominator(1_000_000)
            time = Fraction(int(wanted[k])) / links
            if time > best.slots:
                who = quantity(k + 1, "rank")
                text = f"{who} {verb} {int(wanted[k]):,} packets or more, one of them {links} a slot at most"
                best = PlacementBound(time, "ports", text)
    return [best]


def _nearest_rows(pair: Any, far: npt.NDArray[np.int16]) -> int:
    """Return the Gilmore-Lawler bound of the sum of amounts times distances over all placements."""
    if not pair.nnz:
        return 0
    t = far.shape[0]
    rows = [tuple(np.sort(pair.data[pair.indptr[r] : pair.indptr[r + 1]])[::-1].tolist()) for r in range(t)]
    distances = np.sort(np.where(np.eye(t, dtype=bool), 0, far), axis=1)[:, 1:].astype(np.int64)
    amounts = list(dict.fromkeys(rows))
    which = {row: i for i, row in enumerate(amounts)}
    kind_of_rank = np.array([which[row] for row in rows])
    kinds, kind_of_node = np.unique(distances, axis=0, return_inverse=True)
    cost = np.array([[int(np.dot(row, kind[: len(row)])) for kind in kinds] for row in amounts], np.int64)
    if len(kinds) == 1 or len(amounts) == 1:
        return int((cost * np.outer(np.bincount(kind_of_rank), np.bincount(kind_of_node))).sum() // t)
    if t <= _MOST_ASSIGNED:
        from scipy.optimize import linear_sum_assignment

        full = cost[kind_of_rank][:, kind_of_node.reshape(-1)]
        return int(full[linear_sum_assignment(full)].sum())
    return int(cost.min(axis=1)[kind_of_rank].sum())


def _by_shapes(pair: Any, grid: Grid | None) -> int | None:
    """Return the least hops of groups, all ranks of each of which exchange one amount, on a grid; None of others."""
    from scipy.sparse.csgraph import connected_components

    if grid is None or not pair.nnz:
        return None
    part = connected_components(pair, directed=False)[1]
    sizes, row = np.bincount(part), part[pair.tocoo().row]
    low, high = np.full(sizes.size, np.iinfo(np.int64).max), np.zeros(sizes.size, np.int64)
    np.minimum.at(low, row, pair.data)
    np.maximum.at(high, row, pair.data)
    if (np.bincount(row, minlength=sizes.size) != sizes * (sizes - 1)).any() or (low < high).any():
        return None
    amounts = np.bincount(sizes, high, minlength=0).astype(np.int64)  # of the groups of each size together
    total = 0
    for size in np.flatnonzero(amounts).tolist():
        sides = tuple(min(side, size) for side in grid.sides)
        if np.prod(sides, dtype=np.float64) > _SHAPES:
            return None
        total += int(amounts[size]) * _least_spread(size, grid.sides, grid.wraps)
    return total


def _least_spread(size: int, sides: Sequence[int], wraps: Sequence[bool]) -> int:
    """Return a sum of distances, both ways, that the nodes of no set of `size` on a grid are below."""
    kinds = list(zip(sides, wraps, strict=True))
    along = functools.cache(_least_along)
    boxes = itertools.product(*(range(1, min(side, size) + 1) for side in sides))
    return min(
        sum(along(size, a, math.prod(box) // a, *kind) for a, kind in zip(box, kinds, strict=True))
        for box in boxes
        if math.prod(box) >= size
    )


def _least_along(size: int, taken: int, most: int, side: int, closed: bool) -> int:
    """Return the least sum of distances along a dimension, `taken` of whose coordinates have 1 to `most` of the nodes.

    >>> _least_along(8, 3, 3, 8, True)  # 2, 3 and 3 nodes
    54
    """
    full, rest = divmod(size - taken, max(1, most - 1))
    counts = np.ones(taken, np.int64)
    counts[:full] = most
    counts[full : full + 1] += rest
    place = (np.arange(taken) + 1) // 2 * np.where(np.arange(taken) % 2, 1, -1)  # 0, 1, -1, 2, ...
    apart = np.abs(place[:, None] - place)
    return int(counts @ (np.minimum(apart, side - apart) if closed else apart) @ counts)


def _by_eigenvalues(network: Network, needs: Needs, far: npt.NDArray[np.int16], room: Fraction) -> list[PlacementBound]:
    amount = needs.pair.toarray().astype(np.float64)
    amount = (amount + amount.T) / 2
    n = amount.shape[0]
    found = []
    sums, spans = amount.sum(axis=1), far.sum(axis=1)
    if np.ptp(sums) == 0 and np.ptp(spans) == 0 and np.array_equal(far, far.T):
        basis = np.linalg.qr(np.concatenate([np.ones((n, 1)), np.eye(n)[:, : n - 1]], axis=1))[0][:, 1:]
        of_amounts = np.linalg.eigvalsh(basis.T @ amount @ basis)
        of_distances = np.linalg.eigvalsh(basis.T @ far.astype(np.float64) @ basis)
        hops = float(sums[0]) * float(spans[0]) + float(of_amounts @ of_distances[::-1])
        least = Fraction(_whole_below(hops)) + needs.hops
        text = f"by eigenvalues the messages make at least {float(least):,.5g} hops, and all links {room} a slot"
        found.append(PlacementBound(least / room, "eigenvalues", text))
    cut = bottleneck(network)
    if cut is not None and cut.inside and cut.outside:
        laplacian = np.diag(sums) - amount
        gap = float(np.linalg.eigvalsh(laplacian)[1])
        both = Fraction(_whole_below(2 * gap * cut.inside * (n - cut.inside) / n))
        inside = np.isin(network.link_source, cut.nodes) & ~np.isin(network.link_target, cut.nodes)
        back = ~np.isin(network.link_source, cut.nodes) & np.isin(network.link_target, cut.nodes)
        carried = sum(
            (Fraction(int(c), int(o)) for c, o in zip(network.link_capacity[inside | back],
                                                      network.link_occupancy[inside | back], strict=True)),
            Fraction(0),
        )  # fmt: skip
        if carried:
            text = f"whichever {cut.inside:,} ranks are on one side of a cut, {both} packets cross, {carried} a slot"
            found.append(PlacementBound(both / carried, "cut", text))
    return found


def _apart(network: Network, near: Any, far: npt.NDArray[np.int16], times: int = 1) -> PlacementBound:
    """Return the bound by how far apart some ranks that exchange must be, who do it so many times in turn."""
    from scipy.sparse import csr_array

    pairs = ((near + near.T) > 0).tocsr()
    of_job = _Counts.of(pairs)
    step = int((network.link_occupancy + network.link_latency).min())
    symmetric, why = np.minimum(far, far.T), ""
    together, starts = _all_together(pairs), first_of_orbits(network)
    for distance in range(1, int(far.max()) + 1):
        close = (symmetric <= distance) & ~np.eye(far.shape[0], dtype=bool)
        missing = ""
        if close.sum() <= _MOST_CLOSE:
            missing = of_job.not_in(_Counts.of(close)) or _not_the_same(pairs, close, starts)
        if not missing and not _may_be_together(close, together, starts):
            missing = f"{together:,} ranks all exchange with each other, and no {together:,} terminals are"
        if not missing and distance < 3 and of_job.degrees[0] <= _MOST_PARTNERS and close.sum() <= _MOST_CLOSE:
            found, looked = embedded(near, csr_array(close), starts)
            if found is None and looked <= PARTIAL:
                missing = "a search of all placements finds none where all that exchange are"
        if not missing:
            text = (
                f"some ranks that exchange{', there and back,' if times > 1 else ''} are {distance} hops apart or more"
            )
            text += f": {why}" if distance > 1 else ""
            return PlacementBound(Fraction(times * distance * step), "distance", text)
        why = f"{missing} within {distance} {'hop' if distance == 1 else 'hops'}"
    text = "some ranks are as far apart as nodes can be"
    return PlacementBound(Fraction(times * int(far.max()) * step), "distance", text)


def _not_the_same(pairs: Any, close: npt.NDArray[np.bool_], starts: Ints) -> str:
    """Return why not all that exchange are close, in words, where as many terminals are; empty if nothing says it.

    Both graphs would be the same then: as many ranks so many exchanges from rank 0 as terminals from one of `starts`,
    which has each kind of terminals.
    """
    from scipy.sparse import csr_array

    if pairs.nnz != close.sum() or pairs.diagonal().any():
        return ""
    levels = _levels(pairs, 0)
    if any(_levels(csr_array(close), start) == levels for start in starts.tolist()):
        return ""
    return f"only {pairs.nnz // 2:,} pairs of terminals are close, as many as exchange, and they are another graph"


def _levels(graph: Any, start: int) -> list[int]:
    """Return how many nodes are 0, 1, 2, ... links from a node of a graph."""
    from scipy.sparse.csgraph import shortest_path

    far = np.asarray(shortest_path(graph, "D", unweighted=True, indices=np.array([start])))
    levels: list[int] = np.bincount(far[np.isfinite(far)].astype(np.int64)).tolist()
    return levels


def first_of_orbits(network: Network) -> Ints:
    """Return a terminal of each orbit of them under the symmetries that are found, int64[k], in order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    t = network.terminal_count
    images = [p[:t] for p in symmetries(network, every=True)]
    if not images:
        return np.arange(t)
    ends = np.tile(np.arange(t), len(images)), np.concatenate(images)
    orbit = connected_components(coo_array((np.ones(ends[0].size, bool), ends), shape=(t, t)), directed=False)[1]
    return np.unique(orbit, return_index=True)[1].astype(np.int64)


def _all_together(pairs: Any) -> int:
    """Return a number of ranks that all exchange with each other, found greedily from the busiest rank."""
    best = 1
    degrees = np.diff(pairs.indptr)
    for r in np.argsort(-degrees, kind="stable")[:8].tolist():
        chosen, left = [r], set(pairs.indices[pairs.indptr[r] : pairs.indptr[r + 1]].tolist())
        while left:
            q = min(left)
            chosen.append(q)
            left &= set(pairs.indices[pairs.indptr[q] : pairs.indptr[q + 1]].tolist())
        best = max(best, len(chosen))
    return best


def _may_be_together(close: npt.NDArray[np.bool_], count: int, starts: Ints) -> bool:
    """Return whether so many terminals may be all close to each other; False where a complete search finds none."""
    looked = 0

    def search(candidates: int, missing: int, near: list[int]) -> bool:
        nonlocal looked
        looked += 1
        if missing <= 0 or looked > _CLIQUES:
            return True
        order: list[tuple[int, int]] = []  # terminals by color; those of one color are not close to each other
        color, left = 0, candidates
        while left:
            color += 1
            same = left
            while same:
                v = (same & -same).bit_length() - 1
                left &= ~(1 << v)
                same &= ~(1 << v) & ~near[v]
                order.append((v, color))
        for v, most in reversed(order):
            if most < missing:
                return False
            if search(candidates & near[v], missing - 1, near):
                return True
            candidates &= ~(1 << v)
        return False

    for start in starts.tolist():
        there = np.flatnonzero(close[start])
        if there.size < count - 1:
            continue
        if there.size > _MOST_TOGETHER:
            return True
        inner = close[np.ix_(there, there)]
        near = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in inner]
        if search((1 << there.size) - 1, count - 1, near):
            return True
    return False


class _Counts(NamedTuple):
    """What a graph has no more of than one that contains it: degrees, sorted; triangles; odd circles."""

    degrees: Ints
    triangles: int
    odd: bool

    @classmethod
    def of(cls, pairs: Any) -> _Counts:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, connected_components

        graph = csr_array(pairs).astype(np.int64)
        degrees = -np.sort(-np.asarray(graph.sum(axis=1)).reshape(-1))
        triangles = int((graph @ graph).multiply(graph).sum()) // 6
        count, part = connected_components(graph, directed=False)
        side = np.zeros(part.size, np.int64)
        for k in range(count):
            order, before = breadth_first_order(graph, int(np.argmax(part == k)), directed=False)
            for v in order[1:].tolist():
                side[v] = 1 - side[before[v]]
        row, column = graph.nonzero()
        return cls(degrees, triangles, bool((side[row] == side[column]).any()))

    def not_in(self, other: _Counts) -> str:
        """Return why this graph is not in another one, in words; empty if these counts do not tell."""
        if (self.degrees > other.degrees).any():
            k = int(np.argmax(self.degrees > other.degrees))
            return f"{k + 1} ranks have {self.degrees[k]} partners or more, and fewer terminals so many"
        if self.triangles > other.triangles:
            return f"{self.triangles:,} triples exchange with each other, and {other.triangles:,} of terminals are"
        if self.odd and not other.odd:
            return "the job has odd circles, and none of terminals are"
        return ""


def _whole_below(value: float) -> int:
    """Return the least whole number that a sum of whole amounts, at least about `value`, can be."""
    return max(0, int(np.ceil(value * (1 - _SAFE) - _SAFE)))
