"""Demands count what the listed messages of a task need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import NodeLine, demands_of
from gossamer.questions.tasks import COMBINE, TASKS, Allreduce, Messages, PartialExchange, Task, TotalExchange
from schedules.strategies import NAMES, networks, tasks


def listed(network, task):
    """(origins, targets) of every message that needs a hop; a reduction has many origins."""
    messages = task.messages(network)
    sizes = np.ones(messages.count, int) if messages.sizes is None else messages.sizes
    everyone = set(range(network.terminal_count))
    for i, (root, kind) in enumerate(zip(messages.origin.tolist(), messages.discipline, strict=True)):
        targets = everyone
        if messages.targets is not None:
            targets = set(messages.targets[messages.target_start[i] : messages.target_start[i + 1]].tolist())
        for _ in range(sizes[i] if targets - {root} else 0):
            yield (targets - {root}, {root}, True) if kind == COMBINE else ({root}, targets - {root}, False)


WITHOUT_TABLES = tuple(name for name in NAMES if name != "demands")
"""Of contributions that a table lists, only one share each is counted."""


@given(networks, st.data())
def test_loads_of_nodes_are_those_of_the_listed_messages(network, data):
    task = data.draw(tasks(network, WITHOUT_TABLES))
    nodes = np.arange(network.node_count)
    sent, received = np.zeros(nodes.size, int), np.zeros(nodes.size, int)
    for origins, targets, _ in listed(network, task):
        sent[list(origins)] += 1
        received[list(targets)] += 1
    found = demands_of(network, task)
    assert sum((d.handled(nodes, False) for d in found), np.zeros_like(sent)).tolist() == sent.tolist()
    assert sum((d.handled(nodes, True) for d in found), np.zeros_like(sent)).tolist() == received.tolist()


@given(networks, st.data())
def test_messages_upwards_along_a_line_are_those_listed(network, data):
    task = data.draw(tasks(network, WITHOUT_TABLES))
    size = data.draw(st.integers(1, 5))
    positions = st.lists(st.integers(0, size - 1), min_size=network.terminal_count, max_size=network.terminal_count)
    place = np.array(data.draw(positions))
    line = NodeLine(size, lambda nodes: place[nodes], np.bincount(place, minlength=size))
    expected = np.zeros((size, size), int)
    for origins, targets, _ in listed(network, task):
        for i in range(size):
            for j in range(i + 1, size):
                expected[i, j] += any(place[u] <= i for u in origins) and any(place[v] >= j for v in targets)
    above = np.triu(np.ones((size, size), bool), 1)
    found = sum((d.upward(line, True) for d in demands_of(network, task)), np.zeros((size, size), int))
    assert np.array_equal(found[above], expected[above])
    adjacent = sum((d.upward(line, False) for d in demands_of(network, task)), np.zeros(size - 1, int))
    assert adjacent.tolist() == np.diagonal(expected, 1).tolist()


def test_a_message_goes_up_to_the_furthest_of_its_targets():
    task = gossamer.task("one-to-many-routing", destinations=[[1, 3], [], [], [], [0, 2]])
    (demand,) = demands_of(gossamer.network("array:5"), task)
    line = NodeLine(5, lambda nodes: nodes, np.ones(5, np.int64))
    assert demand.upward(line, False).tolist() == [1, 1, 1, 0]
    assert demand.upward(line.mirrored(), False).tolist() == [1, 1, 1, 1]


@given(networks, st.data())
def test_crossings_of_a_set_are_those_listed(network, data):
    by_pairs = ("permutation", "one-to-many-routing", "group-multinode-broadcast")
    by_pairs += ("uneven-exchange", "uneven-scatter", "uneven-gather", "neighbor-exchange", "demands")
    by_pairs += ("partial-sum-allreduce",)
    names = tuple(name for name in TASKS if name not in by_pairs)
    task = data.draw(tasks(network, names))
    inside = data.draw(st.sets(st.integers(0, network.terminal_count - 1)))
    out = sum(bool(a & inside) and bool(b - inside) for a, b, _ in listed(network, task))
    into = sum(bool(a - inside) and bool(b & inside) for a, b, _ in listed(network, task))
    found = np.zeros(2, int)
    for demand in demands_of(network, task):
        hubs = int(demand.multiplicity(np.array(sorted(inside), np.int64)).sum())
        found += np.array([int(x) for x in demand.crossings(np.int64(hubs), np.int64(len(inside)))])
    assert found.tolist() == [out, into]


@pytest.mark.parametrize("task", [TotalExchange(), PartialExchange([3, 5])])
def test_the_messages_of_an_exchange_are_never_listed(monkeypatch, task):
    def refuse(*args):
        raise AssertionError("messages were listed")

    monkeypatch.setattr(type(task), "messages", refuse)
    assert gossamer.bounds.best_bound(Case(gossamer.network("torus:64x64"), task, gossamer.Rules())).value > 1000


def test_a_task_of_ones_own_is_asked_for_its_messages():
    class Mixed(Task):
        name = "mixed"
        summary = "a message for three, contributions of three, and one message from 2 to 0"

        def messages(self, network, origins=None):
            return Messages(
                np.arange(3), np.array([0, 1, 2], np.int32), np.array([0, 2, 1], np.uint8),
                np.array([0, 3, 6, 7]), np.array([1, 2, 3, 1, 3, 2, 0], np.int32),
            )  # fmt: skip

    reduce, copy, move = demands_of(gossamer.network("ring:4"), Mixed())
    assert (reduce.origin.tolist(), reduce.target.tolist(), reduce.shared) == ([1], [3, 2], True)
    nodes = np.arange(4)  # shares are combined on the way, so that only one of them is sure to come to the root
    assert (reduce.handled(nodes, True).tolist(), reduce.handled(nodes, False).tolist()) == ([0, 1, 0, 0], [0, 0, 1, 1])
    assert [x.tolist() for x in reduce.pairs] == [[3, 2], [1, 1]]
    assert (copy.origin.tolist(), copy.target.tolist(), copy.shared) == ([0], [1, 2, 3], True)
    assert (move.origin.tolist(), move.target.tolist(), move.shared) == ([2], [0], False)


def test_listed_sizes_repeat_a_demand():
    network = gossamer.network("ring:4")
    table = gossamer.task("alltoallv", counts=[[0, 3, 0, 0], [0, 0, 0, 1], [0] * 4, [0] * 4])
    (demand,) = demands_of(network, table)
    assert sorted(zip(demand.origin[demand.message].tolist(), demand.target.tolist(), strict=True)) == [
        *([(0, 1)] * 3), (1, 3),
    ]  # fmt: skip


def test_nothing_is_demanded_of_a_single_terminal():
    assert demands_of(gossamer.network("array:1"), Allreduce()) == ()
