"""Diagonal-based data aggregation and the dilated-diagonal broadcast."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gossamer.wormhole.aggregation_distribution.final_all_gather import aggregate, diagonal_broadcast
from gossamer.wormhole.contraction_trees import ceil_log, group_tree
from gossamer.wormhole.partition import TorusPartition
from wormhole import paths
from wormhole.recordings import aggregated, cases, contention, premature, recording


@settings(max_examples=40, deadline=None)
@given(cases())
def test_every_node_of_the_ddns_gets_the_window_of_h_diagonals(case):
    sides, h, sources = case
    r = aggregated(sides, h, sources)
    tree = group_tree(h, 2 * len(sides) + 1)
    level = r.partition.level
    assert (level[r.holder] % h == 0).all()
    assert ((level[np.array(sources)] - level[r.holder] - tree.low) % h <= tree.high - tree.low).all()
    assert np.bincount(r.holder).max() <= h
    s = r.schedule()
    assert s.step_count == ceil_log(2 * len(sides) + 1, h)
    assert not contention(s)
    assert not premature(s)
    at = r.pieces.origin.astype(np.int64)
    for row in range(s.message_count):
        at[s.pieces_of(row)] = s.target[row]
    assert np.array_equal(at, r.holder)


@pytest.mark.parametrize("h", [2, 3, 4, 5, 6, 8, 10, 25, 26])
def test_full_load_meets_the_worst_level_volumes(h):
    r = aggregated((h, h), h, range(h * h))
    assert r.schedule().step_length.tolist() == list(group_tree(h).loads)
    assert np.bincount(r.holder, minlength=h * h)[r.partition.ddn >= 0].tolist() == [h] * h


@settings(max_examples=25, deadline=None)
@given(cases(square=True))
def test_ddns_are_collected_on_their_main_diagonals_and_sent_back(case):
    sides, h, sources = case
    r = aggregated(sides, h, sources)
    r.word = r.partition.ddn[r.holder]
    before = r.word.copy()
    tree = group_tree(r.partition.diagonals)
    aggregate(r, tree, h, "alignment")
    assert np.array_equal(r.partition.ddn[r.holder], before)
    assert (r.partition.level[r.holder] % sides[0] == 0).all()
    assert not contention(r.schedule())
    diagonal_broadcast(r, tree)
    s = r.schedule()
    assert not contention(s)
    largest = np.bincount(before).max()
    phase = s.phase_messages("broadcast") if tree.levels else slice(0)
    assert s.step_length[s.step_count - len(tree.levels) :].tolist() == [largest] * len(tree.levels)
    told = {(int(s.target[row]), int(p)) for row in range(s.message_count)[phase] for p in s.pieces_of(row)}
    main = {int(v) for v in np.flatnonzero(r.partition.level % sides[0] == 0)}
    for unit, ddn in enumerate(before):
        assert {v for v, p in told if p == unit} | main >= set(np.flatnonzero(r.partition.ddn == ddn).tolist())


def printed_targets(n, h):
    """Return the diagonals of the source's aggregation: L_j' for j' = j*ceil(n/h), j < ceil(n/h)."""
    return {j * -(-n // h) % n for j in range(-(-n // h))}


def test_erratum_x1_the_printed_target_diagonals_are_not_those_of_the_ddns():
    def wanted(n, h):
        p = TorusPartition((n, n), h)
        return set((p.level[p.ddn >= 0] % n).tolist())

    assert (printed_targets(6, 2), wanted(6, 2)) == ({0, 3}, {0, 2, 4})
    assert (printed_targets(10, 5), wanted(10, 5)) == ({0, 2}, {0, 5})
    sizes = [(n, h) for n in range(1, 7) for h in range(2, n + 1) if n % h == 0]
    assert [c for c in sizes if printed_targets(*c) != wanted(*c)] == [(6, 2), (6, 3)]
    assert all(printed_targets(h * h, h) == wanted(h * h, h) for h in range(1, 8))
    assert all(printed_targets(n, n) == wanted(n, n) for n in range(1, 8))


def claims(h):
    """Return how often each of h diagonals is claimed by the +-1, +-2 rule with units 1, 5, 25, ... below h."""
    targets, unit = {0}, 1
    claimed = dict.fromkeys(range(h), 0)
    units = []
    while unit < h:
        units.append(unit)
        unit *= 5
    for unit in reversed(units):
        for target in sorted(targets):
            for q in (-2, -1, 1, 2):
                claimed[(target + q * unit) % h] += 1
                targets.add((target + q * unit) % h)
    return claimed


def test_erratum_x2_the_plain_rule_needs_a_power_of_five():
    for h in (5, 25):
        claimed = claims(h)
        assert claimed.pop(0) == 0
        assert set(claimed.values()) == {1}
    assert claims(2)[1] == 2
    assert claims(6)[1] > 1
    assert claims(6)[4] > 1
    centers = set(range(0, 16, 5)) - {0}
    assert centers - {5 * q % 16 for q in (-2, -1, 1, 2)} == {15}  # of h = 16, never contracted into L_0
    for h in (2, 6, 16):
        assert len(group_tree(h).levels) == ceil_log(5, h)


@pytest.mark.parametrize(("n", "h"), [(5, 5), (10, 5), (25, 25), (25, 5)])
def test_claim_x18_aggregation_and_diagonal_broadcast_are_free_of_contention(n, h):
    """The source's patterns: P(i,j) with P(i+-u,j) and P(i,j+-2u), u = 1, 5, 25, ..., in both directions."""
    unit = 1
    while unit < h:
        centers = [(i, j) for i in range(n) for j in range(n) if (i - j) % (5 * unit) == 0]
        into = [((i + q, j), (-q, 0)) for i, j in centers for q in (-unit, unit)]
        into += [((i, j + q), (0, -q)) for i, j in centers for q in (-2 * unit, 2 * unit)]
        out = [((i, j), (q, 0)) for i, j in centers for q in (-unit, unit)]
        out += [((i, j), (0, q)) for i, j in centers for q in (-2 * unit, 2 * unit)]
        placed = [[((i % n, j % n), move) for (i, j), move in messages] for messages in (into, out)]
        assert [paths.shared((n, n), messages) for messages in placed] == [[], []]
        unit *= 5


def test_lemma_1_is_an_upper_bound_that_powers_of_five_attain():
    for h in range(2, 130):
        closed, exact = (5 ** ceil_log(5, h) - 1) // 4, sum(group_tree(h).loads)
        assert exact <= closed
        assert exact == closed or h not in (5, 25, 125)
    assert [sum(group_tree(h).loads) for h in (6, 26)] == [4, 20]
    assert [(5 ** ceil_log(5, h) - 1) // 4 for h in (6, 26)] == [6, 31]


def test_erratum_x14_the_sum_of_lemma_1_ends_one_too_early():
    def printed(h):
        return sum(5 ** (i - 1) for i in range(1, ceil_log(5, h)))

    measured = aggregated((5, 5), 5, range(25)).schedule().volume
    assert (printed(5), measured) == (0, 1)
    for h in (5, 25, 125):
        assert printed(h) + 5 ** (ceil_log(5, h) - 1) == sum(group_tree(h).loads)


def test_nothing_moves_with_h_1():
    r = recording((6, 6), 1, range(36))
    aggregate(r, group_tree(1), 1, "aggregation")
    assert r.schedule().phases == ()
