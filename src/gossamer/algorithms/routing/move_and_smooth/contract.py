"""How move-and-smooth algorithms are registered: each for two tasks, with phases of actual and of guaranteed length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gossamer.algorithms.algorithm import Algorithm, separate
from gossamer.algorithms.routing.move_and_smooth.moving import Traffic
from gossamer.algorithms.routing.move_and_smooth.stages import Stage, follow, guaranteed_times
from gossamer.model import Model
from gossamer.networks.network import Network
from gossamer.schedules import Schedule
from gossamer.schedules.schedule import too_many_hops
from gossamer.schedules.sinks import RecordingSink
from gossamer.tasks import OneToManyRouting, Permutation, Task

__all__ = ["MoveAndSmooth", "even_power", "family", "model_reason", "power_of_two"]

Sides = tuple[int, ...]


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


def model_reason(network: Network, model: Model, buffers: int) -> str | None:
    """Say why move-and-smooth routing with so many buffers does not cover a network or model, or None if it does."""
    if network.grid is None or any(network.grid.wraps):
        return "needs an array"
    if network.uniform_capacity != 1:
        return "needs links of capacity 1"
    if model.ports != "all":
        return f"needs all ports at once, not ports {model.ports!r}"
    if model.buffer is not None and model.buffer < buffers:
        return f"may keep {buffers} packets at one node, more than the buffer of {model.buffer}"
    return None


@dataclass(frozen=True)
class MoveAndSmooth:
    """A builder: the stages of an array, followed, and recorded with phases of actual or of guaranteed length.

    Attributes
    ----------
    stages : callable
        From the sides of an array to its stages.
    sides_reason : callable
        Says of the sides of an array why they are not covered, or None.
    buffers : callable
        From the sides to the most packets that a node holds.
    run : callable
        Routes traffic through stages.
    clock : bool
        Whether phases take their guaranteed lengths.
    """

    stages: Callable[[Sides], Sequence[Stage]]
    sides_reason: Callable[[Sides], str | None]
    buffers: Callable[[Sides], int]
    run: Callable[[Traffic, Sequence[Stage]], None]
    clock: bool

    def __call__(self, network: Network, task: Task, model: Model, *, seed: int = 0) -> Schedule:
        """Return the schedule."""
        recording = RecordingSink(self.clock)
        self.route(Traffic.of(network, task, recording))
        return recording.schedule(network, task, model)

    def route(self, traffic: Traffic) -> None:
        """Route the traffic; its sink gets the hops."""
        self.run(traffic, self.stages(traffic.sides))

    def reason(self, network: Network, model: Model) -> str | None:
        """Say why the network or the model is not covered, or None if they are."""
        if network.grid is None:
            return "needs an array"
        sides = network.grid.sides
        return self.sides_reason(sides) or model_reason(network, model, self.buffers(sides))

    def reason_to_write(self, network: Network, task: Task, model: Model) -> str | None:
        """Say why no schedule can be written out, or None."""
        wrong = self.reason(network, model)
        if wrong is not None or network.grid is None:
            return wrong
        most = too_many_hops(network.node_count * sum(stage.move for stage in self.stages(network.grid.sides)))
        return None if most is None else f"{most}; use route_streaming, or --stream"

    def claim(self, network: Network, task: Task, model: Model) -> Fraction:
        """Return the guaranteed completion time."""
        assert network.grid is not None
        times = guaranteed_times(self.stages(network.grid.sides))
        return times.data + times.control * model.control_time


def family(
    name: str,
    *,
    stages: Callable[[Sides], Sequence[Stage]],
    reason: Callable[[Sides], str | None],
    buffers: Callable[[Sides], int],
    networks: str,
    source: str,
    summary: str,
    run: Callable[[Traffic, Sequence[Stage]], None] = follow,
) -> tuple[Algorithm, ...]:
    """Return the algorithms with the given stages: `name` and ``name-clock``, each for both routing tasks.

    Phases of `name` end with their last hop, those of ``name-clock`` take their guaranteed lengths.
    """
    builders = [MoveAndSmooth(stages, reason, buffers, run, clock) for clock in (False, True)]
    return tuple(
        separate(
            name=f"{name}-clock" if builder.clock else name,
            task=task,
            builder=builder,
            reason=builder.reason_to_write,
            claim=builder.claim,
            networks=networks,
            source=source,
            summary=f"{name} with phases of guaranteed length, as under a distributed clock"
            if builder.clock
            else summary,
            claim_is_bound=not builder.clock,
        )
        for task in (Permutation, OneToManyRouting)
        for builder in builders
    )
