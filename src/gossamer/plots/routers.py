"""Steps and buffers of routers against the side of the array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.experiments.han.growth import SIZES, growth
from gossamer.plots.appearance import write
from gossamer.plots.palette import CATEGORICAL, FAINT, INK, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["routers_figure"]

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
    from matplotlib.ticker import FuncFormatter

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
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_title(name, fontsize=9, color=INK, loc="left")
        panel.set_xlabel("side n", fontsize=8, color=MUTED)
        panel.tick_params(labelsize=7.5, colors=MUTED)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(FAINT)
    steps.legend(fontsize=7.5, frameon=False)
    write(
        figure, 0.02, 0.965, "Routers on n x n arrays: worst of the named and three random permutations", 11, va="top"
    )
    figure.subplots_adjust(left=0.06, right=0.98, top=0.83, bottom=0.12, wspace=0.16)
    return figure
