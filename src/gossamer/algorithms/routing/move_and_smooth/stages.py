"""The stages of move-and-smooth routing: split every region, move to the right part, smooth; at last deliver directly.

Algorithms Q and H differ in how many axes a stage splits. The stages of an array and their guaranteed lengths depend
on its sides alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.moving import Traffic, branch_order, branching, move
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.algorithms.routing.move_and_smooth.smoothing import Lengths, smooth

__all__ = ["Stage", "Times", "deliver", "follow", "guaranteed_times", "split_and_move"]


@dataclass(frozen=True)
class Stage:
    """One split of all regions, or the direct delivery at the end.

    Attributes
    ----------
    before, after : Regions
        The regions; the same at the direct delivery, where they are lines.
    split : tuple of int
        The axes that are split, in the order in which a packet travels along them.
    move : int
        Guaranteed length of the move.
    b : int
        The most packets at a node after the move.
    smooth : Lengths or None
        Guaranteed lengths of the smoothing, None where none is needed.
    axes : tuple of int
        The axes of the smoothing in its order.
    """

    before: Regions
    after: Regions
    split: tuple[int, ...]
    move: int
    b: int = 1
    smooth: Lengths | None = None
    axes: tuple[int, ...] = ()

    @property
    def delivers(self) -> bool:
        """Whether this is the direct delivery."""
        return self.before == self.after

    @property
    def name(self) -> str:
        """Name of the phase in which packets move."""
        return f"{'deliver' if self.delivers else 'move'} {'x'.join(map(str, self.before.largest))}"


@dataclass(frozen=True)
class Times:
    """Steps in which packets of messages travel, and steps of counting."""

    data: int
    control: int


def guaranteed_times(stages: Iterable[Stage]) -> Times:
    """Return the guaranteed steps of all stages together."""
    data = control = 0
    for stage in stages:
        data += stage.move
        if stage.smooth is not None:
            data += stage.smooth.data
            control += stage.smooth.count
    return Times(data, control)


def split_and_move(traffic: Traffic, stage: Stage) -> int:
    """Move each item to the same cell of each part of its region that has one of its destinations; return the steps.

    A cell that a smaller part lacks is replaced by its last one. Packets travel along the axes of ``stage.split`` in
    their order, copies of one packet together as far as their routes agree.
    """
    parts = [_part_tables(stage, axis) for axis in stage.split]
    code = np.zeros(traffic.destination.size, np.int32)
    for axis, (part, _, ends) in zip(stage.split, parts, strict=True):
        code = code * np.int32(ends.shape[1]) + part[traffic.coordinate(traffic.destination, axis)]
    old, code = traffic.divide(code)
    hops = np.empty((code.size, len(stage.split)), np.int32)
    for leg in range(len(stage.split) - 1, -1, -1):
        _, relative, ends = parts[leg]
        x = traffic.coordinate(traffic.node, stage.split[leg])
        to = code % np.int32(ends.shape[1])
        code //= np.int32(ends.shape[1])
        first, size = ends[x, to, 0], ends[x, to, 1]
        hops[:, leg] = first + np.minimum(relative[x], size - 1) - x
    return _travel(traffic, stage, old, hops)


def _part_tables(stage: Stage, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each coordinate: its part of the region, its place there, and first coordinate and size of all parts."""
    before, after = stage.before, stage.after
    start = after.number(axis)[before.first(axis)]  # number of the region's first part
    part = after.number(axis) - start
    relative = np.arange(part.size, dtype=np.int32) - after.first(axis)
    cuts = np.array(after.cuts[axis], np.int32)
    many = int(part.max()) + 1
    number = np.minimum(start[:, None] + np.arange(many, dtype=np.int32), cuts.size - 2)
    return part, relative, np.stack([cuts[number], cuts[number + 1] - cuts[number]], axis=2)


def deliver(traffic: Traffic, stage: Stage) -> int:
    """Send each item straight to its destinations, which are on its line; return the steps."""
    (axis,) = stage.split
    old, target = traffic.divide(traffic.coordinate(traffic.destination, axis))
    hops = (target - traffic.coordinate(traffic.node, axis)).reshape(-1, 1)
    return _travel(traffic, stage, old, hops)


def _travel(traffic: Traffic, stage: Stage, old: np.ndarray, hops: np.ndarray) -> int:
    if old.size and bool((old[1:] == old[:-1]).any()):
        order = branch_order(old, hops)
        traffic.arrange(order)
        old, hops = old[order], hops[order]
    moves = branching(traffic.packet, traffic.node, old, stage.split, hops)
    return move(traffic, moves, stage.name, stage.move)


def follow(traffic: Traffic, stages: Sequence[Stage], smoothing: bool = True) -> None:
    """Route the traffic through all stages.

    Parameters
    ----------
    traffic : Traffic
        At most one item at a node.
    stages : sequence of Stage
        Of this array.
    smoothing : bool
        False leaves the smoothing out, to see what it is for.
    """
    for stage in stages:
        if stage.delivers:
            deliver(traffic, stage)  # regions are lines: straight to the destinations
            continue
        # move: a copy to each part with a destination (3.2, 4.2); smooth: at most one item a node again (3.3, 4.3)
        split_and_move(traffic, stage)
        if smoothing and stage.smooth is not None:
            smooth(traffic, stage.after, stage.axes, stage.b, stage.smooth)
