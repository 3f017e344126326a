"""Routing tables of 20 networks: balanced, free of deadlocks by a test of their own, and in few layers."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError, NetworkError
from gossamer.graphs.virtual_layers import layered
from gossamer.networks import from_networkx
from gossamer.networks.derived import without
from gossamer.networks.routing_tables import Cables, RoutingTable
from gossamer.verification.routing_tables import judge
from routing_tables.published_layers import dfsssp, lash

TWENTY = (
    "ring:8", "torus:4x4", "torus:5x6", "torus:6x6", "array:5x5", "hypercube:5", "complete:8", "circulant:13,1,5",
    "star:4", "pancake:4", "ccc:3", "butterfly:3", "kautz:2,4", "de-bruijn:2,4", "dragonfly:a=4,h=1,p=2",
    "fat-tree:k=4,h=2", "folded-clos:4,3", "jellyfish:n=16,d=4,seed=1,p=2", "slim-fly:q=3", "hyperx:sides=3x4,p=2",
)  # fmt: skip


@pytest.fixture(scope="module")
def made() -> dict[str, gossamer.Routes]:
    return {spec: gossamer.routes(spec) for spec in TWENTY}


@pytest.mark.parametrize("spec", TWENTY)
def test_the_load_of_an_alltoall_is_within_a_tenth_of_the_bound(made, spec) -> None:
    found = made[spec]
    assert found.judged.complete
    assert found.bound <= found.judged.congestion <= 1.1 * found.bound


@pytest.mark.parametrize("spec", TWENTY)
def test_no_layer_has_a_circle_and_there_are_no_more_than_published_heuristics_need(made, spec) -> None:
    found = made[spec]
    table = found.tables
    for layer in range(table.layers):  # by another graph search, over paths followed here
        graph = nx.DiGraph()
        for s, d in np.argwhere(table.layer == layer).tolist():
            way, v = [], s
            while v != d:
                way.append(int(table.cable[v, d]))
                v = int(table.cables.target[way[-1]])
            graph.add_edges_from(itertools.pairwise(way))
        assert nx.is_directed_acyclic_graph(graph)
    assert table.layers <= min(lash(table.network), dfsssp(table.network))


def test_the_published_heuristics_count_what_is_known() -> None:
    assert (lash(gossamer.network("array:4x4")), dfsssp(gossamer.network("complete:5"))) == (1, 1)
    assert lash(gossamer.network("ring:6")) > 1 < dfsssp(gossamer.network("ring:6"))  # all shortest ways, one circle


@pytest.mark.parametrize("spec", ["ring:6", "fat-tree:k=2,h=3", "de-bruijn:2,3", "array:3x3,capacity=2"])
def test_the_judge_counts_what_following_each_path_counts(spec) -> None:
    found = gossamer.routes(spec, seed=3)
    table, load, hops = found.tables, np.zeros(found.judged.load.size, np.int64), 0
    for s in range(table.network.terminal_count):
        for d in range(table.network.terminal_count):
            v = s
            while v != d:
                cable = int(table.cable[v, d])
                load[cable] += 1
                hops += 1
                assert table.cables.source[cable] == v
                v = int(table.cables.target[cable])
    assert (found.judged.load == load).all()
    assert found.judged.hops == hops


def test_the_bound_is_below_every_routing_and_met_by_the_best_of_a_small_ring() -> None:
    # every table of a ring of 4: the three others go to each destination one way round or the other, as trees allow
    ring = gossamer.network("ring:4")
    least = None
    for choice in range(3**4):
        table = np.full((4, 4), -1, np.int32)
        for d in range(4):
            ups = choice // 3**d % 3 + 1  # so many nodes before d go up to it, the others down
            for k in range(1, 4):
                v = (d - k) % 4
                table[v, d] = 2 * v + (k > ups) if v else (0 if k <= ups else 1)
                if int(Cables.of(ring).target[table[v, d]]) != ((v + 1) % 4 if k <= ups else (v - 1) % 4):
                    table[v, d] ^= 1
        found = judge(RoutingTable(ring, table, np.zeros((4, 4), np.uint8), "one of all"))
        assert found.complete
        least = found.congestion if least is None else min(least, found.congestion)
    assert least == gossamer.routes("ring:4").bound == gossamer.routes("ring:4").judged.congestion


def test_faults_of_tables_are_found_and_named() -> None:
    good = gossamer.routes("torus:4x4").tables
    torn = np.array(good.cable)
    torn[5, 10] = -1
    found = judge(RoutingTable(good.network, torn, good.layer, "torn"))
    assert (found.lost >= 1, found.looping, found.fault and found.fault[1]) == (True, 0, 10)
    loop = np.array(good.cable)
    out = good.cables
    a, b = 5, int(out.target[out.first[5]])
    loop[a, 10] = out.first[5]
    loop[b, 10] = next(c for c in range(out.first[b], out.first[b + 1]) if out.target[c] == a)
    found = judge(RoutingTable(good.network, loop, good.layer, "loop"))
    assert (found.lost, found.looping >= 2, found.complete) == (0, True, False)
    assert not gossamer.routes(good.network, RoutingTable(good.network, loop, good.layer, "loop")).sound


def test_routes_round_a_ring_in_one_layer_deadlock_and_in_three_do_not() -> None:
    ring = gossamer.network("ring:6")
    node = np.arange(6)
    up = np.array([next(c for c in range(12) if ring.link_source[c] == v and ring.link_target[c] == (v + 1) % 6)
                   for v in node], np.int32)  # fmt: skip
    onward = np.where(np.eye(6, dtype=bool), -1, up[:, None]).astype(np.int32)
    one = judge(RoutingTable(ring, onward, np.zeros((6, 6), np.uint8), "one layer"))
    assert one.complete
    assert sorted(one.circles[0]) == sorted(up.tolist())
    passes = [(v - node[:, None]) % 6 % 6 for v in (0, 2, 4)]  # how far from each source
    ahead = (node[None, :] - node[:, None]) % 6
    through = [(far > 0) & (far < ahead) for far in passes]  # in each layer one of these nodes is passed by nobody
    three = judge(
        RoutingTable(ring, onward, np.where(~through[0], 0, np.where(~through[1], 1, 2)).astype(np.uint8), "3")
    )
    assert three.deadlock_free
    ours = layered(ring, onward)
    assert ours is not None
    assert int(ours.max()) == 2  # the six paths of five cables miss but two neighbors each, so that fewer do not do
    assert judge(RoutingTable(ring, onward, ours, "ours")).deadlock_free
    assert layered(ring, onward, most=2) is None


def test_switches_pass_messages_on_and_adapters_do_not() -> None:
    two_ports = nx.Graph([("a", "x"), ("a", "y"), ("b", "x"), ("c", "y"), ("x", "z"), ("y", "z")])
    nx.set_node_attributes(two_ports, {v: v in "abc" for v in two_ports}, "terminal")
    net = from_networkx(two_ports)
    table = gossamer.routes(net).tables
    b, c = net.node("b"), net.node("c")
    seen, v = [], b
    while v != c:
        v = int(table.cables.target[table.cable[v, c]])
        seen.append(net.node_name(v))
    assert seen == ["x", "z", "y", "c"]  # through "a" it would be as short


def test_what_cannot_be_routed_is_refused() -> None:
    with pytest.raises(NetworkError, match="not connected"):
        gossamer.routes(from_networkx(nx.Graph([(0, 1), (2, 3)])))
    with pytest.raises(ModelError, match="need more than 1 virtual layers"):
        gossamer.routes("kautz:2,3", layers=1)  # links of one way have no ways up and down
    with pytest.raises(ModelError, match="layers"):
        gossamer.routes("ring:7", layers=17)
    with pytest.raises(ModelError, match="the table is of ring:4"):
        gossamer.routes("ring:6", gossamer.routes("ring:4").tables)
    with pytest.raises(NetworkError, match=r"node \(0\) has no cable 7"):
        RoutingTable(gossamer.network("ring:4"), np.full((4, 4), 7), np.zeros((4, 4), np.uint8), "wrong")


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ("ring:7", 1.5), ("torus:5x5", 1.5), ("star:4", 1.8), ("jellyfish:n=16,d=4,seed=1,p=2", 1.6),
        ("dragonfly:a=4,h=1,p=2", 1.75), ("slim-fly:q=3", 1.5), ("array:3x3,capacity=2", 1.4),
    ],
)  # fmt: skip
def test_one_layer_is_enough_for_any_network_of_cables_where_no_more_are_asked_for(spec, most) -> None:
    found = gossamer.routes(spec, layers=1)
    assert found.sound
    assert found.tables.layers == 1
    assert found.ratio <= most


def test_a_damaged_hypercube_needs_one_layer_as_published_heuristics_do() -> None:
    network = without(gossamer.network("hypercube:4"), ["random-links:4"], seed=1)
    found = gossamer.routes(network)
    assert found.sound
    assert found.tables.layers == min(lash(network), dfsssp(network)) == 1
    assert found.ratio <= 1.1


def test_the_same_seed_gives_the_same_table_and_cables_of_one_link_share() -> None:
    one, other = (gossamer.routes("jellyfish:n=12,d=3,seed=1,p=2", seed=5).tables for _ in range(2))
    assert (one.cable == other.cable).all()
    assert (one.layer == other.layer).all()
    found = gossamer.routes("array:4x4,capacity=2")
    assert found.judged.congestion == found.bound == 8  # 64 pairs each way over 4 links of 2 cables


def test_faster_cables_carry_more() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", bandwidth=10e9, latency=1e-6)
    graph.add_edge("b", "c", bandwidth=30e9, latency=1e-6)
    found = gossamer.routes(from_networkx(graph))
    assert found.tables.cables.time.tolist() == [3, 3, 1, 1]
    assert found.judged.congestion == found.bound == 6  # two messages over the slow cable
