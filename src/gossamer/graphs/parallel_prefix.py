"""The rank of every node by a parallel prefix operation, and the control hops that carry it out.

Phase 1 of algorithm A_0 of Varvarigos and Bertsekas 1994. Forward, in subphase l = 0..d-1, each line of dimension l
whose lower digits are all at their highest adds up the values along it, from digit 0 upwards; the sum of the line goes
on into subphase l+1. Reverse, l = d-1..0, each such line passes down what lies before all of it, and the total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.graphs.concentration_routing import Columns, Rotation
from gossamer.networks.network import IntArray
from gossamer.schedules import CONTROL
from gossamer.schedules.hop_sinks import Chunk, Sink

__all__ = ["PrefixPhase", "prefix_chunks", "prefix_hops", "prefix_phase", "prefix_ranks", "write_prefix"]


def prefix_ranks(rotation: Rotation, active: npt.NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Return how many active nodes come before each node, in the order of rotated names, and how many there are.

    `rotation` (Rotation): the names. `active` (bool[N]): whether each node is active. Returns: `rank` (int32[N]): for
    each node, active or not; the ranks of the active ones are 0..M-1. `total` (int): M, which every node knows at the
    end.

    O(N) time. The rank printed in the paper, the sum over t < s less 1, would be -1 for the first active node.

    Source: Varvarigos and Bertsekas 1994, section 3.1, phase 1 and Fig. 2.

    >>> from gossamer.networks import array
    >>> from gossamer.graphs.concentration_routing import rotations
    >>> active = np.isin(np.arange(9), [1, 4, 5, 8])
    >>> rank, total = prefix_ranks(rotations(array(3, 3).grid)[0], active)
    >>> rank.tolist(), total
    ([0, 0, 1, 1, 1, 2, 3, 3, 3], 4)
    """
    value = active[rotation.node].astype(np.int32).reshape(rotation.sides[::-1])
    lines = []
    for _ in rotation.sides:  # forward: subphase l adds along the last axis
        inclusive = np.cumsum(value, axis=-1, dtype=np.int32)
        lines.append(inclusive - value)
        value = inclusive[..., -1]
    before = np.zeros((), np.int32)
    for exclusive in reversed(lines):  # reverse: what lies before the line, and before the node in it
        before = before[..., None] + exclusive
    rank = np.empty(rotation.node.size, np.int32)
    rank[rotation.node] = before.reshape(-1)
    return rank, int(value)


def prefix_hops(rotation: Rotation, links: IntArray, lengths: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the control hops of one prefix operation, sorted by step.

    * `rotation` (Rotation): the names.
    * `links` (int32[N, d, 2]): from `links_along`.
    * `lengths` (sequence of int, d): steps of forward subphase l, and of reverse subphase l; at least ``sides[l] - 1``.
      The operation takes ``2 * sum(lengths)`` steps.

    Returns: `step, link` (int32[2(N-1)]): a hop on each link of the tree, forward and reverse; one dimension a step.

    O(N log N) time.

    >>> from gossamer.networks import array
    >>> from gossamer.graphs.concentration_routing import links_along, rotations
    >>> line = array(3)
    >>> step, link = prefix_hops(rotations(line.grid)[0], links_along(line), [2])
    >>> [(t, line.link_name(e)) for t, e in zip(step.tolist(), link)]
    [(0, '(0)->(1)'), (1, '(1)->(2)'), (2, '(2)->(1)'), (3, '(1)->(0)')]
    """
    steps, used = [], []
    count, end = rotation.node.size, 2 * sum(lengths)
    start = 0
    for digit, side in enumerate(rotation.sides):
        place, column = rotation.places[digit], rotation.columns[digit]
        node = rotation.node[place - 1 : count : place].reshape(-1, side)  # lower digits at their highest
        at = np.broadcast_to(np.arange(side, dtype=np.int32), node.shape)
        steps += [start + at[:, :-1].reshape(-1), end - start - at[:, 1:].reshape(-1)]
        used += [links[node[:, :-1], column, 0].reshape(-1), links[node[:, 1:], column, 1].reshape(-1)]
        start += lengths[digit]
    step, link = np.concatenate(steps), np.concatenate(used)
    order = np.argsort(step, kind="stable")
    return step[order], link[order]


class PrefixPhase(NamedTuple):
    """A phase of control packets in which nodes find out their ranks: its name, its slots, and its hops by slot.

    `step` and `link` are int32[h]; a slot takes t_p steps.
    """

    name: str
    slots: int
    step: IntArray
    link: IntArray


def prefix_phase(name: str, turns: Sequence[Rotation], links: IntArray, lengths: Sequence[int]) -> PrefixPhase:
    """Return the phase in which prefix operations in the order of several rotated names run side by side.

    * `name` (str): of the phase.
    * `turns` (sequence of Rotation): with different shifts, so that they use different dimensions at any time, if all
      `lengths` are equal.
    * `links`, `lengths`: as for `prefix_hops`.

    >>> from gossamer.networks import array
    >>> from gossamer.graphs.concentration_routing import links_along, rotations
    >>> net = array(3, 3)
    >>> phase = prefix_phase("prefix", rotations(net.grid), links_along(net), [2, 2])
    >>> phase.slots, phase.step.size
    (8, 32)
    """
    trees = [prefix_hops(turn, links, lengths) for turn in turns]
    step, link = (np.concatenate(columns) for columns in zip(*trees, strict=True))
    order = np.argsort(step, kind="stable")
    return PrefixPhase(name, 2 * sum(lengths), step[order], link[order])


def write_prefix(columns: Columns, at: int, first_slot: int, phase: PrefixPhase) -> int:
    """Write the hops of a prefix phase that begins in `first_slot`, from row `at` on; return the row after the last."""
    rows = slice(at, at + phase.step.size)
    columns[0][rows] = first_slot + phase.step
    columns[1][rows] = phase.link
    columns[2][rows] = CONTROL
    return rows.stop


def prefix_chunks(sink: Sink, phase: PrefixPhase) -> Iterator[Chunk]:
    """Yield the hops of a prefix phase in columns of a sink."""
    columns = sink.columns(phase.step.size)
    columns[0][:], columns[1][:], columns[2][:] = phase.step, phase.link, CONTROL
    yield columns
