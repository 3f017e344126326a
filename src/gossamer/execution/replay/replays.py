"""A schedule replayed for messages of several sizes, beside the time of its slots, its bound, and what MPI has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gossamer.errors import NotApplicableError, ScheduleError, shown
from gossamer.execution.replay.loggp import loggp_time
from gossamer.execution.replay.smpi import smpi_own_times, smpi_time
from gossamer.interchange.smpi_platform import link_speeds
from gossamer.planning.planner import lower_bounds
from gossamer.programs import lower
from gossamer.schedules import Schedule

__all__ = ["MODELS", "Replay", "replay"]

MODELS = ("loggp", "smpi", "smpi-default")
"""LogGP; SimGrid's SMPI without its corrections for protocols; and with them."""


@dataclass(frozen=True)
class Replay:
    """What a schedule takes in a model, for messages of one size.

    Attributes
    ----------
    message_bytes : int
        The size.
    seconds : float
        What the replay takes.
    slots_seconds : float
        What the slots take, each as long as its slowest link needs.
    bound_seconds : float or None
        What no schedule beats, of messages in any parts, without latencies; None where links differ.
    own : mapping of str to float or None
        What MPI's own algorithms take, and those that MPI libraries choose; None for what fails there.
    """

    message_bytes: int
    seconds: float
    slots_seconds: float
    bound_seconds: float | None = None
    own: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def best_own(self) -> float | None:
        """What the best of MPI's own takes; None if none is known."""
        return min((t for t in self.own.values() if t is not None), default=None)


def replay(
    schedule: Schedule,
    sizes: Iterable[int],
    *,
    model: str = "loggp",
    bandwidth: float | None = None,
    latency: float | None = None,
    overhead: float = 0.0,
    own: bool | Collection[str] = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[Replay]:
    """Return what a schedule takes in a model of a machine, for messages of several sizes.

    Parameters
    ----------
    schedule : Schedule
        Explicit or invariant; it is verified.
    sizes : iterable of int
        Bytes of a message.
    model : str
        One of `MODELS`.
    bandwidth, latency : float, optional
        Bytes a second and seconds of every link. Default: those of the network where it has them, else 125 MB/s and 1
        microsecond.
    overhead : float
        Seconds at each end of a message, in LogGP.
    own : bool or collection of str
        Whether to replay MPI's own algorithms as well, in SMPI, or which of them.
    say : callable
        Is told what is replayed.

    Raises
    ------
    NotApplicableError
        If SimGrid is asked for and not installed, or the model cannot have links that differ.
    ScheduleError
        If the options do not fit together.

    Examples
    --------
    >>> import gossamer
    >>> found = replay(gossamer.plan("torus:4x4", "allgather").schedule, [1_000_000])[0]
    >>> round(found.seconds, 6), round(found.slots_seconds, 6), round(found.bound_seconds, 6)
    (0.032004, 0.032004, 0.03)
    """
    if model not in MODELS:
        raise ScheduleError(f"unknown model {shown(model)}; there are: {', '.join(MODELS)}")
    if model != "loggp" and overhead:
        raise ScheduleError("an overhead goes with the model loggp")
    if own and model == "loggp":
        raise ScheduleError("MPI's own algorithms are replayed in SMPI: the model must be smpi or smpi-default")
    network = schedule.network
    rate, delay = link_speeds(network, bandwidth, latency)
    alike = network.link_count > 0 and bool(np.all(rate == rate[0]) and np.all(delay == delay[0]))
    if model == "loggp" and not alike:
        raise NotApplicableError(
            f"the links of {network.spec} differ, and LogGP has one bandwidth and latency; take smpi, or give both"
        )
    program = lower(schedule)
    bound = None
    if network.plain and alike:
        rules = replace(schedule.rules, split=True)
        bound = float(lower_bounds(network, schedule.task, rules=rules)[0].value)
    found = []
    for size in sizes:
        say(f"replaying {size:,} bytes")
        block = -(-size // program.parts)
        taken = (network.link_occupancy + network.link_latency).astype(np.float64)
        slot = float(((block / rate + delay) / taken).max(initial=0.0))
        if model == "loggp":
            each, lat = 1 / float(rate[0]), float(delay[0])
            # a block of b bytes takes b bytes of time on a link, and a link is free again after its latency
            seconds = loggp_time(program, block + 1, L=lat, o=overhead, g=block * each + lat, G=each)
        else:
            seconds = smpi_time(program, block, bandwidth=rate, latency=delay, neutral=model == "smpi")
        others: Mapping[str, float | None] = {}
        if own:
            only = () if own is True else own
            others = smpi_own_times(
                network, schedule.task, size, bandwidth=rate, latency=delay, neutral=model == "smpi", only=only, say=say
            )
        at_least = None if bound is None else bound * size / float(rate[0])
        found.append(Replay(size, seconds, schedule.slot_count * slot, at_least, others))
    return found
