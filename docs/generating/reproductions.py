"""The pages of the sources' reproductions: tables, curves and figures."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from generating.markdown import page

_ABOUT = """Every time is in steps. Every measured time is the completion time of a schedule that the checker
accepted, beside a lower bound that no schedule can beat."""
_CURVES_ABOUT = (
    """Points are measured; the band lies between the lower bound, below, and what the source promises, above."""
)


def table_count(name: str) -> int:
    """Return how many tables a source has."""
    from gossamer.experiments import reproduction

    return len(reproduction(name).TABLES)


def table_text(name: str, place: int) -> str:
    """Return a table of a source, computed, in Markdown."""
    from gossamer.experiments import reproduction

    text: str = reproduction(name).TABLES[place]().markdown()
    return text


def reproduction_page(name: str, tables: Sequence[str]) -> str:
    """Return the page of a source around its tables."""
    from gossamer.experiments import REPRODUCTIONS, reproduction
    from gossamer.plots.sources import SOURCE_FIGURES

    source = reproduction(name)
    figures = [f"## {f.title}\n\n![{f.title}](_static/{f.file})" for f in SOURCE_FIGURES[name]]
    text = f"""
`gossamer reproduce {name}` prints these tables; with `--figure FILE` it draws the curves, and with `--figures FOLDER`
the other figures. {getattr(source, "ABOUT", _ABOUT)} Errata are listed [here](errata.md).

{chr(10).join(t + chr(10) for t in tables)}
## Curves

![{getattr(source, "CURVES_TITLE", "Measured times between their bounds")}](_static/{curves_file(name)})

{getattr(source, "CURVES_ABOUT", _CURVES_ABOUT)}

{chr(10).join(f + chr(10) for f in figures)}
"""
    return page(REPRODUCTIONS[name], text, "gossamer.experiments")


def curves_file(name: str) -> str:
    """Return the name of the picture of a source's curves."""
    return f"curves_{name.replace('-', '_')}.svg"


def picture_files(name: str) -> list[str]:
    """Return the names of the pictures of a source."""
    from gossamer.plots.sources import SOURCE_FIGURES

    return [curves_file(name), *(figure.file for figure in SOURCE_FIGURES[name])]


def picture(name: str, file: str) -> bytes:
    """Return one of the pictures of a source, drawn."""
    from gossamer.experiments import REPRODUCTIONS, reproduction
    from gossamer.plots.curves import draw_curves
    from gossamer.plots.sources import SOURCE_FIGURES

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        if file == curves_file(name):
            draw_curves(list(reproduction(name).curves()), path, REPRODUCTIONS[name])
        else:
            next(figure for figure in SOURCE_FIGURES[name] if figure.file == file).draw(path)
        return path.read_bytes()
