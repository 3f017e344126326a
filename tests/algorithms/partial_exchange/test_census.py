from __future__ import annotations

import numpy as np
import pytest

from gossamer.algorithms.partial_exchange.balanced_orders import census, counts_of_lines
from gossamer.networks import array, hypercube, ring, torus

NETWORKS = [array(1), array(2), array(5), ring(6), array(4, 4), array(3, 7), torus(5, 4), array(3, 1, 4), hypercube(4)]


def heard(network, control, same_line=None):
    """Replay control hops; each carries all that its sender has heard of, or what it has of the link's own line."""
    known = [{u} for u in range(network.node_count)]
    assert len(set(zip(control.slot.tolist(), control.link.tolist(), strict=True))) == control.slot.size
    for t in range(control.slots):
        news = []
        for e in control.link[control.slot == t]:
            u, v = int(network.link_source[e]), int(network.link_target[e])
            news.append((v, {w for w in known[u] if same_line is None or same_line(u, v, w)}))
        for v, more in news:
            known[v] |= more
    return known


@pytest.mark.parametrize("network", NETWORKS, ids=lambda net: net.spec)
def test_every_node_hears_of_every_node(network):
    control = census(network)
    assert control.slots == 2 * sum(side // 2 for side in network.grid.sides)
    assert heard(network, control) == [set(range(network.node_count))] * network.node_count
    assert control.slot.size == 2 * (network.node_count - 1)  # a tree, up and down


@pytest.mark.parametrize("network", NETWORKS, ids=lambda net: net.spec)
def test_every_node_hears_of_the_nodes_of_its_lines(network):
    control = counts_of_lines(network)
    assert control.slots == 2 * max(side // 2 for side in network.grid.sides) <= max(network.grid.sides)
    at = network.coordinates

    def same_line(u, v, w):
        along = at[u] != at[v]
        return bool(np.all((at[u] == at[w])[~along]))

    known = heard(network, control, same_line)
    for u in range(network.node_count):
        assert known[u] == {w for w in range(network.node_count) if np.count_nonzero(at[u] != at[w]) <= 1}
