"""Where messages are split and links have no latency, bounds are the optima of linear programs and of all cuts."""

from __future__ import annotations

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import gossamer
from gossamer import Network, Rules
from gossamer.bounds import concurrent_flow
from gossamer.bounds.concurrent_flow import concurrent_flow_bounds
from gossamer.bounds.grid_cuts import thin_cuts
from gossamer.bounds.set_cuts import set_cut_bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import (
    Broadcast,
    MultinodeBroadcast,
    PartialMultinodeBroadcast,
    Permutation,
    ReduceScatter,
    TotalExchange,
)

SPLIT = Rules(split=True)


@st.composite
def networks(draw, most=7):
    """A strongly connected network of links of several rates, some of its nodes switches."""
    n = draw(st.integers(3, most))
    ring = [(v, (v + 1) % n) for v in range(n)]
    others = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    links = sorted(set(ring) | set(draw(st.lists(others, max_size=2 * n))))
    numbers = st.lists(st.integers(1, 3), min_size=len(links), max_size=len(links))
    return Network(
        "g", n, *zip(*links, strict=True), draw(numbers), link_occupancy=draw(numbers),
        terminal_count=draw(st.integers(2, n)), links_only=True,
    )  # fmt: skip


def cut_ratio(network, hubs):
    """The most hubs on one side of a cut, with a terminal on the other, for the rate of the links across."""
    best = Fraction(0)
    for inside in itertools.product([False, True], repeat=network.node_count):
        if all(inside[: network.terminal_count]):
            continue
        rate = sum(
            Fraction(int(c), int(o))
            for u, v, c, o in zip(
                network.link_source, network.link_target, network.link_capacity, network.link_occupancy, strict=True
            )
            if inside[u] and not inside[v]
        )
        if rate:
            best = max(best, sum(inside[h] for h in hubs) / rate)
    return best


@settings(max_examples=60)
@given(networks(), st.data())
def test_the_best_cut_around_nodes_is_the_best_of_all(network, data):
    hubs = sorted(data.draw(st.sets(st.integers(0, network.terminal_count - 1), min_size=1)))
    task = MultinodeBroadcast() if len(hubs) == network.terminal_count else PartialMultinodeBroadcast(hubs)
    for case in (Case(network, task, SPLIT), Case(network, task, SPLIT).dual):
        (found,) = set_cut_bounds(case)
        assert found.value == cut_ratio(network, hubs)


@settings(max_examples=30)
@given(networks())
def test_a_split_broadcast_takes_the_least_flow_to_a_terminal(network):
    graph = nx.DiGraph()
    for e in range(network.link_count):
        rate = 6 * int(network.link_capacity[e]) // int(network.link_occupancy[e])
        graph.add_edge(int(network.link_source[e]), int(network.link_target[e]), capacity=rate)
    flow = min(nx.maximum_flow_value(graph, 0, t) for t in range(1, network.terminal_count))
    (found,) = set_cut_bounds(Case(network, Broadcast(0), SPLIT))
    assert found.value == Fraction(6, flow)


@pytest.mark.parametrize("task", [MultinodeBroadcast(), ReduceScatter(), TotalExchange()])
def test_flows_find_the_thin_cut(task):
    """Two cliques, joined by two links."""
    graph = nx.disjoint_union(nx.complete_graph(8), nx.complete_graph(8))
    graph.add_edges_from([(0, 8), (7, 15)])
    half = np.arange(16) < 8
    found = list(thin_cuts(Case(from_networkx(graph), task)))
    assert any((inside == half).all() or (inside == ~half).all() for inside in found)


def least_congestion(network, pairs):
    """The time in which flows between pairs can pass, one program with a flow for each pair, by the simplex method."""
    links, n, k = network.link_count, network.node_count, len(pairs)
    ends = scipy.sparse.coo_array(
        (
            np.repeat([1.0, -1.0], links),
            (np.concatenate([network.link_target, network.link_source]), np.tile(np.arange(links), 2)),
        ),
        shape=(n, links),
    )
    wanted = np.zeros((k, n))
    for row, (u, v) in enumerate(pairs):
        wanted[row, u], wanted[row, v] = -1, 1
    rate = network.link_capacity / network.link_occupancy
    found = linprog(
        np.append(np.zeros(k * links), 1.0),
        A_ub=scipy.sparse.hstack([*[scipy.sparse.eye_array(links)] * k, -rate[:, None]]),
        b_ub=np.zeros(links),
        A_eq=scipy.sparse.hstack([scipy.sparse.block_diag([ends] * k), scipy.sparse.csr_array((k * n, 1))]),
        b_eq=wanted.reshape(-1),
        method="highs-ds",
    )
    return found.fun


@settings(max_examples=25)
@given(networks(5))
def test_an_exchange_has_the_bound_of_its_flows_over_links_of_several_rates(network):
    pairs = list(itertools.permutations(range(network.terminal_count), 2))
    (found,) = concurrent_flow_bounds(Case(network, TotalExchange(), SPLIT))
    assert float(found.value) == pytest.approx(least_congestion(network, pairs), rel=1e-4)


@settings(max_examples=25)
@given(networks(6), st.data())
def test_balanced_prices_come_close_to_the_flows_of_a_permutation(network, data):
    targets = data.draw(st.permutations(range(network.terminal_count)))
    pairs = [(u, v) for u, v in enumerate(targets) if u != v]
    if len(pairs) < 2:
        return
    optimum = least_congestion(network, pairs)
    (found,) = concurrent_flow_bounds(Case(network, Permutation(targets), SPLIT))
    assert 0.85 * optimum <= float(found.value) <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("graph", [nx.petersen_graph(), nx.random_regular_graph(3, 20, seed=2), nx.star_graph(6)])
@pytest.mark.parametrize("ports", ["all", "one"])
def test_balanced_prices_come_close_to_the_solved_ones(monkeypatch, graph, ports):
    case = Case(from_networkx(graph), TotalExchange(), Rules(ports=ports, split=True))
    (solved,) = concurrent_flow_bounds(case)
    monkeypatch.setattr(concurrent_flow, "MAX_SEARCHED", 0)
    (balanced,) = concurrent_flow_bounds(case)
    assert Fraction(97, 100) * solved.value <= balanced.value <= solved.value


def test_link_prices_find_the_slow_ways_between_clusters():
    graph = nx.disjoint_union_all([nx.complete_graph(16)] * 16)
    graph.add_edges_from((16 * i, (16 * i + 17) % 256) for i in range(16))
    values = {b.name: b.value for b in gossamer.lower_bounds(from_networkx(graph), TotalExchange())}
    # 8 clusters of 16 against the others, over 2 links
    assert values["concurrent flow"] == max(values.values()) == 8 * 16 * 8 * 16 // 2


def least_copies(network, owners):
    """The time in which blocks can spread to all terminals, where copies of a block share the links that they pass."""
    links, nodes, terminals = network.link_count, network.node_count, network.terminal_count
    pairs = [(i, t) for i, s in enumerate(owners) for t in range(terminals) if t != s]
    every = np.arange(links)
    blocks, count = len(owners), len(pairs)
    flow = blocks * links + np.arange(count * links).reshape(count, links)
    of = np.array([i for i, _ in pairs])[:, None] * links + every  # a flow is no more than its block's share of a link
    row = np.arange(count * links)
    rows = np.concatenate([row, row, count * links + np.tile(every, blocks), count * links + every])
    columns = np.concatenate([
        flow.ravel(), of.ravel(), np.arange(blocks * links), np.full(links, (blocks + count) * links)
    ])  # fmt: skip
    rate = network.link_capacity / network.link_occupancy
    values = np.concatenate([np.ones(row.size), -np.ones(row.size), np.ones(blocks * links), -rate])
    kept = np.repeat(np.arange(count), links) * nodes
    ends = np.concatenate([kept + np.tile(network.link_source, count), kept + np.tile(network.link_target, count)])
    wanted = np.zeros((count, nodes))
    for k, (i, t) in enumerate(pairs):
        wanted[k, owners[i]], wanted[k, t] = 1, -1
    size = (blocks + count) * links + 1
    signs = np.repeat([1.0, -1.0], row.size)
    found = linprog(
        np.append(np.zeros(size - 1), 1.0),
        A_ub=scipy.sparse.csr_array((values, (rows, columns)), shape=((count + 1) * links, size)),
        b_ub=np.zeros((count + 1) * links),
        A_eq=scipy.sparse.csr_array((signs, (ends, np.tile(flow.ravel(), 2))), shape=(count * nodes, size)),
        b_eq=wanted.ravel(),
    )
    return found.fun


HIERARCHIES = [
    "generalized-fat-tree:children=4x2x2,parents=1x1x2",
    "leaf-spine:leaves=3,spines=2,hosts=3",
    "servers:s=3,g=3,inside=9,spines=2",
    "mi300x:2,gpus=4,rails=4",
    "mi250x:2,rails=4",
]


@pytest.mark.parametrize("spec", HIERARCHIES)
def test_bounds_of_hierarchies_are_the_fluid_optimum(spec):
    """The nodes, the parts and the flows are enough: no schedule of smallest parts is bound by more."""
    net = gossamer.network(spec)
    net = Network(
        "plain", net.node_count, net.link_source, net.link_target, net.link_capacity, terminal_count=net.terminal_count
    )  # fmt: skip
    pairs = list(itertools.permutations(range(net.terminal_count), 2))
    for task, least in (
        (TotalExchange(), least_congestion(net, pairs)),
        (MultinodeBroadcast(), least_copies(net, range(net.terminal_count)) if net.terminal_count < 10 else None),
        (Broadcast(0), least_copies(net, [0])),
    ):
        value = max(bound.value for bound in gossamer.lower_bounds(net, task, rules=SPLIT))
        if least is not None:
            assert float(value) == pytest.approx(least, rel=1e-3)
