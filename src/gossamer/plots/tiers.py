"""The picture of a large hierarchy: a box for each tier in frames for its groups, and the cables between as bundles.

A box stands for all nodes of a tier, a frame for each of the groups in which they are (pods, servers), and a line for
all cables between two tiers, with how many they are, what they carry together and how busy they are. So a picture is
as small for 16,384 GPUs as for 16.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text, quantity
from gossamer.networks.hierarchy import Hierarchy, Join, link_rates
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.plots.appearance import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    UNWRITTEN,
    Dress,
    caption,
    heading,
    headline,
    look,
    measured,
    spec_text,
    tint,
)
from gossamer.plots.link_load import color_bar, load_of, load_scale, percent
from gossamer.plots.panels import Figure
from gossamer.schedules import Schedule

Loads = npt.NDArray[np.float64]

_WIDTH, _BOX, _GAP, _INSET, _STEP = 7.4, 0.46, 0.56, 0.16, 0.34
"""Inches: a figure, the height of a box, the room between boxes, by which a frame is wider than what is in it, and by
which it is higher, with the line that says what it is."""
_LANE, _TEXT = 0.2, 2.6
"""Inches between lines that pass by other boxes, and of the words beside them."""
_BEHIND, _COPIES = 0.05, 2
"""Inches by which the groups behind a frame stick out, and how many are drawn."""
_KEY = 0.5
"""Inches of the bar that explains colors."""


class _Bundle(NamedTuple):
    """All cables between two tiers: the boxes at their ends from below, how wide the line is, its color and words."""

    low: int
    high: int
    width: float
    color: Any
    words: list[str]


def tiers_figure(found: Hierarchy, schedule: Schedule | None = None, **dressing: Unpack[Dress]) -> Figure:
    """Return the picture of a hierarchy, tier by tier.

    * `found`: what `gossamer.networks.hierarchy.hierarchy` found.
    * `schedule`: a verified schedule on it: lines have the colors of the share of time in which cables are busy.
    * `**dressing`: as for all figures, but `ax`.

    >>> import gossamer
    >>> from gossamer.networks.hierarchy import hierarchy
    >>> figure = tiers_figure(hierarchy(gossamer.network("leaf-spine:leaves=32,spines=16,hosts=32")))
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['32 leaf groups', '1,024 terminals']
    """
    dress = look(**dressing)
    network, order = found.network, _upwards(found)
    depth = [_inside(found, t) for t in order]
    row = {t: i for i, t in enumerate(order)}
    load = None if schedule is None else load_of(schedule)
    bundles = [_bundle(found, join, row, load) for join in found.joins]
    passing = sorted((b for b in bundles if b.high - b.low > 1), key=lambda b: b.high - b.low)
    width, margin = dress.width or _WIDTH, _INSET * len(found.levels) + _BEHIND * _COPIES
    sides = 0.2 + margin, width - margin - (_TEXT + _LANE * len(passing) if passing else 0.2)
    words = _words(network, schedule)

    def written(page: Any, height: float) -> tuple[float, float]:
        """Write what stands at the top and at the bottom; return the inches used."""
        if schedule is not None:
            top = heading(page, schedule, width, height, dress)
        else:
            top = headline(page, dress.title or "", "", width, height, dress)
        return top, caption(page, words, width, height, dress)

    top, foot = written(UNWRITTEN, 1.0)
    foot += _KEY if schedule is not None else 0.0
    ended = [before - after for before, after in pairwise([*depth, 0])]  # frames that end above each box
    bottoms = [foot + 0.1 + margin]
    for frames in ended[:-1]:
        bottoms.append(bottoms[-1] + _BOX + _GAP + frames * _STEP + (frames > 0) * _BEHIND * _COPIES)
    tops = [b + _BOX for b in bottoms]
    height = tops[-1] + ended[-1] * _STEP + 0.25 + top
    figure = Figure((width, height), facecolor=PAPER)
    written(figure, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(0, height))
    for level in range(len(found.levels)):
        held = [i for i, d in enumerate(depth) if d > level]
        if held:
            grown = max(depth) - level
            _frame(
                axes, found, level, sides, bottoms[0] - grown * _INSET, tops[held[-1]] + ended[held[-1]] * _STEP, grown
            )
    for i, t in enumerate(order):
        _box(axes, found, t, sides, bottoms[i])
    for lane, bundle in enumerate(passing):
        x = sides[1] + margin + _LANE * (lane + 0.5)
        ends = bottoms[bundle.low] + 0.3 * _BOX, bottoms[bundle.high] + min(0.25 + 0.25 * lane, 0.9) * _BOX
        axes.plot([sides[1], x, x, sides[1]], np.repeat(ends, 2), color=bundle.color, linewidth=bundle.width, zorder=4)
        _say(axes, width - _TEXT + 0.08, (tops[bundle.low] + bottoms[bundle.high]) / 2 + 0.35 * lane, bundle, "left")
    middle = sides[0] + 0.66 * (sides[1] - sides[0])
    for bundle in bundles:
        if bundle.high - bundle.low == 1:
            ends = tops[bundle.low], bottoms[bundle.high]
            axes.plot([middle, middle], ends, color=bundle.color, linewidth=bundle.width, zorder=4)
            _say(axes, middle - 0.12, ends[1] - _GAP / 2, bundle, "right")
    if schedule is not None and load is not None:
        color_bar(figure, load_scale(load)[0], load, schedule, (width, height, foot - _KEY + 0.3))
    return figure


def _upwards(found: Hierarchy) -> list[int]:
    """Return the tiers from below: terminals, then those inside the smallest groups, each after those it is above."""
    count = len(found.coordinates)
    away = dict.fromkeys(found.terminal_tiers, 0)
    near = list(away)
    while near:
        reached = {o for join in found.joins for t in near if t in join.tiers for o in join.tiers} - away.keys()
        away |= dict.fromkeys(reached, away[near[0]] + 1)
        near = sorted(reached)
    return sorted(range(count), key=lambda t: (away.get(t, count) > 0, -_inside(found, t), away.get(t, count), t))


def _inside(found: Hierarchy, tier: int) -> int:
    """Return in how many groups inside each other the nodes of a tier are."""
    own, depth = set(found.coordinates[tier]), 0
    for level in found.levels:
        if not own.issuperset(level):
            break
        depth += 1
    return depth


def _bundle(found: Hierarchy, join: Join, row: dict[int, int], load: Loads | None) -> _Bundle:
    """Return what is drawn and said of all cables between two tiers."""
    network, (low, high) = found.network, sorted(join.tiers, key=lambda t: row[t])
    near, far = found.tier[network.link_source], found.tier[network.link_target]
    ways = np.flatnonzero((near == low) & (far == high)), np.flatnonzero((near == high) & (far == low))
    rate = link_rates(network)[ways[0]]
    words = quantity(ways[0].size, "cable")
    if network.find(Speeds) is not None and rate.size:
        each = bandwidth_text(rate[0]) if np.ptp(rate) == 0 else "several speeds"
        words += f" of {each}: {bandwidth_text(float(rate.sum()))}"
    lines, color = [words], MUTED
    every = link_rates(network)
    wide = 1.2 + 2.2 * math.sqrt(float(rate.sum()) / max(float(every.sum()), 1e-30))
    if load is not None:
        told = [f"{percent(float(load[way].mean()))}" for way in ways if way.size]
        most = max(float(load[way].max()) for way in ways if way.size)
        lines.append(f"busy {' up, '.join(told)} down; at most {percent(most)}")
        shown = float(np.mean([load[way].mean() for way in ways if way.size]))
        color = load_scale(load)[0].to_rgba(shown) if shown else FAINT
    return _Bundle(row[low], row[high], wide, color, lines)


def _say(axes: Any, x: float, y: float, bundle: _Bundle, side: str) -> None:
    text = "\n".join(bundle.words)
    axes.text(x, y, text, fontsize=7.5, color=INK, va="center", ha=side, linespacing=1.25, zorder=5)


def _frame(
    axes: Any, found: Hierarchy, level: int, sides: tuple[float, float], bottom: float, top: float, grown: int
) -> None:
    """Paint the frame of the groups of a level, with the edges of others behind it, and say how many there are.

    It is wider than the boxes by so many insets.
    """
    from matplotlib.patches import Rectangle

    left, wide = sides[0] - grown * _INSET, sides[1] - sides[0] + 2 * grown * _INSET
    count = math.prod(found.sizes[c] for c in found.levels[level])
    for behind in range(_COPIES * (count > 1), -1, -1):
        move = behind * _BEHIND
        axes.add_patch(
            Rectangle(
                (left + move, bottom + move),
                wide,
                top - bottom,
                facecolor=PAPER,
                edgecolor=MUTED,
                linewidth=0.7,
                zorder=1,
            )
        )
    words = quantity(count, found.level_names[level])
    if level:
        total = math.prod(found.sizes[c] for group in found.levels[: level + 1] for c in group)
        words += f" in each {found.level_names[level - 1]}, {total:,} in all"
    axes.text(left + 0.08, top - 0.07, words, fontsize=8, color=INK, va="top", zorder=3)


def _box(axes: Any, found: Hierarchy, tier: int, sides: tuple[float, float], bottom: float) -> None:
    """Paint the box of a tier: how many nodes it has, which, and how many in each group."""
    from matplotlib.patches import FancyBboxPatch

    (left, right), round = sides, tier in found.terminal_tiers
    color = tint("#2b90ee", 0.25) if round else tint(MUTED, 0.2)
    style = "round,pad=0,rounding_size=0.12" if round else "square,pad=0"
    axes.add_patch(
        FancyBboxPatch((left, bottom), right - left, _BOX, boxstyle=style, facecolor=color, edgecolor=MUTED,
                       linewidth=0.7, zorder=3)
    )  # fmt: skip
    count = found.tier_sizes[tier]
    nodes = np.flatnonzero(found.tier == tier)
    kind = quantity(count, "terminal") if round else f"{count:,} switch{'es' * (count > 1)}"
    name = found.network.node_name
    names = name(int(nodes[0])) + (f" to {name(int(nodes[-1]))}" if count > 1 else "")
    depth = _inside(found, tier)
    own = [c for c in found.coordinates[tier] if c not in {c for each in found.levels[:depth] for c in each}]
    each = math.prod(found.sizes[c] for c in own)
    told = (
        f"{each:,} in each {found.level_names[depth - 1]}" if depth else " x ".join(f"{found.sizes[c]:,}" for c in own)
    )
    axes.text(left + 0.12, bottom + 0.68 * _BOX, kind, fontsize=8.5, color=INK, va="center", zorder=4)
    below = f"{names}; {told}" if told else names
    while measured(below, 7)[0] / 72 > right - left - 0.2 and len(below) > 8:
        below = below[: int(len(below) * 0.9) - 1].rstrip("….") + "…"
    axes.text(left + 0.12, bottom + 0.28 * _BOX, below, fontsize=7, color=MUTED, va="center", zorder=4)


def _words(network: Network, schedule: Schedule | None) -> str:
    text = (
        f"{spec_text(network)}: {quantity(network.node_count, 'node')}, {quantity(network.link_count, 'link')}. "
        "A box is all nodes of a tier, a frame one of the groups in which they are, a line all cables between two tiers"
    )
    return text + ("." if schedule is None else ", in the color of the share of time in which they are busy.")
