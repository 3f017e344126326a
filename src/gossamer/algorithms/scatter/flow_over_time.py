"""The fastest scatter on any network with all ports: an integral flow from the root over the slots."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np

from gossamer.algorithms.algorithm import separate
from gossamer.algorithms.reasons import buffer_reason
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, balanced_tree, departures, least_time
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree, path_hops, unreachable
from gossamer.schedules import Schedule
from gossamer.tasks import Scatter, Task

__all__ = ["FLOW_OVER_TIME", "LARGEST", "flow_scatter"]

LARGEST = 20_000_000
"""Links times slots up to which the flow is computed."""

PROVEN = 30_000
"""Links times slots up to which the bounds prove by a cut that less time is not enough."""


def flow_scatter(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Scatter in the least possible time, on paths that need not form a tree.

    Parameters
    ----------
    network : Network
        Any network in which the root reaches every terminal; links may have any capacity.
    task : Scatter
    model : Model
        With ports ``all``.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        That of the balanced tree where it is the fastest already.

    Notes
    -----
    All packets start at one node, so they are a flow of one commodity: a scatter in T slots is an integral flow in the
    network of states (node, slot) that brings one unit to each terminal, and every such flow falls apart into the
    paths of the packets. Packets need not wait on the way (Hoppe and Tardos). The flow begins with the packets of the
    balanced tree that arrive in time; the others find room by augmenting paths, first in the slots that the distances
    and the links of the root ask for. Where no path is left, the states that were reached are a cut that
    proves that so many slots are not enough, and there is one more. O(L T) time for each augmenting path and each T.

    References
    ----------
    L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958.
    B. Hoppe, E. Tardos, "The quickest transshipment problem", Mathematics of Operations Research 25, 2000. Bound (3.3)
    of Dimakopoulos 1996; its figure 3.4 shows that no tree may be fast enough.

    Examples
    --------
    >>> import gossamer
    >>> import networkx as nx
    >>> net = gossamer.networks.from_networkx(nx.Graph(["va", "vb", "ac", "bc", "cd", "ce"]))
    >>> flow_scatter(net, gossamer.task("scatter"), Model()).completion_time
    Fraction(3, 1)
    """
    from gossamer.algorithms.scatter import _kernels

    root, n = cast(Scatter, task).root, network.node_count
    tree = balanced_tree(network, root)
    start = departures(tree, one_port=False)
    slots, least = _tree_time(tree), least_time(network, root)
    if slots <= least:
        return Schedule(network, task, model, *path_hops(tree, tree.destinations, start))
    source, target = network.link_source, network.link_target
    into = np.argsort(target, kind="stable").astype(np.int32)
    into_first = np.append(0, np.cumsum(np.bincount(target, minlength=n)))
    arrival = np.full(n, -1, np.int32)
    dtype = np.uint8 if int(network.link_capacity.max()) < 256 else np.int32
    flow = np.zeros((slots - 1, network.link_count), dtype)
    came, stamp = np.zeros((2, slots, n), np.int32)
    queue = np.empty(slots * n, np.int64)
    to, depth = tree.destinations, tree.depth[tree.destinations]
    late = _kernels.load_paths(to, depth, start, least, tree.parent_link, source, flow, arrival)
    horizon, turn = least, 0
    while late and horizon < slots:
        turn += 1
        found = _kernels.augment(
            horizon, root, network.terminal_count, network.first_link, source, target, network.link_capacity,
            into_first, into, flow, arrival, came, stamp, queue, turn,
        )  # fmt: skip
        late -= found
        horizon += not found
    if late:
        return Schedule(network, task, model, *path_hops(tree, tree.destinations, start))
    hops = int(flow.sum(dtype=np.int64))
    slot, link, packet = np.empty((3, hops + 1), np.int32)
    hops = _kernels.separate(root, to, into_first, into, source, flow, arrival, slot, link, packet)
    order = np.argsort(slot[:hops], kind="stable")
    return Schedule(network, task, model, slot[order], link[order], packet[order])


def _tree_time(tree: RootedTree) -> int:
    return int((departures(tree, one_port=False) + tree.depth[tree.destinations]).max(initial=0))


def _reason(network: Network, task: Task, model: Model) -> str | None:
    root = cast(Scatter, task).root
    if model.ports != "all":
        return "needs ports all; with one port furthest-first is optimal"
    if model.buffer is not None:
        return buffer_reason(model)
    lost = unreachable(network, root)
    if lost is not None:
        return f"finds no path from the root to node {network.node_name(lost)}"
    size = network.link_count * least_time(network, root)
    if size > LARGEST:
        return f"takes at most {LARGEST:,} links times slots, and here are {size:,}"
    return None


def _claim(network: Network, task: Task, model: Model) -> Fraction:
    return FURTHEST_FIRST.claim(network, task, model) or Fraction(0)


def _optimal(network: Network, task: Task, model: Model) -> bool:
    if FURTHEST_FIRST.optimal(network, task, model):
        return True
    return not model.split and network.link_count * int(_claim(network, task, model)) <= PROVEN


FLOW_OVER_TIME = separate(
    name="flow-over-time",
    task=Scatter,
    builder=flow_scatter,
    reason=_reason,
    claim=_claim,
    networks=f"any in which the root reaches every node, to {LARGEST:,} links times slots",
    source="Ford and Fulkerson 1958; Hoppe and Tardos 2000; bound (3.3) of Dimakopoulos 1996",
    summary="the least time there is, by augmenting paths over the slots; the paths need not form a tree",
    claim_is_bound=True,
    optimal=_optimal,
)
