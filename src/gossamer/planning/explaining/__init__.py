"""Schedules explained: who sends what to whom, a node's life, a message's way, and why it cannot be faster."""

from __future__ import annotations

from types import ModuleType

from gossamer.errors import ScheduleError
from gossamer.planning import switching
from gossamer.planning.explaining import hop_lines, worm_lines
from gossamer.planning.explaining.explanation import Explanation, why
from gossamer.planning.planner import lower_bounds
from gossamer.questions.rules import Rules
from gossamer.reading import whole
from gossamer.schedules import Schedule
from gossamer.wormhole import WormholeSchedule

__all__ = ["Explanation", "explain"]

_LINES: dict[str, ModuleType] = {"store-and-forward": hop_lines, "wormhole": worm_lines}
"""What says what happens, by switching."""


def explain(
    schedule: Schedule | WormholeSchedule, *, slot: int | None = None, rank: object = None, message: int | None = None
) -> Explanation:
    """Return what happens in a slot, at a node, to a message, or in each slot of the whole schedule.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Explicit or invariant. It is verified first.
    slot : int, optional
        Who sends what to whom in this slot; in this step of a wormhole schedule.
    rank : int or coordinates, optional
        What this node sends and gets, slot by slot.
    message : int, optional
        The way of the message of this number: how it gets to all that it is for, or how a sum comes together.

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
    O(hops) time, and that of the bounds.

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
    """
    kind = switching.of(schedule)
    if sum(asked is not None for asked in (slot, rank, message)) > 1:
        raise ScheduleError(f"one thing is explained: a {kind.words[0]}, a rank or a message")
    kind.verify(schedule, 1).raise_if_invalid()
    rules = schedule.rules if isinstance(schedule, Schedule) else Rules(ports=schedule.ports)
    bound = lower_bounds(schedule.network, schedule.task, switching=kind.name, rules=rules, cost=schedule.cost)[0]
    reasons = tuple(why(kind.completion(schedule), bound))
    lines = _LINES[kind.name]
    if isinstance(schedule, Schedule) and (slot, rank, message) != (None, None, None):
        schedule = schedule.expand()
    if slot is not None:
        last = lines.slots(schedule) - 1
        number = whole(slot, f"the {kind.words[0]}", 0, last, allowed=f"0..{last}", error=ScheduleError)
        found = lines.in_slot(schedule, number)
    elif rank is not None:
        found = lines.at_node(schedule, schedule.network.node(rank))
    elif message is not None:
        found = lines.of_message(schedule, whole(message, "the message", error=ScheduleError))
    else:
        found = lines.of_all(schedule)
    return Explanation(found.title, tuple(found.lines), reasons, tuple(found.hops), bound)
