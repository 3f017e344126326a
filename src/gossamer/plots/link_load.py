"""The picture of link load: how much of the time each link is busy, which are the busiest, and the cut of the bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text, quantity
from gossamer.bounds.proofs import Cut, Partition
from gossamer.errors import GossamerError
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.plots.appearance import (
    CONTROL_COLOR,
    FAINT,
    INK,
    MUTED,
    PAPER,
    SCREEN,
    UNWRITTEN,
    Dress,
    Look,
    caption,
    further,
    heading,
    load_unit,
    look,
    measured,
    sequential,
    text_width,
    time_text,
    tint,
    write,
)
from gossamer.plots.layouts import STRAIGHT, Layout, lay_out
from gossamer.plots.layouts.layout import STUB_LENGTH, Lines, arrowheads, link_lines
from gossamer.plots.layouts.machines import rows_above
from gossamer.plots.link_groups import LinkGroups, link_groups
from gossamer.plots.node_names import LEAST_SIZE, Page, fitted, paint_nodes
from gossamer.plots.panels import Figure, Inside
from gossamer.schedules import CONTROL, Schedule
from gossamer.verification import link_busy, verify

# The colors of loads, and the bar that explains them: alike on the network and on a heat map.

_TOPS = (1, 2, 5, 10, 20, 25, 30, 40, 50, 60, 75, 100)
"""Percents at which a scale of colors may end."""


def load_scale(load: Cells) -> tuple[Any, str]:
    """Return the mapping from percents of time to colors, and what scale that is if it is not the plain one.

    >>> load_scale(np.array([0.0, 10.0, 45.0]))[0].norm.vmax
    50.0
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, PowerNorm

    most = float(load.max(initial=0))
    top = next((top for top in _TOPS if top >= most - 1e-6), 100)
    colors = sequential().with_extremes(under=FAINT)
    used = load[load > 0]
    if used.size > 20 and np.quantile(used, 0.9) < most / 6:
        return ScalarMappable(PowerNorm(0.5, 1e-9, top), colors), "on a square-root scale"
    return ScalarMappable(Normalize(1e-9, top), colors), ""


def percent(load: float) -> str:
    """Return a share of time for people.

    >>> percent(100.0), percent(33.333), percent(0.01)
    ('100 %', '33 %', 'below 0.1 %')
    """
    if 0 < load < 0.1:
        return "below 0.1 %"
    return f"{load:.0f} %" if load >= 10 or load == round(load) else f"{load:.1f} %"


def color_bar(figure: Any, scale: Any, load: Cells, schedule: Schedule, place: tuple[float, float, float]) -> None:
    """Explain the colors at a place: the width and height of the figure, and where the bar begins, in inches.

    Of loads that are all alike the color is shown by itself.
    """
    from matplotlib.ticker import MaxNLocator

    width, height, bottom = place
    if not load.any():
        write(figure, 0.2 / width, (bottom + 0.055) / height, "No message packet crosses a link.", va="center")
        return
    used = load[load > 0]
    alike = float(np.ptp(used)) < 0.005 * float(used.max())
    length = 0.3 if alike else min(2.6, width - 0.6)
    axes = figure.add_axes((0.25 / width, bottom / height, length / width, 0.11 / height))
    text = load_unit(schedule)
    if alike:
        axes.set(facecolor=scale.to_rgba(float(used.max())), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        text = f"each link that is used: {percent(float(used.max()))} of {text.partition('% of ')[2]}"
    else:
        bar = figure.colorbar(scale, cax=axes, orientation="horizontal")
        bar.outline.set_visible(False)
        bar.ax.xaxis.set_major_locator(MaxNLocator(nbins=5))
        bar.ax.xaxis.set_major_formatter("{x:g}")
        bar.ax.minorticks_off()
        bar.ax.tick_params(labelsize=7.5, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
    aside = 0.25 + length + 0.18
    size = 8.5 if measured(text, 8.5)[0] / 72 < width - aside - 0.1 else 7
    if measured(text, size)[0] / 72 < width - aside - 0.1:
        write(figure, aside / width, (bottom + 0.055) / height, text, size, va="center")
    else:
        write(figure, 0.2 / width, (bottom + 0.15) / height, text, 7, va="bottom")


# Heat maps of load: a cell for each link, for networks with too many links to be drawn as lines.

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
Flags = npt.NDArray[np.bool_]


class HeatPanel(NamedTuple):
    """A part of a heat map: its name, and a load for each cell, NaN where there is no link."""

    name: str
    cells: Cells


def heat_panels(network: Network, load: Cells) -> tuple[list[HeatPanel], str]:
    """Return the panels of a heat map, and what a cell stands for.

    `network`: any. `load` (float64[L]): of each link. Where links share a cell it has the largest.

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
            panels.append(HeatPanel(name, load[links][None, :]))
            continue
        cells = np.full(math.prod(shape), -np.inf)
        np.maximum.at(cells, place[network.link_source[links]], load[links])
        panels.append(HeatPanel(name, np.where(np.isfinite(cells), cells, np.nan).reshape(shape)))
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


def _matrix(network: Network, load: Cells) -> HeatPanel:
    count = network.node_count
    each = -(-count // _BINS)
    bins = -(-count // each)
    cells = np.full((bins, bins), -np.inf)
    np.maximum.at(cells, (network.link_source // each, network.link_target // each), load)
    return HeatPanel("sources down, targets across", np.where(np.isfinite(cells), cells, np.nan))


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


def _strips(panels: list[HeatPanel]) -> bool:
    """Return whether panels are strips one below the other."""
    return len(panels) > 1 and panels[0].cells.shape[0] == 1


def _arranged(panels: list[HeatPanel], width: float) -> _Places:
    """Return the arrangement that fits: two or more panels to a row, unless they are strips or one matrix."""
    rows, columns = panels[0].cells.shape
    if _strips(panels):
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


def _room(panels: list[HeatPanel], width: float) -> float:
    """Return the inches for panels: names of strips stand on their left, numbers of a matrix too."""
    if _strips(panels):
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
    strips = _strips(panels)
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


def _paint_panel(axes: Any, panel: HeatPanel, scale: Any, strips: bool, *, single: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.imshow(panel.cells, cmap=scale.cmap, norm=scale.norm, aspect="auto", interpolation="nearest", gid="heat")
    axes.set_facecolor(PAPER)
    for side in axes.spines.values():
        side.set(color=FAINT, linewidth=0.6)
    axes.tick_params(labelsize=7, length=2, width=0.6, color=MUTED, labelcolor=INK, pad=2)
    if single:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    else:
        axes.set(xticks=[], yticks=[])
    said = f"{panel.name}: {_span(panel.cells)}"
    if strips:
        axes.set_yticks([0], [said], fontsize=8, color=INK)
        axes.tick_params(length=0)
    else:
        room = axes.get_window_extent().width / axes.figure.dpi * 72 + 10
        most = f"{panel.name}: {percent(float(np.max(panel.cells, where=~np.isnan(panel.cells), initial=0.0)))}"
        tried = [(text, size) for text in (said, most) for size in (8.0, 7.0, 6.0, 5.5)]
        said, size = next((pair for pair in tried if measured(*pair)[0] < room), (panel.name, 5.5))
        axes.set_title(said, fontsize=size, color=INK, loc="left", pad=3, parse_math=False)


def _span(cells: Cells) -> str:
    """Return the least and the largest load of a panel."""
    if np.isnan(cells).all():
        return "no links"
    ends = [percent(float(v)) for v in (np.nanmin(cells), np.nanmax(cells))]
    return ends[0] if ends[0] == ends[1] else " to ".join([ends[0].removesuffix(" %"), ends[1]])


# Link loads of networks too large to draw: a bar for each group of links, or a histogram where there are none.

_SHOWN, _HISTOGRAM = 48, 40
"""The most groups with a bar, and the bars of a histogram."""
_ROW = 0.3


def bars_size(schedule: Schedule, dress: Look = SCREEN) -> tuple[float, float]:
    """Return width and height of the picture in inches."""
    groups = len(_bar_groups(schedule.network).names)
    return dress.width or 7.8, 1.95 + (2.4 if groups == 1 else _ROW * min(groups, _SHOWN))


def _bar_groups(network: Network) -> LinkGroups:
    """Return the groups of the links; behind switches by how far their ends are from terminals, and by speed."""
    found = link_groups(network)
    if len(found.names) > 1 or network.terminal_count == network.node_count:
        return found
    row, speeds = rows_above(network), network.find(Speeds)
    rate = network.link_capacity * (1.0 if speeds is None else speeds.bandwidth)
    columns = np.stack([row[network.link_source], row[network.link_target], -rate])
    kinds, group = np.unique(columns, axis=1, return_inverse=True)
    names = []
    for low, high, speed in kinds.T.tolist():
        ends = " to ".join("terminals" if r == 0 else f"tier-{int(r)} switches" for r in (low, high))
        names.append(f"{ends}, {bandwidth_text(-speed)}" if speeds is not None else ends)
    return LinkGroups(tuple(names), group.reshape(-1).astype(np.int32))


def paint_bars(figure: Any, schedule: Schedule, load: Cells, width: float, height: float,
               dress: Look = SCREEN) -> None:  # fmt: skip
    """Show mean, least and largest load of each group of links, or how many links have which load."""
    groups = _bar_groups(schedule.network)
    names = groups.names[:_SHOWN]
    notes = [f"The network is too large to draw its {quantity(load.size, 'link')}."]
    if len(groups.names) > 1:
        notes.append("Bars: mean over the links of a group; whiskers: least and largest load.")
    if len(names) < len(groups.names):
        notes.append(f"The first {len(names)} of {len(groups.names)} groups are shown.")
    top = heading(figure, schedule, width, height, dress)
    foot = caption(figure, " ".join(notes), width, height, dress)
    left = 0.35 + max(text_width(name, 8.5) for name in names) if len(groups.names) > 1 else 0.95
    span, rise = width - left - 0.3, height - top - foot - 0.68
    axes = figure.add_axes((left / width, (foot + 0.55) / height, span / width, rise / height))
    axes.tick_params(labelsize=8, length=2, width=0.6, color=MUTED, labelcolor=INK)
    if len(groups.names) > 1:
        _bars(axes, groups, load, names)
    else:
        _histogram(axes, load)
    axes.set_xlabel(load_unit(schedule), fontsize=8.5, color=INK)
    axes.xaxis.set_major_formatter("{x:,.4g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set(color=MUTED, linewidth=0.6)


def _bars(axes: Any, groups: LinkGroups, load: Cells, names: tuple[str, ...]) -> None:
    links = np.bincount(groups.group, minlength=len(groups.names))
    mean = np.bincount(groups.group, load, minlength=links.size) / np.maximum(links, 1)
    least, most = np.full(links.size, load.max(initial=0)), np.zeros(links.size)
    np.minimum.at(least, groups.group, load)
    np.maximum.at(most, groups.group, load)
    row = np.arange(len(names))
    axes.barh(row, mean[: row.size], height=0.62, color=sequential()(1.0))
    axes.hlines(row, least[: row.size], most[: row.size], color=INK, linewidth=1.1)
    for r in range(len(names)):
        text = (
            percent(mean[r])
            if least[r] == most[r]
            else f"{percent(mean[r])} ({percent(least[r])} to {percent(most[r])})"
        )
        write(axes, max(float(most[r]), float(mean[r])), r, f" {text}", 7.5, va="center")
    axes.set(xlim=(0, max(1.0, float(load.max(initial=0))) * 1.3), ylim=(row.size - 0.4, -0.6), yticks=row)
    axes.set_yticklabels(names, fontsize=8.5, parse_math=False)
    axes.tick_params(axis="y", length=0)


def _histogram(axes: Any, load: Cells) -> None:
    most = float(load.max(initial=0)) or 1.0
    edges = np.linspace(0, most * (1 + 1e-9), _HISTOGRAM + 1)
    counts, _ = np.histogram(load, edges)
    axes.stairs(counts, edges, fill=True, color=sequential()(1.0), edgecolor=PAPER)
    axes.set(xlim=(edges[0], edges[-1]))
    axes.set_ylabel("links", fontsize=8.5, color=INK)
    axes.yaxis.set_major_formatter("{x:,.0f}")


NODE_LIMIT = 20_000
"""Networks with more nodes, or ten times as many links, are not drawn; `gossamer.plots.link_load` stands in."""
_CROWDED, _CROWDED_PLANE, _TANGLED = 500, 2_500, 100
"""With more links, links of an array or torus in the plane, or links that cross others, a heat map is clearer."""
_ARROWS = 800
_MERGED = 2_000
"""With more lines than this, those of one load become one path, in chunks that renderers take."""
_CHUNK = 500
_RASTER = 60_000
"""With more lines than this, they are pixels also in a vector file, to keep it small."""
_PAGE = (8.8, 8.2)
_THIN = 0.18
"""The widest line covers no more than this share of the paper beside it: a crowded picture is of thin lines."""
_FEW = 0.6
"""Links are marked as the busiest if they are less than this share of those in use."""
_MATRIX = 400
"""With more nodes and no groups of links, a heat map of all pairs shows nothing: bars stand in."""
_BOUNDED = 400
"""Lower bounds are computed again for networks of at most so many links."""
_WRITTEN_OUT = 5_000_000


def load_figure(schedule: Schedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw the network with every link colored and widened by its load, or as a heat map if there are many links.

    The load of a link is the percent of the whole time in which it is busy: what crosses it, over what it could carry.
    So links of different speeds can be compared. The busiest links have an orange ground, and bars cross the links of
    the cut that the largest lower bound looks at, whose nodes on one side are tinted.

    Parameters
    ----------
    schedule : Schedule
        A valid schedule, explicit or invariant; control packets do not count.
    **dressing : Dress
        As for all figures. With `ax`: draw the network, never the heat map, there, without heading, notes and color
        bar.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, unknown to pyplot, or that of `ax`. A crowded network (see `crowded`) is drawn as
        `heat_figure` does. Above `NODE_LIMIT` nodes the figure shows the least, mean and largest load of each group of
        links (dimension and direction, generator, level).

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    FileFormatError
        If style or width are none.

    Notes
    -----
    O(hops + links) and the layout, see `gossamer.plots.layouts.lay_out`.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> figure = load_figure(s)
    >>> figure.axes[0].collections[0].get_array().tolist()
    [0.0, 0.0, 50.0, 50.0]
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    if (ax := dress.ax) is not None:
        _paint_on(ax, schedule)
        figure: Figure = ax.figure
        return figure
    sheet = load_sheet(schedule, dress)
    figure = Figure(figsize=(sheet.width, sheet.height), facecolor=PAPER)
    paint_load(figure, schedule, sheet)
    return figure


def heat_figure(schedule: Schedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw the load of every link as a cell: a panel for each dimension and direction, generator or level.

    Parameters
    ----------
    schedule, **dressing
        As for `load_figure`. With `ax`: draw the panels there.

    Returns
    -------
    matplotlib.figure.Figure
        In a panel the cell of a link stands where its source does. Of a network without such groups there is one
        panel, sources down and targets across.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    FileFormatError
        If style or width are none.

    Examples
    --------
    >>> import gossamer
    >>> figure = heat_figure(gossamer.plan("torus:4x4", "allgather").schedule)
    >>> [axes.get_title(loc="left") for axes in figure.axes[:2]]
    ['dim 0 +: 100 %', 'dim 0 −: 100 %']
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    if dress.ax is not None:
        area = Inside(dress.ax)
        bare = Look("paper", area.width)
        paint_heat(area, schedule, load_of(schedule), bare, *heat_size(schedule, bare))
        drawn: Figure = area.figure
        return drawn
    size = heat_size(schedule, dress)
    figure = Figure(figsize=size, facecolor=PAPER)
    paint_heat(figure, schedule, load_of(schedule), dress, *size)
    return figure


def crowded(network: Network) -> bool:
    """Return whether a network has too many links, or too many that pass over others, to be drawn as lines.

    >>> import gossamer
    >>> [crowded(gossamer.network(spec)) for spec in ("torus:16x16", "torus:8x8x8", "hypercube:6", "ring:200")]
    [False, True, True, False]
    """
    flat = network.grid is not None and sum(side > 1 for side in network.grid.sides) <= 2
    if network.link_count > (_CROWDED_PLANE if flat else _CROWDED):
        return True
    shape = lay_out(network).shape
    return not flat and int((shape != STRAIGHT).sum()) > _TANGLED


class Marks(NamedTuple):
    """The busiest links and those across the cut of the bound, bool[L]; nodes on one side of it, bool[N]; in words."""

    busiest: Flags
    across: Flags
    nodes: Flags
    words: tuple[str, ...]


def bound_marks(schedule: Schedule, load: Cells) -> Marks:
    """Return which links are busiest, and what the largest lower bound looks at, where it is a cut or a partition.

    Bounds are computed for networks of at most 400 links.

    >>> import gossamer
    >>> schedule = gossamer.plan("array:4", "scatter").schedule
    >>> bound_marks(schedule, load_of(schedule)).words[0]
    'Orange: the busiest links, 1 link at 100 %.'
    """
    network = schedule.network
    none, words = np.zeros(network.link_count, bool), []
    busiest, used = none, load > 0
    if used.any():
        most = float(load.max())
        top = load > 0.995 * most
        if top.sum() < _FEW * used.sum():
            busiest = top
            words.append(f"Orange: the busiest links, {quantity(int(top.sum()), 'link')} at {percent(most)}.")
    nodes, across = np.zeros(network.node_count, bool), none
    found = _largest_bound(schedule) if network.link_count <= _BOUNDED else None
    if found is not None:
        sets, of_links, value, scope = found
        nodes = ~sets if 2 * sets.sum() > sets.size else sets
        across = of_links
        ratio = f"{float(schedule.completion_time / value):.4g} x as long" if value else "longer"
        least = time_text(schedule, value)
        words.append(f"Bars cross the cut of the lower bound for {scope}, {least}; this one takes {ratio}.")
    return Marks(busiest, across, nodes, tuple(words))


def _largest_bound(schedule: Schedule) -> tuple[Flags, Flags, Fraction, str] | None:
    """Return nodes and links of the cut of the question's largest bound, the bound, and what it holds for.

    None where that is no cut.
    """
    from gossamer.planning.planner import lower_bounds

    network = schedule.network
    try:
        bounds = lower_bounds(network, schedule.task, rules=schedule.rules, cost=schedule.cost)
    except GossamerError:
        return None
    best, scope = bounds[0].value, bounds[0].scope
    words = scope or "any schedule"
    for bound in bounds:
        proof = bound.proof
        if bound.value != best or bound.scope != scope:
            continue
        inside = np.zeros(network.node_count, bool)
        if isinstance(proof, Cut) and proof.nodes is not None and 0 < len(proof.nodes) < network.node_count:
            inside[proof.nodes] = True
            one, other = inside[network.link_source], inside[network.link_target]
            return inside, (other & ~one) if proof.enter else (one & ~other), best, words
        if isinstance(proof, Partition):
            part = np.asarray(proof.part)
            if np.unique(part[part >= 0]).size == 2:
                inside = part == part[part >= 0].min()
            return inside, part[network.link_source] != part[network.link_target], best, words
    return None


class LoadSheet(NamedTuple):
    """The page of a picture: its size in inches, and where the network stands if it is drawn; what is marked."""

    width: float
    height: float
    layout: Layout | None = None
    page: Page | None = None
    radius: float = 0.27
    marks: Marks | None = None
    dress: Look = SCREEN
    heat: bool = False


def load_sheet(schedule: Schedule, dress: Look = SCREEN, *, heat: bool | None = None) -> LoadSheet:
    """Return the page for the picture of a schedule's load; `heat` says whether it is a heat map."""
    network = schedule.network
    if network.node_count > NODE_LIMIT or network.link_count > 10 * NODE_LIMIT:
        return LoadSheet(*bars_size(schedule, dress), dress=dress)
    if heat is None and network.node_count > _MATRIX and len(link_groups(network).names) == 1 and crowded(network):
        return LoadSheet(*bars_size(schedule, dress), dress=dress)
    if crowded(network) if heat is None else heat:
        return LoadSheet(*heat_size(schedule, dress), dress=dress, heat=True)
    room = ((_PAGE[0] if dress.width is None else dress.width - 0.1) * 72, _PAGE[1] * 72)
    sheet = _standing(schedule, room, 72 * (1.0 if dress.width is None else 9.0))._replace(dress=dress)
    size = _inches(sheet)
    wide = dress.width or max(float(size[0]) + 0.4, 6.4)
    usual = float(size[1]) + (0.75 if dress.bare else 1.75)
    sheet = sheet._replace(width=wide, height=usual)
    top, foot, _ = _written(UNWRITTEN, schedule, sheet, load_of(schedule))
    return sheet._replace(height=max(usual, float(size[1]) + top + foot + 0.74))


def _standing(schedule: Schedule, room: tuple[float, float], most: float) -> LoadSheet:
    """Return where the network stands in a room in points; nodes are small where they have no names inside."""
    network = schedule.network
    layout = lay_out(network)
    radius = 0.27
    page = fitted(network, layout, link_lines(network, layout, radius, 0.1), radius, room, most)
    if not any(t and m == "in" for t, m in zip(page.names.text, page.names.manner, strict=True)) and not layout.bars:
        radius = float(np.clip(2.4 / page.unit, 0.06, 0.2))
        page = fitted(network, layout, link_lines(network, layout, radius, 0.05), radius, room, most)
    return LoadSheet(0, 0, layout, page, radius, bound_marks(schedule, load_of(schedule)))


def _inches(sheet: LoadSheet) -> Cells:
    assert sheet.page is not None
    return (sheet.page.high - sheet.page.low) * sheet.page.unit / 72


def load_of(schedule: Schedule) -> Cells:
    """Return the percent of the time in which each link is busy, float64[L].

    >>> import gossamer
    >>> load_of(gossamer.plan("array:3", "broadcast").schedule).tolist()
    [50.0, 50.0, 0.0, 0.0]
    """
    capacity, whole = np.asarray(schedule.network.link_capacity, np.float64), schedule.completion_time
    if not whole:
        return np.zeros(capacity.size)
    lengths = {p.slot_length for p in schedule.phases if p.slots}
    if len(lengths) > 1 and schedule.hop_count <= _WRITTEN_OUT:
        explicit = schedule.expand()
        phase = np.searchsorted([p.first_slot for p in explicit.phases if p.slots], explicit.slot, side="right") - 1
        each = np.array([float(p.slot_length) for p in explicit.phases if p.slots])[phase]
        mine = explicit.packet != CONTROL
        busy: Any = np.bincount(explicit.link[mine], each[mine], minlength=capacity.size)
    else:
        busy = link_busy(schedule) * float(whole / max(schedule.slot_count, 1))
    return np.asarray(100 * busy / capacity / float(whole), np.float64)


def paint_load(figure: Any, schedule: Schedule, sheet: LoadSheet) -> None:
    """Paint the picture on a figure, or part of one, of the size of the sheet."""
    load, dress = load_of(schedule), sheet.dress
    width, height = sheet.width, sheet.height
    if sheet.heat:
        paint_heat(figure, schedule, load, dress, width, height)
        return
    if sheet.layout is None:
        paint_bars(figure, schedule, load, width, height, dress)
        return
    top, foot, scale = _written(figure, schedule, sheet, load)
    bar_at = foot + 0.36
    size = _inches(sheet)
    left, low = (width - size[0]) / 2, bar_at + 0.28 + (height - top - bar_at - 0.28 - size[1]) / 2
    axes = figure.add_axes((left / width, low / height, size[0] / width, size[1] / height))
    _paint_network(axes, schedule, sheet, load, scale, size)
    color_bar(figure, scale, load, schedule, (width, height, bar_at))


def _written(figure: Any, schedule: Schedule, sheet: LoadSheet, load: Cells) -> tuple[float, float, Any]:
    """Write heading and notes; return the inches that they use, at the top and at the bottom, and the colors."""
    width, height, dress, layout = sheet.width, sheet.height, sheet.dress, sheet.layout
    scale, unusual = load_scale(load)
    notes = ["A link is drawn to the right of its direction of travel, gray if nothing crosses it."]
    notes += [*(layout.notes if layout else ()), *([f"Colors and widths are {unusual}."] if unusual else [])]
    notes += [*(sheet.marks.words if sheet.marks else ()), *(sheet.page.names.notes if sheet.page else ())]
    top = heading(figure, schedule, width, height, dress)
    words = [*([f"Colors and widths are {unusual}."] if unusual else []), *(sheet.marks.words if sheet.marks else ())]
    key = " ".join([*words, *(sheet.page.names.notes if sheet.page else ())])
    return top, caption(figure, " ".join(notes), width, height, dress, key=key), scale


def _paint_on(axes: Any, schedule: Schedule) -> None:
    """Paint the network on somebody else's axes."""
    box = axes.get_window_extent()
    sheet = _standing(schedule, (box.width / axes.figure.dpi * 72, box.height / axes.figure.dpi * 72), 1e6)
    load = load_of(schedule)
    axes.set_aspect("equal")
    _paint_network(axes, schedule, sheet, load, load_scale(load)[0], _inches(sheet))


def _paint_network(axes: Any, schedule: Schedule, sheet: LoadSheet, load: Cells, scale: Any,
                   size: Cells) -> None:  # fmt: skip
    """Paint links, nodes and names on axes of a size in inches."""
    layout, page, radius = sheet.layout, sheet.page, sheet.radius
    assert layout is not None
    assert page is not None
    axes.set_axis_off()
    axes.set(xlim=(page.low[0], page.high[0]), ylim=(page.low[1], page.high[1]))

    unit = page.unit
    widest = float(np.clip(0.13 * unit, 0.5, 3.4))
    offset = min((0.5 * widest + max(0.035 * unit, 0.25)) / unit, 0.12, 0.75 * radius)
    lines = link_lines(schedule.network, layout, radius, offset)
    ink = sum(float(np.hypot(*np.diff(g.points, axis=1).T).sum()) for g in lines) * unit
    room = (size * 72).prod() / max(ink, 1.0)  # points of paper beside a line, if all lay side by side
    widest = min(widest, max(_THIN * room, 0.8))
    thin = float(np.clip(0.4 * room, 0.25, 0.5 * widest))
    _paint_lines(axes, lines, load, scale, (thin, widest), unit)
    tints: list[str | None] = []
    if sheet.marks is not None:
        _paint_marks(axes, lines, sheet.marks, widest, unit)
        tints = [tint(CONTROL_COLOR, 0.25) if side else None for side in sheet.marks.nodes]
    paint_nodes(axes, schedule.network, layout, page, radius, tints)
    for x, y, text in layout.blocks:
        above, size_of_type = y + radius + STUB_LENGTH + 0.08, float(np.clip(0.6 * unit, LEAST_SIZE, 8))
        write(axes, x, above, text, size_of_type, color=MUTED, ha="center", va="bottom")


def _paint_marks(axes: Any, lines: list[Lines], marks: Marks, widest: float, unit: float) -> None:
    """Paint an orange ground below the busiest links, and a bar across those of the cut."""
    from matplotlib.collections import LineCollection

    for group in lines:
        chosen = marks.busiest[group.link]
        ground: dict[str, Any] = {"colors": tint(CONTROL_COLOR, 0.55), "zorder": 0.9, "gid": "busiest"}
        axes.add_collection(LineCollection(list(group.points[chosen]), linewidths=widest + 2.6, **ground))
        points = group.points[marks.across[group.link]]
        if not len(points):
            continue
        k = (points.shape[1] - 1) // 2
        before, after = points[:, k], points[:, k + 1]
        way = (after - before) / np.maximum(np.hypot(*(after - before).T), 1e-12)[:, None]
        side = np.stack([-way[:, 1], way[:, 0]], axis=1) * (0.5 * widest + 2.2) / unit
        middle = before + (after - before) * (0.35 if points.shape[1] == 2 else 0.5)
        bars = np.stack([middle - side, middle + side], axis=1)
        axes.add_collection(LineCollection(list(bars), linewidths=1.3, colors=INK, zorder=1.7, gid="cut"))


def _paint_lines(axes: Any, groups: list[Lines], load: Cells, scale: Any,
                 width: tuple[float, float], unit: float) -> None:  # fmt: skip
    """Draw the lines, lightly loaded ones first, with arrowheads if they are few."""
    from matplotlib.collections import LineCollection, PolyCollection

    count = sum(len(lines.link) for lines in groups)
    thin, widest = width
    for lines in groups:
        order = np.argsort(load[lines.link], kind="stable")
        points, loads = lines.points[order], load[lines.link][order]
        paths, values = _merged(points, loads) if count > _MERGED else (list(points), loads)
        share = np.clip(scale.norm(values.astype(float)) / max(1, scale.norm(load.max(initial=1))), 0, 1)
        widths = np.where(values == 0, 0.5 * thin, thin + (widest - thin) * share)
        style = {"norm": scale.norm, "cmap": scale.cmap, "rasterized": count > _RASTER}
        axes.add_collection(
            LineCollection(paths, linewidths=widths, array=values.astype(float), capstyle="butt", gid="links",
                           zorder=1, **style)
        )  # fmt: skip
        if count <= _ARROWS:
            heads = arrowheads(Lines(points, lines.link[order]), min(0.2, 3.4 * widest / unit))[loads > 0]
            axes.add_collection(
                PolyCollection(list(heads), array=loads[loads > 0].astype(float), edgecolors="none", gid="arrows",
                               zorder=1.5, **style)
            )  # fmt: skip


def _merged(points: Cells, loads: Cells) -> tuple[list[Cells], Cells]:
    """Join lines of one load, which are next to each other, into paths with gaps between the lines."""
    cuts = np.flatnonzero(np.diff(loads)) + 1
    paths, values = [], []
    for a, b in zip([0, *cuts.tolist()], [*cuts.tolist(), len(loads)], strict=True):
        for c in range(a, b, _CHUNK):
            part = points[c : min(c + _CHUNK, b)]
            gap = np.full((len(part), 1, 2), np.nan)
            paths.append(np.concatenate([part, gap], axis=1).reshape(-1, 2)[:-1])
            values.append(loads[a])
    return paths, np.array(values)
