"""The algorithm contract, and the algorithms that follow from others by time reversal and composition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from gossamer.errors import NotApplicableError
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule, then
from gossamer.tasks import Allreduce, MultinodeBroadcast, Task

__all__ = ["Algorithm", "Builder", "allreduce_from", "dual"]


class Builder(Protocol):
    """What builds a schedule. `seed` feeds its random choices; a builder without any ignores it."""

    def __call__(self, network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        """Return the schedule; `Algorithm.build` has asked `Algorithm.reason` before."""
        ...


@dataclass(frozen=True)
class Algorithm:
    """A named way to carry out a task.

    Attributes
    ----------
    name : str
        Unique among the algorithms of its task; what ``--algorithm`` takes.
    task : type of Task
        The task it carries out.
    builder : Builder
        The plain function that makes the schedule.
    reason : callable
        ``(network, task, model) -> str | None``: why it does not cover the case, in a clause ("needs an array or a
        torus"), or None when it does.
    claim : callable
        ``(network, task, model) -> Fraction | None``: completion time in steps that the source promises, None where it
        promises nothing. An exact time unless `claim_is_bound`.
    networks, source, summary : str
        For people: what it covers, where it comes from, what it does in one line.
    claim_is_bound : bool
        Whether the claim is an upper bound rather than the exact time.
    optimal : callable
        ``(network, task, model) -> bool``: whether the source promises to meet a lower bound on this case.
    """

    name: str
    task: type[Task]
    builder: Builder
    reason: Callable[[Network, Task, Model], str | None]
    claim: Callable[[Network, Task, Model], Fraction | None]
    networks: str
    source: str
    summary: str
    claim_is_bound: bool = False
    optimal: Callable[[Network, Task, Model], bool] = lambda network, task, model: False

    def covers(self, network: Network, task: Task, model: Model) -> bool:
        """Whether the algorithm builds a schedule for this case."""
        return isinstance(task, self.task) and self.reason(network, task, model) is None

    def build(self, network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        """Return the schedule.

        Raises
        ------
        NotApplicableError
            If the algorithm does not cover the case, with the reason.
        """
        if not isinstance(task, self.task):
            raise NotApplicableError(f"algorithm {self.name!r} is for {self.task.name}, not for {task.name}")
        task.check(network)
        reason = self.reason(network, task, model)
        if reason is not None:
            case = f"{task.name} on {network.spec}"
            raise NotApplicableError(f"algorithm {self.name!r} does not cover {case}: it {reason}")
        return self.builder(network, task, model, seed=seed).replace(algorithm=self.name)


def _forward_model(model: Model) -> Model:
    """Return a model whose schedules, reversed, obey `model`."""
    return replace(model, ports="one") if model.ports == "one-send" else model


def dual(algorithm: Algorithm, kind: type[Task]) -> Algorithm:
    """Return the algorithm for the dual task `kind` that reverses the schedules of `algorithm` in time.

    Claims carry over, because reversal keeps the time. With ports ``one-send`` it reverses a schedule with ports
    ``one``, which obeys both.
    """

    def build(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        forward = algorithm.builder(network, task.dual(network), _forward_model(model), seed=seed)
        return forward.reverse().replace(model=model)

    def reason(network: Network, task: Task, model: Model) -> str | None:
        if network.link_count and int(network.reverse_link.min()) < 0:
            return "needs an opposite for every link"
        return algorithm.reason(network, task.dual(network), _forward_model(model))

    return Algorithm(
        name=f"reversed-{algorithm.name}",
        task=kind,
        builder=build,
        reason=reason,
        claim=lambda n, t, m: algorithm.claim(n, t.dual(n), _forward_model(m)),
        networks=algorithm.networks,
        source=f"time reversal of: {algorithm.source}",
        summary=f"runs the schedule of {algorithm.name} backwards",
        claim_is_bound=algorithm.claim_is_bound,
        optimal=lambda n, t, m: m.ports != "one-send" and algorithm.optimal(n, t.dual(n), m),
    )


def allreduce_from(algorithm: Algorithm) -> Algorithm:
    """Return the allreduce that runs a multinode broadcast `algorithm` backwards and then forwards."""

    def twice(network: Network, task: Task, model: Model) -> Fraction | None:
        once = algorithm.claim(network, MultinodeBroadcast(), _forward_model(model))
        return None if once is None else 2 * once

    def build(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        gather = algorithm.builder(network, MultinodeBroadcast(), _forward_model(model), seed=seed)
        return then(gather.reverse(), gather).replace(model=model)

    def reason(network: Network, task: Task, model: Model) -> str | None:
        if network.link_count and int(network.reverse_link.min()) < 0:
            return "needs an opposite for every link"
        return algorithm.reason(network, MultinodeBroadcast(), _forward_model(model))

    return Algorithm(
        name=f"two-way-{algorithm.name}",
        task=Allreduce,
        builder=build,
        reason=reason,
        claim=twice,
        networks=algorithm.networks,
        source=f"reduce-scatter, then allgather, both by: {algorithm.source}",
        summary=f"runs {algorithm.name} backwards, combining, and then forwards",
        claim_is_bound=algorithm.claim_is_bound,
    )
