"""Bounds of an allreduce in any form: published and known values, no schedule faster, no exact optimum beaten."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import gossamer
from bounds.oracle import UndecidedError
from bounds.partitions import partitions
from bounds.sums_oracle import sums_within
from gossamer import Rules, Schedule, TimeCost
from gossamer.bounds import bounds
from gossamer.bounds.allreduce_any_form import ANY_FORM, any_form_bounds, quickest_flow
from gossamer.bounds.partitions import Gossip, parts_over_time
from gossamer.networks import from_networkx
from gossamer.networks.network import Network
from gossamer.planning.allreduce_variants import exact_bounds
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Grouped, PartialSumAllreduce, Reduce, ReduceScatter, chunked

ONE = PartialSumAllreduce()
FORWARD = Rules(replication=False)


def least(network, task=ONE, rules=None):
    return max(bound.value for bound in any_form_bounds(Case(network, task, rules)))


def of_graph(graph, ranks=None):
    """Return a network of a graph without its weights, whose first nodes are the ranks."""
    plain = nx.convert_node_labels_to_integers(graph)
    bare = nx.Graph()
    bare.add_nodes_from(plain.nodes)
    bare.add_edges_from((u, v, {"capacity": d.get("capacity", 1)}) for u, v, d in plain.edges(data=True))
    if ranks is None:
        return from_networkx(bare, "a graph")
    links = sorted((*p, d["capacity"]) for u, v, d in bare.edges(data=True) for p in ((u, v), (v, u)))
    source, target, capacity = zip(*links, strict=True)
    return Network("with switches", bare.number_of_nodes(), source, target, capacity, terminal_count=ranks)


def servers(count, size, inside, outside):
    """Return servers whose ranks have links to a switch of their own and to one of all."""
    ranks = count * size
    graph = nx.Graph()
    graph.add_nodes_from(range(ranks + count + 1))
    for v in range(ranks):
        graph.add_edge(v, ranks + v // size, capacity=inside)
        graph.add_edge(v, ranks + count, capacity=outside)
    return of_graph(graph, ranks)


@pytest.mark.parametrize(
    ("network", "value"),
    [
        ("array:5", Fraction(1)),
        ("ring:7", Fraction(6, 7)),
        ("array:4x4", Fraction(5, 8)),
        ("torus:4x4", Fraction(15, 32)),
        ("hypercube:4", Fraction(15, 32)),
        ("complete:8", Fraction(1, 4)),
        (of_graph(nx.star_graph(6)), Fraction(1)),
        (of_graph(nx.petersen_graph()), Fraction(3, 5)),
        (of_graph(nx.karate_club_graph()), Fraction(1)),
        (of_graph(nx.les_miserables_graph()), Fraction(1)),
        (of_graph(nx.florentine_families_graph()), Fraction(1)),
        (of_graph(nx.barbell_graph(5, 0)), Fraction(1)),
        (of_graph(nx.lollipop_graph(5, 3)), Fraction(1)),
    ],
    ids=str,
)
def test_a_buffer_takes_what_the_packing_of_trees_takes(network, value):
    assert least(gossamer.network(network) if isinstance(network, str) else network) == value


@pytest.mark.parametrize("rules", [FORWARD, Rules(), Rules(replication=False, reduction=True)], ids=str)
def test_ranks_around_switches_take_what_their_links_take(rules):
    """In units of the slower links: 2 (N - 1) calls over N links, whether switches copy, add or only forward."""
    star = nx.star_graph(8)
    hub = of_graph(nx.relabel_nodes(star, {v: (v - 1) % 9 for v in star}, copy=True).to_undirected(), 8)
    order = nx.Graph()
    order.add_nodes_from(range(9))
    order.add_edges_from((v, 8) for v in range(8))
    hub = of_graph(order, 8)
    assert least(hub, ONE, rules) == Fraction(14, 8)
    assert least(servers(2, 8, 12, 1), ONE, rules) == Fraction(30, 16 * 13)


def test_switches_that_add_and_copy_halve_what_their_links_take():
    hub = nx.Graph()
    hub.add_nodes_from(range(9))
    hub.add_edges_from((v, 8) for v in range(8))
    assert least(of_graph(hub, 8), ONE, Rules(reduction=True)) == 1


@pytest.mark.parametrize(
    ("groups", "value"),
    [
        (
            ((0, 1, 2, 3), (4, 5, 6, 7)),
            Fraction(1, 4),
        ),  # what relays reach
        (((0, 1), (4, 5)), Fraction(1, 6)),
        (((0, 1), (2, 3), (4, 5), (6, 7)), Fraction(1, 4)),
        (((0, 1, 2, 3, 4, 5, 6),), Fraction(12, 54)),
    ],
)
def test_idle_ranks_and_other_groups_may_relay(groups, value):
    """Of all nodes of complete:8."""
    assert least(gossamer.network("complete:8"), Grouped(ONE, groups)) == value


@pytest.mark.parametrize("seed", range(10))
def test_where_every_node_is_a_rank_it_is_the_strength_of_the_network(seed):
    """By Tutte and Nash-Williams, the most over all partitions of parts less 1 over the capacity between them."""
    draw = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(6, 0.5, seed=seed)
    graph.add_edges_from((i, i + 1) for i in range(5))
    for u, v in graph.edges:
        graph.edges[u, v]["capacity"] = int(draw.integers(1, 4))
    best = Fraction(0)
    for parts in partitions(list(range(6))):
        place = {v: i for i, part in enumerate(parts) for v in part}
        between = sum(d["capacity"] for u, v, d in graph.edges(data=True) if place[u] != place[v])
        best = max(best, Fraction(len(parts) - 1, between)) if between else best
    assert least(of_graph(graph)) == best


def test_latencies_are_on_the_way_of_a_flow():
    slow = gossamer.network("ring:8").with_times(3, 5)
    assert least(slow) == 4 * 5 + Fraction(3, 2)  # both ways round, as far
    links = Case(slow, ONE).links
    assert quickest_flow(links, 0, 1, 1).value == 5 + 3
    assert quickest_flow(links, 0, 1, 100).value == (5 + 7 * 5 + 300) / Fraction(2)


# Schedules that are written by hand.


def exchanges(network, pairs, packets=1):
    """Return a schedule in which, in slot t, packet p goes over all links of ``pairs[t][p]``."""
    at = {p: e for e, p in enumerate(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))}
    rows = sorted((t, at[u, v], p) for t, each in enumerate(pairs) for p, some in enumerate(each) for u, v in some)
    slot, link, packet = np.array(rows, np.int64).reshape(-1, 3).T
    return Schedule(network, chunked(ONE, packets), Rules(), slot, link, packet)


def dimension(network, axis, side):
    """Return the pairs of neighbors along a dimension of a torus whose sides are all 2 or 3."""
    n = network.node_count
    return [(u, u + (((u // side**axis + way) % side) - u // side**axis % side) * side**axis)
            for u in range(n) for way in range(1, side)]  # fmt: skip


@pytest.mark.parametrize(("spec", "dimensions", "side"), [("hypercube:2", 2, 2), ("hypercube:3", 3, 2),
                                                          ("hypercube:5", 5, 2), ("torus:3x3", 2, 3),
                                                          ("torus:3x3x3", 3, 3)])  # fmt: skip
def test_exchanges_along_dimensions_are_never_faster(spec, dimensions, side):
    """Whole, as recursive doubling, and in as many parts as there are dimensions, part j along j + t in slot t."""
    network = gossamer.network(spec)
    along = [dimension(network, axis, side) for axis in range(dimensions)]
    whole = exchanges(network, [[along[t]] for t in range(dimensions)])
    turns = [[along[(t + j) % dimensions] for j in range(dimensions)] for t in range(dimensions)]
    for schedule, packets in ((whole, 1), (exchanges(network, turns, dimensions), dimensions)):
        assert gossamer.verify(schedule), str(gossamer.verify(schedule))
        assert schedule.completion_time == dimensions
        found = bounds(Case(network, chunked(ONE, packets)))
        assert 0 < found[0].value <= dimensions
        assert found[0].value == dimensions  # a packet must go as far
        assert found[0].scope == ("schedules of unsegmented messages" if packets == 1 else
                                  f"schedules of messages in {packets} packets")  # fmt: skip


@pytest.mark.parametrize("size", ["64B", "4KiB", "256KiB", "8MiB"])
def test_dimension_exchange_is_never_faster_in_seconds(size):
    """Six parts on hypercube:6 at 50 GB/s and 2 us take 6 (2 us + M / (6 B)): 17.24 us for 256 KiB."""
    cost = TimeCost(size, bandwidth="50GB/s", latency="2us")
    took = 6 * (Fraction(2, 10**6) + Fraction(cost.bytes, 6 * 50 * 10**9))
    found = gossamer.lower_bounds("hypercube:6", "allreduce", cost=cost)
    _, clock = cost.on(gossamer.network("hypercube:6"), gossamer.task("allreduce"))
    assert found[0].scope == ""
    assert Fraction(12, 10**6) < clock.seconds(found[0].value) <= took
    if size == "256KiB":
        assert round(float(took) * 1e6, 2) == 17.24
        assert any(clock.seconds(bound.value) > took for bound in found)  # false for the question
        assert all(
            clock.seconds(bound.value) <= took or "by reduce-scatter + allgather" in bound.scope for bound in found
        )


def test_bounds_do_not_depend_on_how_packets_are_rounded_up():
    """7 ranks have blocks of 14,286 bytes of 100,000; the bound is of the 100,000."""
    cost = TimeCost(100_000, bandwidth="1GB/s", latency="7ns")
    found = gossamer.lower_bounds("ring:7", "allreduce", cost=cost)
    _, clock = cost.on(gossamer.network("ring:7"), gossamer.task("allreduce"))
    assert clock.seconds(found[0].value) == Fraction(2 * 6 * 100_000, 14 * 10**9) + Fraction(7, 10**9)


# What is printed.


def test_a_plan_says_among_which_schedules_it_is_optimal():
    whole = gossamer.plan("ring:8", "allreduce")
    assert (whole.optimal, whole.among) == (True, "schedules of unsegmented messages by reduce-scatter + allgather")
    cost = TimeCost("64MiB", bandwidth="50GB/s", form="blocks")
    timed = gossamer.plan("ring:8", "allreduce", cost=cost)
    assert timed.ratio == pytest.approx(1)
    whole = gossamer.plan("ring:8", "allreduce", cost=TimeCost("64MiB", bandwidth="50GB/s", form="blocks", whole=True))
    assert whole.optimal
    assert "optimal among schedules of unsegmented messages by reduce-scatter + allgather" in whole.summary
    assert whole.seconds == pytest.approx(timed.seconds * 8 / 7)
    assert whole.to_dict()["optimal_among"] == "schedules of unsegmented messages by reduce-scatter + allgather"
    split = gossamer.plan("ring:8", "allreduce", rules=Rules(split=True))
    assert split.bounds[0].scope == ""
    every = gossamer.plan("hypercube:4", "alltoall")
    assert (every.optimal, every.among, every.to_dict()["optimal_among"]) == (True, "", "all schedules")


def test_bounds_of_whole_messages_say_so_where_parts_may_be_faster():
    found = gossamer.lower_bounds("torus:4x4", "allgather")
    assert {bound.scope for bound in found if bound.value == 4} == {"schedules of unsegmented messages"}
    found = gossamer.lower_bounds("torus:4x4", "allgather", cost=TimeCost("1MiB", bandwidth="1GB/s"))
    assert (found[0].scope, found[0].value) == ("", Fraction(15, 4))
    assert max(bound.value for bound in found if bound.scope) == 4


def test_a_form_that_is_asked_for_keeps_its_bounds():
    links = {"bandwidth": "50GB/s", "latency": "2us"}
    found = gossamer.plan("hypercube:2", "allreduce", cost=TimeCost("256KiB", form="blocks", **links))
    assert found.bound_scope == "schedules by reduce-scatter + allgather"
    free = gossamer.plan("hypercube:2", "allreduce", cost=TimeCost("256KiB", **links))
    assert free.bound_scope == ""
    assert free.bound_seconds < found.bound_seconds


# Exact optima of small networks.


def instance(seed):
    """Return a small network with a task in groups or not, one to three packets, and rules of ports."""
    rng = random.Random(seed)
    while True:
        n = rng.randint(2, 5)
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.7]
        ways = itertools.chain.from_iterable(((u, v), (v, u)) for u, v in pairs)
        links = sorted(way for way in ways if rng.random() < 0.93)
        graph = nx.DiGraph(links)
        if len(graph) == n and nx.is_strongly_connected(graph):
            break
    slow, late = rng.choice([[1], [1], [1, 2], [1, 2, 3]]), rng.choice([[0], [0], [0, 1], [0, 2]])
    source, target = zip(*links, strict=True)
    columns = [[rng.choice(some) for _ in links] for some in ([1, 1, 1, 2], slow, late)]
    network = Network(
        "small", n, source, target, columns[0], link_occupancy=columns[1], link_latency=columns[2], links_only=True
    )
    rules = Rules(ports=rng.choice(["all", "all", "all", "one", "one-send", "one-receive"]))
    task = ONE
    if n > 2 and rng.random() < 0.3:
        size, nodes = rng.randint(2, n - 1), rng.sample(range(n), n)
        task = Grouped(ONE, [nodes[:size], nodes[size:]] if n - size > 1 and rng.random() < 0.6 else [nodes[:size]])
    return network, chunked(task, rng.choice([1, 2, 2, 3, 3])), rules


def with_switches(seed):
    """Return a small network with a switch or two, two or three packets, and what switches can do."""
    rng = random.Random(seed)
    while True:
        n, ranks = rng.choice([(4, 3), (5, 3), (5, 4)])
        pairs = [(u, v) for u in range(n) for v in range(max(u + 1, ranks), n) if rng.random() < 0.8]
        pairs += [(u, v) for u in range(ranks) for v in range(u + 1, ranks) if rng.random() < 0.2]
        graph = nx.Graph(pairs)
        if len(graph) == n and nx.is_connected(graph):
            break
    links = sorted(way for u, v in pairs for way in ((u, v), (v, u)))
    source, target = zip(*links, strict=True)
    capacity, late = ([rng.choice(some) for _ in links] for some in ([1, 1, 1, 2], rng.choice([[0], [0, 1]])))
    network = Network(
        "small", n, source, target, capacity, link_latency=late, terminal_count=ranks, links_only=True
    )  # fmt: skip
    replication, reduction = rng.choice([(False, False), (True, False), (True, True)])
    return network, chunked(ONE, rng.choice([1, 2, 3])), Rules(replication=replication, reduction=reduction)


def judge(seed, of=instance, exact=True):
    """Check that nothing is faster than the bounds, nor than a plan that is said to be optimal.

    Return whether the optimum meets the bounds, None if not decided. Without `exact`, what the constraints find may be
    more than the checker allows.
    """
    network, task, rules = of(seed)
    found = bounds(Case(network, task, rules))
    assert all(bound.name not in ANY_FORM or not bound.scope for bound in found)
    slots = math.ceil(found[0].value)
    try:
        assert sums_within(network, task, rules, slots - 1) is None
        best = next(filter(None, (sums_within(network, task, rules, t) for t in range(slots, slots + 6))), None)
    except UndecidedError:
        return None
    if best is None:
        return False
    assert not exact or gossamer.verify(best), str(gossamer.verify(best))
    assert found[0].value <= best.completion_time
    if exact:
        planned = gossamer.plan(network, task, rules=rules)
        assert not planned.optimal or planned.completion_time == best.completion_time
    return best.completion_time == slots


@pytest.mark.solver
def test_small_optima_meet_the_bounds_mostly():
    pytest.importorskip("ortools")
    met = [judge(seed) for seed in range(12)]
    assert met.count(True) >= 9
    assert None not in met


@pytest.mark.exhaustive(always=8)
@pytest.mark.solver
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 500, 4))
def test_no_bound_is_above_an_exact_optimum(seed):
    pytest.importorskip("ortools")
    for each in range(seed, seed + 4):
        judge(each)


@pytest.mark.solver
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1120, 4))
def test_reductions_to_roots_gain_nothing_from_sums_that_leave_a_node_twice(seed):
    """Their bounds count one departure of each node; the optimum is that of all partial sums."""
    pytest.importorskip("ortools")

    def rooted(seed):
        network, _, rules = instance(seed)
        return network, Reduce(0) if seed % 2 else ReduceScatter(), rules

    for each in range(seed, seed + 4):
        judge(each, rooted)


@pytest.mark.solver
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2120, 4))
def test_no_bound_is_above_an_optimum_over_switches(seed):
    pytest.importorskip("ortools")
    for each in range(seed, seed + 4):
        judge(each, with_switches, exact=False)


def far_apart(seed):
    """Return a small network with latencies, packets that are reduced or summed for all, and what switches can do."""
    rng = random.Random(seed)
    ranks = rng.choice([3, 4, 4])
    n = ranks + rng.choice([0, 0, 1, 2])
    while True:
        pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < 0.6]
        graph = nx.Graph(pairs)
        if len(graph) == n and nx.is_connected(graph):
            break
    links = sorted(way for u, v in pairs for way in ((u, v), (v, u)))
    source, target = zip(*links, strict=True)
    late = [rng.choice([0, 1, 2]) for _ in links]
    network = Network("far", n, source, target, link_latency=late, terminal_count=ranks, links_only=True)
    task = chunked(rng.choice([Reduce(rng.randrange(ranks)), ONE]), rng.choice([2, 3]))
    return network, task, Rules(replication=rng.random() < 0.5)


def parts_bound(network, task, rules):
    """Return the largest bound by parts over time, of all divisions of the nodes."""
    links = Case(network, task, replace(rules, segmented=True)).links
    ranks, some = np.arange(network.terminal_count), network.node_count > network.terminal_count
    gossip = Gossip(links, ranks, None, some and rules.replication, False, task.packets)
    if isinstance(task.task, Reduce):
        gossip = gossip._replace(links=links.turned, root=task.task.root, copies=False)
    divisions = (np.array(part) for part in divided(network.node_count))
    found = (parts_over_time(gossip, part) for part in divisions if np.unique(part[ranks]).size > 1)
    return max(each.value for each in found if each is not None)


def divided(count):
    """Yield the divisions of so many nodes, each once: the part of each node."""
    rows = [[0]]
    for _ in range(count - 1):
        rows = [[*row, k] for row in rows for k in range(max(row) + 2)]
    return rows


@pytest.mark.exhaustive(always=3)
@pytest.mark.solver
@pytest.mark.parametrize("seed", range(0, 200, 4))
def test_no_bound_by_parts_over_time_is_above_an_exact_optimum(seed):
    pytest.importorskip("ortools")
    for each in range(seed, seed + 4):
        network, task, rules = far_apart(each)
        before = math.ceil(parts_bound(network, task, rules)) - 1
        with contextlib.suppress(UndecidedError):
            assert sums_within(network, task, rules, before) is None


def test_parts_over_time_count_what_gathers_and_spreads_in_servers():
    """Four servers of eight, 25 GB/s a NIC: 1.5 MiB a NIC, 3 us on the way and in, and 7/8 us of no use each way."""
    graph = nx.DiGraph()
    for i, j in itertools.product(range(4), range(8)):
        for switch, speed, wait in ((f"server{i}", 300, 5e-7), ("fabric", 25, 1e-6)):
            graph.add_node(switch, terminal=False)
            for u, v in ((f"{i}.{j}", switch), (switch, f"{i}.{j}")):
                graph.add_edge(u, v, bandwidth=speed * 1e9, latency=wait)
    found = exact_bounds(from_networkx(graph), gossamer.task("allreduce"), None, TimeCost("1MiB"))
    best = max(found, key=lambda bound: bound.value)
    assert best.name == "parts over time"
    assert float(best.value) == pytest.approx(2 * 3 * 2**20 / (32 * 25e9) + (2 + 7 / 4) * 1e-6, rel=1e-5)
