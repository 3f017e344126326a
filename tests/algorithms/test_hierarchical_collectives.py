"""Allgather, reduce-scatter, allreduce and total exchange composed along hierarchies, and stored by orbit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.algorithms.any_network.hierarchical_collectives import (
    HIERARCHICAL_ALLGATHER,
    hierarchical_allgather,
    hierarchical_allreduce,
    hierarchical_broadcast,
    hierarchical_exchange,
)
from gossamer.networks import Network, parse
from gossamer.networks.derived import cables
from gossamer.questions.cases import Case
from gossamer.questions.tasks import chunked
from gossamer.verification.metrics import buffer_peak

SPECS = [
    "leaf-spine:leaves=4,spines=4,hosts=4",
    "generalized-fat-tree:children=4x3x2,parents=1x2x3",
    "servers:s=4,g=4,inside=9",
    "servers:s=6,g=4,inside=3,spines=2",
    "servers:s=4,g=6,rails=2",
]


def case(spec, task, times=None, packets=1, **rules):
    net = parse(spec) if isinstance(spec, str) else spec
    if times:
        net = net.with_times(*times)
    if not isinstance(task, str):
        return Case(net, chunked(task, packets), gossamer.Rules(**rules))
    return Case(
        net, gossamer.task(task, packets=packets) if packets > 1 else gossamer.task(task), gossamer.Rules(**rules)
    )


def expanded_is_valid(schedule):
    """The stored orbit is accepted, and so is every transfer written out."""
    found, every = gossamer.verify(schedule), gossamer.verify(schedule.expand())
    return bool(found) and bool(every) and found.violations == every.violations


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("times", [None, (2, 1)])
def test_allgather_is_valid_and_near_its_bound(spec, copies, times):
    asked = case(spec, "allgather", times, replication=copies)
    schedule = hierarchical_allgather(asked)
    assert schedule.symmetry.order > 1
    assert expanded_is_valid(schedule)
    least = max(b.value for b in gossamer.lower_bounds(asked.network, asked.task, rules=asked.rules))
    assert schedule.completion_time <= least * Fraction(3, 2) + 12


@pytest.mark.parametrize("spec", SPECS)
def test_reversed_and_composed_they_reduce(spec):
    asked = case(spec, "allreduce")
    schedule = hierarchical_allreduce(asked)
    assert expanded_is_valid(schedule)
    turned = case(spec, "reduce-scatter").dual
    assert expanded_is_valid(hierarchical_allgather(turned).reverse())


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("times", [None, (3, 2)])
def test_exchange_is_valid_and_near_its_bound(spec, times):
    asked = case(spec, "alltoall", times)
    schedule = hierarchical_exchange(asked)
    assert expanded_is_valid(schedule)
    least = max(b.value for b in gossamer.lower_bounds(asked.network, asked.task))
    assert schedule.completion_time <= least * Fraction(5, 4) + 12


@pytest.mark.parametrize("packets", [2, 5])
def test_messages_of_several_packets(packets):
    schedule = hierarchical_allgather(case(SPECS[1], "allgather", packets=packets))
    assert expanded_is_valid(schedule)
    assert expanded_is_valid(hierarchical_allreduce(case(SPECS[1], "allreduce", packets=packets)))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("root", "copies"), [(0, True), (7, True), (7, False)])
def test_broadcast_uses_the_links_of_a_whole_group(spec, root, copies):
    net = parse(spec).with_times(2, 1)
    asked = Case(net, gossamer.task("broadcast", root=root, packets=12), gossamer.Rules(replication=copies))
    assert gossamer.verify(hierarchical_broadcast(asked))


def test_switches_that_do_not_copy_take_each_packet_of_a_broadcast_once_from_each_server():
    """Down binary trees of servers each of the four NICs of a server sends no more than it gets."""
    servers = parse("mi250x:33,rails=4")
    plan = gossamer.plan(servers, gossamer.task("broadcast", root=2), cost=gossamer.TimeCost("1GiB"))
    assert not plan.case.rules.replication
    assert plan.completion_time <= plan.bound * Fraction(21, 20)


def test_a_long_broadcast_is_near_its_bound():
    gpus = parse("servers:s=64,g=8,inside=9,spines=8")
    plan = gossamer.plan(gpus, gossamer.task("broadcast", packets=512), algorithm="hierarchical-broadcast")
    assert plan.completion_time <= plan.bound * Fraction(23, 20)


def test_each_group_gets_each_block_once():
    """The cables into a leaf carry every block from elsewhere once, whatever the uplinks cost."""
    net = parse("leaf-spine:leaves=4,spines=4,hosts=4")
    schedule = hierarchical_allgather(case(net, "allgather", replication=False)).expand()
    leaf = net.terminal_count
    into = (net.link_target[schedule.link] == leaf) & (net.link_source[schedule.link] >= leaf)
    assert sorted(schedule.packet[into].tolist()) == list(range(4, 16))


def test_missing_cables_are_gone_round():
    net = parse("generalized-fat-tree:children=8x4x4,parents=1x4x4")
    pair = next(tuple(p) for p in cables(net).tolist() if min(p) >= net.terminal_count)
    damaged = net.without(links=[pair])
    schedule = hierarchical_allgather(case(damaged, "allgather"))
    assert schedule.symmetry.order == 16
    assert expanded_is_valid(schedule)
    assert schedule.completion_time <= 127 * Fraction(106, 100)
    exchange = hierarchical_exchange(case(damaged, "alltoall"))
    assert expanded_is_valid(exchange)
    leaf = 8 * 120 / 3  # messages that leave it, over the three cables that are left
    assert exchange.completion_time <= leaf * 1.05


def test_ranks_without_a_rail_hand_their_blocks_to_others():
    net = parse("servers:s=6,g=8,inside=9")
    dark = net.without(nodes=[net.node_count - 1, net.node_count - 2])
    schedule = hierarchical_allgather(case(dark, "allgather"))
    assert expanded_is_valid(schedule)
    assert expanded_is_valid(hierarchical_exchange(case(dark, "alltoall")))


def test_blocks_of_ranks_without_a_rail_go_by_way_of_all_others_alike():
    net = parse("servers:s=6,g=8,inside=9")
    dark = net.without(nodes=[net.node_count - 1, net.node_count - 2])
    asked = case(dark, "allgather", packets=3)
    for each in (asked, case(dark, "allgather")):
        assert HIERARCHICAL_ALLGATHER.propose(each).even_packets == 3  # 8 blocks of a server in thirds, over 6 rails
    schedule = hierarchical_allgather(asked)
    assert expanded_is_valid(schedule)
    used = np.bincount(schedule.expand().link, minlength=dark.link_count)
    up = used[dark.link_target >= dark.node_count - 6]
    assert up.tolist() == [8 * 3 // 6] * up.size  # a switch copies: a packet goes up once


def test_dark_rails_cost_no_more_than_their_share():
    net = parse("servers:s=32,g=8,inside=9")
    dark = net.without(nodes=[net.node_count - 1, net.node_count - 2])
    plan = gossamer.plan(dark, "allreduce", cost=gossamer.TimeCost("1GiB", bandwidth="50GB/s", latency="1us"))
    assert plan.algorithm == "hierarchical-reduce-scatter-allgather"
    assert plan.ratio <= 1.05


def test_a_switch_that_stays_in_place_counts_all_that_pass_through_it():
    """Its buffer, and its single port, hold what the transfers of several translates bring: as when written out."""
    schedule = hierarchical_exchange(case("leaf-spine:leaves=4,spines=2,hosts=4", "alltoall"))
    assert not schedule.symmetry.free
    assert buffer_peak(schedule).packets == buffer_peak(schedule.expand()).packets
    one = schedule.replace(rules=gossamer.Rules(ports="one"))
    found, every = gossamer.verify(one), gossamer.verify(one.expand())
    assert not found
    assert found.counts == every.counts


def test_a_broken_orbit_is_noticed():
    schedule = hierarchical_allgather(case("leaf-spine:leaves=4,spines=2,hosts=4", "allgather"))
    slot = schedule.slot.copy()
    slot[-1] = slot[0]
    order = np.argsort(slot, kind="stable")
    broken = schedule.replace(slot=slot[order], link=schedule.link[order], packet=schedule.packet[order])
    assert not gossamer.verify(broken)
    fewer = schedule.replace(slot=schedule.slot[:-1], link=schedule.link[:-1], packet=schedule.packet[:-1])
    assert not gossamer.verify(fewer)


def test_programs_of_ranks_follow(tmp_path):
    schedule = hierarchical_allgather(case("servers:s=2,g=2,inside=3", "allgather"))
    path = tmp_path / "plan.parquet"
    schedule.save(path)
    again = gossamer.load(path)
    assert again == schedule
    assert gossamer.verify(again)


def test_a_plan_of_16384_ranks_is_an_orbit_of_a_few():
    hosts = parse("generalized-fat-tree:children=64x16x16,parents=1x16x16")
    plan = gossamer.plan(hosts, "allgather")
    assert plan.schedule.symmetry.order >= 2048
    assert plan.schedule.stored_hops < 400_000
    assert plan.completion_time <= plan.bound * Fraction(101, 100)


def test_an_exchange_of_65536_ranks_takes_what_the_uplinks_of_a_leaf_need():
    """Of 131,070 messages to plan, all paths that load links alike are one; the cut of a leaf proves the time."""
    tree = parse("generalized-fat-tree:children=64x32x32,parents=1x32x32")
    hosts = Network(
        "hosts", tree.node_count, tree.link_source, tree.link_target, terminal_count=tree.terminal_count
    )  # fmt: skip
    plan = gossamer.plan(hosts, "alltoall", cost=gossamer.TimeCost("1GiB", bandwidth="50GB/s", latency="1us"))
    assert plan.schedule.symmetry.order == 2**15
    assert plan.schedule.stored_hops < 800_000
    assert plan.completion_time <= plan.bound * Fraction(101, 100)
    assert plan.bounds[0].name == "cut around nodes"


MESHES = ["mi300x:4", "mi250x:4", "mi250x:3,rails=4", "gaudi3:3"]


def rings(servers, gpus, rails=True, order=None):
    """Servers of GPUs that are joined in a ring each, with a switch for each rail, or one for all."""
    around = range(gpus) if order is None else order
    pairs = [(n * gpus + around[i], n * gpus + around[i - 1]) for n in range(servers) for i in range(gpus)]
    first = servers * gpus
    pairs += [(g, first + (g % gpus if rails else 0)) for g in range(first)]
    ends = np.array(pairs + [(v, u) for u, v in pairs]).T
    ends = ends[:, np.lexsort(ends[::-1])]
    return Network("rings", first + (gpus if rails else 1), *ends, terminal_count=first)


@pytest.mark.parametrize("net", [*MESHES, rings(4, 8), rings(3, 6, rails=False), rings(3, 5, order=[0, 3, 1, 4, 2])])
def test_groups_of_ranks_that_are_joined_directly(net):
    net = parse(net) if isinstance(net, str) else net
    plain = Network("plain", net.node_count, net.link_source, net.link_target, terminal_count=net.terminal_count)
    for build, task in (
        (hierarchical_allgather, "allgather"),
        (hierarchical_allreduce, "allreduce"),
        (hierarchical_exchange, "alltoall"),
    ):
        asked = case(plain, task, (2, 1))
        schedule = build(asked)
        assert schedule.symmetry.order > 2
        assert expanded_is_valid(schedule)
        if task != "allreduce":
            least = max(b.value for b in gossamer.lower_bounds(asked.network, asked.task))
            assert schedule.completion_time <= least * Fraction(3, 2) + 12
    for root in (0, 3):
        for copies in (True, False):
            broadcast = case(plain, gossamer.task("broadcast", root=root), packets=9, replication=copies)
            assert gossamer.verify(hierarchical_broadcast(broadcast))


def test_a_ring_of_ranks_is_used_both_ways_and_each_link_alike():
    """With 6 ranks in a ring, each of 24 blocks is sent on 5 times in each server, over 12 links about alike."""
    schedule = hierarchical_allgather(case(rings(4, 6), "allgather")).expand()
    net = schedule.network
    inside = (net.link_source[schedule.link] < 6) & (net.link_target[schedule.link] < 6)
    assert np.unique(schedule.link[inside], return_counts=True)[1].tolist().count(8) == 6
    assert np.bincount(schedule.link[inside]).max() == 12


def test_servers_with_meshes_are_composed_from_256_ranks_on():
    servers = parse("mi250x:32,rails=4")
    plan = gossamer.plan(servers, "allgather", cost=gossamer.TimeCost("1GiB"))
    assert plan.algorithm == "hierarchical-trees"
    assert plan.schedule.symmetry.order == 32
    assert plan.completion_time <= plan.bound * Fraction(105, 100)
