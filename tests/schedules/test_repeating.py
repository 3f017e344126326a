"""Schedules that repeat: the checker judges a few generations as it judges all of them, and all else sees all hops."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.any_network.repeated_trees import even_generation, even_trees
from gossamer.errors import ScheduleError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import PartialSumAllreduce, chunked, in_packets, packets_of
from gossamer.schedules import Repetition, Schedule
from gossamer.verification.metrics import buffer_peak, link_busy, link_load, link_utilization

TASKS = ("broadcast", "reduce", "allgather", "reduce-scatter", "alltoall", "scatter", "gather", "allreduce")
NETWORKS = ("ring:5", "array:2x3", "torus:3x3", "hypercube:3", "complete:4", "fat-tree:2,2")


def generation(network, task, packets, ports="all", times=None):
    net = gossamer.network(network)
    net = net if times is None else net.with_times(*times)
    plan = gossamer.plan(net, in_packets(gossamer.task(task), packets), rules=gossamer.Rules(ports=ports))
    return plan.schedule.unrolled(1).expand()


def mutated(schedule, change, which):
    """A schedule that repeats with one thing changed."""
    slot, link, packet = (getattr(schedule, name).copy() for name in ("slot", "link", "packet"))
    h = which % slot.size
    if change == "slot":
        slot[h] = max(0, slot[h] + (-1 if which % 2 else 1))
    elif change == "packet":
        packet[h] = (packet[h] + 1) % schedule.packets.count
    elif change == "link":
        link[h] = (link[h] + 1) % schedule.network.link_count
    elif change == "lost":
        slot, link, packet = (np.delete(column, h) for column in (slot, link, packet))
    order = np.argsort(slot, kind="stable")
    period = schedule.repetition.period - (change == "period")
    if period < 1:
        return None
    repetition = Repetition(schedule.repetition.packets, period)
    slots = schedule.generation_slots + (schedule.generations - 1) * period
    phases = [gossamer.Phase("all", slots + 1)]
    return schedule.replace(
        slot=slot[order], link=link[order], packet=packet[order], repetition=repetition, phases=phases
    )


@settings(max_examples=150)
@given(
    st.sampled_from(NETWORKS), st.sampled_from(TASKS), st.integers(1, 3), st.integers(1, 9),
    st.sampled_from(("all", "one")), st.sampled_from((None, (2, 3), (3, 0))),
    st.sampled_from(("", "slot", "packet", "link", "lost", "period")), st.integers(0, 10**6),
)  # fmt: skip
def test_few_generations_are_judged_as_all(network, task, packets, generations, ports, times, change, which):
    try:
        found = Generation(generation(network, task, packets, ports, times)).repeated(generations)
    except (ScheduleError, gossamer.GossamerError):
        return
    schedule = found if found.repetition is None or not change else mutated(found, change, which)
    if schedule is None:
        return
    few, every = gossamer.verify(schedule), gossamer.verify(schedule.expand())
    assert bool(few) == bool(every), (str(few), str(every))
    assert set(few.counts) == set(every.counts)
    if not change:
        assert few.ok, str(few)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("task", TASKS)
def test_all_is_measured_as_on_all_hops(network, task, tmp_path):
    try:
        schedule = Generation(generation(network, task, 2)).repeated(7)
    except ScheduleError as error:
        assert "not repeated" in str(error)  # noqa: PT017
        return
    every = schedule.expand()
    assert every.explicit
    assert packets_of(schedule.task) == 14
    assert (schedule.hop_count, schedule.packet_count) == (every.stored_hops, every.packets.count)
    assert schedule.completion_time == every.completion_time
    assert np.array_equal(link_load(schedule), link_load(every))
    assert np.array_equal(link_busy(schedule), link_busy(every))
    assert link_utilization(schedule) == link_utilization(every)
    for counts in ("transit", "all"):
        assert buffer_peak(schedule, counts).packets == buffer_peak(every, counts).packets
    assert schedule.timeline().count == every.timeline().count
    for name in ("plan.parquet", "plan.txt"):
        gossamer.save(schedule, tmp_path / name)
        again = gossamer.load(tmp_path / name)
        assert again == schedule
        assert again.repetition == schedule.repetition
    assert gossamer.lower(schedule).hops == every.stored_hops


@pytest.mark.parametrize("task", ["broadcast", "scatter", "allgather", "reduce", "gather", "reduce-scatter"])
def test_reversal_repeats_as_well(task):
    schedule = Generation(generation("torus:3x4", task, 2, times=(2, 1))).repeated(9)
    back = schedule.reverse()
    assert back.repetition == schedule.repetition
    assert back.completion_time == schedule.completion_time
    assert gossamer.verify(back)
    assert gossamer.verify(back.expand())
    assert back.reverse() == schedule


def test_the_period_is_that_of_the_busiest_link():
    for network, task, packets in (
        ("torus:4x4", "allgather", 4),
        ("hypercube:4", "alltoall", 1),
        ("ring:6", "reduce", 3),
    ):
        one = generation(network, task, packets, times=(3, 7))
        long = Generation(one).repeated(50)
        assert long.repetition.period == int(link_busy(one).max())
        assert gossamer.verify(long)


@pytest.mark.parametrize(("network", "task", "packets"), [("ring:5", "allgather", 1), ("torus:3x3", "alltoall", 4)])
def test_each_change_of_a_schedule_without_idle_links_is_refused(network, task, packets):
    """A hop a slot earlier or later, modulo the period; one that carries another packet; a period too short by one."""
    steady = Generation(generation(network, task, packets)).repeated(40)
    assert gossamer.verify(steady)
    assert link_utilization(steady.replace(phases=None)) > Fraction(9, 10)
    for h in range(0, steady.stored_hops, max(1, steady.stored_hops // 40)):
        for move in (-1, 1):
            slot = steady.slot.copy()
            slot[h] += move
            if slot[h] < 0:
                continue
            order = np.argsort(slot, kind="stable")
            changed = {"slot": slot[order], "link": steady.link[order], "packet": steady.packet[order]}
            assert not gossamer.verify(steady.replace(**changed, phases=None)), (h, move)
        packet = steady.packet.copy()
        packet[h] = (packet[h] + 1) % steady.packets.count
        assert not gossamer.verify(steady.replace(packet=packet)), h
    short = Repetition(steady.repetition.packets, steady.repetition.period - 1)
    assert not gossamer.verify(steady.replace(repetition=short, phases=None))


def test_invariant_schedules_may_repeat_too():
    plan = gossamer.plan("torus:4x4", "allgather").schedule
    assert plan.invariant
    steady = plan.replace(
        task=gossamer.task("allgather", packets=6), repetition=Repetition(1, plan.slot_count), phases=None
    )
    assert gossamer.verify(steady)
    assert gossamer.verify(steady.expand())
    assert steady.hop_count == steady.expand().stored_hops == 16 * 15 * 6
    assert not gossamer.verify(steady.replace(repetition=Repetition(1, plan.slot_count - 1), phases=None))


def test_buffers_count_all_that_overlaps():
    line, task = gossamer.network("array:4"), gossamer.task("broadcast", packets=20)
    rules = gossamer.Rules(buffer=1)
    steady = Schedule(line, task, rules, [0, 2, 4], [0, 1, 3], [0, 0, 0], repetition=Repetition(1, 1))
    assert gossamer.verify(steady).counts.keys() == {"buffer"}
    assert gossamer.verify(steady.expand()).counts.keys() == {"buffer"}
    assert gossamer.verify(steady.replace(rules=gossamer.Rules(buffer=2)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"repetition": Repetition(3, 1)}, "not made of generations of 3"),
        ({"repetition": (1, 1)}, "the repetition"),
        ({"parts": 2}, "not parts"),
        ({"phases": [gossamer.Phase("a", 1), gossamer.Phase("b", 30)]}, "one phase"),
        ({"phases": [gossamer.Phase("a", 2)]}, "one phase"),
        ({"packet": [-1]}, "no control packets"),
    ],
)
def test_what_cannot_repeat_is_refused(change, said):
    line, task = gossamer.network("array:2"), gossamer.task("broadcast", packets=20)
    steady = Schedule(line, task, gossamer.Rules(), [0], [0], [0], repetition=Repetition(1, 1))
    with pytest.raises(ScheduleError, match=said):
        steady.replace(**change)


def sums_around_a_switch(packets, generations):
    """Return an allreduce of four terminals around a switch along trees used both ways, a generation repeated."""
    star = gossamer.network("leaf-spine:leaves=1,spines=1,hosts=4")
    case = Case(star, chunked(PartialSumAllreduce(), packets), gossamer.Rules())
    trees = next(each.trees for each in even_trees(case.related(task=chunked(PartialSumAllreduce(), 64)))
                 if each.packets == packets)  # fmt: skip
    return Generation(even_generation(case, trees)).repeated(generations)


@pytest.mark.parametrize("packets", [1, 2, 4])
def test_sums_that_pass_a_switch_repeat(packets, tmp_path):
    steady = sums_around_a_switch(packets, 12)
    assert steady.repeats is not None
    assert steady.repetition.period >= 2 * 3 * packets / 4  # 2 (N - 1) transfers a chunk over N cables
    assert gossamer.verify(steady)
    whole = steady.unrolled()
    assert whole.explicit
    assert gossamer.verify(whole)
    steady.save(tmp_path / "plan.parquet")
    steady.save(tmp_path / "plan.txt")
    assert gossamer.load(tmp_path / "plan.parquet") == steady == gossamer.load(tmp_path / "plan.txt")
    carried = np.flatnonzero(whole.repeats >= 0)
    before = whole.repeats[carried]
    assert np.array_equal(whole.packet[before], whole.packet[carried])
    assert np.array_equal(whole.network.link_target[whole.link[before]], whole.network.link_source[whole.link[carried]])


@pytest.mark.parametrize("task", ["broadcast", "reduce", "sums"])
def test_trees_that_share_no_link_are_found_on_irregular_graphs(task):
    network = from_networkx(nx.random_regular_graph(6, 150, seed=2), "random 6-regular")
    sums = task == "sums"

    def packets(k):
        return chunked(PartialSumAllreduce(), k) if sums else in_packets(gossamer.task(task), k)

    case = Case(network, packets(96))
    least = Fraction(2 * 149 * 96, 900) if sums else Fraction(96, 6)  # transfers over links; what enters a node
    trees = even_trees(case, least)[0]
    assert trees.packets == 6
    assert trees.promise <= float(least) * 1.01
    steady = Generation(even_generation(Case(network, packets(6)), trees.trees)).repeated(100)
    assert gossamer.verify(steady)
    assert link_load(steady.unrolled(1)).max() <= 1 + sums
    assert steady.repetition.period == 1 + sums


def test_wrong_sums_that_pass_a_switch_are_refused_in_few_generations_as_in_all():
    steady = sums_around_a_switch(4, 12)
    passing, seen = np.flatnonzero(steady.repeats >= 0), set()
    for row in passing.tolist():
        for other in (-1, *passing[passing < row][:3].tolist()):
            repeats = steady.repeats.copy()
            repeats[row] = other
            broken = steady.replace(repeats=repeats)
            verdict = bool(gossamer.verify(broken))
            assert verdict == bool(gossamer.verify(broken.unrolled()))
            seen.add(verdict)
    assert False in seen


@pytest.mark.parametrize(("packets", "period"), [(0, 1), (1, 0), (1.5, 1), ("x", 1), (1, 2**31)])
def test_repetitions_are_whole_numbers(packets, period):
    with pytest.raises(ScheduleError):
        Repetition(packets, period)


def test_messages_that_wait_as_a_whole_do_not_repeat():
    plan = gossamer.plan("ring:4", gossamer.task("allgather", groups=[[0, 1], [2, 3]])).schedule
    assert Generation(plan).repeated(5).generations == 5
    with pytest.raises(ScheduleError, match="differ"):
        Generation(plan).repeated(5, gossamer.network("ring:5"))
    halves = gossamer.plan("ring:4", "allgather", rules=gossamer.Rules(split=True)).schedule
    if halves.parts > 1:
        with pytest.raises(ScheduleError, match="parts"):
            Generation(halves)
