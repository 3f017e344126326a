"""The replay of schedules whose hops take time, or go through switches with rules of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import IntArray
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.spans import latencies, occupancies, slots_needed
from gossamer.schedules.state import ReplayState

if TYPE_CHECKING:
    from gossamer.schedules.timed._kernels import Journey

__all__ = ["HOP_KINDS", "Replayed", "message_spans", "replay_timed", "stays"]

HOP_KINDS = (
    "causality",
    "link capacity",
    "send port",
    "receive port",
    "duplicate",
    "lost contribution",
    "unfinished",
    "shared port",
)
"""What may be wrong with a hop, in the order of the bits of the compiled kernels."""

Rows = npt.NDArray[np.integer]
_NONE = np.zeros(0, np.int64)


class Replayed(NamedTuple):
    """What a replay found.

    Attributes
    ----------
    wrong : uint8[H]
        For each hop what is wrong with it, a bit for each of `HOP_KINDS`.
    unmet : int64[3, n]
        Goals that are not met, up to the limit: packet, node, where a moved packet ended.
    unmet_count : int
        All of them.
    """

    wrong: npt.NDArray[np.uint8]
    unmet: npt.NDArray[np.int64]
    unmet_count: int


def _journey(schedule: HopTable) -> Journey:
    from gossamer.schedules.timed import _kernels

    network = schedule.network
    return _kernels.Journey(
        schedule.slot,
        schedule.link,
        network.link_source,
        network.link_target,
        occupancies(network),
        latencies(network, schedule.parts),
        network.terminal_count,
        network.terminal_count if schedule.messages.targets is None else 0,
        schedule.rules.cut_through and network.terminal_count < network.node_count,
    )


def replay_timed(schedule: HopTable, state: ReplayState, limit: int) -> Replayed:
    """Replay a schedule packet by packet, and the use of links and ports by itself.

    Notes
    -----
    O(hops log hops + packets * nodes) time; 5 bytes a hop besides the columns, and what sorting them takes.
    """
    from gossamer.schedules.timed import _kernels

    network, rules = schedule.network, schedule.rules
    journey = _journey(schedule)
    wrong = np.zeros(schedule.stored_hops, np.uint8)
    busy = np.bincount(_classes(schedule, state), minlength=state.classes)
    room = np.zeros(state.classes + 1, np.int64)
    capacity = state.capacity
    if state.link_class.size and capacity.size > 1:  # that of the orbit
        capacity = np.zeros(state.classes, np.int32)
        capacity[state.link_class] = state.capacity
    np.cumsum(np.minimum(busy, capacity), out=room[1:])
    _kernels.busy_links(journey, state.orbit, state.link_class, state.degree, room, schedule.slot_count, wrong)
    for limited, receiving in ((rules.send_limited, False), (rules.receive_limited, True)):
        if limited:
            entering = _NONE
            if receiving and journey.latency.size > 1:
                entering = np.argsort(schedule.slot + journey.latency[schedule.link], kind="stable")
            _kernels.busy_ports(
                journey, entering, receiving, state.orbit, np.zeros(state.node_classes, np.int64), wrong
            )

    if network.shared_ports is not None:
        _shared_ports(schedule, wrong)

    start, order = _by_packet(schedule)
    unmet = np.zeros((3, limit), np.int64)
    written, total = _kernels.replay(
        journey, _nodes(network.node_count), start, order, state.kind, state.origin, state.row_of, state.target_start,
        state.targets, state.to_all, rules.replication, rules.reduction, wrong, limit, *unmet,
    )  # fmt: skip
    return Replayed(wrong, unmet[:, :written], int(total))


def _shared_ports(schedule: HopTable, wrong: npt.NDArray[np.uint8]) -> None:
    """Mark the hops at which a shared port, of the sender or of the receiver, passes more packets than it can."""
    from gossamer.schedules.timed import _kernels

    network = schedule.network
    ports = network.shared_ports
    assert ports is not None
    capacity, held = np.asarray(ports.capacity), np.asarray(ports.occupancy)
    ends = network.link_occupancy + network.link_latency.astype(np.int64) * schedule.parts
    for port, delay in (
        (ports.sending, np.zeros(network.link_count, np.int64)),
        (ports.receiving, ends - np.append(held, 0)[ports.receiving]),
    ):
        used = np.bincount(port[schedule.link] + 1, minlength=ports.count + 1)[1:]
        room = np.zeros(ports.count + 1, np.int64)
        np.cumsum(np.minimum(capacity, used), out=room[1:])
        rows = np.argsort(schedule.slot + delay[schedule.link], kind="stable")
        _kernels.busy_shared_ports(schedule.slot, schedule.link, rows, port, delay, held, room, wrong)


def _by_packet(schedule: HopTable) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Return hops by packet, and the place of the first of each: those of packet p stand in start[p]..start[p+1]-1."""
    from gossamer.schedules.timed import _kernels

    packets = schedule.packets.count
    start = np.zeros(packets + 1, np.int64)
    np.cumsum(np.bincount(schedule.packet + 1, minlength=packets + 1)[1:], out=start[1:])
    order = np.empty(int(start[-1]), np.int32)
    _kernels.by_packet(schedule.packet, start[:-1].copy(), order)
    return start, order


def stays(schedule: HopTable, state: ReplayState, count_all: bool) -> IntArray:
    """Return when packets are in the buffers of nodes: rows of node, first and last slot boundary, int32[3, n].

    Parameters
    ----------
    schedule : HopTable
        A schedule that `gossamer.verify` accepts.
    count_all : bool
        Whether a node's own and delivered packets count, too.

    Notes
    -----
    O(hops log hops) time; 12 bytes a hop besides those of the replay.
    """
    from gossamer.schedules.timed import _kernels

    after = schedule.messages.after
    start, order = _by_packet(schedule)
    found = np.empty((3, order.size + 2 * schedule.packets.count), np.int32)
    end = slots_needed(schedule.network, schedule.parts, schedule.slot, schedule.link)
    count = _kernels.stays(
        _journey(schedule), _nodes(schedule.network.node_count), start, order, state.kind, state.origin, state.row_of,
        state.target_start, state.targets, state.to_all, _NONE if after is None else after, schedule.rules.replication,
        schedule.rules.reduction, count_all, end, found,
    )  # fmt: skip
    return found[:, :count]


def _classes(schedule: HopTable, state: ReplayState) -> Rows:
    """Return the link, or the orbit of links, of each hop."""
    return schedule.link if schedule.symmetry is None else schedule.symmetry.link_orbit(schedule.link)


def _nodes(count: int) -> npt.NDArray[np.int64]:
    from gossamer.schedules.timed import _kernels

    return np.full((count, _kernels.NODE_COLUMNS), -1, np.int64)


def message_spans(schedule: HopTable, state: ReplayState) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first and the last slot of the hops of each message; 2**31 - 1 and -1 where it has none."""
    from gossamer.schedules.timed import _kernels

    rows = schedule.messages.count
    first, last = np.full(rows, 2**31 - 1, np.int64), np.full(rows, -1, np.int64)
    _kernels.message_spans(_journey(schedule), schedule.packet, state.row_of, first, last)
    return first, last
