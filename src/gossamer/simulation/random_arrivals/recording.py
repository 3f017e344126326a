"""A few steps of a simulation written down: which copy was queued when, and when each link sent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import Network
from gossamer.reading import instance
from gossamer.simulation.random_arrivals.arrivals import Trace
from gossamer.simulation.random_arrivals.queueing_state import QueueState
from gossamer.simulation.random_arrivals.replication import RunRequests, Setup
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import prepare

__all__ = ["MOST_ROWS", "Recording", "record"]

MOST_ROWS = 4_000_000
"""The most transmissions that are written down."""
_STEPS, _WARMUP = 60.0, 200.0
_CHUNK = 1 << 12

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recording:
    """What happened in `steps` steps of a simulation; times in steps from the first of them.

    Attributes
    ----------
    network : Network
        Where.
    scheme : str
        Name of the scheme.
    load, rate : float
        Load factor, and broadcasts per generating node and step.
    steps : float
        How long was recorded.
    service : float
        Steps that a transmission takes.
    queued : float64[R]
        When each copy was queued at its link; negative before the first step.
    start : float64[R]
        When its transmission began, ascending; inf where it still waits at the end.
    link, broadcast : int32[R]
        On which link, and of which broadcast.
    origin : int32[B]
        The node of each broadcast.
    birth : float64[B]
        When it was generated.
    """

    network: Network
    scheme: str
    load: float
    rate: float
    steps: float
    service: float
    queued: FloatArray
    start: FloatArray
    link: IntArray
    broadcast: IntArray
    origin: IntArray
    birth: FloatArray

    def waiting(self, time: float) -> npt.NDArray[np.int64]:
        """Return the copies that wait at each link at a time, int64[L]; one that is being sent does not wait."""
        there = (self.queued <= time) & (self.start > time)
        return np.bincount(self.link[there], minlength=self.network.link_count)


def record(
    scheme: Scheme,
    *,
    load: float | None = None,
    rate: float | None = None,
    nodes: Sequence[int] | npt.NDArray[np.integer] | None = None,
    settings: Settings | None = None,
    above_limit: bool = False,
) -> Recording:
    """Simulate a scheme and write down every transmission of a few steps, and every copy that waits.

    Parameters
    ----------
    scheme : Scheme
        How broadcasts travel.
    load, rate : float
        One of them, as in `simulate`; None with a `Trace`.
    nodes : sequence of int, optional
        The sources that generate broadcasts; default all of the scheme's.
    settings : Settings, optional
        Requests and rules. ``steps`` are recorded, 60 by default, after ``warmup`` steps, 200 by default and none with
        a trace. Replications and the number of broadcasts do not matter.
    above_limit : bool
        Simulate at or above the stability limit all the same.

    Raises
    ------
    ModelError, NotApplicableError
        As `simulate`, and if more than `MOST_ROWS` transmissions would be written down or more copies are in flight
        than the settings allow.

    Notes
    -----
    O(transmissions) time. The plain simulation knows nothing of this: the event loop is compiled a second time.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals import Settings, scheme_from_parents
    >>> ring = scheme_from_parents("both ways", gossamer.network("ring:3"), parent=[-1, -1], step=[0, 1])
    >>> short = record(ring, load=0.5, settings=Settings(steps=10))
    >>> short.steps, bool((short.start >= short.queued).all())
    (10.0, True)
    """
    settings = Settings() if settings is None else instance(settings, Settings, "settings")
    traced = isinstance(settings.arrivals, Trace)
    steps = _STEPS if settings.steps is None else float(settings.steps)
    warmup = float(settings.warmup) if not isinstance(settings.warmup, str) else 0.0 if traced else _WARMUP
    short = replace(settings, steps=steps, warmup=warmup, broadcasts=None)
    setup, load = prepare(scheme, load, rate, nodes, short, above_limit=above_limit)
    expected = load * steps * setup.tables.scheme.parts * scheme.network.link_count
    if expected > MOST_ROWS:
        raise ModelError(
            f"about {expected:,.0f} transmissions would be recorded, of at most {MOST_ROWS:,}; choose fewer steps"
        )
    machine = QueueState(
        setup.tables, most_copies=settings.most_in_flight, mixture=settings.mixture, guard=settings.guard,
        recorded=warmup * setup.tables.scheme.parts,
    )  # fmt: skip
    _run(machine, setup, (warmup + steps) * setup.tables.scheme.parts)
    return _found(machine, setup, load, warmup, steps)


def _run(machine: QueueState, setup: Setup, end: float) -> None:
    """Simulate up to the first request at or after `end`, in units of one transmission."""
    requests = RunRequests(setup, np.random.SeedSequence(setup.settings.seed).spawn(1)[0])
    machine.measure(0)
    going = True
    while going:
        times, sources, choice, uniform = requests.take(_CHUNK)
        count = min(times.size, int(np.searchsorted(times, end)) + 1)
        going = count == times.size == _CHUNK
        unmeasured = np.full(count, -1, np.int32)
        until = "" if count < times.size or going else "done"
        given = (times[:count], sources[:count], choice[:count], unmeasured, uniform[:count])
        if not machine.advance(*given, until):
            raise ModelError(f"more than {setup.settings.most_in_flight:,} copies were in flight")


def _found(machine: QueueState, setup: Setup, load: float, warmup: float, steps: float) -> Recording:
    from gossamer.simulation.random_arrivals import _kernels as k

    log, scheme = machine.log, setup.tables.scheme
    assert log is not None
    rows, births = int(log.counts[k.ROWS]), int(log.counts[k.BIRTHS])
    left = np.flatnonzero(log.link >= 0)
    queued = np.concatenate([log.time[:rows, 0], log.queued[left]]) / scheme.parts - warmup
    start = np.concatenate([log.time[:rows, 1] / scheme.parts - warmup, np.full(left.size, np.inf)])
    link = np.concatenate([log.which[:rows, 0], log.link[left]])
    number = np.concatenate([log.which[:rows, 1], log.number[machine.casts_of(left)]])
    inside = queued < steps
    queued, start, link, number = queued[inside], start[inside], link[inside], number[inside]
    start[start >= steps] = np.inf
    known, broadcast = np.unique(number, return_inverse=True)
    order = np.lexsort((queued, start))
    return Recording(
        network=scheme.network,
        scheme=scheme.name,
        load=load,
        rate=setup.rate,
        steps=steps,
        service=1 / scheme.parts,
        queued=queued[order],
        start=start[order],
        link=link[order].astype(np.int32),
        broadcast=broadcast[order].astype(np.int32),
        origin=log.source[:births][known].astype(np.int32),
        birth=log.birth[:births][known] / scheme.parts - warmup,
    )
