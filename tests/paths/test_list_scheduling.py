from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gossamer.errors import ScheduleError
from gossamer.graphs.list_scheduling import ORDERS, non_wasting, tightened
from gossamer.graphs.path_and_hop_tables import Hops, Paths


def paths_of(lists):
    first = np.concatenate([[0], np.cumsum([len(p) for p in lists])]).astype(np.int64)
    return Paths(first, np.array([e for p in lists for e in p], np.int32))


# paths without a link twice, over 6 links: the scheduler knows no network
PATHS = st.lists(st.lists(st.integers(0, 5), max_size=5, unique=True), min_size=1, max_size=25)


def slots_of(lists, hops):
    """Return the slots of each packet's hops in the order of its path; every hop is there once, in order of slots."""
    assert hops.slot.size == sum(map(len, lists))
    assert np.all(np.diff(hops.slot) >= 0)
    assert hops.slots == (int(hops.slot.max()) + 1 if hops.slot.size else 0)
    where = {(int(p), int(e)): int(t) for t, e, p in zip(hops.slot, hops.link, hops.packet, strict=True)}
    return [[where[p, e] for e in path] for p, path in enumerate(lists)]


def check_possible(lists, hops):
    slots = slots_of(lists, hops)
    assert all(a < b for row in slots for a, b in itertools.pairwise(row))
    cells = list(zip(hops.slot.tolist(), hops.link.tolist(), strict=True))
    assert len(set(cells)) == len(cells)
    return slots


def waits(lists, slots):
    """Yield each (link, slot, waiting packet, its hop) at which a packet is there and does not go."""
    for p, path in enumerate(lists):
        ready = 0
        for h, e in enumerate(path):
            yield from ((e, t, p, h) for t in range(ready, slots[p][h]))
            ready = slots[p][h] + 1


@given(PATHS, st.sampled_from(ORDERS), st.integers(0, 3))
def test_no_link_is_idle_while_a_packet_waits(lists, order, seed):
    hops = non_wasting(paths_of(lists), 6, order, seed=seed)
    slots = check_possible(lists, hops)
    sent = set(zip(hops.slot.tolist(), hops.link.tolist(), strict=True))
    assert all((t, e) in sent for e, t, _, _ in waits(lists, slots))


@given(PATHS, st.sampled_from(["farthest-first", "nearest-first", "lowest-id"]))
def test_a_packet_waits_only_for_one_that_is_as_good(lists, order):
    hops = non_wasting(paths_of(lists), 6, order)
    slots = check_possible(lists, hops)
    sender = {(t, e): p for t, e, p in zip(*(c.tolist() for c in hops[1:]), strict=True)}
    for e, t, p, h in waits(lists, slots):
        other = sender[t, e]
        left, others_left = len(lists[p]) - h, len(lists[other]) - lists[other].index(e)
        if order == "lowest-id":
            assert other < p
        elif order == "farthest-first":
            assert others_left >= left
        else:
            assert others_left <= left


@given(PATHS, st.sampled_from(ORDERS), st.data())
def test_the_second_class_waits_for_the_first(lists, order, data):
    later = np.array(
        data.draw(st.lists(st.booleans(), min_size=sum(map(len, lists)), max_size=sum(map(len, lists)))), bool
    )
    paths = paths_of(lists)
    hops = non_wasting(paths, 6, order, later=later)
    slots = check_possible(lists, hops)
    sender = {(t, e): p for t, e, p in zip(*(c.tolist() for c in hops[1:]), strict=True)}
    for e, t, p, h in waits(lists, slots):
        other = sender[t, e]
        if not later[paths.first[p] + h]:
            assert not later[paths.first[other] + lists[other].index(e)]


@given(PATHS, st.sampled_from(ORDERS), st.integers(0, 3))
def test_tightening_never_lengthens_and_keeps_the_schedule_possible(lists, order, rounds):
    paths = paths_of(lists)
    hops = non_wasting(paths, 6, order)
    shorter = tightened(paths, 6, hops, rounds, int(paths.load(6).max()))
    check_possible(lists, shorter)
    assert shorter.slots <= hops.slots


def test_tightening_finds_the_optimum_that_nearest_first_misses():
    lists = [[0, 1, 2], [0], [0], [0]]
    paths = paths_of(lists)
    slow = non_wasting(paths, 3, "nearest-first")
    assert slow.slots == 6
    assert tightened(paths, 3, slow, 1, 4).slots == 4


@settings(max_examples=60)
@given(st.integers(2, 8), st.data(), st.sampled_from(ORDERS))
def test_k_packets_on_a_line_of_p_nodes_need_at_most_k_plus_p_minus_2_slots(p, data, order):
    """One below the paper's K+p-1."""
    ends = data.draw(st.lists(st.tuples(st.integers(0, p - 2), st.integers(1, p - 1)), min_size=1, max_size=20))
    lists = [list(range(a, max(a + 1, b))) for a, b in ends]
    assert non_wasting(paths_of(lists), p - 1, order).slots <= len(lists) + p - 2


def test_random_order_depends_on_the_seed_alone():
    paths = paths_of([[0, 1], [0, 2], [0, 1], [1, 0], [2, 0]] * 5)
    a, b = (non_wasting(paths, 3, "random", seed=7) for _ in range(2))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    others = [non_wasting(paths, 3, "random", seed=s).packet.tolist() for s in range(5)]
    assert any(o != a.packet.tolist() for o in others)


def test_more_packets_than_levels_keep_blocks_of_numbers_in_order():
    paths = paths_of([[0]] * 10_000)
    sent = non_wasting(paths, 1, "lowest-id").packet
    assert np.all(np.diff(sent * 4096 // 10_000) >= 0)
    assert sorted(sent.tolist()) == list(range(10_000))


def test_no_packets_and_empty_paths_take_no_slots():
    for lists in ([], [[], []]):
        paths = paths_of(lists)
        hops = non_wasting(paths, 4)
        assert hops.slots == 0
        assert isinstance(tightened(paths, 4, hops, 3, 0), Hops)


def test_an_unknown_order_is_named_with_the_nearest_one():
    with pytest.raises(ScheduleError, match=r"^order must be one of .*, got 'furthest-first' \(did you mean 'f"):
        non_wasting(paths_of([[0]]), 1, "furthest-first")
