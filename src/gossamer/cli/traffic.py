"""``gossamer simulate traffic`` and ``saturation``, ``gossamer deadlock``: messages flit by flit through routers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.console import print_entries, print_json, print_written, progress
from gossamer.cli.files import check_pages, pages, split_outputs
from gossamer.cli.options import Json, NetworkArgument, Words, at_once, fails, fills, pictured, written
from gossamer.errors import ModelError, TaskError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.networks import Network
    from gossamer.simulation.flits import DeadlockFreedom, Saturation, TrafficRun, TrafficSettings

_CYCLES = 1000
"""The most cycles of a simulation on a page."""


@dataclass(frozen=True)
class Destinations:
    """The options that say where messages go; one at most.

    Attributes
    ----------
    pattern : str
        Destinations: uniform, hotspot, hotspot:NODE,..., or a permutation such as transpose. Default uniform.
    destinations : Path
        File (text, .npy) with the destination of each node, -1 for none; or lines 'source: destination'.
    demands : Path
        File (text, .npy) with a table: how much each node sends to each other one.
    trace : Path
        Run the messages of a file instead: lines 'cycle source target flits' in order of time.
    """

    pattern: str | None = None
    destinations: Path | None = None
    demands: Path | None = None
    trace: Path | None = None

    def check(self, hot_share: bool) -> None:
        """Refuse more than one, and a share of hot nodes where there are none."""
        if sum(x is not None for x in (self.pattern, self.destinations, self.demands, self.trace)) > 1:
            raise TaskError("give one of --pattern, --destinations, --demands and --trace")
        if hot_share and not (self.pattern or "").strip().lower().startswith("hotspot"):
            raise TaskError("--hot-share goes with --pattern hotspot")

    def on(self, network: Network) -> Any:
        """Return the pattern, the destinations or the table of demands for a network."""
        from gossamer.reading.node_lists import read_destinations

        if self.destinations is not None:
            return read_destinations(self.destinations, network.terminal_count)
        if self.demands is not None:
            from gossamer.simulation.flits.destinations import read_demands

            return read_demands(self.demands)
        return self.pattern or "uniform"


ROUTERS = Words(
    "simulation/flits/settings.py",
    "Routers",
    (
        *("virtual_channels", "buffer_depth", "routing_delay", "allocation_delay", "switch_delay", "link_latency"),
        *("credit_delay", "injection_delay", "ejection_delay", "injection", "ejection"),
        *("input_speedup", "output_speedup", "dateline"),
    ),
    "Routers",
)
FLITS = Words("simulation/flits/settings.py", "Routers", ("flit_bytes",))
_DESTINATIONS = ("pattern", "destinations", "demands")
AIMED = Words("cli/traffic.py", "Destinations", _DESTINATIONS, "Traffic")
TRACE = Words("cli/traffic.py", "Destinations", ("trace",), "Traffic")
_SETTINGS = ("message_flits", "hot_share", "burst", "reply_flits")
SETTINGS = (
    Words("simulation/flits/settings.py", "TrafficSettings", _SETTINGS, "Traffic"),
    Words("simulation/flits/settings.py", "TrafficSettings", ("routing", "terminals"), "Routers"),
    Words("simulation/flits/settings.py", "TrafficSettings", ("warmup", "measured"), "Time"),
    Words("simulation/flits/settings.py", "TrafficSettings", ("seed",), "Search"),
)
TrafficOutput = Annotated[
    list[Path] | None,
    written(
        "Write a line for each load (.csv, .parquet), draw latency against load (.svg, .png, .pdf), or show one load "
        "flit by flit in the explorer (.html)"
    ),
]
Networks = Annotated[
    list[str],
    typer.Argument(help="Networks, such as torus:8x8 or fat-tree:k=2,h=3; one or more.", metavar="NETWORK..."),
]
PresetName = Annotated[
    str,
    typer.Option(
        "--preset",
        help="Routers to begin with: plain or booksim (a head takes 4 cycles a hop, a body flit 3).",
        metavar="NAME",
        rich_help_panel="Routers",
    ),
]
Jobs = Annotated[int | None, at_once(" Default: one a processor.")]


@pictured
@fills(destinations=(AIMED, TRACE), settings=SETTINGS, routers=(ROUTERS,))
def simulate_traffic(
    networks: Networks,
    *,
    destinations: dict[str, Any],
    load: Annotated[
        str | None,
        typer.Option(
            help="Flits per node and cycle: 0.1,0.2 or first:last:step. Default 0.05:0.5:0.05.",
            metavar="LOADS",
            rich_help_panel="Traffic",
        ),
    ] = None,
    saturation: Annotated[
        bool,
        typer.Option(
            "--saturation",
            help="Search the largest load that gets through, instead of --load.",
            rich_help_panel="Traffic",
        ),
    ] = False,
    preset: PresetName = "plain",
    settings: dict[str, Any],
    routers: dict[str, Any],
    jobs: Jobs = None,
    output: TrafficOutput = None,
    details: Annotated[
        Path | None,
        typer.Option(
            help="Write what each node, flow, channel and latency had (.csv).", metavar="FILE", rich_help_panel="Output"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Latency and throughput of random traffic, flit by flit; exit status 1 if it deadlocks."""
    from gossamer.atomic_files import check_writable, written_together
    from gossamer.networks import as_network
    from gossamer.studies.sweeps import read_loads, write_table

    where = Destinations(**destinations)
    where.check("hot_share" in settings)
    if (load is not None or where.trace is not None) and saturation:
        raise ModelError("--saturation chooses the loads; leave out --load and --trace")
    if load is not None and where.trace is not None:
        raise ModelError("--trace says when messages are created; leave out --load")
    shown, others = pages(output)
    tables, plots = split_outputs(others)
    if details is not None:
        check_writable(details)
    asked = _settings(preset, settings, routers)
    loads = None if saturation else read_loads("0.05:0.5:0.05" if load is None else load)
    if shown and (loads is None or where.trace is not None):
        raise ModelError(f"{str(shown[0])!r} shows traffic at one load: leave out --saturation and --trace")
    check_pages(shown, len(networks) * len(loads or ()))
    nets = [as_network(text) for text in networks]
    proofs = _freedom_proofs(nets, asked)
    with progress() as stage, written_together():
        curves, found = _simulated(nets, where, loads, asked, jobs, stage)
        runs = [run for curve in curves.values() for run in curve]
        for table in tables:
            write_table(runs, table)
        for plot in plots:
            from gossamer.plots.curves import draw_results, latency_figure

            stage(f"drawing {plot}")
            title = f"{runs[0].pattern} traffic, messages of {asked.message_flits} flits"
            draw_results(latency_figure, curves, plot, title)
    for page in shown:
        from gossamer.explorer import explore
        from gossamer.simulation.flits import record_traffic

        cycles = min(asked.measured, _CYCLES)
        explore([record_traffic(net, where.on(net), at, cycles=cycles, settings=asked)
                 for net in nets for at in loads or ()], page)  # fmt: skip
    _print_traffic(curves, found, proofs, json)
    if details is not None:
        _write_details(runs, details)
    if not json:
        print_written(*(output or []), *([details] if details else []))
    raise typer.Exit(1 if any(run.deadlock is not None for run in runs) else 0)


@fills(destinations=(AIMED,), settings=SETTINGS, routers=(ROUTERS,))
def simulate_saturation(
    networks: Networks,
    *,
    destinations: dict[str, Any],
    resolution: Annotated[
        float,
        typer.Option(
            help="How close the search comes, as a share of the ideal load.", metavar="SHARE", rich_help_panel="Search"
        ),
    ] = 0.01,
    preset: PresetName = "plain",
    settings: dict[str, Any],
    routers: dict[str, Any],
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Search the largest load that gets through."""
    from gossamer.networks import as_network
    from gossamer.studies.sweeps import run_points
    from gossamer.studies.sweeps.load_sweeps import SaturationPoint

    where = Destinations(**destinations)
    where.check("hot_share" in settings)
    asked = _settings(preset, settings, routers)
    nets = [as_network(text) for text in networks]
    points = [SaturationPoint(net, where.on(net), asked, resolution) for net in nets]
    with progress() as stage:
        searched = run_points(points, jobs=jobs, progress=stage)
    found = {net.spec: saturation for net, saturation in zip(nets, searched, strict=True)}
    if json:
        print_json({"saturation": [_saturation_fields(spec, s) for spec, s in found.items()]})
        return
    for spec, s in found.items():
        name = s.runs[0].pattern if s.runs else "traffic"
        print(
            f"{spec}, {name}, {s.runs[0].routing} routing: load {s.load:.4f} gets through, "
            f"{100 * s.share:.1f}% of the ideal {s.ideal:.4f} ({len(s.runs)} loads tried)"
        )


@fails
@fills(rule=SETTINGS[1:2], routers=(ROUTERS,))
def deadlock(
    network: NetworkArgument,
    *,
    rule: dict[str, Any],
    preset: PresetName = "plain",
    routers: dict[str, Any],
    json: Json = False,
) -> None:
    """Say whether messages that follow a routing function can deadlock; exit status 1 if they can."""
    from gossamer.networks import as_network
    from gossamer.simulation.flits import ROUTINGS, Routers, deadlock_freedom, routing

    name, terminals = rule.get("routing", "default"), rule.get("terminals", 1)
    function = routing(as_network(network), name, Routers.preset(preset, **routers), terminals)
    proof = deadlock_freedom(function)
    if json:
        print_json(
            {
                "network": function.fabric.network.spec,
                "routing": function.name,
                "virtual_channels": function.settings.virtual_channels,
                "free": proof.free,
                "dependencies": proof.dependencies,
                "circle": [function.fabric.name(c) for c in proof.circle],
            }
        )
    else:
        print_entries([("routing", [f"{function.name}: {ROUTINGS[function.name]}"]), ("deadlock", [str(proof)])])
    raise typer.Exit(0 if proof.free else 1)


def _settings(preset: str, settings: dict[str, Any], routers: dict[str, Any]) -> TrafficSettings:
    from gossamer.simulation.flits import Routers, TrafficSettings

    return TrafficSettings(routers=Routers.preset(preset, **routers), **settings)


def _simulated(
    nets: list[Network],
    where: Destinations,
    loads: Sequence[float] | None,
    settings: TrafficSettings,
    jobs: int | None,
    stage: Any,
) -> tuple[dict[str, Sequence[TrafficRun]], dict[str, Saturation]]:
    """Simulate every network at the loads, or up to its saturation without loads."""
    from gossamer.simulation.flits import read_trace, simulate_trace
    from gossamer.studies.sweeps import TrafficPoint, run_points
    from gossamer.studies.sweeps.load_sweeps import SaturationPoint

    if where.trace is not None:
        trace = read_trace(where.trace)
        return {net.spec: [simulate_trace(net, trace, settings=settings, progress=stage)] for net in nets}, {}
    if loads is None:
        searches = [SaturationPoint(net, where.on(net), settings) for net in nets]
        searched = run_points(searches, jobs=jobs, progress=stage)
        found = {net.spec: search for net, search in zip(nets, searched, strict=True)}
        return {spec: search.runs for spec, search in found.items()}, found
    points = [TrafficPoint(net, pattern, load, settings) for net in nets
              for pattern in [where.on(net)] for load in loads]  # fmt: skip
    every = run_points(points, jobs=jobs, progress=stage)
    return {net.spec: every[i * len(loads) : (i + 1) * len(loads)] for i, net in enumerate(nets)}, {}


_PROVED = 1024
"""Nodes up to which the routing function of a simulation is proved; beyond, `gossamer deadlock` does it."""


def _freedom_proofs(networks: list[Network], settings: TrafficSettings) -> dict[str, DeadlockFreedom]:
    """Return for each network what the dependency graph of the routing function says; none where it is too large."""
    from gossamer.simulation.flits import deadlock_freedom
    from gossamer.simulation.flits import routing as routing_function

    found = {}
    for net in networks:
        if net.node_count > _PROVED:
            continue
        rule = routing_function(net, settings.routing, settings.routers, settings.terminals)
        with suppress(ModelError):  # too many routes to write down
            found[net.spec] = deadlock_freedom(rule)
    return found


def _write_details(runs: Sequence[TrafficRun], path: Path) -> None:
    """Write what each node, flow, channel and latency of each run had."""
    import csv

    from gossamer.atomic_files import whole_file

    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(("network", "load", "kind", "name", "count", "mean"))
        for run in runs:
            lines.writerows((run.network.spec, run.load, *row) for row in run.details())


def _print_traffic(
    curves: dict[str, Sequence[TrafficRun]],
    found: dict[str, Saturation],
    proofs: dict[str, DeadlockFreedom],
    json: bool,
) -> None:
    """Print what came of each network."""
    if json:
        fields: dict[str, Any] = {"runs": [run.to_dict() for curve in curves.values() for run in curve]}
        fields["deadlock_freedom"] = [
            {"network": spec, "free": proof.free, "proof": str(proof)} for spec, proof in proofs.items()
        ]
        if found:
            fields["saturation"] = [_saturation_fields(spec, s) for spec, s in found.items()]
        print_json(fields)
        return
    for place, (spec, curve) in enumerate(curves.items()):
        if place:
            print()
        _print_runs(curve)
        if spec in proofs:
            print(f"\n{curve[0].routing} routing: {proofs[spec]}")
        if spec in found:
            s = found[spec]
            print(f"\nload {s.load:.3f} gets through, {100 * s.share:.0f}% of the ideal {s.ideal:.3f}")


def _saturation_fields(spec: str, s: Saturation) -> dict[str, Any]:
    """Return what a search for saturation found, in plain values."""
    return {"network": spec, "load": s.load, "throughput": s.throughput, "ideal": s.ideal}


def _print_runs(runs: Sequence[TrafficRun]) -> None:
    """Print a line for each load."""
    from gossamer.atomic_files import quantity
    from gossamer.studies.reproductions.table import Table

    columns = ("load", "throughput", "latency", "+-", "median", "p99", "busiest channel", "")
    rows: list[tuple[str, ...]] = []
    for r in runs:
        if r.deadlock is not None:
            rows.append((f"{r.load:.4g}", f"{r.throughput:.4f}", "-", "-", "-", "-", "-", "deadlock"))
            continue
        rows.append(
            (
                f"{r.load:.4g}", f"{r.throughput:.4f}",
                *(("-",) * 4 if r.saturated else (
                    _shown(r.latency), _shown(r.half_width),
                    *(str(q) if (q := r.percentile(share)) >= 0 else "-" for share in (0.5, 0.99)),
                )),
                f"{r.peak_utilization:.3f}", "saturated" if r.saturated else "",
            )
        )  # fmt: skip
    first = runs[0]
    title = f"{first.pattern} traffic on {first.network.spec}, messages of {first.message_flits} flits; times in cycles"
    print(Table(title, columns, tuple(rows)).text())
    cycles = first.flit_cycles.tolist()
    slow = [f"{each} on {quantity(cycles.count(each), 'link')}" for each in sorted(set(cycles)) if each > 1]
    if slow:
        print(f"\na cycle is the time of a flit on the fastest links; it takes {', '.join(slow)}")
    stuck = next((r.deadlock for r in runs if r.deadlock is not None), None)
    if stuck is not None:
        print(f"\n{stuck}")


def _shown(cycles: float) -> str:
    return "-" if cycles != cycles else f"{cycles:.2f}"  # not a number where no message was measured
