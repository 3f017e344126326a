"""Proof that a routing function cannot deadlock: its dependency graph of virtual channels has no circle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import IntArray
from gossamer.simulation.flits.routing.routing_function import NO_STEP, Routing

__all__ = ["DeadlockFreedom", "deadlock_freedom"]

Ints = npt.NDArray[np.int64]

_KEEP = 255
_MOST_STEPS = 200_000_000
_NAMED = 12


@dataclass(frozen=True)
class DeadlockFreedom:
    """What the dependency graph of a routing function says.

    Attributes
    ----------
    free : bool
        Whether it has no circle: then no traffic can deadlock.
    virtual_channels, dependencies : int
        Vertices and arcs of the graph. Virtual channels that occur in the same classes are one vertex.
    circle : tuple of int
        Channels that wait for each other in turn, empty if there are none.
    text : str
        The same in words.
    """

    free: bool
    virtual_channels: int
    dependencies: int
    circle: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def deadlock_freedom(routing: Routing) -> DeadlockFreedom:
    """Return whether messages that follow a routing function can wait for each other in a circle.

    Parameters
    ----------
    routing : Routing
        Any.

    Raises
    ------
    ModelError
        If the network is too large to write down all routes, more than 200 million steps.

    Notes
    -----
    Virtual channel b depends on a if a message may hold a and ask for b. Without a circle no messages can wait for
    each other for ever (Dally and Seitz 1987). Where heads choose among ways of several ranks, those of rank 0 are an
    escape: it has to be there at every router, and no circle of its virtual channels may arise, counted with those
    that a message takes after a detour over others (Duato 1993). O(routes times their length).

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.flits import Routers, routing
    >>> ring = gossamer.network("ring:4")
    >>> print(deadlock_freedom(routing(ring, "dimension-order", Routers())))
    no circle among 14 virtual channels with 12 dependencies: messages cannot deadlock
    >>> bare = Routers(dateline="none")
    >>> deadlock_freedom(routing(ring, "dimension-order", bare)).circle
    (0, 2, 4, 6)
    """
    groups = _groups(routing)
    arcs = _step_by_step(routing, groups) if routing.adaptive is not None else _written(routing, groups)
    arcs = np.unique(arcs)
    vertices = routing.fabric.link_count * len(groups)
    circle = _circle(arcs, vertices)
    if circle is None:
        used = np.unique(np.concatenate(np.divmod(arcs, vertices))).size if arcs.size else 0
        text = (
            f"no circle among {max(used, 0):,} virtual channels with {arcs.size:,} dependencies: "
            "messages cannot deadlock"
        )
        return DeadlockFreedom(True, used, int(arcs.size), (), text)
    channels = tuple(v // len(groups) for v in circle)
    names = [routing.fabric.name(c) for c in channels]
    if len(groups) > 1:
        lanes = [groups[v % len(groups)] for v in circle]
        names = [f"{name} virtual channel {_lanes(bits)}" for name, bits in zip(names, lanes, strict=True)]
    shown = ", then ".join(names[:_NAMED]) + (f", ... ({len(names)} in all)" if len(names) > _NAMED else "")
    return DeadlockFreedom(
        False, vertices, int(arcs.size), channels, f"messages can deadlock: {shown}, then the first again"
    )


def _lanes(bits: int) -> str:
    return "/".join(str(v) for v in range(bits.bit_length()) if bits >> v & 1)


def _groups(routing: Routing) -> list[int]:
    """Return the virtual channels, as bits, that occur in the same classes."""
    signature: dict[tuple[int, ...], int] = {}
    classes = [int(c) for c in routing.classes]
    for v in range(routing.settings.virtual_channels):
        key = tuple(c >> v & 1 for c in classes)
        signature[key] = signature.get(key, 0) | 1 << v
    return list(signature.values())


def _written(routing: Routing, groups: list[int]) -> Ints:
    """Return the arcs ``a * vertices + b`` of routes that are written down."""
    size = len(groups)
    vertices = routing.fabric.link_count * size
    within = [np.array([int(c) & g != 0 for g in groups]) for c in routing.classes]
    table = np.zeros((256, size), np.bool_)
    table[: len(within)] = within
    found: list[Ints] = []
    total = 0
    for rows in routing.every_route():
        total += rows.size
        if total > _MOST_STEPS:
            raise ModelError(f"{routing.fabric.network.spec} has too many routes to check for deadlock")
        arcs = [_between(rows[:, k], rows[:, k + 1], table, size, vertices) for k in range(rows.shape[1] - 1)]
        found.append(np.unique(np.concatenate(arcs)) if arcs else np.zeros(0, np.int64))
    for before, behind in routing.joined():
        found.append(_at_routers(routing, table[before], table[behind], size, vertices))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _between(first: IntArray, second: IntArray, table: npt.NDArray[np.bool_], size: int, vertices: int) -> Ints:
    pairs = np.unique(np.stack([first, second], axis=1)[second != NO_STEP], axis=0)
    a, b = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    arcs = []
    for g in range(size):
        starts = table[a & 255, g] | ((a & 255) == _KEEP)
        for h in range(size):
            keeps = (b & 255) == _KEEP
            ends = np.where(keeps, g == h, table[b & 255, h])
            chosen = starts & ends
            arcs.append(((a[chosen] >> 8) * size + g) * vertices + (b[chosen] >> 8) * size + h)
    return np.concatenate(arcs)


def _at_routers(
    routing: Routing, before: npt.NDArray[np.bool_], behind: npt.NDArray[np.bool_], size: int, vertices: int
) -> Ints:
    """Return arcs from every channel that enters a router to every one that leaves it."""
    fabric = routing.fabric
    first, leaving = fabric.leaving
    arcs = []
    pairs = [(g, h) for g in np.flatnonzero(before).tolist() for h in np.flatnonzero(behind).tolist()]
    for r in range(fabric.router_count):
        into = np.flatnonzero(fabric.target == r)[:, None]
        out = leaving[first[r] : first[r + 1]].astype(np.int64)[None, :]
        arcs += [((into * size + g) * vertices + out * size + h).reshape(-1) for g, h in pairs]
    return np.concatenate(arcs)


def _step_by_step(routing: Routing, groups: list[int]) -> Ints:
    """Return the arcs of the escapes of a table of ways, with those behind detours."""
    fabric, table = routing.fabric, routing.adaptive
    assert table is not None
    size, n = len(groups), fabric.router_count
    vertices = fabric.link_count * size
    found: list[Ints] = []
    counts = np.diff(table.first, axis=1)
    target = np.repeat(np.tile(np.arange(fabric.terminal_count), n), counts.reshape(-1))
    router = np.repeat(np.repeat(np.arange(n), fabric.terminal_count), counts.reshape(-1))
    way, rank = table.way[:, 0].astype(np.int64), table.way[:, 1]
    link = (way >= 0) & (way >> 8 < fabric.link_count)
    for t in range(0, fabric.terminal_count, fabric.per_router):
        here = np.flatnonzero((target == t) & link)
        escape = here[rank[here] == 0]
        at, channel, kind = router[escape], way[escape] >> 8, way[escape] & 255
        if np.setdiff1d(np.arange(n), np.append(at, t // fabric.per_router)).size:
            raise ModelError(f"routing {routing.name!r} has no escape at some router of {fabric.network.spec}")
        reach = np.eye(n, dtype=np.bool_)
        if not routing.escape:
            detours = here[rank[here] > 0]
            step = np.zeros((n, n), np.bool_)
            step[router[detours], fabric.target[way[detours] >> 8]] = True
            power = step | reach
            while True:
                wider = (power.astype(np.float32) @ power.astype(np.float32)) > 0
                if (wider == power).all():
                    break
                power = wider
            reach = power
        pair = reach[fabric.target[channel]][:, at]  # escape e may be followed by escape f
        e, f = np.nonzero(pair)
        for g, bits in enumerate(groups):
            for h, others in enumerate(groups):
                fits = (routing.classes[kind[e]] & bits != 0) & (routing.classes[kind[f]] & others != 0)
                found.append(((channel[e] * size + g) * vertices + channel[f] * size + h)[fits])
        found[-size * size :] = [np.unique(np.concatenate(found[-size * size :]))]
    return np.concatenate(found)


def _circle(arcs: Ints, vertices: int) -> list[int] | None:
    """Return the vertices of a shortest circle through some vertex that is on one, or None."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = np.divmod(arcs, vertices)
    graph = coo_array((np.ones(arcs.size, np.int8), (a, b)), shape=(vertices, vertices)).tocsr()
    _, part = connected_components(graph, connection="strong")
    size = np.bincount(part, minlength=part.size)
    loops = a[a == b]
    if loops.size:
        return [int(loops[0])]
    inside = np.flatnonzero(size[part] > 1)
    if not inside.size:
        return None
    start = int(inside[0])
    parent = {start: start}
    queue = [start]
    for v in queue:
        for w in graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist():
            if w == start:
                circle = [v]
                while circle[-1] != start:
                    circle.append(parent[circle[-1]])
                return circle[::-1]
            if part[w] == part[start] and w not in parent:
                parent[w] = v
                queue.append(w)
    raise AssertionError("a strong component without a circle")
