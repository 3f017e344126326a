"""``gossamer export`` and ``gossamer formats``: schedules for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.options import Json

__all__ = ["Bytes", "PlanFile", "export", "formats", "message_bytes", "message_sizes", "run", "simulate"]

PlanFile = Annotated[Path, typer.Argument(help="Schedule file that plan --output wrote.", metavar="FILE")]
Bytes = Annotated[
    str, typer.Option("--bytes", help="Size of a message: a number of bytes, or with a unit.", metavar="SIZE")
]
Sizes = Annotated[
    str,
    typer.Option("--bytes", help="Sizes of a message, several by commas, or first:last[:factor].", metavar="SIZES"),
]


class Machine(StrEnum):
    """What a schedule is replayed in."""

    loggp = "loggp"
    smpi = "smpi"
    smpi_default = "smpi-default"


def export(
    file: PlanFile,
    *,
    to: Annotated[str, typer.Option(help="The format; see 'gossamer formats'.", metavar="FORMAT")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file or new folder to write.", metavar="PATH")],
    bytes: Bytes = "1MiB",
    limits: Annotated[
        bool, typer.Option("--limits/--no-limits", help="Refuse what the reading program is known not to take.")
    ] = True,
) -> None:
    """Write a schedule in another tool's format."""
    from gossamer import interchange
    from gossamer.schedules import load

    size = message_bytes(bytes)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage(f"writing {output}")
        interchange.export(schedule, output, to, message_bytes=size, limits=limits)
    print(f"wrote {output}")


def formats(json: Json = False) -> None:
    """List the formats that schedules are exported to."""
    from gossamer.interchange import FORMATS

    if json:
        print_json([{"name": f.name, "folder": f.folder, "summary": f.summary} for f in FORMATS.values()])
        return
    print_entries((f.name, [f.summary + (" (a folder)" if f.folder else "")]) for f in FORMATS.values())


def message_bytes(text: str) -> int:
    """Return the bytes of a message that a text such as ``64kB`` names; ScheduleError if it names none, or 0."""
    from gossamer.errors import ScheduleError
    from gossamer.reading.quantities import size

    found = size(text, "--bytes", error=ScheduleError)
    if not found:
        raise ScheduleError("--bytes must be 1 byte or more, got 0")
    return found


def message_sizes(text: str) -> list[int]:
    """Return the sizes that a text such as ``1kB,1MB`` or ``1KiB:1MiB`` names; ScheduleError if it names none, or 0."""
    from gossamer.errors import ScheduleError
    from gossamer.reading.quantities import sizes

    found = sizes(text, "--bytes", error=ScheduleError)
    if not all(found):
        raise ScheduleError("--bytes must be 1 byte or more, got 0")
    return found


def run(
    file: PlanFile,
    *,
    bytes: Sizes = "1MiB",
    check: Annotated[
        bool, typer.Option("--check", help="Compare with MPI's own collective, in bytes and time.")
    ] = False,
    repeat: Annotated[int, typer.Option(help="Repetitions, of which the fastest counts.")] = 5,
    nodes: Annotated[
        Path | None,
        typer.Option(help="A line for each rank: the rank, and its node or its coordinates.", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Run a schedule with real data: mpiexec -n N gossamer run FILE."""
    from gossamer.cli import run as running

    raise typer.Exit(running.run(file, message_sizes(bytes), check, repeat, nodes, json))


def simulate(
    file: PlanFile,
    *,
    bytes: Sizes = "1MiB",
    model: Annotated[
        Machine,
        typer.Option(
            help="LogGP, or SimGrid's SMPI where it is installed, without its corrections for protocols or with them."
        ),
    ] = Machine.loggp,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Also MPI's own algorithms, and what MPI libraries choose.")
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Only this one of MPI's own, such as 'choice of mpich'; may be repeated.", metavar="NAME"),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(help="Of every link. Default: the network's own, else 125MB/s.", metavar="RATE"),
    ] = None,
    latency: Annotated[
        str | None, typer.Option(help="Of every link. Default: the network's own, else 1us.", metavar="TIME")
    ] = None,
    overhead: Annotated[str, typer.Option(help="At each end of a message, in LogGP.", metavar="TIME")] = "0s",
    platform: Annotated[
        Path | None, typer.Option(help="Write SimGrid's platform and hosts into this new folder.", metavar="FOLDER")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Draw time against size (.svg, .png, .pdf); may be repeated.", metavar="FILE"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Replay a schedule in the model of a machine, beside the time of its slots and what MPI has."""
    from gossamer.cli import run as running

    words = {"bandwidth": bandwidth, "latency": latency, "overhead": overhead}
    running.simulate(file, message_sizes(bytes), model.value, against or mpi, words, platform, output or [], json)
