"""Algorithms for store-and-forward switching: from a case to offers of schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gossamer.cases import Case, Offer, Proposer, Refusal
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.tasks import Task

__all__ = ["Algorithm"]


class Algorithm(Proposer[Case, Schedule]):
    """A named way to carry out a task by store-and-forward; see `gossamer.cases.Proposer` for its fields.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.algorithms.broadcast import BROADCAST
    >>> case = Case(gossamer.network("ring:9"), gossamer.task("broadcast"))
    >>> [a.offer(case).time for a in BROADCAST if a.covers(case)][0]
    Fraction(4, 1)
    """

    def build(self, case: Any, task: Any = None, model: Any = None, *, seed: int = 0) -> Schedule:
        """Return the schedule of the algorithm's own first choice, not verified.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        case = case if task is None else Case(case, task, model, seed=seed)
        return self.offer(case).build().replace(algorithm=self.name)

    @property
    def task(self) -> type[Task]:
        """Transitional."""
        return self.tasks[0]

    def claim(self, network: Network, task: Task, model: Model) -> Fraction | None:
        """Transitional."""
        return self.offer(Case(network, task, model)).time

    def optimal(self, network: Network, task: Task, model: Model) -> bool:
        """Transitional."""
        return self.offer(Case(network, task, model)).optimal

    def reason(self, network: Network, task: Task, model: Model) -> str | None:
        """Transitional."""
        found = self.offers(Case(network, task, model))
        return found.why if isinstance(found, Refusal) else None

    def covers(self, case: Any, task: Any = None, model: Any = None) -> bool:
        """Transitional."""
        return super().covers(case if task is None else Case(case, task, model))


# -- transitional: records of separate functions -------------------------------------------------------------------


@dataclass(frozen=True)
class Separate(Algorithm):
    """Transitional."""

    builder: Any = None
    reason: Any = None
    claim: Any = None
    claim_is_bound: bool = False
    optimal: Any = None


def separate(
    *,
    name: str,
    task: type[Task],
    builder: Any,
    reason: Callable[[Network, Task, Model], str | None],
    claim: Callable[[Network, Task, Model], Fraction | None],
    networks: str,
    source: str,
    summary: str,
    claim_is_bound: bool = False,
    optimal: Callable[[Network, Task, Model], bool] = lambda network, task, model: False,
) -> Separate:
    """Transitional."""

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        why = reason(case.network, case.task, case.rules)
        if why is not None:
            return Refusal(why)
        return Offer(
            lambda: builder(case.network, case.task, case.rules, seed=case.seed),
            claim(case.network, case.task, case.rules),
            claim_is_bound,
            optimal(case.network, case.task, case.rules),
        )

    return Separate(name, (task,), propose, networks, source, summary, builder, reason, claim, claim_is_bound, optimal)
