"""``gossamer verify`` and ``gossamer draw``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.cli.console import print_json, progress
from gossamer.errors import FileFormatError, ScheduleError
from gossamer.reading import whole

__all__ = ["check_schedule_outputs", "is_picture", "split_outputs", "verify"]


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
    from gossamer.sweeps import TABLE_FORMATS, table_format
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


def verify(file: Path, limit: int, json: bool, network: str | None = None) -> int:
    """Check a schedule file, or a foreign one on a network, print the verdict, and return the exit status."""
    from gossamer import switching

    whole(limit, "--limit", 1, None, error=ScheduleError)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = switching.load(file) if network is None else _foreign(file, network)
        kind = switching.of(schedule)
        stage("verifying")
        found = kind.verify(schedule, limit)
        bound = None if network is None else _best_bound(schedule)
    slot, link, packets = kind.words
    if json:
        print_json(
            {
                "file": str(file),
                "network": schedule.network.spec,
                "task": schedule.task.name,
                "algorithm": schedule.algorithm,
                "completion_time": float(schedule.completion_time),
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
                "hops": found.hops,
                "seconds": found.seconds,
            }
        )
    else:
        time = kind.time_text(schedule.cost, schedule.completion_time)
        print(f"{schedule.task.describe()} on {schedule.network.spec} in {time}")
        print(found)
        if bound is not None:
            ratio = float(schedule.completion_time / bound.value) if bound.value else 1.0
            print(f"lower bound {bound.value} ({bound.name}); ratio {ratio:.3g}")
    return 0 if found.ok else 1


def _foreign(file: Path, network: str) -> Any:
    """Read a schedule that another tool made."""
    from gossamer.interchange import import_schedule

    return import_schedule(file, network)


def _best_bound(schedule: Any) -> Any:
    """Return the largest lower bound of what a schedule carries out under its rules."""
    from gossamer import planner

    return planner.lower_bounds(schedule.network, schedule.task, rules=schedule.rules)[0]
