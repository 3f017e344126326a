"""The bottleneck of a network: a cut with little capacity for the terminals on its two sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.networks.recognition.missing_links import almost_torus
from gossamer.networks.structures import Speeds

__all__ = ["NarrowCut", "bottleneck"]

_MOST_LINKS = 5_000_000
_FIEDLER_NODES = 20_000
_STARTS = 16
_PROJECTED = 4

Floats = npt.NDArray[np.float64]


class NarrowCut(NamedTuple):
    """A set of nodes and what crosses its boundary.

    * `nodes` (int64[M]): the side with fewer terminals.
    * `inside`, `outside` (int): terminals on that side, and on the other.
    * `links` (int): links that lead out of it.
    * `capacity` (int): packets that those carry at once.
    * `bandwidth` (float or None): bytes a second that those carry, where the network has speeds.
    """

    nodes: npt.NDArray[np.int64]
    inside: int
    outside: int
    links: int
    capacity: int
    bandwidth: float | None


def bottleneck(network: Network) -> NarrowCut | None:
    """Return the narrowest cut that is found: of the least capacity for each pair of terminals that it separates.

    `network` (Network): any network. What counts is the bandwidth of the links where they have one, and else capacity
    by occupancy. Returns: None if there is but one terminal, or over 5,000,000 links.

    The prefixes of some orders of the nodes are tried: by coordinate (of tori of which a
    few links failed, from each layer on), by distance from some nodes, and by eigenvectors
    of the Laplacian for its second and third eigenvalue (Fiedler 1973), up to 20,000 nodes. There may be narrower cuts.

    >>> from gossamer.networks import array
    >>> cut = bottleneck(array(2, 8))
    >>> cut.nodes.tolist(), cut.links
    ([0, 1, 2, 3, 8, 9, 10, 11], 2)
    """
    if network.terminal_count < 2 or network.link_count > _MOST_LINKS:
        return None
    speeds = network.find(Speeds)
    rate = _rates(network, speeds)
    best, narrowest = None, np.inf
    for order in _orders(network, rate):
        place = np.empty(network.node_count, np.int64)
        place[order] = np.arange(network.node_count)
        ends = place[network.link_source], place[network.link_target]
        crossing = np.minimum(
            _crossing(*ends, rate, network.node_count), _crossing(*ends[::-1], rate, network.node_count)
        )
        terminals = np.cumsum(order < network.terminal_count)[:-1]
        pairs = terminals * (network.terminal_count - terminals)
        price = np.where(pairs > 0, crossing / np.maximum(pairs, 1), np.inf)
        least = int(np.argmin(price))
        if price[least] < narrowest * (1 - 1e-9):
            best, narrowest = order[: least + 1], float(price[least])
    return None if best is None else _cut(network, best, speeds)


def _rates(network: Network, speeds: Speeds | None) -> Floats:
    """Return what each link passes while all links through its ports are busy."""
    rate: Floats = network.link_capacity / network.link_occupancy
    if speeds is not None:
        rate = network.link_capacity * speeds.bandwidth
    ports = network.shared_ports
    if ports is None:
        return rate
    most = np.asarray(ports.capacity) / np.asarray(ports.occupancy)
    if speeds is not None and ports.bandwidth is not None:
        most = np.asarray(ports.capacity) * ports.bandwidth
    fair = rate
    for side in (ports.sending, ports.receiving):
        share = np.minimum(most / np.maximum(np.bincount(side + 1, rate, ports.count + 1)[1:], 1e-300), 1.0)
        fair = np.minimum(fair, rate * np.append(share, 1.0)[side])
    return np.asarray(fair, np.float64)


def _cut(network: Network, nodes: npt.NDArray[np.int64], speeds: Speeds | None) -> NarrowCut:
    side = np.zeros(network.node_count, bool)
    side[nodes] = True
    terminals = side[: network.terminal_count]
    if 2 * int(terminals.sum()) > terminals.size:
        side = ~side
    out = side[network.link_source] & ~side[network.link_target]
    capacity = network.link_capacity[out]
    bandwidth = None if speeds is None else float((capacity * speeds.bandwidth[out]).sum())
    ports = network.shared_ports
    if ports is not None and speeds is not None and ports.bandwidth is not None:
        each = network.link_capacity * speeds.bandwidth
        bandwidth = ports.passed(out, each, np.asarray(ports.capacity) * ports.bandwidth)
    inside = int(side[: network.terminal_count].sum())
    return NarrowCut(
        np.flatnonzero(side),
        inside,
        network.terminal_count - inside,
        int(out.sum()),
        int(capacity.sum()),
        bandwidth,
    )


def _crossing(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], rate: Floats, n: int) -> Floats:
    """Return what leads from the first i+1 nodes of an order to the others, for every i but the last."""
    up = start < end
    change = np.bincount(start[up], rate[up], n) - np.bincount(end[up], rate[up], n)
    return np.asarray(np.cumsum(change)[:-1], np.float64)


def _orders(network: Network, rate: Floats) -> Iterator[npt.NDArray[np.int64]]:
    """Yield orders of the nodes."""
    n = network.node_count
    if network.coordinates is not None:
        for column in network.coordinates.T:
            yield np.argsort(column, kind="stable")
    torus = almost_torus(network)
    for column, side in zip(torus.place.T, torus.sides, strict=True) if torus is not None else ():
        for first in range(side):
            yield np.argsort((column - first) % side, kind="stable")
    for start in np.unique(np.linspace(0, n - 1, min(n, _STARTS)).astype(int)).tolist():
        distance = network.distances(start)
        yield np.argsort(np.where(distance < 0, n, distance), kind="stable")
    if 2 < n <= _FIEDLER_NODES:
        for vector in _smooth(network, rate):
            yield np.argsort(vector.round(9), kind="stable")


def _smooth(network: Network, rate: Floats) -> Iterator[Floats]:
    """Yield eigenvectors of the Laplacian for each of its next two eigenvalues.

    Where several belong to an eigenvalue, fixed vectors are projected onto all of them: which ones a solver returns
    depends on the machine.
    """
    from scipy.sparse import csr_array, diags
    from scipy.sparse.linalg import eigsh

    n = network.node_count
    one = csr_array((rate / (rate.max() if rate.size else 1), (network.link_source, network.link_target)), shape=(n, n))
    both = one + one.T
    laplacian = (diags(np.asarray(both.sum(axis=1)).ravel()) - both).tocsc()
    starts = np.cos(np.outer(np.arange(1, _PROJECTED + 1), np.arange(n)))
    if n <= 300:
        values, vectors = np.linalg.eigh(laplacian.toarray())
    else:
        starts = starts[:1]  # the solver finds no more of an eigenspace than the projection of where it begins
        try:
            values, vectors = eigsh(laplacian, 3, sigma=-1e-3, v0=starts[0])
        except (RuntimeError, ArithmeticError):  # no convergence: other orders must do
            return
    values, vectors = values[1:], vectors[:, 1:]
    for _ in range(2):
        if not values.size:
            return
        alike = np.isclose(values, values[0], rtol=1e-6, atol=1e-9)
        for start in starts:
            vector = vectors[:, alike] @ (start @ vectors[:, alike])
            if (length := np.linalg.norm(vector)) > 1e-6:
                yield vector / length
        values, vectors = values[~alike], vectors[:, ~alike]
