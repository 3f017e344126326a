"""Patterns of message passing libraries, laid over networks: valid, with the ways that their sources say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.algorithms.allreduce.exchange_stages import exchange_plans, swing, through_blocks, transfers, trivance
from gossamer.algorithms.allreduce.staged_allreduce import exchange_in_blocks, staged_allreduce
from gossamer.algorithms.any_network import mpi_library_algorithms as rounds
from gossamer.algorithms.derived import dual
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import disjoint_hamiltonian_cycles
from gossamer.networks import as_network, from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Gather, PartialSumAllreduce, ReduceScatter

NETWORKS = (
    "hypercube:3",
    "torus:4x4",
    "torus:3x4",
    "array:3x3",
    "ring:11",
    "complete:6",
    "leaf-spine:leaves=2,spines=2,hosts=4",
)
TREES = (rounds.doubling_tree, rounds.bruck_tree, rounds.parallel_aggregated_tree, rounds.bine_tree, rounds.ring_tree)


def oriented():
    """A strongly connected network of links of different speeds, some of them one way."""
    graph = nx.DiGraph(nx.gnp_random_graph(9, 0.2, seed=3, directed=True))
    graph.add_edges_from((v, (v + 1) % 9) for v in range(9))
    network = from_networkx(graph, "one way")
    draw = np.random.default_rng(1)
    return network.with_times(draw.integers(1, 4, network.link_count), draw.integers(0, 5, network.link_count))


def cases(task):
    for network in (*map(as_network, NETWORKS), oriented()):
        yield Case(network, task)
        yield Case(network, task, Rules(ports="one"))
        if network.terminal_count < network.node_count:
            yield Case(network, task, Rules(replication=False))


def reached(algorithm, case):
    (offer,) = algorithm.offers(case)
    schedule = offer.build()
    gossamer.verify(schedule).raise_if_invalid()
    assert schedule.completion_time >= gossamer.bounds.bounds(case)[0].value
    return schedule.completion_time


@pytest.mark.parametrize("algorithm", [*rounds.ALLGATHERS, rounds.MULTI_RING], ids=lambda a: a.name)
def test_allgathers_and_their_reversals_are_valid_on_any_network(algorithm):
    built = 0
    for packets in (1, 2):
        for kind, way in (("allgather", algorithm), ("reduce-scatter", dual(algorithm, ReduceScatter))):
            for case in cases(gossamer.task(kind, packets=packets) if packets > 1 else gossamer.task(kind)):
                if algorithm.covers(case) or (packets == 1 and way.covers(case)):
                    reached(way if packets == 1 else algorithm, case)
                    built += 1
    assert built >= 6


@pytest.mark.parametrize("algorithm", rounds.EXCHANGES, ids=lambda a: a.name)
def test_exchanges_are_valid_on_any_network(algorithm):
    for case in cases(gossamer.task("alltoall")):
        reached(algorithm, case)


def test_scatters_by_halving_and_gathers_are_valid_from_any_root():
    for case in cases(gossamer.task("scatter", root=3)):
        reached(rounds.HALVING_SCATTER, case)
    for case in cases(gossamer.task("gather", root=3)):
        reached(dual(rounds.HALVING_SCATTER, Gather), case)


@pytest.mark.parametrize("pattern", TREES, ids=lambda p: p.__name__)
@pytest.mark.parametrize("count", [2, 3, 4, 7, 8, 12, 13, 16, 22, 32])
def test_trees_bring_the_packet_of_every_rank_to_each_other_once_from_who_has_it(pattern, count):
    lines = pattern(count)
    if lines is None:
        assert pattern is rounds.bine_tree
        assert count & (count - 1) or count == 2
        return
    for root, tree in enumerate(lines):
        came = {root: -1}
        for step, source, target in tree[np.argsort(tree[:, 0], kind="stable")].tolist():
            assert came[source] < step
            assert target not in came
            came[target] = step
        assert len(came) == count


def test_patterns_take_as_many_rounds_as_their_sources_say():
    for count in (5, 8, 13, 16):
        logarithm = (count - 1).bit_length()
        assert rounds.bruck_tree(count)[..., 0].max() + 1 == logarithm
        assert rounds.parallel_aggregated_tree(count)[..., 0].max() + 1 == logarithm
        assert rounds.ring_tree(count)[..., 0].max() + 1 == count // 2
    # PAT and Bine trees send most data near, Bruck and recursive doubling far
    far = {}
    for pattern in TREES:
        tree = pattern(16)
        distance = np.abs(tree[..., 2] - tree[..., 1])
        far[pattern] = int(np.minimum(distance, 16 - distance).sum())
    assert far[rounds.bine_tree] < far[rounds.parallel_aggregated_tree] < far[rounds.bruck_tree]


def test_bine_trees_go_by_the_distances_of_swing_backwards():
    stages = swing(16)
    tree = rounds.bine_tree(16)
    for root in range(16):
        for step, source, target in tree[root].tolist():
            assert sorted((source, target)) in np.sort(stages[3 - step], axis=1).tolist()


def test_bruck_exchange_goes_as_many_rounds_as_the_distance_has_ones():
    origin, target = (x.reshape(-1) for x in np.mgrid[:11, :11])
    sent = rounds.bruck_exchange((11,), origin, target)
    count = np.bincount(sent.packet, minlength=121)
    assert count.tolist() == [int((b - a) % 11).bit_count() for a, b in zip(origin, target, strict=True)]


@pytest.mark.parametrize("spec", ["torus:3x3", "torus:4x4", "torus:5x5", "torus:7x7"])
def test_cycles_of_a_square_torus_share_no_link(spec):
    network = as_network(spec)
    links = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    cycles = disjoint_hamiltonian_cycles(network.grid)
    edges = [frozenset(e) for c in cycles for e in zip(c.tolist(), np.roll(c, -1).tolist(), strict=True)]
    assert len(cycles) == 2
    assert len(set(edges)) == len(edges) == 2 * network.node_count
    assert all(tuple(edge) in links for edge in edges)


@pytest.mark.parametrize("count", [9, 27])
def test_trivance_takes_half_the_way_round_a_ring(count):
    (plan,) = exchange_plans("trivance", (count,))
    found = staged_allreduce(Case(as_network(f"ring:{count}"), PartialSumAllreduce()), [plan])
    gossamer.verify(found).raise_if_invalid()
    assert found.completion_time == count // 2
    sent = transfers(plan)
    assert int(sent.step.max()) + 1 == {9: 2, 27: 3}[count]
    assert trivance(3) is trivance(12) is None


@pytest.mark.parametrize(
    ("spec", "pattern", "sides"),
    [
        ("torus:4x4", "swing", (4, 4)),
        ("hypercube:4", "doubling", (2,) * 4),
        ("ring:16", "doubling", (16,)),
        ("leaf-spine:leaves=2,spines=2,hosts=4", "doubling", (2, 4)),
    ],
)
def test_what_waits_for_what_is_enough_for_list_scheduling(spec, pattern, sides, monkeypatch):
    """No exchange of pairs has to send older sums than are there."""
    from gossamer.algorithms.allreduce import staged_allreduce as staged

    monkeypatch.setattr(staged, "_as_of", lambda *_: pytest.fail("sends older sums"))
    for plan in exchange_plans(pattern, sides):
        sent = transfers(plan)
        if sent is not None:
            task = gossamer.task("partial-sum-allreduce", packets=2 * sent.chunks)
            for ports in ("all", "one"):
                found = staged_allreduce(Case(as_network(spec), task, Rules(ports=ports)), [plan])
                gossamer.verify(found).raise_if_invalid()


@pytest.mark.parametrize(
    ("sides", "hops", "sent"),
    [((4,), 3, 6), ((8,), 7, 14), ((4, 4), 6, 32), ((8, 8), 14, 128), ((5, 6), 9, 58), ((4, 4, 4), 9, 136)],
)
def test_sums_meet_in_blocks_after_fewer_hops_than_in_a_root(sides, hops, sent):
    """Chains have n - 1 hops along even sides, and each chunk is sent little more often than 2 (N - 1) times."""
    network = as_network("torus:" + "x".join(map(str, sides)) if len(sides) > 1 else f"ring:{sides[0]}")
    for turns in (1, len(sides)):
        found = through_blocks(sides, turns)
        assert int(found.step.max()) + 1 == hops
        assert np.bincount(found.chunk).tolist() == [sent] * network.node_count * turns
        slow = network.with_times(1, 10_000)
        task = gossamer.task("partial-sum-allreduce", packets=found.chunks)
        schedule = exchange_in_blocks(Case(slow, task))
        gossamer.verify(schedule).raise_if_invalid()
        assert schedule.completion_time // 10_000 == hops


def test_block_exchanges_are_planned_on_tori_where_latency_counts():
    cost = gossamer.TimeCost("256KiB", bandwidth="50GB/s", latency="1us")
    plan = gossamer.plan("ring:8", "allreduce", cost=cost)
    assert plan.algorithm == "exchange-in-blocks"
    assert plan.seconds < 1.17 * plan.bound_seconds
