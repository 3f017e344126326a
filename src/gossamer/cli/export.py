"""``gossamer export``, ``import`` and ``certify``: schedules for other programs, of them, and for who checks them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import print_written, progress
from gossamer.cli.files import check_certificate, check_other_than, check_schedule, read_schedule
from gossamer.cli.options import BytesOfPlan, Collective, Foreign, OtherBytes, ScheduleFile, written
from gossamer.errors import ScheduleError

__all__ = ["certify", "export", "import_foreign"]


def export(
    file: ScheduleFile,
    *,
    to: Annotated[str, typer.Option(help="The format; see 'gossamer list formats'.", metavar="FORMAT")],
    output: Annotated[Path, written("The file or new folder to write", several=False)],
    bytes: BytesOfPlan = None,
    limits: Annotated[
        bool, typer.Option("--limits/--no-limits", help="Refuse what the reading program is known not to take.")
    ] = True,
) -> None:
    """Write a schedule in another tool's format."""
    from gossamer import interchange
    from gossamer.planning.plan_resizing import resized
    from gossamer.questions.costs import Clock
    from gossamer.reading.quantities import size
    from gossamer.schedules import load

    check_other_than([file], [output])
    asked = None if bytes is None else size(bytes, "--bytes", error=ScheduleError)
    if asked == 0:
        raise ScheduleError("--bytes must be 1 byte or more, got 0")
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        message_bytes, clock = asked, schedule.cost
        if asked is not None and isinstance(clock, Clock):
            message_bytes = -(-clock.message_bytes * asked // (clock.asked_bytes or clock.message_bytes))
            with suppress(ScheduleError):  # what cannot be repeated has larger packets
                schedule = resized(schedule, asked)
        stage(f"writing {output}")
        interchange.export(schedule, output, to, message_bytes=message_bytes, limits=limits)
    print_written(output)


def import_foreign(
    file: Annotated[
        Path, typer.Argument(help="Schedule of another tool: MSCCL .xml, msccl-tools .json, .goal.", metavar="FILE")
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
