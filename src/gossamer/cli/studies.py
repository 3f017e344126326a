"""What the commands of ``gossamer sweep`` do."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.errors import FileFormatError, ModelError
from gossamer.studies.sweeps.study import Estimate, Shown, Study, estimated, read_study, word_values

__all__ = ["asked_study", "estimate", "given_words", "merge", "report", "run"]

_PAGES = (".html", ".csv")


def given_words(
    kind: str | None, networks: list[str] | None, task: str | None, sizes: str | None, others: list[str] | None
) -> dict[str, Any]:
    """Return the words of points that options give, with lists of their values."""
    found: dict[str, Any] = {}
    if kind is not None:
        found["kind"] = kind
    if networks:
        found["network"] = networks
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


def asked_study(path: Path | None, words: dict[str, Any], where: list[str]) -> Study:
    """Return a study from a file, with what options change, or from options alone."""
    if path is not None:
        if path.suffix.lower() == ".parquet":
            raise ModelError(f"{str(path)!r} is a file of results; 'gossamer sweep report {path}' shows it")
        return read_study(path).changed(words, where)
    if "network" not in words:
        raise ModelError("name a study (.toml), or points: --network torus:{4..8}x4 --task allgather")
    return Study("", ()).changed(words, where)


def estimate(study: Study, path: Path | None, settings: dict[str, Any], json: bool) -> None:
    """Count the points, and print about what they take."""
    from gossamer.planning.switching.resource_limits import time_text
    from gossamer.studies.sweeps import read_results
    from gossamer.studies.sweeps.engines import read_jobs
    from gossamer.writing import memory_text

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
    print_entries((label, [text]) for label, text in rows)


def run(study: Study, path: Path | None, settings: dict[str, Any], json: bool) -> int:
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
        print_entries((label, [text]) for label, text in found.rows())
        if path is not None:
            print_entries([("wrote", [str(path)])])
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
    for group in found.groups:
        columns, rows = group.table(found.shown.rows)
        more = len(group.rows) - len(rows)
        note = f"and {more:,} more" if more > 0 else ""
        print(Table(group.title or title or "results", columns, rows, note).text())
        for each in group.fronts:
            against, measure = (n.removeprefix("-") for n in (each.against, each.measure))
            words = [f"{group.name(m)} ({cell_text(against, m.get(against))}: {cell_text(measure, m.get(measure))})"
                     for m in _apart(each.members, against, measure)]  # fmt: skip
            print_entries([(f"front of {measure} against {against}:", [", ".join(words)])])
    return found


def _apart(members: Any, *columns: str) -> list[Any]:
    """Return one row of those that are equal in some columns."""
    return list({tuple(m.get(c) for c in columns): m for m in reversed(members)}.values())[::-1]


def report(
    file: Path, study: Path | None, where: list[str], shown: dict[str, Any], output: list[Path], json: bool
) -> None:
    """Print what results say, and write pages, pictures and tables."""
    from gossamer.cli.verify import is_picture
    from gossamer.studies.sweeps import SweepResults, read_results
    from gossamer.studies.sweeps.report import report as compared
    from gossamer.writing import check_writable

    for path in output:
        if not is_picture(path) and path.suffix.lower() not in _PAGES:
            raise FileFormatError(
                f"{str(path)!r} is of no known kind; a report is .html, .csv, or a picture (.svg, .png)"
            )
        check_writable(path)
    known = read_study(study) if study is not None else Study(file.stem, ())
    asked = dataclasses.replace(known.shown, **shown)
    results = SweepResults(read_results(file))
    if json:
        found = compared(results, known.title, asked, where)
        print_json({"title": found.title, "counts": results.counts, "groups": [_plain(g) for g in found.groups]})
    else:
        print_entries((label, [text]) for label, text in results.rows())
        found = _print_report(results, known.title, asked, where)
    for path in output:
        with progress() as stage:
            stage(f"writing {path}")
            _write(found, path)
        if not json:
            print_entries([("wrote", [str(path)])])


def _plain(group: Any) -> dict[str, Any]:
    fronts = [{"against": f.against, "measure": f.measure, "members": list(f.members)} for f in group.fronts]
    return {"title": group.title, "measure": group.measure, "rows": list(group.rows), "fronts": fronts}


def _write(found: Any, path: Path) -> None:
    if path.suffix.lower() == ".html":
        from gossamer.explorer.reports import write_report

        write_report(found, path)
    elif path.suffix.lower() == ".csv":
        from pyarrow import csv

        from gossamer.writing import whole_file

        with whole_file(path) as part:
            csv.write_csv(found.results.table, part)
    else:
        from gossamer.plots.curves import draw_report

        draw_report(found, path)


def merge(files: list[Path], output: Path, json: bool) -> None:
    """Merge files of results."""
    from gossamer.studies.sweeps import SweepResults
    from gossamer.studies.sweeps import merge as merged

    _check_results(output)
    with progress() as stage:
        stage("merging")
        found = SweepResults(merged(files, output))
    if json:
        print_json({"points": len(found), **found.counts, "file": str(output)})
        return
    print_entries((label, [text]) for label, text in [*found.rows(), ("wrote", str(output))])
