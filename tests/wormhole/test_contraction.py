"""Group trees, line broadcasts, offsets and digits: vectors worked out by hand and properties."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.wormhole.contraction_trees import (
    balanced_digits,
    ceil_log,
    contraction,
    group_tree,
    line_broadcast,
    offset,
)
from gossamer.wormhole.partition import TorusPartition
from wormhole import paths


def text(tree, kinds=True):
    """Return the range of a tree and its edges level by level, as text."""
    levels = [
        " ".join(f"{e.child}->{e.parent}" + (f":{'V' if abs(e.rank) == 1 else 'H'}" if kinds else "") for e in level)
        for level in tree.levels
    ]
    return f"[{tree.low},{tree.high}] {' | '.join(levels)}"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (2, "[-1,0] -1->0:V"),
        (3, "[-1,1] -1->0:V 1->0:V"),
        (4, "[-2,1] -2->0:H -1->0:V 1->0:V"),
        (5, "[-2,2] -2->0:H -1->0:V 1->0:V 2->0:H"),
        (6, "[-4,1] -4->-3:V -2->-3:V -1->0:V 1->0:V | -3->0:V"),
        (8, "[-6,1] -6->-4:H -5->-4:V -3->-4:V -2->0:H -1->0:V 1->0:V | -4->0:V"),
    ],
)
def test_vectors_of_trees_of_fan_5(width, expected):
    assert text(group_tree(width)) == expected


def test_vector_of_the_tree_of_25():
    tree = group_tree(25)
    members = [(c + q, c) for c in (-10, -5, 0, 5, 10) for q in (-2, -1, 1, 2)]
    assert [(e.child, e.parent) for e in tree.levels[0]] == members
    assert text(tree).split(" | ")[1] == "-10->0:H -5->0:V 5->0:V 10->0:H"


def test_vectors_of_trees_of_fan_3():
    assert text(group_tree(4, 3), kinds=False) == "[-3,0] -3->-2 -1->0 | -2->0"
    assert text(group_tree(9, 3), kinds=False) == "[-4,4] -4->-3 -2->-3 -1->0 1->0 2->3 4->3 | -3->0 3->0"


@pytest.mark.parametrize(
    ("width", "loads"),
    [(5, (1,)), (6, (1, 3)), (8, (1, 4)), (10, (1, 5)), (25, (1, 5)), (26, (1, 5, 14)), (50, (1, 5, 25)),
     (125, (1, 5, 25))],
)  # fmt: skip
def test_vectors_of_worst_level_volumes(width, loads):
    assert group_tree(width).loads == loads


@given(st.integers(1, 700), st.sampled_from([3, 5, 7, 9]))
def test_trees_have_the_fewest_levels_and_contract_every_offset_once(width, fan):
    tree = group_tree(width, fan)
    assert len(tree.levels) == ceil_log(fan, width)
    assert tree.high - tree.low + 1 == tree.width == width
    children = [e.child for level in tree.levels for e in level]
    assert sorted([*children, 0]) == list(range(tree.low, tree.high + 1))
    gone = set()
    for level in tree.levels:
        assert not gone & {e.parent for e in level}
        gone |= {e.child for e in level}
        places = [(e.parent, e.rank) for e in level]
        assert len(set(places)) == len(places)
        assert all(0 < abs(e.rank) <= fan // 2 for e in level)
    assert sum(tree.loads) <= (fan ** len(tree.levels) - 1) // (fan - 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_levels_are_free_of_contention_both_ways(h, blocks, data):
    blocks = blocks[: 3 if h < 4 else 2]
    p = TorusPartition(tuple(h * b for b in blocks), h)
    width, unit = data.draw(st.sampled_from([(h, 1), (p.diagonals, h)]))
    for moves in contraction(p, group_tree(width, 2 * p.dimensions + 1), unit):
        for way in (moves, moves.backward):
            messages = [
                (tuple(p.coordinates[x]), tuple(d)) for x, d in zip(way.source, way.displacement.tolist(), strict=True)
            ]
            assert not paths.shared(p.sides, messages)
            ends = [paths.node(p.sides, paths.target(p.sides, *m)) for m in messages]
            assert ends == way.target.tolist()


@pytest.mark.parametrize(
    ("width", "steps"),
    [(3, [2, 1, 2]), (5, [2] * 5), (6, [3, 2, 2, 2, 2, 3]), (7, [3, 3, 2, 2, 2, 3, 3])],
)
def test_vectors_of_line_broadcast_steps(width, steps):
    assert [len(line_broadcast(0, width - 1, k)) for k in range(width)] == steps


@given(st.integers(1, 90), st.data())
def test_line_broadcast_reaches_all_without_contention(width, data):
    source = data.draw(st.integers(0, width - 1))
    steps = line_broadcast(0, width - 1, source)
    holders = {source}
    for pairs in steps:
        assert {x for x, _ in pairs} <= holders
        assert not paths.shared((10**6,), [((x,), (y - x,)) for x, y in pairs])
        holders |= {y for _, y in pairs}
    assert holders == set(range(width))
    assert len(steps) == ceil_log(3, 2 * max(source, width - 1 - source) + 1)
    if source in (0, width - 1):
        assert len(steps) == ceil_log(3, 2 * width - 1)
    if source == (width - 1) // 2:
        assert len(steps) == ceil_log(3, width)


def _reached_in_one_step(width, holders):
    """Return all sets of nodes that may hold a message one step after `holders` do, on a line."""

    def one_way(order):
        """Return the sets that messages in one direction may reach: each ends before the next sender, or at it."""
        sets, senders = {frozenset()}, [i for i, x in enumerate(order) if x in holders]
        for i, end in zip(senders, [*senders[1:], width - 1], strict=True):
            sets |= {s | {order[k]} for s in sets for k in range(i + 1, end + 1)}
        return sets

    line = list(range(width))
    return {holders | up | down for up in one_way(line) for down in one_way(line[::-1])}


@pytest.mark.parametrize("width", range(1, 7))
def test_no_line_broadcast_takes_fewer_steps(width):
    for source in range(width):
        states, steps = {frozenset([source])}, 0
        while frozenset(range(width)) not in states:
            states = set().union(*(_reached_in_one_step(width, s) for s in states))
            steps += 1
        assert steps == len(line_broadcast(0, width - 1, source))


def test_vectors_of_offsets():
    assert (offset(0, 4, 5), offset(3, 0, 5)) == (1, -2)
    assert (offset(2, 0, 4), offset(3, 0, 4), offset(0, 3, 4)) == (2, -1, 1)


@given(st.integers(1, 60))
def test_offsets_are_the_short_way_and_even_h_goes_up(h):
    ways = {offset(t, i, h) for t, i in itertools.product(range(h), range(min(h, 7)))}
    assert ways == set(range(-((h - 1) // 2), h // 2 + 1))


def test_erratum_x3_the_printed_rule_of_offsets_leaves_the_short_way():
    def printed(t, i, h):
        j = t - i
        return j - h if j > h / 2 else j

    assert (printed(0, 4, 5), offset(0, 4, 5)) == (-4, 1)
    cases = [(h, t, i) for h in range(1, 4) for t in range(h) for i in range(h)]
    assert [(h, t, i) for h, t, i in cases if 2 * abs(printed(t, i, h)) > h] == [(3, 0, 2)]
    assert (printed(0, 2, 3), offset(0, 2, 3)) == (-2, 1)


def test_vectors_of_digits():
    assert [balanced_digits(v, 5, 2) for v in (7, -12, 3)] == [(2, 1), (-2, -2), (-2, 1)]
    assert (balanced_digits(5, 3, 3), balanced_digits(4, 3, 2)) == ((-1, -1, 1), (1, 1))


@given(st.integers(1, 4000), st.sampled_from([3, 5]))
def test_as_many_digits_as_the_logarithm_are_enough(h, base):
    for value in (-((h - 1) // 2), 0, h // 2):
        digits = balanced_digits(value, base, ceil_log(base, h))
        assert sum(d * base**k for k, d in enumerate(digits)) == value
        assert all(abs(d) <= base // 2 for d in digits)


@given(st.integers(2, 6), st.integers(0, 40), st.sampled_from([-1, 0, 1]))
def test_logarithms_are_exact_at_large_powers(base, exponent, off):
    value = max(base**exponent + off, 1)
    t = ceil_log(base, value)
    assert base**t >= value
    assert t == 0 or base ** (t - 1) < value
