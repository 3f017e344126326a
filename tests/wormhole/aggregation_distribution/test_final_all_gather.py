"""Data collection: rows, columns, and rotated parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.aggregation_distribution.final_all_gather import (
    COLUMNS,
    ROWS,
    collect,
    collection_cost,
    dilation_two_ring,
)
from gossamer.wormhole.contraction_trees import ceil_log, line_broadcast
from wormhole.recordings import cases, contention, recording


def filled(sides, h, copies, *, units=1, message_bytes=2):
    """Return a recording with `units` units of each DDN at one of its nodes, and all of them known in the whole DDN."""
    r = recording(sides, h, range(h ** (len(sides) - 1) * units), copies=copies, message_bytes=message_bytes)
    r.word = np.arange(r.holder.size) % r.partition.ddn_count
    return r


def missing(schedule, partition, word, copies):
    """Replay a collection that starts from DDNs that know their units; return what is sent too early or never known."""
    held = [set() for _ in range(partition.node_count)]
    for ddn in range(partition.ddn_count):
        for unit in np.flatnonzero(word == ddn).tolist():
            for node in np.flatnonzero(partition.ddn == ddn).tolist():
                held[node] |= {unit * copies + r for r in range(copies)}
    early = 0
    for step in range(schedule.step_count):
        arriving = []
        for row in np.flatnonzero(schedule.step == step).tolist():
            pieces = set(schedule.pieces_of(row).tolist())
            early += not pieces <= held[schedule.source[row]]
            arriving.append((int(schedule.target[row]), pieces))
        for node, pieces in arriving:
            held[node] |= pieces
    return early, sum(word.size * copies - len(h) for h in held)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(ROWS), st.sampled_from(COLUMNS), st.booleans())
def test_all_nodes_get_everything_in_the_steps_of_the_closed_form(case, rows, columns, parts):
    sides, h, _ = case
    copies = len(sides) if parts else 1
    r = filled(sides, h, copies, message_bytes=2 * copies)
    collect(r, rows=rows, columns=columns)
    s = r.schedule()
    assert not contention(s)
    assert missing(s, r.partition, r.word, copies) == (0, 0)
    line = ceil_log(3, h) if rows == "window" else ceil_log(3, 2 * h - 1)
    others = h // 2 if columns == "shift" else h - 1
    assert s.step_count == line + (len(sides) - 1) * others
    cost = collection_cost(r.partition, 2, 1, r.word.size, rows=rows, columns=columns)
    assert s.step_length.tolist() == [x for phase in cost for x in phase.bytes]
    longest = [int(s.hops[s.step == step].max()) for step in range(s.step_count)]
    assert longest == [x for phase in cost for x in phase.hops]


@pytest.mark.parametrize(("n", "h"), [(n, h) for n in (6, 9, 24, 25, 30) for h in range(2, n + 1) if n % h == 0])
def test_two_halves_take_the_same_steps_of_half_the_length(n, h):
    whole, halves = filled((n, n), h, 1, units=2), filled((n, n), h, 2, units=2)
    collect(whole)
    collect(halves)
    lengths = halves.schedule().step_length
    assert lengths.tolist() == [2] * (ceil_log(3, h) + h // 2)
    assert whole.schedule().step_length.tolist() == (2 * lengths).tolist()


def test_vectors_of_the_column_ring():
    rings = {h: dilation_two_ring(h) for h in (2, 4, 5, 6)}
    assert rings == {2: (0, 1), 4: (0, 2, 3, 1), 5: (0, 2, 4, 3, 1), 6: (0, 2, 4, 5, 3, 1)}


@pytest.mark.parametrize("h", [2, 3, 4, 5, 8, 11, 16])
def test_claim_x18_the_ring_of_dilation_2_uses_every_channel_of_a_line_once(h):
    ring = dilation_two_ring(h)
    assert sorted(ring) == list(range(h))
    used = []
    for x, y in zip(ring, (*ring[1:], ring[0]), strict=True):
        assert 1 <= abs(y - x) <= 2
        used += [(z, 1) for z in range(x, y)] if y > x else [(z, -1) for z in range(x, y, -1)]
    assert sorted(used) == sorted([(z, 1) for z in range(h - 1)] + [(z, -1) for z in range(1, h)])


def test_erratum_x6_rows_inside_a_dcn_take_more_steps_than_printed():
    assert len(line_broadcast(0, 2, 0)) == 2 > ceil_log(3, 3)
    assert line_broadcast(0, 2, 1) == [[(1, 2), (1, 0)]]
    more = [h for h in range(1, 28) if ceil_log(3, 2 * h - 1) > ceil_log(3, h)]
    assert more == [3, 6, 7, 8, 9, *range(15, 28)]
    for h, steps in ((3, 2), (5, 2), (6, 3)):
        r = filled((h, h), h, 1)
        collect(r, rows="block", columns="ring")
        assert r.schedule().step_count - (h - 1) == steps
        assert max(len(line_broadcast(0, h - 1, k)) for k in range(h)) == steps


def test_windows_across_the_dcns_need_only_the_printed_steps():
    for h in range(1, 60):
        assert len(line_broadcast(0, h - 1, (h - 1) // 2)) == ceil_log(3, h)
