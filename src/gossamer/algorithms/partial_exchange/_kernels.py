"""Compiled kernels of the partial exchanges."""

from __future__ import annotations

from gossamer.jit import njit

__all__ = ["join", "one_turn", "walk_flow"]


@njit(cache=True, nogil=True, small=100_000)
def one_turn(row, column, to_row, to_column, rows_first, row_stride, column_stride, links, first, link, later):
    """Write the links of paths with one turn, along the row first where `rows_first` says so.

    `row`, `column`, `to_row`, `to_column` int64[P] are the ends; `links` int32[N, 2, 2] lead along the columns and the
    rows, up and down; `later` bool[H] is written with whether a hop comes after the turn.
    """
    at = 0
    for p in range(row.size):
        first[p] = at
        i, j = row[p], column[p]
        for leg in range(2):
            along_row = rows_first[p] == (leg == 0)
            while (j != to_column[p]) if along_row else (i != to_row[p]):
                node = i * row_stride + j * column_stride
                later[at] = leg == 1
                if along_row:
                    up = to_column[p] > j
                    link[at] = links[node, 1, 0 if up else 1]
                    j += 1 if up else -1
                else:
                    up = to_row[p] > i
                    link[at] = links[node, 0, 0 if up else 1]
                    i += 1 if up else -1
                at += 1
    first[row.size] = at


@njit(cache=True, nogil=True, inline="always")
def _distance(x, v, sides, wraps, strides):
    total = 0
    for c in range(sides.size):
        apart = abs(x // strides[c] % sides[c] - v // strides[c] % sides[c])
        total += min(apart, sides[c] - apart) if wraps[c] else apart
    return total


@njit(cache=True, nogil=True, small=100_000)
def walk_flow(
    origin, target, visit, flow, room, first_link, link_target, sides, wraps, strides, begin, end, stop, path
):  # fmt: skip
    """Let every packet of `visit` follow a flow until it stops; it uses up a unit of each link that it crosses.

    A packet goes on while the flow leads it nearer to its target, and stops there; else it stops where `room` int64[N]
    is left. Flow and room must balance: what flows into a node or begins there leaves it or has room. `stop` int32[P]
    and the paths are written; `path` needs as many entries as the flow has units.
    """
    used = 0
    for p in visit:
        x, v = origin[p], target[p]
        begin[p] = used
        left = _distance(x, v, sides, wraps, strides)
        while left > 0:
            fullest, nearer = -1, -1
            for e in range(first_link[x], first_link[x + 1]):
                if flow[e] > 0:
                    if fullest < 0 or flow[e] > flow[fullest]:
                        fullest = e
                    if (nearer < 0 or flow[e] > flow[nearer]) and _distance(
                        link_target[e], v, sides, wraps, strides
                    ) < left:
                        nearer = e
            if nearer < 0 and room[x] > 0:
                room[x] -= 1
                break
            e = nearer if nearer >= 0 else fullest
            flow[e] -= 1
            path[used] = e
            used += 1
            x = link_target[e]
            left = _distance(x, v, sides, wraps, strides)
        stop[p] = x
        end[p] = used


@njit(cache=True, nogil=True, small=100_000)
def join(begin, end, path, second_first, second_path, first, joined):
    """Write each packet's first path and then its second, from ``first[p]`` on."""
    for p in range(begin.size):
        at = first[p]
        for h in range(begin[p], end[p]):
            joined[at] = path[h]
            at += 1
        for h in range(second_first[p], second_first[p + 1]):
            joined[at] = second_path[h]
            at += 1
