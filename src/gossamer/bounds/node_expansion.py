"""Bounds from sets of nodes with few neighbors, where nodes use one port at a time.

The messages that the nodes of a set must receive come from the neighbors of the set, and where a node sends one packet
a step, no more of them come in a step than there are neighbors. So a set that needs m messages and has k neighbors
takes ``ceil(m/k)`` steps; time reversed, the same holds for what a set must send where nodes receive one packet a step.
On an array with an odd number N of nodes the larger color class has one node more than its neighbors: an allgather, of
N-1 messages for each node, takes N+1 steps. Looked at are the two color classes of bipartite networks, all terminals,
the terminals of degree 1, and, where degrees differ, the best set of all: if neighbors send at a rate of x in all, a
flow brings every node what it needs, or its minimum cut is a set that proves a larger x (Newton's method).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.bounds.bound import Bound
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.writing import quantity

__all__ = ["color_classes", "port_set_bounds"]

LARGEST = 200_000
"""Nodes and links up to which sets are looked at."""

_ROUNDS = 12

Mask = npt.NDArray[np.bool_]


def color_classes(network: Network) -> tuple[Mask, Mask] | None:
    """Return the two sets of nodes of which none has links inside, each bool[N], or None if there are none.

    >>> import gossamer
    >>> [int(nodes.sum()) for nodes in color_classes(gossamer.network("array:3x5"))]
    [8, 7]
    >>> color_classes(gossamer.network("ring:5")) is None
    True
    """
    odd = network.breadth_first(0).distance % 2 == 1
    if (odd[network.link_source] == odd[network.link_target]).any():
        return None
    return ~odd, odd


def _sets(network: Network) -> Iterator[tuple[str, Mask]]:
    """Yield sets worth looking at, and what they are."""
    terminal = np.arange(network.node_count) < network.terminal_count
    for nodes in color_classes(network) or ():
        yield "nodes that have no links among each other", nodes & terminal
    if not terminal.all():
        yield "terminals", terminal
    ends = terminal & (network.out_degree == 1)
    if ends.any():
        yield "terminals with one neighbor", ends


def _narrowest(network: Network, need: Counts, incoming: bool) -> Mask | None:
    """Return the set that needs most for its number of neighbors, None if it is not larger than a single node."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n, every, source, sink = network.node_count, np.arange(network.node_count), network.link_source, network.link_target
    if not incoming:
        source, sink = sink, source
    rate, best = Fraction(int(need.max())), None
    for _ in range(_ROUNDS):
        top = max(int(need.sum()) * rate.denominator, n * rate.numerator)
        if top >= 2**31:
            break
        room = np.concatenate([np.full(n, rate.numerator), np.full(source.size, top), need * rate.denominator])
        tail = np.concatenate([np.full(n, 2 * n), source, n + every])
        head = np.concatenate([every, n + sink, np.full(n, 2 * n + 1)])
        graph = coo_array((room, (tail, head)), shape=(2 * n + 2, 2 * n + 2)).tocsr().astype(np.int32)
        residual = graph - maximum_flow(graph, 2 * n, 2 * n + 1).flow
        residual.eliminate_zeros()
        fed = np.zeros(2 * n + 2, np.bool_)
        fed[breadth_first_order(residual, 2 * n, return_predecessors=False)] = True
        nodes = ~fed[n : 2 * n] & (need > 0)
        found = Fraction(int(need[nodes].sum()), max(np.unique(source[nodes[sink]]).size, 1))
        if not nodes.any() or found <= rate:
            break
        rate, best = found, nodes
    return best


def port_set_bounds(case: Case) -> Iterator[Bound]:
    """Yield the best bound of a set of nodes with few neighbors, for what it must receive and for what it must send."""
    net = case.network
    if not case.limited or case.invariant or not net.two_way or net.node_count + net.link_count > LARGEST:
        return
    every = np.arange(net.node_count)
    for incoming, limited in ((True, case.send_limited), (False, case.receive_limited)):
        if not limited:
            continue
        need = np.sum([demand.handled(every, incoming) for demand in case.demands], axis=0)
        best: Bound | None = None
        narrow = _narrowest(net, need, incoming) if np.unique(net.out_degree).size > 1 else None
        for what, nodes in [*_sets(net), *([] if narrow is None else [("nodes", narrow)])]:
            neighbors = np.unique(net.link_source[nodes[net.link_target]]).size
            if not neighbors:
                continue
            steps = case.steps(int(need[nodes].sum()), neighbors)
            if best is None or steps > best.value:
                verb, other = ("receive", "send") if incoming else ("send", "receive")
                text = (
                    f"{f'{int(nodes.sum()):,} {what}'} must {verb} "
                    f"{quantity(int(need[nodes].sum()), case.what)}, and have {quantity(neighbors, 'neighbor')}, "
                    f"of which each can {other} one a step"
                )
                best = Bound("few neighbors", steps, text, "ports", "gossamer; Hall's condition for ports")
        if best is not None:
            yield best
