"""Bounds from nodes that separate a network, where every node sends or receives one packet a slot.

Without the nodes W, the network falls apart. What they originate they send, and what goes from one part to another
they send too: if these are X packets, |W| nodes need ceil(X/|W|) steps. A message for all is sent into every part
but its own. The middle node of a linear array gives floor((n^2-1)/2) for a total exchange, against the average
status (n^2-1)/3.

The last of these packets has further to go where its message is for the far end of a line: of a multinode broadcast
on a linear array the middle node sends n + 1 packets, and the last of them takes the rest of the way, ceil(3n/2) - 1
steps in all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.sweeps import Swept, descends_by_one, search_sources, swept_networks
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand, Line
from gossamer.questions.cases.metric import axes_of
from gossamer.writing import quantity

__all__ = ["SOURCE", "own_load", "part_load", "separator_bounds"]

SOURCE = "folklore: load of nodes that separate others, as in Dimakopoulos 1996, sections 6.2.3 and 6.2.4"


def own_load(demand: HubDemand, hubs: Counts, terminals: Counts, fan: bool) -> Counts:
    """Return the packets that separating nodes must send, or receive, of their own.

    Parameters
    ----------
    demand : HubDemand
        What is asked for.
    hubs, terminals : int64[...]
        Hubs and terminals among the separating nodes.
    fan : bool
        Whether to count where messages for all are multiplied: the sending of an outward demand, the receiving of an
        inward one.
    """
    if not fan:
        return terminals * demand.hubs.size - hubs
    return hubs * (0 if demand.shared else demand.terminal_count - 1)


def part_load(demand: HubDemand, terminals: Counts, hubs_in: Counts, terminals_in: Counts, fan: bool) -> Counts:
    """Return the packets that separating nodes must send, or receive, because of one part.

    A message for all is sent into every part but its hub's; another one goes from its hub's part to its target's.
    `terminals` counts those among the separating nodes, the other parameters those of the part; `fan` as above.
    """
    if not demand.shared:
        return hubs_in * (demand.terminal_count - terminals - terminals_in)
    return np.minimum(terminals_in, 1) * ((demand.hubs.size - hubs_in) * int(fan))


def separator_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best layer of each dimension that is a line, and of the searches of each swept network."""
    if not case.limited or not case.hub_demands:
        return
    for axis in axes_of(case.metric):
        if axis.wraps is False and axis.size > 2:
            size = np.full(axis.size, case.network.node_count // axis.size, np.int64)
            line = Line(axis.size, axis.place, size)
            yield from _layers(case, line, size, f"at place {{}} of {axis.name}", far=True)
    for name, network, stride in swept_networks(case):
        copies = case.network.node_count // network.node_count
        for source in search_sources(case, network):
            distance = network.distances(source).astype(np.int64)
            if int(distance.min()) < 0 or int(distance.max()) < 2:
                continue
            swept = Swept(network, distance, stride, copies)
            if descends_by_one(swept):
                where = f"{{}} hops {f'of {name} ' if name else ''}from node {network.node_name(source)}"
                yield from _layers(case, swept.line(case), np.bincount(distance) * copies, where)


def _layers(case: Case, line: Line, size: Counts, where: str, far: bool = False) -> Iterator[Bound]:
    """Yield the best layer of a line, of `size` nodes each, for sending and for receiving.

    With `far` no hop goes further than to the next layer, so that a message for all has a layer a step to go.
    """
    terminals = line.terminals
    below = np.cumsum(terminals) - terminals
    above = terminals.sum() - below - terminals
    for limited, send in ((case.send_limited, True), (case.receive_limited, False)):
        if not limited:
            continue
        count = np.zeros(line.size, np.int64)
        for demand in case.hub_demands:
            hubs = demand.hubs_along(line)
            under = np.cumsum(hubs) - hubs
            fan = demand.outward == send
            count += own_load(demand, hubs, terminals, fan)
            for hubs_in, terminals_in in ((under, below), (hubs.sum() - under - hubs, above)):
                count += part_load(demand, terminals, hubs_in, terminals_in, fan)
        rest = _rest(case, line, send) if far else np.zeros(line.size, np.int64)
        i = int(np.argmax((count / size + rest)[1:-1])) + 1
        if count[i]:
            verb = "send" if send else "receive"
            text = (
                f"{quantity(int(size[i]), 'node')} {where.format(i)} must {verb} "
                f"{quantity(int(count[i]), case.what)}, one a step each"
            )
            if rest[i]:
                left = quantity(int(rest[i]), "hop")
                text += f", and the last has {left} left" if send else f", and the first has {left} behind it"
            yield Bound(
                f"separating nodes {verb}", case.steps(count[i], size[i], int(rest[i])), text, "separator", SOURCE
            )


def _rest(case: Case, line: Line, send: bool) -> Counts:
    """Return the hops that the last packet which a layer sends has left, or the first that it receives has behind it.

    What is counted are the first copies that enter a part, or the results of a reduction that leave it; each message is
    for the layer at the far end of the part, or has a contribution from there.
    """
    rest = np.zeros(line.size, np.int64)
    if len(case.hub_demands) == 1 and case.whole and case.network.plain and bool(line.terminals[[0, -1]].all()):
        only = case.hub_demands[0]
        if only.shared and only.outward == send:
            place = np.arange(line.size)
            rest = np.maximum(np.minimum(place - 1, line.size - 2 - place), 0)
    return rest
