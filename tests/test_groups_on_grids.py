"""Groups along dimensions of grids and hypercubes: at the bound, and all at once in the time of one."""

from __future__ import annotations

import pytest

import gossamer
from gossamer import Rules
from gossamer.questions.tasks import along_dimensions, task

TASKS = ("allgather", "reduce-scatter", "alltoall", "allreduce", "broadcast", "reduce", "scatter", "gather")
GRIDS = [
    ("torus:4x6", [0], "ring:4"), ("torus:4x6", [1], "ring:6"), ("array:3x5", [0], "array:3"),
    ("array:3x5", [1], "array:5"), ("torus:3x3x4", [0, 1], "torus:3x3"), ("hypercube:5", [0, 2], "hypercube:2"),
    ("hypercube:5", [1, 2, 4], "hypercube:3"),
]  # fmt: skip


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize(("spec", "dimensions", "alone"), GRIDS)
@pytest.mark.parametrize("name", TASKS)
def test_groups_along_dimensions_take_what_one_takes_alone(spec, dimensions, alone, name):
    network = gossamer.network(spec)
    groups = along_dimensions(network, dimensions)
    assert len(groups) > 1
    one, together = gossamer.plan(alone, name), gossamer.plan(network, task(name, groups=groups))
    assert together.completion_time == one.completion_time
    if one.optimal:
        assert together.optimal, together


@pytest.mark.parametrize("name", ["allgather", "broadcast", "alltoall"])
def test_groups_with_one_port_too(name):
    network, rules = gossamer.network("torus:4x4"), Rules(ports="one")
    groups = along_dimensions(network, [1])
    one = gossamer.plan("ring:4", name, rules=rules)
    together = gossamer.plan(network, task(name, groups=groups), rules=rules)
    assert together.completion_time == one.completion_time


def test_groups_in_different_places_cost_what_the_slowest_costs():
    """A row and two shorter blocks elsewhere."""
    network = gossamer.network("array:4x8")
    blocks = [[0, 1, 2, 3, 4, 5, 6, 7], [16, 17, 24, 25], [20, 21, 22, 28, 29, 30]]
    each = [gossamer.plan(network, task("allgather", groups=[group])).completion_time for group in blocks]
    together = gossamer.plan(network, task("allgather", groups=blocks))
    assert together.completion_time == max(each)
    assert together.optimal
