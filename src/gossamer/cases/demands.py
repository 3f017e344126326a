"""What a task demands of a network, in the few shapes that bounds count with.

Every task of `gossamer.tasks` is made of demands of two shapes. In a `HubDemand` some terminals, the *hubs*, each deal
with all other terminals: they send to them or receive from them, one message each or one shared message. In a
`PairDemand` every message has its own list of targets. Neither holds the N^2 messages of an exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer import tasks
from gossamer.networks.network import Network
from gossamer.tasks import COMBINE, COPY, MOVE, Messages, Task

__all__ = ["Counts", "Demand", "HubDemand", "Line", "PairDemand", "demands_of"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Line:
    """Nodes placed at positions 0..size-1.

    Attributes
    ----------
    size : int
        Number of positions m.
    place : callable
        Positions, int64, of an array of terminals.
    terminals : int64[m]
        Number of terminals at each position.
    """

    size: int
    place: Callable[[Counts], Counts]
    terminals: Counts

    def mirrored(self) -> Line:
        """Return the line read from its other end."""
        return Line(self.size, lambda nodes: self.size - 1 - self.place(nodes), self.terminals[::-1])


@dataclass(frozen=True, eq=False)
class HubDemand:
    """Messages between hubs and all other terminals.

    Attributes
    ----------
    hubs : int64[H]
        The hubs, ascending; a node may occur several times in a task of your own.
    terminal_count : int
        Number of terminals T.
    outward : bool
        Whether messages lead from the hubs to the terminals (else from the terminals to the hubs).
    shared : bool
        Whether a hub has one message for all (a broadcast, or inward a reduction), or one for each terminal.
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

    def hubs_along(self, line: Line) -> Counts:
        """Return the number of hubs at each position of a line."""
        if self.everywhere:
            return line.terminals
        return np.bincount(line.place(self.hubs), minlength=line.size)

    def upward(self, line: Line, matrix: bool) -> Counts:
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
    """Messages with their own targets.

    Attributes
    ----------
    origin : int64[m]
        Origin of each message.
    first : int64[m+1]
        Targets of message i are ``target[first[i]:first[i+1]]``: at least one, none of them its origin.
    target : int64[]
        The targets.
    shared : bool
        Whether messages may be copied on the way (else each has one target).
    """

    origin: Counts
    first: Counts
    target: Counts
    shared: bool
    outward: bool = True
    what: str = "message"
    everywhere: bool = False

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

    def single(self, distance: Counts) -> PairDemand:
        """Return the demand with only the furthest target of each message, given the distances of all targets."""
        if not self.shared:
            return self
        furthest = np.lexsort((-distance, self.message))[self.first[:-1]]
        return PairDemand(self.origin, np.arange(self.origin.size + 1), self.target[furthest], True)

    def handled(self, nodes: Counts, incoming: bool) -> Counts:
        """Return how many messages each of the nodes must receive (`incoming`), or send, at the least."""
        ends = self.target if incoming else self.origin
        return np.bincount(ends, minlength=int(nodes.max()) + 1)[nodes]

    def upward(self, line: Line, matrix: bool) -> Counts:
        """Return how many messages must get from positions <= i to positions >= j; see `HubDemand.upward`."""
        low = line.place(self.origin)
        high = np.maximum.reduceat(line.place(self.target), self.first[:-1])
        low, high = low[high > low], high[high > low]
        if not matrix:
            change = np.bincount(low, minlength=line.size) - np.bincount(high, minlength=line.size)
            return np.cumsum(change)[:-1]
        table = np.bincount(low * line.size + high, minlength=line.size**2).reshape(line.size, line.size)
        return np.cumsum(np.cumsum(table, axis=0)[:, ::-1], axis=1)[:, ::-1]


Demand = HubDemand | PairDemand


def demands_of(network: Network, task: Task) -> tuple[Demand, ...]:
    """Return the demands of a task that need any hop.

    The tasks of `gossamer.tasks` are recognized and cost O(hubs); any other task is asked for its messages.

    Examples
    --------
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


def _one_share_each(messages: Messages, rows: Counts) -> PairDemand:
    """Return, of reductions with listed contributors, the share of the first contributor of each that is not the root.

    Shares are combined on the way, so that more of them need not travel further.
    """
    assert messages.target_start is not None
    assert messages.targets is not None
    row = np.repeat(np.arange(messages.count), np.diff(messages.target_start))
    away = np.flatnonzero((messages.targets != messages.origin[row]) & np.isin(row, rows))
    _, first = np.unique(row[away], return_index=True)
    chosen = away[first]
    size = np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes
    origin = messages.targets[chosen].astype(np.int64)
    root = messages.origin[row[chosen]].astype(np.int64)
    return PairDemand(origin, np.arange(origin.size + 1), root, False).repeated(size[row[chosen]])


def _from_messages(network: Network, task: Task) -> tuple[Demand, ...]:
    """Group the messages of a task by discipline."""
    messages = task.messages(network)
    found: list[Demand] = []
    for discipline in (COMBINE, COPY, MOVE):
        rows = np.flatnonzero(messages.discipline == discipline)
        if not rows.size:
            continue
        origin = messages.origin[rows].astype(np.int64)
        if discipline == COMBINE and messages.target_start is not None and messages.targets is not None:
            shares = _one_share_each(messages, rows)
            found += [shares] if shares.origin.size else []
            continue
        if discipline == COMBINE or messages.target_start is None or messages.targets is None:
            shared = bool(discipline != MOVE)
            hubs = np.sort(origin if messages.sizes is None else np.repeat(origin, messages.sizes[rows]))
            found.append(HubDemand(hubs, network.terminal_count, bool(discipline != COMBINE), shared))
            continue
        lengths = np.diff(messages.target_start)
        message = np.repeat(np.arange(lengths.size), lengths)
        target = messages.targets.astype(np.int64)
        keep = (messages.discipline[message] == discipline) & (messages.origin[message] != target)
        message, target = message[keep], target[keep]
        if target.size:
            rows, first = np.unique(message, return_index=True)
            starts = np.append(first, target.size).astype(np.int64)
            demand = PairDemand(messages.origin[rows].astype(np.int64), starts, target, bool(discipline == COPY))
            found.append(demand if messages.sizes is None else demand.repeated(messages.sizes[rows]))
    return tuple(found)
