"""Every registered algorithm passes the battery; the battery catches what it is for."""

from __future__ import annotations

import dataclasses
import datetime
from collections import defaultdict
from fractions import Fraction

import pytest

import gossamer
from gossamer.algorithms import ALGORITHMS, algorithms_for, registry
from gossamer.bounds import bounds
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.tasks import Allreduce, Chunked, Grouped, Together
from gossamer.testing import check_case, standard_cases

_MOST = 12
"""Cases of an algorithm that covers every network under all rules, others every day."""


_CLOSED = 60
"""Cases of an algorithm that is not timed, of those in which every two of what makes a case come together; others every
day."""


_COMPOSED = 5
"""Cases of an algorithm that is made of others, or of the reversal of one, which have cases of their own; others every
day."""


_SOLVED = 3
"""Cases that a solver is asked."""


def composed(algorithm):
    made = (Allreduce, Chunked, Grouped, Together)
    return issubclass(algorithm.tasks[0], made) or algorithm.name.startswith("reversed-")


def covering(algorithm):
    """Cases in which every two of network and task, task and rules, and family and rules come together that do."""
    met = set()
    for case in standard_cases(algorithm):
        task, rules = case.task.describe(), (case.rules, case.control_time)
        spec, plain = case.network.spec, case.network.plain
        pairs = {(spec, plain, task), (type(case.task), task[:12], rules), (spec.partition(":")[0], plain, rules)}
        if not pairs <= met:
            met |= pairs
            yield case


def on_large_networks(algorithm):
    """Cases of what covers no small network: a torus and a hypercube without a link, and a dragonfly."""
    for network in (
        gossamer.network("torus:8x8").without(links=[(0, 1)]),
        gossamer.network("hypercube:6").without(links=[(0, 1)]),
        gossamer.network("dragonfly:a=4,h=2,p=1,arrangement=relative"),
    ):
        case = Case(network, algorithm.tasks[0]())
        if not isinstance(algorithm.offers(case), Refusal):
            yield case


def spread(cases, most, day=None):
    """Return so many cases, evenly spread, and others the next day."""
    apart = max(len(cases) / most, 1)
    first = (datetime.date.today().toordinal() if day is None else day) * (apart // 2 + 1) % apart
    return [cases[int(first + k * apart)] for k in range(min(most, len(cases)))]


def test_all_cases_have_their_day():
    for count, most in ((7, 31), (31, 31), (100, 31), (629, 31), (300, 13), (1064, 5)):
        turns = [spread(range(count), most, day) for day in range(800)]
        assert {len(some) for some in turns} == {min(count, most)}
        assert set().union(*turns) == set(range(count))


_KNOWN = defaultdict(list)
"""Cases and their bounds, by what nearly tells them apart: the algorithms of a task are tried on the same cases."""


def remembered(case):
    known = _KNOWN[case.network.spec, case.network.plain, case.task.describe(), case.rules, case.control_time]
    for other, found in known:
        if other.network == case.network and other.task == case.task:
            return found
    known.append((case, bounds(case)))
    return known[-1][1]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: f"{a.tasks[0].name}/{a.name}")
def test_algorithm_passes_the_battery(algorithm, monkeypatch, pytestconfig):
    monkeypatch.setattr("gossamer.testing.bounds", remembered)
    monkeypatch.setattr("gossamer.algorithms.any_network.hierarchical_collectives._LARGE", 4)
    most = _COMPOSED if composed(algorithm) else _MOST if algorithm.timed else _CLOSED
    if algorithm.name in ("exact", "reversed-exact"):
        pytest.importorskip("ortools", reason="needs OR-Tools (extra 'solver')")
        monkeypatch.setattr("gossamer.algorithms.any_network.exact.WORK", 0.05)
        monkeypatch.setattr("gossamer.algorithms.any_network.exact._MOST", 300)
        most = _SOLVED
    cases = list(standard_cases(algorithm)) if algorithm.timed or most == _SOLVED else list(covering(algorithm))
    cases = cases or list(on_large_networks(algorithm))
    assert cases
    if pytestconfig.getoption("--slow") == "all" and most != _SOLVED:
        most = len(cases)
    assert [fault for case in spread(cases, most) for fault in check_case(algorithm, case)] == []


def test_cases_of_a_closed_form_are_of_every_network_task_and_rules_that_it_covers():
    tree = next(a for a in ALGORITHMS if a.name == "shortest-path-tree")
    every, some = list(standard_cases(tree)), list(covering(tree))
    assert len(some) < len(every)
    for part in (lambda c: (c.network.spec, c.network.plain, c.task), lambda c: (c.rules, c.control_time)):
        assert {part(case) for case in some} == {part(case) for case in every}


def test_names_are_unique_within_a_task():
    names = [(task, a.name) for a in ALGORITHMS for task in a.tasks]
    assert len(names) == len(set(names))


@pytest.fixture
def broken():
    """An algorithm and a case on which it works."""
    algorithm = next(a for a in ALGORITHMS if a.tasks[0].name == "multinode-broadcast")
    return algorithm, next(c for c in standard_cases(algorithm) if c.network.spec == "ring:8")


def faults(algorithm, case):
    return " ".join(check_case(algorithm, case))


def changed(algorithm, case, **changes):
    """Return the algorithm with some fields of its offers changed, and its schedules by `edit`."""

    def propose(asked):
        offer = algorithm.offer(asked)
        edit = changes.get("edit", lambda schedule: schedule)
        rest = {name: value for name, value in changes.items() if name != "edit"}
        return dataclasses.replace(offer, build=lambda: edit(offer.build()), **rest)

    return faults(dataclasses.replace(algorithm, propose=propose), case)


def test_battery_catches_a_wrong_claim(broken):
    assert "claims 3" in changed(*broken, time=Fraction(3))
    assert "claims at most 3" in changed(*broken, time=Fraction(3), at_most=True)


def test_battery_catches_a_false_optimum(broken):
    def slow(s):
        last = s.phases[-1]
        return s.replace(phases=[*s.phases[:-1], dataclasses.replace(last, slots=last.slots + 1)])

    assert "promises the optimum" in changed(*broken, edit=slow, time=None, optimal=True)


def test_battery_catches_an_undelivered_packet(broken):
    def lossy(s):
        return s.replace(slot=s.slot[:-1], link=s.link[:-1], packet=s.packet[:-1])

    assert "never gets packet" in changed(*broken, edit=lossy)


def test_battery_catches_a_time_below_the_bound(broken):
    def squeezed(s):
        return s.replace(phases=[dataclasses.replace(p, slot_length=Fraction(1, 2)) for p in s.phases])

    text = changed(*broken, edit=squeezed)
    assert "below the bound" in text
    assert "slot length" in text


def test_battery_catches_a_least_time_that_is_beaten(broken):
    assert "calls the least" in changed(*broken, time=None, least=Fraction(100))


def test_a_line_of_the_table_names_the_tasks_of_its_algorithms():
    lines = (*registry._FORWARD, *registry._ONE_WAY, *registry._AS_THEY_ARE, *registry._SOLVED)
    assert all({*a.tasks} == {*line.tasks} for line in lines for a in registry._loaded(line.place))


def test_the_algorithms_for_a_task_are_those_of_the_table_that_name_it():
    for kind in {kind for a in ALGORITHMS for kind in a.tasks}:
        assert [a.name for a in algorithms_for(kind)] == [a.name for a in ALGORITHMS if issubclass(kind, a.tasks)]
