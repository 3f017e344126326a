"""No bound exceeds the exact optimum of a tiny case, found by constraint programming."""

from __future__ import annotations

import math
import random

import networkx as nx
import pytest

import gossamer
from bounds.oracle import UndecidedError, schedule_within
from gossamer import Network, Rules
from gossamer.bounds import best_bound
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Gather,
    MultinodeBroadcast,
    OneToManyRouting,
    PartialExchange,
    PartialMultinodeBroadcast,
    Permutation,
    Reduce,
    ReduceScatter,
    Scatter,
    TotalExchange,
)

pytestmark = pytest.mark.solver
pytest.importorskip("ortools", reason="the exact optima need OR-Tools (extra 'solver')")

PORTS = ("all", "one", "one-send")


def is_valid_and_met(network, task, ports, parts=1):
    """Assert that no schedule beats the bound; return whether one is found that meets it."""
    model = Rules(ports=ports, split=parts > 1, reduction=True)
    bound = best_bound(Case(network, task, model))
    too_few = math.ceil(bound.value * parts) - 1
    try:
        beaten = None if too_few < 0 else schedule_within(network, task, model, too_few, parts)
        assert beaten is None, f"{bound} is beaten on {network}"
        schedule = schedule_within(network, task, model, too_few + 1, parts)
    except UndecidedError:
        return False
    if schedule is not None:
        assert gossamer.verify(schedule).ok, "the oracle and the checker disagree"
    return schedule is not None


def connected_graphs(*sizes):
    graphs = (g for g in nx.graph_atlas_g() if len(g) in sizes and nx.is_connected(g))
    return [from_networkx(g) for g in graphs]


@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize("kind", [Broadcast, Scatter, Reduce])
def test_single_node_tasks_on_all_graphs_of_four_nodes(kind, ports):
    met = [
        is_valid_and_met(network, kind(root), ports)
        for network in connected_graphs(3, 4)
        for root in range(0, network.node_count, 2)
    ]
    assert all(met), "on graphs this small the bounds of single-node tasks are the optimum"


@pytest.mark.parametrize("ports", PORTS)
@pytest.mark.parametrize("task", [MultinodeBroadcast(), ReduceScatter(), TotalExchange()])
def test_tasks_of_all_nodes_on_all_graphs_of_four_nodes(task, ports):
    met = [is_valid_and_met(network, task, ports) for network in connected_graphs(2, 3, 4)]
    assert sum(met) >= {"multinode-broadcast": 9, "total-exchange": 9, "reduce-scatter": 5}[task.name]


@pytest.mark.parametrize("ports", PORTS)
def test_allreduce_on_all_graphs_of_three_nodes(ports):
    met = [is_valid_and_met(network, Allreduce(), ports) for network in connected_graphs(2, 3)]
    assert sum(met) >= 2


def random_network(rng):
    """A strongly connected network, perhaps with one-way links, several capacities and a node that only passes on."""
    while True:
        n = rng.randint(3, 4)
        pairs = [(u, v) for u in range(n) for v in range(n) if u < v and rng.random() < 0.6]
        links = {(u, v) for u, v in pairs if rng.random() < 0.8} | {(v, u) for u, v in pairs if rng.random() < 0.8}
        graph = nx.DiGraph(sorted(links))
        if len(graph) == n and nx.is_strongly_connected(graph):
            source, target = zip(*sorted(links), strict=True)
            capacity = [rng.choice([1, 1, 2]) for _ in links]
            return Network("g", n, source, target, capacity, terminal_count=n - rng.choice([0, 1]), links_only=True)


def random_task(rng, n):
    u, v = rng.sample(range(n), 2)
    rows = [sorted(rng.sample(range(n), 2)) if w == u else [] for w in range(n)]
    return rng.choice(
        [Broadcast(u), Scatter(u), Reduce(u), MultinodeBroadcast(), ReduceScatter(), PartialExchange([u]),
         PartialMultinodeBroadcast([u, v]), Permutation([(w + u + 1) % n for w in range(n)]), OneToManyRouting(rows)]
    )  # fmt: skip


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_random_directed_networks(parts):
    rng = random.Random(parts)
    met = []
    for _ in range(24 // parts):
        network = random_network(rng)
        met.append(is_valid_and_met(network, random_task(rng, network.terminal_count), rng.choice(PORTS), parts))
    assert sum(met) >= {1: 16, 2: 4, 3: 2}[parts]


@pytest.mark.exhaustive(always=15)
@pytest.mark.parametrize(
    ("spec", "task"),
    [
        ("array:5", MultinodeBroadcast()),
        ("array:4", TotalExchange()),
        ("array:2x3", PartialExchange([0, 1])),
        ("array:2x3", PartialMultinodeBroadcast([0, 5])),
        ("ring:4", Allreduce()),
        ("ring:5", TotalExchange()),
        ("torus:3x3", Broadcast(4)),
        ("hypercube:3", Scatter(0)),
        ("complete:4", TotalExchange()),
        ("star:3", ReduceScatter()),
        ("product:(array:2)x(complete:3)", MultinodeBroadcast()),
        ("fat-tree:k=2,h=2", MultinodeBroadcast()),
        ("fat-tree:k=2,h=2", Broadcast(1)),
        ("fat-tree:k=2,h=2,capacity=exponential", Gather(3)),
        ("fat-tree:k=3,h=1,capacity=2", ReduceScatter()),
    ],
)
@pytest.mark.parametrize("ports", PORTS)
def test_networks_of_known_structure(spec, task, ports):
    is_valid_and_met(gossamer.network(spec), task, ports)
