"""Retiming: a schedule for plain links, carried out as early as links with occupancies and latencies allow.

Every link and every port keeps the order in which the schedule uses it; each hop begins as soon as its packet is there
and link and ports are free.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, ScheduleError
from gossamer.graphs.port_table import PortTable
from gossamer.networks.network import Network
from gossamer.questions.rules import Rules
from gossamer.schedules import CONTROL, Phase, Schedule
from gossamer.schedules.state import message_rows
from gossamer.schedules.symmetry import Symmetry

__all__ = ["longest_hop", "retimed"]


def longest_hop(network: Network) -> int:
    """Return the most slots from the start of a whole packet's hop to its use, the largest occupancy plus latency.

    >>> import gossamer
    >>> longest_hop(gossamer.network("ring:4").with_times(2, 1))
    3
    """
    return int((network.link_occupancy + network.link_latency.astype(np.int64)).max(initial=1))


def retimed(schedule: Schedule, network: Network, rules: Rules | None = None) -> Schedule:
    """Return a schedule with the earliest starts that its order on links and ports allows on links with time.

    Parameters
    ----------
    schedule : Schedule
        Valid for plain links. An invariant one stays invariant where the links look the same from every node.
    network : Network
        The same nodes and links, with their times and shared ports; parallel links may stand for one link.
    rules : Rules, optional
        The rules of the result. Default: those of `schedule`. Under cut-through packets do not wait in switches.

    Returns
    -------
    Schedule
        With the same hops in one phase, without control packets.

    Raises
    ------
    ScheduleError
        If the networks differ in more than times, control packets take time, or a node sends what it does not have.

    Notes
    -----
    A hop of slot t begins in slot ``t * longest_hop(network)`` at the latest, as every hop before it is over by then.
    O(hops log hops) time; 60 bytes a hop.

    References
    ----------
    Gossamer. In machine scheduling such starts are called semi-active.

    Examples
    --------
    >>> import gossamer
    >>> plain = gossamer.plan("array:3", "broadcast").schedule
    >>> slow = retimed(plain, gossamer.network("array:3").with_times(2, 1))
    >>> slow.slot.tolist(), slow.completion_time
    ([0, 3], Fraction(6, 1))
    """
    from gossamer.graphs.retiming import _kernels

    if network.without_time != schedule.network.without_time:
        raise ScheduleError(f"{network.spec} and {schedule.network.spec} differ in more than the times of their links")
    symmetry = _kept(schedule.symmetry, network)
    if symmetry is None:
        schedule = schedule.expand()
    schedule = _without_control(schedule).replace(rules=rules or schedule.rules)
    schedule = _on_parallel_links(schedule, network)
    hops, messages, rules = schedule.stored_hops, schedule.messages, schedule.rules
    if messages.waits:
        raise ScheduleError("collectives wait for others, which retiming does not keep")
    rows = message_rows(messages, schedule.packets)
    if rows.size and int(rows.min()) < 0:
        raise ScheduleError("the packet table has messages that the task does not have")
    kind, origin = messages.discipline[rows], messages.origin[rows]
    switch = np.arange(network.node_count) >= network.terminal_count
    one_each = np.stack([switch & (not rules.replication), switch & (not rules.reduction)])
    listed = messages.targets is not None
    order = np.argsort(schedule.packet, kind="stable")
    first = np.searchsorted(schedule.packet[order], np.arange(schedule.packets.count + 1))
    before, earlier, last, start = (np.full(hops, -1, np.int64) for _ in range(4))
    ends = network.link_source, network.link_target
    if not _kernels.predecessors(
        first, order, schedule.slot, schedule.link, kind, origin, *ends, one_each, listed, before, earlier, last
    ):
        raise ScheduleError("a node sends what it does not have, so the schedule cannot be retimed")
    link_class, node_class = _classes(schedule.symmetry, network)
    over = _kernels.earliest(
        np.lexsort((last >= 0, schedule.slot)), schedule.link, schedule.packet, before, earlier, last, kind, one_each,
        *ends, link_class, node_class, network.link_occupancy, network.link_latency.astype(np.int64) * schedule.parts,
        *_rings(schedule, network, link_class), rules.send_limited, rules.receive_limited,
        PortTable.of(network), switch & rules.cut_through, rows,
        np.zeros(0, np.int64) if messages.after is None else messages.after, start,
    )  # fmt: skip
    if over > 2**31 - 1:
        raise ScheduleError(f"the schedule would have {over:,} slots; at most {2**31 - 1:,} are allowed")
    by_start = np.argsort(start, kind="stable")
    return schedule.replace(
        network=network,
        slot=start[by_start].astype(np.int32),
        link=schedule.link[by_start],
        packet=schedule.packet[by_start],
        phases=[Phase(schedule.task.name, int(over), Fraction(1, schedule.parts))],
        symmetry=symmetry,
    )


def _kept(symmetry: Symmetry | None, network: Network) -> Symmetry | None:
    """Return the symmetry of a schedule where its network has it with times, too; None otherwise."""
    if symmetry is None or (not network.alike if symmetry.by_generator else network.parallel):
        return None
    try:
        return symmetry.on(network)
    except (NetworkError, ScheduleError):
        return None


def _without_control(schedule: Schedule) -> Schedule:
    """Return the schedule without its control packets, which may take no time."""
    control = schedule.packet == CONTROL
    if not control.any():
        return schedule
    if schedule.cost.control_time:
        raise ScheduleError("control packets take time, so the schedule cannot be retimed")
    kept = ~control
    return schedule.replace(slot=schedule.slot[kept], link=schedule.link[kept], packet=schedule.packet[kept])


def _on_parallel_links(schedule: Schedule, network: Network) -> Schedule:
    """Return the schedule with one of several parallel links chosen for each hop, where the plain network has one."""
    from gossamer.graphs.retiming import _kernels

    if schedule.network.link_count == network.link_count:
        return schedule
    plain_link = network.plain_link.astype(np.int64)
    first = np.zeros(schedule.network.link_count + 1, np.int64)
    np.cumsum(np.bincount(plain_link, minlength=schedule.network.link_count), out=first[1:])
    chosen = np.empty(schedule.stored_hops, np.int32)
    _kernels.spread(
        schedule.slot, schedule.link, first, np.argsort(plain_link, kind="stable"),
        network.link_occupancy.astype(np.int64), network.link_latency.astype(np.int64) * schedule.parts,
        network.link_capacity.astype(np.int64), chosen,
    )  # fmt: skip
    return schedule.replace(network=network, link=chosen, phases=None)


def _classes(symmetry: Symmetry | None, network: Network) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return what stands for each link and for each node: itself, or its orbit."""
    links, nodes = np.arange(network.link_count, dtype=np.int32), np.arange(network.node_count, dtype=np.int32)
    if symmetry is None:
        return links, nodes
    return symmetry.link_orbit(links).astype(np.int32), symmetry.orbit.astype(np.int32)


def _rings(
    schedule: Schedule, network: Network, link_class: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the last hops of each class of links are kept, and the room for them."""
    classes = int(link_class.max(initial=-1)) + 1
    capacity = np.ones(classes, np.int64)
    if not (schedule.rules.send_limited or schedule.rules.receive_limited):
        capacity[link_class] = network.link_capacity
    used = np.bincount(link_class[schedule.link], minlength=classes)
    ring = np.zeros(classes + 1, np.int64)
    np.cumsum(np.minimum(capacity, np.maximum(used, 1)), out=ring[1:])
    return ring, np.zeros(int(ring[-1]), np.int64)
