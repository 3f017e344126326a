"""``gossamer verify`` and ``gossamer draw``."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from gossamer.cli.console import print_json, progress
from gossamer.errors import FileFormatError, ScheduleError
from gossamer.questions.costs import Clock
from gossamer.reading import whole
from gossamer.writing import bandwidth_text

__all__ = [
    "OWN",
    "Foreign",
    "check_schedule_outputs",
    "explain",
    "import_foreign",
    "is_picture",
    "read_schedule",
    "split_outputs",
    "verify",
]

Foreign: TypeAlias = tuple[str | None, str | None]
"""The network and the task that a user names for a schedule of another tool."""
OWN: Foreign = (None, None)

_SCHEDULES = (".parquet", ".txt")


def is_picture(path: Path) -> bool:
    """Whether the suffix of a file is that of a picture."""
    from gossamer.plots.drawing import FORMATS

    return path.suffix.lower().removeprefix(".") in FORMATS


def check_schedule_outputs(output: list[Path]) -> None:
    """Refuse files that cannot be written, or are neither schedules nor pictures, before the work."""
    from gossamer.plots.drawing import FORMATS, picture_format
    from gossamer.writing import check_writable

    for path in output:
        if is_picture(path):
            picture_format(path)
        elif path.suffix.lower() not in _SCHEDULES:
            pictures = ", ".join(f".{f}" for f in FORMATS)
            allowed = f"a schedule is {' or '.join(_SCHEDULES)}, a picture one of {pictures}"
            raise FileFormatError(f"{str(path)!r} is of no known kind; {allowed}")
        check_writable(path)


def split_outputs(output: list[Path]) -> tuple[list[Path], list[Path]]:
    """Return the tables and the plots among files, and refuse those that cannot be written, before the work."""
    from gossamer.plots.drawing import FORMATS, picture_format
    from gossamer.studies.sweeps import TABLE_FORMATS, table_format
    from gossamer.writing import check_writable

    plots = [path for path in output if is_picture(path)]
    tables = [path for path in output if path.suffix.lower().removeprefix(".") in TABLE_FORMATS]
    for path in output:
        if path not in plots and path not in tables:
            pictures, lines = (", ".join(f".{f}" for f in formats) for formats in (FORMATS, TABLE_FORMATS))
            allowed = f"a table is one of {lines}, a picture is one of {pictures}"
            raise FileFormatError(f"{str(path)!r} is of no known kind; {allowed}")
    for paths, check in ((tables, table_format), (plots, picture_format)):
        for path in paths:
            check(path)
            check_writable(path)
    return tables, plots


def verify(file: Path, limit: int, json: bool, foreign: Foreign = OWN, compare: bool = False) -> int:
    """Check a schedule file, or a foreign one on a network, print the verdict, and return the exit status."""
    from gossamer.planning import switching

    whole(limit, "--limit", 1, None, error=ScheduleError)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, foreign)
        kind = switching.of(schedule)
        stage("verifying")
        found = kind.verify(schedule, limit)
        bound = _best_bound(schedule) if foreign[0] is not None or compare else None
        if compare:
            stage("planning the same")
        own = _own_plan(schedule) if compare else None
    slot, link, packets = kind.words
    if json:
        print_json(
            {
                "file": str(file),
                "network": schedule.network.spec,
                "task": schedule.task.name,
                "algorithm": schedule.algorithm,
                "completion_time": float(schedule.completion_time),
                **_in_seconds(schedule.cost, schedule.completion_time),
                "valid": found.ok,
                "violations": found.counts,
                "first": [
                    {
                        "kind": v.kind,
                        slot: v.slot,
                        "nodes": v.nodes,
                        link: v.link,
                        packets: v.packets,
                        "text": v.text,
                    }
                    for v in found.violations
                ],
                **({} if bound is None else {"bound": float(bound.value), "bound_name": bound.name}),
                **({} if own is None else {"own_time": float(own.completion_time), "own_algorithm": own.algorithm}),
                "hops": found.hops,
                "seconds": found.seconds,
            }
        )
    else:
        time = kind.time_text(schedule.cost, schedule.completion_time)
        print(f"{schedule.task.describe()} on {schedule.network.spec} in {time}")
        if isinstance(schedule.cost, Clock):
            print(_clock_text(schedule.cost, schedule.completion_time))
        print(found)
        if bound is not None:
            ratio = float(schedule.completion_time / bound.value) if bound.value else 1.0
            print(f"lower bound {bound.value} ({bound.name}); ratio {ratio:.3g}")
        if own is not None:
            took, best = schedule.completion_time, own.completion_time
            word = "the same time as" if took == best else "faster than" if took < best else "slower than"
            print(f"{word} what is planned here: {kind.time_text(own.cost, best)} by {own.algorithm}")
    return 0 if found.ok else 1


def _clock_text(clock: Clock, time: Fraction) -> str:
    """Return what a schedule in seconds moves, and how fast."""
    rates = [("algorithm", clock.bandwidth(time)), ("bus", clock.bus_bandwidth(time))]
    told = [f"{name} bandwidth {bandwidth_text(rate)}" for name, rate in rates if rate is not None]
    return "; ".join([clock.describe(), ", ".join(told)] if told else [clock.describe()])


def _in_seconds(cost: Any, time: Fraction) -> dict[str, Any]:
    """Return what JSON tells of a schedule in seconds."""
    if not isinstance(cost, Clock):
        return {}
    rates = {"algorithm_bandwidth": cost.bandwidth(time), "bus_bandwidth": cost.bus_bandwidth(time)}
    return {
        "completion_seconds": float(cost.seconds(time)),
        "clock": cost.to_dict(),
        **{name: None if rate is None else float(rate) for name, rate in rates.items()},
    }


def read_schedule(file: Path, foreign: Foreign = OWN) -> Any:
    """Read a schedule file, or, on a network, one that another tool made."""
    from gossamer.interchange import import_schedule
    from gossamer.planning import switching

    network, task = foreign
    if network is None and task is not None:
        raise FileFormatError("--task goes with --network, for a schedule of another tool")
    return switching.load(file) if network is None else import_schedule(file, network, task)


def import_foreign(file: Path, foreign: Foreign, output: Path) -> None:
    """Write a schedule of another tool as a schedule file, if it is valid."""
    from gossamer.planning import switching
    from gossamer.writing import check_writable

    if output.suffix.lower() not in _SCHEDULES:
        raise FileFormatError(f"{str(output)!r} is of no known kind; a schedule is {' or '.join(_SCHEDULES)}")
    check_writable(output)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, foreign)
        stage("verifying")
        switching.verify(schedule, 1).raise_if_invalid()
        switching.save(schedule, output)
    print(f"{schedule.task.describe()} on {schedule.network.spec} in {schedule.completion_time} steps, valid")
    print(f"wrote {output}")


def _asked(schedule: Any) -> dict[str, Any]:
    """Return what a schedule carries out and what it respects, as the planner is asked for it."""
    own = ("network", "task", "switching", "rules", "cost")
    return {name: getattr(schedule, name) for name in own}


def _best_bound(schedule: Any) -> Any:
    """Return the largest lower bound of what a schedule carries out under its rules."""
    from gossamer.planning import planner

    return planner.lower_bounds(**_asked(schedule))[0]


def _own_plan(schedule: Any) -> Any:
    """Return the schedule that is planned for what a schedule carries out, under its rules."""
    from gossamer.planning import planner

    return planner.plan(**_asked(schedule)).schedule


def explain(file: Path, foreign: Foreign, asked: dict[str, Any], limit: int, json: bool) -> None:
    """Say what happens in a schedule file, or in the part of it that is asked for."""
    from gossamer.planning import explaining

    whole(limit, "--limit", 1, None, error=ScheduleError)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, foreign)
        stage("explaining")
        found = explaining.explain(schedule, **asked)
    if json:
        bound = found.bound
        print_json(
            {
                "title": found.title,
                "lines": found.lines,
                "why": found.why,
                "hops": [hop._asdict() for hop in found.hops],
                "bound": {"value": str(bound.value), "name": bound.name, "witness": bound.witness},
            }
        )
        return
    print(found.title)
    for line in found.lines[:limit]:
        print(f"  {line}")
    if len(found.lines) > limit:
        print(f"  ... and {len(found.lines) - limit} more; --limit shows them")
    print("\n".join(found.why))
