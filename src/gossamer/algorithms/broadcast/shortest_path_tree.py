"""Broadcast down a shortest-path tree, on any network: all children at once, or the slowest subtree first."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.graphs.trees import RootedTree, shortest_path_tree, unreachable
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast
from gossamer.schedules import Schedule

__all__ = [
    "SHORTEST_PATH_TREE",
    "one_port_times",
    "quick_bound",
    "root_of",
    "send_down",
    "time_down",
    "tree_broadcast",
]


def root_of(case: Case) -> int:
    """Return the root of a broadcast."""
    return cast(Broadcast, case.task).root


def one_port_times(tree: RootedTree) -> tuple[IntArray, IntArray]:
    """Return how long each subtree needs and when each node is reached, when a node sends one packet a slot.

    Returns
    -------
    needed : int32[N]
        Slots from the one in which a node has the message until its subtree has it: with the children's values in
        decreasing order ``b_1 >= b_2 >= ...``, ``b = max_i (b_i + i)``, and 0 at a leaf.
    time : int32[N]
        Slots until a node has the message; 0 at the root. Both are 0 outside the tree.

    Notes
    -----
    The least possible time on that tree. O(m log m) for m nodes.

    References
    ----------
    Dimakopoulos 1996, (6.1).

    Examples
    --------
    >>> import gossamer
    >>> needed, time = one_port_times(shortest_path_tree(gossamer.network("hypercube:3"), 0))
    >>> int(needed[0]), time.tolist()
    (3, [0, 3, 2, 3, 1, 3, 2, 3])
    """
    from gossamer.algorithms.broadcast import _kernels

    needed, time = np.zeros((2, tree.depth.size), np.int32)
    _kernels.one_port_times(tree.order, tree.parent_link, tree.network.link_source, needed, time)
    return needed, time


def tree_broadcast(case: Case) -> Schedule:
    """Broadcast down the breadth-first tree of the root.

    Parameters
    ----------
    case : Case
        A broadcast on any network in which the root reaches every terminal. Branches without a terminal are left out.
        Where a node may send on all links it sends to all its children at once; where it sends one packet a slot, to
        one after the other, the child whose subtree needs the longest first.

    Returns
    -------
    Schedule
        One hop for each node of the tree but the root.

    Notes
    -----
    All ports: the largest distance from the root to a terminal, which is optimal for whole messages. One port: the
    optimum for that tree, ``max_i (b_i + i)`` at the root; another tree may do better. A node never holds more than
    the one packet, and receives it over one link. O(N + L) time, O(N log N) with one port.

    References
    ----------
    Dimakopoulos 1996, section 3.1 and (6.1).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:3x3"), gossamer.task("broadcast"))
    >>> tree_broadcast(case).completion_time
    Fraction(4, 1)
    >>> tree_broadcast(case.related(rules=gossamer.Rules(ports="one"))).completion_time
    Fraction(4, 1)
    """
    return send_down(case.once(shortest_path_tree, case.network, root_of(case)), case)


def send_down(tree: RootedTree, case: Case) -> Schedule:
    """Return the fastest broadcast down a given tree: to all children at once, or the slowest subtree first."""
    time = case.once(one_port_times, tree)[1] if case.send_limited else tree.depth
    nodes = tree.order[1:]
    nodes = nodes[np.argsort(time[nodes], kind="stable")]
    links = tree.parent_link[nodes]
    return Schedule.of(case, time[nodes] - 1, links, np.zeros(nodes.size, np.int32))


def time_down(tree: RootedTree, case: Case) -> Fraction:
    """Return the time of the fastest broadcast down a given tree."""
    return Fraction(int(case.once(one_port_times, tree)[0][tree.root] if case.send_limited else tree.depth.max()))


def quick_bound(network: Network, root: int) -> int:
    """Return the largest of ceil(log2 n), e, and e+1 if two terminals are at distance e from the root.

    Examples
    --------
    >>> import gossamer
    >>> quick_bound(gossamer.network("ring:6"), 0), quick_bound(gossamer.network("ring:7"), 0)
    (3, 4)
    """
    distance = network.distances(root)[: network.terminal_count]
    far = int(distance.max())
    return max((network.terminal_count - 1).bit_length(), far + (far > 0 and int((distance == far).sum()) > 1))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, root = case.network, root_of(case)
    lost = case.once(unreachable, network, root)
    if lost is not None:
        return Refusal(f"finds no path from the root to node {network.node_name(lost)}")

    def build() -> Schedule:
        return tree_broadcast(case)

    if not case.send_limited:
        farthest = int(network.distances(root)[: network.terminal_count].max())
        return Offer(build, Fraction(farthest), optimal=case.whole)
    time = time_down(case.once(shortest_path_tree, network, root), case)
    is_tree = network.link_count == 2 * (network.node_count - 1) and bool((network.reverse_link >= 0).all())
    return Offer(build, time, optimal=case.whole and (is_tree or time == quick_bound(network, root)))


SHORTEST_PATH_TREE = Algorithm(
    name="shortest-path-tree",
    tasks=(Broadcast,),
    propose=_propose,
    networks="any in which the root reaches every node",
    source="Dimakopoulos 1996, section 3.1 and (6.1)",
    summary="down the breadth-first tree; with one port the slowest subtree first",
)
