"""Delays against load, of several schemes on one network: simulated, beside lower bounds and estimates."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gossamer.dynamic.arrivals import Arrivals, Poisson, Trace
from gossamer.dynamic.intervals import IntervalScheme, interval_scheme
from gossamer.dynamic.result import Result
from gossamer.dynamic.scheme import Scheme
from gossamer.dynamic.schemes import scheme as named_scheme
from gossamer.dynamic.simulator import simulate
from gossamer.dynamic.statistics import NO_ESTIMATE, Estimate
from gossamer.dynamic.theory import best_bound, delay_estimate, stability_limit
from gossamer.errors import FileFormatError, ModelError, NotApplicableError
from gossamer.networks.network import Network
from gossamer.reading.ranges import LEAST_LOAD, fractions
from gossamer.writing import whole_file

__all__ = ["INTERVALS", "TABLE_FORMATS", "Point", "grouped", "load_range", "sweep", "table_format", "write_table"]

INTERVALS = "varvarigos-bertsekas"
"""Name of the interval scheme, which has a simulation of its own."""
TABLE_FORMATS = ("csv", "parquet")
"""What the name of a file with the points may end in."""


@dataclass(frozen=True)
class Point:
    """One scheme at one load.

    Attributes
    ----------
    network, scheme : str
        Spec and name.
    load, limit : float
        Load factor, and the one from which on the scheme is not stable.
    stable : bool
        Whether delays settle; False also where the load is not below the limit, and was not simulated.
    reason : str
        Why it is not stable.
    reception, broadcast : Estimate
        Mean delays in steps with 95% confidence; without a mean where not stable, and reception for the interval
        scheme, which measures broadcasts only.
    reception_bound, broadcast_bound : float
        Lower bounds; nan where none holds (arrivals that are not Poisson have only those by distance).
    reception_estimate, broadcast_estimate : float
        What theory expects, no bound; nan where there is none. For the interval scheme the upper bound (11).
    result : Result or None
        All that the simulation measured.
    """

    network: str
    scheme: str
    load: float
    limit: float
    stable: bool
    reason: str
    reception: Estimate
    broadcast: Estimate
    reception_bound: float
    broadcast_bound: float
    reception_estimate: float
    broadcast_estimate: float
    result: Result | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the point as one flat line of a table."""
        line: dict[str, Any] = {
            "network": self.network,
            "scheme": self.scheme,
            "load": self.load,
            "limit": self.limit,
            "stable": self.stable,
            "reason": self.reason,
            "reception": self.reception.mean,
            "reception_half_width": self.reception.half_width,
            "reception_bound": self.reception_bound,
            "reception_estimate": self.reception_estimate,
            "broadcast": self.broadcast.mean,
            "broadcast_half_width": self.broadcast.half_width,
            "broadcast_bound": self.broadcast_bound,
            "broadcast_estimate": self.broadcast_estimate,
        }
        return line | (self.result.to_dict() if self.result is not None else {}) | line


def load_range(text: str) -> tuple[float, ...]:
    """Return the loads that a text names: ``0.5``, ``0.1,0.5,0.9`` or ``0.1:0.95:0.05``, the end included.

    Raises
    ------
    ModelError
        If it is not of these forms, or empty, or a load is below a millionth.

    Examples
    --------
    >>> load_range("0.1:0.3:0.1"), load_range("0.5")
    ((0.1, 0.2, 0.3), (0.5,))
    """
    return tuple(map(float, fractions(text, "loads", LEAST_LOAD)))


def sweep(
    network: Network,
    schemes: Sequence[str],
    loads: Sequence[float],
    *,
    arrivals: Arrivals | None = None,
    nodes: Sequence[int] | None = None,
    choose: str = "oblivious",
    jobs: int = 1,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    scheme_options: dict[str, Any] | None = None,
    **options: Any,
) -> list[Point]:
    """Simulate schemes at loads.

    Parameters
    ----------
    network : Network
        Where the broadcasts are.
    schemes : sequence of str
        Names as in `gossamer.dynamic.schemes.SCHEMES`, or ``varvarigos-bertsekas`` for the interval scheme.
    loads : sequence of float
        Load factors. One at or above the limit of a scheme is not simulated, and its point says so. Not read with a
        `Trace`, which has its own rate.
    nodes : sequence of int, optional
        The nodes that generate broadcasts; default all. Load factors, and limits, are those of the rate per generating
        node: with few nodes they may be above 1. The bounds are then those that hold for any arrivals.
    arrivals, choose, seed, **options
        As for `simulate`. The interval scheme is simulated with Poisson arrivals in continuous time only, without ties
        or choices, and for a number of packets of its own.
    jobs : int
        Points simulated at once, in threads (the kernel leaves the interpreter's lock).
    progress : callable, optional
        Told what is being simulated.
    scheme_options : dict, optional
        Options for the builders of the schemes.

    Returns
    -------
    list of Point
        By scheme, then by load.

    Raises
    ------
    NotApplicableError
        If a scheme is unknown, does not cover the network, or cannot be simulated with an option.
    ModelError
        If an option is illegal, or every load is at or above the limit of every scheme.

    Examples
    --------
    >>> import gossamer
    >>> points = sweep(gossamer.network("hypercube:3"), ["fifo"], [0.5, 1.0], steps=500)
    >>> [(p.load, p.stable, p.reason) for p in points]
    [(0.5, True, ''), (1.0, False, 'not below the limit 1')]
    """
    if jobs < 1:
        raise ModelError(f"jobs must be 1 or more, got {jobs}")
    if not schemes or not (loads or isinstance(arrivals, Trace)):
        raise ModelError("name at least one scheme and one load")
    made = [_made(name, network, scheme_options or {}, nodes) for name in schemes]
    asked = [(scheme, load) for scheme in made for load in ([0.0] if isinstance(arrivals, Trace) else loads)]
    process: Arrivals = arrivals or Poisson()
    options = {"arrivals": process, "choose": choose, "seed": seed, "progress": progress} | options
    even = isinstance(process, Poisson) and nodes is None
    if any(isinstance(scheme, IntervalScheme) for scheme in made):
        _check_interval_options(options)

    def point(case: tuple[Scheme | IntervalScheme, float]) -> Point:
        scheme, load = case
        if isinstance(scheme, IntervalScheme):
            return _interval_point(scheme, load, seed, progress)
        return _point(scheme, load, even, options)

    if jobs == 1:
        found = [point(case) for case in asked]
    else:
        with ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(point, asked))
    if all(p.result is None and not p.stable for p in found):
        limits = ", ".join(f"{p.limit:.4g} for {p.scheme}" for p in {p.scheme: p for p in found}.values())
        raise ModelError(f"every load is at or above the limit on {network.spec}, {limits}; choose a lower one")
    return found


def _made(name: str, network: Network, options: dict[str, Any], nodes: Sequence[int] | None) -> Scheme | IntervalScheme:
    if name.strip().lower().replace("_", "-") in (INTERVALS, "intervals"):
        if nodes is not None:
            raise NotApplicableError(f"scheme {INTERVALS!r} is simulated with requests at all nodes only")
        return interval_scheme(network, **options)
    made = named_scheme(name, network, **options)
    return made if nodes is None else made.restricted(nodes)


def _point(scheme: Scheme, load: float, even: bool, options: dict[str, Any]) -> Point:
    """Simulate a point; `even`: requests are Poisson at all nodes, as bounds by queues and estimates ask."""
    process = options["arrivals"]
    aware = options["choose"] != "oblivious"
    limit = Fraction(1) if aware else stability_limit(scheme).load
    above = not isinstance(process, Trace) and load >= limit
    result = None
    if not above:
        result = simulate(scheme, load=None if isinstance(process, Trace) else load, **options)
        load = result.load
    nan = float("nan")
    bounds = estimates = (nan, nan)
    if load < 1 or not even:
        bounds = best_bound(scheme, load if even else 0.0, oblivious=not aware)
    if even and load < limit and not aware:
        estimate = delay_estimate(scheme, load)
        estimates = (estimate.reception, estimate.broadcast)
    return Point(
        scheme.network.spec,
        scheme.name,
        load,
        float(limit),
        result is not None and result.stable,
        f"not below the limit {float(limit):.4g}" if result is None else result.reason,
        NO_ESTIMATE if result is None else result.reception,
        NO_ESTIMATE if result is None else result.broadcast,
        *bounds,
        *estimates,
        result,
    )


def _check_interval_options(options: dict[str, Any]) -> None:
    """Refuse what the simulation of the interval scheme cannot do."""
    process = options["arrivals"]
    if not isinstance(process, Poisson):
        raise NotApplicableError(
            f"scheme {INTERVALS!r} is simulated with Poisson arrivals only, not with {type(process).__name__}"
        )
    for name, plain in (("choose", "oblivious"), ("time", "continuous"), ("ties", "fifo")):
        if options.get(name, plain) != plain:
            raise NotApplicableError(
                f"scheme {INTERVALS!r} is simulated with {name} {plain!r} only, not {options[name]!r}"
            )


def _interval_point(scheme: IntervalScheme, load: float, seed: int, progress: Callable[[str], None] | None) -> Point:
    limit = float(scheme.load(scheme.largest_rate))
    unit = scheme.load(Fraction(1))
    stable, nan = load < limit, float("nan")
    delay, lower, upper = NO_ESTIMATE, nan, nan
    if stable:
        run = scheme.simulate(Fraction(load) / unit, seed=seed, progress=progress)
        delay, lower, upper = Estimate(run.delay, run.half_width, 20), float(run.lower_bound), float(run.upper_bound)
    reason = "" if stable else f"not below the limit {limit:.4g}"
    return Point(
        scheme.network.spec, INTERVALS, load, limit, stable, reason, NO_ESTIMATE, delay, nan, lower, nan, upper
    )


# -- files ------------------------------------------------------------------------------------------------------


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of a file of points names; FileFormatError if it is none of `TABLE_FORMATS`."""
    target = Path(path)
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in TABLE_FORMATS:
        given = f"the suffix {target.suffix!r}" if suffix else "no suffix"
        raise FileFormatError(f"{str(target)!r} has {given}; a table is one of .csv, .parquet")
    return suffix


def write_table(points: Sequence[Point], path: str | os.PathLike[str]) -> None:
    """Write points as CSV or Parquet, one line a point; the file appears whole or not at all."""
    kind = table_format(path)
    lines = [point.to_dict() for point in points]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    with whole_file(path) as part:
        if kind == "csv":
            with Path(part).open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows(lines)
            return
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({c: [line.get(c) for line in lines] for c in columns}), part)


def grouped(points: Sequence[Point]) -> Iterator[tuple[str, list[Point]]]:
    """Yield the points of each scheme, in order."""
    for name in dict.fromkeys(p.scheme for p in points):
        yield name, [p for p in points if p.scheme == name]
