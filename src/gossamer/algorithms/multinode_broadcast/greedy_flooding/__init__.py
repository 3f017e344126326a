"""Multinode broadcast, full or partial, on any network: greedy flooding.

In every slot every link carries a packet that its target lacks, of a few candidates the one that fewest nodes have.
There is no promise, but no idle link either: where the active nodes are few, or the network has no structure to use,
it often comes close to the bound. Several orders are tried and the shortest schedule is kept.
"""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.refusals import refuse_buffers, refuse_hops
from gossamer.cases import Case, Offer, Refusal
from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.tasks import MultinodeBroadcast, PartialMultinodeBroadcast

__all__ = ["GREEDY_FLOODING", "greedy_flooding"]

_LOOKS = 6
"""Candidate packets that a link compares."""
_WORK = 8_000_000
"""Hops after which no further order is tried."""
_TRIES = 8


def greedy_flooding(case: Case) -> Schedule:
    """Build the shortest of a few schedules in which no link idles that could carry something new.

    Parameters
    ----------
    case : Case
        A multinode broadcast, full or partial, on any network in which every active node reaches every terminal. Any
        ports; messages stay whole. The seed is that of the random orders.

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
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 5])
    >>> greedy_flooding(Case(gossamer.network("array:4x4"), task)).completion_time
    Fraction(6, 1)
    """
    from gossamer.algorithms.multinode_broadcast.greedy_flooding import _kernels

    network, origin = case.network, case.messages.origin
    most = _hops(case)
    uniform = network.uniform_capacity
    capacity = network.link_capacity if uniform is None else np.array([uniform], np.int32)
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for attempt in range(max(1, min(_TRIES, _WORK // max(most, 1)))):
        columns = tuple(np.empty(most, np.int32) for _ in range(3))
        made = _kernels.flood(
            network.link_source, network.link_target, capacity, network.node_count, network.terminal_count, origin,
            case.send_limited, case.receive_limited, _LOOKS, case.seed + attempt, *columns,
        )  # fmt: skip
        if made < 0:
            raise NetworkError(f"network {network.spec!r} is not connected: some terminal cannot be reached")
        slot, link, packet = (c[:made] for c in columns)
        if network.terminal_count < network.node_count:
            kept = _leads_on(network, link, packet)
            slot, link, packet = slot[kept], link[kept], packet[kept]
        if best is None or (slot.size and slot[-1] < best[0][-1]):
            best = (slot, link, packet)
    assert best is not None
    return Schedule.of(case, *(c.copy() for c in best))


def _leads_on(network: Network, link: np.ndarray, packet: np.ndarray) -> np.ndarray:
    """Return which hops end at a terminal or at a switch that sends the packet on to one, bool[H]."""
    n = np.int64(network.node_count)
    target = network.link_target[link]
    leaves, enters = packet * n + network.link_source[link], packet * n + target
    kept = np.ones(link.size, bool)
    at_switch = np.flatnonzero(target >= network.terminal_count)
    while (dead := at_switch[~np.isin(enters[at_switch], leaves[kept])]).size:
        kept[dead] = False
        at_switch = at_switch[kept[at_switch]]
    return kept


def _hops(case: Case) -> int:
    """Return the most hops: every packet to every node but its origin."""
    task, network = case.task, case.network
    active = len(task.active) if isinstance(task, PartialMultinodeBroadcast) else network.terminal_count
    return active * (network.node_count - 1)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if isinstance(case.task, PartialMultinodeBroadcast) and case.control_time:
        return Refusal("needs the active nodes known ahead (control time 0)")
    refusal = refuse_buffers(case.rules) or refuse_hops(_hops(case))
    return refusal or Offer(lambda: greedy_flooding(case), effort="search")


GREEDY_FLOODING = Algorithm(
    name="greedy-flooding",
    tasks=(MultinodeBroadcast, PartialMultinodeBroadcast),
    propose=_propose,
    networks="any connected networks",
    source="gossamer; no promised time",
    summary="no link idles that could carry something new; the rarest of a few candidates goes first",
)
