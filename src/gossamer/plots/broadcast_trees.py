"""The picture of a broadcast: the tree by which one packet spreads, on the network and by steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.plots.appearance import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Dress,
    look,
    sequential,
    text_width,
    write,
)
from gossamer.plots.layouts import ARC, STUB, lay_out, oblique
from gossamer.plots.panels import page
from gossamer.reading import whole
from gossamer.schedules import Schedule
from gossamer.schedules.hop_table import hop_ends
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SpreadTree", "short_name", "spread_tree", "tree_figure"]

_SIDE = 4.2
_TEXT = 7.0
_FLAT = 144
"""Larger networks are not drawn beside their tree."""


@dataclass(frozen=True, eq=False)
class SpreadTree:
    """How one packet spreads.

    Attributes
    ----------
    network : Network
        Where.
    parent : int64[N]
        The node from which each node gets the packet; -1 at its origin and where it does not come.
    step : int64[N]
        The slot in which it comes, counted from 1; 0 at its origin, -1 where it does not come.
    """

    network: Network
    parent: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]


def spread_tree(schedule: Schedule, packet: int = 0) -> SpreadTree:
    """Return how a packet of a schedule spreads.

    Raises
    ------
    TaskError
        If the packet is moved to one target or combined, and not copied.

    Examples
    --------
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


def short_name(network: Network, node: int) -> str:
    """Return the name of a node, its coordinates without brackets and commas where each is one digit.

    >>> import gossamer
    >>> short_name(gossamer.network("array:3x4x2"), 12), short_name(gossamer.network("torus:12x3"), 32)
    ('120', '(10,2)')
    """
    place = network.coordinates
    if place is None or place.shape[1] < 2 or int(place.max()) > 9:
        return network.node_name(node)
    return "".join(str(int(x)) for x in place[node])


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
        lines in the plane; on the right the tree, each node at the height of the step in which the packet comes.

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
    ['on the network', 'by steps']
    """
    dress = look(**dressing)
    verify(schedule).raise_if_invalid()
    tree = spread_tree(schedule, packet)
    place = _places(tree)
    levels = np.stack([place, -tree.step.astype(float)], axis=1)
    if (ax := dress.ax) is not None:
        _paint_steps(ax, tree, levels, 0.05)
        return ax.figure  # type: ignore[no-any-return]
    reached = np.flatnonzero(tree.step >= 0)
    names = [short_name(tree.network, int(v)) for v in reached]
    leaves = float(place[reached].max()) + 1
    gap = max(text_width(name, _TEXT) for name in names) + 0.12
    wide = max(2.6, gap * leaves + 0.5)
    layout = oblique(tree.network) or lay_out(tree.network)
    flat = not bool((layout.shape == STUB).any()) and tree.network.node_count <= _FLAT
    flat = flat and (dress.width is None or dress.width >= 5)
    left = _SIDE if flat else 0.0
    if dress.width is not None:
        left = min(left, 0.45 * dress.width)
        wide = dress.width - left - 0.5
    across, height = max(6.0, left + wide + 0.5), 5.0 if flat else 1.6 + 0.75 * float(tree.step.max() + 1)
    if dress.width is not None:
        across, height = dress.width, max(0.6 + 0.42 * float(tree.step.max() + 1), left)
    figure, height, top, foot = page(schedule, _note(tree.network), across, height, dress)
    box = (foot + 0.15) / height, (height - top - foot - 0.4) / height
    if flat:
        axes = figure.add_axes((0.1 / across, box[0], (left - 0.25) / across, box[1]))
        _paint(axes, tree, layout.positions, "on the network", layout.shape)
        axes.set_aspect("equal", anchor="N")
    aside = 0.55
    room = across - left - aside - (0.25 if dress.width is None else 0.05)
    axes = figure.add_axes(((left + aside) / across, box[0], room / across, box[1]))
    _paint_steps(axes, tree, levels, 0.35 / room)
    if dress.width is not None:
        _shrink(axes, room / (leaves + 0.2) / gap)
    return figure


def _shrink(axes: Any, share: float) -> None:
    """Write the names of nodes smaller where they have less room than they need, and not at all below 3 points."""
    for text in axes.texts:
        if text.get_bbox_patch() is not None:
            size = _TEXT * min(1.0, share)
            text.set_fontsize(max(size, 1.0))
            if size < 3:
                text.set_text("")


def _paint_steps(axes: Any, tree: SpreadTree, levels: npt.NDArray[np.float64], aside: float) -> None:
    """Paint the tree with each node at the height of its step; numbers of steps stand aside, in widths of the axes."""
    reached = np.flatnonzero(tree.step >= 0)
    _paint(axes, tree, levels, "by steps")
    _label_steps(axes, int(tree.step.max()), -aside)
    axes.set_xlim(float(levels[reached, 0].min()) - 0.6, float(levels[reached, 0].max()) + 0.6)


def _note(network: Network) -> str:
    """Return what a reader of the figure must know."""
    note = "Arrows and rims have the color of the step in which the packet comes."
    named = network.coordinates is not None and network.coordinates.shape[1] > 1
    return f"{note} Nodes are named by their coordinates." if named else note


def _label_steps(axes: Any, last: int, x: float) -> None:
    """Write the number of each step beside its row, at `x` in widths of the axes."""
    for step in range(last + 1):
        label = "origin" if step == 0 else str(step)
        place = axes.get_yaxis_transform()
        axes.text(x, -step, label, transform=place, fontsize=7.5, color=MUTED, va="center", ha="center")


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


def _paint(
    axes: Any, tree: SpreadTree, positions: npt.NDArray[np.float64], title: str, shape: npt.ArrayLike | None = None
) -> None:
    """Paint nodes with their names and the links of the tree; with shapes of links, also the other links."""
    from matplotlib.patches import FancyArrowPatch

    network, last = tree.network, max(int(tree.step.max()), 1)
    shades = sequential()([(step + 1) / (last + 1) for step in range(last + 1)])
    bent = {}
    if shape is not None:
        shapes = np.broadcast_to(np.asarray(shape), network.link_source.shape)
        for a, b, form in zip(network.link_source.tolist(), network.link_target.tolist(), shapes.tolist(), strict=True):
            bent[a, b] = 0.25 if form == ARC else 0.0
            if a < b and tree.parent[a] != b and tree.parent[b] != a:
                style = f"arc3,rad={bent[a, b]}"
                line = FancyArrowPatch(positions[a], positions[b], arrowstyle="-", connectionstyle=style, color=FAINT)
                axes.add_patch(line)
    for node in np.flatnonzero(tree.parent >= 0).tolist():
        above = int(tree.parent[node])
        axes.add_patch(
            FancyArrowPatch(
                positions[above],
                positions[node],
                arrowstyle="-|>",
                mutation_scale=9,
                shrinkA=9,
                shrinkB=9,
                linewidth=1.4,
                connectionstyle=f"arc3,rad={bent.get((above, node), 0.0)}",
                color=shades[tree.step[node]],
            )
        )
    for node in np.flatnonzero(tree.step >= 0).tolist():
        rim = {"boxstyle": "round,pad=0.25", "facecolor": PAPER, "edgecolor": shades[tree.step[node]], "linewidth": 1.2}
        x, y = positions[node].tolist()
        write(axes, x, y, short_name(network, node), _TEXT, color=INK, ha="center", va="center", bbox=rim)
    axes.set_xlim(float(positions[:, 0].min()) - 0.5, float(positions[:, 0].max()) + 0.5)
    axes.set_ylim(float(positions[:, 1].min()) - 0.5, float(positions[:, 1].max()) + 0.5)
    axes.set_title(title, fontsize=8.5, color=MUTED, loc="left")
    axes.axis("off")
