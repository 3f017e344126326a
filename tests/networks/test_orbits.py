"""Orbits of cables: a network without one is the same network as without another of its orbit."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gossamer.networks import AbelianGroup, cayley, parse, to_networkx
from gossamer.networks.cable_orbits import cable_orbits
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
    "star:4": 3,
    "ccc:3": 2,
    "kautz:2,2": 9,
    "de-bruijn:2,3": 13,
    "fat-tree:k=2,h=3,capacity=exponential": 3,
    "product:(ring:5)x(array:3)": 3,
    "product:(complete:4)x(complete:4)": 1,
}


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


def test_what_differs_in_speed_is_alone():
    net = parse("ring:4").with_times([1, 1, 1, 1, 1, 1, 2, 1], 0)
    assert len(set(cable_orbits(net).tolist())) == 4
    assert len(set(cable_orbits(parse("ring:4").without(links=[(0, 1)])).tolist())) == 3


def test_a_group_of_your_own():
    net = cayley("moebius ladder", AbelianGroup((8,)), [1, 7, 4])
    assert sorted(np.bincount(cable_orbits(net)).tolist()) == [4, 8]
