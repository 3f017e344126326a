"""The commands and their options; each imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    name="gossamer",
    help="Collective communication on interconnection networks: verified schedules beside lower bounds.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Ports(StrEnum):
    """How many links a node may use at once."""

    all = "all"
    one = "one"
    one_send = "one-send"


class Picture(StrEnum):
    """What to draw."""

    load = "load"
    occupancy = "occupancy"
    both = "both"


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
    typer.Option(help="File (text, .npy) with the destination of each node in turn, -1 for none.", metavar="FILE"),
]
PortsOption = Annotated[Ports, typer.Option(help="Links that a node may use at once.")]
Split = Annotated[bool, typer.Option("--split/--whole", help="Whether messages may be cut into parts.")]
ControlTime = Annotated[str, typer.Option(help="Steps that a control packet takes a hop (t_p), 0..1, such as 1/10.")]
Buffer = Annotated[int | None, typer.Option(help="Most packets in transit at a node.", metavar="PACKETS")]
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
    algorithm: Annotated[
        str, typer.Option(help="An algorithm's name; see 'gossamer algorithms'.", metavar="NAME")
    ] = "best",
    ports: PortsOption = Ports.all,
    split: Split = False,
    control_time: ControlTime = "0",
    buffer: Buffer = None,
    seed: Seed = 0,
    save: Annotated[Path | None, typer.Option(help="Write the schedule to a Parquet file.", metavar="FILE")] = None,
    json: Json = False,
) -> None:
    """Plan a task: a verified schedule beside its bounds."""
    from gossamer.cli import planning

    words = (root, active, counts, destinations, seed)
    case = planning.case(network, task, ports.value, split, control_time, buffer, *words)
    planning.plan(case, algorithm, seed, save, json)


@app.command()
def bounds(
    network: NetworkArgument,
    task: TaskArgument,
    root: Root = None,
    active: Active = None,
    counts: Counts = None,
    destinations: Destinations = None,
    ports: PortsOption = Ports.all,
    split: Split = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print every lower bound and say which binds."""
    from gossamer.cli import planning

    words = (root, active, counts, destinations, seed)
    planning.bounds(planning.case(network, task, ports.value, split, "0", None, *words), json)


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
        Path, typer.Option("--output", "-o", help="Picture to write: .svg, .png or .pdf.", metavar="FILE")
    ],
    kind: Annotated[Picture, typer.Option(help="Load of the links, slots x links, or both.")] = Picture.load,
) -> None:
    """Draw the load of every link, or which is busy when."""
    from gossamer.cli import files

    files.draw(file, output, kind.value)


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(help="What to reproduce: varvarigos-bertsekas or dimakopoulos.", metavar="NAME")
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
    network: Annotated[
        str | None, typer.Argument(help="Show only what covers this network.", metavar="[NETWORK]")
    ] = None,
    ports: PortsOption = Ports.all,
    split: Split = False,
    json: Json = False,
) -> None:
    """List the algorithms and their sources."""
    from gossamer.cli import tables

    tables.algorithms(network, ports.value, split, json)
