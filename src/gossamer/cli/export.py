"""``gossamer run``, ``export``, ``import`` and ``certify``: schedules for MPI, other programs, and who checks them."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gossamer.cli.console import print_error, print_json, print_written, progress
from gossamer.cli.files import check_certificate, check_other_than, check_schedule, message_sizes, read_schedule
from gossamer.cli.options import (
    BytesOfPlan,
    Collective,
    Foreign,
    Json,
    OtherBytes,
    ScheduleFile,
    SizesOfPlan,
    written,
)
from gossamer.errors import GossamerError, NotApplicableError, ScheduleError


def export(
    file: ScheduleFile,
    *,
    to: Annotated[str, typer.Option(help="The format; see 'gossamer list formats'.", metavar="FORMAT")],
    output: Annotated[Path, written("The file or new folder to write", several=False)],
    bytes: BytesOfPlan = None,
    rank: Annotated[
        str | None,
        typer.Option(
            help="Ranks to write, such as 4711 or 0,8-15, without making the programs of the others. Default: all.",
            metavar="RANKS",
        ),
    ] = None,
    limits: Annotated[
        bool, typer.Option("--limits/--no-limits", help="Refuse what the reading program is known not to take.")
    ] = True,
) -> None:
    """Write a schedule in another tool's format."""
    from gossamer import interchange
    from gossamer.planning.plan_resizing import resized
    from gossamer.planning.switching import load
    from gossamer.questions.costs import Clock
    from gossamer.reading.quantities import nodes, size

    check_other_than([file], [output])
    asked = None if bytes is None else size(bytes, "--bytes", error=ScheduleError)
    if asked == 0:
        raise ScheduleError("--bytes must be 1 byte or more, got 0")
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        count, ranks = schedule.network.terminal_count, None
        if rank is not None:
            ranks = nodes(rank.replace(",", " "), "--rank", count, what="rank", form_error=ScheduleError)
        message_bytes, clock = asked, schedule.cost
        if asked is not None and isinstance(clock, Clock):
            message_bytes = -(-clock.message_bytes * asked // (clock.asked_bytes or clock.message_bytes))
            with suppress(ScheduleError):  # what cannot be repeated has larger packets
                schedule = resized(schedule, asked)
        stage(f"writing {output}")
        interchange.export(schedule, output, to, message_bytes=message_bytes, limits=limits, ranks=ranks)
        stage(f"reading {output}")
        told = _as_program(schedule, output, to) if ranks is None else None
    print_written(output)
    if told is not None:
        print(told)


_APART = 0.03
"""By which share the times of a plan and of its program differ, so that it is said."""


def _as_program(schedule: Any, path: Path, to: str) -> str | None:
    """Return how long a program takes, where that is not what its plan takes, and why."""
    from gossamer.atomic_files import bytes_text, seconds_text, size_text
    from gossamer.interchange import FORMATS, program_schedule

    found: Any = program_schedule(path, to, schedule)
    if found is None:
        return None
    time, own = (each.cost.seconds(each.completion_time) for each in (found, schedule))
    if abs(float(time / own) - 1) <= _APART:
        return None
    part = FORMATS[to.lower()].slice_bytes
    why = f"; what loads it moves up to {bytes_text(part)} of a chunk at once" if part and time > own else ""
    if not part and found.cost.packet_bytes > schedule.cost.packet_bytes:
        why = f"; what loads it takes no more than chunks of {size_text(found.cost.packet_bytes)}"
    return f"as a program: {seconds_text(time)}, {float(time / own):.3g} x the {seconds_text(own)} of the plan{why}"


def import_foreign(
    file: Annotated[
        Path,
        typer.Argument(
            help="Schedule of another tool: MSCCL .xml, MSCCL++ or msccl-tools .json, .goal.", metavar="FILE"
        ),
    ],
    network: Annotated[str, typer.Option(help="Its network; node r is rank r.", metavar="NETWORK")],
    output: Annotated[Path, written("Schedule file to write (.parquet, .txt)", several=False)],
    task: Collective = None,
) -> None:
    """Convert another tool's schedule to a schedule file, which every command takes, once it is verified."""
    from gossamer.planning import switching
    from gossamer.planning.outcome import measured_text

    check_other_than([file, task], [output])
    check_schedule(output)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task)
        stage("verifying")
        switching.verify(schedule, 1).raise_if_invalid()
        switching.save(schedule, output)
    kind = switching.of(schedule)
    print(f"{measured_text(kind, schedule.network, schedule.task, schedule.cost, schedule.completion_time)}, valid")
    print_written(output)


def certify(
    file: ScheduleFile,
    *,
    output: Annotated[Path, written("Certificate to write: FILE.cert.json", several=False)],
    network: Foreign = None,
    task: Collective = None,
    bytes: OtherBytes = None,
) -> None:
    """Write a schedule with its lower bound as plain JSON that gossamer_check.py, one file, checks by itself."""
    import gossamer_check
    from gossamer.planning.certificates import certificate, certificate_text, write_certificate

    check_other_than([file, task], [output])
    check_certificate(output)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task, bytes)
        stage("computing lower bounds and checking the certificate")
        found = certificate(schedule)
        write_certificate(found, output)
    print("\n".join(gossamer_check.check(certificate_text(found))))
    print_written(output)


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
    over: Annotated[
        Literal["mpi", "sockets"],
        typer.Option(help="What carries the bytes; sockets: all ranks on this machine, or the one of --rank."),
    ] = "mpi",
    rank: Annotated[
        int | None, typer.Option(help="Over sockets: the rank that this machine runs.", metavar="N")
    ] = None,
    addresses: Annotated[
        Path | None,
        typer.Option(help="Over sockets: lines RANK HOST[:PORT], and RANK PEER HOST for a cable.", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Run a schedule with real data: mpiexec -n N gossamer run FILE, or --over sockets."""
    from gossamer.reading import whole

    sizes = None if bytes is None else message_sizes(bytes)
    whole(repeat, "--repeat", 1, error=ScheduleError)
    if over == "sockets":
        if nodes is not None:
            raise NotApplicableError("--nodes is for MPI, which numbers the ranks; over sockets rank r runs node r")
        _run_over_sockets(file, sizes, check, repeat, rank, addresses, json)
        return
    if rank is not None or addresses is not None:
        raise NotApplicableError("--rank and --addresses are for --over sockets; MPI numbers the ranks itself")
    try:
        from mpi4py import MPI
    except ImportError:
        raise NotApplicableError(
            "gossamer run needs MPI for Python: pip install 'gossamer[mpi]'; or add --over sockets"
        ) from None
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
        told = _other_sizes(file, found)
        if told is not None:
            print_error(told)
    raise typer.Exit(0 if all(row.equal is not False for row in found) else 1)


def _run_over_sockets(
    file: Path, sizes: Any, check: bool, repeat: int, rank: int | None, addresses: Path | None, json: bool
) -> None:
    from gossamer.execution.socket_runs import run_over_sockets
    from gossamer.reading import whole

    if rank is not None:
        whole(rank, "--rank", 0, error=ScheduleError)
    text, ranks, found = run_over_sockets(file, sizes, check=check, repeat=repeat, rank=rank, addresses=addresses)
    _print(text if rank is None else f"rank {rank}: {text}", ranks, found, json)
    raise typer.Exit(0 if all(row.equal is not False for row in found) else 1)


_SLOW, _OTHER = 2.0, 4
"""How many times MPI's own time is slow, and how many times larger or smaller sizes are others."""


def _other_sizes(file: Path, found: list[Any]) -> str | None:
    """Return what helps where a plan for other sizes is much slower than MPI's own collective."""
    from gossamer.atomic_files import size_text
    from gossamer.questions.costs import Clock
    from gossamer.questions.tasks import packets_of
    from gossamer.schedules import load

    slow = [row for row in found if row.own_seconds and row.seconds > _SLOW * row.own_seconds]
    if not slow:
        return None
    schedule, row = load(file), max(slow, key=lambda row: row.seconds / row.own_seconds)
    clock, chunks = schedule.cost, packets_of(schedule.task)
    if not isinstance(clock, Clock) or chunks == 1:
        return None
    if clock.message_bytes / _OTHER <= row.message_bytes <= clock.message_bytes * _OTHER:
        return None
    message, planned = size_text(row.message_bytes), size_text(clock.message_bytes)
    return (
        f"messages of {message} take {row.seconds / row.own_seconds:.3g} x MPI's own time: the plan is for {planned}, "
        f"in {chunks:,} chunks; plan for this size, with --chunks 1 or --overhead 20us, about what MPI takes for each"
    )


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
    compared = any(row.own_seconds is not None for row in found)
    checked = any(row.equal is not None for row in found)
    print(f"{'message':>14} {'time':>12}" + f" {'MPI':>12} {'x MPI':>7}" * compared + "  bytes" * checked)
    for row in found:
        line = f"{row.message_bytes:>12,} B {row.seconds * 1e6:>9,.1f} us"
        if row.own_seconds is not None:
            ratio = f"{row.seconds / row.own_seconds:.2f}" if row.own_seconds else "-"
            line += f" {row.own_seconds * 1e6:>9,.1f} us {ratio:>7}"
        if row.equal is not None:
            line += f"  {'equal' if row.equal else 'DIFFERENT'}"
        print(line)
