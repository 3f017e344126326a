"""Data collection: every node gets what each DDN has, from the nodes of the DDNs near it.

Before it, every node of DDN k has all that belongs to DDN k. First each of them sends that along its line, to a window
of h nodes around it or, as in the source, to its own DCN. Then the h bundles along each line of the next dimension are
exchanged: by shifts of the whole torus, or by the source's ring inside each DCN. Cut into as many parts as the torus
has dimensions, and with the dimensions in rotated order for each part, all dimensions are busy in every step (*two
halves* in two dimensions).
"""

from __future__ import annotations

import numpy as np

from gossamer.wormhole.aggregation_distribution.recording import NOTHING, PhaseCost, ScheduleRecorder
from gossamer.wormhole.contraction_trees import GroupTree, contraction, line_broadcast
from gossamer.wormhole.partition import Ints, TorusPartition

# Diagonal-based data aggregation, its use inside the DDNs, and its reverse, the dilated-diagonal broadcast.


def aggregate(recording: ScheduleRecorder, tree: GroupTree, unit: int, name: str) -> None:
    """Move all units along a contraction of diagonals.

    `recording`: the schedule so far; its holders are moved. `tree`: of h diagonals with unit 1: from all diagonals to
    those that are 0 modulo h. Of g diagonals with unit h: in all DDNs at once, from all of their diagonals to the main
    one. `unit`: distance of the diagonals. `name`: name of the phase.

    One step a level. Units are moved, not copied.

    Source: Chen and Chen 2000, sections 3.1.1 (Lemma 1) and 3.2.1.
    """
    here = np.full(recording.partition.node_count, -1, np.int64)
    with recording.phase(name):
        for moves in contraction(recording.partition, tree, unit):
            recording.step()
            here[moves.source] = np.arange(moves.source.size)
            move = here[recording.holder]
            units = np.flatnonzero(move >= 0)
            recording.move(units, moves.displacement[move[units]])
            here[moves.source] = -1


def diagonal_broadcast(recording: ScheduleRecorder, tree: GroupTree, name: str = "broadcast") -> None:
    """Send all that belongs to a DDN from its main diagonal to all of its nodes, in all DDNs at once.

    The moves of the contraction of the DDNs' diagonals, backward. One step a level, each as long as all messages of the
    largest DDN.

    Source: Chen and Chen 2000, section 3.2.2.
    """
    partition = recording.partition
    rows = np.array([recording.row(units) for units in recording.of_ddn()], np.int64)
    with recording.phase(name):
        for moves in reversed(list(contraction(partition, tree, partition.h))):
            recording.step()
            back = moves.backward
            recording.send(back.source, back.displacement, rows[partition.ddn[back.source]])


def contraction_cost(name: str, tree: GroupTree, unit: int, unit_bytes: int, held: int, most: int) -> PhaseCost:
    """Return the closed form of a contraction of units of `unit_bytes`.

    * `name`: name of the phase.
    * `tree`: the contraction.
    * `unit`: distance of its diagonals.
    * `unit_bytes`: bytes of a unit.
    * `held`: the most units that a node holds before.
    * `most`: the most units that may come together.

    Attained for the aggregation when all nodes are sources; an upper bound otherwise.

    >>> from gossamer.wormhole.contraction_trees import group_tree
    >>> contraction_cost("aggregation", group_tree(6), 1, 1, 1, 36).bytes
    (1, 3)
    """
    return PhaseCost(
        name,
        tuple(min(most, held * load) * unit_bytes for load in tree.loads),
        tuple(reach * unit for reach in tree.reaches),
    )


ROWS = ("window", "block")
"""How the first stage goes: to windows around each copy, or inside the DCNs."""

COLUMNS = ("shift", "ring")
"""How the further stages go: by shifts of the torus, or by rings inside the DCNs."""


def dilation_two_ring(h: int) -> tuple[int, ...]:
    """Return the ring of the h nodes of a line: the even ones upwards, then the odd ones downwards.

    It closes from node 1 to node 0, goes at most 2 hops at a time, and uses every channel of the line once.

    >>> [dilation_two_ring(h) for h in (1, 2, 5, 6)]
    [(0,), (0, 1), (0, 2, 4, 3, 1), (0, 2, 4, 5, 3, 1)]
    """
    return (*range(0, h, 2), *range(h - 1 - h % 2, 0, -2))


def collect(recording: ScheduleRecorder, *, rows: str = "window", columns: str = "shift") -> None:
    """Bring what every DDN has to all nodes.

    `recording`: the schedule so far; every node of a DDN knows all units whose `word` is the DDN. The parts of the data
    are the recording's copies. `rows`, {"window", "block"}: windows of h nodes around each copy, across the borders of
    the DCNs, or inside the DCNs. `columns`, {"shift", "ring"}: shifts of the whole torus by one node, or the source's
    ring of dilation 2 in each DCN.

    The row stage takes ``ceil_log(3, h)`` steps with windows and ``ceil_log(3, 2*h - 1)`` inside the DCNs. Each of the
    d - 1 further stages takes ``h // 2`` steps by shifts and ``h - 1`` by rings.

    Source: Chen and Chen 2000, section 3.2.3 (Figs. 18-22).
    """
    partition, copies = recording.partition, recording.copies
    d = partition.dimensions
    parts = []
    for r in range(copies):
        order = [(d - 1 - r - j) % d for j in range(d)]
        parts.append(_DataPart(recording, order, r if copies > 1 else None))
    with recording.phase("rows"):
        for hops in _row_steps(partition.h, rows):
            recording.step()
            for part in parts:
                part.send_rows(hops)
    with recording.phase("columns"):
        for stage in range(1, d):
            for moves in _column_steps(partition.h, columns):
                recording.step()
                for part in parts:
                    part.send_columns(stage, moves)
            for part in parts:
                part.join(stage)


class _DataPart:
    """A part of the data on its way through the dimensions in `order`.

    `label` int64[V] names what a node has after the stages so far: ``sets[label]``.
    """

    def __init__(self, recording: ScheduleRecorder, order: list[int], copy: int | None) -> None:
        self.recording, self.order, self.copy = recording, order, copy
        self.sets: dict[int, Ints] = dict(enumerate(recording.of_ddn()))
        self.label = _line_ddn(recording.partition, order[0])
        self.rows = self._rows()

    def _rows(self) -> Ints:
        rows = np.full(self.recording.partition.ddn_count, NOTHING, np.int64)
        for label, units in self.sets.items():
            rows[label] = self.recording.row(units, self.copy)
        return rows

    def send_rows(self, hops: list[tuple[int | None, int, int]]) -> None:
        partition, axis = self.recording.partition, self.order[0]
        copies_at = np.flatnonzero(partition.ddn >= 0)
        place = partition.coordinates[copies_at, axis] % partition.h
        for residue, start, hop in hops:
            source = copies_at if residue is None else copies_at[place == residue]
            sender = partition.shifted(source, partition.along(axis, start))
            self.recording.send(sender, partition.along(axis, hop), self.rows[self.label[sender]])

    def send_columns(self, stage: int, moves: list[tuple[Ints, Ints]]) -> None:
        partition, axis = self.recording.partition, self.order[stage]
        place = partition.coordinates[:, axis] % partition.h
        everyone = np.arange(partition.node_count)
        for hop, back in moves:
            origin = partition.shifted(everyone, partition.along(axis, back[place]))
            self.recording.send(everyone, partition.along(axis, hop[place]), self.rows[self.label[origin]])

    def join(self, stage: int) -> None:
        """Let `label` and `sets` be what the nodes have after the exchange along a dimension."""
        partition, axis = self.recording.partition, self.order[stage]
        around = partition.shifted(
            np.arange(partition.node_count), partition.along(axis, np.arange(partition.h))[:, None, :]
        )
        labels = self.label[around]
        self.label = labels.min(axis=0)
        kept, example = np.unique(self.label, return_index=True)
        self.sets = {
            int(name): np.sort(np.concatenate([self.sets[int(x)] for x in labels[:, node]]))
            for name, node in zip(kept, example, strict=True)
        }
        self.rows = self._rows()


def _line_ddn(partition: TorusPartition, axis: int) -> Ints:
    """Return for every node the DDN that owns its line along `axis`."""
    residues = partition.coordinates % partition.h
    residues[:, axis] = 0
    residues[:, axis] = -partition.signs[axis] * (residues @ partition.signs) % partition.h
    number = np.zeros(partition.node_count, np.int64)
    for t in range(1, partition.dimensions):
        number = number * partition.h + residues[:, t]
    return number


def _row_steps(h: int, rows: str) -> list[list[tuple[int | None, int, int]]]:
    """Return the hops of each step: residue of the copies concerned (None: all), sender relative to the copy, hops."""
    if rows == "window":
        center = (h - 1) // 2
        return [[(None, x - center, y - x) for x, y in pairs] for pairs in line_broadcast(0, h - 1, center)]
    ways = [line_broadcast(0, h - 1, k) for k in range(h)]
    return [
        [(k, x - k, y - x) for k, way in enumerate(ways) if step < len(way) for x, y in way[step]]
        for step in range(max(map(len, ways)))
    ]


def _column_steps(h: int, columns: str) -> list[list[tuple[Ints, Ints]]]:
    """Return the moves of each step, by the residue of the sender: hops, and where its bundle came from, relative."""
    if columns == "shift":
        one = np.ones(h, np.int64)
        return [[(one, -t * one), *([(-one, t * one)] if t < (h - 1) // 2 else [])] for t in range(h // 2)]
    ring = np.array(dilation_two_ring(h), np.int64)
    hop, steps = np.zeros(h, np.int64), []
    hop[ring] = np.roll(ring, -1) - ring
    for t in range(h - 1):
        back = np.zeros(h, np.int64)
        back[ring] = np.roll(ring, t) - ring
        steps.append([(hop, back)])
    return steps


def collection_cost(
    partition: TorusPartition, copy_bytes: int, held: int, most: int, *, rows: str = "window", columns: str = "shift"
) -> tuple[PhaseCost, PhaseCost]:
    """Return the closed forms of the two phases of `collect`.

    `copy_bytes`: bytes of the largest packet of a unit. `held`: the most units of a DDN. `most`: all units. `rows`,
    `columns`: as of `collect`.

    Exact in two dimensions, but for roundings, where there is any message; an upper bound in more.

    >>> rows, columns = collection_cost(TorusPartition((25, 25), 5), 1, 125, 625, columns="ring")
    >>> rows.bytes, columns.bytes, columns.hops
    ((125, 125), (125, 125, 125, 125), (2, 2, 2, 2))
    """
    h = partition.h
    row_steps, column_steps = _row_steps(h, rows), _column_steps(h, columns)
    along = PhaseCost(
        "rows", (held * copy_bytes,) * len(row_steps), tuple(max(abs(hop) for _, _, hop in hops) for hops in row_steps)
    )
    lengths: list[int] = []
    for stage in range(1, partition.dimensions):
        lengths += [min(most, held * h ** (stage - 1)) * copy_bytes] * len(column_steps)
    hops = tuple(int(max(np.abs(hop).max() for hop, _ in moves)) for moves in column_steps)
    return along, PhaseCost("columns", tuple(lengths), hops * (partition.dimensions - 1))
