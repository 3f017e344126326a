"""Hypercycles and generalized hypercubes: their two ends, and the formulas of Dimakopoulos 1996, chapters 2 and 5."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NetworkError
from gossamer.networks import complete, extended_ring, generalized_hypercube, hypercube, hypercycle, torus

pairs = st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n // 2)))


@given(st.lists(pairs, min_size=1, max_size=3))
@settings(deadline=None)
def test_hypercycle_adds_up_degrees_and_diameters_of_its_extended_rings(rings):
    net = hypercycle(*rings)
    factors = [extended_ring(n, rho) for n, rho in rings]
    assert net.node_count == math.prod(n for n, _ in rings)
    assert net.degree == sum(f.degree for f in factors)
    assert net.diameter == sum(f.diameter for f in factors) == int(net.distances(0).max())
    status = sum(net.node_count // f.node_count * int(f.distances(0).sum()) for f in factors)
    assert int(net.distances(0).sum()) == status


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4))
@settings(deadline=None)
def test_ends_of_the_hypercycles_are_tori_and_generalized_hypercubes(sides):
    as_torus = hypercycle(*((n, 1) for n in sides))
    assert as_torus == torus(*sides)
    assert as_torus.grid == torus(*sides).grid
    widest, cubes = hypercycle(*((n, n // 2) for n in sides)), generalized_hypercube(*sides)
    assert np.array_equal(np.sort(widest.generators), np.sort(cubes.generators))
    assert widest.group == cubes.group


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
@settings(deadline=None)
def test_generalized_hypercube_distance_counts_differing_coordinates(sides):
    net = generalized_hypercube(*sides)
    digits = np.stack(np.unravel_index(np.arange(net.node_count), sides), axis=1)
    assert np.array_equal(net.distances(0), (digits != 0).sum(axis=1))
    assert net.degree == sum(s - 1 for s in sides)
    assert int(net.distances(0).sum()) == sum(net.node_count - net.node_count // s for s in sides)


def test_single_factors_are_the_factor_itself():
    assert hypercycle((14, 2)).spec == "extended-ring:14,2"
    assert generalized_hypercube(6) == complete(6)
    assert generalized_hypercube(2, 2, 2) == hypercube(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hypercycle(), "hypercycle: at least one extended ring n,rho is needed"),
        (lambda: hypercycle((5, 2), (7,)), r"hypercycle: each extended ring is a pair \(n, rho\), got \(7,\)"),
        (lambda: hypercycle(5, 2), r"hypercycle: each extended ring is a pair \(n, rho\), got 5"),
        (lambda: hypercycle((5, 2), (7, 4)), r"extended-ring: rho must be in 1\.\.3 for n=7, got 4"),
        (lambda: hypercycle((1, 1)), "hypercycle: n must be a whole number of at least 2, got 1"),
        (lambda: hypercycle((10**4, 1), (10**5, 1)), "hypercycle: the network would have 4000000000 links"),
        (lambda: generalized_hypercube(), "generalized-hypercube: at least one side is needed"),
        (
            lambda: generalized_hypercube(4, 0),
            "generalized-hypercube: a side must be a whole number of at least 1, got 0",
        ),
        (lambda: generalized_hypercube(1000, 1000), "generalized-hypercube: the network would have 1998000000 links"),
    ],
)
def test_illegal_parameters_are_refused_in_one_line(call, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
