"""The values that the papers print or that were worked out from them, and how the functions answer."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.bounds import Bound, best_bound, bounds
from gossamer.bounds.registry import slow
from gossamer.errors import NetworkError, TaskError
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    MultinodeBroadcast,
    PartialExchange,
    PartialMultinodeBroadcast,
    Permutation,
    Scatter,
    TotalExchange,
    UnevenExchange,
)


def best(spec, task, ports="all", split=False):
    return best_bound(Case(gossamer.network(spec), task, Rules(ports=ports, split=split))).value


# network, active nodes M, split time and lower bound: Varvarigos and Bertsekas 1994, (5a) and (4)
PARTIAL = [
    ("torus:3x3", 1, 3, ".25"), ("torus:3x3", 4, "3.5", 1), ("torus:3x3", 9, 4, 2), ("torus:4x4", 5, "5.25", "1.25"),
    ("torus:4x4", 16, "6.75", "3.75"), ("torus:5x5", 12, 8, 3), ("torus:3x3x3", 10, "4.334", "1.66"),
    ("torus:3x3x3", 27, "6.334", "4.33"), ("torus:4x4x4", 20, 7, "3.33"), ("torus:4x4x4", 64, "13.5", "10.5"),
    ("torus:6x6x6", 216, "40.834", "35.83"), ("array:3x3", 1, 4, 0), ("array:3x3", 4, 5, "1.5"), ("array:3x3", 9, 6, 4),
    ("array:4x4", 5, "7.5", 2), ("array:4x4", 16, "10.5", "7.5"), ("array:5x5", 12, 12, "5.5"),
    ("array:3x3x3", 27, "10.667", "8.66"), ("array:4x4x4", 64, 24, 21), ("array:6x6x6", 216, "76.667", "71.66"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "active", "time", "printed"), PARTIAL)
def test_partial_broadcast_bounds_lie_between_the_printed_bound_and_the_printed_time(spec, active, time, printed):
    value = best(spec, PartialMultinodeBroadcast(range(active)), split=True)
    assert Fraction(printed) <= value <= Fraction(time)


@pytest.mark.parametrize(("spec", "sides"), [("torus:5x5", 4), ("torus:3x3x3", 6)])
def test_an_inactive_node_of_a_torus_receives_every_message(spec, sides):
    assert best(spec, PartialMultinodeBroadcast([0, 3, 7]), split=True) == Fraction(3, sides)


@pytest.mark.parametrize(
    ("p", "torus", "array"),
    [(3, 2, 4), (4, 4, 8), (5, 6, 12), (6, 9, 18), (7, 12, 24), (8, 16, 32), (9, 20, 40), (10, 25, 50)],
)
def test_multinode_broadcast_bounds_are_the_optimal_times(p, torus, array):
    assert best(f"torus:{p}x{p}", MultinodeBroadcast()) == torus
    assert best(f"array:{p}x{p}", MultinodeBroadcast()) == array


def test_million_node_torus():
    assert best("torus:100x100x100", MultinodeBroadcast()) == 166_667


@pytest.mark.parametrize("n", range(2, 12))
def test_total_exchange_on_lines_and_rings(n):
    assert best(f"array:{n}", TotalExchange()) == -(-(n * n - 1) // 4)
    assert best(f"array:{n}", TotalExchange(), "one") == (n * n - 1) // 2
    if n > 2:
        assert best(f"ring:{n}", TotalExchange()) == -(-(n * n - 1) // 8)


@pytest.mark.parametrize(
    ("spec", "time"),
    [("torus:3x3x3", 9), ("torus:4x4x4", 32), ("torus:5x5x5", 75), ("torus:3x5", 9), ("torus:4x6", 18),
     ("torus:3x4x5", 36), ("torus:6x6", 27), ("torus:10x10", 125), ("hypercube:4", 8), ("hypercube:7", 64),
     ("array:5x5", 30), ("array:3x3x3", 18), ("complete:6", 1)],
)  # fmt: skip
def test_total_exchange_bounds_are_the_optimal_times(spec, time):
    assert best(spec, TotalExchange()) == time


STATUS = {
    "complete:5": 4, "ring:7": 12, "ring:8": 16, "extended-ring:14,2": 28, "extended-ring:12,3": 16,
    "extended-ring:9,2": 12, "extended-ring:10,3": 12, "circulant:13,1,5": 20, "circulant:12,2,3": 18,
    "hypercube:3": 12, "hypercube:6": 192, "ccc:3": 74, "ccc:4": 296, "ccc:5": 952, "butterfly:3": 55,
    "butterfly:4": 216, "butterfly:5": 690, "star:3": 9, "star:4": 62, "star:5": 442, "pancake:4": 60,
    "bubble-sort:4": 72, "torus:4x3": 20, "torus:5x5": 60, "torus:3x4x2": 52,
}  # fmt: skip


@pytest.mark.parametrize(("spec", "status"), list(STATUS.items()))
@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_one_port_total_exchange_of_a_cayley_network_takes_the_status(spec, status, ports):
    assert best(spec, TotalExchange(), ports) == status


# corner x, active set, bound: Varvarigos and Bertsekas 1994, section 4
EXCHANGE = [
    (4, [(x, y) for x in range(2) for y in range(2)], 12), (4, [(x, y) for x in range(4) for y in range(4)], 16),
    (8, [(x, y) for x in range(2) for y in range(2)], 60), (8, [(x, y) for x in range(4) for y in range(4)], 96),
    (8, [(x, y) for x in range(2, 6) for y in range(2, 6)], 48), (8, [(x, y) for x in range(2) for y in range(8)], 96),
    (8, [(x, x) for x in range(8)], 32), (10, [(x, y) for x in range(5) for y in range(5)], 188),
    (10, [(x, y) for x in range(10) for y in range(10)], 250), (3, [(x, y) for x in range(3) for y in range(3)], 6),
]  # fmt: skip


@pytest.mark.parametrize(("p", "active", "bound"), EXCHANGE)
def test_partial_exchange_on_square_arrays(p, active, bound):
    assert best(f"array:{p}x{p}", PartialExchange([x * p + y for x, y in active])) == bound


# sides, active nodes by a test of their coordinates, congestion of the linear program in section 7, rounded down
HIGHER = [
    ((3, 3, 3), lambda x: x == (0, 0, 0), "8.66"), ((3, 3, 3), lambda x: max(x) < 2, "12.66"),
    ((3, 3, 3), lambda x: x[:2] == (0, 0), 12), ((3, 3, 3), lambda x: x[0] == 0, 18),
    ((4, 4, 4), lambda x: max(x) < 2, "37.33"), ((4, 4, 4), lambda x: {*x} <= {1, 2}, "18.66"),
    ((4, 4, 4), lambda x: x[0] == 0, 48), ((5, 5, 5), lambda x: max(x) < 3, 98),
    ((3, 3, 3, 3), lambda x: max(x) < 2, 32.5), ((8, 8), lambda x: max(x) < 4, 96),
]  # fmt: skip


@pytest.mark.parametrize(("sides", "chosen", "congestion"), HIGHER)
def test_boxes_reach_the_congestion_of_the_linear_program(sides, chosen, congestion):
    active = [i for i, x in enumerate(np.ndindex(*sides)) if chosen(x)]
    value = best("array:" + "x".join(map(str, sides)), PartialExchange(active), split=True)
    assert Fraction(congestion) <= value < Fraction(congestion) + Fraction(1, 100)


FAT_TREES = [  # k, h, one-send: broadcast, scatter, multinode broadcast, total exchange; all: the last three
    (2, 2, 5, 5, 9, 11, 4, 5, 7), (2, 3, 8, 9, 20, 43, 6, 9, 21), (2, 4, 11, 17, 39, 165, 8, 17, 71),
    (2, 5, 14, 33, 74, 647, 10, 33, 265), (3, 2, 7, 9, 28, 57, 4, 9, 21), (3, 3, 11, 27, 86, 491, 6, 27, 167),
    (4, 2, 9, 16, 65, 195, 4, 16, 51), (4, 3, 14, 64, 262, 3077, 6, 64, 773),
]  # fmt: skip


@pytest.mark.parametrize("row", FAT_TREES)
def test_fat_tree_bounds_are_the_true_times(row):
    k, h, *times = row
    spec = f"fat-tree:k={k},h={h}"
    tasks = [Broadcast(0), Scatter(1), MultinodeBroadcast(), TotalExchange()]
    assert [best(spec, t, "one-send") for t in tasks] == times[:4]
    assert [best(spec, t) for t in (Broadcast(0), MultinodeBroadcast(), TotalExchange())] == times[4:]
    assert best(spec, Scatter(1)) == times[1]


def test_allreduce_needs_both_halves():
    assert best("torus:4x4", Allreduce()) == 8
    assert best("torus:4x4", Allreduce(), split=True) == Fraction(15, 2)
    assert best("ring:9", Allreduce()) == 8


# -- answers -------------------------------------------------------------------------------------------------


def test_witnesses_name_nodes_cuts_and_numbers():
    found = bounds(Case(gossamer.network("torus:8x8"), TotalExchange(), Rules()))
    texts = {b.name: b.witness for b in found}
    assert texts["node receives"] == "node (0,0) must receive 63 messages over 4 links"
    assert texts["cut across dimension 0"] == ("1,024 messages must leave the 32 nodes 0 <= x_0 <= 3 over 16 links")
    assert texts["distance"] == "a message of node (0,0) must reach node (4,4), 8 hops away"


def test_nothing_to_do_is_a_bound_of_zero():
    for network, task in (
        ("array:1", TotalExchange()),
        ("ring:3", Permutation([0, -1, 2])),
        ("fat-tree:k=2,h=0", Allreduce()),
    ):
        (bound,) = bounds(Case(gossamer.network(network), task, Rules()))
        assert (bound.value, bound.name) == (0, "nothing to do")


def test_a_bound_prints_value_name_and_witness():
    assert str(Bound("cut", Fraction(1), "w", "cut", "s")) == "1 step, cut: w"
    assert str(Bound("cut", Fraction(3, 2), "w", "cut", "s")) == "3/2 steps, cut: w"


def test_a_task_that_does_not_fit_is_refused():
    with pytest.raises(TaskError, match=r"outside 0\.\.3"):
        bounds(Case(gossamer.network("ring:4"), Broadcast(9), Rules()))


@pytest.mark.parametrize("task", [Broadcast(1), TotalExchange(), Permutation([0, 2, 1])])
def test_a_message_without_a_path_is_named(task):
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    with pytest.raises(NetworkError, match=r"no path from node [012] to node [012]"):
        bounds(Case(from_networkx(graph), task, Rules()))


def test_one_way_links_that_do_not_lead_back_are_named():
    network = from_networkx(nx.DiGraph([(0, 1), (1, 2)]))
    assert best_bound(Case(network, Broadcast(0), Rules())).value == 2
    with pytest.raises(NetworkError, match="no path from node 1 to node 0"):
        bounds(Case(network, MultinodeBroadcast(), Rules()))


def test_messages_within_a_part_of_a_disconnected_network_have_bounds():
    graph = nx.disjoint_union(nx.path_graph(4), nx.path_graph(2))
    assert best_bound(Case(from_networkx(graph), Permutation([3, 1, 2, 0, 5, 4]), Rules())).value == 3


def test_quick_bounds_are_some_of_all_and_enough_where_they_meet_the_time():
    network = gossamer.network("dgx-a100:servers=16")
    table = np.random.default_rng(1).integers(0, 9, (128, 128))
    np.fill_diagonal(table, 0)
    case = Case(network, UnevenExchange(table.tolist()))
    assert slow(case)
    some, every = ({b.name: b.value for b in bounds(case, quick=quick)} for quick in (True, False))
    assert set(some) <= set(every)
    assert all(value <= every[name] for name, value in some.items())
    outcome = gossamer.plan(network, case.task, algorithm="load-balanced-shortest-paths")
    assert outcome.bound >= max(some.values())
    assert len(outcome.bounds) == len(some) or outcome.completion_time > max(some.values())
