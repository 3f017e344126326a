"""What happens in a wormhole schedule, in lines."""

from __future__ import annotations

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.planning.explaining.explanation import ExplainedPart, message_row
from gossamer.planning.explaining.explanation import at_node as node_lines
from gossamer.schedules.hop_descriptions import message_words
from gossamer.schedules.wormhole.worm_descriptions import Worm, chosen_worms
from gossamer.wormhole import WormholeSchedule

__all__ = ["at_node", "in_slot", "of_all", "of_message", "slots"]


def slots(schedule: WormholeSchedule) -> int:
    """Return the number of steps."""
    return schedule.step_count


def in_slot(schedule: WormholeSchedule, step: int) -> ExplainedPart:
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


def at_node(schedule: WormholeSchedule, node: int) -> ExplainedPart:
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


def of_message(schedule: WormholeSchedule, message: int) -> ExplainedPart:
    """Return the way of a message of the task."""
    messages, sets = schedule.messages, schedule.payloads
    message_row(schedule, message)
    pieces = np.flatnonzero(schedule.packets.message == message)
    entries = np.flatnonzero(np.isin(sets.packet, pieces))
    carrying = np.unique(np.searchsorted(sets.first, entries, side="right") - 1)
    rows = np.flatnonzero(np.isin(schedule.payload, carrying))
    worms = list(chosen_worms(schedule, rows))
    lines = [f"step {worm.step}: {_way(schedule, worm, pieces)}" for worm in worms]
    arrival = f"after step {worms[-1].step}" if worms else "from the start"
    lines.append(f"it is where it has to be {arrival}")
    return ExplainedPart(message_words(schedule.network, messages, message), lines, worms)


def of_all(schedule: WormholeSchedule) -> ExplainedPart:
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


def _way(schedule: WormholeSchedule, worm: Worm, pieces: np.ndarray) -> str:
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
