"""The smallest cases in which statements of Varvarigos and Bertsekas 1994 fail or are not tight (errata X1 to X8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from gossamer.algorithms.multinode_broadcast.partial import rotated_dimensions_split
from gossamer.algorithms.multinode_broadcast.partial_times import split_bound
from gossamer.algorithms.multinode_broadcast.rounds import subphase_slots, write_rounds
from gossamer.graphs.packing import write_packing
from gossamer.graphs.rotation import RotatedClass, links_along, rotations
from gossamer.networks.spec import network
from gossamer.planning.planner import plan
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.questions.tasks import task as parse_task
from gossamer.schedules import verify
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES", "counterexamples"]


def _broadcasts(spec: str, counts: tuple[int, ...], algorithm: str, split: bool = False) -> Fraction:
    found = plan(spec, parse_task("multiple-broadcast", counts=counts), algorithm=algorithm, rules=Rules(split=split))
    return found.completion_time


def _rows() -> Iterator[tuple[Cell, ...]]:
    whole = plan("torus:2x2", "multinode-broadcast")
    yield ("X1", "multinode broadcast in p^2/4", "torus 2x2", 1, whole.completion_time,
           "p >= 3 only: the diameter is 2")  # fmt: skip
    ports = plan("torus:2x2x2x2", "multinode-broadcast", rules=Rules(split=True))
    yield ("X1", "(5a), at most", "torus 2^4, M = 16", split_bound(2, 4, 16), ports.completion_time,
           f"p >= 3 only: {ports.bound} is a lower bound")  # fmt: skip
    yield ("X2", "ring, whole, one each: ceil(p/2)", "ring 3", 2, _broadcasts("ring:3", (1, 1, 1), "rounds"),
           "floor(p/2)")  # fmt: skip
    insertion = _broadcasts("ring:3", (0, 2, 2), "insertion", split=True)
    rounds = _broadcasts("ring:3", (0, 2, 2), "rounds", split=True)
    yield ("X3", "insertion keeps to W(p-1)/2 of Lemma 1", "ring 3, messages 0 2 2", 2, insertion,
           f"rounds do: {rounds}")  # fmt: skip
    net, task = network("torus:4x4x4"), PartialMultinodeBroadcast(tuple(range(64)))
    in_thirds = rotated_dimensions_split(Case(net, task, Rules(split=True)), parts=3)
    verify(in_thirds).raise_if_invalid()
    in_sixths = plan(net, task, algorithm="rotated-dimensions-split", rules=Rules(split=True)).completion_time
    yield ("X4", "(5a) with d parts, at most", "torus 4^3, M = 64", split_bound(4, 3, 64), in_thirds.completion_time,
           f"needs 2d parts for even p: {float(in_sixths)}")  # fmt: skip
    yield ("X5", "classes never meet: packets on a link", "array 2^5, nodes 0 to 20", 1, _on_one_link(own_lengths=True),
           f"with subphases of common lengths: {_on_one_link(own_lengths=False)}")  # fmt: skip
    yield ("X6", "total exchange at least Np/4", "array 3x3", Fraction(27, 4),
           plan("array:3x3", "total-exchange").completion_time, "even p only; N(p^2-1)/(4p) for odd p")  # fmt: skip
    yield ("X8", "K messages on a line: K + p - 1", "array 2, K = 1", 2, _broadcasts("array:2", (1, 0), "insertion"),
           "true, but K + p - 2 is enough")  # fmt: skip


def _on_one_link(own_lengths: bool) -> int:
    """Return the most packets on a link at once if the classes of whole packets have subphases of own lengths or not.

    Nodes 0 to 20 of the array 2^5 are active.
    """
    net, active = network("array:2x2x2x2x2"), 21
    assert net.grid is not None
    links, sides = links_along(net), len(net.grid.sides)
    classes = []
    for turn in rotations(net.grid):
        packet = np.arange(turn.shift, active, sides, dtype=np.int32)
        packet = packet[np.argsort(turn.name[packet])]
        classes.append(RotatedClass(turn, turn.name[packet], packet))
    hops = active * (net.node_count - 1)
    columns = np.empty(hops, np.int32), np.empty(hops, np.int32), np.empty(hops, np.int32)
    at = write_packing(columns, 0, 0, classes, links, 1)
    for each in classes:
        slots = subphase_slots([each.rotation], each.size if own_lengths else classes[0].size)
        at = write_rounds(columns, at, sides, [each], links, slots)
    return int(np.unique(np.stack(columns[:2]), axis=1, return_counts=True)[1].max())


def counterexamples() -> Table:
    """Errata X1 to X8: smallest cases."""
    return Table(
        "Smallest cases against statements as printed (errata)",
        ("erratum", "as printed", "smallest case", "printed value", "measured", "finding"),
        tuple(_rows()),
        "Values are steps, of X5 packets. X7 is about random traffic.",
    )


TABLES: tuple[Callable[[], Table], ...] = (counterexamples,)
