"""What the algorithms of partial exchange have in common: which cases they cover, and how hops become a schedule."""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.partial_exchange.census import Control
from gossamer.algorithms.preconditions import refuse_hops, refuse_ports
from gossamer.graphs.hops import Hops
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.tasks import PartialExchange, Task
from gossamer.schedules import CONTROL, Phase, Schedule

__all__ = ["active_count", "ends", "refuse", "schedule", "shortest_hops"]


def ends(case: Case) -> tuple[IntArray, IntArray]:
    """Return origin and target of each message, int32[P]."""
    messages = case.messages
    assert messages.targets is not None
    return messages.origin, messages.targets


def active_count(case: Case) -> int:
    """Return the number M of active nodes, all of them in a total exchange."""
    return len(case.task.active) if isinstance(case.task, PartialExchange) else case.network.node_count


def refuse(case: Case, most: int | None = None) -> Refusal | None:
    """Refuse for shortest paths that need an array or torus, and `most` hops or fewer if that is said, or not."""
    if case.network.grid is None:
        return Refusal("needs an array or a torus")
    hops = case.once(shortest_hops, case.network, case.task)
    if most is not None and hops > most:
        return Refusal(f"is offered for at most {most} hops")
    return refuse_ports(case.rules) or refuse_hops(hops)


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


def schedule(case: Case, hops: Hops, control: Control | None) -> Schedule:
    """Return the schedule of the hops, after a phase of control packets if there is one."""
    phases = [Phase("exchange", hops.slots)]
    columns = hops.slot, hops.link, hops.packet
    if control is not None:
        phases.insert(0, Phase("prefix", control.slots, case.control_time, control=True))
        columns = (
            np.concatenate([control.slot, hops.slot + np.int32(control.slots)]),
            np.concatenate([control.link, hops.link]),
            np.concatenate([np.full(control.slot.size, CONTROL, np.int32), hops.packet]),
        )
    return Schedule.of(case, *columns, phases=phases)
