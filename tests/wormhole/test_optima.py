"""No bound exceeds the exact optimum of a tiny case, found by constraint programming, and no plan is below it."""

from __future__ import annotations

import pytest

import gossamer
from gossamer import LinearCost, Rules
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole.bounds import bounds
from wormhole.oracle import UndecidedError, least_time

pytestmark = pytest.mark.solver
pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")


@pytest.mark.parametrize("startup", [1, 12, 100])
@pytest.mark.parametrize(
    ("spec", "task", "ports", "pieces", "steps"),
    [
        ("ring:5", "broadcast", "all", 2, 4),
        ("array:3x2", "broadcast", "all", 2, 4),
        ("array:2x2", "allgather", "one", 1, 4),
        ("torus:3x3", "broadcast", "all", 1, 3),
        ("hypercube:2", "allgather", "all", 2, 4),
        ("array:4", "scatter", "all", 1, 3),
        ("star:3", "broadcast", "one", 1, 4),
        ("dragonfly:a=2,h=1", "allgather", "all", 1, 4),
    ],
)
def test_bounds_and_plans_beside_the_exact_optimum(spec, task, ports, pieces, steps, startup):
    network, cost = gossamer.network(spec), LinearCost(startup=startup, message_bytes=12)
    case = WormholeCase(network, gossamer.task(task), cost, Rules(ports=ports))
    try:
        least = least_time(case, steps, pieces, work=10.0)
    except UndecidedError:
        pytest.skip("the solver did not decide")
    assert bounds(case)[0].value <= least
    plan = gossamer.plan(network, case.task, switching="wormhole", cost=cost, rules=case.rules)
    assert plan.completion_time >= bounds(case)[0].value
    if pieces == 1 and plan.schedule.packets.count == case.messages.count and plan.schedule.startups <= steps:
        assert plan.completion_time >= least
    assert plan.completion_time <= 2 * least
