"""What happens in a schedule, in lines: in a slot, at a node, to a message; and what becomes of partial sums in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.planning.explaining.explanation import ExplainedPart, message_row
from gossamer.planning.explaining.explanation import at_node as node_lines
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, MOVE
from gossamer.schedules import CONTROL, Hop, Schedule
from gossamer.schedules.hop_descriptions import chosen_hops, message_words
from gossamer.schedules.hop_table import hop_ends, summed_packets
from gossamer.schedules.packets import message_rows
from gossamer.schedules.wormhole.worm_descriptions import Worm, chosen_worms
from gossamer.verification.partial_sums import COMBINED, COUNTED_TWICE, PASSED_ON, WASTED
from gossamer.verification.timed_replay import carried_sums
from gossamer.wormhole import WormholeSchedule


class Sums(NamedTuple):
    """Partial sums on their way, for each hop of an explicit schedule.

    * `carried` (int32[H]): how many contributions are in the sum that a hop carries; -1 where it carries none.
    * `only` (int32[H]): whose contribution it is where it is one; else -1.
    * `held` (int32[H]): how many contributions its target has when it has come, and what comes at the same time.
    * `fate` (uint8[H]): what its arrival does, as in `gossamer.verification.partial_sums`.
    * `whole` (int32[H]): how many contributions there are.
    """

    carried: npt.NDArray[np.int32]
    only: npt.NDArray[np.int32]
    held: npt.NDArray[np.int32]
    fate: npt.NDArray[np.uint8]
    whole: npt.NDArray[np.int32]


def members(schedule: Schedule, packet: int) -> npt.NDArray[np.integer]:
    """Return who contributes to a packet of a reduction."""
    row = int(message_rows(schedule.messages, schedule.packets)[packet])
    return schedule.messages.targets_of(row, schedule.network.terminal_count)


def count_sums(schedule: Schedule, among: npt.NDArray[np.integer] | None = None) -> Sums | None:
    """Return what the hops of an explicit schedule carry of partial sums; None if it has none.

    `schedule`: explicit. `among` (int[P]): the packets that matter. Default: all.

    O(packets * hops of all + hops of each * nodes).

    >>> import gossamer
    >>> from gossamer.questions.tasks import PartialSumAllreduce
    >>> net = gossamer.network("array:2")
    >>> both = gossamer.Schedule(net, PartialSumAllreduce(), gossamer.Rules(), [0, 0], [0, 1], [0, 0])
    >>> found = count_sums(both)
    >>> found.carried.tolist(), found.held.tolist()
    ([1, 1], [2, 2])
    """
    summed = summed_packets(schedule)
    packets = np.flatnonzero(summed) if among is None else np.unique(among[among >= 0])
    packets = packets[summed[packets]]
    if not packets.size:
        return None
    carried, only, held, whole = np.full((4, schedule.stored_hops), -1, np.int32)
    fates = np.zeros(schedule.stored_hops, np.uint8)
    for packet in packets.tolist():
        hops, contributions, fate, has = carried_sums(schedule, packet)
        carried[hops], whole[hops], fates[hops] = contributions.sum(axis=1), members(schedule, packet).size, fate
        only[hops] = np.where(carried[hops] == 1, contributions.argmax(axis=1), -1)
        held[hops] = has.sum(axis=1)
    return Sums(carried, only, held, fates, whole)


def in_words(
    schedule: Schedule,
    hops: Iterable[Hop],
    rows: npt.NDArray[np.int64],
    gets: int | None = None,
    found: Sums | None = None,
) -> list[Hop]:
    """Return hops, whose rows are given, with words that say what becomes of partial sums.

    * `schedule`: explicit.
    * `hops` (iterable of Hop): as `gossamer.schedules.hop_descriptions.chosen_hops` yields them.
    * `rows` (int64[K]): their rows.
    * `gets`: a node of whose life they are: what comes to it is told in words for it.
    * `found`: what becomes of the sums, where it is known.
    """
    found = count_sums(schedule, schedule.packet[rows]) if found is None else found
    if found is None:
        return list(hops)
    return [
        hop if found.carried[row] < 0 else hop._replace(text=_text(schedule, hop, found, row, gets))
        for hop, row in zip(hops, rows.tolist(), strict=True)
    ]


def _text(schedule: Schedule, hop: Hop, sums: Sums, row: int, gets: int | None) -> str:
    network, messages = schedule.network, schedule.messages
    count, whole, fate = int(sums.carried[row]), int(sums.whole[row]), int(sums.fate[row])
    own = members(schedule, hop.packet)
    again = -1 if schedule.repeats is None else int(schedule.repeats[row])
    onward = again >= 0 and int(network.link_target[schedule.link[again]]) == hop.source
    if count == whole:
        what = "the whole sum"
    elif count == 1:
        only = int(sums.only[row])
        what = "its contribution" if only == hop.source else f"the contribution of {network.node_name(only)}"
    elif onward:
        what = f"the sum of {count} contributions that came from {network.node_name(_end(schedule, again))}"
    elif again != -1:
        slot = -2 - again if again < 0 else int(schedule.slot[again])
        what = f"its sum of {count} contributions as of slot {slot}"
    else:
        what = f"its sum of {count} contributions"
    if schedule.parts > 1 or messages.sizes is not None:
        what += f" of part {hop.part}"
    if messages.count > 1:
        what += f" of message {hop.message}"
    passes = fate == PASSED_ON or (hop.target >= network.terminal_count and not schedule.rules.reduction)
    adds = bool(np.isin(hop.target, own))
    if passes:
        verb, does = "passes", "passes it on"
    elif fate == WASTED:
        verb, does = "had before", "has all of it already"
    elif fate == COUNTED_TWICE:
        verb, does = "had in part before", "has some of it already, so that it counts twice"
    elif fate == COMBINED:
        verb, does = "combines with its own", "combines it with its own"
        if not adds:
            verb, does = "combines with what it has", "combines it with what it has"
    elif adds:
        verb, does = "takes instead of its own", "takes it instead of its own"
    else:
        verb, does = "takes", "takes it"
    when = hop.text.partition(": ")[0]
    u, v = network.node_name(hop.source), network.node_name(hop.target)
    if gets is not None and hop.target == gets:
        came = what.replace("its contribution", f"the contribution of {u}").replace("its sum", "a sum")
        return f"{when}: {u} sends {came}, which it {verb}, to {v}"
    if gets is not None:
        return f"{when}: {u} sends {what} to {v}"
    return f"{when}: {u} sends {what} to {v}, which {does}"


def _end(schedule: Schedule, row: int) -> int:
    """Return the node from which a hop comes."""
    return int(schedule.network.link_source[schedule.link[row]])


def slots(schedule: Schedule) -> int:
    """Return the number of slots."""
    return schedule.slot_count


def in_slot(schedule: Schedule, slot: int) -> ExplainedPart:
    """Return who sends what to whom in a slot."""
    rows = np.flatnonzero(schedule.slot == slot)
    hops = in_words(schedule, chosen_hops(schedule, rows), rows)
    busy = np.unique(schedule.link[rows]).size
    phase = next(p for p in schedule.phases if slot <= p.last_slot)
    title = (
        f"slot {slot} of 0..{schedule.slot_count - 1}, {phase.name}: {quantity(len(hops), 'hop')} "
        f"on {busy} of {quantity(schedule.network.link_count, 'link')}"
    )
    return ExplainedPart(title, [hop.text.partition(": ")[2] for hop in hops], hops)


def at_node(schedule: Schedule, node: int) -> ExplainedPart:
    """Return what a node sends and gets, slot by slot."""
    network = schedule.network
    sent, got = network.link_source[schedule.link] == node, network.link_target[schedule.link] == node
    rows = np.flatnonzero(sent | got)
    hops = in_words(schedule, chosen_hops(schedule, rows), rows, gets=node)
    called, lines = node_lines(network, node, hops, "slot")
    title = f"{called}: sends {quantity(int(sent.sum()), 'packet')}, gets {quantity(int(got.sum()), 'packet')}"
    return ExplainedPart(title, lines, hops)


def of_message(schedule: Schedule, message: int) -> ExplainedPart:
    """Return the way of a message."""
    network, messages, table = schedule.network, schedule.messages, schedule.packets
    row = message_row(schedule, message)
    packets = np.flatnonzero(table.message == message)
    rows = np.flatnonzero(np.isin(schedule.packet, packets) & (schedule.packet != CONTROL))
    hops = list(chosen_hops(schedule, rows))
    sums = count_sums(schedule, packets)
    if sums is not None:
        hops = in_words(schedule, hops, rows, found=sums)
        lines = [*(hop.text for hop in hops), *_arrival(schedule, row, rows[sums.fate[rows] != WASTED])]
        return ExplainedPart(message_words(network, messages, message), lines, hops)
    lines = []
    for slot, group in groupby(hops, key=lambda hop: hop.slot):
        for hop in group:
            part = f"part {hop.part}" if packets.size > 1 else "it"
            what = part if messages.discipline[row] != COMBINE else f"what it has of {part}".replace(" of it", "")
            when = f"slot {slot}" if network.plain else f"slots {slot} to {hop.usable - 1}"
            lines.append(f"{when}: {network.node_name(hop.source)} sends {what} to {network.node_name(hop.target)}")
    lines += _arrival(schedule, row, rows)
    return ExplainedPart(message_words(network, messages, message), lines, hops)


def _arrival(schedule: Schedule, row: int, rows: npt.NDArray[np.int64]) -> Iterator[str]:
    """Yield when a message is where it has to be, and how long it waited on its way if it is for one."""
    if not rows.size:
        yield "it is where it has to be from the start"
        return
    ends = hop_ends(schedule.network, schedule.parts, schedule.slot[rows], schedule.link[rows])
    combined = schedule.messages.discipline[row] in (COMBINE, ALLCOMBINE)
    yield f"{'the sum' if combined else 'it'} is where it has to be after slot {int(ends.max()) - 1}"
    if schedule.messages.discipline[row] == MOVE and schedule.parts == 1 and schedule.messages.sizes is None:
        waits = int(schedule.slot[rows[0]]) + int((schedule.slot[rows[1:]] - ends[:-1]).sum())
        if waits:
            yield f"on its way it waited for {quantity(waits, 'slot')}, while links carried other messages"


def of_all(schedule: Schedule) -> ExplainedPart:
    """Return how many hops each slot has, of a schedule that repeats each of the first generation."""
    again = ""
    if schedule.repetition is not None:
        period = quantity(schedule.repetition.period, "slot")
        again = f", the first of {schedule.generations:,} generations, one every {period}"
    schedule = schedule.unrolled(1).expand()
    first = np.searchsorted(schedule.slot, np.arange(schedule.slot_count + 1))
    slots = np.bincount(schedule.slot, minlength=schedule.slot_count)
    control = np.bincount(schedule.slot[schedule.packet == CONTROL], minlength=schedule.slot_count)
    lines = []
    for phase in schedule.phases:
        for slot in range(phase.first_slot, phase.last_slot + 1):
            rows = slice(first[slot], first[slot + 1])
            nodes = np.unique(schedule.network.link_source[schedule.link[rows]]).size
            what = "control packets" if control[slot] == slots[slot] and slots[slot] else "hops"
            many = f"1 {what[:-1]}" if slots[slot] == 1 else f"{slots[slot]} {what}"
            lines.append(f"slot {slot}, {phase.name}: {many} from {quantity(nodes, 'node')}")
    made = f" by {schedule.algorithm}" if schedule.algorithm else ""
    title = f"{schedule.task.describe()} on {schedule.network.spec}{made}: {schedule.slot_count} slots{again}"
    return ExplainedPart(title, lines)


# What happens in a wormhole schedule, in lines.


def _worm_slots(schedule: WormholeSchedule) -> int:
    """Return the number of steps."""
    return schedule.step_count


def _worm_in_slot(schedule: WormholeSchedule, step: int) -> ExplainedPart:
    """Return who sends what to whom in a step."""
    worms = list(chosen_worms(schedule, np.flatnonzero(schedule.step == step)))
    phase = next(p for p in schedule.phases if step < p.first_step + p.steps)
    held = sum(len(worm.channels) for worm in worms)
    channels = quantity(int(schedule.channels.exists.sum()), "channel")
    title = (
        f"step {step} of 0..{schedule.step_count - 1}, {phase.name}: {quantity(len(worms), 'message')} on {held} of "
        f"{channels}, for {schedule.step_cost[step]}"
    )
    return ExplainedPart(title, [worm.text.partition(": ")[2] for worm in worms], worms)


def _worm_at_node(schedule: WormholeSchedule, node: int) -> ExplainedPart:
    """Return what a node sends and gets, step by step, and how many messages pass it."""
    sent, got = schedule.source == node, schedule.target == node
    worms = list(chosen_worms(schedule, np.flatnonzero(sent | got)))
    first, channel = schedule.channels.paths(schedule.source, schedule.displacement)
    ends = np.array([schedule.channels.end(c) for c in np.unique(channel).tolist()], np.int64)
    into = np.unique(channel)[ends == node]
    passing = int(np.isin(channel, into).sum()) - int((got & (np.diff(first) > 0)).sum())
    called, lines = node_lines(schedule.network, node, worms, "step")
    title = (
        f"{called}: sends {quantity(int(sent.sum()), 'message')}, gets {int(got.sum())}; "
        f"{passing} pass through its router"
    )
    return ExplainedPart(title, lines, worms)


def _worm_of_message(schedule: WormholeSchedule, message: int) -> ExplainedPart:
    """Return the way of a message of the task."""
    messages, sets = schedule.messages, schedule.payloads
    message_row(schedule, message)
    pieces = np.flatnonzero(schedule.packets.message == message)
    entries = np.flatnonzero(np.isin(sets.packet, pieces))
    carrying = np.unique(np.searchsorted(sets.first, entries, side="right") - 1)
    rows = np.flatnonzero(np.isin(schedule.payload, carrying))
    worms = list(chosen_worms(schedule, rows))
    lines = [f"step {worm.step}: {_worm_way(schedule, worm, pieces)}" for worm in worms]
    arrival = f"after step {worms[-1].step}" if worms else "from the start"
    lines.append(f"it is where it has to be {arrival}")
    return ExplainedPart(message_words(schedule.network, messages, message), lines, worms)


def _worm_of_all(schedule: WormholeSchedule) -> ExplainedPart:
    """Return how many messages each step has, and how long it lasts."""
    counts = np.bincount(schedule.step, minlength=schedule.step_count)
    lines = []
    for phase in schedule.phases:
        for step in range(phase.first_step, phase.first_step + phase.steps):
            many = quantity(int(counts[step]), "control message" if phase.control else "message")
            longest = f", the longest of {schedule.step_length[step]:,} bytes" if counts[step] else ""
            lines.append(f"step {step}, {phase.name}: {many}{longest}, for {schedule.step_cost[step]}")
    made = f" by {schedule.algorithm}" if schedule.algorithm else ""
    steps = quantity(schedule.step_count, "step")
    return ExplainedPart(f"{schedule.task.describe()} on {schedule.network.spec}{made}: {steps}", lines)


def _worm_way(schedule: WormholeSchedule, worm: Worm, pieces: np.ndarray) -> str:
    """Return from where to where a worm takes a message, how much of it, and with how much of others."""
    name = schedule.network.node_name
    mine = np.intersect1d(np.array(worm.pieces), pieces)
    what = "it"
    if mine.size < pieces.size:
        which = f"piece {schedule.packets.piece[mine[0]]}" if mine.size == 1 else f"{mine.size} pieces"
        what = f"{which} of it"
    others = len(worm.pieces) - mine.size
    more = f", with {quantity(others, 'other piece')}" if others else ""
    _, _, over = worm.text.partition(" by way of ")
    return f"{name(worm.source)} sends {what} to {name(worm.target)}{' by way of ' if over else ''}{over}{more}"


class PartLines(NamedTuple):
    """What says what happens in the schedules of a switching: how many slots there are, and lines on each part."""

    slots: Callable[[Any], int]
    in_slot: Callable[[Any, int], ExplainedPart]
    at_node: Callable[[Any, int], ExplainedPart]
    of_message: Callable[[Any, int], ExplainedPart]
    of_all: Callable[[Any], ExplainedPart]


LINES = {
    "store-and-forward": PartLines(slots, in_slot, at_node, of_message, of_all),
    "wormhole": PartLines(_worm_slots, _worm_in_slot, _worm_at_node, _worm_of_message, _worm_of_all),
}
"""By switching."""
