"""The contract of wormhole algorithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gossamer.costs import LinearCost
from gossamer.errors import NotApplicableError
from gossamer.networks.network import Network
from gossamer.tasks import Task
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["WormholeAlgorithm", "too_many_messages"]


def too_many_messages(count: int, most: int = 100_000_000) -> str | None:
    """Return the reason for which an algorithm declines to write out `count` messages, or None if it may.

    >>> too_many_messages(30_000_000, most=20_000_000)
    'would write out 30,000,000 messages; at most 20,000,000 are allowed'
    """
    return f"would write out {count:,} messages; at most {most:,} are allowed" if count > most else None


@dataclass(frozen=True)
class WormholeAlgorithm:
    """A named way to carry out a task with wormhole messages.

    Attributes
    ----------
    name : str
        Unique; what ``--algorithm`` takes.
    task : type of Task or tuple of them
        The tasks it carries out.
    builder : callable
        ``(network, task, cost, *, seed=0, **options) -> WormholeSchedule``: the plain function that makes the
        schedule. `seed` feeds its random choices; it is called after `reason` had no objection.
    reason : callable
        ``(network, task, cost, **options) -> str | None``: why it does not cover the case, in a clause ("needs a
        square torus"), or None when it does. Asked only of arrays and tori.
    claim : callable
        ``(network, task, cost, **options) -> Fraction | None``: the completion time by its closed form, None where it
        has none. An exact time unless `claim_is_bound`.
    networks, source, summary : str
        For people: what it covers, where it comes from, what it does in one line.
    claim_is_bound : bool
        Whether the claim is an upper bound rather than the exact time.
    options : tuple of str
        Options that the builder takes, such as ``"h"``, the side of the blocks of a partition.
    least : callable
        ``(network, task, cost, **options) -> Fraction``: a time that its schedules never beat. The planner does not
        build what cannot be better than it has.
    settled : callable
        ``(network, task, cost, **options) -> dict``: the options with those that the builder chooses itself.
    """

    name: str
    task: type[Task] | tuple[type[Task], ...]
    builder: Callable[..., WormholeSchedule]
    reason: Callable[..., str | None]
    claim: Callable[..., Fraction | None]
    source: str
    summary: str
    networks: str
    claim_is_bound: bool = False
    options: tuple[str, ...] = ()
    least: Callable[..., Fraction] = lambda network, task, cost, **options: Fraction(0)
    settled: Callable[..., dict[str, Any]] = lambda network, task, cost, **options: options

    @property
    def tasks(self) -> tuple[type[Task], ...]:
        """The tasks it carries out."""
        return self.task if isinstance(self.task, tuple) else (self.task,)

    def declines(self, network: Network, task: Task, cost: LinearCost, **options: Any) -> str | None:
        """Return why it does not cover the case, in a clause, or None when it does; NetworkError off the grids."""
        if not isinstance(task, self.task):
            return f"is for {' or '.join(t.name for t in self.tasks)}, not for {task.name}"
        Channels(network)
        for name in options:
            if name not in self.options:
                return f"takes no {name}"
        return self.reason(network, task, cost, **options)

    def covers(self, network: Network, task: Task, cost: LinearCost, **options: Any) -> bool:
        """Whether the algorithm builds a schedule for this case."""
        return self.declines(network, task, cost, **options) is None

    def build(
        self, network: Network, task: Task, cost: LinearCost, *, seed: int = 0, **options: Any
    ) -> WormholeSchedule:
        """Return the schedule.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        task.check(network)
        reason = self.declines(network, task, cost, **options)
        if reason is not None:
            case = f"{task.name} on {network.spec}"
            raise NotApplicableError(f"algorithm {self.name!r} does not cover {case}: it {reason}")
        return self.builder(network, task, cost, seed=seed, **options).replace(algorithm=self.name)
