"""``gossamer simulate``: a schedule in the model of a machine, or flit by flit."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.console import print_entries, print_json, print_written, progress
from gossamer.cli.files import check_pages, message_sizes
from gossamer.cli.options import Json, ScheduleFile, SizesOfPlan, Words, fills, pictured, written
from gossamer.cli.traffic import FLITS, ROUTERS, PresetName

if TYPE_CHECKING:
    from gossamer.simulation.flits import ScheduleRun
    from gossamer.verification import Verification

__all__ = ["simulate_schedule", "simulate_wormhole"]

_MODEL = {"rich_help_panel": "Time"}


class Machine(StrEnum):
    """What a schedule is replayed in."""

    loggp = "loggp"
    smpi = "smpi"
    smpi_default = "smpi-default"


ReplayOutput = Annotated[list[Path] | None, written("Draw time against size (.svg, .png, .pdf)")]
PageOutput = Annotated[Path | None, written("Show the run in the explorer (.html)", several=False)]


@pictured
def simulate_schedule(
    file: ScheduleFile,
    *,
    bytes: SizesOfPlan = None,
    model: Annotated[
        Machine,
        typer.Option(
            help="LogGP, or SimGrid's SMPI where it is installed, without its corrections for protocols or with them."
        ),
    ] = Machine.loggp,
    own: Annotated[
        list[str] | None,
        typer.Option(
            help="MPI's own algorithms beside it: all of them and what MPI libraries choose, or only one, such as "
            "'choice of mpich'; may be repeated.",
            metavar="NAME",
        ),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(help="Of every link. Default: the network's own, else 125MB/s.", metavar="RATE", **_MODEL),
    ] = None,
    latency: Annotated[
        str | None, typer.Option(help="Of every link. Default: the network's own, else 1us.", metavar="TIME", **_MODEL)
    ] = None,
    overhead: Annotated[str, typer.Option(help="At each end of a message, in LogGP.", metavar="TIME", **_MODEL)] = "0s",
    platform: Annotated[
        Path | None,
        typer.Option(
            help="Write SimGrid's platform and hosts into this new folder.", metavar="FOLDER", rich_help_panel="Output"
        ),
    ] = None,
    output: ReplayOutput = None,
    json: Json = False,
) -> None:
    """Replay a schedule in the model of a machine, beside the time of its slots and what MPI has."""
    from gossamer.atomic_files import check_writable, quantity, whole_folder
    from gossamer.execution import machine_model_replay
    from gossamer.interchange.smpi import write_platform
    from gossamer.plots.picture_files import picture_format
    from gossamer.reading import quantities
    from gossamer.schedules import load

    sizes = None if bytes is None else message_sizes(bytes)
    named = [name for name in own or [] if name != "all"]
    read = {"bandwidth": quantities.bandwidth, "latency": quantities.duration, "overhead": quantities.duration}
    given = {"bandwidth": bandwidth, "latency": latency, "overhead": overhead}
    machine = {name: None if text is None else float(read[name](text, f"--{name}")) for name, text in given.items()}
    for path in output or []:
        picture_format(path)
        check_writable(path)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        rows = machine_model_replay.replay(
            schedule,
            sizes,
            model=model.value,
            own=named or bool(own),
            say=stage,
            **machine,  # type: ignore[arg-type]
        )
    text = f"{schedule.task.describe()} on {schedule.network.spec}"
    if platform is not None:
        with whole_folder(platform) as part:
            write_platform(schedule.network, part, machine["bandwidth"], machine["latency"])
    if output:
        from gossamer.plots.curves import draw_results, replays_figure

        for path in output:
            draw_results(replays_figure, rows, path, f"{text}, {model.value}")
    if json:
        print_json({"what": text, "model": model.value, "runs": [asdict(row) for row in rows]})
        return
    print(f"{text}: {quantity(schedule.slot_count, 'slot')}, {model.value}")
    _print_replays(rows)
    print_written(*([] if platform is None else [platform]), *(output or []))


def _print_replays(rows: list[Any]) -> None:
    """Print a line for each size, or, beside MPI's own algorithms, a line for each of these and each size."""
    print(f"{'message':>14} {'simulated':>14} {'slots':>14} {'x slots':>7} {'x bound':>8}" + "  by" * bool(rows[0].own))
    for row in rows:
        ratio = row.seconds / row.slots_seconds if row.slots_seconds else 1.0
        line = f"{row.message_bytes:>12,} B {_micro(row.seconds)} {_micro(row.slots_seconds)} {ratio:>7.3f} "
        print(line + _over(row.seconds, row.bound_seconds) + "  this schedule" * bool(row.own))
        known = sorted((t, name) for name, t in row.own.items() if t is not None)
        for seconds, name in known:
            print(f"{'':>14} {_micro(seconds)} {'':>14} {'':>7} {_over(seconds, row.bound_seconds)}  {name}")
        failed = [name for name, t in row.own.items() if t is None]
        if failed:
            print(f"{'':>14} SMPI fails with {', '.join(failed)}")


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:>11,.1f} us"


def _over(seconds: float, bound: float | None) -> str:
    return f"{seconds / bound:>8.3f}" if bound else f"{'':>8}"


@fills(
    starts=(Words("questions/costs.py", "LinearCost", ("starts",)),),
    flits=(FLITS,),
    routers=(ROUTERS,),
)
def simulate_wormhole(
    file: ScheduleFile,
    *,
    starts: dict[str, Any],
    startup_cycles: Annotated[
        int | None, typer.Option(help="Cycles of a start-up. Default: the schedule's start-up time.", metavar="CYCLES")
    ] = None,
    preset: PresetName = "plain",
    routers: dict[str, Any],
    flits: dict[str, Any],
    output: PageOutput = None,
    json: Json = False,
) -> None:
    """Run a wormhole schedule flit by flit; exit status 1 if it deadlocks."""
    from gossamer.simulation.flits import Routers, simulate_schedule
    from gossamer.wormhole import load, verify

    settings = Routers.preset(preset, **routers, **flits)
    check_pages([output] if output else [], 1)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage("verifying")
        valid = verify(schedule)
        found = simulate_schedule(
            schedule, settings=settings, startup_cycles=startup_cycles, record=output is not None, progress=stage,
            **starts,
        )  # fmt: skip
        if output is not None:
            from gossamer.explorer import explore

            stage(f"writing {output}")
            explore(found, output)
    if json:
        print_json({**found.to_dict(), "valid": valid.ok, "violations": valid.counts})
    else:
        _print_run(found, valid)
        if output is not None:
            print_written(output)
    raise typer.Exit(0 if found.deadlock is None else 1)


def _print_run(found: ScheduleRun, valid: Verification) -> None:
    """Print what happened to a schedule."""
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
