"""One run of the queueing simulator: the tables of a scheme as the kernel reads them, and what is in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NotApplicableError
from gossamer.simulation.random_arrivals.scheme import Scheme, slices
from gossamer.simulation.random_arrivals.settings import CHOICES, TIES

if TYPE_CHECKING:
    from gossamer.simulation.random_arrivals._kernels import Log

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

BINS = 2048
FIRST_CELLS = 64


@dataclass(frozen=True)
class SchemeTables:
    """A scheme as the kernel reads it: one line for every place of the list of children.

    * `rows`, int32[K, 4]: first child, number of children, step, class * 2 + counted; classes are numbered without
      gaps.
    * `classes`, int32[C]: the scheme's name of each class.
    * `key`, int64[K]: class, then remaining height, as one number.
    * `below`, int64[K, D]: with load-aware choice: transmissions in each dimension of the subtree that begins here.
    * `demand`, int64[S, C, D]: with load-aware choice: transmissions in each dimension of a broadcast.
    * `total`, int64[S, C]: transmissions of a broadcast.
    * `reached`, int64[S, C]: nodes that must receive a broadcast.
    * `depth`: transmissions on the longest path of a broadcast.
    """

    scheme: Scheme
    ties: int
    choose: int
    rows: IntArray
    classes: IntArray
    key: LongArray
    below: LongArray
    demand: LongArray
    weight: FloatArray
    total: LongArray
    reached: LongArray
    links: int
    depth: int

    @classmethod
    def of(cls, scheme: Scheme, ties: str = "fifo", choose: str = "oblivious") -> SchemeTables:
        """Prepare a scheme for one rule of ties and one of choice. O(rows * depth) at most.

        Raises ModelError if a link carries more than one packet at a time; NotApplicableError if a load-aware choice is
        asked of a scheme without dimensions or without choices.
        """
        from gossamer.simulation.random_arrivals import _kernels

        network = scheme.network
        if network.uniform_capacity != 1:
            raise ModelError(f"{network.spec} has links that carry several packets at a time; the simulator takes one")
        if scheme.parts > 255:
            raise ModelError(f"scheme {scheme.name!r} has {scheme.parts} parts; the simulator counts up to 255")
        if choose != "oblivious" and (scheme.dimension is None or scheme.choice_count < 2):
            what = "says no dimensions" if scheme.dimension is None else "has a single choice"
            raise NotApplicableError(f"scheme {scheme.name!r} {what}, so that no choice can follow the load")
        row = scheme.children
        classes, rank = np.unique(scheme.priority[row], return_inverse=True)
        rank = rank.reshape(-1).astype(np.int64)
        first = scheme.child_first[row]
        rows = np.stack(
            [first, scheme.child_last[row] - first, scheme.step[row], rank * 2 + scheme.counted[row]], axis=1
        ).astype(np.int32)
        d = 0 if choose == "oblivious" or scheme.dimension is None else int(scheme.dimension.max()) + 1
        own = np.zeros((scheme.row_count, d + 1), np.int64)
        own[:, d] = 1
        if d and scheme.dimension is not None:
            own[np.arange(scheme.row_count), scheme.dimension[scheme.step]] = 1
        height, below = _subtrees(scheme, own)
        entries = np.concatenate([np.zeros((1, d + 1), np.int64), np.cumsum(below[row], axis=0)])
        demand = (entries[scheme.entry_last] - entries[scheme.entry_first]).sum(axis=2)
        if (demand[..., d] < 1).any():
            raise NotApplicableError(f"scheme {scheme.name!r} has a choice without transmissions")
        return cls(
            scheme=scheme,
            ties=TIES.index(ties),
            choose=CHOICES.index(choose),
            rows=rows,
            classes=classes.astype(np.int32),
            key=(rank << _kernels.CLASS_SHIFT) | (int(height.max(initial=0)) - height[row]),
            below=np.ascontiguousarray(below[row, :d]),
            demand=np.ascontiguousarray(demand[..., :d]),
            weight=_dimension_weights(scheme, d),
            total=np.ascontiguousarray(demand[..., d]),
            reached=scheme.reached,
            links=_link_rule(scheme),
            depth=int(height.max(initial=0)) + 1,
        )


def _link_rule(scheme: Scheme) -> int:
    from gossamer.simulation.random_arrivals import _kernels

    if not scheme.translated or scheme.link_table is None:
        return _kernels.AS_GIVEN
    count = scheme.network.link_count
    straight = scheme.link_table.size == count and (scheme.link_table.reshape(-1) == np.arange(count)).all()
    return _kernels.BY_DEGREE if straight else _kernels.BY_TABLE


def _dimension_weights(scheme: Scheme, d: int) -> FloatArray:
    """Return 1 / (links of a dimension)^2, all 1 where the dimensions have equally many."""
    if not d or scheme.dimension is None:
        return np.ones(0)
    count = np.bincount(scheme.dimension, minlength=d).astype(np.float64)
    return np.ones(d) if (count == count[0]).all() else (count.max() / np.maximum(count, 1)) ** 2


def _subtrees(scheme: Scheme, own: LongArray) -> tuple[LongArray, LongArray]:
    """Return the height of each row, and the sum of `own` over all transmissions that begin with it."""
    first, last, children = scheme.child_first, scheme.child_last, scheme.children
    order: list[LongArray] = []
    level = np.unique(children).astype(np.int64)
    depth = np.zeros(scheme.row_count, np.int64)
    while level.size and len(order) <= scheme.row_count:
        depth[level] = len(order)
        order.append(level)
        level = np.unique(children[slices(first[level], last[level] - first[level])[0]]).astype(np.int64)
    height, below = np.zeros(scheme.row_count, np.int64), own.copy()
    for k in range(len(order) - 1, -1, -1):
        here = order[k][depth[order[k]] == k]
        count = last[here] - first[here]
        here, count = here[count > 0], count[count > 0]
        height[here] += 1
        if here.size:
            child = children[slices(first[here], count)[0]]
            starts = np.cumsum(count) - count
            height[here] += np.maximum.reduceat(height[child], starts)
            below[here] += np.add.reduceat(below[child], starts, axis=0)
    return height, below


class QueueState:
    """The state of one run; times in units of one transmission.

    `tables`: the scheme, prepared. `most_copies`: copies that may be in flight before the run gives up. `mixture`,
    `guard`: of the guarded choice: the part of broadcasts that choose at random anyway, and the copies waiting per
    outgoing link of a node above which it does so too. `recorded`: write down every transmission that ends after this
    time; see `log`.

    `log`: what was written down.
    """

    def __init__(
        self,
        tables: SchemeTables,
        *,
        most_copies: int,
        mixture: float = 0.5,
        guard: float = 2.0,
        recorded: float | None = None,
    ) -> None:
        from gossamer.simulation.random_arrivals import _kernels as k

        self.tables, self.most_copies = tables, most_copies
        scheme, network = tables.scheme, tables.scheme.network
        links, ranks = network.link_count, tables.classes.size
        words = 0 if tables.ties else -(-ranks // k.MASK_BITS)
        self._trees = k.Trees(
            tables.rows, tables.key, tables.below, scheme.link_table if scheme.link_table is not None else _NO_TABLE,
            network.link_source, scheme.dimension if scheme.dimension is not None else _NO_LINE,
        )  # fmt: skip
        self._choices = k.Choices(
            scheme.source_nodes, scheme.entry_first, scheme.entry_last, tables.total, tables.reached,
            scheme.probability, tables.demand, tables.weight,
        )  # fmt: skip
        entering = (scheme.entry_last - scheme.entry_first).sum(axis=2)
        fan = max(int(entering.max(initial=0)), int(tables.rows[:, 1].max(initial=0)))
        self._rules = k.QueueRules(
            tables.links, tables.ties, tables.choose, scheme.parts, 0, k.ARRIVALS_USED, fan, words,
            float(mixture), float(guard),
        )  # fmt: skip
        self.queue = np.full((links, k.QUEUE_HEADER + (1 if tables.ties else words + 2 * ranks)), -1, np.int32)
        self.queue[:, : k.QUEUE_HEADER + words] = 0
        self.queue[:, k.TARGET] = network.link_target
        ring = 1 << max(0, (links - 1).bit_length())
        self._ring = (np.zeros((ring, 4), np.int32), np.zeros(ring, np.float64))
        self._touched = np.zeros(links, np.int32)
        self.state, self.clock = np.zeros(k.ENTERED + 1, np.int64), np.zeros(4, np.float64)
        self.clock[k.LAST_BIRTH] = -1.0
        self.clock[k.CELLS_PER_UNIT :] = FIRST_CELLS
        self.state[[k.FREE_COPY, k.FREE_CAST]] = -1
        self.copies, self.casts = np.zeros((0, 4), np.int32), np.zeros((0, 4), np.int32)
        self._copy_key, self._copy_order, self._birth = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        self._got = np.zeros((0, network.node_count), np.uint8)
        self.log = None if recorded is None else _empty_log(recorded)
        self._more_copies(min(most_copies, max(4 * fan, links + 1024)))
        self._more_casts(max(64, links // 256))
        local = tables.choose >= k.LOCAL
        dimensions = tables.demand.shape[2]
        loads = network.node_count + (tables.choose == k.NEIGHBORS) if local else 1  # one row more to add up in
        self._load = np.zeros((loads, dimensions), np.int64)
        self._waiting = np.zeros(network.node_count if local else 0, np.int64)
        self.wait_sum, self.wait_count = np.zeros(ranks), np.zeros(ranks, np.int64)
        self.histogram = np.zeros((2, BINS), np.int64)
        self.cell_sum, self.cell_count = np.zeros((2, 0)), np.zeros((2, 0), np.int64)

    def _more_copies(self, to: int) -> None:
        from gossamer.simulation.random_arrivals import _kernels as k

        old = self.copies.shape[0]
        self.copies = np.concatenate([self.copies, np.zeros((to - old, 4), np.int32)])
        self.copies[old:, 2] = np.arange(old + 1, to + 1)
        self.copies[-1, 2] = self.state[k.FREE_COPY]
        self.state[k.FREE_COPY] = old
        self.state[k.FREE_COPIES] += to - old
        self.state[k.MOST] -= to - old
        self._longer_log(queued=to, link=to)
        if self.tables.ties:
            self._copy_key = np.concatenate([self._copy_key, np.zeros(to - old, np.int64)])
            self._copy_order = np.concatenate([self._copy_order, np.zeros(to - old, np.int64)])

    def _more_casts(self, to: int) -> None:
        from gossamer.simulation.random_arrivals import _kernels as k

        old = self.casts.shape[0]
        self.casts = np.concatenate([self.casts, np.zeros((to - old, 4), np.int32)])
        self.casts[old:, 3] = np.arange(old + 1, to + 1)
        self.casts[-1, 3] = self.state[k.FREE_CAST]
        self.state[k.FREE_CAST] = old
        self._birth = np.concatenate([self._birth, np.zeros(to - old)])
        self._longer_log(number=to)
        if self.tables.scheme.parts > 1:
            nodes = self.tables.scheme.network.node_count
            self._got = np.concatenate([self._got, np.zeros((to - old, nodes), np.uint8)])

    def _longer_log(self, **sizes: int) -> None:
        """Make columns of the log longer, if there is one."""
        if self.log is None:
            return
        longer = {}
        for name, size in sizes.items():
            old = getattr(self.log, name)
            longer[name] = np.full((size, *old.shape[1:]), -1, old.dtype)
            longer[name][: len(old)] = old
        self.log = self.log._replace(**longer)

    # -- measures ------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The time."""
        return float(self.clock[0])

    @property
    def in_flight(self) -> int:
        """Copies that wait or are being sent."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return int(self.copies.shape[0] - self.state[k.FREE_COPIES] + self.state[k.RING_COUNT])

    @property
    def peak(self) -> int:
        """The most copies that were in flight at one time."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return int(self.copies.shape[0] + self.state[k.MOST])

    @property
    def transmissions(self) -> int:
        """Transmissions made."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return int(self.state[k.DONE])

    @property
    def backlog(self) -> int:
        """Transmissions still to be made for the broadcasts generated so far."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return int(self.state[k.WORK])

    @property
    def open(self) -> int:
        """Measured broadcasts that are not finished."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return int(self.state[k.OPEN])

    @property
    def services(self) -> IntArray:
        """Transmissions begun on each link, int32[L]; may be set to zero."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return self.queue[:, k.SERVICES]

    @property
    def histogram_widths(self) -> FloatArray:
        """Width of the cells of both histograms, float64[2]."""
        from gossamer.simulation.random_arrivals import _kernels as k

        return 1.0 / self.clock[k.CELLS_PER_UNIT :]

    def casts_of(self, copies: LongArray) -> IntArray:
        """Return the entries of the broadcasts to which copies that wait belong."""
        return np.asarray(self.copies[copies, 1])

    def measure(self, cells: int) -> None:
        """Add cells in which the broadcasts that name them are measured; earlier cells are no longer measured."""
        self._rules = self._rules._replace(first_cell=self.cell_sum.shape[1])
        self.cell_sum = np.concatenate([self.cell_sum, np.zeros((2, cells))], axis=1)
        self.cell_count = np.concatenate([self.cell_count, np.zeros((2, cells), np.int64)], axis=1)

    @property
    def first_cell(self) -> int:
        """The first measured cell."""
        return int(self._rules.first_cell)

    # -- running -------------------------------------------------------------------------------------------------

    def advance(
        self, time: FloatArray, source: IntArray, choice: IntArray, cell: IntArray, uniform: FloatArray, until: str = ""
    ) -> bool:
        """Run to the last of the given requests, or on to the end; say whether the copies fitted.

        `time`, float64[n]: when, in units of one transmission, ascending and not before the last request. `source`,
        `choice`, `cell`, int32[n]: index into the scheme's sources; the choice drawn; the cell that counts the delays,
        or -1. `uniform`, float64[n, 2]: two random numbers in [0, 1) for the load-aware choice. `until`: ``""``: stop
        at the last request; ``"done"``: go on until nothing is in flight; ``"measured"``: stop when every measured
        broadcast is finished.
        """
        from gossamer.simulation.random_arrivals import _kernels as k

        ends = {"": k.ARRIVALS_USED, "done": k.ALL_DONE, "measured": k.MEASURED_DONE}
        self._rules = self._rules._replace(until=ends[until])
        self.state[k.ENTERED] = 0
        requests = k.Requests(time, source, choice, cell, uniform)
        statistics = k.Statistics(self.cell_sum, self.cell_count, self.histogram, self.wait_sum, self.wait_count)
        while True:
            queues = k.Queues(self.queue, self._touched, self.copies, self._copy_key, self._copy_order)
            flight = k.InFlight(
                self.state, self.clock, *self._ring, self.casts, self._birth, self._got, self._load, self._waiting
            )
            why = k.run(self._rules, self._trees, self._choices, requests, queues, flight, statistics, self.log)
            if why == k.WANTS_COPIES:
                if self.copies.shape[0] >= self.most_copies:
                    return False
                self._more_copies(min(self.most_copies, 2 * self.copies.shape[0]))
            elif why == k.WANTS_CASTS:
                self._more_casts(2 * self.casts.shape[0])
            elif why == k.WANTS_ROOM and self.log is not None:
                rows, births = (2 * size + self._touched.size for size in (len(self.log.which), self.log.birth.size))
                self._longer_log(time=rows, which=rows, birth=births, source=births)
            else:
                return True


def _empty_log(since: float) -> Log:
    from gossamer.simulation.random_arrivals._kernels import Log

    line, numbers = np.zeros(0), np.zeros(0, np.int32)
    return Log(
        since=np.array([since]), counts=np.zeros(2, np.int64), time=np.zeros((0, 2)), which=np.zeros((0, 2), np.int32),
        birth=line, source=numbers, queued=line, link=numbers, number=numbers,
    )  # fmt: skip


_NO_TABLE = np.zeros((0, 1), np.int32)
_NO_LINE = np.zeros(0, np.int32)
for _array in (_NO_TABLE, _NO_LINE):
    _array.flags.writeable = False
