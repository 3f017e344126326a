"""The commands and their options; each imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.wormhole import commands as wormhole_commands

__all__ = ["app"]

app = typer.Typer(
    name="gossamer",
    help="Collective communication on interconnection networks: verified schedules beside lower bounds.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(wormhole_commands)


class Ports(StrEnum):
    """How many links a node may use at once."""

    all = "all"
    one = "one"
    one_send = "one-send"


class Switching(StrEnum):
    """How messages travel."""

    store_and_forward = "store-and-forward"
    wormhole = "wormhole"


class Occupancy(StrEnum):
    """What a buffer limit counts."""

    transit = "transit"
    all = "all"


class Picture(StrEnum):
    """What to draw."""

    load = "load"
    occupancy = "occupancy"
    both = "both"


class Arrivals(StrEnum):
    """How broadcast requests arrive."""

    poisson = "poisson"
    bernoulli = "bernoulli"
    on_off = "on-off"


class Clock(StrEnum):
    """When transmissions begin."""

    continuous = "continuous"
    slotted = "slotted"


class Ties(StrEnum):
    """Which copy goes first within a class."""

    fifo = "fifo"
    age = "age"
    critical_path = "critical-path"


class Choice(StrEnum):
    """How the tree of a broadcast is chosen."""

    oblivious = "oblivious"
    global_ = "global"
    local = "local"
    guarded = "guarded"


NetworkArgument = Annotated[
    str, typer.Argument(help="Network, such as torus:8x8; see 'gossamer networks'.", metavar="NETWORK")
]
TaskArgument = Annotated[str, typer.Argument(help="Task, such as allgather; see 'gossamer tasks'.", metavar="TASK")]
Root = Annotated[
    int | None, typer.Option(help="Root of a broadcast, scatter, gather or reduce. Default 0.", metavar="NODE")
]
Active = Annotated[
    str | None,
    typer.Option(help="Active nodes: a file (text, .npy, .mtx), numbers 0,5,7, random:M, or all.", metavar="SET"),
]
Counts = Annotated[
    str | None,
    typer.Option(help="Messages that each node broadcasts: a file (text, .npy) or numbers 2,0,1.", metavar="LIST"),
]
Destinations = Annotated[
    Path | None,
    typer.Option(
        help="File (text, .npy): where each node in turn sends, -1 for none; or lines 'source: destinations'.",
        metavar="FILE",
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        help="Destinations by name: transpose, bit-reversal, shuffle, reversal, row-reversal, complement, identity, "
        "random, tornado, neighbor, packed-triangle, packed-rows, packed-columns; for sets also random:SOURCES.",
        metavar="NAME",
    ),
]
Density = Annotated[
    float | None,
    typer.Option(help="Share of the messages of a pattern that are sent, 0..1. Default 1.", metavar="SHARE"),
]
PortsOption = Annotated[Ports, typer.Option(help="Links that a node may use at once.")]
Split = Annotated[bool, typer.Option("--split/--whole", help="Whether messages may be cut into parts.")]
ControlTime = Annotated[str, typer.Option(help="Steps that a control packet takes a hop (t_p), 0..1, such as 1/10.")]
Buffer = Annotated[int | None, typer.Option(help="Most packets at a node between two slots.", metavar="PACKETS")]
BufferCounts = Annotated[
    Occupancy, typer.Option(help="What --buffer counts: packets in transit, or all that a node holds.")
]
SwitchingOption = Annotated[
    Switching, typer.Option(help="Packets hop by hop, or wormhole messages along dimension-ordered paths.")
]
Startup = Annotated[
    str | None, typer.Option(help="Wormhole: time to start a message (T_s). Default 100.", metavar="TIME")
]
PerByte = Annotated[str | None, typer.Option(help="Wormhole: time a byte (T_c). Default 1.", metavar="TIME")]
MessageBytes = Annotated[int | None, typer.Option(help="Wormhole: bytes of a message. Default 1024.", metavar="BYTES")]
CounterBytes = Annotated[
    int | None, typer.Option(help="Wormhole: bytes of a control message. Default 4.", metavar="BYTES")
]
HopTime = Annotated[str | None, typer.Option(help="Wormhole: time a hop. Default 0.", metavar="TIME")]
Seed = Annotated[int, typer.Option(help="Seed of random choices, 0 or more.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ScheduleFile = Annotated[Path, typer.Argument(help="Schedule file that --save wrote.", metavar="FILE")]


def _version(shown: bool) -> None:
    if shown:
        from gossamer.version import __version__

        print(f"gossamer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options before the command."""


@app.command()
def plan(
    network: NetworkArgument,
    task: TaskArgument,
    root: Root = None,
    active: Active = None,
    counts: Counts = None,
    destinations: Destinations = None,
    pattern: Pattern = None,
    density: Density = None,
    algorithm: Annotated[
        str, typer.Option(help="An algorithm's name; see 'gossamer algorithms'.", metavar="NAME")
    ] = "best",
    ports: PortsOption = Ports.all,
    split: Split = False,
    control_time: ControlTime = "0",
    buffer: Buffer = None,
    buffer_counts: BufferCounts = Occupancy.transit,
    switching: SwitchingOption = Switching.store_and_forward,
    startup: Startup = None,
    per_byte: PerByte = None,
    message_bytes: MessageBytes = None,
    counter_bytes: CounterBytes = None,
    hop_time: HopTime = None,
    partition_side: Annotated[
        str | None,
        typer.Option(help="Wormhole: side of the blocks of a partition (h), or auto. Default auto.", metavar="SIDE"),
    ] = None,
    seed: Seed = 0,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the schedule to a file: text if it ends in .txt, else Parquet.", metavar="FILE"),
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Check hops as they are made and keep none; permutations by Q, H and kin.")
    ] = False,
    json: Json = False,
) -> None:
    """Plan a task: a verified schedule beside its bounds."""
    from gossamer.cli import planning

    words = (root, active, counts, destinations, pattern, density, seed)
    rules = (ports.value, split, control_time, buffer, buffer_counts.value)
    costs = (startup, per_byte, message_bytes, counter_bytes, hop_time)
    case = planning.case(network, task, planning.choices(switching.value, rules, costs), *words)
    planning.plan(case, save, json, algorithm=algorithm, stream=stream, seed=seed)


@app.command()
def compare(
    network: NetworkArgument,
    task: TaskArgument,
    root: Root = None,
    active: Active = None,
    counts: Counts = None,
    destinations: Destinations = None,
    pattern: Pattern = None,
    density: Density = None,
    ports: PortsOption = Ports.all,
    split: Split = False,
    control_time: ControlTime = "0",
    buffer: Buffer = None,
    buffer_counts: BufferCounts = Occupancy.transit,
    switching: SwitchingOption = Switching.store_and_forward,
    startup: Startup = None,
    per_byte: PerByte = None,
    message_bytes: MessageBytes = None,
    counter_bytes: CounterBytes = None,
    hop_time: HopTime = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Rank every algorithm that covers a task, and say why the others do not."""
    from gossamer.cli import planning

    words = (root, active, counts, destinations, pattern, density, seed)
    rules = (ports.value, split, control_time, buffer, buffer_counts.value)
    costs = (startup, per_byte, message_bytes, counter_bytes, hop_time)
    case = planning.case(network, task, planning.choices(switching.value, rules, costs), *words)
    planning.compare(case, json, seed=seed)


@app.command()
def bounds(
    network: NetworkArgument,
    task: TaskArgument,
    root: Root = None,
    active: Active = None,
    counts: Counts = None,
    destinations: Destinations = None,
    pattern: Pattern = None,
    density: Density = None,
    ports: PortsOption = Ports.all,
    split: Split = False,
    switching: SwitchingOption = Switching.store_and_forward,
    startup: Startup = None,
    per_byte: PerByte = None,
    message_bytes: MessageBytes = None,
    hop_time: HopTime = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print every lower bound and say which binds."""
    from gossamer.cli import planning

    words = (root, active, counts, destinations, pattern, density, seed)
    costs = (startup, per_byte, message_bytes, None, hop_time)
    choices = planning.choices(switching.value, (ports.value, split, "0", None, "transit"), costs)
    planning.bounds(planning.case(network, task, choices, *words), json)


@app.command()
def verify(
    file: ScheduleFile,
    limit: Annotated[int, typer.Option(help="Violations to name; the rest are counted.")] = 20,
    json: Json = False,
) -> None:
    """Check a schedule file; exit status 1 if invalid."""
    from gossamer.cli import files

    raise typer.Exit(files.verify(file, limit, json))


@app.command()
def draw(
    file: ScheduleFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Picture to write: .svg, .png or .pdf; .gif or .html shows a routing in motion.",
            metavar="FILE",
        ),
    ],
    kind: Annotated[Picture, typer.Option(help="Load of the links, slots x links, or both.")] = Picture.load,
) -> None:
    """Draw the load of every link, which is busy when, or the messages in motion."""
    from gossamer.cli import files

    files.draw(file, output, kind.value)


@app.command()
def dynamic(
    network: NetworkArgument,
    scheme: Annotated[
        list[str] | None,
        typer.Option(help="Scheme, several by commas; see 'gossamer schemes'. Default priority.", metavar="NAME"),
    ] = None,
    load: Annotated[
        str | None, typer.Option(help="Load factors: 0.5, or 0.1,0.5,0.9, or first:last:step.", metavar="LOADS")
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(help="Nodes where requests arrive: a file, numbers 0,5,7, random:M, or all.", metavar="SET"),
    ] = None,
    arrivals: Annotated[Arrivals, typer.Option(help="How requests arrive at every node.")] = Arrivals.poisson,
    burst: Annotated[
        str | None,
        typer.Option(
            help="Mean steps that a node is on and off, for on-off arrivals. Default 20:80.", metavar="ON:OFF"
        ),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Replay requests from a file: time and node (text, .csv, .npy, .parquet).")
    ] = None,
    time: Annotated[
        Clock, typer.Option(help="Whether transmissions begin at any time or in slots.")
    ] = Clock.continuous,
    ties: Annotated[Ties, typer.Option(help="Which copy goes first within a priority class.")] = Ties.fifo,
    choose: Annotated[Choice, typer.Option(help="How the tree of a broadcast is chosen.")] = Choice.oblivious,
    steps: Annotated[
        float | None, typer.Option(help="How long broadcasts are measured, in steps. Default by load.", metavar="STEPS")
    ] = None,
    warmup: Annotated[
        float | None, typer.Option(help="Steps before the measurement. Default: found by itself.", metavar="STEPS")
    ] = None,
    replications: Annotated[int, typer.Option(help="Independent runs; with 1, batch means.")] = 1,
    jobs: Annotated[int, typer.Option(help="Points simulated at once.")] = 1,
    seed: Seed = 0,
    save: Annotated[
        Path | None, typer.Option(help="Write all that was measured to a .csv or .parquet file.", metavar="FILE")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw delay against load to a .svg, .png or .pdf file.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Simulate broadcasts that arrive at random: delays beside bounds."""
    from gossamer.cli import dynamic as simulated

    options = {
        "time": time.value, "ties": ties.value, "choose": choose.value, "seed": seed, "replications": replications,
        "warmup": "auto" if warmup is None else warmup, "steps": steps,
    }  # fmt: skip
    simulated.dynamic(network, scheme or [], load, nodes, arrivals.value, trace, burst, options, jobs, save, plot, json)


@app.command()
def schemes(
    network: Annotated[
        str | None, typer.Argument(help="Show only what covers this network, with its limit.", metavar="[NETWORK]")
    ] = None,
    json: Json = False,
) -> None:
    """List the schemes for broadcasts that arrive at random."""
    from gossamer.cli import dynamic as simulated

    simulated.schemes(network, json)


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="What to reproduce: varvarigos-bertsekas, yeh-varvarigos-lee, chen-chen, han or dimakopoulos.",
            metavar="NAME",
        ),
    ],
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the source's curves to this .svg, .png or .pdf.", metavar="FILE")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also draw what its text describes, as .svg in this folder.", metavar="FOLDER")
    ] = None,
    json: Json = False,
) -> None:
    """Reproduce a paper's tables: claimed, measured, bound."""
    from gossamer.cli import reproducing

    reproducing.reproduce(name, figure, figures, json)


@app.command()
def networks(json: Json = False) -> None:
    """List the families of networks."""
    from gossamer.cli import tables

    tables.networks(json)


@app.command()
def tasks(json: Json = False) -> None:
    """List the tasks with their modern names."""
    from gossamer.cli import tables

    tables.tasks(json)


@app.command()
def algorithms(
    network: Annotated[str | None, typer.Option(help="Show only what covers this network.", metavar="NETWORK")] = None,
    task: Annotated[str | None, typer.Option(help="Show only what carries out this task.", metavar="TASK")] = None,
    ports: PortsOption = Ports.all,
    split: Split = False,
    switching: SwitchingOption = Switching.store_and_forward,
    json: Json = False,
) -> None:
    """List the algorithms and their sources; those of wormhole switching with --switching wormhole."""
    from gossamer.cli import planning, tables

    rules = planning.choices(switching.value, (ports.value, split, "0", None, "transit"), (None,) * 5).get("rules")
    tables.algorithms(network, task, switching.value, rules, json)
