"""Reductions and allreduces with wormhole messages: the checker beside its twin, the planner, bounds, flits."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import along_dimensions, task
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.simulation.flits import simulate_schedule
from gossamer.wormhole import load, save, verify
from gossamer.wormhole.algorithm import Steps
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.combining_personalized import exchange_of_sums, reduce_then_broadcast
from gossamer.wormhole.direct_messages import direct_messages
from gossamer.wormhole.flooding import flooding_offers
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS
from gossamer.wormhole.time_reversal import halves
from wormhole.strategies import in_pieces
from wormhole.twin import verdict

COST = LinearCost(startup=10, message_bytes=12)
GRIDS = ("array:5", "array:2x3", "torus:3x3", "torus:2x3x2", "ring:4")
ELSEWHERE = ("kautz:2,2", "dragonfly:a=2,h=1", "leaf-spine:leaves=2,spines=2,hosts=2", "star:3")


def asked(name, n, seed=0):
    """A reduction among n nodes, or among some."""
    some = np.random.default_rng(seed).permutation(n)[: max(3, n // 2)].tolist()
    if name == "some":
        return task("reduce", groups=[some])
    return task("allreduce", groups=[some]) if name == "group" else task(name)


@cache
def schedules(spec):
    network = gossamer.network(spec)
    made = []
    for name in ("reduce", "reduce-scatter", "allreduce", "some", "group"):
        case = WormholeCase(network, asked(name, network.terminal_count), COST)
        made += [direct_messages(case), flooding_offers(case)[-1].build()]
    sums = WormholeCase(network, task("partial-sum-allreduce"), COST)
    return [*made, exchange_of_sums(sums), reduce_then_broadcast(sums, 1, 2)]


@pytest.mark.parametrize("spec", [*GRIDS, *ELSEWHERE])
def test_reductions_are_accepted_and_not_below_their_bounds(spec, tmp_path):
    for schedule in schedules(spec):
        assert verify(schedule)
        case = WormholeCase(schedule.network, schedule.task, COST)
        assert schedule.completion_time >= bounds(case)[0].value > 0
    for schedule in (schedules(spec)[-1], schedules(spec)[-4]):
        save(schedule, tmp_path / "allreduce.parquet")
        assert load(tmp_path / "allreduce.parquet") == schedule


@st.composite
def changed(draw):
    """An accepted schedule on an array or torus in which some messages are dropped, repeated or altered."""
    schedule = draw(st.sampled_from([s for spec in GRIDS for s in schedules(spec)]))
    if draw(st.booleans()):
        names = ("step", "source", "displacement", "payload")
        columns = {name: getattr(schedule, name).copy() for name in names}
        for _ in range(draw(st.integers(1, 3))):
            row = draw(st.integers(0, columns["step"].size - 1))
            what = draw(st.sampled_from(["drop", "repeat", *names]))
            if what in ("drop", "repeat"):
                change = np.delete if what == "drop" else lambda v, r, axis: np.insert(v, r, v[r], axis)
                columns = {name: change(values, row, axis=0) for name, values in columns.items()}
                if not columns["step"].size:
                    return schedule
                continue
            other = draw(st.integers(0, columns["step"].size - 1))
            columns[what][row] = columns[what][other]
        order = np.argsort(columns["step"], kind="stable")
        schedule = schedule.replace(**{n: v[order] for n, v in columns.items()}, control_bytes=None)
    return (
        in_pieces(schedule, draw(st.integers(1, 2))) if schedule.packets.count == schedule.messages.count else schedule
    )


@pytest.mark.uncompiled
@settings(max_examples=60, deadline=None)
@given(changed())
def test_faults_are_counted_as_by_the_twin(schedule):
    found = verify(schedule, limit=10_000)
    assert found.counts == verdict(schedule)
    assert len(found.violations) == found.total
    assert all("\n" not in str(v) for v in found.violations)


@pytest.mark.uncompiled
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_faults_beyond_the_limit_are_counted(limit):
    """Two pieces come at once where the value of both has left, and then leave again: they would count twice."""
    case = WormholeCase(gossamer.network("array:3"), task("reduce"), COST)
    steps = Steps(1)
    steps.add([0, 0, 1], [2, 1, 1], [[-1], [-1], [-1]], steps.table.row([0]))
    steps.end_phase("inwards", 2)
    schedule = in_pieces(steps.schedule(case), 2)
    found, all_of_it = verify(schedule, limit), verify(schedule)
    assert found.counts == all_of_it.counts == verdict(schedule)
    assert found.counts == {"duplicate": 2, "delivery": 2}
    assert found.violations == all_of_it.violations[:limit]


def test_each_fault_is_told_with_its_nodes():
    case = WormholeCase(gossamer.network("array:3"), task("reduce"), COST)
    steps = Steps(1)
    steps.add([0, 1], [2, 1], [[-1], [-1]], steps.table.row([0]))
    steps.end_phase("inwards", 2)
    good = steps.schedule(case)
    assert verify(good)

    def told(**columns):
        return "\n".join(str(v) for v in verify(good.replace(**columns, control_bytes=None, phases=None)).violations)

    assert told(step=[0, 0]).splitlines() == [
        "lost contribution: step 0: message 0 (2)->(1) by -1 brings piece 0 of message 0, "
        "which node (1) sent on already",
        "delivery: node (0) gets 2 of 3 contributions to piece 0 of message 0",
    ]
    assert told(source=[2, 2]) == "delivery: node (0) gets 1 of 3 contributions to piece 0 of message 0"
    assert told(source=[2, 0], displacement=[[-1], [1]]) == told(source=[2, 2])  # the root may send, but to no use
    assert told(step=[0, 1, 2], source=[1, 2, 1], displacement=[[-1]] * 3, payload=[0] * 3).splitlines() == [
        "duplicate: step 2: message 2 (1)->(0) by -1 carries piece 0 of message 0, "
        "with a contribution that would count twice in the sum of node (0)",
        "delivery: node (0) gets 2 of 3 contributions to piece 0 of message 0",
    ]
    assert told(step=[0, 0, 1, 2], source=[1, 2, 1, 0], displacement=[[1], [-1], [-1], [1]], payload=[0] * 4) == ""
    both = WormholeCase(gossamer.network("array:2"), task("allreduce"), COST)
    whole = direct_messages(both)
    assert whole.step_count == 2
    early = verify(whole.replace(step=np.zeros(4, np.int32)))
    assert early.counts == {"causality": 2, "channel": 2, "delivery": 2}


@pytest.mark.parametrize("name", ["reduce", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("spec", ["torus:4x4", "array:3x4", "ring:6", "torus:3x2", "hypercube:3"])
def test_a_reduction_takes_what_its_broadcast_takes_and_has_its_bound(spec, name):
    """By time reversal; an allreduce takes both."""
    network = gossamer.network(spec)
    forward = {"reduce": "broadcast", "reduce-scatter": "allgather", "allreduce": "allgather"}[name]
    times, limits = [], []
    for asks in (name, forward):
        case = WormholeCase(network, task(asks), COST)
        limits.append({b.name: b.value for b in bounds(case)})
        found = [a for a in WORMHOLE_ALGORITHMS if a.name.removeprefix("reversed-").removeprefix("two-way-").startswith(
            ("ring", "sequential", "atd"))]  # fmt: skip
        times.append(min(o.build().completion_time for a in found if a.covers(case) for o in a.offers(case)))
    assert times[0] <= (2 if name == "allreduce" else 1) * times[1]
    if name == "allreduce":
        assert limits[0]["start-ups"] == 2 * limits[1]["start-ups"]
    else:
        swap = {"node receives": "node sends", "node sends": "node receives"}
        assert {swap.get(k, k): v for k, v in limits[0].items()} == limits[1]


@pytest.mark.parametrize(
    "name", ["reduce", "reduce-scatter", "allreduce", "broadcast", "alltoall", "scatter", "partial-sum-allreduce"]
)
@pytest.mark.parametrize("spec", [*ELSEWHERE, "array:2x4"])
def test_groups_on_any_network(spec, name):
    network = gossamer.network(spec)
    nodes = list(range(network.terminal_count))
    for groups in ([nodes[::2], nodes[1::2]], [nodes[:3]], [nodes[1:3], nodes[:2]]):
        outcome = gossamer.plan(network, task(name, groups=groups), switching="wormhole", cost=COST)
        assert outcome.verification.ok
        assert outcome.completion_time >= outcome.bound > 0


@pytest.mark.parametrize("name", ["reduce", "allreduce", "reduce-scatter"])
def test_reductions_in_rows_take_what_one_takes_alone(name):
    network = gossamer.network("torus:3x5")
    rows = gossamer.plan(network, task(name, groups=along_dimensions(network, [1])), switching="wormhole", cost=COST)
    one = gossamer.plan("ring:5", name, switching="wormhole", cost=COST)
    assert rows.verification.ok
    assert rows.completion_time <= one.completion_time


@pytest.mark.parametrize("ports", ["one", "one-send", "one-receive"])
def test_reductions_with_limited_ports(ports):
    for spec, name in itertools.product(("array:2x3", "kautz:2,2"), ("reduce", "allreduce")):
        rules = gossamer.Rules(ports=ports)
        outcome = gossamer.plan(spec, name, switching="wormhole", cost=COST, rules=rules)
        assert outcome.verification.ok
        assert outcome.completion_time >= outcome.bound > 0


@pytest.mark.parametrize("spec", ["torus:3x3", "array:2x3", "kautz:2,2"])
def test_flits_wait_for_all_contributions(spec):
    """Without barriers a node starts when all that it combines is there; never later than with them."""
    for schedule in schedules(spec):
        paced = simulate_schedule(schedule)
        free = simulate_schedule(schedule, starts="dependencies")
        assert paced.cycles == paced.predicted_cycles
        if free.deadlock is None:
            assert free.cycles <= paced.cycles
            arrived = free.released + free.latency
            for m in range(schedule.message_count):
                mine = set(schedule.pieces_of(m).tolist())
                for k in range(schedule.message_count):
                    brings = schedule.target[k] == schedule.source[m] and schedule.step[k] < schedule.step[m]
                    if brings and mine & set(schedule.pieces_of(k).tolist()):
                        assert free.released[m] >= arrived[k]


@pytest.mark.parametrize(("ports", "groups"), [
    ("one-receive", None), *((ports, [[0, 5, 7, 2], [1, 3, 4]]) for ports in ("one-send", "one-receive", "all")),
])  # fmt: skip
def test_halves_go_together_by_their_pieces(ports, groups, monkeypatch):
    """Where one half is too much work in many pieces it is left out of both, and the rest is not mixed up."""
    monkeypatch.setattr("gossamer.wormhole.flooding._MOST_WORK", 60_000)
    asks = task("allreduce") if groups is None else task("allreduce", groups=groups)
    cost = LinearCost(startup=1, message_bytes=60)
    case = WormholeCase(gossamer.network("torus:3x3"), asks, cost, gossamer.Rules(ports=ports))
    tried = [[o.options["pieces"] for o in flooding_offers(half)] for half in halves(case)]
    offers = flooding_offers(case)
    assert [o.options["pieces"] for o in offers] == [k for k in tried[0] if k in tried[1]]
    assert (tried[0] == tried[1]) == (ports == "all")
    for offer in offers:
        parts = [next(o for o in flooding_offers(h) if o.options == offer.options).build() for h in halves(case)]
        schedule = offer.build()
        assert verify(schedule)
        assert schedule.completion_time == sum(part.completion_time for part in parts) >= offer.least
        assert [p.name.split(":")[0] for p in schedule.phases] == ["reduce-scatter", "multinode broadcast"]


@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
@pytest.mark.parametrize("spec", [*GRIDS, *ELSEWHERE, "hypercube:3", "array:2"])
def test_partial_sums_are_planned_within_their_bound(spec, ports):
    rules = gossamer.Rules(ports=ports)
    outcome = gossamer.plan(spec, task("partial-sum-allreduce"), switching="wormhole", cost=COST, rules=rules)
    assert outcome.verification.ok
    assert outcome.completion_time >= outcome.bound > 0


def test_recursive_doubling_takes_a_step_for_each_bit():
    """Along the sides of a hypercube, in as many parts, the channels of all are busy in every step."""
    case = WormholeCase(gossamer.network("hypercube:6"), task("partial-sum-allreduce"), LinearCost(message_bytes=600))
    for parts in (1, 6):
        schedule = exchange_of_sums(case, parts)
        assert verify(schedule)
        assert (schedule.startups, schedule.volume) == (6, 6 * 600 // parts)
    around = WormholeCase(gossamer.network("torus:3x3x3"), task("partial-sum-allreduce"), COST)
    assert exchange_of_sums(around).startups == 3
    assert verify(exchange_of_sums(around))


def test_a_sum_that_brings_nothing_new_is_wasted_and_breaks_no_rule():
    case = WormholeCase(gossamer.network("array:2"), task("partial-sum-allreduce"), COST)
    steps = Steps(1)
    steps.add([0, 0, 1], [0, 1, 0], [[1], [-1], [1]], steps.table.row([0]))
    steps.end_phase("exchange", 2)
    found = verify(steps.schedule(case))
    assert found.ok
    assert found.wasted == 1
