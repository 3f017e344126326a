"""Where the time of a schedule goes: how long its links are busy, and the chain of hops that ends last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text, quantity, seconds_text
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import COPY
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import latencies, occupancies
from gossamer.schedules.packets import message_rows
from gossamer.verification import link_busy
from gossamer.wormhole import WormholeSchedule

__all__ = ["CriticalHop", "LinkKind", "TimeSpent", "link_rate", "time_spent", "worm_time_spent"]

Longs = npt.NDArray[np.int64]

_MOST_HOPS = 4_000_000
"""Hops of which the critical path is looked for at the most."""


def link_rate(network: Network, link: int, cost: object = None) -> str:
    """Return what a link carries: bytes a second, or packets a slot.

    `cost` is the cost of the schedule: a clock may know the bandwidth of links that have none of their own.

    >>> import gossamer
    >>> link_rate(gossamer.network("ring:4"), 0)
    'capacity 1'
    """
    speeds, capacity = network.find(Speeds), int(network.link_capacity[link])
    if speeds is not None:
        return bandwidth_text(capacity * float(speeds.bandwidth[link]))
    occupancy = int(network.link_occupancy[link])
    if isinstance(cost, Clock):
        rate = cost.link_bandwidth or cost.packet_bytes / cost.slot_seconds
        slowness = max(1, round(occupancy * cost.slot_seconds * rate / cost.packet_bytes))
        slowness = 1 if cost.overhead else slowness  # else links that differ have speeds
        return bandwidth_text(capacity * rate / slowness)
    return f"capacity {capacity}" if occupancy == 1 else f"capacity {capacity}, {quantity(occupancy, 'slot')} a packet"


class LinkKind(NamedTuple):
    """Links of one kind: their name, how many, and the share of the time for which they are busy, mean and largest."""

    name: str
    links: int
    busy: Fraction
    most: Fraction


class CriticalHop(NamedTuple):
    """A stretch of the critical path.

    Attributes
    ----------
    start, end : Fraction
        Of what it adds to the path, in the unit of the schedule's time.
    link : int
        Whose hop it is; -1 where nothing is sent.
    packet : int
        The packet as the schedule stores it, -1 where nothing is sent.
    generation : int
        Of a schedule that repeats; else 0.
    why : str
        What it began after: ``data`` (what it carries had to come), ``link`` or ``port`` (that was busy), ``start``
        (nothing), or ``idle`` for a stretch in which the path waits though it could go on.
    sending, latency : Fraction
        How much of it is spent on bytes, and on the latency of the link; the rest waits.
    times : int
        How often the stretch, with those up to the next that says more than 1, follows itself, period by period.
    """

    start: Fraction
    end: Fraction
    link: int
    packet: int
    generation: int
    why: str
    sending: Fraction
    latency: Fraction
    times: int = 1


@dataclass(frozen=True)
class TimeSpent:
    """Where the completion time goes; times in the unit of the schedule's cost.

    Attributes
    ----------
    total : Fraction
        The completion time.
    busiest : str
        The link or port that is busy longest.
    busy : Fraction
        For how long.
    sending, latency, waiting : Fraction
        Of the critical path, the three together are the total; all 0 where there is none.
    path : tuple of CriticalHop
        From the start to the end.
    kinds : tuple of LinkKind
        The links by kind, the busiest first.
    remark : str
        Why something is left out, or an empty text.
    overhead : Fraction
        Of what is spent on sending, what packets cost beyond their bytes.
    before, after : Fraction
        Until the busiest link or port is used first, and after it was used last: the latency of the first packet, and
        the time in which the last ones arrive.
    """

    total: Fraction
    busiest: str
    busy: Fraction
    sending: Fraction
    latency: Fraction
    waiting: Fraction
    path: tuple[CriticalHop, ...]
    kinds: tuple[LinkKind, ...]
    remark: str = ""
    overhead: Fraction = Fraction(0)
    before: Fraction = Fraction(0)
    after: Fraction = Fraction(0)

    @property
    def pauses(self) -> Fraction:
        """How long the busiest link or port is idle between its first and its last packet."""
        return max(self.total - self.before - self.busy - self.after, Fraction(0))


def time_spent(schedule: Schedule) -> TimeSpent:
    """Return where the time of a valid schedule goes.

    `schedule` (Schedule): explicit, invariant or repeating; of one that repeats only a generation is looked at.

    The path is followed backwards from the hop that ends last. A hop began when it did because what it carries came
    then, because its link or port was busy until then, or for neither reason: then the path waits. O(hops log hops).

    >>> import gossamer
    >>> slow = gossamer.network("array:4").with_times(3, 2)
    >>> found = time_spent(gossamer.plan(slow, "broadcast").schedule)
    >>> [str(x) for x in (found.total, found.sending, found.latency, found.waiting)]
    ['15', '9', '6', '0']
    """
    total = schedule.completion_time
    name, busy, uses = _busiest(schedule)
    kinds = tuple(_kinds(schedule))
    if not schedule.hop_count or not total:
        return TimeSpent(total, name, busy, *(Fraction(0),) * 3, (), kinds)
    if schedule.stored_hops * (1 if schedule.symmetry is None else schedule.symmetry.order) > _MOST_HOPS:
        remark = f"no critical path: the schedule has over {_MOST_HOPS:,} hops"
        return TimeSpent(total, name, busy, *(Fraction(0),) * 3, (), kinds, remark)
    walk = _Walk(schedule)
    path = walk.followed()
    spent = walk.sending, walk.latency, walk.waiting
    before, after = walk.around(uses)
    return TimeSpent(
        total, name, busy, *spent, path, kinds, overhead=walk.overhead, before=before, after=max(after, Fraction(0))
    )


def _busiest(schedule: Schedule) -> tuple[str, Fraction, npt.NDArray[np.bool_]]:
    """Return the link or port that is busy longest, for how long, and which links use it."""
    network, rules = schedule.network, schedule.rules
    busy = link_busy(schedule)
    share = busy / network.link_capacity
    if not share.size:
        return "", Fraction(0), np.zeros(0, np.bool_)
    link = int(np.argmax(share))
    uses = np.arange(share.size) == link
    best = Fraction(int(busy[link]), int(network.link_capacity[link]) * schedule.parts)
    name = f"link {network.link_name(link)}"
    for limited, end, verb in (
        (rules.send_limited, network.link_source, "sending"),
        (rules.receive_limited, network.link_target, "receiving"),
    ):
        if limited:
            at = np.bincount(end, weights=busy, minlength=network.node_count)
            node = int(np.argmax(at))
            if Fraction(int(at[node]), schedule.parts) > best:
                best, name = Fraction(int(at[node]), schedule.parts), f"{network.node_name(node)} {verb}"
                uses = end == node
    ports = network.shared_ports
    if ports is not None:
        load = busy // network.link_occupancy
        for side, verb in ((ports.sending, "out"), (ports.receiving, "in")):
            through = np.bincount(side + 1, weights=load, minlength=ports.count + 1)[1:]
            held = through * np.asarray(ports.occupancy) / np.asarray(ports.capacity)
            port = int(np.argmax(held))
            long = Fraction(
                int(through[port]) * int(np.asarray(ports.occupancy)[port]),
                int(np.asarray(ports.capacity)[port]) * schedule.parts,
            )
            if long > best:
                label = ports.names[port] if ports.names is not None else f"p{port}"
                best, name, uses = long, f"shared NIC or uplink {label}, {verb}", side == port
    return name, best, uses


def _kinds(schedule: Schedule) -> Iterator[LinkKind]:
    """Yield the kinds of links, by what they carry and join, the busiest first."""
    network, cost = schedule.network, schedule.cost
    if not network.link_count or not schedule.completion_time:
        return
    speeds, terminals = network.find(Speeds), network.terminal_count
    rate = network.link_capacity * (1 / network.link_occupancy if speeds is None else speeds.bandwidth)
    wait = network.link_latency if speeds is None else speeds.latency
    switch = (network.link_source >= terminals) * 2 + (network.link_target >= terminals)
    across = np.minimum(switch, 1) + (switch == 3)
    columns, kind = np.unique(np.stack([rate, wait, across.astype(float)]), axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    room = schedule.completion_time * schedule.parts
    busy = link_busy(schedule)
    found = []
    ends = ("node to node", "node and switch", "switch to switch")
    for k in range(columns.shape[1]):
        mine = np.flatnonzero(kind == k)
        one = int(mine[0])
        words = link_rate(network, one, cost)
        if speeds is not None and float(wait[one]):
            words += f" after {seconds_text(float(wait[one]))}"
        elif isinstance(cost, Clock) and cost.link_latency:
            words += f" after {seconds_text(cost.link_latency)}"
        if terminals < network.node_count:
            words += f", {ends[int(columns[2, k])]}"
        total = most = Fraction(0)
        for capacity in np.unique(network.link_capacity[mine]).tolist():
            each = busy[mine[network.link_capacity[mine] == capacity]]
            total += Fraction(int(each.sum()), capacity)
            most = max(most, Fraction(int(each.max()), capacity))
        found.append(LinkKind(words, mine.size, total / mine.size / room, most / room))
    yield from sorted(found, key=lambda entry: -entry.most)


class _Sorted:
    """Rows by a key and a time, to be asked for those of a key at a time."""

    def __init__(self, key: Longs, time: Longs, rows: Longs) -> None:
        order = np.lexsort((time, key))
        self.key, self.time, self.rows = key[order], time[order], rows[order]
        self._span = int(self.time.max(initial=0)) + 2
        self._both = self.key * self._span + self.time

    def at(self, key: int, time: int) -> Longs:
        """Return the rows of a key at a time."""
        if not 0 <= time < self._span:
            return self.rows[:0]
        low, high = np.searchsorted(self._both, (key * self._span + time, key * self._span + time + 1))
        return self.rows[low:high]

    def until(self, key: int, time: int) -> tuple[Longs, Longs]:
        """Return the rows of a key up to a time, and their times, ascending."""
        if time < 0:
            return self.rows[:0], self.time[:0]
        low = np.searchsorted(self._both, key * self._span)
        high = np.searchsorted(self._both, key * self._span + min(time, self._span - 1) + 1)
        return self.rows[low:high], self.time[low:high]


class _Before(NamedTuple):
    """What a hop began after: a row and its generation, why, and the slot from which on it was free to begin."""

    row: int
    generation: int
    why: str
    free: int
    """The slot in which the row lets go, which is later than where the hop begins if a port receives late."""


class _Walk:
    """The critical path of an explicit generation, backwards from its last hop; adds up where the time goes."""

    def __init__(self, schedule: Schedule) -> None:
        self.whole = schedule
        self.schedule = one = schedule.unrolled(1).expand() if schedule.repetition else schedule.expand()
        network, parts = one.network, one.parts
        self.period = 0 if schedule.repetition is None else schedule.repetition.period
        self.generations = schedule.generations
        rows = np.arange(one.stored_hops)
        link = one.link.astype(np.int64)
        taken, wait = (
            np.broadcast_to(x, (network.link_count,)).astype(np.int64)
            for x in (occupancies(network), latencies(network, parts))
        )
        self.taken, self.wait, self.slot = taken[link], wait[link], one.slot.astype(np.int64)
        self.source, self.target = (x.astype(np.int64)[link] for x in (network.link_source, network.link_target))
        self.packet = one.packet.astype(np.int64)
        passes = np.arange(network.node_count) >= network.terminal_count if one.rules.cut_through else None
        self.head = np.zeros(rows.size, np.bool_) if passes is None else passes[self.target]
        """Whether a hop ends at a switch that passes on what has not wholly come."""
        came = self.slot + self.wait + np.where(self.head, 0, self.taken)
        nodes = network.node_count
        self.arrivals = _Sorted((self.packet + 1) * nodes + self.target, came, rows)
        self.at_node: _Sorted | None = None
        if one.messages.waits:
            self.at_node = _Sorted(self.target, came, rows)
        self.resources = list(self._resources(link))
        self.sending = self.latency = self.waiting = self.overhead = Fraction(0)
        clock = schedule.cost
        self._each = (clock.overhead or 0) / clock.slot_seconds if isinstance(clock, Clock) else Fraction(0)
        """Slots that a packet costs beyond its bytes."""

    def _resources(self, link: Longs) -> Iterator[tuple[str, Longs, Longs, Longs, _Sorted]]:
        """Yield why, the resource of each hop, from and until which slot it is used, and hops by when they let go."""
        network, rules = self.schedule.network, self.schedule.rules
        rows, start, end = np.arange(link.size), self.slot, self.slot + self.taken
        found: list[tuple[str, Longs, Longs, Longs]] = [("link", link, start, end)]
        if rules.send_limited:
            found.append(("port", self.source, start, end))
        if rules.receive_limited:
            found.append(("port", self.target, start + self.wait, end + self.wait))
        ports = network.shared_ports
        if ports is not None:
            hold = np.append(np.asarray(ports.occupancy, np.int64), 0) * 1
            out, into = (side.astype(np.int64)[link] for side in (ports.sending, ports.receiving))
            found.append(("port", out, start, start + hold[out]))
            found.append(("port", into, end + self.wait - hold[into], end + self.wait))
        for why, key, first, last in found:
            used = key >= 0
            modulo = last % self.period if self.period else last
            yield why, key, first, last, _Sorted(key[used], modulo[used], rows[used])

    def followed(self) -> tuple[CriticalHop, ...]:
        """Return the path from the start to the end, and add up what it is spent on."""
        end = self.slot + self.taken + self.wait
        row = int(np.argmax(end))
        generation = self.generations - 1
        now = self.whole.slot_count
        path: list[CriticalHop] = []
        last = int(end[row]) + generation * self.period
        if last < now:
            self._idle(path, last, now)
            now = last
        seen: dict[int, tuple[int, int, int, tuple[Fraction, ...]]] = {}
        while True:
            offset = generation * self.period
            begin = int(self.slot[row]) + offset
            before = self._before(row, generation)
            since = begin if before is None or before.why == "idle" else min(max(before.free, begin), now)
            why = before.why if before is not None else "start" if since <= 0 else "idle"
            self._hop(path, row, generation, since, now, why)
            now = since
            if before is None:
                if now > 0:
                    self._idle(path, 0, now)
                break
            if before.free < now:
                self._idle(path, before.free, now)
                now = before.free
            row, generation = before.row, before.generation
            if self.period:
                now, generation = self._laps(path, seen, row, generation, now)
        return tuple(reversed(path))

    def around(self, uses: npt.NDArray[np.bool_]) -> tuple[Fraction, Fraction]:
        """Return the time until some links are used first, and that after they were used last."""
        rows = np.flatnonzero(uses[self.schedule.link])
        if not rows.size:
            return self.whole.completion_time, Fraction(0)
        first, last = int(self.slot[rows].min()), int((self.slot + self.taken)[rows].max())
        last += (self.generations - 1) * self.period
        return self._time(first), self.whole.completion_time - self._time(last)

    def _laps(
        self, path: list[CriticalHop], seen: dict[int, tuple[int, int, int, tuple[Fraction, ...]]], row: int,
        generation: int, now: int,
    ) -> tuple[int, int]:  # fmt: skip
        """Pass over the stretches that repeat, period by period; return where the path goes on."""
        spent = self.sending, self.latency, self.waiting, self.overhead
        known = seen.get(row)
        if known is None or (known[1] - now) != (known[0] - generation) * self.period or known[0] == generation:
            seen[row] = generation, now, len(path), spent
            return now, generation
        back = known[0] - generation
        lowest = min(hop.generation for hop in path[known[2] :]) - known[0]
        laps = min((generation + lowest) // back + 1, generation // back)
        if laps < 1:
            return now, generation
        lap = [after - before for after, before in zip(spent, known[3], strict=True)]
        self.sending, self.latency, self.waiting, self.overhead = (
            a + laps * b for a, b in zip(spent, lap, strict=True)
        )
        path[-1] = path[-1]._replace(times=laps + 1)
        seen.clear()
        return now - laps * back * self.period, generation - laps * back

    def _time(self, slot: int) -> Fraction:
        """Return the time at which a slot begins."""
        return Fraction(0) if slot <= 0 else self.whole.time_of(slot - 1)

    def _idle(self, path: list[CriticalHop], start: int, end: int) -> None:
        first, last = self._time(start), self._time(end)
        if last > first:
            path.append(CriticalHop(first, last, -1, -1, path[-1].generation if path else 0, "idle",
                                    Fraction(0), Fraction(0)))  # fmt: skip
            self.waiting += last - first

    def _hop(self, path: list[CriticalHop], row: int, generation: int, start: int, end: int, why: str) -> None:
        """Add what a hop adds to the path: bytes as far as it sends, the rest latency."""
        sent = int(self.slot[row]) + generation * self.period + int(self.taken[row])
        first, middle, last = self._time(start), self._time(min(max(sent, start), end)), self._time(end)
        if self.head[row]:  # only the head has to come, and what is slower behind it
            middle = self._time(max(start, end - int(self.wait[row])))
        path.append(CriticalHop(first, last, int(self.schedule.link[row]), int(self.packet[row]), generation, why,
                                middle - first, last - middle))  # fmt: skip
        self.sending += middle - first
        if self._each:
            self.overhead += (middle - first) * min(Fraction(1), self._each / int(self.taken[row]))
        self.latency += last - middle

    # -- what a hop began after ---------------------------------------------------------------------------------

    def _before(self, row: int, generation: int) -> _Before | None:
        """Return what a hop of a generation began after; None if after nothing."""
        begin = int(self.slot[row])
        latest = -1, -1
        for arrived in self._brought(row, begin):
            free = self._let_go(arrived, row)
            if free == begin and free > 0:
                return _Before(arrived, generation, "data", begin + generation * self.period)
            if latest[0] < free <= begin:
                latest = free, arrived
        for why, key, first, _, by_end in self.resources:
            if key[row] < 0:
                continue
            until = int(first[row]) + generation * self.period
            found = self._released(by_end, int(key[row]), until, row, why == "link")
            if found is not None:
                return _Before(*found, why, until)
        if latest[1] >= 0:
            return _Before(latest[1], generation, "idle", latest[0] + generation * self.period)
        return None

    def _let_go(self, arrived: int, row: int) -> int:
        """Return the slot from which on a hop may send what another one brought."""
        behind = max(0, int(self.taken[arrived] - self.taken[row])) if self.head[arrived] else int(self.taken[arrived])
        return int(self.slot[arrived] + self.wait[arrived]) + behind

    def _released(self, by_end: _Sorted, key: int, until: int, row: int, link: bool) -> tuple[int, int] | None:
        """Return a row and its generation that let a resource go in a slot; None if there is none."""
        for other in by_end.at(key, until % self.period if self.period else until).tolist():
            if other == row and not self.period:
                continue
            last = self._last(by_end, other, key)
            generation, rest = divmod(until - last, self.period) if self.period else (0, until - last)
            if rest == 0 and 0 <= generation < self.generations and (not link or self._full(other, until)):
                return other, generation
        return None

    def _last(self, by_end: _Sorted, row: int, key: int) -> int:
        return next(int(last[row]) for _, of, _, last, some in self.resources if some is by_end and of[row] == key)

    def _full(self, row: int, until: int) -> bool:
        """Return whether the link of a hop that let go in a slot had no room before; taken as such in periods."""
        link = int(self.schedule.link[row])
        capacity = int(self.schedule.network.link_capacity[link])
        if capacity == 1 or self.period:
            return True
        rows, _ = self.resources[0][4].until(link, until + int(self.taken[row]) - 1)
        return int(((self.slot[rows] < until) & (self.slot[rows] + self.taken[rows] >= until)).sum()) >= capacity

    def _brought(self, row: int, begin: int) -> Iterator[int]:
        """Yield the hops that brought what a hop carries, as far as it had to wait for them."""
        schedule, node = self.schedule, int(self.source[row])
        packet, messages = int(self.packet[row]), schedule.messages
        nodes = schedule.network.node_count
        again = -1 if schedule.repeats is None else int(schedule.repeats[row])
        if again >= 0 and int(self.target[again]) == node:
            yield again
            return
        until = begin if again == -1 else int(self.slot[again]) if again >= 0 else -2 - again
        rows, times = self.arrivals.until((packet + 1) * nodes + node, until)
        if rows.size:
            kind = -1 if packet < 0 else int(messages.discipline[self._row_of(packet)])
            if kind == COPY and node < schedule.network.terminal_count:
                yield from rows[times == times[0]].tolist()
            else:
                yield from reversed(rows.tolist())
            return
        if packet < 0:
            return
        own = self._row_of(packet)
        if messages.after is not None and int(messages.after[own]) >= 0:
            part = int(schedule.packets.part[packet])
            for p in self._packets_of(int(messages.after[own])):
                if not messages.partwise or int(schedule.packets.part[p]) == part:
                    yield from reversed(self.arrivals.until((p + 1) * nodes + node, begin)[0].tolist())
        if self.at_node is not None and messages.stage is not None:
            earlier = {e for later, e in messages.waits if later == int(messages.stage[own])}
            for other in reversed(self.at_node.until(node, begin)[0].tolist()):
                carried = int(self.packet[other])
                if carried >= 0 and int(messages.stage[self._row_of(carried)]) in earlier:
                    yield other

    def _row_of(self, packet: int) -> int:
        return int(self._rows[packet])

    @property
    def _rows(self) -> npt.NDArray[np.integer]:
        if not hasattr(self, "_known"):
            self._known = np.asarray(message_rows(self.schedule.messages, self.schedule.packets))
        return self._known

    def _packets_of(self, row: int) -> list[int]:
        return np.flatnonzero(self._rows == row).tolist()


def worm_time_spent(schedule: WormholeSchedule) -> TimeSpent:
    """Return where the time of a valid wormhole schedule goes: start-ups, bytes, and the hops of heads.

    >>> import gossamer
    >>> cost = gossamer.LinearCost(startup=10, message_bytes=8)
    >>> found = worm_time_spent(gossamer.plan("torus:3x3", "broadcast", switching="wormhole", cost=cost).schedule)
    >>> found.total == found.sending + found.latency + found.waiting
    True
    """
    total, cost = schedule.completion_time, schedule.cost
    latency = cost.startup * schedule.startups
    first, channel = schedule.channels.paths(schedule.source, schedule.displacement)
    long = np.repeat(schedule.length, np.diff(first))
    held, where = np.unique(channel, return_inverse=True)
    load = np.bincount(where.reshape(-1), weights=long, minlength=held.size).astype(np.int64)
    busy = Fraction(int(load.max(initial=0))) * cost.per_byte
    name = ""
    if load.size:
        top = int(held[int(np.argmax(load))])
        name = f"a channel into {schedule.network.node_name(int(schedule.channels.end(top)))}"
    sent = sum((Fraction(int(n)) * cost.per_byte for n in schedule.step_length if n > 0), Fraction(0))
    kinds: tuple[LinkKind, ...] = ()
    if total and load.size:
        mean = Fraction(int(load.sum()), int(schedule.channels.exists.sum())) * cost.per_byte
        kinds = (LinkKind("channels", int(schedule.channels.exists.sum()), mean / total, busy / total),)
    heads = total - latency - sent
    remark = "the critical path: steps follow one another, and each lasts as long as its longest message"
    return TimeSpent(total, name, busy, sent, latency + heads, Fraction(0), (), kinds, remark)
