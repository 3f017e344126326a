"""What proves a lower bound: a few kinds of witnesses in numbers, each with the time that follows from it.

*Loads* pass places side by side: links, or ports. A `Cut` says what must cross the links between two sets of nodes, a
`Partition` what must go between parts, `Prices` what messages must pay for links; `Load` is the law that these share. A
`TimeCut` is a cut of links and slots, `SlotPrices` prices of slots, and a `Chain` a sum of times that follow one
another. How many nodes can have a message after a time is told by the laws of `broadcast_growth`, its `Growth` among
them.

A value is computed from the numbers alone. That they are those of a case, so that so many messages must cross, is what
the function states that found them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.links import FAR, Links, least_time
from gossamer.questions.tasks import Task

__all__ = [
    "CallPrices",
    "Chain",
    "Cut",
    "LateCopies",
    "LeastCut",
    "Load",
    "Mask",
    "OfTask",
    "Partition",
    "PartsOverTime",
    "PortPrices",
    "Prices",
    "Proof",
    "QuickestFlow",
    "Region",
    "Separator",
    "SlotPrices",
    "TimeCut",
    "least_cut",
    "served",
]

Mask = npt.NDArray[np.bool_]


class Proof(Protocol):
    """Numbers from which a time follows that no schedule beats."""

    @property
    def value(self) -> Fraction:
        """The time in steps."""
        ...


@dataclass(frozen=True, eq=False)
class Load:
    """Packets that must pass places side by side: the links of a cut, ports of nodes, or all links.

    * `needed`: packets, at least 1; under prices, what they must pay.
    * `capacity`, `occupancy`, `wait` (int64[k]): packets that a place passes at once, the steps for which one occupies
      it, and the steps before the first can enter and after the last has left, together.
    * `whole`: whether packets are whole. Parts pass as a fluid.

    >>> Load.of(7, 2).value, Load.of(7, 2, wait=3).value, Load.of(7, 2, whole=False).value
    (Fraction(4, 1), Fraction(7, 1), Fraction(7, 2))
    """

    needed: int
    capacity: Counts
    occupancy: Counts
    wait: Counts
    whole: bool

    @classmethod
    def of(cls, needed: int, capacity: int, wait: int = 0, whole: bool = True) -> Self:
        """Return a load of one place that a packet occupies for a step; parts do not wait."""
        places, slots, waits = (np.array([int(x)], np.int64) for x in (capacity, 1, wait if whole else 0))
        return cls(int(needed), places, slots, waits, whole)

    @classmethod
    def by(cls, load: Load, **more: Any) -> Self:
        """Return a load with what else a kind says of it."""
        return cls(load.needed, load.capacity, load.occupancy, load.wait, load.whole, **more)

    @property
    def time(self) -> Fraction | None:
        """The value, None if there is no place to pass."""
        return least_time(self.needed, self.capacity, self.occupancy, self.wait, self.whole)

    @property
    def value(self) -> Fraction:
        """The least T with ``sum(capacity * floor((T - wait) / occupancy)) >= needed``, for parts without the floor."""
        return self.time or Fraction(0)


@dataclass(frozen=True, eq=False)
class Cut(Load):
    """Messages that must leave, or enter, a set of nodes over the links between it and the others.

    * `nodes` (int64[] or None): the set, where it is not told by a dimension of the network.
    * `enter`: whether they must enter.
    * `sources`, `targets` (int64[] or None): the nodes from which, and to which, the messages lead that are counted;
      None for all.
    * `side` (int64[] or None): the nodes of the side that messages leave, where it is told by a dimension or a search
      of the network.
    """

    nodes: Counts | None = None
    enter: bool = False
    sources: Counts | None = None
    targets: Counts | None = None
    side: Counts | None = None


@dataclass(frozen=True, eq=False)
class Region(Cut):
    """What must leave a set of nodes of an allreduce by blocks, as contributions or as results.

    `roots` (int64[]): the roots of the blocks that are counted. `deepest`, `furthest`: the terminal of the set from
    which contributions come to the border last, and the one outside that results come to last.
    """

    roots: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    deepest: int = 0
    furthest: int = 0


@dataclass(frozen=True, eq=False)
class LateCopies(Load):
    """Parts that leave a set of nodes and then serve only those that one terminal reaches in the time that is left.

    `nodes` (int64[]): the set. `enter`: whether contributions enter it, backwards in time.
    """

    nodes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    enter: bool = False


@dataclass(frozen=True, eq=False)
class Partition(Load):
    """Messages that must enter, or leave, the parts of a network, counted over all parts.

    `part` (int64[N]): the part of each node, -1 of a switch that is in none. `leaves`, `enters` (int64[] or None): the
    parts that contributions must leave, and those that results must enter; None where all count alike.
    """

    part: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    leaves: Counts | None = None
    enters: Counts | None = None


@dataclass(frozen=True, eq=False)
class PartsOverTime:
    """Transfers between parts of a network, each over links on which transfers too early or too late are of less use.

    Attributes
    ----------
    load : Load
        What the transfers pay for links, and for how long each link can be of no use: in shares of a step.
    scale : int
        So many of them are a step.
    part : int64[N]
        The part of each node, -1 of a switch that is in none.
    length : int64[L]
        What a packet pays on each link of the network.
    """

    load: Load
    scale: int
    part: Counts
    length: Counts

    @property
    def value(self) -> Fraction:
        """The time in steps."""
        return self.load.value / self.scale


@dataclass(frozen=True, eq=False)
class Prices(Load):
    """What all messages must pay on their ways; a place offers its price for each packet.

    `price` (int64[L]): the price of a slot of each link of the network, the ports that it uses included. `each`
    (int64[R]): the price of a slot of each place: link, limited port or shared port, in the order of `capacity`.
    """

    price: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    each: Counts = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class CallPrices(Load):
    """What the calls of an allreduce must pay for links; a place offers its price for each packet.

    * `length` (int64[L]): what a packet pays on each link of the network.
    * `parted`: whether hops count for the parts that they join, as where switches and idle nodes combine and copy; else
      calls pay for their ways, twice a minimum spanning tree of the members of each sum.
    * `each` (int64[R]): the price of a slot of each place: link, limited port or shared port, in the order of
      `capacity`.
    """

    length: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    parted: bool = False
    each: Counts = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class PortPrices(Load):
    """What messages must pay to enter sets of nodes; a node that sends, or receives, a packet offers its price at most.

    * `price` (int64[N]): the price of each node.
    * `sets` (tuple of int64[]): the sets of nodes.
    * `weight` (int64[]): what each set is worth to a message that must enter it (or leave it, where nodes receive).
    """

    price: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    sets: tuple[Counts, ...] = ()
    weight: Counts = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class Separator(Load):
    """Messages that nodes must send, or receive, as they lie between others, or are their only neighbors.

    * `nodes` (int64[]): the nodes that send, or receive, one packet at a time.
    * `send`: whether they send.
    * `alone` (int64[] or None): the nodes that get (or send) the messages by themselves; None where the nodes lie
      between parts.
    """

    nodes: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    send: bool = True
    alone: Counts | None = None


@dataclass(frozen=True, eq=False)
class TimeCut:
    """Messages that must get across a cut of links and slots, and fewer packets that can.

    * `slots`: the slots that are not enough.
    * `messages`, `room`: what must cross, and what can cross in so many slots; `room` is the less.
    * `since` (int64[N]): the slot from which on a node lies on the side of the hub; nodes that never do have the number
      of slots plus 1. A packet crosses on a link (u, v) if it leaves in slot ``since[u]`` or later and is at v before
      slot ``since[v]``; of s such slots a link of capacity c and occupancy o can use ``c * ceil(s / o)``.
    """

    slots: int
    messages: int
    room: int
    since: Counts

    @property
    def value(self) -> Fraction:
        """A slot more than those that are not enough."""
        return Fraction(self.slots + 1 if self.room < self.messages else 0)


@dataclass(frozen=True, eq=False)
class SlotPrices:
    """Prices that prove that a total exchange in a fat tree takes more than so many slots, if `needed` > `offered`.

    `up`, `down` (int64[h, T]): the prices of a hop over a branch of each level in each slot. `needed`, `offered`: what
    all messages must pay together, and what all branches offer.
    """

    up: Counts
    down: Counts
    needed: int
    offered: int

    @property
    def proves(self) -> bool:
        """Whether all messages together must pay more than all branches offer."""
        return self.needed > self.offered

    @property
    def value(self) -> Fraction:
        """A slot more than those that are not enough."""
        return Fraction(self.up.shape[1] + 1 if self.proves else 0)


@dataclass(frozen=True, eq=False)
class QuickestFlow:
    """A way that is long if each link counts with its latency and its price, where all links are worth the packets.

    * `source`, `target`, `packets`: what must get from one node to another.
    * `way`: the length of the shortest path, where a link has the length ``worth * latency + packets * toll``.
    * `worth`: what all links and ports are worth a slot: the sum of capacities times prices.
    * `toll` (int64[L]): what a packet pays on each link of the network: the price of a slot times the slots that it
      takes.
    * `each` (int64[R]): the price of a slot of each link of the network, then of each node that sends, or receives, one
      packet a slot.
    """

    source: int
    target: int
    packets: int
    way: int
    worth: int
    toll: Counts
    each: Counts

    @property
    def value(self) -> Fraction:
        """The length over the worth."""
        return Fraction(self.way, self.worth)


@dataclass(frozen=True)
class Chain:
    """Times that follow one another: of ways, of what must come before and after, of loads and other proofs.

    * `parts`: the times.
    * `whole`: whether the sum is rounded up to a whole step.
    * `node`: the node that takes something in, or sends it, in the first of these times.

    >>> Chain((Fraction(2), Load.of(7, 2, whole=False))).value, Chain((Fraction(1, 2),), whole=True).value
    (Fraction(11, 2), Fraction(1, 1))
    """

    parts: tuple[Fraction | Proof, ...]
    whole: bool = False
    node: int | None = None

    @property
    def value(self) -> Fraction:
        """The sum of the times."""
        total = sum((part if isinstance(part, Fraction) else part.value for part in self.parts), Fraction(0))
        return Fraction(-(-total // 1)) if self.whole else total


@dataclass(frozen=True)
class OfTask:
    """The proof of a bound of another task, which whoever carries out the one that is asked carries out, too.

    `task`: the broadcast of what a member contributes to a sum, or the reduction of the result of one.
    """

    proof: Proof
    task: Task

    @property
    def value(self) -> Fraction:
        """The value of the proof."""
        return self.proof.value


def served(links: Links, some: Counts, needed: int, early: Counts, late: Counts) -> Iterator[Load]:
    """Yield the loads of some links that packets must pass: of the links, and of the ports of nodes if limited.

    * `some` (int64[k]): the links, by their places in `links`.
    * `needed`: packets that must pass.
    * `early`, `late` (int64[k]): steps before the first packet can leave over each link, and after the last has
      arrived.
    """
    occupancy, latency = links.occupancy[some], links.latency[some]
    yield Load(needed, links.capacity[some], occupancy, np.minimum(early + latency + late, FAR), links.whole)
    for limited, ends, before, after in (
        (links.send_limited, links.source[some], early, latency + late),
        (links.receive_limited, links.target[some], early + latency, late),
    ):
        if limited:  # a port passes one packet at a time, at the best over its fastest link
            order = np.argsort(ends, kind="stable")
            first = np.flatnonzero(np.diff(ends[order], prepend=-1))
            fastest, before, after = (np.minimum.reduceat(x[order], first) for x in (occupancy, before, after))
            yield Load(needed, np.ones(first.size, np.int64), fastest, np.minimum(before + after, FAR), links.whole)


@dataclass(frozen=True)
class LeastCut:
    """A largest flow between two nodes of a graph, and what it passes over each link, as sparse matrices."""

    flow: int
    source: int
    sink: int
    graph: Any
    passed: Any

    @cached_property
    def residual(self) -> Any:
        """The capacities that the flow leaves; not made, as it takes most of the memory, until it is asked for."""
        left = self.graph - self.passed
        left.eliminate_zeros()
        return left

    @property
    def near(self) -> Mask:
        """The nodes that the source still reaches, bool[N]: one side of a least cut, the smallest one."""
        return self._reached(self.residual, self.source)

    @property
    def far(self) -> Mask:
        """The nodes that still reach the sink, bool[N]."""
        return self._reached(self.residual.T.tocsr(), self.sink)

    def _reached(self, graph: Any, start: int) -> Mask:
        from scipy.sparse.csgraph import breadth_first_order

        found = np.zeros(graph.shape[0], np.bool_)
        found[breadth_first_order(graph, start, return_predecessors=False)] = True
        return found


def least_cut(tail: Counts, head: Counts, room: Counts | npt.NDArray[np.float64], source: int, sink: int) -> LeastCut:
    """Return a largest flow, and so a least cut, between two nodes of a network of links with capacities.

    `tail`, `head` (int64[k]): ends of the links. Source or sink is the node of the largest number. `room` (float64[k]
    or int64[k]): capacities, those of parallel links added up; rounded, and at most 2^30.

    >>> found = least_cut(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3, 1, 1]), 0, 2)
    >>> found.flow, found.near.tolist(), found.far.tolist()
    (2, [True, True, False], [False, False, True])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    nodes = max(source, sink) + 1
    graph: Any = coo_array((room, (tail, head)), shape=(nodes, nodes)).tocsr()
    graph.data = np.minimum(np.rint(graph.data), 2**30)
    graph = graph.astype(np.int32)
    found = maximum_flow(graph, source, sink)
    return LeastCut(int(found.flow_value), source, sink, graph, found.flow)
