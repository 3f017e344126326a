"""Latency against load, and the load at which a network saturates."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gossamer.networks.network import Network
from gossamer.reading import number
from gossamer.reading.ranges import LEAST_LOAD, fractions
from gossamer.wormhole.simulator.destinations import ideal_throughput
from gossamer.wormhole.simulator.traffic import simulate_traffic
from gossamer.wormhole.simulator.traffic_run import TrafficRun
from gossamer.writing import whole_file

__all__ = ["Saturation", "latency_load", "loads", "saturation_throughput", "write_csv"]

_COLUMNS = (
    *("load", "offered", "throughput", "latency", "half_width", "median", "p95", "p99", "messages", "undelivered"),
    *("saturated", "mean_hops", "peak_utilization", "cycles", "flit_hops", "deadlock"),
)


@dataclass(frozen=True)
class Saturation:
    """Where a network stops keeping up.

    Attributes
    ----------
    load : float
        The largest load found, in flits per sending node and cycle, that got through; 0 if none did.
    throughput : float
        What got through at that load.
    ideal : float
        The load at which a channel would be always busy; see `ideal_throughput`.
    runs : tuple of TrafficRun
        Every load tried, ascending.
    """

    load: float
    throughput: float
    ideal: float
    runs: tuple[TrafficRun, ...]

    @property
    def share(self) -> float:
        """The throughput as a share of the ideal one."""
        return self.throughput / self.ideal


def loads(text: str) -> list[float]:
    """Return the loads that a text names: numbers separated by commas, or ``first:last:step``.

    Raises
    ------
    ModelError
        If the text is neither, or a load is below a millionth.

    Examples
    --------
    >>> loads("0.1:0.3:0.1"), loads("0.2,0.05")
    ([0.1, 0.2, 0.3], [0.2, 0.05])
    """
    return [float(load) for load in fractions(text, "loads", LEAST_LOAD)]


def latency_load(
    network: Network,
    pattern: Any = "uniform",
    loads: Iterable[float] = (0.1, 0.2, 0.3, 0.4),
    *,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> list[TrafficRun]:
    """Return a run for each load, in the order given; `options` are those of `simulate_traffic`.

    Examples
    --------
    >>> import gossamer
    >>> runs = latency_load(gossamer.network("torus:4x4"), "uniform", [0.1, 0.4], measured=1000)
    >>> runs[0].latency < runs[1].latency
    True
    """
    runs = []
    for load in loads:
        if progress:
            progress(f"load {load:g}")
        runs.append(simulate_traffic(network, pattern, load, **options))
    return runs


def saturation_throughput(
    network: Network,
    pattern: Any = "uniform",
    *,
    resolution: float = 0.01,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Saturation:
    """Search the largest load that a network accepts.

    Parameters
    ----------
    network, pattern
        As for `simulate_traffic`.
    resolution : float
        The search ends when loads that get through and that do not are this close, as a share of the ideal load.
    progress : callable, optional
        Called with each load tried.
    **options
        Those of `simulate_traffic`.

    Returns
    -------
    Saturation
        A load is accepted if its run is not `saturated` and meets no deadlock.

    Raises
    ------
    ModelError
        If `resolution` is not in 0.001..0.5, or an option is out of range.

    Notes
    -----
    Bisection between 0 and the ideal load: ``log2(1/resolution)`` runs.

    Examples
    --------
    >>> import gossamer
    >>> found = saturation_throughput(gossamer.network("torus:4x4"), resolution=0.1, warmup=500, measured=2000)
    >>> 0.4 < found.share <= 1
    True
    """
    resolution = number(resolution, "resolution", 0.001, 0.5)
    words = {name: options[name] for name in ("hot_share", "seed") if name in options}
    ideal = ideal_throughput(network, pattern, **words)
    limit = min(ideal, float(options.get("message_flits", 8)))
    low, high = 0.0, limit
    runs: list[TrafficRun] = []
    best: TrafficRun | None = None
    while high - low > resolution * limit:
        load = (low + high) / 2
        (run,) = latency_load(network, pattern, [load], progress=progress, **options)
        runs.append(run)
        if run.saturated or run.deadlock is not None:
            high = load
        else:
            low, best = load, run
    runs.sort(key=lambda run: run.load)
    return Saturation(low, best.throughput if best else 0.0, ideal, tuple(runs))


def write_csv(runs: Sequence[TrafficRun], path: str | os.PathLike[str]) -> None:
    """Write a line for each run to a CSV file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("network", "pattern", "message_flits", *_COLUMNS))
    for run in runs:
        fields = run.to_dict()
        lines.writerow([run.network.spec, run.pattern, run.message_flits, *(_cell(fields[c]) for c in _COLUMNS)])
    with whole_file(path) as part:
        part.write_text(text.getvalue())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return re.sub(r"\.0$", "", f"{value:.6g}")
    return "" if value is None else str(value)
