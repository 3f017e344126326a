"""Every node has its own place, neighbors stand where a reader expects them, and nothing is left to chance."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import gossamer
from gossamer.networks import Coordinates, Groups, Network, Tiers, from_networkx
from gossamer.plots.layouts import ARC, STRAIGHT, STUB, circle, lay_out
from gossamer.plots.layouts.graphs import stress_positions

SPECS = (
    "array:1", "array:8", "array:100", "array:1x5", "array:4x4", "array:2x200", "array:200x2", "array:3x4x5",
    "array:7x5x3x2x2", "ring:1", "ring:2", "ring:8", "ring:300", "torus:8x8", "torus:4x4x4", "torus:3x4x5x6",
    "torus:16x16x16", "torus:64x64", "hypercube:0", "hypercube:3", "hypercube:4", "hypercube:5", "hypercube:6",
    "hypercube:7", "complete:8", "circulant:13,1,5", "circulant:600,1,7", "extended-ring:300,2",
    "generalized-hypercube:4x4x3", "hypercycle:5,2x7,3", "star:1", "star:2", "star:3", "star:4", "star:6", "pancake:5",
    "bubble-sort:5", "ccc:1", "ccc:2", "ccc:3", "ccc:6", "butterfly:1", "butterfly:2", "butterfly:4", "butterfly:7",
    "fat-tree:k=2,h=0", "fat-tree:k=2,h=3", "fat-tree:k=3,h=5", "fat-tree:k=2,h=12",
    "leaf-spine:8,4,4", "leaf-spine:40,8,4", "k-ary-n-tree:4,4", "servers:s=4,g=8,spines=2", "servers:s=32,g=8,rails=1",
    "dragonfly:4,2,p=2", "slim-fly:5", "polarfly:4", "xpander:4,3",
    "hyperx:4x8,capacity=1x2", "twisted-torus:8x4x4", "macro-star:2,2",
    "product:(ring:5)x(complete:4)", "product:(star:4)x(torus:3x3)", "product:(array:3)x(pancake:3)",
)  # fmt: skip


def closest(positions):
    return cKDTree(positions).query(positions, k=2)[0][:, 1].min() if len(positions) > 1 else np.inf


def length(network, layout):
    return np.hypot(*(layout.positions[network.link_target] - layout.positions[network.link_source]).T)


@pytest.mark.parametrize("spec", SPECS)
def test_nodes_of_every_family_stand_at_least_a_unit_apart_and_always_at_the_same_place(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    assert layout.positions.shape == (network.node_count, 2)
    assert layout.shape.shape == (network.link_count,)
    assert np.isfinite(layout.positions).all()
    assert closest(layout.positions) > 0.9999
    assert np.allclose(np.hypot(*layout.direction.T), 1)
    again = lay_out(gossamer.network(spec))
    assert np.array_equal(layout.positions, again.positions)
    assert np.array_equal(layout.shape, again.shape)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.booleans())
@settings(max_examples=60)
def test_blocks_of_a_grid_do_not_overlap(sides, wraps):
    spec = f"{'torus' if wraps else 'array'}:{'x'.join(map(str, sides))}"
    network = gossamer.network(spec)
    positions = lay_out(network).positions
    assert closest(positions) > 0.9999
    real = [s for s in sides if s > 1]
    if len(real) < 3 or set(sides) == {2}:
        return
    block = np.arange(network.node_count) // (real[-1] * real[-2])
    boxes = [(p.min(axis=0), p.max(axis=0)) for p in (positions[block == b] for b in np.unique(block))]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (low > other_high + 1).any() or (other_low > high + 1).any()


def test_two_dimensions_are_rows_and_columns():
    positions = lay_out(gossamer.network("torus:3x5")).positions
    assert positions.tolist() == [[x, -y] for y in range(3) for x in range(5)]


@pytest.mark.parametrize("spec", ["torus:6x7", "torus:4x4x4", "torus:2x5"])
def test_wrap_around_links_are_stubs_that_leave_away_from_their_target(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    step = np.abs(network.coordinates[network.link_target] - network.coordinates[network.link_source])
    wrapped = step.max(axis=1) > 1
    assert (layout.shape[wrapped] == STUB).all()
    inner = step[:, :-2].sum(axis=1) == 0
    assert (layout.shape[inner & ~wrapped] == STRAIGHT).all()
    way = layout.positions[network.link_target] - layout.positions[network.link_source]
    assert ((way * layout.direction).sum(axis=1)[wrapped & inner] < 0).all()


def test_straight_lines_of_a_large_torus_join_nodes_next_to_each_other():
    network = gossamer.network("torus:16x16x16")
    layout = lay_out(network)
    assert np.allclose(length(network, layout)[layout.shape == STRAIGHT], 1)
    assert np.count_nonzero(layout.shape == STRAIGHT) == 16 * 2 * 2 * 16 * 15
    assert not np.any(layout.shape == ARC)
    assert [name for _, _, name in layout.blocks] == [f"({k},*,*)" for k in range(16)]


@pytest.mark.parametrize("bits", [5, 6, 8])
def test_nodes_side_by_side_in_a_hypercube_differ_in_one_bit(bits):
    positions = lay_out(gossamer.network(f"hypercube:{bits}")).positions
    a, b = cKDTree(positions).query_pairs(1.001, output_type="ndarray").T
    assert len(a) == 2 ** (bits - 4) * 24
    assert set(np.bitwise_count(a ^ b).tolist()) == {1}


def test_a_ring_is_a_circle():
    network = gossamer.network("ring:12")
    layout = lay_out(network)
    assert np.allclose(np.hypot(*layout.positions.T), 0.5 / np.sin(np.pi / 12))
    assert np.allclose(length(network, layout), 1)
    assert np.allclose(layout.positions, circle(12))


@pytest.mark.parametrize("spec", ["array:100", "ring:300", "array:3x150", "array:150x3"])
def test_long_lines_are_folded_into_a_page(spec):
    layout = lay_out(gossamer.network(spec))
    wide, high = np.ptp(layout.positions, axis=0)
    assert 1 / 3 < wide / high < 3


@pytest.mark.parametrize("spec", ["fat-tree:k=2,h=4", "fat-tree:k=5,h=2"])
def test_a_small_tree_stands_on_its_leaves_with_parents_amid_their_children(spec):
    network = gossamer.network(spec)
    x, y = lay_out(network).positions.T
    level = network.coordinates[:, 0]
    assert len({(int(a), round(float(b), 9)) for a, b in zip(level, y, strict=True)}) == network.levels.height + 1
    assert (y[network.link_source] < y[network.link_target]).tolist() == (
        level[network.link_source] < level[network.link_target]
    ).tolist()
    for u in range(network.terminal_count, network.node_count):
        children = [network.link_target[i] for i in network.out_links(u) if level[network.link_target[i]] < level[u]]
        assert np.isclose(x[u], x[children].mean())


def test_a_large_tree_has_its_levels_on_circles():
    network = gossamer.network("fat-tree:k=2,h=9")
    radius = np.hypot(*lay_out(network).positions.T)
    level = network.coordinates[:, 0]
    for i in range(10):
        assert np.allclose(radius[level == i], radius[0] * (1 - i / 9))


@pytest.mark.parametrize("spec", ["leaf-spine:8,4,4", "servers:s=4,g=8,spines=2"])
def test_switches_stand_in_rows_amid_their_terminals(spec):
    network = gossamer.network(spec)
    x, y = lay_out(network).positions.T
    tiers = network.find(Tiers)
    tier = np.repeat(np.arange(len(tiers.sizes)), tiers.sizes)
    heights = [set(y[tier == t]) for t in range(len(tiers.sizes))]
    assert all(len(h) == 1 for h in heights)
    assert np.argsort([min(h) for h in heights]).tolist() == np.argsort(tiers.rows).tolist()
    for switch in np.flatnonzero(tier == 1):
        below = network.link_target[network.link_source == switch]
        assert x[switch] == pytest.approx(x[below[below < network.terminal_count]].mean())


@pytest.mark.parametrize("spec", ["dragonfly:4,2", "dragonfly:3,1,p=2", "slim-fly:5", "cyclic-network:3,(ring:4)"])
def test_a_group_stands_on_a_circle_of_its_own_and_terminals_beside_their_switch(spec):
    network = gossamer.network(spec)
    positions, group = lay_out(network).positions, network.find(Groups).group
    centers = {int(g): positions[group == g].mean(axis=0) for g in set(group.tolist())}
    for v, g in enumerate(group.tolist()):
        away = {h: np.hypot(*(positions[v] - center)) for h, center in centers.items()}
        assert min(away, key=away.get) == g
    for v in range(network.terminal_count if network.terminal_count < network.node_count else 0):
        switch = int(network.link_target[network.first_link[v]])
        assert np.hypot(*(positions[v] - positions[switch])) < 2.01
    without = network.without(nodes=[0])
    assert without.find(Groups).group.tolist() == group[1:].tolist()


@pytest.mark.parametrize("spec", ["star:5", "pancake:5", "bubble-sort:5"])
def test_arrangements_with_the_same_last_symbols_stand_together_in_hexagons(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    arrangement = network.group.arrangement(np.arange(network.node_count))
    u, v = network.link_source, network.link_target
    same = (arrangement[u, 3:] == arrangement[v, 3:]).all(axis=1)
    assert np.allclose(length(network, layout)[same], 1)
    assert (layout.shape[same] == STRAIGHT).all()
    assert (layout.shape[~same] == STUB).all()
    center = [layout.positions[arrangement[:, -1] == s].mean(axis=0) for s in range(5)]
    reach = max(np.hypot(*(layout.positions[arrangement[:, -1] == s] - c).T).max() for s, c in enumerate(center))
    assert closest(np.array(center)) > 2 * reach + 1


@pytest.mark.parametrize("bits", [3, 4, 7])
def test_cycles_of_cube_connected_cycles_are_circles(bits):
    network = gossamer.network(f"ccc:{bits}")
    layout = lay_out(network)
    same = network.coordinates[network.link_source, 0] == network.coordinates[network.link_target, 0]
    assert np.allclose(length(network, layout)[same], 1)


def test_a_small_butterfly_is_drawn_rank_by_rank():
    network = gossamer.network("butterfly:4")
    layout = lay_out(network)
    assert layout.positions[:, 0].tolist() == network.coordinates[:, 0].tolist()
    rank = network.coordinates[:, 1]
    step = np.abs(rank[network.link_target] - rank[network.link_source])
    assert ((layout.shape == STUB) == (step == 3)).all()


def test_a_product_keeps_the_drawing_of_its_last_factor():
    network, last = gossamer.network("product:(star:4)x(torus:3x4)"), gossamer.network("torus:3x4")
    layout, block = lay_out(network), lay_out(last)
    first = layout.positions[:12] - layout.positions[0]
    assert np.allclose(first, block.positions - block.positions[0])
    for link in network.out_links(5):
        target = int(network.link_target[link])
        if target < 12:
            alone = last.link_between(5, target)
            assert layout.shape[link] == block.shape[alone]
            assert np.allclose(layout.direction[link], block.direction[alone])


def test_coordinates_of_a_network_of_ones_own_are_used():
    place = [[0, 0], [0, 1], [0, 2], [1, 2]]
    links = [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]
    network = Network("hook", 4, *links, structures=[Coordinates(place)], links_only=True)
    assert lay_out(network).positions.tolist() == [[0, 0], [1, 0], [2, 0], [2, -1]]


# -- any network ---------------------------------------------------------------------------------------------


def test_a_path_is_drawn_nearly_straight_and_to_scale():
    network = from_networkx(nx.path_graph(12))
    positions = lay_out(network).positions
    on_paper = np.hypot(*(positions[0] - positions).T)
    assert np.allclose(on_paper, np.arange(12), rtol=0.05, atol=0.1)


def test_distances_on_paper_follow_hops():
    network = from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7)))
    positions = lay_out(network).positions
    hops = np.array([network.distances(u) for u in range(42)])
    on_paper = np.hypot(*(positions[:, None] - positions[None]).transpose(2, 0, 1))
    assert np.corrcoef(hops.reshape(-1), on_paper.reshape(-1))[0, 1] > 0.97


@pytest.mark.parametrize(
    "graph",
    [
        nx.star_graph(30),
        nx.les_miserables_graph(),
        nx.complete_graph(20),
        nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(3)),
        nx.empty_graph(4),
        nx.barabasi_albert_graph(700, 1, seed=2),
        nx.complete_bipartite_graph(2, 600),
    ],
    ids=["star", "les miserables", "complete", "two parts", "no links", "large tree", "large twins"],
)
def test_nodes_of_any_graph_stand_apart_and_always_at_the_same_place(graph):
    network = from_networkx(nx.Graph(graph.edges) if graph.edges else graph)
    positions = lay_out(network).positions
    assert np.isfinite(positions).all()
    assert closest(positions) > 0.3
    assert np.array_equal(positions, lay_out(from_networkx(nx.Graph(graph.edges) if graph.edges else graph)).positions)


@pytest.mark.symmetry
@pytest.mark.parametrize(
    "graph",
    [
        nx.petersen_graph(),
        nx.florentine_families_graph(),
        nx.random_regular_graph(3, 60, seed=1),
        nx.grid_2d_graph(6, 8),
        nx.balanced_tree(2, 5),
    ],
    ids=["petersen", "florentine", "cubic", "grid", "tree"],
)
def test_layouts_of_any_network_are_about_as_good_as_those_of_igraph(graph):
    igraph = pytest.importorskip("igraph")
    graph = nx.convert_node_labels_to_integers(graph)
    n = graph.number_of_nodes()
    theirs = igraph.Graph(n=n, edges=list(graph.edges()))
    first, second = np.triu_indices(n, 1)
    hops = np.array(theirs.distances(), float)[first, second]

    def stress(places):
        ratio = np.hypot(*(places[first] - places[second]).T) / hops
        return ((ratio * ratio.sum() / (ratio**2).sum() - 1) ** 2).mean()

    ours = stress_positions(gossamer.network(graph))
    assert stress(ours) <= 1.15 * stress(np.array(theirs.layout_kamada_kawai(maxiter=50 * n).coords))


@pytest.mark.parametrize("spec", ["ccc:3", "star:4", "cayley:abelian(12);1,4,8,11", "dragonfly:a=4,h=1"])
def test_no_straight_link_runs_through_a_third_node(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    for link in np.flatnonzero(layout.shape == STRAIGHT):
        ends = [int(network.link_source[link]), int(network.link_target[link])]
        a, b = layout.positions[ends]
        others = np.delete(layout.positions, ends, axis=0)
        along = np.clip((others - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)[:, None]
        assert np.hypot(*(others - a - along * (b - a)).T).min() > 0.19


@pytest.mark.parametrize("spec", ["mi300x:2", "gaudi3:2", "mi250x:3"])
def test_servers_whose_processors_are_joined_directly_are_boxes_below_their_switches(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    servers = int(spec.partition(":")[2])
    assert [box.name for box in layout.boxes] == [f"box{k}" for k in range(servers)]
    for k, box in enumerate(layout.boxes):
        names = [network.node_name(v) for v in box.nodes.tolist()]
        assert {name.strip("()").partition(".")[0] for name in names} == {f"box{k}"}
    terminals = layout.positions[: network.terminal_count]
    assert layout.positions[network.terminal_count :, 1].min() > terminals[:, 1].max() + 1
    ends = [(terminals[box.nodes, 0].min(), terminals[box.nodes, 0].max()) for box in layout.boxes]
    assert all(before[1] + 1 < after[0] for before, after in itertools.pairwise(ends))
    assert closest(layout.positions) > 0.9999


def test_processors_that_are_all_joined_or_in_pairs_are_no_servers(tmp_path):
    assert not lay_out(gossamer.network("mi300x:1")).boxes
    pairs = tmp_path / "pairs.edges"
    pairs.write_text("terminals 0 1 2 3\n0 1\n2 3\n0 4\n2 4\n")
    assert not lay_out(gossamer.network(f"edges:{pairs}")).boxes
