"""Messages of bytes are cut into as many packets as take least, where the question leaves it open."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import gossamer
from gossamer import Rules, TimeCost
from gossamer.cli import main
from gossamer.planning.chunk_counts import Planned, best_counts, open_to_choice
from gossamer.questions.tasks import Chunked, DemandTable, in_packets

LINKS = {"bandwidth": "50GB/s", "latency": "2us"}
SERVERS = "tests/data/networks/two_servers.edges"


@pytest.mark.parametrize("links", [1, 3, 10, 40])
@pytest.mark.parametrize("latency", [1, 30, 1000])
def test_the_number_is_nearly_the_best_one(links, latency):
    def through(packets):  # a message of 10,000 bytes through some links in a row
        return Planned(Fraction((packets + links - 1) * (10_000 + latency * packets), packets), packets * links)

    found = best_counts(through, through(1), Fraction(10_000), 10_000)
    best = min(through(k).seconds for k in range(1, 2000))
    assert next(iter(found.values())).seconds <= best * Fraction(11, 10)
    assert list(found.values()) == sorted(found.values(), key=lambda each: each.seconds)


def test_no_packet_is_less_than_a_byte_and_no_plan_ends_the_search():
    def less(packets):
        return Planned(Fraction(1000, packets), packets) if packets < 60 else None

    assert max(best_counts(less, less(1), Fraction(1), 6)) <= 6
    assert max(best_counts(less, less(1), Fraction(1), 10**6)) < 60
    assert list(best_counts(lambda packets: None, less(1), Fraction(1), 8)) == [1]


def test_only_multiples_of_what_loads_links_evenly_are_tried():
    def even(packets):  # what three packets fill alike, and no other number
        return Planned(Fraction(1000 + 2000 // packets + 300 * (packets % 3)), 40_000 * packets)

    found = best_counts(even, even(1), Fraction(1000), 10**6, unit=3)
    assert {packets % 3 for packets in set(found) - {1}} == {0}
    assert 1 < next(iter(found)) <= 6
    whole = Planned(Fraction(3000), 150_000)  # so many hops that no number but the first multiple is tried
    assert set(best_counts(even, whole, Fraction(1000), 10**6, unit=3)) == {1, 3}
    assert set(best_counts(even, whole, Fraction(1000), 2, unit=3)) == {1}


@pytest.mark.parametrize(
    "task", ["broadcast", "reduce", "scatter", "gather", "allgather", "reduce-scatter", "alltoall"]
)
@pytest.mark.parametrize("network", ["ring:5", "array:3x3"])
def test_a_gigabyte_takes_little_more_than_the_links_must_carry(network, task):
    found, whole = (gossamer.plan(network, task, cost=TimeCost("1GiB", whole=w, **LINKS)) for w in (False, True))
    assert 1 <= found.ratio <= 1.05
    assert gossamer.verify(found.schedule).ok
    assert found.seconds <= whole.seconds
    assert not isinstance(whole.case.task, Chunked)
    assert whole.bound_seconds >= found.bound_seconds or whole.bound_seconds > found.seconds


def test_servers_reach_what_their_rails_carry():
    found = gossamer.plan(SERVERS, "allgather", cost=TimeCost("1GiB"))
    assert 345 * 10**9 < found.bus_bandwidth < 351 * 10**9


def test_short_messages_are_left_whole():
    found = gossamer.plan("complete:4", "allgather", cost=TimeCost("64B", **LINKS))
    assert not isinstance(found.case.task, Chunked)


def test_groups_are_cut_too():
    task = gossamer.task("broadcast", groups=[[0, 1, 2], [3, 4, 5]])
    found = gossamer.plan("ring:6", task, cost=TimeCost("64MiB", **LINKS))
    assert found.case.task.task.packets > 1
    assert found.ratio < 1.4


@pytest.mark.parametrize(
    ("task", "rules", "told"),
    [
        (gossamer.task("allgather"), None, True),
        (gossamer.task("allgather", packets=2), None, False),
        (gossamer.task("allgather", groups=[[0, 1]]), None, True),
        (DemandTable.of([(0, [1], 2)]), None, True),
        (gossamer.task("allgather"), Rules(buffer=3), False),
        (gossamer.task("allgather"), Rules(split=True), False),
    ],
)
def test_what_the_planner_may_cut(task, rules, told):
    assert open_to_choice(task, rules) is told
    if told:
        assert in_packets(in_packets(task, 7), 1) == task == in_packets(task, 1)


def test_a_budget_ends_the_search_for_a_number():
    found = gossamer.plan("array:4x4", "broadcast", cost=TimeCost("1GiB", **LINKS), budget=1e-6)
    assert gossamer.verify(found.schedule).ok


def told(capsys, *words):
    assert main(["plan", "ring:8", "broadcast", "--bytes", "64MiB", "--bandwidth", "50GB/s", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_cuts_unless_it_is_told_how(capsys):
    free, whole, one, four = (told(capsys, *w) for w in ((), ("--whole",), ("--chunks", "1"), ("--chunks", "4")))
    assert " packets a message (" in free["form"]
    assert whole["seconds"] == one["seconds"] > four["seconds"] > free["seconds"]
    assert "form" not in {**whole, **four}
    assert whole["optimal_among"] == "schedules of unsegmented messages"
