from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gossamer.graphs.concentration_routing import links_along, rotations
from gossamer.graphs.parallel_prefix import prefix_hops, prefix_ranks
from gossamer.networks import array, torus

SIDES = st.lists(st.integers(2, 4), min_size=1, max_size=3)


def mask(count, active):
    return np.isin(np.arange(count), list(active))


def learnt_by_messages(network, turn, lengths, active):
    """Run the program of every node over the control hops; return what each node finds out: (rank, M).

    A node knows its digits, whether it is active, and what it was sent in earlier steps. Missing information is a
    KeyError. Forward messages are one integer, reverse messages two.
    """
    step, link = prefix_hops(turn, links_along(network), lengths)
    from_below, from_above = {}, {}
    d = len(turn.sides)

    def digit(v, i):
        return int(turn.name[v]) // turn.places[i] % turn.sides[i]

    def own(v, i):
        return int(active[v]) if i == 0 else inclusive(v, i - 1)

    def inclusive(v, i):
        return own(v, i) + (from_below[v, i] if digit(v, i) > 0 else 0)

    def before_line(v, i):
        if digit(v, i) < turn.sides[i] - 1:
            return from_above[v, i]
        return before(v, i + 1) if i + 1 < d else (0, inclusive(v, i))

    def before(v, i):
        offset, total = before_line(v, i)
        return offset + inclusive(v, i) - own(v, i), total

    for t in np.unique(step):
        sent = []
        for e in link[step == t]:
            u, v = int(network.link_source[e]), int(network.link_target[e])
            i = next(i for i in range(d) if digit(u, i) != digit(v, i))
            if digit(v, i) == digit(u, i) + 1:
                sent.append((from_below, v, i, inclusive(u, i)))
            else:
                assert digit(v, i) == digit(u, i) - 1
                sent.append((from_above, v, i, before_line(u, i)))
        for store, v, i, message in sent:
            assert (v, i) not in store
            store[v, i] = message
    return [before(v, 0) for v in range(network.node_count)]


def test_vector_worked_out_by_hand():
    network = array(3, 3)
    turn = rotations(network.grid)[0]
    rank, total = prefix_ranks(turn, mask(9, {1, 4, 5, 8}))
    assert rank.tolist() == [0, 0, 1, 1, 1, 2, 3, 3, 3]
    assert total == 4
    step, _ = prefix_hops(turn, links_along(network), [2, 2])
    assert sorted(set(step.tolist())) == list(range(8))


def test_first_active_node_has_rank_0_and_not_minus_1():
    turn = rotations(array(4).grid)[0]
    assert prefix_ranks(turn, mask(4, {2}))[0][2] == 0


@given(sides=SIDES, wraps=st.booleans(), data=st.data())
@settings(max_examples=60)
def test_every_node_learns_its_rank_and_m_from_the_control_hops(sides, wraps, data):
    network = (torus if wraps else array)(*sides)
    active = mask(network.node_count, data.draw(st.sets(st.integers(0, network.node_count - 1))))
    for turn in rotations(network.grid):
        lengths = [side - 1 for side in turn.sides] if data.draw(st.booleans()) else [max(sides) - 1] * len(sides)
        rank, total = prefix_ranks(turn, active)
        assert learnt_by_messages(network, turn, lengths, active) == [(r, total) for r in rank.tolist()]


@given(sides=SIDES, data=st.data())
def test_rank_counts_the_active_nodes_of_smaller_name(sides, data):
    network = array(*sides)
    active = mask(network.node_count, data.draw(st.sets(st.integers(0, network.node_count - 1))))
    for turn in rotations(network.grid):
        rank, total = prefix_ranks(turn, active)
        names = turn.name[active]
        assert rank.tolist() == [int((names < name).sum()) for name in turn.name]
        assert total == active.sum()


@pytest.mark.parametrize("sides", [(5,), (3, 3), (2, 4), (2, 2, 2), (4, 3, 2)], ids=str)
def test_takes_two_passes_of_side_less_one_steps_in_each_dimension_one_at_a_time(sides):
    network = array(*sides)
    links = links_along(network)
    for turn in rotations(network.grid):
        step, link = prefix_hops(turn, links, [side - 1 for side in turn.sides])
        used = {}
        for t, e in zip(step.tolist(), link, strict=True):
            used.setdefault(t, set()).add(int(np.argwhere(links == e)[0][1]))
        assert sorted(used) == list(range(2 * sum(side - 1 for side in sides)))
        forward = [{turn.columns[i]} for i, side in enumerate(turn.sides) for _ in range(side - 1)]
        assert [used[t] for t in sorted(used)] == forward + forward[::-1]


@pytest.mark.parametrize("sides", [(3, 3), (2, 4), (4, 3, 2)], ids=str)
def test_rotated_copies_run_together_without_sharing_a_link(sides):
    network = array(*sides)
    links, lengths = links_along(network), [max(sides) - 1] * len(sides)
    rows = [np.stack(prefix_hops(turn, links, lengths), axis=1) for turn in rotations(network.grid)]
    assert sum(map(len, rows)) == len(sides) * 2 * (network.node_count - 1)
    assert len(np.unique(np.concatenate(rows), axis=0)) == sum(map(len, rows))
