"""The scheme: how one broadcast travels, as tables that the simulator and the theory read.

A *row* is one transmission of one packet on one link. When the packet of a row has arrived, the row's children are
queued at the node it reached. A broadcast starts with the entry rows of its source, of the choice that was drawn for
it, and of each of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks import Network
from gossamer.reading import instance, whole

__all__ = ["KINDS", "RequestKinds", "Scheme", "scheme_from_parents", "slices"]

KINDS = ("broadcast", "unicast", "multicast")
"""Kinds of requests: to all nodes, to one, to a set."""


@dataclass(frozen=True, eq=False)
class RequestKinds:
    """What kinds of requests the choices of a scheme are.

    * `names` (tuple of str): the kinds that occur, of `KINDS`.
    * `share` (tuple of float): part of the requests that are of each kind.
    * `kind` (int32[C]): place in `names` of each choice.
    * `reached` (int64[S, C]): nodes that must receive, for each source's choices.
    * `needed` (float64[S]): transmissions that a request needs on average: nodes to be reached for a broadcast, links
      of its tree or path for others. The load factor counts them.
    * `distance` (tuple of (float, float)): for each kind the mean distance to a receiver and to the farthest receiver,
      in hops: delays are at least that.
    """

    names: tuple[str, ...]
    share: tuple[float, ...]
    kind: npt.NDArray[np.int32]
    reached: npt.NDArray[np.int64]
    needed: npt.NDArray[np.float64]
    distance: tuple[tuple[float, float], ...]

    def at(self, sources: npt.NDArray[np.intp]) -> RequestKinds:
        """Return the same for some of the sources, by their places."""
        return replace(self, reached=self.reached[sources], needed=self.needed[sources])

    def bounds(self) -> tuple[float, float]:
        """Return lower bounds, by distance, of the mean over all receipts and over all last receipts."""
        receipts = [share * float(self.reached[:, self.kind == k].mean()) for k, share in enumerate(self.share)]
        mean = sum(r * d[0] for r, d in zip(receipts, self.distance, strict=True)) / sum(receipts)
        return mean, sum(s * d[1] for s, d in zip(self.share, self.distance, strict=True))


IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]

T = TypeVar("T", bound=np.generic)

_CHUNK = 1 << 21


def slices(first: LongArray, count: LongArray) -> tuple[LongArray, LongArray]:
    """Return all places of slices one after the other, and the slice that each is of.

    >>> [places.tolist() for places in slices(np.array([5, 0]), np.array([2, 1]))]
    [[5, 6, 0], [0, 0, 1]]
    """
    owner = np.repeat(np.arange(count.size), count)
    return np.repeat(first - np.cumsum(count) + count, count) + np.arange(owner.size), owner


def _frozen(values: npt.ArrayLike, kind: type[T]) -> npt.NDArray[T]:
    """Return `values` as a read-only array, without a copy where they have the type already."""
    array = np.ascontiguousarray(values, dtype=kind)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Scheme:
    """How a broadcast travels: trees of transmissions, priorities, and the chance of each tree.

    Attributes
    ----------
    name : str
        Short name, as in the registry of schemes.
    network : Network
        Every link carries one packet at a time.
    source : str
        The paper the scheme is from.
    step : int32[R]
        Column of the link table if `translated`, else link number, of each row.
    translated : bool
        Rows are relative: the sender is the node that the parent's packet has reached (entry rows: the source of the
        broadcast), and the link is ``link_table[sender, step]``. All sources then share one set of tables.
    child_first, child_last : int64[R]
        The rows queued when row r's packet arrives are ``children[child_first[r]:child_last[r]]``, in this order.
    children : int32[K]
        Row numbers.
    priority : int32[R]
        Class of each row; class 0 is served first. Smaller numbers need not all be used.
    counted : bool[R]
        Whether the receipt counts: the first receipt of this part by a node that must receive.
    entry_first, entry_last : int64[S, C, P]
        Slices of `children`: the rows queued at generation for source s, choice c, part p. S = 1 if `translated`, else
        the number of sources.
    probability : float64[S, C]
        Chance of each choice; every line sums to 1.
    parts : int
        P: a message is sent in P parts, and a transmission takes 1/P.
    receivers : int64[S]
        Nodes that must receive, per broadcast (an int is taken for every source).
    sources : int32[...]
        Nodes that generate broadcasts, ascending. Default: all.
    dimension : int32[degree] or int32[L], optional
        Dimension of each column of the link table (if `translated`) or of each link, for load-aware choice and reports.
    link_table : int32[N, degree], optional
        Link that leaves each node by each column. Default, with `translated`: the network's links in their order.
    exact_probability : tuple of tuples of Fraction, optional
        `probability` without rounding, where it is known: the theory's limits are then exact.
    traffic : RequestKinds, optional
        Which choices are no broadcasts, see `gossamer.simulation.random_arrivals.schemes.mixed_traffic`.
        Default: all are.

    Raises
    ------
    ScheduleError
        If a table has a wrong shape or points outside another.

    Examples
    --------
    A ring of three nodes: the packet goes one hop either way.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals import scheme_from_parents
    >>> scheme = scheme_from_parents("both ways", gossamer.network("ring:3"), parent=[-1, -1], step=[0, 1])
    >>> scheme.check()
    >>> scheme.row_count, scheme.choice_count, scheme.rate(0.5)
    (2, 1, 0.5)
    """

    name: str
    network: Network
    source: str
    step: IntArray
    translated: bool
    child_first: LongArray
    child_last: LongArray
    children: IntArray
    priority: IntArray
    counted: npt.NDArray[np.bool_]
    entry_first: LongArray
    entry_last: LongArray
    probability: npt.NDArray[np.float64]
    parts: int = 1
    receivers: LongArray | int = -1
    sources: IntArray | None = None
    dimension: IntArray | None = None
    link_table: IntArray | None = field(default=None, repr=False)
    exact_probability: tuple[tuple[Fraction, ...], ...] | None = field(default=None, repr=False)
    traffic: RequestKinds | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        network, name = self.network, self.name
        for what, kind in _TYPES.items():
            object.__setattr__(self, what, _frozen(getattr(self, what), kind))
        sources = np.arange(network.node_count) if self.sources is None else self.sources
        object.__setattr__(self, "sources", _frozen(sources, np.int32))
        if self.dimension is not None:
            object.__setattr__(self, "dimension", _frozen(self.dimension, np.int32))
        if self.translated and self.link_table is None:
            if network.link_count != network.node_count * network.degree:
                raise ScheduleError(
                    f"scheme {name!r}: the nodes of {network.spec} differ in degree; translated rows need a link table"
                )
            table = np.arange(network.link_count, dtype=np.int32).reshape(network.node_count, -1)
            object.__setattr__(self, "link_table", table)
        if self.link_table is not None:
            object.__setattr__(self, "link_table", _frozen(self.link_table, np.int32))
        tables = 1 if self.translated else self.source_nodes.size
        receivers = np.asarray(self.receivers, np.int64)
        if receivers.ndim == 0:
            receivers = np.full(tables, network.node_count - 1 if receivers < 0 else receivers)
        object.__setattr__(self, "receivers", _frozen(receivers, np.int64))
        self._check_shapes(tables)

    def _check_shapes(self, tables: int) -> None:
        name, rows = self.name, self.row_count
        for what in ("child_first", "child_last", "priority", "counted"):
            if getattr(self, what).shape != (rows,):
                raise ScheduleError(f"scheme {name!r}: {what} must have one entry for each of {rows} rows")
        nodes = self.source_nodes
        if not nodes.size or nodes[0] < 0 or nodes[-1] >= self.network.node_count or (np.diff(nodes) <= 0).any():
            raise ScheduleError(f"scheme {name!r}: sources must be ascending nodes of {self.network.spec}")
        if self.parts < 1:
            raise ScheduleError(f"scheme {name!r}: a message has at least 1 part, got {self.parts}")
        shape = (tables, self.choice_count, self.parts)
        if self.probability.shape != shape[:2] or self.entry_first.shape != shape or self.entry_last.shape != shape:
            raise ScheduleError(f"scheme {name!r}: entries must have shape {shape} and probability {shape[:2]}")
        if (self.probability < 0).any() or (np.abs(self.probability.sum(axis=1) - 1) > 1e-9).any():
            raise ScheduleError(f"scheme {name!r}: the probabilities of a source's choices must be >= 0 and sum to 1")
        if self.counted_receivers.shape != (tables,) or (self.counted_receivers < 1).any():
            raise ScheduleError(
                f"scheme {name!r}: receivers must be at least 1, one number for each of {tables} tables"
            )
        columns = self.network.link_count if self.link_table is None else self.link_table.shape[1]
        steps = self.network.link_count if not self.translated else columns
        for what, values, top in (("step", self.step, steps), ("children", self.children, rows)):
            if values.size and (values.min() < 0 or values.max() >= top):
                raise ScheduleError(f"scheme {name!r}: {what} must be in 0..{top - 1}")
        if rows and self.priority.min() < 0:
            raise ScheduleError(f"scheme {name!r}: priority classes start at 0, got {self.priority.min()}")
        pairs = ((self.child_first, self.child_last), (self.entry_first, self.entry_last))
        for first, last in pairs:
            if first.size and (first.min() < 0 or last.max() > self.children.size or (first > last).any()):
                raise ScheduleError(f"scheme {name!r}: a slice of children leaves 0..{self.children.size}")
        if self.dimension is not None and self.dimension.shape != (steps,):
            raise ScheduleError(f"scheme {name!r}: dimension must have {steps} entries")

    # -- sizes ---------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Number of rows R."""
        return int(self.step.size)

    @property
    def choice_count(self) -> int:
        """Number of choices C."""
        return int(self.probability.shape[-1])

    @property
    def class_count(self) -> int:
        """Number of priority classes, unused ones included."""
        return int(self.priority.max(initial=0)) + 1

    @property
    def source_nodes(self) -> IntArray:
        """Nodes that generate broadcasts, int32."""
        assert self.sources is not None
        return self.sources

    @property
    def counted_receivers(self) -> LongArray:
        """Nodes that must receive, int64[S]."""
        assert not isinstance(self.receivers, int)
        return self.receivers

    @property
    def reached(self) -> LongArray:
        """Nodes that must receive a request of each choice, int64[S, C]."""
        if self.traffic is not None:
            return self.traffic.reached
        return np.repeat(self.counted_receivers[:, None], self.choice_count, axis=1)

    @property
    def needed(self) -> npt.NDArray[np.float64]:
        """Transmissions that a request needs, which the load factor counts: float64[S]."""
        return self.counted_receivers.astype(np.float64) if self.traffic is None else self.traffic.needed

    def restricted(self, nodes: npt.ArrayLike) -> Scheme:
        """Return the same scheme with only some of its sources.

        Raises
        ------
        ScheduleError
            If a node generates no broadcasts, or there is none.
        """
        chosen = np.unique(np.asarray(nodes, np.int64))
        unknown = np.setdiff1d(chosen, self.source_nodes)
        if unknown.size or not chosen.size:
            which = (
                f"node {unknown[0]} generates no broadcasts" if unknown.size else "no node would generate broadcasts"
            )
            raise ScheduleError(f"scheme {self.name!r} on {self.network.spec}: {which}")
        if self.translated:
            return replace(self, sources=chosen.astype(np.int32))
        place = np.searchsorted(self.source_nodes, chosen)
        exact = self.exact_probability
        return replace(
            self,
            sources=chosen.astype(np.int32),
            entry_first=self.entry_first[place],
            entry_last=self.entry_last[place],
            probability=self.probability[place],
            receivers=self.counted_receivers[place],
            exact_probability=None if exact is None else tuple(exact[p] for p in place),
            traffic=None if self.traffic is None else self.traffic.at(place),
        )

    # -- load ----------------------------------------------------------------------------------------------------

    def load_factor(self, rate: float) -> float:
        """Return the load factor of `rate` broadcasts per source and step: rate * receivers / mean degree of a source.

        On a whole network this is ``rate (N-1) / d_ave``.
        """
        degree = self.network.out_degree[self.source_nodes].mean()
        return float(rate * self.needed.mean() / degree)

    def rate(self, load: float) -> float:
        """Return the broadcasts per source and step that make the load factor `load`."""
        return load / self.load_factor(1.0)

    # -- check ---------------------------------------------------------------------------------------------------

    def walk(
        self, entry: tuple[int, int, int], starts: npt.ArrayLike
    ) -> Iterator[tuple[LongArray, LongArray, LongArray]]:
        """Yield the rows of one tree, one depth at a time, from each of the nodes `starts`.

        Parameters
        ----------
        entry : (int, int, int)
            Table of the source, choice, part.
        starts : array_like of int
            Nodes from which the broadcast is sent.

        Yields
        ------
        start, row, link : int64 arrays of one length
            Index into `starts`, row number, and link of every transmission at this depth.

        Raises
        ------
        ScheduleError
            If a row leaves from another node than where its packet is, or the rows go round in a circle.
        """
        source, target, table = self.network.link_source, self.network.link_target, self.link_table
        nodes = np.asarray(starts, np.int64)
        first, last = self.entry_first[entry], self.entry_last[entry]
        place = np.tile(np.arange(first, last), nodes.size)
        start = np.repeat(np.arange(nodes.size), last - first)
        at = nodes[start]
        for _ in range(self.row_count):
            if not place.size:
                return
            row = self.children[place].astype(np.int64)
            if self.translated:
                assert table is not None
                link = table[at, self.step[row]].astype(np.int64)
            else:
                link = self.step[row].astype(np.int64)
            wrong = np.flatnonzero(source[link] != at)
            if wrong.size:
                w = wrong[0]
                raise ScheduleError(
                    f"scheme {self.name!r}: row {row[w]} is sent on link {self.network.link_name(int(link[w]))}, "
                    f"but its packet is at node {self.network.node_name(int(at[w]))}"
                )
            yield start, row, link
            place, owner = slices(self.child_first[row], self.child_last[row] - self.child_first[row])
            start, at = start[owner], target[link[owner]].astype(np.int64)
        if place.size:
            raise ScheduleError(f"scheme {self.name!r}: the rows of choice {entry[1]} go round in a circle")

    def check(self, *, sources: npt.ArrayLike | None = None) -> None:
        """Check that every choice of every source serves each receiver exactly once a part, from the right nodes.

        The set of receivers is what the first choice of a source reaches; it must have `receivers` nodes, not
        include the source, and be the same for every choice and part; with `traffic`, for every part. O(rows *
        sources) with `translated`, else O(rows).

        Parameters
        ----------
        sources : array_like of int, optional
            Nodes to check; default all, or with `translated` and a network of more than two million transmissions per
            choice over all sources, nodes spread evenly.

        Raises
        ------
        ScheduleError
            Naming the choice, part and node where the tables are wrong, or a source that does not generate broadcasts.
        """
        nodes = self.source_nodes if sources is None else np.unique(np.asarray(sources, np.int32))
        unknown = np.setdiff1d(nodes, self.source_nodes)
        if unknown.size:
            raise ScheduleError(f"scheme {self.name!r}: node {unknown[0]} generates no broadcasts")
        if self.translated:
            most = max(1, _CHUNK // max(1, self.network.node_count))
            if sources is None and nodes.size > most:
                nodes = nodes[np.linspace(0, nodes.size - 1, most).astype(np.int64)]
            self._check_from(0, nodes)
            return
        for node in nodes:
            self._check_from(int(np.searchsorted(self.source_nodes, node)), np.array([node], np.int32))

    def _check_from(self, table: int, nodes: IntArray) -> None:
        n = self.network.node_count
        expected: npt.NDArray[np.bool_] | None = None
        for choice in range(self.choice_count):
            if self.traffic is not None:
                expected = None
            for part in range(self.parts):
                got = np.zeros((nodes.size, n), np.int64)
                for start, row, link in self.walk((table, choice, part), nodes):
                    counted = self.counted[row]
                    np.add.at(got, (start[counted], self.network.link_target[link[counted]]), 1)
                where = f"scheme {self.name!r}: choice {choice}, part {part}, source"
                if expected is None:
                    expected = got > 0
                    expected[np.arange(nodes.size), nodes] = False
                    short = np.flatnonzero(expected.sum(axis=1) != self.reached[table, choice])
                    if short.size:
                        reached = int(expected[short[0]].sum())
                        raise ScheduleError(
                            f"{where} {nodes[short[0]]} reaches {reached} receivers instead of "
                            f"{self.reached[table, choice]}"
                        )
                wrong = np.argwhere(got != expected)
                if wrong.size:
                    i, node = (int(x) for x in wrong[0])
                    raise ScheduleError(
                        f"{where} {nodes[i]}: node {self.network.node_name(node)} has {got[i, node]} counted "
                        f"receipts instead of {int(expected[i, node])}"
                    )


_TYPES: dict[str, type[np.generic]] = {
    "step": np.int32,
    "child_first": np.int64,
    "child_last": np.int64,
    "children": np.int32,
    "priority": np.int32,
    "counted": np.bool_,
    "entry_first": np.int64,
    "entry_last": np.int64,
    "probability": np.float64,
}


# Schemes from trees that are given as the parent of every transmission.


def scheme_from_parents(
    name: str,
    network: Network,
    *,
    parent: npt.ArrayLike,
    step: npt.ArrayLike,
    tree: npt.ArrayLike | None = None,
    probability: npt.ArrayLike = 1.0,
    priority: npt.ArrayLike = 0,
    counted: npt.ArrayLike = True,
    translated: bool = True,
    parts: int = 1,
    receivers: npt.ArrayLike = -1,
    sources: npt.ArrayLike | None = None,
) -> Scheme:
    """Make a scheme from the parent of every row.

    Siblings are queued in the order of their row numbers. Time and memory O(rows).

    Parameters
    ----------
    name, network, translated, parts, receivers, sources
        As in `Scheme`; for its other attributes take `dataclasses.replace`.
    parent : array_like of int, shape (R,)
        Row whose arrival queues this row; -1 for entry rows.
    step : array_like of int, shape (R,)
        Column of the link table or link number.
    tree : array_like of int, shape (R,), optional
        Of entry rows: ``(s * C + c) * P + p`` for source table s, choice c, part p (other rows: ignored). Default 0.
    probability : array_like of float, shape (S, C) or (C,) or ()
        Chance of each choice; one line is used for every source table.
    priority, counted : array_like, shape (R,) or ()
        Class of each row, and whether its receipt counts.

    Raises
    ------
    ScheduleError
        If a parent or tree number is out of range, or a table has a wrong shape.
    ModelError
        If `parts` is below 1.

    Examples
    --------
    Down a line of three nodes, from either end.

    >>> import gossamer
    >>> line = gossamer.network("array:3")
    >>> path = [line.link_between(a, b) for a, b in ((0, 1), (1, 2), (2, 1), (1, 0))]
    >>> scheme = scheme_from_parents(
    ...     "ends", line, parent=[-1, 0, -1, 2], step=path, tree=[0, 0, 1, 1], translated=False, sources=[0, 2]
    ... )
    >>> scheme.check()
    """
    instance(network, Network, "the network")
    parts = whole(parts, "parts", 1)
    parents, steps = np.asarray(parent, np.int64), np.asarray(step, np.int32)
    rows = steps.size
    nodes = np.arange(network.node_count) if sources is None else np.asarray(sources, np.int32)
    tables = 1 if translated else nodes.size
    chances = np.asarray(probability, np.float64)
    chances = np.broadcast_to(np.atleast_2d(chances), (tables, np.atleast_1d(chances).shape[-1]))
    groups = tables * chances.shape[1] * parts
    trees = np.zeros(rows, np.int64) if tree is None else np.asarray(tree, np.int64)
    entry = parents < 0
    if parents.shape != (rows,) or trees.shape != (rows,) or (parents >= rows).any():
        raise ScheduleError(f"scheme {name!r}: parent and tree need one entry in range for each of {rows} rows")
    if (trees[entry] < 0).any() or (trees[entry] >= groups).any():
        raise ScheduleError(f"scheme {name!r}: the tree of an entry row must be in 0..{groups - 1}")
    owner = np.where(entry, rows + trees, parents)
    order = np.argsort(owner, kind="stable")
    last = np.cumsum(np.bincount(owner, minlength=rows + groups))
    first = np.concatenate([[0], last[:-1]])
    shape = (tables, chances.shape[1], parts)
    return Scheme(
        name=name,
        network=network,
        source="",
        step=steps,
        translated=translated,
        child_first=first[:rows],
        child_last=last[:rows],
        children=order.astype(np.int32),
        priority=np.broadcast_to(np.asarray(priority, np.int32), (rows,)),
        counted=np.broadcast_to(np.asarray(counted, np.bool_), (rows,)),
        entry_first=first[rows:].reshape(shape),
        entry_last=last[rows:].reshape(shape),
        probability=chances,
        parts=parts,
        receivers=int(np.asarray(receivers)) if np.ndim(receivers) == 0 else np.asarray(receivers, np.int64),
        sources=np.asarray(nodes, np.int32),
    )
