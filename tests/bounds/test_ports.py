"""What a node receives and sends, with the distances of those it deals with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.bounds import ports as families
from gossamer.bounds.ports import port_bounds
from gossamer.questions.cases import Case
from gossamer.questions.tasks import (
    MultinodeBroadcast,
    MultipleBroadcast,
    PartialMultinodeBroadcast,
    Scatter,
    TotalExchange,
)
from schedules.strategies import networks, tasks

NAMES = ("scatter", "gather", "total-exchange", "multinode-broadcast", "partial-exchange", "partial-gather")


def by_hand(network, task, ports, incoming):
    """The maximum over nodes v and distances d of d-1 + ceil(messages from (to) d hops or more / capacity of v)."""
    messages = task.messages(network)
    everyone = list(range(network.terminal_count))
    partners = {v: [] for v in everyone}
    for i, origin in enumerate(messages.origin.tolist()):
        targets = everyone
        if messages.targets is not None:
            targets = messages.targets[messages.target_start[i] : messages.target_start[i + 1]].tolist()
        for target in set(targets) - {origin}:
            partners[target if incoming else origin].append((origin, target))
    ends = network.link_target if incoming else network.link_source
    best = 0
    for v, pairs in partners.items():
        capacity = network.link_capacity[ends == v]
        if ports != "all":
            capacity = np.minimum(capacity, 1)
        limited = ports == "one" or (ports == "one-send" and not incoming)
        width = 1 if limited else int(capacity.sum())
        far = sorted((int(network.distances(a)[b]) for a, b in pairs), reverse=True)
        for k, d in enumerate(far):
            best = max(best, d - 1 - (-(k + 1) // width))
    return best


@given(networks, st.data(), st.sampled_from(["all", "one", "one-send"]))
def test_bounds_of_personalized_tasks_are_those_worked_out_by_hand(network, data, ports):
    task = data.draw(tasks(network, NAMES))
    found = {b.name: b.value for b in port_bounds(Case(network, task, Rules(ports=ports)))}
    assert found.get("node receives", 0) == by_hand(network, task, ports, True)
    if task.name != "multinode-broadcast":  # a message for all leaves its origin only once
        assert found.get("node sends", 0) == by_hand(network, task, ports, False)


def test_a_corner_waits_for_the_nearest_of_the_far_messages():
    bound = max(
        port_bounds(Case(gossamer.network("array:64x64"), PartialMultinodeBroadcast(range(2048)), Rules())),
        key=lambda b: b.value,
    )
    assert bound.value == 1056
    assert bound.witness == ("node (63,0) must receive 2,047 messages from nodes at least 33 hops away over 2 links")


def test_several_messages_of_one_node_leave_one_after_the_other():
    case = Case(gossamer.network("array:5"), MultipleBroadcast([0, 0, 7, 0, 0]), Rules())
    assert {b.name: b.value for b in port_bounds(case)} == {"node receives": 8, "node sends": 5}


@pytest.mark.parametrize("task", [TotalExchange(), MultinodeBroadcast(), Scatter(7), PartialMultinodeBroadcast([1, 9])])
def test_large_networks_look_at_the_most_loaded_nodes_only(monkeypatch, task):
    case = Case(gossamer.network("array:4x5"), task, Rules())
    full = [b.value for b in port_bounds(case)]
    monkeypatch.setattr(families, "SMALL", 1)
    monkeypatch.setattr(families, "MAX_SEARCHES", 2)
    assert all(few <= all_ for few, all_ in zip([b.value for b in port_bounds(case)], full, strict=True))


def test_a_group_of_21_nodes_of_the_5_by_7_array_takes_13_steps():
    """The corner (4,0) is 3 hops or more from all others of the group, and only one of them is so near."""
    active = [1, 2, 3, 4, 5, 9, 10, 11, 13, 15, 16, 17, 18, 20, 24, 25, 26, 28, 32, 33, 34]
    plan = gossamer.plan("array:5x7", gossamer.task("group-multinode-broadcast", active=active))
    assert plan.optimal
    assert plan.completion_time == 13
