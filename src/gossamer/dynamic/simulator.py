"""Simulate broadcasts that arrive at random: delays with confidence, waits, link loads, instability."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Literal

import numpy as np
import numpy.typing as npt

from gossamer.dynamic.arrivals import Arrivals, Poisson, Trace
from gossamer.dynamic.machine import CHOICES, TIES, Tables
from gossamer.dynamic.replication import Plan, Run, replicate
from gossamer.dynamic.result import Result
from gossamer.dynamic.scheme import Scheme
from gossamer.dynamic.statistics import NO_ESTIMATE, Histogram, over_replications
from gossamer.errors import ModelError, nearest

__all__ = ["simulate"]

TIMES = ("continuous", "slotted")

_MOST_BROADCASTS = 10**12
_WALK = 20_000_000
"""Transmissions of the trees of some of the sources up to which the stability limit is found."""


def simulate(
    scheme: Scheme,
    *,
    load: float | None = None,
    rate: float | None = None,
    arrivals: Arrivals | None = None,
    nodes: Sequence[int] | npt.NDArray[np.integer] | None = None,
    time: str = "continuous",
    ties: str = "fifo",
    choose: str = "oblivious",
    mixture: float = 0.5,
    guard: float = 2.0,
    seed: int = 0,
    replications: int = 1,
    warmup: float | Literal["auto"] = "auto",
    steps: float | None = None,
    broadcasts: int | None = None,
    most_in_flight: int = 100_000_000,
    above_limit: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Simulate a scheme under random broadcast requests and return delays, waits and link loads.

    Every directed link has a queue and sends one copy at a time, without interruption, a transmission taking 1/parts of
    a step. A link takes the copy of the lowest class; `ties` decides inside a class.

    Parameters
    ----------
    scheme : Scheme
        How broadcasts travel.
    load, rate : float
        One of them: the load factor, or broadcasts per generating node and step. None with a `Trace`.
    arrivals : Arrivals
        `Poisson` (default), `Bernoulli`, `OnOff` or `Trace`.
    nodes : sequence of int, optional
        The sources that generate broadcasts; default all of the scheme's. `load` is then the mean load they make.
    time : str
        ``continuous``, or ``slotted``: requests wait for the next whole slot, a slot being one transmission, and their
        delay counts from there.
    ties : str
        Inside a class: ``fifo``, ``age`` (older broadcast first) or ``critical-path`` (the copy from which the longest
        path still follows).
    choose : str
        ``oblivious`` (drawn by the scheme's probabilities), or the choice that balances the load over the dimensions:
        ``global`` (knows all transmissions still to be made), ``local`` (knows the queues at the source; not stable at
        high load), ``guarded`` (local, but drawn for a part `mixture` of the broadcasts and wherever more than `guard`
        copies wait per outgoing link of the source).
    seed : int
        Same seed, same result. The requests depend on the seed only, not on the scheme.
    mixture, guard : float
        Of the guarded choice, 0 to 1 and at least 0.
    replications : int
        Independent runs; the intervals are over runs if there are at least two, else by batch means.
    warmup : float or "auto"
        Steps before the measurement. ``auto``: a third of the measured time, and longer while the number of copies in
        flight has not settled by the rule MSER-5.
    steps, broadcasts : float, int
        At most one of them: how long broadcasts are measured. Default 3000 steps to load 0.7, 5000 to 0.9, else 9000,
        and at least 2000 broadcasts, near load 1 more.
    most_in_flight : int
        Copies in flight at which a run stops as unstable; 16 bytes each, 32 with other ties than ``fifo``.
    above_limit : bool
        Simulate at or above the stability limit all the same.
    progress : callable, optional
        Told a line of text now and then.

    Returns
    -------
    Result

    Raises
    ------
    ModelError
        If an argument has an illegal value, or the load is at or above the stability limit (1 if `choose` looks at the
        load).
    NotApplicableError
        If a load-aware choice is asked of a scheme that has none.

    Notes
    -----
    Time O(transmissions), memory O(links * classes + copies in flight). Simultaneous events: first the transmissions
    that end, in the order in which they began, then the requests, then the links that are free take a copy each.

    Examples
    --------
    A link that serves a Poisson stream is an M/D/1 queue: at load 1/2 the mean delay is 1 + 1/2.

    >>> import gossamer
    >>> from gossamer.dynamic import scheme_from_parents, simulate
    >>> link = scheme_from_parents(
    ...     "one link", gossamer.network("array:2"), parent=[-1], step=[0], translated=False, sources=[0]
    ... )
    >>> result = simulate(link, rate=0.5, broadcasts=20_000)
    >>> result.stable, result.reception.covers(1.5, 2)
    (True, True)
    """
    _check_words(time, ties, choose)
    numbers = {"load": load, "rate": rate, "mixture": mixture, "guard": guard, "steps": steps, "broadcasts": broadcasts}
    for what, number in numbers.items():
        if number is not None:
            _check_number(what, number)
    for what, value, least in (
        ("replications", replications, 1),
        ("most_in_flight", most_in_flight, 1),
        ("seed", seed, 0),
    ):
        _check_number(what, value, whole=True)
        if value < least:
            raise ModelError(f"{what} must be {least} or more, got {value}")
    if not (0 <= mixture <= 1 and guard >= 0):
        raise ModelError(f"mixture must be in 0..1 and guard 0 or more, got {mixture} and {guard}")
    sending = scheme if nodes is None else scheme.restricted(nodes)
    process: Arrivals = Poisson() if arrivals is None else arrivals
    if not hasattr(process, "stream"):
        raise ModelError(f"arrivals must be Poisson(), Bernoulli(), OnOff(...) or a Trace, got {arrivals!r}")
    per_step = _rate(scheme, sending, load, rate, process)
    load_of_one = _load_of_one(scheme, sending)
    load = per_step * load_of_one
    tables = Tables.of(sending, ties, choose)
    if not above_limit and not isinstance(process, Trace):
        _check_limit(sending, per_step, load_of_one, oblivious=choose == "oblivious")
    total = per_step * sending.source_nodes.size
    count = _broadcasts(process, total, load, steps, broadcasts)
    lead = _warmup(warmup, count, total, process)
    if isinstance(process, Trace):
        count = min(count, process.time.size - lead)
    elif count + lead > _MOST_BROADCASTS:
        raise ModelError(
            f"{count + lead:.3g} broadcasts would be simulated, of at most {_MOST_BROADCASTS:.0e}; choose fewer steps"
        )
    plan = Plan(
        tables=tables,
        process=process,
        rate=per_step,
        slotted=time == "slotted",
        count=count,
        lead=lead,
        automatic=warmup == "auto",
        most_in_flight=most_in_flight,
        mixture=mixture,
        guard=guard,
    )
    began = clock.perf_counter()
    runs: list[Run] = []
    for r, seeds in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        title = f"{scheme.name} on {scheme.network.spec} at load {load:.3g}"
        if replications > 1:
            title += f", run {r + 1} of {replications}"
        runs.append(replicate(plan, seeds, title, progress))
    reason = next((r.reason for r in runs if r.reason), "")
    sums = np.sum([r.sums for r in runs], axis=0)
    counts = np.sum([r.counts for r in runs], axis=0)
    seen = [float(sums[i] / counts[i]) if counts[i] else float("nan") for i in range(2)]
    wait_sum, wait_count = np.sum([r.wait_sum for r in runs], axis=0), np.sum([r.wait_count for r in runs], axis=0)
    used = {int(plan.tables.classes[c]): c for c in range(wait_count.size) if wait_count[c]}
    return Result(
        scheme=scheme.name,
        network=scheme.network.spec,
        arrivals=type(process).__name__,
        time=time,
        ties=ties,
        choose=choose,
        seed=seed,
        replications=replications,
        rate=per_step,
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
        broadcasts=count * replications,
        transmissions=sum(r.transmissions for r in runs),
        peak_in_flight=max(r.peak for r in runs),
        warmup=float(np.mean([r.warmup for r in runs])),
        measured=float(np.mean([r.measured for r in runs])),
        settled=all(r.settled for r in runs),
        backlog=runs[0].backlog,
        seconds=clock.perf_counter() - began,
    )


# -- what was asked -------------------------------------------------------------------------------------------------


def _check_number(what: str, value: object, whole: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        raise ModelError(f"{what} must be a {'whole ' if whole else ''}number, got {value!r}")


def _check_words(time: str, ties: str, choose: str) -> None:
    for what, given, allowed in (("time", time, TIMES), ("ties", ties, TIES), ("choose", choose, CHOICES)):
        if given not in allowed:
            hint = nearest(given, allowed) or f"; allowed are {', '.join(allowed)}"
            raise ModelError(f"unknown value {given!r} of {what}{hint}")


def _load_of_one(scheme: Scheme, sending: Scheme) -> float:
    """Return the load factor that one broadcast per generating node and step makes, over all sources of the scheme."""
    nodes = sending.source_nodes.size
    receivers = np.broadcast_to(sending.counted_receivers, (nodes,)).sum()
    return float(receivers / scheme.network.out_degree[scheme.source_nodes].sum())


def _rate(scheme: Scheme, sending: Scheme, load: float | None, rate: float | None, process: Arrivals) -> float:
    if isinstance(process, Trace):
        if load is not None or rate is not None:
            raise ModelError("a trace has its own rate: give neither load nor rate with it")
        span = max(float(process.time[-1]), 1.0)
        return float(process.time.size / span / sending.source_nodes.size)
    if (load is None) == (rate is None):
        raise ModelError("give the load or the rate, one of the two")
    name, value = ("load", load) if load is not None else ("rate", rate)
    if value is None or not 0 < value < float("inf"):
        raise ModelError(f"the {name} must be a positive number, got {value}")
    return value if load is None else value / _load_of_one(scheme, sending)


def _check_limit(sending: Scheme, rate: float, load_of_one: float, *, oblivious: bool) -> None:
    """Refuse a rate at or above the stability limit, and say which link binds."""
    from gossamer.dynamic.theory import stability_limit

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


def _broadcasts(process: Arrivals, per_step: float, load: float, steps: float | None, broadcasts: int | None) -> int:
    """Return how many broadcasts are measured."""
    if steps is not None and broadcasts is not None:
        raise ModelError("give the length in steps or in broadcasts, one of the two")
    if broadcasts is not None:
        if broadcasts < 1:
            raise ModelError(f"at least 1 broadcast must be measured, got {broadcasts}")
        return int(broadcasts)
    if steps is not None and not 0 < steps < float("inf"):
        raise ModelError(f"the measured time must be a positive number of steps, got {steps}")
    if steps is None:
        if isinstance(process, Trace):
            return process.time.size
        least = max(2000, int(180 / (1 - min(load, 0.95)) ** 2))  # a queue forgets in about 1 / (1 - load)^2 services
        return max(least, int(per_step * (3000 if load <= 0.7 else 5000 if load <= 0.9 else 9000)))
    return max(1, int(per_step * steps))


def _warmup(warmup: float | str, count: int, per_step: float, process: Arrivals) -> int:
    """Return how many broadcasts come before the measurement."""
    if isinstance(warmup, str):
        if warmup != "auto":
            raise ModelError(f"the warm-up must be a number of steps or 'auto', got {warmup!r}")
        return 0 if isinstance(process, Trace) else max(1, count // 3)
    if not 0 <= warmup < float("inf"):
        raise ModelError(f"the warm-up must be a number of steps of at least 0, got {warmup}")
    if isinstance(process, Trace):
        before = int(np.searchsorted(process.time, warmup))
        if before == process.time.size:
            raise ModelError(
                f"the warm-up of {warmup:g} steps is as long as {process.name}, which ends at {process.time[-1]:g}"
            )
        return before
    return int(per_step * warmup)
