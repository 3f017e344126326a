"""Bounds on links that take time and through switches: each kind by an example worked out by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gossamer
from bounds.timed_cases import random_network
from gossamer import Network, Rules
from gossamer.bounds import best_bound, bounds
from gossamer.bounds.broadcast_growth import copy_bounds, doubling_time, informed_time, spread_time
from gossamer.bounds.registry import relaxed
from gossamer.bounds.set_cuts import best_crossing, crossing, set_cut_bounds
from gossamer.networks import from_networkx
from gossamer.questions.cases import Case
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    DemandTable,
    Gather,
    MultinodeBroadcast,
    Permutation,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)
from schedules.strategies import tasks
from schedules.timed_strategies import random_schedule

timed_networks = st.integers(0, 2**32).map(lambda seed: random_network(random.Random(seed)))


def values(network, task, rules=None):
    return {b.name: b.value for b in reversed(bounds(Case(network, task, rules or Rules())))}


def switch(terminals, **times):
    """Terminals at one switch, the last node."""
    up = [(v, terminals) for v in range(terminals)]
    down = [(terminals, v) for v in range(terminals)]
    source, target = zip(*up, *down, strict=True)
    return Network(
        "star", terminals + 1, source, target, 1, terminal_count=terminals, links_only=True,
        **{f"link_{name}": value for name, value in times.items()},
    )  # fmt: skip


# -- ways --


def test_a_way_takes_the_occupancies_and_latencies_of_its_links():
    plain = gossamer.network("array:4")
    place = np.minimum(plain.link_source, plain.link_target)
    line = plain.with_times(np.array([2, 1, 5])[place], np.array([0, 3, 1])[place])
    assert values(line, Broadcast(0))["eccentricity"] == 2 + 4 + 6
    assert values(line, Broadcast(0), Rules(split=True))["eccentricity"] == 0 + 3 + 1
    assert values(line, Reduce(0))["eccentricity"] == 2 + 4 + 6


def test_a_switch_that_cuts_through_waits_for_the_tail_of_a_slower_link_only():
    slow_first = switch(2, occupancy=[5, 1, 1, 2])
    slow_last = switch(2, occupancy=[1, 1, 1, 5])
    for network, stored, through in ((slow_first, 7, 5), (slow_last, 6, 5)):
        assert values(network, Broadcast(0))["eccentricity"] == stored
        assert values(network, Broadcast(0), Rules(cut_through=True))["eccentricity"] == through
    assert best_bound(Case(switch(2), Broadcast(0), Rules(cut_through=True))).value == 1


# -- ports --


def test_messages_of_far_nodes_arrive_one_after_the_other_from_when_they_can():
    """Two messages come from 2 links away: the first in step 6 at the earliest, the other 2 later."""
    graph = from_networkx(nx.Graph([(0, 1), (1, 2), (1, 3)]))
    slow = graph.with_times(2, 1)
    assert values(slow, Gather(0))["node receives"] == 6 + 2
    assert values(slow, Scatter(0))["node sends"] == 6 + 2
    assert values(slow, Gather(0), Rules(split=True))["node receives"] == 3 * 2 + 1


def test_a_port_passes_one_packet_for_as_long_as_its_fastest_link_needs():
    """Three messages over links of occupancy 1, 2 and 4: through one port they take at least 3 slots, and a hop."""
    star = switch(4, occupancy=[1, 1, 1, 1, 4, 1, 2, 2])
    assert values(star, Scatter(0), Rules(ports="one"))["node sends"] >= 3 + 1
    fast = gossamer.network("complete:4").with_times(3, 0)
    assert values(fast, TotalExchange(), Rules(ports="one"))["node sends"] == 9


# -- cuts --


def bridge(occupancy, latency, size=4):
    """Two cliques joined by one link each way, which takes time."""
    graph = nx.disjoint_union(nx.complete_graph(size), nx.complete_graph(size))
    graph.add_edge(0, size)
    network = from_networkx(graph)
    slow = (network.link_source < size) != (network.link_target < size)
    return network.with_times(np.where(slow, occupancy, 1), np.where(slow, latency, 0))


def test_the_last_packet_over_a_slow_cut_still_has_its_way_to_go():
    case = Case(bridge(10, 5), MultinodeBroadcast())
    (found,) = set_cut_bounds(case)
    assert found.value == 4 * 10 + 5 + 1
    assert found.witness == (
        "4 messages must leave the 4 nodes 0, 1, 2, 3 over 1 link of 0.1 packets a step, plus at least 6 steps after"
    )


def test_messages_from_further_inside_are_counted_by_themselves():
    case = Case(bridge(1, 0), TotalExchange())
    inside = np.arange(8) < 4
    for everyone in (crossing(case, inside, inside, ~inside), best_crossing(case, inside)):
        assert (everyone.time, everyone.load.needed, *everyone[4:]) == (16, 16, 1, 0, 0)
    far = inside & (np.arange(8) > 0)
    some = crossing(case, inside, far, ~inside & (np.arange(8) > 4))
    assert (some.time, some.load.needed, *some[4:]) == (1 + 9 + 1, 9, 1, 1, 1)


def test_a_cut_under_a_port_limit_counts_the_nodes_at_it():
    network = gossamer.network("complete:6").with_times(2, 1)
    half = np.arange(6) < 3
    case = Case(network, TotalExchange(), Rules(ports="one"))
    assert crossing(case, half, half, ~half).time == 3 * 2 + 1
    assert crossing(Case(network, TotalExchange()), half, half, ~half).time == 2 + 1


def test_no_message_needs_no_time():
    case = Case(gossamer.network("array:3").with_times(2, 0), Scatter(0))
    last = np.arange(3) == 2
    assert crossing(case, last, last, ~last) is None
    assert best_crossing(case, last) is None


def test_thirty_two_servers_with_rails_need_what_enters_a_server():
    """8 GPUs at a switch and at 8 rails: 248 packets of the others enter a server over 8 rails."""
    links = set()
    for server in range(32):
        for gpu in range(8):
            u = 8 * server + gpu
            links |= {(u, 256 + server), (256 + server, u), (u, 288 + gpu), (288 + gpu, u)}
    source, target = zip(*sorted(links), strict=True)
    within = [9 if 256 <= max(u, v) < 288 else 1 for u, v in sorted(links)]
    rails = Network("rails", 296, source, target, within, terminal_count=256, links_only=True)
    assert values(rails, MultinodeBroadcast(), Rules(split=True))["cut around nodes"] == 31


# -- copies --


def test_copies_that_a_switch_does_not_make_leave_terminals():
    """Of n-1 copies the first terminal sends one a step; whoever has one sends on two steps later."""
    star = switch(5)
    alone = Rules(replication=False)
    found = values(star, Broadcast(0), alone)
    assert found["terminals inform terminals"] == informed_time(5, 1, 1, 2) == 4
    assert best_bound(Case(star, Broadcast(0))).value == 2
    everyone = values(star, MultinodeBroadcast(), alone)
    assert everyone["between parts"] >= 4
    slow = switch(5, occupancy=2, latency=1)
    assert values(slow, MultinodeBroadcast(), alone)["between parts"] >= 4 * 2 + 1


def test_contributions_that_a_switch_does_not_combine_are_copies_backwards():
    star = switch(5, occupancy=[1, 2, 1, 1, 1, 1, 1, 1, 3, 1])
    for task in (Reduce(2), ReduceScatter()):
        case = Case(star, task)
        assert sorted((b.name[:6], b.value) for b in copy_bounds(case)) == sorted(
            (b.name[:6], b.value) for b in copy_bounds(case.dual)
        )
        assert list(copy_bounds(case))
        assert not list(copy_bounds(Case(star, task, Rules(reduction=True))))
    assert not list(copy_bounds(Case(star, TotalExchange(), Rules(replication=False))))


def test_ports_of_terminals_count_where_only_they_copy():
    rules = Rules(ports="one", replication=False)
    wide = from_networkx(nx.complete_bipartite_graph(3, 4))
    network = Network("wide", 7, wide.link_source, wide.link_target, 1, terminal_count=3, links_only=True)
    found = values(network, MultinodeBroadcast(), rules)
    assert found["between parts"] >= 2


def informed(count, at_once, every, delay):
    """Everybody starts copies as soon and as often as allowed, slot after slot."""
    known, arrivals, slot = [0], {}, 0
    while len(known) < count:
        for since in known:
            if (slot - since) % every == 0:
                arrivals[slot + delay] = arrivals.get(slot + delay, 0) + at_once
        slot += 1
        known += [slot] * arrivals.pop(slot, 0)
    return slot


@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 4), st.integers(1, 6))
def test_informing_is_counted_slot_by_slot(count, at_once, every, delay):
    assert informed_time(count, at_once, every, delay) == informed(count, at_once, every, delay)


# -- spreading --


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3).map(lambda more: np.array([1, *more])))
def test_on_plain_links_a_message_spreads_as_theorem_3_3_says(profile):
    times = np.repeat(np.arange(profile.size), profile)
    assert spread_time(times, 1, 1, 1)[0] == doubling_time(profile)[0]


def most_informed(slots, takes, every):
    """How many nodes are informed if each informs one after the other, all links equal."""
    return informed_count(slots, takes, every, {})


def informed_count(slots, takes, every, known):
    if slots not in known:
        known[slots] = 1 + sum(
            informed_count(slots - takes - k * every, takes, every, known)
            for k in range(slots // every + 1)
            if slots - takes - k * every >= 0
        )
    return known[slots]


@given(st.integers(2, 40), st.integers(1, 5), st.integers(1, 3))
def test_nodes_inform_one_after_the_other(count, every, latency):
    takes = every + latency
    times = np.array([0, *[takes] * (count - 1)])
    time = spread_time(times, takes, takes, every)[0]
    assert most_informed(time, takes, every) >= count > most_informed(time - 1, takes, every)


def test_one_port_nodes_double_at_the_pace_of_their_links():
    slow = gossamer.network("complete:8").with_times(3, 2)
    assert (
        values(slow, Broadcast(0), Rules(ports="one"))["doubling"] == 14
    )  # in steps 5, 8, 10, 11: one, 13: two, 14: one
    assert values(slow, Reduce(0), Rules(ports="one"))["doubling"] == 14


# -- all together --


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_no_legal_schedule_beats_a_bound(seed):
    schedule = random_schedule(seed)
    found = best_bound(Case(schedule.network, schedule.task, schedule.rules))
    assert schedule.completion_time >= found.value


@settings(max_examples=60)
@given(timed_networks, st.data(), st.sampled_from(["all", "one", "one-send", "one-receive"]), st.booleans())
def test_a_task_and_its_dual_have_about_the_same_bound(network, data, ports, split):
    """Both take as long, but a family may see it from one end of time only."""
    rules = Rules(
        ports=ports, split=split, cut_through=data.draw(st.booleans()), replication=data.draw(st.booleans()),
        reduction=data.draw(st.booleans()),
    ).on(network)  # fmt: skip
    kind = data.draw(tasks(network))
    assume(not isinstance(kind, DemandTable))  # of contributions among some, one share each is counted
    assume(isinstance(kind, TotalExchange | Permutation) or type(kind).dual is not Task.dual)
    case = Case(network, kind, rules)
    low, high = sorted([best_bound(case).value, best_bound(case.dual).value])
    assert low >= high * Fraction(2, 3) or high - low <= 1


@settings(max_examples=25)
@given(timed_networks, st.data(), st.sampled_from(["all", "one"]), st.booleans())
def test_time_and_stricter_switches_never_lower_the_bound(network, data, ports, split):
    task, rules = data.draw(tasks(network)), Rules(ports=ports, split=split, reduction=True).on(network)
    value = best_bound(Case(network, task, rules)).value
    assert value >= best_bound(relaxed(Case(network, task, rules))).value
    assert value >= best_bound(Case(network, task, Rules(ports=ports, split=True, reduction=True).on(network))).value
    strict = Rules(ports=ports, split=split, replication=False).on(network)
    assert best_bound(Case(network, task, strict)).value >= value


def test_parallel_links_are_one_of_all_capacities_on_the_plain_network():
    network = Network("g", 3, [0, 0, 1, 2], [1, 1, 2, 0], [1, 2, 1, 1], link_latency=[1, 4, 0, 0], links_only=True)
    plain = network.without_time
    assert (plain.link_capacity.tolist(), plain.plain) == ([3, 1, 1], True)
    assert values(network, TotalExchange())["distance"] == 2 + 1
    tree = gossamer.network("array:3")
    assert tree.with_times(2, 1).without_time == tree
    case = Case(tree, TotalExchange())
    assert relaxed(case) is case


def test_bounds_of_whole_messages_are_whole_and_of_parts_fractions():
    star = switch(3, occupancy=[1, 1, 1, 2, 1, 1])
    assert best_bound(Case(star, MultinodeBroadcast(), Rules(cut_through=True))).value == 4
    assert best_bound(Case(star, MultinodeBroadcast(), Rules(split=True))).value == 4
    assert values(star.with_times(3, 1), Broadcast(0), Rules(split=True))["cut around nodes"] == Fraction(3 + 2)


@pytest.mark.parametrize("split", [False, True])
def test_an_allreduce_takes_the_time_of_its_halves(split):
    ring = gossamer.network("ring:6").with_times(2, 3)
    found = values(ring, Allreduce(), Rules(split=split))
    one = best_bound(Case(ring, Broadcast(0), Rules(split=split))).value
    assert found["reduce, then broadcast"] == 2 * one
    half = best_bound(Case(ring, ReduceScatter(), Rules(split=split))).value
    assert found["reduce-scatter, then broadcast"] == half + (9 if split else 15)
