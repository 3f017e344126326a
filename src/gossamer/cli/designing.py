"""``gossamer design``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_json, progress
from gossamer.cli.options import Words, fills
from gossamer.errors import FileFormatError

__all__ = ["command"]

_TASKS = "What it is for, such as alltoall, allreduce=3 with a weight, alltoall@1MiB with a size; may be repeated."
_OUTPUT = (
    "Write the table (.csv, .parquet, .json) or a picture of the best network (.svg, .png, .pdf); may be repeated."
)


@fills(
    wishes=(Words("design/wishes.py", "Wishes", flags={"one_way": "--one-way/--two-way"}),),
    search=(Words("design/designing.py", "design", ("budget", "rounds", "top", "seed")),),
)
def command(
    *,
    nodes: Annotated[str, typer.Option(help="Nodes, such as 512, or a range such as 500:520.", metavar="N")],
    degree: Annotated[int, typer.Option(help="The most links that leave a node.", metavar="N")],
    task: Annotated[list[str] | None, typer.Option(help=f"{_TASKS} Default alltoall.", metavar="TASK")] = None,
    wishes: dict[str, Any],
    search: dict[str, Any],
    output: Annotated[list[Path] | None, typer.Option("--output", "-o", help=_OUTPUT, metavar="FILE")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Write the best network, its cables and schedules to a new folder.", metavar="FOLDER"),
    ] = None,
    flits: Annotated[bool, typer.Option("--flits", help="Run the best network and the torus in flits, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search for the network of a size and degree on which tasks are carried out fastest."""
    _design(nodes, degree, task or [], wishes, search, output or [], folder, flits, json)


def _design(
    nodes: str,
    degree: int,
    tasks: list[str],
    wishes: dict[str, Any],
    search: dict[str, Any],
    output: list[Path],
    folder: Path | None,
    flits: bool,
    json: bool,
) -> None:
    """Search for networks; print the table, and write it and the best network."""
    from gossamer.design import Wishes
    from gossamer.design import design as search_networks
    from gossamer.design.outputs import save_design
    from gossamer.writing import check_writable

    for path in output:
        if path.suffix.lower() not in (".csv", ".json", ".parquet", ".svg", ".png", ".pdf"):
            raise FileFormatError(f"{path}: a table is .csv, .parquet or .json, a picture .svg, .png or .pdf")
        check_writable(path)
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileFormatError(f"{folder} is there already; name a new folder")
    asked = Wishes(**wishes)
    with progress() as stage:
        found = search_networks(nodes, degree, tasks or ["alltoall"], asked, progress=stage, **search)
        runs = _flit_runs(found, stage) if flits else []
        for path in output:
            stage(f"writing {path}")
            _write(found, path)
        if folder is not None:
            stage(f"writing {folder}")
            save_design(found, folder)
    if json:
        print_json({"networks": found.to_dicts(), "looked_at": found.looked, "flits": [run.to_dict() for run in runs]})
        return
    _print(found, runs)
    for path in (*output, *([] if folder is None else [folder])):
        print(f"wrote {path}")


def _flit_runs(found: Any, stage: Any) -> list[Any]:
    """Run the best network and the torus in flits."""
    from gossamer.design.flits import flit_run

    torus = next((f for f in found.found[1:] if f.candidate.family == "torus"), None)
    runs: list[Any] = []
    for each in (found.best, *([] if torus is None else [torus])):
        stage(f"running {each.candidate.spec[:50]} in flits")
        runs.append(flit_run(each.network, channels=runs[0].virtual_channels if runs else 0))
    return runs


def _write(found: Any, path: Path) -> None:
    from gossamer.writing import whole_file

    kind = path.suffix.lower()
    if kind in (".csv", ".parquet"):
        from gossamer.sweeps import write_table

        write_table(found.found, path)
    elif kind == ".json":
        import json

        with whole_file(path) as part:
            Path(part).write_text(json.dumps(found.to_dicts(), indent=1) + "\n", encoding="utf-8")
    else:
        from gossamer.plots.designs import draw_distances

        torus = next((f.network for f in found.found[1:] if f.candidate.family == "torus"), None)
        draw_distances(found.best.network, path, torus)


def _print(found: Any, runs: list[Any]) -> None:
    from gossamer.experiments.table import Table

    problem = found.problem
    low, high = problem.nodes
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    told = ", ".join(goal.text for goal in problem.goals)
    unit = "seconds" if problem.timed else "steps"
    print(f"networks of {size} nodes with at most {problem.degree} links a node, for {told}; times in {unit}, verified")
    print(f"{found.looked:,} networks looked at in {found.seconds:.1f} s of CPU time\n")
    names = [goal.task for goal in problem.goals]
    columns = ["", "nodes", *(f"{name}{c}" for name in names for c in ("", ", bound", ", any network")), "x limit"]
    columns += ["diameter", "mean", "bisection", *(["cable m", "longest"] if problem.wishes.placement else [])]
    columns += ["worst failure"] if problem.wishes.failure_weight else []
    rows = []
    for place, each in enumerate(found.found):
        row = [str(place + 1), f"{each.candidate.nodes:,}"]
        for task in each.tasks:
            row += [_time(task.time), _time(task.bound), f"{task.limit:,}"]
        cut = "-" if each.bisection is None else f"{each.bisection:,}"
        row += [f"{each.ratio:.3f}", str(each.candidate.diameter), f"{each.candidate.mean_distance:.3f}", cut]
        if problem.wishes.placement:
            row += [f"{each.cabling.length.mean():.2f}", f"{each.cabling.length.max():.2f}"]
        if problem.wishes.failure_weight:
            row.append("-" if each.worst_failure is None else f"{each.worst_failure:.3f} x")
        rows.append(tuple(row))
    print(Table("", tuple(columns), tuple(rows)).text())
    print()
    for place, each in enumerate(found.found):
        print(f"{place + 1:>3}  {each.candidate.spec}")
    if found.stopped:
        print(f"\n{found.stopped}")
    for run in runs:
        print(
            f"\nflits on {run.network[:60]}: {run.routing}, {run.virtual_channels} virtual channels, {run.freedom}\n"
            f"saturates at {run.throughput:.3f} flits a node and cycle (ideal {run.ideal:.3f}); "
            f"{run.latency:.1f} cycles at the smallest load run"
        )


def _time(value: Any) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):.4g}"
