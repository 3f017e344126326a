"""The channels of an array or torus, on which wormhole messages travel dimension by dimension."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.network import IntArray, Network

__all__ = ["Channels"]


class Channels:
    """The directed channels of an array or torus.

    A channel leaves a node in one dimension and one direction. Channel ``(node*d + dimension)*2`` goes up (+1) and
    ``(node*d + dimension)*2 + 1`` goes down (-1). On a torus side of 2 the two are parallel channels between the same
    nodes, although the network has a single link there. Numbers of channels that would leave an array, or stay in a
    side of 1, are not used.

    Attributes
    ----------
    network : Network
        The network.
    sides : tuple of int
        Nodes along each dimension, as in the network's grid.
    wraps : tuple of bool
        Whether a dimension is a ring of at least 2 nodes.
    strides : tuple of int
        Difference in node number of one step along each dimension.

    Raises
    ------
    NetworkError
        If the network is not an array or torus.

    Examples
    --------
    >>> import gossamer
    >>> c = Channels(gossamer.network("torus:4x2"))
    >>> c.wraps, c.count, c.name(c.number(0, 0, -1)), c.name(c.number(0, 1, -1))
    ((True, True), 32, '(0,0)->(3,0)', '(0,0)->(0,1) by -1')
    """

    def __init__(self, network: Network) -> None:
        if not isinstance(network, Network):
            raise NetworkError(f"a network such as gossamer.network('torus:8x8') is needed, got {network!r}")
        if network.grid is None or network.uniform_capacity != 1:
            raise NetworkError(f"wormhole messages need an array or torus such as torus:8x8, got {network.spec}")
        self.network = network
        self.sides = network.grid.sides
        self.strides = network.grid.strides
        self.wraps = _wraps(network)

    @property
    def dimensions(self) -> int:
        """Number of dimensions d."""
        return len(self.sides)

    @property
    def torus(self) -> bool:
        """Whether every side of at least 2 nodes is a ring."""
        return all(w or s == 1 for s, w in zip(self.sides, self.wraps, strict=True))

    @property
    def count(self) -> int:
        """One more than the largest channel number: 2 N d."""
        return 2 * self.network.node_count * self.dimensions

    @property
    def exists(self) -> npt.NDArray[np.bool_]:
        """Whether each channel number is that of a channel, bool[2 N d]."""
        there = np.zeros((self.network.node_count, self.dimensions, 2), np.bool_)
        digits = self.coordinates(np.arange(self.network.node_count))
        for i, (side, wraps) in enumerate(zip(self.sides, self.wraps, strict=True)):
            there[:, i, 0] = wraps | (digits[:, i] < side - 1)
            there[:, i, 1] = wraps | (digits[:, i] > 0)
        return there.reshape(-1)

    @property
    def in_degree(self) -> npt.NDArray[np.int64]:
        """Channels that enter each node, as many as leave it, int64[N]."""
        return np.asarray(self.exists.reshape(self.network.node_count, -1).sum(axis=1), np.int64)

    def coordinates(self, nodes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the coordinates of nodes, int64[..., d]."""
        node = np.asarray(nodes, np.int64)[..., None]
        return np.asarray(node // np.array(self.strides, np.int64) % np.array(self.sides, np.int64), np.int64)

    def nodes(self, coordinates: npt.ArrayLike) -> IntArray:
        """Return the nodes at coordinates of shape (..., d), each taken modulo its side, int32[...]."""
        digits = np.asarray(coordinates, np.int64) % np.array(self.sides, np.int64)
        return np.asarray(digits @ np.array(self.strides, np.int64), np.int32)

    def target(self, source: npt.ArrayLike, displacement: npt.ArrayLike) -> IntArray:
        """Return where messages end that leave `source` with signed displacements of shape (..., d), int32[...]."""
        return self.nodes(self.coordinates(source) + np.asarray(displacement, np.int64))

    def number(self, node: int, dimension: int, sign: int) -> int:
        """Return the number of the channel that leaves `node` along `dimension`, up for sign +1, down for -1."""
        return (int(node) * self.dimensions + int(dimension)) * 2 + (0 if sign > 0 else 1)

    def name(self, channel: int) -> str:
        """Return ``source->target`` by node names, with the direction where two channels join the same nodes."""
        node, place = divmod(int(channel), 2 * self.dimensions)
        dimension, down = divmod(place, 2)
        move = np.zeros(self.dimensions, np.int64)
        move[dimension] = -1 if down else 1
        name = self.network.node_name
        text = f"{name(node)}->{name(int(self.target(node, move)))}"
        return f"{text} by {'-' if down else '+'}1" if self.sides[dimension] == 2 and self.wraps[dimension] else text


def _wraps(network: Network) -> tuple[bool, ...]:
    """Return for each dimension whether it is a ring; the network's grid does not count sides of 2 as rings."""
    assert network.grid is not None
    if network.factors and all(f.grid is not None for f in network.factors):
        return tuple(w for factor in network.factors for w in _wraps(factor))
    ring = network.spec.startswith(("ring:", "torus:"))
    return tuple(w or (ring and s >= 2) for s, w in zip(network.grid.sides, network.grid.wraps, strict=True))
