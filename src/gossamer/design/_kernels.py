"""Compiled searches: distances from one node of a Cayley network, and sets of generators with small sums of them."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["best_sets", "distance_sums"]


@njit(cache=True, nogil=True)
def _reach(right, chosen, count, onward, stop, queue, mark, stamp):
    """Return the sum of the distances from the identity and the largest; -1 where it is over `stop` or not all reached.

    `right` int32[P, N] has ``x*p`` for each element of the pool, `chosen` the rows used. Ends as soon as the sum must
    be over `stop` even if every node from now on has `onward` links to new ones.
    """
    n = right.shape[1]
    queue[0] = 0
    mark[0] = stamp
    start, end, tail = 0, 1, 1
    total, far = 0, 1
    while tail < n:
        for i in range(start, end):
            u = queue[i]
            for k in range(count):
                v = right[chosen[k], u]
                if mark[v] != stamp:
                    mark[v] = stamp
                    queue[tail] = v
                    tail += 1
        if tail == end:
            return -1, 0
        total += far * (tail - end)
        start, end = end, tail
        far += 1
        left, room, least, layer = n - tail, (end - start) * onward, total, far
        while left > 0 and room > 0:
            fill = min(room, left)
            least += fill * layer
            left -= fill
            room *= onward
            layer += 1
        if left > 0 or least > stop:
            return -1, 0
    return total, far - 1


@njit(cache=True, nogil=True)
def _draw(pool, inverse, degree, chosen, count, own, other):
    """Fill `chosen` up to `degree` with elements and their inverses, at random; return how many there are."""
    tries = 0
    while count < degree and tries < 1000:
        tries += 1
        p = np.random.randint(pool)
        q = inverse[p]
        known = False
        for k in range(count):
            if chosen[k] == p or (other and chosen[k] == q):
                known = True
        if known:
            continue
        if not other or q == p:
            chosen[count] = p
            count += 1
        elif count + 2 <= degree:
            chosen[count], chosen[count + 1] = p, q
            count += 2
    return count


@njit(cache=True, nogil=True)
def best_sets(right, inverse, degree, two_way, weight_sum, weight_far, begin, looks, patience, kept, seed):
    """Search sets of `degree` elements of a pool by random starts and exchanges of one element.

    `inverse` int32[P] is the row of the inverse in the pool. The price of a set is `weight_sum` times the sum of the
    distances plus `weight_far` times the largest. `begin` int32[B, degree] are sets to start from first. A start ends
    after `patience` looks that bring nothing. Return the best `kept` sets, int32[kept, degree], their prices, sums and
    diameters, and the looks made.
    """
    np.random.seed(seed)
    pool, n = right.shape
    queue = np.empty(n, np.int32)
    mark = np.zeros(n, np.int32)
    stamp = 0
    onward = degree - 1 if two_way else degree
    sets = np.full((kept, degree), -1, np.int32)
    price = np.full(kept, np.inf)
    sums = np.zeros(kept, np.int64)
    wide = np.zeros(kept, np.int64)
    here = np.empty(degree, np.int64)
    trial = np.empty(degree, np.int64)
    made, starts = 0, 0
    while made < looks:
        if starts < begin.shape[0]:
            for k in range(degree):
                here[k] = begin[starts, k]
        elif _draw(pool, inverse, degree, here, 0, 0, two_way) < degree:
            made += 1
            starts += 1
            if starts > begin.shape[0] + 50 and price[0] == np.inf:
                break
            continue
        starts += 1
        stamp += 1
        made += 1
        total, far = _reach(right, here, degree, onward, 1 << 60, queue, mark, stamp)
        if total < 0:
            continue
        current = weight_sum * total + weight_far * far
        idle = 0
        while True:
            # keep what is among the best
            worst = 0
            known = False
            for k in range(kept):
                if price[k] > price[worst]:
                    worst = k
                if price[k] == current and sums[k] == total:
                    known = True
            if current < price[worst] and not known:
                for k in range(degree):
                    sets[worst, k] = here[k]
                price[worst], sums[worst], wide[worst] = current, total, far
            better = False
            while idle < patience and made < looks:
                out = np.random.randint(degree)
                back = inverse[here[out]] if two_way else here[out]
                count = 0
                for k in range(degree):
                    if here[k] != here[out] and here[k] != back:
                        trial[count] = here[k]
                        count += 1
                if _draw(pool, inverse, degree, trial, count, 0, two_way) < degree:
                    idle += 1
                    made += 1
                    continue
                stamp += 1
                made += 1
                idle += 1
                stop = int(current / weight_sum) if weight_sum > 0 else 1 << 60
                t, f = _reach(right, trial, degree, onward, stop, queue, mark, stamp)
                if t < 0:
                    continue
                value = weight_sum * t + weight_far * f
                if value <= current:
                    better = value < current
                    current, total, far = value, t, f
                    for k in range(degree):
                        here[k] = trial[k]
                    if better:
                        idle = 0
                        break
            if not better:
                break
    return sets, price, sums, wide, made


@njit(cache=True, nogil=True)
def distance_sums(first, target, sources, sums, wide, counts):
    """Fill the sum of the distances from each source and the largest, -1 where not all are reached.

    Links of node u are ``first[u]:first[u + 1]``. `counts` int64[N] is raised by how many pairs have each distance.
    """
    n = first.size - 1
    distance = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    for i in range(sources.size):
        distance[:] = -1
        distance[sources[i]] = 0
        queue[0] = sources[i]
        head, tail, total = 0, 1, 0
        while head < tail:
            u = queue[head]
            head += 1
            for e in range(first[u], first[u + 1]):
                v = target[e]
                if distance[v] < 0:
                    distance[v] = distance[u] + 1
                    total += distance[v]
                    queue[tail] = v
                    tail += 1
        if tail < n:
            sums[i], wide[i] = -1, -1
            continue
        sums[i], wide[i] = total, distance[queue[tail - 1]]
        for k in range(tail):
            counts[distance[queue[k]]] += 1
