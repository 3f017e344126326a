"""What a simulation runs on: routers, the channels between them, and the terminals that they serve."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NetworkError
from gossamer.networks.network import IntArray, Network
from gossamer.networks.structures import Speeds
from gossamer.reading import whole
from gossamer.schedules.wormhole.channels import Channels

__all__ = ["Fabric"]

_MOST_CHANNELS, _MOST_CYCLES = 1 << 22, 64


class Fabric:
    """Routers, links and terminals of any network.

    Every node has a router. The links are the channels 0..link_count-1: on arrays and tori those of
    `gossamer.wormhole.Channels`, on other networks the links, one for each packet of their capacity.

    Attributes
    ----------
    network : Network
        The network.
    grid : Channels or None
        The channels of an array or torus.
    source, target : int32[C]
        Ends of each channel.
    number : int32[C]
        Number of the channel in `grid`, or of the link in the network.
    latency : int32[C]
        Cycles that the network's link takes besides, its latency in slots.
    flit_cycles : int32[C]
        Cycles that a flit takes of each channel: 1 on the fastest links, on slower ones as many as their bandwidths, or
        their occupancies in slots, say, rounded up. Latencies in seconds are not looked at.
    per_router : int
        Terminals of each router that has any; terminal t is at router ``t // per_router``.

    Raises
    ------
    NetworkError
        If it is no network, or has no links or too many, links share ports, or a link is over 64 times as slow as
        another.

    Examples
    --------
    >>> import gossamer
    >>> f = Fabric(gossamer.network("fat-tree:k=2,h=2"))
    >>> f.link_count, f.terminal_count
    (12, 4)
    """

    def __init__(self, network: Network, per_router: int = 1) -> None:
        if not isinstance(network, Network):
            raise NetworkError(f"a network such as gossamer.network('torus:8x8') is needed, got {network!r}")
        self.network = network
        self.per_router = whole(per_router, "terminals of a router", 1, 1024)
        if network.shared_ports is not None:
            raise NetworkError(f"the flit simulator has links of their own, and some of {network.spec} share ports")
        on_grid = network.grid is not None and network.uniform_capacity == 1
        self.grid = Channels(network, any_times=True) if on_grid else None
        cycles = _flit_cycles(network)
        if self.grid is not None:
            place = np.arange(2 * self.grid.dimensions)
            move = np.zeros((place.size, self.grid.dimensions), np.int64)
            move[place, place // 2] = 1 - 2 * (place % 2)
            ends = self.grid.target(np.arange(network.node_count)[:, None], move).astype(np.int32).reshape(-1)
            self.number = np.flatnonzero(self.grid.exists).astype(np.int32)
            self.source = (self.number // place.size).astype(np.int32)
            self.target = ends[self.number]
            self.latency, self.flit_cycles = np.zeros(self.number.size, np.int32), np.ones(self.number.size, np.int32)
            if network.uniform_latency != 0 or bool((cycles > 1).any()):
                link = {(int(u), int(v)): k for k, (u, v) in enumerate(zip(*self._ends(), strict=True))}
                of = [link[int(u), int(v)] for u, v in zip(self.source, self.target, strict=True)]
                self.latency = np.ascontiguousarray(network.link_latency)[of].astype(np.int32)
                self.flit_cycles = cycles[of]
        else:
            self.number = np.repeat(np.arange(network.link_count, dtype=np.int32), network.link_capacity)
            self.source, self.target = (ends[self.number].astype(np.int32) for ends in self._ends())
            self.latency = np.array(network.link_latency, np.int32)[self.number]
            self.flit_cycles = cycles[self.number]
        if not self.link_count:
            raise NetworkError(f"messages need a network of at least 2 nodes with links, {network.spec} has none")
        if self.link_count > _MOST_CHANNELS:
            raise NetworkError(
                f"the flit simulator runs up to {_MOST_CHANNELS:,} channels, {network.spec} has {self.link_count:,}"
            )

    def _ends(self) -> tuple[IntArray, IntArray]:
        return self.network.link_source, self.network.link_target

    @property
    def link_count(self) -> int:
        """Channels between routers C."""
        return int(self.number.size)

    @property
    def router_count(self) -> int:
        """Routers, one a node."""
        return self.network.node_count

    @property
    def terminal_count(self) -> int:
        """Terminals, which send and receive messages."""
        return self.network.terminal_count * self.per_router

    @cached_property
    def link_of(self) -> IntArray:
        """The channel of each channel number of `grid`, -1 for none, int32[2 N d]."""
        assert self.grid is not None
        found = np.full(self.grid.count, -1, np.int32)
        found[self.number] = np.arange(self.link_count)
        return found

    @cached_property
    def leaving(self) -> tuple[npt.NDArray[np.int64], IntArray]:
        """The channels that leave each router: ``links[first[r]:first[r+1]]``, int64[R+1] and int32[C]."""
        return _grouped(self.source, self.router_count)

    @cached_property
    def entering(self) -> tuple[npt.NDArray[np.int64], IntArray]:
        """The channels that enter each router, likewise."""
        return _grouped(self.target, self.router_count)

    def injections(self, interface: str) -> IntArray:
        """Return the router of each source queue: one a terminal, or one for each channel that leaves a router."""
        if interface == "node":
            return np.arange(self.terminal_count, dtype=np.int32) // self.per_router
        if self.per_router > 1:
            raise ModelError("injection 'node' is needed where routers have several terminals, got 'channels'")
        return self.source

    def ejections(self, interface: str) -> IntArray | None:
        """Return the router of each way to a terminal, or None where each input port has its own."""
        return None if interface == "channels" else np.arange(self.terminal_count, dtype=np.int32) // self.per_router

    def name(self, channel: int) -> str:
        """Return ``source->target`` by node names, with what tells parallel channels apart."""
        if self.grid is not None:
            return self.grid.name(int(self.number[channel]))
        u, v = int(self.source[channel]), int(self.target[channel])
        text = f"{self.network.node_name(u)}->{self.network.node_name(v)}"
        same = np.flatnonzero((self.source == u) & (self.target == v))
        return text if same.size == 1 else f"{text} ({int(np.searchsorted(same, channel)) + 1} of {same.size})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all channels."""
        name = [self.network.node_name(u) for u in range(self.router_count)]
        ends = list(zip(self.source.tolist(), self.target.tolist(), strict=True))
        several = {pair for pair, count in Counter(ends).items() if count > 1}
        return tuple(self.name(c) if (u, v) in several else f"{name[u]}->{name[v]}" for c, (u, v) in enumerate(ends))


def _flit_cycles(network: Network) -> IntArray:
    """Return the cycles that a flit takes of each link of a network, int32[L]."""
    speeds = network.find(Speeds)
    each = network.link_occupancy / 1 if speeds is None else speeds.bandwidth.max(initial=0) / speeds.bandwidth
    if not each.size:
        return np.zeros(0, np.int32)
    slowest = float((each / each.min()).max())
    if slowest > _MOST_CYCLES:
        raise NetworkError(
            f"the flit simulator has links up to {_MOST_CYCLES} times as slow as others, "
            f"{network.spec} has some {slowest:,.4g} times"
        )
    cycles: IntArray = np.ceil(each / each.min() - 1e-9).astype(np.int32)
    return cycles


def _grouped(key: IntArray, groups: int) -> tuple[npt.NDArray[np.int64], IntArray]:
    order = np.argsort(key, kind="stable").astype(np.int32)
    first = np.zeros(groups + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=groups), out=first[1:])
    return first, order
