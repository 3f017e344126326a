"""The exchange between the nodes on the main diagonals of the DDNs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.aggregation_distribution.final_all_gather import aggregate
from gossamer.wormhole.aggregation_distribution.prefix_sums import gather_rounds, gathering_cost, tell_all
from gossamer.wormhole.contraction_trees import ceil_log, group_tree
from wormhole import paths
from wormhole.recordings import aggregated, cases, contention, premature, recording


def gather_steps(width, fan):
    """The steps of `gather_rounds`: two for a round with a partner 2w places away, one for another."""
    return sum(1 + (len(partners) > 2) for partners in gather_rounds(width, fan))


def literal_steps(n):
    """Return the messages of the source's pattern on a diagonal of n nodes: partners +-u and +-2u, u = 1, 5, 25, ..."""
    unit, steps = 1, []
    while unit < n:
        xs = range(n)
        steps.append([((x, x), (0, q)) for x in xs for q in (-2 * unit, 2 * unit)])
        steps.append(
            [((x, x), (q, q)) for x in xs for q in (-unit, unit)]
            + [((x, (x + q) % n), (q, 0)) for x in xs for q in (-2 * unit, 2 * unit)]
        )
        unit *= 5
    return steps


def test_erratum_x5_the_plain_pattern_collides_if_a_unit_is_between_n_thirds_and_n():
    def collides(n):
        return any(paths.shared((n, n), messages) for messages in literal_steps(n))

    expected = {n for n in range(1, 41) if any(u < n < 3 * u for u in (1, 5, 25))}
    assert sorted(expected)[:4] == [2, 6, 7, 8]
    assert {n for n in range(1, 41) if collides(n)} == expected


@pytest.mark.parametrize("n", [5, 25])
def test_claim_x18_the_pattern_is_free_of_contention_on_powers_of_five(n):
    assert not any(paths.shared((n, n), messages) for messages in literal_steps(n))
    assert len(literal_steps(n)) == gather_steps(n, 4)


def test_vector_of_five_nodes():
    r = recording((5, 5), 1, range(0, 25, 6))
    tell_all(r, 4)
    s = r.schedule()
    assert s.step_length.tolist() == [1, 1]
    sent = {
        (int(step), paths.place((5, 5), int(x)), paths.place((5, 5), int(y)), *(s.pieces_of(row) + 0).tolist())
        for row, (step, x, y) in enumerate(zip(s.step, s.source, s.target, strict=True))
    }
    assert {m[2] for m in sent if m[0] == 0 and m[1] == (0, 0)} == {(0, 2), (0, 3)}
    assert {m[1:] for m in sent if m[0] == 1 and m[2] == (0, 0)} == {
        ((3, 0), (0, 0), 3),
        ((2, 0), (0, 0), 2),
        ((4, 4), (0, 0), 4),
        ((1, 1), (0, 0), 1),
    }
    via = [list(paths.channels((5, 5), (4, 4), (1, 1)))[-1], list(paths.channels((5, 5), (1, 1), (-1, -1)))[-1]]
    assert via == [(0, 4, 1, 1), (0, 1, 1, -1)]


@given(st.integers(1, 700), st.sampled_from([2, 4]))
def test_windows_grow_to_the_ring_without_gaps_or_repetition(width, fan):
    low, high = 0, 0
    for partners in gather_rounds(width, fan):
        w = high - low + 1
        before = low, high
        for p in partners:
            nodes = range(p.first, p.first + p.nodes)
            assert before[0] + p.places <= nodes[0] <= nodes[-1] <= before[1] + p.places  # the partner knows them
            assert nodes[0] == high + 1 or nodes[-1] == low - 1
            low, high = min(low, nodes[0]), max(high, nodes[-1])
        assert len(partners) <= 2 or 3 * w < width
    assert high - low + 1 == width


def test_steps_are_those_of_the_closed_form():
    for n in range(1, 700):
        t = ceil_log(5, n)
        r5 = 2 * (t - 1) + (1 if n <= 3 * 5 ** (t - 1) else 2) if n > 1 else 0
        assert gather_steps(n, 4) == r5 <= 2 * t
        assert gather_steps(n, 2) == ceil_log(3, n) <= r5


@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from([2, 4]))
def test_main_diagonals_know_all_of_their_ddn(case, fan):
    sides, h, sources = case
    r = aggregated(sides, h, sources)
    p = r.partition
    r.word = p.ddn[r.holder]
    aggregate(r, group_tree(p.diagonals, 2 * p.dimensions + 1), h, "alignment")
    first = r.schedule().step_count
    main = p.level % (p.diagonals * h) == 0
    assert main[r.holder].all()
    tell_all(r, fan)
    s = r.schedule()
    assert not contention(s)
    assert not premature(s)
    known = {(int(x), unit) for unit, x in enumerate(r.holder)}
    rows = np.flatnonzero(s.step >= first)
    known |= {(int(s.target[row]), int(unit)) for row in rows for unit in s.pieces_of(row)}
    for unit, word in enumerate(r.word):
        assert all((int(x), unit) in known for x in np.flatnonzero(main & (p.ddn == word)))
    held = int(np.bincount(r.holder).max())
    cost = gathering_cost(p, fan, 1, held, int(np.bincount(r.word).max()))
    assert s.step_count - first == len(cost.bytes)
    assert (s.step_length[first:] <= np.array(cost.bytes, np.int64)).all()


@pytest.mark.parametrize("n", [26, 40, 74, 76])
def test_long_diagonals_are_free_of_contention(n):
    for fan in (2, 4):
        r = recording((n, n), 1, range(0, n * n, n + 1))
        tell_all(r, fan)
        assert not contention(r.schedule())


@pytest.mark.parametrize(("n", "fan"), [(9, 2), (27, 2), (5, 4), (25, 4)])
def test_equal_loads_cost_half_of_what_the_source_says_at_powers(n, fan):
    r = recording((n, n), 1, range(0, n * n, n + 1))
    tell_all(r, fan)
    s = r.schedule()
    both = s.volume if fan == 2 else s.step_length[1::2].sum()
    assert both == (n - 1) // (2 if fan == 2 else 4)
    if fan == 4:
        assert s.volume == (n - 1) // 2


def test_the_steps_of_small_windows():
    assert [gather_steps(n, 4) for n in (1, 3, 5, 15, 16)] == [0, 1, 2, 3, 4]
    assert [gather_steps(n, 2) for n in (1, 3, 5, 15, 16)] == [0, 1, 2, 3, 3]
