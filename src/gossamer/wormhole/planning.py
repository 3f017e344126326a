"""The planner for wormhole switching: choose an algorithm, build, verify, and set the time beside the bounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gossamer.bounds import Bound
from gossamer.bounds.compared import Compared, peak_memory
from gossamer.costs import LinearCost
from gossamer.errors import NotApplicableError, nearest
from gossamer.networks.network import Network
from gossamer.reading import whole
from gossamer.schedules.violations import Verification
from gossamer.tasks import Task
from gossamer.wormhole.algorithm import WormholeAlgorithm
from gossamer.wormhole.bounds import bounds
from gossamer.wormhole.channels import Channels
from gossamer.wormhole.checker import verify
from gossamer.wormhole.partition import common_divisors
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["WormholePlan", "applicable", "check_partition_side", "plan"]


_EVERY_SIDE = 4_000_000  # nodes times messages


@dataclass(frozen=True)
class WormholePlan(Compared):
    """A wormhole schedule that the checker accepted, and what can be said about it.

    Attributes
    ----------
    schedule : WormholeSchedule
        The schedule.
    verification : Verification
        What the checker said; always without violations.
    bounds : tuple of Bound
        Lower bounds in the model's time unit, the largest first.
    claim : Fraction or None
        Completion time by the algorithm's closed form.
    claim_is_bound : bool
        Whether the claim is an upper bound rather than an exact time.
    options : dict
        Options that the algorithm was built with, such as ``h``, the side of the blocks of a partition.
    build_seconds, verify_seconds : float
        Wall time of the builder and of the checker.
    peak_memory : int
        Largest resident size of the process so far, in bytes.
    """

    schedule: WormholeSchedule
    verification: Verification
    bounds: tuple[Bound, ...]
    claim: Fraction | None
    claim_is_bound: bool
    options: dict[str, Any]
    build_seconds: float
    verify_seconds: float
    peak_memory: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; times in the model's unit, exact ones also as fractions in text."""
        s = self.schedule
        return {
            "network": s.network.spec,
            "nodes": s.network.node_count,
            "channels": int(s.channels.exists.sum()),
            "task": s.task.name,
            "switching": "wormhole",
            "model": s.cost.to_dict(),
            "algorithm": self.algorithm,
            "options": self.options,
            **self.times(),
            "phases": [{"name": p.name, "steps": p.steps, "startups": n, "bytes": v} for p, n, v in self._phases()],
            "steps": s.step_count,
            "startups": s.startups,
            "transmission_bytes": s.volume,
            "transmission_messages": s.volume / s.cost.message_bytes,
            "messages": s.message_count,
            "pieces": s.packets.count,
            "channel_utilization": float(s.channel_utilization),
            **self.expense(),
        }

    def _phases(self) -> list[tuple[Any, int, int]]:
        """Return each phase with its start-ups and the bytes that its steps last."""
        found, lengths = [], self.schedule.step_length
        for phase in self.schedule.phases:
            part = lengths[phase.first_step : phase.first_step + phase.steps]
            found.append((phase, int((part >= 0).sum()), int(part[part > 0].sum())))
        return found

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        s, size = self.schedule, self.schedule.cost.message_bytes
        options = "".join(f", {name} = {value}" for name, value in self.options.items())
        volume = f"{s.volume:,} bytes = {s.volume / size:.4g} messages, one after the other"
        shown = [f"{p.name} {n} ({v / size:.4g})" for p, n, v in self._phases()[:_PHASES]]
        more = f", and {len(s.phases) - _PHASES:,} more phases" if len(s.phases) > _PHASES else ""
        return [
            ("network", f"{s.network.spec}: {s.network.node_count:,} nodes, {int(s.channels.exists.sum()):,} channels"),
            ("task", s.task.describe()),
            ("model", f"wormhole switching, {s.cost.describe()}"),
            ("algorithm", self.algorithm + options),
            *self.time_rows(),
            ("start-ups", f"{s.startups:,}"),
            ("transmission", volume),
            ("by phase", f"start-ups (messages): {', '.join(shown) or 'none'}{more}"),
            ("schedule", f"{s.step_count:,} steps, {s.message_count:,} messages, {s.packets.count:,} pieces"),
            ("channel utilization", f"{float(s.channel_utilization):.1%} of the transmission time"),
            ("verified", f"yes: {self.verification.hops:,} channel hops replayed, no violation"),
            self.expense_row(),
        ]

    def time_text(self, value: Fraction) -> str:
        """Return a time in the model's unit."""
        return f"{value.numerator:,}" if value.denominator == 1 else f"{value} = {float(value):.6g}"

    def __repr__(self) -> str:
        s = self.schedule
        times = f"{self.completion_time}, bound {self.bound}"
        return f"<WormholePlan {s.task.name} on {s.network.spec}: {times}, {self.algorithm}>"


_PHASES = 12
"""Phases that are told one by one."""


def check_partition_side(network: Network, h: Any) -> int:
    """Return the side of the blocks of a partition, or raise a ModelError if it does not divide every side.

    >>> import gossamer
    >>> check_partition_side(gossamer.network("torus:10x10"), 5)
    5
    """
    allowed = common_divisors(Channels(network).sides)
    listed = f"a divisor of every side of {network.spec}, one of {', '.join(map(str, allowed))}, or auto"
    return whole(h, "the partition side h", among=allowed, allowed=listed)


def applicable(network: Network, task: Task, cost: LinearCost, **options: Any) -> list[WormholeAlgorithm]:
    """Return the wormhole algorithms that cover the case, the smallest claim first.

    Raises
    ------
    NotApplicableError
        If there is none, with the reason that each algorithm of the task gives.
    NetworkError
        If the network is no array or torus.
    """
    Channels(network)
    of_task = [a for a in WORMHOLE_ALGORITHMS if isinstance(task, a.task)]
    if not of_task:
        raise NotApplicableError(f"no wormhole algorithm for {task.name} yet")
    reasons = {a.name: a.declines(network, task, cost, **options) for a in of_task}
    covering = [a for a in of_task if reasons[a.name] is None]
    if not covering:
        told = "; ".join(f"{name} {reason}" for name, reason in reasons.items())
        raise NotApplicableError(f"no wormhole algorithm covers {task.name} on {network.spec}: {told}")
    claims = {a.name: a.claim(network, task, cost, **options) for a in covering}
    return sorted(covering, key=lambda a: (claims[a.name] is None, claims[a.name] or 0))


def _choices(
    algorithm: WormholeAlgorithm, network: Network, task: Task, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the options with which to try an algorithm: with every side of a partition that is allowed, if it is open.

    The closed form by which an algorithm would choose it is only an upper bound. Where schedules are large, it does.
    """
    sources = int(task.messages(network).ids.size)
    if options or "h" not in algorithm.options or network.node_count * sources > _EVERY_SIDE:
        return [options]
    return [{"h": h} for h in common_divisors(Channels(network).sides)]


def _named(name: str, task: Task) -> WormholeAlgorithm:
    of_task = {a.name: a for a in WORMHOLE_ALGORITHMS if isinstance(task, a.task)}
    if name not in of_task:
        names = ", ".join(of_task) or "none yet"
        hint = nearest(name, of_task)
        raise NotApplicableError(f"no wormhole algorithm {name!r} for {task.name}{hint}; there are: {names}")
    return of_task[name]


def plan(
    network: Network,
    task: Task,
    cost: LinearCost,
    algorithm: str = "best",
    seed: int = 0,
    h: int | str = "auto",
    progress: Callable[[str], None] | None = None,
) -> WormholePlan:
    """Plan a task with wormhole messages: choose an algorithm, build, verify, and set it beside the bounds.

    Parameters
    ----------
    network : Network
        An array or torus.
    task : Task
        What must be communicated.
    cost : LinearCost
        Costs and message length.
    algorithm : str
        ``"best"`` for the fastest that covers the case, or a name.
    seed : int
        For builders that make random choices.
    h : int or "auto"
        Side of the blocks of a partition. With ``"auto"`` a named algorithm chooses it by its closed form; with a
        number, ``"best"`` looks only at algorithms that take it.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    WormholePlan
        Never of a schedule that the checker refused.

    Raises
    ------
    GossamerError
        If network, task or h are illegal or no algorithm covers the case.

    Notes
    -----
    ``"best"`` tries every side of a partition, except for very large schedules. It builds in the order of the closed
    forms and passes over what cannot beat the best time found, by its
    closed form or by its `WormholeAlgorithm.least`. A closed form that is only an upper bound passes over nothing.

    Examples
    --------
    >>> import gossamer
    >>> model = LinearCost(startup=10, message_bytes=8)
    >>> p = plan(gossamer.network("torus:3x3"), gossamer.task("broadcast"), cost, algorithm="sequential-broadcasts")
    >>> p.completion_time, p.bound
    (Fraction(36, 1), Fraction(22, 1))
    """
    Channels(network)
    task.check(network)
    options: dict[str, Any] = {} if h == "auto" else {"h": check_partition_side(network, h)}
    say = progress or (lambda stage: None)
    candidates = applicable(network, task, cost, **options) if algorithm == "best" else [_named(algorithm, task)]
    say("computing lower bounds")
    limits = bounds(network, task, cost)
    best: tuple[WormholeSchedule, WormholeAlgorithm, dict[str, Any], float] | None = None
    for candidate in candidates:
        for choice in _choices(candidate, network, task, options) if algorithm == "best" else [options]:
            if best is not None:
                reached = best[0].completion_time
                promised = None if candidate.claim_is_bound else candidate.claim(network, task, cost, **choice)
                if reached <= max(limits[0].value, promised or 0, candidate.least(network, task, cost, **choice)):
                    continue
            say(f"building with {candidate.name}")
            began = time.perf_counter()
            schedule = candidate.build(network, task, cost, seed=seed, **choice)
            seconds = time.perf_counter() - began
            if best is None or schedule.completion_time < best[0].completion_time:
                best = (schedule, candidate, choice, seconds)
    assert best is not None  # candidates is never empty
    schedule, chosen, options, seconds = best
    say(f"verifying {schedule.message_count:,} messages")
    verification = verify(schedule)
    verification.raise_if_invalid()
    return WormholePlan(
        schedule,
        verification,
        limits,
        chosen.claim(network, task, cost, **options),
        chosen.claim_is_bound,
        chosen.settled(network, task, cost, **options),
        seconds,
        verification.seconds,
        peak_memory(),
    )
