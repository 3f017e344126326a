"""The checker and the buffer measure agree with their slow twins."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gossamer.networks.spec import network
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task
from gossamer.schedules import Schedule
from gossamer.verification import KINDS, buffer_peak, verify
from schedules import twin
from schedules.strategies import mutated, mutations, schedules

pytestmark = pytest.mark.uncompiled

limits = st.sampled_from(["transit", "all"])


@settings(max_examples=150)
@given(schedules())
def test_random_legal_schedules_are_valid(schedule):
    result = verify(schedule)
    assert result.ok, str(result)
    assert not twin.violations(schedule)


@settings(max_examples=400)
@given(schedules(), mutations)
def test_verdict_and_counts_are_those_of_the_twin(schedule, changes):
    changed = mutated(schedule, changes)
    expected = dict(twin.violations(changed))
    for kind in expected:
        event(kind)
    result = verify(changed, limit=3)
    assert result.counts == expected
    assert len(result.violations) == min(3, result.total)
    assert {v.kind for v in result.violations} <= set(expected)


@settings(max_examples=150)
@given(schedules(), limits, st.integers(-1, 1))
def test_buffer_peak_and_limit_are_those_of_the_twin(schedule, counts, slack):
    boundaries = twin.holdings(schedule, counts)
    peak = twin.peak(schedule, counts)
    found = buffer_peak(schedule, counts)
    assert found.packets == peak
    assert (found.node is None) == (peak == 0)
    if peak:
        assert boundaries[found.slot][found.node] == peak
    limit = max(peak + slack, 1)
    limited = schedule.replace(rules=replace(schedule.rules, buffer=limit, buffer_counts=counts))
    result = verify(limited, limit=1000)
    assert result.counts == dict(twin.violations(limited))
    assert result.ok == (peak <= limit)
    expected = twin.stretches_over(boundaries, limit)
    assert [(v.slot, *v.nodes) for v in result.violations] == [(t, node) for t, node, _ in expected]
    assert all(f" holds {n} packets" in v.text for v, (*_, n) in zip(result.violations, expected, strict=True))
    assert [v.slot for v in verify(limited, limit=2).violations] == [t for t, *_ in expected[:2]]


def test_every_kind_has_a_name_of_its_own():
    assert len(set(KINDS)) == len(KINDS) == 15


@pytest.mark.parametrize("listed", [True, False])
def test_a_copied_packet_may_come_back_to_a_node_that_sent_it_on_if_its_targets_are_listed(listed):
    """The node need not have kept it, and buffers are counted as if it had not."""
    line = network("array:3")  # links 0->1, 1->0, 1->2, 2->1
    link = {ends: i for i, ends in enumerate(zip(line.link_source.tolist(), line.link_target.tolist(), strict=True))}
    path = [link[0, 1], link[1, 2], link[2, 1]]
    routed = task("one-to-many-routing", destinations=[[1], [], []]) if listed else task("broadcast", root=0)
    schedule = Schedule(line, routed, Rules(), [0, 1, 2], path, [0, 0, 0])
    assert verify(schedule).counts == ({} if listed else {"duplicate": 1})
    assert dict(twin.violations(schedule)) == verify(schedule).counts
    if listed:
        assert [held[1] for held in twin.holdings(schedule, "all")] == [0, 1, 0, 1]
        assert buffer_peak(schedule, "all").packets == 1
    again = Schedule(line, routed, Rules(), [0, 1, 2, 3], [*path, path[0]], [0, 0, 0, 0])
    assert verify(again).counts["duplicate"] == (1 if listed else 2)
    assert dict(twin.violations(again)) == verify(again).counts
