"""Hierarchies in lists of links, and groups of shifts that move every rank and link."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.hierarchical_collectives import hierarchical_allgather
from gossamer.errors import NetworkError, ScheduleError
from gossamer.networks import SharedPorts, parse, renumbered
from gossamer.networks.derived import cables
from gossamer.networks.hierarchy import hierarchy
from gossamer.networks.recognition.free_groups import ShiftGroup
from gossamer.questions.cases import Case
from gossamer.schedules import Symmetry

FAMILIES = [
    ("leaf-spine:leaves=6,spines=4,hosts=3", (6, 3, 4)),
    ("servers:s=4,g=8,inside=9", (8, 4)),
    ("servers:s=6,g=4,spines=3", (4, 6, 3)),
    ("servers:s=4,g=4,rails=2", (2, 4, 2)),
    ("generalized-fat-tree:children=3x4x2,parents=1x2x4", (2, 2, 4, 3, 4)),
    ("dgx-a100:servers=4,rails=8", (8, 4)),
]


def shuffled(net, seed=0):
    rng = np.random.default_rng(seed)
    terminals = rng.permutation(net.terminal_count)
    order = np.concatenate([terminals, net.terminal_count + rng.permutation(net.node_count - net.terminal_count)])
    return renumbered(net, order, "a list")


def all_shifts(found):
    """Every element of the group of translations, as a permutation."""
    for times in itertools.product(*(range(order) for _, order in found.translations)):
        total = np.zeros(len(found.sizes), np.int64)
        for k, (shift, _) in zip(times, found.translations, strict=True):
            total += k * np.array(shift)
        yield found.moved(total.tolist())


@pytest.mark.parametrize(("spec", "sizes"), FAMILIES)
def test_coordinates_are_found_under_any_numbering(spec, sizes):
    found = hierarchy(shuffled(parse(spec)))
    assert sorted(found.sizes) == sorted(sizes)
    assert not len(found.missing)
    for t, own in enumerate(found.coordinates):
        assert math.prod(found.sizes[c] for c in own) == found.tier_sizes[t]


@pytest.mark.parametrize(("spec", "sizes"), FAMILIES)
def test_shifts_are_automorphisms_and_move_every_rank_and_link(spec, sizes):
    net = shuffled(parse(spec))
    found = hierarchy(net)
    ends = zip(net.link_source.tolist(), net.link_target.tolist(), strict=True)
    links = dict(zip(ends, net.link_capacity.tolist(), strict=True))
    seen = 0
    for image in all_shifts(found):
        seen += 1
        assert sorted(image.tolist()) == list(range(net.node_count))
        assert {(image[u], image[v]): c for (u, v), c in links.items()} == links
        if (image != np.arange(net.node_count)).any():
            ranks = np.arange(net.terminal_count)
            assert (image[ranks] != ranks).all()
            assert all((image[u], image[v]) != (u, v) for u, v in links)
    assert seen == math.prod(order for _, order in found.translations)


@pytest.mark.parametrize(
    ("spec", "order"),
    [
        ("leaf-spine:leaves=6,spines=4,hosts=3", 6),  # a leaf's hosts cannot be turned without its links to spines
        ("generalized-fat-tree:children=4x4x4,parents=1x4x4", 64),
        ("servers:s=4,g=8,inside=9", 32),
    ],
)
def test_the_group_is_as_large_as_ranks_and_links_let_it_be(spec, order):
    found = hierarchy(parse(spec))
    moved = [found.coordinates[t] for t in found.terminal_tiers] + [join.coordinates for join in found.joins]
    sizes = [math.prod(found.sizes[c] for c in each) for each in moved]
    group = math.prod(order for _, order in found.translations)
    assert group == order
    assert all(size % group == 0 for size in sizes)


def test_missing_cables_are_named():
    net = shuffled(parse("generalized-fat-tree:children=8x4x4,parents=1x4x4"))
    ends = [pair for pair in cables(net).tolist() if min(pair) >= net.terminal_count]
    lost = [ends[3], ends[-5]]
    found = hierarchy(net.without(links=[tuple(pair) for pair in lost]))
    assert sorted(sorted(pair) for pair in found.missing.tolist()) == sorted(sorted(pair) for pair in lost)
    assert "missing: 2 cables" in found.words


def test_what_is_like_a_missing_cable_has_no_translates():
    """One plane of four has lost a cable: the shifts leave the planes in place, and keep the other three."""
    whole = parse("generalized-fat-tree:children=8x4x4,parents=1x4x4")
    lost = next(pair for pair in cables(whole).tolist() if min(pair) >= whole.terminal_count)
    net = shuffled(whole.without(links=[tuple(lost)]))
    found = hierarchy(net)
    assert math.prod(order for _, order in found.translations) == 16
    group = Symmetry(net, permutations=[found.moved(shift) for shift, _ in found.translations])
    u, v = found.missing[0].tolist()
    broken = np.flatnonzero(group.broken)
    assert broken.size == 2 * (16 - 1)  # the other cables between leaves and switches of that plane, both ways
    links = list(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
    for image in all_shifts(found):
        moved = [(image[a], image[b]) for a, b in links]
        gone = set(moved) - set(links)
        assert gone <= {(u, v), (v, u)}
        assert not any(pair in gone for pair, without in zip(moved, group.broken, strict=True) if not without)
    plan = hierarchical_allgather(Case(net, gossamer.task("allgather")))
    assert plan.symmetry == group
    assert not group.broken[plan.link].any()
    link = plan.link.copy()
    link[0] = broken[0]
    with pytest.raises(ScheduleError, match="has no translates"):
        plan.replace(link=link)


def test_a_rank_without_its_rail_leaves_no_shifts():
    net = parse("servers:s=32,g=8,inside=9")
    lost = next(pair for pair in cables(net).tolist() if max(pair) == net.node_count - 1)
    found = hierarchy(net.without(links=[tuple(lost)]))
    assert found is None or found.translations == []


def test_dark_rails_make_a_tier_of_their_own():
    net = parse("servers:s=6,g=8,inside=9")
    rails = [net.node_count - 1, net.node_count - 2]
    found = hierarchy(net.without(nodes=rails))
    assert sorted(found.tier_sizes[t] for t in found.terminal_tiers) == [12, 36]
    assert found.words.count("servers of") == 2


@pytest.mark.parametrize("spec", ["torus:4x4", "dragonfly:4,2", "fat-tree:k=2,h=3", "jellyfish:n=20,d=4", "complete:5"])
def test_other_networks_are_none_or_trees(spec):
    found = hierarchy(parse(spec))
    assert found is None or spec.startswith("fat-tree")


def test_a_cable_at_the_wrong_place_is_no_hierarchy():
    net = parse("leaf-spine:leaves=4,spines=4,hosts=2")
    lines = [(u, v) for u, v in cables(net).tolist()]
    lines[-1] = (8, 9)  # between two leaves
    source = [u for u, v in lines] + [v for u, v in lines]
    target = [v for u, v in lines] + [u for u, v in lines]
    order = np.lexsort((target, source))
    wired = gossamer.networks.Network(
        "wired", net.node_count, np.array(source)[order], np.array(target)[order], terminal_count=net.terminal_count
    )
    assert hierarchy(wired) is None


def test_shared_ports_are_no_hierarchy():
    net = parse("leaf-spine:leaves=4,spines=4,hosts=2")
    none = np.full(net.link_count, -1)
    assert hierarchy(net.with_ports(SharedPorts(np.where(np.arange(net.link_count) < 2, 0, -1), none))) is None


@pytest.mark.parametrize("spec", ["leaf-spine:leaves=4,spines=2,hosts=4", "servers:s=4,g=4,spines=2"])
def test_translations_compose_as_permutations_do(spec):
    net = shuffled(parse(spec))
    found = hierarchy(net)
    group = Symmetry(net, permutations=[found.moved(shift) for shift, _ in found.translations])
    images = {int(image[0]): image for image in all_shifts(found)}
    assert sorted(images) == group.elements.tolist()
    nodes, links = np.arange(net.node_count), np.arange(net.link_count)
    for name, image in images.items():
        assert np.array_equal(group.translate(name, nodes), image)
        moved = group.translate_links(name, links)
        assert np.array_equal(net.link_source[moved], image[net.link_source])
        assert np.array_equal(net.link_target[moved], image[net.link_target])
        assert np.array_equal(group.link_orbit(moved), group.link_orbit(links))
    own = group.representatives[group.orbit[: net.terminal_count]]
    by = group.taking(own, nodes[: net.terminal_count])
    assert np.array_equal(group.translate(by, own), nodes[: net.terminal_count])
    assert np.array_equal(np.bincount(group.link_orbit(links)), np.full(group.link_orbit_count, group.order))
    again = Symmetry(net, **group.to_dict())
    assert again == group


def test_groups_that_leave_a_link_or_a_rank_in_place_are_refused():
    net = parse("leaf-spine:leaves=2,spines=2,hosts=2")
    hosts = np.array([1, 0, 3, 2, 4, 5, 6, 7])  # leaves their links to spines where they are
    with pytest.raises(NetworkError, match="leaves a link where it is"):
        _ = ShiftGroup(net, [hosts]).link_classes
    with pytest.raises(NetworkError, match="leaves a terminal where it is"):
        ShiftGroup(net, [np.array([1, 0, 2, 3, 4, 5, 7, 6])])
    with pytest.raises(NetworkError, match="leaves a terminal where it is"):
        ShiftGroup(net, [np.array([2, 3, 0, 1, 5, 4, 7, 6]), np.array([0, 1, 3, 2, 4, 5, 6, 7])])
    square = parse("leaf-spine:leaves=4,spines=2,hosts=1")
    turn, flip = np.array([1, 2, 3, 0, 5, 6, 7, 4, 9, 8]), np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8])
    with pytest.raises(NetworkError, match="does not commute"):
        ShiftGroup(square, [turn, flip])
    with pytest.raises(NetworkError, match="links differ"):
        ShiftGroup(net, [np.array([2, 1, 0, 3, 4, 5, 7, 6])])


def test_a_large_network_takes_seconds():
    net = parse("generalized-fat-tree:children=64x32x32,parents=1x32x32")
    found = hierarchy(net)
    assert sorted(found.sizes) == [32, 32, 32, 32, 64]
    assert math.prod(order for _, order in found.translations) == 32**3
    assert "32 pods of 32 leaf groups of 64 terminals" in found.words


def servers(inside, count=6, rails=True, rate=1):
    """Servers of ranks that are joined as pairs with capacities say, each rank with its own rail, or one for all."""
    size = 1 + max(max(u, v) for u, v, _ in inside)
    first = count * size
    lines = [(n * size + u, n * size + v, c) for n in range(count) for u, v, c in inside]
    lines += [(g, first + (g % size if rails else 0), rate) for g in range(first)]
    u, v, c = np.array(lines + [(v, u, c) for u, v, c in lines]).T
    order = np.lexsort((v, u))
    nodes = first + (size if rails else 1)
    return gossamer.networks.Network("s", nodes, u[order], v[order], terminal_count=first, link_capacity=c[order])


MESH = [(u, v, 1) for u in range(6) for v in range(u)]
RING = [(0, 3, 1), (3, 1, 1), (1, 4, 1), (4, 2, 1), (2, 5, 1), (5, 0, 1)]
CUBE_MESH = [
    (0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2), (2, 6, 1), (3, 7, 1),
    (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2),
]  # fmt: skip
STAR = [(0, 1, 1), (0, 2, 1), (0, 3, 1)]


@pytest.mark.parametrize(
    ("inside", "rails", "order"),
    [(MESH, True, 36), (MESH, False, 36), (RING, True, 36), (RING, False, 36), (CUBE_MESH, True, 6), (STAR, True, 6)],
)
def test_ranks_joined_directly_in_servers(inside, rails, order):
    """Meshes and rings are shifted with the rails; of other links the servers alone are exchanged."""
    net = shuffled(servers(inside, rails=rails), 5)
    found = hierarchy(net)
    assert found is not None
    assert math.prod(order for _, order in found.translations) == order
    assert math.prod(found.sizes[c] for level in found.levels for c in level) == 6
    ends = zip(net.link_source.tolist(), net.link_target.tolist(), strict=True)
    links = dict(zip(ends, net.link_capacity.tolist(), strict=True))
    for image in all_shifts(found):
        assert {(image[u], image[v]): c for (u, v), c in links.items()} == links


def test_servers_that_are_joined_differently_are_no_hierarchy():
    net = servers(RING, count=4, rails=False)
    pairs = [(u, v) for u, v in cables(net).tolist() if (u, v) not in ((0, 3), (2, 4))] + [(0, 2), (3, 4)]
    u, v = np.array(pairs + [(v, u) for u, v in pairs]).T  # two triangles in the first server
    order = np.lexsort((v, u))
    wired = gossamer.networks.Network(
        "wired", net.node_count, u[order], v[order], terminal_count=net.terminal_count
    )  # fmt: skip
    assert hierarchy(wired) is None


def test_ranks_joined_directly_are_told():
    found = hierarchy(parse("mi300x:4"))
    assert "4 servers of 8 terminals" in found.words
    assert "each is joined directly to 7 others" in found.words
