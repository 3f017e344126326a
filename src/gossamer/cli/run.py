"""``gossamer run``: what one of many ranks does."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_json
from gossamer.cli.files import message_sizes
from gossamer.cli.options import Json, ScheduleFile, SizesOfPlan
from gossamer.errors import GossamerError, NotApplicableError, ScheduleError

__all__ = ["run"]


def run(
    file: ScheduleFile,
    *,
    bytes: SizesOfPlan = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with MPI's own collective, in bytes and time.")
    ] = False,
    repeat: Annotated[int, typer.Option(help="Repetitions, of which the fastest counts.", metavar="N")] = 5,
    nodes: Annotated[
        Path | None,
        typer.Option(help="A line for each rank: the rank, and its node or its coordinates.", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Run a schedule with real data: mpiexec -n N gossamer run FILE."""
    from gossamer.reading import whole

    sizes = None if bytes is None else message_sizes(bytes)
    whole(repeat, "--repeat", 1, error=ScheduleError)
    try:
        from mpi4py import MPI
    except ImportError:
        raise NotApplicableError("gossamer run needs MPI for Python: pip install 'gossamer[mpi]'") from None
    except RuntimeError as error:
        raise NotApplicableError(f"MPI cannot be loaded: {str(error).splitlines()[0]}") from None
    from gossamer.execution.mpi.run_file import run_file

    comm = MPI.COMM_WORLD
    try:
        text, found = run_file(comm, file, sizes, check=check, repeat=repeat, nodes=nodes)
    except GossamerError as error:  # told once where all ranks have it
        if not _everywhere(comm):
            _end_all(comm, str(error))
        if comm.rank == 0:
            raise
        raise typer.Exit(2) from None
    except BaseException as error:  # what goes wrong on one rank ends all
        _end_all(comm, f"{type(error).__name__}: {' '.join(str(error).split())}")
        raise
    if comm.rank == 0:
        _print(text, comm.size, found, json)
    raise typer.Exit(0 if all(row.equal is not False for row in found) else 1)


_SECONDS = 10.0
"""How long a rank waits for the others to have an error too."""


def _everywhere(comm: Any) -> bool:
    """Return whether all ranks come here, in a few seconds."""
    last, request = time.monotonic() + _SECONDS, comm.Ibarrier()
    while not request.Test():
        if time.monotonic() > last:
            return False
        time.sleep(0.01)
    return True


def _end_all(comm: Any, text: str) -> None:
    """End the processes of all ranks, those that wait for this one among them."""
    print(f"gossamer: rank {comm.rank}: {text}", file=sys.stderr)
    sys.stderr.flush()
    comm.Abort(2)


def _print(text: str, ranks: int, found: list[Any], json: bool) -> None:
    if json:
        print_json({"what": text, "ranks": ranks, "runs": [asdict(row) for row in found]})
        return
    print(f"{text}, {ranks} ranks")
    compared = any(row.equal is not None for row in found)
    print(f"{'message':>14} {'time':>12}" + (f" {'MPI':>12} {'x MPI':>7}  bytes" if compared else ""))
    for row in found:
        line = f"{row.message_bytes:>12,} B {row.seconds * 1e6:>9,.1f} us"
        if row.equal is not None:
            ratio = f"{row.seconds / row.own_seconds:.2f}" if row.own_seconds else "-"
            line += f" {row.own_seconds * 1e6:>9,.1f} us {ratio:>7}  {'equal' if row.equal else 'DIFFERENT'}"
        print(line)
