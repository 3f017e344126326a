"""Servers of GPUs: switches inside, rails and spines outside, and the two machines that have names."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NetworkError
from gossamer.networks import RatedLinks, dgx_1, dgx_a100, network_size, parse, servers, to_networkx


def graph_of(net):
    return {(u, v): c for u, v, c in to_networkx(net).edges(data="capacity") if u < v}


@given(st.integers(1, 4), st.integers(1, 5), st.data())
@settings(deadline=None, max_examples=60)
def test_servers_are_switches_rails_and_spines_of_the_definition(s, g, data):
    r = data.draw(st.integers(1, g))
    inside, outside, spines = (data.draw(st.integers(low, 4)) for low in (1, 1, 0))
    net = servers(s, g, r, inside, outside, spines)
    n = s * g
    uplink = -(-n * outside // (r * max(spines, 1)))
    expected = {(i * g + j, n + i): inside for i, j in itertools.product(range(s), range(g))}
    expected |= {(i * g + j, n + s + j % r): outside for i, j in itertools.product(range(s), range(g))}
    expected |= {(n + s + j, n + s + r + k): uplink for j, k in itertools.product(range(r), range(spines))}
    assert graph_of(net) == expected
    assert net.two_way
    assert net.terminal_count == n
    assert network_size(net.spec) == (net.node_count, net.link_count)
    assert parse(net.spec) == net


def test_rails_join_the_same_gpu_of_all_servers():
    net = servers(4, 8)
    assert net.distances(3)[[11, 19, 27]].tolist() == [2, 2, 2]
    assert net.distances(3)[[4, 12, 20]].tolist() == [2, 4, 4]
    assert net.diameter == 4


def test_a_single_server_can_do_without_rails():
    net = servers(1, 4, rails=0)
    assert graph_of(net) == {(i, 4): 1 for i in range(4)}


def test_two_dgx_a100_on_one_switch():
    graph = nx.Graph()
    for server, gpu in itertools.product(range(2), range(8)):
        graph.add_edge((server, gpu), ("inside", server), capacity=12)
        graph.add_edge((server, gpu), "outside", capacity=1)
    net = dgx_a100(2, rails=1)
    mine = to_networkx(net).to_undirected()
    assert nx.is_isomorphic(mine, graph, edge_match=lambda a, b: a["capacity"] == b["capacity"])
    assert net == servers(2, 8, rails=1, inside=12)
    assert dgx_a100(3).node_count == 24 + 3 + 8


def test_a_dgx_1_is_two_squares_with_their_diagonals():
    for gpu, degree in (("v100", 6), ("p100", 4)):
        net = dgx_1(gpu)
        graph = to_networkx(net).to_undirected()
        squares = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
        squares.add_edges_from((i, i + 4) for i in range(4))
        assert set(map(frozenset, graph.edges)) == set(map(frozenset, squares.edges))
        assert {sum(d["capacity"] for d in graph[v].values()) for v in graph} == {degree}
        assert net.two_way
        assert net.diameter == 2
    twice = {frozenset(e) for e, c in graph_of(dgx_1("v100")).items() if c == 2}
    ring = [0, 3, 2, 1, 5, 6, 7, 4]  # the pairs that two NVLinks join make a ring of all GPUs
    assert twice == {frozenset((u, v)) for u, v in zip(ring, ring[1:] + ring[:1], strict=True)}
    assert set(graph_of(dgx_1("p100")).values()) == {1}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("servers:s=2", "g is missing"),
        ("servers:s=2,g=4,rails=5", "rails must be a whole number in 0..4, got 5"),
        ("servers:s=2,g=4,rails=0", "without rails nothing joins 2 servers"),
        ("servers:s=1,g=4,rails=0,spines=1", "nothing joins 1 servers and the spines"),
        ("servers:s=2,g=4,inside=0", "inside must be a whole number in 1..2147483647, got 0"),
        ("servers:s=2,g=4,outside=2147483647,rails=1,spines=1", "the capacity of a link to a spine must be"),
        ("servers:s=99999999,g=8", "the network would have"),
        ("dgx-a100:servers=2,rails=9", "dgx-a100: rails must be a whole number in 0..8, got 9"),
        ("dgx-a100:0", "dgx-a100: boxes must be a whole number of at least 1, got 0"),
        ("dgx-a100:servers=0", "dgx-a100: s must be a whole number of at least 1, got 0"),
        ("dgx-1:h100", "gpu must be 'p100' or 'v100', got 'h100'"),
        ("dgx-1:v100,p100", "too many parameters"),
    ],
)
def test_others_are_refused_in_one_line(spec, message):
    for ask in (parse, network_size):
        with pytest.raises(NetworkError, match=message) as caught:
            ask(spec)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "rate"),
    [("dgx-1:v100", 25), ("dgx-1:p100", 20), ("dgx-a100:servers=2", 25), ("dgx-a100:servers=1,rails=0", 25)],
)
def test_machines_take_their_published_speed_where_seconds_are_asked_for(spec, rate):
    net = gossamer.network(spec)
    own, given = (
        gossamer.plan(net, "scatter", cost=gossamer.TimeCost("1MiB", bandwidth=b, overhead=0))
        for b in (None, f"{rate}GB/s")
    )
    assert own.seconds == given.seconds > 0
    faster = gossamer.plan(net, "scatter", cost=gossamer.TimeCost("1MiB", bandwidth=f"{2 * rate}GB/s", overhead=0))
    assert faster.seconds == own.seconds / 2
    assert net.without(nodes=[0]).find(RatedLinks) == net.transposed.find(RatedLinks) == RatedLinks(rate * 10**9)
    assert f"{rate} GB/s for each packet at once" in dict(gossamer.describe(net).rows())["published speed"]
    with pytest.raises(gossamer.GossamerError, match="no bandwidths"):
        gossamer.plan("ring:4", "scatter", cost=gossamer.TimeCost("1MiB"))
