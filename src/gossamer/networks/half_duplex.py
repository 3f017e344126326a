"""Half-duplex cables: the two links of a cable take turns."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import Speeds

__all__ = ["half_duplex"]


def half_duplex(network: Network) -> Network:
    """Return the network with cables that carry packets one way at a time: a shared port for each pair of links.

    Parameters
    ----------
    network : Network
        Every link has an opposite of the same capacity and times, and none goes through a shared port.

    Returns
    -------
    Network
        The same links; both of a cable send and receive through the port of the cable, which passes as many packets
        at once as each of them, each as long. So a packet may start on one of them when the last one on the other has
        left its source: latencies are not waited for.

    Raises
    ------
    NetworkError
        If some link has no opposite, or links share ports already.

    Notes
    -----
    O(L) time.

    Examples
    --------
    >>> import gossamer
    >>> ring = half_duplex(gossamer.network("ring:4"))
    >>> gossamer.plan("ring:4", "alltoall").completion_time, gossamer.plan(ring, "alltoall").completion_time
    (Fraction(2, 1), Fraction(4, 1))
    """
    if network.shared_ports is not None:
        raise NetworkError(f"links of {network.spec} share ports, so its cables are not made half-duplex")
    if not network.two_way:
        raise NetworkError(f"half-duplex cables need links both ways, and {network.spec} has some of one way")
    back = network.reverse_link
    first = np.flatnonzero(np.arange(network.link_count) < back)
    cable = np.empty(network.link_count, np.int32)
    cable[first] = cable[back[first]] = np.arange(first.size, dtype=np.int32)
    speeds = network.find(Speeds)
    return network.with_ports(
        SharedPorts(
            cable,
            cable,
            network.link_capacity[first],
            network.link_occupancy[first],
            None if speeds is None else speeds.bandwidth[first],
        )
    )
