"""The columns of a schedule: network, task, rules, packets and hops; everything but what is made of them.

One class holds explicit, invariant and repeating schedules. With a `symmetry` only the packets of one representative of
each orbit of terminals are stored; everything else of the schedule is their translation. With a `repetition` only the
first generation of packets is stored; the others are the same, a period later each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, Messages, Task, in_packets, packets_of
from gossamer.reading import fraction, instance
from gossamer.schedules.columns import MOST, check_range, column, phase_rows, whole
from gossamer.schedules.packets import CONTROL, Packets, Phase, Repetition, message_rows
from gossamer.schedules.symmetry import Symmetry

_FIELDS = (
    *("network", "task", "rules", "slot", "link", "packet"),
    *("cost", "parts", "packets", "phases", "symmetry", "algorithm", "repeats", "repetition"),
)

TOLD = ("source", "target", "message", "part")
"""What follows of each hop from its link and packet, and stands beside them in tables for other tools."""

MAX_HOPS = 1_000_000_000
"""The most hops that a builder or an expansion may write out, 12 GB of columns."""


def too_many_hops(count: int) -> str | None:
    """Return the reason for which an algorithm declines to write out `count` hops, or None if it may.

    >>> too_many_hops(2_000_000_000)
    'would write out 2,000,000,000 hops; at most 1,000,000,000 are allowed'
    """
    return f"would write out {count:,} hops; at most {MAX_HOPS:,} are allowed" if count > MAX_HOPS else None


# How long hops take: the slots for which they occupy a link, and the slot from which on what they bring is usable.

Slots = npt.NDArray[np.int64]


def occupancies(network: Network) -> IntArray:
    """Return the slots for which a packet occupies each link, int32[L], or int32[1] where all links have one."""
    same = network.uniform_occupancy
    return network.link_occupancy if same is None else np.array([same], np.int32)


def latencies(network: Network, parts: int) -> Slots:
    """Return the latency of each link in slots of a part, int64[L], or int64[1] where all links have one.

    >>> import gossamer
    >>> latencies(gossamer.network("ring:4").with_times(2, 3), parts=2).tolist()
    [6]
    """
    same = network.uniform_latency
    return (network.link_latency if same is None else np.array([same])).astype(np.int64) * parts


def hop_ends(network: Network, parts: int, slot: npt.ArrayLike, link: npt.NDArray[np.integer]) -> Slots:
    """Return the slot from which on what each hop brings is usable at the far end: start, occupancy and latency.

    >>> import gossamer
    >>> hop_ends(gossamer.network("ring:4").with_times(2, 3), 1, [0, 7], np.array([0, 1])).tolist()
    [5, 12]
    """
    taken = occupancies(network).astype(np.int64) + latencies(network, parts)
    return np.asarray(slot, np.int64) + (taken[link] if taken.size > 1 else taken)


def slots_needed(network: Network, parts: int, slot: IntArray, link: IntArray) -> int:
    """Return the number of slots until all hops have ended."""
    if not slot.size:
        return 0
    return int(slot[-1]) + 1 if network.plain else int(hop_ends(network, parts, slot, link).max())


# Which of several links between the same two nodes is meant.


def link_ways(network: Network, *, fastest_first: bool = False) -> npt.NDArray[np.int64]:
    """Return the place of each link among those with the same source and target, int64[L]: 0 where it is the only one.

    Places are by link number, or those of least latency, least occupancy and most capacity come first.

    >>> double = Network("double", 2, [0, 0, 1], [1, 1, 0], link_occupancy=[3, 1, 1])
    >>> link_ways(double).tolist(), link_ways(double, fastest_first=True).tolist()
    ([0, 1, 0], [1, 0, 0])
    """
    if not network.parallel:
        return np.zeros(network.link_count, np.int64)
    pair = network.link_source * np.int64(network.node_count) + network.link_target
    speed = (-network.link_capacity, network.link_occupancy, network.link_latency) if fastest_first else ()
    order = np.lexsort((*speed, pair))
    first = np.flatnonzero(np.diff(pair[order], prepend=-1))
    ways = np.empty(pair.size, np.int64)
    ways[order] = np.arange(pair.size) - np.repeat(first, np.diff(np.append(first, pair.size)))
    return ways


def hop_columns(network: Network, table: Packets, link: IntArray, packet: IntArray) -> dict[str, npt.NDArray[Any]]:
    """Return, for hops over links that carry packets, what is told besides: the columns `TOLD`.

    `network`: of the links. `table`: what the packets are. `link`, `packet`, int32[H]: of the hops; packet -1 is a
    control packet, whose message and part are -1 as well.
    """
    control = packet < 0
    row = np.where(control, 0, packet)
    message, part = (
        np.where(control, values.dtype.type(-1), values[row] if values.size else -1).astype(values.dtype)
        for values in (table.message, table.part)
    )
    ends = network.link_source[link], network.link_target[link]
    return dict(zip(TOLD, (*ends, message, part), strict=True))


@njit(cache=True, nogil=True, small=100_000)
def _senders_again(packet, source, origin, combined, adding, sent, row_bytes, found):
    """Mark packets of reductions that leave a node twice, or their origin, of the nodes below `adding`.

    `sent` uint8[packets * row_bytes] must be 0.
    """
    for h in range(packet.size):
        p = packet[h]
        if p < 0 or not combined[p]:
            continue
        u = source[h]
        if u >= adding:
            continue
        at = p * row_bytes + (u >> 3)
        if u == origin[p] or (sent[at] >> (u & 7)) & 1:
            found[p] = True
        sent[at] |= np.uint8(1 << (u & 7))


def summed_packets(schedule: HopTable) -> npt.NDArray[np.bool_]:
    """Return which packets are of partial sums, bool[P]: of no root, or sent by a node more than once or by the root.

    All of those that are combined are where some hop repeats another.

    Of other packets of reductions each node that adds sends what it has of them once, towards the root.

    O(hops + packets * nodes / 8); O(packets) where nothing is combined.
    """
    messages, packets = schedule.messages, schedule.packets
    if not messages.count:
        return np.zeros(packets.count, np.bool_)
    rows = np.maximum(message_rows(messages, packets), 0)
    found: npt.NDArray[np.bool_] = np.asarray(messages.discipline[rows] == ALLCOMBINE)
    combined = messages.discipline[rows] == COMBINE
    if schedule.repeats is not None:
        found |= combined
    elif combined.any():
        row_bytes = (schedule.network.node_count + 7) // 8
        sent = np.zeros(packets.count * row_bytes, np.uint8)
        network = schedule.network
        adding = network.node_count if schedule.rules.reduction else network.terminal_count
        source = network.link_source[schedule.link]
        _senders_again(schedule.packet, source, messages.origin[rows], combined, adding, sent, row_bytes, found)
    return found


class HopTable:
    """What `Schedule` holds and says of itself; transformations and files know a schedule by this much."""

    def __init__(
        self,
        network: Network,
        task: Task,
        rules: Rules,
        slot: npt.ArrayLike,
        link: npt.ArrayLike,
        packet: npt.ArrayLike,
        *,
        cost: StepCost | None = None,
        parts: int = 1,
        packets: Packets | None = None,
        phases: Sequence[Phase] | None = None,
        symmetry: Symmetry | None = None,
        algorithm: str = "",
        repeats: npt.ArrayLike | None = None,
        repetition: Repetition | None = None,
    ) -> None:
        self.network = instance(network, Network, "the network", error=ScheduleError)
        self.task = instance(task, Task, "the task", error=ScheduleError)
        task.check(network)
        self.rules = instance(rules, Rules, "the rules", error=ScheduleError)
        self.cost = StepCost() if cost is None else instance(cost, StepCost, "the cost", error=ScheduleError)
        self.parts = whole(parts, "parts", 1)
        self.symmetry = symmetry
        self.algorithm = instance(algorithm, str, "the name of the algorithm", error=ScheduleError)
        self.slot: IntArray = column(slot, "slot")
        self.link: IntArray = column(link, "link")
        self.packet: IntArray = column(packet, "packet")
        if symmetry is not None:
            instance(symmetry, Symmetry, "the symmetry", error=ScheduleError)
            if not task.invariant:
                raise ScheduleError(
                    f"task {task.name} is not the same at every node, so no schedule of it is invariant"
                )
            if symmetry.network != network:
                raise ScheduleError(f"the symmetry is of {symmetry.network.spec}, not of {network.spec}")
        self.repetition = repetition
        if repetition is not None:
            self._check_repetition(instance(repetition, Repetition, "the repetition", error=ScheduleError))
        if packets is None:
            stored = task if repetition is None else in_packets(task, repetition.packets)
            packets = Packets.of(self._messages_of(stored), self.parts)
        instance(packets, Packets, "the table of packets", error=ScheduleError)
        self.packets = Packets(
            column(packets.origin, "origin"), column(packets.message, "message", np.int64), column(packets.part, "part")
        )
        self.repeats: IntArray | None = None if repeats is None else column(repeats, "repeats")
        self._check_columns()
        if phases is None:
            slots = self.slots_before_last + slots_needed(network, self.parts, self.slot, self.link)
            phases = [Phase(task.name, slots, Fraction(1, self.parts))]
        self.phases = tuple(self._placed(phases))
        if repetition is not None and (len(self.phases) != 1 or self.generation_slots < 0):
            raise ScheduleError(
                f"a schedule that repeats has one phase, of {self.slots_before_last:,} slots or more here"
            )

    def _check_repetition(self, repetition: Repetition) -> None:
        packets = packets_of(self.task)
        if packets % repetition.packets:
            raise ScheduleError(
                f"messages of {quantity(packets, 'packet')} are not made of generations of {repetition.packets:,}"
            )
        if self.parts > 1 or self.cost.control_time or self.rules.segmented:
            raise ScheduleError("a schedule that repeats has messages of packets, not parts, and no control packets")
        if self.messages.waits or (self.messages.after is not None and not self.messages.partwise):
            raise ScheduleError("messages wait for others as a whole, so no schedule of them repeats")

    def _check_columns(self) -> None:
        if not self.slot.size == self.link.size == self.packet.size:
            sizes = f"{self.slot.size}, {self.link.size}, {self.packet.size}"
            raise ScheduleError(f"columns slot, link, packet must have one length, got {sizes}")
        table = self.packets
        if not table.origin.size == table.message.size == table.part.size:
            raise ScheduleError("columns origin, message, part must have one length")
        if table.count and (int(table.origin.min()) < 0 or int(table.origin.max()) >= self.network.node_count):
            raise ScheduleError(f"a packet's origin is outside 0..{self.network.node_count - 1}")
        if self.repeats is not None:
            self._check_repeats(self.repeats)
        if not self.slot.size:
            return
        if np.any(self.slot[1:] < self.slot[:-1]):
            raise ScheduleError("column 'slot' must be ascending")
        if int(self.slot[0]) < 0 or int(self.slot[-1]) >= MOST:
            raise ScheduleError(f"slots must be 0..{MOST - 1}, got {int(self.slot[0])}..{int(self.slot[-1])}")
        for name, values, low, high in (
            ("link", self.link, 0, self.network.link_count - 1),
            ("packet", self.packet, CONTROL, table.count - 1),
        ):
            check_range(values, name, low, high)
        broken = None if self.symmetry is None else self.symmetry.broken
        if broken is not None and bool(broken[self.link].any()):
            link = int(self.link[int(np.argmax(broken[self.link]))])
            raise ScheduleError(f"a hop is on link {self.network.link_name(link)}, which has no translates here")
        if self.repetition is not None and int(self.packet.min()) == CONTROL:
            raise ScheduleError("a schedule that repeats has no control packets")

    def _check_repeats(self, repeats: IntArray) -> None:
        if repeats.size != self.slot.size:
            raise ScheduleError(f"column 'repeats' has {repeats.size} rows for {self.slot.size} hops")
        if self.symmetry is not None:
            raise ScheduleError("an invariant schedule has no column 'repeats'")
        wrong = np.flatnonzero((repeats >= np.arange(repeats.size)) | (-2 - repeats.astype(np.int64) > self.slot))
        if wrong.size:
            h = int(wrong[0])
            told = f"repeats hop {repeats[h]}" if repeats[h] >= 0 else f"carries the sum of slot {-2 - repeats[h]}"
            raise ScheduleError(f"hop {h} {told}; it may repeat an earlier hop, or carry the sum of an earlier slot")

    def _placed(self, phases: Sequence[Phase]) -> Iterator[Phase]:
        first = 0
        for phase in phases:
            instance(phase, Phase, "a phase", error=ScheduleError)
            slots = whole(phase.slots, f"the number of slots of phase {phase.name!r}")
            where = f"the slot length of phase {phase.name!r}"
            length = fraction(phase.slot_length, where, allowed="0 or more steps", error=ScheduleError)
            yield replace(phase, slots=slots, slot_length=length, control=bool(phase.control), first_slot=first)
            first += slots
        whole(first, "the number of slots of all phases")
        if self.slot.size and int(self.slot[-1]) >= first:
            raise ScheduleError(f"a hop is in slot {int(self.slot[-1])}, but the phases have {first} slots")

    # -- sizes ------------------------------------------------------------------------------------------------

    @cached_property
    def messages(self) -> Messages:
        """The messages that the stored packets belong to: all, or those of the orbit representatives."""
        return self._messages_of(self.task)

    def _messages_of(self, task: Task) -> Messages:
        return task.messages(self.network, None if self.symmetry is None else self.symmetry.terminals)

    @property
    def invariant(self) -> bool:
        """Whether only one orbit is stored."""
        return self.symmetry is not None

    @property
    def explicit(self) -> bool:
        """Whether every hop is stored."""
        return self.symmetry is None and self.repetition is None

    @property
    def generations(self) -> int:
        """How often the stored hops happen, one after the other: 1 where nothing repeats."""
        return 1 if self.repetition is None else packets_of(self.task) // self.repetition.packets

    @property
    def generations_at_once(self) -> int:
        """Generations that are on their way at one time at the most: 1 where nothing repeats.

        What any of more generations find in use of links, ports and buffers, these find, too.
        """
        if self.repetition is None:
            return 1
        return max(1, min(self.generations, -(-self.generation_slots // self.repetition.period)))

    @property
    def slots_before_last(self) -> int:
        """Slots before the last generation begins."""
        return 0 if self.repetition is None else (self.generations - 1) * self.repetition.period

    @property
    def generation_slots(self) -> int:
        """Slots from the start of a generation to its end."""
        return self.slot_count - self.slots_before_last

    @property
    def slot_count(self) -> int:
        """Number of slots of all phases."""
        return sum(p.slots for p in self.phases)

    @property
    def completion_time(self) -> Fraction:
        """Length of all phases in steps, exact."""
        return sum((p.duration for p in self.phases), Fraction(0))

    @property
    def stored_hops(self) -> int:
        """Number of hops stored."""
        return int(self.slot.size)

    @property
    def hop_count(self) -> int:
        """Number of hops that happen: the stored ones times translations and generations."""
        return self.stored_hops * self.times

    @property
    def times(self) -> int:
        """How often each stored hop happens: for each translation and each generation."""
        return (self.symmetry.order if self.symmetry else 1) * self.generations

    @property
    def packet_count(self) -> int:
        """Number of packets that travel."""
        return self.packets.count * self.times

    @property
    def control_hops(self) -> int:
        """Number of hops of control packets."""
        return int(np.count_nonzero(self.packet == CONTROL)) * self.times

    @property
    def nbytes(self) -> int:
        """Bytes held by the hop columns and the packet table."""
        table = self.packets
        columns = (self.slot, self.link, self.packet, table.origin, table.message, table.part)
        return int(sum(c.nbytes for c in columns))

    def time_of(self, slot: int) -> Fraction:
        """Return the time in steps at which `slot` ends; ScheduleError if there is no such slot."""
        slot, time = whole(slot, "a slot", -MOST), Fraction(0)
        for phase in self.phases:
            if 0 <= slot <= phase.last_slot:
                return time + (slot - phase.first_slot + 1) * phase.slot_length
            time += phase.duration
        raise ScheduleError(f"slot {slot} is outside the {self.slot_count} slots of the schedule")

    def phase_hops(self, phase: int | str) -> slice:
        """Return the rows of the hops of a phase, given by position or name; ScheduleError if there is none such."""
        starts = [*(p.first_slot for p in self.phases), self.slot_count]
        return phase_rows(self.slot, [p.name for p in self.phases], starts, phase)

    # -- making others ----------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Self:
        """Return a schedule with some constructor arguments changed."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        return type(self)(**{**kept, **changes})

    def unrolled(self, generations: int | None = None) -> Self:
        """Return a schedule that repeats with the hops of all generations, slot by slot; any other as it is.

        An invariant schedule stays invariant.

        `generations`: how many, 1 or more, for messages of so many fewer or more packets. Default: those of the
        schedule.

        Raises ScheduleError if that would be more than 1,000,000,000 hops or 2**31 packets.

        >>> import gossamer
        >>> from gossamer.schedules import Repetition, Schedule
        >>> line, task = gossamer.network("array:3"), gossamer.task("broadcast", packets=4)
        >>> s = Schedule(line, task, gossamer.Rules(), [0, 1], [0, 1], [0, 0], repetition=Repetition(1, 1))
        >>> s.completion_time, s.unrolled().slot.tolist(), s.unrolled().packet.tolist()
        (Fraction(5, 1), [0, 1, 1, 2, 2, 3, 3, 4], [0, 0, 1, 1, 2, 2, 3, 3])
        """
        if self.repetition is None:
            return self
        count = self.generations if generations is None else whole(generations, "the number of generations", 1)
        reason = too_many_hops(self.stored_hops * count)
        if reason is not None:
            raise ScheduleError(f"all generations: {reason}")
        if self.packets.count * count > MOST:
            raise ScheduleError(f"all generations would hold {self.packets.count * count} packets; at most {MOST}")
        stored, turn = self.packets, np.arange(count)[:, None]
        part = (turn * self.repetition.packets + stored.part).reshape(-1)
        message = np.tile(stored.message, count)
        order = np.lexsort((part, message))
        number = np.empty(order.size, np.int32)
        number[order] = np.arange(order.size, dtype=np.int32)
        slot = (turn * self.repetition.period + self.slot).reshape(-1)
        packet = number[(turn * stored.count + self.packet).reshape(-1)]
        row = np.argsort(slot, kind="stable")
        slots = self.generation_slots + (count - 1) * self.repetition.period
        repeats = self.repeats
        if repeats is not None:
            place = np.empty(row.size, np.int64)
            place[row] = np.arange(row.size)
            earlier = np.where(repeats < -1, repeats - turn * self.repetition.period, -1)
            again = np.where(repeats >= 0, place[turn * repeats.size + np.maximum(repeats, 0)], earlier)
            repeats = again.reshape(-1)[row].astype(np.int32)
        return self.replace(
            task=in_packets(self.task, count * self.repetition.packets),
            slot=slot[row],
            link=np.tile(self.link, count)[row],
            packet=packet[row],
            packets=Packets(np.tile(stored.origin, count)[order], message[order], part[order]),
            phases=[replace(self.phases[0], slots=slots)],
            repeats=repeats,
            repetition=None,
        )

    def __eq__(self, other: object) -> bool:
        """Equal network, task, rules, cost, parts, phases, packets and hops (rows of a slot in any order)."""
        if not isinstance(other, HopTable):
            return NotImplemented
        same = (
            self.network == other.network
            and (self.task, self.rules, self.cost, self.parts, self.phases)
            == (other.task, other.rules, other.cost, other.parts, other.phases)
            and (self.symmetry, self.repetition) == (other.symmetry, other.repetition)
            and self.packets == other.packets
            and np.array_equal(self.slot, other.slot)
        )
        mine, theirs = self._canonical_rows(), other._canonical_rows()
        return same and len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def _canonical_rows(self) -> tuple[npt.NDArray[np.integer], ...]:
        order = np.lexsort((self.packet, self.link, self.slot))
        rows = self.link[order], self.packet[order]
        if self.repeats is None or bool((self.repeats == -1).all()):
            return rows
        place = np.argsort(order)  # where each row stands
        return *rows, np.where(self.repeats < 0, self.repeats, place[self.repeats])[order]

    def __repr__(self) -> str:
        kind = "invariant schedule" if self.invariant else "schedule"
        kind = f"repeating {kind}" if self.repetition is not None else kind
        return (
            f"<{kind} of {self.task.name} on {self.network.spec}: {self.completion_time} steps, {self.hop_count} hops>"
        )
