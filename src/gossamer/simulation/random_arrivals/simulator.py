"""Simulate broadcasts that arrive at random: delays with confidence, waits, link loads, instability.

Every directed link has a queue and sends one copy at a time, without interruption, a transmission taking 1/parts of a
step. A link takes the copy of the lowest class; the ties of `Settings` decide inside a class. Simultaneous events:
first the transmissions that end, in the order in which they began, then the requests, then the links that are free
take a copy each. Time O(transmissions), memory O(links * classes + copies in flight).
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.reading import instance, number
from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess, Trace
from gossamer.simulation.random_arrivals.queueing_state import SchemeTables
from gossamer.simulation.random_arrivals.replication import Replication, Setup, replicate
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, Histogram, KindDelays, Result, over_replications
from gossamer.simulation.random_arrivals.theory import stability_limit

__all__ = ["simulate"]

_WALK = 20_000_000
"""Transmissions of the trees of some of the sources up to which the stability limit is found."""


def simulate(
    scheme: Scheme,
    *,
    load: float | None = None,
    rate: float | None = None,
    nodes: Sequence[int] | npt.NDArray[np.integer] | None = None,
    settings: Settings | None = None,
    above_limit: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Simulate a scheme under random broadcast requests and return delays, waits and link loads.

    Parameters
    ----------
    scheme : Scheme
        How broadcasts travel.
    load, rate : float
        One of them: the load factor, or broadcasts per generating node and step. None with a `Trace`.
    nodes : sequence of int, optional
        The sources that generate broadcasts; default all of the scheme's. `load` is then the mean load they make.
    settings : Settings, optional
        Requests, rules of the queues, length. Default: ``Settings()``.
    above_limit : bool
        Simulate at or above the stability limit all the same.
    progress : callable, optional
        Told a line of text now and then.

    Raises
    ------
    ModelError
        If an argument has an illegal value, the load is at or above the stability limit (1 if the choice looks at the
        load), or the run would not end in a day.
    NotApplicableError
        If a load-aware choice is asked of a scheme that has none.

    Examples
    --------
    A link that serves a Poisson stream is an M/D/1 queue: at load 1/2 the mean delay is 1 + 1/2.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals import Settings, scheme_from_parents, simulate
    >>> link = scheme_from_parents(
    ...     "one link", gossamer.network("array:2"), parent=[-1], step=[0], translated=False, sources=[0]
    ... )
    >>> result = simulate(link, rate=0.5, settings=Settings(broadcasts=20_000))
    >>> result.stable, result.reception.covers(1.5, 2)
    (True, True)
    """
    settings = Settings() if settings is None else instance(settings, Settings, "settings")
    setup, load = prepare(scheme, load, rate, nodes, settings, above_limit=above_limit)
    began = clock.perf_counter()
    runs: list[Replication] = []
    for r, seeds in enumerate(np.random.SeedSequence(settings.seed).spawn(settings.replications)):
        title = f"{scheme.name} on {scheme.network.spec} at load {load:.3g}"
        if settings.replications > 1:
            title += f", run {r + 1} of {settings.replications}"
        runs.append(replicate(setup, seeds, title, progress))
    return _result(setup, load, runs, clock.perf_counter() - began)


def prepare(
    scheme: Scheme,
    load: float | None,
    rate: float | None,
    nodes: Sequence[int] | npt.NDArray[np.integer] | None,
    settings: Settings,
    *,
    above_limit: bool,
) -> tuple[Setup, float]:
    """Return what every run has in common, and the load; parameters and errors as in `simulate`."""
    sending = scheme if nodes is None else scheme.restricted(nodes)
    per_step = _rate(scheme, sending, load, rate, settings.arrivals)
    load_of_one = _load_of_one(scheme, sending)
    load = per_step * load_of_one
    tables = SchemeTables.of(sending, settings.ties, settings.choose)
    if not above_limit and not isinstance(settings.arrivals, Trace):
        _check_limit(sending, per_step, load_of_one, oblivious=settings.choose == "oblivious")
    return Setup.of(tables, settings, per_step, load), load


def _result(setup: Setup, load: float, runs: list[Replication], seconds: float) -> Result:
    """Return what all runs found."""
    settings, scheme = setup.settings, setup.tables.scheme
    reason = next((r.reason for r in runs if r.reason), "")
    sums = np.sum([r.sums for r in runs], axis=0)
    counts = np.sum([r.counts for r in runs], axis=0)
    seen = [float(sums[i] / counts[i]) if counts[i] else float("nan") for i in range(2)]
    wait_sum, wait_count = np.sum([r.wait_sum for r in runs], axis=0), np.sum([r.wait_count for r in runs], axis=0)
    used = {int(setup.tables.classes[c]): c for c in range(wait_count.size) if wait_count[c]}
    return Result(
        scheme=scheme.name,
        network=scheme.network.spec,
        arrivals=type(settings.arrivals).__name__,
        time=settings.time,
        ties=settings.ties,
        choose=settings.choose,
        seed=settings.seed,
        replications=settings.replications,
        rate=setup.rate,
        load=load,
        stable=not reason,
        reason=reason,
        reception=NO_ESTIMATE if reason else over_replications([r.reception for r in runs]),
        broadcast=NO_ESTIMATE if reason else over_replications([r.broadcast for r in runs]),
        observed=(seen[0], seen[1]),
        wait={name: float("nan") if reason else float(wait_sum[c] / wait_count[c]) for name, c in used.items()},
        class_share={name: float(wait_count[c] / wait_count.sum()) for name, c in used.items()},
        utilization=np.mean([r.utilization for r in runs], axis=0),
        reception_delays=Histogram.joined([r.reception_delays for r in runs]),
        broadcast_delays=Histogram.joined([r.broadcast_delays for r in runs]),
        broadcasts=setup.count * settings.replications,
        transmissions=sum(r.transmissions for r in runs),
        peak_in_flight=max(r.peak for r in runs),
        warmup=float(np.mean([r.warmup for r in runs])),
        measured=float(np.mean([r.measured for r in runs])),
        settled=all(r.settled for r in runs),
        backlog=runs[0].backlog,
        seconds=seconds,
        kinds=() if reason else _by_kind(scheme, runs),
    )


def _by_kind(scheme: Scheme, runs: list[Replication]) -> tuple[KindDelays, ...]:
    """Return the delays of each kind of requests, if there are several."""
    traffic = scheme.traffic
    if traffic is None:
        return ()
    made = []
    for k, (name, share, distance) in enumerate(zip(traffic.names, traffic.share, traffic.distance, strict=True)):
        both = [over_replications([r.kinds[k][i] for r in runs]) for i in range(2)]
        made.append(KindDelays(name, share, both[0], both[1], *distance))
    return tuple(made)


# -- what was asked ----------------------------------------------------------------------------------------------------


def _load_of_one(scheme: Scheme, sending: Scheme) -> float:
    """Return the load factor that one broadcast per generating node and step makes, over all sources of the scheme."""
    nodes = sending.source_nodes.size
    needed = np.broadcast_to(sending.needed, (nodes,)).sum()
    return float(needed / scheme.network.out_degree[scheme.source_nodes].sum())


def _rate(scheme: Scheme, sending: Scheme, load: float | None, rate: float | None, process: ArrivalProcess) -> float:
    if isinstance(process, Trace):
        if load is not None or rate is not None:
            raise ModelError("a trace has its own rate: give neither load nor rate with it")
        span = max(float(process.time[-1]), 1.0)
        return float(process.time.size / span / sending.source_nodes.size)
    if (load is None) == (rate is None):
        raise ModelError("give the load or the rate, one of the two")
    if load is not None:
        return number(load, "load", above=0) / _load_of_one(scheme, sending)
    return number(rate, "rate", above=0)


def _check_limit(sending: Scheme, rate: float, load_of_one: float, *, oblivious: bool) -> None:
    """Refuse a rate at or above the stability limit, and say which link binds."""
    if not oblivious:
        if rate * load_of_one >= 1:
            raise ModelError(f"load {rate * load_of_one:.6g} is not below 1, from which on no scheme is stable")
        return
    network, sources = sending.network, sending.source_nodes.size
    if (
        sending.translated
        and sources < network.node_count
        and sources * sending.choice_count * network.node_count > _WALK
    ):
        return
    limit = stability_limit(sending)
    if rate >= float(limit.rate):
        most = float(limit.rate) * load_of_one
        raise ModelError(
            f"scheme {sending.name!r} on {network.spec}: load {rate * load_of_one:.6g} is not below the stability "
            f"limit {most:.6g}, at which link {network.link_name(limit.link)} is always busy"
        )
