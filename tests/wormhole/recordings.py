"""Schedules in the making, on tori with given sources, for tests of single operations."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from gossamer.networks import torus
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.schedules.wormhole.payloads import CONTROL
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.aggregation_distribution.final_all_gather import aggregate
from gossamer.wormhole.aggregation_distribution.recording import ScheduleRecorder
from gossamer.wormhole.contraction_trees import group_tree
from gossamer.wormhole.partition import TorusPartition
from wormhole import paths


def recording(sides, h, sources, *, message_bytes=1, words=1, copies=1):
    """Return an empty recording; sources are node numbers."""
    cost = LinearCost(message_bytes=message_bytes, counter_bytes=1)
    partition = TorusPartition(sides, h)
    case = WormholeCase(torus(*sides), PartialMultinodeBroadcast(sources), cost)
    return ScheduleRecorder(case, partition, words, copies)


def aggregated(sides, h, sources, **options):
    """Return a recording after the data aggregation."""
    r = recording(sides, h, sources, **options)
    aggregate(r, group_tree(h, 2 * len(sides) + 1), 1, "aggregation")
    return r


def contention(schedule):
    """Return the channels used twice in a step, by the slow twin."""
    sides = schedule.network.grid.sides
    found = []
    rows = zip(schedule.step.tolist(), schedule.source.tolist(), schedule.displacement.tolist(), strict=True)
    for step, group in itertools.groupby(rows, key=lambda row: row[0]):
        messages = [(paths.place(sides, source), move) for _, source, move in group]
        found += [(step, c) for c in paths.shared(sides, messages)]
    return found


def premature(schedule):
    """Return the messages that carry a piece which their source does not have, by replaying the schedule."""
    held = [set() for _ in range(schedule.network.node_count)]
    for piece, origin in enumerate(schedule.packets.origin.tolist()):
        held[origin].add(piece)
    wrong, arriving = [], []
    for row, step in enumerate(schedule.step.tolist()):
        if arriving and arriving[0][0] < step:
            for _, node, pieces in arriving:
                held[node] |= pieces
            arriving = []
        if schedule.payload[row] == CONTROL:
            continue
        pieces = set(schedule.pieces_of(row).tolist())
        if not pieces <= held[schedule.source[row]]:
            wrong.append(row)
        arriving.append((step, int(schedule.target[row]), pieces))
    return wrong


@st.composite
def cases(draw, *, most=150, square=False):
    """Draw sides, h and some sources."""
    h = draw(st.integers(1, 8))
    blocks = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    if square:
        blocks = blocks[:1] * 2
    while np.prod([h * b for b in blocks]) > most:
        h, blocks = max(1, h - 1), [max(1, b - 1) for b in blocks]
    sides = tuple(h * b for b in blocks)
    count = int(np.prod(sides))
    kind = draw(st.sampled_from(["single", "some", "full"]))
    if kind == "full":
        return sides, h, list(range(count))
    largest = 1 if kind == "single" else count
    return sides, h, sorted(draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=largest)))
