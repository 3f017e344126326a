"""Total exchange on abelian Cayley networks by edge coloring.

In an abelian group the generators on the way to an offset may be taken in any order. So an invariant schedule is an
open shop: the jobs are the offsets, the machines the generators, and each hop is one operation. Koenig's theorem gives
a timetable in ``max(largest generator load, longest path)`` slots.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_irregular, refuse_ports
from gossamer.algorithms.derived import on_array
from gossamer.graphs.edge_coloring import color_edges, largest_degree
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry


@njit(cache=True, nogil=True, small=100_000)
def balance(order, distance, inverse, inverse_generator, before, offset, generator):
    """Write a shortest word for every offset, letter by letter; each letter is the least used one that fits.

    Pairs y, -y first (the word of -y is that of y with every letter inverted), own inverses last, far ones first.
    """
    degree = before.shape[1]
    load = np.zeros(degree, np.int64)
    place = 0
    for own in range(2):
        for i in range(order.size - 1, 0, -1):
            y = order[i]
            z = inverse[y]
            if (z == y) != (own == 1) or z < y:
                continue
            x = y
            while distance[x] > 0:
                best = -1
                for g in range(degree):
                    if distance[before[x, g]] != distance[x] - 1:
                        continue
                    if (
                        best < 0
                        or load[g] + load[inverse_generator[g]] < load[best] + load[inverse_generator[best]]
                        or (
                            own == 1
                            and load[g] + load[inverse_generator[g]] == load[best] + load[inverse_generator[best]]
                            and load[g] < load[best]
                        )
                    ):
                        best = g
                offset[place], generator[place] = y, best
                load[best] += 1
                place += 1
                if own == 0:
                    offset[place], generator[place] = z, inverse_generator[best]
                    load[inverse_generator[best]] += 1
                    place += 1
                x = before[x, best]


@njit(cache=True, nogil=True)
def _cheapest(link_target, degree, cost, distance, last, queue, queued):
    """Fill `distance` and the `last` generator of cheapest words from the identity; labels corrected in queue order."""
    n = distance.size
    distance[:] = np.inf
    distance[0] = 0.0
    queue[0] = 0
    head, waiting = 0, 1
    while waiting:
        u = queue[head]
        head = (head + 1) % n
        waiting -= 1
        queued[u] = False
        for g in range(degree):
            v = link_target[u * degree + g]
            through = distance[u] + cost[g]
            if through < distance[v]:
                distance[v] = through
                last[v] = g
                if not queued[v]:
                    queued[v] = True
                    queue[(head + waiting) % n] = v
                    waiting += 1


@njit(cache=True, nogil=True)
def _power(base, exponent):
    """Return a power with a whole exponent by squaring, as compiled code has it: the same digits in Python."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base *= base
    return result


@njit(cache=True, nogil=True, small=100_000)
def reroute(link_target, degree, inverse, inverse_generator, offsets, batch, sweeps, letters, best):
    """Choose words anew, batch by batch, by the cost ((load + 1) / largest load)**power of a letter, the power rising.

    `letters` int32[N, degree] counts the letters of each word and is updated; the words of -y are those of y inverted.
    `offsets` lists one of each pair y, -y, own inverses last. `best` receives the letters with the least largest load.
    Return that load.
    """
    n = inverse.size
    load = np.zeros(degree)
    for y in range(n):
        _count(load, letters, inverse, y, degree, 0.5 if inverse[y] != y else 1.0)
    least = _keep(load, letters, best, np.inf)
    cost = np.empty(degree)
    distance = np.empty(n)
    last = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    queued = np.zeros(n, np.bool_)
    for sweep in range(sweeps):
        for a in range(0, offsets.size, batch):
            b = min(a + batch, offsets.size)
            for i in range(a, b):
                _count(load, letters, inverse, offsets[i], degree, -1.0)
            top = 1.0
            for g in range(degree):
                top = max(top, load[g] + 1.0)
            for g in range(degree):
                both = 0.5 * (load[g] + load[inverse_generator[g]])
                cost[g] = _power((both + 1.0) / top, 4 + 2 * sweep) + 1e-3 * load[g] / top + 1e-9
            _cheapest(link_target, degree, cost, distance, last, queue, queued)
            for i in range(a, b):
                y = offsets[i]
                for g in range(degree):
                    letters[y, g] = 0
                x = y
                while x != 0:
                    g = last[x]
                    letters[y, g] += 1
                    x = link_target[x * degree + inverse_generator[g]]
                for g in range(degree):
                    if inverse[y] != y:
                        letters[inverse[y], inverse_generator[g]] = letters[y, g]
                _count(load, letters, inverse, y, degree, 1.0)
        least = _keep(load, letters, best, least)
    return least


@njit(cache=True, nogil=True)
def _count(load, letters, inverse, y, degree, times):
    """Add the letters of y, and of -y where it is another offset, `times` times to the load."""
    for g in range(degree):
        load[g] += times * letters[y, g]
        if inverse[y] != y:
            load[g] += times * letters[inverse[y], g]


@njit(cache=True, nogil=True)
def _keep(load, letters, best, least):
    """Copy the letters to `best` if their largest load is below `least`; return the smaller of the two."""
    most = 0.0
    for g in range(load.size):
        most = max(most, load[g])
    if most >= least:
        return least
    for y in range(letters.shape[0]):
        for g in range(load.size):
            best[y, g] = letters[y, g]
    return most


@njit(cache=True, nogil=True, small=100_000)
def walk(offset, generator, link_target, degree, source):
    """Write the node from which each letter leads on; letters of one offset are adjacent and in the order of time."""
    u = 0
    for i in range(offset.size):
        if i == 0 or offset[i] != offset[i - 1]:
            u = 0
        source[i] = u
        u = link_target[u * degree + generator[i]]


@njit(cache=True, nogil=True, small=100_000)
def line_step(n, k, i, j):
    """Return the step from 0 in which the message from k to i leaves node j of a line of n nodes, furthest first.

    Every node sends on, in either direction, the message with the furthest destination; ties go to the furthest source.
    Towards the right and counting nodes and steps from 1: ``t = j - k + 1`` for i = n and ``t = j*n - j*i + k`` for
    i < n; leftward messages are the mirror image (Dimakopoulos 1996, Lemma 4.1, (4.6)-(4.9), Theorem 4.3).
    """
    if i < k:
        k, i, j = n - 1 - k, n - 1 - i, n - 1 - j
    if i == n - 1:
        return j - k
    return (j + 1) * (n - i - 1) + k


@njit(cache=True, nogil=True)
def _begin_offset(y, digits, sides, strides, where, target):
    """Put the message of every node for the node at offset y back to its origin, and number it among the origin's."""
    for s in range(digits.shape[0]):
        where[s] = s
        v = 0
        for k in range(digits.shape[1]):
            v += (digits[s, k] + digits[y, k]) % sides[k] * strides[k]
        target[s] = v - 1 if v > s else v


@njit(cache=True, nogil=True, small=100_000)
def move_offsets(job, column, begin, digits, sides, strides, links, slot, link, packet):
    """Write the hops of all messages, offset by offset, dimension by dimension in the order of the runs.

    Operations come sorted by job and time. `digits` int64[N, d] of each node; `links` int32[N, d, 2].
    """
    n = digits.shape[0]
    at = 0
    where = np.empty(n, np.int64)
    target = np.empty(n, np.int64)
    for o in range(job.size):
        y, c = job[o], column[o]
        if o == 0 or job[o - 1] != y:
            _begin_offset(y, digits, sides, strides, where, target)
        for s in range(n):
            u = where[s]
            a = digits[u, c]
            b = (a + digits[y, c]) % sides[c]
            way = 1 if b > a else -1
            x = a
            while x != b:
                slot[at] = begin[o] + line_step(sides[c], a, b, x)
                link[at] = links[u, c, 0 if way > 0 else 1]
                packet[at] = s * (n - 1) + target[s]
                at += 1
                x += way
                u += way * strides[c]
            where[s] = u


@njit(cache=True, nogil=True, small=100_000)
def move_in_lines(
    job, column, begin, digits, sides, strides, base, first_pair, first_hop, hop_slot, hop_node, hop_port,
    slot, link, packet,
):  # fmt: skip
    """Write the hops of all messages, offset by offset, where a run of dimension c follows the exchange of factor c.

    Operations come sorted by job and time. Pair (a, b) of factor c has number ``first_pair[c] + a*sides[c] + b``, and
    its hops are rows ``first_hop[pair]:first_hop[pair + 1]``. Link ``base[u, c] + port`` leaves u in dimension c.
    """
    n = digits.shape[0]
    at = 0
    where = np.empty(n, np.int64)
    target = np.empty(n, np.int64)
    for o in range(job.size):
        y, c = job[o], column[o]
        if o == 0 or job[o - 1] != y:
            _begin_offset(y, digits, sides, strides, where, target)
        for s in range(n):
            u = where[s]
            a = digits[u, c]
            b = (a + digits[y, c]) % sides[c]
            pair = first_pair[c] + a * sides[c] + b
            for h in range(first_hop[pair], first_hop[pair + 1]):
                v = u + (hop_node[h] - a) * strides[c]
                slot[at] = begin[o] + hop_slot[h]
                link[at] = base[v, c] + hop_port[h]
                packet[at] = s * (n - 1) + target[s]
                at += 1
            where[s] = u + (b - a) * strides[c]


_REROUTED_NODES = 4096
"""Networks of more nodes keep their shortest words."""

_MOST_LETTERS = 100_000_000
"""Words of more letters are written down only if the algorithm is chosen; before, nothing is promised of them."""

_SWEEPS = 24

Words = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


def balanced_words(network: Network) -> Words:
    """Choose a word of generators for every offset so that the generators are used evenly.

    Returns: `offset`, `generator`, int32[S]: one row a letter: the offset it is for, and the generator. S is the status
    of the network (sum of distances) where the words are shortest.

    The word of ``-y`` is the inverse of the word of ``y``, which balances every generator against its inverse. Offsets
    that are their own inverse (the antipodes of even rings) come last; each takes the word that fills the least used
    generators. O(S * degree). Where shortest words use some generators more than others, and there are at most 4,096
    nodes, words are chosen anew by the loads, longer ones too.
    """
    group = network.group
    assert group is not None
    n, degree = network.node_count, network.degree
    search = network.breadth_first(0)
    inverse = group.inverse(np.arange(n))
    generators = network.generators
    inverse_generator = np.array([int(np.flatnonzero(generators == inverse[g])[0]) for g in generators], np.int64)
    # the node before y on a word that ends with generator g is y * g**-1
    before = network.link_target.reshape(n, degree)[:, inverse_generator]
    letters = int(search.distance.sum(dtype=np.int64))
    offset, generator = np.empty(letters, np.int32), np.empty(letters, np.int32)
    balance(search.order, search.distance, inverse, inverse_generator, before, offset, generator)
    load = np.bincount(generator, minlength=degree)
    if not letters or n > _REROUTED_NODES or int(load.max()) == -(-letters // degree):
        return offset, generator
    return _rerouted(network, inverse, inverse_generator, offset, generator)


def _rerouted(
    network: Network,
    inverse: npt.NDArray[np.int64],
    inverse_generator: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int32],
    generator: npt.NDArray[np.int32],
) -> Words:
    """Trade letters of the most used generators for longer words, if that lowers the largest load."""
    n, degree = network.node_count, network.degree
    words = np.zeros((n, degree), np.int32)
    np.add.at(words, (offset, generator), 1)
    best = np.empty_like(words)
    y = np.arange(1, n)
    order = np.concatenate([y[y < inverse[1:]], y[y == inverse[1:]]])
    reroute(network.link_target, degree, inverse, inverse_generator, order, max(1, n // 64), _SWEEPS, words, best)
    rows, letters = np.nonzero(best)
    times = best[rows, letters]
    return np.repeat(rows, times).astype(np.int32), np.repeat(letters, times).astype(np.int32)


def edge_colored_exchange(case: Case) -> Schedule:
    """Build the invariant total exchange whose slots are the colors of the offsets-by-generators multigraph.

    On a ring or torus the message from any node u to u+y may take the same hops as that from 0 to y, moved by u; so it
    is enough to plan for the offsets y. Each offset needs some hops of each kind (generator), and in a slot a
    generator serves one offset, and an offset makes one hop. That is a coloring problem: offsets and generators are
    the two sides of a bipartite graph, hops its edges, slots its colors, and edges that meet need different colors. By
    Koenig's theorem as many colors suffice as the busiest generator, or the furthest offset, has hops.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on an abelian Cayley network.

    Returns
    -------
    Schedule
        Invariant under the whole group; ``max(generator load, diameter)`` slots.

    Notes
    -----
    On tori whose loads balance this is the cut bound: ``n**3/8`` on n x n tori for even n, ``n(n**2-1)/8`` for odd n,
    ``2**(d-1)`` on hypercubes. O(S log T) for status S and time T.

    References
    ----------
    Gossamer, by the theorem of D. Koenig 1916.

    Examples
    --------
    >>> import gossamer
    >>> edge_colored_exchange(Case(gossamer.network("torus:4x4"), gossamer.task("alltoall"))).completion_time
    Fraction(8, 1)
    """
    network = case.network
    # Step 1: choose the hops of every offset so that all generators are used evenly
    offset, generator = case.once(balanced_words, network)
    # Step 2: color the edges of the graph of offsets and generators; a color is a slot
    slot = color_edges(offset, generator)
    # Step 3: each offset makes its hops in the order of its colors, and so passes certain nodes
    order = np.lexsort((slot, offset))
    offset, generator, slot = offset[order], generator[order], slot[order]
    source = _partial_products(network, offset, generator)
    link = source * network.degree + generator
    by_slot = np.argsort(slot, kind="stable")
    # Step 4: every node does the same for its own messages
    return Schedule.of(
        case, slot[by_slot], link[by_slot].astype(np.int32), (offset - 1)[by_slot], symmetry=Symmetry(network)
    )


def _partial_products(
    network: Network, offset: npt.NDArray[np.int32], generator: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return the node from which each letter leads on, for letters in the order of offset and time."""
    source = np.empty(offset.size, np.int64)
    walk(offset, generator, network.link_target, network.degree, source)
    return source


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    if case.network.group is None or not case.network.group.abelian:
        return Refusal("needs an abelian Cayley network")
    refusal = first_refusal(refuse_ports(case.rules), refuse_irregular(case.network))
    if refusal is not None:
        return refusal
    letters = int(case.network.breadth_first(0).distance.sum(dtype=np.int64))
    time = None  # of words that take long, and too much memory, to write down, so that they are not written to be asked
    if letters <= _MOST_LETTERS:
        time = Fraction(largest_degree(*case.once(balanced_words, case.network)))
    return Offer(
        lambda: edge_colored_exchange(case), time, orbit=case.network.node_count, hop_bytes=72, hop_seconds=2e-6
    )


EDGE_COLORED = Algorithm(
    name="edge-colored",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="abelian Cayley networks: rings, tori, hypercubes, circulants, complete networks and their products",
    source="gossamer; edge coloring by D. Koenig 1916",
    summary="hops of all offsets as an open shop of generators, timed by bipartite edge coloring",
)


def _folded_hops(network: Network) -> int:
    """Return twice the sum of all distances on the torus of the shape of an array."""
    assert network.grid is not None
    n = network.node_count
    return 2 * n * sum(n // side * (side * side // 4) for side in network.grid.sides)


EDGE_COLORED_ON_ARRAY = on_array(EDGE_COLORED, _folded_hops)
