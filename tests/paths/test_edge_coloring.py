"""Koenig: as many colors as the largest degree are enough, whatever the multigraph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graphs.edge_coloring import color_edges, largest_degree

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=80)


def assert_proper(left, right, colors, allowed):
    assert colors.min() >= 0
    assert colors.max() < allowed
    for side in (left, right):
        assert len(set(zip(side.tolist(), colors.tolist(), strict=True))) == side.size


@given(edges)
def test_largest_degree_many_colors_are_enough(pairs):
    left, right = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    colors = color_edges(left, right)
    if pairs:
        assert_proper(left, right, colors, largest_degree(left, right))
    else:
        assert colors.size == 0


@given(edges.filter(len), st.integers(0, 5))
def test_more_colors_than_needed_are_fine(pairs, spare):
    left, right = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    allowed = largest_degree(left, right) + spare
    assert_proper(left, right, color_edges(left, right, allowed), allowed)


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 64, 101])
def test_complete_bipartite_multigraphs(degree):
    left, right = (x.reshape(-1) for x in np.meshgrid(np.arange(degree), np.arange(degree)))
    colors = color_edges(left, right)
    assert_proper(left, right, colors, degree)
    assert np.bincount(colors).tolist() == [degree] * degree


def test_few_machines_with_many_jobs():
    draw = np.random.default_rng(0)
    left, right = draw.integers(0, 5000, 60000), draw.integers(0, 6, 60000)
    assert_proper(left, right, color_edges(left, right), largest_degree(left, right))
