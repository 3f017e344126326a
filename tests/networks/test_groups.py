"""The group axioms, and each group against its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.networks.finite_groups import AbelianGroup, CubeRotationGroup, PermutationGroup, ProductGroup

simple_groups = st.one_of(
    st.builds(AbelianGroup, st.lists(st.integers(1, 7), max_size=4).map(tuple)),
    st.builds(AbelianGroup, st.integers(1, 6).map(lambda d: (2,) * d)),
    st.builds(PermutationGroup, st.integers(1, 5)),
    st.builds(CubeRotationGroup, st.integers(1, 5)),
)
groups = st.one_of(simple_groups, st.builds(ProductGroup, st.lists(simple_groups, min_size=1, max_size=3).map(tuple)))


@st.composite
def group_and_elements(draw):
    group = draw(groups)
    element = st.integers(0, group.order - 1)
    return group, *(np.array(draw(st.lists(element, min_size=5, max_size=5))) for _ in range(3))


@given(group_and_elements())
@settings(deadline=None)
def test_product_is_associative_with_identity_zero_and_inverses(case):
    group, a, b, c = case
    assert np.array_equal(group.compose(group.compose(a, b), c), group.compose(a, group.compose(b, c)))
    for identity in (group.compose(a, 0), group.compose(0, a)):
        assert np.array_equal(identity, a)
    assert not group.compose(a, group.inverse(a)).any()
    assert not group.compose(group.inverse(a), a).any()


@given(group_and_elements())
@settings(deadline=None)
def test_operations_broadcast_and_return_int64_element_numbers(case):
    group, a, b, _ = case
    table = group.compose(a[:, None], b)
    assert table.shape == (5, 5)
    assert table.dtype == np.int64
    assert group.inverse(a[:, None]).shape == (5, 1)
    assert not (table < 0).any()
    assert table.max() < group.order
    for i, j in itertools.product(range(5), repeat=2):
        assert int(group.compose(a[i], b[j])) == table[i, j]


@pytest.mark.parametrize(
    "group",
    [
        AbelianGroup(()),
        AbelianGroup((3, 4)),
        PermutationGroup(1),
        PermutationGroup(2),
        PermutationGroup(3),
        CubeRotationGroup(1),
        CubeRotationGroup(2),
        ProductGroup((AbelianGroup((3,)), PermutationGroup(2))),
        ProductGroup((AbelianGroup((3,)), PermutationGroup(3))),
    ],
)
def test_abelian_tells_whether_the_table_is_symmetric(group):
    everything = np.arange(group.order)
    table = group.compose(everything[:, None], everything)
    assert group.abelian == np.array_equal(table, table.T)
    assert sorted(table[-1]) == list(range(group.order))


def test_abelian_group_adds_digits_with_the_first_modulus_most_significant():
    group = AbelianGroup((3, 4, 5))
    elements = list(itertools.product(range(3), range(4), range(5)))
    number = {e: i for i, e in enumerate(elements)}
    for x, y in itertools.product(elements[::7], elements[::5]):
        total = tuple((i + j) % m for i, j, m in zip(x, y, group.moduli, strict=True))
        assert int(group.compose(number[x], number[y])) == number[total]


@pytest.mark.parametrize("symbols", [1, 2, 3, 4])
def test_permutations_are_numbered_lexicographically_and_multiply_as_a_of_b(symbols):
    group = PermutationGroup(symbols)
    arrangements = list(itertools.permutations(range(symbols)))
    number = {a: i for i, a in enumerate(arrangements)}
    everything = np.arange(group.order)
    assert [tuple(a) for a in group.arrangement(everything).tolist()] == arrangements
    assert np.array_equal(group.rank(arrangements), everything)
    for a, b in itertools.product(arrangements, repeat=2):
        assert int(group.compose(number[a], number[b])) == number[tuple(a[i] for i in b)]


def test_arrangement_and_rank_are_inverse_for_ten_symbols():
    group = PermutationGroup(10)
    elements = np.random.default_rng(1).integers(0, group.order, (20, 3))
    assert group.arrangement(elements).shape == (20, 3, 10)
    assert np.array_equal(group.rank(group.arrangement(elements)), elements)


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_cube_rotations_follow_the_semidirect_product(bits):
    group = CubeRotationGroup(bits)

    def rotated(word, by):
        text = f"{word:0{bits}b}"
        return int(text[by % bits :] + text[: by % bits], 2)

    for w, p, x, q in itertools.product(range(1 << bits), range(bits), range(1 << bits), range(bits)):
        expected = (w ^ rotated(x, p)) * bits + (p + q) % bits
        assert int(group.compose(w * bits + p, x * bits + q)) == expected


def test_product_group_of_cyclic_groups_is_the_abelian_group():
    pieces = ProductGroup((AbelianGroup((3,)), AbelianGroup((2, 5))))
    whole = AbelianGroup((3, 2, 5))
    everything = np.arange(30)
    table = whole.compose(everything[:, None], everything)
    assert np.array_equal(pieces.compose(everything[:, None], everything), table)
    assert np.array_equal(pieces.inverse(everything), whole.inverse(everything))
