"""The named patterns: permutations, equal to the formulas of the literature, refused in one line where undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import TaskError
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.questions.tasks.patterns import (
    PATTERNS,
    bit_permute_complement,
    one_to_many,
    pattern,
    permutation,
    random_disjoint_sets,
    random_partial,
    thinned,
)

SPECS = (
    "array:1", "array:7", "array:16", "array:1x6", "array:4x4", "array:4x6", "array:5x5", "array:2x3x4",
    "array:4x4x4x4", "torus:8x8", "torus:2x5", "ring:9", "hypercube:5", "complete:6", "star:4",
    "fat-tree:k=2,h=3,capacity=constant",
)  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_a_permutation_or_says_in_one_line_why_not(name):
    defined, refused = 0, []
    for spec in SPECS:
        network = gossamer.network(spec)
        try:
            found = pattern(name, network)
        except TaskError as error:
            refused.append((spec, str(error)))
            continue
        defined += 1
        assert found.dtype == np.int32
        assert sorted(found.tolist()) == list(range(network.terminal_count)), spec
        Permutation(tuple(found.tolist())).check(network)
    assert all(spec in told and name in told and "\n" not in told for spec, told in refused)
    assert defined >= 3


@given(sides=st.lists(st.integers(1, 6), min_size=1, max_size=4), name=st.sampled_from(sorted(PATTERNS)))
@settings(max_examples=60)
def test_patterns_of_arrays_and_tori_of_one_shape_agree(sides, name):
    made = []
    for family in ("array", "torus"):
        network = gossamer.network(f"{family}:{'x'.join(map(str, sides))}")
        try:
            made.append(pattern(name, network).tolist())
        except TaskError:
            made.append(None)
    assert made[0] == made[1]


@pytest.mark.parametrize("p", [1, 2, 3])
def test_bpc_patterns_are_the_bit_permutations_of_the_thesis(p):
    network = gossamer.network(f"array:{2**p}x{2**p}")
    bits = list(range(2 * p))
    everything = 4**p - 1
    expected = {
        "transpose": (bits[p:] + bits[:p], 0),
        "bit-reversal": (bits[::-1], 0),
        "shuffle": ([bits[-1], *bits[:-1]], 0),
        "reversal": (bits, everything),
        "row-reversal": (bits, 2**p - 1),
        "complement": (bits, 1 << (p - 1) | 1 << (2 * p - 1)),
        "identity": (bits, 0),
    }
    for name, (order, complement) in expected.items():
        assert np.array_equal(pattern(name, network), bit_permute_complement(network, order, complement)), name


@given(k=st.integers(0, 6), data=st.data())
def test_bpc_moves_every_bit_to_its_place(k, data):
    network = gossamer.network(f"hypercube:{k}")
    bits = data.draw(st.permutations(range(k)))
    mask = data.draw(st.integers(0, 2**k - 1))
    found = bit_permute_complement(network, bits, mask)
    for node in range(2**k):
        value = sum((node >> b & 1) << i for i, b in enumerate(bits)) ^ mask
        assert found[node] == value


def test_transpose_takes_rows_to_columns():
    found = pattern("transpose", gossamer.network("array:5x5"))
    for i in range(5):
        for j in range(5):
            assert found[5 * i + j] == 5 * j + i


def test_transpose_of_a_rectangle_is_that_of_a_matrix_held_row_by_row():
    matrix = np.arange(24).reshape(4, 6)
    found = pattern("transpose", gossamer.network("array:4x6"))
    assert np.array_equal(matrix.T.reshape(-1)[found], matrix.reshape(-1))


@pytest.mark.parametrize("name", ["reversal", "row-reversal", "complement", "bit-reversal"])
@pytest.mark.parametrize("spec", ["array:4x4", "array:8x8", "torus:2x4x8"])
def test_involutions(name, spec):
    found = pattern(name, gossamer.network(spec))
    assert np.array_equal(found[found], np.arange(found.size))


def test_complement_leaves_the_middle_of_an_odd_side():
    assert pattern("complement", gossamer.network("array:5")).tolist() == [3, 4, 2, 0, 1]


@pytest.mark.parametrize("side", [3, 4, 7, 8])
def test_tornado_goes_just_less_than_half_way_around_every_dimension(side):
    network = gossamer.network(f"torus:{side}x{side}")
    found = pattern("tornado", network)
    steps = (network.coordinates[found] - network.coordinates) % side
    assert np.all(steps == -(-side // 2) - 1)


@pytest.mark.parametrize(("name", "place"), [("packed-triangle", "i+j"), ("packed-rows", "i"), ("packed-columns", "j")])
@pytest.mark.parametrize("n", [4, 8, 12, 16])
def test_packed_patterns_put_four_messages_on_the_first_quarter_of_a_quadrant(name, place, n):
    q = n // 2
    found = pattern(name, gossamer.network(f"array:{n}x{n}"))
    i, j = np.divmod(np.arange(n * n), n)
    here = (found // n < q) & (found % n < q)
    count = np.zeros((q, q), int)
    np.add.at(count, (i[here] % q, j[here] % q), 1)
    assert sorted(count[count > 0].tolist()) == [4] * (q * q // 4)
    measure = {"i+j": np.add.outer(np.arange(q), np.arange(q)), "i": np.indices((q, q))[0], "j": np.indices((q, q))[1]}
    assert measure[place][count > 0].max() <= measure[place][count == 0].min()


def test_random_patterns_follow_the_seed():
    network = gossamer.network("array:6x6")
    one, again, other = (pattern("random", network, seed=s).tolist() for s in (1, 1, 2))
    assert one == again != other


@given(n=st.integers(1, 40), data=st.data())
def test_random_partial_permutations_have_so_many_messages_to_distinct_nodes(n, data):
    network = gossamer.network(f"array:{n}")
    m = data.draw(st.integers(0, n))
    found = random_partial(network, m, seed=data.draw(st.integers(0, 99)))
    targets = found[found >= 0]
    assert targets.size == np.unique(targets).size == m
    share = data.draw(st.floats(0, 1))
    assert np.count_nonzero(random_partial(network, density=share) >= 0) == round(share * n)


@given(n=st.integers(1, 40), share=st.floats(0, 1), seed=st.integers(0, 99))
def test_thinned_destinations_are_a_part_of_the_whole(n, share, seed):
    whole = np.arange(n)[::-1]
    found = thinned(whole, share, seed=seed)
    kept = found >= 0
    assert np.count_nonzero(kept) == round(share * n)
    assert np.array_equal(found[kept], whole[kept])


@given(n=st.integers(1, 40), data=st.data())
def test_random_sets_are_disjoint_and_none_of_a_source_is_empty(n, data):
    network = gossamer.network(f"array:{n}")
    sources = data.draw(st.integers(0, n))
    share = data.draw(st.floats(0, 1))
    rows = random_disjoint_sets(network, sources, density=share, seed=data.draw(st.integers(0, 99)))
    OneToManyRouting(rows).check(network)
    assert sum(map(bool, rows)) == sources
    assert sum(map(len, rows)) == (max(sources, round(share * n)) if sources else 0)


def test_tasks_by_pattern():
    network = gossamer.network("array:4x4")
    whole = permutation("reversal", network)
    part = permutation("reversal", network, density=0.5, seed=3)
    assert sum(v >= 0 for v in part.destination) == 8
    assert all(v in (-1, w) for v, w in zip(part.destination, whole.destination, strict=True))
    assert gossamer.task("permutation", network=network, pattern="reversal") == whole
    assert one_to_many("reversal", network).destinations == tuple((v,) for v in whole.destination)
    assert sum(map(bool, one_to_many("random:3", network).destinations)) == 3
    assert gossamer.task("restricted-broadcasting", network=network, pattern="random:3") == one_to_many(
        "random:3", network
    )


def test_plan_takes_a_pattern_instead_of_destinations():
    plan = gossamer.plan(
        "array:4x4", gossamer.task("permutation", network="array:4x4", pattern="transpose"), algorithm="greedy"
    )
    assert plan.schedule.task == permutation("transpose", gossamer.network("array:4x4"))
    half = gossamer.plan(
        "array:4x4",
        gossamer.task("permutation", network="array:4x4", pattern="random", density=0.5),
        seed=2,
        algorithm="greedy",
    )
    assert half.schedule.packet_count == 8


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda a: pattern("transpos", a), "did you mean 'transpose'"),
        (lambda a: pattern("sideways", a), "known patterns: transpose"),
        (lambda a: pattern("bit-reversal", a), "2^k nodes; array:3x4 has 12"),
        (lambda a: pattern("packed-rows", a), "two even sides, got array:3x4"),
        (lambda a: pattern("tornado", gossamer.network("star:4")), "needs an array or a torus; star:4"),
        (lambda a: pattern("transpose", gossamer.network("ring:8")), "square number of nodes; ring:8 has 8"),
        (lambda a: pattern("random", a, seed=-1), "seed must be a whole number in 0..9223372036854775807, got -1"),
        (lambda a: bit_permute_complement(a, [0]), "2^k nodes; array:3x4 has 12"),
        (lambda a: bit_permute_complement(gossamer.network("ring:4"), [0, 0]), "permutation of 0..1"),
        (lambda a: bit_permute_complement(gossamer.network("ring:4"), [1, 0], 4), "0..3 on ring:4, got 4"),
        (lambda a: random_partial(a), "either messages or density"),
        (lambda a: random_partial(a, 3, 0.5), "either messages or density"),
        (lambda a: random_partial(a, 13), "0..12 on array:3x4, got 13"),
        (lambda a: random_partial(a, density=1.5), "density must be a number in 0..1, got 1.5"),
        (lambda a: random_partial(a, density=float("nan")), "density must be a number in 0..1, got nan"),
        (lambda a: random_disjoint_sets(a, 13), "sources must be 0..12 on array:3x4, got 13"),
        (lambda a: one_to_many("random:many", a), "random:M"),
        (lambda a: gossamer.task("allgather", network=a, pattern="random"), "multinode-broadcast takes no pattern"),
    ],
)
def test_what_patterns_refuse(make, told):
    with pytest.raises(TaskError) as caught:
        make(gossamer.network("array:3x4"))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
