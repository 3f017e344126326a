"""What multinode broadcasts with wormhole messages cost against the number of sources, and which h is best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.experiments.chen_chen.choices import chosen
from gossamer.experiments.chen_chen.comparison import CURVES, counts, rival_time
from gossamer.experiments.chen_chen.runs import VARIANTS, bound, fastest
from gossamer.plots.appearance import write
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MUTED, PAPER, sequential
from gossamer.wormhole.partition import common_divisors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["best_h_figure", "costs_figure"]

_LOOKS = {
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
        for name, (color, marker, line) in _LOOKS.items():
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
