"""Dragonflies: counts, degrees, distances, and the three arrangements by their definitions."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import dragonfly, network_size, parse, to_networkx

ARRANGEMENTS = ("absolute", "relative", "circulant")


def port_target(arrangement, i, k, g):
    """Return the group to which port k of group i leads where all groups are joined once."""
    if arrangement == "absolute":
        return k if k < i else k + 1
    if arrangement == "relative":
        return (i + k + 1) % g
    step = k // 2 + 1
    return (i + step if k % 2 == 0 else i - step) % g


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize(("a", "h"), [(4, 2), (3, 2), (2, 3), (5, 1), (1, 4)])
def test_the_largest_dragonflies_are_those_of_the_definition(a, h, arrangement):
    g = a * h + 1
    edges = {frozenset((i * a + r, i * a + s)) for i in range(g) for r, s in itertools.combinations(range(a), 2)}
    for i, k in itertools.product(range(g), range(a * h)):
        j = port_target(arrangement, i, k, g)
        back = next(m for m in range(a * h) if port_target(arrangement, j, m, g) == i)
        edges.add(frozenset((i * a + k // h, j * a + back // h)))
    net = dragonfly(a, h, arrangement=arrangement)
    assert {frozenset(e) for e in to_networkx(net).edges} == edges
    assert set(net.out_degree.tolist()) == {a - 1 + h}
    assert net.diameter <= 3


def test_the_arrangements_of_one_size_are_different_networks():
    graphs = [to_networkx(dragonfly(4, 2, arrangement=name)).to_undirected() for name in ARRANGEMENTS]
    assert not any(nx.is_isomorphic(g, h) for g, h in itertools.combinations(graphs, 2))


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_fewer_groups_share_the_ports_evenly(data):
    a, h = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    g = data.draw(st.integers(1, a * h + 1))
    p = data.draw(st.integers(0, 2))
    net = dragonfly(a, h, g, p, data.draw(st.sampled_from(ARRANGEMENTS)))
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net
    assert net.two_way
    assert int(net.distances(0).min()) == 0
    group = net.coordinates[:, 0]
    across = group[net.link_source] != group[net.link_target]
    table = np.zeros((g, g), np.int64)
    np.add.at(table, (group[net.link_source][across], group[net.link_target][across]), net.link_capacity[across])
    pairs = table[~np.eye(g, dtype=bool)]
    free = a * h % (g - 1) % 2 if g % 2 and g > 1 else 0
    assert (table.sum(axis=1) == (0 if g == 1 else a * h - free)).all()
    assert pairs.size == 0 or pairs.max() - pairs.min() <= 1
    port_use = np.zeros(net.node_count, np.int64)
    np.add.at(port_use, net.link_source[across], net.link_capacity[across])
    assert port_use.max() <= h


def test_terminals_are_the_first_nodes_and_the_network_of_routers_stays():
    bare, full = dragonfly(3, 2), dragonfly(3, 2, p=2)
    routers = to_networkx(full).subgraph(range(full.terminal_count, full.node_count))
    assert full.terminal_count == 2 * bare.node_count
    assert nx.is_isomorphic(routers.to_undirected(), to_networkx(bare).to_undirected())
    assert full.out_degree[: full.terminal_count].tolist() == [1] * full.terminal_count
    assert full.node((1, 2, 0)) == full.terminal_count + 5
    assert full.link_target[full.first_link[11]] == full.terminal_count + 5
    assert full.node_name(11) == "(1,2,2)"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dragonfly:a=4", "dragonfly: h is missing; the form is dragonfly:a=A"),
        ("dragonfly:a=4,h=2,g=10", r"g must be at most a\*h\+1 = 9, got 10"),
        ("dragonfly:a=0,h=2", "a must be a whole number of at least 1, got 0"),
        ("dragonfly:a=4,h=2,p=-1", "p must be a whole number of at least 0, got -1"),
        ("dragonfly:a=4,h=2,arrangement=absolut", r"got 'absolut' \(did you mean 'absolute'\?\)"),
        ("dragonfly:a=4,h=2,q=3", "unknown parameter 'q'"),
        ("dragonfly:a=4,a=2", "parameter a is given twice"),
        ("dragonfly:a=4,h=2,3", "expected an integer, got '2,3'"),
        ("dragonfly:1,2,3,4,absolute,6", "too many parameters"),
        ("dragonfly:a=99999,h=99999", "the network would have"),
        ("dragonfly:a=1,h=99999999,g=2", "fewer than a.h.1 = 100000000 groups at most 20000000 ports to other groups"),
        ("dragonfly:a=4,h=", "expected an integer, got an empty parameter"),
        ("dragonfly:a=4,h=2,arrangement=a b", "expected a word"),
    ],
)
def test_other_dragonflies_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


def test_names_of_the_first_parameters_may_be_left_out():
    assert parse("Dragonfly: 4, 2, p = 3").spec == "dragonfly:a=4,h=2,p=3"
    assert parse("dragonfly:h=2,a=4,g=9,arrangement=Absolute").spec == "dragonfly:a=4,h=2"
