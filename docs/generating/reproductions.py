"""The pages of the sources' reproductions: tables, curves and figures."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from generating.coverage import pictures_of_paper
from generating.markdown import page

_ABOUT = """Every time is in steps. Every measured time is the completion time of a schedule that the checker
accepted, beside a lower bound that no schedule can beat."""
_CURVES_ABOUT = (
    """Points are measured; the band lies between the lower bound, below, and what the source promises, above."""
)


def table_modules(name: str) -> list[str]:
    """Return the modules that make the tables of a source: the tables of one share what they compute."""
    from gossamer.studies.reproductions import reproduction

    return sorted({_module(make) for make in reproduction(name).TABLES})


def tables(name: str, module: str) -> dict[int, str]:
    """Return the tables that a module makes, computed, in Markdown, by their places on the page."""
    from gossamer.plots.paper_figures import part_name
    from gossamer.studies.reproductions import reproduction

    makers = enumerate(reproduction(name).TABLES)
    return {
        place: _with_command(make().markdown(), f"gossamer reproduce {name} --only {part_name(make)}")
        for place, make in makers
        if _module(make) == module
    }


def _with_command(section: str, command: str) -> str:
    """Return a section with the command that makes it below its heading."""
    heading, _, rest = section.partition("\n\n")
    return f"{heading}\n\n`{command}`\n\n{rest}"


def _module(make: Callable[[], Any]) -> str:
    return inspect.unwrap(make).__module__


def reproduction_page(name: str, made: Sequence[dict[int, str]]) -> str:
    """Return the page of a source around its tables, as `tables` made them."""
    from gossamer.plots.paper_figures import SOURCE_FIGURES, part_name
    from gossamer.studies.reproductions import REPRODUCTIONS, reproduction

    source = reproduction(name)
    shown = [text for _, text in sorted((place, text) for some in made for place, text in some.items())]
    figures = [
        _with_command(
            f"## {f.title}\n\n![{f.title}](../_static/{f.file})",
            f"gossamer reproduce {name} --only {part_name(f)} -o figures",
        )
        for f in SOURCE_FIGURES[name]
    ]
    text = f"""
`gossamer reproduce {name}` prints all tables of this page; with `-o FILE` it draws the curves, and with `-o FOLDER`
the other figures. Below each heading is the command for that table or figure alone.
{getattr(source, "ABOUT", _ABOUT)} Errata are listed [here](../reference/errata.md).

{chr(10).join(t + chr(10) for t in shown)}
## Curves

![{getattr(source, "CURVES_TITLE", "Measured times between their bounds")}](../_static/{curves_file(name)})

{getattr(source, "CURVES_ABOUT", _CURVES_ABOUT)}

{chr(10).join(f + chr(10) for f in figures)}
{pictures_of_paper(name)}
"""
    return page(REPRODUCTIONS[name], text, "gossamer.studies.reproductions")


def curves_file(name: str) -> str:
    """Return the name of the picture of a source's curves."""
    return f"curves_{name.replace('-', '_')}.svg"


def picture_files(name: str) -> list[str]:
    """Return the names of the pictures of a source."""
    from gossamer.plots.paper_figures import SOURCE_FIGURES

    return [curves_file(name), *(figure.file for figure in SOURCE_FIGURES[name])]


def picture(name: str, file: str) -> bytes:
    """Return one of the pictures of a source, drawn."""
    from gossamer.plots.curves import curves_figure, draw_results
    from gossamer.plots.paper_figures import SOURCE_FIGURES
    from gossamer.studies.reproductions import REPRODUCTIONS, reproduction

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        if file == curves_file(name):
            draw_results(curves_figure, list(reproduction(name).curves()), path, REPRODUCTIONS[name])
        else:
            next(figure for figure in SOURCE_FIGURES[name] if figure.file == file).draw(path)
        return path.read_bytes()
