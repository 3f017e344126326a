"""What happens in a store-and-forward schedule, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.planning.explaining.explanation import ExplainedPart, message_row
from gossamer.planning.explaining.explanation import at_node as node_lines
from gossamer.planning.explaining.sums import count_sums, in_words
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, MOVE
from gossamer.schedules import CONTROL, Schedule
from gossamer.schedules.hop_descriptions import chosen_hops, message_words
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification.partial_sums import WASTED

__all__ = ["at_node", "in_slot", "of_all", "of_message", "slots"]


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
