"""Greedy routing: 2n-2 steps on every permutation, but buffers that grow with the side."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.algorithms.routing.greedy import GREEDY
from gossamer.bounds import best_bound
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import pattern, random_partial
from gossamer.verification import buffer_peak, verify


def route(spec, destination):
    network = gossamer.network(spec)
    schedule = GREEDY.build(Case(network, Permutation(tuple(np.asarray(destination).tolist())), Rules()))
    assert verify(schedule).ok
    return schedule


def twin(sides, source, target):
    """Greedy routing on an array in plain Python: (slot, from, to, packet) of every hop, farthest first."""
    at = [np.array(np.unravel_index(u, sides)) for u in source]
    goal = [np.array(np.unravel_index(v, sides)) for v in target]
    hops, slot = set(), 0
    while any((a != g).any() for a, g in zip(at, goal, strict=True)):
        wanted = {}
        for i in range(len(at)):
            rest = goal[i] - at[i]
            if rest.any():
                axis = int(np.flatnonzero(rest)[-1])
                link = (tuple(at[i]), axis, bool(rest[axis] > 0))
                wanted.setdefault(link, []).append((-abs(int(rest[axis])), i))
        for (_, axis, up), packets in wanted.items():
            i = min(packets)[1]
            before = int(np.ravel_multi_index(at[i], sides))
            at[i][axis] += 1 if up else -1
            hops.add((slot, before, int(np.ravel_multi_index(at[i], sides)), i))
        slot += 1
    return hops


@given(rows=st.integers(1, 6), columns=st.integers(1, 6), data=st.data())
@settings(max_examples=60)
def test_every_permutation_takes_at_most_r_plus_c_minus_2_steps(rows, columns, data):
    nodes = rows * columns
    destination = np.array(data.draw(st.permutations(range(nodes))))
    destination[data.draw(st.lists(st.booleans(), min_size=nodes, max_size=nodes))] = -1
    schedule = route(f"array:{rows}x{columns}", destination)
    assert schedule.completion_time <= rows + columns - 2


def test_every_permutation_of_a_2_by_3_array():
    network = gossamer.network("array:2x3")
    for destination in itertools.permutations(range(6)):
        task = Permutation(destination)
        schedule = GREEDY.build(Case(network, task, Rules()))
        assert verify(schedule).ok
        assert best_bound(Case(network, task, Rules())).value <= schedule.completion_time <= 3


@pytest.mark.uncompiled
@given(sides=st.lists(st.integers(1, 4), min_size=1, max_size=3), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_kernel_agrees_with_its_plain_twin(sides, seed):
    network = gossamer.network(f"array:{'x'.join(map(str, sides))}")
    destination = random_partial(network, density=0.8, seed=seed)
    source = np.flatnonzero(destination >= 0)
    schedule = route(network.spec, destination)
    ends = network.link_source[schedule.link], network.link_target[schedule.link]
    found = set(zip(*(c.tolist() for c in (schedule.slot, *ends, schedule.packet)), strict=True))
    assert found == twin(sides, source, destination[source])


@pytest.mark.parametrize("spec", ["torus:6x6", "torus:5x4", "ring:9", "array:3x4x5", "torus:4x4x4", "hypercube:5"])
def test_tori_and_more_dimensions_are_covered_without_a_claim(spec):
    network = gossamer.network(spec)
    task = Permutation(tuple(pattern("random", network, seed=4).tolist()))
    assert GREEDY.offer(Case(network, task, Rules())).time is None
    assert verify(GREEDY.build(Case(network, task, Rules()))).ok


def test_three_dimensions_may_take_more_than_sides_less_one():
    destination = np.full((4, 4, 4), -1)
    for j in range(4):
        for k in range(4):
            destination[0, j, k] = 16 * k + 4 * (3 - j) + 3  # a plane turns into one of its lines: 8 cross its middle
    assert route("array:4x4x4", destination.reshape(-1)).completion_time == 10 > 3 * 3


@pytest.mark.parametrize("n", [8, 16, 32])
def test_bit_reversal_fills_a_buffer_of_half_the_side(n):
    schedule = route(f"array:{n}x{n}", pattern("bit-reversal", gossamer.network(f"array:{n}x{n}")))
    assert schedule.completion_time == 2 * n - 2
    assert buffer_peak(schedule, "all").packets == n // 2 + 1


@pytest.mark.parametrize("n", [9, 18, 36])
def test_a_node_may_hold_about_two_thirds_of_a_row(n):
    destination = np.full((n, n), -1)
    column, many = n // 2, 2 * n // 3
    around = np.argsort(abs(np.arange(n) - column), kind="stable")
    destination[1, around[:many]] = np.arange(2, 2 + many) * n + column
    rest = np.arange(2 + many, n)  # these rows are further, and their messages hold up the others
    destination[0, around[: rest.size]] = rest * n + column
    schedule = route(f"array:{n}x{n}", destination.reshape(-1))
    assert buffer_peak(schedule, "all").packets >= 2 * n // 3 - 2


def test_limited_buffers_and_ports_are_refused():
    network = gossamer.network("array:4x4")
    task = Permutation(tuple(range(15, -1, -1)))
    assert GREEDY.offers(Case(network, task, Rules(buffer=3))).why == "does not limit the packets that a node holds"
    assert "is for all-port nodes" in GREEDY.offers(Case(network, task, Rules(ports="one"))).why
    assert GREEDY.offers(Case(gossamer.network("star:4"), Permutation(tuple(range(24))), Rules())).why
