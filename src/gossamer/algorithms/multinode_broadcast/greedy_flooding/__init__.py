"""Multinode broadcast, full or partial, on any network: greedy flooding.

In every slot every link carries a packet that its target lacks, of a few candidates the one that fewest nodes have.
There is no promise, but no idle link either: where the active nodes are few, or the network has no structure to use,
it often comes close to the bound. Several orders are tried and the shortest schedule is kept.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, separate
from gossamer.algorithms.reasons import buffer_reason
from gossamer.errors import NetworkError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.tasks import MultinodeBroadcast, PartialMultinodeBroadcast, Task

__all__ = ["GREEDY_FLOODING", "greedy_flooding"]

_LOOKS = 6
"""Candidate packets that a link compares."""
_WORK = 8_000_000
"""Hops after which no further order is tried."""
_TRIES = 8


def greedy_flooding(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Build the shortest of a few schedules in which no link idles that could carry something new.

    Parameters
    ----------
    network : Network
        Any in which every active node reaches every terminal.
    task : MultinodeBroadcast or PartialMultinodeBroadcast
    model : Model
        Any ports; messages stay whole.
    seed : int
        Of the random orders.

    Raises
    ------
    NetworkError
        If some terminal cannot be reached.

    Notes
    -----
    About O(hops) for each try, plus the links in every slot; one bit for each packet and node. At most 8 tries, fewer
    for large schedules.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:4x4")
    >>> greedy_flooding(net, gossamer.task("partial-multinode-broadcast", active=[0, 5]), Model()).completion_time
    Fraction(6, 1)
    """
    from gossamer.algorithms.multinode_broadcast.greedy_flooding import _kernels

    origin = task.messages(network).origin
    most = _hops(network, task)
    uniform = network.uniform_capacity
    capacity = network.link_capacity if uniform is None else np.array([uniform], np.int32)
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for attempt in range(max(1, min(_TRIES, _WORK // max(most, 1)))):
        columns = tuple(np.empty(most, np.int32) for _ in range(3))
        made = _kernels.flood(
            network.link_source, network.link_target, capacity, network.node_count, network.terminal_count, origin,
            model.send_limited, model.receive_limited, _LOOKS, seed + attempt, *columns,
        )  # fmt: skip
        if made < 0:
            raise NetworkError(f"network {network.spec!r} is not connected: some terminal cannot be reached")
        slot, link, packet = (c[:made] for c in columns)
        if best is None or (made and slot[-1] < best[0][-1]):
            best = (slot, link, packet)
    assert best is not None
    return Schedule(network, task, model, *(c.copy() for c in best))


def _hops(network: Network, task: Task) -> int:
    """Return the most hops: every packet to every node but its origin."""
    active = len(task.active) if isinstance(task, PartialMultinodeBroadcast) else network.terminal_count
    return active * (network.node_count - 1)


def _reason(network: Network, task: Task, model: Model) -> str | None:
    if isinstance(task, PartialMultinodeBroadcast) and model.control_time:
        return "needs the active nodes known ahead (control time 0)"
    return buffer_reason(model) or too_many_hops(_hops(network, task))


def _claim(network: Network, task: Task, model: Model) -> Fraction | None:
    return None


GREEDY_FLOODING: tuple[Algorithm, ...] = tuple(
    separate(
        name="greedy-flooding",
        task=task,
        builder=greedy_flooding,
        reason=_reason,
        claim=_claim,
        networks="any connected networks",
        source="gossamer; no promised time",
        summary="no link idles that could carry something new; the rarest of a few candidates goes first",
    )
    for task in (MultinodeBroadcast, PartialMultinodeBroadcast)
)
"""One record for the full and one for the partial task."""
