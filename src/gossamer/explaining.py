"""Schedules explained: who sends what to whom, a node's life, a message's way, and why it cannot be faster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gossamer.bounds import Bound
from gossamer.errors import ScheduleError, shown
from gossamer.planner import lower_bounds
from gossamer.reading import whole
from gossamer.schedules import CONTROL, Hop, Schedule, expand, verify
from gossamer.schedules.spans import hop_ends
from gossamer.schedules.words import chosen_hops, message_words
from gossamer.tasks import COMBINE, MOVE
from gossamer.writing import quantity

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """What happens in a schedule, or in a part of it, in words.

    Attributes
    ----------
    title : str
        What is explained.
    lines : tuple of str
        In the order in which it happens.
    why : tuple of str
        Why the schedule cannot be faster, or how far from that it is.
    hops : tuple of Hop
        The hops that the lines speak of.
    bound : Bound
        The largest lower bound, with its witness.
    """

    title: str
    lines: tuple[str, ...]
    why: tuple[str, ...]
    hops: tuple[Hop, ...]
    bound: Bound

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines), *self.why])


def explain(
    schedule: Schedule, *, slot: int | None = None, rank: object = None, message: int | None = None
) -> Explanation:
    """Return what happens in a slot, at a node, to a message, or in each slot of the whole schedule.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant. It is verified first.
    slot : int, optional
        Who sends what to whom in this slot.
    rank : int or coordinates, optional
        What this node sends and gets, slot by slot.
    message : int, optional
        The way of the message of this number: how it gets to all that it is for, or how a sum comes together.

    Raises
    ------
    ScheduleError
        If it is no schedule for store and forward, more than one thing is asked for, or there is no such slot or
        message.
    NetworkError
        If there is no such node.
    VerificationError
        If the schedule is not valid.

    Notes
    -----
    O(hops) time, and that of the bounds.

    Examples
    --------
    >>> import gossamer
    >>> schedule = gossamer.plan("array:3", "gather").schedule
    >>> print(gossamer.explain(schedule, message=2))
    message 2 of (2) for (0)
      slot 0: (2) sends it to (1)
      slot 1: (1) sends it to (0)
      it is where it has to be after slot 1
    no schedule is faster than 2 steps: a message of node (2) must reach node (0), 2 hops away
    """
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a store-and-forward schedule is explained, got {shown(schedule)}")
    if sum(asked is not None for asked in (slot, rank, message)) > 1:
        raise ScheduleError("one thing is explained: a slot, a rank or a message")
    verify(schedule, 1).raise_if_invalid()
    bound = lower_bounds(schedule.network, schedule.task, rules=schedule.rules, cost=schedule.cost)[0]
    why = tuple(_why(schedule, bound))
    schedule = expand(schedule)
    if slot is not None:
        last = schedule.slot_count - 1
        number = whole(slot, "the slot", 0, last, allowed=f"0..{last}", error=ScheduleError)
        found = _in_slot(schedule, number)
    elif rank is not None:
        found = _at_node(schedule, schedule.network.node(rank))
    elif message is not None:
        found = _of_message(schedule, whole(message, "the message", error=ScheduleError))
    else:
        found = _of_all(schedule)
    return Explanation(found.title, tuple(found.lines), why, tuple(found.hops), bound)


@dataclass(frozen=True)
class _Found:
    title: str
    lines: Sequence[str]
    hops: Sequence[Hop] = ()


def _why(schedule: Schedule, bound: Bound) -> Iterator[str]:
    """Yield why a schedule cannot be faster, by the witness of the largest bound."""
    time = schedule.completion_time
    if time == bound.value:
        yield f"no schedule is faster than {_time(time, bound.unit)}: {bound.witness}"
    else:
        yield f"this takes {_time(time, bound.unit)}; no schedule takes less than {bound.value}: {bound.witness}"
        yield f"whether any of the {_time(time - bound.value, bound.unit)} between can be saved is not known"


def _time(time: Fraction, unit: str) -> str:
    return f"{time} {unit}{'' if time == 1 else 's'}"


def _in_slot(schedule: Schedule, slot: int) -> _Found:
    rows = np.flatnonzero(schedule.slot == slot)
    hops = list(chosen_hops(schedule, rows))
    busy = np.unique(schedule.link[rows]).size
    phase = next(p for p in schedule.phases if slot <= p.last_slot)
    title = (
        f"slot {slot} of 0..{schedule.slot_count - 1}, {phase.name}: {quantity(len(hops), 'hop')} "
        f"on {busy} of {quantity(schedule.network.link_count, 'link')}"
    )
    return _Found(title, [hop.text.partition(": ")[2] for hop in hops], hops)


def _at_node(schedule: Schedule, node: int) -> _Found:
    network = schedule.network
    sent, got = network.link_source[schedule.link] == node, network.link_target[schedule.link] == node
    hops = list(chosen_hops(schedule, np.flatnonzero(sent | got)))
    lines = []
    for slot, group in groupby(hops, key=lambda hop: hop.slot):
        mine = list(group)
        there = _together((_carried(h), network.node_name(h.target)) for h in mine if h.source == node)
        back = _together((_carried(h), network.node_name(h.source)) for h in mine if h.target == node)
        lines += [f"slot {slot}: sends {what} to {', '.join(names)}" for what, names in there]
        lines += [f"slot {slot}: gets {what} from {', '.join(names)}" for what, names in back]
    if not hops:
        lines = ["it neither sends nor gets anything"]
    kind = "switch" if node >= network.terminal_count else "node"
    title = (
        f"{kind} {network.node_name(node)}: sends {quantity(int(sent.sum()), 'packet')}, "
        f"gets {quantity(int(got.sum()), 'packet')}"
    )
    return _Found(title, lines, hops)


def _together(items: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return what goes to several, or comes from several, once with all their names."""
    found: dict[str, list[str]] = {}
    for what, name in items:
        found.setdefault(what, []).append(name)
    return list(found.items())


def _carried(hop: Hop) -> str:
    """Return what a hop carries, out of its words."""
    return hop.text.partition(" sends ")[2].rpartition(" to ")[0]


def _of_message(schedule: Schedule, message: int) -> _Found:
    network, messages, table = schedule.network, schedule.messages, schedule.packets
    row = int(np.searchsorted(messages.ids, message))
    if row == messages.count or messages.ids[row] != message:
        ids = messages.ids
        raise ScheduleError(f"{schedule.task.name} on {network.spec} has no message {message}; there are {_some(ids)}")
    packets = np.flatnonzero(table.message == message)
    rows = np.flatnonzero(np.isin(schedule.packet, packets) & (schedule.packet != CONTROL))
    hops = list(chosen_hops(schedule, rows))
    lines = []
    for slot, group in groupby(hops, key=lambda hop: hop.slot):
        for hop in group:
            part = f"part {hop.part}" if packets.size > 1 else "it"
            what = part if messages.discipline[row] != COMBINE else f"what it has of {part}".replace(" of it", "")
            when = f"slot {slot}" if network.plain else f"slots {slot} to {hop.usable - 1}"
            lines.append(f"{when}: {network.node_name(hop.source)} sends {what} to {network.node_name(hop.target)}")
    lines += _arrival(schedule, row, rows)
    return _Found(message_words(network, messages, message), lines, hops)


def _arrival(schedule: Schedule, row: int, rows: npt.NDArray[np.int64]) -> Iterator[str]:
    """Yield when a message is where it has to be, and how long it waited on its way if it is for one."""
    if not rows.size:
        yield "it is where it has to be from the start"
        return
    ends = hop_ends(schedule.network, schedule.parts, schedule.slot[rows], schedule.link[rows])
    combined = schedule.messages.discipline[row] == COMBINE
    yield f"{'the sum' if combined else 'it'} is where it has to be after slot {int(ends.max()) - 1}"
    if schedule.messages.discipline[row] == MOVE and schedule.parts == 1 and schedule.messages.sizes is None:
        waits = int(schedule.slot[rows[0]]) + int((schedule.slot[rows[1:]] - ends[:-1]).sum())
        if waits:
            yield f"on its way it waited for {quantity(waits, 'slot')}, while links carried other messages"


def _of_all(schedule: Schedule) -> _Found:
    slots = np.bincount(schedule.slot, minlength=schedule.slot_count)
    control = np.bincount(schedule.slot[schedule.packet == CONTROL], minlength=schedule.slot_count)
    lines = []
    for phase in schedule.phases:
        for slot in range(phase.first_slot, phase.last_slot + 1):
            rows = schedule.slot == slot
            nodes = np.unique(schedule.network.link_source[schedule.link[rows]]).size
            what = "control packets" if control[slot] == slots[slot] and slots[slot] else "hops"
            many = f"1 {what[:-1]}" if slots[slot] == 1 else f"{slots[slot]} {what}"
            lines.append(f"slot {slot}, {phase.name}: {many} from {quantity(nodes, 'node')}")
    made = f" by {schedule.algorithm}" if schedule.algorithm else ""
    title = f"{schedule.task.describe()} on {schedule.network.spec}{made}: {schedule.slot_count} slots"
    return _Found(title, lines)


def _some(ids: npt.NDArray[np.int64]) -> str:
    if ids.size and int(ids[-1]) - int(ids[0]) + 1 == ids.size:
        return f"{ids[0]}..{ids[-1]}"
    return ", ".join(map(str, ids[:5].tolist())) + (", ..." if ids.size > 5 else "")
