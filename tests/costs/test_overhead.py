"""What packets cost beyond their bytes, and links of no latency: in slots, bounds, plans, files and other sizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer import Rules, TimeCost
from gossamer.errors import ModelError, NetworkError
from gossamer.networks import Network, Speeds
from gossamer.planning.allreduce_variants import exact_bounds
from gossamer.planning.plan_resizing import least_seconds, resized
from gossamer.questions.costs import LEAST_PACKET, Clock, unclocked
from gossamer.questions.tasks import in_packets, packets_of
from gossamer.verification.metrics import link_busy

LINKS = {"bandwidth": "50GB/s", "latency": "2us"}
NETWORKS = ("ring:5", "array:2x3", "hypercube:3", "fat-tree:2,3", "star:4", "torus:3x4,occupancy=1x2", "complete:5")
TASKS = ("broadcast", "allgather", "allreduce", "alltoall", "reduce", "scatter")


def fabric(latencies=(0.0, 0.0), rates=(50e9, 25e9)) -> Network:
    """Four ranks around a switch, two by slow links."""
    ends = [(i, 4) for i in range(4)] + [(4, i) for i in range(4)]
    kind = [min(u, v) // 2 for u, v in ends]
    speeds = Speeds(np.array(rates)[kind], np.array(latencies)[kind])
    source, target = zip(*ends, strict=True)
    return Network("fabric", 5, source, target, terminal_count=4, structures=[speeds], links_only=True)


def occupied(schedule, overhead) -> Fraction:
    """Return the longest for which a link is in use by packets of the clock's bytes, each with the overhead."""
    clock, network = schedule.cost, schedule.network
    plain = unclocked(network, clock, 1)
    speeds = plain.network.find(Speeds)
    hops = np.rint(link_busy(schedule) / network.link_occupancy).astype(int)
    most = Fraction(0)
    for link, count in enumerate(hops.tolist()):
        slow = int(plain.network.link_occupancy[link])
        rate = plain.bandwidth / slow if speeds is None else Fraction(float(speeds.bandwidth[link]))
        capacity = int(network.link_capacity[link])
        most = max(most, Fraction(count, capacity) * (Fraction(clock.packet_bytes) / rate + overhead))
    return most


@pytest.mark.exhaustive(always=4)
@pytest.mark.parametrize("seed", range(12))
def test_plans_of_random_questions_keep_their_packets_costs_and_no_bound_is_above_them(seed):
    random = np.random.default_rng(seed)
    network = fabric((0.0, 1e-6)) if seed % 6 == 5 else NETWORKS[seed % len(NETWORKS)]
    task = TASKS[int(random.integers(len(TASKS)))]
    rules = Rules(ports="one" if random.random() < 0.4 else "all", cut_through=bool(random.random() < 0.5))
    overhead = Fraction(int(random.integers(50, 5000)), 10**9)
    size = int(4 ** random.uniform(4, 11))
    given = {} if isinstance(network, Network) else LINKS
    found = gossamer.plan(network, task, rules=rules, cost=TimeCost(size, overhead=overhead, **given))
    schedule, net = found.schedule, gossamer.networks.as_network(network)
    assert bool(gossamer.verify(schedule))
    assert occupied(schedule, overhead) <= found.seconds
    exact = exact_bounds(net, gossamer.task(task), rules, TimeCost(size, overhead=overhead, **given))
    free = {b.name: b.value for b in exact_bounds(net, gossamer.task(task), rules, TimeCost(size, **given))}
    assert all(bound.value <= found.seconds for bound in exact)
    assert max(b.value for b in exact) > max(free.values())
    for packets in (1, 2, 7):  # however messages are cut
        cut = in_packets(gossamer.task(task), packets)
        cost = TimeCost(size, overhead=overhead, form="blocks", **given)
        for row in gossamer.compare(network, cut, rules=rules, cost=cost).outcomes:
            assert row.seconds >= max(bound.value for bound in exact)


def test_the_bound_is_what_one_packet_takes_between_two_nodes_and_a_chain_pays_at_each_hop():
    cost = TimeCost(10**6, overhead="3us", **LINKS)
    (best, *_) = sorted(exact_bounds(gossamer.network("array:2"), gossamer.task("broadcast"), None, cost),
                        key=lambda bound: -bound.value)  # fmt: skip
    assert best.value == Fraction(10**6, 50 * 10**9) + Fraction(5, 10**6)
    found = gossamer.plan("array:2", "broadcast", cost=cost)
    assert found.seconds >= best.value
    assert packets_of(found.case.task) == 1
    far = gossamer.network("array:8")
    bound = max(b.value for b in exact_bounds(far, gossamer.task("broadcast"), None, cost))
    assert bound >= 7 * Fraction(5, 10**6) + Fraction(10**6, 50 * 10**9)
    best = min(  # packets of one size, one after the other
        (7 + k - 1) * (Fraction(10**6, k * 50 * 10**9) + Fraction(3, 10**6)) + 7 * Fraction(2, 10**6)
        for k in range(1, 200)
    )
    assert bound <= best <= gossamer.plan("array:8", "broadcast", cost=cost).seconds * Fraction(1001, 1000)


def test_the_planner_makes_fewer_packets_where_each_costs_more():
    counts = []
    for overhead in ("0s", "100ns", "10us"):
        found = gossamer.plan("array:6", "broadcast", cost=TimeCost("16MiB", overhead=overhead, **LINKS))
        counts.append(packets_of(found.schedule.task))
    assert counts[0] > counts[1] > counts[2] > 1


def test_a_plan_comes_back_from_its_file_with_what_packets_cost(tmp_path):
    cost = TimeCost("1MiB", overhead="500ns", **LINKS)
    schedule = gossamer.plan("torus:3x3", "allgather", cost=cost).schedule
    for suffix in ("parquet", "txt"):
        schedule.save(tmp_path / f"plan.{suffix}")
        back = gossamer.load(tmp_path / f"plan.{suffix}")
        assert back.cost == schedule.cost
        assert back.cost.overhead == Fraction(1, 2 * 10**6)
        assert bool(gossamer.verify(back))
        assert "500 ns a packet beyond its bytes" in back.cost.describe()
    assert "overhead" not in Clock().to_dict()  # files of other plans stay as they are


@pytest.mark.parametrize("network", ["torus:4x4", "torus:3x4,occupancy=1x2"])
def test_other_sizes_have_the_same_links_and_packet_costs(network):
    cost = TimeCost("1MiB", overhead="2us", **LINKS)
    schedule = gossamer.plan(network, "allgather", cost=cost).schedule
    assert resized(schedule, "1MiB") is schedule
    for size in ("1KiB", "16MiB"):
        new = resized(schedule, size)
        assert bool(gossamer.verify(new))
        taken = new.cost.seconds(new.completion_time)
        assert occupied(new, Fraction(2, 10**6)) <= taken
        exact = exact_bounds(gossamer.network(network), schedule.task, None, TimeCost(size, overhead="2us", **LINKS))
        least = least_seconds(new).value
        assert float(least) == pytest.approx(float(max(b.value for b in exact)), rel=1e-6)
        assert taken >= least


def test_links_without_latency_take_the_one_that_is_given_and_others_keep_theirs():
    cost = TimeCost("1MiB", latency="3us")
    timed, clock = cost.on(fabric((0.0, 1e-6)), gossamer.task("allgather"))
    assert sorted(set(timed.find(Speeds).latency.tolist())) == [1e-6, 3e-6]
    assert clock.link_latency == 0  # the network has them
    with pytest.raises(NetworkError, match="has latencies of its own; leave --latency out"):
        cost.on(fabric((2e-6, 1e-6)), gossamer.task("allgather"))


def test_packets_take_a_microsecond_where_nobody_says_what_they_cost():
    plain = gossamer.plan("array:6", "broadcast", cost=TimeCost("16MiB", bandwidth="50GB/s"))
    told = gossamer.plan("array:6", "broadcast", cost=TimeCost("16MiB", bandwidth="50GB/s", overhead=0))
    least = 50 * 10**9 * LEAST_PACKET * Fraction(98, 100)  # slots are rounded up
    assert plain.schedule.cost.packet_bytes >= least > told.schedule.cost.packet_bytes
    assert plain.seconds > told.seconds >= plain.bound_seconds
    assert plain.bound_seconds == told.bound_seconds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bandwidth": 50}, "bandwidth 50 is 50 bytes a second; give a text with a unit, such as '50GB/s'"),
        ({"bandwidth": 400.0}, "such as '400GB/s', or a number such as 400e9"),
        ({"bandwidth": "50GB/s", "latency": 2}, "latency 2 is 2 seconds; give a text with a unit, such as '2us'"),
        ({"bandwidth": "50GB/s", "overhead": 500}, "overhead 500 is 500 seconds"),
    ],
)
def test_numbers_that_were_meant_in_other_units_are_refused(given, said):
    with pytest.raises(ModelError, match=said):
        TimeCost("1MiB", **given)


def test_slow_links_are_written_with_their_unit():
    assert TimeCost(100, bandwidth="50B/s", latency="2s").bandwidth == 50
    assert TimeCost(100, bandwidth=50e9, latency=2e-6).latency == Fraction(2, 10**6)
