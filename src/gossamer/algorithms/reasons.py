"""What many algorithms ask of a network and of a model, and what they say where it is not so."""

from __future__ import annotations

from gossamer.model import Model
from gossamer.networks.network import Network

__all__ = ["all_ports_reason", "buffer_reason", "cayley_reason", "opposite_reason", "unit_reason"]


def all_ports_reason(model: Model, held: int | None = None) -> str | None:
    """Say why an algorithm for all ports that may keep `held` packets at a node does not cover a model, or None.

    >>> all_ports_reason(Model(ports="one"))
    "needs all ports at once, not ports 'one'"
    """
    if model.ports != "all":
        return f"needs all ports at once, not ports {model.ports!r}"
    return buffer_reason(model, held)


def buffer_reason(model: Model, held: int | None = None) -> str | None:
    """Say why an algorithm that may keep `held` packets at a node, None for any number, may break a limit, or None.

    >>> buffer_reason(Model(buffer=2)), buffer_reason(Model(buffer=2), 3)
    ('does not limit the packets that a node holds', 'may keep 3 packets at one node, more than the buffer of 2')
    """
    if model.buffer is None:
        return None
    if held is None:
        return "does not limit the packets that a node holds"
    over = model.buffer < held
    return f"may keep {held} packets at one node, more than the buffer of {model.buffer}" if over else None


def cayley_reason(network: Network) -> str | None:
    """Say why an algorithm for connected Cayley networks with links of one capacity does not cover a network, or None.

    >>> import gossamer
    >>> cayley_reason(gossamer.network("array:3"))
    'needs a Cayley network'
    """
    if network.group is None:
        return "needs a Cayley network"
    if network.uniform_capacity is None:
        return "needs links of one capacity"
    return "needs a connected network" if int(network.distances(0).min()) < 0 else None


def opposite_reason(network: Network) -> str | None:
    """Say why an algorithm that uses both directions of every edge does not cover a network, or None if it does.

    >>> import gossamer
    >>> opposite_reason(gossamer.network("array:3")) is None
    True
    """
    one_way = network.link_count and int(network.reverse_link.min()) < 0
    return "needs an opposite for every link" if one_way else None


def unit_reason(network: Network) -> str | None:
    """Say why an algorithm for links of capacity 1 among two terminals or more does not cover a network, or None.

    >>> import gossamer
    >>> unit_reason(gossamer.network("ring:1"))
    'needs at least 2 nodes'
    """
    if network.terminal_count != network.node_count or network.uniform_capacity != 1:
        return "needs links of capacity 1 and no routing nodes"
    return "needs at least 2 nodes" if network.node_count < 2 else None
