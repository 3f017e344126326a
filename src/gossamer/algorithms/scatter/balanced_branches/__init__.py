"""Scatter down a tree whose branches at the root have been evened out; it need not be of shortest paths."""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_one_way_links
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, balanced_tree, root_of, scatter_down
from gossamer.graphs.trees import RootedTree, tree_of_parents
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule

__all__ = ["BALANCED_BRANCHES", "balanced_branches_scatter", "balanced_branches_tree"]


MOST_BRANCHES = 1000
"""Links of the root up to which branches are evened out."""


def balanced_branches_tree(network: Network, root: int) -> RootedTree:
    """Return a spanning tree whose branches at the root have as equal sizes as moving leaves can make them.

    Parameters
    ----------
    network : Network
        Every node a terminal that the root reaches, every link with an opposite.
    root : int

    Returns
    -------
    RootedTree
        No branch is larger than the largest of `balanced_tree`, from which it starts.

    Notes
    -----
    While a branch has more than ``ceil((n-1)/degree)`` nodes, one leaf moves over each link of a shortest chain of
    neighboring branches from the largest to one with room; where there is no chain, children of nodes at the border
    are hung elsewhere to make leaves of these. It ends when none is too large, or nothing helps. O(N + L + M
    degree^2) time for M moves.

    References
    ----------
    Balanced spanning trees: Dimakopoulos 1996, Theorem 3.7.

    Examples
    --------
    >>> import gossamer
    >>> tree = balanced_branches_tree(gossamer.network("hypercube:4"), 0)
    >>> int(np.bincount(tree.depth)[1]), int(tree.depth.max()) >= 4
    (4, True)
    """
    from gossamer.algorithms.scatter import _kernels as tree_kernels
    from gossamer.algorithms.scatter.balanced_branches import _kernels

    tree = balanced_tree(network, root)
    links = network.out_links(root)
    degree = len(links)
    branch = np.full(network.node_count, -1, np.int32)
    branch[network.link_target[links.start : links.stop]] = np.arange(degree)
    rate = np.ones(degree, np.int64)
    tree_kernels.branch_rates(tree.order, tree.parent_link, network.link_source, network.link_capacity, branch, rate)
    size = np.bincount(branch[tree.order[1:]], minlength=degree).astype(np.int64)
    limit = -(-(network.node_count - 1) // max(degree, 1))
    if size.max(initial=0) <= limit:
        return tree
    parent_link = tree.parent_link.copy()
    _kernels.rebalance(
        root, limit, network.first_link, network.link_target, network.reverse_link, parent_link, branch, size
    )
    return tree_of_parents(network, root, network.link_source[parent_link])


def balanced_branches_scatter(case: Case) -> Schedule:
    """Send the messages down a tree with even branches, the furthest first.

    Parameters
    ----------
    case : Case
        A scatter where every node is a terminal, may send on all links at once, and every link has capacity 1 and an
        opposite.

    Returns
    -------
    Schedule

    Notes
    -----
    The size of the largest branch. A heuristic: for networks that are too large for the flow over time.

    References
    ----------
    Dimakopoulos 1996, Theorem 3.7.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:10"), gossamer.task("scatter"))
    >>> balanced_branches_scatter(case).completion_time
    Fraction(103, 1)
    """
    return scatter_down(case.once(balanced_branches_tree, case.network, root_of(case)), case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if case.send_limited:
        return Refusal("needs ports all; with one port furthest-first is optimal")
    if network.terminal_count < network.node_count or network.uniform_capacity != 1:
        return Refusal("needs every node to be a terminal and every link to have capacity 1")
    refusal = refuse_one_way_links(network)
    if refusal is not None:
        return refusal
    if len(network.out_links(root_of(case))) > MOST_BRANCHES:
        return Refusal(f"needs a root with at most {MOST_BRANCHES:,} links")
    found = FURTHEST_FIRST.offers(case)
    if isinstance(found, Refusal):
        return found
    return Offer(
        lambda: balanced_branches_scatter(case),
        found[0].time,
        at_most=True,
        optimal=found[0].optimal,
        effort="search",
    )


BALANCED_BRANCHES = Algorithm(
    name="balanced-branches",
    tasks=(Scatter,),
    propose=_propose,
    networks="any in which the root reaches every node, with links of capacity 1",
    source="Dimakopoulos 1996, Theorem 3.7",
    summary="down a tree whose branches are evened out by moving leaves, the furthest first",
)
