"""``gossamer verify`` and ``gossamer draw``."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.console import print_json, progress
from gossamer.errors import ScheduleError

__all__ = ["draw", "verify"]


def verify(file: Path, limit: int, json: bool) -> int:
    """Check a schedule file, print the verdict, and return the exit status."""
    from gossamer.schedules import load
    from gossamer.schedules import verify as check

    if limit < 1:
        raise ScheduleError(f"--limit must be at least 1, got {limit}")
    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage(f"verifying {schedule.stored_hops:,} hops")
        found = check(schedule, limit)
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
                        "slot": v.slot,
                        "nodes": v.nodes,
                        "link": v.link,
                        "packets": v.packets,
                        "text": v.text,
                    }
                    for v in found.violations
                ],
                "hops": found.hops,
                "seconds": found.seconds,
            }
        )
    else:
        print(f"{schedule.task.describe()} on {schedule.network.spec} in {schedule.completion_time} steps")
        print(found)
    return 0 if found.ok else 1


def draw(file: Path, output: Path, kind: str) -> None:
    """Draw a schedule file."""
    from gossamer import plots
    from gossamer.schedules import load

    with progress() as stage:
        stage(f"reading {file}")
        schedule = load(file)
        stage(f"drawing {output}")
        plots.draw(schedule, output, kind)
    print(f"wrote {output}")
