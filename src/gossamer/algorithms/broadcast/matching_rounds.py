"""One-port broadcast on any network: in every slot a matching of informed with uninformed nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.shortest_path_tree import (
    SHORTEST_PATH_TREE,
    one_port_times,
    quick_bound,
    root_of,
    send_down,
)
from gossamer.graphs.trees import RootedTree, pruned, shortest_path_tree, tree_of_parents
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast
from gossamer.schedules import Schedule

EFFORT = 10_000_000
"""Nodes and links in all trials together, roughly: a few seconds."""

TRIALS = 400
PATIENCE = 80
"""After so many trials the weights start again from the distances."""

NOISE = (0.4, 1.0, 0.7, 1.4)
"""How many slots the noise of a trial can make up for, in turn."""


def one_port_tree(network: Network, root: int, seed: int = 0) -> RootedTree:
    """Return a tree down which a broadcast with one port is fast.

    `network`: any network in which the root reaches every terminal. `seed`: decides between nodes that look alike.

    Returns: never slower than the breadth-first tree.

    The best of several trees. Two are trees of shortest paths: the breadth-first one, and one in which layer after
    layer, from the furthest, the nodes whose subtrees need most choose their parents first. The others come from
    broadcasts in rounds: in each slot the heaviest set of uninformed nodes that a matching with informed nodes allows
    (found greedily with augmenting paths; such sets form a matroid) is informed. The weight of a node is what its
    subtree needed in the fastest tree so far, at first its distance from the furthest node beyond it, with some
    noise. Every tree is then served in the best order, ``max_i (b_i + i)``. Trials end at the bound of `quick_bound`.
    O(slots + L + N log N) for each tree, and more where augmenting paths are long.

    Source: The thesis gives bounds only (Dimakopoulos 1996, section 3.2). Rounds of matchings: P. Scheuermann, G. Wu,
    "Heuristic algorithms for broadcasting in point-to-point computer networks", IEEE Trans. Computers 33, 1984. Layers:
    H. A. Harutyunyan, B. Shao, "An efficient heuristic for broadcasting in networks", J. Parallel and Distributed
    Computing 66, 2006.

    >>> import gossamer
    >>> net = gossamer.network("torus:7x7")
    >>> [int(one_port_times(t)[0][0]) for t in (shortest_path_tree(net, 0), one_port_tree(net, 0))]
    [8, 7]
    """
    from gossamer.algorithms.broadcast.shortest_path_tree import layered_parents, spread

    best = shortest_path_tree(network, root)
    needed = one_port_times(best)[0]
    least, time = quick_bound(network, root), int(needed[root])
    if time <= least or network.link_count == 2 * (network.node_count - 1):
        return best
    n, source, target = network.node_count, network.link_source, network.link_target
    into = np.argsort(target, kind="stable").astype(np.int32)
    into_first = np.append(0, np.cumsum(np.bincount(target, minlength=n)))
    search = network.breadth_first(root)
    beyond = _beyond(network, search.distance)
    draw = np.random.default_rng(seed)
    for trial in range(max(3, min(TRIALS, EFFORT // (network.link_count + n)))):
        parent_link = np.full(n, -1, np.int32)
        if trial % PATIENCE == 0:
            weight, current = beyond, n
        if trial == 0:
            layered_parents(search.order, search.distance, into_first, into, source, draw.random(n) / 2, parent_link)
        else:
            noise = draw.random(n) * NOISE[trial % len(NOISE)]
            informed = np.full(n, -1, np.int32)
            spread(
                root, network.terminal_count, network.first_link, target, source, into_first, into,
                weight + noise, informed, parent_link,
            )  # fmt: skip
        tree = _tree(network, root, parent_link)
        needed = one_port_times(tree)[0]
        if needed[root] < time:
            best, time = tree, int(needed[root])
        if time <= least:
            break
        if needed[root] <= current and trial:
            weight, current = needed.astype(np.float64), int(needed[root])
    return best


def _tree(network: Network, root: int, parent_link: IntArray) -> RootedTree:
    parent = np.where(parent_link >= 0, network.link_source[parent_link], np.int32(-1))
    tree = tree_of_parents(network, root, parent)
    return tree if network.terminal_count == network.node_count else pruned(tree)


def _beyond(network: Network, distance: IntArray) -> npt.NDArray[np.float64]:
    """Return how many more hops shortest paths from the root through each node can have, float64[N]."""
    height = np.zeros(network.node_count)
    forward = np.flatnonzero(distance[network.link_target] == distance[network.link_source] + 1)
    forward = forward[np.argsort(-distance[network.link_source[forward]], kind="stable")]
    layer = distance[network.link_source[forward]]
    ends = np.flatnonzero(np.diff(layer)) + 1
    for links in np.split(forward, ends):
        np.maximum.at(height, network.link_source[links], height[network.link_target[links]] + 1)
    return height


def matching_broadcast(case: Case) -> Schedule:
    """Broadcast down the best of several trees, most of them made by rounds of matchings.

    With one port a node tells one other node in a slot, so that the pairs of a slot, who tells whom, are a matching
    between nodes that have the message and nodes that lack it. Good schedules use as many such pairs as there are, and
    tell those nodes first behind which the most others wait.

    Parameters
    ----------
    case : Case
        A broadcast on any network in which the root reaches every terminal, with ports ``one`` or ``one-send``. Its
        seed decides between nodes that look alike.

    Returns
    -------
    Schedule
        One hop for each node of the tree but the root.

    Notes
    -----
    A heuristic: the least time is NP-hard to find. It is never slower than the breadth-first tree, the optimum where
    the network is a tree, and ceil(log2 n) on complete networks and hypercubes. See `one_port_tree`.

    References
    ----------
    Dimakopoulos 1996, section 3.2, gives the bounds that it is measured against.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("ccc:3"), gossamer.task("broadcast"), gossamer.Rules(ports="one"))
    >>> matching_broadcast(case).completion_time
    Fraction(6, 1)
    """
    # Step 1: in every slot match nodes that have the message with nodes that lack it, the weightiest first; several
    #   weights and the breadth-first tree are tried, and the tree that is over first is kept
    tree = case.once(one_port_tree, case.network, root_of(case), case.seed)
    # Step 2: send down that tree, the slowest subtree first
    return send_down(tree, case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if not case.send_limited:
        return Refusal("is for one-port nodes; for all-port nodes the shortest-path tree is optimal")
    found = SHORTEST_PATH_TREE.offers(case)
    if isinstance(found, Refusal):
        return found
    return Offer(
        lambda: matching_broadcast(case), found[0].time, at_most=True, optimal=found[0].optimal, effort="search"
    )


MATCHING_ROUNDS = Algorithm(
    name="matching-rounds",
    tasks=(Broadcast,),
    propose=_propose,
    networks="any in which the root reaches every node",
    source="gossamer; Scheuermann and Wu 1984, Harutyunyan and Shao 2006",
    summary="with one port, a heavy matching of informed with uninformed nodes in every slot, tried several times",
)
