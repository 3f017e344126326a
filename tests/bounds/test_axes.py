"""Bounds along the dimensions of a grid whose links differ in capacity from dimension to dimension."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.bounds import bounds
from gossamer.bounds.ports import axis_capacity
from gossamer.networks import to_networkx
from gossamer.questions.cases import Case
from gossamer.questions.cases.distances import axes_of
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast, PartialExchange, TotalExchange

TASKS = [TotalExchange(), MultinodeBroadcast(), PartialExchange((0, 1, 2, 5, 7))]


@pytest.mark.parametrize("spec", ["torus:4x4,capacity=4x5", "array:4x4,capacity=2x3", "torus:3x8,capacity=3x9"])
@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_wide_links_are_counted_in_full(spec, task):
    """No bound may be above a third of what the same shape needs with links of capacity 1, but for the distances."""
    network = gossamer.network(spec)
    least = min(int(c) for c in network.link_capacity)
    plain = gossamer.network(spec.partition(",")[0])
    kinds = {"cut", "load"}
    for wide in bounds(Case(network, task, Rules(split=True))):
        single = [b for b in bounds(Case(plain, task, Rules(split=True))) if b.name == wide.name and b.method in kinds]
        assert all(wide.value <= b.value / least for b in single)


@pytest.mark.parametrize("spec", ["torus:4x4,capacity=1x3", "array:3x4,capacity=5x2", "torus:2x3x3,capacity=1x2x3"])
def test_an_axis_carries_what_its_widest_link_does(spec):
    network = gossamer.network(spec)
    case = Case(network, TotalExchange())
    places = np.stack(np.unravel_index(np.arange(network.node_count), network.grid.sides), axis=1)
    for d, axis in enumerate(axes_of(case.metric)):
        along = {c for u, v, c in to_networkx(network).edges(data="capacity") if places[u][d] != places[v][d]}
        assert along == {axis_capacity(case, axis)}
        assert axis_capacity(case.related(rules=Rules(ports="one")), axis) == 1


def test_hops_along_a_wide_dimension_by_hand():
    """16 * 16 pairs of a 4x4 torus need one hop on average along each dimension: 256 hops over 32 links of 3."""
    found = {b.name: b.value for b in bounds(Case(gossamer.network("torus:4x4,capacity=1x3"), TotalExchange()))}
    assert found["hops along dimension 0"] == 256 // 32
    assert found["hops along dimension 1"] == -(-256 // (32 * 3))
