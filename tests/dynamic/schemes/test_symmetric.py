from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import gossamer
from dynamic.networks_for_schemes import holt, petersen
from gossamer.errors import NotApplicableError
from gossamer.networks import from_networkx
from gossamer.simulation.random_arrivals.schemes import SCHEMES
from gossamer.simulation.random_arrivals.schemes.balanced_tree_images import (
    automorphism,
    generated,
    image_trees,
    share_trees,
    stabilizer,
    symmetric,
    symmetric_factor,
    symmetric_reason,
)
from gossamer.simulation.random_arrivals.theory import link_loads, stability_limit

F = Fraction


def _links(network, images=None):
    at = np.arange(network.node_count) if images is None else images
    return set(zip(at[network.link_source].tolist(), at[network.link_target].tolist(), strict=True))


ARC_TRANSITIVE = (
    "ring:7", "hypercube:5", "star:4", "star:5", "complete:6", "torus:4x4", "torus:5x5", "torus:6x6", "torus:4x4x4",
    "generalized-hypercube:4x4", "circulant:13,1,5",
)  # fmt: skip


@pytest.mark.parametrize("spec", [*ARC_TRANSITIVE, "ccc:4", "pancake:5", "butterfly:3", "torus:4x6", "bubble-sort:4"])
def test_automorphisms_take_links_to_links_and_fix_the_root(spec):
    network = gossamer.network(spec)
    found = stabilizer(network)
    for images in found:
        assert images[0] == 0
        assert _links(network, images) == _links(network)
    if spec in ARC_TRANSITIVE:
        assert len(found) == network.degree


def test_no_automorphism_is_found_where_there_is_none():
    assert automorphism(gossamer.network("array:3x3"), [0], [4]) is None
    assert len(stabilizer(holt())) == 2
    assert len(stabilizer(gossamer.network("pancake:5"))) == 1


def test_generated_permutations_form_the_group():
    network = gossamer.network("hypercube:3")
    assert len(generated(stabilizer(network), 100)) == 6


@pytest.mark.parametrize("spec", ARC_TRANSITIVE)
@pytest.mark.parametrize("trees", ["images", "shares"])
def test_shortest_path_trees_balance_arc_transitive_networks(spec, trees):
    network = gossamer.network(spec)
    scheme = symmetric(network, trees=trees)
    scheme.check()
    assert link_loads(scheme).even
    assert stability_limit(scheme).load == 1
    depths = [depth for c in range(scheme.choice_count) for depth in _depths(scheme, c)]
    assert sum(depths) == int(network.distances(0).sum()) * scheme.choice_count


def _depths(scheme, choice):
    return [depth for depth, (_, row, _) in enumerate(scheme.walk((0, choice, 0), [0]), 1) for _ in row]


def test_star_graphs_rotate_one_tree_through_the_generators():
    trees, probability = image_trees(gossamer.network("star:5"))
    assert len(trees) == 4
    assert set(probability) == {F(1, 4)}


def test_half_of_the_2d_trees_are_redundant_for_odd_sides_only():
    assert len(image_trees(gossamer.network("torus:5x5"))[0]) == 2
    assert len(image_trees(gossamer.network("torus:6x6"))[0]) == 4


def test_errata_x7_images_of_a_tree_leave_the_holt_graph_at_13_of_14_and_chosen_parents_do_not():
    images = symmetric(holt(), trees="images")
    images.check()
    counts = [np.bincount(t[t >= 0] % 4, minlength=4) for t in image_trees(holt())[0]]
    assert all(sorted((c[:2].sum(), c[2:].sum())) == [12, 14] for c in counts)
    assert stability_limit(images).load == F(13, 14)
    balanced = symmetric(holt())
    balanced.check()
    assert stability_limit(balanced).load == 1


def test_errata_x7_the_petersen_graph_has_no_generators_but_balanced_trees():
    network = petersen()
    assert network.group is None
    scheme = symmetric(network)
    scheme.check()
    assert link_loads(scheme).even
    with pytest.raises(NotApplicableError, match="need a Cayley network"):
        symmetric(network, trees="shares")


@pytest.mark.parametrize(("spec", "limit"), [("ccc:5", 1), ("pancake:5", 1), ("butterfly:4", 1), ("bubble-sort:5", 1)])
def test_parents_can_be_chosen_evenly_on_networks_that_are_not_arc_transitive(spec, limit):
    network = gossamer.network(spec)
    assert stability_limit(symmetric(network, trees="images")).load < limit
    scheme = symmetric(network)
    scheme.check(sources=[0, 5, network.node_count - 1])
    assert stability_limit(scheme).load == limit


def test_shares_are_the_best_that_shortest_paths_allow():
    """On ccc:3 the cross links are on more shortest paths than they can be spared from."""
    network = gossamer.network("ccc:3")
    distance = network.distances(0)
    need = np.zeros(3, int)
    for v in range(1, network.node_count):
        before = [
            k % 3 for k in np.flatnonzero(network.link_target == v) if distance[network.link_source[k]] < distance[v]
        ]
        if len(set(before)) == 1:
            need[before[0]] += 1
    trees, probability = share_trees(network)
    used = sum(float(p) * np.bincount(t[t >= 0] % 3, minlength=3) for t, p in zip(trees, probability, strict=True))
    assert used.max() >= need.max() > (network.node_count - 1) / 3
    assert stability_limit(symmetric(network)).load == F(23, 27)


def test_reasons_say_what_is_missing():
    assert "no automorphism takes node 0" in symmetric_reason(gossamer.network("array:3x3"))
    assert "no routing nodes" in symmetric_reason(gossamer.network("fat-tree:k=2,h=2"))
    with pytest.raises(NotApplicableError, match="trees must be"):
        symmetric_factor(gossamer.network("ring:5"), "rotated")


def test_one_way_pairs_and_networks_too_large_to_search_are_refused():
    one_way = from_networkx(nx.DiGraph([(0, 1)]))
    assert "not node-symmetric" in symmetric_reason(one_way)
    assert SCHEMES["fifo"].reason(one_way) is not None
    assert "more than the 50000 nodes" in symmetric_reason(gossamer.network("ring:50001"))


def test_a_node_symmetric_network_given_by_its_links_is_recognized():
    import networkx as nx

    network = from_networkx(nx.dodecahedral_graph())
    scheme = symmetric(network)
    scheme.check()
    assert stability_limit(scheme).load == 1
    assert symmetric_reason(from_networkx(nx.path_graph(4))) is not None
