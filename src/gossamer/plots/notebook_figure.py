"""Figures that display themselves in notebooks."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure as _Figure

from gossamer.plots.appearance import dressed, settings

__all__ = ["Figure", "svg_text"]


class Figure(_Figure):
    """A figure that a notebook shows as it is, whatever backend it uses."""

    def _repr_html_(self) -> str:
        return svg_text(self)


def svg_text(figure: Any) -> str:
    """Return a figure as an SVG element."""
    with settings():
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = dressed(text.getvalue())
    return svg[svg.index("<svg") :]
