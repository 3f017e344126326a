"""The streaming checker finds what `gossamer.verify` finds, however the hops are cut into chunks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ModelError, ScheduleError, TaskError
from gossamer.networks.network import Network
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.verification.metrics import buffer_peak
from gossamer.verification.streaming import StreamingChecker

pytestmark = pytest.mark.uncompiled

LINE = gossamer.network("array:4")  # links 0->1, 1->0, 1->2, 2->1, 2->3, 3->2
ENDS = {(int(u), int(v)): i for i, (u, v) in enumerate(zip(LINE.link_source, LINE.link_target, strict=True))}


def streamed(network, task, model, hops, cuts=(), limit=20):
    """Feed (slot, link, packet) rows in chunks that begin at `cuts`."""
    checker = StreamingChecker(network, task, model, limit)
    rows = np.array(hops, np.int32).reshape(-1, 3)
    for part in np.split(rows, sorted(cuts)):
        checker.feed(*part.T)
    return checker.finish()


def on_line(destination, path, **model):
    task = gossamer.task("permutation", destination=destination)
    return streamed(LINE, task, Rules(**model), [(t, ENDS[link], p) for t, link, p in path])


def test_a_valid_schedule_passes_with_its_figures():
    found = on_line([2, 0, -1, -1], [(0, (0, 1), 0), (0, (1, 0), 1), (1, (1, 2), 0), (2, (2, 3), -1)])
    assert found
    assert (found.hops, found.control_hops, found.delivered) == (3, 1, 2)
    assert found.buffer.packets == 1


@pytest.mark.parametrize(("path", "kind", "text"), [
    ([(0, (1, 2), 0)], "causality", "slot 0: (1)->(2) carries packet 0, which is not at the sender"),
    ([(0, (0, 1), 0), (0, (1, 2), 0)], "causality", "which is not at the sender"),
    ([(0, (0, 1), 0), (0, (0, 1), 0)], "link capacity", "slot 0: (0)->(1) carries packet 0 beyond its capacity of 1"),
    ([(0, (0, 1), 0), (0, (0, 1), -1)], "link capacity", "carries packet -1 beyond its capacity of 1"),
    ([(0, (0, 1), 0)], "delivery", "packet 0 ends at node (1), not at (2)"),
    ([(0, (0, 1), 0), (1, (1, 0), 0), (1, (1, 2), 0)], "duplicate", "(1)->(2) carries packet 0, which leaves twice"),
])  # fmt: skip
def test_violations_are_named(path, kind, text):
    found = on_line([2, -1, -1, -1], path).verification
    assert found.counts.get(kind)
    assert text in str(found)


def test_buffers_count_everything_a_node_holds():
    path = [(0, (0, 1), 0), (1, (1, 2), 0)]
    found = on_line([2, 1, 3, -1], [*path, (2, (2, 3), 2)], buffer=1, buffer_counts="all")
    assert found.verification.counts == {"buffer": 2}
    assert "before slot 1: node (1) holds 2 packets, buffer 1" in str(found.verification)
    assert (found.buffer.packets, found.buffer.node, found.buffer.slot) == (2, 1, 1)


def test_nodes_that_are_too_full_before_the_first_slot_are_found():
    scatter = streamed(LINE, gossamer.task("scatter"), Rules(buffer=2, buffer_counts="all"), []).verification
    assert scatter.counts == {"delivery": 3, "buffer": 1}
    assert "before slot 0: node (0) holds 3 packets, buffer 2" in str(scatter)


@pytest.mark.parametrize("crossing", [2, 3])
def test_a_link_carries_its_capacity_and_no_more(crossing):
    wide = Network("wide", 2, [0, 1], [1, 0], link_capacity=2)
    hops = [(0, 0, 0), *[(0, 0, -1)] * (crossing - 1)]
    found = streamed(wide, gossamer.task("permutation", destination=[1, -1]), Rules(), hops).verification
    assert found.counts == ({} if crossing == 2 else {"link capacity": 1})


def test_short_slots_are_found():
    task = gossamer.task("permutation", destination=[1, -1, -1, -1])
    checker = StreamingChecker(LINE, task, Rules(), cost=StepCost("1/2"))
    checker.feed([0], [0], [0], Fraction(1, 2))
    checker.feed([1], [0], [-1], Fraction(1, 3))
    found = checker.finish().verification
    assert found.counts == {"slot length": 2}
    assert "a packet needs 1" in str(found)
    assert "a control packet needs 1/2" in str(found)


def test_only_the_first_violations_are_kept_and_all_are_counted():
    task = gossamer.task("permutation", destination=[1, 0, 3, 2])
    found = streamed(LINE, task, Rules(), [], limit=1).verification
    assert found.counts == {"delivery": 4}
    assert len(found.violations) == 1


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_hops_that_break_rules_beyond_the_limit_are_counted(limit):
    task = gossamer.task("permutation", destination=[1, -1, -1, -1])
    found = streamed(LINE, task, Rules(), [(0, 2, 0), (0, 2, 0), (0, 2, -1), (1, 0, 0)], limit=limit).verification
    assert found.counts == {"link capacity": 2, "causality": 2}
    assert len(found.violations) == limit


def test_more_packets_in_a_slot_than_all_links_carry_are_counted():
    pair = Network("pair", 2, [0, 1], [1, 0])
    five = gossamer.questions.tasks.DemandTable.of([(0, [1], 1)] * 5)
    found = streamed(pair, five, Rules(), [(0, 0, p) for p in range(5)]).verification
    assert found.counts == {"link capacity": 4, "delivery": 3}


def test_what_it_cannot_check_is_refused():
    task = gossamer.task("permutation", destination=[1, -1, -1, -1])
    with pytest.raises(TaskError, match="copies or combines"):
        StreamingChecker(LINE, gossamer.task("broadcast"), Rules())
    with pytest.raises(TaskError, match="messages of several packets"):
        StreamingChecker(LINE, gossamer.questions.tasks.DemandTable.of([(0, [1], 5)]), Rules())
    with pytest.raises(ModelError, match="ports 'all' only"):
        StreamingChecker(LINE, task, Rules(ports="one"))
    with pytest.raises(ModelError, match="buffer_counts='all'"):
        StreamingChecker(LINE, task, Rules(buffer=2))
    with pytest.raises(ModelError, match="links that packets cross in one slot"):
        StreamingChecker(LINE.with_times(2, 0), task, Rules())


@pytest.mark.parametrize(("columns", "text"), [
    (([1, 0], [0, 0], [0, 0]), "slots must be 0 or more and must not go back, got 0"),
    (([-1], [0], [0]), "got -1"),
    (([0, 0], [0, 9], [0, -1]), r"column 'link' must be 0\.\.5, got 9"),
    (([0, 0], [0, 2], [0, 1]), r"column 'packet' must be -1\.\.0, got 1"),
    (([0], [0, 1], [0]), "one length"),
])  # fmt: skip
def test_columns_that_are_none_are_refused(columns, text):
    checker = StreamingChecker(LINE, gossamer.task("permutation", destination=[1, -1, -1, -1]), Rules())
    with pytest.raises(ScheduleError, match=text):
        checker.feed(*columns)


def test_a_later_chunk_must_not_go_back():
    checker = StreamingChecker(LINE, gossamer.task("permutation", destination=[1, -1, -1, -1]), Rules())
    checker.feed([3], [0], [0])
    checker.feed([3], [1], [-1])
    with pytest.raises(ScheduleError, match="must not go back, got 2"):
        checker.feed([2], [0], [-1])


@settings(max_examples=150)
@given(st.data())
def test_it_agrees_with_the_checker_on_valid_and_on_broken_schedules(data):
    network = gossamer.network(data.draw(st.sampled_from(["array:3x4", "array:7", "array:2x2x3", "ring:5"])))
    n = network.node_count
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    task = gossamer.task("permutation", destination=np.where(draw.random(n) < 0.8, draw.permutation(n), -1).tolist())
    model = Rules(buffer=data.draw(st.integers(1, 4)), buffer_counts="all")
    schedule = gossamer.plan(network, task).schedule.replace(rules=model)
    slot, link, packet = (np.array(c) for c in (schedule.slot, schedule.link, schedule.packet))
    for _ in range(data.draw(st.integers(0, 3)) if slot.size else 0):
        row = draw.integers(slot.size)
        column, high = ((link, network.link_count), (packet, schedule.packet_count))[draw.integers(2)]
        column[row] = draw.integers(high)
    broken = schedule.replace(slot=slot, link=link, packet=packet)
    rows = np.stack([slot, link, packet], axis=1)
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    found, expected = streamed(network, task, model, rows, cuts), gossamer.verify(broken)
    assert bool(found) == bool(expected)
    assert found.hops == np.count_nonzero(packet >= 0)
    if not set(expected.counts) - {"buffer"}:
        assert found.verification.counts == expected.counts
        peak = buffer_peak(broken, "all")
        assert found.buffer.packets == peak.packets
