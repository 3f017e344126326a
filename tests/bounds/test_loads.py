"""All hops that must happen are counted, each once."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gossamer
from gossamer.bounds.ports import load_bounds
from gossamer.questions.cases import Case


@pytest.mark.parametrize(
    ("destinations", "hops"),
    [
        ([[4], [], [], [], []], 4),  # as far as its one target is
        ([[1, 4], [], [], [], []], 4),  # the nearer one lies on the way
        ([[], [], [0, 1, 3, 4], [], []], 4),  # a hop to each of four, none further than 2
        ([[4], [], [0, 1, 3], [], []], 4 + 3),
    ],
)
def test_a_message_for_several_goes_as_far_as_the_furthest_and_once_to_each(destinations, hops):
    task = gossamer.task("one-to-many-routing", destinations=destinations)
    (bound,) = load_bounds(Case(gossamer.network("array:5"), task, gossamer.Rules(split=True)))
    assert bound.value == Fraction(hops, 8)
    assert f"need {hops} hops, and 8 links make at most 8 a step" in bound.witness


def test_messages_for_one_node_each_go_the_sum_of_their_distances():
    task = gossamer.task("permutation", destination=[4, 0, -1, -1, 3])
    (bound,) = load_bounds(Case(gossamer.network("array:5"), task, gossamer.Rules(split=True)))
    assert bound.value == Fraction(4 + 1 + 1, 8)


@pytest.mark.parametrize(
    ("ports", "steps", "by"),
    [("all", 8, "32 links along it make at most 32"), ("one", 16, "16 nodes, each using one link")],
)
def test_hops_along_an_axis_are_made_by_links_or_by_ports(ports, steps, by):
    """Of 16 x 15 messages each goes one hop along each axis on average: 256 over 32 links, or by 16 ports."""
    case = Case(gossamer.network("torus:4x4"), gossamer.task("total-exchange"), gossamer.Rules(ports=ports))
    found = {bound.name: bound for bound in load_bounds(case)}
    (along,) = {bound.value for name, bound in found.items() if name.startswith("hops along")}
    assert along == steps
    assert all(by in bound.witness for name, bound in found.items() if name.startswith("hops along"))
