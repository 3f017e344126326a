from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from scipy.optimize import linprog

import gossamer
from algorithms.partial_exchange import active_sets as sets
from gossamer import Rules, network
from gossamer.bounds import concurrent_flow
from gossamer.bounds.concurrent_flow import concurrent_flow_bounds
from gossamer.networks import array, ring, torus
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Broadcast, PartialExchange, PartialGather, Scatter, TotalExchange

SPLIT = Rules(split=True)


def bound(net, task, model=SPLIT):
    (found,) = concurrent_flow_bounds(Case(net, task, model))
    return found


@pytest.mark.parametrize("case", sets.OPEN)
def test_reference_z_to_two_decimals(case):
    sides, active, z, _, _, _ = sets.OPEN[case]
    found = bound(array(*sides), PartialExchange(active))
    assert f"{float(found.value):.2f}" == z
    assert found.value.denominator < 100  # the rounding of the lengths found the exact dual


def least_congestion(net, pairs):
    """Solve the program with a path flow for each pair of nodes, by the simplex method."""
    links, n = net.link_count, net.node_count
    ends = scipy.sparse.coo_array(
        (
            np.repeat([1.0, -1.0], links),
            (np.concatenate([net.link_target, net.link_source]), np.tile(np.arange(links), 2)),
        ),
        shape=(n, links),
    )
    wanted = np.zeros((len(pairs), n))
    for row, (u, v) in enumerate(pairs):
        wanted[row, u], wanted[row, v] = -1, 1
    k = len(pairs)
    found = linprog(
        np.append(np.zeros(k * links), 1.0),
        A_ub=scipy.sparse.hstack([*[scipy.sparse.eye_array(links)] * k, -net.link_capacity[:, None].astype(float)]),
        b_ub=np.zeros(links),
        A_eq=scipy.sparse.hstack([scipy.sparse.block_diag([ends] * k), scipy.sparse.csr_array((k * n, 1))]),
        b_eq=wanted.reshape(-1),
        method="highs-ds",
    )
    return found.fun


NETWORKS = ["array:2x3", "torus:3x3", "ring:7", "star:3", "complete:4", "fat-tree:k=2,h=2,capacity=exponential"]


@settings(max_examples=30)
@given(st.sampled_from(NETWORKS), st.data(), st.sampled_from([PartialExchange, PartialGather]))
def test_the_bound_is_the_least_congestion_of_flows_between_all_pairs(name, data, kind):
    net = network(name)
    active = sorted(data.draw(st.sets(st.integers(0, net.terminal_count - 1), min_size=1, max_size=3)))
    pairs = [(s, v) for s in active for v in range(net.terminal_count) if s != v]
    if kind is PartialGather:
        pairs = [(v, s) for s, v in pairs]
    value = bound(net, kind(active)).value
    assert float(value) == pytest.approx(least_congestion(net, pairs), rel=1e-6)


@pytest.mark.parametrize("name", ["torus:3x4", "ring:6", "star:3", "ccc:3", "circulant:9,1,3"])
def test_one_node_stands_for_all_where_all_look_the_same(name):
    net = network(name)
    everyone = PartialExchange(range(net.node_count))
    by_all = bound(gossamer.networks.from_networkx(gossamer.networks.to_networkx(net)), everyone).value
    assert bound(net, TotalExchange()).value == by_all


def test_it_is_larger_than_all_other_bounds_of_cube_connected_cycles():
    net = network("ccc:4")
    found = gossamer.lower_bounds(net, TotalExchange())
    assert (found[0].name, found[0].value) == ("concurrent flow", 128)
    assert max(b.value for b in found if b.name != "concurrent flow") < 128


def test_whole_messages_take_whole_steps():
    task = PartialExchange([0])
    assert bound(array(3, 3, 3), task).value == Fraction(26, 3)
    assert bound(array(3, 3, 3), task, Rules()).value == 9


@pytest.mark.parametrize(("ports", "value"), [("one", 8), ("one-send", 8), ("one-receive", 2)])
def test_port_limits_count(ports, value):
    """On a ring of 5 the messages of a node make 6 hops; one active node sends 4, and its neighbors pass on 2."""
    net = ring(5)
    assert bound(net, TotalExchange(), Rules(ports=ports, split=True)).value == 6
    assert bound(array(3, 3), PartialExchange([4]), Rules(ports=ports, split=True)).value == value


def test_the_witness_names_lengths_that_prove_it():
    found = bound(array(3, 3, 3), PartialExchange([0]))
    assert found.witness == (
        "all messages together move at least 26 packets over 3 links ((0,0,0)->(1,0,0), (0,0,0)->(0,1,0), "
        "(0,0,0)->(0,0,1))"
    )


def test_the_solver_cannot_make_a_wrong_bound(monkeypatch):
    """Prices that are not optimal, even wild ones, give a smaller bound."""
    net, task = torus(3, 5), PartialExchange([0, 1, 7])
    best = bound(net, task).value
    random = np.random.default_rng(0)
    for _ in range(20):
        wild = random.random(net.link_count) ** 5
        monkeypatch.setattr(concurrent_flow, "_prices", lambda *arguments, wild=wild: wild)
        assert bound(net, task).value <= best


def test_without_a_solution_there_is_no_bound(monkeypatch):
    monkeypatch.setattr(concurrent_flow, "_prices", lambda case, *rest: np.zeros(rest[-1].capacity.size))
    assert list(concurrent_flow_bounds(Case(array(3, 3), PartialExchange([0]), SPLIT))) == []


def test_large_problems_and_other_tasks_are_left_out():
    for net, task in (
        (array(16, 16), PartialExchange(range(60))),
        (array(3, 3), Scatter(0)),
        (array(3, 3), Broadcast(0)),
    ):
        assert list(concurrent_flow_bounds(Case(net, task, SPLIT))) == []
