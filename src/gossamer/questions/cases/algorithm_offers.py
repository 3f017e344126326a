"""What an algorithm answers to a case: offers, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.questions.cases.case import Case
from gossamer.questions.cases.demands import Demand, HubDemand
from gossamer.questions.tasks import Task

Promise = Literal["exact", "at most", "none"]
Effort = Literal["closed form", "search", "solver"]

EFFORTS: tuple[Effort, ...] = ("closed form", "search", "solver")
"""How hard an algorithm works, the least first."""

S = TypeVar("S")
C = TypeVar("C", bound=Case)


@dataclass(frozen=True)
class Refusal:
    """Why an algorithm does not cover a case.

    Attributes
    ----------
    why : str
        A clause that goes on after the algorithm's name: "needs an array or a torus".
    """

    why: str

    def __str__(self) -> str:
        return self.why


@dataclass(frozen=True)
class BuilderProof:
    """What a builder proved of a case while it looked for a schedule: that none takes less than `value`.

    Attributes
    ----------
    name : str
        How it is called among the bounds.
    value : Fraction
        Least completion time, in the unit of the case's cost.
    witness : str
        What proves it, in words.
    """

    name: str
    value: Fraction
    witness: str


@dataclass(frozen=True)
class Offer(Generic[S]):
    """What an algorithm proposes for a case, before anything is built.

    Attributes
    ----------
    build : callable
        ``() -> schedule``: makes the schedule; it is not verified yet. The same each time.
    time : Fraction or None
        Completion time that the source promises, in the unit of the case's cost; None where it promises nothing.
    at_most : bool
        Whether `time` is an upper bound rather than the exact time.
    optimal : bool
        Whether the source promises to meet a lower bound on this case.
    effort : {"closed form", "search", "solver"}
        How hard `build` works.
    least : Fraction
        A time that the schedule certainly does not beat: what is no better than one at hand is not built.
    options : mapping of str to object
        The choices in which the offers of one algorithm differ, such as ``h``, the side of the blocks of a partition.
    on_request : bool
        Whether it is tried only when its options are asked for, or when its algorithm is named and offers nothing else.
    stream : callable or None
        ``(sink) -> None``: hands the hops to a sink of `gossamer.schedules.hop_sinks` as they are made, and keeps none.
    too_large : Refusal or None
        Why `build` cannot keep the hops, which can only be streamed.
    orbit : int
        Of how many nodes a stored hop is: all, where the schedule is invariant.
    hop_bytes, hop_seconds : float
        About what a stored hop takes while the schedule is built and checked.
    proof : callable or None
        ``() -> Proof or None``: what `build` proved on its way; asked after it.
    composed : bool
        Whether the schedule is composed of those of groups of ranks, or of one rank's by shifts: of many ranks, what is
        planned for each alone takes long and is hardly better.
    even_packets : int
        Messages of so many packets, and of multiples of that, load links evenly.
    """

    build: Callable[[], S]
    time: Fraction | None = None
    at_most: bool = False
    optimal: bool = False
    effort: Effort = "closed form"
    least: Fraction = Fraction(0)
    options: Mapping[str, Any] = field(default_factory=dict)
    on_request: bool = False
    stream: Callable[[Any], None] | None = None
    too_large: Refusal | None = None
    orbit: int = 1
    hop_bytes: float = 24.0
    hop_seconds: float = 1e-7
    proof: Callable[[], BuilderProof | None] | None = None
    composed: bool = False
    even_packets: int = 1

    @property
    def promise(self) -> Promise:
        """What kind of promise `time` is."""
        return "none" if self.time is None else "at most" if self.at_most else "exact"

    @property
    def floor(self) -> Fraction:
        """A time that the schedule certainly does not beat: `least`, or the time that is promised exactly."""
        return self.least if self.time is None or self.at_most else max(self.least, self.time)


@dataclass(frozen=True)
class Proposer(Generic[C, S]):
    """A named way to carry out tasks: one function from a case to offers or a refusal, and what people read of it.

    Attributes
    ----------
    name : str
        Unique among the algorithms of a task; what ``--algorithm`` takes.
    tasks : tuple of types of Task
        The tasks it carries out.
    propose : callable
        ``case -> Offer, sequence of Offer, or Refusal``; the offer that the source would choose comes first. Asked only
        of cases of `tasks`.
    networks, source, summary : str
        For people: what it covers, where it comes from, what it does in one line.
    """

    name: str
    tasks: tuple[type[Task], ...]
    propose: Callable[[C], Offer[S] | Sequence[Offer[S]] | Refusal]
    networks: str
    source: str
    summary: str

    def offers(self, case: C, *, streamed: bool = False) -> tuple[Offer[S], ...] | Refusal:
        """Return what the algorithm proposes for a case, its own first choice first, or why it does not cover it.

        `streamed` asks for the offers whose hops can be streamed, even if they are too many to keep.
        """
        if not isinstance(case.task, self.tasks):
            return Refusal(f"is for {' or '.join(t.name for t in self.tasks)}, not for {case.task.name}")
        found = self.propose(case)
        if isinstance(found, Refusal):
            return found
        offers = (found,) if isinstance(found, Offer) else tuple(found)
        if streamed:
            return tuple(offer for offer in offers if offer.stream) or Refusal("cannot stream its hops")
        kept = tuple(offer for offer in offers if offer.too_large is None)
        if kept or not offers:
            return kept
        hint = "; stream them (--stream)" if offers[0].stream else ""
        return Refusal(f"{offers[0].too_large}{hint}")

    def covers(self, case: C) -> bool:
        """Whether the algorithm builds a schedule for a case."""
        return not isinstance(self.offers(case), Refusal)

    def offer(self, case: C) -> Offer[S]:
        """Return the algorithm's own first choice for a case.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        found = self.offers(case)
        if isinstance(found, Refusal):
            where = f"{case.task.name} on {case.network.spec}"
            raise NotApplicableError(f"algorithm {self.name!r} does not cover {where}: it {found.why}")
        return found[0]


def first_refusal(*refusals: Refusal | None) -> Refusal | None:
    """Return the first refusal that is one, or None.

    >>> first_refusal(None, Refusal("needs a ring"), Refusal("needs all ports"))
    Refusal(why='needs a ring')
    """
    return next((refusal for refusal in refusals if refusal is not None), None)


# What building and checking an offer takes, estimated before it is begun: hops, bytes and seconds.

_SAMPLE = 64
"""Nodes whose distances stand for those of all, where there are more."""

_PER_LINK, _PER_LINK_ALIKE, _PER_PACKET, _AT_LEAST = 70, 15, 60, 3_000_000
"""Bytes for bounds and searches on a link, on one of links that are all alike, for a packet, and for anything."""
_LINK_ITSELF = 12
"""Bytes of a link in the network."""

_SECONDS_PER_LINK, _SECONDS_AT_LEAST = 2e-7, 0.01


class Needs(NamedTuple):
    """About how many hops are stored, how many bytes are held at once for them, and how many seconds of CPU it takes.

    What is asked for without a word of its algorithm is within a factor of two as a rule, not always.
    """

    hops: int
    bytes: int
    seconds: float


def about_hops(case: Case) -> tuple[int, int]:
    """Return about how many hops and how many packets carry out a task, all of them together.

    A message for one node makes as many hops as it has distance to go, one for many nodes one to each. Distances of at
    most 64 nodes are looked at.

    >>> import gossamer
    >>> about_hops(Case(gossamer.network("torus:8x8"), gossamer.task("alltoall")))
    (16384, 4032)
    """
    parts = 1 if case.whole else max(int(case.network.degree), 1)
    found = [_volume(case, demand) for demand in case.demands]
    return parts * sum(hops for hops, _ in found), parts * sum(packets for _, packets in found)


def _volume(case: Case, demand: Demand) -> tuple[int, int]:
    """Return hops and packets of a demand."""
    if isinstance(demand, HubDemand):
        others = demand.terminal_count - 1
        if demand.shared:
            return demand.hubs.size * others, demand.hubs.size
        some = demand.hubs[np.unique(np.linspace(0, demand.hubs.size - 1, _SAMPLE).astype(np.int64))]
        mean = float(case.metric.statuses(some, not demand.outward).mean())
        return round(mean * demand.hubs.size), demand.hubs.size * others
    rows = np.unique(np.linspace(0, demand.target.size - 1, min(demand.target.size, _SAMPLE**2)).astype(np.int64))
    origin = demand.origin[demand.message[rows]]
    if np.unique(origin).size > _SAMPLE:
        rows = rows[np.isin(origin, np.unique(origin)[:_SAMPLE])]
        origin = demand.origin[demand.message[rows]]
    mean = float(case.metric.between(origin, demand.target[rows]).mean()) if rows.size else 0.0
    hops = demand.target.size * (1.0 if demand.shared else mean)
    return round(max(hops, mean * demand.origin.size)), demand.origin.size


def least_bytes(links: int, copied: bool, exchanging: int = 0) -> int:
    """Return the bytes that a plan on a network of so many links takes at least, whatever is built.

    `copied`: whether messages of the task are for several nodes. `exchanging`: nodes each of which sends a message to
    every other, if the task has such; those of one node are kept at least, and make as many hops as nodes of that
    degree are away at the least.

    >>> f"{least_bytes(200_000_000, True):.2g}", f"{least_bytes(200_000_000, False):.2g}"
    ('1.6e+10', '5.4e+09')
    >>> f"{least_bytes(193_000_000, False, 2**23):.2g}"
    '6.8e+09'
    """
    hops, left, away, new = 0, max(exchanging - 1, 0), 1, max(links // max(exchanging, 1), 1)
    grows = max(new - 1, 1)
    while left:
        hops, left = hops + away * min(new, left), left - min(new, left)
        away, new = (away + 1, new * grows) if grows > 1 else (away, left)  # along a line: no further away
    packets = max(exchanging - 1, 0) * _PER_PACKET + int(hops * Offer.hop_bytes)
    return links * (_LINK_ITSELF + (_PER_LINK if copied else _PER_LINK_ALIKE)) + packets + _AT_LEAST


def needs(case: Case, offer: Offer[Any]) -> Needs:
    """Return what an offer of a store-and-forward algorithm needs, about.

    `case`: what is asked. `offer`: says of how many nodes a stored hop is, and what each takes.

    O(1) searches; nothing is built.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:300x300"), gossamer.task("scatter"))
    >>> found = needs(case, Offer(lambda: None))
    >>> found.hops, f"{found.bytes:.0e}"
    (26910000, '7e+08')
    """
    hops, packets = case.once(about_hops, case)
    stored, kept = -(-hops // offer.orbit), -(-packets // offer.orbit)
    links, nodes = case.network.link_count, case.network.node_count
    copied = any(demand.shared for demand in case.demands)
    alike = case.invariant and case.network.plain and not case.cuts_through and not copied
    per_link = _PER_LINK_ALIKE if alike else _PER_LINK
    held = stored * offer.hop_bytes + kept * (_PER_PACKET + (nodes / 8 if copied else 0)) + links * per_link
    seconds = stored * offer.hop_seconds + links * _SECONDS_PER_LINK + _SECONDS_AT_LEAST
    return Needs(stored, round(held) + _AT_LEAST, seconds)
