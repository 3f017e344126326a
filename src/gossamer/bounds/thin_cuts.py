"""Sets of nodes that most messages must leave for the links that lead out, found by maximum flows.

If all messages for a terminal t are to arrive at a rate of one a step each ``1/x``, every set of nodes without t needs
links out of it for its share. A flow from their origins to t either is that large, or its minimum cut is a set that
proves a larger x; from there the search goes on (Newton's method).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.bounds.arrivals import spread
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.links import Links

__all__ = ["Floats", "Mask", "amounts", "thin_cuts"]

Mask = npt.NDArray[np.bool_]
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
    flows = _Flows(links)
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


class _Flows:
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
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        scale = 2**30 / float(amount.sum() + 1)
        origin = self.size
        some = np.flatnonzero(amount)
        room = np.concatenate([np.minimum(self.rate * ratio, float(amount.sum())), amount[some].astype(np.float64)])
        tail = np.concatenate([self.tail, np.full(some.size, origin)])
        head = np.concatenate([self.head, some])
        shape = (self.size + 1, self.size + 1)
        summed = coo_array((room, (tail, head)), shape=shape).tocsr()
        summed.data = np.minimum(np.rint(summed.data * scale), 2**30)
        graph = summed.astype(np.int32)
        residual = graph - maximum_flow(graph, origin, end).flow
        residual.eliminate_zeros()
        inside = np.zeros(self.size + 1, np.bool_)
        inside[breadth_first_order(residual, origin, return_predecessors=False)] = True
        inside[end] = False
        return inside[: self.links.node_count]


def _port_rates(ends: Counts, rate: npt.NDArray[np.float64], nodes: int) -> npt.NDArray[np.float64]:
    """Return the rate of each node's fastest link: with one packet a time at its port, it passes no more."""
    best = np.zeros(nodes)
    np.maximum.at(best, ends, rate)
    return best
