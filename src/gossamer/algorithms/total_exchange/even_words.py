"""Total exchange on any Cayley network: evenly chosen words, then a job shop of unit hops.

Words are chosen by local search, or by an integer program: one of several words for each offset, no class of links
above the fluid optimum.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_irregular, refuse_ports
from gossamer.graphs.edge_coloring import color_edges
from gossamer.jit import njit
from gossamer.networks.finite_groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule, Symmetry

# Kernels that choose and list words.


@njit(cache=True, nogil=True)
def _cheapest_shortest(order, distance, before, at, orbit, degree, price, cost, last):
    """Fill the cost and the last generator of the cheapest shortest word of every offset of one origin."""
    cost[0] = 0.0
    for i in range(1, order.size):
        x = order[i]
        cost[x] = np.inf
        for g in range(degree):
            w = before[x, g]
            if distance[w] + 1 == distance[x]:
                through = cost[w] + price[orbit[at[w]] * degree + g] * (1.0 + 0.02 * np.random.random())
                if through < cost[x]:
                    cost[x] = through
                    last[x] = g


@njit(cache=True, nogil=True)
def _cheapest(onward, price, cost, last, queue, queued):
    """Fill the cost and the last generator of the cheapest word, of any length; labels corrected in queue order.

    `price` float64[N, degree] is that of a letter where it leaves each element.
    """
    n, degree = onward.shape
    cost[:] = np.inf
    cost[0] = 0.0
    queue[0] = 0
    head, waiting = 0, 1
    while waiting:
        u = queue[head]
        head = (head + 1) % n
        waiting -= 1
        queued[u] = False
        for g in range(degree):
            v = onward[u, g]
            through = cost[u] + price[u, g]
            if through < cost[v] * (1.0 - 1e-12):
                cost[v] = through
                last[v] = g
                if not queued[v]:
                    queued[v] = True
                    queue[(head + waiting) % n] = v
                    waiting += 1


@njit(cache=True, nogil=True)
def _copy(words, length, load, to_words, to_length, to_load):
    """Write words with their lengths and the loads that they make to other arrays."""
    for j in range(length.size):
        to_length[j] = length[j]
        for i in range(length[j]):
            to_words[j, i] = words[j, i]
    for c in range(load.size):
        to_load[c] = load[c]


@njit(cache=True, nogil=True)
def _largest(load):
    most = load[0]
    for c in range(1, load.size):
        most = max(most, load[c])
    return most


@njit(cache=True, nogil=True)
def _trace(y, last, before, word):
    """Write the word that ends in y, in order; return its length, or -1 where it does not fit."""
    size = 0
    x = y
    while x != 0:
        if size == word.size:
            return -1
        word[size] = last[x]
        size += 1
        x = before[x, last[x]]
    for i in range(size // 2):
        word[i], word[size - 1 - i] = word[size - 1 - i], word[i]
    return size


@njit(cache=True, nogil=True)
def _count(word, size, at, orbit, onward, degree, times, change):
    """Add `times` for the class of each letter of a word to `change`."""
    x = 0
    for i in range(size):
        change[orbit[at[x]] * degree + word[i]] += times
        x = onward[x, word[i]]


@njit(cache=True, nogil=True)
def settle_words(
    onward, before, order, distance, left, orbit, free, passes, goal, mean, seed, words, length, load
):  # fmt: skip
    """Choose words anew, at prices that rise with the loads, while that evens the loads; return the largest load.

    `onward` and `before` int32[N, degree] lead from x to ``x*g`` and ``x*g**-1``; `left` int64[R, N] has ``r*x`` for
    each origin r, and `orbit` int32[N] the orbit of each node: the class of a letter is the orbit of the node that it
    leaves times the degree plus its generator. `free` allows words that are not shortest. `words` int8[R*N, most],
    `length` and `load` are those at hand, all 0 at first, and are updated. Ends at a largest load of `goal`.
    Returned beside it: what the prices prove the largest load to be at least, where `free`, else 0.
    """
    np.random.seed(seed)
    origins, n = left.shape
    degree = onward.shape[1]
    cost = np.empty(n)
    last = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    queued = np.zeros(n, np.bool_)
    word = np.empty(words.shape[1], np.int8)
    change = np.zeros(load.size, np.int64)
    price = np.empty(load.size)
    step = np.empty((n, degree))
    best_words, best_length, best = words.copy(), length.copy(), _largest(load)
    best_load = load.copy()
    least = 0.0
    for i in range(passes):
        top = _largest(load)
        if 0 < best <= goal:
            break
        power = 2.0 + 62.0 * i / passes if i < passes // 2 else 64.0 * (1.0 + 8.0 * np.random.random())
        wander = not free and 3 * i >= passes
        warm = 4.0 * (1.0 - i / passes)
        for c in range(load.size):
            noise = 1.0 if i % 3 == 0 else 1.0 + 0.5 * np.random.random()
            price[c] = noise * max(((load[c] + 0.5) / (top + 0.5)) ** power, 1e-7)
            if wander:
                price[c] = 1.0 + 0.8 * np.random.random() + 0.2 * (load[c] - mean)
                price[c] = max(price[c], 0.1)
        paid, offered = 0.0, 0.0
        for c in range(load.size):
            offered += price[c]
        for r in range(origins):
            at = left[r]
            if free:
                for x in range(n):
                    for g in range(degree):
                        step[x, g] = price[orbit[at[x]] * degree + g]
                _cheapest(onward, step, cost, last, queue, queued)
                for y in range(n):
                    paid += cost[y]
            else:
                _cheapest_shortest(order, distance, before, at, orbit, degree, price, cost, last)
            start = np.random.randint(n)
            for turn in range(n):
                y = (start + turn) % n
                j = r * n + y
                size = _trace(y, last, before, word)
                if size <= 0:
                    continue
                _count(words[j], length[j], at, orbit, onward, degree, -1, change)
                _count(word, size, at, orbit, onward, degree, 1, change)
                gain = 0.0
                moved = False
                for c in range(load.size):
                    if change[c] != 0:
                        moved = True
                        if wander:
                            gain -= change[c] * (2.0 * (load[c] - mean) + change[c])
                        else:
                            gain += (load[c] / mean) ** (power + 1.0) - ((load[c] + change[c]) / mean) ** (power + 1.0)
                if wander and moved:
                    gain -= warm * np.log(max(np.random.random(), 1e-9))
                if moved and (length[j] == 0 or gain >= 0.0):
                    for c in range(load.size):
                        load[c] += change[c]
                    for k in range(size):
                        words[j, k] = word[k]
                    length[j] = size
                    if wander and _largest(load) < best:
                        best = _largest(load)
                        _copy(words, length, load, best_words, best_length, best_load)
                        if best <= goal:
                            return best, least
                change[:] = 0
        if free:
            least = max(least, paid / offered)
        if _largest(load) < best or best == 0:
            best = _largest(load)
            _copy(words, length, load, best_words, best_length, best_load)
        if free and best < least + 1.0 - 1e-6:
            break
    _copy(best_words, best_length, best_load, words, length, load)
    return best, least


@njit(cache=True, nogil=True)
def draw_words(onward, before, at, orbit, price, noise, seed, words, length, load):
    """Write a cheapest word of every offset of one origin, once for each row of prices.

    `price` float64[P, R*degree] is raised by up to `noise` of itself, by chance, where a letter leaves each element, so
    that equal words are chosen at random. `words` int8[P, N, most], `length` int64[P, N] (0 where a word does not fit)
    and `load` int16[P, N, R*degree] are 0 at first.
    """
    np.random.seed(seed)
    n, degree = onward.shape
    step = np.empty((n, degree))
    cost = np.empty(n)
    last = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    queued = np.zeros(n, np.bool_)
    for i in range(price.shape[0]):
        for x in range(n):
            for g in range(degree):
                step[x, g] = price[i, orbit[at[x]] * degree + g] * (1.0 + noise * np.random.random())
        _cheapest(onward, step, cost, last, queue, queued)
        for y in range(1, n):
            size = _trace(y, last, before, words[i, y])
            if size > 0:
                length[i, y] = size
                _count(words[i, y], size, at, orbit, onward, degree, 1, load[i, y])


@njit(cache=True, nogil=True)
def _hop(at, t, j, x, g, left, onward, slot, link, packet):
    """Write the hop of a word by a generator from element x of its way; return the element that it leads to."""
    n, degree = onward.shape
    r = j // n
    goal = left[r, j % n]
    slot[at], link[at] = t, left[r, x] * degree + g
    packet[at] = r * (n - 1) + (goal - 1 if goal > left[r, 0] else goal)
    return onward[x, g]


@njit(cache=True, nogil=True, small=100_000)
def list_hops(
    words, length, left, orbit, onward, degree, order, slot, link, packet
):  # fmt: skip
    """Serve, in every slot and class of links, the word with most letters left; return the slots that it takes.

    `order` lists the words, those first in the queues that are to go first of equal ones. Rows of `slot`, `link` and
    `packet` come in the order of time.
    """
    n = left.shape[1]
    classes = 0
    for u in range(orbit.size):
        classes = max(classes, orbit[u] + 1)
    classes *= degree
    longest = 0
    for j in range(length.size):
        longest = max(longest, length[j])
    head = np.full((classes, longest + 1), -1, np.int64)
    tail = np.full((classes, longest + 1), -1, np.int64)
    highest = np.zeros(classes, np.int64)
    follower = np.full(length.size, -1, np.int64)
    where = np.zeros(length.size, np.int64)
    done = np.zeros(length.size, np.int64)
    moved = np.empty(classes, np.int64)
    for j in order:
        if length[j] == 0:
            continue
        r = j // n
        c = orbit[left[r, 0]] * degree + words[j, 0]
        b = length[j]
        follower[j] = -1
        if head[c, b] < 0:
            head[c, b] = j
        else:
            follower[tail[c, b]] = j
        tail[c, b] = j
        highest[c] = max(highest[c], b)
    at, t = 0, 0
    while at < slot.size:
        count = 0
        for c in range(classes):
            b = highest[c]
            while b > 0 and head[c, b] < 0:
                b -= 1
            highest[c] = b
            if b == 0:
                continue
            j = head[c, b]
            head[c, b] = follower[j]
            moved[count] = j
            count += 1
        for i in range(count):
            j = moved[i]
            r = j // n
            where[j] = _hop(at, t, j, where[j], words[j, done[j]], left, onward, slot, link, packet)
            at += 1
            done[j] += 1
            b = length[j] - done[j]
            if b > 0:
                c = orbit[left[r, where[j]]] * degree + words[j, done[j]]
                follower[j] = -1
                if head[c, b] < 0:
                    head[c, b] = j
                else:
                    follower[tail[c, b]] = j
                tail[c, b] = j
                highest[c] = max(highest[c], b)
        t += 1
    return t


@njit(cache=True, nogil=True, small=100_000)
def list_by_queues(words, length, left, orbit, onward, classes, slot, link, packet):
    """Serve, in every slot and class of links, the word whose letters left wait in the shortest queues.

    A letter counts one over one more than the words that wait for its class now, so that classes about to run dry are
    fed first. Rows of `slot`, `link` and `packet` come in the order of time; returned are the slots. O(T R N C) for T
    slots and C classes.
    """
    n, degree = onward.shape
    count = length.size
    todo = np.zeros((count, classes), np.int32)
    coming = np.zeros(words.shape, np.int16)
    for j in range(count):
        x = 0
        for k in range(length[j]):
            coming[j, k] = orbit[left[j // n, x]] * degree + words[j, k]
            todo[j, coming[j, k]] += 1
            x = onward[x, words[j, k]]
    waiting, alive = np.empty(count, np.int64), 0
    for j in range(count):
        if length[j]:
            waiting[alive] = j
            alive += 1
    where, done = np.zeros(count, np.int64), np.zeros(count, np.int64)
    queue, worth = np.empty(classes, np.int64), np.empty(classes)
    best, pick = np.empty(classes), np.empty(classes, np.int64)
    at, t = 0, 0
    while at < slot.size:
        queue[:] = 0
        for i in range(alive):
            queue[coming[waiting[i], done[waiting[i]]]] += 1
        best[:], pick[:] = -1.0, -1
        for c in range(classes):
            worth[c] = 1.0 / (1.0 + queue[c])
        for i in range(alive):
            j = waiting[i]
            value = 0.0
            for c in range(classes):
                value += worth[c] * todo[j, c]
            c = coming[j, done[j]]
            if value > best[c]:
                best[c], pick[c] = value, j
        for c in range(classes):
            j = pick[c]
            if j < 0:
                continue
            where[j] = _hop(at, t, j, where[j], words[j, done[j]], left, onward, slot, link, packet)
            at += 1
            done[j] += 1
            todo[j, c] -= 1
        kept = 0
        for i in range(alive):
            if done[waiting[i]] < length[waiting[i]]:
                waiting[kept] = waiting[i]
                kept += 1
        alive = kept
        t += 1
    return t


Letters = npt.NDArray[np.int8]
Reals = npt.NDArray[np.float64]

_PRICE_PASSES = 150
_MOST_LETTERS = 60_000_000
_NOISE = 1e-6
_NEAR = 0.75
"""The share of the passes at prices near the best; in the others they may be three times as high."""


class Fluid(NamedTuple):
    """The exchange whose messages may be cut at will.

    `time`: its steps, which no exchange on the network beats. `price`, float64[degree]: what a letter costs, by
    generator: cheapest words are those that, cut at will, take the steps rounded up with the fewest letters; at least
    1.
    """

    time: float
    price: Reals


class ChoiceLimits(NamedTuple):
    """How hard words are chosen: of how many of each offset, and the most nodes of a tree search and its seconds."""

    words: int
    nodes: int
    seconds: float


class WordPool(NamedTuple):
    """Cheap words of every offset.

    * `letters`, int8[W, most]: a word in each row.
    * `length`, int64[W]: its letters.
    * `row`, int64[W]: origin times nodes plus offset; rows that differ in the order of letters of one class only are
      alike.
    * `kind`, int64[W]: equal numbers where row and load are equal.
    * `load`, int64[K, R*degree]: letters of each class of links, by kind.
    * `owner`, int64[K]: the row, by kind.
    * `place`, int64[K]: 0 for the cheapest kind of a row, then 1, 2, and so on; of equal ones any first.
    """

    letters: Letters
    length: Elements
    row: Elements
    kind: Elements
    load: Elements
    owner: Elements
    place: Elements


def fluid_optimum(network: Network) -> Fluid:
    """Return the optimum of the exchange with messages that are cut at will, on a Cayley network.

    A linear program of N*degree variables: a unit flows from the identity to every element, and the largest flow over
    the links of a generator is minimized. A mean over all translations makes any exchange such a flow, so that no
    exchange is faster. The prices are the dual of a second one, for the least flow in that time, rounded up.

    >>> import gossamer
    >>> round(fluid_optimum(gossamer.network("ring:6")).time, 6)
    4.5
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    n, degree = network.node_count, network.degree
    count = n * degree
    link = np.arange(count)
    source, generator = link // degree, link % degree
    ends = np.concatenate([network.link_target, source])
    signs = np.repeat([1.0, -1.0], count)
    balance: Any = sparse.csr_array((signs, (ends, np.concatenate([link, link]))), shape=(n, count + 1))
    wanted = np.ones(n)
    wanted[0] = 1 - n
    kinds = np.arange(degree)
    load: Any = sparse.csr_array(
        (
            np.concatenate([np.ones(count), -np.ones(degree)]),
            (np.concatenate([generator, kinds]), np.concatenate([link, np.full(degree, count)])),
        ),
        shape=(degree, count + 1),
    )
    room, bounds = np.zeros(degree), np.tile([0.0, np.inf], (count + 1, 1))
    cost = np.append(np.zeros(count), 1.0)
    solve: Any = linprog
    time = float(solve(cost, load, room, balance, wanted, bounds, "highs-ds").fun)
    bounds[-1] = ceil(time - 1e-6)
    few = solve(np.append(np.ones(count), 0.0), load, room, balance, wanted, bounds, "highs-ds")
    return Fluid(time, 1.0 - few.ineqlin.marginals)


def drawn_words(network: Network, symmetry: Symmetry, left: Elements, price: Reals, seed: int) -> WordPool | None:
    """Return words that are cheap at about the prices given, several of each offset; None where they would be too many.

    * `network`: a connected Cayley network.
    * `symmetry`: the translations under which words look the same.
    * `left`, int64[R, N]: ``r*x`` for each origin r and element x.
    * `price`, float64[degree]: of `fluid_optimum`.
    * `seed`: for the prices of each pass, which differ from these by chance.
    """
    onward, before = steps_of(network)
    n, degree = onward.shape
    most = 3 * int(network.breadth_first(0).distance.max()) + 8
    passes = min(_PRICE_PASSES, _MOST_LETTERS // (left.size * most))
    if passes < 20:
        return None
    rng = np.random.default_rng(seed)
    classes = len(left) * degree
    spread = 10.0 ** np.where(rng.random((passes, 1)) < _NEAR, rng.uniform(-4, -0.7, (passes, 1)), 0.3)
    paid = np.tile(price, len(left)) * (1 + spread * rng.random((passes, classes)))
    letters = np.zeros((len(left) * passes, n, most), np.int8)
    length = np.zeros((len(left) * passes, n), np.int64)
    load = np.zeros((len(left) * passes, n, classes), np.int16)
    for r, at in enumerate(left):
        part = slice(r * passes, (r + 1) * passes)
        draw_words(onward, before, at, symmetry.orbit, paid, _NOISE, seed + r, letters[part], length[part], load[part])
    own = np.repeat(np.arange(len(left)), passes)[:, None] * n + np.arange(n)[None, :]
    fits = np.flatnonzero(length.reshape(-1))  # neither the identity nor longer than there is room for
    row, counts = own.reshape(-1)[fits], load.reshape(-1, classes)[fits].astype(np.int64)
    mixed = counts @ rng.integers(1, 1 << 40, classes)
    by = np.lexsort((mixed, row))
    new = np.ones(by.size, bool)
    new[1:] = (row[by][1:] != row[by][:-1]) | (mixed[by][1:] != mixed[by][:-1])
    kind = np.empty(by.size, np.int64)
    kind[by] = np.cumsum(new) - 1
    first = by[new]
    owner, loads = row[first], counts[first]
    cost = np.round(loads @ np.tile(price, len(left)), 6)
    cheap = np.lexsort((rng.random(owner.size), cost, owner))  # of equal ones any
    begin = np.flatnonzero(np.diff(owner[cheap], prepend=-1))
    place = np.empty(cheap.size, np.int64)
    place[cheap] = np.arange(cheap.size) - np.repeat(begin, np.diff(np.append(begin, cheap.size)))
    words = letters.reshape(-1, most)[fits]
    return WordPool(words, length.reshape(-1)[fits], row, kind, loads, owner, place)


def chosen(pool: WordPool, most: int, effort: ChoiceLimits) -> Elements | None:
    """Return the kinds of words, one for each offset, with which no class of links has more letters than `most`.

    None if there are none among those offered, or none were found.
    """
    import scipy.sparse as sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    offered = np.flatnonzero(pool.place < effort.words)
    owner, load = pool.owner[offered], pool.load[offered]
    rows, place = np.unique(owner, return_inverse=True)
    count = owner.size
    one: Any = sparse.csr_array((np.ones(count), (place, np.arange(count))), shape=(rows.size, count))
    every: Any = sparse.csr_array(load.T.astype(float))
    found = milp(
        np.zeros(count),
        constraints=[LinearConstraint(one, 1, 1), LinearConstraint(every, -np.inf, most)],
        integrality=np.ones(count, np.int64),
        bounds=Bounds(0, 1),
        options={"time_limit": effort.seconds, "node_limit": effort.nodes},
    )
    return None if found.x is None else offered[found.x > 0.5]


def steps_of(network: Network) -> tuple[IntArray, IntArray]:
    """Return where each generator leads from each element of a Cayley network, and from where: int32[N, degree]."""
    n, degree = network.node_count, network.degree
    onward = np.ascontiguousarray(network.link_target.reshape(n, degree))
    before = np.empty_like(onward)
    for g in range(degree):
        before[onward[:, g], g] = np.arange(n)
    return onward, before


# Words for all offsets of a Cayley network that use its generators evenly.

_PASSES, _FREE_PASSES = 120, 240
_MOST_SIGNS = 10
_DRAWN, _TRIED = 24, 3
_WORK = 60_000_000
"""Letters looked at, over which fewer passes are made."""


class PacketWords(NamedTuple):
    """A word for each packet of an invariant schedule.

    * `symmetry`: the translations under which the schedule is invariant; its representatives are the origins r.
    * `left`, int64[R, N]: the node ``r*x`` for each origin and element.
    * `letters`, int8[R*N, most]: the generators on the way from r to ``r*y``, row ``r*N + y``, `length` of them.
    * `length`, int64[R*N]: letters of each word, 0 for the identity.
    * `load`, int64[R*degree]: letters of each class of links: orbit of the node that they leave times the degree plus
      the generator.
    * `least`: a largest load below which no words are, as far as is known.
    """

    symmetry: Symmetry
    left: Elements
    letters: npt.NDArray[np.int8]
    length: Elements
    load: Elements
    least: int

    @property
    def largest_load(self) -> int:
        """Slots that the busiest class of links needs."""
        return int(self.load.max(initial=0))


def even_words(case: Case, by: tuple[int, ...] | None = None) -> PacketWords:
    """Return a word for every offset, such that the largest load of a generator is as small as it was found.

    `case`: a total exchange on a connected Cayley network of N nodes and degree d. `by`: elements that generate the
    subgroup under which the words look the same. Default: the whole group.

    Returns: shortest words, and longer ones if shortest words load some generators more than others.

    Prices of generators rise with their loads; a pass finds the cheapest word of every offset, a breadth-first search,
    and takes those that lower the sum of high powers of the loads or leave it as it is. Passes end when the largest
    load is the sum of the distances over the degree, or what the prices prove to be needed.
    O(R N (d + diameter)) a pass.
    """
    network = case.network
    symmetry = Symmetry(network, by)
    search = network.breadth_first(0)
    n, degree = network.node_count, network.degree
    origins = symmetry.representatives
    left = _translated(symmetry)
    onward, before = steps_of(network)
    diameter = int(search.distance.max())
    letters = np.zeros((origins.size * n, 2 * diameter + 4), np.int8)
    length = np.zeros(origins.size * n, np.int64)
    load = np.zeros(origins.size * degree, np.int64)
    total = int(search.distance.sum(dtype=np.int64)) * origins.size
    goal = -(-total // load.size)
    mean = max(total / load.size, 1.0)
    passes = max(8, min(_PASSES, _WORK // (origins.size * n * (degree + diameter))))
    needed = goal
    for free, most in ((False, passes), (True, max(8, 2 * passes))):
        _, least = settle_words(
            onward, before, search.order, search.distance, left, symmetry.orbit, free, most, goal, mean,
            case.seed + 1, letters, length, load,
        )  # fmt: skip
        needed = max(goal, int(np.ceil(least - 1e-6)))
        if int(load.max()) <= needed:
            break
    return PacketWords(symmetry, left, letters, length, load, needed)


def chosen_words(
    case: Case, most: int, price: npt.NDArray[np.float64], by: tuple[int, ...] | None, effort: ChoiceLimits, draws: int
) -> Iterator[PacketWords]:
    """Yield words of which no class of links has more than so many letters, `draws` times, or none at all.

    * `case`: a total exchange on a connected Cayley network.
    * `most`: the most letters.
    * `price`, float64[degree]: prices of letters at which cheapest words are drawn (`fluid_optimum`).
    * `by`: elements that generate the subgroup under which the words look the same; None: the whole group.
    * `effort`: of the integer program that chooses the words.
    * `draws`: how often words of equal loads are drawn anew.

    At the prices of the fluid optimum all words that it uses are cheapest. So some cheap words of every offset are
    drawn, at prices that differ a little from pass to pass, and an integer program chooses one of each.
    """
    symmetry = Symmetry(case.network, by)
    left = _translated(symmetry)
    pool = drawn_words(case.network, symmetry, left, price, case.seed)
    kinds = None if pool is None else chosen(pool, most, effort)
    if pool is None or kinds is None:
        return
    rng = np.random.default_rng(case.seed)
    for _ in range(draws):
        yield _words_of(pool, kinds, symmetry, left, most, rng)


def _words_of(
    pool: WordPool, kinds: Elements, symmetry: Symmetry, left: Elements, most: int, rng: np.random.Generator
) -> PacketWords:
    """Return words of the kinds chosen, one at random of those that are alike."""
    mixed = rng.permutation(pool.kind.size)
    one = np.zeros(len(pool.owner), np.int64)
    one[pool.kind[mixed]] = mixed
    drawn, rows = one[kinds], pool.owner[kinds]
    letters = np.zeros((left.size, pool.letters.shape[1]), np.int8)
    length = np.zeros(left.size, np.int64)
    letters[rows], length[rows] = pool.letters[drawn], pool.length[drawn]
    return PacketWords(symmetry, left, letters, length, pool.load[kinds].sum(axis=0), most)


def _translated(symmetry: Symmetry) -> Elements:
    """Return ``r*x`` for each origin r and element x."""
    return symmetry.translate(symmetry.representatives[:, None], np.arange(symmetry.network.node_count)[None, :])


def subgroups_by_signs(network: Network) -> list[tuple[int, ...]]:
    """Return subgroups of index 2, and then of index 4, of the group of a connected Cayley network.

    Each by elements that generate it. A sign gives each generator +1 or -1 such that every closed walk has an even
    number of -1; a subgroup is what one sign, or two, take to +1. O(N degree^2) time.

    >>> import gossamer
    >>> [len(subgroups_by_signs(gossamer.network(spec))) for spec in ("star:4", "torus:4x4", "complete:5")]
    [1, 4, 0]
    """
    n, degree = network.node_count, network.degree
    onward = network.link_target.reshape(n, degree)
    search = network.breadth_first(0)
    parity = np.zeros((n, degree), bool)  # how often each generator stands in the word of a node, modulo 2
    for x in search.order[1:]:
        link = int(search.parent_link[x])
        parity[x] = parity[link // degree]
        parity[x, link % degree] ^= True
    rows = (parity[:, None, :] ^ parity[onward]) ^ np.eye(degree, dtype=bool)[None]
    equations = _independent(np.unique(rows.reshape(-1, degree), axis=0))
    every = ((sign >> np.arange(degree)) & 1 for sign in range(1, 1 << min(degree, _MOST_SIGNS)))
    signs = [bits for bits in every if not any((row & bits).sum() % 2 for row in equations)]
    one = [_kernel_generators(network, bits[None]) for bits in signs]
    two = [_kernel_generators(network, np.stack(pair)) for pair in itertools.combinations(signs, 2)]
    return [*one, *dict.fromkeys(two)]


def small_subgroups(network: Network, seed: int = 0) -> list[tuple[int, ...]]:
    """Return proper subgroups that few random elements generate, those of the smallest index first."""
    n = network.node_count
    rng = np.random.default_rng(seed)
    found: dict[bytes, tuple[int, tuple[int, ...]]] = {}
    for i in range(_DRAWN):
        by = tuple(int(x) for x in np.unique(rng.integers(1, n, 1 + i % 2))) if i else ()
        symmetry = Symmetry(network, by)
        if symmetry.orbit_count > 1:
            found.setdefault(symmetry.elements.tobytes(), (symmetry.orbit_count, by))
    return [by for _, by in sorted(found.values())][:_TRIED]


def _independent(rows: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.int64]]:
    """Return rows that span the same space modulo 2 and are independent."""
    basis: list[npt.NDArray[np.int64]] = []
    for row in rows.astype(np.int64):
        left = row.copy()
        for known in basis:
            if left[int(np.argmax(known))]:
                left ^= known
        if left.any():
            basis.append(left)
    return basis


def _kernel_generators(network: Network, signs: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return generators of the elements that all signs, int64[k, degree], take to +1 (Schreier)."""
    group = network.group
    assert group is not None
    generators = network.generators
    colors = [tuple(column) for column in signs.T.tolist()]
    chosen: dict[tuple[int, ...], int] = {(0,) * len(signs): 0}  # an element of each coset
    frontier = list(chosen)
    while frontier:
        following = []
        for color in frontier:
            for g, step in zip(generators.tolist(), colors, strict=True):
                after = tuple(a ^ b for a, b in zip(color, step, strict=True))
                if after not in chosen:
                    chosen[after] = int(group.compose(chosen[color], g))
                    following.append(after)
        frontier = following
    found: set[int] = set()
    for color, element in chosen.items():
        for g, step in zip(generators.tolist(), colors, strict=True):
            coset = chosen[tuple(a ^ b for a, b in zip(color, step, strict=True))]
            found.add(int(group.compose(group.compose(element, g), group.inverse(coset))))
    return tuple(sorted(found - {0}))


# Words over generators that commute: their letters may come in any order, and are listed as an open shop.


def generators_commute(network: Network) -> bool:
    """Return whether the generators of a Cayley network commute, and with them its whole group.

    >>> import gossamer
    >>> generators_commute(gossamer.network("torus:4x3")), generators_commute(gossamer.network("star:4"))
    (True, False)
    """
    onward = network.link_target.reshape(network.node_count, network.degree)
    twice = onward[onward[0]]  # of the identity, by two generators
    return bool((twice == twice.T).all())


def listed_as_open_shop(network: Network, words: PacketWords) -> tuple[IntArray, IntArray, IntArray]:
    """Return slot, link and packet of every hop, int32[S]: as many slots as the largest load or the longest word.

    `words` are the same at every node of a Cayley network whose generators commute.

    A letter is an edge between its word and its generator; edges of one color are served in one slot. By Koenig's
    theorem as many colors as the largest degree are enough: the most letters of a word or of a generator, so that no
    words over commuting generators need more slots than these. O(S log T) for S letters, besides the matchings.
    """
    degree = network.degree
    onward = network.link_target.reshape(network.node_count, degree)
    row: Elements = np.repeat(np.arange(words.length.size), words.length)
    place = np.arange(row.size) - np.repeat(np.cumsum(words.length) - words.length, words.length)
    letter = words.letters[row, place].astype(np.int64)
    color = color_edges(row, letter)
    order = np.lexsort((color, row))
    slot, letter = color[order], letter[order]
    at = np.zeros(words.length.size, np.int64)  # the element that each word has come to
    link = np.empty(row.size, np.int64)
    for k in range(int(words.length.max(initial=0))):
        now = np.flatnonzero(place == k)
        link[now] = at[row[now]] * degree + letter[now]
        at[row[now]] = onward[at[row[now]], letter[now]]
    timely = np.argsort(slot, kind="stable")
    return slot[timely].astype(np.int32), link[timely].astype(np.int32), (row[timely] - 1).astype(np.int32)


_MOST_NODES = 50_000
_TRIES = 40
_SUBGROUPS = 6
_MOST_COSETS = 20_000
_MOST_CHOSEN = 12_000
"""Nodes times degree up to which an integer program chooses the words."""
_EFFORTS = ChoiceLimits(12, 400, 60.0), ChoiceLimits(48, 3_000, 60.0)
_DRAWS, _ORDERS = 6, 10
_MOST_LISTED = 1_000_000_000
"""Slots times words times classes of links up to which words are listed by the queues that they feed, too."""
_HOP_SECONDS = 4e-6  # with its share of the words that are tried


def listed(case: Case, words: PacketWords, tries: int = _TRIES) -> Schedule:
    """Return the schedule in which every class of links serves the word with most letters left, slot by slot.

    Where that takes more slots than the largest load, also the one in which letters count more whose queues are short;
    then an open shop, which takes no more (`open_shop`), where generators commute and words are the same at every node;
    else some in which words with as many letters left are served in random orders. The shortest is returned.

    Parameters
    ----------
    case : Case
        The total exchange of the words.
    words : PacketWords
        Of `even_words`.
    tries : int
        Orders of equal words that are tried until the slots are the largest load.

    Returns
    -------
    Schedule
        Invariant under the translations of the words.

    Notes
    -----
    A job shop of unit operations: a word is a job, a class of links a machine. O(S + T degree) for S letters and T
    slots, a try; O(T R N C) by queues, for C classes.
    """
    n, degree = case.network.node_count, case.network.degree
    onward = np.ascontiguousarray(case.network.link_target.reshape(n, degree))
    rng = np.random.default_rng(case.seed)
    best: tuple[int, ...] = ()
    hops = int(words.load.sum())
    by_queues = words.largest_load * words.length.size * words.load.size <= _MOST_LISTED
    for i in range(tries):
        columns = tuple(np.empty(hops, np.int32) for _ in range(3))
        if i == 1 and by_queues:
            slots = list_by_queues(
                words.letters, words.length, words.left, words.symmetry.orbit, onward, words.load.size, *columns
            )
        else:
            order = rng.permutation(words.length.size) if i else np.arange(words.length.size)
            slots = list_hops(
                words.letters, words.length, words.left, words.symmetry.orbit, onward, degree, order, *columns
            )
        if not best or slots < best[0]:
            best, kept = (slots,), columns
        if slots <= words.largest_load:
            break
        if i == 1 and words.symmetry.orbit_count == 1 and generators_commute(case.network):
            kept = listed_as_open_shop(case.network, words)
            break
    return Schedule.of(case, *kept, symmetry=words.symmetry)


def even_words_exchange(case: Case) -> Schedule:
    """Build the exchange on a Cayley network whose words use all generators evenly.

    All nodes do the same, moved to them, so it is enough to give every other node a word: the kinds of links
    (generators) to follow from node 0. In each slot a generator serves one word. The exchange takes as long as the
    generator that is used most, so words are chosen that use all generators evenly, and then each slot moves the words
    with most letters left.

    Parameters
    ----------
    case : Case
        A total exchange with all ports on a connected Cayley network, its group abelian or not.

    Returns
    -------
    Schedule
        Invariant under the whole group, or under a subgroup of index 2 or 4 where that is faster.

    Notes
    -----
    Every element gets a word in the generators, and the words together use each generator as evenly as can be; then
    hops are listed (`listed`). No fewer slots are possible than the sum of distances over the degree. Words that are
    the same at every node may miss that by their signs alone: on the pancake network of 6 symbols the three generators
    that are odd permutations must have an even number of letters, and 3 x 659 is odd. Words that are the same at every
    even arrangement, and at every odd one, need not.

    References
    ----------
    Gossamer; invariant exchanges are of Dimakopoulos 1996, section 4.4.

    Examples
    --------
    >>> import gossamer
    >>> even_words_exchange(Case(gossamer.network("star:4"), TotalExchange())).completion_time
    Fraction(21, 1)
    """
    # Step 1: choose a word for every element so that all generators are used evenly
    words = case.once(even_words, case)
    # Step 2: list scheduling: in each slot a generator moves the word with most letters left
    best, least = listed(case, words), words.least
    if best.completion_time <= least:
        return best
    network = case.network
    made: Iterator[PacketWords]
    if network.node_count * network.degree > _MOST_CHOSEN:
        made = (even_words(case, by) for by in _subgroups(network, case.seed))
    else:
        fluid = fluid_optimum(network)
        least = ceil(fluid.time - 1e-6)
        made = chain.from_iterable(
            chosen_words(case, least, fluid.price, by, effort, _DRAWS)
            for effort in _EFFORTS
            for by in (None, *_subgroups(network, case.seed))
        )
    # Step 3: if the bound is missed, choose other words, also some that only half of the nodes share
    while best.completion_time > least and (other := next(made, None)) is not None:
        found = listed(case, other, _ORDERS)
        if found.completion_time < best.completion_time:
            best = found
    return best


def _subgroups(network: Network, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield elements that generate subgroups under which words may look the same, large ones first."""
    n = network.node_count
    if 2 * n > _MOST_COSETS:
        return
    signs = subgroups_by_signs(network)[:_SUBGROUPS]
    yield from signs
    if n * network.degree <= _MOST_CHOSEN:
        few = (by for by in small_subgroups(network, seed) if by not in signs)
        yield from (by for by in few if Symmetry(network, by).orbit_count * n * network.degree <= _MOST_CHOSEN)


def _least(network: Network) -> int:
    """Return the sum of the distances from a node over the degree, rounded up."""
    return -(-int(network.distances(0).sum(dtype=np.int64)) // max(network.degree, 1))


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network = case.network
    if network.node_count > _MOST_NODES:
        return Refusal(f"needs at most {_MOST_NODES:,} nodes")
    refusal = first_refusal(refuse_ports(case.rules), refuse_irregular(network))
    if refusal is not None:
        return refusal
    if network.node_count < 2 or network.terminal_count < network.node_count:
        return Refusal("needs two terminals, and no switches")
    least = Fraction(case.once(_least, network))
    return Offer(
        lambda: even_words_exchange(case), least=least, orbit=network.node_count, hop_bytes=54, hop_seconds=_HOP_SECONDS
    )


EVEN_WORDS = Algorithm(
    name="even-words",
    tasks=(TotalExchange,),
    propose=_propose,
    networks="Cayley networks, abelian or not",
    source="gossamer",
    summary="words that use all generators evenly, then a job shop of unit hops, longest words first",
)
