"""Measured curves between their bounds, one panel each."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from gossamer.atomic_files import bytes_text, latex_text, seconds_text
from gossamer.errors import FileFormatError, ModelError, nearest
from gossamer.execution.machine_model_replay import Replay
from gossamer.networks import Network
from gossamer.planning.collective_jobs import JobOutcome
from gossamer.plots.appearance import (
    CATEGORICAL,
    CONTROL_COLOR,
    FAINT,
    INK,
    MARKERS,
    MUTED,
    PAPER,
    Dress,
    look,
    sequential,
)
from gossamer.plots.panels import Panels, plain
from gossamer.plots.picture_files import write_picture
from gossamer.reading import whole
from gossamer.simulation.flits.traffic_result import TrafficRun
from gossamer.simulation.random_arrivals.scheme_evaluation import Delays, by_scheme
from gossamer.studies.reproductions.table import Curve
from gossamer.studies.sweeps.message_sizes import SizeComparison, SizePlans, crossover_text
from gossamer.studies.sweeps.report import ComparedGroup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_results(figure: Callable[..., Figure], results: Any, path: str | os.PathLike[str], title: str) -> None:
    """Write a figure of results to an SVG, PNG or PDF file, whole or not at all.

    * `figure`: takes the results and a heading, as `latency_figure` does.
    * `results`: what it draws.
    * `path`: the file; its suffix says the format.
    * `title`: above the picture.

    Raises `FileFormatError` if the suffix is unknown or the file cannot be written.
    """
    write_picture(lambda: figure(results, title), path, title)


# Latency against load, one curve a network.

_HIGHEST = 8
"""The latency axis ends at so many times the lowest latency."""


def latency_figure(curves: Mapping[str, Sequence[TrafficRun]], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of two panels: latency of the runs that keep up, and throughput of all, against the load.

    At the top of the left panel an arrow marks a load at which the network does not keep up, a cross one at which it
    is deadlocked. `heading` is the title unless there is another. Without any run there is a FileFormatError.
    """
    if not any(curves.values()):
        raise FileFormatError("a picture of latency against load needs at least one run")
    panels = Panels(2, look(**dressing))
    left, right = panels.axes
    lowest, largest = math.inf, 0.0
    for k, (name, runs) in enumerate(curves.items()):
        color = CATEGORICAL[k % len(CATEGORICAL)]
        kept = sorted((r for r in runs if not r.saturated and not r.deadlock), key=lambda r: r.load)
        bars = [0 if math.isnan(r.half_width) else r.half_width for r in kept]
        style = {"color": color, "linewidth": 1.5, "markersize": 3.5, "label": name}
        fmt = f"{MARKERS[k % len(MARKERS)]}-"
        left.errorbar([r.load for r in kept], [r.latency for r in kept], yerr=bars, fmt=fmt, capsize=2, **style)
        _mark_lost(left, runs, color, k)
        every = sorted(runs, key=lambda r: r.load)
        right.plot([r.load for r in every], [r.throughput for r in every], fmt, **style)
        lowest = min([lowest, *(r.latency for r in kept)])
        largest = max([largest, *(r.load for r in every)])
    right.plot([0, largest], [0, largest], color=MUTED, linewidth=1, linestyle="--", label="all that is offered")
    if math.isfinite(lowest):
        left.set_ylim(0, _HIGHEST * lowest)
    for panel, label in ((left, "mean latency, cycles"), (right, "throughput, flits per node and cycle")):
        panel.set_xlim(0, 1.03 * largest)
        plain(panel, "load, flits per node and cycle", label)
    if any(r.saturated or r.deadlock for runs in curves.values() for r in runs):
        words = "arrows: saturated; crosses: deadlocked"
        left.text(0.02, 0.02, words, fontsize=7, color=MUTED, transform=left.transAxes)
    right.set_ylim(bottom=0)
    (right if panels.dress.ax is None else left).legend(fontsize=7.5, frameon=False, labelcolor=INK)
    return panels.finished(heading)


def _mark_lost(panel: Any, runs: Sequence[TrafficRun], color: str, number: int) -> None:
    """Mark, at the top, the loads that have no latency because the network is saturated or deadlocked."""
    at_top = panel.get_xaxis_transform()
    stuck = [r.load for r in runs if r.deadlock]
    saturated = [r.load for r in runs if r.saturated and not r.deadlock]
    for loads, marker in ((saturated, r"$\uparrow$"), (stuck, "x")):
        height = [0.97 - 0.05 * number] * len(loads)
        panel.plot(loads, height, color=color, marker=marker, markersize=7, linestyle="none", transform=at_top)


# Time against bytes, one curve an algorithm, beside the lower bound.


SIZE_KINDS = {"bound": "time / lower bound", "time": "time, us", "bandwidth": "bandwidth, GB/s"}
"""What is drawn over bytes, a panel each, and the words at its axis."""


def sizes_figure(
    comparison: SizeComparison | SizePlans, heading: str = "", kind: str | None = None, **dressing: Unpack[Dress]
) -> Figure:
    """Return a figure over bytes: multiples of the bound, time, and bus bandwidth, a panel each, or one of them.

    At most six algorithms are drawn: the plan and the usual ones beside it, or those compared, the ones that are best
    somewhere first; and the lower bound. Where bus bandwidth is not defined it is the algorithm bandwidth. `kind` is
    ``bound``, ``time`` or ``bandwidth``, all three by default; `heading` is the title unless there is another.
    """
    from matplotlib.ticker import FuncFormatter

    kinds = [_size_kind(kind)] if kind is not None else list(SIZE_KINDS)
    size = (3.6, 3.1) if kind is None else (4.8, 3.3)
    panels = Panels(len(kinds), look(**dressing), columns=3, size=size)
    sizes = comparison.sizes
    named = set[str]()
    for panel, of in zip(panels.axes, kinds, strict=True):
        for k, (name, points) in enumerate(_size_curves(comparison, of)):
            if name == _LEAST:
                style: dict[str, Any] = {"color": MUTED, "linewidth": 1, "linestyle": "--"}
            else:
                style = {"color": CATEGORICAL[k], "marker": MARKERS[k], "linewidth": 1.4, "markersize": 4}
            label = None if name in named else name
            named.add(name)
            panel.plot([x for x, _ in points], [y for _, y in points], label=label, **style)
        for crossover in comparison.crossovers:
            panel.axvline(crossover.bytes, color=FAINT, linewidth=1, zorder=0)
        panel.set_xscale("log", base=2)
        shown = sizes[:: max(1, -(-len(sizes) // 4))]
        panel.set_xticks(shown, [bytes_text(size) for size in shown])
        panel.set_xticks([], minor=True)
        if of == "time":
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        panel.margins(0.08)
        plain(panel, "bytes", _size_label(comparison, of))
        if of == "bandwidth":
            panel.set_ylim(0, 1.08 * panel.get_ylim()[1])
    panels.name(ncol=max(1, int(panels.width / _KEY)))
    return panels.finished(heading, "; ".join(map(crossover_text, comparison.crossovers[:2])))


_LEAST = "lower bound"
_KEY = 1.8
"""Inches of an entry of the key, about."""


def _size_kind(kind: str) -> str:
    """Return the kind; FileFormatError if there is none such."""
    if kind not in SIZE_KINDS:
        raise FileFormatError(f"the kind of a picture over bytes must be {', '.join(SIZE_KINDS)}, got {kind!r}"
                              f"{nearest(kind, list(SIZE_KINDS))}")  # fmt: skip
    return kind


def _size_label(comparison: SizeComparison | SizePlans, kind: str) -> str:
    """Return the words at the axis of a panel."""
    which = "bus " if all(o.bus_bandwidth is not None for o in comparison.best) else "algorithm "
    return f"{which if kind == 'bandwidth' else ''}{SIZE_KINDS[kind]}"


def _size_curves(comparison: SizeComparison | SizePlans, kind: str) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield the curves of a panel by name, the lower bound last: pairs of bytes and what is drawn."""
    bus = all(o.bus_bandwidth is not None for o in comparison.best)
    bounds = [o.bound_seconds for o in comparison.best]
    for name, times in [*itertools.islice(comparison.times(), len(CATEGORICAL)), (_LEAST, bounds)]:
        points = []
        for size, time, best, least in zip(comparison.sizes, times, comparison.best, bounds, strict=True):
            rate = (best.bus_bandwidth if bus else best.bandwidth) or 0
            if not time or (kind == "bound" and not least):
                continue
            value = time / least if kind == "bound" and least else time * 10**6
            if kind == "bandwidth":
                value = rate * (best.seconds or 0) / time / 10**9
            points.append((size, float(value)))
        if points:
            yield name, points


def sizes_tikz(comparison: SizeComparison | SizePlans, heading: str = "", kind: str = "time") -> str:
    r"""Return a panel over bytes, as of `sizes_figure`, as a `tikzpicture` for the package pgfplots.

    >>> from gossamer.studies.sweeps.message_sizes import plan_sizes
    >>> found = plan_sizes("ring:4", "allgather", "1KiB,1MiB", cost={"bandwidth": "50GB/s", "latency": "2us"})
    >>> sizes_tikz(found).count("\\addplot")
    2
    """
    _size_kind(kind)
    ticks = comparison.sizes[:: max(1, -(-len(comparison.sizes) // 4))]
    lines = [f"% {heading}", "% \\usepackage{pgfplots} \\pgfplotsset{compat=1.16}", "\\begin{tikzpicture}"]
    lines += [
        f"\\begin{{axis}}[xmode=log, log basis x=2, {'ymode=log, ' if kind == 'time' else 'ymin=0, '}width=84mm,",
        f"  xlabel={{bytes}}, ylabel={{{latex_text(_size_label(comparison, kind))}}},",
        f"  xtick={{{','.join(map(str, ticks))}}}, xticklabels={{{','.join(map(bytes_text, ticks))}}},",
        "  legend style={at={(0.5,-0.25)}, anchor=north, draw=none, font=\\small}, legend columns=2]",
    ]
    for name, points in _size_curves(comparison, kind):
        style = "[dashed, gray, mark=none] " if name == _LEAST else "+"
        places = " ".join(f"({x},{y:.6g})" for x, y in points)
        lines += [f"\\addplot{style} coordinates {{{places}}};", f"\\addlegendentry{{{latex_text(name)}}}"]
    return "\n".join([*lines, "\\end{axis}", "\\end{tikzpicture}", ""])


# Delay against load, of several schemes in one figure.

_COLORS = (*CATEGORICAL, MUTED)
_ROW = 8.5
"""Points from a row of arrows to the next."""
_LEAST_TICKS = 3
_BESIDE = 6.0
"""Inches of a figure with room for names beside its panels."""


def delay_figure(points: Sequence[Delays], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of reception and broadcast delay against load, one curve a scheme, with its lower bound.

    Bars are 95% confidence intervals, dashes the lower bounds in the scheme's color, dotted upright lines the limits
    of stability below 1. A load at which a scheme is unstable has an arrow above the curves. `heading` is the title
    unless there is another.
    """
    panels = Panels(2, look(**dressing), size=(5.75, 3.6))
    schemes = list(by_scheme(points))
    for panel, what in zip(panels.axes, ("reception", "broadcast"), strict=True):
        for number, (_, theirs) in enumerate(schemes):
            _paint(panel, theirs, what, _style(number))
        _scale(panel)
        lost = [s for s in enumerate(schemes) if _unstable(s[1][1], what)]
        for place, (number, (_, theirs)) in enumerate(lost):
            _mark_unstable(panel, _unstable(theirs, what), _style(number)["color"], place)
        plain(panel, "load factor")
        said = {"fontsize": 9, "color": INK, "loc": "left", "pad": 8 + _ROW * len(lost)}
        panel.set_title(f"mean {what} delay, steps", **said)
        panel.set_xlim(0, 1)
    _name(panels, [name for name, _ in schemes])
    return panels.finished(heading, note=_note(panels.axes, points))


def _style(number: int) -> dict[str, Any]:
    """Return color and marks of a scheme: hollow ones once the colors are used up."""
    color = _COLORS[number % len(_COLORS)]
    hollow = number >= len(_COLORS)
    return {"color": color, "marker": MARKERS[number % len(MARKERS)], "markerfacecolor": PAPER if hollow else color}


def _name(panels: Panels, names: Sequence[str]) -> None:
    """Name every scheme, also one that is unstable at all loads."""
    from matplotlib.lines import Line2D

    signs = [Line2D([], [], linewidth=1.3, markersize=4, label=name, **_style(k)) for k, name in enumerate(names)]
    panels.name(handles=signs, beside=panels.width >= _BESIDE)


def _scale(panel: Any) -> None:
    """Let delays grow by ratio, with at least three numbers at the axis."""
    from matplotlib.ticker import MaxNLocator

    panel.set_yscale("log")
    low, high = panel.get_ylim()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        if len(ticks) < _LEAST_TICKS:
            ticks = [round(m * 10.0**d, 6) for d in decades for m in steps if low <= m * 10.0**d <= high]
    if len(ticks) < _LEAST_TICKS:
        ticks = [round(t, 6) for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)


def _note(panels: Any, points: Sequence[Delays]) -> str:
    """Return what the signs mean that are there."""
    lines = [line for panel in panels for line in panel.get_lines()]
    said = ["bars: 95% confidence"] if any(panel.containers for panel in panels) else []
    said += ["dashes: lower bounds"] if any(line.get_linestyle() == "--" for line in lines) else []
    said += ["dotted: limits of stability below 1"] if any(line.get_linestyle() == ":" for line in lines) else []
    return "; ".join([*said, *(["arrows: unstable at that load"] if any(not p.stable for p in points) else [])])


def _paint(panel: Any, points: Sequence[Delays], what: str, style: dict[str, Any]) -> None:
    shown = sorted((p for p in points if not math.isnan(getattr(p, what).mean)), key=lambda p: p.load)
    color = style["color"]
    if not shown:
        return
    loads = [p.load for p in shown]
    means = [getattr(p, what).mean for p in shown]
    bars = [w if math.isfinite(w) else 0.0 for w in (getattr(p, what).half_width for p in shown)]
    panel.errorbar(loads, means, yerr=bars, markersize=4, linewidth=1.3, capsize=2, **style)
    bounds = [getattr(p, f"{what}_bound") for p in shown]
    if not all(math.isnan(bound) for bound in bounds):
        panel.plot(loads, bounds, color=color, linewidth=0.9, linestyle="--", alpha=0.8)
    limit = points[0].limit.load
    if limit < 0.9999:
        panel.axvline(limit, color=color, linewidth=0.8, linestyle=":")


def _unstable(points: Sequence[Delays], what: str) -> list[float]:
    """Return the loads at which the delays of a scheme do not settle, if it measures them at all."""
    loads = [p.load for p in points if not p.stable]
    measured = any(not math.isnan(getattr(p, what).mean) for p in points) or len(loads) == len(points)
    return loads if measured else []


def _mark_unstable(panel: Any, loads: Sequence[float], color: str, row: int) -> None:
    """Draw an arrow for each load, in a row of its own above the curves."""
    from matplotlib.transforms import ScaledTranslation

    above = ScaledTranslation(0, (6 + _ROW * row) / 72, panel.figure.dpi_scale_trans)
    place = panel.get_xaxis_transform() + above
    panel.plot(loads, [1] * len(loads), color=color, marker=r"$\uparrow$", markersize=6, linestyle="none",
               transform=place, clip_on=False)  # fmt: skip


# Pictures of a network that was found: how far nodes are from each other, and which are adjacent.


def draw_distances(network: Network, path: str | os.PathLike[str], other: Network | None = None) -> None:
    """Write a picture of the adjacency of a network, and of how many nodes are at each distance.

    * `network`: up to 20,000 nodes.
    * `path`: ``.svg``, ``.png`` or ``.pdf``.
    * `other`: a network to compare with, such as the torus.

    Raises `ModelError` if the network is too large.
    """
    whole(network.node_count, "nodes of a picture", 1, 20_000)
    write_picture(lambda: distances_figure(network, other), path, f"distances on {network.spec[:80]}")


def distances_figure(network: Network, other: Network | None = None, **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of two panels: which nodes are adjacent, and how many are at each distance from node 0."""
    panels = Panels(2, look(**dressing), size=(4.0, 3.2))
    left, right = panels.axes
    left.scatter(network.link_target, network.link_source, s=max(0.15, 400 / network.node_count), c=INK, linewidths=0)
    left.set(xlim=(-0.5, network.node_count - 0.5), ylim=(network.node_count - 0.5, -0.5), aspect="equal")
    both = [network] if other is None else [network, other]
    for place, net in enumerate(both):
        counts = np.bincount(net.distances(0))
        where = np.arange(counts.size) + (place - (len(both) - 1) / 2) * 0.4
        color = sequential()(0.75) if place == 0 else MUTED
        right.bar(where, counts, width=0.8 / len(both), color=color, label=net.spec[:40])
    right.legend(fontsize=7, frameon=False)
    plain(left, title="links, by node")
    plain(right, "hops from node 0", title="nodes at each distance")
    return panels.finished(network.spec[:80])


# The timeline of a job: when each collective happens, beside how long it takes alone.

_TOGETHER, _ALONE = CATEGORICAL[2], CATEGORICAL[1]


def job_figure(found: JobOutcome, heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with two bars a collective: from its first hop to its last among the others, and alone.

    `heading` is the title unless there is another.
    """
    rows = len(found.collectives)
    panels = Panels(1, look(**dressing), size=(8.0, 0.9 + 0.45 * rows))
    axes = panels.axes[0]
    micro = float(found.clock.slot_seconds) * 1e6
    for i, c in enumerate(found.collectives):
        label = "" if i else "together with the others"
        axes.barh(i - 0.18, (c.end - c.begin) * micro, 0.36, c.begin * micro, color=_TOGETHER, label=label)
        label = "" if i else "alone, begun at the same time"
        axes.barh(i + 0.2, float(c.alone) * micro, 0.2, c.begin * micro, color=_ALONE, label=label)
    axes.axvline(float(found.outcome.bound) * micro, color=MUTED, linewidth=1, linestyle="--")
    plain(axes, "time, us; the dashed line is the lower bound of all together")
    axes.set_yticks(range(rows), [c.name for c in found.collectives], fontsize=8, color=INK)
    axes.invert_yaxis()
    panels.name()
    return panels.finished(heading)


# Time against the size of messages, of a schedule that is replayed and of MPI's own algorithms.

_CURVES = 5


def replays_figure(replays: Sequence[Replay], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure of time over bytes: the schedule, the best five of MPI's own, and the lower bound.

    `heading` is the title unless there is another.
    """
    from matplotlib.ticker import NullFormatter

    panels = Panels(1, look(**dressing), size=(6.4, 3.8))
    panel = panels.axes[0]
    sizes = [row.message_bytes for row in replays]

    def draw(name: str, times: Sequence[float | None], k: int) -> None:
        points = [(size, t * 1e6) for size, t in zip(sizes, times, strict=True) if t is not None]
        x, y = [at for at, _ in points], [t for _, t in points]
        panel.plot(x, y, label=name, color=CATEGORICAL[k], marker=MARKERS[k], linewidth=1.4, markersize=4)

    draw("this schedule", [row.seconds for row in replays], 0)
    last = replays[-1].own
    ranked = sorted((t, name) for name, t in last.items() if t is not None)
    for k, (_, name) in enumerate(ranked[:_CURVES], 1):
        draw(name, [row.own.get(name) for row in replays], k)
    bound = [(row.message_bytes, row.bound_seconds * 1e6) for row in replays if row.bound_seconds]
    if bound:
        panel.plot(*zip(*bound, strict=True), color=MUTED, linewidth=1, linestyle="--", label="lower bound")
    panel.set_xscale("log", base=2)
    if all(row.seconds > 0 for row in replays):  # what sends nothing takes no time
        panel.set_yscale("log")
        panel.yaxis.set_minor_formatter(NullFormatter())
    shown = sizes[:: max(1, -(-len(sizes) // 7))]
    panel.set_xticks(shown, [bytes_text(size) for size in shown])
    panel.set_xticks([], minor=True)
    plain(panel, "bytes of a message", "microseconds")
    panel.legend(fontsize=7.5, frameon=False, labelcolor=INK)
    return panels.finished(heading)


# Pictures of many points: a measure against what a network costs, with the front, or curves against load.

_NAMED, _FEW = 8, 1
_STUDY_CURVES = 8


def report_figure(groups: Sequence[ComparedGroup], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with the panels of each group, those of one group side by side; ModelError if there are none.

    `heading` is the title unless there is another.
    """
    groups = [group for group in groups if group.fronts or group.curves]
    if not groups:
        raise ModelError("there is nothing to draw: no measure varies with links, nodes, diameter, bisection or load")
    used = [1 if group.curves else len(group.fronts) for group in groups]
    panels = Panels(sum(used), look(**dressing), columns=max(used), size=(max(3.6, 6.0 / max(used)), 3.0))
    left = iter(panels.axes)
    for group, count in zip(groups, used, strict=True):
        _fill([next(left) for _ in range(count)], group)
    return panels.finished(heading)


def group_figure(group: ComparedGroup) -> Figure:
    """Return a figure of one group."""
    return report_figure([group])


def _fill(panels: list[Axes], group: ComparedGroup) -> None:
    for panel in panels:
        plain(panel)
    panels[0].set_title(group.title, fontsize=9, color=INK, loc="left")
    if group.curves:
        _curves(panels[0], group)
    else:
        for panel, front in zip(panels, group.fronts, strict=True):
            _front(panel, group, front.against, front.members)


def _front(panel: Axes, group: ComparedGroup, against: str, members: Sequence[Any]) -> None:
    """Draw every point, and the front as steps with names."""
    from matplotlib.lines import Line2D

    x, y = against.removeprefix("-"), group.measure.removeprefix("-")
    known = [(row[x], row[y]) for row in group.rows if x in row and y in row]
    panel.plot(*zip(*known, strict=True), "o", color=FAINT, markersize=4, label="all")
    chosen = [(m[x], m[y], group.name(m)) for m in members]
    where: Literal["pre", "post"] = "pre" if against.startswith("-") else "post"
    panel.step([c[0] for c in chosen], [c[1] for c in chosen], where=where, color=CATEGORICAL[0], linewidth=1.2)
    panel.plot([c[0] for c in chosen], [c[1] for c in chosen], "o", color=CATEGORICAL[0], markersize=5)
    shown = list({(c[0], c[1]): c for c in reversed(chosen)}.values())[::-1]
    for k, (a, b, name) in enumerate(shown[:_NAMED], start=1):
        text = f"{k}" if len(shown) > _FEW else name
        panel.annotate(text, (a, b), textcoords="offset points", xytext=(4, 4), fontsize=6.5, color=INK)
    if len(shown) > _FEW:
        labels = [f"{k}: {name}".replace("_", " ") for k, (_, _, name) in enumerate(shown[:_NAMED], start=1)]
        nothing = [Line2D([], [], linestyle="none") for _ in labels]
        panel.legend(nothing, labels, fontsize=6.5, frameon=False, labelcolor=INK, handlelength=0, loc="best")
    _study_scale(panel.xaxis, [a for a, _ in known], x)
    _study_scale(panel.yaxis, [b for _, b in known], y)
    panel.margins(0.12)


def _curves(panel: Axes, group: ComparedGroup) -> None:
    """Draw the measure against the load, a curve for each scheme or setting; a load without a mean is left out."""
    y = group.measure.removeprefix("-")
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in group.rows:
        if y in row and row.get("stable", True) and not row.get("saturated", False):
            label = group.name(row)
            curves.setdefault(label, []).append((row["load"], row[y]))
    for k, (label, points) in enumerate(list(curves.items())[:_STUDY_CURVES]):
        panel.plot(*zip(*sorted(points), strict=True), "o-", color=CATEGORICAL[k % len(CATEGORICAL)], linewidth=1.3,
                   markersize=3.5, label=label or y)  # fmt: skip
    panel.set_xlabel("load", fontsize=8, color=MUTED)
    panel.set_ylabel(y.replace("_", " "), fontsize=8, color=MUTED)
    panel.set_ylim(bottom=0)
    panel.legend(fontsize=7, frameon=False, labelcolor=INK)


def _study_scale(axis: Any, values: Sequence[float], name: str) -> None:
    """Choose between a linear and a logarithmic axis, and name it."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    if values and min(values) > 0 and max(values) > 20 * min(values):
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(5, integer=all(float(v).is_integer() for v in values)))
    seconds = name.endswith("seconds")
    axis.set_major_formatter(FuncFormatter(lambda v, _: seconds_text(v) if seconds else f"{v:,g}"))
    axis.set_label_text("time" if seconds else name.replace("_", " "), fontsize=8, color=MUTED)


_MEASURED = CATEGORICAL[0]


def curves_figure(curves: Sequence[Curve], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with one panel a curve: measured points on the band between lower and upper bound.

    Both axes are logarithmic, but that of the load of a simulation. `heading` is the title unless there is another.
    """
    from matplotlib.ticker import FuncFormatter

    panels = Panels(len(curves), look(**dressing), size=(4.5, 2.6))
    for panel, curve in zip(panels.axes, curves, strict=True):
        lower, upper, measured = ([float(v) for v in side] for side in (curve.lower, curve.upper, curve.measured))
        words = "simulated" if curve.simulated else "measured, verified"
        panel.fill_between(curve.x, lower, upper, color=FAINT, alpha=0.5, linewidth=0)
        panel.plot(curve.x, upper, color=CONTROL_COLOR, linewidth=1, label="promised at most")
        panel.plot(curve.x, measured, "o-", color=_MEASURED, linewidth=1.5, markersize=4, label=words)
        panel.plot(curve.x, lower, color=MUTED, linewidth=1, linestyle="--", label="lower bound")
        panel.set_yscale("log", base=2)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        if curve.simulated:
            panel.set_xlim(0, 100)
        else:
            panel.set_xscale("log", base=2)
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        plain(panel, curve.x_label, curve.unit, curve.title)
    panels.axes[0].legend(fontsize=7.5, frameon=False)
    return panels.finished(heading)
