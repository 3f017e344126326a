"""The box cut against all rectangles, counted one by one, and the clusters that boxes miss."""

from __future__ import annotations

import itertools
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from algorithms.partial_exchange import active_sets as sets
from gossamer import Rules, lower_bounds, network
from gossamer.bounds.cut_nodes import cluster_bounds
from gossamer.bounds.partitions import box_bounds
from gossamer.networks import array, torus
from gossamer.questions.cases import Case
from gossamer.questions.tasks import PartialExchange, PartialGather, TotalExchange


def one(family, net, task, model=None):
    """Return the one bound of a family, or None."""
    found = list(family(Case(net, task, model or Rules(split=True))))
    assert len(found) <= 1
    return found[0] if found else None


def intervals(side, wraps):
    for first in range(side):
        for length in range(1, side + 1):
            if first + length <= side or (wraps and length < side):
                yield [(first + i) % side for i in range(length)]


def best_rectangle(net, active):
    """Return the largest of a(N-|U|)/cut and (M-a)|U|/cut over all boxes U, with the links counted on the network."""
    n, inside = net.node_count, np.zeros(net.node_count, bool)
    best = Fraction(0)
    for ranges in itertools.product(
        *(list(intervals(s, w)) for s, w in zip(net.grid.sides, net.grid.wraps, strict=True))
    ):
        nodes = [int(np.ravel_multi_index(x, net.grid.sides)) for x in itertools.product(*ranges)]
        inside[:] = False
        inside[nodes] = True
        cut = int(np.count_nonzero(inside[net.link_source] & ~inside[net.link_target]))
        a = len(set(active) & set(nodes))
        if cut:
            best = max(best, Fraction(a * (n - len(nodes)), cut), Fraction((len(active) - a) * len(nodes), cut))
    return best


@settings(max_examples=25)
@given(
    st.sampled_from([array(3, 4), array(5, 2), torus(4, 3), torus(5, 2), array(2, 3, 3), torus(3, 3, 2)]),
    st.data(),
    st.sampled_from([PartialExchange, PartialGather]),
)
def test_the_box_cut_is_the_best_of_all_rectangles(net, data, kind):
    active = data.draw(st.sets(st.integers(0, net.node_count - 1), min_size=1, max_size=net.node_count - 1))
    assert one(box_bounds, net, kind(active)).value == best_rectangle(net, active)


@pytest.mark.parametrize("case", sets.PLANE)
def test_the_cut_column_of_the_reference_table(case):
    p, active, cut, _, _ = sets.PLANE[case]
    assert best_rectangle(array(p, p), active).__ceil__() == cut
    found = [b for b in lower_bounds(array(p, p), PartialExchange(active)) if b.method in ("cut", "ports")]
    assert found[0].value == cut


def test_a_box_may_lie_over_the_edge_of_a_torus():
    net, active = torus(6, 6), [0, 5, 30, 35]  # a 2 x 2 block around the corner
    bound = one(box_bounds, net, PartialExchange(active))
    assert bound.value == Fraction(4 * 32, 8)
    assert "(5..0,5..0)" in bound.witness


def test_a_cluster_that_is_no_box_has_a_cut_of_its_own():
    """Four nodes in the shape of a T: 18 links leave them, and every box around them has idle nodes too."""
    net = torus(8, 8, 8)
    t = [tuple(x) for x in ((0, 3, 4), (1, 3, 3), (1, 3, 4), (1, 3, 5))]
    active = [int(np.ravel_multi_index(x, (8, 8, 8))) for x in t]
    cluster = one(cluster_bounds, net, PartialExchange(active))
    assert cluster.value == Fraction(4 * 508, 18)
    assert cluster.value > one(box_bounds, net, PartialExchange(active)).value
    assert "the 4 nodes (0,3,4), (1,3,3), (1,3,4), (1,3,5) over 18 links" in cluster.witness
    assert one(cluster_bounds, net, PartialGather(active)).value == cluster.value


@settings(max_examples=30)
@given(
    st.sampled_from([array(3, 3), torus(3, 3), network("star:3"), network("hypercube:3"), network("circulant:9,1,3")]),
    st.data(),
)
def test_no_cluster_cut_exceeds_that_of_the_best_set_of_nodes(net, data):
    active = data.draw(st.sets(st.integers(0, net.node_count - 1), min_size=1, max_size=net.node_count - 1))
    n, best = net.node_count, Fraction(0)
    for size in range(1, n):
        for nodes in itertools.combinations(range(n), size):
            inside = np.isin(np.arange(n), nodes)
            cut = int(np.count_nonzero(inside[net.link_source] & ~inside[net.link_target]))
            best = max(best, Fraction(len(active & set(nodes)) * (n - size), cut))
    value = one(cluster_bounds, net, PartialExchange(active)).value
    single = max(Fraction(n - 1, int(net.out_degree[v])) for v in active)
    assert single <= value <= best


def test_clusters_are_left_out_where_all_nodes_are_active_or_links_are_not_paired():
    assert one(cluster_bounds, array(3, 3), TotalExchange()) is None
    assert one(cluster_bounds, network("fat-tree:k=2,h=2,capacity=constant"), PartialExchange([0, 1])) is None
