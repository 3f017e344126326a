"""Allreduce along trees with free roots: a linear program over trees, then chunks in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.free_root_trees import FREE_ROOT_TREES, _packing, free_root_trees, tree_chunks
from gossamer.bounds.allreduce_any_form import any_form_bounds
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Grouped, PartialSumAllreduce, chunked

ALL = range(99)


def fluid(network, groups):
    """Return the largest load of the program's trees, and the bound in any form."""
    groups = tuple(tuple(v for v in row if v < network.terminal_count) for row in groups)
    found = _packing(network, Rules(), groups)
    case = Case(network, Grouped(PartialSumAllreduce(), groups), Rules(split=True))
    return float((found.load @ found.weight).max()), max(bound.value for bound in any_form_bounds(case))


@pytest.mark.parametrize(
    ("spec", "groups", "time"),
    [
        ("ring:7", [ALL], "6/7"),
        ("array:5", [ALL], "1"),
        ("array:4x4", [ALL], "5/8"),
        ("torus:4x4", [ALL], "15/32"),
        ("hypercube:4", [ALL], "15/32"),
        ("complete:8", [ALL], "1/4"),
        ("leaf-spine:leaves=6,spines=2,hosts=4", [ALL], "23/12"),
        ("complete:8", [[0, 1, 2, 3], [4, 5, 6, 7]], "1/4"),
        ("complete:8", [[0, 1], [2, 3]], "1/6"),
        ("complete:8", [[0, 1, 2]], "2/13"),
        ("complete:8", [[0, 1, 2, 3], [3, 4, 5]], "2/7"),
        ("torus:4x4", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]], "3/4"),
    ],
)
def test_trees_reach_the_bound(spec, groups, time):
    load, bound = fluid(gossamer.network(spec), groups)
    assert bound == Fraction(time)
    assert bound * (1 - 1e-9) <= load <= bound * 1.004


@pytest.mark.parametrize(
    ("groups", "chunks", "slots"),
    [
        ([[0, 1, 2, 3], [4, 5, 6, 7]], 8, 2),
        ([[0, 1], [2, 3]], 12, 4),
        ([[0, 1], [2, 3]], 192, 36),
        ([[5]], 4, 0),
        ([[5], [0, 1]], 13, 4),
    ],
)
def test_groups_relay_for_each_other(groups, chunks, slots):
    case = Case(gossamer.network("complete:8"), Grouped(chunked(PartialSumAllreduce(), chunks), groups))
    found = free_root_trees(case)
    assert gossamer.verify(found)
    assert found.completion_time <= slots


def drawn(number):
    """Return a random network with groups of its terminals, which may share nodes or leave some out, and rules."""
    draw = np.random.default_rng(number)
    terminals, switches = int(draw.integers(2, 9)), int(draw.integers(0, 4)) * int(draw.integers(2))
    nodes = terminals + switches
    order = draw.permutation(nodes)
    pairs = {(int(a), int(b)) for a, b in zip(order, np.roll(order, 1), strict=True)}
    pairs |= {(int(a), int(b)) for a, b in draw.integers(nodes, size=(2 * nodes, 2))}
    pairs |= {(b, a) for a, b in pairs if draw.integers(2)}
    source, target = np.array(sorted((a, b) for a, b in pairs if a != b), np.int32).T
    network = Network(
        f"drawn {number}", nodes, source, target, terminal_count=terminals, links_only=True,
        link_capacity=draw.integers(1, 4, source.size).astype(np.int32),
    )  # fmt: skip
    if draw.integers(2):
        network = network.with_times(draw.integers(1, 5, source.size), draw.integers(0, 6, source.size))
    fewest = [2, 1, 1][: draw.integers(1, 4)]
    rows = [draw.permutation(terminals)[: draw.integers(least, terminals + 1)] for least in fewest]
    ports = str(draw.choice(["all", "all", "one", "one-send", "one-receive"]))
    rules = Rules(ports=ports, replication=bool(draw.integers(2)), reduction=bool(draw.integers(2)))
    return network, [row.tolist() for row in rows], rules.on(network)


@pytest.mark.exhaustive(always=12)
@pytest.mark.parametrize("number", range(40))
def test_any_groups_on_any_network(number):
    network, groups, rules = drawn(number)
    chunks = 1 + number % 7
    task = Grouped(chunked(PartialSumAllreduce(), chunks), groups)
    case = Case(network, task, rules, seed=number)
    (offer,) = FREE_ROOT_TREES.offers(case)
    found = offer.build()
    verification = gossamer.verify(found)
    assert verification.ok, str(verification)
    for bound in gossamer.bounds.bounds(case):
        assert found.completion_time >= bound.value


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("number", range(60, 70))
def test_messages_in_parts(number):
    network, groups, _ = drawn(number)
    case = Case(network, Grouped(PartialSumAllreduce(), groups), Rules(split=True))
    for offer in FREE_ROOT_TREES.offers(case):
        schedule = offer.build()
        assert schedule.parts == offer.options["parts"]
        verification = gossamer.verify(schedule)
        assert verification.ok, str(verification)
        assert schedule.completion_time >= gossamer.bounds.bounds(case)[0].value


def test_few_chunks_where_latencies_are_long():
    groups = (tuple(range(16)),)
    network = gossamer.network("torus:4x4")
    assert tree_chunks(network.with_times(1, 10_000), Rules(), groups)[-1] == 1
    assert tree_chunks(network.with_times(10_000, 1), Rules(), groups)[-1] > 100


def test_what_is_refused():
    alone = FREE_ROOT_TREES.offers(Case(gossamer.network("ring:4"), Grouped(PartialSumAllreduce(), [[1], [2]])))
    assert alone.why == "needs two ranks or more in a group"
    blocks = FREE_ROOT_TREES.offers(Case(gossamer.network("ring:4"), gossamer.task("broadcast", packets=2)))
    assert blocks.why == "is for allreduces by partial sums"
    network = gossamer.network("leaf-spine:leaves=2,spines=2,hosts=2")
    task = chunked(PartialSumAllreduce(), 4)
    for rules, words in (
        (Rules(buffer=4), "does not limit the packets that a node holds"),
        (Rules(cut_through=True), "is for switches that store what they pass on"),
    ):
        assert FREE_ROOT_TREES.offers(Case(network, task, rules)).why == words


def test_no_way_to_a_root_is_long_where_latencies_count():
    """The first round of trees loads links most evenly, but some of its ways are twice as long as others."""
    machine = gossamer.network("mi250x:2").with_times(1, 1_000)
    task = gossamer.task("partial-sum-allreduce", packets=64)
    found = free_root_trees(Case(machine, task))
    gossamer.verify(found).raise_if_invalid()
    assert found.completion_time <= 9_000  # 12,012 with the trees of that round
