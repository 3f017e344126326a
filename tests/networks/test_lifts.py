"""Lifts of small graphs bring a group of symmetries along."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.total_exchange.orbit_paths import orbit_paths_exchange
from gossamer.errors import NetworkError
from gossamer.networks import free_group
from gossamer.questions.cases import Case

SPECS = {
    "lift:abelian(5);0-1,0-0*1,1-1*2": 5,
    "lift:semidirect(3,2,2);0-1,0-1*1,0-0*3,1-1*2": 6,
    "lift:semidirect(7,3,2);0-1,0-1*4,1-2*5,2-0*9": 21,
}


@pytest.fixture(autouse=True)
def no_igraph(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "igraph" else found(name, *a))


@pytest.mark.parametrize(("spec", "order"), SPECS.items())
def test_the_group_of_a_lift_moves_every_node_and_keeps_links(spec, order):
    net = gossamer.network(spec)
    table = free_group(net)
    here = np.arange(net.node_count)
    assert table.shape == (order, net.node_count)
    assert (table[0] == here).all()
    assert (table[1:] != here).all()
    links = set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    for image in table:
        assert {(int(image[u]), int(image[v])) for u, v in links} == links


@pytest.mark.parametrize("spec", SPECS)
def test_links_with_times_of_their_own_have_none_of_its_symmetries(spec):
    net = gossamer.network(spec)
    assert free_group(net.with_times(np.arange(net.link_count) % 3 + 1, 0)) is None


def test_a_group_of_one_element_is_none_to_plan_with():
    net = gossamer.network("lift:abelian(1);0-1,1-2,2-3,3-0,0-2")
    with pytest.raises(NetworkError, match="no group of symmetries that moves every node is known of"):
        orbit_paths_exchange(Case(net, gossamer.task("alltoall")))


def test_large_lifts_are_planned_for_one_orbit():
    net = gossamer.network("lift:abelian(8,16);0-1,0-1*1,0-1*37,1-2*90,0-2*21,2-2*18,3-2*3,3-3*40,3-1*77,0-3*8")
    plan = gossamer.plan(net, "alltoall", algorithm="orbit-paths")
    assert plan.schedule.symmetry.order == 128
    assert plan.schedule.completion_time <= 1.1 * float(max(b.value for b in plan.bounds))
