"""List scheduling of hops that wait for each other: what is most in demand goes first, and that takes no slot more."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer import Rules
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, _ranked, _run
from gossamer.networks.shared_ports import SharedPorts

FULL = gossamer.network("complete:4")
PORTS = FULL.with_ports(SharedPorts(FULL.link_source, FULL.link_target))

# link, packet and hop before of each hop; where ports are in no demand these take a slot more
BUSY_PORT = [4, 9, 5, 11, 5, 1, 7, 1, 7], [0, 0, 1, 2, 3, 3, 3, 4, 4], [-1, 0, -1, -1, -1, 4, 5, -1, 7]
BUSY_SENDER = [11, 7, 0, 10, 2, 0, 4, 5, 2], [0, 0, 0, 1, 2, 3, 3, 4, 4], [-1, 0, 1, -1, -1, -1, 5, -1, 7]
BUSY_RECEIVER = [11, 1, 6, 4, 11, 11], [0, 1, 1, 2, 2, 3], [-1, -1, 1, -1, 3, -1]
BUSY_NODE = [8, 7, 4, 9, 1, 7, 9, 0, 11], [0, 1, 2, 2, 2, 2, 3, 3, 4], [-1, -1, -1, 2, 3, 4, -1, 6, -1]


@pytest.mark.parametrize(
    ("network", "rules", "hops"),
    [
        (PORTS, Rules(), BUSY_PORT),
        (PORTS, Rules(), BUSY_SENDER),
        (PORTS, Rules(), BUSY_RECEIVER),
        (FULL, Rules(ports="one"), BUSY_NODE),
    ],
    ids=["shared ports", "a port that sends", "a port that receives", "one port a node"],
)
def test_the_links_of_the_port_most_in_demand_go_first(network, rules, hops):
    """As many slots as the busiest port has hops: no order takes fewer."""
    graph = HopGraph.of_parents(*(np.array(column, np.int32) for column in hops))
    found = _run(graph, LinkResources.of(network, rules), _ranked(np.arange(graph.link.size)))
    busiest = max(np.bincount(ends[graph.link]).max() for ends in (network.link_source, network.link_target))
    assert found.slots == busiest
