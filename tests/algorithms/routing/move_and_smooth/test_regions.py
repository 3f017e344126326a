"""How arrays are divided, and routing with any number of parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from algorithms.routing.move_and_smooth.instances import every_class
from gossamer.algorithms.routing.move_and_smooth import k_partition, k_strips
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import OneToManyRouting
from gossamer.verification.metrics import buffer_peak

splits = st.lists(st.tuples(st.integers(0, 1), st.integers(2, 4)), max_size=5)


@given(st.integers(1, 30), st.integers(1, 30), splits)
def test_parts_of_an_interval_differ_by_one_at_most_the_larger_first(r, c, changes):
    regions = Regions.whole((r, c))
    for axis, parts in changes:
        before, regions = regions, regions.split(axis, parts)
        assert regions.cuts[1 - axis] == before.cuts[1 - axis]
        for a, b in zip(before.cuts[axis], before.cuts[axis][1:], strict=False):
            inside = [x for x in regions.cuts[axis] if a <= x <= b]
            sizes = np.diff(inside).tolist()
            assert len(sizes) == min(parts, b - a)
            assert sizes == sorted(sizes, reverse=True)
            assert sizes[0] - sizes[-1] <= 1
            numbers = [regions.cuts[axis].index(x) for x in inside[:-1]]
            assert [regions.smaller[axis][i] for i in numbers] == [size < sizes[0] for size in sizes]


@given(st.integers(1, 9), st.integers(1, 9), splits, st.booleans())
def test_every_node_is_on_one_line_of_its_region(r, c, changes, mirrored):
    regions = Regions.whole((r, c))
    for axis, parts in changes:
        regions = regions.split(axis, parts)
    order, first, fresh = regions.ordered((), (0, 1), 0 if mirrored else None)
    assert sorted(order.tolist()) == list(range(r * c))
    assert fresh[0]
    for a, b in itertools.pairwise(first):
        line = order[a:b]
        assert len(set((line // c).tolist())) == 1
        step = np.diff(line)
        assert (step == 1).all() or (step == -1).all()
        assert b - a == regions.size(1)[line[0] % c]


@pytest.mark.parametrize(("n", "k"), [(9, 3), (27, 3), (5, 5), (25, 5), (16, 2), (16, 4)])
def test_any_number_of_parts_routes_every_class_within_its_buffers(n, k):
    check_parts(n, k)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(64, 4), (64, 8), (8, 8), (36, 6), (81, 3), (6, 6)])
def test_more_parts_route_every_class_within_their_buffers(n, k):
    check_parts(n, k)


def check_parts(n, k):
    network = gossamer.network(f"array:{n}x{n}")
    for task in every_class(network, k):
        for build, most in ((k_strips, k + 1 + k % 2), (k_partition, k * k + 2)):
            actual, clocked = (build(Case(network, task, Rules()), k, clock=clock) for clock in (False, True))
            assert gossamer.verify(actual)
            assert gossamer.verify(clocked)
            assert actual.completion_time <= clocked.completion_time
            if build is k_strips or not isinstance(task, OneToManyRouting):
                assert buffer_peak(actual, "all").packets <= most


def test_what_does_not_divide_is_said():
    task = gossamer.task("permutation", destination=list(range(36)))
    network = gossamer.network("array:6x6")
    with pytest.raises(NotApplicableError, match="a power of 4, got array:6x6"):
        k_strips(Case(network, task, Rules()), 4)
    with pytest.raises(NotApplicableError, match="2 parts or more, got 1"):
        k_partition(Case(network, task, Rules()), 1)
    with pytest.raises(NotApplicableError, match="the task is broadcast"):
        k_strips(Case(network, gossamer.task("broadcast"), Rules()), 6)
    with pytest.raises(NotApplicableError, match="more than the buffer of 3"):
        k_strips(Case(network, task, Rules(buffer=3, buffer_counts="all")), 6)
