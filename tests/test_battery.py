"""Every registered algorithm passes the battery; the battery catches what it is for."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from gossamer.algorithms import ALGORITHMS
from gossamer.testing import check_algorithm, check_case, standard_cases


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: f"{a.task.name}/{a.name}")
def test_algorithm_passes_the_battery(algorithm):
    assert check_algorithm(algorithm) == []


def test_names_are_unique_within_a_task():
    names = [(a.task, a.name) for a in ALGORITHMS]
    assert len(names) == len(set(names))


@pytest.fixture
def broken():
    """An algorithm and a case on which it works."""
    algorithm = next(a for a in ALGORITHMS if a.task.name == "multinode-broadcast")
    return algorithm, next(c for c in standard_cases(algorithm) if c.network.spec == "ring:8")


def faults(algorithm, case):
    return " ".join(check_case(algorithm, case))


def test_battery_catches_a_wrong_claim(broken):
    algorithm, case = broken
    assert "claims 3" in faults(dataclasses.replace(algorithm, claim=lambda n, t, m: Fraction(3)), case)


def test_battery_catches_a_false_optimum(broken):
    algorithm, case = broken

    def slow(network, task, model, *, seed=0):
        s = algorithm.builder(network, task, model, seed=seed)
        last = s.phases[-1]
        return s.replace(phases=[*s.phases[:-1], dataclasses.replace(last, slots=last.slots + 1)])

    late = dataclasses.replace(algorithm, builder=slow, claim=lambda n, t, m: None, optimal=lambda n, t, m: True)
    assert "promises the optimum" in faults(late, case)


def test_battery_catches_an_undelivered_packet(broken):
    algorithm, case = broken

    def lossy(network, task, model, *, seed=0):
        s = algorithm.builder(network, task, model, seed=seed)
        return s.replace(slot=s.slot[:-1], link=s.link[:-1], packet=s.packet[:-1])

    assert "never gets packet" in faults(dataclasses.replace(algorithm, builder=lossy), case)


def test_battery_catches_a_time_below_the_bound(broken):
    algorithm, case = broken

    def squeezed(network, task, model, *, seed=0):
        s = algorithm.builder(network, task, model, seed=seed)
        return s.replace(phases=[dataclasses.replace(p, slot_length=Fraction(1, 2)) for p in s.phases])

    text = faults(dataclasses.replace(algorithm, builder=squeezed), case)
    assert "below the bound" in text
    assert "slot length" in text
