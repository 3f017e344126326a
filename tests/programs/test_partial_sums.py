"""Programs of partial sums: random valid schedules, executed in random legal orders, give everyone the sum."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import ScheduleError
from gossamer.execution.machine_model_replay import own_collective
from gossamer.execution.mpi.collectives import numbered_by_ranks
from gossamer.programs import INPUT, OUTPUT, RECEIVE, REDUCE, SCRATCH, SEND
from gossamer.questions.tasks import Grouped, PartialSumAllreduce, Reduce, chunked
from programs.oracle import carry_out, check_program, contributions_of
from schedules.test_partial_sums import (
    drawn,
    in_slots,
    random_network,
    random_rows,
    random_rows_through_switches,
    switched_network,
)


def schedule_of(net, task, rows, **others):
    """Return the schedule of rows (slot, source, target, packet)."""
    slot, source, target, packet = np.array(sorted(rows), np.int64).reshape(-1, 4).T
    link = net.links_between(source, target)
    rules = others.pop("rules", gossamer.Rules())
    return gossamer.Schedule(net, task, rules, slot, link, packet, **others)


def check(schedule, groups, targets=None, flows=3):
    """Execute the program; every target of each group, which gives and gets one message, must have the group's sum."""
    assert gossamer.verify(schedule), gossamer.verify(schedule)
    program = gossamer.lower(schedule)
    inputs = contributions_of(program)
    for mine in program:
        assert np.all(mine.after < np.arange(mine.count))
    for seed in range(2 * flows):
        found = carry_out(program, inputs, seed, by_slots=seed % 2 == 0)
        for members in groups:
            want = sum(inputs[v] for v in members)
            for v in members if targets is None else targets:
                assert list(found[v]) == list(want), f"rank {v}"
    return program


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("kind", ["all", "groups", "root"])
def test_random_partial_sums_end_as_they_must(kind, timed):
    draw = np.random.default_rng([len(kind), timed, 7])
    tried = seen = refused = 0
    while seen < 40:
        tried += 1
        assert tried < 4000
        net = random_network(draw, timed)
        n, packets, root = net.node_count, int(draw.integers(1, 3)), int(draw.integers(net.node_count))
        groups = [draw.permutation(n)[: int(draw.integers(1, n + 1))].tolist()] if kind == "groups" else [range(n)]
        task = Reduce(root) if kind == "root" else chunked(PartialSumAllreduce(), packets)
        if kind == "groups":
            task = Grouped(PartialSumAllreduce(), groups)
            packets = 1
        count = 1 if kind == "root" else packets
        rows = [(p, row) for p in range(count) for row in random_rows(draw, net, groups[0], 4 * n)]
        schedule = drawn(net, task, rows)
        if not gossamer.verify(schedule):
            continue
        try:
            check(schedule, groups, [root] if kind == "root" else None)
        except ScheduleError as error:
            if "which a program cannot" not in str(error) or not (timed or (schedule.repeats < -1).any()):
                raise
            refused += 1
            continue
        seen += 1
    assert refused <= seen


def test_what_comes_does_not_overwrite_what_is_sent():
    net = gossamer.network("hypercube:3")
    doubling = schedule_of(net, PartialSumAllreduce(), [(t, v, v ^ 1 << t, 0) for t in range(3) for v in range(8)])
    mine = check(doubling, [range(8)]).rank(3)
    assert mine.kind.tolist() == [SEND, REDUCE] * 3
    assert mine.buffer.tolist() == [INPUT] + [OUTPUT] * 5
    assert mine.operand.tolist() == [-1, 0, -1, -1, -1, -1]
    assert mine.after.tolist() == [-1, -1, 1, 2, 3, 4]


def test_what_is_sent_twice_and_then_replaced_waits_for_both_sends():
    net = gossamer.network("array:4")
    rows = [(0, 0, 1, 0), (0, 3, 2, 0), (1, 1, 0, 0), (1, 1, 2, 0), (2, 2, 1, 0), (3, 1, 0, 0), (3, 2, 3, 0)]
    schedule = schedule_of(net, PartialSumAllreduce(), rows)
    mine = check(schedule, [range(4)]).rank(1)
    assert mine.kind.tolist() == [REDUCE, SEND, SEND, RECEIVE, SEND]
    assert mine.after.tolist() == [-1, 0, 1, 2, 3]
    assert check(schedule, [range(4)]).rank(0).kind.tolist() == [SEND, RECEIVE, RECEIVE]


def test_relays_and_wasted_arrivals_use_scratch():
    net = gossamer.network("ring:4")
    rows = [(0, 0, 1, 0), (1, 1, 2, 0), (2, 2, 1, 0), (2, 2, 3, 0), (3, 1, 0, 0)]
    program = check(schedule_of(net, Grouped(PartialSumAllreduce(), [[0, 2]]), rows), [[0, 2]])
    assert program.rank(1).buffer.tolist() == [SCRATCH] * 4
    assert (program.rank(1).input_size, program.rank(1).output_size) == (0, 0)
    assert program.rank(3).kind.tolist() == [RECEIVE]
    assert program.rank(3).buffer.tolist() == [SCRATCH]


@pytest.mark.parametrize("reduction", [False, True])
def test_switches_pass_sums_on(reduction):
    net = gossamer.Network("hub", 4, [0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2], terminal_count=3, links_only=True)
    rows = [(0, v, 3, 0) for v in range(3)]
    if reduction:
        rows += [(1, 3, v, 0) for v in range(3)]
    else:  # what comes from 0, then from 1 and 2, one by one, each again
        rows += [(1, 3, 1, 0), (2, 3, 2, 0), (3, 3, 1, 0), (4, 1, 3, 0), (5, 3, 0, 0), (5, 3, 2, 0)]
    rules = gossamer.Rules(reduction=reduction, replication=True)
    hub = check(schedule_of(net, PartialSumAllreduce(), rows, rules=rules), [range(3)]).rank(3)
    assert (REDUCE in hub.kind) == reduction
    assert set(hub.buffer.tolist()) == {SCRATCH}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("reduction", [False, True])
def test_random_sums_through_switches_end_as_they_must(timed, reduction):
    draw = np.random.default_rng([timed, reduction, 3])
    seen = in_turn = 0
    for number in range(600):
        net = switched_network(draw, timed)
        rules = gossamer.Rules(cut_through=number % 3 > 0, reduction=reduction, replication=number % 2 > 0)
        rows = random_rows_through_switches(draw, net, rules)
        rows, schedule = in_slots(net, rules, rows)
        if not gossamer.verify(schedule):
            continue
        try:
            check(schedule, [range(net.terminal_count)], flows=1)
        except ScheduleError as error:
            if "which a program cannot" not in str(error) or not timed:
                raise
            continue
        seen += 1
        in_turn += any(row[0] == row[1] for row in rows)
        if seen == 20:
            break
    assert (seen >= 8, in_turn >= 4) == (True, True), (seen, in_turn)


def test_reductions_of_an_allreduce_with_roots_may_be_partial_sums():
    net = gossamer.network("complete:3")
    n, rows = 3, []
    for root in range(n):
        one, other = (root + 1) % n, (root + 2) % n
        rows += [(0, one, other, root), (1, other, one, root), (2, one, root, root)]  # one sends twice
        rows += [(3, root, one, root + n), (4, root, other, root + n)]
    schedule = schedule_of(net, gossamer.task("allreduce"), rows)
    program = check(schedule, [range(n)])
    assert program.task.name == "allreduce"
    reduced = [row for row in rows if row[3] < n]
    shares = schedule_of(net, gossamer.task("reduce-scatter"), reduced)
    check_program(gossamer.lower(shares))


def test_a_sum_on_its_way_that_may_not_be_added_yet_has_no_program():
    net = gossamer.network("complete:4")
    occupancy = np.ones(net.link_count, np.int64)
    occupancy[net.links_between([0], [1])] = 9
    net = net.with_times(occupancy, 0)
    rows = [(0, 0, 1, 0), (0, 2, 0, 0), (0, 3, 2, 0), (1, 2, 1, 0), (2, 1, 3, 0), *((9, 1, v, 0) for v in (0, 2, 3))]
    schedule = schedule_of(net, PartialSumAllreduce(), rows)
    assert gossamer.verify(schedule)
    with pytest.raises(ScheduleError, match="sends partial sums while others that it may not add yet come to it"):
        gossamer.lower(schedule)
    later = schedule_of(net, PartialSumAllreduce(), [row if row[:3] != (2, 1, 3) else (8, 1, 3, 0) for row in rows])
    with pytest.raises(ScheduleError):
        gossamer.lower(later)
    check(schedule_of(net, PartialSumAllreduce(), [row for row in rows if row[:3] != (2, 1, 3)]), [range(4)])


@pytest.mark.parametrize(
    "task", [chunked(PartialSumAllreduce(), 2), Grouped(PartialSumAllreduce(), [[0, 1], [5, 4], [3]])]
)
def test_nodes_may_be_run_by_other_ranks(task):
    net = gossamer.network("hypercube:3")
    rows = [(0, v, v ^ 1, v // 4) for v in (0, 1, 4, 5)]
    if not isinstance(task, Grouped):
        rows = [(2 * t + p, v, v ^ 1 << t, p) for t in range(3) for p in range(2) for v in range(8)]
    schedule, rank_of = schedule_of(net, task, rows), np.array([3, 0, 7, 1, 2, 6, 5, 4])
    groups = [rank_of[list(g)] for g in getattr(task, "groups", [range(8)])]
    check(numbered_by_ranks(schedule, np.argsort(rank_of)), groups)
    assert check(schedule, getattr(task, "groups", [range(8)])).rank(3).copies.shape == (
        (1, 2) if groups[1:] else (0, 2)
    )


def test_simulators_replay_mpis_own_allreduce_beside_it():
    assert own_collective(chunked(PartialSumAllreduce(), 2)).action(8, 100, 0) == "allreduce 100 0"
    assert own_collective(gossamer.task("allreduce")).action(8, 100, 0) == "allreduce 800 0"


@pytest.mark.parametrize(("network", "size"), [("ring:9", 64), ("torus:4x4", 65536), ("complete:9", 4096)])
def test_planned_exchanges_of_sums_have_programs(network, size):
    cost = gossamer.TimeCost(bytes=size, bandwidth="50GB/s", latency="2us", form="sums")
    schedule = gossamer.plan(network, "allreduce", cost=cost).schedule
    assert schedule.task.name == "partial-sum-allreduce"
    check(schedule, [range(schedule.network.node_count)], flows=1)
