"""Bounds from what shared ports must pass."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer import Rules, task
from gossamer.bounds import best_bound
from gossamer.bounds.ports import shared_port_bounds
from gossamer.networks import SharedPorts
from gossamer.questions.cases import Case


def pairs(n, **words):
    """A full switch of n nodes, two nodes behind each port."""
    full = gossamer.network(f"complete:{n}")
    return full.with_ports(SharedPorts(full.link_source // 2, full.link_target // 2, **words))


def by_name(network, word, rules=None):
    return {bound.name: bound for bound in shared_port_bounds(Case(network, task(word), rules))}


@pytest.mark.parametrize(
    ("word", "expected"),
    # behind each port two nodes that get 7 messages each; an allreduce has as many contributions on their way
    [("allgather", 14), ("alltoall", 14), ("allreduce", 28)],
)
def test_what_two_nodes_get_goes_through_their_port(word, expected):
    best = best_bound(Case(pairs(8), task(word)))
    assert best.value == expected
    found = gossamer.plan(pairs(8), word)
    assert expected <= found.completion_time <= 1.1 * expected


def test_capacity_occupancy_and_the_way_to_the_port_count():
    assert by_name(pairs(8, capacity=2), "allgather")["port receives"].value == 7
    slow = gossamer.network("complete:8").with_times(3, 1)
    ports = SharedPorts(slow.link_source // 2, slow.link_target // 2, 1, 2)
    found = by_name(slow.with_ports(ports), "allgather")["port receives"]
    assert found.value == (3 - 2) + 1 + 14 * 2  # on the link alone, under way, and in the port
    assert found.witness == (
        "14 messages must pass p0, shared by all links into nodes 0, 1, one at a time, 2 steps each"
    )
    split = by_name(slow.with_ports(ports), "allgather", Rules(split=True))["port receives"]
    assert split.value == 1 + 14 * 2  # parts are as short as one likes


def test_a_port_of_some_of_a_nodes_links_does_not_bound_it():
    net = gossamer.network("ring:6")
    first = np.where(np.arange(net.link_count) % 2 == 0, net.link_source, -1)
    assert set(by_name(net.with_ports(SharedPorts(first, np.full_like(first, -1))), "allgather")) == {"total hops"}


def test_all_hops_go_through_ports():
    net = gossamer.network("ring:6")
    everything = np.zeros(net.link_count, np.int32)
    total = by_name(net.with_ports(SharedPorts(everything, everything, 4)), "alltoall")["total hops"]
    assert total.value == Fraction(6 * (1 + 1 + 2 + 2 + 3), 4).__ceil__() == 14
    assert total.witness == "all messages together need 54 hops through 1 shared NIC or uplink"
    assert gossamer.plan(net.with_ports(SharedPorts(everything, everything, 4)), "alltoall").completion_time == 14
    assert list(shared_port_bounds(Case(net, task("alltoall")))) == []
