"""Trees whose arity depends on the level: all algorithms are valid, on time and not below the bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.fat_trees.twin import serve
from gossamer import ALGORITHMS, Rules
from gossamer.algorithms.total_exchange.fat_trees import digitwise_partners, phase_lengths, usable_capacities
from gossamer.bounds import best_bound
from gossamer.networks import Levels, fat_tree
from gossamer.questions.cases import Case
from gossamer.questions.tasks import MultinodeBroadcast, TotalExchange
from gossamer.testing import check_case

OF_TREES = [a for a in ALGORITHMS if "fat-tree" in a.name]
arities = st.lists(st.integers(2, 4), min_size=1, max_size=4).filter(lambda s: math.prod(s) <= 24).map(tuple)


@st.composite
def trees(draw):
    shape = draw(arities)
    numbers = st.lists(st.integers(1, 9), min_size=len(shape), max_size=len(shape)).map(sorted)
    return fat_tree(shape, capacity=draw(st.one_of(st.sampled_from(["constant", "exponential"]), numbers)))


@given(trees(), st.sampled_from(OF_TREES), st.sampled_from(["all", "one-send", "one-receive"]))
@settings(deadline=None, max_examples=50)
def test_every_algorithm_keeps_its_promise(network, algorithm, ports):
    case = Case(network, algorithm.tasks[0](), Rules(ports=ports))
    if algorithm.covers(case):
        assert check_case(algorithm, case) == []


def times(network, task, ports="all"):
    case = Case(network, task, Rules(ports=ports))
    found = {a.name: a.build(case).completion_time for a in OF_TREES if type(task) in a.tasks and a.covers(case)}
    return found, best_bound(case).value


def test_six_leaves_below_two_and_three_children():
    """k = 2, 3 by hand: n = 6; a branch of level 2 carries 2 * 4 messages and the last of them 3 more hops."""
    exchange, bound = times(fat_tree((2, 3)), TotalExchange())
    assert exchange == {"fat-tree-digitwise": 11, "fat-tree-phases": 12}
    assert bound == 2 * 4 + 3
    exchange, bound = times(fat_tree((2, 3), capacity="exponential"), TotalExchange())
    assert exchange["fat-tree-offsets"] == bound == 6 + 2 * 2 - 2
    gossip, bound = times(fat_tree((2, 3)), MultinodeBroadcast())
    # the last 4 messages come from distance 4: 4 + 3 steps
    assert gossip == {
        "fat-tree-flooding": 7,
        "fat-tree-star-exchanges": 8,
        "fat-tree-climbing-star-exchanges": 8,
        "fat-tree-rising-star-exchanges": 7,
    }
    assert bound == 7
    # the root makes 2 * 6 sends from step 3 on, the last of them two more steps away
    gossip, bound = times(fat_tree((2, 3)), MultinodeBroadcast(), "one-send")
    assert gossip["fat-tree-up-first"] == bound == 2 * 6 + 2 + 2


@given(arities)
def test_partners_are_a_permutation_in_each_turn_and_come_closer(shape):
    levels = Levels(shape, (1,) * len(shape))
    partner = digitwise_partners(levels)
    n = levels.leaves[-1]
    assert all(sorted(column) == list(range(n)) for column in partner.T)
    assert all(sorted([*row, a]) == list(range(n)) for a, row in enumerate(partner))
    network = fat_tree(shape)
    for a in range(n):
        assert (np.diff(network.distances(a)[partner[a]]) <= 0).all()


@pytest.mark.uncompiled
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2, 3)])
def test_queues_are_served_as_by_the_plain_twin(shape):
    network = fat_tree(shape)
    own = np.arange(network.terminal_count, dtype=np.int32)[:, None]
    from gossamer.algorithms.fat_trees import serve_queues

    for one_send in (False, True):
        mine = sorted(zip(*(c.tolist() for c in serve_queues(network, own, None, one_send)), strict=True))
        assert mine == sorted(serve(network, own, None, one_send))


def test_phase_lengths_follow_the_leaves_below():
    levels = Levels((2, 3, 2), (1, 2, 9))
    assert usable_capacities(levels) == [1, 2, 6]  # 3 * 2 of the level below, not 9
    assert phase_lengths(levels) == [1, 2 * 4 // 2, 6 * 6 // 6]
    assert Fraction(levels.leaves[-1]) == 12
