"""``gossamer sweep``: many points, what came of them, and files of results merged."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.command_group import group
from gossamer.cli.console import print_entries, print_json, print_rows, progress
from gossamer.cli.files import check_outputs
from gossamer.cli.options import Engine, Json, Scheduler, Where, at_once, pictured, written
from gossamer.errors import FileFormatError, ModelError

if TYPE_CHECKING:
    from gossamer.studies.sweeps.study import Estimate, Shown, Study


ReproduceOutput = Annotated[
    list[Path] | None,
    written("Also draw the source's curves (.svg, .png, .pdf), or what its text describes (a folder)"),
]


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
    jobs: Annotated[int, at_once()] = 1,
    output: ReproduceOutput = None,
    json: Json = False,
) -> None:
    """Reproduce a paper's tables: claimed, measured, bound."""
    from gossamer.atomic_files import check_writable
    from gossamer.plots.paper_figures import named_parts
    from gossamer.plots.picture_files import picture_format
    from gossamer.studies.reproductions import REPRODUCTIONS, reproduction
    from gossamer.studies.reproductions.table import computed_tables

    source = reproduction(name)
    makers, figures = named_parts(name, only)
    for path in output or []:
        if path.suffix:
            picture_format(path)  # refuse a wrong suffix, or a place that is not there, before the work
            check_writable(path)
    written: list[Path] = []
    with progress() as stage:
        found = list(computed_tables(makers, stage, jobs))
        for path in output or []:
            if path.suffix:
                from gossamer.plots.curves import curves_figure, draw_results

                stage(f"drawing {path}")
                draw_results(curves_figure, list(source.curves()), path, REPRODUCTIONS[name])
                written.append(path)
            else:
                from gossamer.plots.paper_figures import draw_source_figures

                written += draw_source_figures(name, path, stage, figures)
    if json:
        print_json({"name": name, "title": REPRODUCTIONS[name], "tables": [t.to_dict() for t in found]})
        return
    print(REPRODUCTIONS[name])
    for table in found:
        print(f"\n{table.text()}")
    for place, path in enumerate(written):
        print(f"{'' if place else chr(10)}wrote {path}")
    left = [figure for figure in figures if only is not None and not written]
    for place, figure in enumerate(left):
        print(f"{'' if place else chr(10)}{figure.title}: drawn with -o FOLDER")


_PAGES = (".html", ".csv", ".tex")

commands = group("sweep", "Run many points: 'gossamer sweep study.toml' runs, resumes and extends a study.")

ResultsFile = Annotated[Path, typer.Argument(help="File of results (.parquet) of a sweep.", metavar="FILE")]


@commands.command()
def run(
    study: Annotated[
        Path | None, typer.Argument(help="A study (.toml); or say the points with options.", metavar="[STUDY]")
    ] = None,
    *,
    kind: Annotated[
        str | None,
        typer.Option(help="plan, bounds, faults, dynamic, limit, traffic or saturation. Default plan.", metavar="KIND"),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(help="Networks, braces for many: torus:{4..16}x{4..16}; may be repeated.", metavar="NETWORK"),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Tasks: allgather,alltoall.", metavar="TASKS")] = None,
    bytes_: Annotated[
        str | None, typer.Option("--bytes", help="Sizes: 1KiB,1MiB or 1KiB:1GiB.", metavar="SIZES")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any other word of the points and its values, such as load=0.1:0.9:0.2; may be repeated.",
            metavar="WORD=VALUES",
        ),
    ] = None,
    where: Where = None,
    output: Annotated[
        Path | None, written("File of results (.parquet). Default: the study's name, here", several=False)
    ] = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    jobs: Annotated[int | None, at_once(" Default: one a processor.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory of all points together. Default: most of what is free.", metavar="SIZE")
    ] = None,
    retry: Annotated[
        str, typer.Option(help="Which points without a result to try again: none, failed or all.", metavar="WHICH")
    ] = "none",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the points and estimate what they take.")] = False,
    json: Json = False,
) -> None:
    """Run the points of a study that are not in its file yet; exit status 1 if some failed."""
    words = _given_words(kind, network, task, bytes_, set_)
    asked = _asked_study(study, words, where or [])
    settings = {"scheduler": scheduler, "jobs": jobs, "memory": memory, "retry": retry}
    settings["engine"] = engine or ("dask" if scheduler else "processes")
    path = output or (None if study is None else Path(study.stem + ".parquet"))
    if dry_run:
        _estimate(asked, path, settings, json)
        return
    raise typer.Exit(_run(asked, path, settings, json))


def _listed_networks(text: str) -> list[str]:
    """Return the networks of a list with commas, which parameters have too: each begins with a family and a colon.

    >>> _listed_networks("torus:{2,4}x4,ring:5"), _listed_networks("dragonfly:4,2")
    (['torus:{2,4}x4', 'ring:5'], ['dragonfly:4,2'])
    """
    from gossamer.networks.families import FAMILIES

    names = {name for family in FAMILIES for name in (family.name, *family.aliases)}
    found: list[str] = []
    for part in text.split(","):
        family, colon, _ = part.strip().partition(":")
        if found and not (colon and family in names):
            found[-1] += f",{part}"
        else:
            found.append(part.strip())
    return found


def _given_words(
    kind: str | None, networks: list[str] | None, task: str | None, sizes: str | None, others: list[str] | None
) -> dict[str, Any]:
    """Return the words of points that options give, with lists of their values."""
    from gossamer.studies.sweeps.study import word_values

    found: dict[str, Any] = {}
    if kind is not None:
        found["kind"] = kind
    if networks:
        found["network"] = [spec for text in networks for spec in _listed_networks(text)]
    for name, text in (("task", task), ("bytes", sizes)):
        if text is not None:
            found[name] = word_values(name, text)
    for text in others or []:
        name, sign, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name or not values.strip():
            raise ModelError(f"--set must be a word and its values such as load=0.1,0.5, got {text!r}")
        found[name] = word_values(name, values.strip())
    return found


def _asked_study(path: Path | None, words: dict[str, Any], where: list[str]) -> Study:
    """Return a study from a file, with what options change, or from options alone."""
    from gossamer.studies.sweeps.study import Study, read_study

    if path is not None:
        if path.suffix.lower() == ".parquet":
            raise ModelError(f"{str(path)!r} is a file of results; 'gossamer sweep report {path}' shows it")
        return read_study(path).changed(words, where)
    if "network" not in words:
        raise ModelError("name a study (.toml), or points: --network torus:{4..8}x4 --task allgather")
    return Study("", ()).changed(words, where)


def _estimate(study: Study, path: Path | None, settings: dict[str, Any], json: bool) -> None:
    """Count the points, and print about what they take."""
    from gossamer.atomic_files import memory_text
    from gossamer.planning.switching.resource_limits import time_text
    from gossamer.studies.sweeps import read_results
    from gossamer.studies.sweeps.executors import read_jobs
    from gossamer.studies.sweeps.study import estimated

    known: set[str] = set()
    if path is not None and (path.exists() or Path(f"{path}.journal").exists()):
        known = set(read_results(path).column("identity").to_pylist())
    with progress() as stage:
        stage("looking at networks and algorithms")
        found: Estimate = estimated(list(study.points()), known)
    jobs, left = read_jobs(settings["jobs"]), found.points - found.known
    if json:
        print_json({**dataclasses.asdict(found), "jobs": jobs})
        return
    rows = [
        ("points", f"{found.points:,}, of which {found.known:,} are known"),
        (
            "time",
            f"about {time_text(found.seconds / jobs)} with {jobs} at once, once all is compiled",
        ),
        ("memory", f"about {memory_text(found.memory)} for {found.largest}; a process has 300 MB" if left else "none"),
    ]
    if found.looked < left:
        rows.append(("looked", f"at {found.looked:,} points; the others are taken to be like them"))
    if path is not None:
        rows.append(("file", str(path)))
    print_rows(rows)


def _run(study: Study, path: Path | None, settings: dict[str, Any], json: bool) -> int:
    """Carry out a study, print what came of it, and return the exit status."""
    from gossamer.studies.sweeps import sweep

    points = list(study.points())
    if not points:
        raise ModelError("no point meets the conditions")
    if path is not None:
        _check_results(path)
    try:
        with progress() as stage:
            found = sweep(points, path, progress=stage, **settings)
    except KeyboardInterrupt:
        if path is not None and not json:
            print(f"interrupted; what was found is in {path}, and the same command goes on")
        raise
    if json:
        print_json({"points": len(found), **found.counts, "died": list(found.deaths), "rows": list(found)})
    else:
        print_rows(found.rows())
        print_rows([], [] if path is None else [path])
        _print_report(found, study.title, study.shown)
    return 1 if any(status in found.counts for status in ("failed", "too large")) else 0


def _check_results(path: Path) -> None:
    if path.suffix.lower() != ".parquet":
        raise FileFormatError(f"a file of results ends in .parquet, got {str(path)!r}")


def _print_report(results: Any, title: str, shown: Shown, where: list[str] | None = None) -> Any:
    """Print the groups of a report, and return it."""
    from gossamer.studies.reproductions.table import Table
    from gossamer.studies.sweeps.report import cell_text
    from gossamer.studies.sweeps.report import report as compared

    found = compared(results, title, shown, where or [])
    for part in found.groups:
        columns, rows = part.table(found.shown.rows)
        more = len(part.rows) - len(rows)
        note = f"and {more:,} more" if more > 0 else ""
        print(Table(part.title or title or "results", columns, rows, note).text())
        for each in part.fronts:
            against, measure = (n.removeprefix("-") for n in (each.against, each.measure))
            words = [f"{part.name(m)} ({cell_text(against, m.get(against))}: {cell_text(measure, m.get(measure))})"
                     for m in _apart(each.members, against, measure)]  # fmt: skip
            print_entries([(f"Pareto front of {measure} against {against}:", [", ".join(words)])])
    return found


def _apart(members: Any, *columns: str) -> list[Any]:
    """Return one row of those that are equal in some columns."""
    return list({tuple(m.get(c) for c in columns): m for m in reversed(members)}.values())[::-1]


@commands.command()
@pictured
def report(
    file: ResultsFile,
    study: Annotated[
        Path | None, typer.Option(help="The study (.toml), for its title and what it shows.", metavar="FILE")
    ] = None,
    *,
    where: Where = None,
    measure: Annotated[
        str | None, typer.Option(help="What is to be small, or large with a minus before it.", metavar="COLUMN")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Columns whose values have a table each: task,bytes.", metavar="COLUMNS")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Columns against which fronts are taken: links,-nodes. Minus: more is better.", metavar="..."
        ),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="What the tables show.", metavar="COLUMNS")] = None,
    rows: Annotated[int | None, typer.Option(help="Rows of a table. Default 12.", metavar="N")] = None,
    output: Annotated[
        list[Path] | None,
        written("Write a page (.html), pictures (.svg, .png, .pdf), its tables for LaTeX (.tex) or all rows (.csv)"),
    ] = None,
    json: Json = False,
) -> None:
    """Print the best points and the Pareto fronts."""
    from gossamer.studies.sweeps import SweepResults, read_results
    from gossamer.studies.sweeps.report import report as compared
    from gossamer.studies.sweeps.study import Study, read_study

    lists = {"by": by, "against": against, "columns": columns}
    shown: dict[str, Any] = {name: tuple(text.split(",")) for name, text in lists.items() if text}
    shown |= {name: value for name, value in (("measure", measure), ("rows", rows)) if value is not None}
    check_outputs(output or [], _PAGES, "a report is .html, .csv, .tex, or a picture ({})")
    known = read_study(study) if study is not None else Study(file.stem, ())
    asked = dataclasses.replace(known.shown, **shown)
    results = SweepResults(read_results(file))
    if json:
        found = compared(results, known.title, asked, where or [])
        print_json({"title": found.title, "counts": results.counts, "groups": [_plain(g) for g in found.groups]})
    else:
        print_rows(results.rows())
        found = _print_report(results, known.title, asked, where or [])
    for path in output or []:
        with progress() as stage:
            stage(f"writing {path}")
            _write(found, path)
        if not json:
            print_rows([], [path])


def _plain(group: Any) -> dict[str, Any]:
    fronts = [{"against": f.against, "measure": f.measure, "members": list(f.members)} for f in group.fronts]
    return {"title": group.title, "measure": group.measure, "rows": list(group.rows), "fronts": fronts}


def _write(found: Any, path: Path) -> None:
    if path.suffix.lower() == ".html":
        from gossamer.explorer.pages import write_report

        write_report(found, path)
    elif path.suffix.lower() == ".csv":
        from pyarrow import csv

        from gossamer.atomic_files import whole_file

        with whole_file(path) as part:
            csv.write_csv(found.results.table, part)
    elif path.suffix.lower() == ".tex":
        from gossamer.atomic_files import write_latex

        write_latex(path, [group.table(found.shown.rows) for group in found.groups], found.title)
    else:
        from gossamer.plots.curves import draw_results, report_figure

        draw_results(report_figure, found.groups, path, found.title)


@commands.command()
def merge(
    files: Annotated[list[Path], typer.Argument(help="Files of results, two or more.", metavar="FILE...")],
    *,
    output: Annotated[Path, written("The merged file (.parquet)", several=False)],
    json: Json = False,
) -> None:
    """Merge files of results of one study, made on several machines."""
    from gossamer.studies.sweeps import SweepResults
    from gossamer.studies.sweeps import merge as merged

    _check_results(output)
    with progress() as stage:
        stage("merging")
        found = SweepResults(merged(files, output))
    if json:
        print_json({"points": len(found), **found.counts, "file": str(output)})
        return
    print_rows(found.rows(), [output])
