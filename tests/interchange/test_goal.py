"""GOAL text follows its grammar, and a LogGP machine needs exactly the schedule's slots."""

from __future__ import annotations

import networkx as nx
import pytest

import gossamer
from gossamer.errors import NotApplicableError
from gossamer.interchange import export
from gossamer.interchange.goal import interfaces
from interchange.goal_replay import parse, replay

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "alltoall"),
    ("torus:4x4", "allreduce"),
    ("hypercube:4", "alltoall"),
    ("star:4", "allgather"),
    ("ring:7", "reduce-scatter"),
    ("array:3x4", "scatter"),
    ("hypercube:3", "broadcast"),
    ("fat-tree:k=2,h=3,capacity=constant", "allgather"),
]


@pytest.mark.parametrize(("network", "task"), CASES)
def test_a_logp_machine_takes_the_slots_of_the_schedule(tmp_path, network, task):
    schedule = gossamer.plan(network, task).schedule
    export(schedule, tmp_path / "x.goal", "goal", message_bytes=101 * schedule.parts)
    last, happened = replay(parse((tmp_path / "x.goal").read_text()))
    assert last == schedule.slot_count * (101 - 1)
    assert happened == 3 * schedule.hop_count


@pytest.mark.parametrize("network", ["torus:3x4", "star:4", "kautz:2,3", "complete:16"])
def test_no_two_links_of_a_node_have_the_same_interface(network):
    net = gossamer.network(network)
    nic = interfaces(net)
    assert nic.max() < 256
    for ends in (net.link_source, net.link_target):
        assert len({*zip(ends.tolist(), nic.tolist(), strict=True)}) == net.link_count


def test_a_degree_that_interfaces_cannot_number_is_refused(tmp_path):
    net = gossamer.network(nx.star_graph(17))
    schedule = gossamer.plan(net, "broadcast").schedule
    with pytest.raises(
        NotApplicableError, match=r"network interfaces 0\.\.255, enough for a degree of 16; .* degree 17"
    ):
        export(schedule, tmp_path / "x.goal", "goal")
    assert not list(tmp_path.iterdir())
