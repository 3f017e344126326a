"""The planner: from a network and a task to a verified schedule beside a lower bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from gossamer.algorithms import ALGORITHMS, Algorithm
from gossamer.bounds import Bound, bounds
from gossamer.bounds.compared import Compared, peak_memory
from gossamer.cases import Case, Offer, Refusal
from gossamer.costs import LinearCost
from gossamer.errors import ModelError, NotApplicableError, nearest
from gossamer.model import Model, Ports
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.schedules import BufferPeak, Schedule, Verification, buffer_peak, link_utilization, verify
from gossamer.tasks import OneToManyRouting, Permutation, Task
from gossamer.tasks import task as parse_task
from gossamer.tasks.patterns import patterned_task
from gossamer.writing import quantity

if TYPE_CHECKING:
    from gossamer.wormhole.planning import WormholePlan

__all__ = ["Plan", "applicable", "plan"]


@dataclass(frozen=True)
class Plan(Compared):
    """A schedule that the checker accepted, and what can be said about it.

    Attributes
    ----------
    schedule : Schedule
        The schedule.
    verification : Verification
        What the checker said; always without violations.
    bounds : tuple of Bound
        Every lower bound, the largest first.
    claim : Fraction or None
        Completion time in steps that the algorithm's source promises.
    claim_is_bound : bool
        Whether the claim is an upper bound rather than an exact time.
    link_utilization : Fraction
        Share of link capacity used by message packets over the completion time.
    buffer : BufferPeak
        The most packets in transit at a node.
    held : BufferPeak or None
        In routing tasks the most packets that a node holds, its own and the delivered ones included.
    build_seconds, verify_seconds : float
        Wall time of the builder and of the checker.
    peak_memory : int
        Largest resident size of the process so far, in bytes.
    """

    schedule: Schedule
    verification: Verification
    bounds: tuple[Bound, ...]
    claim: Fraction | None
    claim_is_bound: bool
    link_utilization: Fraction
    buffer: BufferPeak
    held: BufferPeak | None
    build_seconds: float
    verify_seconds: float
    peak_memory: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; times in steps, exact ones also as fractions in text."""
        s = self.schedule
        return {
            "network": s.network.spec,
            "nodes": s.network.node_count,
            "links": s.network.link_count,
            "task": s.task.name,
            "model": s.model.to_dict(),
            "algorithm": self.algorithm,
            **self.times(),
            "invariant": s.invariant,
            "parts": s.parts,
            "phases": [{"name": p.name, "slots": p.slots, "slot_length": str(p.slot_length)} for p in s.phases],
            "slots": s.slot_count,
            "hops": s.hop_count,
            "packets": s.packet_count,
            "stored_hops": s.stored_hops,
            "link_utilization": float(self.link_utilization),
            "buffer_peak": self.buffer.packets,
            "held_peak": None if self.held is None else self.held.packets,
            **self.expense(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        s = self.schedule
        stored = f", {s.stored_hops:,} stored (invariant)" if s.invariant else ""
        parts = f", messages in {s.parts} parts" if s.parts > 1 else ""
        control = [p for p in s.phases if p.control]
        together = "" if self.held is None else f", {self.held.packets:,} with its own and those delivered"
        rows = [
            ("network", f"{s.network.spec}: {s.network.node_count:,} nodes, {s.network.link_count:,} links"),
            ("task", s.task.describe()),
            ("model", f"ports {s.model.ports}, {'split' if s.model.split else 'whole'} messages{parts}"),
            ("algorithm", self.algorithm),
            *self.time_rows(),
            ("schedule", f"{s.slot_count:,} slots, {s.hop_count:,} hops{stored}, {s.packet_count:,} packets"),
            ("link utilization", f"{float(self.link_utilization):.1%}"),
            ("buffer peak", f"{quantity(self.buffer.packets, 'packet')} in transit at a node{together}"),
            ("verified", f"yes: {self.verification.hops:,} hops replayed, no violation"),
            self.expense_row(),
        ]
        if control:
            slots = sum(p.slots for p in control)
            text = f"{slots} slots of control packets at t_p = {s.model.control_time} step"
            rows.insert(6, ("of which", f"{text} (set it with --control-time)"))
        return rows

    def time_text(self, value: Fraction) -> str:
        """Return a time in steps."""
        exact = f"{value.numerator:,}" if value.denominator == 1 else f"{value} = {float(value):.4g}"
        return f"{exact} step{'' if value == 1 else 's'}"

    def __repr__(self) -> str:
        s = self.schedule
        times = f"{self.completion_time} steps, bound {self.bound}"
        return f"<Plan {s.task.name} on {s.network.spec}: {times}, {self.algorithm}>"


def applicable(case: Case) -> list[tuple[Algorithm, Offer[Schedule]]]:
    """Return the offers of the algorithms that cover the case, the smallest promise first.

    Raises
    ------
    NotApplicableError
        If there is none, with the reason that each algorithm of the task gives.
    """
    of_task = [a for a in ALGORITHMS if isinstance(case.task, a.tasks)]
    found: list[tuple[Algorithm, Offer[Schedule]]] = []
    refusals = []
    for algorithm in of_task:
        offers = algorithm.offers(case)
        if isinstance(offers, Refusal):
            refusals.append(f"{algorithm.name} {offers}")
        else:
            found += [(algorithm, offer) for offer in offers]
    if found:
        return sorted(found, key=lambda pair: (pair[1].time is None, pair[1].time or 0))
    if not of_task:
        raise NotApplicableError(f"no algorithm for {case.task.name} yet; its lower bounds are known (gossamer bounds)")
    where = f"{case.task.name} on {case.network.spec} with ports {case.rules.ports}"
    raise NotApplicableError(f"no algorithm covers {where}: {'; '.join(refusals)}")


def _named(name: str, task: Task) -> Algorithm:
    of_task = {a.name: a for a in ALGORITHMS if isinstance(task, a.tasks)}
    if name not in of_task:
        names = ", ".join(of_task) or "none yet"
        raise NotApplicableError(f"no algorithm {name!r} for {task.name}{nearest(name, of_task)}; there are: {names}")
    return of_task[name]


@overload
def plan(
    network: Network | str,
    task: Task | str,
    model: Model | None = None,
    *,
    algorithm: str = "best",
    seed: int = 0,
    ports: Ports | None = None,
    split: bool | None = None,
    progress: Callable[[str], None] | None = None,
    **fields: Any,
) -> Plan: ...


@overload
def plan(
    network: Network | str,
    task: Task | str,
    model: LinearCost,
    *,
    algorithm: str = "best",
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **fields: Any,
) -> WormholePlan: ...


def plan(
    network: Network | str,
    task: Task | str,
    model: Model | LinearCost | None = None,
    *,
    algorithm: str = "best",
    seed: int = 0,
    ports: Ports | None = None,
    split: bool | None = None,
    progress: Callable[[str], None] | None = None,
    **fields: Any,
) -> Plan | WormholePlan:
    """Plan a task on a network: choose an algorithm, build its schedule, verify it, and set it beside the bounds.

    Parameters
    ----------
    network : Network or str
        A network, or its spec such as ``"torus:8x8"``.
    task : Task or str
        A task, or its name such as ``"allgather"``, with its fields as further keywords (``root=``, ``active=``).
        A routing task takes ``pattern=``, a name of `gossamer.tasks.patterns.PATTERNS`, instead of its destinations,
        and ``density=``, the share of its messages that are kept.
    model : Model or LinearCost, optional
        Default: store and forward, all ports, whole messages; `ports` and `split` change just these. With a
        `LinearCost` the plan is for wormhole switching, and ``h=`` sets the side of the blocks of a partition.
    algorithm : str
        ``"best"`` for the fastest that covers the case, or a name.
    seed : int
        For builders that make random choices, and for random patterns.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Plan or WormholePlan
        Never of a schedule that the checker refused.

    Raises
    ------
    GossamerError
        If the spec, task or model is illegal or no algorithm covers the case.

    Notes
    -----
    ``"best"`` builds in the order of the claims and stops as soon as no remaining claim can beat the best time found.

    Examples
    --------
    >>> import gossamer
    >>> p = gossamer.plan("torus:4x4", "allgather")
    >>> p.completion_time, p.bound, p.optimal
    (Fraction(4, 1), Fraction(4, 1), True)
    """
    if isinstance(network, str):
        network = parse_network(network)
    side = fields.pop("h", "auto") if isinstance(model, LinearCost) else "auto"
    if isinstance(task, str) and "pattern" in fields:
        task = patterned_task(task, network, fields.pop("pattern"), seed=seed, density=fields.pop("density", 1.0))
    elif isinstance(task, str):
        task, fields = parse_task(task, **fields), {}
    if fields:
        raise ModelError(f"unexpected keyword {next(iter(fields))!r}; the task is given already")
    if isinstance(model, LinearCost):
        if ports is not None or split is not None:
            raise ModelError("ports and split are not choices of wormhole switching; it uses all ports")
        from gossamer.wormhole.planning import plan as plan_wormhole

        return plan_wormhole(network, task, model, algorithm, seed, side, progress)
    if model is not None and not isinstance(model, Model):
        raise ModelError(f"model must be a gossamer.Model or a gossamer.LinearCost, got {model!r}")
    model = model or Model()
    if ports is not None or split is not None:
        model = Model(
            ports=ports if ports is not None else model.ports,
            split=split if split is not None else model.split,
            control_time=model.control_time,
            buffer=model.buffer,
            buffer_counts=model.buffer_counts,
        )
    case = Case(network, task, model, seed=seed)
    say = progress or (lambda stage: None)
    if algorithm == "best":
        candidates = applicable(case)
    else:
        named = _named(algorithm, task)
        candidates = [(named, named.offer(case))]
    say("computing lower bounds")
    limits = bounds(case)
    least = limits[0].value if limits else Fraction(0)

    best: tuple[Schedule, Verification, Offer[Schedule], float] | None = None
    for candidate, offer in candidates:
        if best is not None and best[0].completion_time <= max(least, offer.floor):
            continue
        say(f"building with {candidate.name}")
        began = time.perf_counter()
        schedule = offer.build().replace(algorithm=candidate.name)
        seconds = time.perf_counter() - began
        say(f"verifying {schedule.stored_hops:,} hops")
        verification = verify(schedule)
        verification.raise_if_invalid()
        if best is None or schedule.completion_time < best[0].completion_time:
            best = (schedule, verification, offer, seconds)
    assert best is not None  # candidates is never empty
    schedule, verification, chosen, seconds = best
    say("measuring links and buffers")
    return Plan(
        schedule,
        verification,
        limits,
        chosen.time,
        chosen.at_most,
        link_utilization(schedule),
        buffer_peak(schedule),
        buffer_peak(schedule, "all") if isinstance(task, Permutation | OneToManyRouting) else None,
        seconds,
        verification.seconds,
        peak_memory(),
    )
