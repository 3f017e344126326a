"""The bound of copies that leave a set of nodes late, beside a program of its own that looks at every set."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import networkx as nx
import pytest

import gossamer
from gossamer.bounds import bounds
from gossamer.networks import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules


def drawn(seed):
    """A connected network of up to five terminals and three switches, links of different speeds and latencies."""
    rng = random.Random(seed)
    while True:
        terminals, switches = rng.randint(3, 5), rng.randint(1, 3)
        n = terminals + switches
        pairs = [
            pair
            for pair in itertools.combinations(range(n), 2)
            if rng.random() < (0.6 if pair[1] >= terminals else 0.2)
        ]
        graph = nx.Graph(pairs)
        if len(graph) == n and nx.is_connected(graph):
            break
    ends = [(u, v) for pair in pairs for u, v in (pair, pair[::-1])]
    speeds = [(rng.choice((1, 1, 2, 3)), rng.choice((0, 1, 2, 7))) for _ in pairs for _ in range(2)]
    links = dict(zip(ends, speeds, strict=True))
    source, target = zip(*sorted(links), strict=True)
    occupancy, latency = zip(*(links[end] for end in sorted(links)), strict=True)
    times = {"link_occupancy": occupancy, "link_latency": latency}
    network = Network("drawn", n, source, target, 1, terminal_count=terminals, **times)
    return network, links


def latencies(links, start, nodes, through):
    """Latencies from a node over nodes of which only some are passed."""
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(
        (u, v, {"latency": lag})
        for (u, v), (_, lag) in links.items()
        if {u, v} <= nodes and (u == start or u in through)
    )
    return nx.single_source_dijkstra_path_length(graph, start, weight="latency")


def least_time(links, terminals, root, packets, inside):
    """The least time in which what leaves a set serves all targets outside."""
    nodes = set(itertools.chain.from_iterable(links))
    outside = nodes - inside
    targets = {v for v in outside if v < terminals}
    before = latencies(links, root, nodes, nodes)
    rows = []
    for (u, v), (hold, lag) in links.items():
        if u in inside and v in outside:
            switches = {w for w in outside if w >= terminals}
            entries = {v: 0} if v < terminals else latencies(links, v, outside, switches)
            orders = [
                sorted(
                    lag + entries[c] + more for w, more in latencies(links, c, outside, outside).items() if w in targets
                )
                for c in entries
                if c < terminals
            ]
            most = max(map(len, orders), default=0)
            soonest = [min(order[k] for order in orders if len(order) > k) for k in range(most)]
            rows.extend((before[u] + after, Fraction(1, hold)) for after in soonest)
    rows.sort()
    passed, rate, now = Fraction(0), Fraction(0), 0
    for at, more in rows:
        if passed + rate * (at - now) >= packets * len(targets):
            break
        passed, rate, now = passed + rate * (at - now), rate + more, at
    return now + (packets * len(targets) - passed) / rate


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_that_of_some_set_and_at_least_that_of_the_root_alone(seed):
    network, links = drawn(seed)
    rules, packets = Rules(split=True, replication=False), 1
    found = {b.name: b.value for b in bounds(Case(network, gossamer.task("broadcast"), rules))}.get("late copies", 0)
    others = range(1, network.node_count)
    sets = [{0, *some} for k in range(len(others)) for some in itertools.combinations(others, k)]
    each = [
        least_time(links, network.terminal_count, 0, packets, some)
        for some in sets
        if any(v not in some for v in range(network.terminal_count))
    ]
    assert each[0] <= found <= max(each) or not any(lag for _, lag in links.values())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("task", ["reduce", "reduce-scatter"])
def test_no_plan_is_faster(seed, task):
    network, _ = drawn(seed)
    plan = gossamer.plan(network, task, rules=Rules(split=True))
    assert plan.completion_time >= max(b.value for b in bounds(Case(network, gossamer.task(task), Rules(split=True))))
