"""The mesh sorter sorts, by the 0-1 principle; Kunde's routing keeps its time and holds at most 2e+1 messages."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gossamer
from gossamer.algorithms.routing.kunde import KUNDE, most_held, rounds, sort_blocks, sort_steps
from gossamer.bounds import bounds
from gossamer.questions.cases import Case
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import pattern, permutation, random_partial
from gossamer.schedules.hop_sinks import RecordingSink
from gossamer.verification import buffer_peak, verify


def sorted_by_columns(key, rows, columns):
    return bool((np.diff(key.reshape(rows, columns).T.reshape(-1)) >= 0).all())


def sort(rows, columns, key):
    key = np.array(key, np.int32)
    held = np.arange(key.size, dtype=np.int32)
    sort_blocks(gossamer.network(f"array:{rows}x{columns}"), 1, key, held, RecordingSink())
    return key, held


@pytest.mark.uncompiled
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (3, 3), (1, 5), (5, 1), (2, 5)])
def test_every_0_1_matrix_is_sorted_column_by_column(rows, columns):
    for key in itertools.product((0, 1), repeat=rows * columns):
        assert sorted_by_columns(sort(rows, columns, key)[0], rows, columns), key


def merged(height, width, zeros):
    """Merge four roughly sorted quarters of a block by the rounds of the last level; the result, and whether sorted.

    After its first round only the number of zeros of each quarter matters, so that these numbers stand for all inputs.
    """
    last = rounds((height, width), 1)
    first = max(k for k, r in enumerate(last) if r.turned == "right") if any(r.turned == "right" for r in last) else 0
    block = np.ones((height, width), int)
    half, middle = (height + 1) // 2, (width + 1) // 2
    quarters = [(a, b) for a in (slice(0, half), slice(half, height)) for b in (slice(0, middle), slice(middle, width))]
    for (a, b), count in zip(quarters, zeros, strict=True):
        quarter = np.ones_like(block[a, b]).T.copy()
        quarter.reshape(-1)[:count] = 0  # zeros fill the columns of the quarter from the left
        block[a, b] = quarter.T
    for each in last[first:]:
        lines = block.T if each.axis == 0 else block
        for k, line in enumerate(lines):
            up = (each.turned == "odd" and k % 2 == 1) or (each.turned == "right" and k >= middle)
            for t in range(each.steps):
                for low, high in itertools.pairwise(each.cuts):
                    for x in range(low + t % 2, high - 1, 2):
                        if (line[x] > line[x + 1]) != up and line[x] != line[x + 1]:
                            line[x], line[x + 1] = line[x + 1], line[x]
    return sorted_by_columns(block, height, width)


@pytest.mark.parametrize(
    ("height", "width"),
    [(2, 2), (4, 3), (4, 4), (2, 7), (4, 5), pytest.param(4, 7, marks=pytest.mark.slow),
     pytest.param(6, 5, marks=pytest.mark.slow), pytest.param(8, 4, marks=pytest.mark.slow)],
)  # fmt: skip
def test_every_merge_of_four_roughly_sorted_quarters_is_sorted(height, width):
    half, middle = (height + 1) // 2, (width + 1) // 2
    sizes = [a * b for a in (half, height - half) for b in (middle, width - middle)]
    for zeros in itertools.product(*(range(size + 1) for size in sizes)):
        assert merged(height, width, zeros), zeros


@given(rows=st.integers(1, 24), columns=st.integers(1, 24), data=st.data())
@settings(max_examples=40, deadline=None)
def test_keys_of_any_rectangle_are_sorted_with_what_they_belong_to(rows, columns, data):
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    key = draw.integers(0, data.draw(st.sampled_from([2, 3, 1000])), rows * columns)
    found, held = sort(rows, columns, key)
    assert sorted_by_columns(found, rows, columns)
    assert np.array_equal(key[held], found)
    assert sorted(held.tolist()) == list(range(key.size))


@pytest.mark.parametrize("n", [32, 48, 64])
def test_0_1_matrices_with_one_dirty_column_a_quarter_are_sorted(n):
    draw = np.random.default_rng(n)
    for _ in range(10):
        key = (draw.random(n * n) < draw.random()).astype(np.int32)
        assert sorted_by_columns(sort(n, n, key)[0], n, n)


@pytest.mark.parametrize("k", range(2, 9))
def test_sorting_n_by_n_takes_7n_minus_10_steps(k):
    assert sort_steps((2**k, 2**k), 1) == 7 * 2**k - 10
    assert sort_steps((2**k * 4, 2**k * 4), 4) == 7 * 2**k - 10


@pytest.mark.parametrize(("algorithm", "blocks"), list(zip(KUNDE, (2, 4), strict=True)), ids=["kunde-2", "kunde-4"])
class TestKunde:
    """Both numbers of blocks."""

    @pytest.mark.parametrize("k", [3, 4, 5])
    def test_claim_is_5_and_a_half_n_or_3_and_three_quarters_n_less_12(self, algorithm, blocks, k):
        n = 2**k * 2
        network = gossamer.network(f"array:{n}x{n}")
        task = Permutation(tuple(range(n * n)))
        assert algorithm.offer(Case(network, task, Rules())).time == 7 * n // blocks + 2 * n - 12

    @given(data=st.data())
    @settings(max_examples=30, deadline=None)
    def test_random_permutations_stay_within_the_claim_and_2_e_plus_1_messages(self, algorithm, blocks, data):
        rows, columns = (blocks * data.draw(st.integers(1, 12 // blocks)) for _ in range(2))
        network = gossamer.network(f"array:{rows}x{columns}")
        share, seed = data.draw(st.sampled_from([0.2, 0.7, 1.0])), data.draw(st.integers(0, 999))
        task = Permutation(tuple(random_partial(network, density=share, seed=seed).tolist()))
        limited = Rules(buffer=most_held(blocks), buffer_counts="all")
        schedule = algorithm.build(Case(network, task, limited))
        assert verify(schedule).ok
        assert schedule.completion_time <= algorithm.offer(Case(network, task, limited)).time

    @pytest.mark.parametrize("name", ["transpose", "bit-reversal", "shuffle", "packed-triangle", "reversal"])
    def test_named_permutations_need_the_sources_2_e_buffers(self, algorithm, blocks, name):
        for n in (8, 16, 32):
            network = gossamer.network(f"array:{n}x{n}")
            task = Permutation(tuple(pattern(name, network).tolist()))
            assert buffer_peak(algorithm.build(Case(network, task, Rules())), "all").packets <= 2 * blocks

    def test_after_sorting_a_row_holds_at_most_2_e_minus_1_messages_for_a_column(self, algorithm, blocks):
        network = gossamer.network("array:16x16")
        for seed in range(5):
            target = pattern("random", network, seed=seed)
            key = (target % 16).astype(np.int32)
            sort_blocks(network, blocks, key, np.arange(256, dtype=np.int32), RecordingSink())
            for row in key.reshape(16, 16):
                assert np.bincount(row).max() <= 2 * blocks - 1

    def test_what_is_not_covered_is_told(self, algorithm, blocks):
        reason = algorithm.offers
        for spec in ("torus:8x8", "array:8", "array:4x4x4"):
            network = gossamer.network(spec)
            task = Permutation(tuple(range(network.node_count)))
            assert reason(Case(network, task, Rules())).why == "needs a two-dimensional array"
        network = gossamer.network("array:8x9")
        assert f"multiples of {blocks}" in reason(Case(network, Permutation(tuple(range(72))), Rules())).why
        network = gossamer.network("array:8x8")
        task = Permutation(tuple(range(64)))
        assert "more than the buffer of 3" in reason(Case(network, task, Rules(buffer=3))).why


def test_a_node_may_hold_one_message_more_than_the_2_e_of_the_source():
    sends = {1: 18, 3: 24, 4: 10, 6: 34, 7: 56, 12: 41, 14: 58, 17: 16, 19: 50, 21: 40, 22: 1, 23: 25, 24: 48, 27: 33}
    sends |= {28: 2, 30: 26}
    task = Permutation(tuple(sends.get(u, -1) for u in range(64)))
    schedule = KUNDE[0].build(Case(gossamer.network("array:8x8"), task, Rules()))
    assert verify(schedule).ok
    peak = buffer_peak(schedule, "all")
    assert (peak.packets, peak.node) == (most_held(2), 10)


def test_no_cut_of_an_array_beats_the_distance_of_a_permutation():
    """The m messages across c links start at different nodes, so that one of them starts m/c layers from the cut."""
    for seed, spec in enumerate(["array:8x8", "array:4x9", "array:3x4x5", "array:30"] * 3):
        network = gossamer.network(spec)
        task = permutation("random", network, density=0.1 + 0.07 * seed, seed=seed)
        assert bounds(Case(network, task))[0].name == "distance"
