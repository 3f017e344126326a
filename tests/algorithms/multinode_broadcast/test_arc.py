from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import gossamer
from gossamer.algorithms.multinode_broadcast.mesh_interior_over_surface import ARC, face_quotas, inner_nodes
from gossamer.errors import NotApplicableError
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.testing import check_case

MEASURED = {
    "4x4": 4, "5x5": 6, "6x6": 9, "8x8": 16, "10x10": 25, "12x12": 36, "14x14": 49, "6x10": 16, "4x4x4": 5, "6x6x6": 17
}  # fmt: skip


def _case(sides: str) -> Case:
    network = gossamer.network(f"array:{sides}")
    return Case(network, gossamer.task("group-allgather", active=inner_nodes(network)))


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize(("sides", "steps"), MEASURED.items())
def test_reference_times_are_not_exceeded(sides, steps):
    case = _case(sides)
    schedule = ARC.build(case)
    assert gossamer.verify(schedule)
    assert schedule.completion_time <= steps
    assert check_case(ARC, case) == []


@pytest.mark.parametrize("sides", MEASURED)
def test_errata_x4_the_printed_time_is_out_of_reach(sides):
    """The first copy of a face takes n - 1 slots to the far end, and the others follow one by one."""
    case = _case(sides)
    grid, inner = case.network.grid, len(case.task.active)
    d, longest = grid.dimensions, max(grid.sides)
    printed = Fraction(inner, 2 * d) + longest - 3
    steps = ARC.build(case).completion_time
    assert steps >= Fraction(inner, 2 * d) + longest - 2 > printed
    if sides == "4x4":
        assert (printed, steps) == (2, 4)


@pytest.mark.parametrize("n", [4, 6, 8, 16, 24])
def test_square_arrays_of_even_sides_take_a_quarter_of_n_squared(n):
    assert ARC.build(_case(f"{n}x{n}")).completion_time == (n // 2) ** 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(3, 7), min_size=1, max_size=3).filter(lambda s: max(s) > 3), st.data())
def test_schedules_are_valid_and_within_the_claim_on_any_mesh(sides, data):
    case = _case("x".join(map(str, sides)))
    schedule = ARC.build(case)
    assert gossamer.verify(schedule)
    assert schedule.completion_time <= ARC.offer(case).time
    some = data.draw(st.sets(st.sampled_from(case.task.active), min_size=1))
    part = gossamer.task("group-allgather", active=sorted(some))
    assert gossamer.verify(ARC.build(case.related(task=part)))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(1, 30), st.integers(0, 2**32))
def test_quotas_are_kept_at_the_least_cost(faces, m, seed):
    cost = np.random.default_rng(seed).integers(0, 9, (m, faces))
    face = face_quotas(cost)
    counts = np.bincount(face, minlength=faces)
    assert counts.max() - counts.min() <= 1
    if m % faces == 0:  # then the quotas are fixed, and the assignment problem gives the least cost
        rows, columns = linear_sum_assignment(np.repeat(cost, m // faces, axis=1))
        assert cost[np.arange(m), face].sum() == np.repeat(cost, m // faces, axis=1)[rows, columns].sum()


def test_links_inside_are_all_used_and_surface_nodes_compute_nothing():
    schedule = ARC.build(_case("8x8"))
    network = schedule.network
    inside = np.isin(np.arange(64), inner_nodes(network))
    within = inside[network.link_source] & inside[network.link_target]
    assert np.isin(np.flatnonzero(within), schedule.link).all()
    assert inside[schedule.packets.origin].all()


@pytest.mark.parametrize(
    ("spec", "active", "model", "line"),
    [
        ("torus:5x5", [6], Rules(), "needs an array"),
        ("array:5x5", [0, 6], Rules(), "node (0,0) is on its surface"),
        ("array:3x3", [4], Rules(), "at least 2 inner nodes"),
        ("array:5x5", [6], Rules(ports="one"), "is for all-port nodes, not one-port"),
        ("array:5x5", [6], Rules(buffer=2), "does not limit"),
    ],
)
def test_what_is_not_covered_is_said(spec, active, model, line):
    with pytest.raises(NotApplicableError) as caught:
        ARC.build(Case(gossamer.network(spec), gossamer.task("group-allgather", active=active), model))
    assert line in str(caught.value)
