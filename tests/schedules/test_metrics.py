"""What a schedule uses: links, utilization, buffers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.schedules import CONTROL, Packets, Schedule
from gossamer.verification import BufferPeak, buffer_peak, link_load, link_utilization, verify
from schedules.strategies import schedules
from schedules.twin import holdings, peak

pytestmark = pytest.mark.uncompiled

LINE = gossamer.network("array:4")  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->3, 4: 2->1, 5: 3->2


def schedule(task, slot, link, packet, network=LINE, **model) -> Schedule:
    return Schedule(network, task, gossamer.Rules(**model), slot, link, packet)


def gather() -> Schedule:
    """Node 1 collects two packets, sends them on, then its own."""
    return schedule(gossamer.task("gather"), [0, 1, 2, 3, 4, 5], [5, 4, 4, 2, 2, 2], [2, 1, 2, 1, 2, 0])


@settings(max_examples=60)
@given(schedules())
def test_link_load_counts_message_packets(schedule):
    expected = Counter(e for e, p in zip(schedule.link.tolist(), schedule.packet.tolist(), strict=True) if p != CONTROL)
    assert link_load(schedule).tolist() == [expected[e] for e in range(schedule.network.link_count)]
    capacity = int(schedule.network.link_capacity.sum(dtype=np.int64))
    work = Fraction(sum(expected.values()), schedule.parts)
    share = link_utilization(schedule)
    assert share == (work / (capacity * schedule.completion_time) if schedule.completion_time else 0)
    assert 0 <= share <= 1


def test_utilization_of_nothing_is_nothing():
    alone = gossamer.network("complete:1")
    nothing = schedule(gossamer.task("broadcast"), [], [], [], network=alone)
    assert verify(nothing).ok
    assert link_utilization(nothing) == 0
    assert link_load(nothing).tolist() == []
    assert buffer_peak(nothing) == BufferPeak(0, None, None)
    assert buffer_peak(nothing, "all") == BufferPeak(1, 0, 0)


def test_control_packets_take_no_share_and_no_buffer():
    with_control = schedule(gossamer.task("broadcast"), [0, 0, 1, 2], [0, 5, 1, 3], [0, CONTROL, 0, 0])
    assert link_load(with_control).tolist() == [1, 1, 0, 1, 0, 0]
    assert link_utilization(with_control) == Fraction(3, 6 * 3)
    assert buffer_peak(with_control).packets == 1


def test_transit_counts_what_came_and_must_move_on():
    assert verify(gather()).ok
    assert buffer_peak(gather()) == BufferPeak(2, 1, 3)


def test_all_counts_own_and_delivered_packets_too():
    assert buffer_peak(gather(), "all") == BufferPeak(3, 0, 6)
    scatter = schedule(gossamer.task("scatter"), [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 3], [2, 1, 2, 0, 1, 2])
    assert verify(scatter).ok
    assert buffer_peak(scatter, "all") == BufferPeak(3, 0, 0)
    assert buffer_peak(scatter).packets == 1


def test_a_copy_of_its_own_that_a_node_has_not_sent_yet_is_among_all():
    routed = gossamer.task("one-to-many-routing", destinations=[[1], [2], [], []])
    both = schedule(routed, [0, 1], [0, 1], [0, 1])
    assert verify(both).ok
    assert buffer_peak(both, "all") == BufferPeak(2, 1, 1)


def test_a_packet_that_leaves_and_one_that_arrives_in_one_slot_share_a_buffer():
    stream = schedule(gossamer.task("scatter"), [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 3], [2, 1, 2, 0, 1, 2], buffer=1)
    assert verify(stream).ok


def test_a_copy_waits_until_it_leaves_for_the_last_time():
    star = gossamer.network("complete:4")  # links u*3 + (v-u-1) mod 4
    lazy = schedule(gossamer.task("broadcast"), [0, 1, 5], [0, 3, 4], [0, 0, 0], network=star)
    assert verify(lazy).ok
    assert buffer_peak(lazy) == BufferPeak(1, 1, 5)


def test_a_partial_result_is_one_packet_however_many_came():
    tree = gossamer.network("fat-tree:k=3,h=1")  # leaves 0, 1, 2; node 3 passes on; link u: u->3, link 3: 3->0
    reduce = schedule(gossamer.task("reduce"), [0, 1, 2], [1, 2, 3], [0, 0, 0], network=tree, reduction=True)
    assert verify(reduce).ok
    assert buffer_peak(reduce) == BufferPeak(1, 3, 2)
    assert buffer_peak(reduce, "all").packets == 1


def test_a_partial_result_waits_from_the_first_contribution_to_the_last():
    tree = gossamer.network("fat-tree:k=3,h=1")
    rows = [(0, 1, 0), (1, 0, 1), (2, 2, 1), (3, 4, 1), (3, 0, 2), (4, 1, 2), (5, 2, 0), (6, 3, 0), (6, 5, 2)]
    scatter = schedule(gossamer.task("reduce-scatter"), *zip(*rows, strict=True), network=tree, reduction=True)
    assert verify(scatter).ok
    assert buffer_peak(scatter).packets == 2
    limited = scatter.replace(rules=gossamer.Rules(buffer=1, reduction=True))
    assert [v.text for v in verify(limited).violations] == ["before slot 2: node (1,0) holds 2 packets, buffer 1"]


def test_a_moved_packet_that_comes_back_to_its_origin_is_in_transit_there():
    back = schedule(
        gossamer.task("permutation", destination=[-1, 3, -1, -1]), [0, 4, 9, 10], [2, 0, 1, 3], [0, 0, 0, 0]
    )
    assert verify(back.replace(rules=gossamer.Rules(buffer=1))).ok
    assert buffer_peak(back).packets == 1
    counts = [holds[1] for holds in holdings(back, "transit")]
    assert counts == [0] * 5 + [1] * 5 + [0] * 2  # from its return before slot 5 until it leaves in slot 9


def test_two_packets_that_wait_where_one_of_them_began_are_two_in_transit():
    line = gossamer.network("array:3")  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->1
    task = gossamer.task("permutation", destination=[2, 0, -1])
    rows = [(0, 1, 1), (1, 0, 0), (1, 3, 1), (2, 2, 1), (3, 1, 0)]
    both = schedule(task, *zip(*rows, strict=True), network=line)
    assert verify(both).ok
    assert buffer_peak(both) == BufferPeak(2, 1, 2)
    refused = verify(both.replace(rules=gossamer.Rules(buffer=1)))
    assert [v.text for v in refused.violations] == ["before slot 2: node (1) holds 2 packets, buffer 1"]
    assert verify(both.replace(rules=gossamer.Rules(buffer=2))).ok


def test_a_detour_of_a_planned_routing_that_returns_is_counted():
    task = gossamer.task("permutation", destination=[0, -1, 1, -1, -1, 2, -1])
    plan = gossamer.plan("array:7", task, algorithm="random-nodes", seed=1)
    assert buffer_peak(plan.schedule).packets == peak(plan.schedule, "transit") == 2


def test_a_copy_that_comes_back_to_its_origin_is_in_transit_there():
    task = gossamer.task("one-to-many-routing", destinations=[[2, 3], [], [], []])
    rows = [(0, 0, 0), (1, 2, 0), (4, 0, 0), (5, 1, 0), (6, 3, 0)]  # 0->1 and back to 0, which may have given it away
    back = schedule(task, *zip(*rows, strict=True))
    assert verify(back).ok
    counts = [holds[0] for holds in holdings(back, "transit")]
    assert counts == [0, 0, 1, 1, 1, 0, 0, 0]
    assert buffer_peak(back).packets == 1


def test_the_result_of_an_allreduce_is_counted_once_at_its_root():
    pair = gossamer.network("array:2")
    both = schedule(gossamer.task("allreduce"), [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 2, 3], network=pair)
    assert verify(both).ok
    assert buffer_peak(both, "all").packets == 2  # the two contributions, then the two results


def test_each_stretch_over_the_limit_is_one_violation_named_by_its_first_slot():
    line = gossamer.network("array:3")  # links 0: 0->1, 1: 1->2, 2: 1->0, 3: 2->1
    task = gossamer.task("total-exchange")
    order = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    # node 1 twice keeps a packet for two slots; its own two and the delivered ones do not count in transit
    rows = [(0, 0, 1), (2, 1, 1), (2, 3, 4), (4, 2, 4), (4, 0, 0), (4, 3, 5), (5, 1, 3), (5, 2, 2)]
    columns = list(zip(*rows, strict=True))
    base = Schedule(line, task, gossamer.Rules(), *columns)
    assert [(m // 3, m % 3) for m in base.packets.message.tolist()] == order
    assert verify(base).ok
    assert buffer_peak(base).packets == 1
    everything = base.replace(rules=replace(base.rules, buffer=2, buffer_counts="all"))
    assert [str(v) for v in verify(everything).violations] == [
        "buffer: before slot 1: node (1) holds 3 packets, buffer 2",
    ]
    assert verify(everything).counts == {"buffer": 1}


def test_measures_of_a_schedule_with_a_wrong_table_do_not_fail():
    task = gossamer.task("permutation", destination=[-1, -1, -1, -1])
    wrong = Schedule(LINE, task, gossamer.Rules(), [0], [0], [0], packets=Packets([0], [5], [0]))
    assert not verify(wrong)
    assert buffer_peak(wrong, "all").packets >= 0
    assert link_load(wrong).sum() == 1
