"""Waits in queues with Poisson arrivals and service of one unit of time, in which delays are measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.theory.loads import (
    StabilityLimit,
    distances,
    last_parts,
    mean_height,
    mean_receipt,
    row_levels,
    stability_limit,
)

__all__ = [
    "PreparedScheme",
    "checked_load",
    "head_of_line_waits",
    "many_server_wait",
    "one_queue_wait",
    "printed_waits",
]

# What theory asks of a scheme whatever the load: computed when it is first asked for, once for each record.

Floats = npt.NDArray[np.float64]


class PreparedScheme:
    """A scheme with what its bounds and estimates have in common at all loads.

    The functions of theory take a scheme, or this record where they are asked at several loads. What was computed lives
    as long as the record.

    Parameters
    ----------
    scheme : Scheme
        The scheme.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> known = PreparedScheme(star(gossamer.network("hypercube:4")))
    >>> float(known.limit), round(known.mean_receipt, 3)
    (1.0, 2.133)
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme

    @staticmethod
    def of(scheme: Scheme | PreparedScheme) -> PreparedScheme:
        """Return the record of a scheme, or the record itself."""
        return scheme if isinstance(scheme, PreparedScheme) else PreparedScheme(scheme)

    @cached_property
    def limit(self) -> StabilityLimit:
        """Where the busiest link is saturated."""
        return stability_limit(self.scheme)

    @cached_property
    def distances(self) -> tuple[float, float]:
        """Mean over sources of the mean and of the largest distance to the receivers, in hops."""
        return distances(self.scheme)

    @cached_property
    def mean_receipt(self) -> float:
        """Mean depth of a first receipt, in hops."""
        return mean_receipt(self.scheme)

    @cached_property
    def mean_height(self) -> float:
        """Mean depth of the last receipt of a broadcast, in hops."""
        return mean_height(self.scheme)

    @cached_property
    def last_parts(self) -> tuple[float, bool]:
        """Mean depth of a node's deepest part, and whether no broadcast crosses a link twice."""
        return last_parts(self.scheme)

    @cached_property
    def weights(self) -> Floats:
        """How often a broadcast sends each row, float64[R]."""
        weight = np.zeros(self.scheme.row_count)
        for _, row, sent, denominator in row_levels(self.scheme):
            weight[row] += sent.astype(np.float64) / denominator
        return weight

    @cached_property
    def _counted_of_one(self) -> Floats:
        """Counted copies of one broadcast on each link, float64[L]."""
        scheme, network = self.scheme, self.scheme.network
        weight = self.weights * scheme.counted
        if not scheme.translated:
            return np.asarray(np.bincount(scheme.step, weight, minlength=network.link_count), np.float64)
        assert scheme.link_table is not None
        column = np.bincount(scheme.step, weight, minlength=scheme.link_table.shape[1])
        each = np.broadcast_to(column / network.node_count, scheme.link_table.shape).reshape(-1)
        loads = np.bincount(scheme.link_table.reshape(-1), each, minlength=network.link_count)
        return np.asarray(loads, np.float64)

    def counted_loads(self, rate: float) -> Floats:
        """Return the part of the time that each link carries counted copies, float64[L]."""
        return self._counted_of_one * (rate * self.scheme.source_nodes.size)


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
