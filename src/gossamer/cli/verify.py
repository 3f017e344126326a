"""``gossamer verify`` and ``gossamer explain``: what a schedule is worth, and what happens in it."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_json, progress
from gossamer.cli.files import read_schedule
from gossamer.cli.options import Collective, Foreign, Json, Limit, ScheduleFile
from gossamer.errors import ScheduleError

__all__ = ["explain", "verify"]


def verify(
    file: ScheduleFile,
    limit: Limit = 20,
    network: Foreign = None,
    task: Collective = None,
    compare: Annotated[bool, typer.Option("--compare", help="Plan the same here, and say what is faster.")] = False,
    json: Json = False,
) -> None:
    """Check a schedule file; exit status 1 if invalid."""
    from gossamer.planning import planner, switching
    from gossamer.questions.costs import Clock
    from gossamer.reading import whole

    whole(limit, "--limit", 1, None, error=ScheduleError)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task)
        asked = {name: getattr(schedule, name) for name in ("network", "task", "switching", "rules", "cost")}
        kind = switching.of(schedule)
        stage("verifying")
        found = kind.verify(schedule, limit)
        bound = planner.lower_bounds(**asked)[0] if network is not None or compare else None
        if compare:
            stage("planning the same")
        own = planner.plan(**asked).schedule if compare else None
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
                    {"kind": v.kind, slot: v.slot, "nodes": v.nodes, link: v.link, packets: v.packets, "text": v.text}
                    for v in found.violations
                ],
                **(
                    {}
                    if bound is None
                    else {"bound": float(bound.value), "bound_name": bound.name, "bound_scope": bound.scope}
                ),
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
            holds = f", for {bound.scope}" if bound.scope else ""
            print(f"lower bound {bound.value_text} ({bound.name}{holds}); ratio {ratio:.3g}")
        if own is not None:
            took, best = schedule.completion_time, own.completion_time
            word = "the same time as" if took == best else "faster than" if took < best else "slower than"
            print(f"{word} what is planned here: {kind.time_text(own.cost, best)} by {own.algorithm}")
    raise typer.Exit(0 if found.ok else 1)


def _clock_text(clock: Any, time: Fraction) -> str:
    """Return what a schedule in seconds moves, and how fast."""
    from gossamer.atomic_files import bandwidth_text

    rates = [("algorithm", clock.bandwidth(time)), ("bus", clock.bus_bandwidth(time))]
    told = [f"{name} bandwidth {bandwidth_text(rate)}" for name, rate in rates if rate is not None]
    return "; ".join([clock.describe(), ", ".join(told)] if told else [clock.describe()])


def _in_seconds(cost: Any, time: Fraction) -> dict[str, Any]:
    """Return what JSON tells of a schedule in seconds."""
    from gossamer.questions.costs import Clock

    if not isinstance(cost, Clock):
        return {}
    rates = {"algorithm_bandwidth": cost.bandwidth(time), "bus_bandwidth": cost.bus_bandwidth(time)}
    return {
        "completion_seconds": float(cost.seconds(time)),
        "clock": cost.to_dict(),
        **{name: None if rate is None else float(rate) for name, rate in rates.items()},
    }


def explain(
    file: ScheduleFile,
    slot: Annotated[
        int | None,
        typer.Option("--slot", "--step", help="Who sends what to whom in this slot, or wormhole step.", metavar="N"),
    ] = None,
    rank: Annotated[
        str | None, typer.Option(help="What this node sends and gets: a number, or coordinates.", metavar="NODE")
    ] = None,
    message: Annotated[int | None, typer.Option(help="The way of the message of this number.", metavar="N")] = None,
    limit: Limit = 100,
    network: Foreign = None,
    task: Collective = None,
    json: Json = False,
) -> None:
    """Say what happens slot by slot, in a slot, at a node or to a message, and why it cannot be faster."""
    from gossamer.planning import explaining
    from gossamer.reading import whole

    whole(limit, "--limit", 1, None, error=ScheduleError)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task)
        stage("explaining")
        found = explaining.explain(schedule, slot=slot, rank=rank, message=message)
    if json:
        bound = found.bound
        print_json(
            {
                "title": found.title,
                "lines": found.lines,
                "why": found.why,
                "hops": [hop._asdict() for hop in found.hops],
                "bound": {
                    "value": str(bound.value),
                    "name": bound.name,
                    "scope": bound.scope,
                    "witness": bound.witness,
                },
            }
        )
        return
    print(found.title)
    for line in found.lines[:limit]:
        print(f"  {line}")
    if len(found.lines) > limit:
        print(f"  ... and {len(found.lines) - limit} more; --limit shows them")
    print("\n".join(found.why))
