"""Retimed schedules obey the times of links, keep their order, and end within the slowest hop times the slots."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms import ALGORITHMS
from gossamer.errors import ScheduleError
from gossamer.graphs.retiming import longest_hop, retimed
from gossamer.networks import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import summed_packets
from gossamer.testing import tasks_of

SPECS = ["ring:5", "array:3x3", "torus:4x3", "hypercube:3", "star:3", "ring:1", "array:2", "fat-tree:k=2,h=3",
         "fat-tree:k=2,h=2,capacity=exponential", "kautz:2,2", "ccc:3", "complete:5"]  # fmt: skip


def faults(schedule):
    found = gossamer.verify(schedule)
    return [] if found.ok else [str(found)]


def slowed(network, seed, most=4):
    draw = np.random.default_rng(seed)
    links = network.link_count
    return network.with_times(draw.integers(1, most, links), draw.integers(0, most, links))


def schedules(spec, seed):
    """Yield a schedule of every task by an algorithm that covers it, drawn at random."""
    network, draw = gossamer.network(spec), np.random.default_rng(seed)
    kinds = sorted({kind for a in ALGORITHMS for kind in a.tasks}, key=lambda kind: kind.name)
    for kind in kinds:
        samples = [task for task in tasks_of(kind, network, seed) if not task.messages(network).waits]
        if not samples:
            continue
        task = samples[-1]
        ports = str(draw.choice(["all", "one", "one-send", "one-receive"]))
        rules = Rules(ports=ports, split=bool(draw.integers(2)), reduction=network.terminal_count < network.node_count)
        case = Case(network, task, rules, seed=seed)
        covering = [a for a in ALGORITHMS if kind in a.tasks and "exact" not in a.name and a.covers(case)]
        if covering:
            yield covering[draw.integers(len(covering))].build(case)


@settings(max_examples=4)
@given(st.sampled_from(SPECS), st.integers(0, 10**6))
def test_any_schedule_of_any_task_obeys_the_times(spec, seed):
    for plain in schedules(spec, seed):
        if summed_packets(plain).any():
            with pytest.raises(ScheduleError, match="partial sums"):
                retimed(plain, plain.network)
            continue
        network = slowed(plain.network, seed)
        late = retimed(plain, network)
        assert faults(late) == [], plain.algorithm
        slots = late.slot_count
        assert late.completion_time == Fraction(slots, plain.parts)
        assert late.completion_time <= plain.completion_time * longest_hop(network)
        if late.slot.size:
            ends = late.slot + network.link_occupancy[late.link] + network.link_latency[late.link] * late.parts
            assert ends.max() == slots


@given(st.sampled_from(SPECS), st.integers(0, 10**6))
@settings(max_examples=3)
def test_order_on_each_link_is_kept(spec, seed):
    for plain in schedules(spec, seed):
        if summed_packets(plain).any():
            continue
        late = retimed(plain, slowed(plain.network, seed))
        if plain.invariant or (plain.packet < 0).any():
            continue
        for link in np.unique(plain.link):
            before, after = plain.packet[plain.link == link], late.packet[late.link == link]
            slots = plain.slot[plain.link == link]
            for t in np.unique(slots):  # hops of one slot, on a link of capacity, in any order
                assert sorted(before[slots == t]) == sorted(after[: (slots == t).sum()])
                after = after[(slots == t).sum() :]


def test_invariant_schedules_stay_so_where_links_are_alike():
    torus = gossamer.network("torus:4x4")
    plain = gossamer.plan(torus, "allgather").schedule
    by_dimension = torus.with_times(np.tile([1, 1, 3, 3], 16), 0)
    late, explicit = retimed(plain, by_dimension), retimed(plain.expand(), by_dimension)
    assert plain.invariant
    assert late.invariant
    assert not explicit.invariant
    assert faults(late) == faults(explicit) == []
    assert late.completion_time == explicit.completion_time
    times = np.ones(64, int)
    times[5] = 2
    assert not retimed(plain, torus.with_times(times, 0)).invariant


def test_plain_links_give_back_a_schedule_that_wastes_nothing():
    plain = gossamer.plan("array:4", "broadcast").schedule
    assert retimed(plain, plain.network) == plain


def test_cut_through_switches_let_packets_pass():
    tree = gossamer.network("fat-tree:k=2,h=3")
    plain = gossamer.plan(tree, "broadcast").schedule
    passed = retimed(plain, tree, Rules(cut_through=True))
    assert plain.completion_time == 6
    assert passed.completion_time == 1
    assert faults(passed) == []


def test_latency_is_counted_in_whole_packets():
    ring = gossamer.network("ring:4")
    late = retimed(gossamer.plan(ring, "allgather", rules=Rules(split=True)).schedule, ring.with_times(1, 2))
    assert faults(late) == []
    assert late.completion_time > 4  # two hops, each at least two steps and a part


def test_what_cannot_be_retimed_is_refused():
    plain = gossamer.plan("ring:4", "broadcast").schedule
    with pytest.raises(ScheduleError, match="differ in more than the times"):
        retimed(plain, gossamer.network("ring:5"))
    with pytest.raises(ScheduleError, match="sends what it does not have"):
        retimed(plain.replace(link=plain.link[::-1]), plain.network.with_times(2, 0))
    cost = gossamer.StepCost(Fraction(1, 2))
    task = gossamer.task("partial-multinode-broadcast", active=[1, 2])
    control = gossamer.plan("torus:4x4", task, cost=cost, algorithm="rotated-dimensions-unsegmented").schedule
    with pytest.raises(ScheduleError, match="control packets take time"):
        retimed(control, control.network.with_times(2, 0))


def two_cables(seed: int) -> Network:
    """A ring of four in which some neighbors have two cables that differ in time only."""
    rng = np.random.default_rng(seed)
    rows = []
    for u in range(4):
        for v in ((u + 1) % 4, (u - 1) % 4):
            kinds = {(int(rng.integers(1, 4)), int(rng.integers(0, 3))) for _ in range(rng.integers(1, 4))}
            rows += [(u, v, *kind) for kind in sorted(kinds)]
    source, target, occupancy, latency = zip(*rows, strict=True)
    return Network("cables", 4, source, target, link_occupancy=occupancy, link_latency=latency, links_only=True)


@pytest.mark.parametrize("task", ["broadcast", "alltoall", "allgather", "reduce-scatter", "scatter"])
def test_parallel_links_share_what_one_link_carries_on_the_plain_network(task):
    used = set()
    for seed in range(6):
        net = two_cables(seed)
        plain = gossamer.plan(net.without_time, task).schedule
        plain = plain.expand() if plain.invariant else plain
        late = retimed(plain, net)
        assert gossamer.verify(late).ok, seed
        assert np.array_equal(np.sort(net.plain_link[late.link]), np.sort(plain.link))
        used.add(int(np.bincount(net.plain_link[np.unique(late.link)]).max()))
    assert task == "broadcast" or max(used) > 1  # both cables between two nodes carry something


@pytest.mark.parametrize("seed", range(12))
def test_copies_that_come_again_still_find_the_last_one_gone(seed):
    """A node that sent a copy on may get it again; on slow links too it has then sent the latest one on."""
    rng = np.random.default_rng(seed)
    net = gossamer.network("array:3x3")
    targets = [[] for _ in range(9)]
    for v in rng.permutation(9)[:6].tolist():
        targets[int(rng.integers(0, 9))].append(v)
    routing = gossamer.questions.tasks.OneToManyRouting(targets)
    slow = net.with_times(rng.integers(1, 4, net.link_count), rng.integers(0, 3, net.link_count))
    for name in ("H", "Q"):
        schedule = gossamer.plan(net, routing, algorithm=name).schedule
        assert gossamer.verify(retimed(schedule, slow)).ok


def test_what_brings_a_copy_again_waits_for_the_departure_of_the_same_slot():
    """Packet 1 keeps the slow link from 1 to 2 busy; until packet 0 has left node 1 by it, none may come again."""
    line = gossamer.network("array:4")
    link = {ends: i for i, ends in enumerate(zip(line.link_source.tolist(), line.link_target.tolist(), strict=True))}
    task = gossamer.task("one-to-many-routing", destinations=[[1, 2], [3], [], []])
    path = [link[0, 1], link[1, 2], link[0, 1], link[1, 2], link[2, 3]]
    plain = Schedule(line, task, Rules(), [0, 0, 1, 1, 1], path, [0, 1, 0, 0, 1])
    assert gossamer.verify(plain).ok
    times = np.ones(line.link_count, int)
    times[link[1, 2]] = 5
    late = retimed(plain, line.with_times(times, 0 * times))
    assert gossamer.verify(late).ok
    assert late.slot.tolist() == [0, 0, 5, 5, 5]
