"""Nodes in pictures of networks: their names, readable or shortened, and boxes around servers and racks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.appearance import FAINT, INK, MUTED, PAPER, measured, write
from gossamer.plots.layouts.layout import Layout, Lines, Points

LEAST_SIZE = 5.0
"""Points of the smallest print."""
_SIZES = (9.0, 8.0, 7.0, 6.0, 5.5, LEAST_SIZE)
_LONGEST = 18
"""Characters of a name that hangs beside its node; longer ones are shortened."""
_MOST = 400
"""Of more nodes nobody reads the names."""
_BAR = 0.2
"""Half the height of a bar, in units of the layout."""
_GROUND = "#f4f4f4"


def shortened(names: Sequence[str]) -> tuple[list[str], str]:
    """Return names without what all of them begin and end with, and a note that says so.

    Numbers are not torn apart. Names that are still long are numbers in order.

    >>> shortened(["node01.example.org", "node02.example.org"])
    (['01', '02'], 'without “node” and “.example.org”')
    >>> shortened(["a", "b"])
    (['a', 'b'], '')
    """
    given = list(names)
    if len(given) < 2:
        return [name if len(name) <= _LONGEST else f"{name[:8]}…{name[-8:]}" for name in given], ""
    before = _alike(given)
    after = _alike([name[len(before) :][::-1] for name in given])[::-1]
    if any(name[len(before) :][:1].isdigit() for name in given):
        before = re.sub(r"\d+$", "", before)
    if any(name[: len(name) - len(after)][-1:].isdigit() for name in given):
        after = re.sub(r"^\d+", "", after)
    short = [name[len(before) : len(name) - len(after)] for name in given]
    if not all(short) or len(set(short)) < len(set(given)):
        return given, ""
    cut = [f"“{part}”" for part in (before, after) if part]
    return short, f"without {' and '.join(cut)}" if cut else ""


def _alike(names: Sequence[str]) -> str:
    """Return what all of some names begin with."""
    first, last = min(names), max(names)
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:size]


class NamedNodes(NamedTuple):
    """How nodes are named.

    * `text`: what is written for each node, empty where nothing is.
    * `manner`: ``"in"`` a node, ``"plate"``, a box as large as the name, or ``"beside"`` the node.
    * `size`: type size of each, in points.
    * `notes`: what was shortened or left out.
    * `boxes`: name and type size of each box.
    """

    text: list[str]
    manner: list[str]
    size: list[float]
    notes: list[str]
    boxes: list[tuple[str, float]]


def named(network: Network, layout: Layout, radius: float, unit: float) -> NamedNodes:
    """Return how the nodes of a network are named where one unit of the layout has so many points.

    Terminals and switches are named alike each: whole if the names fit, else without what they have in common, else by
    number, and if there is no room for that not at all, which a note says.
    """
    count, terminals = network.node_count, network.terminal_count
    found = NamedNodes([""] * count, ["in"] * count, [0.0] * count, [], [])
    if count > _MOST:
        found.notes.append(f"No room for the names of {count:,} nodes.")
        return found
    full = [network.node_name(v).removeprefix("(").removesuffix(")") for v in range(count)]
    if network.grid is not None and all(s <= 2 for s in network.grid.sides):
        full = [name.replace(",", "") for name in full]
    bars = list(layout.bars)
    switches = [v for v in range(terminals, count) if v not in set(bars)]
    for what, nodes in (("switches", switches), ("terminals" if terminals < count else "nodes", range(terminals))):
        if len(nodes):
            _name(found, layout, full, list(nodes), (what, radius, unit))
    for v in bars:
        size = next(
            (s for s in _SIZES if measured(full[v], s)[0] < _bar_width(layout, v) * unit and s < 1.6 * _BAR * unit), 0
        )
        found.text[v], found.size[v] = (full[v], size) if size else ("", 0.0)
    found.boxes.extend(box_names(layout, full, found, unit))
    unnamed = any(not found.text[int(box.nodes[-1])] for box in layout.boxes)
    if unnamed and not any(name for name, _ in found.boxes):
        found.notes.append("Boxes are servers or racks; there is no room for their names.")
    return found


def _bar_width(layout: Layout, bar: int) -> float:
    box = next(box for box in layout.boxes if bar in box.nodes) if layout.boxes else None
    return float(len(box.nodes) - 1) if box is not None else 2.0


def _name(found: NamedNodes, layout: Layout, full: list[str], nodes: list[int], how: tuple[str, float, float]) -> None:
    """Name some nodes in the first manner that has room."""
    what, radius, unit = how
    names = [full[v] for v in nodes]
    short, note = shortened(names)
    numbers = [str(k) for k in range(len(nodes))]
    beside = "beside" if _hang(layout, nodes) else "plate"
    said = {id(names): "", id(short): note, id(numbers): "by number, in their order"}
    tried = [("in", names), (beside, names), ("in", short), (beside, short), ("in", numbers), (beside, numbers)]
    for manner, words in tried:
        if manner == "beside" and max(map(len, words)) > _LONGEST:
            continue
        size = _size(found, layout, nodes, words, (manner, radius, unit))
        if size:
            for v, word in zip(nodes, words, strict=True):
                found.text[v], found.manner[v], found.size[v] = word, manner, size
            if said[id(words)]:
                found.notes.append(f"{what.capitalize()} are named {said[id(words)]}.")
            return
    order = "" if what == "switches" else ", in the order of their numbers"
    found.notes.append(f"No room for the names of {len(nodes)} {what}{order}.")


def _size(
    found: NamedNodes, layout: Layout, nodes: list[int], words: list[str], how: tuple[str, float, float]
) -> float:
    """Return the largest type size in which the names fit, 0 if there is none."""
    manner, radius, unit = how
    if manner == "in":
        inner = 1.78 * radius * unit
        return next((s for s in (_SIZES[:4] if _hang(layout, nodes) else _SIZES) if s < 0.92 * inner
                     and all(_inside(word, s, inner) for word in set(words))), 0.0)  # fmt: skip
    places = layout.positions * unit
    if manner == "beside":
        near = _nearest(places[nodes])
        return next((s for s in _SIZES[2:] if 1.25 * s < near), 0.0)
    others = [v for v in range(len(places)) if v not in set(nodes) and v not in set(layout.bars)]
    for s in _SIZES[1:]:
        sides = np.array([measured(word, s) for word in words]) + np.array([0.9 * s, 0.7 * s])
        low, high = places[nodes] - sides / 2, places[nodes] + sides / 2
        mates = np.array([_half(found, v, radius * unit) for v in others]).reshape(-1, 2)
        lows, highs = np.concatenate([low, places[others] - mates]), np.concatenate([high, places[others] + mates])
        apart = np.array([9.0, 2.0])  # so that links between them are seen
        if not _overlap(low - apart, high + apart, lows, highs):
            return s
    return 0.0


def _half(found: NamedNodes, v: int, radius: float) -> tuple[float, float]:
    """Return half the width and half the height of a node in points."""
    if found.manner[v] != "plate" or not found.text[v]:
        return radius, radius
    wide, high = measured(found.text[v], found.size[v])
    return wide / 2 + 0.4 * found.size[v], high / 2 + 0.4 * found.size[v]


def _hang(layout: Layout, nodes: list[int]) -> bool:
    """Return whether there is room for names beside all of some nodes."""
    return layout.hangs is not None and not bool(np.isnan(layout.hangs[nodes]).any())


def _inside(word: str, size: float, inner: float) -> bool:
    """Return whether a word fits into a circle, whose chord is shorter above and below its middle."""
    wide, _ = measured(word, size)
    return wide**2 + (0.75 * size) ** 2 < inner**2


def _nearest(places: Points) -> float:
    from scipy.spatial import cKDTree

    if len(places) < 2:
        return 1e9
    return float(np.asarray(cKDTree(places).query(places, k=2)[0])[:, 1].min())


def _overlap(low: Points, high: Points, lows: Points, highs: Points) -> bool:
    """Return whether any of some rectangles meets another one; the first of all are the rectangles themselves."""
    meets: Any = ((low[:, None] < highs[None]) & (high[:, None] > lows[None])).all(axis=2)
    meets[np.arange(len(low)), np.arange(len(low))] = False
    return bool(meets.any())


def box_names(layout: Layout, full: list[str], nodes: NamedNodes, unit: float) -> list[tuple[str, float]]:
    """Return name and type size of each box, below it: none where its switch is named, shorter where room is scarce."""
    boxes = layout.boxes
    if not boxes or all(not box.server and nodes.text[int(box.nodes[-1])] for box in boxes):
        return [("", 0.0)] * len(boxes)
    names = [box.name for box in boxes]
    short, _ = shortened(names)
    middles = np.array([layout.positions[box.nodes[:-1], 0].mean() for box in boxes]) * unit
    order = np.argsort(middles)
    for words in (names, short):
        for size in _SIZES[2:]:
            wide = np.array([measured(word, size)[0] for word in words])[order]
            if len(boxes) < 2 or bool((np.diff(middles[order]) > (wide[1:] + wide[:-1]) / 2 + 3).all()):
                return [(word, size) for word in words]
    return [("", 0.0)] * len(boxes)


class Page(NamedTuple):
    """How a network stands on a page: points for one unit, corners of what is seen in units, the names."""

    unit: float
    low: Points
    high: Points
    names: NamedNodes


def fitted(
    network: Network, layout: Layout, lines: Sequence[Lines], radius: float, room: tuple[float, float], most: float
) -> Page:
    """Return the largest scale at which a network with its names fits into a room in points, and at most so large."""
    inked = [
        layout.positions - radius - 0.1,
        layout.positions + radius + 0.1,
        *(g.points.reshape(-1, 2) for g in lines),
    ]
    bare = np.concatenate(inked)
    if layout.blocks:
        bare = np.concatenate([bare, [[x, y + 1.2] for x, y, _ in layout.blocks]])
    span = np.ptp(bare, axis=0)
    unit = float(min(most, room[0] / span[0], room[1] / span[1]))
    for _ in range(8):
        names = named(network, layout, radius, unit)
        low, high = _seen(bare, layout, names, radius, unit)
        size = (high - low) * unit
        if size[0] <= room[0] + 0.01 and size[1] <= room[1] + 0.01:
            break
        over = size - span * unit
        unit = float(min(unit * 0.995, *((room[i] - over[i]) / span[i] for i in range(2) if room[i] > over[i])))
        unit = max(unit, 0.5)
    return Page(unit, low, high, names)


def _seen(bare: Points, layout: Layout, names: NamedNodes, radius: float, unit: float) -> tuple[Points, Points]:
    """Return the corners of nodes, lines, names and boxes, in units."""
    corners = [bare]
    for v, (text, manner, size) in enumerate(zip(names.text, names.manner, names.size, strict=True)):
        if text and manner == "beside":
            corners.append(_beside(layout, v, text, size, radius, unit)[1])
        elif text and manner == "plate":
            half = np.array(_half(names, v, radius * unit)) / unit
            corners.append(np.stack([layout.positions[v] - half, layout.positions[v] + half]))
    for box, (text, size) in zip(layout.boxes, names.boxes, strict=False):
        low, high = box_corners(layout, names, box.nodes, radius, unit)
        aside = measured(text, size)[0] / 2 / unit if text else 0.0
        below = 1.5 * size / unit if text else 0.0
        middle = (low[0] + high[0]) / 2
        corners.append(
            np.array([[min(low[0], middle - aside), low[1] - below], [max(high[0], middle + aside), high[1]]])
        )
    found = np.concatenate(corners)
    return found.min(axis=0) - 2 / unit, found.max(axis=0) + 2 / unit


def _beside(layout: Layout, v: int, text: str, size: float, radius: float, unit: float) -> tuple[Points, Points]:
    """Return where a name beside its node begins, and the two corners around it, in units."""
    assert layout.hangs is not None
    angle = np.radians(layout.hangs[v])
    way = np.array([np.cos(angle), np.sin(angle)])
    start = layout.positions[v] + way * (radius + 2.5 / unit)
    for bar in layout.bars if way[1] < -0.99 else ():
        if any(bar in box.nodes and v in box.nodes for box in layout.boxes):
            start = np.array([start[0], layout.positions[bar, 1] - _BAR - 2.5 / unit])
    wide, high = measured(text, size)
    end = start + way * wide / unit
    across = np.abs(np.array([-way[1], way[0]])) * high / 2 / unit
    return start, np.stack([np.minimum(start, end) - across, np.maximum(start, end) + across])


def box_corners(
    layout: Layout, names: NamedNodes, nodes: npt.NDArray[np.int64], radius: float, unit: float
) -> tuple[Points, Points]:
    """Return the corners of a box around some nodes and what is written below them, in units."""
    seen = [layout.positions[nodes] - radius, layout.positions[nodes] + radius]
    hanging = [v for v in nodes.tolist() if names.text[v] and names.manner[v] == "beside"]
    seen += [_beside(layout, v, names.text[v], names.size[v], radius, unit)[1] for v in hanging]
    found = np.concatenate(seen)
    pad = np.array([0.12, 0.16])
    low, high = found.min(axis=0) - pad, found.max(axis=0) + pad
    if layout.hangs is None or all(abs(layout.hangs[v] % 180 - 90) < 1 for v in hanging):  # in a row, not on a circle
        low[0] = layout.positions[nodes[:-1], 0].min() - radius - pad[0]
        high[0] = layout.positions[nodes[:-1], 0].max() + radius + pad[0]
    return low, high


def paint_nodes(
    axes: Any, network: Network, layout: Layout, page: Page, radius: float, tints: Sequence[str | None] = ()
) -> None:
    """Paint boxes, nodes and their names: terminals round, switches square or as large as their names.

    `tints` are colors of nodes that stand out, None for the others.
    """
    names, unit, terminals = page.names, page.unit, network.terminal_count
    colors = list(tints) or [None] * network.node_count
    _paint_boxes(axes, layout, page, radius)
    area = (2 * radius * unit * 0.96) ** 2
    shaped = [v for v in range(network.node_count) if v not in layout.bars
              and not (names.manner[v] == "plate" and names.text[v])]  # fmt: skip
    for round_ones in (True, False):
        for plain in (False, True):
            mine = [v for v in shaped if (v < terminals) is round_ones
                    and (not names.text[v] or names.manner[v] != "in") is plain]  # fmt: skip
            if not mine:
                continue
            ground = (MUTED if unit > 14 else FAINT) if plain else PAPER
            size = area * (0.5 if plain else 1.0) * (1.0 if round_ones else 0.8)
            look = {"facecolor": [colors[v] or ground for v in mine], "edgecolor": MUTED, "linewidth": 0.7}
            marker = "o" if round_ones else "s"
            axes.scatter(*layout.positions[mine].T, s=size, marker=marker, zorder=2, gid="nodes", **look)
    _paint_bars(axes, layout, radius, colors)
    for v, (text, manner, size) in enumerate(zip(names.text, names.manner, names.size, strict=True)):
        x, y = layout.positions[v]
        if text and manner == "beside":
            _write_beside(axes, layout, v, text, size, radius, unit)
        elif text:
            rim = {"boxstyle": f"{'round' if v < terminals else 'square'},pad=0.25", "facecolor": colors[v] or PAPER,
                   "edgecolor": MUTED, "linewidth": 0.7}  # fmt: skip
            plate = {"bbox": rim} if manner == "plate" else {}
            write(axes, x, y, text, size, ha="center", va="center_baseline", zorder=3, **plate)


def _paint_boxes(axes: Any, layout: Layout, page: Page, radius: float) -> None:
    """Paint servers and racks, their names below them."""
    from matplotlib.patches import Rectangle

    for box, (text, size) in zip(layout.boxes, page.names.boxes, strict=False):
        low, high = box_corners(layout, page.names, box.nodes, radius, page.unit)
        look: dict[str, Any] = {"facecolor": _GROUND, "edgecolor": FAINT, "linewidth": 0.7, "zorder": 0.2}
        axes.add_patch(Rectangle(tuple(low), *(high - low), **look))
        if text:
            x, y = (low[0] + high[0]) / 2, low[1] - 0.25 * size / page.unit
            write(axes, x, y, text, size, color=MUTED, ha="center", va="top", zorder=3, gid="box")


def _paint_bars(axes: Any, layout: Layout, radius: float, colors: Sequence[str | None]) -> None:
    """Paint the switches inside of servers."""
    from matplotlib.patches import FancyBboxPatch

    for bar in layout.bars:
        x, y = layout.positions[bar]
        half = _bar_width(layout, bar) / 2 - 0.5 + radius
        look: dict[str, Any] = {"facecolor": colors[bar] or PAPER, "edgecolor": MUTED, "linewidth": 0.7, "zorder": 2}
        style = "round,pad=0,rounding_size=0.1"
        axes.add_patch(FancyBboxPatch((x - half, y - _BAR), 2 * half, 2 * _BAR, boxstyle=style, **look))


def _write_beside(axes: Any, layout: Layout, v: int, text: str, size: float, radius: float, unit: float) -> None:
    assert layout.hangs is not None
    angle = float(layout.hangs[v]) % 360
    (x, y), _ = _beside(layout, v, text, size, radius, unit)
    left = 90 < angle <= 270
    turn = angle - 180 if left else angle
    write(axes, x, y, text, size, rotation=turn, rotation_mode="anchor", ha="right" if left else "left", va="center",
          zorder=3, color=INK)  # fmt: skip
