"""``gossamer verify`` and ``gossamer explain``: what a schedule is worth, and what could make it faster."""

from __future__ import annotations

import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import hush_libraries, print_error, print_json, print_summary, print_written, progress
from gossamer.cli.files import FOREIGN, check_schedule, is_certificate, message_sizes, network_of, read_schedule
from gossamer.cli.options import Collective, Foreign, ForeignToo, Json, Limit, OtherBytes, ScheduleFile, written
from gossamer.errors import FileFormatError, ScheduleError, TaskError


def verify(
    file: ScheduleFile,
    on: ForeignToo = None,
    *,
    limit: Limit = 20,
    network: Foreign = None,
    task: Collective = None,
    compare: Annotated[bool, typer.Option("--compare", help="Plan the same here, and say what is faster.")] = False,
    bytes: OtherBytes = None,
    output: Annotated[
        Path | None, written("Schedule file to write for --bytes: .parquet or .txt", several=False)
    ] = None,
    json: Json = False,
) -> None:
    """Check a schedule file, the program of another tool on a network, or a certificate; exit status 1 if invalid."""
    if is_certificate(file):
        if (
            on is not None
            or network is not None
            or compare
            or bytes is not None
            or output is not None
            or task is not None
        ):
            raise ScheduleError("a certificate is checked by itself; it takes no option but --json")
        raise typer.Exit(_certified(file, json))
    from gossamer.atomic_files import seconds_text
    from gossamer.planning import planner, switching
    from gossamer.planning.outcome import measured_text
    from gossamer.planning.plan_resizing import least_seconds
    from gossamer.questions.costs import Clock, TimeCost
    from gossamer.questions.tasks import in_packets
    from gossamer.reading import whole

    whole(limit, "--limit", 1, None, error=ScheduleError)
    network = network_of(network, on)
    if output is not None and bytes is None:
        raise ScheduleError("--output goes with --bytes: it is the plan for so many")
    if output is not None:
        check_schedule(output)
    several = [] if bytes is None else message_sizes(bytes)
    if several[1:]:
        if compare or output is not None:
            raise ScheduleError("--compare and --output go with one number of --bytes")
        raise typer.Exit(0 if _sizes(file, several, json, network, task) else 1)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task, bytes)
        asked = {name: getattr(schedule, name) for name in ("network", "task", "switching", "rules", "cost")}
        kind = switching.of(schedule)
        stage("verifying")
        found = kind.verify(schedule, limit)
        timed = network is not None and isinstance(schedule.cost, Clock)
        bound = least = None
        if bytes is not None or timed:
            stage("computing lower bounds")
            least = least_seconds(schedule)
        if (network is not None or compare) and not (timed and least is not None):
            bound = planner.lower_bounds(**asked)[0]
        if compare:
            stage("planning the same")
        if timed:  # in any number of packets
            asked |= {"task": in_packets(schedule.task, 1), "cost": TimeCost(schedule.cost.asked_bytes)}
        own = planner.plan(**asked).schedule if compare else None
        if output is not None:
            stage(f"writing {output}")
            schedule.save(output)
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
                **(
                    {}
                    if least is None
                    else {"bound_seconds": float(least.value), "bound_name": least.name, "bound_scope": least.scope}
                ),
                **({} if own is None else {"own_time": float(own.completion_time), "own_algorithm": own.algorithm}),
                "hops": found.hops,
                "seconds": found.seconds,
            }
        )
    else:
        time = schedule.completion_time
        told = measured_text(kind, schedule.network, in_packets(schedule.task, 1), schedule.cost, time)
        print_summary(told, "")
        if isinstance(schedule.cost, Clock):
            print(schedule.cost.describe())
        print(found)
        if bound is not None and found.ok:
            ratio = float(schedule.completion_time / bound.value) if bound.value else 1.0
            holds = f", for {bound.scope}" if bound.scope else ""
            least_text = kind.time_text(schedule.cost, bound.value)
            print(f"{ratio:.4g} x the lower bound {least_text} ({bound.name}{holds})")
        if least is not None and found.ok:
            ratio = float(schedule.cost.seconds(schedule.completion_time) / least.value) if least.value else 1.0
            text = f"{ratio:.4g} x the lower bound {seconds_text(least.value)} ({least.name})"
            print(f"{text}, however messages are segmented")
        if own is not None and found.ok:
            took, best = schedule.completion_time, own.completion_time
            if isinstance(own.cost, Clock):
                took, best = schedule.cost.seconds(took), own.cost.seconds(best)
            word = "the same time as" if took == best else "faster than" if took < best else "slower than"
            print(f"{word} what is planned here: {kind.time_text(own.cost, own.completion_time)} by {own.algorithm}")
    raise typer.Exit(0 if found.ok else 1)


def _certified(file: Path, json: bool) -> int:
    """Check a certificate by the program that shares nothing with this one, and return its exit status."""
    import gossamer_check
    from gossamer.reading.files import guarded

    with guarded(file):
        content = file.read_bytes()
    try:
        told, refused = gossamer_check.check(content), ""
    except gossamer_check.Refused as error:
        told, refused = [], str(error)
    if json:
        print_json({"file": str(file), "accepted": not refused, "refused": refused, "lines": told})
    else:
        print(*told or [f"refused: {refused}"], sep="\n", file=sys.stderr if refused else sys.stdout)
    return int(bool(refused))


def _sizes(file: Path, sizes: list[int], json: bool, network: str | None, task: str | None) -> bool:
    """Print what a schedule in seconds takes for several numbers of bytes, beside bounds; whether all are valid."""
    from gossamer.atomic_files import bandwidth_text, bytes_text, seconds_text
    from gossamer.interchange import import_schedule
    from gossamer.planning import switching
    from gossamer.planning.plan_resizing import least_seconds, resized
    from gossamer.questions.costs import Clock
    from gossamer.questions.tasks import packets_of

    rows: list[dict[str, Any]] = []
    with progress() as stage:
        stage(f"reading {file}")
        plan = read_schedule(file, network, task, None if network is None else str(sizes[0]))
        for count in sizes:
            stage(f"{bytes_text(count)}: repeating, verifying and bounding")
            schedule = resized(plan, count) if network is None else import_schedule(file, network, task, count)
            clock, slots, least = schedule.cost, schedule.completion_time, least_seconds(schedule)
            assert isinstance(clock, Clock)
            time, rate = clock.seconds(slots), clock.bandwidth(slots)
            rows.append({
                "bytes": count,
                "seconds": float(time),
                "algorithm_bandwidth": None if rate is None else float(rate),
                "bound_seconds": None if least is None else float(least.value),
                "ratio": None if least is None or not least.value else float(time / least.value),
                "packets": packets_of(schedule.task),
                "generations": schedule.generations,
                "valid": bool(switching.of(schedule).verify(schedule, 1)),
            })  # fmt: skip
    if json:
        print_json(rows)
    else:
        print(f"{plan.task.word} on {plan.network.spec}, by {plan.algorithm}, for other sizes")
        print(f"{'bytes':>10} {'time':>10} {'bandwidth':>11} {'x bound':>8} {'packets':>8} {'generations':>12}  valid")
        for row in rows:
            rate, ratio = row["algorithm_bandwidth"], row["ratio"]
            told = "-" if rate is None else bandwidth_text(rate)
            beside = "-" if ratio is None else f"{ratio:.3f}"
            valid = "yes" if row["valid"] else "no"
            print(
                f"{bytes_text(row['bytes']):>10} {seconds_text(row['seconds']):>10} {told:>11} {beside:>8} "
                f"{row['packets']:>8,} {row['generations']:>12,}  {valid}"
            )
    return all(row["valid"] for row in rows)


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
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Schedule file that plan --output wrote, or of another tool; with --algorithm a network, by default a"
            " small one.",
            metavar="FILE",
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Argument(
            help="Network of a schedule of another tool; with --algorithm the task, by default the first it covers.",
            metavar="[NETWORK]",
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="Explain this algorithm on a network instead: idea, some slots, bound, source, steps of the code. "
            "A name of 'gossamer list algorithms', or ring, tree, bruck, rabenseifner, ...",
            metavar="NAME",
        ),
    ] = None,
    slot: Annotated[
        str | None,
        typer.Option(
            "--slot",
            "--step",
            metavar="N",
            help="Who sends what to whom in this slot, or wormhole step; also several, such as 1-8 or 0,7.",
        ),
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(
            "--rank", "--node", help="What this node sends and gets: a number, or coordinates.", metavar="NODE"
        ),
    ] = None,
    message: Annotated[int | None, typer.Option(help="The way of the message of this number.", metavar="N")] = None,
    slots: Annotated[
        bool, typer.Option("--slots", help="What happens slot by slot; --slots 1-8 is --slot 1-8.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Plan no changes, and compare no usual algorithms.")] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            help="Seconds for planning changes. Default: 60, and none on large networks.",
            metavar="SECONDS",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        written("Page to write: .html, .md or .txt; or its picture alone, .svg, .png or .pdf", several=False),
    ] = None,
    limit: Limit = 100,
    network: Foreign = None,
    task: Collective = None,
    bytes: OtherBytes = None,
    json: Json = False,
) -> None:
    """Say what limits a schedule, where its time goes and what would help; or how an algorithm works."""
    if algorithm is not None:
        from gossamer.planning.explaining import MOST_SLOTS

        shown = MOST_SLOTS if slots else 4 if slot is None else slot
        _explain_algorithm(algorithm, None if file is None else str(file), of or task, shown, output, json)
        return
    if file is None:
        raise ScheduleError("Missing argument 'FILE': a schedule that plan -o wrote")
    if of is not None and file.suffix.lower() not in FOREIGN:
        raise ScheduleError(f"{of!r} goes with --algorithm; a schedule is explained by its file alone")
    network = network_of(network, of)
    from gossamer.atomic_files import check_writable
    from gossamer.planning import explaining
    from gossamer.reading import whole
    from gossamer.reading.values import fraction

    whole(limit, "--limit", 1, None, error=ScheduleError)
    if budget is not None:
        budget = float(fraction(budget, "--budget", allowed="a number of seconds that is 0 or more"))
    part = slots or (slot, rank, message) != (None, None, None)
    if part and (output or quick or budget is not None):
        raise ScheduleError(
            "--output, --quick and --budget go with the page, not with --slot, --rank, --message, --slots"
        )
    if quick and budget is not None:
        raise ScheduleError("--quick plans nothing, so that --budget does not go with it")
    if output is not None:
        if output.suffix.lower() not in (".html", ".md", ".txt", ".svg", ".png", ".pdf"):
            raise FileFormatError(f"{str(output)!r} is of no known kind; a page is .html, .md or .txt, a picture .svg")
        check_writable(output)
        hush_libraries()
    numbers = None if slot is None else explaining.slots_asked(slot)
    with progress() as stage:
        stage(f"reading {file}")
        schedule = read_schedule(file, network, task, bytes)
        stage("explaining")
        found = explaining.explain(
            schedule, slot=numbers, rank=rank, message=message, slots=slots, quick=quick, budget=budget, progress=stage
        )
        if output is not None and isinstance(found, explaining.Advice):
            stage(f"writing {output}")
            files = found.save(output)
    if isinstance(found, explaining.Advice):
        if json:
            print_json(found.to_dict())
        elif output is None:
            print(found)
        else:
            for path in files:
                print_written(path)
        return
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


def _explain_algorithm(
    name: str, network: str | None, task: str | None, slots: int | str, output: Path | None, json: bool
) -> None:
    """Explain an algorithm on a network, in the terminal or as a page."""
    from gossamer.atomic_files import check_writable
    from gossamer.planning.explaining.algorithms import explain_algorithm
    from gossamer.planning.usual_algorithms import example_network
    from gossamer.questions.tasks.parsing import kind_of

    if output is not None:
        check_writable(output)
    if network is not None and task is None and not Path(network).exists():
        with suppress(TaskError):  # a task alone
            network, task = (None, network) if kind_of(network) else (network, None)
    with progress() as stage:
        stage(f"explaining {name}")
        if network is None:
            network = example_network(name, task)
            words = " ".join(filter(None, ["gossamer explain --algorithm", name, "NETWORK", task]))
            print_error(f"assumed: {network}, as no network is named; to change it: {words}")
        found = explain_algorithm(name, network, task, slots=slots)
        if output is not None:
            from gossamer.plots import write_page

            stage(f"drawing {output}")
            files = write_page(found, output)
    if json:
        print_json(found.to_dict())
    elif output is None:
        print(found)
    else:
        for path in files:
            print_written(path)
