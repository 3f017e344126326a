"""No simulated delay is below a proved bound, and with balanced traffic at low load they are close together."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.simulation.random_arrivals import Settings, simulate
from gossamer.simulation.random_arrivals.schemes import scheme
from gossamer.simulation.random_arrivals.theory import best_bound, delay_estimate, stability_limit

CASES = [
    ("fifo", "hypercube:4"), ("optimal", "hypercube:4"), ("mini-packets", "hypercube:4"), ("star-minis", "torus:3x3"),
    ("stamoulis-tsitsiklis-indirect", "hypercube:4"), ("priority", "torus:4x5"), ("redo", "torus:3x4"),
    ("critical-path", "star:4"), ("symmetric", "ccc:3"), ("star", "array:4x5"), ("arc", "array:5x5"),
    ("varvarigos-banerjee-direct", "array:4x4"), ("varvarigos-banerjee-indirect", "star:4"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec"), CASES)
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_simulated_delays_are_above_the_bounds(name, spec, share):
    table = scheme(name, gossamer.network(spec))
    load = share * float(stability_limit(table))
    run = simulate(table, load=load, settings=Settings(seed=3, replications=4, broadcasts=4000))
    reception, broadcast = best_bound(table, load)
    assert run.stable
    assert run.reception.mean > reception - 3 * run.reception.half_width
    assert run.broadcast.mean > broadcast - 3 * run.broadcast.half_width
    if share == 0.2 and table.parts == 1:
        assert run.reception.mean < 1.07 * reception
        assert run.reception.mean == pytest.approx(delay_estimate(table, load).reception, rel=0.08)
