"""Broadcast down a shortest-path tree, on any network: all children at once, or the slowest subtree first."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np

from gossamer.algorithms.algorithm import Algorithm
from gossamer.graphs.trees import RootedTree, shortest_path_tree, unreachable
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Broadcast
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True)
def _descending(values):
    """Return the places of float64 `values` from the largest to the smallest."""
    return np.argsort(-values, kind="mergesort")


@njit(cache=True, nogil=True, small=100_000)
def one_port_times_kernel(order, parent_link, link_source, needed, time):
    """Fill `needed` and `time` int32[N]: slots that a node's subtree takes, and when each node has the message.

    `order` holds each node after its parent, the children of a node in a row and in the order of their parents.
    A node serves its children by decreasing `needed`; of equal ones the first in `order` goes first.
    """
    end = order.size
    for i in range(order.size - 1, -1, -1):  # the children of order[i] end before `end`
        v = order[i]
        first = end
        while first > i + 1 and link_source[parent_link[order[first - 1]]] == v:
            first -= 1
        children = order[first:end]
        ranks = _descending(needed[children].astype(np.float64))
        needed[v] = 0
        for k in range(children.size):
            c = children[ranks[k]]
            needed[v] = max(needed[v], needed[c] + k + 1)
            time[c] = k + 1
        end = first
    time[order[0]] = 0
    for i in range(1, order.size):
        v = order[i]
        time[v] += time[link_source[parent_link[v]]]


@njit(cache=True, nogil=True, small=100_000)
def layered_parents(order, distance, into_first, into_link, link_source, key, parent_link):
    """Choose for every node a parent one hop nearer to the root so that subtrees need few slots.

    Layers are treated from the furthest to the nearest; within one, nodes whose subtrees need most choose first, each
    the parent that would then need least. `key` float64[N] in [0, 1) decides between nodes that need the same.
    """
    need = np.zeros(distance.size, np.int64)
    children = np.zeros(distance.size, np.int64)
    b = order.size
    while b > 1:
        a = b
        while distance[order[a - 1]] == distance[order[b - 1]]:
            a -= 1
        layer = order[a:b]
        for v in layer[_descending(need[layer] + key[layer])]:
            best = -1
            cost = distance.size * 2.0
            for i in range(into_first[v], into_first[v + 1]):
                u = link_source[into_link[i]]
                if distance[u] == distance[v] - 1:
                    c = max(need[u], need[v] + children[u] + 1) + key[u]
                    if c < cost:
                        cost, best = c, into_link[i]
            u = link_source[best]
            parent_link[v] = best
            children[u] += 1
            need[u] = max(need[u], need[v] + children[u])
        b = a


@njit(cache=True, nogil=True, small=100_000)
def spread(
    root, terminals, first_link, link_target, link_source, into_first, into_link, weight, time, parent_link
):  # fmt: skip
    """Inform in every slot the uninformed nodes of greatest weight that a matching with informed nodes allows.

    Fills `time` int32[N] (slots until a node is informed, -1 where it is not) and `parent_link` int32[N], which must
    hold -1, until every terminal is informed. Among informed nodes those with the fewest uninformed neighbors send
    first.
    """
    nodes = time.size
    left = first_link[1:] - first_link[:-1]  # uninformed neighbors of a node
    edge = np.empty(nodes, np.int64)  # the frontier: uninformed nodes next to informed ones
    on_edge = np.zeros(nodes, np.bool_)
    match = np.full(nodes, -1, np.int64)  # whom an informed node informs in this slot
    link_of = np.full(nodes, -1, np.int64)  # the link by which a node will be informed in this slot
    back = np.empty(nodes, np.int64)  # the link by which a search came to an informed node
    seen, dead = np.full((2, nodes), -1, np.int64)
    queue, fresh = np.empty((2, nodes), np.int64)
    fresh[0], new = root, 1
    size, missing, senders, turn, slot = 0, terminals, 0, 0, 0
    while True:
        for k in range(new):
            v = fresh[k]
            time[v] = slot
            missing -= v < terminals
            senders += left[v] > 0
            for i in range(into_first[v], into_first[v + 1]):
                u = link_source[into_link[i]]
                left[u] -= 1
                senders -= left[u] == 0 and time[u] >= 0
        kept = 0
        for k in range(size):
            if time[edge[k]] < 0:
                edge[kept] = edge[k]
                kept += 1
        size = kept
        for k in range(new):
            for e in range(first_link[fresh[k]], first_link[fresh[k] + 1]):
                w = link_target[e]
                if time[w] < 0 and not on_edge[w]:
                    on_edge[w] = True
                    edge[size] = w
                    size += 1
        if missing == 0 or size == 0:
            return slot
        chosen = edge[:size].copy()
        for k, place in enumerate(_descending(weight[chosen])):
            edge[k] = chosen[place]
        slot += 1
        matched = 0
        for k in range(size):
            if matched == senders:
                break
            turn += 1
            queue[0] = edge[k]
            head, tail, free = 0, 1, -1
            while head < tail and free < 0:
                v = queue[head]
                head += 1
                fewest = nodes
                for i in range(into_first[v], into_first[v + 1]):
                    u = link_source[into_link[i]]
                    if time[u] >= 0 and match[u] < 0 and left[u] < fewest:
                        fewest, free = left[u], u
                        back[u] = into_link[i]
                if free >= 0:
                    break
                for i in range(into_first[v], into_first[v + 1]):
                    u = link_source[into_link[i]]
                    if time[u] >= 0 and seen[u] != turn and dead[u] != slot:
                        seen[u] = turn
                        back[u] = into_link[i]
                        queue[tail] = match[u]
                        tail += 1
            if free < 0:  # these senders are settled for this slot
                for i in range(1, tail):
                    dead[link_source[link_of[queue[i]]]] = slot
                continue
            matched += 1
            u = free
            while True:
                e = back[u]
                v = link_target[e]
                before = link_of[v]
                match[u], link_of[v] = v, e
                if before < 0:
                    break
                u = link_source[before]
        new = 0
        for k in range(size):
            v = edge[k]
            if link_of[v] >= 0:
                parent_link[v] = link_of[v]
                match[link_source[link_of[v]]] = -1
                fresh[new] = v
                new += 1


def root_of(case: Case) -> int:
    """Return the root of a broadcast."""
    return cast(Broadcast, case.task).root


def one_port_times(tree: RootedTree) -> tuple[IntArray, IntArray]:
    """Return how long each subtree needs and when each node is reached, when a node sends one packet a slot.

    Returns: `needed`, int32[N]: slots from the one in which a node has the message until its subtree has it: with the
    children's values in decreasing order ``b_1 >= b_2 >= ...``, ``b = max_i (b_i + i)``, and 0 at a leaf; `time`,
    int32[N]: slots until a node has the message; 0 at the root. Both are 0 outside the tree.

    The least possible time on that tree. O(m log m) for m nodes.

    Source: Dimakopoulos 1996, (6.1).

    >>> import gossamer
    >>> needed, time = one_port_times(shortest_path_tree(gossamer.network("hypercube:3"), 0))
    >>> int(needed[0]), time.tolist()
    (3, [0, 3, 2, 3, 1, 3, 2, 3])
    """
    needed, time = np.zeros((2, tree.depth.size), np.int32)
    one_port_times_kernel(tree.order, tree.parent_link, tree.network.link_source, needed, time)
    return needed, time


def tree_broadcast(case: Case) -> Schedule:
    """Broadcast down the breadth-first tree of the root.

    The root tells its neighbors, these tell theirs, and every node hears the message from the neighbor that is nearest
    to the root. A node at distance r has it after r slots, and cannot have it earlier, as a slot takes it over one
    link at the most. With one port a node tells one child after the other, and begins with the one behind which the
    most remains to be done.

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
    # Step 1: search the network from the root in breadth; a node's parent is the node from which it was first seen
    tree = case.once(shortest_path_tree, case.network, root_of(case))
    # Step 2: a node sends to all its children as soon as it has the message; with one port to one after the other,
    #   the child whose subtree takes longest first
    return send_down(tree, case)


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
