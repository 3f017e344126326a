"""Routing runs that are too large to keep: hops are checked as they are made, and forgotten."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.algorithms.routing.move_and_smooth.table import MOVE_AND_SMOOTH
from gossamer.cases import Case, Refusal
from gossamer.errors import NotApplicableError, nearest
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules.sinks import CheckingSink, PhaseRun
from gossamer.schedules.streaming import StreamVerification
from gossamer.tasks import Permutation, Task

__all__ = ["StreamedRun", "route_streaming"]


@dataclass(frozen=True)
class StreamedRun:
    """A routing run that the streaming checker has seen.

    Attributes
    ----------
    network, task, model, algorithm
        What was carried out.
    phases : tuple of PhaseRun
        Actual and guaranteed steps of every phase.
    found : StreamVerification
        Violations, delivery, buffers, hops.
    claim : Fraction
        Guaranteed completion time in steps.
    bound : Fraction
        The largest distance of a message in steps, which no schedule can beat.
    witness : str
        A message that has so far to go.
    seconds : float
        Wall time of it all; ``found.verification.seconds`` of it in the checker.
    """

    network: Network
    task: Task
    model: Model
    algorithm: str
    phases: tuple[PhaseRun, ...]
    found: StreamVerification
    claim: Fraction
    bound: Fraction
    witness: str
    seconds: float

    @property
    def completion_time(self) -> Fraction:
        """Completion time in steps when phases end with their last hop."""
        control = sum(phase.steps for phase in self.phases if phase.control)
        return sum(phase.steps for phase in self.phases if not phase.control) + control * self.model.control_time

    @property
    def hops_a_second(self) -> float:
        """Hops built and checked in a second."""
        return (self.found.hops + self.found.control_hops) / self.seconds if self.seconds else 0.0

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        verification, peak = self.found.verification, self.found.buffer
        seen = f"{verification.hops:,} hops replayed as they were made"
        verdict = f"yes: {seen}, no violation" if verification.ok else str(verification)
        data = sum(phase.steps for phase in self.phases if not phase.control)
        control = sum(phase.steps for phase in self.phases if phase.control)
        beside = "meets the bound: optimal"
        if self.completion_time != self.bound:
            ratio = f"{float(self.completion_time / self.bound):.4g}" if self.bound else "-"
            beside = f"{ratio} x the bound"
        where = "" if peak.node is None else f", first at {self.network.node_name(peak.node)} before slot {peak.slot}"
        return [
            ("network", f"{self.network.spec}: {self.network.node_count:,} nodes, {self.network.link_count:,} links"),
            ("task", self.task.describe()),
            ("algorithm", self.algorithm),
            ("claim", f"at most {float(self.claim):,.10g} steps"),
            ("completion time", f"{float(self.completion_time):,.10g} steps - {beside}"),
            ("lower bound", f"{float(self.bound):,.10g} steps ({self.witness})"),
            ("of which", f"{data:,} steps of messages, {control:,} of counting at {self.model.control_time} step each"),
            ("by phase", self._by_kind()),
            ("delivered", f"{self.found.delivered:,} messages"),
            ("held peak", f"{peak.packets} packets held at a node{where}"),
            ("hops", f"{self.found.hops:,}, and {self.found.control_hops:,} of control packets"),
            ("verified", verdict),
            (
                "took",
                f"{self.seconds:.3g} s, {verification.seconds:.3g} s of it to verify; "
                f"{self.hops_a_second / 1e6:.3g} million hops a second",
            ),
        ]

    def __repr__(self) -> str:
        times = f"{self.completion_time} steps, bound {self.bound}"
        return f"<StreamedRun {self.task.name} on {self.network.spec}: {times}, {self.algorithm}>"

    def _by_kind(self) -> str:
        """Return the steps of all phases of a kind together, in words."""
        sums: dict[str, list[int]] = {}
        for phase in self.phases:
            both = sums.setdefault(phase.name.split()[0], [0, 0])
            both[0] += phase.steps
            both[1] += phase.steps if phase.guaranteed is None else phase.guaranteed
        return ", ".join(f"{kind} {steps:,} of {most:,}" for kind, (steps, most) in sums.items()) + " guaranteed"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; times in steps."""
        return {
            "network": self.network.spec,
            "nodes": self.network.node_count,
            "task": self.task.name,
            "model": self.model.to_dict(),
            "algorithm": self.algorithm,
            "completion_time": float(self.completion_time),
            "bound": float(self.bound),
            "bound_name": "distance",
            "claim": float(self.claim),
            "claim_is_bound": True,
            "verified": self.found.verification.ok,
            "violations": self.found.verification.counts,
            "delivered": self.found.delivered,
            "held_peak": self.found.buffer.packets,
            "hops": self.found.hops,
            "control_hops": self.found.control_hops,
            "seconds": self.seconds,
            "verify_seconds": self.found.verification.seconds,
            "hops_a_second": self.hops_a_second,
            "phases": [
                {"name": p.name, "steps": p.steps, "guaranteed": p.guaranteed, "control": p.control}
                for p in self.phases
            ],
        }

    def _repr_html_(self) -> str:
        from html import escape

        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in self.rows()
        )
        return f"<table>{cells}</table>"


def route_streaming(
    network: Network,
    task: Task,
    model: Model | None = None,
    algorithm: str = "Q",
    progress: Callable[[str], None] | None = None,
) -> StreamedRun:
    """Route a permutation by a move-and-smooth algorithm, checking every hop as it is made and keeping none.

    Parameters
    ----------
    network : Network
        An array.
    task : Permutation
        Full or partial.
    model : Model, optional
        Default ``Model()``; with a buffer limit, `buffer_counts` must be ``"all"``.
    algorithm : str
        A name of this family without ``-clock``, such as ``"Q"`` or ``"H"``.
    progress : callable, optional
        Called with a line of text as the run goes on.

    Raises
    ------
    NotApplicableError
        If there is no such algorithm or it does not cover the case.
    VerificationError
        If the checker finds a violation.

    Notes
    -----
    O(nodes) memory beside columns for a few million hops. Time linear in the hops.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.algorithms.routing.move_and_smooth import route_streaming
    >>> task = gossamer.task("permutation", destination=list(range(63, -1, -1)))
    >>> run = route_streaming(gossamer.network("array:8x8"), task)
    >>> run.completion_time, run.claim, run.bound, bool(run.found), run.found.delivered
    (Fraction(14, 1), Fraction(24, 1), Fraction(14, 1), True, 64)
    """
    case = Case(network, task, model)
    known = {a.name: a for a in MOVE_AND_SMOOTH if not a.name.endswith("-clock")}
    if algorithm not in known:
        names = ", ".join(known)
        raise NotApplicableError(
            f"no streaming for algorithm {algorithm!r}{nearest(algorithm, known)}; there are: {names}"
        )
    offers = known[algorithm].offers(case, streamed=True)
    if isinstance(offers, Refusal) or not isinstance(task, Permutation):
        raise NotApplicableError(f"algorithm {algorithm!r} does not cover {task.name} on {network.spec}: it {offers}")
    began = time.perf_counter()
    sink = CheckingSink(case, progress)
    assert offers[0].stream is not None
    assert offers[0].time is not None
    offers[0].stream(sink)
    found = sink.checker.finish()
    found.verification.raise_if_invalid()
    seconds = time.perf_counter() - began
    bound = _distance(network, task)
    phases = tuple(sink.phases)
    return StreamedRun(network, task, case.rules, algorithm, phases, found, offers[0].time, *bound, seconds)


def _distance(network: Network, task: Permutation) -> tuple[Fraction, str]:
    """Return the largest distance of a message on an array, and which message has to go it."""
    assert network.grid is not None  # the algorithms cover arrays only
    target = np.array(task.destination, np.int64)
    source = np.flatnonzero(target >= 0)
    both = zip(*(np.unravel_index(v, network.grid.sides) for v in (source, target[source])), strict=True)
    far = sum((np.abs(a - b) for a, b in both), np.zeros(source.size, np.int64))
    most = int(far.max(initial=0))
    if not most:
        return Fraction(0), "nothing to do: every message is where it must end"
    u = int(source[far.argmax()])
    where = f"a message of node {network.node_name(u)} must reach node {network.node_name(int(target[u]))}"
    return Fraction(most), f"distance: {where}, {most:,} hops away"
