"""Rounds among ranks laid over a network: ways of what is sent, and the trees that they make for each packet.

In a *round* ranks send packets to others, which need not be neighbors. A way is a shortest one; of several, what is
sent in the same round shares them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.graphs.path_and_hop_tables import index_ranges
from gossamer.graphs.precedence_scheduling import HopGraph
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network

Longs = npt.NDArray[np.int64]


class SentPackets(NamedTuple):
    """What is sent among nodes: rows in the order of rounds, int64[T] each.

    `step`, `source`, `target`, int64[T]: the round; nodes. `packet`, int64[T].
    """

    step: Longs
    source: Longs
    target: Longs
    packet: Longs


class Ways(NamedTuple):
    """The links of transfer i are ``path[begin[i]:begin[i + 1]]``, int64[T + 1] and int32[]."""

    begin: Longs
    path: IntArray


@njit(cache=True, nogil=True, small=100_000)
def _walk(step, source, goal, distance, node_of_goal, first_link, link_target, weight, busy, load, begin, path):
    """Write the links of a shortest path for each transfer, of several links the one that is used least in its step.

    * `step`, `source`, `goal`, int64[T]: ascending; where it starts; the column of `distance` of where it ends.
    * `distance`, float64[N, goals]: to each goal, by `weight` float64[L].
    * `first_link`, int64[N + 1]: where the links of each node begin.
    * `busy`, `load`, float64[L]: what a transfer adds to the load of a link; room.
    * `begin`, `path`, int64[T + 1], int32[]: written; where `path` is empty, only `begin` is.
    """
    count, now = 0, -1
    for i in range(step.size):
        if step[i] != now:
            now = step[i]
            load[:] = 0
        begin[i] = count
        v, g = source[i], goal[i]
        while v != node_of_goal[g]:
            best = -1
            for e in range(first_link[v], first_link[v + 1]):
                rest = weight[e] + distance[link_target[e], g]
                if rest <= distance[v, g] * (1 + 1e-9) and (best < 0 or load[e] < load[best]):
                    best = e
            load[best] += busy[best]
            if path.size:
                path[count] = best
            count += 1
            v = link_target[best]
    begin[step.size] = count


def shared_ways(network: Network, step: Longs, source: Longs, target: Longs, share: float = 1.0) -> Ways:
    """Return shortest paths for what is sent in rounds, which what is sent in the same round shares.

    `network`: with the times of its links. `step`, `source`, `target`, int64[T]: the round, ascending; nodes. `share`:
    the size of what is sent, in packets as links count them.

    Raises NetworkError if some target cannot be reached.

    O(targets times L log N, and the hops times the degree).

    >>> import gossamer
    >>> shared_ways(gossamer.network("ring:6"), *np.array([[0, 0], [0, 1], [2, 5]])).begin.tolist()
    [0, 2, 4]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    weight = network.link_latency + share * network.link_occupancy.astype(np.float64)
    goals, goal = np.unique(target, return_inverse=True)
    size = network.node_count
    # of parallel links the fastest; a sum over them, as a sparse matrix makes it, would be wrong
    order = np.lexsort((weight, network.link_target, network.link_source))
    ends = network.link_source[order].astype(np.int64) * size + network.link_target[order]
    fastest = order[np.append(True, ends[1:] != ends[:-1])]
    rows, columns = network.link_target[fastest], network.link_source[fastest]
    against = csr_array((np.maximum(weight[fastest], 1e-9), (rows, columns)), shape=(size, size))
    distance = np.atleast_2d(dijkstra(against, indices=goals)).T
    if not np.isfinite(distance[source, goal]).all():
        raise NetworkError(f"some terminal of {network.spec} cannot be reached from another")
    first = np.searchsorted(network.link_source, np.arange(size + 1))
    begin = np.zeros(step.size + 1, np.int64)
    path = np.zeros(0, np.int32)
    for _ in range(2):
        _walk(
            step, source, goal, distance, goals, first, network.link_target, np.maximum(weight, 1e-9),
            network.link_occupancy.astype(np.float64), np.zeros(network.link_count), begin, path,
        )  # fmt: skip
        path = np.zeros(int(begin[-1]), np.int32) if not path.size else path
    return Ways(begin, path)


@njit(cache=True, nogil=True, small=100_000)
def _grow(packet, origin, begin, path, link_target, copies, brought, seen, link, carried, parent):
    """Write the hops of each packet that bring it to nodes where it is not yet; return their number.

    * `packet`, `origin`, int64[T]: of each transfer, those of a packet in a row; where it starts.
    * `begin`, `path`, int64[T + 1], int32[]: links of each.
    * `copies`, bool[N]: whether a node may send a packet on more than once.
    * `brought`, `seen`, int64[N]: room: the hop that brought the packet of number `seen`, -1 where it began.
    * `link`, `carried`, `parent`, int32[], int64[], int64[]: written.
    """
    count, now = 0, -1
    for i in range(packet.size):
        if packet[i] != now:
            now = packet[i]
            seen[origin[i]], brought[origin[i]] = now, -1
        before = brought[origin[i]]
        for j in range(begin[i], begin[i + 1]):
            v = link_target[path[j]]
            if copies[v] and seen[v] == now:
                before = brought[v]
                continue
            link[count], carried[count], parent[count] = path[j], now, before
            before = count
            if copies[v]:
                seen[v], brought[v] = now, count
            count += 1
    return count


def carried_trees(
    network: Network,
    sent: SentPackets,
    copies: npt.NDArray[np.bool_],
    ends: Longs | None,
    links: Longs | None = None,
) -> HopGraph:
    """Return the hops of packets that are sent among ranks in rounds: a tree for each, of the shared ways.

    A hop to a node where the packet is already falls away, and so does one to a switch from which it goes no further;
    what goes on leaves as soon as it is there.

    `network`: with the times of its links. `sent`: in the order of rounds; whoever sends a packet has it from an
    earlier one, or is the first of its senders. `copies`, bool[N]: whether a node may send a packet on more than once.
    `ends`, int64[P] or None: where each packet ends that is moved: only the hops on its way there are kept.
    `links`, int64[T]: the link that each transfer takes, between neighbors. Default: shortest paths that share the
    links.

    O(hops) besides the ways.

    >>> import gossamer
    >>> sent = SentPackets(*np.array([[0, 1, 1], [0, 0, 2], [2, 1, 3], [0, 0, 0]]))
    >>> graph = carried_trees(gossamer.network("array:4"), sent, np.ones(4, bool), None)
    >>> graph.link.size, graph.need.tolist()
    (3, [0, 1, 1])
    """
    if links is None:
        ways = shared_ways(network, sent.step, sent.source, sent.target)
    else:
        ways = Ways(np.arange(links.size + 1), links.astype(np.int32))
    by_packet = np.argsort(sent.packet, kind="stable")
    begin = np.append(0, np.cumsum(np.diff(ways.begin)[by_packet]))
    path = ways.path[index_ranges(ways.begin[by_packet], ways.begin[by_packet + 1])[1]]
    link, carried, parent = np.empty(path.size, np.int32), *np.empty((2, path.size), np.int64)
    size = network.node_count
    count = _grow(
        sent.packet[by_packet], sent.source[by_packet], begin, path, network.link_target, copies,
        np.zeros(size, np.int64), np.full(size, -1), link, carried, parent,
    )  # fmt: skip
    link, carried, parent = link[:count], carried[:count], parent[:count]
    target = network.link_target[link]
    kept = target < network.terminal_count if ends is None else target == ends[carried]
    for h in np.flatnonzero(parent >= 0)[::-1].tolist() if not kept.all() else ():
        kept[parent[h]] |= kept[h]
    place = np.cumsum(kept) - 1
    parent = np.where(parent[kept] < 0, -1, place[parent[kept]])
    link, carried = link[kept], carried[kept]
    return HopGraph.of_parents(link, carried.astype(np.int32), parent.astype(np.int32))
