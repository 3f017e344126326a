"""Data tuning: destination lists and the three movements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.aggregation_distribution.closed_forms import MOVEMENTS, destinations, movement, tune, tuning_cost
from gossamer.wormhole.aggregation_distribution.prefix_sums import prefix_sums, ranks
from gossamer.wormhole.contraction_trees import ceil_log, offset
from gossamer.wormhole.partition import TorusPartition
from wormhole import paths
from wormhole.recordings import aggregated, cases, contention, premature, recording
from wormhole.twenty_sources import AGGREGATED, SOURCES

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 24, 25]


@pytest.mark.parametrize("h", [*SIZES, 50, 125])
@pytest.mark.parametrize("name", MOVEMENTS)
def test_movements_make_every_offset_down_and_to_the_right(name, h):
    moves = movement(name, h)
    offsets = np.arange(-((h - 1) // 2), h // 2 + 1)
    assert np.array_equal(moves.sum(axis=0), np.stack([offsets, offsets], axis=1))
    steps = {"mix5": 2 * ceil_log(5, h), "mix3": ceil_log(3, h), "direct": -(-(h // 2) // 2) + 1 if h > 1 else 0}
    assert len(moves) == steps[name]


@pytest.mark.parametrize("h", SIZES)
@pytest.mark.parametrize("name", MOVEMENTS)
def test_all_offsets_at_once_from_all_nodes_are_free_of_contention(name, h):
    for n in (h, 2 * h):
        if n > 26:
            continue
        p = TorusPartition((n, n), h)
        nodes = np.flatnonzero(p.ddn >= 0)
        r = recording((n, n), h, np.arange(n * n))
        r.holder[:] = np.repeat(nodes, h)  # h units a node, one for each DDN
        r.word = np.tile(np.arange(h), nodes.size)
        tune(r, name)
        assert np.array_equal(p.ddn[r.holder], r.word)
        assert not contention(r.schedule())


@pytest.mark.parametrize(
    ("name", "volumes"),
    [("mix5", {6: 6, 10: 10, 25: 20, 50: 66, 125: 150}), ("mix3", {6: 4, 10: 9, 25: 24, 125: 195})],
)
def test_vectors_of_worst_volumes(name, volumes):
    found = {h: sum(tuning_cost(TorusPartition((h, h), h), name, h * h, 1, 1).bytes) for h in volumes}
    assert found == volumes


@pytest.mark.parametrize(("name", "h"), [(name, h) for name in MOVEMENTS for h in (5, 6, 10, 12)])
def test_worst_volumes_are_met_when_all_nodes_are_sources(name, h):
    r = aggregated((h, h), h, range(h * h))
    first = r.schedule().step_count
    r.word = destinations(r.partition, ranks(r, prefix_sums(r, 3)))
    start = r.schedule().step_count
    tune(r, name)
    measured = r.schedule().step_length[start:].tolist()
    assert first < start
    assert measured == list(tuning_cost(r.partition, name, h * h, 1, 1).bytes)


def test_vector_of_destination_lists():
    p = TorusPartition((10, 10), 5)
    assert destinations(p, np.arange(9, 12)).tolist() == [4, 0, 1]
    for place, (ddn, beta, alpha, listed, offsets) in AGGREGATED.items():
        assert p.ddn[paths.node((10, 10), place)] == ddn
        assert destinations(p, np.arange(alpha, alpha + beta)).tolist() == listed
        assert [offset(t, ddn, 5) for t in listed] == offsets


def test_erratum_x3_the_printed_list_has_two_ranks_too_many():
    alpha, beta = 9, 3
    printed = list(range(alpha, alpha + beta + 1 + 1))
    assert len(printed) == beta + 2
    assert printed[:beta] == [9, 10, 11]  # the source's own example


@pytest.mark.parametrize("name", MOVEMENTS)
def test_vector_of_twenty_sources_ends_with_four_a_ddn(name):
    r = aggregated((10, 10), 5, SOURCES)
    r.word = destinations(r.partition, ranks(r, prefix_sums(r, 5)))
    tune(r, name)
    assert np.bincount(r.partition.ddn[r.holder]).tolist()[-5:] == [4] * 5


@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from(sorted(MOVEMENTS)), st.booleans())
def test_ddns_get_equal_shares_but_for_one_message(case, name, pieces):
    sides, h, sources = case
    words = h ** (len(sides) - 1) if pieces else 1
    r = aggregated(sides, h, sources, words=words, message_bytes=words)
    if not pieces:
        r.word = destinations(r.partition, ranks(r, prefix_sums(r, 3)))
    first = r.schedule().step_count
    tune(r, name)
    assert np.array_equal(r.partition.ddn[r.holder], r.word)
    loads = np.bincount(r.word, minlength=r.partition.ddn_count)
    share, odd = divmod(len(sources) * words, r.partition.ddn_count)
    assert sorted(loads.tolist()) == sorted([share + 1] * odd + [share] * (r.partition.ddn_count - odd))
    s = r.schedule()
    assert not contention(s)
    assert not premature(s)
    cost = tuning_cost(r.partition, name, len(sources), 1, words)
    assert s.step_count - first == len(cost.bytes)
    assert (s.step_length[first:] <= np.array(cost.bytes, np.int64)).all()


def test_erratum_x16_shares_are_equal_only_if_h_divides_s():
    r = aggregated((4, 4), 2, [0, 5, 6])
    r.word = destinations(r.partition, ranks(r, prefix_sums(r, 5)))
    assert np.bincount(r.word).tolist() == [2, 1]


def test_erratum_x4_two_logarithms_of_whole_messages_are_enough_up_to_h_13():
    def steps(h):
        return len(movement("direct", h))

    assert all(steps(h) <= 2 * ceil_log(5, h) for h in range(2, 14))
    assert all(max(tuning_cost(TorusPartition((h, h), h), "direct", h * h, 1, 1).bytes) == 1 for h in range(2, 40))
    assert [steps(h) for h in (14, 17, 25)] == [5, 5, 7]
    assert [2 * ceil_log(5, h) for h in (14, 17, 25)] == [4, 4, 4]


def test_erratum_x4_the_hierarchical_form_sends_two_messages_at_h_6():
    assert max(tuning_cost(TorusPartition((5, 5), 5), "mix5", 25, 1, 1).bytes) == 1
    r = aggregated((6, 6), 6, range(36))
    r.word = destinations(r.partition, ranks(r, prefix_sums(r, 5)))
    start = r.schedule().step_count
    tune(r, "mix5")
    assert r.schedule().step_length[start:].max() == 2


def test_erratum_x4_no_movement_of_whole_messages_is_that_short_from_h_16_on():
    """A node with h messages sends h - 1 of them, 4 a step, but in the last step only 2.

    In the last step a message ends on a diagonal away from its node's row, so that it has to leave vertically.
    """

    def most(steps):
        return 4 * (steps - 1) + 2

    impossible = [h for h in range(2, 400) if h - 1 > most(2 * ceil_log(5, h))]
    assert impossible[0] == 16
    assert set(range(16, 26)) <= set(impossible)
    assert most(4) == 14  # h = 14 and 15 are not decided by this


def test_claim_x18_the_exchange_in_two_steps_with_h_5_is_free_of_contention():
    n = 10
    nodes = [(i, j) for i in range(n) for j in range(n) if i % 5 == j % 5]
    first = [(x, (q, 0)) for x in nodes for q in (-1, 1)] + [(x, (0, q)) for x in nodes for q in (-2, 2)]
    second = [(paths.target((n, n), *m), m[1][::-1]) for m in first]
    assert not paths.shared((n, n), first)
    assert not paths.shared((n, n), second)
