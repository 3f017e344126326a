"""A torus schedule folded into an array: valid, twice as long, and no link used twice in a slot."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ScheduleError
from gossamer.networks import array, ring, torus
from gossamer.questions.tasks import Broadcast, DemandTable, MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import CONTROL, Phase, Schedule, torus_on_array
from gossamer.schedules.torus_on_array import array_positions, ring_labels, task_on_torus
from gossamer.verification import verify
from schedules.strategies import build, phased, tasks

TORI = ("ring:3", "ring:4", "ring:7", "torus:3x3", "torus:2x4", "torus:3x1x4", "torus:2x3x2", "torus:5x3")
SHAPES = [(p,) for p in range(3, 13)] + [(p, p) for p in range(3, 13)] + [(3, 3, 3), (4, 4, 4), (5, 5, 5)]
SHAPES += [(3, 4), (4, 9), (3, 2), (2, 5), (1, 6), (3, 4, 5), (2, 3, 4), (7, 2, 3), (6, 1, 4), (12, 3, 2)]


def test_positions_of_a_line_host_the_ring_as_printed():
    assert ring_labels(5).tolist() == [0, 4, 1, 3, 2]
    assert ring_labels(6).tolist() == [0, 5, 1, 4, 2, 3]


@pytest.mark.parametrize("p", range(3, 13))
def test_ring_neighbors_are_at_most_two_positions_apart(p):
    position = array_positions(ring(p).grid)
    assert sorted(position.tolist()) == list(range(p))
    assert np.abs(position - np.roll(position, 1)).max() == 2


@pytest.mark.parametrize("sides", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_no_link_is_used_twice_when_every_link_of_the_torus_is_in_use(sides):
    network = torus(*sides)
    links, slots = network.link_count, 3
    full = Schedule(
        network, Broadcast(), gossamer.Rules(), np.repeat(np.arange(slots), links),
        np.tile(np.arange(links), slots), np.full(slots * links, CONTROL),
        cost=gossamer.StepCost("1/2"), phases=[Phase("full", slots)],
    )  # fmt: skip
    folded = torus_on_array(full)
    wrong = verify(folded).counts
    assert "link capacity" not in wrong
    assert folded.network == array(*sides)
    assert folded.completion_time == 2 * slots
    assert folded.stored_hops >= full.stored_hops


@pytest.mark.parametrize("sides", [(3,), (8,), (3, 5), (4, 4, 4)], ids=lambda s: "x".join(map(str, s)))
def test_random_subsets_of_busy_links_never_meet(sides):
    network = torus(*sides)
    draw = np.random.default_rng(1)
    for _ in range(20):
        busy = np.flatnonzero(draw.random(network.link_count) < draw.random())
        one = Schedule(network, Broadcast(), gossamer.Rules(), np.zeros(busy.size, int), busy, np.full(busy.size, -1))
        assert "link capacity" not in verify(torus_on_array(one)).counts


@settings(max_examples=60)
@given(st.data())
def test_any_valid_torus_schedule_becomes_a_valid_array_schedule_that_takes_twice_as_long(data):
    network = gossamer.network(data.draw(st.sampled_from(TORI)))
    task = data.draw(tasks(network))
    parts = data.draw(st.sampled_from([1, 1, 2, 3]))
    schedule = data.draw(phased(build(data.draw(st.integers(0, 2**32)), network, task, parts=parts)))
    folded = torus_on_array(schedule)
    assert verify(folded).ok, str(verify(folded))
    assert folded.completion_time == 2 * schedule.completion_time
    assert [(p.name, p.slots, p.slot_length) for p in folded.phases] == [
        (p.name, 2 * p.slots, p.slot_length) for p in schedule.phases
    ]
    to = array_positions(network.grid)
    assert folded.task == task.renamed(lambda x: to[x])


@settings(max_examples=50)
@given(st.data())
def test_task_on_torus_leads_back_to_the_task(data):
    network = gossamer.network(data.draw(st.sampled_from(TORI)))
    wanted = data.draw(tasks(network))
    asked = task_on_torus(wanted, network.grid)
    folded = torus_on_array(build(data.draw(st.integers(0, 2**32)), network, asked))
    assert folded.task == wanted
    assert verify(folded).ok


def test_an_invariant_schedule_is_folded_as_its_expansion():
    schedule = gossamer.plan("torus:3x5", "allgather", algorithm="translated-tree").schedule
    assert schedule.invariant
    assert torus_on_array(schedule) == torus_on_array(schedule.expand())


@pytest.mark.parametrize("name", ["broadcast", "scatter", "reduce", "gather"])
@pytest.mark.parametrize("root", [0, 7, 14])
def test_keep_task_keeps_the_root(name, root):
    network = gossamer.network("torus:3x5")
    schedule = build(root, network, gossamer.task(name, root=root))
    folded = torus_on_array(schedule, keep_task=True)
    assert folded.task == schedule.task
    assert verify(folded).ok


def test_without_keep_task_the_root_is_the_node_that_hosts_it():
    schedule = gossamer.plan("ring:5", gossamer.task("broadcast", root=3)).schedule
    assert torus_on_array(schedule).task == Broadcast(3)
    assert torus_on_array(gossamer.plan("ring:5", gossamer.task("broadcast", root=4)).schedule).task == Broadcast(1)


def test_keep_task_translates_a_set_of_active_nodes_where_it_can():
    network = gossamer.network("torus:3x5")
    whole_row = PartialMultinodeBroadcast(range(5, 10))
    assert torus_on_array(build(0, network, whole_row), keep_task=True).task == whole_row
    with pytest.raises(ScheduleError, match="task_on_torus"):
        torus_on_array(build(0, network, PartialMultinodeBroadcast([0, 1, 3])), keep_task=True)


def test_a_task_that_no_translation_keeps_is_refused():
    """Where the sources would fit their targets do not; where a dimension does not wrap, nothing turns in it."""
    ring, strip = gossamer.network("ring:5"), gossamer.network("product:(ring:5)x(array:3)")
    turned = gossamer.plan(ring, gossamer.task("permutation", destination=[1, 0, 3, 4, 2])).schedule
    for schedule in (turned, build(0, strip, PartialMultinodeBroadcast([0, 4, 8]))):
        assert verify(torus_on_array(schedule)).ok
        with pytest.raises(ScheduleError, match=r"no translation of .* keeps this"):
            torus_on_array(schedule, keep_task=True)


@pytest.mark.parametrize("nodes", [3, 4, 7])
def test_a_contribution_that_waits_at_a_relay_leaves_nothing_to_send_behind(nodes):
    """It passes a node of the array that it comes through again; where it turned back nothing is left."""
    network = gossamer.network(f"ring:{nodes}")
    link = {(int(u), int(v)): i for i, (u, v) in enumerate(zip(network.link_source, network.link_target, strict=True))}
    for far, way in itertools.product(range(1, nodes), (1, -1)):
        path = [way * i % nodes for i in range(far + 1)]
        task = DemandTable.from_rows([(-1, [0], [path[-1]], 1)], [""])
        hops = [link[step] for step in itertools.pairwise(path)]
        schedule = Schedule(network, task, gossamer.Rules(), range(far), hops, [0] * far)
        assert verify(schedule).ok
        assert verify(torus_on_array(schedule)).ok, (path, str(verify(torus_on_array(schedule))))


def test_a_relay_keeps_what_it_passes_on_so_no_node_gets_a_packet_twice():
    folded = torus_on_array(gossamer.plan("torus:4x4", "allgather").schedule)
    assert folded.hop_count == 16 * 15


def test_a_grid_that_wraps_in_some_dimensions_loses_its_wrap_around():
    network = gossamer.network("product:(ring:5)x(array:3)")
    schedule = build(3, network, MultinodeBroadcast())
    folded = torus_on_array(schedule)
    assert folded.network == array(5, 3)
    assert verify(folded).ok


def test_nothing_is_slowed_down_without_wrap_around():
    schedule = gossamer.plan("torus:2x2", "allgather").schedule
    assert torus_on_array(schedule).completion_time == schedule.completion_time == 2


@pytest.mark.parametrize(
    ("spec", "model", "word"),
    [
        ("star:3", gossamer.Rules(), "not a torus"),
        ("ring:5", gossamer.Rules(ports="one"), "needs all-port nodes, not one-port"),
    ],
)
def test_what_cannot_be_folded_is_refused(spec, model, word):
    schedule = Schedule(gossamer.network(spec), Broadcast(), model, [], [], [])
    with pytest.raises(ScheduleError, match=word):
        torus_on_array(schedule)


def test_links_of_a_capacity_that_an_array_lacks_are_refused():
    thin = ring(5)
    wide = gossamer.Network("wide", 5, thin.link_source, thin.link_target, 2, structures=[thin.grid], links_only=True)
    with pytest.raises(ScheduleError, match="capacity"):
        torus_on_array(Schedule(wide, Broadcast(), gossamer.Rules(), [], [], []))


def test_unknown_messages_are_refused():
    good = build(0, ring(3), Broadcast())
    table = gossamer.Packets(good.packets.origin, good.packets.message + 1, good.packets.part)
    with pytest.raises(ScheduleError, match="packet 0 is of message"):
        torus_on_array(good.replace(packets=table))


@pytest.mark.uncompiled
def test_folding_a_broadcast_without_the_compiler():
    schedule = build(5, ring(4), Broadcast(2))
    assert verify(torus_on_array(schedule)).ok
    assert verify(torus_on_array(schedule.reverse())).ok
