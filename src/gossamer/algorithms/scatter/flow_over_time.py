"""The fastest scatter on any network with all ports: an integral flow from the root over the slots."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gossamer.algorithms.algorithm import Algorithm, refuse_ports
from gossamer.algorithms.scatter.furthest_first import (
    FURTHEST_FIRST,
    balanced_tree,
    departures,
    least_time,
    refuse_unreachable,
    root_of,
    scatter_down,
    tree_time,
)
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import Scatter
from gossamer.schedules import Schedule

LARGEST = 20_000_000
"""Links times slots up to which the flow is computed."""

PROVEN = 30_000
"""Links times slots up to which the bounds prove by a cut that less time is not enough."""


def flow_scatter(case: Case) -> Schedule:
    """Scatter in the least possible time, on paths that need not form a tree.

    Think of a copy of the network for every slot, and of a packet that crosses a link as going from a node in one copy
    to its neighbor in the next. Then a scatter in T slots is a flow of one unit to each node through these copies.
    Flows are found by augmenting paths, and where no further path exists, what was reached is a bottleneck that proves
    that T slots are too few: so T is raised by one.

    Parameters
    ----------
    case : Case
        A scatter with all ports on any network in which the root reaches every terminal; links may have any capacity.

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
    >>> flow_scatter(Case(net, gossamer.task("scatter"))).completion_time
    Fraction(3, 1)
    """
    from gossamer.algorithms.scatter import furthest_first

    network, root, n = case.network, root_of(case), case.network.node_count
    # Step 1: begin with the scatter down a balanced tree; if it meets the bound, that is all
    tree = case.once(balanced_tree, network, root, False)
    start = case.once(departures, tree, case.rules)
    slots, least = tree_time(tree, case), least_time(case)
    if slots <= least:
        return scatter_down(tree, case)
    source, target = network.link_source, network.link_target
    into = np.argsort(target, kind="stable").astype(np.int32)
    into_first = np.append(0, np.cumsum(np.bincount(target, minlength=n)))
    arrival = np.full(n, -1, np.int32)
    dtype = np.uint8 if int(network.link_capacity.max()) < 256 else np.int32
    flow = np.zeros((slots - 1, network.link_count), dtype)
    came, stamp = np.zeros((2, slots, n), np.int32)
    queue = np.empty(slots * n, np.int64)
    to, depth = tree.destinations, tree.depth[tree.destinations]
    # Step 2: put the packets of that tree that arrive in time into the flow
    late = furthest_first.load_paths(to, depth, start, least, tree.parent_link, source, flow, arrival)
    horizon, turn = least, 0
    # Step 3: find room for the others by augmenting paths through (node, slot); where there is none, allow one slot
    #   more
    while late and horizon < slots:
        turn += 1
        found = furthest_first.augment(
            horizon, root, network.terminal_count, network.first_link, source, target, network.link_capacity,
            into_first, into, flow, arrival, came, stamp, queue, turn,
        )  # fmt: skip
        late -= found
        horizon += not found
    if late:
        return scatter_down(tree, case)
    # Step 4: take the flow apart into the paths of single packets
    hops = int(flow.sum(dtype=np.int64))
    slot, link, packet = np.empty((3, hops + 1), np.int32)
    hops = furthest_first.separate(root, to, into_first, into, source, flow, arrival, slot, link, packet)
    order = np.argsort(slot[:hops], kind="stable")
    return Schedule.of(case, slot[order], link[order], packet[order])


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if case.send_limited:
        return Refusal("is for all-port nodes; for one-port nodes furthest-first is optimal")
    refusal = first_refusal(refuse_ports(case.rules), refuse_unreachable(case))
    if refusal is not None:
        return refusal
    least = least_time(case)
    size = case.network.link_count * least
    if size > LARGEST:
        return Refusal(f"takes at most {LARGEST:,} links times slots, and here are {size:,}")
    tree = FURTHEST_FIRST.offer(case)
    assert tree.time is not None
    proven = case.whole and case.network.link_count * tree.time <= PROVEN
    return Offer(
        lambda: flow_scatter(case),
        tree.time,
        at_most=True,
        optimal=tree.optimal or proven,
        effort="search",
        least=Fraction(least),
    )


FLOW_OVER_TIME = Algorithm(
    name="flow-over-time",
    tasks=(Scatter,),
    propose=_propose,
    networks=f"any in which the root reaches every node, to {LARGEST:,} links times slots",
    source="Ford and Fulkerson 1958; Hoppe and Tardos 2000; bound (3.3) of Dimakopoulos 1996",
    summary="the least time there is, by augmenting paths over the slots; the paths need not form a tree",
)
