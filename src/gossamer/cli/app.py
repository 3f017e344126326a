"""The commands and their options; each imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli import options as completing
from gossamer.cli.broadcasting import dynamic, schemes
from gossamer.cli.command_group import WIDTH, Commands, dressed
from gossamer.cli.compile import command as compile_all
from gossamer.cli.designing import command as design
from gossamer.cli.doctor import doctor, manual
from gossamer.cli.export import export, formats, run, simulate
from gossamer.cli.options import Json, NetworkArgument, Words, fails, fills, pictured
from gossamer.cli.showing import draw, explain, explore, import_foreign, verify
from gossamer.cli.sweeping import commands as sweep_commands
from gossamer.cli.wormhole import commands as wormhole_commands

__all__ = ["app"]

app = typer.Typer(
    name="gossamer",
    cls=Commands,
    help="Collective communication on interconnection networks: verified schedules beside lower bounds.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH, "color": True},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(wormhole_commands)
app.add_typer(sweep_commands)

_SWITCHES = ("cut_through", "replication", "reduction")


def _flag(name: str) -> str:
    word = name.replace("_", "-")
    return f"--{word}/--no-{word}"


_FLAGS = {"split": "--split/--whole", **{name: _flag(name) for name in _SWITCHES}}
_SEARCHING = "How to search"
TASK = (Words("questions/tasks/parsing.py", "TaskWords", heading="The task"),)
RULES = (
    Words("questions/rules.py", "Rules", flags=_FLAGS, heading="Rules that schedules obey"),
    Words("questions/costs.py", "StepCost", heading="Cost in steps"),
    Words("questions/costs.py", "TimeCost", heading="Cost in seconds"),
    Words("questions/costs.py", "LinearCost", heading="Cost of wormhole messages"),
)
_PLAN = ("algorithm", "effort", "memory", "budget", "stream", "seed", "jobs")
SEARCH = (Words("planning/planner.py", "plan", _PLAN, {"stream": "--stream"}, _SEARCHING),)
RANKING = (Words("planning/planner.py", "plan", ("effort", "memory", "budget", "seed"), heading=_SEARCHING),)
TaskArgument = Annotated[
    str,
    typer.Argument(
        help="Task, such as allgather; see 'gossamer tasks'.", metavar="TASK", autocompletion=completing.tasks
    ),
]
SwitchingOption = Annotated[
    str, typer.Option(help="store-and-forward, or wormhole messages on dimension-ordered paths.", metavar="NAME")
]
OptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", help="An option that the algorithm must be used with, such as h=5; may be repeated.", metavar="K=V"
    ),
]
PlanOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the schedule (.parquet, .txt) or a picture of its load (.svg, .png, .pdf); may be repeated.",
        metavar="FILE",
    ),
]
SizesOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Draw time and bandwidth against several --bytes (.svg, .png, .pdf); may be repeated.",
        metavar="FILE",
    ),
]
FaultsOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", help="Write a line for each failure (.csv, .parquet, .json); may be repeated.", metavar="FILE"
    ),
]
ReproduceOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Also draw the source's curves (.svg, .png, .pdf), or what its text describes (a "
        "folder); may be repeated.",
        metavar="FILE",
    ),
]


def _version(shown: bool) -> None:
    if shown:
        from gossamer.version import __version__

        print(f"gossamer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options before the command."""


@app.command()
@fails
@pictured
@fills(task_words=TASK, rules=RULES, search=SEARCH)
def plan(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    search: dict[str, Any],
    options: OptionsOption = None,
    output: PlanOutput = None,
    explore: Annotated[
        Path | None, typer.Option(help="Write a page on which the schedule can be explored (.html).", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Plan a task, or a job of several (a .toml file): a verified schedule beside its bounds."""
    from gossamer.cli import planning

    if task.lower().endswith(".toml"):
        planning.plan_job(network, task, switching, task_words, rules, output or [], json, search)
        return
    asked = planning.asked(network, task, switching, task_words, rules, search.get("seed", 0))
    planning.plan(asked, planning.options(options), output or [], explore, json, search)


@app.command()
@pictured
def replan(
    file: Annotated[Path, typer.Argument(help="Schedule file that plan --output wrote.", metavar="FILE")],
    *,
    without: Annotated[
        list[str],
        typer.Option("--without", help="Links that fail: links:0-1,5-6 or random-links:2; repeatable.", metavar="WHAT"),
    ],
    seed: Annotated[int, typer.Option(help="For links at random, and the order of what is led elsewhere.")] = 0,
    output: PlanOutput = None,
    json: Json = False,
) -> None:
    """Repair a schedule after links failed, instead of planning anew."""
    from gossamer.cli import planning

    planning.replan(file, without, seed, output or [], json)


@app.command()
@fails
@pictured
@fills(
    task_words=TASK, rules=RULES, search=RANKING, spread=(Words("studies/sweeps/sizes.py", "compare_sizes", ("jobs",)),)
)
def compare(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    search: dict[str, Any],
    spread: dict[str, Any],
    options: OptionsOption = None,
    output: SizesOutput = None,
    json: Json = False,
) -> None:
    """Rank every algorithm that covers a task, and say why the others do not; for each of several --bytes the best."""
    from gossamer.cli import planning

    if set(str(rules.get("bytes", ""))) & set(":,"):
        planning.compare_sizes(
            planning.asked(network, task, switching, task_words, {**rules, "bytes": 1}, search.get("seed", 0)),
            rules,
            planning.options(options),
            output or [],
            json,
            {**search, **spread},
        )
        return
    if spread:
        raise typer.BadParameter("several --bytes can be compared at once, such as 1KiB:1GiB", param_hint="'--jobs'")
    if output:
        raise typer.BadParameter("a picture is of several sizes, such as --bytes 1KiB:1GiB", param_hint="'--output'")
    asked = planning.asked(network, task, switching, task_words, rules, search.get("seed", 0))
    planning.compare(asked, planning.options(options), json, search)


@app.command()
@fails
@fills(task_words=TASK, rules=RULES, search=(Words("planning/planner.py", "plan", ("seed",)),))
def bounds(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    search: dict[str, Any],
    json: Json = False,
) -> None:
    """Print every lower bound and say which binds."""
    from gossamer.cli import planning

    planning.bounds(planning.asked(network, task, switching, task_words, rules, search.get("seed", 0)), json)


@app.command()
@fails
@fills(task_words=TASK, search=(Words("planning/planner.py", "plan", ("seed",)),))
def demands(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    search: dict[str, Any],
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Write rows (.csv, .parquet, .json) or a matrix (.npy, .mtx, .mtx.gz); may be repeated.",
            metavar="FILE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a task as a table of demands or a traffic matrix."""
    from gossamer.cli import describing

    describing.demands(network, task, task_words, search.get("seed", 0), output or [], json)


@app.command()
@fails
@fills(
    task_words=TASK,
    failing=(Words("studies/sweeps/faults.py", "faults", ("links", "sample", "save", "jobs")),),
    rules=RULES,
    search=(Words("planning/planner.py", "plan", ("algorithm", "effort", "memory", "budget", "seed")),),
)
def faults(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    failing: dict[str, Any],
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    search: dict[str, Any],
    options: OptionsOption = None,
    output: FaultsOutput = None,
    json: Json = False,
) -> None:
    """Plan a task without each cable of the network: the worst and the mean slowdown."""
    from gossamer.cli import faults as failures
    from gossamer.cli import planning

    asked = planning.asked(network, task, switching, task_words, rules, search.get("seed", 0))
    failures.faults(asked, failing, planning.options(options), output or [], json, search)


app.command()(dynamic)
app.command()(schemes)


@app.command()
@pictured
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="What to reproduce: varvarigos-bertsekas, yeh-varvarigos-lee, chen-chen, han or dimakopoulos.",
            metavar="NAME",
        ),
    ],
    only: Annotated[
        str | None,
        typer.Option(help="Tables and figures by name, such as family-q,routers; default all.", metavar="NAMES"),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Tables computed at once.", metavar="N")] = 1,
    output: ReproduceOutput = None,
    json: Json = False,
) -> None:
    """Reproduce a paper's tables: claimed, measured, bound."""
    from gossamer.cli import reproducing

    reproducing.reproduce(name, output or [], json, jobs, only)


@app.command()
@fails
@pictured
def network(
    network: NetworkArgument,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the network (.edges, .json, .graphml, .dot) or draw it (.svg, .png, .pdf); may be repeated.",
            metavar="FILE",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="For failures at random.")] = 0,
    json: Json = False,
) -> None:
    """Say what a network is: sizes, structure, symmetry, bottleneck, speeds; draw it, convert it."""
    from gossamer.cli import describing

    describing.network(network, output or [], json)


@app.command()
def networks(json: Json = False) -> None:
    """List the families of networks."""
    from gossamer.cli import describing as tables

    tables.networks(json)


@app.command()
def tasks(json: Json = False) -> None:
    """List the tasks with their modern names."""
    from gossamer.cli import describing as tables

    tables.tasks(json)


@app.command()
@fails
@fills(rules=RULES[:1])
def algorithms(
    *,
    network: Annotated[str | None, typer.Option(help="Show only what covers this network.", metavar="NETWORK")] = None,
    task: Annotated[str | None, typer.Option(help="Show only what carries out this task.", metavar="TASK")] = None,
    switching: SwitchingOption = "store-and-forward",
    rules: dict[str, Any],
    json: Json = False,
) -> None:
    """List the algorithms and their sources."""
    from gossamer.cli import describing as tables
    from gossamer.planning.planner import rules_and_cost

    rules_asked = rules_and_cost(switching, rules).get("rules")
    tables.algorithms(network, task, switching, rules_asked, json)


for handed in (verify, pictured(draw), explore, explain, export, formats, run, pictured(simulate)):
    app.command()(handed)
app.command("import")(import_foreign)
app.command("design")(design)
app.command("compile")(compile_all)
app.command("doctor")(doctor)
app.command("manual")(manual)
dressed(app)
