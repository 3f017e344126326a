"""The network among some nodes of another: their links with each other, and what structure is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.grids import array, ring, torus
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds

__all__ = ["among"]


def among(network: Network, nodes: Sequence[int]) -> Network:
    """Return the network of some nodes and the links between them; node i of it is ``nodes[i]``, a terminal.

    Parameters
    ----------
    network : Network
        Any network.
    nodes : sequence of int
        Terminals, each once.

    Returns
    -------
    Network
        With the capacities and times of the links. Where the nodes are all that differ in some coordinates of an array
        or torus, in ascending order, it is the array or torus of these dimensions, and known as such.

    Raises
    ------
    NetworkError
        If a node is no terminal or listed twice.

    Notes
    -----
    O(nodes + links).

    Examples
    --------
    >>> among(torus(4, 5), [5, 6, 7, 8, 9])
    <Network ring:5: 5 nodes, 10 links>
    >>> among(torus(4, 5), [0, 1, 5])
    <Network 3 nodes of torus:4x5: 3 nodes, 4 links>
    """
    chosen = np.asarray(nodes, np.int64)
    if not chosen.size or int(chosen.min()) < 0 or int(chosen.max()) >= network.terminal_count:
        raise NetworkError(f"nodes must be terminals 0..{network.terminal_count - 1} of {network.spec}")
    place = np.full(network.node_count, -1, np.int64)
    place[chosen] = np.arange(chosen.size)
    if np.unique(chosen).size < chosen.size:
        raise NetworkError("a node is listed twice")
    links = np.flatnonzero((place[network.link_source] >= 0) & (place[network.link_target] >= 0))
    links = links[np.argsort(place[network.link_source[links]], kind="stable")]
    source, target = place[network.link_source[links]], place[network.link_target[links]]
    known = _sub_grid(network, chosen)
    if known is not None:
        key = source * chosen.size + target
        order = np.argsort(key, kind="stable")
        wanted = known.link_source.astype(np.int64) * chosen.size + known.link_target
        if known.link_count == links.size and np.array_equal(key[order][np.argsort(np.argsort(wanted))], wanted):
            links = links[order][np.argsort(np.argsort(wanted))]
            same = network.uniform_capacity is not None
            if not same or network.uniform_capacity != 1:
                known = None
    spec = f"{chosen.size} nodes of {network.spec}" if known is None else known.spec
    if known is not None and network.plain and network.find(Speeds) is None:
        return known
    return Network(
        spec,
        chosen.size,
        place[network.link_source[links]].astype(np.int32),
        place[network.link_target[links]].astype(np.int32),
        network.link_capacity[links],
        link_occupancy=network.link_occupancy[links],
        link_latency=network.link_latency[links],
        structures=() if known is None else known.structures,
        links_only=True,
    )


def _sub_grid(network: Network, nodes: npt.NDArray[np.int64]) -> Network | None:
    """Return the array or torus that nodes are which fill some dimensions of one, in their order; None if not."""
    grid, places = network.grid, network.coordinates
    if grid is None or places is None or nodes.size < 2:
        return None
    mine = places[nodes]
    varying = [d for d in range(grid.dimensions) if np.unique(mine[:, d]).size > 1]
    sides = tuple(grid.sides[d] for d in varying)
    if int(np.prod(sides)) != nodes.size:
        return None
    strides = np.cumprod((1, *sides[:0:-1]))[::-1]
    if not np.array_equal(mine[:, varying] @ strides, np.arange(nodes.size)):
        return None
    wraps = {grid.wraps[d] for d in varying if grid.sides[d] > 2}
    if len(wraps) > 1:
        return None
    if len(sides) == 1 and wraps == {True}:
        return ring(sides[0])
    return torus(*sides) if wraps == {True} else array(*sides)
