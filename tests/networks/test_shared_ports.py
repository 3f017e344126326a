"""Ports that links share: what a network says of them, files and graphs, and plans on them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Rules
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import bundled
from gossamer.bounds import best_bound
from gossamer.errors import GossamerError, NetworkError, ScheduleError
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.graphs.priced_trees import TreeGrowth
from gossamer.networks import (
    Network,
    SharedPorts,
    from_networkx,
    parse,
    read_network,
    renumbered,
    to_networkx,
    write_network,
)
from gossamer.questions.cases import Case
from gossamer.questions.costs import clocked
from gossamer.questions.tasks import task
from gossamer.schedules import Schedule, Symmetry, load
from gossamer.verification import verify

SAMPLE = Path(__file__).parent.parent / "data" / "networks" / "server_ports.edges"


def of_nodes(network: Network, **fields: object) -> Network:
    """The network with a port for each node, as with one port for all links of a node."""
    return network.with_ports(SharedPorts(network.link_source, network.link_target, **fields))  # type: ignore[arg-type]


FULL = gossamer.network("complete:4")
SERVER = of_nodes(FULL)


def test_a_port_for_each_node_is_the_rule_of_one_port():
    """The same hops are wrong at ports that links share as under the rule, and the same schedules are valid."""
    plan = gossamer.plan(FULL, "alltoall", rules=Rules(ports="one")).schedule
    explicit = plan.expand() if plan.invariant else plan
    shared = explicit.replace(network=SERVER, rules=Rules())
    assert verify(shared).ok
    together = explicit.replace(slot=np.minimum(explicit.slot, 1), phases=None)
    by_rule = verify(together).counts
    by_port = verify(together.replace(network=SERVER, rules=Rules())).counts
    assert by_port["shared port"] == np.count_nonzero(
        np.isin(np.arange(12), [v.packets[0] for v in verify(together).violations if "port" in v.kind])
    )
    assert {"send port", "receive port"} & set(by_rule)


@pytest.mark.parametrize("name", ["alltoall", "allgather", "scatter", "gather", "reduce-scatter", "broadcast"])
def test_plans_on_a_full_switch_take_what_they_take_with_one_port(name):
    outcome = gossamer.plan(SERVER, name)
    alone = gossamer.plan(FULL, name, rules=Rules(ports="one"))
    assert outcome.verification.ok
    assert outcome.schedule.completion_time <= alone.schedule.completion_time + (name == "broadcast")
    if name != "broadcast":
        assert outcome.bounds[0].value == alone.bounds[0].value == outcome.schedule.completion_time


def test_the_violation_names_hop_and_link():
    schedule = Schedule(SERVER, task("scatter"), Rules(), [0, 0, 1], [0, 1, 2], [0, 1, 2])
    found = verify(schedule)
    assert found.counts == {"shared port": 1}
    assert (
        str(found.violations[0])
        == "shared port: slot 0: 0->2 carries packet 1 through a shared NIC or uplink that is full"
    )


def test_links_that_are_slower_than_their_ports_are_fed_in_turn():
    """Two slow links through a port twice as fast: a packet each in every two slots, begun one after the other."""
    star = Network("star", 3, [0, 0, 1, 2], [1, 2, 0, 0], link_occupancy=2, links_only=True)
    fast = star.with_ports(SharedPorts([0, 0, -1, -1], [-1, -1, -1, -1]))
    slow = star.with_ports(SharedPorts([0, 0, -1, -1], [-1, -1, -1, -1], 1, 2))
    times = [gossamer.plan(net, "scatter").schedule.completion_time for net in (star, fast, slow)]
    assert times == [2, 3, 4]
    for net, time in zip((star, fast, slow), times, strict=True):
        assert best_bound(Case(net, task("scatter"))).value == time


def test_ports_of_receivers_count_at_the_end_of_the_way():
    late = Network("late", 3, [0, 1], [2, 2], link_occupancy=[1, 1], link_latency=[0, 2], links_only=True)
    net = late.with_ports(SharedPorts([-1, -1], [0, 0]))
    rules, gather = Rules(), task("gather", root=2)
    both = Schedule(net, gather, rules, [0, 0], [0, 1], [0, 1])
    assert verify(both).ok  # they arrive in slots 1 and 3
    assert verify(Schedule(net, gather, rules, [0, 2], [1, 0], [1, 0])).counts == {"shared port": 1}


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_reversing_and_turning_round_keeps_ports(seed):
    rng = np.random.default_rng(seed)
    net = gossamer.network("array:2x3")
    ports = SharedPorts(*rng.integers(-1, 3, (2, net.link_count)), rng.integers(1, 3, 3))
    shared = net.with_ports(ports)
    assert shared.transposed.transposed == shared
    assert shared.without_time == net
    outcome = gossamer.plan(shared, "allgather", algorithm="congestion-priced-trees")
    back = outcome.schedule.reverse()
    assert verify(back).ok
    assert back.completion_time == outcome.schedule.completion_time
    order = rng.permutation(6)
    moved = renumbered(shared, order, "moved")
    assert renumbered(moved, np.argsort(order), "back") == shared


def test_two_way_asks_the_ports_too():
    assert SERVER.two_way
    assert not FULL.with_ports(SharedPorts(FULL.link_source, np.full(12, -1))).two_way


def test_equal_ports_are_equal_whatever_their_numbers_and_names():
    other = SharedPorts(FULL.link_source + 3, FULL.link_target + 3, 1, 1, None, [f"x{i}" for i in range(7)])
    assert FULL.with_ports(other) == SERVER
    assert FULL.with_ports(other).shared_ports.names == ("x3", "x4", "x5", "x6")
    assert of_nodes(FULL, capacity=2) != SERVER
    assert FULL.with_ports(SharedPorts([-1] * 12, [-1] * 12)) == FULL


def test_failures_keep_ports():
    left = SERVER.without(links=[(0, 1)], nodes=[3])
    assert left.shared_ports.sending.tolist() == [0, 1, 2, 2]
    assert gossamer.plan(left, "alltoall").verification.ok


@pytest.mark.parametrize("suffix", ["edges", "json", "graphml"])
def test_files_give_equal_networks_back(tmp_path, suffix):
    for net in (read_network(SAMPLE), SERVER, of_nodes(FULL.with_times(3, 1), capacity=[1, 2, 1, 1], occupancy=2)):
        path = tmp_path / f"net.{suffix}"
        write_network(net, path)
        again = read_network(path)
        assert again == net
        assert again.shared_ports.names == net.shared_ports.names


def test_graphs_have_ports():
    assert from_networkx(to_networkx(SERVER)) == SERVER
    graph = nx.Graph()
    graph.add_edge("a", "b", source_port="x", target_port="y")
    with pytest.raises(NetworkError, match="need a directed graph"):
        from_networkx(graph)
    with pytest.raises(NetworkError, match="must tell each port by name"):
        from_networkx(nx.DiGraph([(0, 1)], ports="nothing"))


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("net", [SERVER, of_nodes(FULL.with_times(2, 1), occupancy=[1, 2, 1, 2])])
def test_schedules_on_ports_come_back_from_files(tmp_path, net, text):
    schedule = gossamer.plan(net, "allgather").schedule
    path = tmp_path / ("plan.txt" if text else "plan.parquet")
    schedule.save(path)
    again = load(path)
    assert again == schedule
    assert verify(again).ok


def test_the_clock_of_ports_in_seconds():
    net = read_network(SAMPLE)
    found = clocked(net, 2**20)
    assert int(found.network.shared_ports.occupancy[0]) == found.network.uniform_occupancy
    graph = to_networkx(net)  # a link is no faster than its port
    graph.graph["ports"] = {f"a{i}": {"bandwidth": 1e11 if i == 0 else 3e11} for i in range(4)}
    mixed = clocked(from_networkx(graph), 2**20).network
    per_port = mixed.shared_ports.occupancy
    assert per_port[0] == 3 * per_port[1]
    assert mixed.link_occupancy[:3].tolist() == [per_port[0]] * 3


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("port x", "no link goes through port 'x'"),
        ("port a0", "port 'a0' is given twice"),
        ("port", "expected 'port NAME'"),
        ("port b capacity", "expected 'port NAME'"),
        ("port b width=2", "a port has no 'width'"),
        ("port b capacity=0", "capacity must be"),
        ("port b bandwidth=5", "must have a unit"),
    ],
)
def test_bad_lines_are_refused_in_one_line(tmp_path, line, fault):
    path = tmp_path / "bad.edges"
    path.write_text(SAMPLE.read_text() + line + "\n")
    with pytest.raises(GossamerError, match=fault) as caught:
        read_network(path)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_a_port():
    sending, receiving = FULL.link_source, FULL.link_target
    for fields, fault in (
        ({"capacity": 0}, "capacity of every port"),
        ({"occupancy": [1, 2, 1]}, "for each of 4"),
        ({"occupancy": 2}, "more than that of a link"),
        ({"bandwidth": np.array([1.0, 1, 1, np.nan])}, "finite"),
        ({"names": ["a", "a", "b", "c"]}, "3 names are given for 4 ports"),
    ):
        with pytest.raises(NetworkError, match=fault):
            FULL.with_ports(SharedPorts(sending, receiving, **fields))
    with pytest.raises(NetworkError, match="from 0 on"):
        SharedPorts([-2], [0])
    with pytest.raises(NetworkError, match="for each of 12 links"):
        FULL.with_ports(SharedPorts([0], [0]))
    with pytest.raises(ScheduleError, match="share ports"):
        Symmetry(SERVER)


def test_a_bound_of_ports_in_parts():
    """Parts pass a port as a fluid: three messages take three steps through one port, whatever links there are."""
    split = Case(SERVER, task("alltoall"), Rules(split=True))
    assert best_bound(split).value == Fraction(3)


def test_an_uplink_of_several_nodes_bounds_what_crosses():
    """Two servers of two nodes, with a cable for each pair of nodes and one port for both cables, out and in."""
    net = Network("rails", 4, [0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 0, 3, 3, 0, 2, 1], links_only=True)
    across = np.where(net.link_source // 2 == net.link_target // 2, -1, net.link_source // 2)
    shared = net.with_ports(SharedPorts(across, np.where(across < 0, -1, 1 - across)))
    assert gossamer.plan(net, "alltoall").completion_time == 2
    bound = best_bound(Case(shared, task("alltoall")))
    assert gossamer.plan(shared, "alltoall").completion_time >= bound.value == 4
    assert "through 1 shared NIC or uplink" in bound.witness


# -- prices ----------------------------------------------------------------------------------------------------------


def shared_at_random(spec, seed):
    """A network whose links share ten ports at random, each of them both ways."""
    net, draw = parse(spec).with_times(2, 0), np.random.default_rng(seed)
    sides = draw.integers(-1, 10, (2, net.link_count))
    return net.with_ports(SharedPorts(*sides, 2, draw.integers(1, 3, 10)))


def passages(net, link):
    """Return the slots of each port, out and then in, that hops over links take, of what it passes at once."""
    ports = net.shared_ports
    used = [
        np.bincount(side[link][side[link] >= 0], minlength=ports.count) for side in (ports.sending, ports.receiving)
    ]
    each = np.asarray(ports.occupancy) / np.asarray(ports.capacity)
    return np.concatenate([u * each for u in used])


@pytest.mark.parametrize("bundles", [False, True])
def test_loads_of_ports_are_those_of_the_trees(bundles):
    net = shared_at_random("dragonfly:a=4,h=1", 1)
    growth = TreeGrowth(LinkResources.of(net, Rules()))
    demand = demand_of(Case(net, task("alltoall")))
    if bundles:
        forest = bundled(growth, demand, 0.03, 0)
    else:
        forest = None
        for power in (4.0, 12.0):
            forest = growth.grow(demand, np.ones(net.node_count, bool), forest, power=power)
    link = np.concatenate([forest.link[a:b] for a, b in zip(forest.begin, forest.end, strict=True)])
    assert np.allclose(growth.loads[3], passages(net, link))
    assert growth.congestion >= growth.loads[3].max()


@pytest.mark.parametrize(("name", "most"), [("alltoall", 88), ("allgather", 37)])
def test_prices_lead_around_busy_ports(name, most):
    """Without prices of ports it took 196 and 78 steps."""
    assert gossamer.plan(shared_at_random("dragonfly:a=4,h=1", 1), name).completion_time <= most


def test_a_graph_names_the_ports_of_the_links_that_have_some():
    """Links that go through no port on one side, or on both, say nothing of it."""
    star = Network("star", 3, [0, 0, 1, 2], [1, 2, 0, 0], links_only=True)
    net = star.with_ports(SharedPorts([0, 0, -1, -1], [-1, -1, -1, 1], names=["out", "in"]))
    told = {(u, v): data for u, v, data in to_networkx(net).edges(data=True)}
    assert (told[0, 1]["source_port"], told[0, 2]["source_port"]) == ("out", "out")
    assert told[2, 0]["target_port"] == "in"
    assert not {"source_port", "target_port"} & set(told[1, 0])
    assert "target_port" not in told[0, 1]
