"""What the packets of a case must reach, and the least time that this takes by counting."""

from __future__ import annotations

import numpy as np

from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.graphs.priced_trees import PacketDemand
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Chunked, DemandTable, Grouped, Messages, Task, Together
from gossamer.schedules import Packets
from gossamer.schedules.packets import message_rows

GENERAL_TASKS: tuple[type[Task], ...] = (Chunked, Grouped, DemandTable, Together)
"""Tasks whose messages may be of any kind."""


def demand_of(case: Case, messages: Messages | None = None) -> PacketDemand:
    """Return the packets of a case, or of some messages of its network, and their targets.

    Contributions are taken backwards in time: as packets of their root for all terminals.

    >>> import gossamer
    >>> demand = demand_of(Case(gossamer.network("ring:3"), gossamer.task("allgather", packets=2)))
    >>> demand.origin.tolist(), demand.target[demand.first[1] : demand.first[2]].tolist()
    ([0, 0, 1, 1, 2, 2], [0, 1, 2])
    """
    messages = case.messages if messages is None else messages
    packets = Packets.of(messages)
    rows = message_rows(messages, packets)
    first = np.zeros(rows.size + 1, np.int64)
    if messages.targets is None or messages.target_start is None:
        n = case.network.terminal_count
        first = np.arange(rows.size + 1, dtype=np.int64) * n
        return PacketDemand(packets.origin, first, np.tile(np.arange(n, dtype=np.int32), rows.size))
    count = np.diff(messages.target_start)[rows]
    np.cumsum(count, out=first[1:])
    place = np.arange(first[-1]) + np.repeat(messages.target_start[rows] - first[:-1], count)
    return PacketDemand(packets.origin, first, messages.targets[place])


def least_slots(demand: PacketDemand, roads: LinkResources, moved: bool) -> int:
    """Return slots in which no schedule ends before: what the busiest terminal must receive, or send, takes as long.

    O(targets + L) time.

    >>> import gossamer
    >>> case = Case(gossamer.network("ring:9"), gossamer.task("allgather"))
    >>> least_slots(demand_of(case), LinkResources.of(case.network, case.rules), moved=False)
    4
    """
    nodes, packet = roads.cut.size, np.repeat(np.arange(demand.origin.size), np.diff(demand.first))
    away = demand.target != demand.origin[packet]
    least = 0
    for node, ends, limited in (
        (demand.target[away], roads.target, roads.receive_limited),
        (_senders(demand, packet, away, moved), roads.source, roads.send_limited),
    ):
        count = np.bincount(node, minlength=nodes)
        quickest = np.full(nodes, np.iinfo(np.int64).max)
        np.minimum.at(quickest, ends, roads.occupancy)
        if limited:
            slots = count * np.where(count > 0, quickest, 0)
        else:
            rate = np.bincount(ends, weights=roads.capacity / roads.occupancy, minlength=nodes)
            slots = np.ceil(count / np.maximum(rate, 1e-9) - 1e-9)
        least = max(least, int(slots.max(initial=0)))
    return least


def _senders(demand: PacketDemand, packet: np.ndarray, away: np.ndarray, moved: bool) -> np.ndarray:
    """Return the origin of each packet that must be sent, once for each copy that only the origin can send."""
    sent: np.ndarray = packet[away] if moved else np.unique(packet[away])
    return np.asarray(demand.origin[sent])
