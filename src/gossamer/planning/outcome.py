"""What planning returns: a verified schedule beside its bounds, or several ways compared."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gossamer.atomic_files import (
    Rows,
    Tabled,
    attributes,
    bandwidth_text,
    bytes_text,
    html_rows,
    html_summary,
    html_table,
    memory_text,
    plain,
    quantity,
    seconds_text,
)
from gossamer.bounds import Bound
from gossamer.display_registry import display
from gossamer.errors import ScheduleError
from gossamer.networks.derived import Renumbered
from gossamer.networks.network import Network
from gossamer.planning.allreduce_variants import VariantTime
from gossamer.planning.switching import SHORT, Facts, Switching
from gossamer.questions.cases import Case, Offer
from gossamer.questions.costs import Clock, Cost
from gossamer.questions.tasks import Allreduce, Task, Together, in_packets, includes
from gossamer.verification import Verification

__all__ = ["Comparison", "Expense", "Outcome", "measured_text", "peak_memory"]


@dataclass(frozen=True)
class Expense:
    """What an outcome took: seconds of CPU time to build and to verify, bytes held, and the peak of the process."""

    build_seconds: float
    verify_seconds: float
    schedule_bytes: int
    peak_memory: int


@dataclass(frozen=True)
class Outcome(Rows):
    """What planning a case by one algorithm came to: never of a schedule that the checker refused.

    Attributes
    ----------
    case : Case
        What was asked.
    switching : Switching
        How messages travel.
    algorithm : str
        Name of the algorithm.
    offer : Offer
        What the algorithm had promised.
    schedule : Schedule, WormholeSchedule or None
        The schedule; None if it was checked as it was made and not kept.
    completion_time : Fraction
        Completion time in the unit of the case's cost, exact.
    verification : Verification
        What the checker said; always without violations.
    bounds : tuple of Bound
        Lower bounds in the same unit: those of what was asked, the largest first, then those of narrower scopes.
    facts : Facts
        What was measured of the schedule.
    expense : Expense
        What it took.
    stopped : str
        Why not all offers were tried, or an empty text.
    forms : tuple of VariantTime
        The form, or the number of packets a message, in which a task of some bytes is carried out, and then the others.
    asked : Task or None
        The task that was asked for, where the planner chose among forms.
    """

    case: Case
    switching: Switching[Any, Any]
    algorithm: str
    offer: Offer[Any]
    schedule: Any
    completion_time: Fraction
    verification: Verification
    bounds: tuple[Bound, ...]
    facts: Facts
    expense: Expense
    stopped: str = ""
    forms: tuple[VariantTime, ...] = ()
    asked: Task | None = None

    @property
    def claim(self) -> Fraction | None:
        """Completion time that the algorithm's source promises, None where it promises nothing."""
        return self.offer.time

    @property
    def claim_is_bound(self) -> bool:
        """Whether the claim is an upper bound rather than the exact time."""
        return self.offer.at_most

    @property
    def options(self) -> Mapping[str, Any]:
        """Options that the schedule was built with, such as ``h``, the side of the blocks of a partition."""
        return self.offer.options

    @property
    def bound(self) -> Fraction:
        """The largest lower bound of what was asked; 0 when there is nothing to do."""
        return self.bounds[0].value if self.bounds else Fraction(0)

    @property
    def bound_name(self) -> str:
        """Name of the largest lower bound."""
        return self.bounds[0].name if self.bounds else "nothing to do"

    @property
    def bound_scope(self) -> str:
        """The schedules that do not beat the bound; empty if none does."""
        return self.bounds[0].scope if self.bounds else ""

    @property
    def among(self) -> str | None:
        """The schedules among which this one is optimal: empty if all, None if no bound is met."""
        met = [b.scope for b in self.bounds if b.value == self.completion_time]
        return min(met, key=len) if met else None if self.bounds or self.completion_time else ""

    @property
    def ratio(self) -> float | None:
        """Completion time over bound; None where the bound is 0 and the time is not."""
        if self.bound:
            return float(self.completion_time / self.bound)
        return None if self.completion_time else 1.0

    @property
    def ratio_text(self) -> str:
        """The ratio for a column; "optimal", with a star where that is so among some schedules only."""
        if self.optimal:
            return "optimal*" if self.among else "optimal"
        return "-" if self.ratio is None else f"{self.ratio:.3f}"

    def _narrower(self) -> list[Bound]:
        """Return the largest bound of a narrower scope that is larger than the bound, if there is one."""
        return sorted((b for b in self.bounds if b.value > self.bound), key=lambda b: -b.value)[:1]

    @property
    def optimal(self) -> bool:
        """Whether the completion time meets the bound, which proves it optimal among the schedules of its scope."""
        return self.completion_time == self.bound

    @property
    def clock(self) -> Clock | None:
        """The clock that tells seconds; None where the case is not of bytes over links with bandwidths."""
        return self.case.cost if isinstance(self.case.cost, Clock) else None

    @property
    def seconds(self) -> Fraction | None:
        """Completion time in seconds, or None."""
        return None if self.clock is None else self.clock.seconds(self.completion_time)

    @property
    def bound_seconds(self) -> Fraction | None:
        """The largest lower bound in seconds, on the links' times as rounded up to slots, or None."""
        return None if self.clock is None else self.clock.seconds(self.bound)

    @property
    def bandwidth(self) -> Fraction | None:
        """Algorithm bandwidth in bytes a second as NCCL's tests define it, or None."""
        return None if self.clock is None else self.clock.bandwidth(self.completion_time)

    @property
    def bus_bandwidth(self) -> Fraction | None:
        """Bus bandwidth in bytes a second as NCCL's tests define it, or None where they do not."""
        return None if self.clock is None else self.clock.bus_bandwidth(self.completion_time)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file; ScheduleError if it was not kept."""
        if self.schedule is None:
            raise ScheduleError("the schedule was checked as it was made and not kept, so there is nothing to save")
        self.schedule.save(path)

    def certificate(self) -> dict[str, Any]:
        """Return the schedule and its bound as plain values for JSON; see `gossamer.planning.certificates.certificate`.

        Raises
        ------
        ScheduleError
            If the schedule was not kept, or is of a kind that has no certificates.
        """
        from gossamer.planning.certificates import certificate

        if self.schedule is None:
            raise ScheduleError("the schedule was checked as it was made and not kept, so there is none to certify")
        return certificate(self.schedule)

    def explore(self, height: int = 640) -> Any:
        """Return the explorer of the schedule, for a notebook; see `gossamer.explorer.explore` for a file.

        Raises
        ------
        ScheduleError
            If the schedule was not kept.
        """
        embedded = display("explorer")
        return self if embedded is None else _Shown(embedded(self, height))

    def _repr_html_(self) -> str:
        show = display("outcome")
        table = super()._repr_html_()
        return table if show is None else str(show(self, table))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, those of the sentence first; times in the unit of the cost.

        Exact times are fractions in text.
        """
        case = self.case
        return {
            "summary": self.summary,
            "asked_task": self.word,
            "network": case.network.spec,
            **self.in_seconds(),
            "completion_time": plain(self.completion_time),
            "unit": case.cost.unit,
            "bound": plain(self.bound),
            **attributes(self, "ratio optimal"),
            "optimal_among": self.among or ("all schedules" if self.among == "" else None),
            **attributes(self, "bound_name bound_scope"),
            "bound_witness": self.bounds[0].witness if self.bounds else "",
            "completion_time_exact": str(self.completion_time),
            "bound_exact": str(self.bound),
            "nodes": case.network.node_count,
            "task": case.task.name,
            "task_in_words": case.task.describe(),
            "switching": self.switching.name,
            "rules": case.rules.to_dict(),
            "cost": case.cost.to_dict(),
            "algorithm": self.algorithm,
            "options": dict(self.options),
            "effort": self.offer.effort,
            **attributes(self, "claim claim_is_bound"),
            "verified": self.verification.ok,
            "stopped": self.stopped or None,
            **({"form": self.forms[0].words} if self.forms else {}),
            **self.facts.values,
            **attributes(self.expense, "build_seconds verify_seconds schedule_bytes"),
            "peak_memory_bytes": self.expense.peak_memory,
        }

    def in_seconds(self) -> dict[str, float | None]:
        """Return times and bandwidths for JSON; nothing where the case has no clock."""
        if self.clock is None:
            return {}
        values = {
            "seconds": self.seconds,
            "bound_seconds": self.bound_seconds,
            "algorithm_bandwidth": self.bandwidth,
            "bus_bandwidth": self.bus_bandwidth,
        }
        return {name: None if value is None else float(value) for name, value in values.items()}

    @property
    def word(self) -> str:
        """What the task is called in reports: as it was asked for, else by its customary name."""
        return self.task.word

    @property
    def task(self) -> Task:
        """The task as it was asked for, whatever the planner made of it."""
        return self.case.task if self.asked is None else self.asked

    @property
    def measured(self) -> str:
        """What was asked and how long it takes, with the bandwidth where times are seconds."""
        return measured_text(self.switching, self.case.network, self.task, self.case.cost, self.completion_time)

    @property
    def summary(self) -> str:
        """What a person wants to know, in a sentence: time, bandwidth, how near it is to the bound, and what binds."""
        told = self.measured
        why = f": {self.bounds[0].witness}" if self.bounds else ""
        return f"{told}{', ' if self.optimal else '; '}{self._verdict()}{why}"

    def _verdict(self) -> str:
        """Return how near the time is to the bound, and among which schedules there is no faster one."""
        among = "" if self.among is None else f"optimal{f' among {self.among}' if self.among else ''}"
        if self.optimal or self.ratio is None:
            return among or "no bound"
        return f"{self.ratio:.4g} x the bound{f', {among}' * bool(among)}"

    def _time_text(self, time: Fraction, slots: bool = False) -> str:
        return self.switching.time_text(self.case.cost, time, slots=slots)

    def rows(self, verbose: bool = False) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows: a dozen, or all if `verbose`."""
        return self._all_rows() if verbose else self._short_rows()

    def _short_rows(self) -> list[tuple[str, str]]:
        described = self.task.describe()
        found = [
            self._network_row(),
            *self._known_row(),
            *([("task", described)] if described != self.word else []),
            ("rules", self.switching.describe(self.case)),
            ("algorithm", self._algorithm_text() + (f", {self.forms[0].words}" if self.forms else "")),
            ("time", self._against_bound()),
            *(row for row in self.facts.rows if row[0] in SHORT),
            self._verified_row(),
        ]
        return [*found, ("stopped", self.stopped)] if self.stopped else found

    def _all_rows(self) -> list[tuple[str, str]]:
        clock = [] if self.clock is None else [("slots", self.clock.slot_text())]
        found = [
            self._network_row(),
            *self._known_row(),
            ("task", self._task_text()),
            *self._form_rows(),
            ("rules", self.switching.describe(self.case)),
            *clock,
            ("algorithm", self._algorithm_text()),
            *self._time_rows(),
            *self.facts.rows,
            self._verified_row(),
            self._expense_row(),
        ]
        return [*found, ("stopped", self.stopped)] if self.stopped else found

    def _network_row(self) -> tuple[str, str]:
        network = self.case.network
        size = f"{quantity(network.node_count, 'node')}, {quantity(network.link_count, 'link')}"
        return ("network", f"{network.spec}: {size}")

    def _algorithm_text(self) -> str:
        return self.algorithm + "".join(f", {name} = {value}" for name, value in self.options.items())

    def _verified_row(self) -> tuple[str, str]:
        note = f"; {self.verification.note}" if self.verification.note else ""
        return ("verified", f"yes: {self.verification.checked}, no violation{note}")

    def _known_row(self) -> list[tuple[str, str]]:
        """Return what a list of links turned out to be."""
        known = self.case.network.find(Renumbered)
        if known is None:
            return []
        same = np.array_equal(known.place, np.arange(known.place.size))
        return [("recognized", f"{known.original.spec}{'' if same else ', with its nodes renumbered'}")]

    def _task_text(self) -> str:
        """Return the task, and as what it is carried out where that is another one, with their names here."""
        own, asked = self.case.task, self.asked
        if asked is None or asked in (own, in_packets(own, 1)):
            told, names = own.describe(), [own]
        else:
            told, names = f"{asked.describe()}, as {own.describe()}", [asked, own]
        other = [task.name for task in names if task.name != task.word]
        return told + (f" ({', '.join(dict.fromkeys(other))})" if other else "")

    def _form_rows(self) -> list[tuple[str, str]]:
        """Return what form of the task that was asked for this is, and how long the others take."""
        if not self.forms:
            return []
        first, *others = self.forms
        text = seconds_text if self.clock is not None else partial(self.switching.time_text, self.case.cost)
        told = [f"{f.words} {'at least ' * f.at_least}{text(f.time)}" for f in others]
        label = "form" if self.asked is not None and includes(self.asked, Allreduce) else "packets"
        return [(label, first.words + (f"; {', '.join(told)}" if told else ""))]

    def _against_bound(self) -> str:
        """Return the time beside the bound."""
        holds = f", for {self.bound_scope}" if self.bound_scope else ""
        beside = "" if self.optimal or self.ratio is None else f" ({self.ratio:.4g} x)"
        return f"{self._time_text(self.completion_time)}; lower bound {self._time_text(self.bound)}{beside}{holds}"

    def _time_rows(self) -> list[tuple[str, str]]:
        text = partial(self._time_text, slots=True)
        guaranteed, bound = "none", text(self.bound)
        if self.claim is not None:
            guaranteed = f"{'at most ' if self.claim_is_bound else ''}{text(self.claim)}"
        if self.bounds:
            bound += f" ({self.bounds[0].text})"
        narrow = [("narrower bound", f"{text(b.value)} ({b.text})") for b in self._narrower()]
        found = [
            ("guaranteed time", guaranteed),
            ("time", f"{text(self.completion_time)}; {self._verdict()}"),
            ("lower bound", bound),
            *narrow,
        ]
        if self.bandwidth is not None and self.bus_bandwidth is not None:
            rates = f"algorithm {bandwidth_text(self.bandwidth)}, bus {bandwidth_text(self.bus_bandwidth)}"
            found.insert(2, ("bandwidth", f"{rates} (as NCCL's tests count)"))
        return found

    def _expense_row(self) -> tuple[str, str]:
        e = self.expense
        kept = f"schedule {memory_text(e.schedule_bytes)}" if self.schedule is not None else "schedule not kept"
        took = f"{e.build_seconds:.3g} s to build, {e.verify_seconds:.3g} s to verify"
        return ("took", f"{took}; {kept}, process {memory_text(e.peak_memory)}")

    def __repr__(self) -> str:
        return self.summary


@dataclass(frozen=True)
class Comparison(Tabled):
    """Every algorithm that covers a case, the fastest first, and why the others do not.

    Iterating gives one mapping of plain values an algorithm, which pandas reads: ``pandas.DataFrame(comparison)``.

    Attributes
    ----------
    case : Case
        What was asked.
    outcomes : tuple of Outcome
        What each algorithm came to, the fastest first; every schedule was verified, and none is kept.
    refusals : mapping of str to str
        Why the other algorithms of the task do not cover the case, by name.
    stopped : str
        Why not all algorithms were tried, or an empty text.
    """

    case: Case
    outcomes: tuple[Outcome, ...]
    refusals: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""

    @property
    def best(self) -> Outcome:
        """The fastest."""
        return self.outcomes[0]

    @property
    def summary(self) -> str:
        """What is fastest, in a sentence."""
        return f"{self.best.summary}; by {self.best.algorithm}, the fastest of {quantity(len(self), 'algorithm')}"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for outcome in self.outcomes:
            buffer, held = outcome.facts.buffer, outcome.facts.held
            yield {
                "algorithm": outcome.algorithm,
                "options": " ".join(f"{k}={v}" for k, v in outcome.options.items()),
                "time": plain(outcome.completion_time),
                **attributes(outcome, "ratio optimal claim"),
                **attributes(outcome.offer, "promise effort"),
                "utilization": float(outcome.facts.utilization),
                "buffer_peak": None if buffer is None else buffer.packets,
                "held_peak": None if held is None else held.packets,
                "size": outcome.facts.size,
                **attributes(outcome.expense, "build_seconds verify_seconds"),
            }

    def __len__(self) -> int:
        return len(self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        best = self.best
        return {
            "summary": self.summary,
            "asked_task": best.word,
            "network": self.case.network.spec,
            "task": self.case.task.name,
            "switching": best.switching.name,
            "rules": self.case.rules.to_dict(),
            "cost": self.case.cost.to_dict(),
            "unit": self.case.cost.unit,
            **attributes(best, "bound bound_name bound_scope"),
            "algorithms": list(self),
            "refusals": dict(self.refusals),
            "stopped": self.stopped or None,
        }

    def table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people: an algorithm a row, the fastest first."""
        cost = self.case.cost
        clock = cost if isinstance(cost, Clock) else None
        columns = (
            *("algorithm", f"{cost.unit}s" if clock is None else "time", "x bound", "guarantee"),
            *("links busy", "buffers", "CPU s"),
        )
        rows = tuple(
            (
                outcome.algorithm + "".join(f" {k}={v}" for k, v in outcome.options.items()),
                f"{float(outcome.completion_time):,.6g}" if clock is None else seconds_text(outcome.seconds or 0),
                outcome.ratio_text,
                outcome.offer.promise,
                f"{float(outcome.facts.utilization):.1%}",
                "-" if outcome.facts.buffer is None else f"{outcome.facts.buffer.packets:,}",
                f"{outcome.expense.build_seconds + outcome.expense.verify_seconds:.2g}",
            )
            for outcome in self.outcomes
        )
        return columns, rows

    def remarks(self) -> list[tuple[str, str]]:
        """Return why other algorithms do not cover the case, and why not all were tried."""
        refused = [(name, f"no: it {why}") for name, why in self.refusals.items()]
        starred = {outcome.among for outcome in self.outcomes if outcome.optimal and outcome.among}
        refused += [("optimal*", f"among {scope}") for scope in sorted(starred)]
        return refused + ([("stopped", self.stopped)] if self.stopped else [])

    def _repr_html_(self) -> str:
        remarks = self.remarks()
        return html_summary(self.summary) + html_table(*self.table()) + (html_rows(remarks) if remarks else "")

    def __repr__(self) -> str:
        return f"<Comparison of {quantity(len(self), 'algorithm')}, best: {self.best!r}>"


def measured_text(kind: Switching[Any, Any], network: Network, task: Task, cost: Cost, time: Fraction) -> str:
    """Return what was asked and how long it takes, with the bandwidth where times are seconds.

    >>> import gossamer
    >>> s = gossamer.plan("ring:8", "alltoall").schedule
    >>> measured_text(gossamer.planning.switching.of(s), s.network, s.task, s.cost, s.completion_time)
    'alltoall on ring:8: 8 steps'
    """
    words, told = task.word, kind.time_text(cost, time)
    if isinstance(cost, Clock) and not isinstance(task, Together):
        words += f" of {bytes_text(cost.asked_bytes or cost.message_bytes)}"
        rate, bus = cost.bandwidth(time), cost.bus_bandwidth(time)
        told += "" if rate is None else f", {bandwidth_text(rate)}"
        told += "" if bus is None or bus == rate else f" (bus {bandwidth_text(bus)})"
    return f"{words} on {network.spec}: {told}"


class _Shown:
    """HTML that a notebook shows."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def peak_memory() -> int:
    """Return the largest resident size of the process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
