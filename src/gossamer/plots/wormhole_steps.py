"""Wormhole steps on a torus: every message as an arrow along its channels; and the partition that they use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.spec import network as parse_network
from gossamer.plots.appearance import CATEGORICAL, FAINT, INK, MUTED, PAPER, write
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.schedule import WormholeCase, WormholeSchedule
from gossamer.verification.wormhole import verify
from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_OPT, Variant, aggregation_distribution
from gossamer.wormhole.partition import TorusPartition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

PALETTE = (*CATEGORICAL, MUTED)
"""Colors that stay apart for color-blind readers."""

OTHER, _BLOCK = "#8c8c8c", "#efefef"
"""Nodes that take no part, and the ground of blocks."""
_LANE = 0.11
_NODE = 0.14
_SIZE, _ABOVE = 3.6, 0.44
"""Inches of a panel, and of the words above it."""
_EDGE = 0.66
"""How far a way that leaves the torus is drawn."""


class StepPanel(NamedTuple):
    """One step to draw.

    * `title`: what happens.
    * `schedule`: on a torus of two dimensions.
    * `colors`: one for each message of the step, in the order of the schedule.
    * `nodes`: one for each node.
    """

    title: str
    schedule: WormholeSchedule
    step: int
    colors: Sequence[str]
    nodes: Sequence[str]


def trail(start: npt.ArrayLike, displacement: npt.ArrayLike) -> Floats:
    """Return the corners of a message's way as drawn, float64[k, 2], x to the right and y upwards.

    `start`: row and column of the source. `displacement`: rows down, then columns to the right.

    A way is drawn to the right of its channels, so that the two directions of a link do not cover each other. It may
    leave the torus; what comes in again on the other side is a copy of it.

    >>> trail((0, 0), (2, 0)).round(2).tolist()  # down: to the left on paper
    [[-0.11, -0.14], [-0.11, -1.86]]
    """
    row, column = np.asarray(start, float)
    down, right = np.asarray(displacement, float)
    aside = np.array([-_LANE * np.sign(down), -_LANE * np.sign(right)])  # of the vertical and the horizontal part
    if down and right:
        corners = [
            (column + aside[0], -row),
            (column + aside[0], -row - down + aside[1]),
            (column + right, -row - down + aside[1]),
        ]
    elif down:
        corners = [(column + aside[0], -row), (column + aside[0], -row - down)]
    else:
        corners = [(column, -row + aside[1]), (column + right, -row + aside[1])]
    points = np.array(corners)
    points[0] += _NODE * _towards(points[0], points[1])
    points[-1] -= _NODE * _towards(points[-2], points[-1])
    return points


def _towards(a: Floats, b: Floats) -> Floats:
    return np.asarray((b - a) / max(float(np.hypot(*(b - a))), 1e-9))


def steps_figure(title: str, panels: Sequence[StepPanel], note: str = "", columns: int = 2) -> Figure:
    """Return a figure with a panel for each step, the messages as arrows along their channels.

    Raises `VerificationError` if a schedule is not valid. Raises `ScheduleError` if a schedule is not on a torus of two
    dimensions.
    """
    from matplotlib.figure import Figure

    for schedule in {id(panel.schedule): panel.schedule for panel in panels}.values():
        verify(schedule).raise_if_invalid()
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 0.3 + columns * (_SIZE + 0.15), 0.75 + rows * (_SIZE + _ABOVE) + (0.3 if note else 0)
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    write(figure, 0.15 / width, 1 - 0.12 / height, title, 11, va="top")
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        left, top = 0.15 + column * (_SIZE + 0.15), 0.86 + row * (_SIZE + _ABOVE)
        axes = figure.add_axes((left / width, 1 - (top + _SIZE) / height, _SIZE / width, _SIZE / height))
        _paint(axes, panel)
    if note:
        write(figure, 0.15 / width, 0.12 / height, note, 7.5, color=MUTED, va="bottom")
    return figure


def _paint(axes: Any, panel: StepPanel) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    channels = Channels(panel.schedule.network)
    if channels.dimensions != 2 or not channels.torus:
        raise ScheduleError(f"steps are drawn on tori of two dimensions, not on {panel.schedule.network.spec}")
    n, m = channels.sides
    _grid(axes, n, m)
    _nodes(axes, n, m, panel.nodes)
    rows = np.flatnonzero(panel.schedule.step == panel.step)
    starts = channels.coordinates(panel.schedule.source[rows])
    for start, way, color in zip(starts, panel.schedule.displacement[rows], panel.colors, strict=True):
        points = trail(start, way)
        low, high = points.min(axis=0), points.max(axis=0)
        for right, down in product((-m, 0, m), (-n, 0, n)):
            shift = np.array([right, down], float)
            if _outside(low + shift, high + shift, n, m):
                continue
            arrow = FancyArrowPatch(
                path=Path((points + shift).tolist()),
                arrowstyle="-|>",
                mutation_scale=6.5,
                linewidth=1.15,
                color=color,
                joinstyle="round",
                zorder=3,
            )
            axes.add_patch(arrow)
            arrow.set_clip_path(axes.patch)
    axes.set_title(panel.title, fontsize=8.5, color=MUTED, loc="left", pad=6)


def _outside(low: Floats, high: Floats, n: int, m: int) -> bool:
    return bool(high[0] < -_EDGE or low[0] > m - 1 + _EDGE or high[1] < 1 - _EDGE - n or low[1] > _EDGE)


def _grid(axes: Any, n: int, m: int) -> None:
    for i in range(n):
        axes.plot([-_EDGE, m - 1 + _EDGE], [-i, -i], color=FAINT, linewidth=0.6, zorder=1)
    for j in range(m):
        axes.plot([j, j], [_EDGE, 1 - _EDGE - n], color=FAINT, linewidth=0.6, zorder=1)
    axes.set_xlim(-_EDGE, m - 1 + _EDGE)
    axes.set_ylim(1 - _EDGE - n, _EDGE)
    axes.set_aspect("equal")
    axes.axis("off")


def _nodes(axes: Any, n: int, m: int, colors: Sequence[str]) -> None:
    x, y = np.tile(np.arange(m), n), -np.repeat(np.arange(n), m)
    size = (2 * _NODE * 72 * _SIZE / max(n, m)) ** 2
    axes.scatter(x, y, s=size, c=list(colors), linewidths=0, zorder=2)


def partition_figure(n: int, h: int) -> Figure:
    """Return a figure of the data-distribution networks and the data-collection networks of an n x n torus."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    partition = TorusPartition((n, n), h)
    width, height = 7.6, 4.9
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    axes = figure.add_axes((0.15 / width, 0.15 / height, 4.2 / width, 4.2 / height))
    for a, b in product(range(n // h), repeat=2):
        box = FancyBboxPatch(
            (b * h - 0.32, -(a * h + h - 1) - 0.32), h - 0.36, h - 0.36, boxstyle="round,pad=0.02,rounding_size=0.3",
            facecolor=_BLOCK, edgecolor=FAINT, linewidth=0.8, zorder=0,
        )  # fmt: skip
        axes.add_patch(box)
    for line in range(n):
        color = PALETTE[line % h % len(PALETTE)]
        look: dict[str, Any] = {"color": color, "linewidth": 1.3, "alpha": 0.8, "zorder": 1}
        axes.plot([-0.5, n - 0.5], [-line, -line], **look)
        axes.plot([line, line], [0.5, 0.5 - n], **look)
    colors = [PALETTE[k % len(PALETTE)] if k >= 0 else OTHER for k in partition.ddn.tolist()]
    x, y = np.tile(np.arange(n), n), -np.repeat(np.arange(n), n)
    inside = partition.ddn >= 0
    axes.scatter(x, y, s=np.where(inside, 90, 22), c=colors, linewidths=0, zorder=2)
    for node in np.flatnonzero(inside).tolist():
        text = str(int(partition.ddn[node]))
        write(axes, x[node], y[node], text, 6.5, color=PAPER, ha="center", va="center_baseline", zorder=3)
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(0.5 - n, 0.5)
    axes.set_aspect("equal")
    axes.axis("off")
    write(figure, 0.15 / width, 1 - 0.14 / height, f"{n} x {n} nodes with h = {h}", 11, va="top")
    _key(figure, width, height, h)
    return figure


def _key(figure: Figure, width: float, height: float, h: int) -> None:
    """Write what the signs of a partition mean; what it is for is told where it is shown."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colors = [PALETTE[k % len(PALETTE)] for k in range(h)]
    signs = [Line2D([], [], marker="o", color=c, markersize=8, linewidth=1.3, label=f"DDN {k}: its nodes and channels")
             for k, c in enumerate(colors)]  # fmt: skip
    blocks = Patch(facecolor=_BLOCK, edgecolor=FAINT, label="blocks of nodes: the DCNs")
    figure.legend(handles=[*signs, blocks], loc="upper left", bbox_to_anchor=(4.45 / width, 1 - 0.65 / height),
                  fontsize=7.8, frameon=False, labelcolor=INK)  # fmt: skip


# The patterns of Chen and Chen, drawn from the steps of schedules on 10 x 10 and 5 x 5 nodes.

_N, _H = 10, 5


def _schedule(variant: Variant, h: int = _H) -> WormholeSchedule:
    """Return the schedule on 10 x 10 nodes where all are sources."""
    case = WormholeCase(parse_network(f"torus:{_N}x{_N}"), MultinodeBroadcast())
    return aggregation_distribution(case, h=h, variant=variant)


def _step(schedule: WormholeSchedule, phase: str, number: int) -> tuple[int, slice]:
    """Return a step of a phase and the rows of its messages."""
    first = next(p.first_step for p in schedule.phases if p.name == phase)
    low, high = np.searchsorted(schedule.step, [first + number, first + number + 1])
    return first + number, slice(int(low), int(high))


def _ddn_nodes(h: int = _H) -> list[str]:
    return [PALETTE[k] if k >= 0 else OTHER for k in TorusPartition((_N, _N), h).ddn.tolist()]


def aggregation_figure() -> Figure:
    """Return the steps in which five diagonals become one: of all nodes with h = 5, and inside the DDNs with h = 2."""
    panels = []
    for h, phase, words in (
        (5, "aggregation", "h = 5: from all nodes to the five DDNs"),
        (2, "alignment", "h = 2: inside the two DDNs, to their main diagonals"),
    ):
        schedule = _schedule(ATD_5, h)
        step, rows = _step(schedule, phase, 0)
        ddn = TorusPartition((_N, _N), h).ddn[schedule.target[rows]]
        panels.append(StepPanel(words, schedule, step, [PALETTE[k] for k in ddn.tolist()], _ddn_nodes(h)))
    note = "An arrow has the color of the DDN where it ends."
    return steps_figure("Aggregation in one step: five diagonals become one", panels, note)


def exchange_figure() -> Figure:
    """Return the two steps in which nodes of the DDNs exchange messages along diagonals."""
    schedule = _schedule(ATD_5)
    shades = {-2: PALETTE[0], -1: PALETTE[5], 1: PALETTE[4], 2: PALETTE[1]}
    panels = []
    for number, words in enumerate(("step 0: ±1 down or up, ±2 sideways", "step 1: ±1 sideways, ±2 down or up")):
        step, rows = _step(schedule, "tuning", number)
        offsets = schedule.displacement[rows].sum(axis=1)
        panels.append(StepPanel(words, schedule, step, [shades[int(v)] for v in offsets], _ddn_nodes()))
    note = "Colors are the offsets -2, -1, +1 and +2 along the diagonal, from DDN to DDN."
    return steps_figure("Tuning: messages move along diagonals to the DDN of their rank", panels, note)


def all_gather_figure() -> Figure:
    """Return the two steps in which five nodes of a diagonal come to know all."""
    case = WormholeCase(parse_network("torus:5x5"), PartialMultinodeBroadcast((0, 6, 12, 18, 24)))
    schedule = aggregation_distribution(case, h=1, variant=ATD_5)
    nodes = [PALETTE[v // 6] if v % 6 == 0 else OTHER for v in range(25)]
    panels = []
    for number, words in enumerate(("step 0: two columns away each way", "step 1: from four sides")):
        step, rows = _step(schedule, "all-gather", number)
        messages = range(rows.start, rows.stop)
        origins = [int(schedule.packets.origin[schedule.pieces_of(m)[0]]) for m in messages]
        panels.append(StepPanel(words, schedule, step, [PALETTE[v // 6] for v in origins], nodes))
    note = "An arrow has the color of the node whose message it carries."
    return steps_figure("All-to-all broadcast on a diagonal of five nodes", panels, note)


def _of_ddn(schedule: WormholeSchedule) -> dict[int, int]:
    """Return the DDN that each payload of the data collection belongs to: that of the line it is first sent along."""
    rows = schedule.phase_messages("rows")
    place = schedule.channels.coordinates(schedule.source[rows])
    along_row = schedule.displacement[rows][:, 1] != 0
    line = np.where(along_row, place[:, 0], place[:, 1]) % _H
    return dict(zip(schedule.payload[rows].tolist(), line.tolist(), strict=True))


def collection_figure() -> Figure:
    """Return steps of the data collection: windows along rows, then rings or shifts along columns."""
    published, halves = _schedule(ATD_5), _schedule(ATD_OPT)
    panels = []
    for words, schedule, phase, number in (
        ("rows, step 0: to a window of five columns", published, "rows", 0),
        ("rows, step 1", published, "rows", 1),
        ("columns, one step of four: rings in each block", published, "columns", 0),
        ("atd-opt, columns, one step of two: halves both ways", halves, "columns", 0),
    ):
        owner = _of_ddn(schedule)
        step, rows = _step(schedule, phase, number)
        colors = [PALETTE[owner[int(p)]] for p in schedule.payload[rows]]
        panels.append(StepPanel(words, schedule, step, colors, _ddn_nodes()))
    note = "An arrow has the color of the DDN whose messages it carries."
    return steps_figure("Data collection", panels, note)
