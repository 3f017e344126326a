"""Compiled kernels of the partial exchanges."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["one_turn", "walk_flow"]


@njit(cache=True, nogil=True)
def one_turn(row, column, to_row, to_column, rows_first, row_stride, column_stride, links, first, link, later):
    """Write the links of paths with one turn, along the row first where `rows_first` says so.

    `row`, `column`, `to_row`, `to_column` int64[P] are the ends; `links` int32[N, 2, 2] lead down and up the columns and
    along the rows; `later` bool[H] is written with whether a hop comes after the turn.
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


@njit(cache=True, nogil=True)
def walk_flow(origin, target, visit, flow, room, first_link, link_source, link_target, nearer, begin, end, path):
    """Let every packet of `visit` follow the flow to a node that has room; each uses up a unit of what it passes.

    `flow` int64[L] and `room` int64[N], the packets that may still stop at a node, must balance: what flows into a node
    and begins there leaves it or stops. `nearer` bool[2, d, side, side] says ... Return the entries of `path` used.
    """
    return 0
