"""Cycles of all nodes of arrays and tori, and multinode broadcasts with one port around them."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import (
    HAMILTONIAN_CYCLE,
    hamiltonian_cycle,
    rank_rings,
    ring_words,
    server_chains,
)
from gossamer.bounds import best_bound
from gossamer.bounds.set_cuts import color_classes, port_set_bounds
from gossamer.networks.structures import Grid
from gossamer.questions.cases import Case

ONE = gossamer.Rules(ports="one")
SIDES = [s for d in (1, 2, 3) for s in itertools.product((1, 2, 3, 4, 5), repeat=d)]


@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_there_is_a_cycle_where_there_can_be_one(sides):
    for wraps in itertools.product((False, True), repeat=len(sides)):
        if any(wrap and side < 3 for wrap, side in zip(wraps, sides, strict=True)):
            continue
        cycle = hamiltonian_cycle(Grid(sides, wraps))
        nodes, line = np.prod(sides), sum(side > 1 for side in sides) < 2
        if not any(wraps) and (line or nodes % 2):
            assert cycle is None
            continue
        assert sorted(cycle.tolist()) == list(range(nodes))
        places = np.array(np.unravel_index(cycle, sides)).T
        apart = np.abs(places - np.roll(places, -1, axis=0))
        apart = np.where(wraps, np.minimum(apart, np.array(sides) - apart), apart)
        assert (apart.sum(axis=1) == 1).all()


@pytest.mark.parametrize("ports", ["one", "one-send", "one-receive"])
@pytest.mark.parametrize("spec", ["array:4x4", "array:2x3x3", "array:2x7"])
def test_arrays_of_an_even_number_of_nodes_meet_the_bound(spec, ports):
    plan = gossamer.plan(spec, gossamer.task("allgather"), rules=gossamer.Rules(ports=ports))
    assert plan.completion_time == plan.bound == plan.schedule.network.node_count - 1


@pytest.mark.parametrize("spec", ["array:3x3", "array:8", "hypercube:0", "star:4", "complete:5"])
def test_other_networks_are_refused(spec):
    assert not HAMILTONIAN_CYCLE.covers(Case(gossamer.network(spec), gossamer.task("allgather"), ONE))


@pytest.mark.parametrize(("spec", "steps"), [("array:3x3", 10), ("array:3x5", 16), ("array:3x3x3", 28)])
@pytest.mark.parametrize("task", ["allgather", "reduce-scatter"])
def test_color_classes_bound_arrays_of_an_odd_number_of_nodes(spec, steps, task):
    bound = best_bound(Case(gossamer.network(spec), gossamer.task(task), ONE))
    assert (bound.name, bound.value) == ("few neighbors", steps)


def test_leaves_of_a_tree_need_all_that_their_parents_can_send():
    star = gossamer.network(nx.star_graph(5))
    plan = gossamer.plan(star, gossamer.task("allgather"), rules=ONE)
    assert plan.bounds[0].witness == (
        "5 nodes that have no links among each other must receive 25 messages, but have only 1 neighbor to "
        "send them, one each at a time"
    )
    assert plan.bound == 25
    assert color_classes(gossamer.network("complete:4")) is None


def test_free_receivers_do_not_help_free_senders_do():
    network, task = gossamer.network("array:3x3"), gossamer.task("allgather")
    found = {p: [b.value for b in port_set_bounds(Case(network, task, gossamer.Rules(ports=p)))] for p in
             ("all", "one", "one-send", "one-receive")}  # fmt: skip
    assert found == {"all": [], "one": [10, 2], "one-send": [10], "one-receive": [2]}


DGX_1 = Path(__file__).parents[3] / "examples" / "machines" / "dgx1.txt"


@pytest.mark.parametrize(
    ("spec", "rings"),
    [(DGX_1, 3), ("complete:5", 2), ("complete:8", 3), ("complete:9", 4), ("mi300x", 3), ("star:4", 1), ("gaudi3", 3)],
    ids=str,
)
def test_rings_along_cables_are_cycles_that_share_no_cable(spec, rings):
    network = gossamer.network(spec)
    found, run = rank_rings(network)
    assert (len(found), run) == (rings, "cables")
    used = np.zeros(network.link_count, int)
    for ring in found:
        assert sorted(ring.order.tolist()) == list(range(network.terminal_count))
        after = np.roll(ring.order, -1)
        for links, ends in ((ring.forth, (ring.order, after)), (ring.back, (after, ring.order))):
            assert (network.link_source[links] == ends[0]).all()
            assert (network.link_target[links] == ends[1]).all()
            np.add.at(used, links, 1)
    assert (used <= network.link_capacity).all()
    degree = np.bincount(network.link_source, network.link_capacity).min()
    assert rings <= degree // 2
    if spec == DGX_1:  # all cables are in use, both ways
        assert (used == network.link_capacity).all()


@pytest.mark.parametrize("spec", ["array:3x3", "nvl72", "array:5", nx.petersen_graph()], ids=str)
def test_where_there_is_no_cycle_of_cables_the_ring_is_in_rank_order(spec):
    network = gossamer.network(spec)
    found, run = rank_rings(network)
    assert run == "ranks"
    assert ring_words(network) == "ring in rank order"
    assert [ring.order.tolist() for ring in found] == [list(range(network.terminal_count))]


@pytest.mark.parametrize(
    ("spec", "rings"), [("dgx-h100:2", 8), ("dgx-a100:4", 8), ("mi300x:2", 3 * 8), ("gaudi3:2", 3 * 8)]
)
def test_rings_of_servers_leave_and_enter_at_the_same_accelerator(spec, rings):
    network = gossamer.network(spec)
    found, run = rank_rings(network)
    size = server_chains(network)[0].size
    assert (len(found), run, size) == (rings, "rails", 8)
    exits = []
    for ring in found:
        assert sorted(ring.order.tolist()) == list(range(network.terminal_count))
        server, place = np.divmod(ring.order, size)
        leaves = np.flatnonzero(server != np.roll(server, -1))
        assert leaves.size == network.terminal_count // size
        assert (place[leaves] == np.roll(place, -1)[leaves]).all()
        exits.append(place[leaves])
    assert np.unique(np.bincount(np.concatenate(exits))).size == 1  # every rail alike


@pytest.mark.parametrize("task", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize("spec", [DGX_1, "complete:5", "star:4", "torus:4x4"], ids=str)
@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_a_ring_with_one_port_meets_the_bound(spec, task, ports):
    name = "multi-ring" if task == "allgather" else "reversed-multi-ring"
    rules, steps = gossamer.Rules(ports=ports), gossamer.StepCost()
    network = gossamer.network(spec)
    plan = gossamer.plan(network, task, rules=rules, cost=steps, algorithm=name)
    assert plan.completion_time == network.terminal_count - 1 == plan.bound
