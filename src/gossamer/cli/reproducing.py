"""``gossamer reproduce``."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.console import print_json, progress

__all__ = ["reproduce"]


def reproduce(name: str, output: list[Path], json: bool, jobs: int | None = 1) -> None:
    """Compute and print every table of a source, and draw its curves (pictures) and figures (folders)."""
    from gossamer.experiments import REPRODUCTIONS, reproduction
    from gossamer.plots.drawing import picture_format
    from gossamer.writing import check_writable

    source = reproduction(name)
    for path in output:
        if path.suffix:
            picture_format(path)  # refuse a wrong suffix, or a place that is not there, before the work
            check_writable(path)
    written: list[Path] = []
    with progress() as stage:
        found = list(source.tables(stage, jobs))
        for path in output:
            if path.suffix:
                from gossamer.plots.curves import draw_curves

                stage(f"drawing {path}")
                draw_curves(list(source.curves()), path, REPRODUCTIONS[name])
                written.append(path)
            else:
                from gossamer.plots.sources import draw_source_figures

                written += draw_source_figures(name, path, stage)
    if json:
        print_json({"name": name, "title": REPRODUCTIONS[name], "tables": [t.to_dict() for t in found]})
        return
    print(REPRODUCTIONS[name])
    for table in found:
        print(f"\n{table.text()}")
    for place, path in enumerate(written):
        print(f"{'' if place else chr(10)}wrote {path}")
