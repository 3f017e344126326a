"""The planner for wormhole switching, and the battery that every registered algorithm passes."""

from __future__ import annotations

import itertools
import json

import pytest

import gossamer
from gossamer.costs import LinearCost
from gossamer.errors import ModelError, NetworkError, NotApplicableError
from gossamer.testing import tasks_of
from gossamer.wormhole import load, save, verify
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.planning import WormholePlan, applicable
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

MODELS = (LinearCost(), LinearCost(startup="7/2", per_byte="1/3", message_bytes=50, hop_time="0.5"))
NETWORKS = ("torus:6x6", "array:4x3", "ring:5", "torus:4x2", "torus:3x3x3", "array:1x4", "torus:1x1")


def cases(algorithm):
    """Networks and small tasks that the algorithm covers."""
    for spec, kind in itertools.product(NETWORKS, algorithm.tasks):
        network = gossamer.network(spec)
        for task in itertools.islice(tasks_of(kind, network), 2):
            if algorithm.covers(network, task, MODELS[0]):
                yield network, task


@pytest.mark.parametrize("algorithm", WORMHOLE_ALGORITHMS, ids=lambda a: a.name)
def test_every_algorithm_passes_the_battery(algorithm, tmp_path):
    covered = list(cases(algorithm))
    assert covered
    for (network, task), model in zip(covered, itertools.cycle(MODELS), strict=False):
        case = f"{algorithm.name}: {task.describe()} on {network.spec}"
        if not algorithm.covers(network, task, model):
            continue
        schedule = algorithm.build(network, task, model, seed=1)
        found = verify(schedule)
        assert found, f"{case}: {found}"
        assert schedule.completion_time >= bounds(network, task, model)[0].value, case
        assert schedule.completion_time >= algorithm.least(network, task, model), case
        claim = algorithm.claim(network, task, model)
        if claim is not None and algorithm.claim_is_bound:
            assert schedule.completion_time <= claim, case
        elif claim is not None:
            assert schedule.completion_time == claim, case
        assert algorithm.build(network, task, model, seed=1) == schedule, case
    assert schedule.algorithm == algorithm.name
    save(schedule, tmp_path / "plan.parquet")
    assert load(tmp_path / "plan.parquet") == schedule


def test_names_are_unique():
    names = [a.name for a in WORMHOLE_ALGORITHMS]
    assert len(set(names)) == len(names)


def test_the_best_is_as_good_as_every_algorithm():
    network, task = gossamer.network("torus:6x6"), gossamer.task("partial-multinode-broadcast", active=range(0, 36, 4))
    for startup in (1, 100, 10**5):
        model = LinearCost(startup=startup, message_bytes=100)
        best = gossamer.plan(network, task, model)
        assert isinstance(best, WormholePlan)
        times = {
            a.name: gossamer.plan(network, task, model, algorithm=a.name).completion_time
            for a in applicable(network, task, model)
        }
        assert best.completion_time == min(times.values()) == times[best.algorithm]


def test_plans_say_what_they_cost():
    model = gossamer.LinearCost(startup=10, message_bytes=100)
    plan = gossamer.plan("torus:4x4", "allgather", model, algorithm="sequential-broadcasts")
    rows = dict(plan.rows())
    assert rows["network"] == "torus:4x4: 16 nodes, 64 channels"
    assert rows["completion time"] == "7,040 - 17.82 x the bound"
    assert rows["lower bound"] == "395 (start-ups and transmission: 2 start-ups of 10 and 375 bytes at 1 a byte)"
    assert rows["start-ups"] == "64"
    assert rows["by phase"].endswith("and 4 more phases")
    told = json.loads(json.dumps(plan.to_dict()))
    assert (told["switching"], told["startups"], told["completion_time"]) == ("wormhole", 64, 7040)
    assert told["transmission_bytes"] == 6400
    assert plan.ratio == pytest.approx(7040 / 395)
    assert not plan.optimal
    assert "<th" in plan._repr_html_()
    assert repr(plan) == "<WormholePlan multinode-broadcast on torus:4x4: 7040, bound 395, sequential-broadcasts>"


def test_plans_are_saved(tmp_path):
    plan = gossamer.plan("ring:5", "broadcast", gossamer.LinearCost())
    plan.save(tmp_path / "plan.parquet")
    assert gossamer.load(tmp_path / "plan.parquet") == plan.schedule


def test_partition_sides_are_honored():
    plan = gossamer.plan("torus:6x6", "allgather", gossamer.LinearCost(), h=3)
    assert plan.options == {"h": 3}
    taking = {a.name for a in WORMHOLE_ALGORITHMS if "h" in a.options}
    assert plan.algorithm in taking


@pytest.mark.parametrize("h", [4, 0, -3, 2.0, "2", True, None])
def test_partition_sides_that_do_not_divide_are_named(h):
    with pytest.raises(ModelError) as error:
        gossamer.plan("torus:6x6", "allgather", gossamer.LinearCost(), h=h)
    assert str(error.value) == (
        f"the partition side h must be a divisor of every side of torus:6x6, one of 1, 2, 3, 6, or auto, got {h!r}"
    )


def test_what_is_not_covered_is_told_in_one_line():
    model = gossamer.LinearCost()
    with pytest.raises(NotApplicableError, match="no wormhole algorithm for total-exchange yet"):
        gossamer.plan("torus:4x4", "alltoall", model)
    with pytest.raises(NotApplicableError, match=r"no wormhole algorithm 'sequental' .* \(did you mean 'sequential"):
        gossamer.plan("torus:4x4", "allgather", model, algorithm="sequental")
    with pytest.raises(NetworkError, match="wormhole messages need an array or torus such as torus:8x8, got star:4"):
        gossamer.plan("star:4", "allgather", model)
    with pytest.raises(ModelError, match="ports and split are not choices of wormhole switching; it uses all ports"):
        gossamer.plan("torus:4x4", "allgather", model, ports="one")
    with pytest.raises(NotApplicableError, match=r"algorithm 'sequential-broadcasts' does not cover .*: it takes no h"):
        gossamer.plan("torus:4x4", "allgather", model, algorithm="sequential-broadcasts", h=2)
    with pytest.raises(NotApplicableError, match="no wormhole algorithm covers multinode-broadcast on array:4x4: "):
        gossamer.plan("array:4x4", "allgather", model, h=2)


def test_best_tries_every_side_of_a_partition():
    """Twenty random nodes, dear start-ups: the closed form, an upper bound, would prefer rings."""
    chosen = [1, 3, 6, 15, 22, 26, 42, 46, 52, 53, 55, 57, 59, 61, 68, 70, 73, 83, 92, 93]
    network, task = gossamer.network("torus:10x10"), gossamer.task("partial-multinode-broadcast", active=chosen)
    model = LinearCost(startup=10_000)
    best = gossamer.plan(network, task, model)
    pieces = [gossamer.plan(network, task, model, algorithm="atd-piece", h=h) for h in (1, 2, 5, 10)]
    rings = gossamer.plan(network, task, model, algorithm="ring-all-gather")
    assert best.completion_time == min(p.completion_time for p in (*pieces, rings)) < rings.completion_time
