"""The area division of two-dimensional tori: all four parities, the sizes of the areas, the corrections."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.algorithms.scatter import area_division as module
from gossamer.algorithms.scatter.area_division import AREA_DIVISION, area_division, area_division_tree
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Scatter

ALL = Rules()
SIDES = range(3, 25)


def sizes(n, m):
    region = area_division(n, m).region
    return tuple(np.bincount(region[region >= 0], minlength=4).tolist())


def area(n, m, letter):
    a = area_division(n, m)
    inside = a.region == "ABCD".index(letter)
    return set(zip(a.i[inside].tolist(), a.j[inside].tolist(), strict=True))


def parents(n, m):
    a = area_division(n, m)
    points = zip(a.i.tolist(), a.j.tolist(), strict=True)
    return dict(zip(points, zip(a.parent_i.tolist(), a.parent_j.tolist(), strict=True), strict=True))


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize("n", SIDES)
def test_every_torus_takes_a_quarter_of_its_nodes(n):
    for m in SIDES:
        network = gossamer.network(f"torus:{n}x{m}")
        for root in (0, n * m // 2 + 1):
            schedule = AREA_DIVISION.build(Case(network, Scatter(root), ALL))
            assert gossamer.verify(schedule)
            assert schedule.completion_time == math.ceil((n * m - 1) / 4)


@pytest.mark.parametrize("n", range(3, 31))
def test_areas_have_the_reference_sizes(n):
    for m in range(3, 31):
        k, ell = n // 2, m // 2
        if n % 2 and m % 2:
            big, small = k * ell + math.ceil(k / 2) + ell // 2, k * ell + math.ceil(ell / 2) + k // 2
            expected = (big, small, big, small)
        elif n % 2 == 0 and m % 2 and m > 3:
            expected = (
                k * ell + math.ceil(k / 2), k * ell + (k - 1) // 2, k * ell + math.ceil((k - 1) / 2), k * ell + k // 2
            )  # fmt: skip
        elif n % 2 and m % 2 == 0 and n > 3:
            expected = (
                k * ell + ell // 2, k * ell + math.ceil(ell / 2), k * ell + (ell - 1) // 2,
                k * ell + math.ceil((ell - 1) / 2),
            )  # fmt: skip
        elif n % 2 == m % 2 == 0 and m >= 6:
            expected = (k * ell, k * ell, k * ell - 1, k * ell)
        elif n % 2 == 0 and m == 4:
            expected = (2 * k, 2 * k, 2 * k, 2 * k - 1)
        else:  # a side of 3
            assert max(sizes(n, m)) == math.ceil((n * m - 1) / 4)
            continue
        assert sizes(n, m) == expected


@pytest.mark.parametrize(
    ("n", "m", "areas", "steps"),
    [
        (7, 7, (12, 12, 12, 12), 12), (5, 5, (6, 6, 6, 6), 6), (4, 5, (5, 4, 5, 5), 5), (5, 4, (5, 5, 4, 5), 5),
        (4, 6, (6, 6, 5, 6), 6), (6, 4, (6, 6, 6, 5), 6), (6, 6, (9, 9, 8, 9), 9), (8, 5, (10, 9, 10, 10), 10),
        (3, 3, (2, 2, 2, 2), 2),
    ],
)  # fmt: skip
def test_vectors_worked_out_by_hand(n, m, areas, steps):
    assert sizes(n, m) == areas
    assert max(areas) == steps == math.ceil((n * m - 1) / 4)


def test_axes_of_the_7_by_7_torus_and_the_height_of_its_tree():
    on_axes = {x: {p for p in area(7, 7, x) if 0 in p} for x in "ABCD"}
    assert on_axes == {
        "A": {(0, 1), (0, 3), (2, 0)},
        "B": {(1, 0), (3, 0), (0, -2)},
        "C": {(0, -1), (0, -3), (-2, 0)},
        "D": {(-1, 0), (-3, 0), (0, 2)},
    }
    assert int(area_division_tree(gossamer.network("torus:7x7"), 24).depth.max()) == 6


def test_areas_of_5_by_4():
    assert area(5, 4, "A") == {(0, 1), (1, 1), (2, 0), (2, 1), (2, 2)}
    assert area(5, 4, "B") == {(1, 0), (1, -1), (1, -2), (2, -1), (2, -2)}
    assert area(5, 4, "C") == {(0, -1), (0, -2), (-1, -1), (-1, -2)}
    assert area(5, 4, "D") == {(-1, 0), (-1, 1), (-1, 2), (0, 2), (1, 2)}


def test_areas_of_4_by_5():
    assert area(4, 5, "A") == {(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)}
    assert area(4, 5, "B") == {(1, 0), (2, 0), (1, -1), (2, -1)}
    assert area(4, 5, "C") == {(0, -1), (-1, -1), (-2, -1), (-2, 0), (-2, 1)}
    assert area(4, 5, "D") == {(-1, 0), (-1, 1), (-1, 2), (-2, 2), (0, 2)}


def test_areas_of_4_by_4_as_corrected():
    assert area(4, 4, "A") == {(0, 1), (1, 1), (2, 1), (2, 2)}
    assert area(4, 4, "B") == {(1, 0), (2, 0), (1, -1), (2, -1)}
    assert area(4, 4, "C") == {(0, -1), (-1, -1), (0, 2), (1, 2)}
    assert area(4, 4, "D") == {(-1, 0), (-1, 1), (-1, 2)}
    up = parents(4, 4)
    assert (up[0, 2], up[1, 2], up[2, 0]) == ((0, -1), (0, 2), (2, -1))


def faults(n, m):
    """What is wrong with the division as a set of trees of an n x m torus: regions that hang on another, or are big."""
    a = area_division(n, m)
    place = {p: k for k, p in enumerate(zip((a.i % m).tolist(), (a.j % n).tolist(), strict=True))}
    above = [place[p] for p in zip((a.parent_i % m).tolist(), (a.parent_j % n).tolist(), strict=True)]
    source = place[0, 0]
    graph = nx.DiGraph((u, v) for v, u in enumerate(above) if v != source)
    wrong = [] if nx.is_arborescence(graph) else ["no tree"]
    broken = [v for v, u in enumerate(above) if u not in (source, v) and a.region[u] != a.region[v]]
    return wrong + ["a region hangs on another"] * bool(broken) + ["too big"] * (max(sizes(n, m)) > n * m // 4)


def test_errata_9_5_the_printed_move_breaks_the_tree_for_even_n_and_m_equal_to_4(monkeypatch):
    def printed(n, m):
        xm, yp = (m - 1) // 2, n // 2
        return [((1, yp), module.D, (0, yp)), ((-xm, 1), module.C, (-xm, 0))]

    assert faults(4, 4) == faults(8, 4) == faults(6, 6) == []
    monkeypatch.setattr(module, "_moves", printed)
    assert faults(6, 6) == faults(4, 6) == []
    for n in (4, 6, 8, 12):
        assert "a region hangs on another" in faults(n, 4)


def test_errata_9_5_the_printed_point_of_case_4_does_not_lie_in_d(monkeypatch):
    def printed(n, m):
        xp, xm, yp = m // 2, (m - 1) // 2, n // 2
        return [((1, yp), module.D, (0, yp)), ((xp, 1), module.C, (-xm, 0))]

    assert (3, 1) in area(6, 6, "A")
    monkeypatch.setattr(module, "_moves", printed)
    assert sizes(6, 6) != (9, 9, 8, 9)


@pytest.mark.parametrize(
    ("spec", "model", "why"),
    [
        ("torus:2x5", ALL, "two-dimensional torus with sides of at least 3"),
        ("torus:3x3x3", ALL, "two-dimensional torus"),
        ("array:4x4", ALL, "two-dimensional torus"),
        ("torus:4x4", Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("torus:4x4", Rules(buffer=8, buffer_counts="all"), "needs room for the 15 messages of the root"),
    ],
)
def test_says_why_it_does_not_cover(spec, model, why):
    with pytest.raises(NotApplicableError, match=why):
        AREA_DIVISION.build(Case(gossamer.network(spec), Scatter(0), model))
