"""Compiled kernels that write routes; plain arrays in and out."""

from __future__ import annotations

from gossamer.jit import njit

KEEP = 255


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def dimension_order(
    sides, strides, wraps, link_of, coordinate, displacement, order, dateline, kind, begin, hops, end, route
):  # fmt: skip
    """Write the steps of dimension-ordered paths to ``route[begin[m] + hops[m]:]``, and a last step ``end[m]``.

    `coordinate` int64[M, d] are where the paths begin and become where they end; `displacement` int[M, d] signed hops;
    `order` int[M] 0 for dimension 0 first, 1 for the last first. `dateline` is 0 none, 1 plain, 2 balanced; the
    classes are `kind` (anywhere), ``kind + 1`` (before the dateline) and ``kind + 2`` (behind it). `hops` int[M] grow.
    """
    d = sides.size
    for m in range(coordinate.shape[0]):
        at = begin[m] + hops[m]
        node = 0
        for i in range(d):
            node += coordinate[m, i] * strides[i]
        for k in range(d):
            i = k if order[m] == 0 else d - 1 - k
            left = displacement[m, i]
            if left == 0:
                continue
            x, side, stride = coordinate[m, i], sides[i], strides[i]
            down = 1 if left < 0 else 0
            count = -left if left < 0 else left
            ring = wraps[i] != 0 and dateline != 0
            crosses = x + left >= side or x + left < 0
            behind = False
            for h in range(count):
                closing = x == (0 if down else side - 1)
                behind |= closing
                step = kind
                if ring:
                    if crosses:
                        step = kind + 2 if behind else kind + 1
                    elif dateline == 1:
                        step = kind + 1
                    elif h > 0:
                        step = KEEP
                route[at] = 256 * link_of[(node * d + i) * 2 + down] + step
                at += 1
                to = (side - 1 if closing else x - 1) if down else (0 if closing else x + 1)
                node += (to - x) * stride
                x = to
            coordinate[m, i] = x
            hops[m] += count
        route[at] = end[m]


@njit(cache=True, nogil=True, _nrt=False)
def copy_paths(first, step, pair, kind, begin, hops, end, route):
    """Copy the steps of table entries ``pair[m]`` behind ``hops[m]`` steps that are there, and a last step ``end[m]``.

    `kind` is added to their classes.
    """
    for m in range(pair.size):
        at = begin[m] + hops[m]
        for k in range(first[pair[m]], first[pair[m] + 1]):
            route[at] = step[k] + kind
            at += 1
        hops[m] = at - begin[m]
        route[at] = end[m]


@njit(cache=True, nogil=True, _nrt=False)
def distances(first_in, entering, source, rank, target, up_allowed, far, queue):
    """Fill the links of the shortest `rank`-legal way from each router to `target`; int32[R, 2], -1 for none.

    ``far[r, 0]``: by down links only; ``far[r, 1]``: by up links and then down links. A link goes up if the rank of its
    end is lower. With `up_allowed` false ranks do not count and both columns are plain distances.
    """
    far[:, :] = -1
    far[target, 0] = 0
    far[target, 1] = 0
    head, tail = 0, 0
    queue[tail] = 2 * target
    tail += 1
    queue[tail] = 2 * target + 1
    tail += 1
    while head < tail:
        r, state = queue[head] >> 1, queue[head] & 1
        head += 1
        for x in range(first_in[r], first_in[r + 1]):
            u = source[entering[x]]
            up = rank[r] < rank[u]
            if not up_allowed:
                if far[u, state] < 0:
                    far[u, state] = far[r, state] + 1
                    queue[tail] = 2 * u + state
                    tail += 1
                continue
            if up:  # before a way that may still go up
                if state == 1 and far[u, 1] < 0:
                    far[u, 1] = far[r, 1] + 1
                    queue[tail] = 2 * u + 1
                    tail += 1
            elif state == 0:
                for to in range(2):
                    if far[u, to] < 0:
                        far[u, to] = far[r, 0] + 1
                        queue[tail] = 2 * u + to
                        tail += 1


@njit(cache=True, nogil=True, _nrt=False)
def follow(first_out, leaving, target, rank, up_allowed, far, to, load, length, fill, step, at):
    """Walk shortest legal ways from every router to router `to`, over the least loaded links; count or write them.

    ``length[r]`` becomes the links of the way from r; with `fill` its channels are written from ``at[r]`` on.
    """
    for r in range(far.shape[0]):
        if far[r, 1] < 0 or r == to:
            length[r] = 0
            continue
        u, state, count = r, 1, 0
        while u != to:
            best = -1
            for x in range(first_out[u], first_out[u + 1]):
                c = leaving[x]
                v = target[c]
                following = state
                if up_allowed and rank[v] > rank[u]:
                    following = 0
                elif up_allowed and state == 0:
                    continue
                if far[v, following] < 0 or far[v, following] != far[u, state] - 1:
                    continue
                if best < 0 or load[c] < load[best]:
                    best = c
            v = target[best]
            if up_allowed and rank[v] > rank[u]:
                state = 0
            if fill:
                step[at[r] + count] = best << 8
            load[best] += 1
            count += 1
            u = v
        length[r] = count


@njit(cache=True, nogil=True, _nrt=False)
def layer(first, step, arcs, count, seen, stack, layer_of, stamp, layers):
    """Put each path into the first layer in which it closes no circle of channels; return the layers, -1 if too few.

    `arcs` int32[layers, C, most] and `count` int32[layers, C] are scratch, the channels that follow each; `seen`
    int32[C], `stack` int32[...] likewise; ``layer_of[path]`` is filled.
    """
    used = 0
    mark = 0
    for path in range(first.size - 1):
        placed = False
        for k in range(layers):
            new = 0
            closes = False
            for x in range(first[path], first[path + 1] - 1):
                a, b = step[x] >> 8, step[x + 1] >> 8
                there = False
                for y in range(count[k, a]):
                    if arcs[k, a, y] == b:
                        there = True
                        break
                if there:
                    continue
                # a circle if b leads to a
                mark += 1
                top = 0
                stack[top] = b
                top += 1
                seen[b] = mark
                while top > 0 and not closes:
                    top -= 1
                    c = stack[top]
                    if c == a:
                        closes = True
                        break
                    for y in range(count[k, c]):
                        e = arcs[k, c, y]
                        if seen[e] != mark:
                            seen[e] = mark
                            stack[top] = e
                            top += 1
                if closes:
                    break
                arcs[k, a, count[k, a]] = b
                count[k, a] += 1
                stamp[new] = a
                new += 1
            if not closes:
                layer_of[path] = k
                used = max(used, k + 1)
                placed = True
                break
            for y in range(new):
                count[k, stamp[y]] -= 1
        if not placed:
            return -1
    return used
