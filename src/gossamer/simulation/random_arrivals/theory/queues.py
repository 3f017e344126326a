"""Waits in queues with Poisson arrivals and service of one unit of time, in which delays are measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.errors import ModelError

__all__ = ["checked_load", "head_of_line_waits", "many_server_wait", "one_queue_wait", "printed_waits"]


def checked_load(load: float, what: str = "the load of a queue") -> float:
    """Return a load below 1; ModelError where it is another number, which says of what.

    >>> checked_load(0.9, "the load factor")
    0.9
    """
    if not 0 <= load < 1:
        raise ModelError(f"{what} must be at least 0 and below 1, got {load}")
    return float(load)


def one_queue_wait(load: float) -> float:
    """Return the mean wait W in an M/D/1 queue, in any order of service that does not look at service times.

    Parameters
    ----------
    load : float
        Utilization u, 0 <= u < 1.

    Returns
    -------
    float
        ``u / (2 (1 - u))``, without the service itself.

    Raises
    ------
    ModelError
        If the load is out of range.

    Examples
    --------
    >>> round(one_queue_wait(0.9), 9)
    4.5
    """
    u = checked_load(load)
    return u / (2 * (1 - u))


def head_of_line_waits(loads: Sequence[float]) -> list[float]:
    """Return the mean wait of each class in an M/D/1 queue with priorities, without preemption.

    Parameters
    ----------
    loads : sequence of float
        Utilization by each class, the class served first first; their sum is below 1.

    Returns
    -------
    list of float
        ``W_k = u / (2 (1 - s_{k-1}) (1 - s_k))`` with u the whole load and s_k that of the classes up to k.

    Raises
    ------
    ModelError
        If a load is negative or the sum is 1 or more.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.2, prints W_H for two classes without the residual service of a low copy
    (erratum X3).

    Examples
    --------
    >>> [round(w, 3) for w in head_of_line_waits([0.42, 0.48])]
    [0.776, 7.759]
    """
    if any(load < 0 for load in loads):
        raise ModelError(f"the load of a class must be at least 0, got {min(loads)}")
    u = checked_load(sum(loads))
    waits, before = [], 0.0
    for load in loads:
        after = before + load
        waits.append(u / (2 * (1 - before) * (1 - after)))
        before = after
    return waits


def printed_waits(load: float, side: int, nodes: int) -> tuple[float, float]:
    """Return the waits of high and low copies of two-class STAR on an n-ary d-cube, as they are printed.

    Parameters
    ----------
    load : float
        Load factor.
    side, nodes : int
        n, 2 on a hypercube, and N.

    Returns
    -------
    high, low : float
        ``h / (2 (1 - h))`` with ``h = load (N/n - 1) / (N - 1)``, and ``load n / (2 (1 - load) (n - 1))``.

    Notes
    -----
    The first omits the residual service of a low copy and tends to 0 for long rings, where simulation tends to about
    half the load (erratum X3); `head_of_line_waits` has it.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.2.

    Examples
    --------
    >>> [round(w, 2) for w in printed_waits(0.9, 2, 16)]
    [0.36, 9.0]
    """
    u = checked_load(load)
    if side < 2 or nodes < side:
        raise ModelError(f"an n-ary d-cube has sides of at least 2 nodes, got n = {side}, N = {nodes}")
    high = u * (nodes / side - 1) / (nodes - 1)
    return high / (2 * (1 - high)), u * side / (2 * (1 - u) * (side - 1))


def many_server_wait(load: float, servers: int) -> float:
    """Return the mean wait in an M/D/k queue, by the series of Crommelin.

    Parameters
    ----------
    load : float
        Utilization of each of the k servers.
    servers : int
        k, at least 1.

    Raises
    ------
    ModelError
        If the load is out of range or there is no server.

    References
    ----------
    C. D. Crommelin, Delay probability formulae when the holding times are constant, 1932.

    Examples
    --------
    >>> round(many_server_wait(0.9, 1), 6), round(many_server_wait(0.9, 4), 3)
    (4.5, 1.0)
    """
    from scipy.special import gammainc

    u = checked_load(load)
    if servers < 1:
        raise ModelError(f"a queue needs at least 1 server, got {servers}")
    total, first = 0.0, 1
    while u > 0 and first < 2**20:
        most = np.arange(first, 2 * first) * float(servers)
        # gammainc(m, x) is the chance that a Poisson number of mean x is at least m
        terms = gammainc(most, most * u) - gammainc(most + 1, most * u) / u
        total += float(terms.sum())
        if terms[-1] < 1e-10 * total:
            break
        first *= 2
    return total
