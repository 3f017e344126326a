"""Members of families that are no products: tried where the numbers of nodes and links fit."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.butterflies import butterfly, cube_connected_cycles
from gossamer.networks.circulants import circulant, extended_ring
from gossamer.networks.de_bruijn import de_bruijn
from gossamer.networks.kautz import kautz
from gossamer.networks.network import Network
from gossamer.networks.permutation_networks import bubble_sort, pancake, star
from gossamer.networks.structures import IntArray, int_array

__all__ = ["candidate_order"]

_SMALL = 130
"""Nodes up to which members of families are looked for under any numbering."""
_FEW = 40
"""Nodes up to which every circulant of degree 3 or 4 is tried."""
_MOST = 200_000


def candidate_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the member of a family that a network is, and the number there of each node; None if none is found.

    Under any numbering where the network has at most 130 nodes, and else as the family numbers them.
    """
    if network.node_count > _MOST or network.uniform_capacity != 1:
        return None
    for member in _members(network):
        if member.node_count != network.node_count or member.link_count != network.link_count:
            continue
        if np.array_equal(_pairs(member), _pairs(network)):
            return member, int_array(np.arange(network.node_count, dtype=np.int32), "places")
        if network.node_count <= _SMALL and (order := _isomorphism(network, member)) is not None:
            return member, order
    return None


def _pairs(network: Network) -> np.ndarray:
    return np.sort(network.link_source * np.int64(network.node_count) + network.link_target)


def _members(network: Network) -> Iterator[Network]:
    """Yield members of families with as many nodes and links."""
    n, degree = network.node_count, network.degree
    regular = network.link_count == n * degree
    if regular and network.two_way:
        if degree % 2 == 0 and degree < n:
            yield extended_ring(n, degree // 2)
        yield from _circulants(network)
        m = degree + 1
        if m <= 12 and math.factorial(m) == n:
            yield from (family(m) for family in (star, pancake, bubble_sort))
        for d in range(2, 20):
            if d << d == n:
                yield from (family(d) for family in (cube_connected_cycles, butterfly))
        return
    for d in range(2, degree + 1):
        for diameter in range(1, 20):
            for nodes, family in ((d**diameter, de_bruijn), (d**diameter + d ** (diameter - 1), kautz)):
                if nodes == n:
                    try:
                        yield family(d, diameter)
                    except NetworkError:
                        continue


def _circulants(network: Network) -> Iterator[Network]:
    """Yield circulants: that of the jumps of node 0, and small ones of degree 3 and 4."""
    n, degree = network.node_count, network.degree
    near = network.link_target[: network.out_degree[0]].astype(np.int64)
    jumps = sorted({int(min(j, n - j)) for j in near})
    if math.gcd(n, *jumps) == 1 and n > 2:
        yield circulant(n, *jumps)
    if n > _FEW or degree not in (3, 4):
        return
    for one in range(1, n // 2 + 1):
        for other in range(one + 1, n // 2 + 1):
            if (n % one == 0 or one == 1) and math.gcd(n, one, other) == 1:
                found = circulant(n, one, other)
                if found.degree == degree:
                    yield found


def _isomorphism(network: Network, member: Network) -> IntArray | None:
    """Return the node of the member that each node is, or None."""
    if _far(network) != _far(member):
        return None
    import networkx as nx

    from gossamer.networks.conversion import to_networkx

    kind = nx.Graph if network.two_way else nx.DiGraph
    found = nx.vf2pp_isomorphism(kind(to_networkx(network)), kind(to_networkx(member)))
    if found is None:
        return None
    return int_array(np.array([found[u] for u in range(network.node_count)], np.int32), "places")


def _far(network: Network) -> list[list[int]]:
    """Return how many nodes are out of reach, at distance 0, 1, ... from each node, in order.

    From node 0 alone where links go both ways: such members look the same from every node.
    """
    nodes = range(1 if network.two_way else network.node_count)
    return sorted(np.bincount(network.distances(v) + 1).tolist() for v in nodes)
