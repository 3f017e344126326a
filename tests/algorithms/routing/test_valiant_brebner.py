"""Randomized routing: over the nodes that the source says, the same for one seed, and near the likely time."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.algorithms.routing import valiant_brebner as module
from gossamer.algorithms.routing.valiant_brebner import RANDOMIZED
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks.patterns import permutation
from gossamer.verification import verify

BY_NAME = {a.name: a for a in RANDOMIZED}


@pytest.mark.parametrize("name", BY_NAME)
@given(sides=st.lists(st.integers(1, 6), min_size=1, max_size=3), around=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_every_seed_delivers_on_arrays_and_tori(name, sides, around, seed):
    network = gossamer.network(f"{'torus' if around else 'array'}:{'x'.join(map(str, sides))}")
    task = permutation("random", network, density=0.8, seed=seed)
    assert verify(BY_NAME[name].build(Case(network, task, Rules(), seed=seed))).ok


@pytest.mark.parametrize("name", BY_NAME)
def test_one_seed_gives_one_schedule_and_another_another(name):
    network = gossamer.network("array:8x8")
    task = permutation("transpose", network)
    one, again, other = (BY_NAME[name].build(Case(network, task, Rules(), seed=s)) for s in (1, 1, 2))
    assert one == again
    assert one != other


def visited(schedule):
    """The nodes at which each packet is, in the order of time."""
    network = schedule.network
    path = {p: [int(u)] for p, u in enumerate(schedule.packets.origin)}
    for link, packet in zip(schedule.link.tolist(), schedule.packet.tolist(), strict=True):
        path[packet].append(int(network.link_target[link]))
    return path


@pytest.mark.parametrize(("name", "most"), [("valiant-brebner", 7), ("random-slices", 2)])
def test_a_packet_goes_up_or_down_its_column_then_along_a_row_then_a_column(name, most):
    network = gossamer.network("array:8x8")
    schedule = BY_NAME[name].build(Case(network, permutation("random", network), Rules(), seed=5))
    for path in visited(schedule).values():
        rows, columns = np.divmod(path, 8)
        start, end = columns[0], columns[-1]
        there = np.flatnonzero(columns != start)
        turn = rows[there[0]] if there.size else rows[-1]
        if there.size:
            assert abs(turn - rows[0]) <= most
        between = rows[(columns != start) & (columns != end)]
        assert set(between.tolist()) <= {int(turn)}


@pytest.mark.parametrize("length", range(1, 9))
@pytest.mark.parametrize("side", [1, 2, 7, 8])
def test_slices_cover_a_side_in_nearly_equal_parts(side, length):
    grid = gossamer.network(f"array:{side}").grid
    drawn = [
        module._redrawn(grid, np.arange(side, dtype=np.int32), 0, np.random.default_rng(seed), length).tolist()
        for seed in range(60)
    ]
    reach = [sorted({row[x] for row in drawn}) for x in range(side)]
    slices = {tuple(r) for r in reach}
    assert sorted(x for s in slices for x in s) == list(range(side))
    assert max(map(len, slices)) - min(map(len, slices)) <= 1
    assert all(x in r for x, r in enumerate(reach))


@pytest.mark.parametrize(("name", "most"), [("valiant-brebner", 3), ("random-slices", 2.5), ("random-nodes", 4)])
def test_seed_0_stays_near_the_time_that_is_likely(name, most):
    network = gossamer.network("array:32x32")
    for pattern in ("random", "transpose", "bit-reversal", "reversal"):
        schedule = BY_NAME[name].build(Case(network, permutation(pattern, network), Rules(), seed=0))
        assert schedule.completion_time <= most * 32


def test_no_time_is_claimed():
    network = gossamer.network("array:4x4")
    assert all(a.offer(Case(network, permutation("random", network), Rules())).time is None for a in RANDOMIZED)
