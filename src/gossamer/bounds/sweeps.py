"""Bounds from cuts of networks without dimensions, found by breadth-first sweeps.

The nodes are put in the order of a search, and every prefix of the order is one side of a cut; the layers of the
search are cut one after the other as in an array. The network itself is swept, or the factors of a product that are
not lines or rings. Any set gives a valid cut, so how the orders are chosen only decides how good the bound is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.bounds.bound import Bound
from gossamer.bounds.cuts import SOURCE, Cut, layer_cut
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand, Line
from gossamer.questions.cases.metric import MAX_VISITS, axes_of
from gossamer.writing import quantity

__all__ = ["Swept", "descends_by_one", "search_sources", "sweep_bounds", "swept_networks"]

_SOURCES = 8
_AT_ONCE = 1 << 20
"""Links that are looked at at once."""


class Swept:
    """A network in the order of a search, for the case of a product of which it is a factor (or of itself)."""

    def __init__(self, network: Network, position: Counts, stride: int, copies: int) -> None:
        self.network = network
        self.position = position
        self.stride = stride
        self.copies = copies
        self.size = int(position.max()) + 1

    def line(self, case: Case) -> Line:
        """Return the positions of the case's terminals."""
        n = self.network.node_count
        own = self.network.terminal_count if self.copies == 1 else n
        terminals = np.bincount(self.position[:own], minlength=self.size) * self.copies
        return Line(self.size, lambda nodes: self.position[nodes // self.stride % n], terminals)

    def capacity(self, case: Case, upward: bool) -> Counts:
        """Return the packets per slot that cross from positions <= k to positions > k (`upward`), or back."""
        net, position = self.network, self.position
        sides = [sends for sends, limited in ((True, case.send_limited), (False, case.receive_limited)) if limited]
        furthest = {sends: position.copy() for sends in sides}  # where the links across of a node lead
        change = np.zeros(self.size)
        for first in range(0, net.link_count, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            low, high = net.link_source[some], net.link_target[some]
            if not upward:
                low, high = high, low
            across = position[low] < position[high]
            low, high = low[across], high[across]
            weight = None if case.limited else net.link_capacity[some][across]
            change += self._spans(position[low], position[high], weight)
            for sends in sides:
                if sends == upward:
                    np.maximum.at(furthest[sends], low, position[high])
                else:
                    np.minimum.at(furthest[sends], high, position[low])
        total = np.cumsum(change)[:-1]
        for sends in sides:  # a node counts at every cut that one of its links crosses
            ends = (position, furthest[sends]) if sends == upward else (furthest[sends], position)
            mine = ends[0] < ends[1]
            total = np.minimum(total, np.cumsum(self._spans(ends[0][mine], ends[1][mine]))[:-1])
        return total.astype(np.int64) * self.copies

    def _spans(
        self, low: Counts, high: Counts, weight: npt.NDArray[np.integer] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return by how much the links across change behind each position, float64[size]."""
        begun, ended = (np.bincount(ends, weight, self.size) for ends in (low, high))
        return np.asarray(begun - ended, np.float64)


def swept_networks(case: Case) -> Iterator[tuple[str, Network, int]]:
    """Yield the name, the network and the stride of what is to be swept: factors, or the network itself."""
    axes = axes_of(case.metric)
    for axis in axes:
        if axis.network is not None and axis.size > 1:
            yield axis.name, axis.network, axis.stride
    if not axes and case.network.levels is None:
        yield "", case.network, 1


def search_sources(case: Case, network: Network) -> list[int]:
    """Return the nodes to search from: the ends of the longest paths found, then evenly spread ones."""
    alike = network.group is not None and all(d.everywhere for d in case.demands)
    limit = 1 if alike else max(1, min(_SOURCES, MAX_VISITS // (2 * (network.node_count + network.link_count))))
    found = [0]
    while len(found) < limit and len(found) < 3:
        end = int(network.breadth_first(found[-1]).order[-1])
        if end in found:
            break
        found.append(end)
    hubs = [d.hubs if isinstance(d, HubDemand) else d.origin for d in case.demands]
    stride = case.network.node_count // network.node_count
    near = hubs[0] if stride == 1 else np.arange(network.node_count)
    spread = [int(v) for v in near[np.linspace(0, near.size - 1, _SOURCES).astype(np.int64)]]
    return list(dict.fromkeys(found + spread))[:limit]


def sweep_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut of each swept network: between prefixes, or between layers of a search."""
    for name, network, stride in swept_networks(case):
        copies = case.network.node_count // network.node_count
        best: tuple[Cut, str] | None = None
        for source in search_sources(case, network):
            search = network.breadth_first(source)
            if search.order.size < network.node_count:
                continue
            rank = np.empty(network.node_count, np.int64)
            rank[search.order] = np.arange(network.node_count)
            where = f"of {name} " if name else ""
            for swept, layered in (
                (Swept(network, rank, stride, copies), False),
                (Swept(network, search.distance.astype(np.int64), stride, copies), True),
            ):
                for cut, upward in _cuts(case, swept, layered):
                    if best is None or cut.steps > best[0].steps:
                        best = cut, _text(case, network, where, source, cut, upward, layered, copies, swept.size)
        if best is not None:
            yield Bound(f"cut of {name}" if name else "cut", best[0].steps, best[1], "cut", SOURCE)


def _cuts(case: Case, swept: Swept, layered: bool) -> Iterator[tuple[Cut, bool]]:
    if swept.size < 2:
        return
    line = swept.line(case)
    for upward in (True, False):
        capacity = swept.capacity(case, upward)
        way, widths = (line, capacity) if upward else (line.mirrored(), capacity[::-1])
        if layered and (upward or descends_by_one(swept)):
            cut = layer_cut(case, way, widths)
        else:
            cut = prefix_cut(case, way, widths)
        if cut is not None:
            yield cut, upward


def prefix_cut(case: Case, line: Line, capacity: Counts) -> Cut | None:
    """Return the best cut between a position and the next, where links may lead anywhere."""
    count: Counts = sum(d.upward(line, False) for d in case.demands)  # type: ignore[assignment]
    ratio = np.where(count > 0, count / np.maximum(capacity, 1), 0.0)
    i = int(np.argmax(ratio))
    if not ratio[i]:
        return None
    return Cut(case.steps(count[i], capacity[i]), int(count[i]), int(capacity[i]), i, i + 1)


def descends_by_one(swept: Swept) -> bool:
    """Return whether no link leads more than one position down."""
    net, position = swept.network, swept.position
    parts = (slice(first, first + _AT_ONCE) for first in range(0, net.link_count, _AT_ONCE))
    return all(bool((position[net.link_source[p]] - position[net.link_target[p]] <= 1).all()) for p in parts)


def _text(
    case: Case, network: Network, where: str, source: int, cut: Cut, upward: bool, layered: bool,
    copies: int, size: int,
) -> str:  # fmt: skip
    start = network.node_name(source)
    what = quantity(cut.messages, case.what)
    across = quantity(cut.capacity, "packet") + " a step across"
    if not layered:
        inside = cut.low + 1 if upward else size - 1 - cut.low
        verb = "leave" if upward else "enter"
        total = case.network.node_count
        near = f"the {quantity(inside, 'node')} {where}first reached from node {start}"
        sizes = f"{near} | {total - inside * copies:,} nodes" if copies == 1 else f"{near}, in all {copies:,} copies"
        return f"{sizes}, {across}: {what} must {verb}"
    low, high = (cut.low, cut.high) if upward else (size - 1 - cut.low, size - 1 - cut.high)
    near, far = ("at most", "at least") if upward else ("at least", "at most")
    return (
        f"{what} must get from nodes {near} {quantity(low, 'hop')} {where}from node {start} to nodes {far} "
        f"{quantity(high, 'hop')} from it, {across}"
    )
