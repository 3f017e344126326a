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
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.earliest_arrivals import spread
from gossamer.bounds.ports import axis_capacity
from gossamer.bounds.proofs import Cut, Mask, least_cut
from gossamer.networks.structures import Speeds
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand, NodeLine, PairDemand
from gossamer.questions.cases.distances import Axis, axes_of
from gossamer.questions.cases.links import Links

# Sets of nodes that most messages must leave for the links that lead out, found by maximum flows.
#
# If all messages for a terminal t are to arrive at a rate of one a step each ``1/x``, every set of nodes without t
# needs links out of it for its share. A flow from their origins to t either is that large, or its minimum cut is a set
# that proves a larger x; from there the search goes on (Newton's method).

Floats = npt.NDArray[np.float64]

_WORK = 250_000
"""Links looked at by all flows of a direction together, which decides how many terminals are tried."""

_FEWEST, _MOST = 3, 64
_ROUNDS = 12


def thin_cuts(case: Case) -> Iterator[Mask]:
    """Yield sets of nodes, bool[N], that many messages must leave over few links."""
    for demand in case.demands:
        if demand.outward or not demand.shared:
            yield from _cuts(case.links, demand, case.network.terminal_count, True)
        if not demand.shared or not demand.outward:
            for inside in _cuts(case.links.turned, demand, case.network.terminal_count, False):
                yield ~inside


def amounts(demand: Demand, end: int, nodes: int, towards: bool) -> Counts:
    """Return how many messages lead from each node to terminal `end` (`towards`), or to each node from it."""
    if isinstance(demand, HubDemand):
        amount = demand.multiplicity(np.arange(nodes))
        if demand.outward != towards:  # the end must be a hub, and deals with all terminals
            amount = int(amount[end]) * (np.arange(nodes) < demand.terminal_count)
        amount[end] = 0
        return amount
    here, there = demand.pairs
    if not towards:
        here, there = there, here
    return np.bincount(here[there == end], minlength=nodes).astype(np.int64)


def _cuts(links: Links, demand: Demand, terminals: int, towards: bool) -> Iterator[Mask]:
    """Yield ever better cuts between the origins of a terminal's messages and the terminal."""
    count = max(_FEWEST, min(_MOST, _WORK // (links.source.size + links.node_count)))
    ends = spread(np.arange(terminals), count)
    if isinstance(demand, HubDemand) and demand.outward != towards:
        ends = spread(np.unique(demand.hubs), count)
    flows = _FlowNetwork(links)
    best = 0.0
    tries = []
    for end in ends.tolist():
        amount = amounts(demand, end, links.node_count, towards)
        if amount.any():
            around = np.ones(links.node_count, np.bool_)
            around[end] = False
            best = max(best, flows.ratio(around, amount))
            tries.append((end, amount))
    for end, amount in tries:
        for _ in range(_ROUNDS):
            inside = flows.cut(end, amount, best)
            ratio = flows.ratio(inside, amount)
            if ratio <= best * (1 + 1e-9):
                break
            best = ratio
            yield inside


class _FlowNetwork:
    """A network of flows: links, and the ports of nodes where these are limited."""

    def __init__(self, links: Links) -> None:
        self.links = links
        n = links.node_count
        node = np.arange(n)
        leave = enter = node
        tail: list[Counts] = []
        head: list[Counts] = []
        rate: list[Floats] = []
        self.size = n
        if links.send_limited:
            leave = node + self.size
            self.size += n
            tail, head, rate = [*tail, node], [*head, leave], [*rate, _port_rates(links.source, links.fair_rate, n)]
        if links.receive_limited:
            enter = node + self.size
            self.size += n
            tail, head, rate = [*tail, enter], [*head, node], [*rate, _port_rates(links.target, links.fair_rate, n)]
        self.tail = np.concatenate([leave[links.source], *tail])
        self.head = np.concatenate([enter[links.target], *head])
        self.rate = np.concatenate([links.fair_rate, *rate])

    def ratio(self, inside: Mask, amount: Counts) -> float:
        """Return the messages that leave a set over the packets a step that can."""
        links = self.links
        out = inside[links.source] & ~inside[links.target]
        rates = [float(links.fair_rate[out].sum())]
        for limited, ends in ((links.send_limited, links.source), (links.receive_limited, links.target)):
            if limited:
                rates.append(float(_port_rates(ends[out], links.fair_rate[out], links.node_count).sum()))
        return float(amount[inside].sum()) / max(min(rates), 1e-300)

    def cut(self, end: int, amount: Counts, ratio: float) -> Mask:
        """Return the nodes on the side of the origins in a minimum cut, if links pass `ratio` packets for each one."""
        scale = 2**30 / float(amount.sum() + 1)
        origin = self.size
        some = np.flatnonzero(amount)
        room = np.concatenate([np.minimum(self.rate * ratio, float(amount.sum())), amount[some].astype(np.float64)])
        tail = np.concatenate([self.tail, np.full(some.size, origin)])
        head = np.concatenate([self.head, some])
        inside = least_cut(tail, head, room * scale, origin, end).near
        inside[end] = False
        return inside[: self.links.node_count]


def _port_rates(ends: Counts, rate: npt.NDArray[np.float64], nodes: int) -> npt.NDArray[np.float64]:
    """Return the rate of each node's fastest link: with one packet a time at its port, it passes no more."""
    best = np.zeros(nodes)
    np.maximum.at(best, ends, rate)
    return best


SOURCE = "Dimakopoulos 1996, (4.1): messages across a cut over its links"

MAX_POSITIONS = 512
"""Up to so many positions, all pairs i < j (or all slabs of a ring) are looked at; beyond, those next to each other
(or, for messages between hubs and all, `MAX_POSITIONS` evenly spread lengths of slabs)."""


class LayerCut(NamedTuple):
    """So many steps, because so many messages cross from positions <= low to positions >= high, `capacity` a slot.

    The capacity is that from the position `at` to the next one.
    """

    steps: Fraction
    messages: int
    capacity: int
    low: int
    high: int
    at: int

    def proof(self, case: Case, place: Counts) -> Cut:
        """Return the cut, given the positions of all nodes: the layers between are passed one after the other."""
        load = Cut.of(self.messages, self.capacity, self.high - self.low - 1, case.whole)
        sources, side = (np.flatnonzero(place <= i) for i in (self.low, self.at))
        return Cut.by(load, sources=sources, targets=np.flatnonzero(place >= self.high), side=side)


def prefix_cut(case: Case, line: NodeLine, capacity: Counts) -> LayerCut | None:
    """Return the best cut between a position and the next, where links may lead anywhere."""
    count: Counts = sum(d.upward(line, False) for d in case.demands)  # type: ignore[assignment]
    ratio = np.where(count > 0, count / np.maximum(capacity, 1), 0.0)
    i = int(np.argmax(ratio)) if ratio.size else 0
    if not ratio.size or not ratio[i]:
        return None
    return LayerCut(case.steps(count[i], capacity[i]), int(count[i]), int(capacity[i]), i, i + 1, i)


def layer_cut(case: Case, line: NodeLine, capacity: Counts) -> LayerCut | None:
    """Return the best cut of a line upwards, where no link leads more than one position up.

    * `case`: what is asked.
    * `line`: positions of the terminals.
    * `capacity` (int64[m-1]): packets per slot from each position to the next.

    Returns: None if nothing has to go up.
    """
    if not case.whole or line.size > MAX_POSITIONS:
        return prefix_cut(case, line, capacity)
    count: Counts = sum(d.upward(line, True) for d in case.demands)  # type: ignore[assignment]
    narrowest = np.zeros((line.size, line.size), np.int64)  # [i, j]: the least capacity between i and j > i
    for i in range(line.size - 1):
        narrowest[i, i + 1 :] = np.minimum.accumulate(capacity[i:])
    place = np.arange(line.size)
    wait = place[None, :] - place[:, None] - 1
    steps = np.where((count > 0) & (wait >= 0), wait - (-count // np.maximum(narrowest, 1)), 0)
    i, j = (int(x) for x in np.unravel_index(np.argmax(steps), steps.shape))
    if not steps[i, j]:
        return None
    return LayerCut(
        Fraction(int(steps[i, j])), int(count[i, j]), int(narrowest[i, j]), i, j, i + int(np.argmin(capacity[i:j]))
    )


def across_text(case: Case, capacity: int) -> str:
    """Return for a witness over how many links a cut is crossed, or how many packets cross it a step.

    >>> import gossamer
    >>> across_text(Case(gossamer.network("ring:4"), gossamer.task("alltoall")), 4)
    ' over 4 links'
    """
    if case.limited or case.network.uniform_capacity != 1:
        return f", at most {quantity(capacity, 'packet')} {case.units.rate_text}"
    found = case.network.find(Speeds)
    speeds = None if found is None or not capacity else np.full(capacity, found.bandwidth.max())
    alike = found is None or np.ptp(found.bandwidth) == 0
    return f" over {quantity(capacity, 'link')}{case.units.speed_text(np.ones(capacity), speeds) if alike else ''}"


def cut_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut across each dimension that is a line or a ring."""
    for axis in axes_of(case.metric):
        if axis.size > 1 and axis.wraps is not None:
            bound = _ring(case, axis) if axis.wraps else _array(case, axis)
            if bound is not None:
                yield bound


def _line(case: Case, axis: Axis) -> NodeLine:
    area = case.network.node_count // axis.size
    return NodeLine(axis.size, axis.place, np.full(axis.size, area, np.int64))


def _array(case: Case, axis: Axis) -> Bound | None:
    line = _line(case, axis)
    area = case.network.node_count // axis.size
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
    what, across = case.packets_text(cut.messages), across_text(case, cut.capacity)
    if cut.high == cut.low + 1:
        text = f"{what} must leave {case.set_text(nodes, f'{x} {below} {low}')}{across}"
    else:
        text = (
            f"{what} must get from {x} {below} {low} to {x} {above} {high}, {quantity(cut.high - cut.low, 'hop')} "
            f"apart{across}"
        )
    place = axis.place(np.arange(case.network.node_count))
    proof = cut.proof(case, place if cut is up else axis.size - 1 - place)
    return Bound.of(f"cut across {axis.name}", proof, text, "cut", SOURCE)


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
    text = (
        f"{case.packets_text(messages)} must {'enter' if way else 'leave'} "
        f"{case.set_text(int(lengths[k]) * area, where)}{across_text(case, capacity)}"
    )
    inside = (axis.place(np.arange(case.network.node_count)) - first) % s < lengths[k]
    cut = Cut.by(Cut.of(messages, capacity, whole=case.whole), side=np.flatnonzero(inside != bool(way)))
    return Bound.of(f"cut across {axis.name}", cut, text, "cut", SOURCE)


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
    case: Case, demand: HubDemand | PairDemand, line: NodeLine, firsts: Counts, lengths: Counts
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
