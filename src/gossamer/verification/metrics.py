"""What a valid schedule uses: links, ports and buffers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.questions.tasks import COMBINE
from gossamer.reading import choice, instance
from gossamer.schedules.columns import MOST
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.schedule import RepairedSchedule, RunSchedule, Schedule
from gossamer.verification.repairs import follow_repairs
from gossamer.verification.replay_inputs import ReplayState, plain_schedule
from gossamer.verification.timed_replay import by_packet, stays

Counts = npt.NDArray[np.int64]


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
    O(stored hops + links). On an invariant schedule every link of an orbit has the orbit's load.

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
        return np.bincount(links, minlength=count).astype(np.int64) * schedule.generations
    per_orbit = np.bincount(symmetry.link_orbit(links)) * schedule.generations
    orbit = symmetry.link_orbit(np.arange(count))
    return np.pad(per_orbit, (0, max(int(orbit.max(initial=0)) + 1 - per_orbit.size, 0)))[orbit].astype(np.int64)


def link_busy(schedule: Schedule) -> npt.NDArray[np.int64]:
    """Return the slots for which message packets occupy each link, all packets together, int64[L].

    Examples
    --------
    >>> import gossamer
    >>> slow = gossamer.network("array:3").with_times([3, 2, 1, 1], 0)
    >>> rules = gossamer.Rules()
    >>> s = gossamer.Schedule(slow, gossamer.task("broadcast"), rules, [0, 3], [0, 1], [0, 0])
    >>> link_busy(s).tolist()
    [3, 2, 0, 0]
    """
    return link_load(schedule) * schedule.network.link_occupancy


def link_utilization(schedule: Schedule) -> Fraction:
    """Return the share of the links' capacity that message packets use over the completion time, 0..1.

    A packet uses a link for as many slots as it occupies it; latency uses nothing.

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
    same = network.uniform_occupancy
    if isinstance(schedule, RunSchedule):
        runs = schedule.runs
        return Fraction(int((schedule.length[runs.packet] * network.link_occupancy[runs.link]).sum())) / (
            capacity * time
        )
    if isinstance(schedule, RepairedSchedule):
        return Fraction(schedule.hop_count * (same or 1)) / (capacity * time)
    data = schedule.packet != CONTROL
    if same is None:
        busy = int(network.link_occupancy[schedule.link[data]].sum(dtype=np.int64))
    else:
        busy = int(np.count_nonzero(data)) * same
    busy *= schedule.times
    return Fraction(busy, schedule.parts) / (capacity * time)


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

    On links that take time a packet is in a node's buffer from the boundary at which all of it is there to the one at
    which it begins to leave; before and after it is on a link. One that cuts through a switch and begins to leave
    before all of it is there never is. Where each departure from a switch uses up an arrival, each of them counts, the
    first to be there the first to leave; what never leaves a switch does not count.

    One pass backwards in time, O(hops); another one forwards where packets in transit may come back to their origins.
    Where links take time, or switches have rules of their own, O(hops log hops). All packets of a run
    (`gossamer.schedules.RunSchedule`) count from when the first of them is there until the last leaves. Where packets
    are sent again (`gossamer.schedules.RepairedSchedule`), those that are not sent before count there as if they were.

    Examples
    --------
    >>> import gossamer
    >>> plan = gossamer.plan("array:4", "broadcast")
    >>> buffer_peak(plan.schedule).packets
    1
    """
    instance(schedule, Schedule, "the schedule", error=ScheduleError)
    count = choice(counts, "counts", ("transit", "all"))
    if isinstance(schedule, RunSchedule) and count == "transit":
        return _peak_of_runs(schedule)
    if isinstance(schedule, RepairedSchedule) and count == "transit":
        return _peak_with_repairs(schedule)
    schedule = schedule.unrolled(schedule.generations_at_once if count == "transit" else None)
    state = ReplayState(schedule)
    if bool((state.kind == COMBINE).any()):
        state.judge_sums()
    return measure_buffers(schedule, state, count, 0, 0)[0]


def measure_buffers(
    schedule: Schedule, state: ReplayState, count: str, buffer_limit: int, limit: int
) -> tuple[BufferPeak, int, list[tuple[int, int, int]]]:
    """Run the buffer kernel: the peak, the number of stretches over the limit, the earliest of them.

    A stretch is a maximal run of slot boundaries at which one node (of each orbit) holds more than `buffer_limit`
    packets; it is given as (first boundary, node, packets held there).
    """
    alone = schedule.symmetry is None or schedule.symmetry.free
    if not (alone and plain_schedule(schedule, state)):
        return _measure_stays(schedule, state, count, buffer_limit, limit)
    from gossamer.verification import replay_kernels

    network, symmetry = schedule.network, schedule.symmetry
    after = schedule.messages.after
    arrived = state.bits() if bool((state.kind == COMBINE).any()) else np.zeros(0, np.uint8)
    may_return = count == "transit" and not state.to_all
    returned = np.full(schedule.packets.count if may_return else 0, MOST, np.int32)
    shares = np.zeros(0, np.uint8) if state.to_all or not arrived.size else state.shares()
    found = np.zeros((3, max(limit, 1)), np.int64)
    peak, where, when, over = replay_kernels.buffer_peak(
        schedule.slot, schedule.link, schedule.packet, network.link_source, network.link_target,
        state.orbit, state.node_classes, state.kind, state.origin, np.maximum(state.row_of, 0),
        state.target_start, state.targets, state.to_all, np.zeros(0, np.int64) if after is None else after,
        network.terminal_count, count == "all", np.zeros(schedule.packets.count, np.uint8), state.bits(), arrived,
        returned, shares, state.row_bytes, buffer_limit, limit, found[0], found[1], found[2],
        np.zeros((2, state.node_classes), np.int64), np.zeros(schedule.slot.size if arrived.size else 0, np.bool_),
    )  # fmt: skip

    def node(of: int) -> int:
        return int(of) if symmetry is None else int(symmetry.representatives[of])

    result = BufferPeak(int(peak), None if where < 0 else node(where), None if where < 0 else int(when))
    rows = sorted((int(t), node(w), int(n)) for w, t, n in found[:, : min(over, limit)].T)
    return result, int(over), rows


def _measure_stays(
    schedule: Schedule, state: ReplayState, count: str, buffer_limit: int, limit: int
) -> tuple[BufferPeak, int, list[tuple[int, int, int]]]:
    """Measure buffers where hops take time or go through switches with rules of their own; see `measure_buffers`."""
    node, first, last = stays(schedule, state, count == "all")
    symmetry = schedule.symmetry
    of = node if symmetry is None else symmetry.orbit[node]
    span = int(last.max(initial=0)) + 2
    times: npt.NDArray[np.int64] | None = None
    if span * (int(of.max(initial=0)) + 1) >= 2**61:
        times, at = np.unique(np.concatenate([first, last.astype(np.int64) + 1]), return_inverse=True)
        first, last, span = at[: node.size], at[node.size :] - 1, times.size
    # one number for each that comes or goes: its node, when, and which of both; many of them are sorted in place
    event = np.empty((2, node.size), np.int64)
    for row, when in zip(event, (first, last), strict=True):
        np.multiply(of, span, out=row, dtype=np.int64)
        row += when
    event[1] += 1
    event *= 2
    event[1] += 1
    del node, first, last, of, row, when
    event = event.reshape(-1)
    event.sort()
    change = 1 - 2 * (event & 1).astype(np.int8)
    event >>= 1
    if symmetry is not None and not symmetry.free:  # packets of several translates are at a switch that stays in place
        change = change * (symmetry.order // np.bincount(symmetry.orbit))[event // span]
    # the level after all that changes at a node at a boundary; it is 0 again after the last
    settled = np.append(event[1:] != event[:-1], True)[: event.size]
    level = np.cumsum(change, dtype=np.int32)[settled]
    where, when = np.divmod(event[settled], span)
    if times is not None:
        when = times[when]
    before = np.append(0, level[:-1])
    names = where if symmetry is None else symmetry.representatives[where]
    over = np.flatnonzero((level > buffer_limit) & (before <= buffer_limit)) if buffer_limit else np.zeros(0, np.intp)
    earliest = over[np.lexsort((names[over], when[over]))][:limit]
    rows = [(int(when[i]), int(names[i]), int(level[i])) for i in earliest]
    return _highest(names, when, level), int(over.size), rows


def _peak_of_runs(schedule: RunSchedule) -> BufferPeak:
    """Return at most how many packets of runs are in transit: between two hops of a run all of its packets."""
    runs, network = schedule.runs, schedule.network
    order = by_packet(runs)[1]
    packet, slot, link = runs.packet[order], runs.slot[order].astype(np.int64), runs.link[order]
    on = np.flatnonzero(packet[1:] == packet[:-1])
    many = schedule.length[packet[on]]
    came = hop_ends(network, 1, slot[on], link[on])
    left = slot[on + 1] + (many - 1) * network.link_occupancy[link[on + 1]]
    node = np.tile(network.link_target[link[on]].astype(np.int64), 2)
    return _highest(*_levels(node, np.concatenate([came, left + 1]), np.concatenate([many, -many])))


def _peak_with_repairs(schedule: RepairedSchedule) -> BufferPeak:
    """Return at most how many packets are in transit: on the network with all links, and of what is sent again."""
    network, sound = schedule.network, buffer_peak(schedule.sound)
    level = follow_repairs(schedule, levels=True)[1]
    highest, node, turn = 0, 0, 0
    for low in range(0, len(level), 256):
        some = np.cumsum(level[low : low + 256], axis=1, dtype=np.int32)
        if some.size and int(some.max()) > highest:
            highest = int(some.max())
            node, turn = (int(i) for i in np.unravel_index(int(some.argmax()), some.shape))
            node += low
    if highest <= sound.packets:
        where = None if sound.node is None else int(np.flatnonzero(schedule.place == sound.node)[0])
        return BufferPeak(sound.packets, where, sound.slot)
    return BufferPeak(highest, node, schedule.sound.slot_count + turn * (network.uniform_occupancy or 1))


def _highest(node: Counts, when: Counts, level: Counts) -> BufferPeak:
    """Return the highest level, and where and when it is first reached."""
    if not level.size or level.max() <= 0:
        return BufferPeak(0, None, None)
    fullest = np.flatnonzero(level == level.max())
    peak = int(fullest[np.argmin(when[fullest])])
    return BufferPeak(int(level[peak]), int(node[peak]), int(when[peak]))


def _levels(where: Counts, when: Counts, change: Counts) -> tuple[Counts, Counts, Counts]:
    """Return where and when levels have changed, by both, and the level from then on."""
    span = int(when.max(initial=0)) + 1
    small = span * (int(where.max(initial=0)) + 1) < 2**62
    order = np.argsort(where * np.int64(span) + when) if small else np.lexsort((when, where))
    where, when, level = where[order], when[order], np.cumsum(change[order])
    # the level after all that changes at a node at a boundary; it is 0 again after the last
    settled = np.append((where[1:] != where[:-1]) | (when[1:] != when[:-1]), True)[: where.size]
    where, when, level = where[settled], when[settled], level[settled]
    return where, when, level
