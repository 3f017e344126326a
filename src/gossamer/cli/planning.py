"""``gossamer plan``, ``gossamer compare`` and ``gossamer bounds``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.pictures import check_page
from gossamer.cli.verify import check_schedule_outputs, is_picture
from gossamer.errors import GossamerError, ModelError
from gossamer.networks import as_network
from gossamer.networks.network import Failed, Network
from gossamer.planning.planner import rules_and_cost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.questions.tasks.parsing import asked_task

__all__ = ["Asked", "asked", "bounds", "compare", "compare_sizes", "options", "plan", "replan"]


class Asked(NamedTuple):
    """What the user asked for: a network, a task, and the switching, rules and cost as `gossamer.plan` takes them."""

    network: Network
    task: Task
    choices: dict[str, Any]


def asked(
    network: str | Network, task: str, switching: str, task_words: dict[str, Any], rules: dict[str, Any], seed: int
) -> Asked:
    """Return what the words of the command line ask for."""
    net = as_network(network)
    return Asked(net, asked_task(task, task_words, net, seed), rules_and_cost(switching, rules))


def options(given: list[str] | None) -> dict[str, Any]:
    """Return the options of an algorithm from words such as ``h=5``."""
    found: dict[str, Any] = {}
    for text in given or []:
        name, sign, value = text.partition("=")
        if not name or not sign or not value:
            raise ModelError(f"--option must be a name and a value such as h=5, got {text!r}")
        found[name] = int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else value
    return found


def plan(
    asked: Asked, options: dict[str, Any], output: list[Path], page: Path | None, json: bool, search: dict[str, Any]
) -> None:
    """Plan the case, print what came out, and write it."""
    from gossamer.planning import planner

    if (output or page) and search.get("stream"):
        raise ModelError(
            f"--stream keeps no hops, so there is nothing to write with --{'output' if output else 'explore'}"
        )
    check_schedule_outputs(output)
    if page is not None:
        check_page(page)
    with progress() as stage:
        found = planner.plan(asked.network, asked.task, options=options, progress=stage, **asked.choices, **search)
        for path in output:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots import draw

                draw(found.schedule, path)
            else:
                found.save(path)
        if page is not None:
            from gossamer.explorer import explore

            stage(f"writing {page}")
            explore(found, page)
            output = [*output, page]
        sound = _sound(asked, options, {**search, "progress": stage}) if asked.network.find(Failed) else None
    if json:
        told = {} if sound is None else {"sound": sound and sound.to_dict()}
        print_json({**found.to_dict(), **told})
        return
    rows = [*found.rows(), *_sound_rows(found, sound), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)


def replan(file: Path, without: list[str], seed: int, output: list[Path], json: bool) -> None:
    """Repair the schedule of a file for what is left of its network, print what came out, and write it."""
    from gossamer.networks.derived import without as left
    from gossamer.planning import replanning, switching

    check_schedule_outputs(output)
    before = switching.load(file)
    with progress() as stage:
        found = replanning.replan(before, left(before.network, without, seed), seed=seed, progress=stage)
        for path in output:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots import draw

                draw(found.schedule, path)
            else:
                found.save(path)
    if json:
        print_json(found.to_dict() | {"before": float(before.completion_time)})
        return
    rows = [*found.rows(), ("before", f"{before.network.spec}: {before.completion_time} steps, by {before.algorithm}")]
    print_entries((label, [text]) for label, text in [*rows, *(("wrote", str(path)) for path in output)])


def _sound(asked: Asked, options: dict[str, Any], search: dict[str, Any]) -> Any:
    """Plan the same on the network before something failed; None where there is no such task, or no algorithm."""
    from gossamer.planning import planner

    known = asked.network.find(Failed)
    assert known is not None  # asked only where there is one
    try:
        moved = known.nodes.size < known.sound.node_count or asked.network.terminal_count < known.sound.terminal_count
        task = asked.task.renamed(lambda x: known.nodes[x].astype(np.int64)) if moved else asked.task
        return planner.plan(known.sound, task, options=options, **asked.choices, **search)
    except (GossamerError, IndexError, ValueError):
        return None


def _sound_rows(found: Any, sound: Any) -> list[tuple[str, str]]:
    """Return the row that sets an outcome beside that on the sound network."""
    known = found.case.network.find(Failed)
    if known is None:
        return []
    if sound is None:
        return [("without failures", f"{known.sound.spec}: not planned")]
    time = sound.switching.time_text(sound.case.cost, sound.completion_time)
    before, after = (o.completion_time if o.seconds is None else o.seconds for o in (sound, found))
    slower = f"; {float(after / before):.4g} x as long" if before else ""
    return [("without failures", f"{known.sound.spec}: {time}, by {sound.algorithm}{slower} without {known.words}")]


def plan_job(
    network: str | Network,
    path: str,
    switching: str,
    words: dict[str, Any],
    given: dict[str, Any],
    output: list[Path],
    json: bool,
    search: dict[str, Any],
) -> None:
    """Plan a job, print the schedule of all its collectives and the times of each, and write it or its timeline."""
    from gossamer.planning.jobs import plan_job
    from gossamer.questions.tasks.job import read_job
    from gossamer.studies.reproductions.table import Table

    if switching != "store-and-forward" or words or "stream" in search:
        raise ModelError("a job takes no options of a task, no --stream, and goes with store-and-forward switching")
    if "bytes" in given:
        raise ModelError("a job says itself how many bytes its collectives have; leave --bytes out")
    known = {field.name for field in dataclasses.fields(Rules)} | {"bandwidth", "latency"}
    if other := [f"--{name.replace('_', '-')}" for name in given if name not in known]:
        raise ModelError(f"a job takes rules, --bandwidth and --latency; leave out {', '.join(other)}")
    check_schedule_outputs(output)
    net = as_network(network)
    job = read_job(path, net)
    cost = {name: value for name, value in given.items() if name in ("bandwidth", "latency")}
    rules = Rules(**{name: value for name, value in given.items() if name not in cost})
    with progress() as stage:
        found = plan_job(net, job, cost=cost, rules=rules, progress=stage, **search)
        for file in output:
            stage(f"writing {file}")
            if is_picture(file):
                from gossamer.plots.curves import draw_job

                draw_job(found, file)
            else:
                found.outcome.save(file)
    if json:
        print_json(found.to_dict())
        return
    rows = [*found.outcome.rows(), *(("wrote", str(file)) for file in output)]
    print_entries((label, [text]) for label, text in rows)
    print("\n" + Table("", *found.table()).text().lstrip())


def compare(asked: Asked, options: dict[str, Any], json: bool, search: dict[str, Any]) -> None:
    """Compare every algorithm that covers the case, and print the ranking and the refusals."""
    from gossamer.planning import planner
    from gossamer.studies.reproductions.table import Table

    with progress() as stage:
        found = planner.compare(asked.network, asked.task, options=options, progress=stage, **asked.choices, **search)
    if json:
        print_json(found.to_dict())
        return
    case, best = found.case, found.best
    print(f"{case.task.describe()} on {case.network.spec}, {best.switching.describe(case)}")
    bound = f"{best.bound_name}: {best.bounds[0].witness}" if best.bounds else best.bound_name
    print(f"lower bound {best.switching.time_text(case.cost, best.bound)} ({bound})\n")
    print(Table("", *found.table()).text().lstrip())
    if found.refusals:
        print("\nThe others do not cover it:")
        print_entries((f"  {name}", [why]) for name, why in found.refusals.items())
    if found.stopped:
        print(f"\nstopped: {found.stopped}")


def compare_sizes(
    asked: Asked, given: dict[str, Any], options: dict[str, Any], output: list[Path], json: bool, search: dict[str, Any]
) -> None:
    """Compare the algorithms for several numbers of bytes, print the best of each and where the best changes."""
    from gossamer.plots.drawing import picture_format
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps.sizes import compare_sizes, crossover_text
    from gossamer.writing import check_writable

    network, task, choices = asked
    if choices["switching"] != "store-and-forward":
        raise ModelError("--bytes of several sizes go with --switching store-and-forward")
    for path in output:
        picture_format(path)
        check_writable(path)
    cost = {name: value for name, value in given.items() if name in ("counting", "bandwidth", "latency")}
    how = {"rules": choices.get("rules"), "options": options, **search}
    with progress() as stage:
        found = compare_sizes(network, task, given["bytes"], cost=cost, progress=stage, **how)
        for path in output:
            from gossamer.plots.curves import draw_sizes

            stage(f"writing {path}")
            draw_sizes(found, path)
    if json:
        print_json(found.to_dict())
        return
    case = found.comparisons[0].case
    print(f"{case.task.describe()} on {case.network.spec}, ports {case.rules.ports}\n")
    print(Table("", *found.table()).text().lstrip())
    for crossover in found.crossovers:
        print(crossover_text(crossover))
    print_entries(("wrote", [str(path)]) for path in output)


def bounds(asked: Asked, json: bool) -> None:
    """Print every lower bound of the case."""
    from gossamer.planning import planner, switching

    network, task, chosen = asked
    kind = switching.named(chosen["switching"])
    with progress() as stage:
        stage("computing lower bounds")
        case = kind.case(network, task, chosen.get("rules"), chosen.get("cost"), 0)
        found = planner.lower_bounds(network, task, **chosen)
    if json:
        print_json(
            {
                "network": network.spec,
                "task": task.name,
                "task_in_words": task.describe(),
                "switching": kind.name,
                "rules": case.rules.to_dict(),
                "cost": case.cost.to_dict(),
                "unit": case.cost.unit,
                "bounds": [
                    {"name": b.name, "value": float(b.value), "value_exact": str(b.value), "method": b.method}
                    | {"witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print(f"{task.describe()} on {network.spec}, {kind.describe(case)}: lower bounds in {case.cost.unit}s\n")
    most = found[0].value if found else 0
    mark = {True: "  (binds)", False: ""}
    print_entries((f"{b.value!s:>8}", [f"{b.name}{mark[b.value == most]}", b.witness, b.source]) for b in found)
