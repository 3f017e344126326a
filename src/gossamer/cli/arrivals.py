"""``gossamer simulate arrivals``: broadcasts and other requests that arrive at random."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.console import print_json, print_written, progress
from gossamer.cli.files import check_pages, pages, split_outputs
from gossamer.cli.options import Json, NetworkArgument, Words, at_once, fails, fills, pictured, written
from gossamer.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.networks import Network
    from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess
    from gossamer.simulation.random_arrivals.scheme_evaluation import Delays
    from gossamer.simulation.random_arrivals.schemes import Mix
    from gossamer.simulation.random_arrivals.settings import Settings

_STEPS = 200
"""The most steps of a simulation on a page."""


class Process(StrEnum):
    """How broadcast requests arrive."""

    poisson = "poisson"
    bernoulli = "bernoulli"
    on_off = "on-off"


_SETTINGS = "simulation/random_arrivals/settings.py"
SIMULATION = (
    Words(_SETTINGS, "Settings", ("time", "ties", "choose"), "Rules"),
    Words(_SETTINGS, "Settings", ("steps", "warmup", "replications"), "Time"),
    Words(_SETTINGS, "Settings", ("seed",), "Search"),
)
MIX = Words(
    "simulation/random_arrivals/schemes/mixed_traffic.py",
    "Mix",
    ("traffic", "unicasts_to", "set_size", "order"),
    "Requests",
)
INTERVALS = Words(
    "simulation/random_arrivals/interval_broadcasts.py", "interval_scheme", ("segmented", "control_time"), "Rules"
)
ArrivalsOutput = Annotated[
    list[Path] | None,
    written(
        "Write all that was measured (.csv, .parquet), draw delay against load (.svg, .png, .pdf), or show some steps "
        "at one load in the explorer (.html)"
    ),
]


def _request(help: str, metavar: str | None = None) -> Any:
    return typer.Option(help=help, metavar=metavar, rich_help_panel="Requests")


@pictured
@fails
@fills(simulation=SIMULATION, requests=(MIX,), intervals=(INTERVALS,))
def simulate_arrivals(
    network: NetworkArgument,
    *,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            help="Scheme, several by commas; see 'gossamer list schemes'. Default priority.",
            metavar="NAME",
            rich_help_panel="Rules",
        ),
    ] = None,
    load: Annotated[str | None, _request("Load factors: 0.5, or 0.1,0.5,0.9, or first:last:step.", "LOADS")] = None,
    nodes: Annotated[
        str | None, _request("Nodes where requests arrive: a file, numbers 0,5,7, random:M, or all.", "SET")
    ] = None,
    arrivals: Annotated[Process, _request("How requests arrive at every node.")] = Process.poisson,
    burst: Annotated[
        str | None,
        _request("Mean steps that a node is on and off, for on-off arrivals. Default 20:80.", "ON:OFF"),
    ] = None,
    trace: Annotated[
        Path | None, _request("Replay requests from a file: time and node (text, .csv, .npy, .parquet).", "FILE")
    ] = None,
    jobs: Annotated[int, at_once()] = 1,
    simulation: dict[str, Any],
    requests: dict[str, Any],
    intervals: dict[str, Any],
    output: ArrivalsOutput = None,
    json: Json = False,
) -> None:
    """Simulate broadcasts and other requests that arrive at random: delays beside bounds."""
    from gossamer.atomic_files import written_together
    from gossamer.networks import as_network
    from gossamer.reading.node_lists import named_nodes
    from gossamer.simulation.random_arrivals.schemes import scheme as known_scheme
    from gossamer.simulation.random_arrivals.settings import Settings
    from gossamer.studies.sweeps import delay_load, read_loads, write_table

    process = _arrivals(arrivals.value, trace, burst, load)
    mix = _mix(requests, simulation)
    shown, others = pages(output)
    tables, plots = split_outputs(others)  # refuse before the work
    net = as_network(network)
    names = [name.strip() for text in scheme or [] for name in text.split(",") if name.strip()] or ["priority"]
    settings = Settings(arrivals=process, **simulation)
    loads = read_loads(load) if load else ()
    check_pages(shown, len(names) * max(len(loads), 1))
    for name in names if shown else ():
        known_scheme(name, net)
    with progress() as stage, written_together():
        chosen = None if nodes is None else named_nodes(nodes, net.node_count, settings.seed)
        points = delay_load(
            net, names, loads, settings=settings, nodes=chosen, scheme_options=intervals, traffic=mix, jobs=jobs,
            progress=stage,
        )  # fmt: skip
        for table in tables:
            stage(f"writing {table}")
            write_table(points, table)
        for plot in plots:
            from gossamer.plots.curves import delay_figure, draw_results

            stage(f"drawing {plot}")
            draw_results(delay_figure, points, plot, f"Broadcast requests at random on {points[0].network}")
        for page in shown:
            stage(f"writing {page}")
            _write_page(net, names, loads, chosen, settings, page, mix)
    if json:
        print_json([_plain(point.to_dict()) for point in points])
        return
    _print(points)
    print_written(*(output or []))


def _mix(requests: dict[str, Any], simulation: dict[str, Any]) -> Mix | None:
    """Return the traffic that the options name, if they name any."""
    from gossamer.simulation.random_arrivals.schemes import Mix

    if not requests:
        return None
    if "traffic" not in requests:
        raise ModelError("say what traffic there is beside the broadcasts: --traffic broadcast:1,unicast:9")
    return Mix(**requests, seed=simulation.get("seed", 0))


def _write_page(
    network: Network,
    names: list[str],
    loads: Sequence[float],
    nodes: Any,
    settings: Settings,
    page: Path,
    mix: Mix | None,
) -> None:
    """Record schemes at loads, and write the page that shows them."""
    from gossamer.explorer import explore
    from gossamer.simulation.random_arrivals import record
    from gossamer.simulation.random_arrivals.schemes import scheme

    short = settings if settings.steps is None else replace(settings, steps=min(settings.steps, _STEPS))
    schemes = [scheme(name, network) if mix is None else mix.of(scheme(name, network)) for name in names]
    explore(
        [record(made, load=load, nodes=nodes, settings=short, above_limit=True)
         for made in schemes for load in loads or (None,)],
        page,
    )  # fmt: skip


def _arrivals(name: str, trace: Path | None, burst: str | None, loads: str | None) -> ArrivalProcess:
    """Return the arrivals that the options name."""
    from gossamer.simulation.random_arrivals.arrivals import Bernoulli, OnOff, Poisson, Trace

    if trace is None and loads is None:
        raise ModelError("say which loads to simulate: --load 0.5, or --load 0.1:0.95:0.05")
    if trace is not None:
        if loads is not None:
            raise ModelError("a trace has a load of its own; leave out --load")
        if name != "poisson":
            raise ModelError("a trace has arrivals of its own; leave out --arrivals")
        return Trace.read(trace)
    if burst is not None and name != "on-off":
        raise ModelError("--burst is for on-off arrivals; add --arrivals on-off, or leave it out")
    if name != "on-off":
        return Poisson() if name == "poisson" else Bernoulli()
    try:
        on, off = (float(word) for word in (burst or "20:80").split(":"))
    except ValueError:
        raise ModelError(f"--burst must be two mean times in steps such as 20:80, on and off, got {burst!r}") from None
    return OnOff(on, off)


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line for JSON, which has no nan and no infinity."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}


def _print(points: list[Delays]) -> None:
    from gossamer.simulation.random_arrivals.scheme_evaluation import by_scheme
    from gossamer.studies.reproductions.table import Table

    mixed = any(p.result is not None and p.result.kinds for p in points)
    what = "requests" if mixed else "broadcast requests"
    print(f"{what} at random on {points[0].network}; delays in steps, 95% confidence")
    for name, theirs in by_scheme(points):
        columns, rows = _shown_columns(theirs)
        notes = [f"at {p.load:.6g}: {p.doubt or p.reason}" for p in theirs if p.doubt or p.reason]
        title = f"{name}: {theirs[0].limit}"
        print(f"\n{Table(title, columns, tuple(rows), chr(10).join(notes)).text()}")
        by_kind = [
            (f"{p.load:.6g}", kind.name, f"{kind.share:.1%}", str(kind.reception), f"{kind.reception_bound:.2f}",
             str(kind.last), f"{kind.last_bound:.2f}")
            for p in theirs if p.result is not None for kind in p.result.kinds
        ]  # fmt: skip
        if by_kind:
            heads = ("load", "traffic", "requests", "reception", "at least", "last receipt", "at least")
            print(f"\n{Table('by kind of traffic', heads, tuple(by_kind)).text()}")


_COLUMNS = (
    *("load", "reception", "at least", "expected", "broadcast", "at least", "at most", "expected"),
    "busiest link",
)


def _shown_columns(points: list[Delays]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the names of the columns and the rows of a scheme; a column that has no figure is left out."""
    delays = [(p.reception.mean, p.broadcast.mean) for p in points]
    measured = [not all(math.isnan(mean) for mean in means) for means in zip(*delays, strict=True)]
    rows = [_cells(p, [m or not any(measured) for m in measured]) for p in points]
    kept = [c for c in range(len(_COLUMNS)) if any(row[c] != "-" for row in rows)]
    return tuple(_COLUMNS[c] for c in kept), [tuple(row[c] for c in kept) for row in rows]


def _cells(point: Delays, measured: list[bool]) -> tuple[str, ...]:
    """Return the row of a point; `measured`: whether the scheme has reception and broadcast delays."""
    load = f"{point.load:.6g}"
    if not point.stable:
        first, last = ("unstable" if m else "-" for m in measured)
        return load, first, "-", "-", last, "-", "-", "-", "-"
    bounds = (point.broadcast_bound, point.broadcast_upper_bound, point.broadcast_estimate)
    busiest = "-" if point.result is None else f"{point.result.utilization.max():.3f}"
    reception = (str(point.reception), _figure(point.reception_bound), _figure(point.reception_estimate))
    return load, *reception, str(point.broadcast), *map(_figure, bounds), busiest


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"
