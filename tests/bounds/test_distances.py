"""The message that travels furthest decides."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.bounds.ports import distance_bounds
from gossamer.questions.cases import Case


@pytest.mark.parametrize(
    ("name", "fields", "witness"),
    [
        ("partial-multinode-broadcast", {"active": [1, 2]}, "a message of node (1) must reach node (4), 3 hops away"),
        ("partial-gather", {"active": [2, 3]}, "a message of node (0) must reach node (3), 3 hops away"),
        ("permutation", {"destination": [1, 0, 4, -1, -1]}, "a message of node (2) must reach node (4), 2 hops away"),
    ],
)
def test_the_furthest_way_of_all_messages_is_told(name, fields, witness):
    (bound,) = distance_bounds(Case(gossamer.network("array:5"), gossamer.task(name, **fields)))
    assert bound.witness == witness
    assert str(bound.value) in witness


def test_parts_take_no_time_for_distance():
    case = Case(gossamer.network("array:5"), gossamer.task("broadcast"), gossamer.Rules(split=True))
    assert list(distance_bounds(case)) == []
