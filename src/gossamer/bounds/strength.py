"""The regions of a network between which the links are fewest for their number: the strength of a graph.

Of all partitions into k regions, the one with the least capacity between regions over k - 1. For a price x of a region
the partition of least capacity less x k is found by flows, region by region (W. H. Cunningham, "Optimal attack and
reinforcement of a network", 1985); from the price at which it costs nothing the search goes on (Newton's method).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.cases.demands import Counts
from gossamer.cases.links import Links

__all__ = ["weakest_regions"]

_ROUNDS = 6
_SCALE = 5040

Floats = npt.NDArray[np.float64]


def weakest_regions(links: Links) -> Counts:
    """Return the number of the region of each node, int64[N], of regions that each hold a terminal.

    Notes
    -----
    N flows for each of at most 6 rounds.

    Examples
    --------
    >>> import gossamer
    >>> import networkx as nx
    >>> from gossamer.cases import Case
    >>> network = gossamer.networks.from_networkx(nx.barbell_graph(3, 0), "two triangles")
    >>> case = Case(network, gossamer.task("allreduce"))
    >>> weakest_regions(case.links).tolist()
    [2, 2, 2, 5, 5, 5]
    """
    low, high = np.minimum(links.source, links.target), np.maximum(links.source, links.target)
    nodes = links.node_count
    home = _with_switches(np.arange(nodes), low, high, links.rate, links.terminal_count)
    names, place = np.unique(home, return_inverse=True)
    place, count = place.reshape(-1), names.size
    low, high = np.minimum(place[low], place[high]), np.maximum(place[low], place[high])
    pair, row = np.unique(low * count + high, return_inverse=True)
    weight = np.bincount(row.reshape(-1), links.rate, pair.size)
    low, high = pair // count, pair % count
    low, high, weight = (x[low != high] for x in (low, high, weight))
    region = np.arange(count)
    price = _ratio(region, low, high, weight)
    for _ in range(_ROUNDS):
        found = _cheapest(low, high, weight, price, count)
        if np.unique(found).size < 2:
            break
        ratio = _ratio(found, low, high, weight)
        if ratio >= price * (1 - 1e-9):
            break
        region, price = found, ratio
    return names[region][place]


def _ratio(region: Counts, low: Counts, high: Counts, weight: Floats) -> float:
    """Return the capacity between regions over the number of regions less 1."""
    return float(weight[region[low] != region[high]].sum()) / max(np.unique(region).size - 1, 1)


def _with_switches(region: Counts, low: Counts, high: Counts, weight: Floats, terminals: int) -> Counts:
    """Put every switch into a region of a terminal, that to which most capacity leads."""
    region = region.copy()
    left = set(range(terminals, region.size))
    while left:
        best = -1.0, -1, -1
        for a, b, w in zip(low.tolist(), high.tolist(), weight.tolist(), strict=True):
            for x, y in ((a, b), (b, a)):
                if x in left and y not in left and w > best[0]:
                    best = w, x, y
        if best[1] < 0:
            break
        region[best[1]] = region[best[2]]
        left.discard(best[1])
    return region


def _cheapest(low: Counts, high: Counts, weight: Floats, price: float, nodes: int) -> Counts:
    """Return the partition of least capacity between regions less `price` for each region.

    The greedy algorithm for polymatroids: node after node gets as much as no set of nodes forbids, each set of them
    half the capacity around it less the price; sets that forbid more are put together.
    """
    given = np.zeros(nodes)
    region = np.full(nodes, -1, np.int64)
    for v in range(nodes):
        region[v] = v
        inside, given[v] = _tightest(v, low, high, weight, given, price, region >= 0)
        region[np.isin(region, region[inside])] = v
    return region


def _tightest(
    v: int, low: Counts, high: Counts, weight: Floats, given: Floats, price: float, known: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], float]:
    """Return, of the sets of known nodes with v, the one that allows least for v, and how much."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    nodes = given.size
    around = np.bincount(low, weight, nodes) + np.bincount(high, weight, nodes)
    within = known[low] & known[high]
    low, high, weight = low[within], high[within], weight[within] / 2
    # what a node costs in the set: half its capacity to nodes that are not known yet, less what it was given
    cost = around / 2 - np.bincount(low, weight, nodes) - np.bincount(high, weight, nodes) - given
    others = np.flatnonzero(known & (np.arange(nodes) != v))
    gain, pay = others[cost[others] < 0], others[cost[others] > 0]
    source, sink = nodes, nodes + 1
    tail = np.concatenate([low, high, np.full(gain.size, source), pay, [source]])
    head = np.concatenate([high, low, gain, np.full(pay.size, sink), [v]])
    room = np.concatenate([weight, weight, -cost[gain], cost[pay], [float(around.sum()) + 1.0]])
    whole = np.rint(room * min(_SCALE, 2**30 / room.max()))
    graph = coo_array((whole, (tail, head)), shape=(nodes + 2, nodes + 2)).tocsr().astype(np.int32)
    residual = graph - maximum_flow(graph, source, sink).flow
    residual.eliminate_zeros()
    inside = np.zeros(nodes + 2, np.bool_)
    inside[breadth_first_order(residual, source, return_predecessors=False)] = True
    mine = inside[:nodes] & known
    mine[v] = True
    return mine, float(weight[mine[low] != mine[high]].sum() + cost[mine].sum() - price)
