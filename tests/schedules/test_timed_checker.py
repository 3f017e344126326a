"""The checker and reversal on links that take time and through switches with their own rules, against a slow twin."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest

import gossamer
from gossamer.networks import Network
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import COPY, task
from gossamer.schedules import CONTROL, Phase, Schedule, Symmetry
from gossamer.verification import KINDS, buffer_peak, verify
from schedules import timed_twin, twin
from schedules.timed_strategies import mutated, random_schedule

pytestmark = pytest.mark.uncompiled

SEEDS = range(120)


@pytest.mark.parametrize("backwards", [False, True])
def test_random_legal_schedules_are_valid_forwards_and_backwards(backwards):
    for seed in SEEDS:
        schedule = random_schedule(seed)
        if backwards and schedule.task.name == "one-to-many-routing":
            continue
        schedule = schedule.reverse() if backwards else schedule
        result = verify(schedule)
        assert result.ok, (seed, str(result))
        assert not timed_twin.violations(schedule), seed
        if backwards:
            assert schedule.completion_time == random_schedule(seed).completion_time
            assert schedule.reverse() == random_schedule(seed), seed


@pytest.mark.parametrize("backwards", [False, True])
def test_counts_of_broken_schedules_are_those_of_the_twin(backwards):
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        schedule = random_schedule(seed)
        if backwards and schedule.task.name == "one-to-many-routing":
            continue
        schedule = schedule.reverse() if backwards else schedule
        for way in range(4):
            changed = mutated(4 * seed + way, schedule)
            expected = dict(timed_twin.violations(changed))
            result = verify(changed, limit=4)
            assert result.counts == expected, (seed, way)
            assert len(result.violations) == min(result.total, 4), (seed, way)
            assert {v.kind for v in result.violations} <= set(expected), (seed, way)
            seen.update(expected)
    known = set(KINDS) - {"wrong payload", "splitting", "buffer", "order"}
    assert set(seen) >= known - (set() if backwards else {"lost contribution"})


def test_every_loss_shift_and_shortening_is_caught():
    """A schedule that is as early as it can be, with nothing to spare, stands no change at all."""
    line = gossamer.network("array:4").with_times(2, 1)
    schedule = Schedule(line, task("broadcast"), Rules(), [0, 3, 6], [0, 1, 3], [0, 0, 0])
    assert verify(schedule).ok
    assert schedule.completion_time == 9
    for i in range(3):
        rest = [h for h in range(3) if h != i]
        columns = (schedule.slot[rest], schedule.link[rest], schedule.packet[rest])
        dropped = schedule.replace(slot=columns[0], link=columns[1], packet=columns[2])
        assert "delivery" in verify(dropped).counts
    for i in range(1, 3):
        slot = schedule.slot.copy()
        slot[i] -= 1
        assert verify(schedule.replace(slot=slot)).counts["causality"] >= 1
    shorter = schedule.replace(phases=[Phase("broadcast", 8)])
    (violation,) = verify(shorter).violations
    assert (violation.kind, violation.slot, violation.link, violation.packets) == ("unfinished", 6, 3, (0,))
    assert violation.text == "slot 6: (2)->(3) carries packet 0 until slot 9, after the last of 8 slots"


def switch(occupancy: list[int], latency: list[int]) -> Network:
    """Three terminals around a switch: links 0->3, 1->3, 2->3, 3->0, 3->1, 3->2."""
    return Network(
        "switch", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], link_occupancy=occupancy, link_latency=latency,
        terminal_count=3, links_only=True,
    )  # fmt: skip


@pytest.mark.parametrize(("into", "out", "first"), [(1, 1, 0), (1, 4, 0), (4, 4, 0), (4, 1, 3), (4, 3, 1)], ids=str)
def test_cut_through_waits_for_head_and_tail(into, out, first):
    """The head must be there, and the tail must not be overtaken: t + latency + max(0, o_in - o_out)."""
    for late in (0, 2):
        net = switch([into, 1, 1, 1, out, 1], [late, 0, 0, 0, 0, 0])
        moves = task("permutation", destination=[1, -1, -1])
        for t in range(10):
            schedule = Schedule(net, moves, Rules(cut_through=True), [0, t], [0, 4], [0, 0])
            assert verify(schedule).ok == (t >= late + first)
            storing = schedule.replace(rules=Rules())
            assert verify(storing).ok == (t >= late + into)


def test_without_replication_a_switch_sends_a_copy_for_each_that_came():
    net = switch([1] * 6, [0] * 6)
    once = Schedule(net, task("broadcast"), Rules(), [0, 1, 1], [0, 4, 5], [0, 0, 0])
    assert verify(once).ok
    forbidden = once.replace(rules=Rules(replication=False))
    violation = verify(forbidden).violations[0]
    assert verify(forbidden).counts == {"causality": 1, "delivery": 1}
    assert violation.text == "slot 1: 3->2 carries packet 0, of which switch 3 has no copy left to send on"
    twice = Schedule(net, task("broadcast"), Rules(replication=False), [0, 1, 2, 3], [0, 0, 4, 5], [0] * 4)
    assert verify(twice).ok
    assert verify(twice.replace(rules=Rules())).counts == {"duplicate": 1}


def test_without_reduction_a_switch_sends_each_partial_result_on():
    net = switch([1] * 6, [0] * 6)
    together = Schedule(net, task("reduce"), Rules(reduction=True), [0, 0, 1], [1, 2, 3], [0, 0, 0])
    assert verify(together).ok
    apart = together.replace(rules=Rules())
    (violation,) = verify(apart).violations
    assert violation.text == "switch 3 never sends on all that it has of packet 0 (message 0, part 0)"
    each = Schedule(net, task("reduce"), Rules(), [0, 0, 1, 2], [1, 2, 3, 3], [0] * 4)
    assert verify(each).ok
    again = verify(each.replace(rules=Rules(reduction=True)))
    assert (again.ok, again.wasted) == (True, 1)


def test_packets_do_not_run_in_a_circle_within_a_slot():
    """Two switches that hand a packet to each other in the slot in which neither has it."""
    net = Network("circle", 4, [0, 2, 2, 3, 3], [2, 1, 3, 1, 2], terminal_count=2, links_only=True)
    moves = task("permutation", destination=[1, -1])
    circle = Schedule(net, moves, Rules(cut_through=True), [0, 0, 0], [2, 3, 4], [0, 0, 0])
    assert verify(circle).counts == {"causality": 3, "delivery": 1}
    through = Schedule(net, moves, Rules(cut_through=True), [0, 0, 0], [0, 2, 3], [0, 0, 0])
    assert verify(through).ok
    assert through.completion_time == 1


def counts_of(net: Network, hops: list[tuple[int, int]], **rules) -> dict[str, int]:
    """The violations of a broadcast from terminal 0 to terminal 1 alone, which the twin must find, too."""
    schedule = Schedule(
        net, task("broadcast", groups=[[0, 1]]), Rules(**rules), *zip(*hops, strict=True), [0] * len(hops)
    )
    assert dict(timed_twin.violations(schedule)) == verify(schedule).counts
    return verify(schedule).counts


def test_what_cut_through_switches_send_back_in_the_slot_in_which_it_left_is_a_duplicate():
    """A node that sends a packet has it until the slot is over; only what comes later may come again."""
    net = switch([1] * 6, [0] * 6)
    assert counts_of(net, [(0, 0), (0, 3), (0, 4)], cut_through=True) == {"duplicate": 1}
    assert counts_of(net, [(0, 0), (0, 4), (1, 3)], cut_through=True) == {}
    assert counts_of(net, [(0, 0), (1, 3), (1, 4)]) == {}
    slow = switch([1] * 6, [0, 0, 0, 2, 0, 0])
    assert counts_of(slow, [(0, 0), (0, 3), (0, 4)], cut_through=True) == {"duplicate": 1}
    late = switch([1] * 6, [1, 0, 0, 0, 0, 0])
    assert counts_of(late, [(0, 0), (1, 3), (1, 4)], cut_through=True) == {}
    two = Network("two", 4, [0, 2, 2, 3, 3], [2, 0, 3, 1, 2], terminal_count=2, links_only=True)
    assert counts_of(two, [(0, 0), (0, 2), (0, 3), (1, 1)], cut_through=True) == {}
    longer = Network("longer", 5, [0, 2, 3, 4, 4], [2, 3, 4, 0, 1], terminal_count=2, links_only=True)
    assert counts_of(longer, [(0, i) for i in range(5)], cut_through=True) == {"duplicate": 1}
    assert counts_of(longer, [(0, 0), (0, 1), (0, 2), (0, 4), (1, 3)], cut_through=True) == {}


def test_without_replication_what_comes_back_may_be_the_copy_of_another():
    net = Network(
        "wide", 3, [0, 1, 2, 2], [2, 2, 0, 1], [3] * 4, terminal_count=2, links_only=True
    )  # links 0->2, 1->2, 2->0, 2->1
    rules = {"cut_through": True, "replication": False}
    assert counts_of(net, [(0, 0), (0, 0), (0, 2), (0, 3)], **rules) == {"duplicate": 1}
    assert counts_of(net, [(0, 0), (0, 0), (0, 3), (1, 2)], **rules) == {}
    first = [(0, 0), (0, 3)]
    assert counts_of(net, [*first, (1, 0), (1, 1), (1, 2), (1, 3)], **rules) == {}  # each gets that of the other
    assert counts_of(net, [*first, (1, 0), (1, 2)], **rules) == {"duplicate": 1}  # what was there has left
    assert counts_of(net, [(0, 0), *first, (1, 0), (1, 2)], **rules) == {}  # one was left


def test_links_hold_as_many_packets_as_their_capacity_while_they_are_occupied():
    net = Network("pair", 2, [0, 1], [1, 0], [2, 2], link_occupancy=[3, 3], links_only=True)
    four = task("multiple-broadcast", counts=[4, 0])
    schedule = Schedule(net, four, Rules(), [0, 1, 3, 4], [0] * 4, [0, 1, 2, 3])
    assert verify(schedule).ok
    early = schedule.replace(slot=[0, 1, 2, 4])
    (violation,) = verify(early).violations
    assert violation.text == "slot 2: 0->1 carries packets 0, 1, 2, capacity 2"


def test_receive_ports_are_busy_while_a_packet_comes_in():
    """A packet on a slow link may start first and come in last."""
    net = Network("two to one", 3, [0, 1, 2, 2], [2, 2, 0, 1], link_occupancy=2, link_latency=[5, 0, 0, 0])
    both = task("gather", root=2)
    for t in range(12):
        first = sorted([(0, 0, 0), (t, 1, 1)])
        slot, link, packet = zip(*first, strict=True)
        schedule = Schedule(net, both, Rules(ports="one-receive"), slot, link, packet)
        assert verify(schedule).ok == (t <= 3 or t >= 7)


def test_control_packets_and_other_slot_lengths_are_refused_where_links_take_time():
    net = gossamer.network("array:2").with_times(1, 1)
    phases = [Phase("ask", 2, control=True), Phase("send", 2)]
    schedule = Schedule(net, task("broadcast"), Rules(), [0, 2], [0, 0], [CONTROL, 0], phases=phases)
    assert verify(schedule).counts == {"control packet": 1}
    long = Schedule(net, task("broadcast"), Rules(), [0], [0], [0], phases=[Phase("send", 2, 2)])
    (violation,) = verify(long).violations
    assert violation.text == "phase 'send' has slots of 2 step; links count time in 1 step"


def test_a_result_that_is_under_way_is_not_complete():
    """The second half of an allreduce must wait until all hops of the first have ended."""
    net = gossamer.network("array:2").with_times(2, 1)
    allreduce = task("allreduce")
    messages = allreduce.messages(net)
    broadcasts = [i for i in range(messages.count) if messages.discipline[i] == COPY]
    reduces = [i for i in range(messages.count) if i not in broadcasts]
    to = [int(messages.origin[i]) for i in reduces]
    rows = [(0, 1 - v, i) for i, v in zip(reduces, to, strict=True)]
    for start in (2, 3):
        later = [(start, int(messages.origin[i]), i) for i in broadcasts]
        slot, link, packet = zip(*rows, *later, strict=True)
        result = verify(Schedule(net, allreduce, Rules(), slot, link, packet))
        assert result.ok == (start == 3)
        assert result.counts == ({} if start == 3 else {"order": 2})


def test_invariant_schedules_on_links_that_differ_by_generator():
    ring = gossamer.network("torus:3x4")
    slow = ring.with_times([1, 1, 3, 3] * 12, [0, 0, 1, 1] * 12)
    plain = gossamer.plan(ring, "allgather").schedule
    assert plain.invariant
    stretched = Schedule(
        slow, plain.task, plain.rules, plain.slot * 4, plain.link, plain.packet, symmetry=Symmetry(slow)
    )
    assert verify(stretched).ok
    assert verify(stretched.expand()).ok
    assert not timed_twin.violations(stretched.expand())
    squeezed = stretched.replace(slot=plain.slot * 3)
    both = verify(squeezed).counts, verify(squeezed.expand()).counts
    assert both[0]
    assert set(both[0]) == set(both[1])
    with pytest.raises(gossamer.errors.ScheduleError, match="times depend on the node"):
        Symmetry(ring.with_times([2, *[1] * 47], 0))


@pytest.mark.parametrize("backwards", [False, True])
def test_buffer_peaks_and_limits_are_those_of_the_twin(backwards):
    for seed in SEEDS[:60]:
        schedule = random_schedule(seed, plain=seed % 3 == 0)
        if backwards and schedule.task.name == "one-to-many-routing":
            continue
        for counts in ("transit", "all"):
            forwards = buffer_peak(schedule, counts).packets
            there = schedule.reverse() if backwards else schedule
            found, held = buffer_peak(there, counts), timed_twin.holdings(there, counts)
            peak = max((n for each in held for n in each.values()), default=0)
            assert found.packets == peak, (seed, counts)
            assert peak == 0 or held[found.slot][found.node] == peak, (seed, counts)
            if backwards and counts == "transit":
                assert peak == forwards, seed
            rules = replace(there.rules, buffer=max(peak - 1, 1), buffer_counts=counts)
            limited = there.replace(rules=rules)
            result, expected = verify(limited, limit=100), twin.stretches_over(held, rules.buffer)
            assert result.counts == ({"buffer": len(expected)} if expected else {}), (seed, counts)
            assert [(v.slot, *v.nodes) for v in result.violations] == [(t, v) for t, v, _ in expected][:100]
            assert result.counts == dict(timed_twin.counted(limited))


def test_the_tail_of_a_copy_is_not_overtaken():
    net = switch([4, 1, 1, 1, 1, 1], [0] * 6)
    for t in range(7):
        copied = Schedule(net, task("broadcast"), Rules(cut_through=True), [0, t, t], [0, 4, 5], [0, 0, 0])
        assert verify(copied).counts == ({} if t >= 3 else {"causality": 2, "delivery": 2})


def test_a_contribution_whose_tail_comes_too_late_is_lost():
    """Node 1 sends over a slow link, node 2 over a fast one; the switch sends their sum when it has both."""
    net = switch([1, 4, 1, 1, 1, 1], [0] * 6)
    rules = Rules(cut_through=True, reduction=True)
    for t in range(6):
        rows = sorted([(0, 1, 0), (0, 2, 0), (t, 3, 0)])
        slot, link, packet = zip(*rows, strict=True)
        result = verify(Schedule(net, task("reduce"), rules, slot, link, packet))
        assert result.counts == ({} if t >= 3 else {"lost contribution": 1})


def test_a_partial_result_that_is_still_coming_must_leave_as_well():
    net = switch([1, 4, 1, 1, 1, 1], [0] * 6)
    rules = Rules(cut_through=True)
    held = Schedule(net, task("reduce"), rules, [0, 0, 0], [2, 1, 3], [0, 0, 0], phases=[Phase("reduce", 4)])
    assert verify(held).counts == {"delivery": 1}
    both = Schedule(net, task("reduce"), rules, [0, 0, 0, 3], [2, 1, 3, 3], [0, 0, 0, 0])
    assert verify(both).ok


@pytest.mark.parametrize("order", [(4, 5), (5, 4)])
def test_copies_are_matched_with_those_that_came_as_well_as_can_be(order):
    """The one whose tail comes last goes on over the slow link, whichever hop is listed first."""
    net = Network(
        "switch", 4, [0, 0, 1, 2, 3, 3, 3], [3, 3, 3, 3, 1, 2, 0], link_occupancy=[3, 6, 1, 1, 6, 4, 1],
        link_latency=[1, 0, 0, 0, 0, 0, 0], terminal_count=3, links_only=True,
    )  # fmt: skip
    rules = Rules(cut_through=True, replication=False)
    schedule = Schedule(net, task("broadcast"), rules, [0, 0, 1, 1], [1, 0, *order], [0] * 4)
    assert verify(schedule).ok
    assert not timed_twin.violations(schedule)


@pytest.mark.parametrize("occupancy", [(2, 6), (6, 2), (4, 3)], ids=str)
def test_copies_that_are_there_and_copies_that_are_coming_go_on_one_by_one(occupancy):
    """Two come to a switch over two links, and two leave it at any time, one for each that came."""
    net = Network(
        "switch", 4, [0, 0, 1, 2, 3, 3, 3], [3, 3, 3, 3, 1, 2, 0], link_occupancy=[*occupancy, 1, 1, 1, 1, 1],
        terminal_count=3, links_only=True,
    )  # fmt: skip
    rules = Rules(cut_through=True, replication=False)
    first, last = sorted(o - 1 for o in occupancy)
    for t, u in itertools.product(range(8), repeat=2):
        slot, link = zip(*sorted([(0, 0), (0, 1), (t, 4), (u, 5)]), strict=True)
        schedule = Schedule(net, task("broadcast"), rules, slot, link, [0] * 4)
        assert verify(schedule).ok == (min(t, u) >= first and max(t, u) >= last), (t, u)
        assert verify(schedule).counts == dict(timed_twin.counted(schedule))


@pytest.mark.parametrize("counts", ["transit", "all"])
@pytest.mark.parametrize("cut_through", [False, True])
@pytest.mark.parametrize(
    ("asked", "rules", "hops"),
    [
        ("broadcast", {"replication": False}, [(0, 0), (4, 0), (8, 4), (9, 5)]),
        ("broadcast", {}, [(0, 0), (8, 4), (9, 5)]),
        ("reduce", {}, [(0, 1), (0, 2), (6, 3), (7, 3)]),
        ("reduce", {"reduction": True}, [(0, 1), (1, 2), (6, 3)]),
        ("some", {}, [(0, 1), (6, 3)]),
        ("some", {"reduction": True}, [(0, 1), (6, 3)]),
    ],
)
def test_what_waits_in_a_switch_is_what_the_twin_says(asked, rules, hops, cut_through, counts):
    net = switch([2, 3, 1, 1, 1, 1], [0] * 6)
    what = task("reduce", groups=[[0, 1]]) if asked == "some" else task(asked)
    slot, link = zip(*hops, strict=True)
    schedule = Schedule(net, what, Rules(cut_through=cut_through, **rules), slot, link, [0] * len(hops))
    assert verify(schedule).ok, verify(schedule)
    found, held = buffer_peak(schedule, counts), timed_twin.holdings(schedule, counts)
    assert found.packets == max(n for each in held for n in each.values()) > 0
    assert held[found.slot][found.node] == found.packets
