"""The algorithm contract, and the algorithms that follow from others: reversed, composed, or folded into an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from gossamer.algorithms.reasons import all_ports_reason, opposite_reason
from gossamer.errors import NotApplicableError
from gossamer.model import Model
from gossamer.networks.grids import torus
from gossamer.networks.network import Network
from gossamer.schedules import Schedule, then, torus_on_array
from gossamer.schedules.schedule import too_many_hops
from gossamer.schedules.torus_on_array import task_on_torus
from gossamer.tasks import Allreduce, MultinodeBroadcast, Task

__all__ = ["Algorithm", "Builder", "allreduce_from", "dual", "on_array"]


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
        return opposite_reason(network) or algorithm.reason(network, task.dual(network), _forward_model(model))

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
        return opposite_reason(network) or algorithm.reason(network, MultinodeBroadcast(), _forward_model(model))

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


_torus = lru_cache(maxsize=4)(torus)


def on_array(
    algorithm: Algorithm,
    hops: Callable[[Network], int],
    optimal: Callable[[Network, Task, Model], bool] | None = None,
) -> Algorithm:
    """Return the algorithm for arrays that folds the schedules of `algorithm` for the torus of the same shape.

    The task that is asked for is carried out, whichever nodes it names: the torus is given `task_on_torus`. Takes
    twice the time (Varvarigos and Bertsekas 1994, section 2). `hops` says how many hops on an array are written out at
    most, `optimal` where the time is a promise to meet a lower bound.
    """

    def on_torus(network: Network, task: Task) -> tuple[Network, Task]:
        assert network.grid is not None
        wrapped = _torus(*network.grid.sides)
        assert wrapped.grid is not None
        return wrapped, task_on_torus(task, wrapped.grid)

    def build(network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        folded = torus_on_array(algorithm.builder(*on_torus(network, task), model, seed=seed))
        return folded.replace(network=network, task=task)

    def reason(network: Network, task: Task, model: Model) -> str | None:
        if network.grid is None or any(network.grid.wraps):
            return "needs an array"
        if max(network.grid.sides) < 3:
            return "needs a side of 3 nodes or more"
        if network.uniform_capacity != 1:
            return "needs links of capacity 1"
        reason = all_ports_reason(model) or too_many_hops(hops(network))
        return reason or algorithm.reason(*on_torus(network, task), model)

    def claim(network: Network, task: Task, model: Model) -> Fraction | None:
        once = algorithm.claim(*on_torus(network, task), model)
        return None if once is None else 2 * once

    return Algorithm(
        name=f"{algorithm.name}-on-array",
        task=algorithm.task,
        builder=build,
        reason=reason,
        claim=claim,
        networks=f"arrays, folded from {algorithm.networks}",
        source=f"{algorithm.source}; torus on an array by Varvarigos and Bertsekas 1994, section 2",
        summary=f"folds the schedule of {algorithm.name} for the torus into the array of the same shape",
        claim_is_bound=algorithm.claim_is_bound,
        optimal=optimal or (lambda network, task, model: False),
    )
