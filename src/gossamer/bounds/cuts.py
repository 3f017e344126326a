"""Bounds from cuts across the dimensions of arrays and tori.

If m messages must get from a set of nodes to the rest, over links of capacity c in all, that takes ceil(m/c) steps. In
an array, messages from positions up to i to positions from j on must cross every cut between, one after the other, so
j-i-1 + ceil(m/c) steps. Under a port limit, c is at most the number of nodes at the cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds.axes import axis_capacity
from gossamer.bounds.bound import Bound
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand, Line, PairDemand
from gossamer.questions.cases.metric import Axis, axes_of
from gossamer.writing import quantity

__all__ = ["SOURCE", "Cut", "cut_bounds", "layer_cut"]

SOURCE = "Dimakopoulos 1996, (4.1): messages across a cut over its links"

MAX_POSITIONS = 512
"""Up to so many positions, all pairs i < j (or all slabs of a ring) are looked at; beyond, those next to each other
(or, for messages between hubs and all, `MAX_POSITIONS` evenly spread lengths of slabs)."""


class Cut(NamedTuple):
    """So many steps, because so many messages cross from positions <= low to positions >= high, `capacity` a slot."""

    steps: Fraction
    messages: int
    capacity: int
    low: int
    high: int


def layer_cut(case: Case, line: Line, capacity: Counts) -> Cut | None:
    """Return the best cut of a line upwards, where no link leads more than one position up.

    Parameters
    ----------
    case : Case
        What is asked.
    line : Line
        Positions of the terminals.
    capacity : int64[m-1]
        Packets per slot from each position to the next.

    Returns
    -------
    Cut or None
        None if nothing has to go up.
    """
    matrix = case.whole and line.size <= MAX_POSITIONS
    count: Counts = sum(d.upward(line, matrix) for d in case.demands)  # type: ignore[assignment]
    if not matrix:
        ratio = np.where(count > 0, count / np.maximum(capacity, 1), -1.0)
        if ratio.max(initial=-1) < 0:
            return None
        i = int(np.argmax(ratio))
        return Cut(case.steps(count[i], capacity[i]), int(count[i]), int(capacity[i]), i, i + 1)
    narrowest = np.zeros((line.size, line.size), np.int64)  # [i, j]: the least capacity between i and j > i
    for i in range(line.size - 1):
        narrowest[i, i + 1 :] = np.minimum.accumulate(capacity[i:])
    place = np.arange(line.size)
    wait = place[None, :] - place[:, None] - 1
    steps = np.where((count > 0) & (wait >= 0), wait - (-count // np.maximum(narrowest, 1)), 0)
    i, j = (int(x) for x in np.unravel_index(np.argmax(steps), steps.shape))
    if not steps[i, j]:
        return None
    return Cut(Fraction(int(steps[i, j])), int(count[i, j]), int(narrowest[i, j]), i, j)


def cut_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut across each dimension that is a line or a ring."""
    for axis in axes_of(case.metric):
        if axis.size > 1 and axis.wraps is not None:
            bound = _ring(case, axis) if axis.wraps else _array(case, axis)
            if bound is not None:
                yield bound


def _line(case: Case, axis: Axis) -> Line:
    area = case.network.node_count // axis.size
    return Line(axis.size, axis.place, np.full(axis.size, area, np.int64))


def _array(case: Case, axis: Axis) -> Bound | None:
    line = _line(case, axis)
    n, area = case.network.node_count, case.network.node_count // axis.size
    width = area * axis_capacity(case, axis)
    capacity = np.full(axis.size - 1, width, np.int64)
    up = layer_cut(case, line, capacity)
    down = layer_cut(case, line.mirrored(), capacity)
    if up is None and down is None:
        return None
    if up is not None and (down is None or up.steps >= down.steps):
        cut, low, high, below, above = up, up.low, up.high, "<=", ">="
    else:
        assert down is not None
        cut, low, high, below, above = down, axis.size - 1 - down.low, axis.size - 1 - down.high, ">=", "<="
    x = axis.name.replace("dimension ", "x_") if axis.network is None and "factor" not in axis.name else "place"
    nodes = (cut.low + 1) * area
    what = quantity(cut.messages, case.what)
    if cut.high == cut.low + 1:
        text = (
            f"{quantity(nodes, 'node')} {x} {below} {low} | {n - nodes:,} nodes, {quantity(cut.capacity, 'link')} "
            f"across: {what} must cross"
        )
    else:
        text = (
            f"{what} must get from {x} {below} {low} to {x} {above} {high}, {quantity(cut.high - cut.low, 'hop')} "
            f"apart, {quantity(cut.capacity, 'link')} across"
        )
    return Bound(f"cut across {axis.name}", cut.steps, text, "cut", SOURCE)


def _ring(case: Case, axis: Axis) -> Bound | None:
    """Cut a ring twice: messages into and out of slabs of positions first..first+length-1."""
    s, n = axis.size, case.network.node_count
    area = n // s
    firsts = np.arange(1 if case.invariant else s)
    everywhere = all(isinstance(d, HubDemand) for d in case.demands)
    lengths = np.arange(1, s)
    if s > MAX_POSITIONS:
        if not everywhere:
            return None
        spread = np.linspace(1, s - 1, MAX_POSITIONS).astype(np.int64)
        lengths = np.unique(np.concatenate([spread, [s // 2]]))
        firsts = np.unique(np.linspace(0, firsts.size - 1, min(firsts.size, MAX_POSITIONS)).astype(np.int64))
    out = np.zeros((firsts.size, lengths.size), np.int64)
    into = np.zeros_like(out)
    line = _line(case, axis)
    for demand in case.demands:
        a, b = _slab_crossings(case, demand, line, firsts, lengths)
        out += a
        into += b
    widths = _slab_widths(case, axis, lengths, area)
    ratios = [out / widths[0], into / widths[1]]
    way = int(ratios[1].max() > ratios[0].max())
    i, k = (int(x) for x in np.unravel_index(int(np.argmax(ratios[way])), out.shape))
    messages, capacity = int((out, into)[way][i, k]), int(widths[way][k])
    if not messages:
        return None
    first, last = int(firsts[i]), int(firsts[i] + lengths[k] - 1) % s
    x = axis.name.replace("dimension ", "x_") if "factor" not in axis.name else "place"
    where = f"{x} = {first}" if first == last else f"{first} <= {x} <= {last}"
    if last < first:
        where = f"{x} >= {first} or {x} <= {last}"
    across = quantity(capacity, "packet" if case.limited else "link")
    text = (
        f"{quantity(int(lengths[k]) * area, 'node')} {where} | {n - int(lengths[k]) * area:,} nodes, {across} "
        f"{'a step ' if case.limited else ''}across: {quantity(messages, case.what)} must "
        f"{'enter' if way else 'leave'}"
    )
    return Bound(f"cut across {axis.name}", case.steps(messages, capacity), text, "cut", SOURCE)


def _slab_widths(case: Case, axis: Axis, lengths: Counts, area: int) -> tuple[Counts, Counts]:
    """Return the packets per slot that leave, and that enter, a slab of each length."""
    links, s = 2 * area * axis_capacity(case, axis), axis.size
    inside, outside = area * np.minimum(lengths, 2), area * np.minimum(s - lengths, 2)  # nodes at the two cuts
    widths = []
    for tails, heads in ((inside, outside), (outside, inside)):
        width = np.full(lengths.size, links, np.int64)
        if case.send_limited:
            width = np.minimum(width, tails)
        if case.receive_limited:
            width = np.minimum(width, heads)
        widths.append(width)
    return widths[0], widths[1]


def _slab_crossings(
    case: Case, demand: HubDemand | PairDemand, line: Line, firsts: Counts, lengths: Counts
) -> tuple[Counts, Counts]:
    """Return the messages that must leave, and enter, each slab: int64[firsts, lengths]."""
    s = line.size
    if isinstance(demand, HubDemand):
        total = np.concatenate([[0], np.cumsum(np.tile(demand.hubs_along(line), 2))])
        inside = total[firsts[:, None] + lengths] - total[firsts][:, None]
        return demand.crossings(inside, np.broadcast_to(lengths * line.terminals[0], inside.shape))
    one = demand.single(case.metric.between(*demand.pairs))
    origin, target = (line.place(ends) for ends in one.pairs)
    table = np.bincount(origin * s + target, minlength=s * s).reshape(s, s)
    total = np.zeros((2 * s + 1, 2 * s + 1), np.int64)
    total[1:, 1:] = np.cumsum(np.cumsum(np.tile(table, (2, 2)), axis=0), axis=1)
    a, b = firsts[:, None], firsts[:, None] + lengths
    inside = total[b, b] - total[a, b] - total[b, a] + total[a, a]
    leaving = np.concatenate([[0], np.cumsum(np.tile(table.sum(axis=1), 2))])
    entering = np.concatenate([[0], np.cumsum(np.tile(table.sum(axis=0), 2))])
    return leaving[b] - leaving[a] - inside, entering[b] - entering[a] - inside
