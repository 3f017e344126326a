"""Star, pancake and bubble-sort graphs against their textbook definitions and known diameters."""

from __future__ import annotations

import itertools

import pytest

from gossamer.errors import NetworkError
from gossamer.networks import bubble_sort, pancake, star


def swapped(a, i, j):
    b = list(a)
    b[i], b[j] = b[j], b[i]
    return tuple(b)


@pytest.mark.parametrize("m", range(1, 6))
@pytest.mark.parametrize(
    ("build", "neighbors"),
    [
        (star, lambda a: [swapped(a, 0, i) for i in range(1, len(a))]),
        (pancake, lambda a: [a[:i][::-1] + a[i:] for i in range(2, len(a) + 1)]),
        (bubble_sort, lambda a: [swapped(a, i, i + 1) for i in range(len(a) - 1)]),
    ],
)
def test_permutation_networks_move_symbols_in_the_order_of_their_generators(build, neighbors, m):
    arrangements = list(itertools.permutations(range(m)))
    number = {a: i for i, a in enumerate(arrangements)}
    net = build(m)
    assert net.link_target.tolist() == [number[b] for a in arrangements for b in neighbors(a)]
    assert net.node_count == len(arrangements)


def test_one_and_two_symbols_are_a_node_and_an_edge():
    for build in (star, pancake, bubble_sort):
        assert build(1).node_count == 1
        assert build(2).link_target.tolist() == [1, 0]


@pytest.mark.parametrize("m", range(2, 8))
def test_diameters_are_the_known_ones(m):
    assert star(m).diameter == 3 * (m - 1) // 2
    assert bubble_sort(m).diameter == m * (m - 1) // 2
    assert pancake(m).diameter == [1, 3, 4, 5, 7, 8][m - 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: star(0), "star: m must be a whole number of at least 1, got 0"),
        (lambda: star(12), "star: the network would have 5269017600 links"),
        (lambda: pancake(10**8), "pancake: the network would have more than 10\\^18 links"),
        (lambda: bubble_sort(-2), "bubble-sort: m must be a whole number of at least 1, got -2"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(call, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
