"""Limits of stability found by simulation agree with the exact ones from link loads."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.simulation.random_arrivals import Settings, schemes, simulate
from gossamer.simulation.random_arrivals.theory import stability_limit

LIMITS = [
    ("ARC, nearest side", lambda: schemes.arc(gossamer.network("array:6x6")), Fraction(15, 18)),
    ("ARC, random side", lambda: schemes.arc(gossamer.network("array:6x6"), side="random"), Fraction(15, 19)),
    ("STAR without the coin", lambda: schemes.star(gossamer.network("torus:4x4"), coin=False), Fraction(3, 4)),
    ("STAR", lambda: schemes.star(gossamer.network("torus:4x4")), Fraction(1)),
    (
        "indirect",
        lambda: schemes.stamoulis_tsitsiklis_indirect(gossamer.network("hypercube:4")),
        Fraction(2, 3) * Fraction(15, 16),
    ),
]


@pytest.mark.parametrize(("build", "limit"), [case[1:] for case in LIMITS], ids=[case[0] for case in LIMITS])
def test_simulation_is_stable_below_the_exact_limit_and_unstable_above(build, limit):
    scheme = build()
    assert stability_limit(scheme).load == limit
    below = simulate(scheme, load=0.96 * float(limit), settings=Settings(steps=15_000, seed=2))
    above = simulate(scheme, load=1.04 * float(limit), above_limit=True, settings=Settings(steps=15_000, seed=2))
    assert below.stable
    assert below.utilization.max() == pytest.approx(0.96, abs=0.03)
    assert not above.stable
    assert above.utilization.max() > 0.99
