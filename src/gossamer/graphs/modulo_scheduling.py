"""Modulo scheduling: the hops of a schedule as a generation that is repeated, as fast as the busiest link allows.

The packets of a generation wait for nothing of other generations but free links and ports. So a period as long as the
busiest of these is used in a generation is enough, and which hop comes first only decides how long one generation is on
its way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, MOVE, in_packets, packets_of
from gossamer.schedules import CONTROL, Phase, Repetition, Schedule
from gossamer.schedules.hop_table import hop_ends, summed_packets
from gossamer.schedules.packets import message_rows

Longs = npt.NDArray[np.int64]

_ALONE = 2**40
"""A period after which nothing repeats."""
_MOST_EXPANDED = 16_000_000
"""Hops above which an invariant schedule is repeated as one orbit."""
_LONGER, _TRIES = 1.004, 40
"""How much longer each period that is tried is than the one before, where several ports are in use at once."""


@njit(cache=True, nogil=True)
def _behind(low, count, begun, x):
    """Return how many of the ascending ``begun[low:low+count]`` are at most x."""
    high, i = count, 0
    while i < high:
        middle = (i + high) // 2
        if begun[low + middle] <= x:
            i = middle + 1
        else:
            high = middle
    return i


@njit(cache=True, nogil=True)
def _fit(low, count, begun, taken, period, t, need):
    """Return the first slot from t on in which a lane is free for so many slots modulo the period; -1 if there is none.

    ``begun[low:low+count]`` are the slots, ascending and modulo the period, in which the lane's hops begin, `taken` how
    long they take.
    """
    if need > period:
        return -1
    if count == 0:
        return t
    x = t % period
    i = _behind(low, count, begun, x)
    for _ in range(2 * count + 2):
        before = low + (i - 1 if i else count - 1)
        gone = x - begun[before] if i else x - begun[before] + period
        if gone < taken[before]:  # within the hop before
            t += taken[before] - gone
            x += taken[before] - gone
        if x >= period:
            x -= period
            i = _behind(low, count, begun, x)
            continue
        ahead = begun[low + i] - x if i < count else begun[low] + period - x
        if ahead >= need:
            return t
        t += ahead  # to the next hop, and past it in the next round
        x += ahead
        i += 1
        if x >= period:
            x, i = x - period, 1
    return -1


@njit(cache=True, nogil=True)
def _even(low, count, begun, taken, period, t, need, anchor):
    """Return what `_fit` does, in slots that are a whole number of hops after the slot `anchor`: so all find room."""
    if count == 0:
        return t
    places = period // need
    for _ in range(2 * count + 3):
        t = _fit(low, count, begun, taken, period, t, need)
        if t < 0:
            return t
        off = (t - anchor) % period
        place = -(-off // need)
        if place * need == off and place < places:
            return t
        t += period - off if place >= places else place * need - off
    return -1


@njit(cache=True, nogil=True, small=100_000)
def _place(
    order, first, before, lag, release, resource, offset, taken, lane, room, even, period, count, anchor, begun,
    lasting, start,
):  # fmt: skip
    """Begin each hop, in the given order, as early as what it waits for and free resources allow; whether all could.

    * `order`, int64[H].
    * `first`, `before`, `lag`, int64[H + 1], int64[], int64[]: hop h begins ``lag[i]`` slots after hop ``before[i]``,
      or later, for i in first[h]..first[h+1]-1.
    * `release`, int64[H]: slots before which hops do not begin.
    * `resource`, `offset`, `taken`, int64[H, K]: what a hop uses, -1 for nothing more, from how many slots after its
      start on, and for how many.
    * `lane`, `room`, int64[R + 1], int64[R]: the first lane of each resource, and for how many hops each of its lanes
      has room.
    * `even`, bool[R]: whether the hops of a lane begin whole numbers of hops apart.
    * `count`, `anchor`, `begun`, `lasting`, int64[lanes], int64[lanes], int64[], int64[]: room: hops of each lane, 0;
      the slot of the first; when all begin, and for how long.
    * `start`, int64[H]: written.
    """
    place = np.zeros(count.size + 1, np.int64)
    for r in range(room.size):
        for x in range(lane[r], lane[r + 1]):
            place[x + 1] = place[x] + room[r]
    kinds = resource.shape[1]
    chosen = np.zeros(kinds, np.int64)
    for h in order:
        t = release[h]
        for i in range(first[h], first[h + 1]):
            t = max(t, start[before[i]] + lag[i])
        last = t + 2 * period
        again = True
        while again:
            again = False
            for k in range(kinds):
                r = resource[h, k]
                if r < 0:
                    continue
                best = np.int64(-1)
                for x in range(lane[r], lane[r + 1]):
                    if even[r]:
                        found = _even(
                            place[x], count[x], begun, lasting, period, t + offset[h, k], taken[h, k], anchor[x]
                        )
                    else:
                        found = _fit(place[x], count[x], begun, lasting, period, t + offset[h, k], taken[h, k])
                    if found >= 0 and (best < 0 or found < best):
                        best = found
                        chosen[k] = x
                if best < 0:
                    return False
                if best - offset[h, k] > t:
                    t = best - offset[h, k]
                    again = k > 0
                    if again:
                        break
            if t > last:
                return False
        start[h] = t
        for k in range(kinds):
            if resource[h, k] >= 0:
                x, at = chosen[k], (t + offset[h, k]) % period
                i = place[x] + count[x]
                while i > place[x] and begun[i - 1] > at:
                    begun[i], lasting[i] = begun[i - 1], lasting[i - 1]
                    i -= 1
                begun[i], lasting[i] = at, taken[h, k]
                if count[x] == 0:
                    anchor[x] = at
                count[x] += 1
    return True


class _Uses(NamedTuple):
    """What the hops of a generation use: `resource`, `offset` and `taken` int64[H, K], and lanes of each int64[R]."""

    resource: Longs
    offset: Longs
    taken: Longs
    lanes: Longs

    @classmethod
    def of(cls, network: Network, schedule: Schedule) -> _Uses:
        """Return the links and ports that the hops of a schedule use on a network with its own times."""
        link, symmetry = schedule.link.astype(np.int64), schedule.symmetry
        taken = network.link_occupancy.astype(np.int64)[link]
        wait = network.link_latency.astype(np.int64)[link]
        rules, nodes = schedule.rules, network.node_count
        limited = rules.send_limited or rules.receive_limited
        lanes = [np.ones(network.link_count, np.int64) if limited else network.link_capacity.astype(np.int64)]
        if symmetry is not None:  # the links of an orbit are as busy as the stored hops on all of them
            if limited:
                raise ScheduleError("one orbit of a schedule with limited ports is not repeated")
            one = np.unique(symmetry.link_orbit(np.arange(network.link_count)), return_index=True)[1]
            link, lanes = symmetry.link_orbit(link), [lanes[0][one]]
        found = [(link, np.zeros_like(taken), taken)]
        for on, end, offset in (
            (rules.send_limited, network.link_source, np.zeros_like(taken)),
            (rules.receive_limited, network.link_target, wait),
        ):
            if on:
                found.append((end.astype(np.int64)[link] + sum(x.size for x in lanes), offset, taken))
                lanes.append(np.ones(nodes, np.int64))
        ports = network.shared_ports
        if ports is not None:
            held, capacity = (np.asarray(x, np.int64) for x in (ports.occupancy, ports.capacity))
            for side, incoming in ((ports.sending, False), (ports.receiving, True)):
                port = side.astype(np.int64)[link]
                hold = np.append(held, 0)[port]
                offset = taken + wait - hold if incoming else np.zeros_like(taken)
                found.append((np.where(port < 0, -1, port + sum(x.size for x in lanes)), offset, hold))
                lanes.append(capacity)
        resource, offset, length = (np.stack(column, axis=1) for column in zip(*found, strict=True))
        return cls(resource, offset, length, np.concatenate(lanes))

    def least(self) -> tuple[Longs, Longs, Longs]:
        """Return of each resource how many hops use it, the longest of these, and a period that is enough, int64[R]."""
        used = self.resource >= 0
        resource, taken = self.resource[used], self.taken[used]
        count = np.bincount(resource, minlength=self.lanes.size).astype(np.int64)
        longest, total = np.zeros((2, self.lanes.size), np.int64)
        np.maximum.at(longest, resource, taken)
        np.add.at(total, resource, taken)
        alike = total == longest * count
        return count, longest, np.where(alike, -(-count // self.lanes) * longest, -(-total // self.lanes))


def _waits(schedule: Schedule) -> tuple[Longs, Longs, Longs]:
    """Return for each hop those that it waits for: ``before[first[h]:first[h+1]]``, int64[H + 1] and int64[].

    Then pairs, int64[2, n], of a sum and of a hop that came to the node of the sum after it had left.

    A copy waits for the first arrival at its node, what is moved for the last one, a sum for all that came before;
    where a switch passes on only what comes, each departure waits for an arrival of its own.
    """
    messages, table, network = schedule.messages, schedule.packets, schedule.network
    rows = message_rows(messages, table)
    if schedule.packet.size and (int(rows.min()) < 0 or int(schedule.packet.min()) == CONTROL):
        raise ScheduleError("control packets, and messages that the task does not have, are not repeated")
    if messages.waits or (messages.after is not None and not messages.partwise):
        raise ScheduleError("messages that wait for others as a whole are not repeated")
    again = np.full(schedule.packet.size, -1) if schedule.repeats is None else schedule.repeats
    if bool((again < -1).any()):
        raise ScheduleError("sums as of earlier slots are not repeated")
    rules, nodes = schedule.rules, network.node_count
    switch = np.arange(nodes) >= network.terminal_count
    packet, slot = schedule.packet.astype(np.int64), schedule.slot.astype(np.int64)
    source, target = (x.astype(np.int64)[schedule.link] for x in (network.link_source, network.link_target))
    came = np.where(
        (switch & rules.cut_through)[target],
        slot + network.link_latency.astype(np.int64)[schedule.link],
        hop_ends(network, schedule.parts, slot, schedule.link),
    )
    arrivals = np.lexsort((came, packet * nodes + target))
    slots = int(came.max(initial=0)) + 2
    keys = (packet * nodes + target)[arrivals] * slots + came[arrivals]
    here = packet * nodes + source
    low, high = np.searchsorted(keys, here * slots), np.searchsorted(keys, here * slots + slot, "right")
    kind, origin = messages.discipline[rows][packet], messages.origin[rows][packet]
    alone = (
        np.where(np.isin(kind, (COPY, MOVE)), not rules.replication, not rules.reduction) & switch[source] & (again < 0)
    )
    last = np.where(kind == MOVE, high - 1, np.minimum(low + _turns(here), high - 1))
    one = np.flatnonzero((high > low) & np.where(alone | (kind == MOVE), True, (kind == COPY) & (source != origin)))
    edges = [np.stack([arrivals[np.where(alone | (kind == MOVE), last, low)[one]], one])]
    summed = np.flatnonzero(~alone & np.isin(kind, (COMBINE, ALLCOMBINE)) & (again < 0))
    edges.append(_ranges(arrivals, low, high, summed))
    later = _ranges(arrivals, high, np.searchsorted(keys, (here + 1) * slots), summed)[::-1]
    edges.append(np.stack([again[again >= 0], np.flatnonzero(again >= 0)]))
    after = _packets_after(schedule, rows)[packet] if packet.size else packet
    first = np.flatnonzero((after >= 0) & (kind == COPY) & (source == origin))
    whole = (after * nodes + source) * slots
    edges.append(_ranges(arrivals, np.searchsorted(keys, whole), np.searchsorted(keys, whole + slots), first))
    pairs = np.concatenate(edges, axis=1)
    pairs = pairs[:, np.argsort(pairs[1], kind="stable")]
    return np.searchsorted(pairs[1], np.arange(packet.size + 1)), pairs[0], later


def _turns(keys: Longs) -> Longs:
    """Return how many entries before each have its key, int64[n].

    >>> _turns(np.array([4, 7, 4, 4])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], keys[order])
    turns = np.empty_like(keys)
    turns[order] = np.arange(keys.size) - first
    return turns


def _ranges(values: Longs, low: Longs, high: Longs, rows: npt.NDArray[np.intp]) -> Longs:
    """Return pairs of each of ``values[low[r]:high[r]]`` and r, for all rows, int64[2, n]."""
    count = (high - low)[rows]
    place = np.arange(count.sum()) + np.repeat(low[rows] - (np.cumsum(count) - count), count)
    return np.stack([values[place], np.repeat(rows, count)])


def _packets_after(schedule: Schedule, rows: npt.NDArray[np.int32]) -> Longs:
    """Return the packet that must be complete before each packet leaves its origin, -1 for none, int64[P]."""
    messages, table = schedule.messages, schedule.packets
    found = np.full(table.count, -1, np.int64)
    if messages.after is None or not table.count:
        return found
    most = int(table.part.max()) + 1
    number = np.full(messages.count * most, -1, np.int64)
    number[rows.astype(np.int64) * most + table.part] = np.arange(table.count)
    awaited = messages.after[rows]
    known = awaited >= 0
    found[known] = number[awaited[known] * most + table.part[known]]
    return found


class Generation:
    """The hops of a schedule, to be repeated: what they wait for, and in which order they are placed.

    `schedule`: one that is valid, of packets, not parts: its hops are those of a generation, its order is kept as far
    as it goes. One that repeats gives its generation. `same_sums`: whether every partial sum has to leave as it does in
    the schedule: before what came to its node after it. Then a valid schedule stays valid with other times of links,
    and may take longer.

    Raises ScheduleError if control packets or sums as of earlier slots are in the schedule, or messages are in parts or
    wait for others as a whole.
    """

    def __init__(self, schedule: Schedule, same_sums: bool = False) -> None:
        schedule = schedule.unrolled(1)
        self.schedule = schedule = schedule if schedule.hop_count > _MOST_EXPANDED else schedule.expand()
        if schedule.parts > 1:
            raise ScheduleError("messages in parts are not repeated; cut them into packets")
        self.packets = packets_of(schedule.task)
        self._dual: Generation | None = None
        kinds = schedule.messages.discipline
        if kinds.size and bool((kinds == COMBINE).all()) and not summed_packets(schedule).any():
            self._dual = Generation(schedule.reverse())  # from the root outwards little waits
            return
        self._first, self._before, later = _waits(schedule)
        self._later = later if same_sums else later[:, :0]
        self._order = _topological(schedule.slot, self._first, self._before)
        if same_sums:  # a packet after the other: so its sums leave close together
            self._order = self._order[np.argsort(schedule.packet[self._order], kind="stable")]

    @property
    def busiest(self) -> int:
        """The slots for which the hops use the busiest link or port, with the times of the schedule."""
        return int(_Uses.of(self.schedule.network, self.schedule).least()[2].max(initial=1))

    @property
    def longest_wait(self) -> int:
        """The latencies of links in the longest chain of hops, in slots: what packets of no bytes would take.

        >>> import gossamer
        >>> slow = gossamer.network("array:4").with_times(5, 2)
        >>> generation = Generation(gossamer.plan(slow, "broadcast").schedule)
        >>> generation.busiest, generation.longest_wait
        (5, 6)
        """
        if self._dual is not None:
            return self._dual.longest_wait
        wait = self.schedule.network.link_latency.astype(np.int64)[self.schedule.link]
        nothing = np.full((wait.size, 1), -1, np.int64)
        none, start = np.zeros(1, np.int64), np.zeros(wait.size, np.int64)
        _place(
            self._order, self._first, self._before, wait[self._before], np.zeros_like(wait), nothing, nothing, nothing,
            none, none[:0], np.zeros(0, np.bool_), _ALONE, none[:0], none[:0], none, none, start,
        )  # fmt: skip
        return int((start + wait).max(initial=0))

    def repeated(self, generations: int, network: Network | None = None) -> Schedule:
        """Return a schedule of so many generations, as fast as links and ports allow.

        `generations`: how many there are, 1 or more. `network`: the same links with other times. Default: that of the
        schedule. Returns: of messages of so many times the packets. Not verified: partial sums depend on when they are
        sent, so where they may leave at other times, it may be invalid. Raises `ScheduleError` if the networks differ
        in more than times, or there is no room within 1.17 times the least period.

        Modulo scheduling without recurrences: the period is that of the busiest link, as hops of a link begin whole
        numbers of hops apart where there is no room to spare. Where ports are limited or shared, hops need several
        things at once, and the period may be longer. O(hops * hops of a link) time.

        Source: Rau 1994.

        >>> import gossamer
        >>> line = gossamer.plan("array:4", "broadcast").schedule
        >>> long = Generation(line).repeated(1000)
        >>> long, long.repetition.period, bool(gossamer.verify(long))
        (<repeating schedule of broadcast on array:4: 1002 steps, 3000 hops>, 1, True)
        """
        schedule, own = self.schedule, self.schedule.network
        network = own if network is None else network
        if self._dual is not None:
            found = self._dual.repeated(generations, network.transposed).reverse()
            return found.replace(network=network, algorithm=schedule.algorithm)
        if network.node_count != own.node_count or not all(
            np.array_equal(getattr(network, name), getattr(own, name)) for name in ("link_source", "link_target")
        ):
            raise ScheduleError(f"{network.spec} and {own.spec} differ in more than the times of their links")
        uses = _Uses.of(network, schedule)
        start, period = self._placed(network, uses, alone=generations == 1)
        by_start = np.argsort(start, kind="stable")
        repeats = schedule.repeats
        if repeats is not None:
            place = np.empty(by_start.size, np.int32)
            place[by_start] = np.arange(by_start.size, dtype=np.int32)
            repeats = np.where(repeats < 0, repeats, place[repeats])[by_start]
        length = int(hop_ends(network, 1, start, schedule.link).max(initial=0))
        if length + (generations - 1) * period >= 2**31:
            raise ScheduleError("the schedule would have 2**31 slots or more")
        return schedule.replace(
            network=network,
            symmetry=None if schedule.symmetry is None else schedule.symmetry.on(network),
            task=in_packets(schedule.task, generations * self.packets),
            slot=start[by_start].astype(np.int32),
            link=schedule.link[by_start],
            packet=schedule.packet[by_start],
            repeats=repeats,
            phases=[Phase(schedule.task.name, length + (generations - 1) * period)],
            repetition=None if generations == 1 else Repetition(self.packets, period),
        )

    def _placed(self, network: Network, uses: _Uses, alone: bool) -> tuple[Longs, int]:
        """Return when each hop begins, and the period."""
        schedule, first, before = self.schedule, self._first, self._before
        a, b = schedule.link[before], schedule.link[np.repeat(np.arange(first.size - 1), np.diff(first))]
        taken, wait = network.link_occupancy.astype(np.int64), network.link_latency.astype(np.int64)
        node = network.link_source[b]
        passes = schedule.rules.cut_through & (node >= network.terminal_count) & (network.link_target[a] == node)
        lag = wait[a] + np.where(passes, np.maximum(0, taken[a] - taken[b]), taken[a])
        count, longest, least = uses.least()
        period = _ALONE if alone else int(least.max(initial=1))
        lane = np.append(0, np.cumsum(uses.lanes))
        start, release = np.zeros((2, schedule.stored_hops), np.int64)
        left, came = self._later
        arriving = (taken + wait)[schedule.link[came]]
        for _ in range(_TRIES):
            each = -(-count // uses.lanes)
            even = (longest > 0) & (least == each * longest) & (each * (2 * longest - 1) > period)
            begun, lasting = np.zeros((2, int((uses.lanes * count).sum())), np.int64)
            if _place(
                self._order, first, before, lag, release, uses.resource, uses.offset, uses.taken, lane, count, even,
                period, *np.zeros((2, int(lane[-1])), np.int64), begun, lasting, start,
            ):  # fmt: skip
                if (start[left] < start[came] + arriving).all():
                    return start, period
                np.maximum.at(release, came, start[left] + 1 - arriving)
                continue
            period = max(period + 1, int(period * _LONGER))
        if release.any():
            raise ScheduleError("partial sums that leave before others come are not repeated with these times of links")
        needed = int(least.max(initial=1))
        raise ScheduleError(f"the hops find no room in {period:,} slots; the busiest link or port needs {needed:,}")


def _topological(slot: npt.NDArray[np.int32], first: Longs, before: Longs) -> Longs:
    """Return the hops by slot, in a slot those that cut through after others behind them, int64[H]."""
    behind = np.repeat(np.arange(slot.size), np.diff(first))
    same = slot[behind] == slot[before]
    level = np.zeros(slot.size, np.int64)
    after, ahead = behind[same], before[same]
    for _ in range(slot.size):
        higher = level.copy()
        np.maximum.at(higher, after, level[ahead] + 1)
        if np.array_equal(higher, level):
            break
        level = higher
    return np.lexsort((level, slot)).astype(np.int64)
