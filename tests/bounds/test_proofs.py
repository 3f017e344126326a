"""Every bound follows from the numbers of its proof: each kind computed anew, in plain Python, over many cases."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import gossamer
from bounds.demand_cases import demand_case
from bounds.timed_cases import random_case
from gossamer import Rules
from gossamer.bounds import Bound, bounds
from gossamer.bounds.allreduce_any_form import sums_of
from gossamer.bounds.broadcast_growth import ClosedForm, DegreeGrowth, DelayedGrowth, Growth, LevelGrowth
from gossamer.bounds.proofs import (
    CallPrices,
    Chain,
    Cut,
    Load,
    OfTask,
    PartsOverTime,
    PortPrices,
    Prices,
    QuickestFlow,
    SlotPrices,
    TimeCut,
    least_cut,
)
from gossamer.questions.cases import Case
from gossamer.questions.tasks import COMBINE, COPY, TASKS
from gossamer.testing import NETWORKS, tasks_of

IN_WORDS = {"nothing to do", "tree broadcast", "idle leaves"}


def passed(load, time):
    """Return how many packets have passed by a time."""
    rows = zip(load.capacity.tolist(), load.occupancy.tolist(), load.wait.tolist(), strict=True)
    if load.whole:
        return sum(c * max(0, (int(time) - w) // o) for c, o, w in rows)
    return sum(Fraction(c, o) * max(0, time - w) for c, o, w in rows)


def first(enough, value):
    """Return the value if it is the first whole number, 0 or more, that is enough."""
    assert enough(int(value))
    assert value == 0 or not enough(int(value) - 1)
    return value


def informed_over_links(proof, time):
    """Return how many nodes can be informed by a time, those of each number of hops by themselves."""
    total, hops = int(proof.distance == 0), max(1, -(-proof.distance // proof.most))
    while (late := max(proof.distance, hops * proof.least)) <= time:
        total += math.comb((time - late) // proof.every + hops, hops)
        hops += 1
    return total


def informed_by_degree(proof, time):
    """Return how many nodes at a distance or more can know a message: each tells a new one a step, a few at most."""
    told = {(0, 0): 1}  # (step, hops): nodes
    for step, hops in itertools.product(range(1, time + 1), range(1, time + 1)):
        fan = proof.root_links if hops == 1 else proof.node_links
        told[step, hops] = sum(told.get((before, hops - 1), 0) for before in range(max(0, step - fan), step))
    return sum(nodes for (_, hops), nodes in told.items() if hops >= proof.distance)


def informed_terminals(proof, time):
    """Return how many terminals know a message: each starts copies as soon and as often as allowed."""
    known = [0]
    for slot in range(1, time + 1):
        for since in list(known):
            begun = slot - proof.delay - since
            if begun >= 0 and begun % proof.every == 0:
                known += [slot] * proof.at_once
    return len(known)


def value_of(proof):
    """Return the time that follows from a proof."""
    if isinstance(proof, Fraction):
        return proof
    if isinstance(proof, Bound | OfTask):
        return proof.value if proof.proof is None else value_of(proof.proof)
    if isinstance(proof, Load):
        time = proof.value
        if proof.whole:
            return first(lambda t: passed(proof, t) >= proof.needed, time)
        assert passed(proof, time) == proof.needed or (time == 0 and passed(proof, time) >= proof.needed)
        return time
    if isinstance(proof, Chain):
        total = sum(map(value_of, proof.parts))
        return math.ceil(total) if proof.whole else total
    if isinstance(proof, TimeCut):
        assert proof.room < proof.messages
        return proof.slots + 1
    if isinstance(proof, PartsOverTime):
        return value_of(proof.load) / proof.scale
    if isinstance(proof, QuickestFlow):
        return Fraction(proof.way, proof.worth)
    if isinstance(proof, SlotPrices):
        assert proof.needed > proof.offered
        return proof.up.shape[1] + 1
    if isinstance(proof, ClosedForm):
        d, r = proof.distance, proof.nodes
        if r >= 4 ** (d - 1):
            return math.ceil(round(2 * d - 1 if r == 4 ** (d - 1) else math.log2(4 ** (d - 1) + r), 9))
        return math.ceil(round(d / 2 + (math.factorial(d) * (r - 1)) ** (1 / (d + 1)), 9))
    if isinstance(proof, LevelGrowth):
        return first(lambda t: math.comb(t, proof.distance) >= proof.nodes, proof.value)
    laws = {Growth: informed_over_links, DegreeGrowth: informed_by_degree, DelayedGrowth: informed_terminals}
    return first(lambda t: laws[type(proof)](proof, t) >= proof.nodes, proof.value)


def crossing(case, nodes):
    """Return how many messages must enter a set of nodes, and how many must leave it."""
    told = case.messages
    n = case.network.terminal_count
    inside = set(nodes.tolist())
    enter = leave = 0
    for i in range(told.count):
        origin = int(told.origin[i])
        if told.target_start is None:
            targets = set(range(n)) - {origin}
        else:
            targets = set(told.targets[told.target_start[i] : told.target_start[i + 1]].tolist()) - {origin}
        size = 1 if told.sizes is None else int(told.sizes[i])
        across = [v for v in targets if (v in inside) != (origin in inside)]
        shared = told.discipline[i] in (COPY, COMBINE)
        count = size * (min(len(across), 1) if shared else len(across))
        if (origin in inside) == (told.discipline[i] == COMBINE):
            enter += count
        else:
            leave += count
    return enter, leave


def paid(case, price):
    """Return what all messages pay at least on their ways."""
    net = case.network
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(net.node_count))
    each = (price * net.link_occupancy).tolist()
    for u, v, length in zip(net.link_source.tolist(), net.link_target.tolist(), each, strict=True):
        graph.add_edge(u, v, weight=length)
    far = dict(nx.all_pairs_dijkstra_path_length(graph))
    told, total = case.messages, 0
    for i in range(told.count):
        origin = int(told.origin[i])
        targets = told.targets[told.target_start[i] : told.target_start[i + 1]].tolist()
        total += (1 if told.sizes is None else int(told.sizes[i])) * sum(far[origin][v] for v in targets)
    return total


def called(case, length, parted):
    """Return what the calls of an allreduce in any form pay at least: what each threshold leaves apart, added up."""
    net, total = case.network, 0
    either = nx.Graph()
    either.add_nodes_from(range(net.node_count))
    for u, v, d in zip(net.link_source.tolist(), net.link_target.tolist(), length.tolist(), strict=True):
        least = min(d, either.edges[u, v]["d"]) if either.has_edge(u, v) else d
        either.add_edge(u, v, d=least)
    far = dict(nx.all_pairs_dijkstra_path_length(either, weight="d"))
    for members, packets in sums_of(net, case.task):
        if parted:
            pairs = [(d, u, v) for u, v, d in either.edges(data="d")]
            nodes = range(net.node_count)
        else:
            pairs = [(far[u][v], u, v) for u, v in itertools.combinations(members.tolist(), 2)]
            nodes = members.tolist()
        marks = sorted({0, *(d for d, _, _ in pairs)})
        for below, above in itertools.pairwise(marks):
            near = nx.Graph()
            near.add_nodes_from(nodes)
            near.add_edges_from((u, v) for d, u, v in pairs if d <= below)
            parts = sum(bool(part & set(members.tolist())) for part in nx.connected_components(near))
            total += 2 * packets * (parts - 1) * (above - below)
    return total


def quickest(case, proof):
    """Return the length of the shortest way of a proof, and what all links and ports are worth at the least."""
    net = case.network
    graph = nx.MultiDiGraph()
    rows = (net.link_source, net.link_target, net.link_latency, proof.toll)
    for u, v, late, toll in zip(*(row.tolist() for row in rows), strict=True):
        graph.add_edge(u, v, weight=proof.worth * late + proof.packets * toll)
    return nx.dijkstra_path_length(graph, proof.source, proof.target)


def check(case):
    for bound in bounds(case):
        if bound.name in IN_WORDS:
            assert bound.proof is None
            continue
        proof = bound.proof
        assert proof is not None, bound.name
        assert bound.value == proof.value == value_of(proof), bound
        if type(proof) is Cut and proof.nodes is not None:
            enter, leave = crossing(case, proof.nodes)
            assert 0 < proof.needed <= (enter if proof.enter else leave), bound
        if type(proof) is Prices and not case.invariant and case.network.shared_ports is None:
            assert proof.needed == paid(case, proof.price)
        if type(proof) is CallPrices:
            assert proof.needed == called(case, proof.length, proof.parted), bound
            if not case.limited and case.network.shared_ports is None:
                assert (proof.capacity * proof.occupancy).sum() > 0
                offered = sum(
                    Fraction(c * d, o)
                    for c, d, o in zip(
                        case.network.link_capacity.tolist(), proof.length.tolist(),
                        case.network.link_occupancy.tolist(), strict=True,
                    )
                )  # fmt: skip
                paces = zip(proof.capacity.tolist(), proof.occupancy.tolist(), strict=True)
                assert sum(Fraction(c, o) for c, o in paces) == offered
        if type(proof) is QuickestFlow:
            assert proof.way == quickest(case, proof)
            worth = [
                Fraction(c * toll, o)
                for c, toll, o in zip(
                    case.network.link_capacity.tolist(), proof.toll.tolist(),
                    case.network.link_occupancy.tolist(), strict=True,
                )
            ]  # fmt: skip
            assert case.limited or sum(worth) == proof.worth
        if type(proof) is PortPrices:
            assert proof.capacity.tolist() == [proof.price.sum()]


@pytest.mark.exhaustive(always=60)
@pytest.mark.parametrize("seed", range(150))
def test_bounds_of_small_networks_with_times_and_switches_follow_from_their_proofs(seed):
    network, task, rules, _ = random_case(seed)
    case = Case(network, task, rules)
    if case.demands:
        check(case)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_tables_groups_and_sequences_follow_from_their_proofs(seed):
    network, task, rules = demand_case(seed)
    case = Case(network, task, rules)
    if case.demands:
        check(case)


@pytest.mark.exhaustive(always=20)
@pytest.mark.parametrize("spec", NETWORKS)
def test_bounds_of_every_family_follow_from_their_proofs(spec):
    network = gossamer.network(spec)
    rules = itertools.cycle([Rules(), Rules(ports="one"), Rules(split=True), Rules(ports="one-send")])
    for kind in TASKS.values():
        for task in itertools.islice(tasks_of(kind, network), 1):
            check(Case(network, task, next(rules)))


@pytest.mark.parametrize("capacity", ["constant", "exponential", "2,2,4"])
def test_bounds_of_fat_trees_follow_from_their_proofs(capacity):
    for ports in ("all", "one"):
        for task in ("alltoall", "allgather", "scatter"):
            check(Case(gossamer.network(f"fat-tree:k=2,h=3,capacity={capacity}"), gossamer.task(task), Rules(ports)))


def test_a_bound_of_a_proof_has_its_value():
    bound = Bound.of("cut", Cut.of(9, 2, wait=1), "w", "cut", "s")
    assert bound == Bound("cut", Fraction(6), "w", "cut", "s")
    assert bound.proof.needed == 9


def test_a_sum_is_rounded_up_once():
    halves = (Fraction(1, 2), Load.of(3, 2, whole=False))
    assert Chain(halves).value == 2
    assert Chain((*halves, Fraction(1, 3)), whole=True).value == 3


def test_the_cuts_next_to_source_and_sink_are_told_apart():
    tail, head = np.array([0, 1, 2]), np.array([1, 2, 3])
    found = least_cut(tail, head, np.array([5, 5, 5]), 0, 3)
    assert (found.flow, found.near.tolist()) == (5, [True, False, False, False])
    assert found.far.tolist() == [False, False, False, True]
