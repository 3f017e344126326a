"""Partial exchange in two phases: spread the packets evenly over the network, then send them where they belong.

Phase 1 is one flow of all packets alike, from the active nodes to all nodes in equal shares,
with the least congestion that there is. Phase 2 sends about M packets from each node to targets all over the network.

The congestion of phase 1 is at most the largest ``a(N-|U|) / cut(U)`` over sets U of nodes, a of them active: a lower
bound of the exchange. That of phase 2 is about ``Mp/4`` on a p x ... x p array, if the packets that stop at a node are
drawn at random; where p is even, M nodes somewhere need as much for one half of the array alone. So the congestion of
both is within a factor of about 2 of the optimum for every active set, but for deviations of order ``sqrt(Mp log N)``.
Nothing is proved about the time. Here packets stop near their targets rather than at random, which shortens phase 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.partial_exchange import balanced_orders
from gossamer.algorithms.partial_exchange.balanced_orders import census, shortest_of
from gossamer.graphs.path_and_hop_tables import Paths
from gossamer.graphs.route_balancing import balanced_paths, without_loops
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import PartialExchange
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True, small=100_000)
def one_turn(row, column, to_row, to_column, rows_first, row_stride, column_stride, links, first, link, later):
    """Write the links of paths with one turn, along the row first where `rows_first` says so.

    `row`, `column`, `to_row`, `to_column` int64[P] are the ends; `links` int32[N, 2, 2] lead along the columns and the
    rows, up and down; `later` bool[H] is written with whether a hop comes after the turn.
    """
    at = 0
    for p in range(row.size):
        first[p] = at
        i, j = row[p], column[p]
        for leg in range(2):
            along_row = rows_first[p] == (leg == 0)
            while (j != to_column[p]) if along_row else (i != to_row[p]):
                node = i * row_stride + j * column_stride
                later[at] = leg == 1
                if along_row:
                    up = to_column[p] > j
                    link[at] = links[node, 1, 0 if up else 1]
                    j += 1 if up else -1
                else:
                    up = to_row[p] > i
                    link[at] = links[node, 0, 0 if up else 1]
                    i += 1 if up else -1
                at += 1
    first[row.size] = at


@njit(cache=True, nogil=True, inline="always")
def _distance(x, v, sides, wraps, strides):
    total = 0
    for c in range(sides.size):
        apart = abs(x // strides[c] % sides[c] - v // strides[c] % sides[c])
        total += min(apart, sides[c] - apart) if wraps[c] else apart
    return total


@njit(cache=True, nogil=True, small=100_000)
def walk_flow(
    origin, target, visit, flow, room, first_link, link_target, sides, wraps, strides, begin, end, stop, path
):  # fmt: skip
    """Let every packet of `visit` follow a flow until it stops; it uses up a unit of each link that it crosses.

    A packet goes on while the flow leads it nearer to its target, and stops there; else it stops where `room` int64[N]
    is left. Flow and room must balance: what flows into a node or begins there leaves it or has room. `stop` int32[P]
    and the paths are written; `path` needs as many entries as the flow has units.
    """
    used = 0
    for p in visit:
        x, v = origin[p], target[p]
        begin[p] = used
        left = _distance(x, v, sides, wraps, strides)
        while left > 0:
            fullest, nearer = -1, -1
            for e in range(first_link[x], first_link[x + 1]):
                if flow[e] > 0:
                    if fullest < 0 or flow[e] > flow[fullest]:
                        fullest = e
                    if (nearer < 0 or flow[e] > flow[nearer]) and _distance(
                        link_target[e], v, sides, wraps, strides
                    ) < left:
                        nearer = e
            if nearer < 0 and room[x] > 0:
                room[x] -= 1
                break
            e = nearer if nearer >= 0 else fullest
            flow[e] -= 1
            path[used] = e
            used += 1
            x = link_target[e]
            left = _distance(x, v, sides, wraps, strides)
        stop[p] = x
        end[p] = used


@njit(cache=True, nogil=True, small=100_000)
def join(begin, end, path, second_first, second_path, first, joined):
    """Write each packet's first path and then its second, from ``first[p]`` on."""
    for p in range(begin.size):
        at = first[p]
        for h in range(begin[p], end[p]):
            joined[at] = path[h]
            at += 1
        for h in range(second_first[p], second_first[p + 1]):
            joined[at] = second_path[h]
            at += 1


class Spread(NamedTuple):
    """A flow of packets from the active nodes to all nodes.

    `congestion`: the largest flow over a link. `flow`, int64[L]: packets over each link. `stay`, int64[N]: packets that
    stop at each node, at most ceil(M(N-1)/N).
    """

    congestion: int
    flow: npt.NDArray[np.int64]
    stay: npt.NDArray[np.int64]


def spread_evenly(network: Network, active: npt.ArrayLike) -> Spread:
    """Return a flow of least congestion that takes N-1 packets of each active node to all nodes in equal shares.

    `network`: any network whose links are paired. `active`: the active nodes.

    Maximum flows with a capacity for all links, from below: if not all packets get through, the cut that holds them up
    needs a larger capacity, which is tried next. A few flows suffice.

    Source: Gossamer.

    >>> from gossamer.networks import array
    >>> found = spread_evenly(array(3, 3, 3), [0])
    >>> found.congestion, int(found.flow.max()), int(found.stay.max())
    (9, 9, 1)
    """
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = network.node_count
    nodes = np.asarray(active, np.int64)
    supply = nodes.size * (n - 1)
    share = -(-supply // n)
    source, sink = n, n + 1
    tail = np.concatenate([network.link_source, np.full(nodes.size, source), np.arange(n)])
    head = np.concatenate([network.link_target, nodes, np.full(n, sink)])
    fixed = np.concatenate([np.full(nodes.size, n - 1), np.full(n, share)])
    limit = max(0, *((n - 1 - share) / network.out_degree[nodes]).tolist()) if n > 1 else 0
    limit = int(np.ceil(limit))
    while True:
        room = np.concatenate([np.full(network.link_count, limit), fixed]).astype(np.int32)
        graph = sparse.csr_array((room, (tail, head)), shape=(n + 2, n + 2))
        found = maximum_flow(graph, source, sink)
        if found.flow_value == supply:
            break
        left: Any = graph - found.flow
        left.eliminate_zeros()
        inside = np.zeros(n + 2, np.bool_)
        inside[breadth_first_order(left, source, return_predecessors=False)] = True
        cut = int(np.count_nonzero(inside[network.link_source] & ~inside[network.link_target]))
        need = int(np.count_nonzero(inside[nodes])) * (n - 1) - int(np.count_nonzero(inside[:n])) * share
        limit = max(limit + 1, -(-need // cut))
    flow = found.flow
    over = np.asarray(flow[network.link_source, network.link_target]).reshape(-1).astype(np.int64)
    stay = np.asarray(flow[np.arange(n), np.full(n, sink)]).reshape(-1).astype(np.int64)
    return Spread(limit, np.maximum(over, 0), stay)


def spread(case: Case) -> Schedule:
    """Build a partial exchange that spreads all packets first.

    If a few neighboring nodes send everything, their own links are the bottleneck. So all packets are first spread
    over the whole network as fast as a maximum flow allows, so that every node has about as many, and then all nodes
    deliver them at once.

    Parameters
    ----------
    case : Case
        A partial exchange of M active nodes with all ports on an array or torus with any sides. The seed is for the
        order in which packets take their part of the flow, and for the paths of phase 2.

    Returns
    -------
    Schedule
        Phases ``prefix`` (slots of t_p) and ``exchange``, in which a packet begins its second path as soon as it has
        ended its first one.

    Notes
    -----
    Which packets stop where is free: a packet follows the flow as long as that leads it nearer to its target. The paths
    of phase 2 are balanced together with the load of phase 1, and loops are cut out of each whole path.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-exchange", active=[0, 1, 2])
    >>> s = spread(Case(gossamer.network("array:3x3x3"), task))
    >>> s.completion_time <= 15, bool(gossamer.verify(s))
    (True, True)
    """
    network = case.network
    origin, target = balanced_orders.ends(case)
    if not origin.size:
        return Schedule.of(case, [], [], [])
    # Step 1: a maximum flow from the active nodes to all nodes, each of which may get an equal share
    evenly = spread_evenly(network, np.unique(origin))
    # Step 2: packets follow the flow, then balanced paths to their targets, without loops; no link idles
    hops = shortest_of(network, lambda seed: _two_paths(network, origin, target, evenly, seed), case.seed)
    return balanced_orders.schedule(case, hops, case.once(census, network))


def _two_paths(network: Network, origin: IntArray, target: IntArray, evenly: Spread, seed: int) -> Paths:
    """Return the paths of both phases."""
    grid = network.grid
    assert grid is not None
    begin, end = np.empty(origin.size, np.int64), np.empty(origin.size, np.int64)
    stop, path = np.empty(origin.size, np.int32), np.empty(int(evenly.flow.sum()), np.int32)
    walk_flow(
        origin, target, np.random.default_rng(seed).permutation(origin.size), evenly.flow.copy(), evenly.stay.copy(),
        network.first_link, network.link_target, np.array(grid.sides), np.array(grid.wraps), np.array(grid.strides),
        begin, end, stop, path,
    )  # fmt: skip
    load = np.bincount(path[: int(end.max())], minlength=network.link_count)
    second = balanced_paths(network, stop, target, seed=seed, load=load.astype(np.int32))
    return without_loops(network, _joined(begin, end, path, second))


def _joined(begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], path: IntArray, second: Paths) -> Paths:
    """Return each packet's first path followed by its second."""
    first = np.zeros(begin.size + 1, np.int64)
    np.cumsum(end - begin + np.diff(second.first), out=first[1:])
    link = np.empty(int(first[-1]), np.int32)
    join(begin, end, path, *second, first, link)
    return Paths(first, link)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    return balanced_orders.refuse(case) or Offer(lambda: spread(case), effort="search")


SPREAD = Algorithm(
    name="spread",
    tasks=(PartialExchange,),
    propose=_propose,
    networks="arrays, tori and hypercubes of any dimension and sides",
    source="gossamer (algorithm S: spread by a maximum flow, then a relation)",
    summary="spreads the packets over all nodes by a maximum flow, then sends them along balanced paths",
)
