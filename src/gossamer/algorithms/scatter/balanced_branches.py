"""Scatter down a tree whose branches at the root have been evened out; it need not be of shortest paths."""

from __future__ import annotations

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_one_way_links
from gossamer.algorithms.scatter.furthest_first import FURTHEST_FIRST, balanced_tree, root_of, scatter_down
from gossamer.graphs.trees import RootedTree, tree_of_parents
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True)
def _offer(v, used, root, branches, first_link, link_target, parent_link, branch, below, head, tail, pool, after):
    """Queue leaf v for every other branch next to it; return the number of places used in the pool.

    The first node of a branch stays in it.
    """
    if below[v] or v == root or first_link[root] <= parent_link[v] < first_link[root + 1]:
        return used
    for e in range(first_link[v], first_link[v + 1]):
        b = branch[link_target[e]]
        if b >= 0 and b != branch[v] and used < pool.size:
            pair = branch[v] * branches + b
            pool[used], after[used] = v, -1
            if head[pair] < 0:
                head[pair] = used
            else:
                after[tail[pair]] = used
            tail[pair] = used
            used += 1
    return used


@njit(cache=True, nogil=True)
def _next(a, b, branches, first_link, link_target, branch, below, head, pool, after):
    """Return the first queued leaf of branch a that still has a neighbor in branch b, or -1; drop those before it."""
    pair = a * branches + b
    while head[pair] >= 0:
        v = pool[head[pair]]
        if branch[v] == a and below[v] == 0:
            for e in range(first_link[v], first_link[v + 1]):
                if branch[link_target[e]] == b:
                    return v
        head[pair] = after[head[pair]]
    return -1


@njit(cache=True, nogil=True)
def _free(x, root, first_link, link_target, reverse_link, parent_link, branch, below):
    """Hang as many children of node x as possible on other nodes of its branch that are not behind x."""
    for d in range(first_link[x], first_link[x + 1]):
        y = link_target[d]
        if y == root or parent_link[y] != d:
            continue
        for e in range(first_link[y], first_link[y + 1]):
            z = link_target[e]
            if z == x or branch[z] != branch[x]:
                continue
            u = z
            while u != root and u != x:
                u = link_target[reverse_link[parent_link[u]]]
            if u == root:
                parent_link[y] = reverse_link[e]
                below[z] += 1
                below[x] -= 1
                break


@njit(cache=True, nogil=True, small=100_000)
def _rebalance(root, size_limit, first_link, link_target, reverse_link, parent_link, branch, size):
    """Move leaves between neighboring branches until none has more than `size_limit` nodes, or none can move.

    `parent_link` int32[N] and `size` int64[branches] are changed, and `branch` int32[N], which is -1 at the root.
    Leaves go along a shortest chain of branches from the largest one to one with room. Where there is no chain, inner
    nodes at the border become leaves. Returns the number of moves.
    """
    nodes, branches = branch.size, size.size
    below = np.zeros(nodes, np.int64)  # children
    for v in range(nodes):
        if v != root:
            below[link_target[reverse_link[parent_link[v]]]] += 1
    head, tail = np.full((2, branches * branches), -1, np.int64)
    pool, after = np.empty((2, 2 * link_target.size + 64), np.int64)
    state = (root, branches, first_link, link_target, parent_link, branch, below, head, tail, pool, after)
    chain = np.empty(branches, np.int64)
    came = np.empty(branches, np.int64)
    moves, used, freed_at = 0, pool.size, -1
    while moves < 64 * nodes:
        if used > pool.size - pool.size // 4:  # full of old entries: queue all leaves again, at most one a link
            head[:] = -1
            used = 0
            for v in range(nodes):
                used = _offer(v, used, *state)
        start = np.argmax(size)
        if size[start] <= size_limit:
            return moves
        came[:] = -1
        came[start] = start
        chain[0] = start
        i, j, end = 0, 1, -1
        while i < j and end < 0:
            a = chain[i]
            i += 1
            for b in range(branches):
                if came[b] >= 0:
                    continue
                if _next(a, b, branches, first_link, link_target, branch, below, head, pool, after) >= 0:
                    came[b] = a
                    chain[j] = b
                    j += 1
                    if size[b] < size_limit:
                        end = b
                        break
        if end < 0:  # no leaf leads out of the branches found: make some
            if freed_at == moves:
                return moves
            freed_at = moves
            for v in range(nodes):
                if v != root and came[branch[v]] >= 0 and below[v]:
                    for e in range(first_link[v], first_link[v + 1]):
                        w = link_target[e]
                        if w != root and came[branch[w]] < 0:
                            _free(v, root, first_link, link_target, reverse_link, parent_link, branch, below)
                            break
            used = pool.size
            continue
        b = end
        while b != start:
            a = came[b]
            v = _next(a, b, branches, first_link, link_target, branch, below, head, pool, after)
            if v < 0:
                break
            old = link_target[reverse_link[parent_link[v]]]
            below[old] -= 1
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if branch[w] == b:
                    parent_link[v] = reverse_link[e]
                    below[w] += 1
                    break
            branch[v] = b
            size[a] -= 1
            size[b] += 1
            moves += 1
            used = _offer(v, used, *state)
            used = _offer(old, used, *state)
            for e in range(first_link[v], first_link[v + 1]):
                w = link_target[e]
                if branch[w] != b:
                    used = _offer(w, used, *state)
            b = a
    return moves


MOST_BRANCHES = 1000
"""Links of the root up to which branches are evened out."""


def balanced_branches_tree(network: Network, root: int) -> RootedTree:
    """Return a spanning tree whose branches at the root have as equal sizes as moving leaves can make them.

    `network`: every node a terminal that the root reaches, every link with an opposite.

    Returns: no branch is larger than the largest of `balanced_tree`, from which it starts.

    While a branch has more than ``ceil((n-1)/degree)`` nodes, one leaf moves over each link of a shortest chain of
    neighboring branches from the largest to one with room; where there is no chain, children of nodes at the border
    are hung elsewhere to make leaves of these. It ends when none is too large, or nothing helps. O(N + L + M
    degree^2) time for M moves.

    Source: Balanced spanning trees: Dimakopoulos 1996, Theorem 3.7.

    >>> import gossamer
    >>> tree = balanced_branches_tree(gossamer.network("hypercube:4"), 0)
    >>> int(np.bincount(tree.depth)[1]), int(tree.depth.max()) >= 4
    (4, True)
    """
    from gossamer.algorithms.scatter import furthest_first

    tree = balanced_tree(network, root)
    links = network.out_links(root)
    degree = len(links)
    branch = np.full(network.node_count, -1, np.int32)
    branch[network.link_target[links.start : links.stop]] = np.arange(degree)
    rate = np.ones(degree, np.int64)
    furthest_first.branch_rates(tree.order, tree.parent_link, network.link_source, network.link_capacity, branch, rate)
    size = np.bincount(branch[tree.order[1:]], minlength=degree).astype(np.int64)
    limit = -(-(network.node_count - 1) // max(degree, 1))
    if size.max(initial=0) <= limit:
        return tree
    parent_link = tree.parent_link.copy()
    _rebalance(root, limit, network.first_link, network.link_target, network.reverse_link, parent_link, branch, size)
    return tree_of_parents(network, root, network.link_source[parent_link])


def balanced_branches_scatter(case: Case) -> Schedule:
    """Send the messages down a tree with even branches, the furthest first.

    The root sends one message a slot into each of its branches, so the scatter takes as long as the largest branch has
    nodes. Leaves of large branches are moved to smaller ones next to them until all branches are about equal.

    Parameters
    ----------
    case : Case
        A scatter where every node is a terminal, may send on all links at once, and every link has capacity 1 and an
        opposite.

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
    # Step 1: begin with a tree of shortest paths whose branches are as equal as its levels allow
    # Step 2: while a branch is too large, move a leaf over each border of a shortest chain of branches to one with room
    tree = case.once(balanced_branches_tree, case.network, root_of(case))
    # Step 3: into each branch one message a slot, the furthest first
    return scatter_down(tree, case)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if case.send_limited:
        return Refusal("is for all-port nodes; for one-port nodes furthest-first is optimal")
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
        lambda: balanced_branches_scatter(case), found[0].time, at_most=True, optimal=found[0].optimal, effort="search"
    )


BALANCED_BRANCHES = Algorithm(
    name="balanced-branches",
    tasks=(Scatter,),
    propose=_propose,
    networks="any in which the root reaches every node, with links of capacity 1",
    source="Dimakopoulos 1996, Theorem 3.7",
    summary="down a tree whose branches are evened out by moving leaves, the furthest first",
)
