"""Lock-step movement: legs of shortest paths, phases that follow each other, ranks, hops in chunks of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.graphs.lock_step_movement import LockStep, legs_between, moves_along
from gossamer.planning.switching.store_and_forward import CheckingSink
from gossamer.questions.cases import Case
from gossamer.schedules.hop_sinks import RecordingSink

pytestmark = pytest.mark.uncompiled


def travel(network, starts, legs, rank):
    """Move packets in lock step in plain Python; return (slot, from, to, packet) of every hop, and the ends."""
    grid = network.grid
    at = [list(np.unravel_index(u, grid.sides)) for u in starts]
    left = [[[axis, int(hops[p])] for axis, hops in legs if hops[p]] for p in range(len(starts))]
    found, slot = set(), 0
    while any(left):
        wish = {}
        for p, way in enumerate(left):
            if way:
                far = abs(way[0][1]) if rank == "leg" else sum(abs(hops) for _, hops in way)
                link = (*at[p], way[0][0], way[0][1] > 0)
                wish[link] = min(wish.get(link, (0, p)), (-far, p))
        for _, p in wish.values():
            axis, hops = left[p][0]
            before = int(np.ravel_multi_index(at[p], grid.sides))
            at[p][axis] = (at[p][axis] + (1 if hops > 0 else -1)) % grid.sides[axis]
            found.add((slot, before, int(np.ravel_multi_index(at[p], grid.sides)), p))
            left[p][0][1] -= 1 if hops > 0 else -1
            if not left[p][0][1]:
                left[p].pop(0)
        slot += 1
    return found, [int(np.ravel_multi_index(place, grid.sides)) for place in at]


def test_packets_take_the_shorter_way_around_a_ring():
    grid = gossamer.network("torus:5x6").grid
    every = np.arange(30)
    for axis, hops in legs_between(grid, np.repeat(every, 30), np.tile(every, 30), (0, 1)):
        assert np.abs(hops).max() == grid.sides[axis] // 2
    ((_, half),) = legs_between(gossamer.network("ring:6").grid, np.array([0, 1]), np.array([3, 4]), (0,))
    assert half.tolist() == [3, -3]


def test_a_phase_begins_when_the_phase_before_has_ended():
    sink = RecordingSink()
    engine = LockStep(gossamer.network("array:3"), sink)
    node, steps = engine.move(moves_along(np.array([0, 1], np.int32), [(0, np.array([2, 0], np.int32))]), "there")
    assert (node.tolist(), steps) == ([2, 1], 2)
    node, steps = engine.move(moves_along(node, [(0, np.array([-1, 1], np.int32))]), "back")
    assert (node.tolist(), steps) == ([1, 2], 1)
    assert sink.kept[0].tolist() == [0, 1, 2, 2]


def test_ranks_by_leg_and_by_route_differ():
    """Packet 0 has one hop to the end of its leg and three in all, packet 1 has two and two."""
    network = gossamer.network("array:3x3")
    legs = [(0, np.array([1, 2], np.int32)), (1, np.array([2, 0], np.int32))]
    first = {}
    for rank in ("leg", "route"):
        sink = RecordingSink()
        LockStep(network, sink).move(moves_along(np.zeros(2, np.int32), legs), "move", rank=rank)
        first[rank] = int(sink.kept[2][0])
    assert first == {"leg": 1, "route": 0}


@settings(max_examples=40)
@given(st.data())
def test_the_engine_agrees_with_its_plain_twin_however_the_hops_are_cut(data):
    spec = data.draw(st.sampled_from(["array:7", "ring:6", "torus:3x4", "array:3x2x3", "torus:4x4x3", "array:1x4"]))
    network = gossamer.network(spec)
    rank = data.draw(st.sampled_from(["leg", "route"]))
    many = data.draw(st.integers(1, 2 * network.node_count))
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    starts, middle, ends = (draw.integers(0, network.node_count, many).astype(np.int32) for _ in range(3))
    axes = list(draw.permutation(network.grid.dimensions))
    legs = legs_between(network.grid, starts, middle, axes) + legs_between(network.grid, middle, ends, axes[::-1])
    expected, places = travel(network, starts, legs, rank)
    assert places == ends.tolist()
    sink = RecordingSink()
    sink.chunk_hops = data.draw(st.sampled_from([None, 1, 5]))
    node, steps = LockStep(network, sink).move(moves_along(starts, legs), "move", rank=rank)
    assert node.tolist() == ends.tolist()
    slot, link, packet = sink.kept
    hops = (slot, network.link_source[link], network.link_target[link], packet)
    assert set(zip(*(column.tolist() for column in hops), strict=True)) == expected
    assert slot.size == len(expected)
    assert steps == max((hop[0] + 1 for hop in expected), default=0)


def test_a_checking_sink_sees_what_a_recording_one_keeps():
    network = gossamer.network("torus:6x6")
    target = np.random.default_rng(2).permutation(36)
    task, model = gossamer.task("permutation", destination=target.tolist()), gossamer.Rules()
    legs = legs_between(network.grid, np.arange(36), target, (1, 0))
    recording, checking = RecordingSink(), CheckingSink(Case(network, task, model), chunk_hops=3)
    for sink in (recording, checking):
        LockStep(network, sink).move(moves_along(np.arange(36, dtype=np.int32), legs), "move", rank="leg")
    schedule, found = recording.schedule(Case(network, task, model)), checking.checker.finish()
    assert found
    assert (found.hops, checking.completion_time) == (schedule.hop_count, schedule.completion_time)
    assert found.buffer.packets == gossamer.buffer_peak(schedule, "all").packets
