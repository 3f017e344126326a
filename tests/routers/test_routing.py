"""Routing functions: no deadlock by proof and in overload, latency by formula on every pair, any network."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
import gossamer.simulation.flits.traffic
from gossamer.errors import ModelError
from gossamer.simulation.flits import (
    ROUTINGS,
    MessageTrace,
    Routers,
    TrafficSettings,
    deadlock_freedom,
    routing,
    simulate_trace,
    simulate_traffic,
)
from gossamer.simulation.flits.routing.path_tables import WrittenRoutes, written_routes
from gossamer.simulation.flits.routing.routing_function import RoutedMessages

NETWORKS = (
    "torus:4x4", "torus:5x3", "array:4x4", "array:3x3x2", "hypercube:3", "ring:7", "star:4", "fat-tree:k=3,h=2",
    "de-bruijn:2,3", "ccc:3", "dragonfly:a=3,h=1", "slim-fly:q=3", "folded-clos:4,2", "jellyfish:n=10,d=3,seed=1",
)  # fmt: skip
LANES = Routers(virtual_channels=8)


def covered(spec):
    """The routing functions of a network that are meant to be free of deadlock."""
    found = []
    for name in ROUTINGS:
        try:
            found.append(routing(gossamer.network(spec), name, LANES))
        except ModelError:
            continue  # not for this network
    return [rule for rule in found if rule.name != "shortest-path"]


@pytest.mark.parametrize("spec", NETWORKS)
def test_no_routing_function_deadlocks(spec):
    network = gossamer.network(spec)
    rules = covered(spec)
    assert len(rules) >= 3
    for rule in rules:
        assert deadlock_freedom(rule).free, rule.name
        settings = TrafficSettings(routing=rule.name, routers=LANES, warmup=0, measured=800)
        run = simulate_traffic(network, "uniform", 2.0, settings=settings)
        assert run.deadlock is None, rule.name
        assert run.throughput > 0.05, rule.name


@pytest.mark.parametrize("spec", ["torus:4x4", "torus:5x4", "torus:2x3", "array:4x3", "fat-tree:k=3,h=2", "ccc:3"])
def test_routes_written_once_are_those_that_messages_get(spec):
    network = gossamer.network(spec)
    seen = 0
    for name in ROUTINGS:
        try:
            rule = routing(network, name, LANES)
        except ModelError:
            continue  # not for this network
        if rule.draws is None:
            assert name in ("valiant", "ugal")
            continue
        seen += 1
        random = np.random.default_rng(4)
        source, target = random.integers(0, network.terminal_count, (2, 500))
        known = WrittenRoutes(rule, rule.draws)
        drawn = known.draw(500, np.random.default_rng(9))
        entry = (source * network.terminal_count + target << rule.draws) + (1 << np.arange(rule.draws)) @ drawn
        route, begin = np.zeros(500 * rule.row_size, np.int32), np.arange(500) * rule.row_size + 1
        rule.write(RoutedMessages(route, begin, source, target, np.random.default_rng(9)))
        for a, b in zip(begin, known.begin[entry], strict=True):
            length = route[a - 1] + 2
            assert route[a - 1 : a - 1 + length].tolist() == known.route[b - 1 : b - 1 + length].tolist(), name
    assert seen >= 3


@pytest.mark.parametrize("name", ["dimension-order", "one-turn", "adaptive", "layered"])
def test_runs_are_the_same_with_routes_written_once_and_for_each_message(monkeypatch, name):
    settings = TrafficSettings(message_flits=1, routing=name, routers=LANES, warmup=0, measured=500)
    assert written_routes(routing(gossamer.network("torus:4x4"), name, LANES), 1e6) is not None
    found = []
    for rule in (written_routes, lambda rule, messages: None):
        monkeypatch.setattr(gossamer.simulation.flits.traffic, "written_routes", rule)
        run = simulate_traffic(gossamer.network("torus:4x4"), "uniform", 0.4, settings=settings).to_dict()
        found.append({key: value for key, value in run.items() if key != "seconds"})
    assert found[0] == found[1]
    assert found[0]["messages"] > 2000


def test_routes_are_written_once_only_where_that_is_worth_it():
    rule = routing(gossamer.network("torus:4x4"))
    assert rule.draws == 2
    assert written_routes(rule, 16 * 16 * 4 - 1) is None
    assert written_routes(rule, 16 * 16 * 4) is not None
    assert written_routes(routing(gossamer.network("torus:32x32")), 1e9) is None


def test_the_routes_written_last_are_kept_for_the_same_network_rule_and_routers():
    network = gossamer.network("torus:4x4")
    last = written_routes(routing(network), 1e6)
    assert written_routes(routing(network), 2e6) is last
    others = [
        routing(gossamer.network("torus:4x4")),
        routing(network, "one-turn", LANES),
        routing(network, settings=Routers(ejection="node")),
    ]
    for rule in others:
        new = written_routes(rule, 1e6)
        assert new is not last
        alone = WrittenRoutes(rule, rule.draws)
        assert np.array_equal(new.route, alone.route)
        assert np.array_equal(new.begin, alone.begin)


@pytest.mark.parametrize("spec", NETWORKS)
def test_every_pair_takes_the_zero_load_latency(spec):
    """One message after the other: shortest paths where the function says so, the formula everywhere."""
    network = gossamer.network(spec)
    terminals = network.terminal_count
    source, target = (x.reshape(-1) for x in np.divmod(np.arange(terminals**2), terminals))
    away = source != target
    source, target = source[away], target[away]
    trace = MessageTrace(200 * np.arange(source.size), source, target, 1 + source % 4)
    near = {u: network.breadth_first(u).distance for u in range(terminals)}
    shortest = np.array([near[u][v] for u, v in zip(source.tolist(), target.tolist(), strict=True)])
    for rule in covered(spec):
        settings = TrafficSettings(routing=rule.name, routers=LANES)
        run = simulate_trace(network, trace, settings=settings)
        latency = run.flows[1][source, target]
        hops = (latency - LANES.zero_load_latency(0, 1) - trace.flits + 1) / (LANES.routing_delay + LANES.link_latency)
        assert (hops == hops.astype(int)).all(), rule.name
        assert (hops >= shortest).all(), rule.name
        if rule.name not in ("valiant", "up-down"):
            assert (hops == shortest).all(), rule.name
        assert run.flit_hops == int((hops * trace.flits).sum()), rule.name
        assert run.undelivered == 0


def test_a_ring_without_dateline_is_told_link_by_link():
    proof = deadlock_freedom(routing(gossamer.network("torus:5"), "xy", Routers(dateline="none")))
    assert not proof.free
    assert len(proof.circle) == 5
    assert "(0)->(1) virtual channel 0, then (1)->(2) virtual channel 0" in str(proof)


def test_shortest_paths_on_a_ring_can_deadlock_and_layers_cannot():
    network = gossamer.network("ring:8")
    assert not deadlock_freedom(routing(network, "shortest-path", LANES)).free
    layered = routing(network, "lash", LANES)
    assert layered.layers == 2
    assert deadlock_freedom(layered).free


@pytest.mark.parametrize("spec", ["ring:8", "star:4", "kautz:2,3"])
def test_hop_classes_grow_from_hop_to_hop_and_load_links_evenly(spec):
    network = gossamer.network(spec)
    rule = routing(network, "hop-classes", LANES)
    (rows,) = rule.every_route()
    kind, link = rows & 255, rows >> 8
    within = rows[:, 1:] >= 0
    assert (kind[:, 1:][within] == kind[:, :-1][within] + 1).all()
    used = rows >= 0
    assert set(kind[used].tolist()) == set(range(1, rule.classes.size))  # every class is used
    lanes = rule.classes[1:]
    assert int(np.bitwise_or.reduce(lanes)) == 255
    assert int(lanes.sum()) == 255  # no channel is of two classes
    once = routing(network, "shortest-path", LANES)
    (before,) = once.every_route()
    load = [np.bincount(x, minlength=network.link_count) for x in (link[used], (before >> 8)[before >= 0])]
    assert load[0].sum() == load[1].sum()  # shortest, both
    assert load[0].max() <= load[1].max()
    with pytest.raises(ModelError, match="one for each hop of the longest path"):
        routing(network, "hop-classes", Routers(virtual_channels=1))


def test_adaptive_escapes_need_a_dateline_on_rings():
    network = gossamer.network("torus:5x5")
    assert deadlock_freedom(routing(network, "adaptive", Routers(virtual_channels=3))).free
    bare = Routers(virtual_channels=3, dateline="none")
    assert not deadlock_freedom(routing(network, "adaptive", bare)).free
    with pytest.raises(ModelError, match="routing 'adaptive' needs virtual_channels of at least 3 here, got 2"):
        routing(network, "adaptive", Routers(virtual_channels=2))


def test_ugal_takes_detours_where_they_pay():
    network = gossamer.network("torus:8x8")
    routers = Routers(virtual_channels=8, buffer_depth=8, injection="node", ejection="node")

    def run(name, pattern, load):
        settings = TrafficSettings(routing=name, routers=routers, warmup=500, measured=2000, message_flits=1)
        return simulate_traffic(network, pattern, load, settings=settings)

    light, heavy = run("ugal", "uniform", 0.05), run("ugal", "tornado", 0.35)
    assert light.detours < 0.1 * light.messages
    assert heavy.detours > 0.05 * heavy.messages
    assert run("valiant", "uniform", 0.05).mean_hops > 1.5 * light.mean_hops


def test_several_terminals_share_a_router():
    network = gossamer.network("array:2")
    node = Routers(injection="node", ejection="node")
    trace = MessageTrace([0, 100], [0, 0], [1, 3], [4, 4])
    run = simulate_trace(network, trace, settings=TrafficSettings(terminals=2, routers=node))
    assert run.flows[1][0, [1, 3]].tolist() == [node.zero_load_latency(0, 4), node.zero_load_latency(1, 4)]
    with pytest.raises(ModelError, match="injection 'node' is needed"):
        simulate_trace(network, trace, settings=TrafficSettings(terminals=2))
    busy = simulate_traffic(
        network, "uniform", 0.9, settings=TrafficSettings(terminals=4, routers=node, warmup=0, measured=2000)
    )
    assert busy.saturated  # 4 of 7 messages of 4 terminals cross one link


@pytest.mark.parametrize("words", [("no-such",), ("negative-first",), ("xy", "star:4")])
def test_what_does_not_fit_is_told_in_one_line(words):
    with pytest.raises(ModelError) as error:
        routing(gossamer.network(words[1] if len(words) > 1 else "torus:4x4"), words[0])
    assert "\n" not in str(error.value)


def test_the_help_of_traffic_names_every_routing_function():
    told = TrafficSettings.__doc__.split("The routing function:")[1].split(".")[0]
    assert set(told.replace("\n", " ").replace(" or ", ", ").replace(" ", "").split(",")) == {"default", *ROUTINGS}


def test_networks_of_one_way_links_are_told_what_up_down_lacks():
    with pytest.raises(ModelError, match=r"^kautz:2,2 has no way up towards a root and then down from 1 to 0;"):
        routing(gossamer.network("kautz:2,2"), "up-down")
    assert routing(gossamer.network("kautz:2,2"), "layered").longest == 2
