"""Total exchange on networks with symmetries that move every node: paths for one packet of each orbit.

The network need not be a Cayley network. A free group of symmetries takes one representative of each orbit of nodes to
all others of it; what the representatives send is routed, and the rest are translates. All translates of a hop are on
links of one orbit, each on another. So packets are routed and scheduled as if each orbit of links were one link and
each orbit of nodes one node: in the quotient of the network by the group.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers
from gossamer.errors import NetworkError
from gossamer.graphs.path_and_hop_tables import PortTable
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, scheduled
from gossamer.jit import njit
from gossamer.networks import free_group
from gossamer.networks.cable_orbits import few_generators
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Packets, Phase, Schedule, Symmetry


@njit(cache=True, nogil=True, small=100_000)
def _place(
    first_in, in_links, link_source, link_class, capacity, order, distance, origin_row, target, again, visit, price,
    begin, path, load,
):  # fmt: skip
    """Give each packet the cheapest of its shortest paths, one packet after the other.

    * `first_in`, `in_links`, int64[N + 1], int32[L]: the links to each node.
    * `link_source`, `link_class`, int32[L]: where each link begins, and its orbit.
    * `capacity`, int64[C]: packets that a link of each orbit carries at once.
    * `order`, `distance`, int32[R, N]: the nodes by distance from each origin, and the distances.
    * `origin_row`, `target`, int32[P]: the row of the origin of each packet, and where it goes.
    * `again`: whether packets have paths, which are given up first.
    * `visit`, int64[P]: the order of the packets.
    * `price`, float64[]: what one more packet costs on a link with so many for each that it carries at once.
    * `begin`, int64[P + 1]: the path of packet p is ``path[begin[p]:begin[p + 1]]``.
    * `path`, int32[]: links, written.
    * `load`, int64[C]: packets on each link, changed.
    """
    n = distance.shape[1]
    cost, last = np.empty(n, np.float64), np.empty(n, np.int32)
    for p in visit:
        row, v = origin_row[p], target[p]
        if again:
            for i in range(begin[p], begin[p + 1]):
                load[link_class[path[i]]] -= 1
        far = distance[row, v]
        cost[order[row, 0]] = 0.0
        for k in range(1, n):
            w = order[row, k]
            if distance[row, w] > far or (distance[row, w] == far and w != v):
                continue
            cost[w] = np.inf
            for i in range(first_in[w], first_in[w + 1]):
                e = in_links[i]
                u = link_source[e]
                if distance[row, u] + 1 == distance[row, w]:
                    c = link_class[e]
                    through = cost[u] + price[min(load[c] // capacity[c], price.size - 1)]
                    if through < cost[w]:
                        cost[w] = through
                        last[w] = e
        for i in range(begin[p + 1] - 1, begin[p] - 1, -1):
            path[i] = last[v]
            load[link_class[path[i]]] += 1
            v = link_source[path[i]]


_ROUNDS, _WORK = 24, 400_000_000
"""Rounds in which packets choose paths, and links looked at after which there are no more."""
_MOST_WORK = 20_000_000_000
_SHARPNESS = (4.0, 60.0)


def orbit_paths_exchange(case: Case) -> Schedule:
    """Build an exchange that is the same at every node of an orbit, on shortest paths that load links evenly.

    Parameters
    ----------
    case : Case
        A total exchange on a connected network with a free group of symmetries, see `gossamer.networks.free_group`; any
        ports. The seed is that of the orders in which packets choose paths.

    Returns
    -------
    Schedule
        Invariant under the group.

    Raises
    ------
    NetworkError
        If no such group is known, nodes are no terminals, or links have their own times.

    Notes
    -----
    O(R N L) time for each of at most 24 rounds on N nodes in R orbits with L links, where a plan without symmetry takes
    O(N**2 L); N R packets are stored of N**2.

    References
    ----------
    Gossamer; the invariant schedules of Dimakopoulos 1996, section 4.4, with several orbits of nodes. Valls, Ballestin
    and Quintanilla 2005 for the schedule.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("lift:abelian(5);0-1,0-0*1,1-1*2"), gossamer.task("alltoall"))  # Petersen's graph
    >>> schedule = orbit_paths_exchange(case)
    >>> schedule.completion_time, schedule.packets.count, schedule.packet_count
    (Fraction(5, 1), 18, 90)
    """
    symmetry = case.once(_symmetry, case)
    if symmetry is None:
        raise NetworkError(f"no group of symmetries that moves every node is known of {case.network.spec}")
    messages = case.task.messages(case.network, symmetry.terminals)
    assert messages.targets is not None
    packets = Packets.of(messages)
    rows = np.searchsorted(messages.ids, packets.message)
    begin, path = _paths(case, symmetry, packets.origin, messages.targets[rows])
    count = np.diff(begin)
    packet = np.repeat(np.arange(count.size, dtype=np.int32), count)
    before = np.arange(path.size, dtype=np.int32) - 1
    before[begin[:-1][count > 0]] = -1
    links = symmetry.link_orbit(path).astype(np.int32)
    roads = quotient_of(case, symmetry)
    load = np.bincount(links, minlength=roads.source.size)
    least = max(ceil(case.floor), int((-(-load // roads.capacity)).max(initial=0)))
    tries = 40 if path.size < 20_000 else 6
    found = scheduled(
        HopGraph.of_parents(links, packet, before), roads, least=least, tries=tries, rounds=4, seed=case.seed
    )
    order = np.argsort(found.start, kind="stable")
    return Schedule.of(
        case, found.start[order].astype(np.int32), path[order], packet[order], packets=packets, symmetry=symmetry,
        phases=[Phase(case.task.name, found.slots)],
    )  # fmt: skip


def _symmetry(case: Case) -> Symmetry | None:
    """Return the largest free group of symmetries that is found, None if there is none or nodes are no terminals."""
    network = case.network
    if network.terminal_count < network.node_count or not network.plain:
        return None
    table = free_group(network)
    if table is None or len(table) < 2:
        return None
    few = np.searchsorted(table[:, 0], few_generators(table))
    try:
        return Symmetry(network, permutations=list(table[few]))
    except NetworkError:  # it does not keep the capacities of links
        return None


def quotient_of(case: Case, symmetry: Symmetry) -> LinkResources:
    """Return the orbits of links, between orbits of nodes."""
    network = case.network
    roads = LinkResources.of(network, case.rules)
    one = np.unique(symmetry.link_orbit(np.arange(network.link_count)), return_index=True)[1]
    source, target = (symmetry.orbit[ends[one]] for ends in (roads.source, roads.target))
    return roads._replace(
        source=source, target=target, occupancy=roads.occupancy[one], latency=roads.latency[one],
        capacity=roads.capacity[one], cut=roads.cut[symmetry.representatives], ports=PortTable.of(network),
    )  # fmt: skip


def _paths(
    case: Case, symmetry: Symmetry, origin: IntArray, target: IntArray
) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Return where the path of each packet begins, int64[P + 1], and the links of all paths."""
    network = case.network
    searches = [network.breadth_first(int(r)) for r in symmetry.representatives]
    order, distance = (np.stack([getattr(s, name) for s in searches]) for name in ("order", "distance"))
    row = symmetry.orbit[origin]
    begin = np.zeros(target.size + 1, np.int64)
    np.cumsum(distance[row, target], out=begin[1:])
    of = symmetry.link_orbit(np.arange(network.link_count)).astype(np.int32)
    capacity = quotient_of(case, symmetry).capacity
    first_in = np.zeros(network.node_count + 1, np.int64)
    np.cumsum(network.in_degree, out=first_in[1:])
    into = (first_in, np.argsort(network.link_target, kind="stable").astype(np.int32))
    load, path = np.zeros(capacity.size, np.int64), np.empty(int(begin[-1]), np.int32)
    best, lowest = path, np.inf
    draw, mean = np.random.default_rng(case.seed), float(begin[-1] / capacity.sum())
    rounds = max(2, min(_ROUNDS, _WORK // max(1, target.size * network.link_count)))
    for turn, sharpness in enumerate(np.geomspace(*_SHARPNESS, rounds).tolist()):
        steps = np.arange(1, 4 * int(mean) + 8) / max(mean if turn == 0 else lowest, 1)
        price = np.exp(np.minimum(sharpness * np.log(steps), 300.0)) + 1e-9
        _place(
            *into, network.link_source, of, capacity, order, distance, row, target, turn > 0,
            draw.permutation(target.size), price, begin, path, load,
        )  # fmt: skip
        congestion = float((load / capacity).max(initial=0))
        if congestion < lowest:
            best, lowest = path.copy(), congestion
        if lowest <= case.floor:
            break
    return begin, best


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if network.group is not None:
        return Refusal("is for networks that are no Cayley networks")
    refusal = refuse_buffers(case.rules)
    if refusal is not None:
        return refusal
    symmetry = case.once(_symmetry, case)
    if symmetry is None:
        return Refusal("needs symmetries of the network that move every node (the extra 'symmetry' looks for them)")
    looks = symmetry.orbit_count * network.node_count * network.link_count
    if looks > _MOST_WORK:
        return Refusal(f"would look at {looks:,} links for its packets; at most {_MOST_WORK:,} are allowed")
    return Offer(
        lambda: orbit_paths_exchange(case), effort="search", orbit=symmetry.order, hop_bytes=150, hop_seconds=2e-5
    )


ORBIT_PATHS = Algorithm(
    name="orbit-paths",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="with symmetries that move every node, up to 600 nodes or products; no Cayley networks",
    source="gossamer; no promised time",
    summary="shortest paths for one packet of each orbit, the rest translated; what has furthest to go is sent first",
)
