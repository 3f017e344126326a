"""``gossamer reproduce``."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.console import print_json, progress

__all__ = ["reproduce"]


def reproduce(name: str, output: list[Path], json: bool, jobs: int | None = 1, only: str | None = None) -> None:
    """Compute and print the tables of a source, all or those named, and draw its curves (pictures) and figures."""
    from gossamer.plots.drawing import picture_format
    from gossamer.plots.paper_figures import named_parts
    from gossamer.studies.reproductions import REPRODUCTIONS, reproduction
    from gossamer.studies.reproductions.table import computed_tables
    from gossamer.writing import check_writable

    source = reproduction(name)
    makers, figures = named_parts(name, only)
    for path in output:
        if path.suffix:
            picture_format(path)  # refuse a wrong suffix, or a place that is not there, before the work
            check_writable(path)
    written: list[Path] = []
    with progress() as stage:
        found = list(computed_tables(makers, stage, jobs))
        for path in output:
            if path.suffix:
                from gossamer.plots.curves import draw_curves

                stage(f"drawing {path}")
                draw_curves(list(source.curves()), path, REPRODUCTIONS[name])
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
