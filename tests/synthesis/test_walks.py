"""Permutations under a limit of the buffers, exactly."""

from __future__ import annotations

import itertools

import pytest

import gossamer
from gossamer import Rules
from gossamer.bounds import best_bound
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import pattern

pytestmark = pytest.mark.solver
pytest.importorskip("ortools", reason="the solver is OR-Tools (extra 'solver')")


def least_by_states(network, task, buffer, ports):
    """The fewest slots, by breadth-first search over where all packets are and which have left."""
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    target = task.destination
    state = tuple((u, False) for u in range(len(target)))
    reached, front, slots = {state}, {state}, 0
    while not any(all(at == to for (at, _), to in zip(s, target, strict=True)) for s in front):
        following = set()
        for s in front:
            ways = [[(at, None), *((v, (u, v)) for u, v in ends if u == at)] for at, _ in s]
            for choice in itertools.product(*ways):
                used = [link for _, link in choice if link is not None]
                if len(set(used)) < len(used):
                    continue
                if ports == "one" and any(len({link[k] for link in used}) < len(used) for k in (0, 1)):
                    continue
                after = tuple((v, away or link is not None) for (_, away), (v, link) in zip(s, choice, strict=True))
                held = [v for (v, away), to in zip(after, target, strict=True) if away and v != to]
                if all(held.count(v) <= buffer for v in set(held)):
                    following.add(after)
        front = following - reached
        reached |= front
        slots += 1
    return slots


@pytest.mark.parametrize(
    ("spec", "destination"),
    [("array:4", (3, 2, 1, 0)), ("array:4", (1, 2, 3, 0)), ("array:5", (4, 3, 2, 1, 0)), ("ring:5", (2, 3, 4, 0, 1)),
     ("array:2x2", (3, 2, 1, 0))],
)  # fmt: skip
@pytest.mark.parametrize("ports", ["all", "one"])
def test_no_search_over_all_states_is_faster(spec, destination, ports):
    network, task = gossamer.network(spec), Permutation(destination)
    plan = gossamer.plan(network, task, rules=Rules(ports=ports, buffer=1), algorithm="exact")
    assert plan.completion_time == least_by_states(network, task, 1, ports)
    assert gossamer.buffer_peak(plan.schedule).packets <= 1
    assert plan.bound == plan.completion_time, "the solver's proof is a bound"


@pytest.mark.parametrize("spec", ["array:4x4", "hypercube:4", "torus:4x4"])
@pytest.mark.parametrize("name", ["random", "transpose", "reversal"])
def test_one_packet_in_transit_costs_no_step_on_small_networks(spec, name):
    network = gossamer.network(spec)
    task = Permutation(pattern(name, network, seed=1).tolist())
    plan = gossamer.plan(network, task, rules=Rules(buffer=1), algorithm="exact")
    assert plan.completion_time == best_bound(Case(network, task)).value
    held = gossamer.plan(network, task, rules=Rules(buffer=3, buffer_counts="all"), algorithm="exact")
    assert held.completion_time == plan.completion_time
    assert gossamer.buffer_peak(held.schedule, "all").packets <= 3


def test_without_time_packets_go_one_after_the_other():
    network = gossamer.network("array:4x4")
    task = Permutation(pattern("reversal", network).tolist())
    plan = gossamer.plan(network, task, rules=Rules(buffer=1), algorithm="exact", budget=1e-6)
    assert plan.completion_time > best_bound(Case(network, task)).value
    assert gossamer.buffer_peak(plan.schedule).packets == 1


def test_what_is_not_covered_is_said():
    for spec, task, rules, why in (
        ("ring:4", gossamer.task("alltoall"), Rules(buffer=1), "only for permutations"),
        ("ring:4", Permutation([2, 3, 0, 1]), Rules(buffer=2, buffer_counts="all"), "may keep 3 packets"),
        ("fat-tree:k=2,h=2", Permutation([2, 3, 0, 1]), Rules(buffer=1), "without switches"),
    ):
        with pytest.raises(gossamer.errors.NotApplicableError, match=why):
            gossamer.plan(spec, task, rules=rules, algorithm="exact")
