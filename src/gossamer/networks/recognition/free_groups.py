"""Groups of symmetries that move every node; with one that takes each node to each other, it is a Cayley network."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.cable_orbits import FreeGroup, Table, few_generators, generated_table
from gossamer.networks.cayley import cayley_network
from gossamer.networks.finite_groups import TableGroup
from gossamer.networks.lifts import Lifted
from gossamer.networks.network import Factors, Network
from gossamer.networks.structures import IntArray, Speeds, int_array

__all__ = ["cayley_order", "free_group", "graph_of"]

_MOST_NODES, _MOST_LISTED = 600, 20_000_000
_TRIES, _STEPS = 12, 60
"""Groups that are begun, and symmetries that are tried for each."""


def cayley_order(network: Network) -> tuple[Network, IntArray] | None:
    """Return the Cayley network that a network is, of a group among its symmetries, and the node there of each node.

    None if none is found: symmetries are looked for by the package ``igraph`` (the extra ``symmetry``), on networks of
    at most 600 nodes whose links go both ways and differ in nothing.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> cayley_order(from_networkx(nx.petersen_graph())) is None  # it is none, although all nodes look the same
    True
    """
    table = _searched(network)
    if table is None or len(table) < network.node_count:
        return None
    group = TableGroup(table)
    near = network.link_target[: network.out_degree[0]].tolist()
    found = cayley_network(f"Cayley network of {len(table)} elements", group, near, links_only=True)
    return found, int_array(np.arange(network.node_count, dtype=np.int32), "places")


def free_group(network: Network) -> Table | None:
    """Return a group of symmetries of which none but the identity leaves any node where it is: a large one.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    int32[H, N] or None
        ``table[h]`` are the nodes to which symmetry h takes nodes 0, 1, ...; the identity comes first, and then they
        are in the order of what becomes of node 0. None if nothing is known of the symmetries.

    Notes
    -----
    Of a product it is that of its factors together, of a lift its own if no larger one is found. Otherwise random
    products of generators of all symmetries are added as long as the group stays free, O(tries * H * N) time; they are
    looked for by the package ``igraph`` (the extra ``symmetry``), on networks of at most 600 nodes whose links go both
    ways and differ in nothing.
    """
    if network.shared_ports is not None:
        return None
    factors, lifted = network.find(Factors), network.find(Lifted)
    found = _searched(network) if factors is None else _of_factors(factors.networks)
    if lifted is not None and lifted.group.order > (0 if found is None else len(found)):
        own = lifted.group.order * network.node_count <= _MOST_LISTED
        found = lifted.moved(network.node_count) if own else found
    if found is None or (factors is None and lifted is None):
        return found
    try:
        return FreeGroup(network, [found[found[:, 0] == x][0] for x in few_generators(found)]).table
    except NetworkError:  # links differ in more than factors or the lift tell
        return None


def _searched(network: Network) -> Table | None:
    """Return a large free group found by chance among all symmetries; None if these are not looked for."""
    generators = _generators(network)
    if generators is None:
        return None
    n, draw = network.node_count, np.random.default_rng(0)
    identity = np.arange(n, dtype=np.int32)
    best = identity[None]
    for _ in range(_TRIES if len(generators) else 0):
        chosen: list[Table] = []
        now = identity[None]
        walk = [g.copy() for g in generators]
        for _ in range(_STEPS):
            i, j = draw.integers(0, len(walk), 2)
            walk[i] = walk[i][walk[j]]  # a random walk through the group
            g = walk[i]
            if bool((g == identity).any()) or bool((now[:, 0] == g[0]).any()):
                continue
            try:
                now = generated_table([*chosen, g], n)
            except NetworkError:  # it is not free
                continue
            chosen.append(g)
            if len(now) == n:
                break
        if len(now) > len(best):
            best = now
        if len(best) == n:
            break
    return best


def _of_factors(factors: tuple[Network, ...]) -> Table | None:
    """Return what the free groups of factors do together; None if none is known, or their list would be too long."""
    table = np.zeros((1, 1), np.int32)
    known = False
    for f in factors:
        own: Table | None = None
        if f.group is None:
            own = free_group(f)
        elif f.node_count**2 <= _MOST_LISTED:
            x = np.arange(f.node_count)
            own = f.group.compose(x[:, None], x[None, :]).astype(np.int32)
        known |= own is not None
        own = np.arange(f.node_count, dtype=np.int32)[None] if own is None else own
        if table.size * own.size > _MOST_LISTED:
            return None
        table = (table[:, None, :, None] * f.node_count + own[None, :, None, :]).reshape(len(table) * len(own), -1)
    return table if known else None


def _generators(network: Network) -> list[Table] | None:
    """Return generators of all symmetries; None if they are not looked for."""
    regular = network.terminal_count == network.node_count > 2 and int(network.out_degree.min()) == network.degree > 0
    graph = graph_of(network, _MOST_NODES) if regular else None
    return None if graph is None else [np.asarray(g, np.int32) for g in graph.automorphism_group()]


def graph_of(network: Network, most: int) -> Any | None:
    """Return a network of at most so many nodes as a graph of the package ``igraph`` (the extra ``symmetry``).

    None if that is not installed, the network is larger, or links are one-way, differ in anything or share ports.
    """
    even = network.two_way and network.uniform_capacity is not None
    times = network.uniform_occupancy is not None and network.uniform_latency is not None
    alone = network.shared_ports is None and not network.parallel and network.find(Speeds) is None
    large = network.node_count > most
    if large or not (even and times and alone) or importlib.util.find_spec("igraph") is None:
        return None
    import igraph

    once = network.link_source < network.link_target
    edges = np.stack([network.link_source[once], network.link_target[once]], axis=1).tolist()
    return igraph.Graph(network.node_count, edges)
