"""The two problems on a line of nodes with full-duplex links (Han 1990, chapter 2), in plain Python.

*Row movement* balances a line: every node ends with the mean, rounded down or up. *Column movement* spreads a line
whose packets do not outnumber its nodes until each node holds at most one. Packets are interchangeable.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.errors import ScheduleError

__all__ = ["column_bound", "flow_numbers", "row_bound", "row_movement"]


def row_bound(b: int, c: int) -> int:
    """Return the steps that row movement takes at most on c nodes with at most b packets each (Theorem 2.1).

    Examples
    --------
    >>> [row_bound(b, 8) for b in (1, 2, 3, 4, 5)]
    [7, 7, 8, 9, 12]
    """
    if c <= 1 or b < 1:
        return 0
    if b % 2:
        return max(c - 1, (b + 1) * c // 4)
    return max(c - 1, b * (b + 2) * c // (4 * (b + 1)))


def column_bound(b: int, r: int) -> int:
    """Return the steps that column movement takes at most on r nodes with at most b packets each (Theorem 2.3).

    Examples
    --------
    >>> column_bound(4, 8), column_bound(2, 8), column_bound(1, 4)
    (6, 4, 1)
    """
    return 0 if r <= 1 or b < 1 else max((r + 1) // 2 - 1, r - 1 - (r - 1) // b)


def flow_numbers(initial: Sequence[int], final: Sequence[int]) -> list[int]:
    """Return how many packets cross the link between nodes k-1 and k, k = 1..c-1: to the right, or left if negative.

    Raises
    ------
    ScheduleError
        If the numbers of packets before and after differ.

    Examples
    --------
    >>> flow_numbers([4, 4, 0, 0], [2, 2, 2, 2])
    [2, 4, 2]
    """
    if len(initial) != len(final) or sum(initial) != sum(final):
        raise ScheduleError(
            f"{sum(initial)} packets on {len(initial)} nodes cannot become {sum(final)} on {len(final)}"
        )
    flows, owed = [], 0
    for before, after in zip(initial[:-1], final[:-1], strict=True):
        owed += before - after
        flows.append(owed)
    return flows


def row_movement(initial: Sequence[int], final: Sequence[int]) -> tuple[int, int]:
    """Make a row movement by the eager rule; return the steps and the most packets that a node holds in between.

    In each step every node that still owes packets to a neighbor, and holds one, sends one.

    Examples
    --------
    >>> row_movement([4, 4, 4, 0, 0, 0, 0, 0], [1, 1, 1, 1, 2, 2, 2, 2])
    (9, 4)
    """
    held, flow = list(initial), flow_numbers(initial, final)
    steps, most = 0, max(held, default=0)
    while any(flow):
        free = list(held)
        for k, owed in enumerate(flow):
            a, b = (k, k + 1) if owed > 0 else (k + 1, k)
            if owed and free[a] > 0:
                free[a] -= 1
                held[a] -= 1
                held[b] += 1
                flow[k] -= 1 if owed > 0 else -1
        steps, most = steps + 1, max(most, *held)
    return steps, most
