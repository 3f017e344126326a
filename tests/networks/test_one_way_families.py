"""Kautz and de Bruijn networks: words, sizes, diameters; and the transposed network."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import (
    AbelianGroup,
    CayleyGroup,
    Network,
    de_bruijn,
    from_networkx,
    generalized_de_bruijn,
    generalized_kautz,
    kautz,
    network_size,
    parse,
    torus,
)


def links(net):
    return set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))


@pytest.mark.parametrize(("d", "length"), [(2, 1), (2, 3), (2, 5), (3, 2), (4, 3)])
def test_de_bruijn_links_append_a_digit_to_a_shifted_word(d, length):
    net = de_bruijn(d, length)
    words = list(itertools.product(range(d), repeat=length))  # in the order of their numbers
    expected = {(words.index(w), words.index((*w[1:], x))) for w in words for x in range(d)}
    assert links(net) == {(u, v) for u, v in expected if u != v}
    assert net.link_count == d ** (length + 1) - d
    assert net.diameter == length


@pytest.mark.parametrize(("d", "length"), [(2, 1), (2, 2), (2, 4), (3, 2), (3, 3)])
def test_kautz_is_isomorphic_to_the_words_without_equal_neighbors(d, length):
    words = [w for w in itertools.product(range(d + 1), repeat=length) if all(map(int.__ne__, w, w[1:]))]
    graph = nx.DiGraph((w, (*w[1:], x)) for w in words for x in range(d + 1) if x != w[-1])
    net = kautz(d, length)
    assert net.node_count == len(words) == d**length + d ** (length - 1)
    assert set(net.out_degree) == set(net.in_degree) == {d}
    assert nx.is_isomorphic(nx.DiGraph(links(net)), graph)
    assert net.diameter == length


@given(st.integers(2, 6), st.integers(0, 60), st.sampled_from([generalized_kautz, generalized_de_bruijn]))
@settings(deadline=None)
def test_generalized_networks_reach_all_in_a_logarithm_and_have_the_counted_links(d, more, family):
    n = d + more
    net = family(d, n)
    assert net.diameter <= next(k for k in itertools.count() if d**k >= n)
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net


def test_generalized_networks_include_the_plain_ones():
    assert generalized_kautz(3, 36) == kautz(3, 3)
    assert generalized_de_bruijn(3, 27) == de_bruijn(3, 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: kautz(1, 3), "kautz: d must be a whole number of at least 2, got 1"),
        (lambda: kautz(2, 0), "kautz: D must be a whole number of at least 1, got 0"),
        (lambda: kautz(2, 40), "kautz: the network would have 3298534883328 links; at most 400000000"),
        (lambda: de_bruijn(2, 10**8), r"de-bruijn: the network would have more than 10\^18 links"),
        (lambda: generalized_kautz(4, 3), "generalized-kautz: n must be a whole number of at least 4, got 3"),
        (lambda: generalized_de_bruijn(4, 3), "generalized-de-bruijn: n must be a whole number of at least 4, got 3"),
        (lambda: parse("transposed:(ring:3)x(ring:4)"), "transposed: one network is turned round, got 2; the form is"),
        (lambda: network_size("transposed:(ring:3)x(ring:4)"), "transposed: one network is turned round, got 2"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(build, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        build()
    assert "\n" not in str(caught.value)


# -- the transposed network ----------------------------------------------------------------------------------


@st.composite
def digraphs(draw):
    n = draw(st.integers(2, 8))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    graph = nx.DiGraph()
    graph.add_nodes_from(f"node {v}" for v in range(n))
    for u, v in draw(st.lists(st.sampled_from(pairs), unique=True)):
        graph.add_edge(f"node {u}", f"node {v}", capacity=draw(st.integers(1, 3)))
    return from_networkx(graph)


@given(digraphs())
@settings(deadline=None)
def test_transposed_turns_every_link_round_and_keeps_capacity_and_names(net):
    turned, link = net.transposed, net.transposed_link
    assert sorted(link.tolist()) == list(range(net.link_count))
    assert np.array_equal(turned.link_source, net.link_target[link])
    assert np.array_equal(turned.link_target, net.link_source[link])
    assert np.array_equal(turned.link_capacity, net.link_capacity[link])
    assert turned.labels == net.labels
    assert (turned is net) == net.two_way
    assert turned.transposed is net
    assert np.array_equal(turned.transposed_link[link], np.arange(net.link_count))


def test_equal_opposite_links_of_other_capacity_are_not_two_way():
    uneven = Network("uneven", 2, [0, 1], [1, 0], [1, 3])
    assert not uneven.two_way
    assert uneven.transposed.link_capacity.tolist() == [3, 1]


def test_a_network_with_opposites_is_its_own_transposed():
    net = torus(3, 4)
    assert net.transposed is net
    assert net.transposed_link is net.reverse_link
    assert parse("transposed:(torus:3x4)").spec == "torus:3x4"
    assert parse("transposed:(transposed:(kautz:2,3))").spec == "kautz:2,3"


def test_transposed_cayley_network_keeps_its_group_and_the_order_of_generators():
    node = np.arange(7)
    net = Network(
        "one-way", 7, np.repeat(node, 2), (node[:, None] + [1, 3]).reshape(-1) % 7,
        structures=[CayleyGroup(AbelianGroup((7,)))],
    )  # fmt: skip
    turned = net.transposed
    assert turned.group == net.group
    assert turned.generators.tolist() == [6, 4]
    assert np.array_equal(turned.link_target.reshape(7, 2), net.group.compose(node[:, None], turned.generators))
    assert net.find(CayleyGroup).group is net.group


def test_switches_stay_switches_when_links_turn_round():
    net = Network("host and switch", 3, [0, 1, 2], [2, 0, 1], terminal_count=2)
    assert net.transposed.terminal_count == 2
    assert net.transposed.spec == "transposed:(host and switch)"


@given(digraphs())
@settings(deadline=None)
def test_one_way_networks_are_pickled_with_their_transposed(net):
    assert net.transposed is not None
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert again.transposed == net.transposed
