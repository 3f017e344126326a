"""Macro-stars, hierarchical swapped networks and cyclic networks, against their definitions by words."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from gossamer.errors import NetworkError
from gossamer.networks import cyclic_network, hierarchical_swapped, macro_star, network_size, parse, star, to_networkx

NUCLEI = ["complete:1", "array:2", "ring:3", "array:3", "kautz:2,1", "de-bruijn:2,2", "hypercube:2"]


def links(net):
    return set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))


@pytest.mark.parametrize(("l", "n"), [(2, 2), (3, 1), (1, 3), (2, 1), (1, 1), (4, 1)])
def test_macro_stars_swap_symbols_and_blocks(l, n):  # noqa: E741
    net = macro_star(l, n)
    words = list(itertools.permutations(range(l * n + 1)))
    number = {w: i for i, w in enumerate(words)}
    expected = set()
    for w in words:
        for i in range(1, n + 1):
            expected.add((number[w], number[(w[i], *w[1:i], w[0], *w[i + 1 :])]))
        for i in range(1, l):
            blocks = [w[1 + j * n : 1 + (j + 1) * n] for j in range(l)]
            blocks[0], blocks[i] = blocks[i], blocks[0]
            expected.add((number[w], number[(w[0], *itertools.chain(*blocks))]))
    assert links(net) == expected
    assert set(net.out_degree.tolist()) == {n + l - 1}
    assert nx.is_connected(to_networkx(net).to_undirected())
    assert net.group is not None
    assert network_size(net.spec) == (net.node_count, net.link_count)


def test_a_macro_star_of_one_block_is_a_star():
    assert macro_star(1, 3) == star(4)


@pytest.mark.parametrize("nucleus", NUCLEI)
@pytest.mark.parametrize("l", [1, 2, 3, 4])
def test_swapped_and_cyclic_networks_are_the_words_of_the_definition(nucleus, l):  # noqa: E741
    G = parse(nucleus)
    m = G.node_count
    words = list(itertools.product(range(m), repeat=l))  # x_l ... x_1
    number = {w: i for i, w in enumerate(words)}
    inner = {(number[(*w, u)], number[(*w, v)]) for w in itertools.product(range(m), repeat=l - 1) for u, v in links(G)}
    swaps, turns = set(), {}
    for w in words:
        for i in range(l - 1):
            swapped = list(w)
            swapped[i], swapped[-1] = swapped[-1], swapped[i]
            swaps.add((number[w], number[tuple(swapped)]))
        for by in range(1, l):
            turns.setdefault(by, set()).add((number[w], number[(*w[by:], *w[:by])]))
    none = {(v, v) for v in range(len(words))}
    ring = turns.get(1, set()) | turns.get(l - 1, set())
    expected = {
        hierarchical_swapped(l, G): inner | (swaps - none),
        cyclic_network(l, G): inner | (ring - none),
        cyclic_network(l, G, "complete"): inner | (set().union(*turns.values()) - none),
    }
    for net, graph in expected.items():
        assert links(net) == graph
        assert network_size(net.spec) == (net.node_count, net.link_count)
        assert parse(net.spec) == net
        assert [tuple(c) for c in net.coordinates.tolist()] == words


@pytest.mark.parametrize(("nucleus", "l"), [("hypercube:2", 3), ("complete:4", 3), ("ring:5", 3), ("array:3", 4)])
def test_the_diameter_of_a_swapped_network_is_that_of_the_source(nucleus, l):  # noqa: E741
    G = parse(nucleus)
    assert hierarchical_swapped(l, G).diameter == l * G.diameter + l - 1


def test_cyclic_networks_have_a_fixed_degree():
    for l in range(3, 7):  # noqa: E741
        net = cyclic_network(l, parse("hypercube:2"))
        assert int(np.max(net.out_degree)) == 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("macro-star:0,2", "l must be a whole number of at least 1, got 0"),
        ("macro-star:9,9", "more than 10.18 links"),
        ("macro-star:2", "1 parameter given"),
        ("hierarchical-swapped:2", r"expected l,\(SPEC\), got '2'"),
        ("hierarchical-swapped:0,(ring:3)", "l must be a whole number in 1..64, got 0"),
        ("hierarchical-swapped:2,(rung:3)", "unknown network family 'rung'"),
        ("hierarchical-swapped:2,(ring:3),shifts=ring", "too many parameters"),
        ("hierarchical-swapped:64,(ring:3)", "more than 10.18 links"),
        ("cyclic-network:3,(ring:3),shifts=some", "shifts must be 'ring' or 'complete', got 'some'"),
        ("cyclic-network:3,(ring:3),turns=ring", "unknown parameter 'turns'"),
        ("cyclic-network:3,(ring:3", r"expected l,\(SPEC\)"),
        ("cyclic-network:65,(ring:1),shifts=complete", "l must be a whole number in 1..64, got 65"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nucleus", ["fat-tree:k=2,h=1", "dgx-1:v100"])
def test_nuclei_with_switches_or_wide_links_are_refused(nucleus):
    for family in (hierarchical_swapped, cyclic_network):
        with pytest.raises(NetworkError, match="must have only terminals and plain links"):
            family(2, parse(nucleus))
    with pytest.raises(NetworkError, match="the nucleus must be a network, got 'ring:3'"):
        hierarchical_swapped(2, "ring:3")
