"""``gossamer compare`` and ``gossamer bounds``: what there is for a task, and what nothing can beat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.console import print_entries, print_json, print_rows, progress
from gossamer.cli.options import Json, Options, Question, Words, asks, pictured, planner_words, written
from gossamer.cli.plan import algorithm_options
from gossamer.errors import ModelError

if TYPE_CHECKING:
    from fractions import Fraction

    from gossamer.bounds import Bound

__all__ = ["bounds", "compare"]

SizesOutput = Annotated[
    list[Path] | None, written("Draw time and bandwidth against several --bytes (.svg, .png, .pdf)")
]


@pictured
@asks(
    search=planner_words("effort", "memory", "budget"),
    spread=(Words("studies/sweeps/message_sizes.py", "compare_sizes", ("jobs",), "Search"),),
)
def compare(
    question: Question,
    *,
    search: dict[str, Any],
    spread: dict[str, Any],
    options: Options = None,
    output: SizesOutput = None,
    json: Json = False,
) -> None:
    """Rank every algorithm that covers a task, and say why the others do not; for each of several --bytes the best."""
    from gossamer.planning import planner
    from gossamer.studies.reproductions.table import Table

    how = {"options": algorithm_options(options), "seed": question.seed, **search}
    if set(str(question.rules.get("bytes", ""))) & set(":,"):
        _compare_sizes(question, {**how, **spread}, output or [], json)
        return
    if spread:
        raise typer.BadParameter("several --bytes can be compared at once, such as 1KiB:1GiB", param_hint="'--jobs'")
    if output:
        raise typer.BadParameter("a picture is of several sizes, such as --bytes 1KiB:1GiB", param_hint="'--output'")
    asked = question.read()
    with progress() as stage:
        found = planner.compare(**asked, **how, progress=stage)
    if json:
        print_json(found.to_dict())
        return
    case, best = found.case, found.best
    print(f"{case.task.describe()} on {case.network.spec}, {best.switching.describe(case)}")
    bound = best.bounds[0].text if best.bounds else best.bound_name
    print(f"lower bound {best.switching.time_text(case.cost, best.bound)} ({bound})\n")
    print(Table("", *found.table()).text().lstrip())
    if found.refusals:
        print("\nThe others do not cover it:")
        print_rows((f"  {name}", why) for name, why in found.refusals.items())
    if stars := [row for row in found.remarks() if row[0] == "optimal*"]:
        print_rows(stars)
    if found.stopped:
        print(f"\nstopped: {found.stopped}")


def _compare_sizes(question: Question, how: dict[str, Any], output: list[Path], json: bool) -> None:
    """Compare the algorithms for several numbers of bytes, print the best of each and where the best changes."""
    from gossamer.atomic_files import check_writable
    from gossamer.plots.picture_files import picture_format
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps.message_sizes import compare_sizes

    asked, given = question.read(bytes=1), question.rules
    if asked.pop("switching") != "store-and-forward":
        raise ModelError("--bytes of several sizes go with --switching store-and-forward")
    for path in output:
        picture_format(path)
        check_writable(path)
    asked["cost"] = {name: value for name, value in given.items() if name in ("counting", "bandwidth", "latency")}
    with progress() as stage:
        found = compare_sizes(asked.pop("network"), asked.pop("task"), given["bytes"], progress=stage, **asked, **how)
        case = found.comparisons[0].case
        title = f"{case.task.describe()} on {case.network.spec}"
        for path in output:
            from gossamer.plots.curves import draw_results, sizes_figure

            stage(f"writing {path}")
            draw_results(sizes_figure, found, path, title)
    if json:
        print_json(found.to_dict())
        return
    print(f"{title}, ports {case.rules.ports}\n")
    print(Table("", *found.table()).text().lstrip())
    for name, text in found.remarks():
        print(text if name == "crossover" else f"{name}: {text}")
    print_rows([], output)


@asks()
def bounds(question: Question, *, json: Json = False) -> None:
    """Print every lower bound and say which binds."""
    from gossamer.planning import planner, switching

    asked = question.read()
    network, task, kind = asked["network"], asked["task"], switching.named(question.switching)
    with progress() as stage:
        stage("computing lower bounds")
        case = kind.case(network, task, asked.get("rules"), asked.get("cost"), 0)
        found = planner.lower_bounds(**asked)
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
                    | {"scope": b.scope, "witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print(f"{task.describe()} on {network.spec}, {kind.describe(case)}: lower bounds in {case.cost.unit}s\n")
    most = found[0].value
    print_entries((f"{b.value_text:>8}", [f"{b.name}{_mark(b, most)}", b.witness, b.source]) for b in found)


def _mark(bound: Bound, most: Fraction) -> str:
    """Return whether a bound binds what was asked, and for which schedules it holds if not for all."""
    return f"{'  (binds)' * (bound.value == most)}{f'  [{bound.scope}]' * bool(bound.scope)}"
