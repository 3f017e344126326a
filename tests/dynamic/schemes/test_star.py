from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.simulation.random_arrivals.schemes.dimension_orders import (
    background_target,
    even_target,
    redo,
    redo_probabilities,
    star,
    star_orders,
    star_probabilities,
)
from gossamer.simulation.random_arrivals.schemes.traffic_balancing import order_traffic
from gossamer.simulation.random_arrivals.theory import link_loads, stability_limit

F = Fraction


@pytest.mark.parametrize(
    ("sides", "traffic", "x"),
    [
        ((4, 8), [(24, 3), (7, 28)], (F(25, 42), F(17, 42))),
        ((3, 4, 5), [(40, 10, 2), (3, 45, 9), (16, 4, 48)], (F(7, 18), F(13, 36), F(1, 4))),
        ((3, 5), [(10, 2), (4, 12)], (F(5, 8), F(3, 8))),
        ((2, 3), [(3, 1), (2, 4)], (F(3, 4), F(1, 4))),
        ((2, 2, 8), None, (F(1, 3), F(13, 21), F(1, 21))),
    ],
)
def test_reference_traffic_and_probabilities(sides, traffic, x):
    columns = [order_traffic(sides, o) for o in star_orders(len(sides))]
    if traffic is not None:
        assert list(zip(*columns, strict=True)) == traffic
    assert star_probabilities(sides) == x


def test_equal_halves_of_4x8_reach_load_0_8857():
    loads = [sum(order_traffic((4, 8), o)[i] for o in star_orders(2)) / F(2) for i in (0, 1)]
    assert F(31, 2) / max(loads) == F(31, 35)
    assert round(float(F(31, 35)), 4) == 0.8857


@pytest.mark.parametrize("weighted", [False, True])
def test_no_side_up_to_12_has_a_negative_solution(weighted):
    for sides in itertools.chain(
        itertools.combinations_with_replacement(range(2, 13), 2), itertools.product(range(2, 7), repeat=3)
    ):
        target = even_target(sides, [1 if n == 2 and weighted else 2 for n in sides])
        assert min(star_probabilities(sides, target)) > 0


def test_two_dimensions_follow_the_closed_form():
    for n1, n2 in itertools.product(range(2, 15), repeat=2):
        assert star_probabilities((n1, n2))[0] == F(n1 * n2 - 2 * n1 + 1, 2 * (n1 - 1) * (n2 - 1))


def test_errata_x11_other_targets_need_negative_probabilities_and_the_line_says_what_is_possible():
    for share in (F(7), F(28)):
        assert min(star_probabilities((4, 8), [31 - share, share])) == 0
    with pytest.raises(NotApplicableError, match=r"dimension 1 carries 3 to 24 packets"):
        star_probabilities((4, 8), [F(25), F(6)])
    with pytest.raises(NotApplicableError, match=r"dimension 2 carries 7 to 28 packets"):
        redo_probabilities((4, 8), [F(2), F(29)])


def test_redo_meets_targets_that_star_cannot():
    sides, target = (3, 3, 3), [F(18), F(6), F(2)]  # the order 2, 1, 0
    with pytest.raises(NotApplicableError, match="REDO can"):
        star_probabilities(sides, target)
    assert redo_probabilities(sides, target) == {(2, 1, 0): 1}


def test_targets_of_another_sum_are_refused():
    with pytest.raises(NotApplicableError, match="must add up to 31"):
        star_probabilities((4, 8), [F(10), F(20)])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=2, max_size=4), st.data())
def test_redo_meets_every_mixture_of_orders(sides, data):
    orders = list(itertools.permutations(range(len(sides))))
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(orders), max_size=len(orders)).filter(any))
    target = [
        sum((F(w * order_traffic(sides, o)[i], sum(weights)) for o, w in zip(orders, weights, strict=True)), F(0))
        for i in range(len(sides))
    ]
    found = redo_probabilities(sides, target)
    assert sum(found.values()) == 1
    assert min(found.values()) > 0
    for i, t in enumerate(target):
        assert sum(p * order_traffic(sides, o)[i] for o, p in found.items()) == t


def test_equal_sides_mix_all_orders_evenly():
    assert set(redo_probabilities((5, 5, 5)).values()) == {F(1, 6)}


BALANCED = (
    "ring:5", "ring:8", "hypercube:1", "hypercube:4", "hypercube:7", "torus:5x5", "torus:4x4", "torus:8x8", "torus:4x8",
    "torus:2x2x8", "torus:2x3", "torus:3x4x5", "torus:2x3x6x4", "torus:1x4x1x3", "torus:7x11x13",
    "generalized-hypercube:4x3x5", "complete:6", "product:(star:3)x(ring:4)", "product:(ring:5)x(complete:4)",
    "product:(star:4)x(star:4)", "product:(pancake:4)x(complete:3)",
)  # fmt: skip


@pytest.mark.parametrize("spec", BALANCED)
@pytest.mark.parametrize("build", [star, redo])
def test_traffic_is_even_on_tori_hypercubes_and_products_of_balanced_factors(build, spec):
    network = gossamer.network(spec)
    scheme = build(network)
    scheme.check(sources=np.unique([0, network.node_count // 2, network.node_count - 1]))
    loads = link_loads(scheme)
    assert loads.even
    assert loads.total == network.node_count - 1
    assert stability_limit(scheme).load == 1


@pytest.mark.parametrize("spec", ["array:5", "array:4x5", "array:3x3x3", "product:(array:3)x(ring:4)"])
def test_star_covers_arrays_up_to_about_half_the_load(spec):
    scheme = star(gossamer.network(spec))
    scheme.check()
    assert link_loads(scheme).total == scheme.network.node_count - 1
    assert F(1, 2) < stability_limit(scheme).load < 1


@pytest.mark.parametrize(("n", "limit"), [(4, F(3, 4)), (8, F(7, 8)), (6, F(5, 6)), (5, F(1))])
def test_errata_x1_without_the_coin_even_tori_reach_n_minus_1_over_n(n, limit):
    network = gossamer.network(f"torus:{n}x{n}")
    assert stability_limit(star(network, coin=False)).load == limit
    assert stability_limit(star(network)).load == 1


def test_order_of_the_4_cube_carries_1_2_4_8_copies_with_subtrees_8_4_2_1():
    scheme = star(gossamer.network("hypercube:4"), priority="optimal")
    choice = int(
        np.argmax([scheme.dimension[scheme.step[scheme.children[f]]] == 0 for f in scheme.entry_first[0, :, 0]])
    )
    copies = np.zeros((4, 2), int)
    for _, row, _ in scheme.walk((0, choice, 0), [0]):
        for r in row:
            copies[scheme.dimension[scheme.step[r]]] += 1, 0
            copies[scheme.dimension[scheme.step[r]], 1] = scheme.priority[r]
    assert copies.tolist() == [[1, 0], [2, 1], [4, 2], [8, 3]]


def test_two_class_torus_has_n_over_side_minus_1_high_copies():
    scheme = star(gossamer.network("torus:5x5"))
    high = sum(int((scheme.priority[row] == 0).sum()) for _, row, _ in scheme.walk((0, 0, 0), [0]))
    assert high == 25 // 5 - 1


def test_target_for_background_traffic_evens_out_the_utilization():
    network, rate, busy = gossamer.network("torus:4x4"), F(1, 20), [F(1, 10), F(0)]
    target = background_target((4, 4), (2, 2), rate, busy)
    loads = link_loads(star(network, target=target))
    total = [rate * 16 * loads[k] + busy[0 if k % 4 < 2 else 1] for k in range(network.link_count)]
    assert len(set(total)) == 1


def test_background_that_no_order_can_even_out_is_refused():
    target = background_target((4, 4), (2, 2), F(1, 100), [F(1, 2), F(0)])
    with pytest.raises(NotApplicableError, match="carries 3 to 12 packets"):
        redo(gossamer.network("torus:4x4"), target=target)
    with pytest.raises(NotApplicableError, match="needs links of capacity 1"):
        star(gossamer.network("fat-tree:k=2,h=2"))


def test_a_single_network_that_is_no_torus_is_refused():
    with pytest.raises(NotApplicableError, match="another product of factors"):
        star(gossamer.network("star:4"))


def test_errata_x1_equal_shares_overload_the_single_link_of_a_side_of_2():
    network = gossamer.network("torus:2x3")
    assert stability_limit(star(network, target=[F(5, 2), F(5, 2)])).load == F(2, 3)
    assert stability_limit(star(network)).load == 1


def test_tables_stay_small_on_large_tori():
    assert star(gossamer.network("torus:32x32x32")).row_count < 1000
