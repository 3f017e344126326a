"""Simulated means against those of an independent simulator."""

from __future__ import annotations

import pytest

import gossamer
from dynamic.reference_delays import COLUMNS, ROWS
from gossamer.simulation.random_arrivals import Settings, schemes, simulate

LONGER = {("star:5", 0.9, "fifo"): 120}
"""Millions of transmissions where the reference's interval is narrow for the load."""
QUICK = {("hypercube:4", 0.5), ("hypercube:4", 0.9), ("torus:5x5", 0.5), ("torus:5x5", 0.9)}


def agrees(row, millions):
    """Compare a row: means within three of the reference's intervals and the rounding of its two decimals."""
    spec, load = row[:2]
    network = gossamer.network(spec)
    build = schemes.symmetric if spec.startswith("star") else schemes.star
    for k, priority in enumerate(COLUMNS):
        broadcasts = int(LONGER.get((spec, load, priority), millions) * 1e6 / network.node_count)
        found = simulate(
            build(network, priority=priority), load=load, settings=Settings(broadcasts=broadcasts, seed=11)
        )
        assert found.stable
        for estimate, mean, half in (
            (found.reception, row[2 + 4 * k], row[3 + 4 * k]),
            (found.broadcast, row[4 + 4 * k], row[5 + 4 * k]),
        ):
            assert estimate.mean == pytest.approx(mean, abs=3 * half + 0.01)
        if priority == "two-class":
            assert found.wait[0] == pytest.approx(row[14], abs=0.03)
            assert found.wait[1] == pytest.approx(row[15], abs=0.02 + 3 * row[7] + 0.05 * row[15])


@pytest.mark.parametrize("row", [r for r in ROWS if r[:2] in QUICK], ids=lambda r: f"{r[0]}-{r[1]}")
def test_delays_agree_with_the_reference(row):
    agrees(row, 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("row", [r for r in ROWS if r[:2] not in QUICK], ids=lambda r: f"{r[0]}-{r[1]}")
def test_delays_agree_with_the_reference_everywhere(row):
    agrees(row, 12 if row[1] > 0.7 else 4)


def made(name, spec, **options):
    return getattr(schemes, name)(gossamer.network(spec), **options)


OTHERS = [
    # scheme, load, choice, reception, +-, broadcast, +- (a few percent where none is given): sections 5, 7, 8, 9
    (("star_minis", "hypercube:4", "fifo"), 0.01, "oblivious", 1.29, 0.01, 1.77, 0.01),
    (("star_minis", "hypercube:4", "fifo"), 0.5, "oblivious", 1.96, 0.02, 3.37, 0.03),
    (("star_minis", "hypercube:4", "fifo"), 0.9, "oblivious", 7.1, 1.0, 14.6, 2.2),
    (("star_minis", "hypercube:4", "optimal"), 0.01, "oblivious", 0.98, 0.01, 1.03, 0.01),
    (("star_minis", "hypercube:4", "optimal"), 0.9, "oblivious", 8.7, 1.5, 16.6, 2.5),
    (("mini_packets", "hypercube:4", "fifo"), 0.01, "oblivious", 1.00, 0.01, 1.25, 0.01),
    (("mini_packets", "hypercube:4", "fifo"), 0.5, "oblivious", 1.37, 0.01, 1.74, 0.02),
    (("mini_packets", "hypercube:4", "fifo"), 0.9, "oblivious", 3.4, 0.6, 4.5, 0.8),
    (("mini_packets", "hypercube:6", "fifo"), 0.9, "oblivious", 2.6, 0.2, 3.6, 0.3),
    (("stamoulis_tsitsiklis_indirect", "hypercube:4", "fifo"), 0.1, "oblivious", 5.44, 0.05, 7.99, 0.08),
    (("stamoulis_tsitsiklis_indirect", "hypercube:4", "fifo"), 0.5, "oblivious", 7.14, 0.07, 10.4, 0.1),
    (("stamoulis_tsitsiklis_indirect", "hypercube:4", "fifo"), 0.6, "oblivious", 12.2, 2.6, 22, 8),
    (("arc", "array:6x6", "fifo"), 0.6, "oblivious", 6.64, 0.06, 9.98, 0.1),
    (("arc", "array:6x6", "two-class"), 0.6, "oblivious", 6.51, 0.06, 9.94, 0.1),
    (("arc", "array:6x6", "two-class"), 0.75, "oblivious", 8.41, 0.6, 15.0, 0.9),
    (("arc", "array:6x6x6", "two-class"), 0.859, "oblivious", 10.5, 0.5, 16.7, 0.9),
    (("star", "hypercube:4", "fifo"), 0.8, "global", 5.17, 0.06, 10.2, 0.2),
    (("star", "hypercube:4", "optimal"), 0.9, "global", 6.3, 0.4, 17.6, 1.2),
    (("star", "hypercube:6", "fifo"), 0.9, "global", 11.6, 0.5, 25.6, 1.2),
    (("star", "hypercube:6", "fifo"), 0.8, "local", 6.93, 0.1, 14.5, 0.25),
    (("star", "hypercube:6", "optimal"), 0.8, "local", 5.20, 0.1, 14.3, 0.25),
]


@pytest.mark.slow
@pytest.mark.parametrize("row", OTHERS, ids=lambda r: f"{'-'.join(r[0])}-{r[1]}-{r[2]}")
def test_other_schemes_and_choices_agree_with_the_reference(row):
    (name, spec, priority), load, choose, reception, half, broadcast, wide = row
    scheme = made(name, spec, priority=priority)
    found = simulate(
        scheme, load=load, settings=Settings(choose=choose, broadcasts=int(4e6 / scheme.network.node_count), seed=7)
    )
    assert found.reception.mean == pytest.approx(reception, abs=3 * half)
    assert found.broadcast.mean == pytest.approx(broadcast, abs=3 * wide)


def test_age_shortens_broadcasts_and_leaves_receptions_as_they_are():
    """The older of two copies of one class first; Q4 at load 0.9, 19.13 against 18.61."""
    scheme = made("star", "hypercube:4", priority="optimal")
    first_come, oldest = (
        simulate(scheme, load=0.9, settings=Settings(ties=t, broadcasts=50_000, seed=1)) for t in ("fifo", "age")
    )
    assert oldest.broadcast.mean / first_come.broadcast.mean == pytest.approx(18.61 / 19.13, abs=0.01)
    assert oldest.reception.mean == pytest.approx(first_come.reception.mean, rel=0.005)
