"""Bounds from cuts around clusters of active nodes, for exchanges of a part of the nodes.

A few active nodes next to each other share the links that lead away from them, in whatever shape they lie. From every
active node a set grows greedily, node by node, and each set on the way is one side of a cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.cuts import SOURCE
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import HubDemand
from gossamer.writing import quantity

__all__ = ["cluster_bounds"]

_LARGEST = 64
_WORK = 50_000_000
"""The most looks at nodes beside growing sets."""


def cluster_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best cut around a cluster in a personalized task between some nodes and all, with two-way links.

    O(hubs * size**2 * degree) time for sets of up to `_LARGEST` nodes, fewer where there are many hubs.
    """
    from gossamer.bounds import _kernels

    net = case.network
    demands = case.hub_demands
    if len(demands) != 1 or demands[0].shared or demands[0].everywhere or net.terminal_count < net.node_count:
        return
    if net.uniform_capacity is None or not net.link_count or int(net.reverse_link.min()) < 0:
        return
    demand: HubDemand = demands[0]
    active = np.zeros(net.node_count, np.int64)
    np.add.at(active, demand.hubs, 1)
    seeds = np.unique(demand.hubs)
    size = min(_LARGEST, net.node_count - 1, max(1, int((_WORK / (seeds.size * net.degree)) ** 0.5)))
    inside, joined, beside, nodes = (np.zeros(net.node_count, np.int64) for _ in range(4))
    links = net.first_link, net.link_target
    count = int(_kernels.grow_clusters(*links, active, seeds, size, inside, joined, beside, nodes))
    nodes = nodes[:count]
    member = np.zeros(net.node_count, np.bool_)
    member[nodes] = True
    across = int(np.count_nonzero(member[net.link_source] & ~member[net.link_target]))
    hubs = int(active[nodes].sum())
    messages = hubs * (net.node_count - count)
    capacity = across * (1 if case.limited else net.uniform_capacity)
    names = ", ".join(case.name(int(v)) for v in np.sort(nodes)[:4]) + (", ..." if count > 4 else "")
    text = (
        f"{quantity(count, 'node')} {names}, {hubs:,} of them active | {net.node_count - count:,} nodes, "
        f"{quantity(across, 'link')} across: {quantity(messages, case.what)} "
        f"must {'leave' if demand.outward else 'enter'}"
    )
    yield Bound("cluster cut", case.steps(messages, capacity), text, "cut", SOURCE)
