"""Orbits of cables: a network without one is the same network as without another of its orbit."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from gossamer.networks import AbelianGroup, SharedPorts, Speeds, as_network, cayley, parse, to_networkx
from gossamer.networks.cable_orbits import cable_orbits, orbits_of_sets, symmetries
from gossamer.networks.derived import cables

ORBITS = {
    "ring:6": 1,
    "array:5": 2,
    "array:4x4": 4,
    "array:3x4": 6,
    "torus:4x4": 1,
    "torus:3x4": 2,
    "torus:3x3x2": 2,
    "hypercube:3": 1,
    "complete:5": 1,
    "generalized-hypercube:3x4": 2,
    "generalized-hypercube:3x3": 1,
    "extended-ring:9,2": 2,
    "circulant:8,1,4": 2,
    "star:4": 1,
    "ccc:3": 2,
    "kautz:2,2": 9,
    "de-bruijn:2,3": 13,
    "fat-tree:k=2,h=3,capacity=exponential": 3,
    "product:(ring:5)x(array:3)": 3,
    "product:(complete:4)x(complete:4)": 1,
}


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize("spec", ORBITS)
def test_cables_of_an_orbit_are_the_same_for_the_network(spec):
    net = parse(spec)
    ends, orbit = cables(net), cable_orbits(net)
    assert orbit.shape == (len(ends),)
    graph = to_networkx(net)
    for of in np.unique(orbit):
        alike = ends[orbit == of].tolist()
        first = left(graph, alike[0])
        for other in alike[1::5] + alike[-1:]:
            assert nx.vf2pp_is_isomorphic(first, left(graph, other), node_label="terminal")


def left(graph, cable):
    """Return a graph without the edges between two nodes."""
    u, v = cable
    found = nx.Graph(graph) if all(graph.has_edge(b, a) for a, b in graph.edges) else nx.DiGraph(graph)
    found.remove_edges_from(
        [(u, v)] if not found.is_directed() else [e for e in ((u, v), (v, u)) if found.has_edge(*e)]
    )
    return found


@pytest.mark.parametrize(("spec", "count"), ORBITS.items())
def test_orbits_are_as_large_as_the_structure_tells(spec, count):
    if spec in ("kautz:2,2", "de-bruijn:2,3"):
        assert len(set(cable_orbits(parse(spec)).tolist())) <= len(cables(parse(spec)))
        return
    assert len(set(cable_orbits(parse(spec)).tolist())) == count


def test_symmetries_keep_speeds_ports_and_marked_nodes():
    slow = parse("ring:4").with_times([1, 1, 1, 1, 1, 1, 2, 1], 0)  # one link, one way
    assert len(set(cable_orbits(slow).tolist())) == 4
    assert cable_orbits(parse("ring:5").without(links=[(0, 1)])).tolist() == [0, 0, 1, 1]
    assert cable_orbits(parse("ring:4"), [0]).tolist() == [0, 0, 1, 1]
    assert cable_orbits(parse("ring:4"), [0, 1]).tolist() == [0, 1, 2, 3]
    square = parse("ring:4")
    ports = np.where(square.link_source == 0, 0, -1)  # what leaves node 0 goes through a port
    assert cable_orbits(square.with_ports(SharedPorts(ports, np.full(8, -1)))).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "spec",
    ["petersen.edges", "dgx-h100:3,gpus=2", "mi250x:2", "leaf-spine:3,2,2", "dragonfly:4,2,2", "twice.edges", "ring:7",
     "complete:5", "random-regular", "kautz:2,2", "dgx-1:v100"],
)  # fmt: skip
def test_orbits_are_those_of_all_automorphisms(spec, tmp_path):
    """On small networks another program lists all automorphisms; these must have the same orbits, also of pairs."""
    net = special(spec) or parse(spec)
    speeds = net.find(Speeds)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((v, {"kind": v >= net.terminal_count}) for v in range(net.node_count))
    for link, ends in enumerate(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True)):
        graph.add_edge(*ends, kind=(int(net.link_capacity[link]), speeds and float(speeds.bandwidth[link])))
    ends = [tuple(sorted(e)) for e in cables(net).tolist()]
    place = {e: i for i, e in enumerate(ends)}
    match = nx.isomorphism.categorical_node_match("kind", None)
    equal = nx.isomorphism.generic_multiedge_match("kind", None, lambda a, b: a == b)
    finder = nx.isomorphism.MultiDiGraphMatcher(graph, graph, match, equal)
    joined, pairs = nx.Graph(), nx.Graph()
    sets = [*itertools.combinations(range(len(ends)), 2)]
    for p in itertools.islice(finder.isomorphisms_iter(), 1000):
        image = [place[tuple(sorted((p[u], p[v])))] for u, v in ends]
        joined.add_edges_from(enumerate(image))
        pairs.add_edges_from(((a, b), tuple(sorted((image[a], image[b])))) for a, b in sets)
    for found, true, things in (
        (cable_orbits(net), joined, range(len(ends))), (orbits_of_sets(net, 2), pairs, sets),
    ):  # fmt: skip
        told = list(zip(things, found.tolist(), strict=True))
        mine = {frozenset(thing for thing, orbit in told if orbit == of) for of in found.tolist()}
        theirs = {frozenset(c) for c in nx.connected_components(true)}
        assert mine == theirs


def special(spec):
    """Return a network that no family has, or None."""
    if spec == "petersen.edges":
        return as_network(nx.petersen_graph())
    if spec == "random-regular":
        return as_network(nx.random_regular_graph(3, 12, seed=3))
    if spec == "twice.edges":  # two cables of one pair differ
        graph = nx.MultiGraph()
        graph.add_edge(0, 1, bandwidth="1GB/s")
        graph.add_edge(0, 1, bandwidth="2GB/s")
        graph.add_edge(1, 2, bandwidth="1GB/s")
        graph.add_edge(2, 0, bandwidth="1GB/s")
        return as_network(graph)
    return None


def test_symmetries_are_checked_and_take_each_cable_to_an_equal_one():
    for spec in ("dgx-h100:16", "leaf-spine:8,4,16", "torus:4x4x4", "nvl72", "slim-fly:5"):
        net = parse(spec)
        links = set(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
        found = symmetries(net)
        assert 0 < len(found) < 12
        for p in found:
            assert sorted(p) == list(range(net.node_count))
            assert {(int(p[u]), int(p[v])) for u, v in links} == links
    assert symmetries(parse("torus:80x80")) == []


def test_a_group_of_your_own():
    net = cayley("moebius ladder", AbelianGroup((8,)), [1, 7, 4])
    assert sorted(np.bincount(cable_orbits(net)).tolist()) == [4, 8]
