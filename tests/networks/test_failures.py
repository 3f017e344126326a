"""Networks of which something has failed: what is left, under which names, and what was before."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError, ModelError, NetworkError
from gossamer.networks import Assumptions, Failed, Speeds, from_networkx, parse, read_edge_list, to_networkx
from gossamer.networks.derived import cables, without

SPECS = ["torus:3x4", "kautz:2,3", "fat-tree:k=2,h=3,capacity=1,2,3", "complete:5", "array:4", "star:3"]


@given(st.sampled_from(SPECS), st.data())
@settings(deadline=None, max_examples=60)
def test_what_is_left_is_the_graph_without_what_failed(spec, data):
    net = parse(spec)
    n = net.node_count
    nodes = data.draw(st.sets(st.integers(0, n - 1), max_size=2))
    links = data.draw(st.sets(st.integers(0, net.link_count - 1), max_size=4))
    terminals = data.draw(st.sets(st.integers(0, n - 1), max_size=2))
    kept = [v for v in range(net.terminal_count) if v not in nodes and v not in terminals]
    if not kept:
        return
    left = net.without(links, nodes, terminals)
    graph = to_networkx(net)
    graph.remove_edges_from((int(net.link_source[i]), int(net.link_target[i])) for i in links)
    graph.remove_nodes_from(nodes)
    known = left.find(Failed)
    assert known.sound is net
    assert known.nodes[: left.terminal_count].tolist() == kept
    assert {(int(known.nodes[u]), int(known.nodes[v])) for u, v in to_networkx(left).edges} == set(graph.edges)
    assert [left.node_name(i) for i in range(left.node_count)] == [net.node_name(int(i)) for i in known.nodes]
    assert np.array_equal(left.link_capacity, net.link_capacity[known.links])
    assert left.links_only


def test_a_pair_is_a_cable_and_a_number_is_one_link():
    net = parse("ring:5")
    assert net.without(links=[(1, 0)]).link_count == 8
    one = net.without(links=[0])
    assert one.link_count == 9
    assert one.spec == "ring:5 without link (0)->(1)"
    assert not one.two_way


def test_speeds_coordinates_and_parallel_links_stay_with_theirs(tmp_path):
    path = tmp_path / "a.edges"
    path.write_text("columns source target bandwidth\na b 1GB/s\na b 2GB/s\nb c 3GB/s\nc a 4GB/s\n")
    net = read_edge_list(path)
    left = net.without(links=[("a", "b")])
    assert left.find(Speeds).bandwidth.tolist() == [4e9, 3e9, 3e9, 4e9]
    assert left.labels == ("a", "b", "c")
    assert without(net, ["links:a->b"]).link_count == 8 - 2
    torus = parse("torus:3x3").without(nodes=[(1, 1)])
    assert torus.node_name(4) == "(1,2)"
    assert torus.node("(1,2)") == 4


def test_failures_after_failures_name_the_sound_network():
    net = parse("complete:5")
    left = net.without(nodes=[1]).without(nodes=["2"])
    known = left.find(Failed)
    assert known.sound is net
    assert known.nodes.tolist() == [0, 3, 4]
    assert left.labels == ("0", "3", "4")
    assert known.words == "node 1 and node 2"
    assert {(int(net.link_source[i]), int(net.link_target[i])) for i in known.links} == {
        (u, v) for u in (0, 3, 4) for v in (0, 3, 4) if u != v
    }


def test_words_of_failures():
    net = parse("torus:4x4")
    assert without(net, []) is net
    assert without(net, ["links:0-1,(0,0)-(1,0)", "nodes:5,(3,3)"]) == net.without([(0, 1), (0, 4)], [5, 15])
    assert without(net, ["terminals:15"]).terminal_count == 15
    assert without(net, ["random-links:25%"]).link_count == net.link_count - 16
    assert without(net, ["random-nodes:3"]).node_count == 13
    assert without(net, ["random-links:3"], 1) == without(net, ["random-links:3"], 1)
    assert without(net, ["random-links:3"], 1) != without(net, ["random-links:3"], 2)
    assert len(cables(net)) == 32


def test_hyphens_may_be_part_of_names():
    net = from_networkx(nx.Graph([("gpu-0", "gpu-1"), ("gpu-1", "sw-0")]))
    assert without(net, ["links:gpu-0-gpu-1"]).link_count == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("links", "what fails must be such as"),
        ("links:", "what fails must be such as"),
        ("links:0", "a link that fails must be two nodes such as 0-1"),
        ("links:0-5", "has no link '0-5'; node 0 has links to 1, 3, 4, 12 "),
        ("links:0->5", "has no link from node 0 to node 5"),
        ("links:0-99", r"node 99 is outside 0\.\.15"),
        ("nodes:99", r"node 99 is outside 0\.\.15"),
        ("nodes:x", "has no node 'x'"),
        ("random-links:101%", "a number up to 32 or a share such as 2%, got 'random-links:101%'"),
        ("random-links:1.5", "a number up to 32"),
        ("random-nodes:-1", "a number up to 16"),
        ("random-nodes:16", "no terminal is left"),
        ("random-terminals:100%", "no terminal is left"),
    ],
)
def test_failures_that_cannot_be_are_refused(words, message):
    with pytest.raises(NetworkError, match=message) as caught:
        without(parse("torus:4x4"), [words])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", [-999999999, 2**63, 1.5])
def test_seeds_that_are_none_are_refused(seed):
    with pytest.raises(ModelError, match="seed must be a whole number"):
        without(parse("torus:4x4"), ["random-links:1"], seed)


@pytest.mark.parametrize(
    ("link", "message"), [(99, r"link 99 is outside 0\.\.9"), ("01", "a number or a pair of nodes")]
)
def test_links_that_are_none_are_refused(link, message):
    with pytest.raises(NetworkError, match=message):
        parse("ring:5").without(links=[link])


def test_a_damaged_network_is_planned():
    found = gossamer.plan(parse("torus:4x4").without(links=[(0, 1)]), "allgather")
    assert found.verification.ok
    assert found.completion_time >= found.bound


def test_ranges_and_lists_of_nodes_and_links(tmp_path):
    ring, box = parse("ring:12"), parse("dgx-h100:2,gpus=4")

    def gone(net, *words):
        left = without(net, words).find(Failed)
        return sorted(set(range(net.node_count)) - set(left.nodes.tolist()))

    assert gone(ring, "nodes:4-7") == gone(ring, "nodes:[4-7]") == gone(ring, "nodes:4-6,7") == [4, 5, 6, 7]
    assert gone(ring, "nodes:2", "nodes:0-1,5") == [0, 1, 2, 5]
    assert gone(box, "nodes:box0.gpu1-3") == gone(box, "nodes:box0.gpu1-box0.gpu3") == [1, 2, 3]
    assert gone(box, "nodes:box[0-1].gpu[0,3]") == [0, 3, 4, 7]
    assert without(ring, ["terminals:8-11"]).terminal_count == 8
    links = without(box, ["links:box[0-1].gpu0-rail0,box0.gpu1-rail1"])
    assert links.link_count == box.link_count - 6
    grid = parse("torus:4x4")
    assert gone(grid, "nodes:(0,1),(2,3)") == [1, 11]
    (tmp_path / "named.edges").write_text("n-1 n-2\nn-2 n-3\n4-7 n-1\nn-3 4-7\n")
    named = read_edge_list(tmp_path / "named.edges")
    assert gone(named, "nodes:4-7") == [named.node("4-7")]
    assert without(named, ["links:n-1-n-2"]).link_count == named.link_count - 2


def test_one_of_several_cables_fails():
    net = parse("dgx-1:v100")  # links of capacity 2 are two cables
    left = without(net, ["links:0-3*1"])
    pairs = [net.link_between(*ends) for ends in ((0, 3), (3, 0))]
    assert left.link_count == net.link_count
    assert left.link_capacity.tolist() == [c - (i in pairs) for i, c in enumerate(net.link_capacity.tolist())]
    assert left.spec == "dgx-1:v100 without link 0-3 (1 of 2)"
    assert without(net, ["links:0-3*2"]) == without(net, ["links:0-3"]) == net.without(links=[(0, 3, 2)])
    assert without(net, ["links:0-3*1,0-3*1"]) == without(net, ["links:0-3"])
    twice = without(left, ["links:1-2*1"])
    assert (twice.link_capacity == 2).sum() == (net.link_capacity == 2).sum() - 4
    assert twice.find(Failed).sound is net
    slower = gossamer.plan(left, "allgather", cost=gossamer.TimeCost("1MiB"))
    assert slower.verification.ok
    assert slower.seconds > gossamer.plan(net, "allgather", cost=gossamer.TimeCost("1MiB")).seconds


def test_links_that_are_the_speed_of_several_cables_become_slower():
    net = parse("mi250x:2")
    left = without(net, ["links:box0.gcd0-box0.gcd1*3"])
    link = net.link_between(0, 1)
    assert net.find(Speeds).bandwidth[link] == 200e9
    assert left.find(Speeds).bandwidth[link] == 50e9
    assert (left.find(Speeds).bandwidth != net.find(Speeds).bandwidth).sum() == 2
    assert without(left, ["links:box0.gcd0-box0.gcd1*1"]).link_count == net.link_count - 2
    half = without(parse("dgx-h100"), ["links:gpu[0-7]-nvswitch*9"])
    assert set(half.find(Speeds).bandwidth.tolist()) == {225e9}
    plans = [gossamer.plan(each, "allgather") for each in (half, "dgx-h100:nvlinks=9")]
    assert plans[0].seconds == pytest.approx(plans[1].seconds, rel=1e-6)
    with pytest.raises(NetworkError, match="gcd0-gcd1 is 4 cables, so that 5 of them cannot fail"):
        without(parse("mi250x"), ["links:0-1*5"])
    with pytest.raises(NetworkError, match=r"cables that fail must be a whole number in 1\.\.2147483647, got 0"):
        parse("mi250x").without(links=[(0, 1, 0)])
    with pytest.raises(NetworkError, match="some of several cables fail both ways"):
        without(net, ["links:0->1*1"])


def test_of_parallel_links_the_fastest_cable_fails_first(tmp_path):
    path = tmp_path / "a.edges"
    path.write_text("columns source target capacity bandwidth\na b 2 1GB/s\na b 1 2GB/s\nb c 1 3GB/s\n")
    net = read_edge_list(path)
    left = without(net, ["links:a-b*2"])
    kept = {(b, c) for b, c in zip(left.find(Speeds).bandwidth.tolist(), left.link_capacity.tolist(), strict=True)}
    assert kept == {(1e9, 1), (3e9, 1)}


def test_schedules_are_repaired_where_cables_of_a_capacity_fail():
    sound = gossamer.plan("dgx-1:v100", "allgather", cost=gossamer.TimeCost("1MiB"))
    left = without(sound.schedule.network, ["links:0-3*1"])
    repaired = gossamer.replan(sound, left)
    assert gossamer.verify(repaired.schedule).ok
    assert repaired.seconds >= gossamer.plan("dgx-1:v100", "allgather", cost=gossamer.TimeCost("1MiB")).seconds


@pytest.mark.parametrize(
    "task",
    ["alltoall", "allgather", *(pytest.param(task, marks=pytest.mark.slow) for task in ("broadcast", "allreduce"))],
)
def test_schedules_are_repaired_where_links_become_slower_because_some_of_their_cables_failed(task):
    timed = gossamer.plan("mi250x", task, cost=gossamer.TimeCost("1MiB"))
    machine = gossamer.network("mi250x")
    cable = next(link for link in range(machine.link_count) if machine.cable_counts[link] > 1)
    ends = int(machine.link_source[cable]), int(machine.link_target[cable])
    left = timed.schedule.network.without(links=[(*ends, 1)])
    repaired = gossamer.replan(timed, left)
    assert gossamer.verify(repaired.schedule).ok
    slow = repaired.case.network.link_between(*ends)
    assert repaired.case.network.link_occupancy[slow] > timed.schedule.network.link_occupancy[cable]
    anew = gossamer.plan(machine.without(links=[(*ends, 1)]), task, cost=gossamer.TimeCost("1MiB"))
    assert repaired.seconds >= anew.bound_seconds
    assert repaired.seconds <= (1.5 if task == "allreduce" else 1.25) * anew.seconds  # its form is not chosen again


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("links:0-9", r"has no link '0-9'; node 0 has links to 1, 15 \(did you mean '0-1'\?\)"),
        ("nodes:7-4", "a range must be such as 0-7, got '7-4'"),
        ("nodes:[4-", r"brackets do not match in '\[4-'"),
        ("nodes:4-99", r"node 16 is outside 0\.\.15"),
        ("nodes:gpu[0-9999999]", "over 800,000 names"),
        ("links:0-1*2", r"is 1 cable, so that 2 of them cannot fail"),
    ],
)
def test_odd_ranges_are_refused(word, message):
    with pytest.raises(NetworkError, match=message):
        without(parse("ring:16"), [word])


def test_speeds_in_the_first_edge_and_headers_of_tables_are_columns(tmp_path):
    for name, text in {
        "units": "a b 50GB/s 1us\nb c 25GB/s 2us\n",
        "header": "source target bandwidth latency\na b 50GB/s 1us\nb c 25GB/s 2us\n",
        "columns": "columns source target bandwidth latency\na b 50GB/s 1us\nb c 25GB/s 2us\n",
    }.items():
        (tmp_path / f"{name}.edges").write_text(text)
    units, header, told = (read_edge_list(tmp_path / f"{name}.edges") for name in ("units", "header", "columns"))
    assert units == header == told
    assert units.find(Speeds).bandwidth.tolist() == [50e9, 50e9, 25e9, 25e9]
    assert units.find(Assumptions).every[0].text == "columns taken as source target bandwidth latency, by their units"
    assert told.find(Assumptions) is header.find(Assumptions) is None
    (tmp_path / "mixed.edges").write_text("a b 2\nb c 25GB/s\n")
    with pytest.raises(FileFormatError, match="line 2: 'b c 25GB/s' has a speed, and lines before have capacities"):
        read_edge_list(tmp_path / "mixed.edges")
