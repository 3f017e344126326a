from __future__ import annotations

import numpy as np
import pytest

import gossamer
from dynamic.networks_for_schemes import holt
from gossamer.errors import NotApplicableError
from gossamer.graphs.disjoint_trees import disjoint_tree, grown_trees
from gossamer.simulation.random_arrivals.schemes.edge_disjoint_trees import mini_packets, star_minis, tree_height
from gossamer.simulation.random_arrivals.theory import best_bound, delay_bounds, link_loads, stability_limit


def test_first_disjoint_tree_of_the_3_cube():
    assert disjoint_tree(3, 0).tolist()[1:] == [0, 3, 1, 5, 1, 7, 3]


@pytest.mark.parametrize("d", range(2, 9))
def test_disjoint_trees_share_no_link_and_have_depth_d_plus_1(d):
    arcs = set()
    for k in range(d):
        parent = disjoint_tree(d, k)
        assert tree_height(parent) == d + 1 or d == 2 == tree_height(parent) - 1
        arcs |= {(p, v) for v, p in enumerate(parent.tolist()) if p >= 0}
    assert len(arcs) == d * ((1 << d) - 1)


@pytest.mark.parametrize("d", range(1, 8))
def test_parts_on_disjoint_trees_load_every_link_alike(d):
    scheme = mini_packets(gossamer.network(f"hypercube:{d}"))
    scheme.check()
    assert scheme.parts == d
    assert link_loads(scheme).even
    assert stability_limit(scheme).load == 1


@pytest.mark.parametrize("d", range(2, 8))
def test_errata_x9_links_near_the_source_carry_one_part_of_a_broadcast_or_many(d):
    """Disjoint trees give each link to one part; STAR parts meet: what makes only the first a gain near load 1."""
    network = gossamer.network(f"hypercube:{d}")
    for scheme, most in ((mini_packets(network), 1), (star_minis(network), d)):
        used = np.zeros(network.link_count, int)
        for part in range(d):
            for _, _, link in scheme.walk((0, 0, part), [0]):
                used[link] += 1
        assert used.max() == most


@pytest.mark.parametrize("d", [2, 4, 6])
def test_without_load_a_broadcast_takes_d_plus_1_parts(d):
    scheme = mini_packets(gossamer.network(f"hypercube:{d}"))
    tree = next(b for b in delay_bounds(scheme, 0.0) if b.name == "tree")
    assert tree.broadcast == pytest.approx((d + 1) / d)
    assert best_bound(scheme, 0.0)[1] == pytest.approx((d + 1) / d)


CAYLEY = (
    "ring:3", "ring:8", "torus:4x4", "torus:5x5", "torus:3x8", "torus:2x3x4", "star:4", "star:5", "ccc:3", "pancake:4",
    "butterfly:3", "complete:6", "circulant:13,1,5", "bubble-sort:4", "product:(star:3)x(complete:3)",
)  # fmt: skip


@pytest.mark.parametrize("spec", CAYLEY)
def test_trees_grown_on_cayley_networks_share_no_link_and_load_all_alike(spec):
    network = gossamer.network(spec)
    link, depth = grown_trees(network)
    used = link[link >= 0]
    assert np.unique(used).size == used.size == network.degree * (network.node_count - 1)
    for tree, far in zip(link, depth, strict=True):
        assert sorted(network.link_target[tree[tree >= 0]]) == list(range(1, network.node_count))
        assert (far[1:] == far[network.link_source[tree[1:]]] + 1).all()
    assert depth.max() <= 2 * network.diameter + 1
    scheme = mini_packets(network)
    scheme.check()
    assert link_loads(scheme).even
    assert stability_limit(scheme).load == 1


def test_trees_grown_on_the_holt_graph_share_no_link():
    mini_packets(holt()).check()


@pytest.mark.parametrize("d", [2, 3, 6])
def test_grown_trees_of_hypercubes_are_as_low_as_the_explicit_ones(d):
    assert grown_trees(gossamer.network(f"hypercube:{d}"))[1].max() <= d + 1


@pytest.mark.parametrize(
    "spec", ["hypercube:4", "torus:5x5", "torus:4x4", "generalized-hypercube:3x3x3", "torus:1x4x4"]
)
def test_star_parts_load_every_link_alike(spec):
    scheme = star_minis(gossamer.network(spec))
    scheme.check()
    assert link_loads(scheme).even


def test_what_is_not_covered_is_said():
    with pytest.raises(NotApplicableError, match="needs a Cayley network"):
        mini_packets(gossamer.network("array:4x4"))
    with pytest.raises(NotApplicableError, match="sides of one length"):
        star_minis(gossamer.network("torus:4x5"))
    with pytest.raises(NotApplicableError, match="at least 2 dimensions"):
        star_minis(gossamer.network("ring:5"))
