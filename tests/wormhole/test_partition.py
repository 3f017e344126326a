"""The partition of a torus into DDNs and DCNs: vectors worked out by hand and properties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import NotApplicableError
from gossamer.networks import torus
from gossamer.schedules.wormhole.channels import Channels
from gossamer.wormhole.partition import TorusPartition, common_divisors
from wormhole import paths

# The parts as the source defines them.


def ddn_nodes(p, k):
    return np.flatnonzero(p.ddn == k)


def dcn_nodes(p, k):
    return np.flatnonzero(p.dcn == k)


def dcn_count(p):
    return math.prod(p.blocks)


def ddn_channels(p, k):
    """The channels of all lines through the nodes of a DDN, ascending."""
    off = p.coordinates % p.h != p.word(k)
    on_line = (off.sum(axis=1, keepdims=True) - off) == 0  # the other coordinates are the word's
    return numbers(on_line & (np.array(p.sides) > 1), on_line & (np.array(p.sides) > 1))


def dcn_channels(p, k):
    """The channels with both ends in a DCN, ascending."""
    inside = (p.dcn == k)[:, None]
    place, whole = p.coordinates % p.h, np.array(p.sides) == p.h
    rings = np.array(p.sides) > 1
    return numbers(inside & rings & ((place < p.h - 1) | whole), inside & rings & ((place > 0) | whole))


def numbers(up, down):
    """The numbers of the channels that leave a node up or down in a dimension, from bool[V, d] each."""
    return np.flatnonzero(np.stack([up, down], axis=-1).reshape(-1))


@st.composite
def partitions(draw):
    h = draw(st.integers(1, 4))
    blocks = draw(
        st.lists(st.integers(1, 3), min_size=1, max_size=3).filter(lambda b: math.prod(b) * h ** len(b) < 500)
    )
    return TorusPartition(tuple(h * b for b in blocks), h)


def test_vectors_of_4x4_with_h_2():
    p = TorusPartition((4, 4), 2)
    places = [[paths.place((4, 4), int(v)) for v in ddn_nodes(p, k)] for k in (0, 1)]
    assert places == [[(0, 0), (0, 2), (2, 0), (2, 2)], [(1, 1), (1, 3), (3, 1), (3, 3)]]
    names = {Channels(torus(4, 4)).name(c) for c in ddn_channels(p, 0)}
    rows = {f"({i},{j})->({i},{(j + s) % 4})" for i in (0, 2) for j in range(4) for s in (1, -1)}
    columns = {f"({j},{i})->({(j + s) % 4},{i})" for i in (0, 2) for j in range(4) for s in (1, -1)}
    assert names == rows | columns
    assert [paths.place((4, 4), int(v)) for v in dcn_nodes(p, 1)] == [(0, 2), (0, 3), (1, 2), (1, 3)]
    meets = [np.intersect1d(dcn_nodes(p, 1), ddn_nodes(p, k)).tolist() for k in (0, 1)]
    assert meets == [[paths.node((4, 4), (0, 2))], [paths.node((4, 4), (1, 3))]]


@settings(max_examples=60, deadline=None)
@given(partitions())
def test_ddns_share_nothing_and_have_all_channels_together(p):
    assert p.ddn_count == p.h ** (p.dimensions - 1)
    nodes = np.concatenate([ddn_nodes(p, k) for k in range(p.ddn_count)])
    assert np.unique(nodes).size == nodes.size == p.ddn_count * dcn_count(p)
    channels = np.concatenate([ddn_channels(p, k) for k in range(p.ddn_count)])
    assert np.array_equal(np.sort(channels), np.flatnonzero(Channels(torus(*p.sides)).exists))


@settings(max_examples=60, deadline=None)
@given(partitions())
def test_dcns_share_nothing_have_all_nodes_together_and_meet_each_ddn_once(p):
    nodes = [dcn_nodes(p, b) for b in range(dcn_count(p))]
    assert np.array_equal(np.sort(np.concatenate(nodes)), np.arange(p.node_count))
    channels = np.concatenate([dcn_channels(p, b) for b in range(dcn_count(p))])
    assert np.unique(channels).size == channels.size
    assert set(channels.tolist()) <= set(np.flatnonzero(Channels(torus(*p.sides)).exists).tolist())
    for block in nodes:
        inside = p.ddn[block]
        assert sorted(inside[inside >= 0].tolist()) == list(range(p.ddn_count))


@settings(max_examples=30, deadline=None)
@given(partitions())
def test_a_ddn_is_a_torus_dilated_by_h_in_its_own_channels(p):
    for k in range(p.ddn_count):
        own = set(ddn_channels(p, k).tolist())
        places = {tuple(p.coordinates[v]) for v in ddn_nodes(p, k)}
        for place, t, sign in itertools.product(places, range(p.dimensions), (1, -1)):
            if p.sides[t] == 1:
                continue
            move = tuple(sign * p.h if u == t else 0 for u in range(p.dimensions))
            assert paths.target(p.sides, place, move) in places
            number = [
                (paths.node(p.sides, c[: p.dimensions]) * p.dimensions + c[-2]) * 2 + (c[-1] < 0)
                for c in paths.channels(p.sides, place, move)
            ]
            assert own.issuperset(number)


@given(partitions())
def test_word_and_number_of_a_ddn_agree(p):
    for k in range(p.ddn_count):
        word = p.word(k)
        assert (p.coordinates[ddn_nodes(p, k)] % p.h == word).all()
        assert (word[0] - word[1:].sum()) % p.h == 0


def test_in_two_dimensions_ddn_k_has_the_residues_k_k():
    assert TorusPartition((12, 12), 4).word(np.arange(4)).tolist() == [[k, k] for k in range(4)]


def test_a_block_as_large_as_the_torus_has_its_wrap_channels():
    p = TorusPartition((4, 4), 4)
    assert dcn_channels(p, 0).size == 64
    assert dcn_channels(TorusPartition((8, 8), 4), 0).size == 2 * 4 * 2 * 3


@pytest.mark.parametrize("h", [0, 3, -2, True, 2.0, "2", None])
def test_other_h_are_refused(h):
    with pytest.raises(NotApplicableError, match=r"of every side of the torus 4x6, one of 1, 2, got"):
        TorusPartition((4, 6), h)


def test_common_divisors():
    assert common_divisors((30, 30)) == (1, 2, 3, 5, 6, 10, 15, 30)
    assert common_divisors((1,)) == (1,)
