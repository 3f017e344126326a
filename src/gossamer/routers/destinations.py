"""Where messages of random traffic go, and the channels that they then load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError, nearest
from gossamer.networks.network import IntArray, Network
from gossamer.reading import number, whole_text
from gossamer.tasks.patterns import PATTERNS, pattern
from gossamer.wormhole.channels import Channels

__all__ = ["Destinations", "destinations", "ideal_throughput", "shortest_displacement"]

_HOT_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Destinations:
    """Where the messages of each node go.

    Attributes
    ----------
    name : str
        Of the pattern.
    fixed : int32[N] or None
        The destination of each node, -1 for a node that sends nothing; None where it is drawn for each message.
    hot : int32[...]
        Nodes that draw more than the others; empty for uniform traffic.
    hot_share : float
        Share of the messages that go to one of `hot`; the others go to any other node.
    """

    name: str
    fixed: IntArray | None
    hot: IntArray
    hot_share: float

    def sources(self, nodes: int) -> npt.NDArray[np.int64]:
        """Return the nodes that send, int64[...]."""
        if self.fixed is None:
            return np.arange(nodes)
        return np.flatnonzero((self.fixed >= 0) & (self.fixed != np.arange(nodes)))

    def draw(self, source: npt.NDArray[np.integer], nodes: int, random: np.random.Generator) -> npt.NDArray[np.integer]:
        """Return a destination other than itself for a message from each of `source`, int[...]."""
        if self.fixed is not None:
            return np.asarray(self.fixed[source])
        away = random.integers(0, nodes - 1, source.size)
        to = away + (away >= source)
        if self.hot.size:
            chosen = random.random(source.size) < self.hot_share
            hot = self.hot[random.integers(0, self.hot.size, source.size)]
            to = np.where(chosen & (hot != source), hot, to)
        return to


def destinations(
    network: Network, pattern_: str | npt.ArrayLike, *, hot_share: float = _HOT_SHARE, seed: int = 0
) -> Destinations:
    """Return the destinations of a named pattern or of a list.

    Parameters
    ----------
    network : Network
        An array or torus of N nodes, at least 2.
    pattern_ : str or array_like of int, shape (N,)
        ``uniform``: any other node. ``hotspot``: the middle node with probability `hot_share`, else any other node;
        ``hotspot:5,9`` names other hot nodes. A name of `gossamer.tasks.PATTERNS`. Or the destination of each node,
        -1 for none. A node whose destination is itself sends nothing.
    hot_share : float
        Share of hotspot traffic that goes to the hot nodes, above 0 and at most 1.
    seed : int
        For the pattern ``random``.

    Raises
    ------
    TaskError
        If the pattern is unknown or does not fit the network, or nothing is sent.
    """
    n = network.node_count
    if n < 2:
        raise TaskError(f"traffic needs at least 2 nodes, {network.spec} has {n}")
    none = np.zeros(0, np.int32)
    if not isinstance(pattern_, str):
        fixed = np.asarray(pattern_)
        if fixed.shape != (n,) or fixed.dtype.kind not in "iu":
            got = f"{fixed.size} in shape {fixed.shape}" if fixed.ndim != 1 else f"{fixed.size} of type {fixed.dtype}"
            raise TaskError(f"destinations must be {n} whole numbers, one a node of {network.spec}, got {got}")
        wrong = np.flatnonzero((fixed < -1) | (fixed >= n))
        if wrong.size:
            u = int(wrong[0])
            raise TaskError(
                f"the destination of node {u} is {fixed[u]}; it must be 0..{n - 1} on {network.spec}, or -1 for none"
            )
        return _sending(Destinations("given destinations", fixed.astype(np.int32), none, 0.0), n)
    name = pattern_.strip().lower().replace("_", "-")
    kind, _, nodes = name.partition(":")
    if kind == "uniform" and not nodes:
        return Destinations("uniform", None, none, 0.0)
    if kind == "hotspot":
        share = number(hot_share, "hot_share", above=0, most=1, error=TaskError)
        return Destinations(name, None, _hot_nodes(network, nodes), share)
    if name not in PATTERNS:
        hint = nearest(name, ["uniform", "hotspot", *PATTERNS])
        known = ", ".join(["uniform", "hotspot", *PATTERNS])
        raise TaskError(f"unknown pattern {pattern_!r}{hint or f'; known patterns: {known}'}")
    return _sending(Destinations(name, pattern(name, network, seed=seed), none, 0.0), n)


def _sending(found: Destinations, n: int) -> Destinations:
    if not found.sources(n).size:
        raise TaskError(f"with pattern {found.name!r} no node sends to another")
    return found


def _hot_nodes(network: Network, text: str) -> IntArray:
    if not text:
        sides = np.array(Channels(network).sides)
        return Channels(network).nodes(sides // 2).reshape(1)
    most = network.node_count - 1
    allowed = f"node numbers in 0..{most} such as hotspot:5,9"
    nodes = [whole_text(word, "hot nodes", 0, most, allowed=allowed, error=TaskError) for word in text.split(",")]
    return np.array(nodes, np.int32)


def shortest_displacement(
    channels: Channels,
    source: npt.NDArray[np.integer],
    target: npt.NDArray[np.integer],
    random: np.random.Generator | None = None,
) -> npt.NDArray[np.int32]:
    """Return signed hops along each dimension on a shortest path, int32[M, d].

    Half way round a ring both directions are as short: `random` chooses, and without it the message goes up.

    Examples
    --------
    >>> import gossamer
    >>> c = Channels(gossamer.network("torus:4x5"))
    >>> shortest_displacement(c, np.array([0]), np.array([14])).tolist()
    [[2, -1]]
    """
    move = channels.coordinates(target) - channels.coordinates(source)
    for i, (side, wraps) in enumerate(zip(channels.sides, channels.wraps, strict=True)):
        if not wraps:
            continue
        up = move[..., i] % side
        move[..., i] = np.where(2 * up > side, up - side, up)
        if side % 2 == 0 and random is not None:
            tie = 2 * up == side
            move[..., i] = np.where(tie & (random.integers(0, 2, up.shape) == 1), -up, move[..., i])
    return np.asarray(move, np.int32)


def ideal_throughput(
    network: Network, pattern_: str | npt.ArrayLike, *, hot_share: float = _HOT_SHARE, seed: int = 0
) -> float:
    """Return the load in flits per sending node and cycle at which some channel of the shortest paths is always busy.

    No routers can accept more under dimension-ordered routing. Messages that go half way round a ring are counted
    half in each direction. Loads of sources and of ejection are not considered. `hot_share` and `seed` are those of
    `destinations`.

    Notes
    -----
    One over the largest mean channel load per flit that every sender sends. About 4/n for uniform traffic on an n x n
    array and 8/n on a torus, n even. O(N^2 d) time for uniform and hotspot traffic on N nodes.

    References
    ----------
    Dally, Towles, Principles and Practices of Interconnection Networks, 3.3.

    Examples
    --------
    >>> import gossamer
    >>> ideal_throughput(gossamer.network("array:8x8"), "transpose")
    0.14285714285714285
    >>> round(ideal_throughput(gossamer.network("torus:8x8"), "uniform") * 64 / 63, 9)
    1.0
    """
    where, channels = destinations(network, pattern_, hot_share=hot_share, seed=seed), Channels(network)
    n, d = network.node_count, channels.dimensions
    load = np.zeros((n, d, 2))
    for u in where.sources(n).tolist():
        if where.fixed is not None:
            to, weight = np.array([where.fixed[u]]), np.ones(1)
        else:
            to = np.delete(np.arange(n), u)
            weight = np.full(n - 1, 1 / (n - 1))
            hot = where.hot[where.hot != u]
            if hot.size:
                share = where.hot_share / where.hot.size
                weight *= 1 - share * hot.size
                np.add.at(weight, hot - (hot > u), share)
        _add_loads(channels, load, u, to, weight)
    return float(1 / load.max())


def _add_loads(
    channels: Channels,
    load: npt.NDArray[np.float64],
    u: int,
    to: npt.NDArray[np.integer],
    weight: npt.NDArray[np.float64],
) -> None:
    """Add the load of messages from u; `weight` float64[M] flits go to each of `to`."""
    move = shortest_displacement(channels, np.full(to.size, u), to)
    start = channels.coordinates(np.full(to.size, u))
    for i, side in enumerate(channels.sides):
        up = move[:, i].astype(np.int64)
        half = channels.wraps[i] & (2 * np.abs(up) == side)
        for sign, hops, share in (
            (0, np.maximum(up, 0), np.where(half, 0.5, 1.0) * weight),
            (1, np.where(half, np.abs(up), np.maximum(-up, 0)), np.where(half, 0.5, 1.0) * weight),
        ):
            for k in range(int(hops.max(initial=0))):
                going = hops > k
                at = start[going].copy()
                at[:, i] += -k if sign else k
                np.add.at(load[:, i, sign], channels.nodes(at), share[going])
        start[:, i] += up
