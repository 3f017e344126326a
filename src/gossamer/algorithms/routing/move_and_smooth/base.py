"""How move-and-smooth algorithms are registered: each for two tasks, with phases of actual and of guaranteed length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.preconditions import refuse_hops, refuse_ports
from gossamer.algorithms.routing.move_and_smooth.moving import Traffic
from gossamer.algorithms.routing.move_and_smooth.stages import Stage, follow, guaranteed_times
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import OneToManyRouting, Permutation
from gossamer.schedules import Schedule
from gossamer.schedules.sinks import Sink, record

__all__ = ["MoveAndSmooth", "even_power", "family", "power_of_two", "refuse_rules", "route"]

Sides: TypeAlias = tuple[int, ...]

Run: TypeAlias = Callable[[Traffic, Sequence[Stage]], None]
"""What routes traffic through stages."""


def power_of_two(side: int) -> bool:
    """Whether a side is a power of two, 1 included."""
    return side & (side - 1) == 0


def even_power(side: int) -> int | None:
    """Return the smallest even k of at least 4 of which `side` is a power, or None.

    The first power counts up to 8 only: there, one move would do everything, with a buffer for every part.

    >>> [even_power(n) for n in (4, 16, 36, 64, 9, 2, 32)]
    [4, 4, 6, 4, None, None, None]
    """
    for k in range(4, side + 1 if side <= 8 else side // 4 + 1, 2):
        power = k
        while power < side:
            power *= k
        if power == side:
            return k
    return None


def refuse_rules(case: Case, buffers: int) -> Refusal | None:
    """Refuse for move-and-smooth routing with so many buffers, or not."""
    network = case.network
    if network.grid is None or any(network.grid.wraps):
        return Refusal("needs an array")
    if network.uniform_capacity != 1:
        return Refusal("needs links of capacity 1")
    return refuse_ports(case.rules, buffers)


def route(case: Case, run: Run, stages: Sequence[Stage], sink: Sink) -> None:
    """Route the case's messages through stages, and hand the hops to a sink."""
    run(Traffic.of(case, sink), stages)


@dataclass(frozen=True)
class MoveAndSmooth:
    """What an algorithm of the family proposes.

    Attributes
    ----------
    refuse : callable
        Says of the sides of an array why they are not covered, or None.
    stages : callable
        From the sides of an array that is covered to its stages.
    buffers : callable
        From these stages to the most packets that a node holds.
    run : callable
        Routes traffic through stages.
    clock : bool
        Whether phases take their guaranteed lengths, as under a distributed clock, rather than end with their last hop.
    """

    refuse: Callable[[Sides], str | None]
    stages: Callable[[Sides], Sequence[Stage]]
    buffers: Callable[[Sequence[Stage]], int]
    run: Run
    clock: bool

    def __call__(self, case: Case) -> Offer[Schedule] | Refusal:
        """Return the offer for a case, or a refusal."""
        if case.network.grid is None:
            return Refusal("needs an array")
        sides = case.network.grid.sides
        why = self.refuse(sides)
        if why is not None:
            return Refusal(why)
        stages = case.once(self.stages, sides)
        refused = refuse_rules(case, self.buffers(stages))
        if refused is not None:
            return refused
        times = guaranteed_times(stages)
        hand_over = partial(route, case, self.run, stages)
        return Offer(
            partial(record, case, hand_over, clock=self.clock),
            times.data + times.control * case.control_time,
            at_most=not self.clock,
            stream=None if self.clock or not isinstance(case.task, Permutation) else hand_over,
            too_large=refuse_hops(case.network.node_count * sum(stage.move for stage in stages)),
        )


def family(
    name: str,
    *,
    stages: Callable[[Sides], Sequence[Stage]],
    refuse: Callable[[Sides], str | None],
    buffers: Callable[[Sequence[Stage]], int],
    networks: str,
    source: str,
    summary: str,
    run: Run = follow,
) -> tuple[Algorithm, ...]:
    """Return the algorithms with the given stages, `name` and ``name-clock``, for permutations and one-to-many routing.

    Phases of `name` end with their last hop, those of ``name-clock`` take their guaranteed lengths.
    """
    tasks = (Permutation, OneToManyRouting)
    clocked = f"{name} with phases of guaranteed length, as under a distributed clock"
    return (
        Algorithm(name, tasks, MoveAndSmooth(refuse, stages, buffers, run, False), networks, source, summary),
        Algorithm(f"{name}-clock", tasks, MoveAndSmooth(refuse, stages, buffers, run, True), networks, source, clocked),
    )
