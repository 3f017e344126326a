"""The figures that the sources' texts describe, drawn from schedules of Gossamer."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from gossamer.algorithms.scatter.area_division import area_division
from gossamer.errors import FileFormatError, TaskError, nearest
from gossamer.networks.spec import network as parse_network
from gossamer.planning.planner import plan
from gossamer.plots.animation import animate
from gossamer.plots.appearance import CATEGORICAL, FAINT, INK, MUTED, PAPER, Dress, look, sequential, tint, write
from gossamer.plots.broadcast_trees import tree_figure
from gossamer.plots.curves import delay_figure
from gossamer.plots.link_occupancy import occupancy_figure
from gossamer.plots.panels import page
from gossamer.plots.picture_files import write_picture
from gossamer.plots.timetables import queue_figure, timetable_figure
from gossamer.plots.wormhole_steps import (
    aggregation_figure,
    all_gather_figure,
    collection_figure,
    exchange_figure,
    partition_figure,
)
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task as parse_task
from gossamer.questions.tasks.patterns import pattern
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.studies.reproductions import Table, reproduction
from gossamer.studies.reproductions.chen_chen.comparison import CURVES, chosen, counts, rival_time
from gossamer.studies.reproductions.chen_chen.schedule_costs import VARIANTS, bound, fastest
from gossamer.studies.reproductions.han import SIZES, growth
from gossamer.verification import verify
from gossamer.wormhole.partition import common_divisors

if TYPE_CHECKING:
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Steps and buffers of routers against the side of the array.

_LOOKS = {
    "Q": (CATEGORICAL[0], "o", "-"), "H": (CATEGORICAL[1], "s", "-"), "kunde-2": (CATEGORICAL[2], "^", "--"),
    "kunde-4": (CATEGORICAL[4], "v", "--"), "greedy": (CATEGORICAL[3], "D", "-."), "valiant-brebner": (MUTED, "x", ":"),
    "random-slices": (CATEGORICAL[5], "+", ":"),
}  # fmt: skip


def routers_figure() -> Figure:
    """Return a figure of two panels: the worst steps, and the worst buffers, of each router on n x n arrays.

    Both axes are logarithmic. The gray line in the first panel is the diameter 2n - 2, which no router undercuts on the
    reversal.
    """
    from matplotlib.figure import Figure

    found = list(growth())
    width, height = 9.0, 4.2
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    steps, buffers = figure.subplots(1, 2)
    steps.plot(SIZES, [2 * n - 2 for n in SIZES], color=FAINT, linewidth=5, label="diameter (bound)", zorder=1)
    for each in found:
        color, marker, line = _LOOKS[each.name]
        look: dict[str, Any] = {
            "color": color, "marker": marker, "linestyle": line, "linewidth": 1.4, "markersize": 4.5,
        }  # fmt: skip
        steps.plot(SIZES, each.steps, label=each.name, **look)
        buffers.plot(SIZES, each.buffers, label=each.name, **look)
    for panel, name in ((steps, "steps, control packets included"), (buffers, "messages in one node at most")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log", base=2)
        _axes(panel, name)
        panel.set_xlabel("side n", fontsize=8, color=MUTED)
    steps.legend(fontsize=7.5, frameon=False)
    write(
        figure, 0.02, 0.965, "Routers on n x n arrays: worst of the named and three random permutations", 11, va="top"
    )
    figure.subplots_adjust(left=0.06, right=0.98, top=0.83, bottom=0.12, wspace=0.16)
    return figure


# What multinode broadcasts with wormhole messages cost against the number of sources, and which h is best.

_COST_LOOKS = {
    "atd-5": (CATEGORICAL[1], "s", "-"), "atd-opt": (CATEGORICAL[4], "D", "-"), "atd-piece": (CATEGORICAL[3], "o", "-"),
    "rings": (CATEGORICAL[0], "^", "--"), "packed rings": (CATEGORICAL[2], "v", "--"),
    "EDST": (CATEGORICAL[5], "x", ":"),
    "EDST pipelined": (CATEGORICAL[0], "P", "-."), "sequential": (MUTED, "+", ":"),
}  # fmt: skip


def costs_figure() -> Figure:
    """Return four panels of measured time against s: all rivals, with the bound. All axes are logarithmic."""
    from matplotlib.figure import Figure

    width, height = 9.0, 7.6
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    panels = figure.subplots(2, 2).reshape(-1)
    for panel, (n, tau) in zip(panels, CURVES, strict=True):
        x = counts(n)
        least = [float(bound(n, s, tau)) for s in x]
        panel.plot(x, least, color=FAINT, linewidth=5, label="lower bound", zorder=1)
        for name, (color, marker, line) in _COST_LOOKS.items():
            times = [fastest(n, s, name, tau)[1] if name in VARIANTS else rival_time(n, s, tau, name) for s in x]
            look: dict[str, Any] = {"color": color, "marker": marker, "linestyle": line}
            panel.plot(x, [float(t) for t in times], label=name, linewidth=1.4, markersize=4.5, **look)
        panel.set_xscale("log")
        panel.set_yscale("log")
        _axes(panel, f"{n} x {n} nodes, start-up = {float(tau):g} message{'s' if tau > 1 else ''}")
        panel.set_xlabel("sources s", fontsize=8, color=MUTED)
        panel.set_ylabel("time in messages (m T_c)", fontsize=8, color=MUTED)
    figure.legend(*panels[0].get_legend_handles_labels(), loc=(0.05, 0.895), ncols=5, fontsize=7.5, frameon=False)
    write(figure, 0.02, 1 - 0.16 / height, "Multinode broadcast with wormhole messages: time against sources", 11,
          va="top")  # fmt: skip
    figure.subplots_adjust(left=0.075, right=0.98, top=0.85, bottom=0.07, hspace=0.32, wspace=0.22)
    return figure


def best_h_figure(n: int = 30) -> Figure:
    """Return a map for each variant of the h that the closed form chooses, by s and tau, on n x n nodes."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure

    width, height = 9.0, 3.4
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    panels = figure.subplots(1, 3, sharey=True)
    divisors = common_divisors((n, n))
    shades = ListedColormap(sequential()(np.linspace(0.02, 0.95, len(divisors))))
    norm = BoundaryNorm(np.arange(len(divisors) + 1) - 0.5, shades.N)
    sources = np.unique(np.geomspace(1, n * n, 40).astype(int))
    taus = np.geomspace(0.01, 1000, 61)
    mesh: Any = None
    for panel, name in zip(panels, VARIANTS, strict=True):
        found = np.searchsorted(divisors, chosen(n, name, sources.tolist(), taus))
        mesh = panel.pcolormesh(sources, taus, found, cmap=shades, norm=norm, shading="nearest", rasterized=True)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlim(1, n * n)
        _axes(panel, name)
        panel.set_xlabel("sources s", fontsize=8, color=MUTED)
    panels[0].set_ylabel("start-up tau = T_s / (m T_c)", fontsize=8, color=MUTED)
    figure.subplots_adjust(left=0.075, right=0.9, top=0.8, bottom=0.14, wspace=0.08)
    bar = figure.colorbar(mesh, cax=figure.add_axes((0.92, 0.14, 0.014, 0.66)), ticks=range(len(divisors)))
    bar.ax.set_yticklabels([f"h = {h}" for h in divisors])
    bar.ax.tick_params(labelsize=7.5, colors=MUTED, length=0)
    bar.outline.set_visible(False)
    write(figure, 0.02, 1 - 0.14 / height, f"The h that the closed form chooses on {n} x {n} nodes", 11, va="top")
    return figure


def _axes(panel: Any, title: str) -> None:
    from matplotlib.ticker import FuncFormatter

    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    panel.set_title(title, fontsize=9, color=INK, loc="left")
    panel.tick_params(labelsize=7.5, colors=MUTED)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(FAINT)


class SourceFigure(NamedTuple):
    """A figure of a source: the stem of its file's name, what it shows, and the function that makes it."""

    stem: str
    title: str
    make: Callable[[], Figure]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.stem}.svg"

    def draw(self, path: Path) -> None:
        """Write the figure to a file, whole or not at all."""
        write_picture(self.make, path, self.title)


class SourceAnimation(NamedTuple):
    """An animation for a source: the stem of its file's name, what it shows, and the schedule in motion."""

    stem: str
    title: str
    schedule: Callable[[], Schedule]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.stem}.gif"

    def draw(self, path: Path) -> None:
        """Write the animation to a file, whole or not at all."""
        animate(self.schedule(), path, frames_per_slot=2, dpi=56)


def _scheduled(spec: str, name: str, algorithm: str = "best", rules: Rules | None = None, **fields: Any) -> Schedule:
    schedule: Schedule = plan(spec, parse_task(name, **fields), algorithm=algorithm, rules=rules).schedule
    return schedule


def _tree(spec: str, algorithm: str, task: str = "broadcast", **fields: Any) -> Figure:
    return tree_figure(_scheduled(spec, task, algorithm, **fields))


def _areas(spec: str) -> Figure:
    return regions_figure(_scheduled(spec, "scatter", "area-division", root=0))


def _array() -> Figure:
    schedule = _scheduled("array:6", "total-exchange")
    network = schedule.network
    return timetable_figure(schedule, np.flatnonzero(network.link_target > network.link_source).tolist(), first=1)


def _queues() -> Figure:
    schedule = _scheduled("ring:6", "total-exchange", "parity-shift")
    network = schedule.network
    clockwise = [(network.link_source == v) & (network.link_target == v + 1) for v in (0, 1)]
    return queue_figure(schedule, [int(np.flatnonzero(link)[0]) for link in clockwise])


def _up_first() -> Figure:
    spec = "fat-tree:k=2,h=2,capacity=constant"
    return timetable_figure(_scheduled(spec, "multinode-broadcast", "fat-tree-up-first", Rules(ports="one-send")))


def _occupancy(spec: str, task: str, algorithm: str, **choices: Any) -> Figure:
    return occupancy_figure(_scheduled(spec, task, algorithm, **choices))


def _delays(spec: str) -> Figure:
    from gossamer.studies.reproductions.yeh_varvarigos_lee import compared

    return delay_figure(compared(spec), f"Broadcast requests at random on {spec}")


def _routed(algorithm: str) -> Schedule:
    network = parse_network("array:16x16")
    return _scheduled("array:16x16", "permutation", algorithm, destination=pattern("random", network, seed=1).tolist())


SOURCE_FIGURES: dict[str, tuple[SourceFigure | SourceAnimation, ...]] = {
    "varvarigos-bertsekas": (
        SourceFigure("torus_quadrants", "A broadcast tree of the multinode broadcast on the 5x5 torus (Theorem 1)",
                     partial(_tree, "torus:5x5", "rotated-quadrant", "multinode-broadcast")),
        SourceFigure("partial_phases", "Prefix, packing and broadcast phases on the 4x4 torus (section 3)",
                     partial(_occupancy, "torus:4x4", "partial-multinode-broadcast", "rotated-dimensions-segmented",
                             active=[0, 2, 7, 9, 12], rules=Rules(segmented=True))),
    ),
    "yeh-varvarigos-lee": tuple(
        SourceFigure(f"delays_{spec.replace(':', '_')}", f"All schemes on {spec}", partial(_delays, spec))
        for spec in ("hypercube:6", "torus:8x8", "array:10x10")
    ),
    "chen-chen": (
        SourceFigure("wormhole_partition_16", "The partition of the 16 x 16 torus with h = 4 (Fig. 1)",
                     partial(partition_figure, 16, 4)),
        SourceFigure("wormhole_partition", "The partition of the 10 x 10 torus with h = 5",
                     partial(partition_figure, 10, 5)),
        SourceFigure("wormhole_aggregation", "Aggregation of five diagonals to one (Fig. 2)", aggregation_figure),
        SourceFigure("wormhole_exchange", "Tuning in two steps (Figs. 10 and 11)", exchange_figure),
        SourceFigure("wormhole_all_gather", "All-to-all broadcast on a diagonal (Figs. 16 and 17)", all_gather_figure),
        SourceFigure("wormhole_collection", "Data collection (Figs. 19 to 21)", collection_figure),
        SourceFigure("wormhole_costs", "Time against the number of sources, all rivals", costs_figure),
        SourceFigure("wormhole_best_h", "The best h by sources and start-up", best_h_figure),
    ),
    "han": (
        SourceFigure("routers", "Steps and buffers of the routers against n", routers_figure),
        SourceAnimation("q_in_motion", "Algorithm Q routes a random permutation of the 16x16 array",
                        partial(_routed, "Q")),
        SourceAnimation("h_in_motion", "Algorithm H routes a random permutation of the 16x16 array",
                        partial(_routed, "H")),
    ),
    "dimakopoulos": (
        SourceFigure("extended_ring_tree", "Broadcast tree of the extended ring E_14^2 (Fig. 3.2)",
                     partial(_tree, "extended-ring:14,2", "extended-ring-tree", root=0)),
        SourceFigure("product_tree", "Broadcast tree of the 3x4x2 array (Fig. 3.3)",
                     partial(_tree, "array:3x4x2", "product-tree", root=12)),
        SourceFigure("binomial_tree", "Broadcasting in Q_3: the binomial tree (Fig. 3.1)",
                     partial(_tree, "hypercube:3", "binomial-tree", root=0)),
        SourceFigure("torus_areas", "Areas of the 7x7 torus (Fig. 3.7)", partial(_areas, "torus:7x7")),
        SourceFigure("torus_areas_corrected", "Areas of the 4x4 torus, corrected (errata 9.5)",
                     partial(_areas, "torus:4x4")),
        SourceFigure("array_exchange", "Total exchange in the array of 6 nodes, to the right (Fig. 4.2)", _array),
        SourceFigure("ring_queues", "Queues in the ring of 6 nodes, clockwise (Fig. 4.4b)", _queues),
        SourceFigure("fat_tree_up_first", "Multinode broadcast with one send at a time (Fig. 6.7)", _up_first),
        SourceFigure("fat_tree_star_exchanges", "Multinode broadcast without queues (Fig. 6.10)",
                     partial(_occupancy, "fat-tree:k=2,h=4,capacity=constant", "multinode-broadcast",
                             "fat-tree-climbing-star-exchanges")),
        SourceFigure("fat_tree_phases", "Total exchange by phases, exponential capacities (Fig. 6.11)",
                     partial(_occupancy, "fat-tree:k=2,h=4,capacity=exponential", "total-exchange",
                             "fat-tree-phases")),
    ),
}  # fmt: skip
"""The figures of each source, by the name that ``gossamer reproduce`` knows."""


def part_name(part: Callable[[], Table] | SourceFigure | SourceAnimation) -> str:
    """Return the name that a table or figure has on the command line.

    >>> part_name(SOURCE_FIGURES["han"][0]), part_name(reproduction("han").TABLES[0])
    ('routers', 'routing-before')
    """
    stem: str = part.stem if isinstance(part, SourceFigure | SourceAnimation) else inspect.unwrap(part).__name__
    return stem.replace("_", "-")


def named_parts(
    name: str, only: str | None = None
) -> tuple[list[Callable[[], Table]], list[SourceFigure | SourceAnimation]]:
    """Return the functions that make the tables of a source, and its figures: all of them, or those named.

    `name`: a key of `SOURCE_FIGURES`. `only`: names as `part_name` gives them, with commas between. A name may be that
    of a table and of a figure. Raises `TaskError` if nothing of the source has such a name.

    >>> [list(map(part_name, some)) for some in named_parts("han", "family-q,routers")]
    [['family-q', 'routers'], ['routers']]
    """
    tables, figures = list(reproduction(name).TABLES), list(SOURCE_FIGURES.get(name, ()))
    if only is None:
        return tables, figures
    known = list(dict.fromkeys(map(part_name, [*tables, *figures])))
    asked = [word.strip() for word in only.split(",")]
    for word in asked:
        if word not in known:
            there = f"{nearest(word, known)}; there is: {', '.join(known)}"
            raise TaskError(f"no table or figure of {name} is called {word!r}{there}")
    return [t for t in tables if part_name(t) in asked], [f for f in figures if part_name(f) in asked]


def draw_source_figures(
    name: str,
    folder: str | os.PathLike[str],
    progress: Callable[[str], None] | None = None,
    figures: Sequence[SourceFigure | SourceAnimation] | None = None,
) -> Iterator[Path]:
    """Write figures of a source to a folder, SVG or GIF, each whole or not at all, and yield the files.

    * `name`: a key of `SOURCE_FIGURES`.
    * `folder`: made if it is not there.
    * `progress`: called with the title of each figure as it begins.
    * `figures`: which of them; default all.

    Raises `FileFormatError` if the folder cannot be made or a file cannot be written.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot make the folder {str(place)!r}: {error.strerror}") from error
    for figure in SOURCE_FIGURES.get(name, ()) if figures is None else figures:
        if progress is not None:
            progress(f"drawing {figure.title}")
        path = place / figure.file
        figure.draw(path)
        yield path


COLORS = tuple(tint(color) for color in CATEGORICAL[:4])
"""Of areas A, B, C and D."""
_CELL = 0.52


def regions_figure(schedule: Schedule, **dressing: Unpack[Dress]) -> Figure:
    """Draw the areas of a scatter by area division on a torus, their trees, and when each message arrives.

    Parameters
    ----------
    schedule : Schedule
        Built by ``area-division``.
    **dressing : Dress
        As for all figures. With `ax`: draw the areas there, without heading and notes.

    Returns
    -------
    matplotlib.figure.Figure
        The torus as a plane with the source in the middle: a cell a node, colored by its area, with the step in
        which its message arrives; lines are the links of the trees, dashed over the wrap-around.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    TaskError
        If it was built by another algorithm.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("scatter", root=0)
    >>> figure = regions_figure(gossamer.plan("torus:5x5", task, algorithm="area-division").schedule)
    >>> max(int(text.get_text()) for text in figure.axes[0].texts if text.get_text().isdigit())
    6
    """
    grid = schedule.network.grid
    if schedule.algorithm != "area-division" or grid is None:
        raise TaskError(f"areas are drawn of schedules of area-division, not of {schedule.algorithm or 'unnamed'} ones")
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    n, m = grid.sides
    areas = area_division(n, m)
    arrival = _arrivals(schedule)
    r, c = divmod(int(schedule.packets.origin[0]), m)
    node = (r - areas.j) % n * m + (c - areas.i) % m
    if (ax := dress.ax) is not None:
        _paint(ax, areas, node, arrival)
        return ax.figure  # type: ignore[no-any-return]
    cell = _CELL if dress.width is None else (dress.width - 0.2) / (m + 0.6)
    wide = dress.width or max(5.6, m * cell + 1.0)
    sizes = ", ".join(f"{'ABCD'[k]} {int((areas.region == k).sum())}" for k in range(4))
    note = f"Numbers: steps in which the messages arrive from the source, the dot. Nodes in areas: {sizes}."
    made = page(schedule, note, wide, n * cell + (0.6 if dress.bare else 1.9), dress)
    top, foot, height = made.top + 0.1, made.foot + 0.1, made.height
    _paint(made.figure.add_axes((0.05, foot / height, 0.9, (height - top - foot) / height)), areas, node, arrival)
    return made.figure


def _paint(axes: Any, areas: Any, node: Any, arrival: dict[int, int]) -> None:
    """Paint the cells of all nodes, the trees and the letters of the areas."""
    for i, j, k, ui, uj, v in zip(*areas, node, strict=True):
        _paint_cell(axes, (i, j), int(k), str(arrival[v]) if k >= 0 else "")
        if k >= 0:
            _paint_way(axes, (ui, uj), (i, j))
    for k, place in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
        look_of = {"color": MUTED, "ha": "left", "va": "top", "zorder": 4}
        write(axes, place[0] - 0.46, place[1] + 0.46, "ABCD"[k], 7.5, weight="bold", **look_of)
    axes.set_xlim(areas.i.min() - 0.8, areas.i.max() + 0.8)
    axes.set_ylim(areas.j.min() - 0.8, areas.j.max() + 0.8)
    axes.set_aspect("equal")
    axes.axis("off")


def _arrivals(schedule: Schedule) -> dict[int, int]:
    """Return the step, counted from 1, in which each node gets its message."""
    last = np.zeros(schedule.packets.count, np.int64)
    np.maximum.at(last, schedule.packet, hop_ends(schedule.network, schedule.parts, schedule.slot, schedule.link))
    target = schedule.messages.targets
    assert target is not None
    return dict(zip(target.tolist(), last.tolist(), strict=True))


def _paint_cell(axes: Any, place: tuple[int, int], region: int, text: str) -> None:
    from matplotlib.patches import Rectangle

    color = COLORS[region] if region >= 0 else PAPER
    corner = (place[0] - 0.5, place[1] - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor=PAPER, linewidth=1.5, zorder=1))
    if region >= 0:
        disc = {"boxstyle": "circle,pad=0.22", "facecolor": color, "edgecolor": "none"}
        write(axes, *place, text, 8, ha="center", va="center", zorder=3, bbox=disc)
    else:
        axes.plot(*place, "o", color=INK, markersize=9, zorder=3)


def _paint_way(axes: Any, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Paint a link from a node to its child; one over the wrap-around as two dashed ends."""
    (a, b), (x, y) = start, end
    if abs(x - a) <= 1 and abs(y - b) <= 1:
        axes.plot([a, x], [b, y], color=INK, linewidth=1.2, zorder=2)
        return
    out = np.array([-np.sign(x - a), -np.sign(y - b)]) * 0.75
    for place, way in ((np.array(start), out), (np.array(end), -out)):
        axes.plot(*np.stack([place, place + way], axis=1), "--", color=INK, linewidth=1.2, zorder=2)
