"""The queues of fat trees against a plain twin; the reference times for all tasks and both port models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from algorithms.fat_trees.twin import serve
from gossamer import ALGORITHMS, Rules
from gossamer.algorithms.fat_trees import Spans, levels_of, phase_starts, serve_queues
from gossamer.bounds import best_bound
from gossamer.errors import NotApplicableError
from gossamer.networks import fat_tree
from gossamer.questions.cases import Case
from gossamer.questions.tasks import TASKS

small = st.sampled_from([(k, h) for k in (2, 3, 4, 5) for h in range(4) if k**h <= 16])


@st.composite
def fat_trees(draw, shapes=small):
    k, h = draw(shapes)
    return fat_tree(k, h, sorted(draw(st.lists(st.integers(1, 9), min_size=h, max_size=h))))


@given(fat_trees(), st.booleans(), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_queues_are_served_as_by_the_plain_twin(network, one_send, personal, random):
    n = network.terminal_count
    if personal:
        rows = [random.sample(range(a * (n - 1), (a + 1) * (n - 1)), n - 1) for a in range(n)]
        waiting = np.array(rows, np.int32).reshape(n, n - 1)
        destination = np.array([b for a in range(n) for b in range(n) if a != b], np.int32)
    else:
        waiting, destination = np.arange(n, dtype=np.int32)[:, None], None
    slot, link, packet = serve_queues(network, waiting, destination, one_send)
    assert (np.diff(slot) >= 0).all()
    hops = sorted(zip(slot.tolist(), link.tolist(), packet.tolist(), strict=True))
    assert hops == serve(network, waiting, destination, one_send)


@given(fat_trees())
def test_spans_are_the_leaves_below(network):
    spans, leaves = Spans(network), network.levels.leaves
    for v, (level, place) in enumerate(network.coordinates.tolist()):
        assert spans.node(level, np.array(place)) == v
        assert spans.size[v] == leaves[level]
        assert spans.first[v] == place * leaves[level]


def test_phases_follow_each_other_after_two_more_steps():
    assert phase_starts([]) == [0]
    assert phase_starts([1, 4, 9]) == [20, 17, 11, 0]


def test_other_networks_are_refused():
    with pytest.raises(NotApplicableError, match="network 'ring:5' is no fat tree"):
        levels_of(gossamer.network("ring:5"))


TABLE_11_8 = [
    # k, h, one port: broadcast, scatter, MNB, TE; all ports: broadcast, MNB, MNB without queues, TE constant: bound
    # (6.4), TE constant: phases, TE exponential: phases
    (2, 2, 5, 5, 9, 11, 4, 5, 6, 7, 8, 6),
    (2, 3, 8, 9, 20, 43, 6, 9, 12, 21, 26, 12),
    (2, 4, 11, 17, 39, 165, 8, 17, 22, 71, 92, 22),
    (2, 5, 14, 33, 74, 647, 10, 33, 40, 265, 350, 40),
    (3, 2, 7, 9, 28, 57, 4, 9, 11, 21, 23, 11),
    (3, 3, 11, 27, 86, 491, 6, 27, 31, 167, 187, 31),
    (4, 2, 9, 16, 65, 195, 4, 16, 18, 51, 54, 18),
    (4, 3, 14, 64, 262, 3077, 6, 64, 68, 773, 824, 68),
]

COLUMNS = [
    ("one-send", "broadcast", "shortest-path-tree", "constant"),
    ("one-send", "scatter", "furthest-first", "constant"),
    ("one-send", "multinode-broadcast", "fat-tree-up-first", "constant"),
    ("one-send", "total-exchange", "fat-tree-up-first", "constant"),
    ("all", "broadcast", "shortest-path-tree", "constant"),
    ("all", "multinode-broadcast", "fat-tree-flooding", "constant"),
    ("all", "multinode-broadcast", "fat-tree-star-exchanges", "constant"),
    ("all", "total-exchange", "fat-tree-digitwise", "constant"),
    ("all", "total-exchange", "fat-tree-phases", "constant"),
    ("all", "total-exchange", "fat-tree-phases", "exponential"),
]


def named(task, name):
    return next(a for a in ALGORITHMS if TASKS[task] in a.tasks and a.name == name)


@pytest.mark.exhaustive(always=24)
@pytest.mark.parametrize("row", TABLE_11_8, ids=lambda row: f"k={row[0]},h={row[1]}")
@pytest.mark.parametrize("column", range(len(COLUMNS)), ids=lambda i: "/".join(COLUMNS[i]))
def test_times_of_the_reference_table(row, column):
    k, h = row[:2]
    ports, task, name, capacity = COLUMNS[column]
    network, model = fat_tree(k, h, capacity), Rules(ports=ports)
    schedule = named(task, name).build(Case(network, gossamer.task(task), model))
    assert gossamer.verify(schedule)
    assert schedule.completion_time == row[2 + column]
    least = best_bound(Case(network, schedule.task, model)).value
    assert (least == row[2 + column]) == named(task, name).offer(Case(network, schedule.task, model)).optimal


@pytest.mark.parametrize("row", TABLE_11_8, ids=lambda row: f"k={row[0]},h={row[1]}")
def test_bound_column_of_the_reference_table(row):
    assert best_bound(Case(fat_tree(*row[:2]), gossamer.task("alltoall"), Rules())).value == row[9]


@pytest.mark.parametrize("ports", ["one", "one-send"])
@pytest.mark.parametrize(("k", "h"), [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 2), (5, 2), (4, 3)])
def test_broadcast_with_one_port_takes_k_plus_1_times_h_minus_1(k, h, ports):
    """FT1, Theorem 6.1: the tree broadcast of any network finds it, from every leaf."""
    network, model = fat_tree(k, h), Rules(ports=ports)
    algorithm = named("broadcast", "shortest-path-tree")
    for root in (0, k**h // 2, k**h - 1):
        schedule = algorithm.build(Case(network, gossamer.task("broadcast", root=root), model))
        assert gossamer.verify(schedule)
        assert schedule.completion_time == (k + 1) * h - 1
        assert algorithm.offer(Case(network, schedule.task, model)).optimal


@pytest.mark.parametrize(("k", "h"), [(2, 1), (2, 2), (2, 5), (3, 3), (4, 2)])
def test_broadcast_with_all_ports_takes_2h_and_not_2h_minus_1(k, h):
    """FT5; Table 6.2 prints 2h - 1, which is less than the distance of two leaves (erratum 9.12)."""
    network, task = fat_tree(k, h), gossamer.task("broadcast")
    assert named("broadcast", "shortest-path-tree").build(Case(network, task, Rules())).completion_time == 2 * h
    assert best_bound(Case(network, task, Rules())).value == 2 * h


@pytest.mark.parametrize(("k", "h"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_scatter_reaches_the_other_subtrees_of_level_i_by_t_i(k, h):
    """FT2, Theorem 6.2: ``T_i = n - k**(i-1) + 2i - 1``, which does not increase with i from 2 on."""
    network, n = fat_tree(k, h), k**h
    task = gossamer.task("scatter")
    schedule = named("scatter", "furthest-first").build(Case(network, task, Rules(ports="one")))
    arrives = {int(network.link_target[e]): int(t) + 1 for t, e in zip(schedule.slot, schedule.link, strict=True)}
    last = [n - k ** (i - 1) + 2 * i - 1 for i in range(1, h + 1)]
    assert [max(arrives[b] for b in range(k ** (i - 1), k**i)) for i in range(1, h + 1)] == last
    assert sorted(last[1:], reverse=True) == last[1:]
    if k == 2 and h > 2:
        assert last[1] == last[2] == n + 1  # not decreasing, as printed (erratum 9.13)


def test_scatter_in_a_star_of_two_takes_2_and_not_n_plus_1():
    """Erratum 9.10: the formulas of the source need a height of 2."""
    network, task = fat_tree(2, 1), gossamer.task("scatter")
    assert named("scatter", "furthest-first").build(Case(network, task, Rules())).completion_time == 2


@pytest.mark.parametrize("task", ["multinode-broadcast", "total-exchange"])
def test_one_port_is_refused_with_the_reason(task):
    network = fat_tree(2, 2)
    with pytest.raises(NotApplicableError, match="a routing node receives from several children at once"):
        named(task, "fat-tree-up-first").build(Case(network, gossamer.task(task), Rules(ports="one")))


def test_limits_on_buffers_are_refused_where_packets_queue():
    with pytest.raises(NotApplicableError, match="does not limit the packets that a node holds"):
        named("total-exchange", "fat-tree-digitwise").build(
            Case(fat_tree(2, 2), gossamer.task("alltoall"), Rules(buffer=9))
        )
