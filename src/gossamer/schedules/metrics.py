"""What a valid schedule uses: links, ports and buffers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.schedules.columns import MOST
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.schedule import Schedule
from gossamer.schedules.state import ReplayState
from gossamer.tasks import COMBINE

__all__ = ["BufferPeak", "buffer_peak", "link_load", "link_utilization", "measure_buffers"]


@dataclass(frozen=True)
class BufferPeak:
    """The most packets that a node holds at a slot boundary: how many, and a node and the slot before which it does."""

    packets: int
    node: int | None
    slot: int | None


def link_load(schedule: Schedule) -> npt.NDArray[np.int64]:
    """Return the packets that cross each link, int64[L], control packets aside.

    Notes
    -----
    O(hops + links). On an invariant schedule every link of an orbit has the orbit's load.

    Examples
    --------
    >>> import gossamer
    >>> link_load(gossamer.plan("array:3", "broadcast").schedule).tolist()
    [1, 1, 0, 0]
    """
    links = schedule.link[schedule.packet != CONTROL]
    count = schedule.network.link_count
    symmetry = schedule.symmetry
    if symmetry is None:
        return np.bincount(links, minlength=count).astype(np.int64)
    per_orbit = np.bincount(symmetry.link_orbit(links))
    orbit = symmetry.link_orbit(np.arange(count))
    return np.pad(per_orbit, (0, max(int(orbit.max(initial=0)) + 1 - per_orbit.size, 0)))[orbit].astype(np.int64)


def link_utilization(schedule: Schedule) -> Fraction:
    """Return the share of the links' capacity that message packets use over the completion time, 0..1.

    Examples
    --------
    >>> import gossamer
    >>> link_utilization(gossamer.plan("ring:5", "allgather").schedule)
    Fraction(1, 1)
    """
    network = schedule.network
    time = schedule.completion_time
    if not time or not network.link_count:
        return Fraction(0)
    uniform = network.uniform_capacity
    capacity = network.link_count * uniform if uniform is not None else int(network.link_capacity.sum(dtype=np.int64))
    data = int(np.count_nonzero(schedule.packet != CONTROL)) * (schedule.symmetry.order if schedule.symmetry else 1)
    return Fraction(data, schedule.parts) / (capacity * time)


def buffer_peak(schedule: Schedule, counts: str = "transit") -> BufferPeak:
    """Return the most packets that any node holds at a slot boundary of a valid schedule.

    Parameters
    ----------
    schedule : Schedule
        A schedule that `verify` accepts; of an invalid one the result means nothing.
    counts : {"transit", "all"}
        Packets in transit, or everything a node holds, with its own and the delivered packets.

    Notes
    -----
    A packet is *in transit* at a node at a slot boundary if it came there over a link in an earlier slot and leaves
    again in a later one. A packet that has not left its origin yet is not, one that came back to it is; a packet at
    its target is in transit only if it goes on and comes again. A copy counts until it leaves for the last time
    before it comes again; the partial result of a reduction, however many contributions are in it, counts as one
    packet from the first that comes until it leaves. A packet that leaves and one that arrives in the same slot share
    a buffer (Han 1990, section 1.3.3). Control packets do not count.

    One pass backwards in time, O(hops); another one forwards where packets in transit may come back to their origins.

    Examples
    --------
    >>> import gossamer
    >>> plan = gossamer.plan("array:4", "broadcast")
    >>> buffer_peak(plan.schedule).packets
    1
    """
    return measure_buffers(schedule, ReplayState(schedule), counts, 0, 0)[0]


def measure_buffers(
    schedule: Schedule, state: ReplayState, count: str, buffer_limit: int, limit: int
) -> tuple[BufferPeak, int, list[tuple[int, int, int]]]:
    """Run the buffer kernel: the peak, the number of stretches over the limit, the earliest of them.

    A stretch is a maximal run of slot boundaries at which one node (of each orbit) holds more than `buffer_limit`
    packets; it is given as (first boundary, node, packets held there).
    """
    from gossamer.schedules import _kernels

    network, symmetry = schedule.network, schedule.symmetry
    after = schedule.messages.after
    arrived = state.bits() if bool((state.kind == COMBINE).any()) else np.zeros(0, np.uint8)
    may_return = count == "transit" and not state.to_all
    returned = np.full(schedule.packets.count if may_return else 0, MOST, np.int32)
    found = np.zeros((3, max(limit, 1)), np.int64)
    peak, where, when, over = _kernels.buffer_peak(
        schedule.slot, schedule.link, schedule.packet, network.link_source, network.link_target,
        state.folded, state.orbit, state.node_classes, state.kind, state.origin, np.maximum(state.row_of, 0),
        state.target_start, state.targets, state.to_all, np.zeros(0, np.int64) if after is None else after,
        network.terminal_count, count == "all", np.zeros(schedule.packets.count, np.uint8), state.bits(), arrived,
        returned, state.row_bytes, buffer_limit, limit, found[0], found[1], found[2],
    )  # fmt: skip

    def node(of: int) -> int:
        return int(of) if symmetry is None else int(symmetry.representatives[of])

    result = BufferPeak(int(peak), None if where < 0 else node(where), None if where < 0 else int(when))
    rows = sorted((int(t), node(w), int(n)) for w, t, n in found[:, : min(over, limit)].T)
    return result, int(over), rows
