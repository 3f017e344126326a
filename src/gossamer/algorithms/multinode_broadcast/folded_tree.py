"""Multinode broadcast on arrays of any dimension and sides: a translated tree on a torus, folded into the array.

A corner of an array receives over d links, so no multinode broadcast takes less than ceil((N-1)/d) steps. A torus does
it in about (N-1)/(2d), and folding (Varvarigos and Bertsekas 1994, section 2) takes twice that. Three things make it
exact:

* *The last slot.* With 1 to d messages left over for an odd number of slots, every node takes what it misses from a
  neighbor that has it, one from each; a bipartite matching says which. All nodes miss messages of the same offsets.
* *Sides of 2* are links that need no folding and can be used in both halves of a slot of the torus. But in the second
  half of the first slot there is nothing new to send over them. So one such dimension and the shortest of the others
  are taken together: a 2 x p array has a Hamiltonian cycle, a ring of 2p nodes that needs no folding either.
* *Wrap-around.* Dimensions that are rings need no folding.

So the tree is one on a Cayley network (the *host*) with generators of two kinds: those along folded rings take two
slots and begin in even ones, the others take one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.algorithms.multinode_broadcast.cayley import fillings
from gossamer.networks.grids import linear_array, ring
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.networks.product import product
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast
from gossamer.schedules import Packets, Schedule
from gossamer.schedules.torus_on_array import fold_hops, folded_links, ring_labels

Nodes = npt.NDArray[np.int64]


class Host(NamedTuple):
    """A Cayley network whose nodes are hosted by those of an array.

    `network`: a product of rings and single edges. `element`, int64[N]: the element that each node of the array hosts.
    `folded`, bool[degree]: whether each generator is along a folded ring, so that it takes two slots.
    """

    network: Network
    element: Nodes
    folded: npt.NDArray[np.bool_]


class TreeCells(NamedTuple):
    """A tree on a host, in slots of the array.

    `slots`: slots of the multinode broadcast on the array. `slot`, `link`, int32[m]: the hops of the tree, sorted by
    slot. `last`, tuple of int32[N*r] or None: link of the array and packet of the hops in the last slot, which bring
    every node the r messages that are left.
    """

    slots: int
    slot: IntArray
    link: IntArray
    last: tuple[IntArray, IntArray] | None


def host_of(grid: Grid) -> Host:
    """Return the host of an array.

    `grid`: with a dimension of side 3 or more that does not wrap around.

    O(N d).

    >>> host_of(Grid((2, 3), (False, False))).element.reshape(2, 3).tolist()
    [[0, 1, 2], [5, 4, 3]]
    >>> host_of(Grid((3, 3), (False, False))).network
    <Network product:(ring:3)x(ring:3): 9 nodes, 36 links>
    """
    axes = [i for i in range(grid.dimensions) if grid.sides[i] > 1]
    place = {i: np.arange(math.prod(grid.sides)) // grid.strides[i] % grid.sides[i] for i in axes}
    factors: list[tuple[Network, Nodes, bool]] = []
    twos = [i for i in axes if grid.sides[i] == 2]
    if twos:
        other = min((i for i in axes if grid.sides[i] > 2 and not grid.wraps[i]), key=lambda i: grid.sides[i])
        p = grid.sides[other]
        around = np.where(place[twos[0]] == 0, place[other], 2 * p - 1 - place[other])
        factors.append((ring(2 * p), around, False))
        axes = [i for i in axes if i not in (twos[0], other)]
    for i in axes:
        side = grid.sides[i]
        if grid.wraps[i]:
            factors.append((ring(side), place[i], False))
        elif side == 2:
            factors.append((linear_array(2), place[i], False))
        else:
            factors.append((ring(side), ring_labels(side)[place[i]], True))
    element = np.zeros(1, np.int64)
    for factor, where, _ in factors:
        element = element * factor.node_count + where
    networks = [factor for factor, _, _ in factors]
    folded = np.repeat([fold for _, _, fold in factors], [factor.degree for factor in networks])
    return Host(networks[0] if len(networks) == 1 else product(*networks), element, folded)


def folded_tree(case: Case) -> Schedule:
    """Build the multinode broadcast along translates of one tree on the host of an array.

    A torus is easier than an array, because it looks the same from every node. So each line of the array is treated as
    a ring that was folded flat: neighbors on the ring are at most two places apart on the line, and a slot of the
    torus takes two slots of the array. What is left over, one slot in which a few last messages come, is filled by a
    matching at every node.

    Parameters
    ----------
    case : Case
        A multinode broadcast with all ports on an array, or on a grid that wraps around in some dimensions, with a
        side of 3 or more that does not.

    Returns
    -------
    Schedule
        Of ``ceil((N-1)/d)`` slots of one step on arrays, d the links of a corner; N(N-1) hops.

    Notes
    -----
    The time is the lower bound for whole messages. It is not a theorem that the search gets there; it did on every
    array that was tried (the page on multinode broadcast on arrays has a table). Where some dimensions wrap around, it
    takes one step more on some networks, such as those with a ring of three nodes. Time and memory linear
    in the hops: 12 bytes a hop, and 16 more while it is built.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 2, for the folding. The multinode broadcast in one step less than twice that
    of the torus, on arrays with sides of 2 and of more than two dimensions, is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> s = folded_tree(Case(gossamer.network("array:2x3x5"), gossamer.task("allgather")))
    >>> s.completion_time, s.hop_count
    (Fraction(10, 1), 870)
    """
    network = case.network
    assert network.grid is not None
    # Step 1: fold the lines of the array into rings; sides of 2 need no folding
    host = host_of(network.grid)
    # Step 2: find a tree on the torus whose translates never meet, and the messages of the last slot by matching
    _, slot, link, last = folded_cells(network, host)
    packets = Packets.of(case.messages)  # packet u is that of node u
    # Step 3: move the tree to every node
    hops, links = _translates(network, host, slot, link, last)
    # Step 4: perform each slot of the torus in two slots of the array
    return Schedule.of(case, *fold_hops(network, case.task, packets, hops, links))


def folded_cells(network: Network, host: Host) -> TreeCells:
    """Return the tree on the host of an array that takes the fewest slots of the array, and the last slot.

    Tries fillings until one meets ``ceil((N-1)/d)``; the first one does on arrays. O(N d) each, besides the matching.

    >>> from gossamer.networks import array
    >>> net = array(3, 5)
    >>> cells = folded_cells(net, host_of(net.grid))
    >>> cells.slots, cells.link.size, cells.last[0].size
    (7, 12, 30)
    """
    least = _fewest_slots(network)
    duration = np.where(host.folded, 2, 1).astype(np.int64)
    best: TreeCells | None = None
    for _, slot, link in fillings(host.network, duration):
        end = slot + duration[link % host.folded.size]
        slots, last = int(end.max()), None
        even = (slots - 1) // 2 * 2
        if slots > max(least, even + 1):
            late = host.network.link_target[link[end > even]]
            last = _last_slot(network, host, late.astype(np.int64))
            slots = slots if last is None else even + 1
        if best is None or slots < best.slots:
            keep = slice(None) if last is None else end <= even
            best = TreeCells(slots, slot[keep].copy(), link[keep].copy(), last)
        if best.slots <= least:
            break
    assert best is not None  # there is a first filling
    return best


def _translates(
    network: Network, host: Host, slot: IntArray, link: IntArray, last: tuple[IntArray, IntArray] | None
) -> tuple[tuple[IntArray, IntArray, IntArray], tuple[IntArray, IntArray]]:
    """Return the hops of all translates of the tree, and of the last slot, for `fold_hops`, and the links they use."""
    n, folded = network.node_count, host.folded[link % host.folded.size]
    group, degree, total = host.network.group, host.folded.size, host.network.link_count
    assert group is not None
    node = np.argsort(host.element)
    ends = (node[host.network.link_source], node[host.network.link_target])
    first, second = folded_links(network, *ends, np.tile(host.folded, n))
    # a link that is not folded is there for the first half of a slot of the torus and once more for the second
    none, straight = np.full(total, -1, np.int32), np.where(np.tile(host.folded, n), np.int32(-1), first)
    own = np.arange(network.link_count, dtype=np.int32)  # and those of the array, for the last slot
    links = np.concatenate([first, none, own]), np.concatenate([second, straight, np.full_like(own, -1)])
    generator = link % degree + np.where(folded, 0, slot % 2) * total
    over = np.empty((slot.size, n), np.int32)
    for row in range(slot.size):
        over[row] = group.compose(np.arange(n), link[row] // degree) * degree + generator[row]
    hops = np.repeat(slot // 2, n), over.reshape(-1), np.tile(node.astype(np.int32), slot.size)
    if last is not None:
        end = np.full(last[0].size, slot[-1] // 2 + 1, np.int32)
        rows = (end, last[0] + np.int32(2 * total), last[1])
        hops = tuple(np.concatenate(pair) for pair in zip(hops, rows, strict=True))  # type: ignore[assignment]
    return hops, links


def _last_slot(network: Network, host: Host, offsets: Nodes) -> tuple[IntArray, IntArray] | None:
    """Return link and packet of hops that bring every node the messages of some offsets, all in one slot.

    None if there is no such slot. Before it, all nodes have all other messages.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    group = host.network.group
    assert group is not None
    n, count = network.node_count, offsets.size
    if count > int(network.in_degree.min()):
        return None
    missing = np.zeros(n, np.bool_)
    missing[offsets] = True
    node = np.argsort(host.element)
    # the message of offset v at element x is that of element v^-1 * x (the groups are abelian)
    source = node[group.compose(group.inverse(offsets)[None, :], host.element[:, None])]
    wanted = source[network.link_target]  # messages that each link may bring, by offset
    of_sender = group.compose(group.inverse(host.element[wanted]), host.element[network.link_source][:, None])
    link, row = np.nonzero(~missing[of_sender])
    need = network.link_target[link].astype(np.int64) * count + row
    graph = csr_matrix((np.ones(link.size, np.int8), (need, link)), shape=(n * count, network.link_count))
    chosen = maximum_bipartite_matching(graph, perm_type="column").astype(np.int32)
    if (chosen < 0).any():
        return None
    return chosen, source.reshape(-1).astype(np.int32)


def _fewest_slots(network: Network) -> int:
    return -(-(network.node_count - 1) // int(network.in_degree.min()))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, grid, n = case.network, case.network.grid, case.network.node_count
    if grid is None:
        return Refusal("needs an array")
    if not any(side > 2 and not wraps for side, wraps in zip(grid.sides, grid.wraps, strict=True)):
        return Refusal("needs a side of 3 nodes or more without wrap-around")
    if network.uniform_capacity != 1:
        return Refusal("needs links of capacity 1")
    refusal = refuse_ports(case.rules) or refuse_hops(n * (n - 1))
    if refusal is not None:
        return refusal
    if any(grid.wraps):
        return Offer(lambda: folded_tree(case))
    optimal = case.whole or (n - 1) % int(network.in_degree.min()) == 0
    return Offer(lambda: folded_tree(case), Fraction(_fewest_slots(network)), optimal=optimal)


FOLDED_TREE = Algorithm(
    name="torus-on-array",
    tasks=(MultinodeBroadcast,),
    propose=_propose,
    networks="arrays of any dimension and sides (and grids that wrap around in some dimensions)",
    source="gossamer; torus on an array by Varvarigos and Bertsekas 1994, section 2",
    summary="translates of one broadcast tree on a torus, folded into the array, and a last slot by matching",
)
