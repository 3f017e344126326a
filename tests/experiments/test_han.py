"""The reproduction of Han 1990: printed facts, exact guarantees, measured routes between distance and guarantee."""

from __future__ import annotations

import pytest

from gossamer.networks.spec import network
from gossamer.studies.reproductions import han
from gossamer.studies.reproductions.han import curves, guaranteed, instances, routing_before, sorting_before, worst


def test_table_1_1_has_ten_routers_and_nine_sorters():
    assert [len(make().rows) for make in (routing_before, sorting_before)] == [10, 9]


def test_guaranteed_lengths_are_the_reference_lengths():
    rows = {row[0]: row[1:] for row in han.guaranteed_lengths().rows}
    assert rows[4][:4] == (9, 1, 10, 22)
    assert rows[64] == (244, 83, 327, 352, 334, 197, 531, 576, 126)
    assert rows[1024][:3] == (4034, 1515, 5549)
    assert rows[1024][4:7] == (5606, 3541, 9147)


def test_h_guarantees_more_than_9n_first_at_17():
    rows = {row[0]: row[1:] for row in han.arbitrary_h().rows}
    assert rows[17][2] == 154
    assert rows[33][2:] == (302, 297, "above")
    assert [n for n, row in rows.items() if row[-1] == "above"] == [17, 33, 65, 129]


@pytest.mark.parametrize(("name", "buffers"), [("Q", 5), ("H", 3)])
@pytest.mark.parametrize("spec", ["array:4x4", "array:8x8", "array:16x16", "array:8x4"])
def test_measured_routes_lie_between_distance_and_guarantee(name, buffers, spec):
    most, (data, control) = worst(name, spec), guaranteed(name, spec)
    assert most.distance <= most.data <= data
    assert most.control <= control
    assert most.total <= data + control
    assert most.buffers <= buffers


def test_instances_are_full_permutations_with_the_reversal_among_them():
    net = network("array:8x8")
    found = dict(instances(net))
    assert {"transpose", "bit-reversal", "shuffle", "reversal", "random 0", "random 2"} <= set(found)
    assert all(sorted(task.destination) == list(range(64)) for task in found.values())


def test_greedy_meets_the_diameter_with_buffers_that_grow(monkeypatch):
    monkeypatch.setattr(han, "SIZES", (4, 8, 16))
    found = {each.name: each for each in han.growth()}
    assert found["greedy"].steps == (6, 14, 30)
    assert list(found["greedy"].buffers) == sorted(set(found["greedy"].buffers))
    assert set(found["Q"].buffers) <= {4, 5}
    assert set(found["H"].buffers) == {3}


def test_curves_lie_between_their_bounds(monkeypatch):
    monkeypatch.setattr(han, "SIZES", (4, 8))
    for curve in curves():
        assert all(a <= b <= c for a, b, c in zip(curve.lower, curve.measured, curve.upper, strict=True))
