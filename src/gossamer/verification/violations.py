"""What the checker reports: violations, each named by slot, nodes, link and packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.errors import ScheduleError, VerificationError
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, MOVE
from gossamer.reading import whole
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.schedule import Schedule

KINDS = (
    "causality",
    "link capacity",
    "send port",
    "receive port",
    "duplicate",
    "lost contribution",
    "delivery",
    "buffer",
    "wrong payload",
    "slot length",
    "splitting",
    "order",
    "unfinished",
    "control packet",
    "shared port",
)
"""Every kind of violation. The first eight are in the order of the compiled kernels."""


_MOST_NAMED = 1_000_000


def named_count(limit: int) -> int:
    """Return how many violations a check names: `limit`, but at most a million; ScheduleError if it is negative."""
    return min(whole(limit, "limit", 0, None, allowed="0 or more", error=ScheduleError), _MOST_NAMED)


@dataclass(frozen=True)
class Violation:
    """One broken rule.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    text : str
        The fact in one line, with names and values.
    slot : int or None
        The slot in which it happens.
    nodes, packets : tuple of int
        The nodes and packets concerned.
    link : int or None
        The link concerned.
    """

    kind: str
    text: str
    slot: int | None = None
    nodes: tuple[int, ...] = ()
    link: int | None = None
    packets: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Verification:
    """What the checker found.

    Attributes
    ----------
    violations : tuple of Violation
        The first violations, up to the limit of the call.
    counts : dict of str to int
        Violations by kind, all of them; kinds without any are absent.
    hops : int
        Hops replayed (of an invariant schedule: the stored ones).
    seconds : float
        CPU time of the check.
    wasted : int
        Arrivals of partial sums that bring nothing new. They break no rule.
    transfers : int or None
        Hops of the whole schedule, for which the check holds; None where they are `hops`.
    alike : str
        By what the other ones are like those that were checked.
    note : str
        How it was checked, where there is a quicker way that was not open: runs of packets
        (`gossamer.schedules.RunSchedule`) packet by packet.
    """

    violations: tuple[Violation, ...]
    counts: dict[str, int]
    hops: int
    seconds: float
    wasted: int = 0
    transfers: int | None = None
    alike: str = "symmetry"
    note: str = ""

    @property
    def checked(self) -> str:
        """What was checked, for people: ``30 transfers checked``, or how many of more stand for the rest."""
        if self.transfers is None or self.transfers <= self.hops:
            return f"{quantity(self.hops, 'transfer')} checked"
        return f"{quantity(self.transfers, 'transfer')} ({self.hops:,} checked, the rest by {self.alike})"

    @property
    def ok(self) -> bool:
        """Whether the schedule is valid."""
        return not self.counts

    @property
    def total(self) -> int:
        """Number of violations."""
        return sum(self.counts.values())

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            useless = f"; {self.wasted} {'arrival' if self.wasted == 1 else 'arrivals'} wasted" if self.wasted else ""
            return f"valid: {self.checked}, no violation{useless}{f'; {self.note}' if self.note else ''}"
        many = "violation" if self.total == 1 else "violations"
        lines = [f"invalid: {self.total} {many} ({', '.join(f'{n} {k}' for k, n in self.counts.items())})"]
        lines += [f"  {v}" for v in self.violations]
        if self.total > len(self.violations):
            lines.append(f"  ... and {self.total - len(self.violations)} more")
        if self.note:
            lines.append(f"  ({self.note})")
        return "\n".join(lines)

    def raise_if_invalid(self) -> None:
        """Raise VerificationError with the first violation unless the schedule is valid."""
        if not self.ok:
            first = str(self.violations[0]) if self.violations else next(iter(self.counts))
            more = f" (and {self.total - 1} more)" if self.total > 1 else ""
            raise VerificationError(f"the schedule is not valid: {first}{more}")


def at_hop(schedule: Schedule, kind: str, hop: int, counted: int | None = None) -> Violation:
    """Name a violation that the replay found at one hop; of a partial sum, whose contribution is `counted` twice."""
    network = schedule.network
    slot, link, packet = (int(column[hop]) for column in (schedule.slot, schedule.link, schedule.packet))
    u, v = int(network.link_source[link]), int(network.link_target[link])
    name, sender, receiver = network.link_name(link), network.node_name(u), network.node_name(v)
    what = "a control packet" if packet == CONTROL else f"packet {packet}"
    packets: tuple[int, ...] = (packet,)
    if kind == "link capacity":
        packets = _sharing(schedule, slot, link)
        allowed = int(network.link_capacity[link])
        each = ", ".join("control" if p == CONTROL else str(p) for p in packets)
        text = f"slot {slot}: {name} carries packets {each}, capacity {allowed}"
    elif kind == "send port":
        text = f"slot {slot}: node {sender} sends {what} to {receiver} besides another packet; it has one send port"
    elif kind == "receive port":
        text = f"slot {slot}: node {receiver} gets {what} from {sender} besides another packet; it has one receive port"
    elif kind == "shared port":
        text = f"slot {slot}: {name} carries {what} through a shared NIC or uplink that is full"
    elif counted is not None:
        whose = f"with the contribution of node {network.node_name(counted)}"
        text = f"slot {slot}: {name} carries {what} {whose}, which would count twice in the sum of node {receiver}"
    elif kind == "duplicate":
        text = f"slot {slot}: {name} carries {what}, which {_duplicate_reason(schedule, packet, sender, receiver)}"
    elif kind == "unfinished":
        until = int(hop_ends(network, schedule.parts, slot, np.array([link]))[0])
        text = f"slot {slot}: {name} carries {what} until slot {until}, after the last of {schedule.slot_count} slots"
    elif kind == "control packet":
        text = f"slot {slot}: {name} carries a control packet; where links take time or share ports there are none"
    elif kind == "lost contribution":
        text = f"slot {slot}: {name} carries {what} to node {receiver}, whose own contribution has left"
    elif _discipline(schedule, packet) in (COMBINE, ALLCOMBINE):
        text = f"slot {slot}: {name} carries {what}, of which node {sender} has nothing to send on"
    elif u >= network.terminal_count and not schedule.rules.replication and _discipline(schedule, packet) == COPY:
        text = f"slot {slot}: {name} carries {what}, of which switch {sender} has no copy left to send on"
    else:
        text = f"slot {slot}: {name} carries {what}, which node {sender} does not hold yet"
    return Violation(kind, text, slot, (u, v), link, packets)


def _discipline(schedule: Schedule, packet: int) -> int:
    messages = schedule.messages
    return int(messages.discipline[np.searchsorted(messages.ids, schedule.packets.message[packet])])


def _duplicate_reason(schedule: Schedule, packet: int, sender: str, receiver: str) -> str:
    discipline = _discipline(schedule, packet)
    if discipline == MOVE:
        return f"node {sender} has sent already"
    if discipline == COMBINE:
        return f"node {sender} has contributed already"
    return f"node {receiver} has already"


def _sharing(schedule: Schedule, slot: int, link: int) -> tuple[int, ...]:
    """Return the packets on a link, or on its orbit, in a slot."""
    begun = slot - int(schedule.network.link_occupancy[link]) + 1
    low, high = np.searchsorted(schedule.slot, [begun, slot + 1])
    links = schedule.link[low:high]
    if schedule.symmetry is not None:
        same = schedule.symmetry.link_orbit(links) == schedule.symmetry.link_orbit(link)
    else:
        same = links == link
    return tuple(int(p) for p in schedule.packet[low:high][same])


def unmet_goal(schedule: Schedule, packet: int, node: int, end: int) -> Violation:
    """Name a goal that is not met: `packet` should have reached `node`, or left it.

    A moved packet ended at `end`; in a partial sum its contribution is missing.
    """
    discipline = _discipline(schedule, packet)
    name = schedule.network.node_name(node)
    what = f"packet {packet} (message {schedule.packets.message[packet]}, part {schedule.packets.part[packet]})"
    if discipline == MOVE and end != schedule.packets.origin[packet]:
        text = f"{what} ends at node {schedule.network.node_name(end)} instead of {name}"
    elif discipline == ALLCOMBINE or (discipline == COMBINE and node == schedule.packets.origin[packet]):
        text = f"node {name} ends {what} without the contribution of node {schedule.network.node_name(end)}"
    elif discipline == COMBINE and node >= schedule.network.terminal_count and not schedule.rules.reduction:
        text = f"switch {name} never sends on all that it has of {what}"
    elif discipline == COMBINE:
        text = f"node {name} never sends its contribution to {what}"
    else:
        text = f"node {name} never gets {what}"
    return Violation("delivery", text, nodes=(node,), packets=(packet,))
