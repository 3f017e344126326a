"""``gossamer design``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_json, progress
from gossamer.cli.files import check_certificate
from gossamer.cli.options import Certificate, Engine, Json, Scheduler, Words, at_once, fills, pictured, written
from gossamer.errors import FileFormatError, ModelError

_DRAWN = 1_024
"""Nodes up to which a layout is drawn."""
_SHORT = 24
"""The longest spec that is a name in a front."""
_TASKS = "What it is for, such as alltoall, allreduce=3 with a weight, alltoall@1MiB with a size; may be repeated."
_OUTPUT = "Write the table (.csv, .parquet, .json) or a picture of the best network (.svg, .png, .pdf)"


@pictured
@fills(
    wishes=(Words("studies/design/problem.py", "Wishes", heading="Network"),),
    search=(Words("studies/design/plan_candidates.py", "design", ("budget", "rounds", "top", "seed"), "Search"),),
)
def design(
    *,
    nodes: Annotated[str, typer.Option(help="Nodes, such as 512, or a range such as 500:520.", metavar="N")],
    degree: Annotated[
        str, typer.Option(help="The most links that leave a node, such as 6, or a range such as 3:6.", metavar="N")
    ],
    task: Annotated[list[str] | None, typer.Option(help=f"{_TASKS} Default alltoall.", metavar="TASK")] = None,
    wishes: dict[str, Any],
    search: dict[str, Any],
    output: Annotated[list[Path] | None, written(_OUTPUT)] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Write the best network, its cables and schedules to a new folder.", metavar="FOLDER"),
    ] = None,
    certificate: Certificate = None,
    store: Annotated[
        Path | None,
        typer.Option(help="File of results (.parquet) that the same command goes on with.", metavar="FILE"),
    ] = None,
    parts: Annotated[
        int, typer.Option(help="Searches beside each other, each with the whole budget.", metavar="N")
    ] = 1,
    engine: Engine = None,
    scheduler: Scheduler = None,
    jobs: Annotated[int | None, at_once(" Default: one a processor.")] = None,
    flits: Annotated[bool, typer.Option("--flits", help="Run the best network and the torus in flits, too.")] = False,
    json: Json = False,
) -> None:
    """Search for the network of a size and degree on which tasks take the least time."""
    running = {"engine": engine, "scheduler": scheduler, "jobs": jobs}
    swept = None
    if ":" in degree or store is not None or parts != 1 or any(value is not None for value in running.values()):
        running["engine"] = engine or ("dask" if scheduler else "processes")
        swept = {**running, "store": store, "parts": parts}
    if certificate is not None:
        if len(task or []) > 1:
            raise ModelError("--certificate goes with one --task")
        check_certificate(certificate)
    _design(nodes, degree, task or [], wishes, search, output or [], folder, certificate, flits, json, swept)


def _design(
    nodes: str,
    degree: str,
    tasks: list[str],
    wishes: dict[str, Any],
    search: dict[str, Any],
    output: list[Path],
    folder: Path | None,
    certificate: Path | None,
    flits: bool,
    json: bool,
    swept: dict[str, Any] | None,
) -> None:
    """Search for networks; print the table, and write it and the best network."""
    from gossamer.atomic_files import check_writable
    from gossamer.studies.design import Wishes, designs
    from gossamer.studies.design import design as search_networks
    from gossamer.studies.design.design_sweeps import save_design
    from gossamer.studies.design.problem import read_degrees

    for path in output:
        if path.suffix.lower() not in (".csv", ".json", ".parquet", ".svg", ".png", ".pdf"):
            raise FileFormatError(f"{path}: a table is .csv, .parquet or .json, a picture .svg, .png or .pdf")
        check_writable(path)
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileFormatError(f"{folder} is there already; name a new folder")
    asked, goals = Wishes(**wishes), tasks or ["alltoall"]
    with progress() as stage:
        if swept is None:
            several = [search_networks(nodes, read_degrees(degree)[0], goals, asked, progress=stage, **search)]
        else:
            several = designs(nodes, degree, goals, asked, progress=stage, **search, **swept)
        found = min(several, key=lambda each: (each.best.total, each.problem.degree))
        runs = _flit_runs(found, stage) if flits else []
        for path in output:
            stage(f"writing {path}")
            _write(found, path)
        if folder is not None:
            stage(f"writing {folder}")
            save_design(found, folder)
            _draw(found, folder)
        if certificate is not None:
            from gossamer.planning.certificates import write_certificate

            stage(f"writing {certificate}")
            write_certificate(found.certificate(), certificate)
    if json:
        rows = [row for each in several for row in each.to_dicts()]
        looked = sum(each.looked for each in several)
        print_json({"networks": rows, "looked_at": looked, "flits": [run.to_dict() for run in runs]})
        return
    for place, each in enumerate(several):
        print("\n" if place else "", end="")
        _print(each)
    store = None if swept is None else swept["store"]
    if swept is not None:
        _print_fronts(several)
    for run in runs:
        print(
            f"\nflits on {run.network[:60]}: {run.routing}, {run.virtual_channels} virtual channels, {run.freedom}\n"
            f"saturates at {run.throughput:.3f} flits a node and cycle (ideal {run.ideal:.3f}); "
            f"{run.latency:.1f} cycles at the smallest load run"
        )
    for path in (*output, *filter(None, (folder, certificate, store))):
        print(f"wrote {path}")


def _flit_runs(found: Any, stage: Any) -> list[Any]:
    """Run the best network and the torus in flits."""
    from gossamer.studies.design.design_sweeps import flit_run

    torus = found.torus
    runs: list[Any] = []
    for each in (found.best, *([] if torus is None else [torus])):
        stage(f"running {each.candidate.spec[:50]} in flits")
        runs.append(flit_run(each.network, channels=runs[0].virtual_channels if runs else 0))
    return runs


def _write(found: Any, path: Path) -> None:
    from gossamer.atomic_files import whole_file

    kind = path.suffix.lower()
    if kind in (".csv", ".parquet"):
        from gossamer.studies.sweeps import write_table

        write_table(found.found, path)
    elif kind == ".json":
        import json

        with whole_file(path) as part:
            Path(part).write_text(json.dumps(found.to_dicts(), indent=1) + "\n", encoding="utf-8")
    else:
        from gossamer.plots.curves import draw_distances

        draw_distances(found.best.network, path, None if found.torus is None else found.torus.network)


def _draw(found: Any, folder: Path) -> None:
    """Draw the best network of a folder: its nodes and links, and its distances beside the torus."""
    from gossamer.plots.curves import draw_distances
    from gossamer.plots.network import draw_network

    if found.best.network.node_count <= _DRAWN:
        draw_network(found.best.network, folder / "layout.svg")
    draw_distances(found.best.network, folder / "distances.svg", None if found.torus is None else found.torus.network)


def _print_fronts(several: list[Any]) -> None:
    """Print the networks that no other beats in time and in one of what they cost."""
    from gossamer.studies.sweeps.report import front

    names: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for design in several:
        for place, found in enumerate(design.found):
            spec = found.candidate.spec
            names[spec] = spec if len(spec) <= _SHORT else f"{design.problem.degree} links, network {place + 1}"
            rows.append({**found.to_dict(), "links": found.network.link_count, "total": float(found.total)})
    print()
    for against in ("links", "diameter", "-bisection"):
        members = front(rows, against, "total").members
        apart = {(m[against.removeprefix("-")], m["total"]): m for m in reversed(members)}
        told = [f"{names[m['network']]} ({m[against.removeprefix('-')]:,}: {m['total']:,.6g})"
                for m in list(apart.values())[::-1]]  # fmt: skip
        if told:
            print(f"Pareto front of time against {against.removeprefix('-')}:  {', '.join(told)}")


def _print(found: Any) -> None:
    from gossamer.studies.reproductions.table import Table

    problem = found.problem
    low, high = problem.nodes
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    told = ", ".join(goal.text for goal in problem.goals)
    unit = "seconds" if problem.timed else "steps"
    print(f"networks of {size} nodes with at most {problem.degree} links a node, for {told}; times in {unit}, verified")
    spent = f" in {found.seconds:.1f} s of CPU time" if found.seconds else ""
    print(f"{found.looked:,} networks looked at{spent}\n")
    names = [goal.task for goal in problem.goals]
    columns = ["", "nodes", *(f"{name}{c}" for name in names for c in ("", ", bound", ", any network")), "x limit"]
    columns += ["diameter", "mean", "bisection", *(["cable m", "longest"] if problem.wishes.placement else [])]
    columns += ["worst failure"] if problem.wishes.failure_weight else []
    columns += ["one way only"] if problem.wishes.diversity_weight else []
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
        if problem.wishes.diversity_weight:
            row.append(f"{100 * (each.single_paths or 0.0):.0f} %")
        rows.append(tuple(row))
    print(Table("", tuple(columns), tuple(rows)).text().strip("\n"))
    print()
    for place, each in enumerate(found.found):
        print(f"{place + 1:>3}  {each.candidate.spec}")
    for scope in sorted({t.bound_scope for each in found.found for t in each.tasks if t.bound_scope}):
        print(f"some bounds are for {scope}")
    if found.stopped:
        print(f"\n{found.stopped}")


def _time(value: Any) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):.4g}"
