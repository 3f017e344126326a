"""Schedules squeezed into fewer slots: at their bounds on small networks, through all ports and one."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import branching, routed
from gossamer.algorithms.any_network.schedule_shortening import squeezed
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.schedules import Phase, Schedule


def shorter(case, slots, least):
    demand = demand_of(case)
    return squeezed(
        demand, LinkResources.of(case.network, case.rules), branching(case.network, case.rules), slots, least, case.seed
    )


@pytest.mark.parametrize(
    ("task", "ports", "known", "least"),
    [("alltoall", "all", 8, 5), ("allgather", "all", 5, 3), ("alltoall", "one", 19, 15)],
)
def test_petersen_at_its_bounds(task, ports, known, least):
    case = Case(from_networkx(nx.petersen_graph(), "petersen"), gossamer.task(task), Rules(ports=ports))
    slots, slot, link, packet = shorter(case, known, least)
    assert slots == least
    verification = gossamer.verify(Schedule.of(case, slot, link, packet, phases=[Phase("all", slots)]))
    assert verification.ok, str(verification)


def test_no_schedule_is_shorter_than_the_distance():
    case = Case(gossamer.network("array:6"), gossamer.task("broadcast"))
    assert shorter(case, 5, 1) is None
    assert shorter(case, 7, 1)[0] == 5


def test_links_of_several_slots_are_left_alone():
    slow = gossamer.network("ring:4").with_times(2, 0)
    assert shorter(Case(slow, gossamer.task("allgather")), 9, 1) is None


@pytest.mark.parametrize("number", range(8))
def test_squeezed_schedules_are_valid(number):
    """Switches that copy and that do not, late links, capacities, ports; also backwards in time."""
    draw = np.random.default_rng(number)
    graph = nx.gnp_random_graph(7, 0.5, seed=number)
    graph.add_edges_from((i, i + 1) for i in range(6))
    nx.set_edge_attributes(graph, {edge: int(draw.integers(1, 3)) for edge in graph.edges}, "capacity")
    nx.set_node_attributes(graph, {5: False, 6: bool(number % 2)}, "terminal")
    network = from_networkx(graph, "seven nodes")
    network = network.with_times(1, draw.integers(0, 2, network.link_count))
    rules = Rules(ports=("all", "one", "one-send", "one-receive")[number % 4], replication=number % 3 > 0)
    for name in ("broadcast", "alltoall", "allgather", "reduce-scatter"):
        case = Case(network, gossamer.task(name), rules, seed=number)
        if name == "reduce-scatter":
            case = case.dual
        verification = gossamer.verify(routed(case).reverse() if name == "reduce-scatter" else routed(case))
        assert verification.ok, f"{name}: {verification}"
