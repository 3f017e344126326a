"""Networks with other node numbers: the same links under other names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates, IntArray, Speeds, Structure, int_array

__all__ = ["Renumbered", "renumbered"]


@dataclass(frozen=True, eq=False)
class Renumbered(Structure):
    """The network is another one with its nodes renumbered, so that a schedule of that one is one of this.

    Attributes
    ----------
    original : Network
        The other network, of which more is known.
    place : int32[N]
        The node of `original` that each node is.
    """

    original: Network
    place: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", int_array(self.place, "places"))

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse another number of nodes or links."""
        if self.original.node_count == self.place.size == nodes and self.original.link_count == links:
            return None
        return f"it is said to be {self.original.spec!r} renumbered, which has {self.original.node_count} nodes"

    def transposed(self, order: IntArray) -> Structure:
        """Keep it: the other network is turned round as well."""
        return Renumbered(self.original.transposed, self.place)


def renumbered(network: Network, order: npt.ArrayLike, spec: str, *, terminal_count: int | None = None) -> Network:
    """Return the network whose node i is node ``order[i]`` of another.

    Parameters
    ----------
    network : Network
        Any network.
    order : array_like of int, shape (N,)
        Each node once; without `terminal_count`, the terminals first.
    spec : str
        Its name, which does not parse back.
    terminal_count : int, optional
        How many nodes are terminals. Default: as many as before.

    Returns
    -------
    Network
        Links, capacities, times, speeds, names and coordinates stay with their nodes; the links of a node keep their
        order. If the terminals stay the terminals, `find(Renumbered)` has the original.

    Raises
    ------
    NetworkError
        If `order` does not have each node once, or a terminal becomes a switch without `terminal_count`.

    Notes
    -----
    O(L log L) time.

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> turned = renumbered(ring(4), [0, 2, 1, 3], "my ring")
    >>> turned.link_target.tolist(), turned.find(Renumbered).original.spec
    ([2, 3, 3, 2, 1, 0, 0, 1], 'ring:4')
    """
    given = int_array(order, "order")
    n = network.node_count
    if given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise NetworkError(f"the order must have each of the {n} nodes of {network.spec} once")
    count = network.terminal_count if terminal_count is None else terminal_count
    same = count == network.terminal_count and int(given[:count].max()) < count
    if not same and terminal_count is None:
        raise NetworkError(f"the order must have the {count} terminals of {network.spec} first")
    new = np.empty(n, np.int32)
    new[given] = np.arange(n, dtype=np.int32)
    source = new[network.link_source]
    links = np.argsort(source, kind="stable")
    return Network(
        spec,
        n,
        source[links],
        new[network.link_target][links],
        network.link_capacity[links],
        link_occupancy=network.link_occupancy[links],
        link_latency=network.link_latency[links],
        terminal_count=count,
        structures=[*_carried(network, given, links), *([Renumbered(network, given)] if same else [])],
        labels=None if network.labels is None else [network.labels[i] for i in given.tolist()],
        links_only=True,
    )


def _carried(network: Network, order: IntArray, links: npt.NDArray[np.int64]) -> list[Structure]:
    found: list[Structure] = []
    if network.coordinates is not None and network.labels is None:
        found.append(Coordinates(network.coordinates[order]))
    speeds = network.find(Speeds)
    if speeds is not None:
        found.append(Speeds(speeds.bandwidth[links], speeds.latency[links]))
    if network.shared_ports is not None and (ports := network.shared_ports.remaining(order, int_array(links, "links"))):
        found.append(ports)
    return found
