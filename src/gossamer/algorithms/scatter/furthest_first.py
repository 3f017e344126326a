"""Scatter down a shortest-path tree, the furthest destinations first, on any network and with any ports."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import separate
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.paths.trees import RootedTree, path_hops, pruned, search_terminals, shortest_path_tree, unreachable
from gossamer.schedules import Schedule
from gossamer.tasks import Scatter, Task

__all__ = [
    "FURTHEST_FIRST",
    "balanced_tree",
    "departures",
    "furthest_first_scatter",
    "least_time",
    "root_reason",
    "scatter_down",
]


def balanced_tree(network: Network, root: int) -> RootedTree:
    """Return a shortest-path tree whose branches at the root hold about equally many terminals.

    Parameters
    ----------
    network : Network
    root : int

    Returns
    -------
    RootedTree
        Every depth is the distance from the root; branches without a terminal are left out.

    Raises
    ------
    NetworkError
        If a terminal cannot be reached.

    Notes
    -----
    Nodes choose in the order of their distances and, within a distance, those first whose possible parents lie in the
    fewest branches. Each joins the branch with the fewest terminals so far for its capacity. A heuristic: the
    most balanced tree may be better. O(N + L log L) time.

    Examples
    --------
    >>> import gossamer
    >>> tree = balanced_tree(gossamer.network("ring:6"), 0)
    >>> tree.parent_link.tolist(), tree.depth.tolist()
    ([-1, 0, 2, 4, 11, 1], [0, 1, 2, 3, 2, 1])
    """
    from gossamer.algorithms.scatter import _kernels

    distance, parent_link, order = search_terminals(network, root)
    source, target = network.link_source, network.link_target
    near = np.flatnonzero((distance[source] >= 0) & (distance[source] + 1 == distance[target])).astype(np.int32)
    near = near[np.argsort(target[near], kind="stable")]
    first = np.zeros(network.node_count + 1, np.int64)
    np.cumsum(np.bincount(target[near], minlength=network.node_count), out=first[1:])
    links = slice(int(network.first_link[root]), int(network.first_link[root + 1]))
    branch = np.full(network.node_count, -1, np.int32)
    branch[target[links]] = np.arange(links.stop - links.start)
    rate = network.link_capacity[links].astype(np.int64)
    _kernels.balance(order, distance, first, near, source, network.terminal_count, rate, parent_link, branch)
    return pruned(RootedTree(network, root, parent_link, distance, order))


def departures(tree: RootedTree, one_port: bool) -> npt.NDArray[np.int64]:
    """Return the slot in which the packet of each destination leaves the root, int64[n-1].

    Packets leave furthest first: with one port one a slot, else as many a slot into each branch as every link of the
    branch can carry.
    """
    from gossamer.algorithms.scatter import _kernels

    to = tree.destinations
    start = np.empty(to.size, np.int64)
    nearness = -tree.depth[to]
    if one_port:
        start[np.argsort(nearness, kind="stable")] = np.arange(to.size)
        return start
    network = tree.network
    links = slice(int(network.first_link[tree.root]), int(network.first_link[tree.root + 1]))
    branch = np.full(network.node_count, -1, np.int32)
    branch[network.link_target[links]] = np.arange(links.stop - links.start)
    rate = network.link_capacity[links].astype(np.int64)
    _kernels.branch_rates(tree.order, tree.parent_link, network.link_source, network.link_capacity, branch, rate)
    order = np.lexsort((nearness, branch[to]))
    sizes = np.bincount(branch[to], minlength=rate.size)
    place = np.arange(to.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start[order] = place // np.repeat(rate, sizes)
    return start


def furthest_first_scatter(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
    """Send the messages down a shortest-path tree, those with the longest way first; nobody else ever waits.

    Parameters
    ----------
    network : Network
        Any network in which the root reaches every terminal.
    task : Scatter
    model : Model
        With ports ``all`` the root serves all branches of a balanced tree at once, with one port one packet a slot.
    seed : int
        Ignored.

    Returns
    -------
    Schedule
        As many hops as the sum of the distances from the root.

    Notes
    -----
    A packet that leaves the root in slot s (from 0) for a destination at depth p arrives in slot ``s + p - 1``, so the
    time is ``max (s + p)`` over all packets. One port: that is ``max_r (R_r + r - 1)`` with R_r terminals at
    distance r or more, optimal for whole messages on every network, and n-1 when all n nodes are terminals. All
    ports: the size of the largest branch at the root, or more where a branch is deep and small. Two packets never
    meet on a link, because they come through the same link of the root in different slots; a branch whose links all
    have capacity c carries c at a time. No node holds more than one packet in transit for each unit of
    capacity of its branch.
    Time O(hops + N + L log L).

    References
    ----------
    Dimakopoulos 1996, Theorems 3.6 and 3.7.

    Examples
    --------
    >>> import gossamer
    >>> net, task = gossamer.network("torus:8x8"), gossamer.task("scatter")
    >>> furthest_first_scatter(net, task, Model()).completion_time
    Fraction(16, 1)
    >>> furthest_first_scatter(net, task, Model(ports="one")).completion_time
    Fraction(63, 1)
    """
    return scatter_down(_tree(network, task, model), task, model)


def scatter_down(tree: RootedTree, task: Task, model: Model) -> Schedule:
    """Return the furthest-first scatter down a given tree."""
    slot, link, packet = path_hops(tree, tree.destinations, departures(tree, model.ports != "all"))
    return Schedule(tree.network, task, model, slot, link, packet)


def _tree(network: Network, task: Task, model: Model) -> RootedTree:
    root = cast(Scatter, task).root
    return balanced_tree(network, root) if model.ports == "all" else shortest_path_tree(network, root)


def root_reason(network: Network, model: Model) -> str | None:
    """Say why a root cannot hold its messages where buffers count everything, or None if it can."""
    own = network.terminal_count - 1
    full = model.buffer is not None and model.buffer_counts == "all" and model.buffer < own
    return f"needs room for the {own} messages of the root" if full else None


def _reason(network: Network, task: Task, model: Model) -> str | None:
    root = cast(Scatter, task).root
    lost = unreachable(network, root)
    if lost is not None:
        return f"finds no path from the root to node {network.node_name(lost)}"
    if model.buffer is None or network.terminal_count == 1:
        return None
    reason = root_reason(network, model)
    if reason is not None:
        return reason
    widest = max((int(network.link_capacity[link]) for link in network.out_links(root)), default=1)
    if model.ports == "all" and model.buffer < widest:
        return f"may hold {widest} packets in transit at a node"
    return None


def _claim(network: Network, task: Task, model: Model) -> Fraction:
    tree = _tree(network, task, model)
    return Fraction(int((departures(tree, model.ports != "all") + tree.depth[tree.destinations]).max(initial=0)))


def _width(network: Network, root: int) -> int:
    """Return how many packets the root can send a slot over all its links."""
    links = network.out_links(root)
    return int(network.link_capacity[links.start : links.stop].sum())


def least_time(network: Network, root: int, one_port: bool = False) -> int:
    """Return ``max_r (r - 1 + ceil(R_r / c))``: R_r terminals are at least r hops from a root that sends c a slot.

    Examples
    --------
    >>> import gossamer
    >>> least_time(gossamer.network("torus:8x8"), 0), least_time(gossamer.network("torus:8x8"), 0, one_port=True)
    (16, 63)
    """
    at_distance = np.bincount(np.delete(network.distances(root)[: network.terminal_count], root))
    farther = np.cumsum(at_distance[::-1])[::-1][1:]
    width = 1 if one_port else max(_width(network, root), 1)
    return int((np.arange(farther.size) - (-farther // width)).max(initial=0))


def _optimal(network: Network, task: Task, model: Model) -> bool:
    """Whether the time is `least_time`, or leaves no link of the root idle."""
    root, one_port = cast(Scatter, task).root, model.ports != "all"
    time = int(_claim(network, task, model))
    if time * (1 if one_port else _width(network, root)) == network.terminal_count - 1:
        return True
    return not model.split and time == least_time(network, root, one_port)


FURTHEST_FIRST = separate(
    name="furthest-first",
    task=Scatter,
    builder=furthest_first_scatter,
    reason=_reason,
    claim=_claim,
    networks="any in which the root reaches every node",
    source="Dimakopoulos 1996, Theorems 3.6 and 3.7",
    summary="down a shortest-path tree, the longest way first; with all ports the branches are balanced",
    optimal=_optimal,
)
