"""What a switching is: a model of how messages travel, with its schedules, algorithms, bounds and checker."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

from gossamer.bounds import Bound
from gossamer.networks.network import Network
from gossamer.questions.cases import Case, Needs, Offer, Proposer
from gossamer.questions.costs import AskedCost, Cost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.schedules import Timeline
from gossamer.verification import BufferPeak, Verification

C = TypeVar("C", bound=Case)
S = TypeVar("S", bound="AnySchedule")
Say = Callable[[str], None]


class AnySchedule(Protocol):
    """What the planner, files and commands ask of a schedule, whatever carries its messages."""

    switching: ClassVar[str]
    network: Network
    task: Task
    algorithm: str

    @property
    def rules(self) -> Rules:
        """What it respects."""
        ...

    @property
    def completion_time(self) -> Fraction:
        """Time from the first start to the last end, exact."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...

    def replace(self, **changes: Any) -> Any:
        """Return the schedule with some constructor arguments changed."""
        ...

    def timeline(self) -> Timeline:
        """Return what happens when."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file."""
        ...


SHORT = ("links busy", "channels busy", "buffers")
"""The labels of what is told of a schedule in a few lines."""


@dataclass(frozen=True)
class Facts:
    """What can be measured of a schedule, for people and for programs.

    Attributes
    ----------
    size : int
        Hops, or messages: what the schedule is long in.
    utilization : Fraction
        Share of the links' or channels' capacity that is used.
    values : mapping
        Plain values for JSON, by name.
    rows : sequence of (label, text)
        What a person wants to read, besides times; those of `SHORT` labels first of all.
    buffer, held : BufferPeak or None
        The most packets in transit at a node; the most that a node holds, its own and delivered ones included. None
        where the switching has no such buffers, or for `held` where the task does not route packets.
    """

    size: int
    utilization: Fraction
    values: Mapping[str, Any]
    rows: Sequence[tuple[str, str]]
    buffer: BufferPeak | None = None
    held: BufferPeak | None = None


@dataclass(frozen=True)
class Streamed:
    """What is known of a schedule that was checked as it was made, and not kept."""

    completion_time: Fraction
    verification: Verification
    facts: Facts


class Switching(Protocol[C, S]):
    """A switching: what the planner, the files and the commands ask of it.

    An entry of `gossamer.planning.switching.SWITCHINGS`.

    Attributes
    ----------
    name, summary : str
        What it is called, and what it is in a line.
    noun : str
        What its algorithms are called.
    words : tuple of str
        What its schedules call a slot, a link and its packets.
    cost_types : tuple of type
        What its schedules may cost, the default first: classes of `gossamer.questions.costs`.
    rules : tuple of str
        The fields of `Rules` that it leaves to the user.
    renames : bool
        Whether `gossamer.schedules.relabel` carries its schedules over to other node numbers.
    """

    name: str
    summary: str
    noun: str
    words: tuple[str, str, str]
    cost_types: tuple[type[AskedCost], ...]
    rules: tuple[str, ...]
    renames: bool

    def algorithms(self, kind: type[Task] | None = None) -> tuple[Proposer[C, S], ...]:
        """Return the algorithms for a kind of task, or for all tasks."""
        ...

    def case(self, network: Network, task: Task, rules: Rules | None, cost: AskedCost | None, seed: int) -> C:
        """Return the case; a GossamerError if the network, task, rules or cost are not for this switching."""
        ...

    def describe(self, case: C) -> str:
        """Return the rules and the cost of a case in words."""
        ...

    def time_text(self, cost: Cost, time: Fraction, *, slots: bool = False) -> str:
        """Return a time with its unit; where that is seconds, also the `slots` if they are asked for."""
        ...

    def bounds(self, case: C) -> tuple[Bound, ...]:
        """Return lower bounds on the completion time, the largest first."""
        ...

    def quick_bounds(self, case: C) -> tuple[Bound, ...] | None:
        """Return some of the lower bounds where all take long, the largest first; else None."""
        ...

    def needs(self, case: C, offer: Offer[S]) -> Needs | None:
        """Return about what building and checking an offer takes; None if that is not known."""
        ...

    def completion(self, schedule: S) -> Fraction:
        """Return the time by which plans are compared, in the unit of the cost."""
        ...

    def verify(self, schedule: S, limit: int) -> Verification:
        """Check every rule and goal of a schedule."""
        ...

    def stream(self, case: C, offer: Offer[S], say: Say) -> Streamed:
        """Check the hops of an offer as they are made, keeping none; NotApplicableError if there is no such thing."""
        ...

    def facts(self, schedule: S) -> Facts:
        """Return what can be measured of a schedule."""
        ...

    def load(self, path: str | os.PathLike[str]) -> S:
        """Read a schedule of this switching from a file."""
        ...
