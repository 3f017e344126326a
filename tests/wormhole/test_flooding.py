"""Floods over several hops, nodes with one port, networks that are no grids, and prices in flits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import LinearCost, Rules
from gossamer.errors import GossamerError, ModelError
from gossamer.plots import draw
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.simulation.flits import Routers, simulate_schedule
from gossamer.wormhole import load, save, verify
from gossamer.wormhole.algorithm import with_limited_ports
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.direct_messages import direct_messages
from gossamer.wormhole.flooding import flooded, flooding_offers
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

NETWORKS = ("star:3", "dragonfly:a=3,h=1", "slim-fly:q=3", "hypercube:3", "array:3x2", "folded-clos:4,2", "ccc:3")


def planned(network, task, **asked):
    return gossamer.plan(network, task, switching="wormhole", **asked)


@pytest.mark.parametrize("ports", ["all", "one", "one-send", "one-receive"])
@pytest.mark.parametrize("spec", NETWORKS)
def test_every_network_and_ports(spec, ports, tmp_path):
    plan = planned(spec, "broadcast", rules=Rules(ports=ports), cost=LinearCost(message_bytes=64))
    assert plan.bound <= plan.completion_time
    assert plan.schedule.ports == ports
    save(plan.schedule, tmp_path / "plan.parquet")
    assert load(tmp_path / "plan.parquet") == plan.schedule
    save(plan.schedule, tmp_path / "plan.txt")
    assert load(tmp_path / "plan.txt") == plan.schedule


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(NETWORKS), st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True), st.integers(1, 5),
    st.sampled_from(["all", "one"]), st.integers(0, 3),
)  # fmt: skip
def test_floods_are_valid(spec, active, pieces, ports, seed):
    task = gossamer.task("partial-multinode-broadcast", active=active)
    cost = LinearCost(message_bytes=20)
    case = WormholeCase(gossamer.network(spec), task, cost, Rules(ports=ports), seed=seed)
    assert verify(flooded(case, pieces)).ok


@pytest.mark.parametrize(
    ("spec", "startup", "size", "pieces"),
    [
        ("array:8x8", 0, 1024, 64), ("array:8x8", 100, 1024, 8), ("array:16x16", 100, 1024, 9),
        ("array:4x4x4", 100, 300, 8),
    ],
)  # fmt: skip
def test_broadcast_on_a_mesh_is_within_twice_its_bound(spec, startup, size, pieces):
    plan = planned(
        spec, "broadcast", cost=LinearCost(startup=startup, message_bytes=size), algorithm="wormhole-flooding",
        options={"pieces": pieces},
    )  # fmt: skip
    assert plan.completion_time < 1.8 * plan.bound


@pytest.mark.parametrize("ports", ["one", "one-send"])
def test_with_one_port_messages_are_cut_in_few_pieces_too(ports):
    task = gossamer.task("partial-multinode-broadcast", active=[0, 5, 10])
    cost = LinearCost(startup=Fraction(10), message_bytes=1024)
    case = WormholeCase(gossamer.network("torus:4x4"), task, cost, Rules(ports=ports))
    offered = [offer.build().completion_time for offer in flooding_offers(case)]
    assert min(offered) <= min(flooded(case, k).completion_time for k in range(4, 12))


@pytest.mark.parametrize("ports", ["one", "one-send", "one-receive"])
@pytest.mark.parametrize("spec", ["array:3x4", "star:3", "torus:4x4"])
def test_builders_for_limited_ports_are_valid_and_no_slower_than_spread_steps(spec, ports):
    every = WormholeCase(gossamer.network(spec), gossamer.task("broadcast"), LinearCost(message_bytes=60))
    case = every.varied(rules=Rules(ports=ports))
    built = flooded(case, 2)
    assert verify(built).ok
    assert built.ports == ports
    assert built.completion_time <= with_limited_ports(flooded(every, 2), case).completion_time
    exchange = every.varied(task=gossamer.task("total-exchange"), rules=Rules(ports=ports))
    direct = direct_messages(exchange)
    assert verify(direct).ok
    assert bounds(exchange)[0].value <= direct.completion_time
    spread = with_limited_ports(direct_messages(exchange.varied(rules=Rules())), exchange)
    assert direct.completion_time <= spread.completion_time


@pytest.mark.parametrize("name", ["atd-opt", "ring-all-gather", "sequential-broadcasts", "slot-by-slot"])
def test_steps_are_spread_over_ports(name):
    algorithm = next(a for a in WORMHOLE_ALGORITHMS if a.name == name)
    case = WormholeCase(gossamer.network("torus:4x4"), gossamer.task("allgather"))
    whole = algorithm.build(case)
    for ports in ("one", "one-send", "one-receive"):
        limited = case.varied(rules=Rules(ports=ports))
        spread = with_limited_ports(whole, limited)
        assert verify(spread).ok
        assert spread.message_count == whole.message_count
        assert whole.step_count <= spread.step_count
        assert algorithm.build(limited) == spread.replace(algorithm=name)


def test_the_checker_finds_two_messages_at_one_port():
    plan = planned("torus:4x4", "broadcast", algorithm="sequential-broadcasts").schedule
    report = verify(plan.replace(ports="one"))
    assert set(report.counts) == {"ports"}
    assert "sends" in report.violations[0].text
    received = verify(plan.replace(ports="one-receive"))
    assert received.ok
    gather = planned("array:3", "gather", algorithm="direct").schedule
    root_gets_two = gather.replace(source=[2, 2], displacement=[[-2], [-1]]) if gather.step_count == 1 else gather
    assert verify(root_gets_two.replace(ports="one-send")).ok or gather.step_count == 1


def test_wrong_ways_on_networks_without_grid_are_named():
    plan = planned("folded-clos:4,2", "broadcast").schedule
    move = plan.displacement.copy()
    move[0] = plan.network.terminal_count - plan.source[0]  # a switch
    report = verify(plan.replace(displacement=move))
    assert "to a node that is no terminal or that it cannot reach" in str(report)
    twice = plan.replace(step=np.zeros_like(plan.step))
    assert "channel" in verify(twice).counts


def test_a_price_in_flits_is_that_of_the_simulator():
    for starts in ("barrier", "dependencies"):
        cost = LinearCost(startup=40, message_bytes=64, price="flits", starts=starts)
        plan = planned("torus:4x4", "allgather", cost=cost)
        assert plan.completion_time == simulate_schedule(plan.schedule, starts=starts).cycles
        assert plan.bound <= plan.completion_time
    one = planned("torus:4x4", "broadcast", cost=cost, rules=Rules(ports="one"))
    node = Routers(injection="node", ejection="node")
    assert one.completion_time == simulate_schedule(one.schedule, starts="dependencies", settings=node).cycles
    assert planned("star:3", "allgather", cost=cost).bound > 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"price": "flit"}, "price must be 'steps' or 'flits', got 'flit'"),
        ({"starts": "dependencies"}, "starts without barriers have a price in flits only"),
        ({"price": "flits", "starts": 3}, "starts must be 'barrier' or 'dependencies', got 3"),
    ],
)
def test_prices_that_are_none(words, text):
    with pytest.raises(ModelError, match=text):
        LinearCost(**words)


def test_rules_besides_ports_are_refused():
    with pytest.raises(GossamerError, match="of the rules only ports are a choice of wormhole switching"):
        planned("torus:4x4", "allgather", rules=Rules(buffer=3))


@pytest.mark.parametrize("kind", ["worms", "occupancy"])
def test_plans_on_networks_without_grid_are_drawn(kind, tmp_path):
    schedule = planned("star:3", "broadcast").schedule
    draw(schedule, tmp_path / "x.svg", kind=kind)
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("task", ["scatter", "gather", "alltoall", "allgather"])
@pytest.mark.parametrize("spec", ["star:3", "hypercube:3", "array:3x2", "folded-clos:4,2", "jellyfish:n=8,d=3,seed=1"])
def test_every_task_on_every_network(spec, task):
    cost = LinearCost(startup=10, message_bytes=16)
    for ports in ("all", "one"):
        plan = planned(spec, task, cost=cost, rules=Rules(ports=ports))
        assert plan.bound <= plan.completion_time <= 4 * plan.bound


def test_floods_end_where_those_that_lack_a_piece_are_far_from_it():
    """Between groups of a dragonfly all ways are longer than the shares of the diameter that few choices allow."""
    case = WormholeCase(gossamer.network("dragonfly:a=4,h=2,p=2"), gossamer.task("allgather"), LinearCost(startup=100))
    schedule = flooded(case, 1)
    assert verify(schedule)
    assert bounds(case)[0].value <= schedule.completion_time <= 1.7 * bounds(case)[0].value


def test_pieces_tried_are_for_the_messages_that_arrive_in_a_step_whichever_end_has_one_port():
    """What all nodes send in a step is what all receive: one a node, also where each could receive on every link."""
    tried = {}
    for ports in ("all", "one", "one-send", "one-receive"):
        case = WormholeCase(
            gossamer.network("torus:4x4"), gossamer.task("allgather"), LinearCost(startup=10, message_bytes=1024),
            Rules(ports=ports),
        )  # fmt: skip
        tried[ports] = [offer.options["pieces"] for offer in flooding_offers(case)]
    assert tried["one"] == tried["one-send"] == tried["one-receive"]
    assert max(tried["one"]) == max(tried["all"]) // 2  # the balance goes with the root of the ports
