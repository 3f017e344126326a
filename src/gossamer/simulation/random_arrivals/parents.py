"""Schemes from trees that are given as the parent of every transmission."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks import Network
from gossamer.reading import instance, whole
from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["scheme_from_parents"]


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
