"""Store and forward: a packet crosses one link in a slot and is kept at each node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from fractions import Fraction

import numpy as np

from gossamer.algorithms import Algorithm, algorithms_for
from gossamer.atomic_files import quantity, seconds_text
from gossamer.bounds import Bound, bounds
from gossamer.bounds.registry import slow
from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.planning.switching.protocol import Facts, Say, Streamed
from gossamer.questions.cases import Case, Needs, Offer
from gossamer.questions.cases.algorithm_offers import needs
from gossamer.questions.costs import AskedCost, Clock, Cost, StepCost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import OneToManyRouting, Permutation, Task
from gossamer.schedules import Schedule, files
from gossamer.schedules.hop_sinks import CHUNK, Chunk, PhaseRun, finished
from gossamer.verification import Verification, buffer_peak, link_utilization, verify
from gossamer.verification.streaming import StreamingChecker

_LARGE = 10_000
"""A denominator from which on people do not read a fraction."""


class StoreAndForward:
    """The switching of packets that every node stores and forwards; see `gossamer.planning.switching.Switching`."""

    name = "store-and-forward"
    summary = "a packet crosses one link in a slot and is kept at each node"
    noun = "algorithm"
    words = ("slot", "link", "packets")
    cost_types: tuple[type[AskedCost], ...] = (StepCost, TimeCost)
    renames = True
    rules: tuple[str, ...] = tuple(field.name for field in fields(Rules))

    def algorithms(self, kind: type[Task] | None = None) -> tuple[Algorithm, ...]:
        """Return the algorithms for a kind of task, or for all tasks."""
        return algorithms_for(kind)

    def case(self, network: Network, task: Task, rules: Rules | None, cost: AskedCost | None, seed: int) -> Case:
        """Return the case."""
        if isinstance(cost, TimeCost):
            timed, clock = cost.on(network, task)
            return Case(timed, task, rules, clock, seed=seed)
        if cost is not None and not isinstance(cost, StepCost):
            allowed = "steps or seconds; cost must be a StepCost or a TimeCost"
            raise ModelError(f"store-and-forward schedules cost {allowed}, got {cost!r}")
        return Case(network, task, rules, cost, seed=seed)

    def describe(self, case: Case) -> str:
        """Return the rules in words."""
        rules = case.rules
        cut = isinstance(case.cost, Clock) and case.cost.packet_bytes < case.cost.message_bytes
        whole = [] if cut else ["unsegmented messages"]
        words = [rules.ports_text, *(["segmented messages"] if rules.segmented else whole)]
        words += ["cut-through"] if rules.cut_through else []
        words += [] if rules.replication else ["no replication"]
        words += ["reduction in switches"] if rules.reduction else []
        words += [] if rules.buffer is None else [f"buffers of {quantity(rules.buffer, 'packet')}"]
        sizes = f"; {case.cost.sizes_text()}" if isinstance(case.cost, Clock) else ""
        return ", ".join(words) + sizes

    def time_text(self, cost: Cost, time: Fraction, *, slots: bool = False) -> str:
        """Return a time in steps, or in seconds where the links have bandwidths, with the slots if asked for."""
        if isinstance(cost, Clock) and not slots:
            return seconds_text(cost.seconds(time))
        exact = f"{time.numerator:,}" if time.denominator == 1 else f"{float(time):.4g}"
        if 1 < time.denominator < _LARGE:
            exact = f"{time} = {exact}"
        text = f"{exact} {cost.unit}{'' if time == 1 else 's'}"
        return f"{seconds_text(cost.seconds(time))} ({text})" if isinstance(cost, Clock) else text

    def bounds(self, case: Case) -> tuple[Bound, ...]:
        """Return lower bounds on the completion time in steps, the largest first."""
        return bounds(case)

    def quick_bounds(self, case: Case) -> tuple[Bound, ...] | None:
        """Return those that take milliseconds where all take tenths of a second; else None."""
        return bounds(case, quick=True) if slow(case) else None

    def needs(self, case: Case, offer: Offer[Schedule]) -> Needs:
        """Return about what building and checking an offer takes."""
        return needs(case, offer)

    def completion(self, schedule: Schedule) -> Fraction:
        """Return the time that a schedule takes."""
        return schedule.completion_time

    def verify(self, schedule: Schedule, limit: int = 20) -> Verification:
        """Check every rule and goal of a schedule."""
        return verify(schedule, limit)

    def load(self, path: str | os.PathLike[str]) -> Schedule:
        """Read a schedule from a file."""
        return files.load(path, Schedule)

    def stream(self, case: Case, offer: Offer[Schedule], say: Say) -> Streamed:
        """Check the hops of an offer as they are made, keeping none."""
        assert offer.stream is not None  # the planner asks for offers that stream
        sink = CheckingSink(case, say)
        offer.stream(sink)
        return Streamed(sink.completion_time, *_streamed_facts(case, sink))

    def facts(self, schedule: Schedule) -> Facts:
        """Return what can be measured of a schedule."""
        s, used = schedule, link_utilization(schedule)
        transit = buffer_peak(s)
        held = buffer_peak(s, "all") if isinstance(s.task, Permutation | OneToManyRouting) else None
        how = " of ".join(filter(None, ["one orbit" if s.invariant else "", "one generation" if s.repetition else ""]))
        stored = f" ({how} stored: {s.stored_hops:,})" if how else ""
        packets, parts = quantity(s.packet_count, "packet"), f", every message in {s.parts} parts" * (s.parts > 1)
        together = "" if held is None else f", {held.packets:,} with its own and those delivered"
        control = [p for p in s.phases if p.control]
        rows = [
            (
                "schedule",
                f"{quantity(s.slot_count, 'slot')}, {quantity(s.hop_count, 'transfer')}{stored}, {packets}{parts}",
            ),
            ("links busy", f"{float(used):.1%} of the time"),
            ("buffers", f"at most {quantity(transit.packets, 'packet')} in transit at a node{together}"),
        ]
        if s.repetition is not None:
            each, long = quantity(s.repetition.packets, "packet"), quantity(s.generation_slots, "slot")
            period = quantity(s.repetition.period, "slot")
            rows.insert(1, ("generations", f"{s.generations:,} of {each} a message, {long} each, one every {period}"))
        if control:
            slots = sum(p.slots for p in control)
            text = f"{slots} slots of control packets at t_p = {s.cost.control_time} step"
            rows.insert(0, ("of which", f"{text} (set it with --control-time)"))
        values = {
            "links": s.network.link_count,
            "invariant": s.invariant,
            "parts": s.parts,
            "phases": [
                {"name": p.name, "slots": p.slots, "slot_length": str(p.slot_length), "control": p.control}
                for p in s.phases
            ],
            "slots": s.slot_count,
            "hops": s.hop_count,
            "control_hops": s.control_hops,
            "packets": s.packet_count,
            "stored_hops": s.stored_hops,
            **({"generations": s.generations, "period": s.repetition.period} if s.repetition is not None else {}),
            "link_utilization": float(used),
            "buffer_peak": transit.packets,
            "held_peak": None if held is None else held.packets,
        }
        return Facts(s.hop_count, used, values, rows, transit, held)


def _streamed_facts(case: Case, sink: CheckingSink) -> tuple[Verification, Facts]:
    """Return what the checker said of streamed hops, and what it measured of them."""
    found, time = sink.checker.finish(), sink.completion_time
    room = int(case.network.link_capacity.sum(dtype=np.int64)) * time
    used = Fraction(found.hops) / room if room else Fraction(0)
    control = sum(run.steps for run in sink.phases if run.control)
    peak, all_hops = found.buffer, found.hops + found.control_hops
    where = "" if peak.node is None else f", first at {case.network.node_name(peak.node)} before slot {peak.slot}"
    rows = [
        ("by phase", _by_kind(sink.phases)),
        ("schedule", f"{sum(run.steps for run in sink.phases):,} slots, {all_hops:,} transfers, none kept"),
        ("links busy", f"{float(used):.1%} of the time"),
        ("buffers", f"at most {quantity(peak.packets, 'packet')} at a node, its own and those delivered too{where}"),
        ("delivered", quantity(found.delivered, "message")),
    ]
    if control:
        text = f"{control} slots of control packets at t_p = {case.control_time} step"
        rows.insert(0, ("of which", f"{text} (set it with --control-time)"))
    values = {
        "links": case.network.link_count,
        "phases": [
            {"name": p.name, "slots": p.steps, "guaranteed": p.guaranteed, "control": p.control} for p in sink.phases
        ],
        "slots": sum(run.steps for run in sink.phases),
        "hops": all_hops,
        "control_hops": found.control_hops,
        "delivered": found.delivered,
        "link_utilization": float(used),
        "held_peak": peak.packets,
    }
    return found.verification, Facts(all_hops, used, values, rows, held=peak)


def _by_kind(phases: Sequence[PhaseRun]) -> str:
    """Return the steps of all phases of a kind together, in words, with what is guaranteed where something is."""
    steps: dict[str, int] = {}
    most: dict[str, int | None] = {}
    for phase in phases:
        kind = phase.name.split()[0]
        steps[kind] = steps.get(kind, 0) + phase.steps
        before = most.get(kind, 0)
        most[kind] = None if before is None or phase.guaranteed is None else before + phase.guaranteed
    at_most = {kind: "" if most[kind] is None else f" of at most {most[kind]:,}" for kind in steps}
    return ", ".join(f"{kind} {count:,}{at_most[kind]}" for kind, count in steps.items())


class CheckingSink:
    """Hands the hops to the streaming checker as they come, in columns that are used again, and keeps none.

    * `case`: what is carried out: a task that `StreamingChecker` takes, under rules that it takes.
    * `progress`: called with a line of text as the hops come.
    * `chunk_hops`: hops that are held at a time.

    `phases`: the phases so far. `checker`: its ``finish()`` tells what was found.

    >>> import gossamer
    >>> sink = CheckingSink(Case(gossamer.network("array:2"), gossamer.task("permutation", destination=[1, 0])))
    >>> def both_at_once():
    ...     columns = sink.columns(2)
    ...     for column, values in zip(columns, ([0, 0], [0, 1], [0, 1])):
    ...         column[:] = values
    ...     yield columns
    >>> sink.phase("swap", both_at_once()), bool(sink.checker.finish()), sink.completion_time
    (1, True, Fraction(1, 1))
    """

    def __init__(self, case: Case, progress: Callable[[str], None] | None = None, chunk_hops: int = CHUNK) -> None:
        self.chunk_hops: int | None = chunk_hops
        self.phases: list[PhaseRun] = []
        self.checker = StreamingChecker(case.network, case.task, case.rules, cost=StepCost(case.control_time))
        self._control_time = case.control_time
        self._say = progress or (lambda text: None)
        self._columns = tuple(np.empty(0, np.int32) for _ in range(3))
        self._slot = 0
        self._hops = 0

    @property
    def completion_time(self) -> Fraction:
        """Completion time in steps of the phases so far."""
        lengths = (run.steps * (self._control_time if run.control else Fraction(1)) for run in self.phases)
        return sum(lengths, Fraction(0))

    def columns(self, size: int) -> Chunk:
        """Return columns of the given size."""
        if self._columns[0].size < size:
            self._columns = tuple(np.empty(size, np.int32) for _ in range(3))
        return self._columns[0][:size], self._columns[1][:size], self._columns[2][:size]

    def phase(
        self,
        name: str,
        chunks: Iterator[Chunk],
        *,
        length: int | None = None,
        guaranteed: int | None = None,
        control: bool = False,
    ) -> int:
        """Check the chunks of a phase, and return the number of its steps.

        Raises `ScheduleError` if the phase takes longer than its length.
        """
        last = 0
        slot_length = self._control_time if control else Fraction(1)
        self._say(f"{name}: {self._hops:,} hops so far")
        for step, link, packet in chunks:
            if step.size:
                last = int(step[-1]) + 1
                step += np.int32(self._slot)
                self.checker.feed(step, link, packet, slot_length)
                self._hops += step.size
                self._say(f"{name}, step {last:,}: {self._hops:,} hops so far")
        run = finished(name, last, length, guaranteed, control)
        if run is None:
            return 0
        self.phases.append(run)
        self._slot += run.steps
        return run.steps
