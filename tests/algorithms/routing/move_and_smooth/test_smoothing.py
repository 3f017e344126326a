"""Smoothing: the worked examples, the bounds, and the final placement, for regions of any size and dimension."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.routing.move_and_smooth.replaying import replay, traffic_of
from gossamer.algorithms.routing.move_and_smooth.regions import Regions
from gossamer.algorithms.routing.move_and_smooth.smoothing import PhaseLengths, count_length, smooth, smooth_lengths
from gossamer.errors import ScheduleError

pytestmark = pytest.mark.uncompiled


def smoothed(counts, axes=None, b=4, regions=None):
    counts = np.asarray(counts)
    traffic = traffic_of(counts)
    start = traffic.node.copy()
    lengths = smooth(traffic, regions or Regions.whole(counts.shape), axes or tuple(range(counts.ndim))[::-1], b)
    return lengths, replay(traffic, start)


UPPER = [[1, 0, 2, 2, 3, 1, 0, 3], [4, 3, 3, 1, 2, 4, 0, 4], [0, 0, 0, 4, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2, 2, 2]]


@pytest.mark.parametrize(("rows", "steps"), [(1, 3), (2, 3), (3, 3), (4, 3)])
def test_upper_half_of_figures_3_4_to_3_7(rows, steps):
    counts = np.zeros((8, 8), int)
    counts[:rows] = UPPER[:rows]
    lengths, after = smoothed(counts)
    assert lengths.count == 10
    assert lengths.rows == (steps,)
    final = [[2, 2, 2, 2, 1, 1, 1, 1], [3, 2, 2, 2, 3, 3, 3, 3], [0, 1, 1, 1, 1, 0, 0, 0], [2] * 8]
    assert after["row 8x8"][0][:rows].tolist() == final[:rows]


def test_a_4x4_region_by_hand():
    lengths, after = smoothed([[4, 0, 0, 1], [4, 3, 0, 0], [0, 0, 0, 0], [0, 1, 0, 2]])
    assert lengths == PhaseLengths(4, (4,), 1)
    assert after["row 4x4"][0].tolist() == [[2, 1, 1, 1], [1, 2, 2, 2], [0, 0, 0, 0], [0, 1, 1, 1]]
    assert after["column 4x4"][0].reshape(-1).tolist() == [1] * 12 + [0] + [1] * 3


def test_worst_columns():
    counts = np.zeros((8, 8), int)
    counts[:2] = 4
    assert smoothed(counts)[0] == PhaseLengths(10, (0,), 6)
    counts = np.zeros((4, 2), int)
    counts[:2] = 2
    assert smoothed(counts, b=2)[0].column == 2


def test_the_worst_row_of_an_8x8_region_is_reached():
    counts = np.zeros((8, 8), int)
    counts[0, 5:] = 4
    assert smoothed(counts)[0].rows == (9,)


@st.composite
def contents(draw):
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    b = draw(st.integers(1, 9))
    room = int(np.prod(shape))
    counts = np.zeros(room, int)
    order = draw(st.permutations(range(room))) if draw(st.booleans()) else range(room)
    total = draw(st.integers(0, room))
    for cell in order:
        counts[cell] = min(b if draw(st.booleans()) else draw(st.integers(0, b)), total)
        total -= counts[cell]
    return counts.reshape(shape), b, tuple(draw(st.permutations(range(len(shape)))))


@settings(max_examples=50)
@given(contents())
def test_smoothing_keeps_its_bounds_and_ends_at_both_ends_of_the_region(case):
    counts, b, axes = case
    lengths, after = smoothed(counts, axes, b)
    bound = smooth_lengths(Regions.whole(counts.shape), axes, b)
    assert lengths.count == bound.count
    assert all(a <= m for a, m in zip(lengths.rows, bound.rows, strict=True))
    assert lengths.column <= bound.column
    assert max((most for _, most in after.values()), default=0) <= max(b, 1)
    turned = counts.transpose(axes[::-1])  # the last axis most significant
    half = turned.shape[0] // 2
    u, v = int(turned[:half].sum()), int(turned[half:].sum())
    final = next(reversed(after.values()))[0].transpose(axes[::-1]).reshape(-1) if after else counts.reshape(-1)
    assert final.tolist() == [1] * u + [0] * (final.size - u - v) + [1] * v


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 10**6))
def test_regions_are_smoothed_side_by_side(r, c, seed):
    draw = np.random.default_rng(seed)
    regions = Regions.whole((r, c)).split(0).split(1)
    counts = np.zeros((r, c), int)
    for a, b in zip(regions.cuts[0], regions.cuts[0][1:], strict=False):
        for d, e in zip(regions.cuts[1], regions.cuts[1][1:], strict=False):
            room = (b - a) * (e - d)
            cells = draw.integers(0, room, draw.integers(0, room + 1))
            counts[a:b, d:e] = np.bincount(cells, minlength=room).reshape(b - a, e - d)
    most = max(int(counts.max()), 1)
    _, after = smoothed(counts, (1, 0), most, regions)
    final = next(reversed(after.values()))[0] if after else counts
    assert final.max(initial=0) <= 1
    for a, b in zip(regions.cuts[0], regions.cuts[0][1:], strict=False):
        for d, e in zip(regions.cuts[1], regions.cuts[1][1:], strict=False):
            assert final[a:b, d:e].sum() == counts[a:b, d:e].sum()


def test_counting_waves_cross_every_link_that_they_need_in_the_stated_time():
    for shape in ((8, 8), (8, 4), (5, 7), (1, 6), (6, 1), (4, 4, 4), (3, 5, 2)):
        counts = np.zeros(shape, int)
        traffic = traffic_of(counts)
        axes = tuple(range(len(shape)))[::-1]
        smooth(traffic, Regions.whole(shape), axes, 1)
        (run,) = [p for p in traffic.sink.phases if p.control]
        net = traffic.network
        slots, links, _ = traffic.sink.kept
        assert run.steps == count_length(shape, axes)
        assert slots[-1] + 1 == run.steps
        halves = max(shape[0] // 2 - 1, 0) + max((shape[0] + 1) // 2 - 1, 0)
        along = [2 * (side - 1) * (net.node_count // side) for side in shape[1:]]
        assert links.size == sum(along) + halves * (net.node_count // shape[0])


def test_counts_travel_in_time_to_be_passed_on():
    """A wave leaves a node only after it came to it."""
    traffic = traffic_of(np.zeros((6, 5), int))
    smooth(traffic, Regions.whole((6, 5)), (1, 0), 1)
    net = traffic.network
    slots, links = (column.tolist() for column in traffic.sink.kept[:2])
    arrival = {}
    for t, ln in zip(slots, links, strict=True):
        u, v = int(net.link_source[ln]), int(net.link_target[ln])
        way = v - u
        before = u - way
        inside = 0 <= before < 30 and (abs(way) > 1 or before // 5 == u // 5)
        crosses = abs(way) == 5 and (u // 5 >= 3) != (before // 5 >= 3)
        if inside and not crosses:
            assert arrival[u, way] < t
        if abs(way) == 5:
            assert all(arrival[u, w] < t for w in (1, -1) if 0 <= u % 5 - w < 5)
        arrival[v, way] = t


def test_too_full_a_node_is_refused():
    with pytest.raises(ScheduleError, match="smoothing for 2 packets at a node meets 3"):
        smoothed([[3, 0], [0, 0]], b=2)


def test_too_full_a_region_is_refused():
    traffic = traffic_of(np.zeros((2, 2), int))
    extra = np.zeros(5, np.int32)
    traffic.packet = traffic.node = extra
    with pytest.raises(ScheduleError, match="more packets than nodes"):
        smooth(traffic, Regions.whole((2, 2)), (1, 0), 5)


def test_phases_are_named_after_the_largest_region():
    net = gossamer.network("array:4x4")
    task = gossamer.task("permutation", destination=list(range(15, -1, -1)))
    names = [p.name for p in gossamer.plan(net, task, algorithm="Q").schedule.phases]
    assert names == ["move 4x4", "count 2x2", "row 2x2", "column 2x2", "move 2x2"]
