"""Broadcast and scatter against the exact optimum, on all connected networks of up to five nodes."""

from __future__ import annotations

import networkx as nx
import pytest

import gossamer
from bounds.oracle import schedule_within
from gossamer.algorithms import algorithms_for
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Broadcast, Scatter

pytest.importorskip("ortools", reason="needs the extra 'solver' (OR-Tools)")
pytestmark = pytest.mark.solver

GRAPHS = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 5 and nx.is_connected(g)]
NAMED = ["ring:6", "ring:7", "array:2x3", "hypercube:3", "complete:6", "star:3", "circulant:7,1,2", "fat-tree:k=2,h=2"]


def agrees(network, task, ports):
    """The fastest schedule is valid, and the solver finds none that is a slot shorter."""
    model = Rules(ports=ports)
    algorithms = [a for a in algorithms_for(type(task)) if a.tasks == (type(task),)]
    built = [a.build(Case(network, task, model)) for a in algorithms if a.covers(Case(network, task, model))]
    for schedule in built:
        assert gossamer.verify(schedule)
    slots = int(min(s.completion_time for s in built))
    assert slots == 0 or schedule_within(network, task, model, slots - 1) is None


@pytest.mark.exhaustive(always=50)
@pytest.mark.parametrize("ports", ["all", "one", "one-send"])
@pytest.mark.parametrize("task", [Broadcast, Scatter])
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
def test_no_schedule_is_faster_on_networks_of_up_to_five_nodes(graph, task, ports):
    network = from_networkx(graph)
    for root in graph:
        agrees(network, task(root), ports)


@pytest.mark.parametrize("ports", ["all", "one"])
@pytest.mark.parametrize("task", [Broadcast, Scatter])
@pytest.mark.parametrize("spec", NAMED)
def test_no_schedule_is_faster_on_named_networks(spec, task, ports):
    agrees(gossamer.network(spec), task(0), ports)
