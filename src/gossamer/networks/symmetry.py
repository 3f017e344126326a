"""How symmetric a network is: nodes that look the same, from its structure, by colors, or by its automorphisms."""

from __future__ import annotations

import importlib.util

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.networks.recognition import recognition
from gossamer.networks.structures import Speeds

__all__ = ["automorphism_count", "node_kinds", "symmetry_words"]

_MOST_NODES = 3_000
_MOST_LINKS = 2_000_000
_ROUNDS = 200


def node_kinds(network: Network) -> npt.NDArray[np.int64]:
    """Return a color for each node such that nodes of different colors cannot be exchanged by any symmetry: int64[N].

    Terminals and switches begin with two colors, and nodes are told apart by the colors of their neighbors and by the
    capacities, times and speeds of the links to them until nothing changes (color refinement). Nodes of one color
    need not be alike. O(rounds L log L) time.

    >>> from gossamer.networks import array, torus
    >>> node_kinds(array(5)).tolist(), len(set(node_kinds(torus(3, 4)).tolist()))
    ([0, 1, 2, 1, 0], 1)
    """
    n = network.node_count
    columns = [network.link_capacity, network.link_occupancy, network.link_latency]
    speeds = network.find(Speeds)
    told = [*columns, *(() if speeds is None else (speeds.bandwidth, speeds.latency))]
    kind = np.unique(np.stack([np.asarray(c, np.float64) for c in told]), axis=1, return_inverse=True)[1].ravel()
    kinds = int(kind.max(initial=0)) + 1
    color = (np.arange(n) >= network.terminal_count).astype(np.int64)
    count = len(np.unique(color))
    for _ in range(_ROUNDS):
        rng = np.random.default_rng(count)
        weights = rng.integers(1, 2**61, (2, n * kinds), dtype=np.int64)  # sums tell multisets apart, but for chance
        mark = [color]
        for way, (here, there) in enumerate(
            ((network.link_source, network.link_target), (network.link_target, network.link_source))
        ):
            total = np.zeros(n, np.int64)
            np.add.at(total, here, weights[way, color[there] * kinds + kind])
            mark.append(total)
        _, first, color = np.unique(np.stack(mark), axis=1, return_index=True, return_inverse=True)
        color = np.argsort(np.argsort(first))[color.ravel()]
        if len(first) == count:
            break
        count = len(first)
    return np.asarray(color, np.int64)


def automorphism_count(network: Network) -> int | None:
    """Return how many symmetries a network of two-way links that differ in nothing has.

    None if that is not known: the package ``igraph`` (the extra ``symmetry``) is not installed, the links differ or
    share ports, or there are over 3,000 nodes.
    """
    even = (
        network.shared_ports is None
        and network.two_way
        and network.uniform_capacity is not None
        and not network.parallel
    )
    same = (
        (network.find(Speeds) is None) and network.uniform_occupancy is not None and network.uniform_latency is not None
    )
    if not (even and same) or network.node_count > _MOST_NODES or importlib.util.find_spec("igraph") is None:
        return None
    import igraph

    once = network.link_source < network.link_target
    edges = np.stack([network.link_source[once], network.link_target[once]], axis=1).tolist()
    graph = igraph.Graph(network.node_count, edges)
    color = [int(i >= network.terminal_count) for i in range(network.node_count)]
    return int(graph.count_automorphisms(color=color))


def symmetry_words(network: Network) -> str:
    """Return what is known of the symmetry of a network, for people.

    >>> from gossamer.networks import array, torus
    >>> symmetry_words(torus(3, 4)).partition(";")[0]
    'all nodes look the same: translations by a group of 12'
    """
    found = recognition(network)
    known = found.original if found.original is not None else network
    whole = known.terminal_count == known.node_count and network.shared_ports is None
    if known.group is not None and whole:
        words = f"all nodes look the same: translations by a group of {known.group.order:,}"
    elif network.link_count > _MOST_LINKS:
        return "not looked for: the network is large"
    else:
        kinds = len(np.unique(node_kinds(network)))
        words = f"at least {kinds:,} kinds of nodes" if kinds > 1 else "no node is told from another by its neighbors"
    count = automorphism_count(network)
    return words if count is None else f"{words}; {count:,} automorphism{'' if count == 1 else 's'}"
