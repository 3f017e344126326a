"""Every metric gives the distances of a breadth-first search, or less where it does not search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.questions.cases import distances as metrics
from gossamer.questions.cases.distances import at_least, axes_of, metric_of
from schedules.strategies import SPECS, graphs

STRUCTURED = [
    *SPECS, "array:7", "array:3x1x4", "torus:4x5x2", "ring:2", "torus:6x1", "hypercycle:7,2x4,1", "butterfly:3",
    "pancake:4", "product:(star:3)x(array:3)", "product:(fat-tree:k=2,h=0)x(ring:4)", "complete:1",
]  # fmt: skip


def table(network):
    t = network.terminal_count
    return np.array([network.distances(v)[:t] for v in range(t)])


def agrees(network, exact=True):
    distance, metric = table(network), metric_of(network)
    nodes = np.arange(network.terminal_count)
    for inward, rows in ((False, distance), (True, distance.T)):
        eccentricities, statuses = metric.eccentricities(nodes, inward), metric.statuses(nodes, inward)
        assert (eccentricities <= rows.max(axis=1)).all()
        assert (statuses <= rows.sum(axis=1)).all()
        if exact:
            assert np.array_equal(eccentricities, rows.max(axis=1))
            assert np.array_equal(statuses, rows.sum(axis=1))
        for v in nodes.tolist():
            assert metric.row(v, inward).tolist() == rows[v].tolist()
            assert metric.profile(v, inward).tolist() == np.bincount(rows[v]).tolist()
            same = int(metric.canonical(np.array([v]))[0])
            assert metric.profile(same, inward).tolist() == np.bincount(rows[v]).tolist()
    u, v = (x.reshape(-1) for x in np.meshgrid(nodes, nodes))
    between = metric.between(u, v)
    assert (between <= distance[u, v]).all()
    assert not exact or np.array_equal(between, distance[u, v])


@pytest.mark.parametrize("spec", STRUCTURED)
def test_structured_networks(spec):
    agrees(gossamer.network(spec))


@given(graphs())
def test_any_network_one_way_links_included(network):
    agrees(network)


@given(graphs(), st.integers(1, 3))
def test_nodes_not_searched_get_values_that_are_not_too_large(network, searches):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "MAX_SEARCHES", searches)
        agrees(network, exact=False)


def test_axes_are_those_of_grids_and_products():
    assert [a.wraps for a in axes_of(metric_of(gossamer.network("torus:4x2x5")))] == [True, False, True]
    axes = axes_of(metric_of(gossamer.network("product:(ring:5)x(complete:4)")))
    assert [(a.size, a.stride, a.wraps) for a in axes] == [(5, 4, True), (4, 1, None)]
    assert axes_of(metric_of(gossamer.network("star:4"))) == ()


@given(st.lists(st.integers(0, 5), min_size=1))
def test_at_least_counts_what_is_no_nearer(counts):
    assert at_least(np.array(counts)).tolist() == [sum(counts[d:]) for d in range(len(counts))]
