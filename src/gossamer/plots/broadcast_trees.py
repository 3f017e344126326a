"""The picture of a broadcast: the tree by which one packet spreads, on the network and by steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import seconds_text
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.plots.appearance import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Dress,
    look,
    measured,
    sequential,
    write,
)
from gossamer.plots.layouts import ARC, STUB, Layout, lay_out, oblique
from gossamer.plots.layouts.layout import link_lines
from gossamer.plots.node_names import LEAST_SIZE, fitted, paint_nodes, shortened
from gossamer.plots.panels import page
from gossamer.questions.costs import Clock
from gossamer.reading import whole
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIDE = 4.2
_TEXT, _RADIUS = 7.0, 0.27
_WIDEST = 14.0
"""Inches of the widest tree."""
_FLAT = 144
"""Larger networks are not drawn beside their tree."""


@dataclass(frozen=True, eq=False)
class SpreadTree:
    """How one packet spreads.

    * `network`: where.
    * `parent` (int64[N]): the node from which each node gets the packet; -1 at its origin and where it does not come.
    * `step` (int64[N]): the slots after which it is there: 0 at its origin, -1 where it does not come.
    """

    network: Network
    parent: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]


def spread_tree(schedule: Schedule, packet: int = 0) -> SpreadTree:
    """Return how a packet of a schedule spreads.

    Raises `TaskError` if the packet is moved to one target or combined, and not copied.

    >>> import gossamer
    >>> task = gossamer.task("broadcast", root=0)
    >>> tree = spread_tree(gossamer.plan("hypercube:3", task, algorithm="binomial-tree").schedule)
    >>> tree.parent.tolist(), tree.step.tolist()
    ([-1, 0, 0, 2, 0, 4, 4, 6], [0, 1, 1, 2, 1, 2, 2, 3])
    """
    explicit = schedule.expand()
    network = explicit.network
    packet = whole(packet, "a packet", 0, explicit.packets.count - 1, error=TaskError)
    hops = np.flatnonzero(explicit.packet == packet)
    target = network.link_target[explicit.link[hops]]
    origin = int(explicit.packets.origin[packet])
    if len(set(target.tolist())) < len(target) or origin in target:
        raise TaskError(f"packet {packet} of {schedule.task.name} does not spread over a tree")
    parent, step = np.full(network.node_count, -1), np.full(network.node_count, -1)
    step[origin] = 0
    parent[target] = network.link_source[explicit.link[hops]]
    step[target] = hop_ends(network, explicit.parts, explicit.slot[hops], explicit.link[hops])
    return SpreadTree(network, parent, step)


def tree_figure(schedule: Schedule, packet: int = 0, **dressing: Unpack[Dress]) -> Figure:
    """Draw the tree by which a packet of a valid schedule spreads.

    Parameters
    ----------
    schedule : Schedule
        Of a broadcast of any kind; an invariant one is expanded.
    packet : int
        Which packet.
    **dressing : Dress
        As for all figures. With `ax`: draw the tree by steps alone there.

    Returns
    -------
    matplotlib.figure.Figure
        On the left the network, with the links of the tree as arrows in the color of their step, if its links are
        lines in the plane; on the right the tree, the nodes in rows by the time after which the packet is there.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    TaskError
        If the packet does not spread over a tree.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("broadcast", root=0)
    >>> figure = tree_figure(gossamer.plan("hypercube:3", task).schedule)
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['on the network', 'by time']
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    tree = spread_tree(schedule, packet)
    rows, row = np.unique(tree.step[tree.step >= 0], return_inverse=True)
    level = np.full(tree.step.size, -1.0)
    level[tree.step >= 0] = row
    place = _places(tree)
    levels = np.stack([place, -level], axis=1)
    reached = np.flatnonzero(tree.step >= 0)
    leaves = float(place[reached].max()) + 1
    named = _Names([tree.network.short_name(int(v)) for v in reached], leaves)
    labels = _labels(schedule, rows)
    aside = 0.2 + max(measured(label, 7.5)[0] for label in labels) / 72
    if (ax := dress.ax) is not None:
        box = ax.get_window_extent()
        _paint_steps(ax, tree, levels, labels, named.fitted(box.width / ax.figure.dpi), 0.05)
        return ax.figure  # type: ignore[no-any-return]
    layout = oblique(tree.network) or lay_out(tree.network)
    flat = not bool((layout.shape == STUB).any()) and tree.network.node_count <= _FLAT
    flat = flat and (dress.width is None or dress.width >= 5)
    left = _SIDE if flat else 0.0
    if dress.width is not None:
        left = min(left, 0.45 * dress.width)
    wide = min(max(2.6, named.width(_TEXT) + 0.3), _WIDEST) if dress.width is None else dress.width - left - aside - 0.3
    how = named.fitted(wide)
    pitch = (0.42 if dress.width is not None else 0.75) if len(rows) <= 8 else max(0.2, 4.5 / len(rows))
    pitch = max(pitch, how.high + 0.16)
    across, height = left + aside + wide + 0.3, max(5.0 if flat else 0.0, 1.6 + pitch * len(rows))
    if dress.width is not None:
        across, height = dress.width, max(1.0 + pitch * len(rows), left)
    note = " ".join([_note(tree.network, flat), *how.notes])
    figure, height, top, foot = page(schedule, note, across, height, dress)
    box = (foot + 0.15) / height, (height - top - foot - 0.4) / height
    if flat:
        axes = figure.add_axes((0.1 / across, box[0], (left - 0.25) / across, box[1]))
        _paint_network(axes, tree, layout, (left - 0.25, box[1] * height))
    room = across - left - aside - 0.1
    axes = figure.add_axes(((left + aside) / across, box[0], room / across, box[1]))
    _paint_steps(axes, tree, levels, labels, how, 0.08 / room)
    return figure


class _Manner(NamedTuple):
    """How names of nodes are written in a tree: names, type size, degrees, inches of the highest, what was left out."""

    names: list[str]
    size: float
    turn: int
    high: float
    notes: tuple[str, ...]


class _Names:
    """Names of the nodes of a tree with so many leaves: side by side, one below the other's end, or not at all."""

    def __init__(self, names: list[str], leaves: float) -> None:
        self.names, self.leaves = names, leaves

    def width(self, size: float, names: list[str] | None = None) -> float:
        """Return the inches that all leaves take side by side."""
        return (max(measured(name, size)[0] for name in names or self.names) + 1.3 * size) / 72 * self.leaves

    def fitted(self, wide: float) -> _Manner:
        """Return the first manner that has room in so many inches."""
        short, note = shortened(self.names)
        for names, words in ((self.names, ""), (short, note)):
            said = (f"Nodes are named {words}.",) if words else ()
            for size in (_TEXT, 6.5, LEAST_SIZE + 0.5):
                if self.width(size, names) <= wide:
                    return _Manner(names, size, 0, 1.9 * size / 72, said)
            longest = max(measured(name, 6.0)[0] for name in names)
            if longest < 72 and wide * 72 / self.leaves > 12:
                return _Manner(names, 6.0, 90, (longest + 8) / 72, said)
        return _Manner([], 0.0, 0, 0.08, (f"No room for the names of {len(self.names)} nodes.",))


def _labels(schedule: Schedule, rows: npt.NDArray[np.int64]) -> list[str]:
    """Return when the packet is at the nodes of each row."""
    if isinstance(schedule.cost, Clock):
        return ["origin", *(seconds_text(schedule.cost.seconds(Fraction(int(slot)))) for slot in rows[1:])]
    return ["origin", *(f"{slot:,} slot{'' if slot == 1 else 's'}" for slot in rows[1:].tolist())]


def _paint_steps(axes: Any, tree: SpreadTree, levels: npt.NDArray[np.float64], labels: list[str], how: _Manner,
                 aside: float) -> None:  # fmt: skip
    """Paint the tree with each node at the height of its step; times stand aside, in widths of the axes."""
    reached = np.flatnonzero(tree.step >= 0)
    _paint(axes, tree, levels, how)
    pitch = axes.get_window_extent().height / axes.figure.dpi * 72 / (len(labels) + 0.5)
    shown = max(1, -(-10 // max(int(pitch), 1)))
    for row, label in enumerate(labels):
        if row % shown == 0:
            axes.text(-aside, -row, label, transform=axes.get_yaxis_transform(), fontsize=7.5, color=MUTED, va="center",
                      ha="right")  # fmt: skip
    axes.set_xlim(float(levels[reached, 0].min()) - 0.6, float(levels[reached, 0].max()) + 0.6)


def _note(network: Network, flat: bool) -> str:
    """Return what a reader of the figure must know."""
    note = f"Arrows {'and rims ' * (not flat)}have the color of the time after which the packet is there."
    named = network.coordinates is not None and network.coordinates.shape[1] > 1
    return f"{note} Nodes are named by their coordinates." if named else note


def _places(tree: SpreadTree) -> npt.NDArray[np.float64]:
    """Return a place from left to right for each node: leaves in a row, others amid their children."""
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(tree.parent >= 0).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    place = np.zeros(len(tree.parent))
    leaves = 0
    stack = [(int(np.flatnonzero(tree.step == 0)[0]), False)]
    while stack:
        node, done = stack.pop()
        below = children.get(node, [])
        if not below:
            place[node] = leaves
            leaves += 1
        elif done:
            place[node] = (place[below[0]] + place[below[-1]]) / 2
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(below)]
    return place


def _shades(tree: SpreadTree) -> Any:
    last = max(int(tree.step.max()), 1)
    return sequential()((np.maximum(tree.step, 0) + 1) / (last + 1))


def _arrow(axes: Any, ends: Any, bend: float, color: Any, shrink: float) -> None:
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(FancyArrowPatch(
        *ends, arrowstyle="-|>", mutation_scale=9, shrinkA=shrink, shrinkB=shrink, linewidth=1.4,
        connectionstyle=f"arc3,rad={bend}", color=color,
    ))  # fmt: skip


def _paint_network(axes: Any, tree: SpreadTree, layout: Layout, room: tuple[float, float]) -> None:
    """Paint the network, the links of the tree as arrows."""
    from matplotlib.patches import FancyArrowPatch

    network, shades = tree.network, _shades(tree)
    lines = link_lines(network, layout, _RADIUS, 0.0)
    stand = fitted(network, layout, lines, _RADIUS, (room[0] * 72, room[1] * 72), 65.0)
    axes.set(xlim=(stand.low[0], stand.high[0]), ylim=(stand.low[1], stand.high[1]))
    axes.set_aspect("equal", anchor="N")
    start, end = layout.line_ends(network)
    shrink = _RADIUS * stand.unit
    for link, (a, b) in enumerate(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)):
        bend = 0.25 if layout.shape[link] == ARC else 0.0
        if tree.parent[b] == a:
            _arrow(axes, (start[link], end[link]), bend, shades[b], shrink)
        elif a < b and tree.parent[a] != b:
            style = f"arc3,rad={bend}"
            axes.add_patch(FancyArrowPatch(start[link], end[link], arrowstyle="-", connectionstyle=style, color=FAINT))
    paint_nodes(axes, network, layout, stand, _RADIUS)
    axes.set_title("on the network", fontsize=8.5, color=MUTED, loc="left")
    axes.axis("off")


def _paint(axes: Any, tree: SpreadTree, positions: npt.NDArray[np.float64], how: _Manner) -> None:
    """Paint nodes with their names and the links of the tree, by steps."""
    shades = _shades(tree)
    for node in np.flatnonzero(tree.parent >= 0).tolist():
        ends = (positions[int(tree.parent[node])], positions[node])
        _arrow(axes, ends, 0.0, shades[node], 9 if how.names else 3)
    reached = np.flatnonzero(tree.step >= 0)
    if not how.names:
        axes.scatter(*positions[reached].T, s=12, c=shades[reached], zorder=3, linewidths=0)
    for node, name in zip(reached.tolist(), how.names, strict=False):
        rim = {"boxstyle": "round,pad=0.25", "facecolor": PAPER, "edgecolor": shades[node], "linewidth": 1.2}
        x, y = positions[node].tolist()
        write(axes, x, y, name, how.size, color=INK, ha="center", va="center", bbox=rim, rotation=how.turn)
    axes.set_xlim(float(positions[:, 0].min()) - 0.5, float(positions[:, 0].max()) + 0.5)
    axes.set_ylim(float(positions[:, 1].min()) - 0.5, float(positions[:, 1].max()) + 0.5)
    axes.set_title("by time", fontsize=8.5, color=MUTED, loc="left")
    axes.axis("off")
