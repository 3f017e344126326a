"""Bounds over all placements hold for every placement of small jobs, and are what can be worked out by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import gossamer
from gossamer.bounds.placements import (
    _least_along,
    _least_spread,
    _not_the_same,
    needs_of,
    placement_bounds,
    terminal_distances,
)
from gossamer.planning.placement import placed
from gossamer.questions.cases import Case
from gossamer.questions.tasks import Grouped, UnevenExchange
from gossamer.questions.tasks.exchanges import NeighborExchange


def matrix(count: int, seed: int) -> UnevenExchange:
    rng = np.random.default_rng(seed)
    amounts = rng.integers(0, 4, (count, count)) * (rng.random((count, count)) < 0.5)
    np.fill_diagonal(amounts, 0)
    return UnevenExchange(tuple(map(tuple, amounts.tolist())))


def in_groups(name: str, count: int, size: int) -> Grouped:
    return Grouped(gossamer.task(name), [list(range(i, i + size)) for i in range(0, count, size)])


SMALL = [
    ("array:2x3", matrix(6, 1)),
    ("array:5", matrix(5, 2)),
    ("ring:6", NeighborExchange.along("complete:6")),
    ("array:2x3", NeighborExchange.along("ring:6")),
    ("hypercube:3", in_groups("alltoall", 8, 4)),
    ("array:6", in_groups("allgather", 6, 3)),
    ("array:2x3", in_groups("allreduce", 6, 2)),
    ("array:2x3", in_groups("gather", 6, 3)),
    ("array:6", NeighborExchange.along("star:3")),
    ("fat-tree:k=2,h=2", matrix(4, 5)),
    ("kautz:2,2", matrix(6, 6)),
]


@pytest.mark.parametrize(("spec", "task"), SMALL)
def test_no_placement_beats_the_bounds(spec, task) -> None:
    net = gossamer.network(spec)
    t = net.terminal_count
    best = max(bound.slots for bound in placement_bounds(Case(net, task, gossamer.Rules())))
    orders = list(itertools.permutations(range(t)))
    for k in np.random.default_rng(0).permutation(len(orders))[: 10 if "allreduce" in task.describe() else 40].tolist():
        found = gossamer.plan(net, placed(task, np.array(orders[k])), effort="closed form" if t > 7 else "search")
        assert found.completion_time >= best


@pytest.mark.parametrize(("spec", "task"), SMALL)
def test_hops_are_no_more_than_the_fewest_of_all_placements_and_where_ranks_are_does_not_matter(spec, task) -> None:
    net = gossamer.network(spec)
    t = net.terminal_count
    case = Case(net, task, gossamer.Rules())
    bounds = {bound.method: bound.slots for bound in placement_bounds(case)}
    far, pair = terminal_distances(net), needs_of(task.messages(net), t).pair.toarray()
    fewest = min(
        int((pair * far[np.ix_(p, p)]).sum()) for p in itertools.islice(itertools.permutations(range(t)), 5040)
    )
    room = Fraction(int(net.link_capacity.sum()))
    for method in ("hops", "eigenvalues"):
        if method in bounds and not needs_of(task.messages(net), t).hops:
            assert bounds[method] <= -(-fewest // room)
    turned = placed(task, np.random.default_rng(3).permutation(t))
    again = {bound.method: bound.slots for bound in placement_bounds(Case(net, turned, gossamer.Rules()))}
    assert again == bounds


def test_what_can_be_worked_out_by_hand() -> None:
    def bounds(spec: str, task: object) -> dict[str, Fraction]:
        return {b.method: b.slots for b in placement_bounds(Case(gossamer.network(spec), task, gossamer.Rules()))}

    # 16 ranks that all exchange, on a 4 x 4 array: 64 pairs each way over 4 links
    assert bounds("array:4x4", NeighborExchange.along("complete:16"))["cut"] == 16
    # four of four all exchange: neighbors of a torus of even sides have no neighbors in common
    assert bounds("torus:8x8", in_groups("alltoall", 64, 4))["distance"] == 2
    # nine of the sixteen nearest of a torus are two hops away or more: 4 + 8 * 2 + 3 * 3 hops of 15 packets
    assert bounds("torus:8x8", in_groups("alltoall", 64, 16))["hops"] == Fraction(-(-64 * 29 // 256))
    # of eight ranks some are three hops apart, where a sum goes to its root and back in an allreduce
    assert bounds("torus:8x8", in_groups("allgather", 64, 8))["distance"] == 3
    assert bounds("torus:8x8", in_groups("allreduce", 64, 8))["distance"] == 6
    # a hypercube of 64 on a torus: by eigenvalues 3, by the nearest nodes alone 2
    cube = bounds("torus:8x8", NeighborExchange.along("hypercube:6"))
    assert (cube["eigenvalues"], cube["hops"], cube["ports"]) == (3, 2, 2)
    # of nodes of degree 2 and 1, the busiest three of four ranks cannot all have two links
    star = UnevenExchange(((0, 4, 0, 0), (4, 0, 4, 0), (0, 4, 0, 4), (0, 0, 4, 0)))
    assert bounds("array:4", star)["ports"] == 4


def test_a_job_of_nothing_is_bounded_by_nothing() -> None:
    nothing = UnevenExchange(((0,) * 4,) * 4)
    assert max(b.slots for b in placement_bounds(Case(gossamer.network("ring:4"), nothing, gossamer.Rules()))) == 0


@pytest.mark.parametrize(
    ("sides", "wraps"), [((4, 4), (True, True)), ((3, 5), (False, True)), ((2, 3, 3), (True,) * 3)]
)
def test_no_set_of_nodes_is_closer_together_than_shapes_can_be(sides, wraps) -> None:
    at = np.array(list(np.ndindex(sides)))
    far = np.zeros((len(at), len(at)), np.int64)
    for d, (side, closed) in enumerate(zip(sides, wraps, strict=True)):
        apart = np.abs(at[:, None, d] - at[:, d])
        far += np.minimum(apart, side - apart) if closed else apart
    for size in range(1, 7):
        least = min(int(far[np.ix_(some, some)].sum()) for some in itertools.combinations(range(len(at)), size))
        assert _least_spread(size, sides, wraps) <= least
        if size <= 4:
            assert _least_spread(size, sides, wraps) == least


@pytest.mark.parametrize(("side", "closed"), [(5, True), (6, True), (7, False)])
def test_along_a_dimension_the_largest_numbers_next_to_each_other_are_least(side, closed) -> None:
    apart = np.abs(np.arange(side)[:, None] - np.arange(side))
    apart = np.minimum(apart, side - apart) if closed else apart
    for most in (1, 2, 3):
        least: dict[tuple[int, int], int] = {}
        for counts in itertools.product(range(most + 1), repeat=side):
            key = sum(counts), np.count_nonzero(counts)
            least[key] = min(least.get(key, 10**9), int(np.array(counts) @ apart @ counts))
        for (size, taken), value in least.items():
            if taken:
                assert _least_along(size, taken, most, side, closed) == value


def test_alltoalls_in_groups_are_bounded_by_the_shapes_of_groups() -> None:
    for size, hops in ((8, 832), (16, 2320)):
        groups = Grouped(gossamer.task("alltoall"), [range(i, i + size) for i in range(0, 64, size)])
        found = {b.method: b for b in placement_bounds(Case(gossamer.network("torus:8x8"), groups, gossamer.Rules()))}
        assert found["shapes"].slots == -(-hops // 256)
        assert found["shapes"].slots > found["hops"].slots


@pytest.mark.parametrize("seed", range(40))
def test_graphs_with_as_many_links_are_told_apart_only_where_they_are_not_the_same(seed) -> None:
    job, host = (nx.gnm_random_graph(6, 6 + seed % 3, seed=seed + k) for k in (0, 500))
    pairs, close = (nx.to_numpy_array(graph, dtype=bool) for graph in (job, host))
    there = nx.is_isomorphic(job, host)
    assert not (_not_the_same(csr_array(pairs), close, np.arange(6)) and there)
    order = np.random.default_rng(seed).permutation(6)
    assert not _not_the_same(csr_array(pairs), pairs[np.ix_(order, order)], np.arange(6))


def test_a_torus_with_other_sides_is_another_graph() -> None:
    case = Case(gossamer.network("torus:6x6"), NeighborExchange.along("torus:4x9"), gossamer.Rules())
    found = {b.method: b for b in placement_bounds(case)}["distance"]
    assert found.slots == 2
    case = Case(gossamer.network("torus:6x6"), NeighborExchange.along("torus:6x6"), gossamer.Rules())
    assert {b.method: b for b in placement_bounds(case)}["distance"].slots == 1
