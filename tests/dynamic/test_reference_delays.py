"""Simulated means against those of an independent simulator: digest of seed 001, section 10."""

from __future__ import annotations

import pytest

import gossamer
from dynamic.reference_delays import COLUMNS, ROWS
from gossamer.dynamic import schemes, simulate

QUICK = {("hypercube:4", 0.5), ("hypercube:4", 0.9), ("torus:5x5", 0.5), ("torus:5x5", 0.9)}


def agrees(row, millions):
    """Compare a row: means within three of the reference's intervals and the rounding of its two decimals."""
    spec, load = row[:2]
    network = gossamer.network(spec)
    build = schemes.symmetric if spec.startswith("star") else schemes.star
    broadcasts = int(millions * 1e6 / network.node_count)
    for k, priority in enumerate(COLUMNS):
        found = simulate(build(network, priority=priority), load=load, broadcasts=broadcasts, seed=11)
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
