"""Multinode broadcast on arrays of any dimension and sides meets the bound of a corner, ceil((N-1)/d)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.folded_tree import FOLDED_TREE, folded_cells, host_of
from gossamer.bounds import bounds
from gossamer.networks import array
from gossamer.networks.network import Grid
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.verification import verify

TASK, MODEL = MultinodeBroadcast(), Rules()


def shapes(limit: int, least: int = 2) -> Iterator[tuple[int, ...]]:
    """Every multiset of sides of 2 and more with at most `limit` nodes."""
    for side in range(least, limit + 1):
        yield (side,)
        if side * side <= limit:
            yield from ((side, *rest) for rest in shapes(limit // side, side))


def check(sides):
    network = array(*sides)
    schedule = FOLDED_TREE.build(Case(network, TASK, MODEL))
    found = verify(schedule)
    assert found.ok, f"{sides}: {found}"
    n = network.node_count
    assert schedule.hop_count == n * (n - 1)
    assert schedule.completion_time == math.ceil((n - 1) / len([s for s in sides if s > 1])), sides
    return schedule


def test_every_shape_of_up_to_48_nodes_meets_the_bound_of_a_corner():
    for sides in shapes(48):
        if max(sides) > 2:
            check(sides)


@pytest.mark.slow
def test_every_shape_of_up_to_200_nodes_meets_the_bound_of_a_corner():
    for sides in shapes(200):
        if max(sides) > 2:
            check(sides)


@pytest.mark.parametrize("sides", [(2, 3, 4), (3, 4, 5), (2, 2, 5)], ids=str)
def test_order_of_the_sides_does_not_matter(sides):
    for order in itertools.permutations(sides):
        check(order)
    check((1, *sides, 1))


@pytest.mark.parametrize(
    "sides", [(12, 12), (7, 11, 3), (10, 10, 10), (6, 6, 6, 2), (3, 3, 3, 3, 3), (31, 33)], ids=str
)
def test_larger_shapes_meet_the_largest_bound(sides):
    schedule = check(sides)
    assert schedule.completion_time == bounds(Case(schedule.network, TASK, MODEL))[0].value


@pytest.mark.parametrize(
    ("spec", "time"),
    [
        ("product:(ring:5)x(array:3)", 5),
        ("product:(array:3)x(ring:4)x(array:2)", 6),
        ("product:(ring:4)x(array:6)x(ring:3)", 15),
        ("product:(array:3)x(array:4)", 6),
    ],
)
def test_wrap_around_in_some_dimensions_is_used(spec, time):
    network = gossamer.network(spec)
    schedule = FOLDED_TREE.build(Case(network, TASK, MODEL))
    assert verify(schedule).ok
    assert schedule.completion_time == time == bounds(Case(network, TASK, MODEL))[0].value


@pytest.mark.parametrize("spec", ["product:(array:3)x(ring:3)", "product:(ring:4)x(array:7)"])
def test_with_wrap_around_in_some_dimensions_a_step_may_be_lost_and_nothing_is_promised(spec):
    network = gossamer.network(spec)
    schedule = FOLDED_TREE.build(Case(network, TASK, MODEL))
    assert verify(schedule).ok
    assert schedule.completion_time == bounds(Case(network, TASK, MODEL))[0].value + 1
    offer = FOLDED_TREE.offer(Case(network, TASK, MODEL))
    assert (offer.promise, offer.optimal) == ("none", False)


@pytest.mark.slow
def test_every_shape_of_200_to_600_nodes_has_a_tree_of_the_length_of_the_bound():
    for sides in shapes(600):
        if math.prod(sides) >= 200 and max(sides) > 2:
            network = array(*sides)
            slots = folded_cells(network, host_of(network.grid))[0]
            assert slots == math.ceil((network.node_count - 1) / len(sides)), sides


def test_plain_folding_would_take_one_step_more_where_few_messages_are_left_over():
    network = array(3, 5)
    on_torus = gossamer.plan("torus:3x5", TASK).completion_time
    assert 2 * on_torus == 8
    assert FOLDED_TREE.build(Case(network, TASK, MODEL)).completion_time == 7


def test_a_side_of_two_and_another_one_are_a_ring_along_a_hamiltonian_cycle():
    grid = Grid((2, 5), (False, False))
    host = host_of(grid)
    assert host.network == gossamer.network("ring:10")
    assert not host.folded.any()
    place = np.argsort(host.element)
    distance = np.abs(np.diff(np.stack([place // 5, place % 5]), axis=1, append=[[0], [0]])).sum(axis=0)
    assert (distance == 1).all()


@pytest.mark.parametrize("sides", [(3, 4), (2, 3, 4), (1, 5, 2, 3)], ids=str)
def test_every_element_of_the_host_has_one_node(sides):
    element = host_of(Grid(sides, (False,) * len(sides))).element
    assert sorted(element.tolist()) == list(range(math.prod(sides)))


def test_planner_finds_the_optimum_on_an_array():
    plan = gossamer.plan("array:4x5x6", "allgather")
    assert plan.optimal
    assert plan.completion_time == 40
    assert gossamer.plan("array:4x5x6", "reduce-scatter").completion_time == 40
    assert gossamer.plan("array:4x5x6", "allreduce").completion_time <= 80


@pytest.mark.parametrize(
    ("spec", "model", "reason"),
    [
        ("hypercube:4", MODEL, "needs a side of 3 nodes or more without wrap-around"),
        ("torus:3x3", MODEL, "needs a side of 3 nodes or more without wrap-around"),
        ("star:4", MODEL, "needs an array"),
        ("array:3x3", Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("array:3x3", Rules(buffer=4), "does not limit the packets that a node holds"),
        ("array:40000", MODEL, "would write out 1,599,960,000 hops; at most 1,000,000,000 are allowed"),
    ],
)
def test_what_is_not_covered_is_declined_with_a_reason(spec, model, reason):
    assert FOLDED_TREE.offers(Case(gossamer.network(spec), TASK, model)).why == reason
