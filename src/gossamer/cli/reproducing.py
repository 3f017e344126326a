"""``gossamer reproduce``."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.console import print_json, progress
from gossamer.errors import FileFormatError

__all__ = ["reproduce"]


def reproduce(name: str, figure: Path | None, figures: Path | None, json: bool) -> None:
    """Compute and print every table of a source, and draw its curves and figures."""
    from gossamer.experiments import REPRODUCTIONS, reproduction

    source = reproduction(name)
    if figure is not None:
        from gossamer.plots.drawing import picture_format

        picture_format(figure)  # refuse a wrong suffix, or a place that is not there, before the work
        if not figure.parent.is_dir():
            raise FileFormatError(f"cannot write {str(figure)!r}: there is no folder {str(figure.parent)!r}")
    written: list[Path] = []
    with progress() as stage:
        found = list(source.tables(stage))
        if figure is not None:
            from gossamer.plots.curves import draw_curves

            stage(f"drawing {figure}")
            draw_curves(list(source.curves()), figure, REPRODUCTIONS[name])
            written.append(figure)
        if figures is not None:
            from gossamer.plots.sources import draw_source_figures

            written += draw_source_figures(name, figures, stage)
    if json:
        print_json({"name": name, "title": REPRODUCTIONS[name], "tables": [t.to_dict() for t in found]})
        return
    print(REPRODUCTIONS[name])
    for table in found:
        print(f"\n{table.text()}")
    for place, path in enumerate(written):
        print(f"{'' if place else chr(10)}wrote {path}")
