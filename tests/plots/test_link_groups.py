"""Links are grouped by what a reader calls them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.networks import from_networkx
from gossamer.plots.link_groups import link_groups


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("array:4x4", ("dim 0 +", "dim 0 −", "dim 1 +", "dim 1 −")),
        ("torus:5x4x3", ("dim 0 +", "dim 0 −", "dim 1 +", "dim 1 −", "dim 2 +", "dim 2 −")),
        ("hypercube:3", ("dim 0 ±", "dim 1 ±", "dim 2 ±")),
        ("ring:9", ("dim 0 +", "dim 0 −")),
        ("circulant:13,1,5", ("+1", "−1", "+5", "−5")),
        ("hypercycle:5,2x7,1", ("dim 0 +1", "dim 0 −1", "dim 0 +2", "dim 0 −2", "dim 1 +1", "dim 1 −1")),
        ("star:4", ("swap 0, 1", "swap 0, 2", "swap 0, 3")),
        ("pancake:4", ("swap 0, 1", "swap 0, 2", "reverse 4")),
        ("ccc:4", ("next", "back", "across")),
        ("butterfly:4", ("next", "back", "next across", "back across")),
        ("fat-tree:k=2,h=2", ("level 0 to 1", "level 1 to 0", "level 1 to 2", "level 2 to 1")),
        ("product:(star:3)x(ring:4)", ("factor 0: swap 0, 1", "factor 0: swap 0, 2", "factor 1: +1", "factor 1: −1")),
        ("product:(array:3)x(complete:4)", ("factor 0", "factor 1")),
    ],
)
def test_groups_have_the_names_of_the_family(spec, names):
    assert link_groups(gossamer.network(spec)).names == names


def test_links_of_a_graph_are_one_group():
    groups = link_groups(from_networkx(nx.petersen_graph()))
    assert (groups.names, groups.group.tolist()) == (("links",), [0] * 30)


@pytest.mark.parametrize("spec", ["array:3x4", "torus:4x5", "array:2x3x4"])
def test_a_group_of_a_grid_is_one_step_in_one_dimension(spec):
    network = gossamer.network(spec)
    sides = np.array(network.grid.sides)
    groups = link_groups(network)
    step = network.coordinates[network.link_target] - network.coordinates[network.link_source]
    for g, name in enumerate(groups.names):
        _, dimension, sign = name.split()
        expected = np.zeros(len(sides), int)
        expected[int(dimension)] = 1 if sign == "+" else -1
        assert ((step[groups.group == g] - expected) % sides == 0).all()


def test_levels_of_a_fat_tree_are_told_apart_by_direction():
    network = gossamer.network("fat-tree:k=3,h=2")
    groups = link_groups(network)
    assert np.bincount(groups.group).tolist() == [9, 9, 3, 3]
