"""Broadcasts at random times in intervals: Varvarigos and Bertsekas 1994, section 5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.partial import split_time, whole_time
from gossamer.errors import ModelError, NotApplicableError
from gossamer.jit import njit
from gossamer.networks.network import Grid, Network
from gossamer.reading import fraction, whole
from gossamer.reading import seed as check_seed
from gossamer.simulation.random_arrivals.arrivals import Poisson
from gossamer.simulation.random_arrivals.scheme_evaluation import Delays, LoadLimit
from gossamer.simulation.random_arrivals.settings import MOST_STEPS, Settings
from gossamer.simulation.random_arrivals.statistics import ConfidenceInterval, t_interval

__all__ = ["IntervalBroadcasts", "IntervalRun", "IntervalScheme", "interval_reason", "interval_scheme"]

_QUIET = 1000
"""Intervals without a packet after which the rest of them is skipped."""


@njit(cache=True, nogil=True)
def _run_intervals(length, rate, seed, warm, batches, per_batch, waiting_limit, means, totals):
    """Serve one packet of every node that has one in each interval; write the mean delay of each batch.

    * `length`, float64[N + 1]: length of an interval with M active nodes.
    * `rate`: arrivals per node and unit of time, Poisson.
    * `seed`: of the arrivals.
    * `warm`, `batches`, `per_batch`: packets served before measuring, batches, packets a batch.
    * `waiting_limit`: most packets that may wait.
    * `means`, float64[batches]: receives the mean delay of the packets of each batch; a packet's delay ends with the
      interval that serves it.
    * `totals`, float64[5]: receives the intervals, the sum of M, the time, the most packets waiting, and the packets
      served.

    Returns: batches measured; fewer than `batches` if more than `waiting_limit` packets came to wait.
    """
    np.random.seed(seed)
    nodes = length.size - 1
    arrived = np.empty(waiting_limit + 1)
    after = np.empty(waiting_limit + 1, np.int64)  # the next packet of the same node, or the next free place
    for i in range(waiting_limit + 1):
        after[i] = i + 1
    free = 0
    head = np.full(nodes, -1, np.int64)
    tail = np.full(nodes, -1, np.int64)
    clock = 0.0
    waiting = 0
    served = 0
    batch = 0
    in_batch = 0
    total = 0.0
    comes = np.random.exponential(1.0 / (rate * nodes))
    while batch < batches:
        active = 0
        for v in range(nodes):
            if head[v] >= 0:
                active += 1
        if active == 0 and comes - clock > _QUIET * length[0]:
            skipped = np.floor((comes - clock) / length[0]) - 1
            clock += skipped * length[0]
            totals[0] += skipped
        end = clock + length[active]
        if active:
            for v in range(nodes):
                place = head[v]
                if place < 0:
                    continue
                head[v] = after[place]
                if head[v] < 0:
                    tail[v] = -1
                delay = end - arrived[place]
                after[place] = free
                free = place
                waiting -= 1
                served += 1
                if served > warm and batch < batches:
                    total += delay
                    in_batch += 1
                    if in_batch == per_batch:
                        means[batch] = total / per_batch
                        batch += 1
                        in_batch = 0
                        total = 0.0
        while comes <= end:
            if waiting == waiting_limit:
                totals[2] = comes
                totals[3] = waiting
                totals[4] = served
                return batch
            v = np.random.randint(nodes)
            place = free
            free = after[place]
            arrived[place] = comes
            after[place] = -1
            if tail[v] >= 0:
                after[tail[v]] = place
            else:
                head[v] = place
            tail[v] = place
            waiting += 1
            totals[3] = max(totals[3], waiting)
            comes += np.random.exponential(1.0 / (rate * nodes))
        totals[0] += 1
        totals[1] += active
        clock = end
    totals[2] = clock
    totals[4] = served
    return batch


# The scheme of Varvarigos and Bertsekas: one partial multinode broadcast after the other, each of one packet a node.
#
# Time is cut into intervals. At the start of an interval let M be the number of nodes that have packets waiting; each
# of them broadcasts exactly one. The interval lasts ``V + X M``: the reservation interval V in which the nodes are
# ranked and the packets are packed, and X for every active node. The *exact* form lets it last as long as the partial
# multinode broadcast of M nodes really takes, which never exceeds ``V + X M``.

_BATCHES = 20


@dataclass(frozen=True)
class IntervalScheme:
    """The interval scheme on one array or torus with equal sides.

    * `network` (Network): an array or torus of d dimensions of p nodes each (p >= 3 on a torus), or a hypercube (p =
      2).
    * `split` (bool): whether packets are split in parts (9a, 10a) or stay whole (9b, 10b).
    * `control_time` (Fraction): steps of a control packet on a link, t_p.

    Source: Varvarigos and Bertsekas 1994, section 5.

    >>> import gossamer
    >>> scheme = interval_scheme(gossamer.network("torus:5x5"), control_time="1/10")
    >>> scheme.per_packet, scheme.fixed, float(round(scheme.stable_utilization, 3))
    (Fraction(6, 25), Fraction(38, 5), 0.441)
    """

    network: Network
    split: bool = True
    control_time: Fraction = Fraction(0)

    @property
    def _grid(self) -> Grid:
        assert self.network.grid is not None
        return self.network.grid

    @property
    def p(self) -> int:
        """Nodes along each dimension."""
        return max(self._grid.sides)

    @property
    def d(self) -> int:
        """Number of dimensions of 2 nodes or more."""
        return sum(side > 1 for side in self._grid.sides)

    @property
    def gamma(self) -> int:
        """2 on rings, which are used in both directions round, 1 on lines."""
        return 2 if self.p > 2 and all(self._grid.wraps) else 1

    @property
    def per_packet(self) -> Fraction:
        """X of (9a) or (9b), steps for each active node."""
        nodes = self.network.node_count
        if self.split:
            return Fraction(nodes - 1, self.gamma * self.d * nodes)
        return Fraction(-(-(self.p - 1) // self.gamma) * (nodes - 1), self.d * (self.p - 1) * nodes)

    @property
    def fixed(self) -> Fraction:
        """V of (10a) or (10b), steps of the reservation interval."""
        p, d = self.p, self.d
        if self.split:
            return 2 * d * (p - 1) * self.control_time + (1 + Fraction(1, self.gamma)) * (p - 1)
        return (p - 1) * d + d * -(-(p - 1) // self.gamma) + 4 * (p - 1) * d * self.control_time + 1

    def length(self, active: int, exact: bool = False) -> Fraction:
        """Return the length of an interval with `active` nodes, in steps.

        `active` (int): M, 0..N. `exact` (bool): whether to take the time of the partial multinode broadcast itself
        instead of ``V + X M``.

        An interval without packets lasts as long as the reservation part, V or the exact one: the nodes must find out
        that there are none.
        """
        if not exact:
            return self.fixed + self.per_packet * active
        time = split_time if self.split else whole_time
        return time(self._grid.sides, self._grid.wraps, active, self.control_time)

    @cached_property
    def largest_rate(self) -> Fraction:
        """Arrivals per node and step below which the scheme is stable, ``1/(N X + V)`` (Theorem 7)."""
        return 1 / (self.network.node_count * self.per_packet + self.fixed)

    @property
    def stable_utilization(self) -> Fraction:
        """rho* of (14): the utilization ``lambda N X`` at `largest_rate`; for whole packets in the same unit."""
        return self.utilization(self.largest_rate)

    def utilization(self, rate: Fraction) -> Fraction:
        """Return ``lambda N X``, the mesh utilization factor at `rate` arrivals per node and step.

        With split packets it is (12), ``lambda (N-1)/(gamma d)``; with whole packets on a torus of even side it is
        p/(p-1) times that (errata X7), so that (12) stays below (p-1)/p there.
        """
        return rate * self.network.node_count * self.per_packet

    def load(self, rate: Fraction) -> Fraction:
        """Return the load factor at `rate`: transmissions needed per link and step, ``lambda (N-1) N / links``."""
        nodes = self.network.node_count
        return rate * (nodes - 1) * nodes / self.network.link_count

    def delay_bound(self, rate: Fraction) -> Fraction:
        """Return the upper bound (11) on the mean delay in steps.

        Raises `ModelError` if `rate` is not below `largest_rate`.
        """
        self._check_rate(rate)
        x, v, rho = self.per_packet, self.fixed, self.utilization(rate)
        slack = 1 - rho - rate * v
        return (1 + rho) * (rho * x / 2 + (1 - rho) * v / 2 + (1 - rate * v) * v) / slack + x

    def delay_lower_bound(self, exact: bool = False) -> Fraction:
        """Return a lower bound on the mean delay in steps, at any rate.

        A packet waits for the end of the interval in which it arrives, by the arrivals' uniform places at least half
        of the shortest one on average, and then for a whole interval with an active node.
        """
        return self.length(0, exact) / 2 + self.length(1, exact)

    def _check_rate(self, rate: Fraction) -> None:
        if not 0 < rate < self.largest_rate:
            raise ModelError(
                f"the rate must be above 0 and below {float(self.largest_rate):.6g} arrivals per node and step, where "
                f"the interval scheme stops being stable on {self.network.spec}, got {float(rate):.6g}"
            )

    def _check_time(self, rate: Fraction, packets: int) -> None:
        """Refuse a run so long that times are no longer exact."""
        steps = Fraction(5, 4) * packets / rate / self.network.node_count
        if steps > MOST_STEPS:
            raise ModelError(
                f"about {float(steps):.2g} steps would be simulated for {packets:,} packets, of at most "
                f"{MOST_STEPS:.0e}, up to which times are exact; choose a higher rate or fewer packets"
            )

    def simulate(
        self,
        rate: Fraction | float,
        *,
        exact: bool = False,
        packets: int = 200_000,
        seed: int = 0,
        progress: Callable[[str], None] | None = None,
    ) -> IntervalRun:
        """Simulate the scheme with Poisson arrivals.

        Parameters
        ----------
        rate : Fraction or float
            Arrivals per node and step, below `largest_rate`.
        exact : bool
            Whether intervals last as long as their broadcasts really take.
        packets : int
            Packets measured, at least 20, after a quarter of as many that are not.
        seed : int
            Of the arrivals, 0 or more.
        progress : callable, optional
            Told what is simulated.

        Raises
        ------
        ModelError
            If the rate or the number of packets is out of range, times would not be exact, or more than 50 million
            packets come to wait.

        Notes
        -----
        Memory: 16 bytes a waiting packet. Time: O(N) an interval and O(1) a packet.

        Examples
        --------
        >>> import gossamer
        >>> run = interval_scheme(gossamer.network("torus:3"), control_time="1/10").simulate(0.05, packets=20_000)
        >>> 5 < run.delay < 7
        True
        """
        chosen = Fraction(rate)
        self._check_rate(chosen)
        whole(packets, "packets", _BATCHES)
        check_seed(seed)
        self._check_time(chosen, packets)
        if progress is not None:
            progress(f"interval scheme on {self.network.spec} at {float(self.load(chosen)):.3f}")
        lengths = np.array([float(self.length(m, exact)) for m in range(self.network.node_count + 1)])
        per_batch = -(-packets // _BATCHES)
        means, totals = np.zeros(_BATCHES), np.zeros(5)
        limit = min(50_000_000, packets + 10 * self.network.node_count + 1000)
        done = _run_intervals(lengths, float(chosen), seed, packets // 4, _BATCHES, per_batch, limit, means, totals)
        if done < _BATCHES:
            raise ModelError(f"{limit:,} packets wait at rate {float(chosen):.6g}; choose a lower rate or more packets")
        return IntervalRun(
            scheme=self,
            rate=chosen,
            exact=exact,
            batch_means=means,
            intervals=int(totals[0]),
            mean_active=float(totals[1] / totals[0]),
            most_waiting=int(totals[3]),
            packets=int(totals[4]),
            duration=float(totals[2]),
        )


@dataclass(frozen=True, eq=False)
class IntervalRun:
    """What a simulation of the interval scheme measured.

    * `scheme` (IntervalScheme): what was simulated.
    * `rate` (Fraction): arrivals per node and step.
    * `exact` (bool): whether intervals lasted as long as their broadcasts.
    * `batch_means` (float64[20]): mean delay of each batch of packets, in steps.
    * `intervals`, `packets` (int): intervals simulated, packets served.
    * `mean_active` (float): mean number of active nodes of an interval.
    * `most_waiting` (int): most packets that waited at once.
    * `duration` (float): simulated time in steps.
    """

    scheme: IntervalScheme
    rate: Fraction
    exact: bool
    batch_means: npt.NDArray[np.float64]
    intervals: int
    mean_active: float
    most_waiting: int
    packets: int
    duration: float

    @property
    def delay(self) -> float:
        """Mean delay in steps: from the arrival to the end of the interval that serves the packet."""
        return float(self.batch_means.mean())

    @property
    def half_width(self) -> float:
        """Half of the 95% confidence interval of `delay`, from the batch means."""
        return t_interval(self.batch_means, self.delay).half_width

    @property
    def upper_bound(self) -> Fraction:
        """Bound (11), which the mean delay does not exceed."""
        return self.scheme.delay_bound(self.rate)

    @property
    def lower_bound(self) -> Fraction:
        """Which the mean delay does not fall below; see `IntervalScheme.delay_lower_bound`."""
        return self.scheme.delay_lower_bound(self.exact)


def interval_reason(network: Network) -> str | None:
    """Say why the interval scheme does not cover a network, or None if it does.

    >>> import gossamer
    >>> interval_reason(gossamer.network("torus:4x5"))
    'needs an array, a torus or a hypercube with equal sides'
    """
    grid = network.grid
    sides = set() if grid is None else {side for side in grid.sides if side > 1}
    mixed = grid is not None and len({w for w, side in zip(grid.wraps, grid.sides, strict=True) if side > 2}) > 1
    if grid is None or len(sides) != 1 or mixed or network.uniform_capacity != 1:
        return "needs an array, a torus or a hypercube with equal sides"
    return None


def interval_scheme(
    network: Network, *, segmented: bool = True, control_time: Fraction | str | float = 0, split: bool | None = None
) -> IntervalScheme:
    """Return the interval scheme on `network`.

    Parameters
    ----------
    network : Network
        An array, torus or hypercube with equal sides, of 2 nodes or more.
    segmented : bool
        For intervals: whether packets may be cut into segments.
    control_time : Fraction, str or float
        For intervals: steps that a control packet takes on a link, t_p in 0..1.
    split : bool, optional
        The name that `segmented` had before.

    Raises
    ------
    NotApplicableError
        If the network is none of these.
    ModelError
        If `control_time` is out of range.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 5; hypercubes: p = 2, gamma = 1.
    """
    reason = interval_reason(network)
    if reason is not None:
        raise NotApplicableError(f"the interval scheme {reason}, not {network.spec}")
    time = fraction(control_time, "control_time", 0, 1, allowed="a number of steps in 0..1")
    return IntervalScheme(network, segmented if split is None else split, time)


# The interval scheme, as a sweep asks it: its simulation between the lower bound and bound (11).


class IntervalBroadcasts:
    """The interval scheme as any other; see `gossamer.simulation.random_arrivals.scheme_evaluation.RandomBroadcasts`.

    It is simulated with Poisson arrivals at all nodes in continuous time, without ties or choices, for a number of
    packets of its own, and measures broadcasts only.

    `scheme` (IntervalScheme): on its network.
    """

    name = "varvarigos-bertsekas"

    def __init__(self, scheme: IntervalScheme) -> None:
        self.scheme = scheme

    @property
    def network(self) -> Network:
        """Where the broadcasts are."""
        return self.scheme.network

    def restricted(self, nodes: Sequence[int]) -> IntervalBroadcasts:
        """Refuse: every node takes part in every interval."""
        raise NotApplicableError(f"scheme {self.name!r} is simulated with requests at all nodes only")

    def check(self, settings: Settings) -> None:
        """Refuse settings other than those of the scheme."""
        if not isinstance(settings.arrivals, Poisson):
            given = type(settings.arrivals).__name__
            raise NotApplicableError(f"scheme {self.name!r} is simulated with Poisson arrivals only, not with {given}")
        for what, plain in (("choose", "oblivious"), ("time", "continuous"), ("ties", "fifo")):
            given = getattr(settings, what)
            if given != plain:
                raise NotApplicableError(f"scheme {self.name!r} is simulated with {what} {plain!r} only, not {given!r}")

    def limit(self, settings: Settings) -> LoadLimit:
        """Return the load of Theorem 7."""
        return LoadLimit(float(self.scheme.load(self.scheme.largest_rate)), "it is not stable from load")

    def delays(self, load: float | None, settings: Settings, progress: Callable[[str], None] | None = None) -> Delays:
        """Simulate at a load."""
        assert load is not None  # a trace is refused
        limit, spec = self.limit(settings), self.network.spec
        if load >= limit.load:
            return Delays(spec, self.name, load, limit, False, f"not below the limit {limit.load:.4g}")
        rate = Fraction(load) / self.scheme.load(Fraction(1))
        run = self.scheme.simulate(rate, seed=settings.seed, progress=progress)
        return Delays(
            spec,
            self.name,
            load,
            limit,
            stable=True,
            reason="",
            broadcast=ConfidenceInterval(run.delay, run.half_width, run.batch_means.size),
            broadcast_bound=float(run.lower_bound),
            broadcast_upper_bound=float(run.upper_bound),
        )
