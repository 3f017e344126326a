"""Schedules explained: a page of advice, and on request who sends what to whom, a node's life, a message's way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gossamer.atomic_files import seconds_text
from gossamer.bounds import Bound
from gossamer.errors import ScheduleError, TaskError
from gossamer.planning import switching
from gossamer.planning.explaining.advice import AskedAgain, Gain, asked_again, gains
from gossamer.planning.explaining.binding import Binding, binding
from gossamer.planning.explaining.critical_path import CriticalHop, LinkKind, TimeSpent, time_spent, worm_time_spent
from gossamer.planning.explaining.explanation import Advice, Beside, ExplainedPart, Explanation, beside, sentence, why
from gossamer.planning.explaining.hop_lines import LINES
from gossamer.planning.outcome import Outcome, measured_text
from gossamer.planning.planner import lower_bounds
from gossamer.questions.costs import Clock
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.reading import whole
from gossamer.schedules import Schedule
from gossamer.wormhole import WormholeSchedule

__all__ = [
    "Advice",
    "AskedAgain",
    "Beside",
    "Binding",
    "CriticalHop",
    "Explanation",
    "Gain",
    "LinkKind",
    "TimeSpent",
    "explain",
    "slots_asked",
]

MOST_SLOTS = 100
"""Slots that are explained one by one at the most."""
_COMPARING = 20.0
"""Seconds after which no further usual algorithm is built, where none are given."""


def explain(
    schedule: Schedule | WormholeSchedule | Outcome,
    *,
    slot: int | Sequence[int] | None = None,
    rank: object = None,
    message: int | None = None,
    slots: bool = False,
    quick: bool = False,
    budget: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Advice | Explanation:
    """Return a page of advice on a schedule; or what happens in a slot, at a node, to a message, or slot by slot.

    Parameters
    ----------
    schedule : Schedule, WormholeSchedule or Outcome
        Explicit, invariant or repeating. It is verified first.
    slot : int or sequence of int, optional
        Who sends what to whom in this slot, or in each of these; in this step of a wormhole schedule.
    rank : int or coordinates, optional
        What this node sends and gets, slot by slot.
    message : int, optional
        The way of the message of this number: how it gets to all that it is for, or how a sum comes together.
    slots : bool
        What happens in each slot.
    quick : bool
        Leave out of the page what would help and how usual algorithms compare: nothing is planned.
    budget : float, optional
        Seconds after which no further change is planned. Default: a minute, and none on large networks.
    progress : callable, optional
        Called with the name of each stage as it begins.

    Returns
    -------
    Advice or Explanation
        An `Explanation` where a part is asked for.

    Raises
    ------
    ScheduleError
        If it is no schedule, more than one thing is asked for, or there is no such slot or
        message.
    NetworkError
        If there is no such node.
    VerificationError
        If the schedule is not valid.

    Notes
    -----
    O(hops log hops) time, of a schedule that repeats those of a generation, and that of the bounds; the page also takes
    the time of the plans that it makes, of those changes that their bounds do not show to gain nothing.

    Examples
    --------
    >>> import gossamer
    >>> schedule = gossamer.plan("array:3", "gather").schedule
    >>> print(gossamer.explain(schedule, message=2))
    message 2 of (2) for (0)
      slot 0: (2) sends it to (1)
      slot 1: (1) sends it to (0)
      it is where it has to be after slot 1
    no schedule is faster than 2 steps: a message of node (2) must reach node (0), 2 hops away
    >>> page = gossamer.explain(gossamer.plan("torus:4x4", "allgather"))
    >>> page.spent.busiest, page.beside[0].name, page.beside[0].time
    ('link (0,0)->(1,0)', 'recursive doubling', Fraction(5, 1))
    """
    say = progress or (lambda stage: None)
    asked_for = None
    if isinstance(schedule, Outcome):
        if schedule.schedule is None:
            raise ScheduleError("the schedule was checked as it was made and not kept, so there is nothing to explain")
        asked_for, given = schedule.asked, schedule.schedule
    else:
        given = schedule
    return _explained(given, asked_for, (slot, rank, message, slots), quick, budget, say)


def _explained(
    schedule: Any, asked_for: Task | None, part: tuple[int | Sequence[int] | None, object, int | None, bool],
    quick: bool, budget: float | None, say: Callable[[str], None],
) -> Advice | Explanation:  # fmt: skip
    """Return the page on a schedule, or what happens in a part of it."""
    slot, rank, message, slots = part
    kind = switching.of(schedule)
    if sum((slot is not None, rank is not None, message is not None, slots)) > 1:
        raise ScheduleError(f"one thing is explained: a {kind.words[0]}, a rank, a message or all {kind.words[0]}s")
    say("verifying")
    kind.verify(schedule, 1).raise_if_invalid()
    if (slot, rank, message, slots) == (None, None, None, False):
        return _advice(schedule, kind, asked_for, quick, budget, say)
    rules = schedule.rules if isinstance(schedule, Schedule) else Rules(ports=schedule.ports)
    bound = lower_bounds(schedule.network, schedule.task, switching=kind.name, rules=rules, cost=schedule.cost)[0]
    reasons = tuple(why(kind.completion(schedule), bound))
    lines = LINES[kind.name]
    if isinstance(schedule, Schedule) and (slot, rank, message) != (None, None, None):
        schedule = schedule.expand()
    if slot is not None:
        last = lines.slots(schedule) - 1
        some = slot if isinstance(slot, Sequence) else [slot]
        each = [
            lines.in_slot(
                schedule, whole(number, f"the {kind.words[0]}", 0, last, allowed=f"0..{last}", error=ScheduleError)
            )
            for number in some
        ]
        found = each[0]
        if each[1:]:
            told = [line for part in each for line in (part.title, *(f"  {line}" for line in part.lines))]
            title = f"{len(each)} of {last + 1} {kind.words[0]}s"
            found = ExplainedPart(title, told, [hop for part in each for hop in part.hops])
    elif rank is not None:
        found = lines.at_node(schedule, schedule.network.node(rank))
    elif message is not None:
        found = lines.of_message(schedule, whole(message, "the message", error=ScheduleError))
    else:
        found = lines.of_all(schedule)
    return Explanation(found.title, tuple(found.lines), reasons, tuple(found.hops), bound)


def _advice(
    schedule: Any, kind: Any, asked_for: Task | None, quick: bool, budget: float | None, say: Callable[[str], None]
) -> Advice:
    """Return the page on a valid schedule."""
    began, remarks = time.monotonic(), list[str]()
    say("computing lower bounds")
    asked: AskedAgain | None = None
    bounds: list[Bound] = []
    try:
        asked = asked_again(schedule, asked_for)
        bounds = asked.bounds()
    except TaskError:
        remarks.append("what would help, and usual algorithms: it is not known what the bytes of several tasks are of")
    cost, taken = schedule.cost, kind.completion(schedule)
    exact = asked is not None and asked.seconds and bool(bounds)
    if not bounds:
        rules = schedule.rules if isinstance(schedule, Schedule) else Rules(ports=schedule.ports)
        bounds = list(lower_bounds(schedule.network, schedule.task, switching=kind.name, rules=rules, cost=cost))
    binds = binding(schedule.network, bounds, cost if exact else None)
    bound = bounds[0]
    if isinstance(cost, Clock):
        taken = cost.seconds(taken)
        bound = bound if exact else replace(bound, value=cost.seconds(bound.value))
    told = seconds_text if isinstance(cost, Clock) else None
    say("following the critical path")
    spent = time_spent(schedule) if isinstance(schedule, Schedule) else worm_time_spent(schedule)
    remarks += [spent.remark] if spent.remark else []
    task = asked.task if asked is not None else schedule.task
    measured = measured_text(kind, schedule.network, task, cost, kind.completion(schedule))
    first = sentence(measured, schedule.algorithm, taken, bound)
    reasons = tuple(why(taken, bound, binds.words, told))
    found: tuple[Gain, ...] = ()
    others: tuple[Beside, ...] = ()
    if quick:
        remarks.append("what would help, and usual algorithms: --quick leaves them out")
    elif not taken:
        remarks.append("what would help, and usual algorithms: it takes no time")
    elif asked is not None:
        others, remark = beside(asked, _COMPARING if budget is None else budget / 2, say)
        remarks += [remark] if remark else []
        rest = None if budget is None else max(budget - (time.monotonic() - began), 0.0)
        found = gains(asked, schedule, binds, rest, say)
    return Advice(schedule, first, bound, reasons, binds, spent, found, others, tuple(remarks), asked)


def slots_asked(slots: str | Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of some slots, such as ``"1-8"`` or ``"0,7"``; ScheduleError if they are none.

    Examples
    --------
    >>> slots_asked("1-3"), slots_asked("0,7")
    ((1, 2, 3), (0, 7))
    """
    some = re.split(r"\s*,\s*", slots.strip()) if isinstance(slots, str) else [str(x) for x in slots]
    found: list[int] = []
    for words in some:
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", words)
        if ends is None:
            raise ScheduleError(f"slots are numbers and ranges such as 1-8 or 0,3,7-9, got {slots!r}")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if high < low or high - low + len(found) >= MOST_SLOTS:
            raise ScheduleError(f"slots are up to {MOST_SLOTS} numbers that ascend, got {slots!r}")
        found += range(low, high + 1)
    return tuple(dict.fromkeys(found))
