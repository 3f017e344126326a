"""Forms of an allreduce, of which the fastest depends on the bytes.

The fewest bytes move where each rank reduces a block of the buffer and sends it out; but then each block goes the
longest way twice. Short messages need little but the latencies of the links. All may then be reduced at one rank in
the middle, from which no way is long; or every rank sends its whole buffer to all and combines what it gets, so that
nothing goes a way twice.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gossamer.bounds import Bound, Bounds
from gossamer.bounds.arrivals import searches, spread
from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import Clock, Cost, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Allreduce, Broadcast, MultinodeBroadcast, Reduce, Task, Together

__all__ = ["AllreduceVariant", "VariantTime", "counted_alike", "forms_of", "in_seconds", "in_slots"]


class AllreduceVariant(NamedTuple):
    """A form of a task.

    Attributes
    ----------
    name : str
        As `gossamer.TimeCost` takes it.
    words : str
        For people.
    task : Task
        What is carried out.
    cost : TimeCost
        With the bytes of its messages, as many as the task that is asked for has.
    """

    name: str
    words: str
    task: Task
    cost: TimeCost


class VariantTime(NamedTuple):
    """A form in words with its time in seconds, or with what it takes at least where it was not planned."""

    words: str
    seconds: Fraction
    at_least: bool


def forms_of(network: Network, task: Task, rules: Rules | None, cost: TimeCost) -> list[AllreduceVariant]:
    """Return the forms of a task as far as they are asked for, its own first: several of an allreduce among all.

    Parameters
    ----------
    network : Network
        Without the times that `cost` gives it.
    task : Task
        As it is asked for.
    rules : Rules or None
        For how long ways take.
    cost : TimeCost
        Says which form is asked for.

    Raises
    ------
    ModelError
        If a form is asked for of another task.

    Notes
    -----
    The root is one from which the furthest terminal, there and back, is nearest: O(N L log L), some nodes for all of
    large networks.

    Examples
    --------
    >>> from gossamer.networks import array
    >>> cost = TimeCost(1000, bandwidth="1GB/s", latency="1us")
    >>> [form.words for form in forms_of(array(5), Allreduce(), None, cost)]
    ['a block for each rank', 'through root (2)', 'whole buffers to all']
    """
    if not isinstance(task, Allreduce) and cost.form not in ("best", "blocks"):
        raise ModelError(f"form {cost.form!r} is one of an allreduce among all, not of {task.name}")
    if not isinstance(task, Allreduce) or cost.form == "blocks" or network.terminal_count < 2:
        return [AllreduceVariant("blocks", "", task, cost)]
    found = [AllreduceVariant("blocks", "a block for each rank", task, cost)]
    whole = replace(cost, counting="mpi")  # messages are whole buffers
    timed, _ = whole.on(network, MultinodeBroadcast())
    root = _middle(Case(timed, MultinodeBroadcast(), rules))
    through = Together((Reduce(root), Broadcast(root)), waits=((1, 0),))
    found.append(AllreduceVariant("root", f"through root {network.node_name(root)}", through, whole))
    found.append(AllreduceVariant("gather", "whole buffers to all", MultinodeBroadcast(), whole))
    return [form for form in found if cost.form in ("best", form.name)]


def _middle(case: Case) -> int:
    """Return the terminal from which the furthest other is nearest, there and back."""
    terminals, links = case.network.terminal_count, case.links
    best, root = -1, 0
    for v in spread(np.arange(1 if case.invariant else terminals), searches(links)).tolist():
        far = sum(int(way.travel(np.array([v])).usable[:terminals].max()) for way in (links, links.turned))
        if best < 0 or far < best:
            best, root = far, v
    return root


def counted_alike(found: Cost, asked: Clock, size: int) -> Clock:
    """Return the clock of a form with the buffer and the bandwidths of what is asked for.

    >>> counted_alike(Clock(packet_bytes=1000, message_bytes=1000), Clock(bus=Fraction(7, 4)), 1000).bus
    Fraction(7, 4)
    """
    assert isinstance(found, Clock)
    return replace(found, buffer_bytes=size, bus=asked.bus)


def in_seconds(bounds: tuple[Bound, ...], cost: Cost) -> Fraction:
    """Return the largest of some bounds in seconds of a clock; 0 if there is none."""
    assert isinstance(cost, Clock)
    return cost.seconds(bounds[0].value) if bounds else Fraction(0)


def in_slots(bounds: tuple[Bound, ...], words: str, of: Cost, clock: Cost) -> Bounds:
    """Return bounds of one form, counted by its clock `of`, in slots of another clock."""
    assert isinstance(of, Clock)
    assert isinstance(clock, Clock)
    ratio = of.slot_seconds / clock.slot_seconds
    return Bounds(replace(b, value=b.value * ratio, witness=f"{words}: {b.witness}") for b in bounds)
