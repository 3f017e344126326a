"""Wormhole schedules, flit by flit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import attributes
from gossamer.errors import ScheduleError
from gossamer.reading import choice, instance, whole
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.simulation.flits.deadlock import Deadlock, dependencies, find_deadlock
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.routing.grids import DimensionOrder, write_paths
from gossamer.simulation.flits.routing.routing_function import ends
from gossamer.simulation.flits.settings import Routers
from gossamer.simulation.flits.state import crossings, new_state, with_routes, write_messages

if TYPE_CHECKING:
    from gossamer.simulation.flits._kernels import State

__all__ = ["ScheduleRun", "Starts", "simulate_schedule"]

Ints = npt.NDArray[np.int64]

Starts = Literal["barrier", "dependencies"]

_SPAN = 1 << 16
_MOST_CYCLES = 1 << 30


@dataclass(frozen=True)
class ScheduleRun:
    """What happened when a schedule was run flit by flit.

    Attributes
    ----------
    schedule : WormholeSchedule
        What was run.
    settings : Routers
        On which routers.
    starts : {"barrier", "dependencies"}
        When messages started.
    startup_cycles : int
        Cycles of a start-up.
    flits : int64[M]
        Length of each message in flits.
    step_cycles : int64[steps]
        Cycles of each step: with barriers, from one to the next; otherwise, from first start-up to last arrival.
    predicted_step_cycles : int64[steps]
        What each step takes if no message meets another: the start-up and the zero-load latency of its slowest message.
    cycles : int
        Cycles until all is delivered, or until a deadlock was found.
    released : int64[M]
        Cycle in which each message was ready to enter the network, after its start-up.
    latency : int64[M]
        Cycles of each message from `released` to the delivery of its last flit; -1 if it was not delivered.
    blocked : int
        Contention: cycles that flits at the head of a queue waited because another message had the channel, or no
        virtual channel was free, with the cycles that complete messages waited in source queues.
    stalled : int
        Cycles that flits at the head of a queue waited for a free slot in the next buffer.
    flit_hops : int
        Flits that crossed a channel.
    crossings : int64[2 N d]
        The same by channel number.
    deadlock : Deadlock or None
        Messages that wait for each other for ever.
    record : int64[R, 5]
        If asked for: cycle, channel (-1: left the network), virtual channel, message, flit of every movement.
    """

    schedule: WormholeSchedule
    settings: Routers
    starts: Starts
    startup_cycles: int
    flits: Ints
    step_cycles: Ints
    predicted_step_cycles: Ints
    cycles: int
    released: Ints
    latency: Ints
    blocked: int
    stalled: int
    flit_hops: int
    crossings: Ints
    deadlock: Deadlock | None
    record: Ints = field(repr=False)

    @property
    def predicted_cycles(self) -> int:
        """Cycles of the whole schedule with barriers if no message meets another."""
        return int(self.predicted_step_cycles.sum())

    @property
    def cycle_time(self) -> Fraction:
        """Time units of the schedule's cost in a cycle: ``flit_bytes * per_byte``, or 1 if bytes take no time."""
        return cycle_time(self.schedule, self.settings)

    @property
    def model_cycles(self) -> Fraction:
        """The schedule's completion time by its own cost, in cycles."""
        return self.schedule.completion_time / self.cycle_time

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; those of single messages are left out."""
        return {
            "network": self.schedule.network.spec,
            "algorithm": self.schedule.algorithm,
            "starts": self.starts,
            "messages": self.schedule.message_count,
            **attributes(self, "cycles predicted_cycles"),
            "model_cycles": float(self.model_cycles),
            "cycle_time": str(self.cycle_time),
            "startup_cycles": self.startup_cycles,
            "step_cycles": self.step_cycles.tolist(),
            "predicted_step_cycles": self.predicted_step_cycles.tolist(),
            "longest_latency": int(self.latency.max(initial=0)),
            **attributes(self, "blocked stalled flit_hops"),
            "deadlock": None if self.deadlock is None else str(self.deadlock),
            "routers": self.settings.to_dict(),
        }

    def __repr__(self) -> str:
        end = "deadlock" if self.deadlock else f"{self.cycles:,} cycles, {self.predicted_cycles:,} predicted"
        return f"<{self.starts} run of {self.schedule!r}: {end}, {self.blocked:,} blocked>"


def simulate_schedule(
    schedule: WormholeSchedule,
    *,
    starts: Starts = "barrier",
    settings: Routers | None = None,
    startup_cycles: int | None = None,
    record: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ScheduleRun:
    """Run a wormhole schedule flit by flit.

    Messages take the paths that the schedule gives them, also the longer way round a ring. The schedule need not be
    free of contention: messages that meet wait for each other.

    Parameters
    ----------
    schedule : WormholeSchedule
        Any; a message of no bytes still has one flit. On networks that are no arrays or tori messages take any virtual
        channel, and may deadlock where they start without barriers.
    starts : {"barrier", "dependencies"}
        ``barrier``: all messages of a step start when the step before has been delivered everywhere. ``dependencies``:
        a message starts when its source has what it carries and the message before it on the same source queue has
        left; see `dependencies`.
    settings : Routers, optional
        Default: ``Routers()``.
    startup_cycles : int, optional
        Cycles of a start-up. Default: the cost's `startup` in cycles of ``flit_bytes * per_byte``, rounded up.
    record : bool
        Whether to keep every movement of a flit.
    progress : callable, optional
        Called with a line of text now and then.

    Raises
    ------
    ModelError, ScheduleError
        If an argument is out of range, or a source never gets what it is to send.

    Notes
    -----
    A step of contention-free messages takes ``startup + max(zero_load_latency)`` cycles (`Routers`), exactly.
    A deadlock ends the run and is described. O(flit-hops) time.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.questions.costs import LinearCost
    >>> from gossamer.wormhole import PayloadTable, WormholeSchedule
    >>> net, table = gossamer.network("torus:3"), PayloadTable()
    >>> both = table.row([0])
    >>> s = WormholeSchedule(net, gossamer.task("broadcast"), LinearCost(), [0, 0], [0, 0], [[1], [-1]],
    ...                      [both, both], payloads=table.payloads())
    >>> run = simulate_schedule(s)
    >>> run.cycles == run.predicted_cycles == 25 + 3 + 256, run.blocked
    (True, 0)
    """
    from gossamer.simulation.flits import _kernels

    if not isinstance(schedule, WormholeSchedule):
        raise ScheduleError(f"the flit simulator runs wormhole schedules, got {type(schedule).__name__}")
    settings = Routers() if settings is None else instance(settings, Routers, "settings")
    choice(starts, "starts", get_args(Starts))
    if startup_cycles is None:
        startup_cycles = ceil(schedule.cost.startup / cycle_time(schedule, settings))
    startup_cycles = whole(startup_cycles, "startup_cycles")
    m = schedule.message_count
    flits = np.maximum(-(-schedule.length // settings.flit_bytes), 1)
    if m and int(flits.max()) >= 2**31:
        raise ScheduleError(f"a message has {int(flits.max())} flits; at most {2**31 - 1} are allowed")
    moves = int((flits * (schedule.hops + 1)).sum()) if record else 0
    fabric = Fabric(schedule.network)
    state, port = _prepared(schedule, fabric, settings, flits, moves)
    predicted = _predicted(schedule, settings, flits, startup_cycles)
    if int(predicted.sum()) >= _MOST_CYCLES:
        raise ScheduleError(
            f"the run would take {int(predicted.sum()):,} cycles; at most {_MOST_CYCLES:,} are simulated"
        )
    step_cycles = np.zeros(schedule.step_count, np.int64)
    tell = progress or (lambda _: None)
    if starts == "barrier":
        deadlock = _with_barriers(schedule, fabric, settings, state, startup_cycles, step_cycles, tell)
    else:
        state, deadlock = _by_dependencies(schedule, fabric, port, state, startup_cycles, step_cycles, tell)
    counters, created = state.counters, state.message[:, _kernels.CREATED].astype(np.int64)
    finished = state.message[:, _kernels.FINISHED].astype(np.int64)
    if starts == "barrier" and deadlock is None:
        cycles = int(step_cycles.sum())
    else:
        cycles = int(counters[_kernels.NOW]) if deadlock else int(finished.max(initial=0))
    return ScheduleRun(
        schedule, settings, starts, startup_cycles, flits, step_cycles, predicted, cycles,
        released=created,
        latency=np.where(finished >= 0, finished - created, -1),
        blocked=int(counters[_kernels.BLOCKED] + counters[_kernels.QUEUED]),
        stalled=int(counters[_kernels.STALLED]),
        flit_hops=int(counters[_kernels.HOPS]),
        crossings=_by_number(schedule, fabric, crossings(state)),
        deadlock=deadlock,
        record=movements(fabric, state),
    )  # fmt: skip


def cycle_time(schedule: WormholeSchedule, settings: Routers) -> Fraction:
    """Return the time units of the schedule's cost that a cycle takes."""
    return settings.flit_bytes * schedule.cost.per_byte or Fraction(1)


def movements(fabric: Fabric, state: State) -> Ints:
    """Return the record with the channels and virtual channels that were crossed, int64[R, 5]."""
    from gossamer.simulation.flits import _kernels

    rows = state.record[: int(state.counters[_kernels.RECORDED])]
    way, lanes = rows[:, 1], int(state.rules[_kernels.LANES])
    link = way // lanes
    inside = link < fabric.link_count
    # the flits of a message enter a queue in their order
    order = np.lexsort((rows[:, 0], way, rows[:, 2]))
    new = np.ones(len(rows), np.bool_)
    new[1:] = (np.diff(way[order]) != 0) | (np.diff(rows[order, 2]) != 0)
    place = np.arange(len(rows))
    flit = np.zeros(len(rows), np.int64)
    flit[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    number = np.where(inside, fabric.number[np.where(inside, link, 0)], -1)
    lane = np.where(inside, way % lanes, 0)
    return np.stack([rows[:, 0], number, lane, rows[:, 2], flit], axis=1).astype(np.int64)


def _prepared(
    schedule: WormholeSchedule, fabric: Fabric, settings: Routers, flits: Ints, moves: int
) -> tuple[State, Ints]:
    """Return routers with the messages of a schedule in their table, and the source queue of each at its source."""
    hops = np.asarray(schedule.hops, np.int64)
    begin = np.cumsum(hops + 1) - (hops + 1)
    route = np.zeros(int((hops + 1).sum()) + 1, np.int32)
    if schedule.channels.on_grid:
        routing = DimensionOrder(fabric, settings)
        classes, order = routing.classes, np.zeros(hops.size, np.int64)
        last = routing.ends(schedule.target)
        write_paths(routing, route, begin, schedule.source, schedule.displacement, order, 0, last)
    else:
        classes = np.array([(1 << settings.virtual_channels) - 1], np.int64)
        first, channel = schedule.channels.paths(schedule.source, schedule.displacement)
        route[np.arange(channel.size) + np.repeat(begin - first[:-1], hops)] = channel << 8
        route[begin + hops] = ends(fabric, settings, schedule.target)
    state = with_routes(new_state(fabric, settings, hops.size, classes=classes, record=moves), route)
    if settings.injection == "node":
        write_messages(state, schedule.source, begin, flits)
        return state, np.zeros(hops.size, np.int64)
    into = route[begin] >> 8
    write_messages(state, into, begin, flits)
    return state, np.asarray(into, np.int64)


def _by_number(schedule: WormholeSchedule, fabric: Fabric, values: Ints) -> Ints:
    found = np.zeros(schedule.channels.count, np.int64)
    found[fabric.number] = values
    return found


def _predicted(schedule: WormholeSchedule, settings: Routers, flits: Ints, startup: int) -> Ints:
    """Return the cycles of each step if no message meets another."""
    head = np.array([settings.head_latency(h) for h in range(int(schedule.hops.max(initial=0)) + 1)], np.int64)
    latency = head[schedule.hops] + settings.following(flits - 1)
    longest = _least_cycles(schedule, settings)
    np.maximum.at(longest, schedule.step, latency)
    return np.where(longest >= 0, longest + startup, 0).astype(np.int64)


def _least_cycles(schedule: WormholeSchedule, settings: Routers) -> Ints:
    """Return the cycles that the phases make each step last at least, without the start-up; -1 for none."""
    least = np.full(schedule.step_count, -1, np.int64)
    for phase in schedule.phases:
        if phase.length is not None:
            least[phase.first_step : phase.first_step + phase.steps] = -(-phase.length // settings.flit_bytes)
    return least


def _with_barriers(
    schedule: WormholeSchedule,
    fabric: Fabric,
    settings: Routers,
    state: State,
    startup: int,
    step_cycles: Ints,
    tell: Callable[[str], None],
) -> Deadlock | None:
    from gossamer.simulation.flits import _kernels

    bounds = np.searchsorted(schedule.step, np.arange(schedule.step_count + 1))
    least = _least_cycles(schedule, settings)
    now = 0
    for step in range(schedule.step_count):
        rows = np.arange(bounds[step], bounds[step + 1], dtype=np.int64)
        if not rows.size and least[step] < 0:
            continue
        if step % 16 == 0:
            tell(f"step {step + 1} of {schedule.step_count}, cycle {now:,}")
        state.counters[_kernels.NOW] = now + startup
        deadlock = _until_done(fabric, state, np.full(rows.size, now + startup, np.int64), rows, tell)
        if deadlock is not None:
            return deadlock
        end = max(int(state.message[rows, _kernels.FINISHED].max(initial=0)), now + startup + int(max(least[step], 0)))
        step_cycles[step] = end - now
        now = end
    return None


def _by_dependencies(
    schedule: WormholeSchedule,
    fabric: Fabric,
    port: Ints,
    state: State,
    startup: int,
    step_cycles: Ints,
    tell: Callable[[str], None],
) -> tuple[State, Deadlock | None]:
    """Start each message as soon as its source has it; fill `step_cycles` and return the state at the end."""
    from gossamer.simulation.flits import _kernels

    needs = dependencies(schedule, port)
    state = state._replace(
        dependent_first=needs.first,
        dependent=needs.dependent,
        released=np.zeros(max(1, schedule.message_count), np.int64),
    )
    state.message[:, _kernels.WAITING] = needs.waiting
    state.message[:, _kernels.SUCCESSOR] = needs.successor
    state.rules[_kernels.STARTUP] = startup
    at_once = np.flatnonzero(needs.waiting == 0)
    when = np.full(at_once.size, startup, np.int64)
    deadlock = _until_done(fabric, state, when, at_once, tell)
    finished, created = state.message[:, _kernels.FINISHED], state.message[:, _kernels.CREATED]
    delivered = np.flatnonzero(finished >= 0)
    began = np.full(schedule.step_count, 1 << 62, np.int64)
    np.minimum.at(began, schedule.step[delivered], created[delivered] - startup)
    np.maximum.at(step_cycles, schedule.step[delivered], finished[delivered])
    step_cycles -= np.minimum(began, step_cycles)
    return state, deadlock


def _until_done(fabric: Fabric, state: State, when: Ints, rows: Ints, tell: Callable[[str], None]) -> Deadlock | None:
    """Run until nothing is left to do or a deadlock is found."""
    from gossamer.simulation.flits import _kernels

    counters = state.counters
    while True:
        first = counters[_kernels.NOW]
        status = _kernels.run(state, when, rows, first + _SPAN)
        if status == _kernels.STUCK or counters[_kernels.IN_FLIGHT]:
            deadlock = find_deadlock(fabric, state)
            if deadlock is not None:
                return deadlock
        if counters[_kernels.NOW] < first + _SPAN:
            return None
        left = when > counters[_kernels.NOW] - 1
        when, rows = when[left], rows[left]
        tell(f"cycle {int(counters[_kernels.NOW]):,}, {int(counters[_kernels.IN_FLIGHT]):,} messages on their way")
