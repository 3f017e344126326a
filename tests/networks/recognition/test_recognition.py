"""Structure found in lists of links, under any numbering: exact, and planned as what it is."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.cli import main
from gossamer.networks import Network, Speeds, from_networkx, parse, product
from gossamer.networks.recognition import prime_factors, recognition


def as_list(network, seed=None):
    """Return the links of a network in an order of chance and, with a seed, under other numbers."""
    rng = np.random.default_rng(seed or 0)
    n, terminals = network.node_count, network.terminal_count
    names = np.arange(n)
    if seed is not None:
        names = np.concatenate([rng.permutation(terminals), terminals + rng.permutation(n - terminals)])
    mixed = rng.permutation(network.link_count)
    source, target = names[network.link_source[mixed]], names[network.link_target[mixed]]
    order = np.argsort(source, kind="stable")
    capacity = network.link_capacity[mixed][order]
    return Network("a list", n, source[order], target[order], capacity, terminal_count=terminals, links_only=True)


def assert_is(network, found):
    """Assert that what was found is the network, node for node."""
    n = np.int64(network.node_count)
    place = found.place.astype(np.int64)
    assert sorted(place.tolist()) == list(range(int(n)))
    original = found.original
    moved = place[network.link_source] * n + place[network.link_target]
    real = original.link_source * n + original.link_target
    order, other = np.argsort(moved), np.argsort(real)
    assert np.array_equal(moved[order], real[other])
    assert np.array_equal(network.link_capacity[order], original.link_capacity[other])
    assert [original.node_name(int(p)) for p in place] == [network.node_name(u) for u in range(int(n))]


FAMILIES = [
    "ring:5", "ring:4", "ring:3", "array:2", "array:5", "array:2x3", "array:4x4", "torus:4x4", "torus:8x4", "torus:4x8",
    "torus:3x4x5", "torus:5x2", "hypercube:4", "complete:6", "generalized-hypercube:4x3x2", "generalized-hypercube:4x4",
    "product:(ring:5)x(array:3)", "product:(complete:4)x(star:4)", "product:(ring:5)x(ccc:3)", "star:4", "pancake:4",
    "bubble-sort:4", "ccc:3", "butterfly:3", "extended-ring:14,2", "circulant:13,1,5", "kautz:2,2", "de-bruijn:2,3",
    "fat-tree:k=2,h=3,capacity=constant", "fat-tree:k=3,h=2,capacity=exponential", "fat-tree:k=6,h=1,capacity=5",
]  # fmt: skip


@pytest.mark.parametrize("spec", FAMILIES)
def test_families_are_found_as_numbered_and_under_any_numbers(spec):
    net = as_list(parse(spec))
    found = recognition(net)
    assert_is(net, found)
    assert (found.words, found.in_order) == (spec, True)
    other = as_list(parse(spec), seed=3)
    assert_is(other, recognition(other))
    assert recognition(other) is recognition(other)


@pytest.mark.parametrize("spec", ["de-bruijn:2,3", "de-bruijn:3,2", "kautz:2,2"])
@pytest.mark.parametrize("seed", range(6))
def test_networks_that_look_different_from_their_nodes_are_found_whichever_is_the_first(spec, seed):
    net = as_list(parse(spec), seed)
    assert_is(net, recognition(net))


def test_a_network_with_nodes_out_of_reach_is_compared_with_members_of_its_size():
    links = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (3, 0)]  # as many as those of de-bruijn:2,2
    net = from_networkx(nx.DiGraph(links))
    assert recognition(net).words == "links are one-way, and it is of no known family"


@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=3),
    st.lists(st.sampled_from("apk"), min_size=3),
    st.integers(1, 99),
)
@settings(deadline=None, max_examples=60)
def test_products_of_rings_paths_and_complete_networks_are_factored(sizes, kinds, seed):
    build = {"a": "array", "p": "ring", "k": "complete"}
    net = as_list(product(*(parse(f"{build[k]}:{s}") for k, s in zip(kinds, sizes, strict=False))), seed)
    assert_is(net, recognition(net))


@given(st.integers(4, 12), st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=60)
def test_random_graphs_have_the_factors_that_they_are_made_of(n, seed, doubled):
    graph = nx.gnp_random_graph(n, 0.5, seed=seed)
    if not nx.is_connected(graph):
        return
    if doubled:
        graph = nx.convert_node_labels_to_integers(nx.cartesian_product(graph, nx.path_graph(2)))
    net = from_networkx(graph)
    found = prime_factors(net)
    sizes = (found.places.max(axis=0) + 1).tolist()
    assert np.prod(sizes) == net.node_count
    rebuilt = nx.empty_graph(1)
    for size, edges in zip(sizes, found.edges, strict=True):
        factor = nx.empty_graph(size)
        factor.add_edges_from(edges.tolist())
        assert len(prime_factors(from_networkx(factor)).edges) == 1
        rebuilt = nx.cartesian_product(rebuilt, factor)
    assert nx.is_isomorphic(graph, rebuilt)
    assert len(sizes) >= (2 if doubled else 1)


@pytest.mark.parametrize(
    "spec", ["torus:3x4", "hypercube:3", "array:3x3", "star:4", "fat-tree:k=2,h=2,capacity=constant"]
)
@pytest.mark.parametrize("task", ["allgather", "alltoall"])
def test_a_list_of_links_is_planned_as_what_it_is(spec, task):
    net = as_list(parse(spec), seed=5)
    found, named = gossamer.plan(net, task), gossamer.plan(spec, task)
    assert (found.completion_time, found.bound) == (named.completion_time, named.bound)
    assert found.algorithm == named.algorithm
    assert found.schedule.network == net
    assert gossamer.verify(found.schedule).ok
    assert found.schedule.task == gossamer.task(task)
    assert dict(found.rows())["recognized"].endswith(", with its nodes renumbered")


@pytest.mark.parametrize(
    "task",
    [
        gossamer.task("broadcast", root=7),
        gossamer.task("permutation", destination=(3, 4, 5, 6, 7, 8, 0, 1, 2)),
        gossamer.task("partial-multinode-broadcast", active=(1, 5, 6)),
    ],
)
def test_tasks_are_those_of_the_nodes_of_the_list(task):
    net = as_list(parse("array:3x3"), seed=2)
    found = gossamer.plan(net, task)
    assert found.schedule.task == task
    assert gossamer.verify(found.schedule).ok
    assert found.bound == gossamer.lower_bounds(net, task)[0].value
    place = recognition(net).place
    there = gossamer.plan("array:3x3", task.renamed(lambda x: place[x]))
    assert (found.completion_time, found.bound) == (there.completion_time, there.bound)


def test_speeds_are_those_of_the_links_of_the_list():
    plain = as_list(parse("torus:3x4"), seed=4)
    fast = np.where((plain.link_source + plain.link_target) % 2 == 0, 1e9, 2e9)
    net = Network("a list", 12, plain.link_source, plain.link_target, links_only=True,
                  structures=[Speeds(fast, np.zeros(plain.link_count))])  # fmt: skip
    found = recognition(net)
    original = found.original.find(Speeds).bandwidth
    for i in range(net.link_count):
        u, v = found.place[net.link_source[i]], found.place[net.link_target[i]]
        assert original[found.original.link_between(int(u), int(v))] == fast[i]


def test_wormhole_messages_run_on_a_torus_that_is_numbered_as_one():
    found = gossamer.plan(as_list(parse("torus:4x4")), "allgather", switching="wormhole")
    assert found.verification.ok


def test_algorithms_of_a_list_are_those_of_what_it_is(capsys):
    assert main(["list", "algorithms", "tests/data/networks/machine.ranks", "--task", "alltoall"]) == 0
    assert "edge-colored" in capsys.readouterr().out


def test_a_rank_map_is_planned_as_its_torus():
    found = gossamer.plan("tests/data/networks/machine.ranks", "alltoall")
    assert found.optimal
    assert dict(found.rows())["recognized"] == "torus:3x4, with its nodes renumbered"
