"""Bounds from nodes that separate a network, where every node sends or receives one packet a slot.

Take the nodes W of one layer. What they originate they send, and what comes from one side and goes to the other they
send too: if that is X packets, |W| nodes need ceil(X/|W|) steps. The middle node of a linear array gives
floor((n^2-1)/2) for a total exchange, against the average status (n^2-1)/3.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.demands import Counts, HubDemand, Line
from gossamer.bounds.metric import axes_of
from gossamer.bounds.problem import Problem, quantity
from gossamer.bounds.sweeps import Swept, descends_by_one, search_sources, swept_networks

__all__ = ["separator_bounds"]


def separator_bounds(problem: Problem) -> Iterator[Bound]:
    """Yield the best layer of each dimension that is a line, and of the searches of each swept network."""
    if not problem.limited:
        return
    demands = [d for d in problem.demands if isinstance(d, HubDemand)]
    for axis in axes_of(problem.metric):
        if axis.wraps is False and axis.size > 2:
            copies = problem.network.node_count // axis.size
            size = np.full(axis.size, copies, np.int64)
            line = Line(axis.size, axis.place, size)
            for demand in demands:
                yield from _layers(problem, demand, line, size, f"at place {{}} of {axis.name}")
    for name, network, stride in swept_networks(problem):
        copies = problem.network.node_count // network.node_count
        for source in search_sources(problem, network):
            distance = network.distances(source).astype(np.int64)
            if int(distance.min()) < 0 or int(distance.max()) < 2:
                continue
            swept = Swept(network, distance, stride, copies)
            if not descends_by_one(swept):
                continue
            size = np.bincount(distance) * copies
            where = f"{{}} hops {f'of {name} ' if name else ''}from node {network.node_name(source)}"
            for demand in demands:
                yield from _layers(problem, demand, swept.line(problem), size, where)


def _layers(problem: Problem, demand: HubDemand, line: Line, size: Counts, where: str) -> Iterator[Bound]:
    """Yield the bound of the best layer of a line, of `size` nodes each, for sending and for receiving."""
    hubs, terminals = demand.hubs_along(line), line.terminals
    fan = problem.send_limited if demand.outward else problem.receive_limited
    trunk = problem.receive_limited if demand.outward else problem.send_limited
    hubs_below, below = np.cumsum(hubs) - hubs, np.cumsum(terminals) - terminals
    hubs_above, above = hubs.sum() - hubs_below - hubs, terminals.sum() - below - terminals
    counts = []
    if demand.shared:
        low, high = np.minimum(below, 1), np.minimum(above, 1)
        if fan:  # a copy into each side for each hub that is not on that side
            counts.append((hubs * (low + high) + hubs_below * high + hubs_above * low, demand.outward))
    else:
        across = hubs_below * above + hubs_above * below
        if fan:
            counts.append((hubs * (demand.terminal_count - 1) + across, demand.outward))
        if trunk:
            counts.append((terminals * demand.hubs.size - hubs + across, not demand.outward))
    for count, sends in counts:
        ratio = count[1:-1] / size[1:-1]
        if not ratio.size or not ratio.max():
            continue
        i = int(np.argmax(ratio)) + 1
        verb = "send" if sends else "receive"
        text = (
            f"{quantity(int(size[i]), 'node')} {where.format(i)} must {verb} {quantity(int(count[i]), demand.what)}, "
            f"one a step each, their own and those from one side to the other"
        )
        yield Bound(
            f"separating nodes {verb}", problem.steps(count[i], size[i]), text, "separator",
            "folklore: load of a node that separates others; digest of Dimakopoulos 1996, 6.1",
        )  # fmt: skip
