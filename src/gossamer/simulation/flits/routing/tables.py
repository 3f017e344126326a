"""Routing on any network along paths that are computed once for every two routers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import IntArray
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.function import NO_STEP, Joined, Sent, phases
from gossamer.simulation.flits.routing.legs import Choosing, Legs, TwoLegs
from gossamer.simulation.flits.settings import Routers

__all__ = ["Layered", "ShortestPath", "UgalTable", "UpDown", "ValiantTable", "ranks"]

_MOST_ROUTERS = 1024


class ShortestPath(Legs):
    """A shortest path for each pair of routers, spread over the links; messages can deadlock."""

    name = "shortest-path"
    legal = False
    rounds = 1
    draws: int | None = 0

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        if fabric.router_count > _MOST_ROUTERS:
            raise ModelError(
                f"routing {self.name!r} keeps a path for every two routers and takes networks of up to "
                f"{_MOST_ROUTERS} nodes, {fabric.network.spec} has {fabric.router_count}"
            )
        self.first, self.step = _paths(fabric, self.legal, self.rounds)
        self.longest = int(np.diff(self.first).max(initial=0))
        self.classes = np.array([(1 << settings.virtual_channels) - 1], np.int64)

    def pairs(self, at: npt.NDArray[np.integer], to: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """Return the table entries of paths between routers, int64[M]."""
        return np.asarray(to, np.int64) * self.fabric.router_count + at

    def leg(
        self,
        sent: Sent,
        at: npt.NDArray[np.integer],
        to: npt.NDArray[np.integer],
        kind: int,
        hops: npt.NDArray[np.int64],
    ) -> None:
        """Copy paths between routers; see `Legs.leg`."""
        from gossamer.simulation.flits.routing import _kernels

        ends = self.ends(sent.target)
        _kernels.copy_paths(self.first, self.step, self.pairs(at, to), kind, sent.begin, hops, ends, sent.route)

    def every_route(self) -> Iterator[IntArray]:
        """Yield the paths of all pairs."""
        yield self.rows(0)

    def rows(self, kind: int) -> IntArray:
        """Return all paths as rows, int32[pairs, longest]."""
        length = np.diff(self.first)
        rows = np.full((length.size, max(1, self.longest)), NO_STEP, np.int32)
        rows[np.arange(max(1, self.longest)) < length[:, None]] = self.step + kind
        return rows


class UpDown(ShortestPath):
    """Shortest paths among those that go up towards a root first and then down (up*/down*)."""

    name = "up-down"
    legal = True


class Layered(ShortestPath):
    """Shortest paths, each in the first layer of virtual channels in which it closes no circle (LASH)."""

    name = "layered"

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        from gossamer.simulation.flits.routing import _kernels

        super().__init__(fabric, settings)
        lanes, links = settings.virtual_channels, fabric.link_count
        most = int(np.bincount(fabric.source, minlength=fabric.router_count).max())
        layer_of = np.zeros(self.first.size - 1, np.int32)
        used = _kernels.layer(
            self.first, self.step, np.zeros((lanes, links, most), np.int32), np.zeros((lanes, links), np.int32),
            np.zeros(links, np.int32), np.zeros(links + 1, np.int32), layer_of, np.zeros(self.longest + 1, np.int32),
            lanes,
        )  # fmt: skip
        if used < 0:
            raise ModelError(
                f"routing 'layered' needs more than virtual_channels = {lanes} on {fabric.network.spec}; "
                "'up-down' needs 1"
            )
        self.layers = max(1, used)
        self.classes = np.array([self.classes[0], *phases(lanes, self.layers, self.name, 1)], np.int64)
        self.step = (self.step + np.repeat(1 + layer_of, np.diff(self.first))).astype(np.int32)


class ValiantTable(TwoLegs, Layered):
    """To a random router first and from there to the target, each leg on layers of its own."""

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        super().__init__(fabric, settings)
        groups = phases(settings.virtual_channels, 2 * self.layers, self.name, 1)
        self.classes = np.array([self.classes[0], *groups], np.int64)
        self.direct, self.longest = self.longest, 2 * self.longest
        self.kinds = 0, self.layers
        self.draws = None

    def rows(self, kind: int) -> IntArray:
        """Return all paths as rows, int32[pairs, longest]."""
        length = np.diff(self.first)
        rows = np.full((length.size, max(1, self.direct)), NO_STEP, np.int32)
        rows[np.arange(max(1, self.direct)) < length[:, None]] = self.step + kind
        return rows

    def every_route(self) -> Iterator[IntArray]:
        """Yield the legs of both kinds between all pairs."""
        yield self.rows(0)
        yield self.rows(self.layers)

    def joined(self) -> list[Joined]:
        """Return the classes of first and second legs."""
        return [Joined(1 + a, 1 + self.layers + b) for a in range(self.layers) for b in range(self.layers)]


class UgalTable(Choosing, ValiantTable):
    """The shortest way, or Valiant's where that promises to be faster."""


def ranks(fabric: Fabric) -> IntArray:
    """Return the place of each router in a breadth-first order from a central root, int32[R]; lower is further up.

    The root is a router without terminals if there is one, of those the nearest to all others, and of the most links.
    """
    n, network = fabric.router_count, fabric.network
    candidates = np.arange(network.terminal_count, n) if network.terminal_count < n else np.arange(n)
    degree = np.bincount(fabric.source, minlength=n)
    best: tuple[int, int, int] | None = None
    order = np.arange(n)
    some = candidates if candidates.size <= 256 else candidates[:: -(-candidates.size // 256)]
    for root in some.tolist():
        found = network.breadth_first(root)
        if found.order.size < n:
            raise ModelError(f"up-down routing needs a way from every node to every other, {network.spec} has none")
        key = (int(found.distance.max()), -int(degree[root]), root)
        if best is None or key < best:
            best, order = key, np.lexsort((np.arange(n), found.distance))
    rank = np.zeros(n, np.int32)
    rank[order] = np.arange(n)
    return rank


def _paths(fabric: Fabric, legal: bool, rounds: int) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Return the paths to router 0 from all, then to router 1 from all, ...: first int64[R*R+1], steps int32[...].

    Each goes over the links that are least loaded at the time; in further rounds they are led anew, one target after
    the other, which loads links more evenly.
    """
    from gossamer.simulation.flits.routing import _kernels

    n = fabric.router_count
    rank = ranks(fabric) if legal else np.zeros(n, np.int32)
    out, into = fabric.leaving, fabric.entering
    far, queue = np.zeros((n, 2), np.int32), np.zeros(2 * n + 2, np.int32)
    load = np.zeros(fabric.link_count, np.int64)
    steps: list[IntArray] = []
    lengths = np.zeros((n, n), np.int64)
    for to in [*range(n)] * rounds:
        if len(steps) > to:
            np.subtract.at(load, steps[to] >> 8, 1)
        _kernels.distances(into[0], into[1], fabric.source, rank, to, legal, far, queue)
        if (far[:, 1] < 0).any():
            missing = int(np.flatnonzero(far[:, 1] < 0)[0])
            name = fabric.network.node_name
            ways = "has no way up towards a root and then down" if legal else "has no way"
            raise ModelError(
                f"{fabric.network.spec} {ways} from {name(missing)} to {name(to)}"
                + ("; 'layered' routing takes any shortest paths, on more virtual channels" if legal else "")
            )
        at = np.cumsum(far[:, 1]) - far[:, 1]
        step = np.zeros(int(far[:, 1].sum()), np.int32)
        _kernels.follow(
            out[0], out[1], fabric.target, rank, legal, far, to, load, lengths[to], True, step, at.astype(np.int64)
        )  # fmt: skip
        steps[to : to + 1] = [step]
    first = np.zeros(n * n + 1, np.int64)
    np.cumsum(lengths.reshape(-1), out=first[1:])
    return first, np.concatenate(steps)
