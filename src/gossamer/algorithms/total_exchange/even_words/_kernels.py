"""Compiled kernels: words that use all generators evenly, and a job shop of unit hops."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit

__all__ = ["draw_words", "list_by_queues", "list_hops", "settle_words"]


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
