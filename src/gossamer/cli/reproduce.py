"""``gossamer reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.console import print_json, progress
from gossamer.cli.options import Json, at_once, pictured, written

__all__ = ["reproduce"]

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
