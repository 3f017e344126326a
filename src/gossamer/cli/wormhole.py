"""``gossamer wormhole traffic`` and ``gossamer wormhole run``: the flit-level simulator."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.schedules import Verification
    from gossamer.wormhole.simulator import Saturation, ScheduleRun, TrafficRun, TrafficSettings

__all__ = ["commands"]

commands = typer.Typer(
    name="wormhole",
    help="Simulate wormhole routers flit by flit.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class Starts(StrEnum):
    """When the messages of a schedule start."""

    barrier = "barrier"
    dependencies = "dependencies"


class Interface(StrEnum):
    """How a node is connected to its router."""

    channels = "channels"
    node = "node"


class Dateline(StrEnum):
    """How rings are kept from deadlock."""

    balanced = "balanced"
    plain = "plain"
    none = "none"


VirtualChannels = Annotated[int, typer.Option(help="Virtual channels of each channel.")]
BufferDepth = Annotated[int, typer.Option(help="Flits that the buffer of a virtual channel takes.")]
RouterDelay = Annotated[int, typer.Option(help="Cycles that a flit takes in a router; the channel takes one more.")]
CreditDelay = Annotated[int, typer.Option(help="Cycles until a slot is known to be free.")]
DatelineOption = Annotated[Dateline, typer.Option(help="Use of virtual channels on rings; none can deadlock.")]
Injection = Annotated[Interface, typer.Option(help="A source queue for each channel, or one for the node.")]
Ejection = Annotated[Interface, typer.Option(help="A node takes a flit a cycle from each channel, or one in all.")]
Lanes = Annotated[int, typer.Option(help="Messages of a source queue that may enter the network at once.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


Networks = Annotated[
    list[str], typer.Argument(help="Arrays and tori, such as torus:8x8; one or more.", metavar="NETWORK...")
]
Pattern = Annotated[
    str | None,
    typer.Option(
        help="Destinations: uniform, hotspot, hotspot:NODE,..., or a permutation such as transpose. Default uniform.",
        metavar="NAME",
    ),
]
Destinations = Annotated[
    Path | None,
    typer.Option(
        help="File (text, .npy) with the destination of each node, -1 for none; or lines 'source: destination'.",
        metavar="FILE",
    ),
]
Load = Annotated[
    str | None,
    typer.Option(help="Flits per node and cycle: 0.1,0.2 or first:last:step. Default 0.05:0.5:0.05.", metavar="LOADS"),
]
SaturationOption = Annotated[
    bool, typer.Option("--saturation", help="Search the largest load that gets through, instead of --load.")
]
MessageFlits = Annotated[int, typer.Option(help="Flits of a message.")]
HotShare = Annotated[
    float | None,
    typer.Option(help="Share of hotspot traffic that goes to hot nodes. Default 0.1.", metavar="SHARE"),
]
Warmup = Annotated[int, typer.Option(help="Cycles before the measurement.")]
Measured = Annotated[int, typer.Option(help="Cycles of the measurement.")]
Seed = Annotated[int, typer.Option(help="Seed of random choices, 0 or more.")]
Jobs = Annotated[int, typer.Option(help="Loads simulated at once.")]
Plot = Annotated[Path | None, typer.Option(help="Draw latency against load: .svg, .png or .pdf.", metavar="FILE")]
Lines = Annotated[
    Path | None, typer.Option("--csv", help="Write a line for each load to a .csv or .parquet file.", metavar="FILE")
]


@commands.command()
def traffic(
    networks: Networks,
    pattern: Pattern = None,
    destinations: Destinations = None,
    load: Load = None,
    saturation: SaturationOption = False,
    message_flits: MessageFlits = 8,
    hot_share: HotShare = None,
    virtual_channels: VirtualChannels = 2,
    buffer_depth: BufferDepth = 4,
    router_delay: RouterDelay = 1,
    credit_delay: CreditDelay = 1,
    injection: Injection = Interface.channels,
    ejection: Ejection = Interface.channels,
    injection_lanes: Lanes = 1,
    dateline: DatelineOption = Dateline.balanced,
    warmup: Warmup = 5000,
    measured: Measured = 20000,
    seed: Seed = 0,
    jobs: Jobs = 1,
    plot: Plot = None,
    csv: Lines = None,
    json: Json = False,
) -> None:
    """Latency and throughput of random traffic, flit by flit."""
    from gossamer.errors import ModelError, TaskError
    from gossamer.sweeps import read_loads
    from gossamer.wormhole.simulator import Routers, TrafficSettings

    if pattern is not None and destinations is not None:
        raise TaskError("give --pattern or --destinations, not both")
    if load is not None and saturation:
        raise ModelError("--saturation chooses the loads; leave out --load")
    if hot_share is not None and not (pattern or "").strip().lower().startswith("hotspot"):
        raise TaskError("--hot-share goes with --pattern hotspot")
    _check_outputs(csv, plot)
    routers = Routers(
        virtual_channels=virtual_channels,
        buffer_depth=buffer_depth,
        router_delay=router_delay,
        credit_delay=credit_delay,
        injection=injection.value,
        ejection=ejection.value,
        injection_lanes=injection_lanes,
        dateline=dateline.value,
    )
    share = 0.1 if hot_share is None else hot_share
    settings = TrafficSettings(message_flits, share, routers, warmup, measured, seed)
    loads = None if saturation else read_loads("0.05:0.5:0.05" if load is None else load)
    curves, found = _simulated(networks, destinations or pattern or "uniform", loads, settings, jobs, (csv, plot))
    _print_traffic(curves, found, json)
    for path in (csv, plot):
        if path is not None and not json:
            print(f"wrote {path}")


def _check_outputs(table: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written, before the work."""
    from gossamer.plots.drawing import picture_format
    from gossamer.sweeps import table_format
    from gossamer.writing import check_writable

    for path, check in ((table, table_format), (plot, picture_format)):
        if path is not None:
            check(path)
            check_writable(path)


def _simulated(
    networks: list[str],
    where: str | Path,
    loads: Sequence[float] | None,
    settings: TrafficSettings,
    jobs: int,
    outputs: tuple[Path | None, Path | None],
) -> tuple[dict[str, Sequence[TrafficRun]], dict[str, Saturation]]:
    """Simulate every network at the loads, or up to its saturation without loads; write and draw the runs."""
    from gossamer.cli.console import progress
    from gossamer.networks.spec import network as parse_network
    from gossamer.reading.tables import read_destinations
    from gossamer.sweeps import latency_load, write_table
    from gossamer.wormhole.simulator import saturation_throughput

    curves: dict[str, Sequence[TrafficRun]] = {}
    found: dict[str, Saturation] = {}
    nets = [parse_network(text) for text in networks]
    with progress() as stage:
        for net in nets:
            pattern: Any = read_destinations(where, net.node_count) if isinstance(where, Path) else where
            if loads is None:
                found[net.spec] = saturation_throughput(net, pattern, settings=settings, progress=stage)
                curves[net.spec] = found[net.spec].runs
            else:
                curves[net.spec] = latency_load(net, pattern, loads, settings=settings, jobs=jobs, progress=stage)
        runs = [run for curve in curves.values() for run in curve]
        table, plot = outputs
        if table is not None:
            write_table(runs, table)
        if plot is not None:
            from gossamer.plots.latency import draw_latency

            stage(f"drawing {plot}")
            draw_latency(curves, plot, f"{runs[0].pattern} traffic, messages of {settings.message_flits} flits")
    return curves, found


def _print_traffic(curves: dict[str, Sequence[TrafficRun]], found: dict[str, Saturation], json: bool) -> None:
    """Print what came of each network."""
    from gossamer.cli.console import print_json

    if json:
        fields: dict[str, Any] = {"runs": [run.to_dict() for curve in curves.values() for run in curve]}
        if found:
            fields["saturation"] = [
                {"network": spec, "load": s.load, "throughput": s.throughput, "ideal": s.ideal}
                for spec, s in found.items()
            ]
        print_json(fields)
        return
    for place, (spec, curve) in enumerate(curves.items()):
        if place:
            print()
        _print_runs(curve)
        if spec in found:
            s = found[spec]
            print(f"\nload {s.load:.3f} gets through, {100 * s.share:.0f}% of the ideal {s.ideal:.3f}")


@commands.command()
def run(
    file: Annotated[Path, typer.Argument(help="Wormhole schedule file that --save wrote.", metavar="FILE")],
    starts: Annotated[
        Starts, typer.Option(help="A barrier between steps, or each message as soon as its source has it.")
    ] = Starts.barrier,
    flit_bytes: Annotated[int, typer.Option(help="Bytes of a flit.")] = 4,
    startup_cycles: Annotated[
        int | None, typer.Option(help="Cycles of a start-up. Default: the schedule's start-up time.", metavar="CYCLES")
    ] = None,
    virtual_channels: VirtualChannels = 2,
    buffer_depth: BufferDepth = 4,
    router_delay: RouterDelay = 1,
    credit_delay: CreditDelay = 1,
    injection: Injection = Interface.channels,
    ejection: Ejection = Interface.channels,
    injection_lanes: Lanes = 1,
    dateline: DatelineOption = Dateline.balanced,
    json: Json = False,
) -> None:
    """Run a wormhole schedule flit by flit; exit status 1 if it deadlocks."""
    from gossamer.cli.console import print_json, progress
    from gossamer.wormhole import verify
    from gossamer.wormhole.files import load
    from gossamer.wormhole.simulator import Routers, simulate_schedule

    settings = Routers(
        virtual_channels=virtual_channels,
        buffer_depth=buffer_depth,
        flit_bytes=flit_bytes,
        router_delay=router_delay,
        credit_delay=credit_delay,
        injection=injection.value,
        ejection=ejection.value,
        injection_lanes=injection_lanes,
        dateline=dateline.value,
    )
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage("verifying")
        valid = verify(schedule)
        found = simulate_schedule(
            schedule, starts=starts.value, settings=settings, startup_cycles=startup_cycles, progress=stage
        )
    if json:
        print_json({**found.to_dict(), "valid": valid.ok, "violations": valid.counts})
    else:
        _print_run(found, valid)
    raise typer.Exit(0 if found.deadlock is None else 1)


def _print_runs(runs: Sequence[TrafficRun]) -> None:
    """Print a line for each load."""
    from gossamer.experiments.table import Table

    columns = ("load", "throughput", "latency", "+-", "median", "p99", "busiest channel", "")
    rows: list[tuple[str, ...]] = []
    for r in runs:
        if r.deadlock is not None:
            rows.append((f"{r.load:.4g}", f"{r.throughput:.4f}", "-", "-", "-", "-", "-", "deadlock"))
            continue
        rows.append(
            (
                f"{r.load:.4g}", f"{r.throughput:.4f}", _shown(r.latency), _shown(r.half_width),
                *(str(q) if (q := r.percentile(share)) >= 0 else "-" for share in (0.5, 0.99)),
                f"{r.peak_utilization:.3f}", "saturated" if r.saturated else "",
            )
        )  # fmt: skip
    first = runs[0]
    title = f"{first.pattern} traffic on {first.network.spec}, messages of {first.message_flits} flits; times in cycles"
    print(Table(title, columns, tuple(rows)).text())
    stuck = next((r.deadlock for r in runs if r.deadlock is not None), None)
    if stuck is not None:
        print(f"\n{stuck}")


def _shown(cycles: float) -> str:
    return "-" if cycles != cycles else f"{cycles:.2f}"  # not a number where no message was measured


def _print_run(found: ScheduleRun, valid: Verification) -> None:
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
