"""The move engine: one packet a link, farthest first, copies left on the way, hops that must wait."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.routing.move_and_smooth.replaying import travel
from gossamer.algorithms.routing.move_and_smooth.smoothing import MovingItems, branch_order, branching, move
from gossamer.errors import ScheduleError
from gossamer.graphs.lock_step_movement import ItemMoves
from gossamer.questions.cases import Case
from gossamer.schedules.hop_sinks import RecordingSink

pytestmark = pytest.mark.uncompiled


def line_traffic(nodes, packets):
    net = gossamer.network(f"array:{nodes}")
    destination = [u if u < packets else -1 for u in range(nodes)]
    return MovingItems.of(Case(net, gossamer.task("permutation", destination=destination)), RecordingSink())


def moves_on_line(start, hops, **more):
    packet, start = np.arange(len(start), dtype=np.int32), np.array(start, np.int32)
    return ItemMoves(packet, start, np.zeros((len(start), 1), np.int8), np.array(hops, np.int32).reshape(-1, 1), **more)


def hops_of(traffic):
    return list(zip(*(column.tolist() for column in traffic.sink.kept), strict=True))


def test_of_two_packets_with_equally_far_to_go_the_smaller_number_goes_first():
    traffic = line_traffic(4, 2)
    assert move(traffic, moves_on_line([1, 1], [2, 2])) == 3
    assert [(t, p) for t, _, p in hops_of(traffic)] == [(0, 0), (1, 0), (1, 1), (2, 1)]


def test_the_last_hop_waits_for_its_step():
    traffic = line_traffic(4, 1)
    assert move(traffic, moves_on_line([0], [2], not_before=np.array([[5]], np.int32))) == 5
    assert [t for t, _, _ in hops_of(traffic)] == [0, 4]


def test_a_copy_is_left_on_the_way_and_goes_on_from_there():
    net = gossamer.network("array:3x3")
    traffic = MovingItems.of(
        Case(net, gossamer.task("one-to-many-routing", destinations=[[6, 7, 3], *[[]] * 8])), RecordingSink()
    )
    packet, start = np.zeros(3, np.int32), np.zeros(3, np.int32)
    hops = np.array([[2, 1], [2, 0], [1, 0]], np.int32)
    order = branch_order(np.zeros(3, np.int32), hops)
    assert order.tolist() == [0, 1, 2]
    moves = branching(packet, start, packet, (0, 1), hops)
    assert moves.after.tolist() == [-1, 0, 0]
    assert moves.after_hops.tolist() == [0, 2, 1]
    assert move(traffic, moves) == 3
    assert traffic.node.tolist() == [7, 6, 3]
    assert len(hops_of(traffic)) == 3


def test_a_leg_out_of_the_array_is_refused():
    with pytest.raises(ScheduleError, match="would leave array:4"):
        move(line_traffic(4, 1), moves_on_line([1], [3]))


def test_longer_than_guaranteed_is_refused_under_the_clock():
    traffic = line_traffic(4, 1)
    traffic.engine.sink = RecordingSink(clock=True)
    with pytest.raises(ScheduleError, match="takes 3 steps, 2 are guaranteed"):
        move(traffic, moves_on_line([0], [3]), guaranteed=2)


@st.composite
def random_moves(draw):
    sides = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    n = int(np.prod(sides))
    many = draw(st.integers(1, n))
    starts = [draw(st.integers(0, n - 1)) for _ in range(many)]
    ends = [draw(st.integers(0, n - 1)) for _ in range(many)]
    return sides, starts, ends


@settings(max_examples=60)
@given(random_moves())
def test_the_engine_agrees_with_its_twin(case):
    sides, starts, ends = case
    net = gossamer.network("array:" + "x".join(map(str, sides)))
    at = np.array(np.unravel_index(starts, sides)).T
    to = np.array(np.unravel_index(ends, sides)).T
    hops = (to - at).astype(np.int32)
    axis = np.broadcast_to(np.arange(len(sides), dtype=np.int8), hops.shape)
    n = int(np.prod(sides))
    destination = [u if u < len(starts) else -1 for u in range(n)]
    traffic = MovingItems.of(Case(net, gossamer.task("permutation", destination=destination)), RecordingSink())
    steps = move(traffic, ItemMoves(np.arange(len(starts), dtype=np.int32), np.array(starts, np.int32), axis, hops))
    legs = [list(enumerate(row)) for row in hops.tolist()]
    assert (steps, traffic.node.tolist()) == (travel(sides, at.tolist(), legs)[0], ends)


@settings(max_examples=60)
@given(st.data())
def test_copies_of_a_packet_share_every_hop_that_their_routes_share(data):
    sides = tuple(data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    n = int(np.prod(sides))
    start = data.draw(st.integers(0, n - 1))
    targets = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=8)))
    net = gossamer.network("array:" + "x".join(map(str, sides)))
    sets = [targets if u == start else [] for u in range(n)]
    traffic = MovingItems.of(Case(net, gossamer.task("one-to-many-routing", destinations=sets)), RecordingSink())
    old, part = traffic.divide(traffic.destination)
    at = np.array(np.unravel_index(traffic.node, sides)).T
    hops = (np.array(np.unravel_index(part, sides)).T - at).astype(np.int32)
    order = branch_order(old, hops)
    traffic.arrange(order)
    moves = branching(traffic.packet, traffic.node, old[order], tuple(range(len(sides))), hops[order])
    move(traffic, moves)
    assert sorted(traffic.node.tolist()) == targets
    assert np.array_equal(traffic.node[traffic.item], traffic.destination)
    edges = set()
    for row in hops.tolist():
        place = at[0].copy()
        for a, h in enumerate(row):
            for _ in range(abs(h)):
                edges.add((*place.tolist(), a, h > 0))
                place[a] += 1 if h > 0 else -1
    assert len(hops_of(traffic)) == len(edges)  # a tree: every common hop once
    assert gossamer.verify(traffic.sink.schedule(Case(net, gossamer.task("one-to-many-routing", destinations=sets),
                                                 gossamer.Rules())))  # fmt: skip
