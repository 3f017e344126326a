"""Prefix sums over the nodes of the DDNs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.aggregation_distribution.closed_forms import destinations
from gossamer.wormhole.aggregation_distribution.prefix_sums import prefix_cost, prefix_sums, ranks
from gossamer.wormhole.contraction_trees import ceil_log
from gossamer.wormhole.partition import TorusPartition
from wormhole import paths
from wormhole.recordings import aggregated, cases, contention, recording
from wormhole.twenty_sources import AGGREGATED, SOURCES


@settings(max_examples=50, deadline=None)
@given(cases(), st.sampled_from([3, 5]))
def test_every_node_gets_the_sum_of_all_before_it_in_one_order(case, fan):
    sides, h, sources = case
    r = aggregated(sides, h, sources)
    held = np.bincount(r.holder, minlength=r.partition.node_count)
    before = prefix_sums(r, fan)
    nodes = np.flatnonzero(r.partition.ddn >= 0)
    order = nodes[np.lexsort((held[nodes] > 0, before[nodes]))]  # nodes without messages may stand anywhere
    assert np.array_equal(before[order], np.cumsum(held[order]) - held[order])
    assert np.sort(ranks(r, before)).tolist() == list(range(len(sources)))
    s = r.schedule()
    assert not contention(s)
    assert s.step_count == ceil_log(2 * len(sides) + 1, h) + len(prefix_cost(r.partition, fan, 1).bytes)


@pytest.mark.parametrize("fan", [3, 5])
def test_the_order_does_not_depend_on_the_messages(fan):
    r = recording((12, 12), 3, np.flatnonzero(TorusPartition((12, 12), 3).ddn >= 0))
    order = prefix_sums(r, fan)
    for chosen in (range(0, 144, 7), [27, 28, 100]):
        part = aggregated((12, 12), 3, chosen)
        before = prefix_sums(part, fan)
        busy = np.unique(part.holder)
        busy = busy[np.argsort(order[busy])]
        assert (np.diff(before[busy]) > 0).all()


@pytest.mark.parametrize("fan", [3, 5])
def test_vector_of_twenty_sources(fan):
    r = aggregated((10, 10), 5, SOURCES)
    before = prefix_sums(r, fan)
    held = np.bincount(r.holder, minlength=100)
    found = {}
    for number in np.unique(r.holder):
        place = tuple(r.partition.coordinates[number].tolist())
        found[place] = (int(r.partition.ddn[number]), int(held[number]), int(before[number]))
    assert found == {place: row[:3] for place, row in AGGREGATED.items()}
    assert [sum(b for d, b, _ in found.values() if d == k) for k in range(5)] == [1, 6, 9, 2, 2]
    word = destinations(r.partition, ranks(r, before))
    for place, (_, _, _, listed, _) in AGGREGATED.items():
        there = np.flatnonzero(r.holder == paths.node((10, 10), place))
        assert word[there[np.argsort(ranks(r, before)[there])]].tolist() == listed


@pytest.mark.parametrize(("n", "h"), [(n, h) for n in (1, 2, 5, 16, 25, 30) for h in range(1, n + 1) if n % h == 0])
def test_steps_are_those_of_the_closed_form(n, h):
    for fan, diagonal in ((5, 4 * ceil_log(5, n)), (3, 2 * ceil_log(3, n))):
        r = recording((n, n), h, [0])
        prefix_sums(r, fan)
        s = r.schedule()
        assert s.step_count == 2 * ceil_log(5, n // h) + diagonal
        cost = prefix_cost(r.partition, fan, 1)
        assert s.step_length.tolist() == list(cost.bytes)
        longest = [s.hops[s.step == step].max() for step in range(s.step_count)]
        assert longest == list(cost.hops)


def test_groups_of_three_on_the_diagonal_never_take_more_steps():
    assert all(2 * ceil_log(3, n) <= 4 * ceil_log(5, n) for n in range(1, 2000))


@pytest.mark.parametrize("n", [5, 10, 25])
def test_claim_x18_the_basic_prefix_is_free_of_contention(n):
    """Two steps to P(k,k) from P(k+-1,k+-1) and P(k+-2,k+-2) for every fifth k, and back."""
    centers = range(2, n, 5)
    first = [((k + q, k + q), (0, -q) if abs(q) == 1 else (-q, 0)) for k in centers for q in (-2, -1, 1, 2)]
    second = [(paths.target((n, n), *m), (-q, 0) if abs(q) == 1 else (0, -q))
              for m, q in zip(first, [-2, -1, 1, 2] * len(centers), strict=True)]  # fmt: skip
    for messages in (first, second):
        back = [(paths.target((n, n), *m), tuple(-x for x in m[1])) for m in messages]
        assert not paths.shared((n, n), messages)
        assert not paths.shared((n, n), back)
    assert sorted(paths.target((n, n), *m) for m in second) == [(k, k) for k in centers for _ in range(4)]
