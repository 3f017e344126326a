"""One-port total exchange on Cayley networks: all messages of one offset at a time, each on a shortest path."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import cayley_reason
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.trees import path_hops, shortest_path_tree
from gossamer.schedules import Schedule, Symmetry
from gossamer.tasks import Task, TotalExchange

__all__ = ["SUCCESSIVE_OFFSETS", "offset_by_offset", "status", "status_reason"]


def offset_by_offset(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Exchange one offset y after another: every node v sends its message for ``v*y`` on a shortest path.

    Parameters
    ----------
    network : Network
        A Cayley network with N nodes.
    task : TotalExchange
    model : Model
        Any ports; in every slot each node sends one packet and receives one.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        Invariant under the whole group: N-1 stored packets, one stored hop a slot.

    Notes
    -----
    Takes as many slots as the status of a node, the sum of its distances to all others. That is optimal with one port:
    every message needs its distance in hops and a node makes one hop a slot. Offsets go in the order of element
    numbers, and the generators of an offset are those of its path in the breadth-first tree of the identity.
    A node never holds more than one packet in transit. Time O(status + N degree).

    References
    ----------
    Dimakopoulos 1996, Theorem 4.11: any node-invariant algorithm that follows shortest paths takes the status.

    Examples
    --------
    >>> import gossamer
    >>> net, task = gossamer.network("star:4"), gossamer.task("alltoall")
    >>> offset_by_offset(net, task, Model(ports="one")).completion_time
    Fraction(62, 1)
    """
    tree = shortest_path_tree(network, 0)
    depth = tree.depth[1:].astype(np.int64)
    slot, link, packet = path_hops(tree, tree.destinations, np.cumsum(depth) - depth)
    return Schedule(network, task, model, slot, link, packet, symmetry=Symmetry(network))


@lru_cache(maxsize=64)
def status(network: Network) -> int:
    """Return the status of node 0, the sum of its distances to all others.

    >>> import gossamer
    >>> status(gossamer.network("star:4"))
    62
    """
    return int(network.distances(0).sum(dtype=np.int64))


def status_reason(network: Network) -> str | None:
    """Say why a schedule of as many slots as the status, the same at every node, does not cover a network, or None."""
    reason = cayley_reason(network)
    if reason is None and status(network) > 2**31 - 2:
        return f"would take {status(network)} slots, and a schedule has at most {2**31 - 2}"
    return reason


def _reason(network: Network, task: Task, model: Model) -> str | None:
    reason = status_reason(network)
    if reason is not None or model.buffer is None or model.buffer_counts != "all":
        return reason
    if model.buffer < network.node_count - 1:
        return f"needs room for the {network.node_count - 1} messages of every node"
    return None


SUCCESSIVE_OFFSETS = separate(
    name="successive-offsets",
    task=TotalExchange,
    builder=offset_by_offset,
    reason=_reason,
    claim=lambda network, task, model: Fraction(status(network)),
    networks="Cayley networks",
    source="Dimakopoulos 1996, Theorem 4.11",
    summary="the messages of one offset after another on shortest paths, one hop a slot at every node",
    optimal=lambda network, task, model: model.ports != "all",
)
