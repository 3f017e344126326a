"""Scatter in extended rings: Theorem 3.8."""

from __future__ import annotations

import math

import pytest

import gossamer
from gossamer.algorithms.scatter.furthest_first import EXTENDED_RING_PATHS
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Scatter

ALL = Rules()


@pytest.mark.parametrize("n", range(2, 40))
def test_theorem_3_8(n):
    for rho in range(1, n // 2 + 1):
        network = gossamer.network(f"extended-ring:{n},{rho}")
        schedule = EXTENDED_RING_PATHS.build(Case(network, Scatter(n // 3), ALL))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == math.ceil(n // 2 / rho) == math.ceil((n - 1) / network.degree)
        assert rho == n / 2 or schedule.completion_time == math.ceil((n - 1) / (2 * rho))


def test_vectors_worked_out_by_hand():
    for spec, steps in (("extended-ring:14,2", 4), ("extended-ring:6,2", 2), ("ring:9", 4), ("complete:7", 1)):
        schedule = EXTENDED_RING_PATHS.build(Case(gossamer.network(spec), Scatter(0), ALL))
        assert schedule.completion_time == steps


@pytest.mark.parametrize(
    ("spec", "model", "why"),
    [
        ("torus:3x3", ALL, "needs an extended ring"),
        ("ring:5", Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("ring:5", Rules(buffer=3, buffer_counts="all"), "needs room for the 4 messages"),
    ],
)
def test_says_why_it_does_not_cover(spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        EXTENDED_RING_PATHS.build(Case(gossamer.network(spec), Scatter(0), model))
