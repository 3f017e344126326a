"""Hamiltonian cycles: of grids in closed form, of other networks by a search; and multinode broadcast around one.

With one port a node receives one of its N-1 messages in a slot at the most, and around a cycle of all nodes it does so
in every slot. An array has such a cycle if it has an even number of nodes and is no line, a torus always. The rings of
communication libraries are cycles of all ranks along cables, several where there are cables for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers, refuse_hops
from gossamer.atomic_files import quantity
from gossamer.networks.network import Network
from gossamer.networks.structures import Grid, IntArray, Speeds
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Schedule


def hamiltonian_cycle(grid: Grid) -> IntArray | None:
    """Return the nodes of an array or torus in the order of a Hamiltonian cycle, int32[N], or None.

    `grid`: sides and which of them wrap.

    Returns: int32[N] or None: none where there is no such cycle (arrays of an odd number of nodes), and for lines and
    fewer than 3 nodes.

    One side is chosen: an even one, else one that wraps. Along all others together goes a path that turns back at every
    end, so what is left is a rectangle of p rows, the places of the path, and q columns. O(N) time.

    >>> hamiltonian_cycle(Grid((2, 3), (False, False))).tolist()
    [1, 2, 5, 4, 3, 0]
    >>> hamiltonian_cycle(Grid((3, 3), (False, False))) is None
    True
    """
    long = [i for i, side in enumerate(grid.sides) if side > 1]
    chosen = next((i for i in long if grid.sides[i] % 2 == 0 and len(long) > 1), None)
    if chosen is None:
        chosen = next((i for i in long if grid.wraps[i]), None)
    if chosen is None:
        return None
    q, stride = grid.sides[chosen], grid.strides[chosen]
    path = np.zeros(1, np.int64)  # nodes of column 0, one row after the other
    for i in long:
        if i != chosen:
            there_and_back = [path, path[::-1]]
            path = np.concatenate([there_and_back[x % 2] + x * grid.strides[i] for x in range(grid.sides[i])])
    table = path[:, None] + stride * np.arange(q)
    if q % 2 == 0 and path.size > 1:  # up and down all columns over the rows but the first, and back along that
        rest = table[1:].copy()
        rest[:, 1::2] = rest[::-1, 1::2]
        return np.concatenate([rest.T.reshape(-1), table[0, ::-1]]).astype(np.int32)
    # to and fro along the rows over the columns but the first, and back along that; the rows are odd or the only one
    rest = table[:, 1:].copy()
    rest[1::2] = rest[1::2, ::-1]
    return np.concatenate([rest.reshape(-1), table[::-1, 0]]).astype(np.int32)


def disjoint_hamiltonian_cycles(grid: Grid) -> list[IntArray]:
    """Return Hamiltonian cycles of an array or torus that share no link: two of a square torus, else one or none.

    On the torus of p rows and columns the first goes along each row but for one link, then on to the next row, where it
    begins a column earlier; the second is the first with rows and columns exchanged. It crosses the links left out.

    Source: Bae and Bose 2003.

    >>> [cycle.tolist() for cycle in disjoint_hamiltonian_cycles(Grid((3, 3), (True, True)))]
    [[0, 1, 2, 5, 3, 4, 7, 8, 6], [0, 3, 6, 7, 1, 4, 5, 8, 2]]
    """
    long = [i for i, side in enumerate(grid.sides) if side > 1]
    if len(long) == 2 and all(grid.wraps[i] for i in long) and grid.sides[long[0]] == grid.sides[long[1]]:
        p = grid.sides[long[0]]
        row = np.repeat(np.arange(p), p)
        column = (np.tile(np.arange(p), p) - row) % p
        a, b = (grid.strides[i] for i in long)
        return [(row * a + column * b).astype(np.int32), (row * b + column * a).astype(np.int32)]
    cycle = hamiltonian_cycle(grid)
    return [] if cycle is None else [cycle]


# Rings of ranks on any network: cycles along cables, server by server along rails, or the order of ranks.

_MOST_RINGS, _MOST_STEPS, _MOST_SEARCHED = 16, 40_000, 128
"""Rings at the most; nodes that the search for so many rings enters; ranks among which cycles are looked for."""

Longs = npt.NDArray[np.int64]


class RankRing(NamedTuple):
    """A ring of all ranks.

    `order` (int64[N]): the ranks, each before the next one around the ring. `forth`, `back` (int64[N] or None): the
    link from each to the next one, and that from the next one to it; None where they are not neighbors.
    """

    order: Longs
    forth: Longs | None = None
    back: Longs | None = None


def rank_rings(network: Network) -> tuple[list[RankRing], str]:
    """Return rings of all ranks, and how they run: ``"cables"``, ``"rails"`` or ``"ranks"``.

    `network`: with its speeds, or with the times of its links. Returns: `list of RankRing`: as many cycles along cables
    as a search finds that share none, where a cable of k times the slowest rate counts as k. Of several servers a ring
    for each accelerator and cycle of a server: it goes through every server along that cycle, and leaves and enters
    servers at the same accelerator, so that rings use all rails. Elsewhere one, in the order of ranks. `str`: which of
    the three.

    A grid has cycles in closed form. The search is backtracking: exact, unless it enters 40,000 nodes for some number
    of rings, after which one ring less is looked for.

    >>> import gossamer
    >>> rings, run = rank_rings(gossamer.network("complete:5"))
    >>> run, [ring.order.tolist() for ring in rings]
    ('cables', [[0, 1, 2, 3, 4], [0, 2, 4, 1, 3]])
    >>> rank_rings(gossamer.network("array:3"))[1]
    'ranks'
    """
    n, every = network.terminal_count, np.arange(network.terminal_count)
    grid = network.grid
    if grid is not None and n == network.node_count:
        cycles = [RankRing(cycle.astype(np.int64)) for cycle in disjoint_hamiltonian_cycles(grid)]
        return (cycles, "cables") if cycles else ([RankRing(every)], "ranks")
    if server_size(network) > 1:
        return [RankRing(order) for order in _along_rails(network)], "rails"
    cables = _cables(network, n)
    found = _disjoint_cycles(n, {pair: len(links) for pair, links in cables.items()}) if n <= _MOST_SEARCHED else []
    if not found:
        return [RankRing(every)], "ranks"
    rings = []
    for order in found:
        ends = list(zip(order, order[1:] + order[:1], strict=True))
        forth, back = ([cables[pair].pop() for pair in pairs] for pairs in (ends, [(v, u) for u, v in ends]))
        rings.append(RankRing(*(np.array(column, np.int64) for column in (order, forth, back))))
    return rings, "cables"


def ring_words(network: Network, most: int = _MOST_RINGS) -> str:
    """Return how the rings of a network run, in words; so many are used at the `most`.

    >>> import gossamer
    >>> ring_words(gossamer.network("torus:4x4")), ring_words(gossamer.network("array:3"))
    ('2 rings along cables', 'ring in rank order')
    """
    rings, run = rank_rings(network)
    if run == "ranks":
        return "ring in rank order"
    return f"{quantity(min(len(rings), most), 'ring')} along {run}"


def _rates(network: Network) -> npt.NDArray[np.float64]:
    """Return what links carry, by their speeds or by their times."""
    speeds = network.find(Speeds)
    return network.link_capacity * (1 / network.link_occupancy if speeds is None else speeds.bandwidth)


def _cables(network: Network, ranks: int) -> dict[tuple[int, int], list[int]]:
    """Return the links between ranks that have links both ways, as often as they are fast."""
    direct = np.flatnonzero((network.link_source < ranks) & (network.link_target < ranks))
    rate = _rates(network)[direct]
    found: dict[tuple[int, int], list[int]] = {}
    for link, times in zip(direct.tolist(), np.floor(rate / rate.min(initial=np.inf) + 0.05).tolist(), strict=True):
        pair = int(network.link_source[link]), int(network.link_target[link])
        found.setdefault(pair, []).extend([link] * int(min(times, 2 * _MOST_RINGS)))
    return {(u, v): links for (u, v), links in found.items() if u != v and len(found.get((v, u), ())) == len(links)}


def _disjoint_cycles(count: int, room: dict[tuple[int, int], int]) -> list[list[int]]:
    """Return as many Hamiltonian cycles as are found that together use no pair of nodes more often than it has room.

    >>> square = {pair: 2 for u in range(4) for pair in ((u, (u + 1) % 4), ((u + 1) % 4, u))}
    >>> _disjoint_cycles(4, square)
    [[0, 1, 2, 3], [0, 1, 2, 3]]
    """
    near: list[list[int]] = [[] for _ in range(count)]
    for u, v in sorted(room):
        near[u].append(v)
    degree = [sum(room[u, v] for v in near[u]) for u in range(count)]
    for rings in range(min(min(degree, default=0) // 2, _MOST_RINGS), 0, -1) if count > 2 else ():
        steps = iter(range(_MOST_STEPS))
        found = next(_cycles(near, dict(room), rings, steps), None)
        if found is not None:
            return found
    return []


def _cycles(
    near: list[list[int]], room: dict[tuple[int, int], int], rings: int, steps: Iterator[int]
) -> Iterator[list[list[int]]]:
    """Yield sets of so many cycles, until no steps are left; `room` is changed on the way and restored."""
    count, path, seen = len(near), [0], [False] * len(near)
    seen[0] = True

    def onward(u: int) -> list[int]:
        return [v for v in near[u] if not seen[v] and room[u, v]]

    def use(u: int, v: int, times: int) -> None:
        room[u, v] -= times
        room[v, u] -= times

    choices = [onward(0)]
    while choices:
        if next(steps, None) is None:
            return
        u = path[-1]
        closes = len(path) == count and room.get((u, 0), 0) > 0 and path[1] <= u
        if closes:
            use(u, 0, 1)
            if rings == 1:
                yield [list(path)]
            elif all(sum(room[v, w] for w in near[v]) >= 2 * rings - 2 for v in range(count)):
                for rest in _cycles(near, room, rings - 1, steps):
                    yield [list(path), *rest]
            use(u, 0, -1)
        if choices[-1]:
            v = choices[-1].pop(0)
            use(u, v, 1)
            path.append(v)
            seen[v] = True
            choices.append(sorted(onward(v), key=lambda w: (len(onward(w)), w)))
        else:
            choices.pop()
            seen[path.pop()] = False
            if path:
                use(path[-1], u, -1)


def server_chains(network: Network) -> list[Longs]:
    """Return orders of the accelerators of a server that begin with each of them, along each of its cycles of cables.

    >>> import gossamer
    >>> [chain.tolist() for chain in server_chains(gossamer.network("dgx-h100:2"))][:2]
    [[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 0]]
    >>> server_chains(gossamer.network("ring:8"))
    [array([0])]
    """
    size = server_size(network)
    cables = {pair: len(links) for pair, links in _cables(network, size).items()}
    cycles = _disjoint_cycles(size, cables) or [list(range(size))]
    return [np.roll(cycle, -cycle.index(turn)) for turn in range(size) for cycle in cycles]


def _along_rails(network: Network) -> Iterator[Longs]:
    """Yield an order for each chain of a server, in which every other server is passed in the other direction."""
    for chain in server_chains(network):
        lines = np.arange(0, network.terminal_count, chain.size)[:, None] + chain[None, :]
        lines[1::2] = lines[1::2, ::-1]  # what leaves a server at an accelerator enters the next one at the same
        yield lines.reshape(-1).astype(np.int64)


def server_size(network: Network) -> int:
    """Return how many ranks, numbered one after the other, the fastest links join, or all cables between ranks.

    1 where that is no even number, or where it is one rank alone.

    >>> import gossamer
    >>> [server_size(gossamer.network(spec)) for spec in ("dgx-h100:2", "mi300x:4", "nvl72", "ring:8")]
    [8, 8, 1, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rate, nodes, terminals = _rates(network), network.node_count, network.terminal_count
    if not rate.size or (nodes == terminals and float(rate.min()) == float(rate.max())):
        return 1
    direct = np.flatnonzero((network.link_source < terminals) & (network.link_target < terminals))
    for fast in (np.flatnonzero(rate >= float(rate.max()) * (1 - 1e-9)), direct):
        graph = coo_array((np.ones(fast.size), (network.link_source[fast], network.link_target[fast])), (nodes, nodes))
        of = connected_components(graph.tocsr(), directed=False)[1][:terminals]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        sizes = np.diff(np.append(first, of.size))
        same = np.unique(of).size == first.size and bool((sizes == sizes[0]).all())
        if same and 1 < sizes[0] < terminals:
            return int(sizes[0])
    return 1


def around_hamiltonian_cycle(case: Case) -> Schedule:
    """Send every message around a Hamiltonian cycle.

    The nodes stand in a cycle that visits each of them once. In the first slot everybody sends its own message to the
    next node; from then on everybody passes on what it got in the slot before. After N-1 slots every message has been
    everywhere, and every node has received one new message in every slot, which is all that one port can do.

    Parameters
    ----------
    case : Case
        A multinode broadcast on an array or torus of N nodes that has such a cycle, any ports.

    Returns
    -------
    Schedule
        In slot t every node sends the message of the node t places before it.

    Notes
    -----
    ``N - 1`` steps, optimal where nodes send or receive one packet a step. O(N**2) time and memory, the size of the
    schedule.

    References
    ----------
    Folklore. Varvarigos and Bertsekas 1994 and Dimakopoulos 1996 leave arrays with one port out.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("array:4x4"), gossamer.task("allgather"), gossamer.Rules(ports="one"))
    >>> around_hamiltonian_cycle(case).completion_time
    Fraction(15, 1)
    """
    network = case.network
    assert network.grid is not None
    # Step 1: find a cycle through all nodes: to and fro along the rows, and back along the first column
    cycle = hamiltonian_cycle(network.grid)
    assert cycle is not None
    n = network.node_count
    order = np.lexsort((network.link_target, network.link_source))
    number = network.link_source[order].astype(np.int64) * n + network.link_target[order]
    link = order[np.searchsorted(number, cycle.astype(np.int64) * n + np.roll(cycle, -1))].astype(np.int32)
    # Step 2: every node uses its link to the next node in each of N-1 slots
    slot = np.repeat(np.arange(n - 1, dtype=np.int32), n)
    place = np.arange(n)
    # Step 3: in slot t it sends the message of the node t places before it, which came in slot t-1
    packet = cycle[(place - np.arange(n - 1)[:, None]) % n].reshape(-1)
    return Schedule.of(case, slot, np.tile(link, n - 1), packet)


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    grid, n = case.network.grid, case.network.node_count
    if grid is None or case.network.terminal_count < n:
        return Refusal("needs an array or a torus")
    odd = n % 2 == 1 and not any(grid.wraps)
    if n < 3 or odd or (max(grid.sides) == n and not any(grid.wraps)):
        return Refusal("needs an array of an even number of nodes that is no line, or a torus")
    if case.rules.ports == "all":
        return Refusal("is for one-port nodes")
    refusal = first_refusal(refuse_buffers(case.rules), refuse_hops(n * (n - 1)))
    return refusal or Offer(lambda: around_hamiltonian_cycle(case), Fraction(n - 1), optimal=True)


HAMILTONIAN_CYCLE = Algorithm(
    name="hamiltonian-cycle",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="arrays of an even number of nodes, tori",
    source="folklore",
    summary="with one port, every message goes around a cycle of all nodes",
)
