"""Pictures of many points: a measure against what a network costs, with the front, or curves against load."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from gossamer.errors import ModelError
from gossamer.plots.appearance import Dress, look
from gossamer.plots.drawing import picture_format, write_picture
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MUTED
from gossamer.plots.panels import Panels, plain
from gossamer.studies.sweeps.report import Group, Report
from gossamer.writing import seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_report", "group_figure", "report_figure"]

_NAMED, _FEW = 8, 1
_CURVES = 8


def draw_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the panels of all groups to an SVG, PNG or PDF file, whole or not at all.

    Raises
    ------
    ModelError
        If there is nothing to draw.
    FileFormatError
        If the suffix is unknown or the file cannot be written.
    """
    drawn = [g for g in report.groups if g.fronts or g.curves]
    if not drawn:
        raise ModelError("there is nothing to draw: no measure varies with links, nodes, diameter, bisection or load")
    write_picture(lambda: report_figure(drawn, report.title), path, picture_format(path), report.title)


def report_figure(groups: Sequence[Group], heading: str = "", **dressing: Unpack[Dress]) -> Figure:
    """Return a figure with the panels of each group, those of one group side by side.

    `heading` is the title unless there is another.
    """
    used = [1 if group.curves else len(group.fronts) for group in groups]
    panels = Panels(sum(used), look(**dressing), columns=max(used), size=(max(3.6, 6.0 / max(used)), 3.0))
    left = iter(panels.axes)
    for group, count in zip(groups, used, strict=True):
        _fill([next(left) for _ in range(count)], group)
    return panels.finished(heading)


def group_figure(group: Group) -> Figure:
    """Return a figure of one group."""
    return report_figure([group])


def _fill(panels: list[Axes], group: Group) -> None:
    for panel in panels:
        plain(panel)
    panels[0].set_title(group.title, fontsize=9, color=INK, loc="left")
    if group.curves:
        _curves(panels[0], group)
    else:
        for panel, front in zip(panels, group.fronts, strict=True):
            _front(panel, group, front.against, front.members)


def _front(panel: Axes, group: Group, against: str, members: Sequence[Any]) -> None:
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
    _scale(panel.xaxis, [a for a, _ in known], x)
    _scale(panel.yaxis, [b for _, b in known], y)
    panel.margins(0.12)


def _curves(panel: Axes, group: Group) -> None:
    """Draw the measure against the load, a curve for each scheme or setting; a load without a mean is left out."""
    y = group.measure.removeprefix("-")
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in group.rows:
        if y in row and row.get("stable", True) and not row.get("saturated", False):
            label = group.name(row)
            curves.setdefault(label, []).append((row["load"], row[y]))
    for k, (label, points) in enumerate(list(curves.items())[:_CURVES]):
        panel.plot(*zip(*sorted(points), strict=True), "o-", color=CATEGORICAL[k % len(CATEGORICAL)], linewidth=1.3,
                   markersize=3.5, label=label or y)  # fmt: skip
    panel.set_xlabel("load", fontsize=8, color=MUTED)
    panel.set_ylabel(y.replace("_", " "), fontsize=8, color=MUTED)
    panel.set_ylim(bottom=0)
    panel.legend(fontsize=7, frameon=False, labelcolor=INK)


def _scale(axis: Any, values: Sequence[float], name: str) -> None:
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
