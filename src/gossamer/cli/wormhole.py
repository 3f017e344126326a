"""``gossamer wormhole traffic`` and ``gossamer wormhole run``: the flit-level simulator."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.command_group import Commands
from gossamer.cli.options import Json, Words, fails, fills, pictured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.cli.destination_options import Destined
    from gossamer.simulation.flits import DeadlockFreedom, Saturation, ScheduleRun, TrafficRun, TrafficSettings
    from gossamer.verification import Verification

__all__ = [
    "commands",
    "freedom_proofs",
    "print_run",
    "print_traffic",
    "saturation_fields",
    "simulated",
    "write_details",
]

# What ``gossamer wormhole`` simulates flit by flit, and how it prints that.

_PROVED = 1024
"""Nodes up to which the routing function of a simulation is proved; beyond, `gossamer wormhole routing` does it."""


def freedom_proofs(networks: list[str], settings: TrafficSettings) -> dict[str, DeadlockFreedom]:
    """Return for each network what the dependency graph of the routing function says; none where it is too large."""
    from gossamer.errors import ModelError
    from gossamer.networks import as_network
    from gossamer.simulation.flits import deadlock_freedom
    from gossamer.simulation.flits import routing as routing_function

    found = {}
    for net in [as_network(text) for text in networks]:
        if net.node_count > _PROVED:
            continue
        rule = routing_function(net, settings.routing, settings.routers, settings.terminals)
        with suppress(ModelError):  # too many routes to write down
            found[net.spec] = deadlock_freedom(rule)
    return found


def write_details(runs: Sequence[TrafficRun], path: Path) -> None:
    """Write what each node, flow, channel and latency of each run had."""
    import csv

    from gossamer.writing import whole_file

    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(("network", "load", "kind", "name", "count", "mean"))
        for run in runs:
            lines.writerows((run.network.spec, run.load, *row) for row in run.details())


def simulated(
    networks: list[str],
    where: Destined,
    loads: Sequence[float] | None,
    settings: TrafficSettings,
    jobs: int | None,
    written: tuple[list[Path], list[Path]],
) -> tuple[dict[str, Sequence[TrafficRun]], dict[str, Saturation]]:
    """Simulate every network at the loads, or up to its saturation without loads; write and draw the runs."""
    from gossamer.cli.console import progress
    from gossamer.networks import as_network
    from gossamer.simulation.flits import read_trace, simulate_trace
    from gossamer.studies.sweeps import TrafficPoint, run_points, write_table
    from gossamer.studies.sweeps.broadcasts import SaturationPoint

    curves: dict[str, Sequence[TrafficRun]] = {}
    found: dict[str, Saturation] = {}
    nets = [as_network(text) for text in networks]
    with progress() as stage:
        if where.trace is not None:
            trace = read_trace(where.trace)
            for net in nets:
                curves[net.spec] = [simulate_trace(net, trace, settings=settings, progress=stage)]
        elif loads is None:
            searches = [SaturationPoint(net, where.on(net), settings) for net in nets]
            for net, search in zip(nets, run_points(searches, jobs=jobs, progress=stage), strict=True):
                found[net.spec], curves[net.spec] = search, search.runs
        else:
            points = [TrafficPoint(net, pattern, load, settings) for net in nets
                      for pattern in [where.on(net)] for load in loads]  # fmt: skip
            every = run_points(points, jobs=jobs, progress=stage)
            for place, net in enumerate(nets):
                curves[net.spec] = every[place * len(loads) : (place + 1) * len(loads)]
        runs = [run for curve in curves.values() for run in curve]
        for table in written[0]:
            write_table(runs, table)
        for plot in written[1]:
            from gossamer.plots.curves import draw_latency

            stage(f"drawing {plot}")
            draw_latency(curves, plot, f"{runs[0].pattern} traffic, messages of {settings.message_flits} flits")
    return curves, found


def print_traffic(
    curves: dict[str, Sequence[TrafficRun]],
    found: dict[str, Saturation],
    proofs: dict[str, DeadlockFreedom],
    json: bool,
) -> None:
    """Print what came of each network."""
    from gossamer.cli.console import print_json

    if json:
        fields: dict[str, Any] = {"runs": [run.to_dict() for curve in curves.values() for run in curve]}
        fields["deadlock_freedom"] = [
            {"network": spec, "free": proof.free, "proof": str(proof)} for spec, proof in proofs.items()
        ]
        if found:
            fields["saturation"] = [saturation_fields(spec, s) for spec, s in found.items()]
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


def saturation_fields(spec: str, s: Saturation) -> dict[str, Any]:
    """Return what a search for saturation found, in plain values."""
    return {"network": spec, "load": s.load, "throughput": s.throughput, "ideal": s.ideal}


def _print_runs(runs: Sequence[TrafficRun]) -> None:
    """Print a line for each load."""
    from gossamer.studies.reproductions.table import Table
    from gossamer.writing import quantity

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


def print_run(found: ScheduleRun, valid: Verification) -> None:
    """Print what happened to a schedule."""
    from gossamer.cli.console import print_entries

    schedule = found.schedule
    how = "with a barrier after each step" if found.starts == "barrier" else "each message as soon as it can"
    print(f"{schedule.algorithm or 'a schedule'} on {schedule.network.spec}, {how}")
    done = [f"{found.cycles:,}, {found.predicted_cycles:,} predicted with barriers and no contention"]
    if found.deadlock is not None:
        done = [str(found.deadlock)]
    faults = ", ".join(f"{count:,} x {kind}" for kind, count in valid.counts.items() if count)
    print_entries(
        [
            ("valid", ["yes" if valid.ok else f"no: {faults}"]),
            ("cycles", done),
            ("cycle", [f"{found.cycle_time} time units; a start-up is {found.startup_cycles:,} cycles"]),
            ("messages", [f"{schedule.message_count:,}, the slowest {int(found.latency.max(initial=0)):,} cycles"]),
            ("contention", [f"{found.blocked:,} cycles waited for others, {found.stalled:,} for free slots"]),
            ("flit-hops", [f"{found.flit_hops:,}"]),
        ]
    )


commands = typer.Typer(
    name="wormhole",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Simulate wormhole routers flit by flit.",
    cls=Commands,
    rich_markup_mode=None,
)


class Starts(StrEnum):
    """When the messages of a schedule start."""

    barrier = "barrier"
    dependencies = "dependencies"


ROUTERS = Words(
    "simulation/flits/settings.py",
    "Routers",
    (
        *("virtual_channels", "buffer_depth", "routing_delay", "allocation_delay", "switch_delay", "link_latency"),
        *("credit_delay", "injection_delay", "ejection_delay", "injection", "ejection"),
        *("input_speedup", "output_speedup", "dateline"),
    ),
)
TRAFFIC = Words(
    "simulation/flits/settings.py",
    "TrafficSettings",
    (
        *("message_flits", "hot_share", "burst", "reply_flits", "routing", "terminals"),
        *("warmup", "measured", "seed"),
    ),
)
DESTINED = Words("cli/destination_options.py", "Destined")
AIMED = Words("cli/destination_options.py", "Destined", ("pattern", "destinations", "demands"))
FLITS = Words("simulation/flits/settings.py", "Routers", ("flit_bytes",))
TrafficOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Write a line for each load (.csv, .parquet), draw latency against load (.svg, .png, .pdf), "
        "or show one load flit by flit in the explorer (.html); may be repeated.",
        metavar="FILE",
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
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Points simulated at once. Default: one a processor.", metavar="N")]


@commands.command()
@pictured
@fills(destined=(DESTINED,), settings=(TRAFFIC,), routers=(ROUTERS,))
def traffic(
    networks: Networks,
    *,
    destined: dict[str, Any],
    load: Annotated[
        str | None,
        typer.Option(
            help="Flits per node and cycle: 0.1,0.2 or first:last:step. Default 0.05:0.5:0.05.", metavar="LOADS"
        ),
    ] = None,
    saturation: Annotated[
        bool, typer.Option("--saturation", help="Search the largest load that gets through, instead of --load.")
    ] = False,
    preset: PresetName = "plain",
    settings: dict[str, Any],
    routers: dict[str, Any],
    jobs: Jobs = None,
    output: TrafficOutput = None,
    details: Annotated[
        Path | None,
        typer.Option(help="Write what each node, flow, channel and latency had (.csv).", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Latency and throughput of random traffic, flit by flit; exit status 1 if it deadlocks."""
    from gossamer.cli import simulation_pages
    from gossamer.cli.destination_options import Destined
    from gossamer.cli.verify import split_outputs
    from gossamer.errors import ModelError
    from gossamer.simulation.flits import Routers, TrafficSettings
    from gossamer.studies.sweeps import read_loads
    from gossamer.writing import check_writable

    where = Destined(**destined)
    where.check("hot_share" in settings)
    if (load is not None or where.trace is not None) and saturation:
        raise ModelError("--saturation chooses the loads; leave out --load and --trace")
    if load is not None and where.trace is not None:
        raise ModelError("--trace says when messages are created; leave out --load")
    pages, others = simulation_pages.pages(output or [])
    written = split_outputs(others)
    if details is not None:
        check_writable(details)
    asked = TrafficSettings(routers=Routers.preset(preset, **routers), **settings)
    loads = None if saturation else read_loads("0.05:0.5:0.05" if load is None else load)
    if pages and (loads is None or where.trace is not None):
        raise ModelError(f"{str(pages[0])!r} shows traffic at one load: leave out --saturation and --trace")
    simulation_pages.check(pages, len(networks) * len(loads or ()))
    proofs = freedom_proofs(networks, asked)
    curves, found = simulated(networks, where, loads, asked, jobs, written)
    for page in pages:
        simulation_pages.traffic(networks, where, loads or (), asked, page)
    print_traffic(curves, found, proofs, json)
    runs = [run for curve in curves.values() for run in curve]
    if details is not None:
        write_details(runs, details)
    for path in [*(output or []), *([details] if details else [])]:
        if not json:
            print(f"wrote {path}")
    raise typer.Exit(1 if any(run.deadlock is not None for run in runs) else 0)


@commands.command()
@fills(destined=(AIMED,), settings=(TRAFFIC,), routers=(ROUTERS,))
def saturation(
    networks: Networks,
    *,
    destined: dict[str, Any],
    resolution: Annotated[
        float, typer.Option(help="How close the search comes, as a share of the ideal load.", metavar="SHARE")
    ] = 0.01,
    preset: PresetName = "plain",
    settings: dict[str, Any],
    routers: dict[str, Any],
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Search the largest load that gets through."""
    from gossamer.cli.console import print_json, progress
    from gossamer.cli.destination_options import Destined
    from gossamer.networks import as_network
    from gossamer.simulation.flits import Routers, TrafficSettings
    from gossamer.studies.sweeps import run_points
    from gossamer.studies.sweeps.broadcasts import SaturationPoint

    where = Destined(**destined)
    where.check("hot_share" in settings)
    asked = TrafficSettings(routers=Routers.preset(preset, **routers), **settings)
    nets = [as_network(text) for text in networks]
    points = [SaturationPoint(net, where.on(net), asked, resolution) for net in nets]
    with progress() as stage:
        searched = run_points(points, jobs=jobs, progress=stage)
    found = {net.spec: saturation for net, saturation in zip(nets, searched, strict=True)}
    if json:
        print_json({"saturation": [saturation_fields(spec, s) for spec, s in found.items()]})
        return
    for spec, s in found.items():
        name = s.runs[0].pattern if s.runs else "traffic"
        print(
            f"{spec}, {name}, {s.runs[0].routing} routing: load {s.load:.4f} gets through, "
            f"{100 * s.share:.1f}% of the ideal {s.ideal:.4f} ({len(s.runs)} loads tried)"
        )


@commands.command()
@fails
@fills(routers=(ROUTERS,))
def routing(
    network: Annotated[str, typer.Argument(help="Network, such as torus:8x8.", metavar="NETWORK")],
    *,
    routing: Annotated[str, typer.Option(help="The routing function, as for 'traffic'.", metavar="NAME")] = "default",
    terminals: Annotated[int, typer.Option(help="Terminals of each router.", metavar="N")] = 1,
    preset: PresetName = "plain",
    routers: dict[str, Any],
    json: Json = False,
) -> None:
    """Say whether messages that follow a routing function can deadlock; exit status 1 if they can."""
    from gossamer.cli.console import print_entries, print_json
    from gossamer.networks import as_network
    from gossamer.simulation.flits import ROUTINGS, Routers, deadlock_freedom
    from gossamer.simulation.flits import routing as routing_function

    rule = routing_function(as_network(network), routing, Routers.preset(preset, **routers), terminals)
    proof = deadlock_freedom(rule)
    if json:
        print_json(
            {
                "network": rule.fabric.network.spec,
                "routing": rule.name,
                "virtual_channels": rule.settings.virtual_channels,
                "free": proof.free,
                "dependencies": proof.dependencies,
                "circle": [rule.fabric.name(c) for c in proof.circle],
            }
        )
    else:
        print_entries([("routing", [f"{rule.name}: {ROUTINGS[rule.name]}"]), ("deadlock", [str(proof)])])
    raise typer.Exit(0 if proof.free else 1)


@commands.command()
@fills(routers=(FLITS, ROUTERS))
def run(
    file: Annotated[
        Path,
        typer.Argument(help="Wormhole schedule file that plan --output wrote.", metavar="FILE"),
    ],
    *,
    starts: Annotated[
        Starts, typer.Option(help="A barrier between steps, or each message as soon as its source has it.")
    ] = Starts.barrier,
    startup_cycles: Annotated[
        int | None, typer.Option(help="Cycles of a start-up. Default: the schedule's start-up time.", metavar="CYCLES")
    ] = None,
    preset: PresetName = "plain",
    routers: dict[str, Any],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Show the run in the explorer (.html).", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Run a wormhole schedule flit by flit; exit status 1 if it deadlocks."""
    from gossamer.cli import simulation_pages
    from gossamer.cli.console import print_json, progress
    from gossamer.simulation.flits import Routers, simulate_schedule
    from gossamer.wormhole import load, verify

    settings = Routers.preset(preset, **routers)
    simulation_pages.check([output] if output else [], 1)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage("verifying")
        valid = verify(schedule)
        found = simulate_schedule(
            schedule, starts=starts.value, settings=settings, startup_cycles=startup_cycles,
            record=output is not None, progress=stage,
        )  # fmt: skip
        if output is not None:
            from gossamer.explorer import explore

            stage(f"writing {output}")
            explore(found, output)
    if json:
        print_json({**found.to_dict(), "valid": valid.ok, "violations": valid.counts})
    else:
        print_run(found, valid)
        if output is not None:
            print(f"wrote {output}")
    raise typer.Exit(0 if found.deadlock is None else 1)
