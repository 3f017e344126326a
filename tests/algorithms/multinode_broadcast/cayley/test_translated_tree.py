"""Multinode broadcast by translated trees: valid everywhere, and as fast as any schedule can be."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.algorithms.multinode_broadcast.cayley import TRANSLATED_TREE, fewest_slots, fill_cells
from gossamer.errors import NetworkError, NotApplicableError
from gossamer.networks import (
    AbelianGroup,
    CayleyGroup,
    CubeRotationGroup,
    PermutationGroup,
    cayley,
    circulant,
    to_networkx,
)
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MultinodeBroadcast

TASK = MultinodeBroadcast()


def specs(pattern: str, *values) -> list[str]:
    return [pattern.format(*v) if isinstance(v, tuple) else pattern.format(v) for v in values]


FAMILIES = {
    "rings": specs("ring:{}", *range(3, 41)),
    "tori of two sides": specs("torus:{}x{}", *itertools.product(range(2, 9), repeat=2)),
    "tori of three sides": specs(
        "torus:{}x{}x{}", (3, 4, 5), (8, 8, 8), (5, 5, 5), (2, 7, 9), *itertools.product((2, 3, 4), repeat=3)
    ),
    "long tori": ["torus:2x2x2x50", "torus:2x2x2x2x33", "torus:3x3x2x28", "torus:2x200", "torus:3x100"],
    "hypercubes": specs("hypercube:{}", *range(1, 13)),
    "star graphs": specs("star:{}", *range(3, 8)),
    "pancakes": specs("pancake:{}", *range(3, 7)),
    "bubble-sort graphs": specs("bubble-sort:{}", *range(3, 7)),
    "cube-connected cycles": specs("ccc:{}", *range(1, 9)),
    "butterflies": specs("butterfly:{}", *range(1, 8)),
    "extended rings": specs("extended-ring:{},{}", *((n, r) for n in range(2, 25) for r in range(1, n // 2 + 1))),
    "circulants": ["circulant:13,1,5", "circulant:12,2,3", "circulant:309,11,103", "circulant:24,5,8"],
    "complete networks": specs("complete:{}", 2, 3, 8, 30),
    "generalized hypercubes": ["generalized-hypercube:4x4x3", "generalized-hypercube:2x5", "generalized-hypercube:7x7"],
    "hypercycles": ["hypercycle:5,2x7,3", "hypercycle:6,2x9,1", "hypercycle:2,1x8,2", "hypercycle:39,1x4,2"],
    "products": [
        "product:(ring:5)x(complete:4)", "product:(star:3)x(ring:4)", "product:(ccc:3)x(ring:19)",
        "product:(ring:30)x(complete:4)", "product:(ring:58)x(complete:8)", "product:(butterfly:2)x(pancake:4)",
    ],
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_time_is_the_ports_bound_or_the_diameter(family):
    for spec in FAMILIES[family]:
        network = gossamer.network(spec)
        offer = TRANSLATED_TREE.offer(Case(network, TASK))
        schedule, n, degree = offer.build(), network.node_count, network.degree
        assert gossamer.verify(schedule), spec
        assert schedule.completion_time == max(math.ceil((n - 1) / degree), network.diameter), spec
        assert schedule.completion_time == offer.time, spec
        assert offer.optimal, spec


@pytest.mark.parametrize("ports", ["one", "one-send", "one-receive"])
def test_one_port_takes_a_slot_for_each_other_node(ports):
    model = Rules(ports=ports)
    for spec in ("ring:2", "ring:7", "torus:3x4", "hypercube:5", "star:5", "ccc:3", "butterfly:4", "complete:9"):
        network = gossamer.network(spec)
        offer = TRANSLATED_TREE.offer(Case(network, TASK, model))
        schedule = offer.build()
        assert gossamer.verify(schedule)
        assert schedule.completion_time == network.node_count - 1 == offer.time
        assert gossamer.verify(schedule.expand())


@pytest.mark.parametrize("spec", ["ring:1", "torus:1x1", "complete:1", "hypercube:0", "star:1"])
@pytest.mark.parametrize("ports", ["all", "one", "one-send"])
def test_a_single_node_takes_no_time(spec, ports):
    schedule = TRANSLATED_TREE.build(Case(gossamer.network(spec), TASK, Rules(ports=ports)))
    assert gossamer.verify(schedule)
    assert (schedule.completion_time, schedule.stored_hops) == (0, 0)


def test_star_of_six_symbols_takes_144_slots():
    assert TRANSLATED_TREE.build(Case(gossamer.network("star:6"), TASK)).completion_time == 144


def test_a_million_nodes_take_166667_slots():
    schedule = TRANSLATED_TREE.build(Case(gossamer.network("torus:100x100x100"), TASK))
    assert schedule.completion_time == Fraction(166_667)
    assert gossamer.verify(schedule)


def test_every_small_circulant_takes_the_fewest_slots():
    for n in range(2, 15):
        for jumps in itertools.chain.from_iterable(
            itertools.combinations(range(1, n // 2 + 1), k) for k in range(1, n // 2 + 1)
        ):
            if math.gcd(n, *jumps) == 1:
                network = circulant(n, *jumps)
                slot, _ = fill_cells(network, fewest_slots(network))
                assert int(slot[-1]) + 1 == fewest_slots(network), network.spec


@st.composite
def small_cayley_networks(draw) -> Network:
    group = draw(
        st.sampled_from([AbelianGroup((2, 2, 2, 2)), AbelianGroup((2, 6)), AbelianGroup((3, 3)), AbelianGroup((4, 4)),
                         AbelianGroup((17,)), PermutationGroup(3), PermutationGroup(4), CubeRotationGroup(3)])
    )  # fmt: skip
    chosen = draw(st.lists(st.integers(1, group.order - 1), min_size=1, max_size=5, unique=True))
    try:
        return cayley("drawn", group, dict.fromkeys([*chosen, *group.inverse(chosen).tolist()]))
    except NetworkError:  # they generate a subgroup only
        return cayley("drawn", group, range(1, group.order))


@given(small_cayley_networks())
@settings(max_examples=60)
def test_any_cayley_network_gets_a_valid_schedule_that_its_expansion_confirms(network):
    schedule = TRANSLATED_TREE.build(Case(network, TASK))
    assert gossamer.verify(schedule)
    assert gossamer.verify(schedule.expand())
    assert schedule.completion_time >= fewest_slots(network)
    assert TRANSLATED_TREE.offer(Case(network, TASK)).time is None


@given(small_cayley_networks(), st.data())
@settings(max_examples=60)
def test_base_and_expansion_reject_the_same_broken_schedules(network, data):
    schedule = TRANSLATED_TREE.build(Case(network, TASK))
    links = schedule.link.copy()
    hop = data.draw(st.integers(0, links.size - 1))
    links[hop] = data.draw(st.integers(0, network.link_count - 1))
    broken = schedule.replace(link=links)
    assert bool(gossamer.verify(broken)) == bool(gossamer.verify(broken.expand()))


@given(small_cayley_networks())
def test_fewest_slots_agree_with_distances_found_by_networkx(network):
    distance = nx.single_source_shortest_path_length(to_networkx(network), 0)
    expected = max(
        r - 1 + math.ceil(sum(d >= r for d in distance.values()) / network.degree)
        for r in range(1, max(distance.values()) + 1)
    )
    assert fewest_slots(network) == expected


def in_two_slots(network: Network) -> bool:
    """Whether two slots can do when N-1 = 2*degree: slot 0 takes the generators, slot 1 must match all the rest."""
    near = network.generators
    rest = np.setdiff1d(np.arange(1, network.node_count), near)
    choices = nx.Graph()
    choices.add_nodes_from(("element", int(v)) for v in rest)
    for v in rest.tolist():
        for g in near.tolist():
            if network.group.compose(v, network.group.inverse(g)) in near:
                choices.add_edge(("element", v), ("generator", g))
    top = [c for c in choices if c[0] == "element"]
    return len(nx.bipartite.maximum_matching(choices, top)) == 2 * len(top)


def test_where_no_invariant_schedule_is_as_fast_as_the_bound_nothing_is_claimed():
    generators = [1, 4, 8, 9, 10, 11, 12, 15, 18, 19, 21, 22]
    network = cayley("of Z5 x Z5", AbelianGroup((5, 5)), generators)
    assert (fewest_slots(network), network.node_count - 1) == (2, 2 * network.degree)
    assert not in_two_slots(network)
    schedule = TRANSLATED_TREE.build(Case(network, TASK))
    assert schedule.completion_time == 3
    assert gossamer.verify(schedule)
    assert not TRANSLATED_TREE.offer(Case(network, TASK)).optimal


def test_the_matching_that_proves_it_finds_two_slots_where_they_exist():
    assert in_two_slots(cayley("Paley", AbelianGroup((13,)), [1, 3, 4, 9, 10, 12]))


def test_seeds_do_not_matter():
    zero, one = (TRANSLATED_TREE.build(Case(gossamer.network("ccc:5"), TASK, seed=seed)) for seed in (0, 1))
    assert zero == one


@pytest.mark.parametrize(
    ("spec", "model", "why"),
    [
        ("array:5", Rules(), "needs a Cayley network"),
        ("fat-tree:k=2,h=2", Rules(), "needs a Cayley network"),
        ("ring:5", Rules(buffer=3), "does not limit the packets that a node holds"),
    ],
)
def test_says_why_it_does_not_cover(spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        TRANSLATED_TREE.build(Case(gossamer.network(spec), TASK, model))


def own(generators, capacity=1) -> Network:
    """A network on Z_6 whose links are given by hand."""
    node = np.arange(6)
    target = (node[:, None] + np.array(generators)) % 6
    return Network(
        "own", 6, np.repeat(node, len(generators)), target.reshape(-1), capacity,
        structures=[CayleyGroup(AbelianGroup((6,)))], links_only=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (own([1]), "needs an opposite for every link"),
        (own([2, 4]), "needs a connected network"),
        (own([1, 5], [1, 2] * 6), "needs links of one capacity"),
    ],
)
def test_says_what_a_network_made_by_hand_lacks(network, why):
    assert TRANSLATED_TREE.offers(Case(network, TASK)).why == why


def test_splitting_may_beat_whole_messages_so_the_optimum_is_promised_only_without_a_remainder():
    model = Rules(split=True)
    assert TRANSLATED_TREE.offer(Case(gossamer.network("torus:5x5"), TASK, model)).optimal
    assert not TRANSLATED_TREE.offer(Case(gossamer.network("torus:4x4"), TASK, model)).optimal
    assert gossamer.verify(TRANSLATED_TREE.build(Case(gossamer.network("torus:4x4"), TASK, model)))
