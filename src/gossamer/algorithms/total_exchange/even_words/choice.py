"""Words for all offsets by an integer program: one of several words each, no class of links above the fluid optimum."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray, Network
from gossamer.schedules import Symmetry

__all__ = [
    "Effort",
    "Fluid",
    "Pool",
    "chosen",
    "draw_words",
    "drawn_words",
    "fluid_optimum",
    "list_by_queues",
    "list_hops",
    "settle_words",
]


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

_PASSES = 150
_MOST_LETTERS = 60_000_000
_NOISE = 1e-6
_NEAR = 0.75
"""The share of the passes at prices near the best; in the others they may be three times as high."""


class Fluid(NamedTuple):
    """The exchange whose messages may be cut at will.

    Attributes
    ----------
    time : float
        Its steps, which no exchange on the network beats.
    price : float64[degree]
        What a letter costs, by generator: cheapest words are those that, cut at will, take the steps rounded up with
        the fewest letters; at least 1.
    """

    time: float
    price: Reals


class Effort(NamedTuple):
    """How hard words are chosen: of how many of each offset, and the most nodes of a tree search and its seconds."""

    words: int
    nodes: int
    seconds: float


class Pool(NamedTuple):
    """Cheap words of every offset.

    Attributes
    ----------
    letters : int8[W, most]
        A word in each row.
    length : int64[W]
        Its letters.
    row : int64[W]
        Origin times nodes plus offset; rows that differ in the order of letters of one class only are alike.
    kind : int64[W]
        Equal numbers where row and load are equal.
    load : int64[K, R*degree]
        Letters of each class of links, by kind.
    owner : int64[K]
        The row, by kind.
    place : int64[K]
        0 for the cheapest kind of a row, then 1, 2, and so on; of equal ones any first.
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

    Notes
    -----
    A linear program of N*degree variables: a unit flows from the identity to every element, and the largest flow over
    the links of a generator is minimized. A mean over all translations makes any exchange such a flow, so that no
    exchange is faster. The prices are the dual of a second one, for the least flow in that time, rounded up.

    Examples
    --------
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


def drawn_words(network: Network, symmetry: Symmetry, left: Elements, price: Reals, seed: int) -> Pool | None:
    """Return words that are cheap at about the prices given, several of each offset; None where they would be too many.

    Parameters
    ----------
    network : Network
        A connected Cayley network.
    symmetry : Symmetry
        The translations under which words look the same.
    left : int64[R, N]
        ``r*x`` for each origin r and element x.
    price : float64[degree]
        Of `fluid_optimum`.
    seed : int
        For the prices of each pass, which differ from these by chance.
    """
    onward, before = steps_of(network)
    n, degree = onward.shape
    most = 3 * int(network.breadth_first(0).distance.max()) + 8
    passes = min(_PASSES, _MOST_LETTERS // (left.size * most))
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
    return Pool(words, length.reshape(-1)[fits], row, kind, loads, owner, place)


def chosen(pool: Pool, most: int, effort: Effort) -> Elements | None:
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
