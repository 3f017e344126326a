"""``gossamer compare`` and ``gossamer bounds``: what there is for a task, and what nothing can beat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.console import print_entries, print_json, print_rows, print_summary, progress, width
from gossamer.cli.files import check_certificate
from gossamer.cli.options import (
    Certificate,
    Json,
    Options,
    Question,
    SizesKind,
    Words,
    asks,
    pictured,
    planner_words,
    written,
)
from gossamer.cli.plan import algorithm_options, print_sizes, several_sizes

if TYPE_CHECKING:
    from fractions import Fraction

    from gossamer.bounds import Bound

SizesOutput = Annotated[
    list[Path] | None,
    written(
        "Write the table for LaTeX (.tex); of several --bytes draw time and bandwidth too (.svg, .png, .pdf), or write "
        "which of NCCL's algorithms is fastest (.conf), for tuner plugins"
    ),
]
TableOutput = Annotated[Path | None, written("Write the bounds as a table for LaTeX (.tex)", several=False)]


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
    kind: SizesKind = None,
    json: Json = False,
) -> None:
    """Rank every algorithm that covers a task; of several --bytes, usual rings and trees, the plan and the bound."""
    from gossamer.atomic_files import check_writable, write_latex
    from gossamer.planning import planner
    from gossamer.studies.reproductions.table import Table

    how = {"options": algorithm_options(options), "seed": question.seed, **search}
    if several_sizes(question):
        if question.rules.get("segmented") is False:
            print_sizes(question, "compare_sizes", {**how, **spread}, output or [], json, kind)
        else:
            print_sizes(question, "plan_sizes", {**how, **spread, "usual": True}, output or [], json, kind)
        return
    if kind is not None:
        raise typer.BadParameter("a picture is of several sizes, such as --bytes 1KiB:1GiB", param_hint="'--kind'")
    if spread:
        raise typer.BadParameter("several --bytes can be compared at once, such as 1KiB:1GiB", param_hint="'--jobs'")
    for path in output or []:
        if path.suffix.lower() != ".tex":
            raise typer.BadParameter(
                "a picture is of several sizes, such as --bytes 1KiB:1GiB, and a table is .tex", param_hint="'--output'"
            )
        check_writable(path)
    asked = question.read()
    with progress() as stage:
        found = planner.compare(**asked, **how, progress=stage)
    for path in output or []:
        write_latex(path, [found.table()], f"{found.case.task.describe()} on {found.case.network.spec}")
    if json:
        print_json(found.to_dict())
        return
    case, best = found.case, found.best
    print_summary(found.summary)
    bound = best.bounds[0].text if best.bounds else best.bound_name
    described = [("task", case.task.describe())] if case.task.describe() != case.task.word else []
    rules, least = best.switching.describe(case), best.switching.time_text(case.cost, best.bound)
    print_rows([*described, ("rules", rules), ("lower bound", f"{least} ({bound})")])
    print("\n" + Table("", *found.table()).text().lstrip())
    if found.refusals:
        print("\nThe others cannot do it:")
        print_rows((f"  {name}", why) for name, why in found.refusals.items())
    if stars := [row for row in found.remarks() if row[0] == "optimal*"]:
        print_rows(stars)
    if found.stopped:
        print(f"\nstopped: {found.stopped}")
    print_rows([], output or [])


@asks()
def bounds(
    question: Question, *, output: TableOutput = None, certificate: Certificate = None, json: Json = False
) -> None:
    """Print every lower bound and say which binds."""
    from gossamer.atomic_files import check_writable, write_latex
    from gossamer.errors import FileFormatError
    from gossamer.planning import planner, switching
    from gossamer.questions.costs import Clock

    if output is not None:
        if output.suffix.lower() != ".tex":
            raise FileFormatError(f"{str(output)!r} is of no known kind; a table of bounds is .tex")
        check_writable(output)
    if certificate is not None:
        check_certificate(certificate)

    asked = question.read()
    network, task, kind = asked["network"], asked["task"], switching.named(question.switching)
    with progress() as stage:
        stage("computing lower bounds")
        case = kind.case(network, task, asked.get("rules"), asked.get("cost"), 0)
        found = planner.lower_bounds(**asked)
    if certificate is not None:
        from gossamer.planning.certificates import bound_certificate, write_certificate

        write_certificate(bound_certificate(case, found), certificate)
    clock = case.cost if isinstance(case.cost, Clock) else None
    least = kind.time_text(case.cost, found[0].value)
    summary = f"{task.word} on {network.spec} takes at least {least}: {found[0].witness}"
    if output is not None:
        rows = [(b.name, kind.time_text(case.cost, b.value), b.scope or "any schedule", b.witness) for b in found]
        columns = ("lower bound", "time", "holds for", "witness")
        write_latex(output, [(columns, rows)], f"{task.describe()} on {network.spec}: lower bounds")
    if json:
        print_json(
            {
                "summary": summary,
                "asked_task": task.word,
                "network": network.spec,
                "task": task.name,
                "task_in_words": task.describe(),
                "switching": kind.name,
                "rules": case.rules.to_dict(),
                "cost": case.cost.to_dict(),
                "unit": case.cost.unit,
                "bounds": [
                    {"name": b.name, "value": float(b.value), "value_exact": str(b.value), "method": b.method}
                    | ({} if clock is None else {"seconds": float(clock.seconds(b.value))})
                    | {"scope": b.scope, "witness": b.witness, "source": b.source}
                    for b in found
                ],
            }
        )
        return
    print_summary(summary)
    described = [("task", task.describe())] if task.describe() != task.word else []
    print_rows([*described, ("rules", kind.describe(case))])
    print()
    most = found[0].value
    texts = [kind.time_text(case.cost, b.value) for b in found]
    wide = max(map(len, texts))
    told = zip(texts, found, strict=True)
    print_entries(
        ((f"{text:>{wide}}", [f"{b.name}{_mark(b, most)}", b.witness, b.source]) for text, b in told), width()
    )
    print_rows([], filter(None, [output, certificate]))


def _mark(bound: Bound, most: Fraction) -> str:
    """Return whether a bound binds what was asked, and for which schedules it holds if not for all."""
    return f"{'  (binds)' * (bound.value == most)}{f'  [{bound.scope}]' * bool(bound.scope)}"
