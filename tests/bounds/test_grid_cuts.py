"""The best slabs and boxes of grids are those that trying all of them finds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds import grid_cuts
from gossamer.bounds import partitions as boxes
from gossamer.bounds.grid_cuts import cut_bounds
from gossamer.bounds.partitions import box_bounds
from gossamer.questions.cases import Case
from gossamer.questions.tasks import PartialExchange, PartialGather, Permutation, TotalExchange
from schedules.strategies import tasks


def crossing(network, task, inside):
    """Messages that must leave, and enter, a set of nodes, and the links that do."""
    messages = task.messages(network)
    start, targets = messages.target_start, messages.targets
    out = into = 0
    for i, origin in enumerate(messages.origin.tolist()):
        far = set(targets[start[i] : start[i + 1]].tolist()) if targets is not None else set(range(network.node_count))
        kind = int(messages.discipline[i])
        one, many = (far, {origin}) if kind == 2 else ({origin}, far)
        out += bool(one & inside) and bool(many - inside)
        into += bool(one - inside) and bool(many & inside)
    tail = np.isin(network.link_source, list(inside))
    head = np.isin(network.link_target, list(inside))
    return (out, int((tail & ~head).sum())), (into, int((~tail & head).sum()))


def intervals(side, wraps):
    yield range(side)
    for first in range(side):
        for length in range(1, side):
            if first + length <= side or wraps:
                yield [(first + i) % side for i in range(length)]


def best_ratio(network, task, shapes):
    place = network.coordinates
    found = Fraction(0)
    for shape in shapes:
        inside = set(
            np.flatnonzero(np.all([np.isin(place[:, d], list(xs)) for d, xs in shape.items()], axis=0)).tolist()
        )
        for count, links in crossing(network, task, inside):
            if links:
                found = max(found, Fraction(count, links))
    return found


GRIDS = ("array:6", "array:3x4", "array:2x2x3", "ring:7", "torus:3x4", "torus:2x5", "product:(ring:3)x(array:4)")


@given(st.sampled_from(GRIDS), st.data())
@settings(max_examples=60)
def test_split_cuts_across_dimensions_are_the_best_slabs(spec, data):
    network = gossamer.network(spec)
    names = ("total-exchange", "partial-exchange", "partial-gather", "multinode-broadcast", "permutation", "reduce")
    task = data.draw(tasks(network, names))
    found = {b.name: b.value for b in cut_bounds(Case(network, task, Rules(split=True)))}
    for d, (side, wraps) in enumerate(zip(network.grid.sides, network.grid.wraps, strict=True)):
        best = best_ratio(
            network, task, ({d: xs} for xs in intervals(side, wraps) if wraps or 0 in xs or side - 1 in xs)
        )
        assert found.get(f"cut across dimension {d}", 0) == best


@given(st.sampled_from(("array:3x4", "torus:3x4", "array:2x2x3", "torus:4x2x3")), st.data())
@settings(max_examples=30)
def test_split_box_cuts_are_the_best_boxes(spec, data):
    network = gossamer.network(spec)
    task = data.draw(tasks(network, ("partial-exchange", "partial-gather", "scatter")))
    shapes = [list(intervals(*g)) for g in zip(network.grid.sides, network.grid.wraps, strict=True)]
    best = best_ratio(network, task, (dict(enumerate(box)) for box in itertools.product(*shapes)))
    case = Case(network, task, Rules(split=True))
    found = [b.value for b in box_bounds(case)]
    assert found == ([] if case.demands[0].everywhere else [best])


def test_boxes_too_many_to_try_are_thinned_and_improved(monkeypatch):
    active = [x * 20 + y for x in range(7, 13) for y in range(3, 8)]
    case = Case(gossamer.network("torus:20x20"), PartialExchange(active), Rules())
    (exact,) = box_bounds(case)
    monkeypatch.setattr(boxes, "MAX_BOXES", 100)
    (thinned,) = box_bounds(case)
    assert exact.value == thinned.value == -(-30 * 370 // 22)
    assert "must leave the 30 nodes in the box (7..12,3..7) over 22 links" in thinned.witness


@pytest.mark.parametrize("ports", ["all", "one", "one-send"])
@pytest.mark.parametrize("spec", ["array:3x9", "torus:9x2", "array:12"])
@pytest.mark.parametrize("task", [TotalExchange(), PartialGather([0, 4]), "reversal"])
def test_long_sides_give_bounds_that_are_no_larger(monkeypatch, spec, task, ports):
    network = gossamer.network(spec)
    if task == "reversal":
        task = Permutation(range(network.node_count)[::-1])
    case = Case(network, task, Rules(ports=ports))
    full = {b.name: b.value for b in cut_bounds(case)}
    monkeypatch.setattr(grid_cuts, "MAX_POSITIONS", 4)
    few = {b.name: b.value for b in cut_bounds(case)}
    assert all(value <= full[name] for name, value in few.items())
    assert few or not isinstance(task, TotalExchange)


def test_far_messages_cross_several_cuts_one_after_the_other():
    (bound,) = cut_bounds(Case(gossamer.network("array:9"), PartialGather([8]), Rules()))
    assert bound.value == 8
    network = gossamer.network("array:2x9")
    found = {b.name: b for b in cut_bounds(Case(network, Permutation([-1] * 8 + [9] + [8, *[-1] * 8]), Rules()))}
    assert found["cut across dimension 1"].value == 8
    assert found["cut across dimension 1"].witness == (
        "1 message must get from x_1 <= 0 to x_1 >= 8, 8 hops apart over 2 links"
    )


def test_one_port_nodes_at_a_cut_send_one_packet_each():
    (whole,) = cut_bounds(Case(gossamer.network("ring:8"), TotalExchange(), Rules(ports="one")))
    assert whole.value == 8
    (bound,) = cut_bounds(Case(gossamer.network("ring:8"), PartialExchange([0]), Rules(ports="one")))
    assert bound.value == 7
    assert bound.witness == "7 messages must leave node x_0 = 0, at most 1 packet a step"
