"""Exchanges planned one after the other on a network that is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.alltoallv import KnownPaths
from gossamer.bounds import bounds
from gossamer.errors import GossamerError
from gossamer.questions.cases import Case
from gossamer.questions.tasks import UnevenExchange
from gossamer.schedules import Packets, RunSchedule, Schedule
from gossamer.verification import buffer_peak, link_utilization

SERVERS = "dgx-h100:4"


def skewed(n, seed, packets=32):
    draw = np.random.default_rng(seed)
    table = np.array([draw.multinomial(packets, draw.dirichlet(np.full(n, 0.3))) for _ in range(n)])
    np.fill_diagonal(table, 0)
    return table


def bound_in_seconds(outcome):
    return float(outcome.case.cost.seconds(outcome.bound))


@pytest.fixture(scope="module")
def servers():
    return gossamer.planner_for(SERVERS)


@pytest.mark.parametrize("seed", range(6))
def test_skewed_tables_are_near_the_bound_and_another_plan_is_no_shorter_than_it(servers, seed):
    table = skewed(32, seed)
    found = servers.plan(table)
    assert gossamer.verify(found.schedule).ok
    assert found.completion_time <= found.bound * Fraction(112, 100)
    other = gossamer.plan(SERVERS, UnevenExchange(table.tolist()), algorithm="load-balanced-shortest-paths")
    assert bound_in_seconds(found) <= other.seconds
    assert bound_in_seconds(found) >= bound_in_seconds(other) * 0.99  # the cuts that are kept are those that bind


def test_what_one_gpu_sends_to_one_leaves_its_server_by_all_nics(servers):
    table = np.zeros((32, 32), np.int64)
    table[3, 11] = 400
    found = servers.plan(table)
    shortest = gossamer.plan(SERVERS, UnevenExchange(table.tolist()), algorithm="load-balanced-shortest-paths")
    assert found.seconds * 7 < shortest.seconds
    assert found.completion_time <= found.bound * Fraction(106, 100)


def test_bytes_are_all_sent_and_the_bound_is_of_the_bytes(servers):
    table = skewed(32, 9) * 1_000_003
    found = servers.plan_bytes(table, packets=20_000)
    clock, counts = found.case.cost, np.array(found.case.task.counts)
    assert (counts * clock.packet_bytes >= table).all()
    assert ((counts - 1) * clock.packet_bytes < table)[table > 0].all()
    assert counts.sum() <= 20_000
    # what leaves one server over its 8 NICs of 50 GB/s, worked out here
    out = max(table[8 * s : 8 * s + 8].sum() - table[8 * s : 8 * s + 8, 8 * s : 8 * s + 8].sum() for s in range(4))
    seconds = float(clock.seconds(found.bound))
    assert seconds >= out / 400e9
    assert found.bound <= found.completion_time <= found.bound * Fraction(112, 100)
    assert found.bound_scope == ""


def test_bytes_that_differ_in_every_pair_are_near_the_bound(servers):
    draw = np.random.default_rng(5)
    table = draw.integers(10**5, 10**8, (32, 32))
    np.fill_diagonal(table, 0)
    found = servers.plan_bytes(table)
    assert isinstance(found.schedule, RunSchedule)
    assert found.verification.ok
    assert found.ratio <= 1.05
    written = found.schedule.expand()
    assert gossamer.verify(written).ok  # packet by packet
    assert written.hop_count == found.schedule.hop_count
    assert link_utilization(written) == link_utilization(found.schedule)
    assert buffer_peak(written).packets <= buffer_peak(found.schedule).packets


def test_runs_that_are_wrong_are_refused(servers):
    table = np.zeros((32, 32), np.int64)
    table[0, 9:14], table[1, 9] = 10**8, 3 * 10**7
    found = servers.plan_bytes(table, packets=300).schedule
    runs, length, task = found.runs, found.length, found.task
    assert str(gossamer.verify(found)).endswith("no violation")
    refused = 0
    for h in range(0, runs.slot.size, 7):
        slot = runs.slot.copy()
        slot[h] = max(slot[h] - 1, slot[h - 1] if h else 0)  # begins a slot earlier
        moved = RunSchedule(runs.replace(slot=slot), length, task)
        told = gossamer.verify(moved)
        assert told.ok == gossamer.verify(moved.expand()).ok
        assert told.ok or "packet by packet" in str(told)  # runs not known to be valid are written out
        refused += not told.ok
    assert refused
    longer = length.copy()
    longer[0] += 1
    with pytest.raises(GossamerError, match="do not make up"):
        RunSchedule(runs, longer, task)
    assert not gossamer.verify(RunSchedule(runs.replace(link=runs.link[::-1]), length, task)).ok
    with pytest.raises(GossamerError, match="lengths of runs"):
        RunSchedule(runs, length[1:], task)


def test_runs_in_another_order_than_the_messages_are_refused():
    line, task = gossamer.network("array:3"), gossamer.task("alltoallv", counts=[[0, 0, 1], [0] * 3, [1, 0, 0]])
    given = Schedule(line, task, gossamer.Rules(), [0, 0, 2, 2], [0, 3, 1, 2], [0, 1, 0, 1])
    table = given.packets
    turned = Packets(table.origin[::-1].copy(), table.message[::-1].copy(), table.part[::-1].copy())
    turned = given.replace(packet=1 - given.packet, packets=turned)
    whole = gossamer.task("alltoallv", counts=[[0, 0, 2], [0] * 3, [2, 0, 0]])
    assert gossamer.verify(turned).ok
    assert gossamer.verify(RunSchedule(given, [2, 2], whole).expand()).ok
    with pytest.raises(GossamerError, match="in the order of the messages"):  # written out, each would be the other
        RunSchedule(turned, [2, 2], whole)


def test_the_same_table_gives_the_same_plan(servers):
    first, again = (servers.plan(skewed(32, 3)).schedule for _ in range(2))
    assert np.array_equal(first.slot, again.slot)
    assert np.array_equal(first.link, again.link)


def test_a_failed_link_is_gone_around(servers):
    network = gossamer.network(SERVERS)
    cable = [(int(network.link_source[0]), int(network.link_target[0]))]
    planner = servers.without(links=cable)
    found = planner.plan(skewed(32, 4))
    assert gossamer.verify(found.schedule).ok
    assert planner.network.link_count == network.link_count - 2
    # the bound is that of the damaged network
    assert found.bound >= servers.plan(skewed(32, 4)).bound


def test_networks_without_times_and_rules_are_planned():
    for spec, rules in (("torus:4x4", None), ("torus:4x4", gossamer.Rules(ports="one")), ("hypercube:4", None)):
        planner = gossamer.planner_for(spec, rules=rules)
        table = skewed(planner.network.terminal_count, 1, packets=12)
        found = planner.plan(table)
        assert gossamer.verify(found.schedule).ok
        assert found.bound <= found.completion_time <= 1.5 * found.bound


def test_what_has_no_kept_paths_is_planned_as_by_plan():
    planner = gossamer.planner_for("ring:4", rules=gossamer.Rules(segmented=True))
    table = [[0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert (
        planner.plan(table).completion_time
        == gossamer.plan("ring:4", UnevenExchange(table), rules=gossamer.Rules(segmented=True)).completion_time
    )
    assert planner.plan("allgather").completion_time == Fraction(3, 2)


def test_nothing_to_send_takes_no_time(servers):
    assert servers.plan(np.zeros((32, 32), np.int64)).completion_time == 0
    assert servers.plan_bytes(np.zeros((32, 32), np.int64)).completion_time == 0


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.zeros((3, 3), np.int64), "3 rows"),
        (np.zeros((3, 4), np.int64), "two terminals"),
        (np.zeros((16, 16)), "whole number"),
        (-np.ones((16, 16), np.int64), "row 0"),
        (np.ones((16, 16), np.int64), "to itself"),
    ],
)
def test_a_wrong_table_is_refused(table, said):
    with pytest.raises(GossamerError, match=said):
        gossamer.planner_for("torus:4x4").plan(table)


def test_bytes_need_speeds():
    with pytest.raises(GossamerError, match="give a cost"):
        gossamer.planner_for("torus:4x4").plan_bytes(np.zeros((16, 16), np.int64))


def test_a_target_that_is_cut_off_is_named():
    network = gossamer.networks.Network("one way", 3, [0, 1], [1, 2], links_only=True)
    with pytest.raises(GossamerError, match="no path from node 2 to node 0"):
        gossamer.planner_for(network).plan([[0, 1, 0], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("spec", ["torus:4x4", "dgx-h100:2", "leaf-spine:leaves=3,spines=2,hosts=4"])
def test_known_paths_lead_from_end_to_end_without_coming_back(spec):
    network = gossamer.network(spec)
    lead_from_end_to_end(KnownPaths.of(Case(network, gossamer.task("alltoall")).links), network)


def lead_from_end_to_end(known, network):
    n = network.terminal_count
    assert known.first.size == n * n + 1
    assert known.first[-1] == known.paths
    for pair in range(n * n):
        u, v = divmod(pair, n)
        paths = range(known.first[pair], known.first[pair + 1])
        assert (len(paths) > 0) == (u != v)
        kept = set()
        for k in paths:
            links = known.link[known.begin[k] : known.begin[k + 1]]
            nodes = [u, *network.link_target[links].tolist()]
            assert network.link_source[links].tolist() == nodes[:-1]
            assert nodes[-1] == v
            assert len(set(nodes)) == len(nodes)
            kept.add(tuple(links.tolist()))
        assert len(kept) == len(paths)


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("spec", ["torus:4x4", "dgx-h100:2", "leaf-spine:leaves=3,spines=2,hosts=4"])
def test_what_is_prepared_is_kept_when_a_cable_fails(spec, end):
    """A NIC, the cable to the switch of a server, an uplink, a link between neighbors: the only path of some pairs."""
    planner = gossamer.planner_for(spec)
    network = planner.network
    node = 0 if spec != "leaf-spine:leaves=3,spines=2,hosts=4" else network.terminal_count
    ends = network.link_target[network.link_source == node]
    other = int(ends[ends >= (0 if node == 0 else network.terminal_count)][end])
    left = planner.without(links=[(node, other)])
    assert left.network == network.without(links=[(node, other)])
    lead_from_end_to_end(left._paths, left.network)
    n = network.terminal_count
    table = np.random.default_rng(end).integers(0, 9, (n, n)) * (1 - np.eye(n, dtype=np.int64))
    found, anew = left.plan(table), gossamer.planner_for(left.network).plan(table)
    assert found.verification
    assert found.bound == anew.bound
    assert found.completion_time <= Fraction(11, 10) * anew.completion_time
    assert planner.network is network


def test_a_failure_that_cuts_a_terminal_off_is_told():
    left = gossamer.planner_for("array:3").without(links=[(0, 1)])
    assert left.plan([[0, 0, 0], [0, 0, 2], [0, 0, 0]]).completion_time == 2
    with pytest.raises(GossamerError, match=r"no path from node \(0\) to node \(2\)"):
        left.plan([[0, 0, 1], [0, 0, 0], [0, 0, 0]])


def test_packets_have_the_size_that_the_pairs_fill():
    """Every pair has none, one or two times as many bytes, and a few more: packets can be nearly full."""
    planner = gossamer.planner_for("dgx-h100:2")
    draw = np.random.default_rng(4)
    table = draw.integers(0, 3, (16, 16)) * 3_000_000
    table += draw.integers(0, 3_000, (16, 16)) * (table > 0)
    np.fill_diagonal(table, 0)
    found = planner.plan_bytes(table, packets=2_000)
    counts = np.array(found.case.task.counts)
    assert counts.sum() <= 2_000
    assert counts.sum() * found.case.cost.packet_bytes <= 1.02 * table.sum()
    assert found.ratio <= 1.05


def test_racks_bind_where_all_links_are_as_fast():
    """Four racks of eight hosts with two uplinks each: what enters one rack takes as long as its uplinks need."""
    network = gossamer.network("leaf-spine:leaves=4,spines=2,hosts=8")
    listed = gossamer.networks.Network(
        "racks", network.node_count, network.link_source, network.link_target, terminal_count=32, links_only=True
    )
    table = np.zeros((32, 32), np.int64)
    table[8:, :8] = 3
    least = 3 * 24 * 8 / 2
    assert bounds(Case(listed, UnevenExchange(table)))[0].value >= least
    found = gossamer.planner_for(listed).plan(table)
    assert least <= found.bound <= found.completion_time <= 1.05 * least
