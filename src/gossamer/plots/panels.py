"""What figures share: panels side by side, their axes, heading and notes; pictures in axes and in notebooks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure as _Figure

from gossamer.plots.appearance import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    UNWRITTEN,
    Look,
    caption,
    dressed,
    further,
    heading,
    headline,
    settings,
)
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Figure(_Figure):
    """A figure that a notebook shows as it is, whatever backend it uses."""

    def _repr_html_(self) -> str:
        return svg_text(self)


def svg_text(figure: Any) -> str:
    """Return a figure as an SVG element."""
    with settings():
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = dressed(text.getvalue())
    return svg[svg.index("<svg") :]


_NARROWEST = 2.5
"""Inches of a panel: with less room panels stand one below the other."""

_APART = 0.1
"""Inches between panels and the key beside or below them."""


class Page(NamedTuple):
    """A figure with heading and notes: its height in inches, and those that heading and notes take."""

    figure: Figure
    height: float
    top: float
    foot: float


def page(
    schedule: Schedule | WormholeSchedule, note: str, width: float, height: float, dress: Look, *, key: str = ""
) -> Page:
    """Return a figure with the heading of a schedule and a note, higher where these take more than a line each.

    On paper the note is the `key` alone.
    """
    height += further(schedule, note, width, dress, key=key)
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    top = heading(figure, schedule, width, height, dress)
    return Page(figure, height, top, caption(figure, note, width, height, dress, key=key))


class Panels:
    """Panels of one size side by side, dressed alike.

    Of a look with axes the first panel is those axes, and the others are drawn where nobody sees them.

    * `count`: how many.
    * `dress`: the look.
    * `columns`: panels side by side where there is room.
    * `size`: inches of a panel with its labels, on a figure that is as wide as it likes.

    `axes`: the panels. `figure`: that of the axes.
    """

    def __init__(self, count: int, dress: Look, *, columns: int = 2, size: tuple[float, float] = (4.5, 3.3)) -> None:
        self.dress, columns = dress, min(columns, count)
        self.width = dress.width or size[0] * columns
        columns = max(1, min(columns, int(self.width / _NARROWEST)))
        rows = -(-count // columns)
        tall = size[1] if dress.width is None else min(size[1], max(1.9, 0.75 * self.width / columns))
        self.high = rows * tall
        self.figure: Figure = Figure(figsize=(self.width, self.high), facecolor=PAPER, layout="constrained")
        self.axes: list[Any] = self.figure.subplots(rows, columns, squeeze=False).reshape(-1).tolist()
        for spare in self.axes[count:]:
            spare.set_visible(False)
        self.axes = self.axes[:count]
        if dress.ax is not None:
            self.axes[0] = dress.ax
        self._key: Any = None
        self._beside = False

    def name(self, *, beside: bool = False, **words: Any) -> None:
        """Put a key for all panels below them, or at their right side; of a look with axes, into these."""
        words = {"fontsize": 7.5, "frameon": False, "labelcolor": INK, **words}
        if self.dress.ax is not None:
            self.dress.ax.legend(**words)
        else:
            self._key = self.figure.legend(loc="center right" if beside else "lower left", **words)
            self._beside = beside

    def finished(self, title: str, below: str = "", note: str = "") -> Figure:
        """Return the figure with a title, a line below it and notes at the bottom, or that of the look's axes."""
        if self.dress.ax is not None:
            found: Figure = self.dress.ax.figure
            return found
        first = self.dress.title or title
        lines = headline(UNWRITTEN, first, below, self.width, 1.0, self.dress)
        lines += caption(UNWRITTEN, note, self.width, 1.0, self.dress)
        high = self.high + max(lines, 0.2 if self.dress.bare else 0.75)
        self.figure.set_size_inches(self.width, high)
        top = headline(self.figure, first, below, self.width, high, self.dress)
        foot = caption(self.figure, note, self.width, high, self.dress)
        below_it = beside_it = 0.0
        if self._key is not None:
            self._key.set_bbox_to_anchor((0, foot / high, 1, 1 - (top + foot) / high), self.figure.transFigure)
            box = self._key.get_window_extent()
            if self._beside:
                beside_it = box.width / self.figure.dpi + _APART
            else:
                below_it = box.height / self.figure.dpi + _APART
        engine: Any = self.figure.get_layout_engine()
        low = foot + below_it
        engine.set(rect=(0.01, low / high, 0.98 - beside_it / self.width, 1 - (top + low) / high))
        return self.figure


def plain(panel: Any, x: str = "", y: str = "", title: str = "") -> None:
    """Dress the axes of a panel: labels, small numbers, two thin lines."""
    panel.set_xlabel(x, fontsize=8, color=MUTED)
    panel.set_ylabel(y, fontsize=8, color=MUTED)
    if title:
        panel.set_title(title, fontsize=9, color=INK, loc="left", parse_math=False)
    panel.tick_params(which="both", labelsize=7.5, colors=MUTED)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(FAINT)


class Inside:
    """Axes that take what is meant for a figure: places are shares of the axes.

    `width`, `height`: inches of the axes.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.figure: Any = ax.figure
        ax.axis("off")
        box = ax.get_window_extent()
        self.width, self.height = float(box.width / self.figure.dpi), float(box.height / self.figure.dpi)

    def add_axes(self, place: tuple[float, float, float, float], **words: Any) -> Any:
        """Return axes within the axes."""
        return self.ax.inset_axes(place, **words)

    def text(self, x: float, y: float, text: str, **words: Any) -> Any:
        """Write text at a place of the axes."""
        return self.ax.text(x, y, text, transform=self.ax.transAxes, **words)

    def colorbar(self, *scale: Any, **words: Any) -> Any:
        """Draw a color bar of the figure."""
        return self.figure.colorbar(*scale, **words)
