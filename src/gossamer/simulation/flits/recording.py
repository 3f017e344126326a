"""Some cycles of the flit simulator written down: which message held which channel, and where its head waited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.reading import whole
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.schedule_run import ScheduleRun
from gossamer.simulation.flits.settings import TrafficSettings
from gossamer.simulation.flits.traffic import Simulation, prepare

__all__ = ["FlitRecording", "record_run", "record_traffic"]

_SPAN, _CYCLES = 64, 300
_MOST_MOVES = 50_000_000

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FlitRecording:
    """What happened in `cycles` cycles; times in cycles from the first of them.

    Attributes
    ----------
    network : Network
        Where.
    title, routing : str
        What sent the messages, and how they found their way.
    load : float
        Flits per sending node and cycle, nan where a schedule was run.
    cycles : int
        How long was recorded.
    message : int64[R]
        The message of each row: one channel that a message held, ascending by `start`.
    source, target : int64[R]
        The routers at its ends.
    start, end : int64[R]
        The cycle in which the first flit of the message crossed it, and the one after the last.
    flits : int64[R]
        How many crossed it.
    origin, goal : int64[M]
        The routers of each message's terminals.
    created : int64[M]
        When it was created, or released; negative before the first cycle. Messages without rows are still at their
        sources at the end.
    """

    network: Network
    title: str
    routing: str
    load: float
    cycles: int
    message: IntArray
    source: IntArray
    target: IntArray
    start: IntArray
    end: IntArray
    flits: IntArray
    origin: IntArray
    goal: IntArray
    created: IntArray

    def waits(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return where and from when to when the head of a message waited, int64[W] each: node, since, until.

        At its source since it was created, elsewhere since it came; the time that a router itself takes is part of it.
        What still waits at the end waits beyond it.
        """
        order = np.lexsort((self.start, self.message))
        message, node, left = self.message[order], self.source[order], self.start[order]
        first = np.ones(message.size, np.bool_)
        first[1:] = np.diff(message) != 0
        # what was on its way before the first cycle did not wait at its source in the record
        came = np.concatenate([[0], left[:-1] + 1])[: message.size]
        here = np.where(first, np.maximum(self.created[message], 0), came)
        inside = (left > here) & (~first | (node == self.origin[message]))
        # those that wait at the end: heads short of their goals, and messages that have not begun
        last = np.append(first[1:], True)[: message.size]
        short = last & (self.target[order] != self.goal[message]) & (left + 1 < self.cycles)
        still = np.setdiff1d(np.arange(self.origin.size), message)
        end = np.full(int(short.sum()) + still.size, self.cycles + 1)
        return (
            np.concatenate([node[inside], self.target[order][short], self.origin[still]]),
            np.concatenate([here[inside], left[short] + 1, np.maximum(self.created[still], 0)]),
            np.concatenate([left[inside], end]),
        )


def record_traffic(
    network: Network,
    pattern: str | npt.ArrayLike = "uniform",
    load: float = 0.1,
    *,
    cycles: int = _CYCLES,
    settings: TrafficSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> FlitRecording:
    """Simulate random traffic and write down some cycles of it, after a warm-up.

    Parameters
    ----------
    network, pattern, load
        As in `simulate_traffic`.
    cycles : int
        How many are written down, 1 to 100,000.
    settings : TrafficSettings, optional
        As there; ``measured`` does not matter.
    progress : callable, optional
        Called with a line of text now and then.

    Raises
    ------
    NetworkError, TaskError, ModelError
        As `simulate_traffic`, if more than 50 million movements would be written down, or it deadlocks before.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.flits import TrafficSettings
    >>> settings = TrafficSettings(warmup=50)
    >>> found = record_traffic(gossamer.network("torus:4x4"), load=0.2, cycles=100, settings=settings)
    >>> bool((found.end > found.start).all()), int(found.flits.max())
    (True, 8)
    """
    settings = TrafficSettings() if settings is None else settings
    cycles = whole(cycles, "cycles", 1, 100_000)
    going, load = prepare(network, pattern, load, settings, progress)
    width = len(going.state.channel) * settings.routers.output_speedup
    if width * cycles > _MOST_MOVES:
        raise ModelError(f"{width * cycles:,} movements would be recorded, of at most {_MOST_MOVES:,}")
    if settings.warmup is None:
        began = going.warm_up()
    else:
        began = settings.warmup
        going.advance(began)
    if going.deadlock is not None:
        raise ModelError(f"nothing is recorded, as the routers deadlock in the warm-up: {going.deadlock}")
    moves, slots = _recorded(going, began, cycles, width)
    still = _not_begun(going, began)
    slots = np.concatenate([slots, still])
    keys, message = np.unique(slots, axis=0, return_inverse=True)
    per, fabric, channel = settings.terminals, going.fabric, moves[:, 1] // settings.routers.virtual_channels
    return _found(
        fabric, moves[:, 0] - began, channel, message.reshape(-1)[: len(moves)],
        network=network, title=f"{going.name} traffic", routing=going.rule.name, load=load, cycles=cycles,
        origin=keys[:, 2] // per, goal=keys[:, 3] // per, created=keys[:, 1] - began,
    )  # fmt: skip


def record_run(run: ScheduleRun) -> FlitRecording:
    """Return what happened when a schedule was run flit by flit with ``record=True``.

    Raises
    ------
    ModelError
        If its movements were not recorded.
    """
    if run.flit_hops and not len(run.record):
        raise ModelError("the run was not recorded: simulate_schedule(schedule, record=True)")
    schedule, fabric = run.schedule, Fabric(run.schedule.network)
    channel = np.where(run.record[:, 1] >= 0, fabric.link_of[run.record[:, 1]], fabric.link_count)
    goal = schedule.channels.target(schedule.source.astype(np.int64), schedule.displacement.astype(np.int64))
    return _found(
        fabric, run.record[:, 0], channel, run.record[:, 3],
        network=schedule.network, title=schedule.task.describe(), routing=schedule.algorithm or "unnamed",
        load=float("nan"), cycles=run.cycles, origin=schedule.source.astype(np.int64), goal=np.asarray(goal, np.int64),
        created=run.released,
    )  # fmt: skip


def _recorded(going: Simulation, began: int, cycles: int, width: int) -> tuple[IntArray, IntArray]:
    """Return cycle and queue of every movement, and what tells its message: slot, creation, source, target."""
    from gossamer.simulation.flits import _kernels as k

    going.state = going.state._replace(record=np.zeros((width * _SPAN, 4), np.int64))
    going.state.rules[k.RECORDING] = 1
    moves, slots = [np.zeros((0, 2), np.int64)], [np.zeros((0, 4), np.int64)]
    for first in range(began, began + cycles, _SPAN):
        going.state.counters[k.RECORDED] = 0
        going.advance(min(first + _SPAN, began + cycles))
        rows = going.state.record[: int(going.state.counters[k.RECORDED])]
        m = rows[:, 2]
        moves.append(rows[:, :2].copy())
        slots.append(_slots(going, m))
        if going.deadlock is not None:
            break
    return np.concatenate(moves), np.concatenate(slots)


def _not_begun(going: Simulation, began: int) -> IntArray:
    """Return what tells messages on their way that may not have crossed a link: slot, creation, source, target."""
    from gossamer.simulation.flits import _kernels as k

    table = going.state.message
    waits = going.used & (table[:, k.FINISHED] < 0) & (table[:, k.WAITING] == 0)
    m = np.flatnonzero(waits & ((table[:, k.CREATED] >= began) | (table[:, k.STARTED] < table[:, k.CREATED])))
    return _slots(going, m)


def _slots(going: Simulation, m: IntArray) -> IntArray:
    """Return what tells messages: slot, creation, source, target."""
    from gossamer.simulation.flits import _kernels as k

    return np.column_stack([m, going.state.message[m][:, [k.CREATED, k.ORIGIN, k.TARGET]]]).astype(np.int64)


def _found(
    fabric: Fabric, cycle: IntArray, channel: IntArray, message: IntArray, *, network: Network, title: str,
    routing: str, load: float, cycles: int, origin: IntArray, goal: IntArray, created: IntArray,
) -> FlitRecording:  # fmt: skip
    """Join the movements of a message over a channel to one row."""
    inside = channel < fabric.link_count
    cycle, channel, message = cycle[inside], channel[inside].astype(np.int64), message[inside].astype(np.int64)
    key, row, flits = np.unique(message * fabric.link_count + channel, return_inverse=True, return_counts=True)
    start, end = np.full(key.size, np.iinfo(np.int64).max), np.zeros(key.size, np.int64)
    np.minimum.at(start, row, cycle)
    np.maximum.at(end, row, cycle + 1)
    order = np.argsort(start, kind="stable")
    held, link = np.divmod(key[order], fabric.link_count)
    return FlitRecording(
        network, title, routing, load, cycles, held,
        fabric.source[link].astype(np.int64), fabric.target[link].astype(np.int64), start[order], end[order],
        flits[order].astype(np.int64), origin.astype(np.int64), goal.astype(np.int64), created.astype(np.int64),
    )  # fmt: skip
