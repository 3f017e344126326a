"""Where the nodes of a network stand in the plane: one family of layouts a file, over the record in `layout`."""

from __future__ import annotations

from gossamer.plots.layouts.layout import ARC, STRAIGHT, STUB, Layout, Points, circle
from gossamer.plots.layouts.oblique import oblique
from gossamer.plots.layouts.table import lay_out

__all__ = ["ARC", "STRAIGHT", "STUB", "Layout", "Points", "circle", "lay_out", "oblique"]
