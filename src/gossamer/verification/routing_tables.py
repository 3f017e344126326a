"""What a routing table does, found by following it: who is reached, how many messages cross each cable, what can wait.

Nothing here is shared with what makes tables: the cables of every source and destination are followed one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.networks.routing_tables import Ints, RoutingTable, VirtualLanes

__all__ = ["Judgment", "judge"]

_PAIRS = 2_000_000
"""Pairs of source and destination that are followed at once."""


@dataclass(frozen=True, eq=False)
class Judgment:
    """What following a routing table found.

    * `table`: RoutingTable.
    * `lost`, `looping` (int): paths from a source to a destination whose messages stop at a node that has no cable for
      them, or get lane 15, on which they are dropped; and those that go round for ever.
    * `fault` (tuple of int or None): a source and a destination of the first of these.
    * `load` (int64[C]): how many of the paths that arrive cross each direction of a cable, all those of a pair
      together.
    * `longest` (int): the most cables on a path.
    * `hops` (int): cables on all paths together.
    * `circles` (tuple of tuples of int): for each layer the directions of cables that can wait for each other in turn;
      empty where none can. Where the table has lanes that change from cable to cable, one entry for all of them:
      ``l * C + c`` is direction c on lane l.
    * `dependencies` (tuple of int): for each of these the pairs of which a message may hold one and ask for the other.
    * `lanes` (int): virtual lanes, up to the greatest that messages take.
    """

    table: RoutingTable
    lost: int
    looping: int
    fault: tuple[int, int] | None
    load: Ints
    longest: int
    hops: int
    circles: tuple[tuple[int, ...], ...]
    dependencies: tuple[int, ...]
    lanes: int

    @property
    def complete(self) -> bool:
        """Whether every message arrives."""
        return not self.lost and not self.looping

    @property
    def deadlock_free(self) -> bool:
        """Whether in no layer messages can wait for each other in a circle."""
        return not any(self.circles)

    @property
    def busiest(self) -> int:
        """The direction of a cable that is busy longest when everybody sends everybody a message; -1 if none is."""
        time = self.load * self.table.cables.time
        return int(np.argmax(time)) if time.size else -1

    @property
    def congestion(self) -> int:
        """How long that is, in packets on the fastest cable times its `Cables.time`; with a packet on each path."""
        return int((self.load * self.table.cables.time).max(initial=0))


def judge(table: RoutingTable) -> Judgment:
    """Follow a routing table from every source to every destination.

    `table` (RoutingTable): any.

    Each destination makes of the table a function from nodes to nodes; squared log2 N times, it says who arrives. The
    paths of those who do are followed cable by cable. Cable b depends on a in a layer if a path of that layer goes from
    a to b; where lanes are told, a lane of b on a lane of a. Where these dependencies have no circle, no messages can
    wait for each other for ever, whatever the traffic (Dally and Seitz 1987). O(T N log N) and O(sum of the lengths of
    all paths) time.

    >>> import gossamer, numpy as np
    >>> from gossamer.networks.routing_tables import RoutingTable
    >>> ring = gossamer.network("ring:4")
    >>> onward = np.where(np.eye(4, dtype=bool), -1, 2 * np.arange(4)[:, None])  # all the way round
    >>> found = judge(RoutingTable(ring, onward, np.zeros((4, 4), np.uint8), "by hand"))
    >>> found.complete, found.deadlock_free, found.load.tolist()
    (True, False, [6, 0, 6, 0, 6, 0, 6, 0])
    """
    cables, n, t = table.cables, table.network.node_count, table.network.terminal_count
    load = np.zeros(cables.source.size, np.int64)
    degree = int(np.diff(cables.first).max(initial=1))
    lanes = table.layers if table.lanes is None else _lanes_taken(table)
    # of pairs of cables, by layer; or by the lanes of both, of which the first is held and the second asked for
    waits = np.zeros((lanes if table.lanes is None else lanes * lanes, cables.source.size * degree), np.bool_)
    lost = looping = longest = hops = 0
    fault: tuple[int, int] | None = None
    width = max(1, _PAIRS // max(n, 1))
    for begin in range(0, table.cable.shape[1], width):
        columns = np.arange(begin, min(begin + width, table.cable.shape[1]))
        targets = columns % t
        end = _ends(table, columns)[:t]
        arrives = end == targets
        if not arrives.all():
            stops = table.cable[end, columns] < 0
            lost += int((stops & ~arrives).sum())
            looping += int((~stops & ~arrives).sum())
            if fault is None:
                source, place = np.argwhere(~arrives)[0]
                fault = int(source), int(targets[place])
        source, place = np.nonzero(arrives & (np.arange(t)[:, None] != targets))
        column, target = columns[place], targets[place]
        if table.lanes is not None and (dropped := _dropped(table, source, column)).any():
            lost += int(dropped.sum())
            first = int(np.argmax(dropped))
            fault = fault or (int(source[first]), int(target[first]))
            source, column, target = source[~dropped], column[~dropped], target[~dropped]
        level = table.layer[source, column]
        group = held = level.astype(np.int64)
        node, before = source.astype(np.int64), np.full(source.size, -1, np.int64)
        steps = 0
        while node.size:
            cable = table.cable[node, column].astype(np.int64)
            load += np.bincount(cable, minlength=load.size)
            hops += node.size
            steps += 1
            behind = before >= 0
            after = cable[behind] - cables.first[node[behind]]
            if table.lanes is not None:
                lane = _lane(table, before, cable, level)
                group, held = held * lanes + lane, lane
            waits[group[behind], before[behind] * degree + after] = True
            node = cables.target[cable].astype(np.int64)
            on = node != target
            node, column, target, level, before = node[on], column[on], target[on], level[on], cable[on]
            group, held = group[on], held[on]
        longest = max(longest, steps)
    circles, counts, together = [], [], []
    for k, row in enumerate(waits):
        before, after = np.divmod(np.flatnonzero(row), degree)
        after += cables.first[cables.target[before]]
        if table.lanes is not None:
            together.append((k // lanes * load.size + before, k % lanes * load.size + after))
            continue
        circles.append(_circle(before, after, load.size))
        counts.append(int(before.size))
    if table.lanes is not None:
        before, after = (np.concatenate(ends) for ends in zip(*together, strict=True))
        circles, counts = [_circle(before, after, lanes * load.size)], [int(before.size)]
    return Judgment(table, lost, looping, fault, load, longest, hops, tuple(circles), tuple(counts), lanes)


_DROPPED = 15
"""The lane of management, on which switches drop messages."""


def _lane(table: RoutingTable, before: Ints, cable: Ints, level: npt.NDArray[np.uint8]) -> Ints:
    """Return the lanes of messages of some levels on cables after others; -1 stands for none, where they begin."""
    assert table.lanes is not None  # asked only of such tables
    cables, lanes = table.cables, table.lanes
    arc = VirtualLanes.arcs(cables)[before] + cable - cables.first[cables.source[cable]]
    onward = lanes.onward[np.where(before < 0, 0, arc), level] if lanes.onward.size else lanes.first[cable, level]
    return np.where(before < 0, lanes.first[cable, level], onward).astype(np.int64)


def _dropped(table: RoutingTable, source: Ints, column: Ints) -> npt.NDArray[np.bool_]:
    """Return which of some messages, all of which would arrive, get the lane on which they are dropped."""
    found = np.zeros(source.size, np.bool_)
    at, node, before = np.arange(source.size), source.astype(np.int64), np.full(source.size, -1, np.int64)
    while at.size:
        cable = table.cable[node, column[at]].astype(np.int64)
        found[at] |= _lane(table, before, cable, table.layer[source[at], column[at]]) == _DROPPED
        node = table.cables.target[cable].astype(np.int64)
        on = (node != column[at] % table.network.terminal_count) & ~found[at]
        at, node, before = at[on], node[on], cable[on]
    return found


def _lanes_taken(table: RoutingTable) -> int:
    """Return one more than the greatest lane but that of management which a service level of the table has."""
    assert table.lanes is not None  # asked only of such tables
    every = [rows[:, np.unique(table.layer)] for rows in table.lanes]
    return 1 + max((int(rows[rows < _DROPPED].max(initial=0)) for rows in every), default=0)


def _ends(table: RoutingTable, columns: Ints) -> Ints:
    """Return where messages on some columns are after more steps than there are nodes, int64[N, columns]."""
    n, targets = table.network.node_count, columns % table.network.terminal_count
    cable = table.cable[:, columns]
    step = np.where(cable < 0, np.arange(n)[:, None], table.cables.target[cable] if cable.size else 0).astype(np.int64)
    step[targets, np.arange(targets.size)] = targets
    for _ in range(max(n, 2).bit_length()):
        step = np.take_along_axis(step, step, axis=0)
    return step


def _circle(before: Ints, after: Ints, count: int) -> tuple[int, ...]:
    """Return vertices of a graph that lead to each other in turn, empty if it has no circle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(before.size, np.int8), (before, after)), shape=(count, count)).tocsr()
    part: npt.NDArray[np.int32] = connected_components(graph, directed=True, connection="strong")[1]
    inside = np.flatnonzero(part[before] == part[after])
    if not inside.size:
        return ()
    onward = dict(zip(before[inside].tolist(), after[inside].tolist(), strict=True))  # one each is enough
    at = next(iter(onward))
    seen: dict[int, int] = {}
    while at not in seen:
        seen[at] = len(seen)
        at = onward[at]
    return tuple(seen)[seen[at] :]
