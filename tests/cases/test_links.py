from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import Network, Rules
from gossamer.questions.cases.links import FAR, least_time, links_of


@st.composite
def networks(draw):
    """Links with times, some of them parallel, and some nodes switches."""
    n = draw(st.integers(2, 7))
    end = st.integers(0, n - 1)
    rows = draw(
        st.lists(st.tuples(end, end, st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=16, unique=True)
    )
    rows = sorted(row for row in rows if row[0] != row[1]) or [(0, 1, 1, 0)]
    source, target, occupancy, latency = zip(*rows, strict=True)
    return Network(
        "g", n, source, target, 1, link_occupancy=occupancy, link_latency=latency,
        terminal_count=draw(st.integers(1, n)), links_only=True,
    )  # fmt: skip


def first_slots(network, rules, start):
    """When a packet can leave over each link, and be at each node: from slot 0 on, until nothing is earlier."""
    links = range(network.link_count)
    u, v, hold, late = (
        x.tolist() for x in (network.link_source, network.link_target, network.link_occupancy, network.link_latency)
    )
    if rules.split:
        hold = [0] * network.link_count

    def ready(a, b):
        if rules.cut_through and v[a] >= network.terminal_count:
            return depart[a] + late[a] + max(0, hold[a] - hold[b])
        return depart[a] + hold[a] + late[a]

    depart = [0 if u[e] in start else FAR for e in links]
    while True:
        better = [min([depart[b], *(ready(a, b) for a in links if v[a] == u[b] and depart[a] < FAR)]) for b in links]
        if better == depart:
            break
        depart = better
    usable = [0 if w in start else FAR for w in range(network.node_count)]
    for e in links:
        usable[v[e]] = min(usable[v[e]], depart[e] + hold[e] + late[e])
    return [min(t, FAR) for t in usable], depart


@given(networks(), st.data(), st.booleans(), st.booleans())
@settings(max_examples=100)
def test_packets_travel_as_fast_as_links_and_switches_let_them(network, data, cut_through, split):
    start = data.draw(st.sets(st.integers(0, network.terminal_count - 1), min_size=1))
    rules = Rules(cut_through=cut_through, split=split)
    links = links_of(network, rules)
    found = links.travel(np.array(sorted(start)))
    usable, depart = first_slots(network, rules, start)
    assert found.usable.tolist() == usable
    assert found.depart[np.argsort(links.number)].tolist() == depart


@given(networks(), st.data(), st.booleans())
@settings(max_examples=100)
def test_a_way_takes_as_long_in_both_directions_of_time(network, data, cut_through):
    links = links_of(network, Rules(cut_through=cut_through))
    start, end = (data.draw(st.integers(0, network.terminal_count - 1)) for _ in range(2))
    there = links.travel(np.array([start])).usable[end]
    assert there == links.turned.travel(np.array([end])).usable[start]
    assert links.turned.turned is links
    assert (links.turned.source[links.turned_place] == links.target).all()


def test_of_very_many_occupancies_none_is_told_apart():
    n = 40
    source, target = np.arange(n - 1), np.arange(1, n)
    network = Network("line", n, source, target, 1, link_occupancy=np.arange(n - 1, 0, -1), terminal_count=1)
    usable = links_of(network, Rules(cut_through=True)).travel(np.array([0])).usable
    assert usable[1] == n - 1
    assert 1 <= usable[n - 1] <= n - 1  # each link could wait for the tail on the one before: at most as long


kinds = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(-2, 6)), min_size=1, max_size=5)


@given(kinds, st.integers(1, 40))
def test_whole_packets_pass_one_after_the_other(rows, needed):
    columns = [np.array(c) for c in zip(*rows, strict=True)]
    time = least_time(needed, *columns, True)

    def passed(slots):
        return sum(c * max(0, (slots - w) // o) for c, o, w in rows)

    assert passed(time) >= needed
    assert time == 0 or passed(time - 1) < needed


@given(kinds, st.integers(1, 40))
def test_parts_pass_as_a_fluid(rows, needed):
    columns = [np.array(c) for c in zip(*rows, strict=True)]
    time = least_time(needed, *columns, False)

    def passed(at):
        return sum(Fraction(c, o) * max(0, at - w) for c, o, w in rows)

    assert passed(time) == needed or (time == 0 and passed(time) > needed)
    assert time <= least_time(needed, *columns, True)


@given(kinds, st.integers(1, 40), st.booleans())
def test_many_links_that_are_alike_count_together(rows, needed, whole):
    columns = [np.repeat(np.array(c), 300) for c in zip(*rows, strict=True)]
    assert least_time(300 * needed, *columns, whole) == least_time(
        needed, *(np.array(c) for c in zip(*rows, strict=True)), whole
    )


def test_no_link_passes_nothing():
    none = np.zeros(0, np.int64)
    assert least_time(1, none, none, none, True) is None
    assert least_time(1, np.array([1]), np.array([1]), np.array([FAR]), False) is None
