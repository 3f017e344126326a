"""``gossamer plan``, ``gossamer replan`` and ``gossamer faults``: plans, repairs, and a plan for every failure."""

from __future__ import annotations

import dataclasses
import functools
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_error, print_json, print_rows, print_summary, progress, typed
from gossamer.cli.files import check_certificate, check_plan, is_picture, save_plan, write_json
from gossamer.cli.options import (
    Certificate,
    Json,
    Options,
    Question,
    ScheduleFile,
    Seed,
    SizesKind,
    Verbose,
    Words,
    asks,
    pictured,
    planner_words,
    read_network,
    written,
)
from gossamer.errors import FileFormatError, GossamerError, ModelError

_SHOWN = 10
"""Failures that are printed."""
_MANY = 20
"""Failures from which on their number is said before they are planned."""
_ROOM = 94
"""Characters that a command which is proposed has beside its label, so that a comment is added."""

PlanOutput = Annotated[
    list[Path] | None,
    written(
        "Write the schedule (.parquet, .txt), a picture of its load (.svg, .png, .pdf) or a page to explore it (.html)"
    ),
]
FaultsOutput = Annotated[list[Path] | None, written("Write a line for each failure (.csv, .parquet, .json)")]


def algorithm_options(given: list[str] | None) -> dict[str, Any]:
    """Return the options of an algorithm from words such as ``h=5``."""
    found: dict[str, Any] = {}
    for text in given or []:
        name, sign, value = text.partition("=")
        if not name or not sign or not value:
            raise ModelError(f"--option must be a name and a value such as h=5, got {text!r}")
        found[name] = int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else value
    return found


@pictured
@asks(search=planner_words("algorithm", "effort", "memory", "budget", "stream", "jobs"))
def plan(
    question: Question,
    *,
    search: dict[str, Any],
    options: Options = None,
    output: PlanOutput = None,
    kind: SizesKind = None,
    certificate: Certificate = None,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Plan a task, or a job of several (a .toml file): a verified schedule beside its bounds, at one size or more."""
    from gossamer.networks.network import Failed
    from gossamer.planning import planner

    if certificate is not None:
        if question.task.lower().endswith(".toml") or several_sizes(question):
            raise ModelError("--certificate goes with the plan of one task at one size")
        check_certificate(certificate)
    if question.task.lower().endswith(".toml"):
        _plan_job(question, output or [], json, verbose, search)
        return
    if several_sizes(question):
        how = {"options": algorithm_options(options), "seed": question.seed, **search}
        print_sizes(question, "plan_sizes", how, output or [], json, kind)
        return
    if kind is not None:
        raise ModelError("--kind goes with several --bytes, such as 1KiB:1GiB; 'gossamer draw' has other pictures")
    asked = question.read()
    how = {"options": algorithm_options(options), "seed": question.seed, **search}
    if (output or certificate) and search.get("stream"):
        option = "--output" if output else "--certificate"
        raise ModelError(f"--stream keeps no hops, so there is nothing to write with {option}")
    files = check_plan(output)
    with progress() as stage:
        found = planner.plan(**asked, **how, progress=stage)
        save_plan(found, files, stage, certificate)
        sound = _sound(asked, {**how, "progress": stage}) if asked["network"].find(Failed) else None
    if json:
        print_json({**found.to_dict(), **({} if sound is None else {"sound": sound and sound.to_dict()})})
        return
    print_plan(
        found,
        [*found.rows(verbose), *_sound_rows(found, sound)],
        [*files, *filter(None, [certificate])],
        [typed_again("-o", "plan.parquet")],
    )


def print_plan(found: Any, rows: Iterable[tuple[str, str]], files: list[Path], others: Iterable[str]) -> None:
    """Print a plan: the sentence, a table, and what one could type next; `others` where no schedule was written."""
    print_summary(found.summary)
    print_rows(rows, files)
    print_next(found, files, others)


def print_next(found: Any, files: list[Path], others: Iterable[str]) -> None:
    """Print commands that go on with a plan that was written to files, or `others` where no schedule was written."""
    written = next((file for file in files if file.suffix.lower() in (".parquet", ".txt")), None)
    if found.schedule is not None:
        commands = list(others) if written is None else next_commands(found, written)
        print("\n".join(f"{'next:' if place == 0 else '':<6}{line}" for place, line in enumerate(commands)))


def next_commands(found: Any, file: Path) -> list[str]:
    """Return commands that go on with a schedule that was written to a file.

    `found`: what was planned. `file`: the schedule file.
    """
    from gossamer.errors import ScheduleError
    from gossamer.graphs.modulo_scheduling import Generation
    from gossamer.questions.tasks import PartialSumAllreduce, includes

    def command(*words: str) -> str:
        return shlex.join(["gossamer", *words])

    commands = [
        command("explain", str(file)),
        command("draw", str(file), "-o", str(file.with_suffix(".svg"))),
    ]
    if found.clock is not None:
        sums = includes(found.schedule.task, PartialSumAllreduce)  # which may depend on when they are sent
        if found.clock.asked_bytes and (not sums or found.schedule.repetition is not None):
            with suppress(ScheduleError):
                Generation(found.schedule)  # it can be repeated
                commands.append(command("verify", str(file), "--bytes", "1KiB:1GiB"))
    else:
        simulation = "wormhole" if found.schedule.switching == "wormhole" else "schedule"
        commands.append(command("simulate", simulation, str(file)))
    return commands


def typed_again(*words: str) -> str:
    """Return the command that was typed, with further words; and what is to come then, as a comment."""
    kept = [word for word in typed if word not in ("-v", "--verbose")]
    line = shlex.join(["gossamer", *kept, *words])
    told = f"{line}  # to explain, draw or export it"
    return told if len(told) <= _ROOM else line


def several_sizes(question: Question) -> bool:
    """Return whether --bytes names several sizes."""
    text = str(question.rules.get("bytes", ""))
    return bool(set(text) & set(":,")) or ".." in text


def print_sizes(
    question: Question, function: str, how: dict[str, Any], output: list[Path], json: bool, kind: str | None = None
) -> None:
    """Plan or compare for several numbers of bytes, print what is best for each and where that changes."""
    from gossamer.atomic_files import check_writable, whole_file, write_latex
    from gossamer.plots.picture_files import picture_format
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps import message_sizes

    asked, given = question.read(bytes=1), question.rules
    if asked.pop("switching") != "store-and-forward":
        raise ModelError("--bytes of several sizes go with --switching store-and-forward")
    tuned = (".conf", ".csv") if function == "plan_sizes" and how.get("usual") else ()
    for path in output:
        if path.suffix.lower() not in (".tex", *tuned):
            picture_format(path)
        check_writable(path)
    fields = ("counting", "bandwidth", "latency", "overhead", *(("form", "whole") if function == "plan_sizes" else ()))
    asked["cost"] = {name: getattr(asked["cost"], name) for name in fields}
    with progress() as stage:
        make = getattr(message_sizes, function)
        found = make(asked.pop("network"), asked.pop("task"), given["bytes"], progress=stage, **asked, **how)
        case = found.best[0].case
        what = question.task if function == "plan_sizes" else case.task.describe()
        title = f"{what} on {case.network.spec}"
        for path in output:
            from gossamer.plots.curves import draw_results, sizes_figure, sizes_tikz

            stage(f"writing {path}")
            if path.suffix.lower() in tuned:
                from gossamer.interchange import write_tuner

                write_tuner(found, path)
            elif path.suffix.lower() != ".tex":
                draw_results(functools.partial(sizes_figure, kind=kind), found, path, title)
            elif kind is None:
                write_latex(path, [found.table()], title)
            else:
                with whole_file(path) as part:
                    part.write_text(sizes_tikz(found, title, kind), encoding="utf-8")
    if json:
        print_json(found.to_dict())
        return
    print(f"{title}, {case.rules.ports_text}\n")
    print(Table("", *found.table()).text().lstrip())
    for name, text in found.remarks():
        print(text if name == "crossover" else f"{name}: {text}")
    print_rows([], output)


def _sound(asked: dict[str, Any], how: dict[str, Any]) -> Any:
    """Plan the same on the network before something failed; None where there is no such task, or no algorithm."""
    import numpy as np

    from gossamer.networks.network import Failed
    from gossamer.planning import planner

    network, task = asked["network"], asked["task"]
    known = network.find(Failed)
    try:
        if known.nodes.size < known.sound.node_count or network.terminal_count < known.sound.terminal_count:
            task = task.renamed(lambda x: known.nodes[x].astype(np.int64))
        return planner.plan(**{**asked, "network": known.sound, "task": task}, **how)
    except (GossamerError, IndexError, ValueError):
        return None


def _sound_rows(found: Any, sound: Any) -> list[tuple[str, str]]:
    """Return the row that sets an outcome beside that on the sound network."""
    from gossamer.networks.network import Failed

    known = found.case.network.find(Failed)
    if known is None:
        return []
    if sound is None:
        return [("no failures", f"{known.sound.spec}: not planned")]
    time = sound.switching.time_text(sound.case.cost, sound.completion_time)
    before, after = (o.completion_time if o.seconds is None else o.seconds for o in (sound, found))
    slower = f"; {float(after / before):.4g} times as long without {known.words}" if before else ""
    return [("no failures", f"{time}, by {sound.algorithm}{slower}")]


def _plan_job(question: Question, output: list[Path], json: bool, verbose: bool, search: dict[str, Any]) -> None:
    """Plan a job, print the schedule of all its collectives and the times of each, and write it or its timeline."""
    from gossamer.planning.collective_jobs import plan_job
    from gossamer.planning.planner import as_usual
    from gossamer.questions.rules import Rules
    from gossamer.questions.tasks.job import read_job
    from gossamer.studies.reproductions.table import Table

    given = question.rules
    if question.switching != "store-and-forward" or question.task_words or "stream" in search:
        raise ModelError("a job takes no options of a task, no --stream, and goes with store-and-forward switching")
    if "bytes" in given:
        raise ModelError("a job says itself how many bytes its collectives have; leave --bytes out")
    speeds = ("bandwidth", "latency", "overhead")
    known = {field.name for field in dataclasses.fields(Rules)} | set(speeds)
    if other := [f"--{name.replace('_', '-')}" for name in given if name not in known]:
        raise ModelError(f"a job takes rules, --bandwidth, --latency and --overhead; leave out {', '.join(other)}")
    if any(path.suffix.lower() == ".html" for path in output):
        raise FileFormatError("a job is shown by no page; write its schedule with -o, and explore that")
    files = check_plan(output)
    net = read_network(question.network)
    job = read_job(question.task, net)
    cost = {name: value for name, value in given.items() if name in speeds}
    rules = Rules(**{name: value for name, value in given.items() if name not in cost}, **as_usual(net, given))
    with progress() as stage:
        found = plan_job(net, job, cost=cost, rules=rules, seed=question.seed, progress=stage, **search)
        for file in filter(is_picture, files):
            from gossamer.plots.curves import draw_results, job_figure

            stage(f"writing {file}")
            title = f"{len(found.collectives)} collectives on {found.outcome.case.network.spec}"
            draw_results(job_figure, found, file, title)
        save_plan(found.outcome, [file for file in files if not is_picture(file)], stage)
    if json:
        print_json(found.to_dict())
        return
    print_summary(found.summary)
    print_rows(found.outcome.rows(verbose), files)
    print("\n" + Table("", *found.table()).text().lstrip() + "\n")
    print_next(found.outcome, files, [typed_again("-o", "plan.parquet")])


@pictured
def replan(
    file: ScheduleFile,
    *,
    without: Annotated[
        list[str],
        typer.Option(
            "--without",
            help="Links that fail: links:0-1,5-6 or random-links:2; may be repeated.",
            metavar="WHAT",
            rich_help_panel="Network",
        ),
    ],
    repair_only: Annotated[
        bool,
        typer.Option(
            "--repair-only",
            help="Take the repair as it is, which is quicker, but may come out later than what is planned anew.",
            rich_help_panel="Search",
        ),
    ] = False,
    seed: Seed = 0,
    output: PlanOutput = None,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Repair a schedule after links failed, or plan again where that is better."""
    from gossamer.networks.derived import without as left
    from gossamer.planning import replanning, switching

    files = check_plan(output)
    before = switching.load(file)
    with progress() as stage:
        failed = left(before.network, without, seed)
        found = replanning.replan(before, failed, repair_only=repair_only, seed=seed, progress=stage)
        save_plan(found, files, stage)
    if json:
        print_json(found.to_dict() | {"before": float(before.completion_time)})
        return
    time = found.switching.time_text(before.cost, before.completion_time)
    told = f"{time} on {before.network.spec}, by {before.algorithm}"
    print_plan(found, [*found.rows(verbose), ("before", told)], files, [typed_again("-o", "repaired.parquet")])


@asks(
    failing=(Words("studies/sweeps/link_failures.py", "faults", ("links", "sample", "save", "jobs"), "Search"),),
    search=planner_words("algorithm", "effort", "memory", "budget"),
)
def faults(
    question: Question,
    *,
    failing: dict[str, Any],
    search: dict[str, Any],
    options: Options = None,
    output: FaultsOutput = None,
    json: Json = False,
) -> None:
    """Plan a task without each cable of the network: the worst and the mean slowdown."""
    from gossamer.atomic_files import check_writable, written_together
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps import TABLE_FORMATS, table_format, write_table
    from gossamer.studies.sweeps.link_failures import faults as plan_faults
    from gossamer.studies.sweeps.link_failures import planned_failures

    files = output or []
    for path in files:
        table_format(path, (*TABLE_FORMATS, "json"))
        check_writable(path)
    how = {"options": algorithm_options(options), "seed": question.seed, **failing, **search}
    asked = question.read()
    with progress() as stage:
        stage("looking for failures that are alike")
        sets = {name: value for name, value in failing.items() if name in ("links", "sample")}
        chosen = planned_failures(asked["network"], asked["task"], **sets, seed=question.seed)
        if len(chosen) >= _MANY:
            covered = sum(weight for _, weight in chosen)
            alike = f", which stand for {covered:,}" if covered > len(chosen) else ""
            sentence = f"{len(chosen):,} failures to plan{alike}; Ctrl-C ends the search and shows what was found"
            print_error(f"gossamer: note: {sentence}")
        found = plan_faults(**asked, **how, progress=stage)
        with written_together():
            for path in files:
                stage(f"writing {path}")
                if path.suffix.lower() == ".json":
                    write_json(found.to_dict(), path)
                else:
                    write_table(found.faults, path)
    if json:
        print_json(found.to_dict())
        return
    print_summary(found.summary)
    print_rows(found.rows(), files)
    if len(found.planned) > 1:
        columns = ("without", "stands for", "time", "bound", "slowdown", "algorithm")
        told = tuple(
            (f.links, f"{f.stands_for:,}", *map(found.time_text, (f.time, f.bound)), f"{f.slowdown:.4g}", f.algorithm)
            for f in found.planned[:_SHOWN]
            if f.time is not None and f.bound is not None
        )
        more = len(found.planned) - _SHOWN
        print("\n" + Table("", columns, told).text().lstrip() + (f"\nand {more:,} more" if more > 0 else ""))
