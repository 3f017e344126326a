"""What the algorithms of partial exchange have in common: which cases they cover, and how hops become a schedule."""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.partial_exchange.census import Control
from gossamer.algorithms.reasons import all_ports_reason
from gossamer.model import Model
from gossamer.networks.network import IntArray, Network
from gossamer.paths.hops import Hops
from gossamer.schedules import CONTROL, Phase, Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.tasks import PartialExchange, Task

__all__ = ["active_count", "ends", "reason", "schedule", "shortest_hops"]


def ends(network: Network, task: Task) -> tuple[IntArray, IntArray]:
    """Return origin and target of each message, int32[P]."""
    messages = task.messages(network)
    assert messages.targets is not None
    return messages.origin, messages.targets


def active_count(network: Network, task: Task) -> int:
    """Return the number M of active nodes, all of them in a total exchange."""
    return len(task.active) if isinstance(task, PartialExchange) else network.node_count


def reason(network: Network, task: Task, model: Model) -> str | None:
    """Return why shortest paths on an array or torus cannot carry out the exchange, or None."""
    if network.grid is None:
        return "needs an array or a torus"
    return all_ports_reason(model) or too_many_hops(shortest_hops(network, task))


def shortest_hops(network: Network, task: Task) -> int:
    """Return the hops of shortest paths."""
    assert network.grid is not None
    active = np.array(task.active) if isinstance(task, PartialExchange) else np.arange(network.node_count)
    total = 0
    for side, wraps, stride in zip(network.grid.sides, network.grid.wraps, network.grid.strides, strict=True):
        at = active // stride % side
        right = side - 1 - at
        line = (at * (at + 1) + right * (right + 1)) // 2 if not wraps else np.full(at.size, side * side // 4)
        total += int(line.sum()) * (network.node_count // side)
    return total


def schedule(
    network: Network, task: Task, model: Model, hops: Hops, control: Control | None, exchange: str = "exchange"
) -> Schedule:
    """Return the schedule of the hops, after a phase of control packets if there is one."""
    phases = [Phase(exchange, hops.slots)]
    columns = hops.slot, hops.link, hops.packet
    if control is not None:
        phases.insert(0, Phase("prefix", control.slots, model.control_time, control=True))
        columns = (
            np.concatenate([control.slot, hops.slot + np.int32(control.slots)]),
            np.concatenate([control.link, hops.link]),
            np.concatenate([np.full(control.slot.size, CONTROL, np.int32), hops.packet]),
        )
    return Schedule(network, task, model, *columns, phases=phases)
