"""Heat maps of load: a cell for each link, for networks with too many links to be drawn as lines."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.appearance import SCREEN, Look, caption, further, heading, text_width
from gossamer.plots.link_groups import link_groups
from gossamer.plots.load_colors import color_bar, load_scale
from gossamer.plots.palette import FAINT, INK, MUTED, PAPER
from gossamer.schedules import Schedule

__all__ = ["Panel", "heat_panels", "heat_size", "paint_heat"]

_PANELS = 24
"""With more groups of links than this there is one panel, sources against targets."""
_BINS = 512
"""The most rows and columns of that panel."""
_WIDTH = 8.4
_GAP, _TITLE = 0.3, 0.24
_NARROW = 5.0
"""Inches below which what the colors mean is written above their bar."""
_GRAY = "Gray: no packet crosses the link; white: no link."
_UNUSUAL = "Colors are on a square-root scale."

Cells = npt.NDArray[np.float64]


class Panel(NamedTuple):
    """A part of a heat map: its name, and a load for each cell, NaN where there is no link."""

    name: str
    cells: Cells


def heat_panels(network: Network, load: Cells) -> tuple[list[Panel], str]:
    """Return the panels of a heat map, and what a cell stands for.

    Parameters
    ----------
    network : Network
        Any.
    load : float64[L]
        Of each link. Where links share a cell it has the largest.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:2x2")
    >>> panels, note = heat_panels(net, np.arange(8.0))
    >>> [(p.name, p.cells.tolist()) for p in panels[:1]]
    [('dim 0 ±', [[0.0, 2.0], [4.0, 6.0]])]
    """
    groups = link_groups(network)
    if not 1 < len(groups.names) <= _PANELS:
        return [_matrix(network, load)], _matrix_note(network)
    place, shape, note = _places(network)
    panels = []
    for g, name in enumerate(groups.names):
        links = np.flatnonzero(groups.group == g)
        if place is None:
            panels.append(Panel(name, load[links][None, :]))
            continue
        cells = np.full(math.prod(shape), -np.inf)
        np.maximum.at(cells, place[network.link_source[links]], load[links])
        panels.append(Panel(name, np.where(np.isfinite(cells), cells, np.nan).reshape(shape)))
    return panels, note


def _places(network: Network) -> tuple[npt.NDArray[np.int64] | None, tuple[int, int], str]:
    """Return the cell of each node, the rows and columns, and what they are; no cells where a panel is a strip."""
    if network.levels is not None:
        return None, (1, 1), "A strip is a level of links in the order of their sources, from left to right."
    sides = network.grid.sides if network.grid is not None else ()
    if len(sides) >= 2:
        return *_blocks(sides), _blocks_note(len(sides))
    count = network.node_count
    columns = max(1, math.isqrt(max(2 * count - 1, 0)) + 1)
    rows = -(-count // columns)
    note = f"A cell is the link that leaves a node; nodes are in the order of their numbers, {columns} to a row."
    return np.arange(count), (rows, columns), note


def _blocks(sides: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], tuple[int, int]]:
    """Return cells in which the last two dimensions are rows and columns, those before them blocks with gaps."""
    digits = np.stack(np.unravel_index(np.arange(math.prod(sides)), sides))
    row, column = digits[-2].astype(np.int64), digits[-1].astype(np.int64)
    high, wide = sides[-2], sides[-1]
    if len(sides) > 2:
        block = np.ravel_multi_index(tuple(digits[:-2]), sides[:-2])
        blocks = math.prod(sides[:-2])
        wanted = math.sqrt(blocks * high / wide * 1.2)
        across = min((n for n in range(1, blocks + 1) if blocks % n == 0), key=lambda n: abs(math.log(n / wanted)))
        row, column = row + block // across * (high + 1), column + block % across * (wide + 1)
        high, wide = -(-blocks // across) * (high + 1) - 1, across * (wide + 1) - 1
    return row * wide + column, (high, wide)


def _blocks_note(dimensions: int) -> str:
    last = f"rows are dimension {dimensions - 2}, columns dimension {dimensions - 1}"
    before = "" if dimensions == 2 else f", blocks dimension{'s' if dimensions > 3 else ''} "
    before += " and ".join(str(d) for d in range(dimensions - 2))
    return f"A cell is the link that leaves a node: {last}{before}."


def _matrix(network: Network, load: Cells) -> Panel:
    count = network.node_count
    each = -(-count // _BINS)
    bins = -(-count // each)
    cells = np.full((bins, bins), -np.inf)
    np.maximum.at(cells, (network.link_source // each, network.link_target // each), load)
    return Panel("sources down, targets across", np.where(np.isfinite(cells), cells, np.nan))


def _matrix_note(network: Network) -> str:
    each = -(-network.node_count // _BINS)
    if each == 1:
        return "A cell is a link, by the numbers of its nodes."
    return f"A cell has the largest load of the links between {each} nodes and {each} others."


class _Places(NamedTuple):
    """Panels to a row, inches of each panel, and inches of all rows."""

    across: int
    wide: float
    high: list[float]


def _arranged(panels: list[Panel], width: float) -> _Places:
    """Return the arrangement that fits: two or more panels to a row, unless they are strips or one matrix."""
    rows, columns = panels[0].cells.shape
    if rows == 1:
        return _Places(1, width, [0.34] * len(panels))
    if len(panels) == 1:
        wide = min(width, 6.4)
        return _Places(1, wide, [wide * rows / columns])
    most = max(n for n in range(1, len(panels) + 1) if n == 1 or (width - (n - 1) * _GAP) / n >= 0.7)

    def fit(across: int) -> tuple[float, int]:
        wide = min((width - (across - 1) * _GAP) / across, columns * 0.3)
        high = (wide * rows / columns + _TITLE) * -(-len(panels) // across)
        return abs(math.log(high / (0.75 * width))) + 0.3 * (-len(panels) % across), across

    across = min(fit(n) for n in range(1, most + 1))[1]
    wide = min((width - (across - 1) * _GAP) / across, columns * 0.3)
    return _Places(across, wide, [wide * rows / columns] * -(-len(panels) // across))


def heat_size(schedule: Schedule, dress: Look = SCREEN) -> tuple[float, float]:
    """Return width and height of the picture in inches."""
    panels, note = heat_panels(schedule.network, np.zeros(schedule.network.link_count))
    width = dress.width or _WIDTH
    high = _arranged(panels, _room(panels, width)).high
    words = further(schedule, f"{note} {_GRAY} {_UNUSUAL}", width, dress) + 0.15 * (width < _NARROW)
    return width, sum(high) + _TITLE * len(high) + (0.95 if dress.bare else 1.65) + words


def _room(panels: list[Panel], width: float) -> float:
    """Return the inches for panels: names of strips stand on their left, numbers of a matrix too."""
    if panels[0].cells.shape[0] == 1:
        return width - 0.4 - max(text_width(p.name, 8) for p in panels) - 1.0
    return width - (0.4 if len(panels) > 1 else 0.75)


def paint_heat(figure: Any, schedule: Schedule, load: Cells, dress: Look, width: float, height: float) -> None:
    """Paint the heat map on a figure, or part of one, of the size given."""
    panels, note = heat_panels(schedule.network, load)
    scale, unusual = load_scale(load)
    note += f" Colors are {unusual}." if unusual else ""
    top = heading(figure, schedule, width, height, dress)
    foot = caption(figure, f"{note} {_GRAY}", width, height, dress)
    places = _arranged(panels, _room(panels, width))
    y = height - top
    strips = panels[0].cells.shape[0] == 1
    left = width - 0.2 - places.wide * places.across - _GAP * (places.across - 1) if strips else 0.2
    if len(panels) == 1:
        left = 0.55
    for r, high in enumerate(places.high):
        y -= high + _TITLE
        for k, panel in enumerate(panels[r * places.across : (r + 1) * places.across]):
            x = left + k * (places.wide + _GAP)
            axes = figure.add_axes((x / width, y / height, places.wide / width, high / height))
            _paint_panel(axes, panel, scale, strips, single=len(panels) == 1)
    color_bar(figure, scale, load, schedule, (width, height, foot + 0.3))


def _paint_panel(axes: Any, panel: Panel, scale: Any, strips: bool, *, single: bool) -> None:
    axes.imshow(panel.cells, cmap=scale.cmap, norm=scale.norm, aspect="auto", interpolation="nearest", gid="heat")
    axes.set_facecolor(PAPER)
    for side in axes.spines.values():
        side.set(color=FAINT, linewidth=0.6)
    axes.tick_params(labelsize=7, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
    if not single:
        axes.set(xticks=[], yticks=[])
    said = f"{panel.name}: {_span(panel.cells)}"
    if strips:
        axes.set_yticks([0], [said], fontsize=8, color=INK)
        axes.tick_params(length=0)
    else:
        axes.set_title(
            f"{panel.name}: {_span(panel.cells)}", fontsize=8, color=INK, loc="left", pad=3, parse_math=False
        )


def _span(cells: Cells) -> str:
    """Return the least and the largest load of a panel."""
    ends = [f"{v:,.0f}" if v == round(v) else f"{v:,.2f}" for v in (np.nanmin(cells), np.nanmax(cells))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
