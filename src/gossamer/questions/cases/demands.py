"""What a task demands of a network, in the few shapes that bounds count with.

Every task of `gossamer.questions.tasks` is made of demands of two shapes. In a `HubDemand` some terminals, the *hubs*,
each deal with all other terminals: they send to them or receive from them, one message each or one shared message. In a
`PairDemand` every message has its own list of targets, or of contributors. Neither holds the N^2 messages of an
exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.questions import tasks
from gossamer.questions.tasks import COMBINE, COPY, MOVE, Task

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeLine:
    """Nodes placed at positions 0..size-1.

    * `size`: number of positions m.
    * `place`: positions, int64, of an array of terminals.
    * `terminals` (int64[m]): number of terminals at each position.
    """

    size: int
    place: Callable[[Counts], Counts]
    terminals: Counts

    def mirrored(self) -> NodeLine:
        """Return the line read from its other end."""
        return NodeLine(self.size, lambda nodes: self.size - 1 - self.place(nodes), self.terminals[::-1])


@dataclass(frozen=True, eq=False)
class HubDemand:
    """Messages between hubs and all other terminals.

    * `hubs` (int64[H]): the hubs, ascending; a node may occur several times in a task of your own.
    * `terminal_count`: number of terminals T.
    * `outward`: whether messages lead from the hubs to the terminals (else from the terminals to the hubs).
    * `shared`: whether a hub has one message for all (a broadcast, or inward a reduction), or one for each terminal.
    """

    hubs: Counts
    terminal_count: int
    outward: bool
    shared: bool

    def repeated(self, times: int) -> HubDemand:
        """Return the demand of so many messages for each of this one's."""
        return replace(self, hubs=np.repeat(self.hubs, times))

    @cached_property
    def everywhere(self) -> bool:
        """Whether every terminal is a hub, once."""
        return self.hubs.size == self.terminal_count and bool((np.diff(self.hubs) == 1).all())

    @property
    def what(self) -> str:
        """The noun for what crosses links."""
        return "contribution" if self.shared and not self.outward else "message"

    def multiplicity(self, nodes: Counts) -> Counts:
        """Return how often each of the nodes is a hub."""
        if self.everywhere:
            return (nodes < self.terminal_count).astype(np.int64)
        return np.searchsorted(self.hubs, nodes, "right") - np.searchsorted(self.hubs, nodes, "left")

    def handled(self, nodes: Counts, incoming: bool) -> Counts:
        """Return how many messages each of the nodes must receive (`incoming`), or send, at the least."""
        own = self.multiplicity(nodes)
        if self.outward != incoming:  # the hubs' side
            return own * (1 if self.shared else self.terminal_count - 1)
        return np.where(nodes < self.terminal_count, self.hubs.size - own, 0)

    def crossings(self, hubs: Counts, terminals: Counts) -> tuple[Counts, Counts]:
        """Return how many messages must leave, and enter, a set of nodes with so many hubs and terminals."""
        inside, outside = terminals, self.terminal_count - terminals
        if self.shared:
            inside, outside = np.minimum(inside, 1), np.minimum(outside, 1)
        out, into = hubs * outside, (self.hubs.size - hubs) * inside
        return (out, into) if self.outward else (into, out)

    def hubs_along(self, line: NodeLine) -> Counts:
        """Return the number of hubs at each position of a line."""
        if self.everywhere:
            return line.terminals
        return np.bincount(line.place(self.hubs), minlength=line.size)

    def upward(self, line: NodeLine, matrix: bool) -> Counts:
        """Return how many messages must get from positions <= i to positions >= j.

        int64[m-1] for j = i+1, or with `matrix` int64[m, m] for all i < j.
        """
        low, high = np.cumsum(self.hubs_along(line)), np.cumsum(line.terminals[::-1])[::-1]
        if not self.outward:
            low, high = np.cumsum(line.terminals), np.cumsum(self.hubs_along(line)[::-1])[::-1]
        if self.shared and self.outward:
            high = np.minimum(high, 1)
        elif self.shared:
            low = np.minimum(low, 1)
        return np.multiply.outer(low, high) if matrix else low[:-1] * high[1:]


@dataclass(frozen=True, eq=False)
class PairDemand:
    """Messages with their own targets, or reductions with their own contributors.

    * `origin` (int64[m]): origin of each message, or root of each reduction.
    * `first` (int64[m+1]): targets of message i are ``target[first[i]:first[i+1]]``: at least one, none of them its
      origin.
    * `target` (int64[]): the targets, or contributors.
    * `shared`: whether messages may be copied, or contributions combined, on the way (else each has one target).
    * `outward`: whether messages lead from origins to targets, else from contributors to roots.
    """

    origin: Counts
    first: Counts
    target: Counts
    shared: bool
    outward: bool = True
    everywhere: bool = False

    @property
    def what(self) -> str:
        """The noun for what crosses links."""
        return "message" if self.outward else "contribution"

    def repeated(self, times: int | Counts) -> PairDemand:
        """Return the demand of so many messages for each of this one's: one number, or one for each message."""
        lengths = np.diff(self.first)
        row = np.repeat(np.arange(self.origin.size), times)
        first = np.append(0, np.cumsum(lengths[row]))
        place = np.arange(first[-1]) - np.repeat(first[:-1] - self.first[row], lengths[row])
        return replace(self, origin=self.origin[row], first=first, target=self.target[place])

    @cached_property
    def message(self) -> Counts:
        """Row of the message of each target."""
        return np.repeat(np.arange(self.origin.size), np.diff(self.first))

    @cached_property
    def pairs(self) -> tuple[Counts, Counts]:
        """From which node to which something must get, for each target or contributor, int64[] twice."""
        ends = self.origin[self.message], self.target
        return ends if self.outward else ends[::-1]

    @cached_property
    def holders(self) -> Counts:
        """The node that holds each message, or each contribution, int64[]: each must leave it at least once."""
        return self.origin if self.outward else self.target

    @cached_property
    def wanters(self) -> Counts:
        """The node that each target's copy, or each reduction, must enter at least once, int64[]."""
        return self.target if self.outward else self.origin

    def single(self, distance: Counts) -> PairDemand:
        """Return the demand with only the furthest target of each message, given the distances of all targets."""
        if not self.shared:
            return self
        furthest = np.lexsort((-distance, self.message))[self.first[:-1]]
        return replace(self, first=np.arange(self.origin.size + 1), target=self.target[furthest])

    def handled(self, nodes: Counts, incoming: bool) -> Counts:
        """Return how many messages each of the nodes must receive (`incoming`), or send, at the least."""
        ends = self.wanters if incoming else self.holders
        return np.bincount(ends, minlength=int(nodes.max()) + 1)[nodes]

    def upward(self, line: NodeLine, matrix: bool) -> Counts:
        """Return how many messages must get from positions <= i to positions >= j; see `HubDemand.upward`."""
        low, places = line.place(self.origin), line.place(self.target)
        high = np.maximum.reduceat(places, self.first[:-1])
        if not self.outward:
            low, high = np.minimum.reduceat(places, self.first[:-1]), low
        low, high = low[high > low], high[high > low]
        if not matrix:
            change = np.bincount(low, minlength=line.size) - np.bincount(high, minlength=line.size)
            return np.cumsum(change)[:-1]
        table = np.bincount(low * line.size + high, minlength=line.size**2).reshape(line.size, line.size)
        return np.cumsum(np.cumsum(table, axis=0)[:, ::-1], axis=1)[:, ::-1]


Demand = HubDemand | PairDemand


def demands_of(network: Network, task: Task) -> tuple[Demand, ...]:
    """Return the demands of a task that need any hop.

    The tasks of `gossamer.questions.tasks` are recognized and cost O(hubs); any other task is asked for its messages.

    >>> import gossamer
    >>> (demand,) = demands_of(gossamer.network("ring:5"), gossamer.task("alltoall"))
    >>> demand.everywhere, demand.handled(np.arange(2), True).tolist()
    (True, [4, 4])
    """
    n = network.terminal_count
    if n == 1:
        return ()
    if isinstance(task, tasks.Chunked):
        return tuple(demand.repeated(task.packets) for demand in demands_of(network, task.task))
    everyone = np.arange(n, dtype=np.int64)
    match task:
        case tasks.Broadcast(root) | tasks.Scatter(root):
            hubs, outward, shared = np.array([root]), True, isinstance(task, tasks.Broadcast)
        case tasks.Reduce(root) | tasks.Gather(root):
            hubs, outward, shared = np.array([root]), False, isinstance(task, tasks.Reduce)
        case tasks.MultinodeBroadcast() | tasks.TotalExchange():
            hubs, outward, shared = everyone, True, isinstance(task, tasks.MultinodeBroadcast)
        case tasks.ReduceScatter():
            hubs, outward, shared = everyone, False, True
        case tasks.PartialMultinodeBroadcast(active) | tasks.PartialExchange(active):
            hubs, outward, shared = np.array(active), True, isinstance(task, tasks.PartialMultinodeBroadcast)
        case tasks.PartialReduceScatter(active) | tasks.PartialGather(active):
            hubs, outward, shared = np.array(active), False, isinstance(task, tasks.PartialReduceScatter)
        case tasks.Allreduce():
            return HubDemand(everyone, n, False, True), HubDemand(everyone, n, True, True)
        case _:
            return _from_messages(network, task)
    return (HubDemand(hubs.astype(np.int64), n, outward, shared),)


def _from_messages(network: Network, task: Task) -> tuple[Demand, ...]:
    """Group the messages of a task by discipline."""
    messages = task.messages(network)
    found: list[Demand] = []
    for discipline, inward in ((COMBINE, True), (COPY, False), (MOVE, False)):
        rows = np.flatnonzero(messages.discipline == discipline)
        if not rows.size:
            continue
        origin = messages.origin[rows].astype(np.int64)
        if messages.target_start is None or messages.targets is None:
            shared = bool(discipline != MOVE)
            hubs = np.sort(origin if messages.sizes is None else np.repeat(origin, messages.sizes[rows]))
            found.append(HubDemand(hubs, network.terminal_count, not inward, shared))
            continue
        lengths = np.diff(messages.target_start)
        message = np.repeat(np.arange(lengths.size), lengths)
        target = messages.targets.astype(np.int64)
        keep = (messages.discipline[message] == discipline) & (messages.origin[message] != target)
        message, target = message[keep], target[keep]
        if target.size:
            rows, first = np.unique(message, return_index=True)
            starts = np.append(first, target.size).astype(np.int64)
            origin = messages.origin[rows].astype(np.int64)
            demand = PairDemand(origin, starts, target, bool(discipline != MOVE), not inward)
            found.append(demand if messages.sizes is None else demand.repeated(messages.sizes[rows]))
    return tuple(found)
