"""``gossamer wormhole traffic`` and ``gossamer wormhole run``: the flit-level simulator."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.dressing import pictured
from gossamer.cli.failing import fails
from gossamer.cli.groups import Commands
from gossamer.cli.options import Json, Words, fills

__all__ = ["commands"]

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
    "routers/settings.py",
    "Routers",
    (
        *("virtual_channels", "buffer_depth", "routing_delay", "allocation_delay", "switch_delay", "link_latency"),
        *("credit_delay", "injection_delay", "ejection_delay", "injection", "ejection"),
        *("input_speedup", "output_speedup", "dateline"),
    ),
)
TRAFFIC = Words(
    "routers/traffic_settings.py",
    "TrafficSettings",
    (
        *("message_flits", "hot_share", "burst", "reply_flits", "routing", "terminals"),
        *("warmup", "measured", "seed"),
    ),
)
DESTINED = Words("cli/destined.py", "Destined")
AIMED = Words("cli/destined.py", "Destined", ("pattern", "destinations", "demands"))
FLITS = Words("routers/settings.py", "Routers", ("flit_bytes",))
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
    from gossamer.cli import flits, recording
    from gossamer.cli.destined import Destined
    from gossamer.cli.files import split_outputs
    from gossamer.errors import ModelError
    from gossamer.routers import Routers, TrafficSettings
    from gossamer.sweeps import read_loads
    from gossamer.writing import check_writable

    where = Destined(**destined)
    where.check("hot_share" in settings)
    if (load is not None or where.trace is not None) and saturation:
        raise ModelError("--saturation chooses the loads; leave out --load and --trace")
    if load is not None and where.trace is not None:
        raise ModelError("--trace says when messages are created; leave out --load")
    pages, others = recording.pages(output or [])
    written = split_outputs(others)
    if details is not None:
        check_writable(details)
    asked = TrafficSettings(routers=Routers.preset(preset, **routers), **settings)
    loads = None if saturation else read_loads("0.05:0.5:0.05" if load is None else load)
    if pages and (loads is None or where.trace is not None):
        raise ModelError(f"{str(pages[0])!r} shows traffic at one load: leave out --saturation and --trace")
    recording.check(pages, len(networks) * len(loads or ()))
    proofs = flits.proofs(networks, asked)
    curves, found = flits.simulated(networks, where, loads, asked, jobs, written)
    for page in pages:
        recording.traffic(networks, where, loads or (), asked, page)
    flits.print_traffic(curves, found, proofs, json)
    runs = [run for curve in curves.values() for run in curve]
    if details is not None:
        flits.write_details(runs, details)
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
    from gossamer.cli import flits
    from gossamer.cli.console import print_json, progress
    from gossamer.cli.destined import Destined
    from gossamer.networks import as_network
    from gossamer.routers import Routers, TrafficSettings
    from gossamer.sweeps import run_points
    from gossamer.sweeps.traffic import SaturationPoint

    where = Destined(**destined)
    where.check("hot_share" in settings)
    asked = TrafficSettings(routers=Routers.preset(preset, **routers), **settings)
    nets = [as_network(text) for text in networks]
    points = [SaturationPoint(net, where.on(net), asked, resolution) for net in nets]
    with progress() as stage:
        searched = run_points(points, jobs=jobs, progress=stage)
    found = {net.spec: saturation for net, saturation in zip(nets, searched, strict=True)}
    if json:
        print_json({"saturation": [flits.saturation_fields(spec, s) for spec, s in found.items()]})
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
    from gossamer.routers import ROUTINGS, Routers, deadlock_freedom
    from gossamer.routers import routing as routing_function

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
    from gossamer.cli import flits, recording
    from gossamer.cli.console import print_json, progress
    from gossamer.routers import Routers, simulate_schedule
    from gossamer.wormhole import verify
    from gossamer.wormhole.files import load

    settings = Routers.preset(preset, **routers)
    recording.check([output] if output else [], 1)
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
        flits.print_run(found, valid)
        if output is not None:
            print(f"wrote {output}")
    raise typer.Exit(0 if found.deadlock is None else 1)
