"""Compiled searches: distances from one node of a Cayley network, and sets of generators with small sums of them."""

from __future__ import annotations

import numpy as np

from gossamer.jit import njit


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
def _draw(pool, inverse, degree, chosen, count, other):
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
def best_sets(right, inverse, degree, two_way, weight_sum, weight_far, held, begin, looks, patience, kept, seed):
    """Search sets of `degree` elements of a pool by random starts and exchanges of one element.

    `inverse` int32[P] is the row of the inverse in the pool. The price of a set is `weight_sum` times the sum of the
    distances plus `weight_far` times the largest. `held` int32[H] are in every set, closed under inverses; `begin`
    int32[B, degree] are sets to start from first, which begin with these. A start ends after `patience` looks that
    bring nothing. Return the best `kept` sets, int32[kept, degree], their prices, sums and diameters, and the looks.
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
        else:
            for k in range(held.size):
                here[k] = held[k]
        if starts >= begin.shape[0] and _draw(pool, inverse, degree, here, held.size, two_way) < degree:
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
                if held.size == degree:
                    made = looks
                    break
                out = held.size + np.random.randint(degree - held.size)
                back = inverse[here[out]] if two_way else here[out]
                count = 0
                for k in range(degree):
                    if here[k] != here[out] and here[k] != back:
                        trial[count] = here[k]
                        count += 1
                if _draw(pool, inverse, degree, trial, count, two_way) < degree:
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


@njit(cache=True, nogil=True, small=100_000)
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


@njit(cache=True, nogil=True)
def _stretch(u, first, near, at, place, where):
    """Return the length of all cables of a node if it stood at `where`."""
    total = 0.0
    for e in range(first[u], first[u + 1]):
        p = place[near[e]]
        for d in range(at.shape[1]):
            total += abs(at[p, d] - at[where, d])
    return total


@njit(cache=True, nogil=True)
def arrange(first, near, at, place, swaps, seed):
    """Exchange the places of nodes where that makes cables shorter, by simulated annealing; the best stays in `place`.

    Cables of node u lead to ``near[first[u]:first[u + 1]]``; `at` float64[N, 3]; `place` int64[N] of each node.
    """
    np.random.seed(seed)
    n = place.size
    total = 0.0
    for u in range(n):
        total += _stretch(u, first, near, at, place, place[u])
    heat = total / max(near.size, 1)
    best, kept = total, place.copy()
    for i in range(swaps):
        u, v = np.random.randint(n), np.random.randint(n)
        if u == v:
            continue
        before = _stretch(u, first, near, at, place, place[u]) + _stretch(v, first, near, at, place, place[v])
        place[u], place[v] = place[v], place[u]
        after = _stretch(u, first, near, at, place, place[u]) + _stretch(v, first, near, at, place, place[v])
        warm = heat * 2.0 * (1.0 - i / swaps) ** 3
        if after <= before or np.random.random() < np.exp((before - after) / max(warm, 1e-12)):
            total += 2.0 * (after - before)
            if total < best - 1e-9:
                best = total
                for w in range(n):
                    kept[w] = place[w]
        else:
            place[u], place[v] = place[v], place[u]
    for w in range(n):
        place[w] = kept[w]


@njit(cache=True, nogil=True)
def _spread(target, sources, stop, distance, queue):
    """Return the sum of the distances from some sources over `target` int32[N, d], -1 if not all are reached."""
    n, degree = target.shape
    total = 0
    for i in range(sources.size):
        distance[:] = -1
        distance[sources[i]] = 0
        queue[0] = sources[i]
        head, tail = 0, 1
        while head < tail and tail < n:
            u = queue[head]
            head += 1
            far = distance[u] + 1
            for k in range(degree):
                v = target[u, k]
                if v >= 0 and distance[v] < 0:
                    distance[v] = far
                    total += far
                    queue[tail] = v
                    tail += 1
        if tail < n or total > stop:
            return -1
    return total


@njit(cache=True, nogil=True)
def _copy(rows, others):
    """Write rows of numbers to others; a loop is compiled much sooner than the compiler's own copies."""
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            others[i, k] = rows[i, k]


@njit(cache=True, nogil=True)
def joined_cubes(side, product, inverse, joins, looks, heat, seed):
    """Anneal the elements of the switches of cubes, int64[3, side**2]; return the sum of the distances of one cube.

    `product` int32[Q, Q] and `inverse` int32[Q] are those of the group of cubes; `joins` holds the best at the end.
    """
    np.random.seed(seed)
    cubes, cube = inverse.size, side * side * side
    n = cubes * cube
    target = np.empty((n, 6), np.int32)
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    stride = np.array([side * side, side, 1])
    for u in range(n):
        place = u % cube
        for d in range(3):
            x = place // stride[d] % side
            target[u, 2 * d] = u + stride[d] if x < side - 1 else -1
            target[u, 2 * d + 1] = u - stride[d] if x > 0 else -1
    for d in range(3):
        for index in range(side * side):
            _join(target, d, index, joins[d, index], side, product, inverse, stride)
    sources = np.arange(cube)
    current = _spread(target, sources, 1 << 60, distance, queue)
    if current < 0:
        current = 1 << 40
    best, kept = current, joins.copy()
    for i in range(looks):
        d, index = np.random.randint(3), np.random.randint(side * side)
        old = joins[d, index]
        joins[d, index] = np.random.randint(cubes)
        if joins[d, index] == old:
            continue
        _join(target, d, index, joins[d, index], side, product, inverse, stride)
        warm = heat * (1.0 - i / looks)
        room = current - warm * np.log(max(np.random.random(), 1e-12))
        found = _spread(target, sources, int(room), distance, queue)
        if found < 0:
            joins[d, index] = old
            _join(target, d, index, old, side, product, inverse, stride)
            continue
        current = found
        if found < best:
            best = found
            _copy(joins, kept)
    _copy(kept, joins)
    return best


@njit(cache=True, nogil=True)
def _join(target, d, index, element, side, product, inverse, stride):
    """Set one switch: upper faces of all cubes at an index of a dimension to lower faces of their products."""
    cube = side * side * side
    a, b = index // side, index % side
    others = np.empty(2, np.int64)
    k = 0
    for e in range(3):
        if e != d:
            others[k] = stride[e]
            k += 1
    base = a * others[0] + b * others[1]
    for q in range(inverse.size):
        up = q * cube + base + (side - 1) * stride[d]
        down = product[q, element] * cube + base
        target[up, 2 * d] = down
        target[down, 2 * d + 1] = up


@njit(cache=True, nogil=True)
def joined_ports(target, begin, sources, looks, seed):
    """Exchange ends of two joins where that makes the distances from some sources shorter; return their sum.

    `target` int32[N, d] has the fixed links of a node in its first columns and, from ``begin[u]`` on, the joins.
    """
    np.random.seed(seed)
    n, degree = target.shape
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    current = _spread(target, sources, 1 << 60, distance, queue)
    if current < 0:
        current = 1 << 40
    for _ in range(looks):
        a, c = np.random.randint(n), np.random.randint(n)
        if begin[a] >= degree or begin[c] >= degree:
            continue
        i = begin[a] + np.random.randint(degree - begin[a])
        k = begin[c] + np.random.randint(degree - begin[c])
        b, d = target[a, i], target[c, k]
        if b < 0 or d < 0 or (a - c) * (a - d) * (b - c) * (b - d) == 0:
            continue
        fits = True
        for e in range(degree):
            if target[a, e] == c or target[b, e] == d:
                fits = False
        if not fits:
            continue
        j = begin[b]
        while target[b, j] != a:
            j += 1
        m = begin[d]
        while target[d, m] != c:
            m += 1
        target[a, i], target[c, k], target[b, j], target[d, m] = c, a, d, b
        found = _spread(target, sources, current, distance, queue)
        if found < 0:
            target[a, i], target[c, k], target[b, j], target[d, m] = b, d, a, c
        else:
            current = found
    return current


@njit(cache=True, nogil=True)
def single_ways(first, target, sources):
    """Return how many nodes have exactly one shortest path from each source, all together."""
    n = first.size - 1
    distance = np.empty(n, np.int64)
    ways = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    alone = 0
    for i in range(sources.size):
        distance[:] = -1
        ways[:] = 0
        distance[sources[i]], ways[sources[i]] = 0, 1
        queue[0] = sources[i]
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for e in range(first[u], first[u + 1]):
                v = target[e]
                if distance[v] < 0:
                    distance[v] = distance[u] + 1
                    queue[tail] = v
                    tail += 1
                if distance[v] == distance[u] + 1:
                    ways[v] = min(ways[v] + ways[u], 2)
        for k in range(1, tail):
            if ways[queue[k]] == 1:
                alone += 1
    return alone
