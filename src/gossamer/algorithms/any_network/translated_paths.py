"""Exchanges and allgathers from one rank of each orbit: on dragonflies, and on tori of which some links failed.

A few symmetries of a network take one rank to all of its orbit, and a link to all of its own; see
`gossamer.networks.recognition.missing_links`. What one rank of each orbit sends goes along short paths or trees that
load the orbits of links evenly, and the rest is translated.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_limits
from gossamer.algorithms.multinode_broadcast.translated_flooding import spared
from gossamer.algorithms.total_exchange.orbit_paths import quotient_of
from gossamer.errors import NetworkError
from gossamer.graphs.precedence_scheduling import HopGraph, scheduled
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.networks.recognition.switch_shifts import switch_groups, switch_shift
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import Allreduce, MultinodeBroadcast, ReduceScatter, TotalExchange
from gossamer.schedules import Packets, Phase, Schedule, Symmetry, then

__all__ = [
    "TRANSLATED_PATHS",
    "TRANSLATED_REDUCTION",
    "TRANSLATED_TREES",
    "exchange_along",
    "translated_exchange",
    "translated_reduction",
    "translated_trees",
]

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ROUNDS, _SHARPNESS = 6, (6.0, 60.0)
"""How often the paths of an exchange are chosen, and how steeply the price of a link rises with its load."""
_MOST_HOPS, _MOST_ROWS = 40_000_000, 60_000_000
_NEAR, _VAIN = 1.002, 0.999
"""Loads this close to the bound are as good; and the share of the load before that is no gain."""


@njit(cache=True, nogil=True)
def _choose(
    first_in, in_links, tail, weight, of, use, distance, row, target, again, visit, power, highest, begin, length, path,
    load, price, mark, cost, by, stack,
):  # fmt: skip
    """Give each packet the cheapest of its shortest paths, one packet after the other.

    * `first_in`, `in_links`, int64[N + 1], int64[]: the links to each node. `tail`, `weight`, `of`, int64[L]: where a
      link begins, its length, and its orbit. `use`, float64[orbits]: what a packet takes of it.
    * `distance`, int64[R, N]: from the origin of each row, -1 out of reach. `row`, `target`, int64[P]: of each packet.
    * `again`: whether packets have paths, which are given up first. `visit`, int64[P]: their order.
    * `power`, `highest`: a link costs its load as a share of the highest to this power.
    * `begin`, `length`, int64[P], `path`, int32[]: the path of packet p, ``path[begin[p]:begin[p] + length[p]]``.
    * `load`, float64[orbits]: changed. `price`, float64[orbits]: written.
    * `mark`, int64[N] of -1; `cost`, float64[N]; `by`, `stack`, int64[N]: to work in.
    """
    for c in range(load.size):
        price[c] = ((load[c] + use[c]) / highest) ** power + 1e-9
    for p in visit:
        far = distance[row[p]]
        if again:
            for i in range(begin[p], begin[p] + length[p]):
                c = of[path[i]]
                load[c] -= use[c]
                price[c] = ((load[c] + use[c]) / highest) ** power + 1e-9
        count, seen = 1, 0
        stack[0] = target[p]
        mark[target[p]] = p
        while seen < count:  # the nodes on shortest paths, from the target back
            v = stack[seen]
            seen += 1
            for j in range(first_in[v], first_in[v + 1]):
                u = tail[in_links[j]]
                if far[u] >= 0 and far[u] + weight[in_links[j]] == far[v] and mark[u] != p:
                    mark[u] = p
                    stack[count] = u
                    count += 1
        for a in range(count // 2):
            stack[a], stack[count - 1 - a] = stack[count - 1 - a], stack[a]
        for a in range(1, count):  # nearly by distance
            v, b = stack[a], a
            while b and far[stack[b - 1]] > far[v]:
                stack[b] = stack[b - 1]
                b -= 1
            stack[b] = v
        for a in range(count):
            v = stack[a]
            if far[v] == 0:
                cost[v] = 0.0
                continue
            cost[v] = np.inf
            for j in range(first_in[v], first_in[v + 1]):
                e = in_links[j]
                u = tail[e]
                if mark[u] == p and far[u] + weight[e] == far[v]:
                    through = cost[u] + price[of[e]]
                    if through < cost[v]:
                        cost[v], by[v] = through, e
        v, hops = target[p], 0
        while far[v] > 0:
            hops += 1
            v = tail[by[v]]
        v, length[p] = target[p], hops
        for i in range(begin[p] + hops - 1, begin[p] - 1, -1):
            e = by[v]
            path[i] = e
            c = of[e]
            load[c] += use[c]
            price[c] = ((load[c] + use[c]) / highest) ** power + 1e-9
            v = tail[e]


@njit(cache=True, nogil=True)
def _branch(first_in, in_links, tail, head, weight, of, use, distance, order, terminals, row, link, parent, load, by):
    """Give each origin a tree of shortest paths to all terminals, each node by its least loaded link; return the hops.

    * As in `_choose`; `order`, int64[R, N]: the nodes by distance. `row`, int64[P]: the row of each packet.
    * `link`, `parent`, int32[]: written, the hops of each packet in turn, N - 1 at the most, and the hop before, or -1.
    * `by`, int64[N]: to work in.
    """
    n = distance.shape[1]
    needed = np.zeros(n, np.bool_)
    hop = np.empty(n, np.int64)
    made = 0
    for p in range(row.size):
        far = distance[row[p]]
        needed[:] = False
        needed[:terminals] = True
        for i in range(n - 1, 0, -1):  # the furthest first: what nothing needs gets nothing
            v = order[row[p], i]
            if not needed[v] or far[v] < 0:
                continue
            best, least = np.int64(-1), 0.0
            for j in range(first_in[v], first_in[v + 1]):
                e = in_links[j]
                u = tail[e]
                if far[u] >= 0 and far[u] + weight[e] == far[v]:
                    more = load[of[e]] + use[of[e]] * (1 if needed[u] else 2)
                    if best < 0 or more < least:
                        best, least = e, more
            by[v] = best
            needed[tail[best]] = True
            load[of[best]] += use[of[best]]
        hop[order[row[p], 0]] = -1
        for i in range(1, n):
            v = order[row[p], i]
            if needed[v] and far[v] >= 0:
                link[made] = by[v]
                parent[made] = hop[tail[by[v]]]
                hop[v] = made
                made += 1
    return made


class _Quotient:
    """One rank of each orbit, and the shortest distances from them."""

    def __init__(self, case: Case, found: tuple[Symmetry, Longs]) -> None:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        self.case, network = case, case.network
        self.symmetry, self.weight = found
        n, links = network.node_count, np.arange(network.link_count)
        self.of = self.symmetry.link_orbit(links)
        self.roads = quotient_of(case, self.symmetry)
        self.use = self.roads.occupancy / self.roads.capacity
        self.tail, self.head = (side.astype(np.int64) for side in (network.link_source, network.link_target))
        broken = self.symmetry.broken
        usable = links if broken is None else np.flatnonzero(~broken)
        self.in_links = usable[np.argsort(self.head[usable], kind="stable")]
        self.first_in = np.append(0, np.cumsum(np.bincount(self.head[usable], minlength=n)))
        graph = csr_array((self.weight[usable].astype(float), (self.tail[usable], self.head[usable])), shape=(n, n))
        self.ranks = self.symmetry.terminals
        far = dijkstra(graph, indices=self.ranks)
        self.distance = np.where(np.isfinite(far), far, -1).astype(np.int64)
        if int(self.distance[:, : network.terminal_count].min()) < 0:
            raise NetworkError(f"{network.spec}: without the links like the failed ones some node is out of reach")
        self.row = np.full(n, -1, np.int64)
        self.row[self.ranks] = np.arange(self.ranks.size)

    def along_paths(self, origin: Longs, target: Longs, packet: IntArray, packets: Packets) -> Schedule:
        """Return the schedule of packets on paths that load links evenly: where from, where to, and which."""
        row, case = self.row[origin], self.case
        begin = np.append(0, np.cumsum(self.distance[row, target]))
        length, path = np.zeros(target.size, np.int64), np.empty(int(begin[-1]), np.int32)
        load, n = np.zeros(self.use.size), case.network.node_count
        room = np.empty(load.size), np.full(n, -1, np.int64), np.empty(n), *np.empty((2, n), np.int64)
        draw, best, lowest = np.random.default_rng(case.seed), (length, path), np.inf
        highest = float(case.floor) or 1.0
        for turn, power in enumerate(np.geomspace(*_SHARPNESS, _ROUNDS).tolist()):
            room[1].fill(-1)
            _choose(
                self.first_in, self.in_links, self.tail, self.weight, self.of, self.use, self.distance, row, target,
                turn > 0, draw.permutation(target.size), power, highest, begin[:-1], length, path, load, *room,
            )  # fmt: skip
            before, highest = highest, float(load.max())
            if highest < lowest:
                best, lowest = (length.copy(), path.copy()), highest
            if lowest <= case.floor * _NEAR or (turn > 1 and highest > before * _VAIN):
                break
        length, path = best
        ahead = np.cumsum(length) - length
        at = np.arange(int(length.sum())) + np.repeat(begin[:-1] - ahead, length)
        parent = np.arange(at.size, dtype=np.int32) - 1
        parent[ahead[length > 0]] = -1
        mixed = draw.permutation(target.size).astype(np.float64)
        return self.schedule(path[at], np.repeat(packet, length), parent, packets, np.repeat(mixed, length))

    def schedule(
        self, link: IntArray, packet: IntArray, parent: IntArray, packets: Packets, mixed: Floats | None = None
    ) -> Schedule:
        """Return the schedule of hops that wait for each other; `mixed`: an order at random, the same along a path."""
        graph = HopGraph.of_parents(self.of[link].astype(np.int32), packet, parent)
        load = np.bincount(graph.link, minlength=self.use.size) * self.use
        few = link.size < 200_000
        least = max(ceil(self.case.floor), int(np.ceil(load.max(initial=0))))
        tries, rounds, seed = 6 if few else 1, 4 if few else 2, self.case.seed
        # all links of paths through switches are nearly as busy: at random, packets come to each of them steadily
        through = self.row.size > self.case.network.terminal_count
        orders = [mixed] if mixed is not None and through and not few else None
        found = scheduled(graph, self.roads, least=least, tries=tries, rounds=rounds, orders=orders, seed=seed)
        order = np.argsort(found.start, kind="stable")
        return Schedule.of(
            self.case, found.start[order].astype(np.int32), link[order], packet[order], packets=packets,
            symmetry=self.symmetry, phases=[Phase(self.case.task.name, found.slots)],
        )  # fmt: skip


def _symmetry(network: Network) -> tuple[Symmetry, Longs] | None:
    """Return a few symmetries, and the lengths of links by which paths are short; None if none are known."""
    torus = spared(network)
    if torus is not None:
        return torus.symmetry, np.ones(network.link_count, np.int64)
    shift = switch_shift(network)
    if shift is None:
        return None
    try:
        return Symmetry(network, permutations=[shift.moved]), shift.lengths
    except NetworkError:
        return None


def translated_exchange(case: Case) -> Schedule:
    """Build a total exchange on short paths, the same from all ranks of an orbit, that load links evenly.

    Parameters
    ----------
    case : Case
        A total exchange on a dragonfly with shifts of its groups, or a torus or hypercube of which a few links failed;
        all ports.

    Returns
    -------
    Schedule
        Invariant under the symmetries.

    Raises
    ------
    NetworkError
        If no such symmetries are known.

    Notes
    -----
    O(R N d**n) time a round for R orbits of ranks and paths among d**n nodes.

    References
    ----------
    Gossamer; as `gossamer.algorithms.total_exchange.orbit_paths`.

    Examples
    --------
    >>> import gossamer
    >>> left = gossamer.network("torus:8x8").without(links=[(0, 1)])
    >>> schedule = translated_exchange(gossamer.questions.cases.Case(left, gossamer.task("alltoall")))
    >>> schedule.symmetry.order, schedule.packets.count
    (2, 2016)
    """
    found = case.once(_symmetry, case.network)
    if found is None:
        raise NetworkError(f"no shifts of {case.network.spec} are known")
    return exchange_along(case, found)


def exchange_along(case: Case, found: tuple[Symmetry, Longs]) -> Schedule:
    """Build the exchange of `translated_exchange` under given symmetries; links have lengths, int64[L]."""
    plane = _Quotient(case, found)
    messages = case.task.messages(case.network, plane.ranks)
    assert messages.targets is not None
    packets = Packets.of(messages)
    target = messages.targets[np.searchsorted(messages.ids, packets.message)].astype(np.int64)
    return plane.along_paths(packets.origin.astype(np.int64), target, np.arange(target.size, dtype=np.int32), packets)


def translated_trees(case: Case) -> Schedule:
    """Build an allgather along trees of shortest paths through switches, the same from all ranks of an orbit.

    Parameters
    ----------
    case : Case
        A multinode broadcast of messages of one packet, on a dragonfly with shifts of its groups; all ports. Where
        switches do not copy, each terminal gets a copy of its own from the owner.

    Returns
    -------
    Schedule
        Invariant under the symmetries.

    Raises
    ------
    NetworkError
        If no such symmetries are known.

    Notes
    -----
    O(R L) time for R orbits of ranks.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("dragonfly:a=4,h=2,p=2,arrangement=relative")
    >>> schedule = translated_trees(gossamer.questions.cases.Case(net, gossamer.task("allgather")))
    >>> schedule.symmetry.order
    9
    """
    found = case.once(_symmetry, case.network)
    if found is None:
        raise NetworkError(f"no shifts of {case.network.spec} are known")
    plane, n = _Quotient(case, found), case.network.node_count
    packets = Packets.of(case.task.messages(case.network, plane.ranks))
    if not case.rules.replication:  # a copy for each terminal leaves the origin
        terminals = case.network.terminal_count
        target = np.tile(np.arange(terminals), packets.count)
        packet = np.repeat(np.arange(packets.count, dtype=np.int32), terminals)
        away = packets.origin[packet] != target
        return plane.along_paths(packets.origin[packet][away].astype(np.int64), target[away], packet[away], packets)
    order = np.argsort(np.where(plane.distance < 0, n * n, plane.distance), axis=1, kind="stable")
    link, parent = np.empty((2, packets.count * (n - 1)), np.int32)
    made = _branch(
        plane.first_in, plane.in_links, plane.tail, plane.head, plane.weight, plane.of, plane.use, plane.distance,
        order, case.network.terminal_count, plane.row[packets.origin], link, parent, np.zeros(plane.use.size),
        np.empty(n, np.int64),
    )  # fmt: skip
    link, parent = link[:made], parent[:made]
    root = np.flatnonzero(parent < 0)  # links of the roots, of one switch each
    packet = np.cumsum(np.bincount(root, minlength=made)).astype(np.int32) - 1
    return plane.schedule(link, packet, parent, packets)


def translated_reduction(case: Case) -> Schedule:
    """Build an allreduce of blocks as the reversal of `translated_trees`, and then these trees themselves.

    Parameters
    ----------
    case : Case
        An allreduce on a network that `translated_trees` covers.

    Returns
    -------
    Schedule
        Invariant under the symmetries.

    Raises
    ------
    NetworkError
        If no such symmetries are known.

    References
    ----------
    Gossamer; reduce-scatter, then allgather: Chan, Heimlich, Purkayastha and van de Geijn 2007.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("dragonfly:a=4,h=2,p=2,arrangement=relative")
    >>> translated_reduction(gossamer.questions.cases.Case(net, gossamer.task("allreduce"))).symmetry.order
    9
    """
    reduce, gather = (case.related(task=each) for each in (ReduceScatter(), MultinodeBroadcast()))
    return then(translated_trees(reduce.dual).reverse(), translated_trees(gather))


def _refusal(case: Case, hops_each: int) -> tuple[Refusal | None, int]:
    """Return why a case is not planned so, and the order of the symmetry."""
    refusal = refuse_limits(case)
    if refusal is not None:
        return refusal, 1
    found = case.once(_symmetry, case.network)
    if found is None:
        known = case.network.terminal_count < case.network.node_count and switch_groups(case.network)
        told = (
            ": no shift of the groups of this one is known, so that one group does not stand for all" if known else ""
        )
        return Refusal(
            f"needs a dragonfly whose groups can be shifted, or a torus of which a few links failed{told}"
        ), 1
    order, ranks = found[0].order, case.network.terminal_count
    hops = ranks // order * ranks * hops_each
    if hops > _MOST_HOPS or ranks // order * case.network.node_count > _MOST_ROWS:
        fit = int(ranks * (_MOST_HOPS / hops) ** (3 / 7)) if hops > _MOST_HOPS else 0  # as on a torus: n**2 n**(1/3)
        what = f": about {fit:,} ranks would fit" if fit else ""
        return Refusal(f"would store about {hops:,} hops, and at most {_MOST_HOPS:,} are allowed{what}"), order
    return None, order


def _far(network: Network) -> int:
    """Return about how many links lie between two terminals."""
    far = int(network.distances(0).max())
    return far // 2 if network.terminal_count == network.node_count else far


def _propose_trees(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if network.terminal_count == network.node_count:
        return Refusal("needs switches")
    refusal, order = _refusal(case, 1 if case.rules.replication else _far(network))
    return refusal or Offer(
        lambda: translated_trees(case), effort="search", orbit=order, hop_bytes=200, hop_seconds=8e-6, composed=True
    )  # fmt: skip


def _propose_reduction(case: Case) -> Offer[Schedule] | Refusal:
    halves = [case.related(task=ReduceScatter()).dual, case.related(task=MultinodeBroadcast())]
    order = case.network.terminal_count
    for half in halves:
        found = _propose_trees(half)
        if isinstance(found, Refusal):
            return found
        order = min(order, found.orbit)
    return Offer(
        lambda: translated_reduction(case), effort="search", orbit=order, hop_bytes=200, hop_seconds=1.6e-5,
        composed=True,
    )  # fmt: skip


def _propose_paths(case: Case) -> Offer[Schedule] | Refusal:
    refusal, order = _refusal(case, _far(case.network))
    return refusal or Offer(
        lambda: translated_exchange(case), effort="search", orbit=order, hop_bytes=250, hop_seconds=1e-5, composed=True
    )  # fmt: skip


TRANSLATED_TREES = Algorithm(
    name="translated-switch-trees",
    tasks=(MultinodeBroadcast,),
    propose=_propose_trees,
    networks="dragonflies whose groups can be shifted",
    source="gossamer; no promised time",
    summary="trees of shortest paths through switches from one rank of each orbit; the rest is translated",
    passes_on=True,
    timed=True,
)

TRANSLATED_REDUCTION = Algorithm(
    name="translated-switch-trees-both-ways",
    tasks=(Allreduce,),
    propose=_propose_reduction,
    networks="dragonflies whose groups can be shifted",
    source="gossamer; no promised time",
    summary="adds up each block along the reversal of translated-switch-trees, then sends it out",
    passes_on=True,
    timed=True,
)

TRANSLATED_PATHS = Algorithm(
    name="translated-paths",
    tasks=(TotalExchange,),
    propose=_propose_paths,
    networks="dragonflies whose groups can be shifted, tori and hypercubes of which a few links failed",
    source="gossamer; no promised time",
    summary="short paths from one rank of each orbit that load links evenly; the rest is translated",
    passes_on=True,
    timed=True,
)
