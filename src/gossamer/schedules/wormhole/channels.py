"""The channels on which wormhole messages travel: dimension by dimension on arrays and tori, else by shortest paths."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text
from gossamer.errors import NetworkError
from gossamer.networks.network import IntArray, Network
from gossamer.networks.structures import Speeds

__all__ = ["Channels"]

_MOST_NODES = 2048
"""Of a network that is no array or torus; the ways between all pairs are kept."""


class Channels:
    """The directed channels of a network and the way that a message takes over them.

    On an array or torus a channel leaves a node in one dimension and one direction. Channel ``(node*d + dimension)*2``
    goes up (+1) and ``(node*d + dimension)*2 + 1`` goes down (-1). On a torus side of 2 the two are parallel channels
    between the same nodes, although the network has a single link there. Numbers of channels that would leave an array,
    or stay in a side of 1, are not used. A message goes along dimension 0 first.

    On any other network the channels are the links, and a message goes from each node over the lowest-numbered link
    that brings it nearer to its target. Nodes have one coordinate, their number.

    Attributes
    ----------
    network : Network
        The network.
    sides : tuple of int
        Nodes along each dimension, as in the network's grid.
    wraps : tuple of bool
        Whether a dimension is a ring of at least 2 nodes.
    on_grid : bool
        Whether the network is an array or torus.
    strides : tuple of int
        Difference in node number of one step along each dimension.

    Parameters
    ----------
    network : Network
        Any network.
    any_times : bool
        Whether links may take more than a slot or differ in bandwidth: where only the ways of messages are asked for.

    Raises
    ------
    NetworkError
        If links carry several packets at once, take more than a slot, differ in bandwidth or share ports, or if a
        network without a grid has over 2,048 nodes.

    Examples
    --------
    >>> import gossamer
    >>> c = Channels(gossamer.network("torus:4x2"))
    >>> c.wraps, c.count, c.name(c.number(0, 0, -1)), c.name(c.number(0, 1, -1))
    ((True, True), 32, '(0,0)->(3,0)', '(0,0)->(0,1) by -1')
    """

    def __init__(self, network: Network, *, any_times: bool = False) -> None:
        if not isinstance(network, Network):
            raise NetworkError(f"a network such as gossamer.network('torus:8x8') is needed, got {network!r}")
        if network.uniform_capacity != 1:
            raise NetworkError(f"wormhole messages need links that carry one packet at a time, got {network.spec}")
        if not network.plain and not any_times:
            why = "take more than a slot" if network.shared_ports is None else "share ports"
            raise NetworkError(f"wormhole messages need plain links; some of {network.spec} {why}")
        speeds = network.find(Speeds)
        if speeds is not None and not any_times and bool((speeds.bandwidth != speeds.bandwidth[:1]).any()):
            least, most = (bandwidth_text(float(f(speeds.bandwidth))) for f in (np.min, np.max))
            raise NetworkError(
                f"wormhole messages need links of one bandwidth; those of {network.spec} have {least} to {most}"
            )
        self.network = network
        grid = network.grid
        self.on_grid = grid is not None
        if grid is not None:
            self.sides, self.strides, self.wraps = grid.sides, grid.strides, _wraps(network)
            return
        if network.node_count > _MOST_NODES:
            most = f"on networks that are no array or torus wormhole messages need at most {_MOST_NODES:,} nodes"
            raise NetworkError(f"{most}, {network.spec} has {network.node_count:,}")
        self.sides, self.strides, self.wraps = (network.node_count,), (1,), (False,)

    @property
    def dimensions(self) -> int:
        """Number of dimensions d."""
        return len(self.sides)

    @property
    def torus(self) -> bool:
        """Whether every side of at least 2 nodes is a ring."""
        return self.on_grid and all(w or s == 1 for s, w in zip(self.sides, self.wraps, strict=True))

    @property
    def count(self) -> int:
        """One more than the largest channel number: 2 N d, or the number of links."""
        if not self.on_grid:
            return self.network.link_count
        return 2 * self.network.node_count * self.dimensions

    @property
    def exists(self) -> npt.NDArray[np.bool_]:
        """Whether each channel number is that of a channel, bool[count]."""
        if not self.on_grid:
            return np.ones(self.count, np.bool_)
        there = np.zeros((self.network.node_count, self.dimensions, 2), np.bool_)
        digits = self.coordinates(np.arange(self.network.node_count))
        for i, (side, wraps) in enumerate(zip(self.sides, self.wraps, strict=True)):
            there[:, i, 0] = wraps | (digits[:, i] < side - 1)
            there[:, i, 1] = wraps | (digits[:, i] > 0)
        return there.reshape(-1)

    @property
    def in_degree(self) -> npt.NDArray[np.int64]:
        """Channels that enter each node, int64[N]; as many leave it on an array or torus."""
        if not self.on_grid:
            return np.bincount(self.network.link_target, minlength=self.network.node_count).astype(np.int64)
        return np.asarray(self.exists.reshape(self.network.node_count, -1).sum(axis=1), np.int64)

    @property
    def out_degree(self) -> npt.NDArray[np.int64]:
        """Channels that leave each node, int64[N]."""
        if not self.on_grid:
            return np.bincount(self.network.link_source, minlength=self.network.node_count).astype(np.int64)
        return self.in_degree

    @cached_property
    def distances(self) -> IntArray:
        """Links between all pairs of a network that is no array or torus, int32[N, N]; -1 where there is no way."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        net = self.network
        ends = net.link_source, net.link_target
        graph = csr_array((np.ones(net.link_count), ends), shape=(net.node_count, net.node_count))
        far = shortest_path(graph, unweighted=True)
        return np.where(np.isfinite(far), far, -1).astype(np.int32)

    @cached_property
    def next_link(self) -> IntArray:
        """The link from node u on the way to node v, int32[N, N], -1 for none; not of arrays and tori."""
        far, found = self.distances, np.full(self.distances.shape, -1, np.int32)
        for link in range(self.network.link_count - 1, -1, -1):
            u, x = int(self.network.link_source[link]), int(self.network.link_target[link])
            found[u][(far[x] >= 0) & (far[x] == far[u] - 1)] = link
        return found

    def hops(self, source: npt.ArrayLike, displacement: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the channels that messages cross, int64[M]; 0 on a network without a way."""
        if self.on_grid:
            return np.asarray(np.abs(np.asarray(displacement, np.int64)).sum(axis=-1), np.int64)
        node = np.asarray(source, np.int64)
        return np.maximum(self.distances[node, self.target(node, displacement)], 0).astype(np.int64)

    def paths(
        self, source: npt.ArrayLike, displacement: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the channels that messages cross: ``channel[first[m]:first[m+1]]``, int64[M+1] and int64[...].

        Examples
        --------
        >>> import gossamer
        >>> Channels(gossamer.network("torus:4x4")).paths([0], [[1, -1]])[1].tolist()
        [0, 19]
        """
        node, move = np.array(source, np.int64), np.asarray(displacement, np.int64)
        first = np.zeros(node.size + 1, np.int64)
        np.cumsum(self.hops(node, move), out=first[1:])
        channel, place = np.zeros(int(first[-1]), np.int64), first[:-1].copy()
        if not self.on_grid:
            target = self.target(node, move)
            while (going := np.flatnonzero(place < first[1:])).size:
                link = self.next_link[node[going], target[going]]
                channel[place[going]] = link
                node[going] = self.network.link_target[link]
                place[going] += 1
            return first, channel
        at, d = self.coordinates(node), self.dimensions
        for i, side in enumerate(self.sides):
            left, sign = np.abs(move[:, i]), np.sign(move[:, i])
            for _ in range(int(left.max(initial=0))):
                going = np.flatnonzero(left > 0)
                channel[place[going]] = (self.nodes(at[going]).astype(np.int64) * d + i) * 2 + (sign[going] < 0)
                at[going, i] = (at[going, i] + sign[going]) % side
                place[going] += 1
                left[going] -= 1
        return first, channel

    def shortest(
        self, source: npt.ArrayLike, target: npt.ArrayLike, random: np.random.Generator | None = None
    ) -> npt.NDArray[np.int64]:
        """Return signed hops of shortest paths, int64[M, d]; half way round a ring both ways by turns, or drawn.

        Examples
        --------
        >>> import gossamer
        >>> Channels(gossamer.network("torus:4x5")).shortest([0, 1], [14, 14]).tolist()
        [[2, -1], [-2, -2]]
        """
        here = self.coordinates(source)
        move = self.coordinates(target) - here
        for i, (side, wraps) in enumerate(zip(self.sides, self.wraps, strict=True)):
            if not wraps:
                continue
            up = move[:, i] % side
            down = here.sum(axis=1) % 2 == 1 if random is None else random.integers(0, 2, up.size) == 1
            move[:, i] = np.where((2 * up > side) | ((2 * up == side) & down), up - side, up)
        return move

    def coordinates(self, nodes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the coordinates of nodes, int64[..., d]."""
        return self._coordinates.take(np.asarray(nodes, np.int64), axis=0)

    @cached_property
    def _coordinates(self) -> npt.NDArray[np.int64]:
        node = np.arange(self.network.node_count)[:, None]
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

    def end(self, channel: int) -> int:
        """Return the node to which a channel leads."""
        if not self.on_grid:
            return int(self.network.link_target[channel])
        node, place = divmod(int(channel), 2 * self.dimensions)
        dimension, down = divmod(place, 2)
        move = np.zeros(self.dimensions, np.int64)
        move[dimension] = -1 if down else 1
        return int(self.target(node, move))

    def name(self, channel: int) -> str:
        """Return ``source->target`` by node names, with the direction where two channels join the same nodes."""
        if not self.on_grid:
            ends = int(self.network.link_source[channel]), int(self.network.link_target[channel])
            return "->".join(self.network.node_name(node) for node in ends)
        node, place = divmod(int(channel), 2 * self.dimensions)
        dimension, down = divmod(place, 2)
        name = self.network.node_name
        text = f"{name(node)}->{name(self.end(channel))}"
        return f"{text} by {'-' if down else '+'}1" if self.sides[dimension] == 2 and self.wraps[dimension] else text


def _wraps(network: Network) -> tuple[bool, ...]:
    """Return for each dimension whether it is a ring; the network's grid does not count sides of 2 as rings."""
    assert network.grid is not None
    if network.factors and all(f.grid is not None for f in network.factors):
        return tuple(w for factor in network.factors for w in _wraps(factor))
    ring = network.spec.startswith(("ring:", "torus:"))
    return tuple(w or (ring and s >= 2) for s, w in zip(network.grid.sides, network.grid.wraps, strict=True))
