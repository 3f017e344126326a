"""Exchanges planned one after the other on a network: what does not depend on their counts is prepared once.

Loads of experts change every few hundred milliseconds, and with them the table of what each rank sends to each. Paths
between all ranks, the servers and racks whose links may bind, and the times of links stay the same.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.alltoallv import (
    LOAD_BALANCED_DETOURS,
    KnownPaths,
    exchanged_on,
    propose_at_once,
)
from gossamer.atomic_files import size_text
from gossamer.bounds import Bound, bounds
from gossamer.bounds.bound import largest
from gossamer.bounds.grid_cuts import SOURCE
from gossamer.bounds.proofs import Load, Mask
from gossamer.bounds.registry import set_bounds
from gossamer.bounds.set_cuts import KnownSets, crossing, cut_text, holders, wanters
from gossamer.errors import NetworkError, NotApplicableError, TaskError, shown
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.jit import uninterpreted
from gossamer.networks.network import Failed, Network
from gossamer.planning import switching as switchings
from gossamer.planning.allreduce_variants import of_question
from gossamer.planning.offer_search import Question, Search
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import _left_open, plan
from gossamer.planning.switching.resource_limits import Candidate
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.costs import AskedCost, Clock, FineTimeCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task, UnevenExchange, as_task
from gossamer.reading import seed as read_seed
from gossamer.reading import whole

__all__ = ["ExchangePlanner", "planner_for"]

Table = npt.NDArray[np.int64]

_UNIT = 1 << 20
"""Bytes of the messages by which exact times of links are told."""
_RUNS = 16_384
"""Runs in which the packets of a table of bytes travel, about: so many are planned in tens of milliseconds."""
_EACH, _MOST = 48, 4_000_000
"""Packets of a pair that a table of bytes is cut into on an average, and of all pairs at the most."""
_COMPILED = 32
"""Terminals from which on kernels are compiled ahead: small tables are planned by Python meanwhile."""
_SIZES = 64
"""Sizes of packets that are kept prepared."""


class _Timed(NamedTuple):
    """A network with the times of packets of one size: a case without demands, and its links."""

    case: Case
    roads: LinkResources


class ExchangePlanner:
    """Plans exchanges on one network, each in milliseconds: paths, cuts, times and compiled kernels are kept.

    Parameters
    ----------
    network, rules, cost, seed
        As for `gossamer.plan`.

    Attributes
    ----------
    network : Network
    rules : Rules or None
    cost : StepCost, TimeCost or None
        As asked, with what is left open as is usual for the network.
    seed : int

    Examples
    --------
    >>> import gossamer
    >>> planner = gossamer.planner_for("ring:4")
    >>> planner.plan([[0, 0, 4, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]).completion_time
    Fraction(3, 1)
    """

    def __init__(
        self,
        network: Network | Any,
        *,
        rules: Rules | None = None,
        cost: AskedCost | None = None,
        seed: int = 0,
    ) -> None:
        self.network, self.rules, self.cost = _left_open(network, "store-and-forward", rules, cost)
        self.seed = read_seed(seed)
        self._kind = switchings.named("store-and-forward")
        self._timed: dict[int, _Timed] = {}
        first = self._sized(None)
        self._paths = None if self._refusal(first.case) else KnownPaths.of(first.case.links)
        self._sets = KnownSets(first.case.links)
        self._exact = self._exactly() if isinstance(self.cost, TimeCost) else None
        if self._paths is not None and self.network.terminal_count >= _COMPILED:
            self._compiled(first)

    def _compiled(self, timed: _Timed) -> None:
        """Plan a small exchange and schedule it back and forth, so that what does this is compiled."""
        assert self._paths is not None
        joined = np.diff(self._paths.first).reshape((self.network.terminal_count,) * 2) > 0
        table: Any = joined * np.random.default_rng(0).integers(0, 2, joined.shape)
        with uninterpreted():
            case = self._planned(timed, UnevenExchange(table)).case
            exchanged_on(case, self._paths, timed.roads, 0)
            if self.network.shared_ports is None and self._sets.parts and self._exact is not None:
                self.plan_bytes(table)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.network.spec}>"

    def plan(self, task: Task | str | npt.ArrayLike) -> Outcome:
        """Plan an exchange, or another task, on the network.

        Parameters
        ----------
        task : Task, str or int[T, T]
            How many packets each terminal sends to each other: a table, or an `UnevenExchange`. Another task is handed
            to `gossamer.plan`, as are exchanges on networks for which no paths are kept: with switches that cut
            through, limited buffers, segmented messages, or more terminals than fit.

        Returns
        -------
        Outcome
            Verified, beside the best cut around a terminal, a server, a rack or a pod; on a network without any of
            these beside the bounds that are found quickly.

        Raises
        ------
        GossamerError
            If the table does not fit the network, or some target cannot be reached.

        Notes
        -----
        Every packet takes the path that is least loaded, of up to 12 shortest ones and of detours by the other
        terminals of its server or rack. O(packets times the length of paths) besides list scheduling.

        Examples
        --------
        >>> import gossamer
        >>> planner = gossamer.planner_for("dgx-h100:2", cost=gossamer.StepCost())
        >>> found = planner.plan([[4 * int(u < 8 <= v) for v in range(16)] for u in range(16)])
        >>> found.completion_time, found.bound
        (Fraction(34, 1), Fraction(33, 1))
        """
        asked = as_task(task) if isinstance(task, str | Task) else UnevenExchange(_table(task))  # type: ignore[arg-type]
        if self._paths is None or not isinstance(asked, UnevenExchange):
            return plan(self.network, asked, rules=self.rules, cost=self.cost, seed=self.seed)
        return self._planned(self._sized(None), asked)

    def plan_bytes(self, table: npt.ArrayLike, *, packets: int | None = None) -> Outcome:
        """Plan an exchange of so many bytes between every two terminals, cut into packets of one size.

        Parameters
        ----------
        table : int[T, T]
            Bytes that each terminal sends to each other; what it has for itself is left out.
        packets : int, optional
            Packets to cut into, at most; more leave less of the last packet of each pair empty. Of the sizes that suit,
            the one that some of the busiest pairs fill evenly is taken. Every two terminals that have something for
            each other need one at the least. Default: 48 a pair, or 16,384 if these are more.

        Returns
        -------
        Outcome
            Its first bound, and so its ratio, is of the bytes as they are, however they are cut, on links of exact
            speeds: it counts what is lost by full packets.

        Notes
        -----
        Many packets cost little: those of a pair travel in a run or two, which are planned and verified as one
        (`gossamer.schedules.RunSchedule`); the columns of the schedule are written out when they are read. Where links
        share ports every packet is planned by itself; then there are about 20,000, and two a pair at the least.

        Raises
        ------
        GossamerError
            If the table does not fit the network, links have no speeds, or some target cannot be reached.

        Examples
        --------
        >>> import gossamer
        >>> planner = gossamer.planner_for("dgx-h100:2")
        >>> table = [[0] * 16 for _ in range(16)]
        >>> table[0][8], table[0][9] = 2**30, 2**28
        >>> found = planner.plan_bytes(table, packets=1000)
        >>> found.case.cost.packet_bytes, round(found.ratio, 2) < 1.05
        (1343488, True)
        """
        if not isinstance(self.cost, TimeCost):
            raise NotApplicableError("bytes take time on links that have speeds; give a cost: TimeCost(bandwidth=...)")
        if self._paths is None:
            raise NotApplicableError(f"no paths are kept for {self.network.spec}; plan packets: planner.plan(counts)")
        size = self.network.terminal_count
        wanted = None if packets is None else whole(packets, "packets", 1)
        given = _table(table).copy()
        if given.shape != (size, size) or (given.size and int(given.min()) < 0):
            raise TaskError(f"the bytes must be a table of {size} x {size} whole numbers, none of them negative")
        np.fill_diagonal(given, 0)
        if not given.any():
            return self.plan(given)
        sets = self._sets.busiest(given.astype(np.float64))
        pairs = int(np.count_nonzero(given))
        together = self.network.shared_ports is None and bool(self._sets.parts)
        if wanted is None:
            wanted = min(max(_EACH * pairs, _RUNS), _MOST) if together else _RUNS
        each = _packet_bytes(given, max(wanted, pairs if together else _LEAST * pairs), sets)
        counts: Any = -(-given // each)
        return self._planned(self._sized(each), UnevenExchange(counts), given, sets, _RUNS if together else 0)

    def without(self, links: Any = (), nodes: Any = ()) -> ExchangePlanner:
        """Return the planner of what is left of the network after links or nodes failed; see `Network.without`.

        Where only links failed, the paths that do not use them are kept, and others are looked for only where all
        paths of a pair are gone: a fraction of a second for 256 terminals.

        >>> import gossamer
        >>> planner = gossamer.planner_for("torus:4x4").without(links=[(0, 1)])
        >>> planner.plan([[int(v == (u + 1) % 16) for v in range(16)] for u in range(16)]).completion_time
        Fraction(3, 1)
        """
        left = self.network.without(links=links, nodes=nodes)
        lost = left.find(Failed)
        if self._paths is None or lost is None or left.node_count != self.network.node_count:
            return ExchangePlanner(left, rules=self.rules, cost=self.cost, seed=self.seed)
        found = copy(self)
        found.network, found._timed = left, {}
        first = found._sized(None).case.links
        number = np.full(self.network.link_count, -1)
        number[np.asarray(lost.links)] = np.arange(left.link_count)
        found._paths, found._sets = self._paths.without(number, first), KnownSets(first)
        found._exact = found._exactly() if isinstance(self.cost, TimeCost) else None
        return found

    def _sized(self, packet_bytes: int | None) -> _Timed:
        """Return the network with the times of packets of a size, None for that of the cost."""
        key = packet_bytes or 0
        if key not in self._timed:
            if len(self._timed) >= _SIZES:
                self._timed.pop(max(self._timed))
            n, cost = self.network.terminal_count, self.cost
            if isinstance(cost, TimeCost):  # slots so short that little is rounded up
                size: Any = packet_bytes or cost.bytes
                counting = "mpi" if packet_bytes else cost.counting
                cost = FineTimeCost(size, counting, cost.bandwidth, cost.latency, cost.overhead)
            nothing: Any = np.zeros((n, n), np.int64)
            case = self._kind.case(self.network, UnevenExchange(nothing), self.rules, cost, self.seed)
            self._timed[key] = _Timed(case, LinkResources.of(case.network, case.rules))
        return self._timed[key]

    def _refusal(self, case: Case) -> Refusal | None:
        """Return why no paths are kept; None if they are."""
        found = propose_at_once(case)
        return found if isinstance(found, Refusal) else None

    def _exactly(self) -> Case:
        """Return the case on links of exact times, however messages are cut."""
        cost, n = self.cost, self.network.terminal_count
        assert isinstance(cost, TimeCost)
        timed, clock = replace(cost, overhead=None).exactly_on(self.network, _UNIT)
        nothing: Any = np.zeros((n, n), np.int64)
        return Case(timed, UnevenExchange(nothing), replace(self.rules or Rules(), segmented=True), clock)

    def _planned(
        self,
        timed: _Timed,
        task: UnevenExchange,
        given: Table | None = None,
        sets: list[Mask] | None = None,
        runs: int = 0,
    ) -> Outcome:
        """Return the plan of an exchange in packets, of the bytes that are given, with the sets that bind these.

        `runs`: in which packets travel, about; 0 if each travels by itself.
        """
        table, clock = task.table, timed.case.cost
        task.check(self.network)
        self._check_reached(table)
        case = timed.case.again(task, reached=True)
        if given is None:
            given = table * (clock.packet_bytes if isinstance(clock, Clock) else 1)
        if sets is None:
            sets = self._sets.busiest(given.astype(np.float64)) if case.demands else []
        exact, found = self._bound_of_bytes(given, sets), tuple[Bound, ...]()
        if not runs:  # else of a million packets, which are no more than the bytes by a hundredth
            found = set_bounds(case, sets) if sets and self._sets.parts else bounds(case, quick=True)
        limits = of_question(exact, case, self.cost, found)
        case.tell_floor(largest(limits))
        paths, roads, least = self._paths, timed.roads, int(-(-largest(limits) // 1))
        if runs:
            fuller = max(self._rounded_up(table, given, clock, inside) for inside in sets)
            least = int(-(-least * fuller // 1))
        assert paths is not None
        offer = Offer(lambda: exchanged_on(case, paths, roads, least, runs), effort="search")
        search = Search(Question(self._kind, case, case, None), None)
        return search.carried_out(Candidate(LOAD_BALANCED_DETOURS.name, offer), limits, stream=False)

    def _rounded_up(self, table: Table, given: Table, clock: Any, inside: Mask) -> Fraction:
        """Return how many times its bytes the packets hold that must leave a set."""
        within = inside[: self.network.terminal_count]
        packets, needed = (int(some[within][:, ~within].sum()) for some in (table, given))
        return Fraction(packets * clock.packet_bytes, max(needed, 1))

    def _check_reached(self, table: Table) -> None:
        """Raise NetworkError if a pair that sends something has no path."""
        assert self._paths is not None
        missed = np.argwhere((np.diff(self._paths.first).reshape(table.shape) == 0) & (table > 0))
        if missed.size:
            u, v = (self.network.node_name(int(x)) for x in missed[0])
            raise NetworkError(f"network {self.network.spec!r} is not connected: no path from node {u} to node {v}")

    def _bound_of_bytes(self, given: Table, sets: list[Mask]) -> list[Bound]:
        """Return what the bytes take at least that must leave some sets of nodes, in seconds; none of steps."""
        if self._exact is None or not sets:
            return []
        size, some = self.network.terminal_count, UnevenExchange((given > 0).astype(np.int64))  # type: ignore[arg-type]
        case = self._exact.again(some, reached=True)
        best: Bound | None = None
        for inside in sets:
            ends = inside & holders(case), ~inside & wanters(case)
            found = crossing(case, inside, *ends)
            if found is None:
                continue
            load, amount = found.load, int(given[inside[:size]][:, ~inside[:size]].sum())
            each = Load(amount, load.capacity * _UNIT, load.occupancy, load.wait, False)
            if best is None or each.value > best.value:
                text = cut_text(case, found, inside, size_text(amount))
                best = Bound("cut around nodes", each.value, text, "cut", SOURCE)
        assert isinstance(case.cost, Clock)
        return [] if best is None else [replace(best, value=case.cost.seconds(best.value))]


def _table(given: npt.ArrayLike) -> Table:
    """Return a table of whole numbers."""
    found = np.asarray(given)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "iu":
        raise TaskError(f"a table has a whole number for every two terminals, got {shown(given)}")
    return found.astype(np.int64)


def _packet_bytes(given: Table, packets: int, sets: list[Mask]) -> int:
    """Return the size of packets of which about so many hold the bytes of all pairs and little of the last is empty.

    `sets`: nodes that most must leave. Sizes that some pair of theirs fills evenly are tried; that which adds least to
    what must leave them is best.
    """
    size = given.shape[0]
    some = given[given > 0]
    low = max(1, int(some.sum()) // packets)
    leaving = [given[inside[:size]][:, ~inside[:size]] for inside in sets[:_BINDING]]
    leaving = [left for left in (np.sort(left[left > 0]) for left in leaving) if left.size] or [np.sort(some)]
    step = 1 << max(low.bit_length() - _BITS, 0)  # few sizes, so that one is met again
    drawn = np.concatenate([left[:: max(1, left.size // _DRAWN)] for left in leaving])
    parts = np.maximum(drawn[:, None] // (low * np.linspace(1, _LARGER, _DRAWN // 4)).astype(np.int64), 1)
    tried = np.unique(np.append(-(-drawn[:, None] // parts) // step + 1, -(-low * np.array([5, 6, 8]) // (4 * step))))
    tried = step * tried[(tried * step >= low) & (tried * step <= _LARGER * low)]
    thin = some[:: max(1, some.size // _COUNTED)]
    number = np.ceil(thin[:, None] / tried).sum(axis=0) * (some.size / thin.size)
    fits = number <= packets
    tried = tried[fits] if fits.any() else tried[number == number.min()]
    loss = np.max([np.ceil(left[:, None] / tried).sum(axis=0) * tried / left.sum() for left in leaving], axis=0)
    return int(tried[np.argmin(loss + _COARSE * tried / low)])


_BITS, _LEAST = 9, 2
"""Binary digits of the size of packets, and packets a pair at the least."""
_BINDING, _DRAWN, _LARGER, _COUNTED = 3, 32, 3, 2_000
"""Sets of which what must leave them is rounded up least; bytes of theirs that packets are to fill; times the smallest
size that is tried; pairs by which packets are counted."""
_COARSE = 0.01
"""What packets of twice the size cost beside what is empty."""


def planner_for(
    network: Network | Any, *, rules: Rules | None = None, cost: AskedCost | None = None, seed: int = 0
) -> ExchangePlanner:
    """Prepare a network for exchanges that are planned one after the other, as for mixtures of experts.

    Parameters
    ----------
    network : Network, str, path or networkx graph
        As for `gossamer.plan`.
    rules : Rules, optional
        What schedules must respect.
    cost : StepCost or TimeCost, optional
        What they cost.
    seed : int
        For random choices.

    Returns
    -------
    ExchangePlanner

    Notes
    -----
    O(T^2) paths are kept for T terminals: tens of megabytes for 256. It takes about a second, once.

    Examples
    --------
    >>> import gossamer
    >>> planner = gossamer.planner_for("dgx-h100:2")
    >>> table = [[2 * int(v == (u + 8) % 16) for v in range(16)] for u in range(16)]
    >>> planner.plan(table).verification.ok
    True
    """
    return ExchangePlanner(network, rules=rules, cost=cost, seed=seed)
