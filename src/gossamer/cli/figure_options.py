"""The options of commands that draw pictures: how these are dressed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import hush_libraries
from gossamer.cli.options import taking

__all__ = ["pictured"]


class Style(StrEnum):
    """How pictures are dressed."""

    screen = "screen"
    paper = "paper"


_PANEL: dict[str, Any] = {"rich_help_panel": "Pictures"}
_STYLE = "paper: 3.3 inches wide, without the heading and notes that a caption gives. Default screen."
_OPTIONS = {
    "style": Annotated[Style | None, typer.Option(help=_STYLE, **_PANEL)],
    "width": Annotated[
        str | None, typer.Option(help="Width, such as 3.3in, 84mm, 8.4cm or 240pt.", metavar="W", **_PANEL)
    ],
    "title": Annotated[str | None, typer.Option(help="Title instead of its own.", metavar="TEXT", **_PANEL)],
}


def pictured(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that draws pictures, into the files of its ``output`` or its ``folder``, what dresses them."""
    own = inspect.signature(command, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        hush_libraries()
        style, width, title = (given.pop(name) for name in _OPTIONS)
        if style is None and width is None and title is None:
            return command(**given)
        from gossamer import plots
        from gossamer.cli.verify import is_picture
        from gossamer.errors import FileFormatError
        from gossamer.reading.quantities import inches

        asked = given.get("output") or []
        pictures = any(map(is_picture, [asked] if isinstance(asked, Path) else asked))
        if not pictures and given.get("folder") is None:
            raise FileFormatError("--style, --width and --title go with a picture: --output FILE.svg, .png or .pdf")
        wide = None if width is None else inches(width, "--width", error=FileFormatError)
        with plots.dressed_as(style and style.value, wide, title):
            return command(**given)

    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    return taking(run, [*own.values(), *further])
