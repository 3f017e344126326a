"""What all pictures share: colors, type sizes, the heading, and how numbers are written."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple, TypedDict

from gossamer.errors import FileFormatError, nearest
from gossamer.plots.palette import INK, MUTED
from gossamer.reading import number, text
from gossamer.schedules import Schedule
from gossamer.writing import quantity

__all__ = [
    *("SCREEN", "STYLES", "UNWRITTEN", "Dress", "Look", "beyond", "caption", "dressed_as", "further", "heading"),
    *("headline", "load_unit", "look", "text_width", "write"),
]

STYLES = ("screen", "paper")
_LONGEST = 1000
"""``screen``: a page that explains itself; ``paper``: only the picture, whose heading and notes the caption gives."""

_HEADING, _SMALL = 11.5, 8.5
_EM = 0.0076
"""Mean width of a character in inches for each point of type size (DejaVu Sans)."""


class Dress(TypedDict, total=False):
    """Keywords that every figure takes: where it is drawn, and how it is dressed.

    Attributes
    ----------
    ax : matplotlib.axes.Axes, optional
        Draw on these axes, without heading and notes; of a figure of several panels the first, where nothing else is
        said. The figure that is returned is that of the axes.
    style : {"screen", "paper"}, optional
        On paper heading and notes are left to the caption, and the figure is 3.3 inches wide.
    width : float, optional
        Of the figure in inches, 2..40.
    title : str, optional
        Instead of the figure's own.

    What is not given is as `dressed_as` says, else a figure for the screen, as wide as it likes.
    """

    ax: Any
    style: str | None
    width: float | None
    title: str | None


class Look(NamedTuple):
    """How a picture is dressed: its style, its width in inches, and a title instead of its own; axes to draw on.

    Without a width a picture is as wide as it likes, on paper `PAPER_WIDTH`.
    """

    style: str = "screen"
    width: float | None = None
    title: str | None = None
    ax: Any = None

    @property
    def bare(self) -> bool:
        """Whether heading and notes are left to the caption of a paper."""
        return self.style == "paper"


SCREEN = Look()
PAPER_WIDTH = 3.3
"""Inches of a column of a paper."""


_AROUND: ContextVar[Look] = ContextVar("look", default=SCREEN)


def look(style: str | None = None, width: float | None = None, title: str | None = None, ax: Any = None) -> Look:
    """Return a look, checked; what is not given is that of `dressed_as`. For the arguments see `Dress`.

    Raises
    ------
    FileFormatError
        If the style is unknown, the width is not 2 to 40 inches, or `ax` is not plain axes of matplotlib.

    Examples
    --------
    >>> look("paper").width
    3.3
    """
    _check_axes(ax)
    _check_title(title)
    around = _AROUND.get()
    style = around.style if style is None else style
    title = around.title if title is None else title
    width = around.width if width is None else width
    if style not in STYLES:
        raise FileFormatError(f"the style of a picture must be {' or '.join(STYLES)}, got {style!r}"
                              f"{nearest(str(style), STYLES)}")  # fmt: skip
    if width is None:
        return Look(style, PAPER_WIDTH if style == "paper" else None, title, ax)
    return Look(style, number(width, "the width of a picture in inches", 2, 40, error=FileFormatError), title, ax)


def _check_title(title: str | None) -> None:
    """Refuse a title that is no text, is too long to be read, or has characters that no file of a picture can hold."""
    if title is not None and len(text(title, "the title of a picture", error=FileFormatError)) > _LONGEST:
        raise FileFormatError(f"the title of a picture has at most {_LONGEST:,} characters, got {len(title):,}")


def _check_axes(ax: Any) -> None:
    """Refuse what no figure can be drawn on."""
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise FileFormatError(f"ax must be axes of matplotlib, one of them, got {type(ax).__name__}")
    if ax.name != "rectilinear":
        raise FileFormatError(f"ax must be plain axes, got {ax.name} axes")


@contextlib.contextmanager
def dressed_as(style: str | None = None, width: float | None = None, title: str | None = None) -> Iterator[None]:
    """Dress all figures made within alike, if they do not say otherwise.

    Raises
    ------
    FileFormatError
        If the style is unknown or the width is not 2 to 40 inches.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer import plots
    >>> schedule = gossamer.plan("ring:4", "allgather").schedule
    >>> with plots.dressed_as("paper", 3.0):
    ...     float(plots.load_figure(schedule).get_figwidth())
    3.0
    """
    wide = _AROUND.get().width if width is None else width
    before = _AROUND.set(look(style, width, title)._replace(width=wide))  # not the width that comes with a style
    try:
        yield
    finally:
        _AROUND.reset(before)


def write(area: Any, x: float, y: float, text: str, size: float = _SMALL, **style: Any) -> Any:
    """Write plain text (a dollar sign is only a dollar sign) on a figure or on axes."""
    style.setdefault("color", INK)
    return area.text(x, y, text, fontsize=size, parse_math=False, **style)


def load_unit(schedule: Schedule) -> str:
    """Return what a link's load counts.

    >>> import gossamer
    >>> net = gossamer.network("array:2")
    >>> load_unit(gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0], [0], [0]))
    'load of a link: packets over the whole schedule'
    """
    what = "packets" if schedule.parts == 1 else f"packets (1/{schedule.parts} message each)"
    if not schedule.network.plain:
        what = "slots in which packets occupy it"
    shared = "" if schedule.network.uniform_capacity == 1 else ", divided by its capacity"
    return f"load of a link: {what} over the whole schedule{shared}"


def heading(figure: Any, schedule: Schedule, width: float, height: float, dress: Look = SCREEN) -> float:
    """Write task, network, algorithm and completion time at the top; return the inches used."""
    if dress.bare and not dress.title:
        return 0.1
    network = schedule.network
    first = dress.title or f"{schedule.task.describe()} on {network.spec}"
    facts = [schedule.algorithm or "unnamed algorithm", f"{schedule.completion_time} steps"]
    if schedule.completion_time == 1:
        facts[-1] = "1 step"
    if schedule.slot_count != schedule.completion_time:
        facts.append(quantity(schedule.slot_count, "slot"))
    if schedule.parts > 1:
        facts.append(f"messages in {schedule.parts} parts")
    facts.append(f"{quantity(network.node_count, 'node')}, {quantity(network.link_count, 'link')}")
    return headline(figure, first, " · ".join(facts), width, height, dress)


def headline(figure: Any, first: str, below: str, width: float, height: float, dress: Look = SCREEN) -> float:
    """Write a title and a line of facts at the top, on paper only a title that was asked for; return the inches."""
    if (dress.bare and not dress.title) or not (first or below):
        return 0.1
    used = 0.16
    below = "" if dress.bare else below
    for words, size, color in ((first, _SMALL + 0.5 if dress.bare else _HEADING, INK), (below, _SMALL, MUTED)):
        for line in _lines(words, size, width) if words else []:
            write(figure, 0.2 / width, 1 - used / height, line, size, color=color, va="top")
            used += size / 72 * 1.45
    return used + 0.06


def caption(figure: Any, text: str, width: float, height: float, dress: Look = SCREEN) -> float:
    """Write explanations at the bottom; return the inches used."""
    lines = _lines(text, _SMALL - 1, width) if text and not dress.bare else []
    pitch = (_SMALL - 1) / 72 * 1.4
    for i, line in enumerate(reversed(lines)):
        write(figure, 0.2 / width, (0.14 + i * pitch) / height, line, _SMALL - 1, color=MUTED, va="bottom")
    return (0.08 if dress.bare else 0.14) + len(lines) * pitch


class _Unwritten:
    """Takes texts, and nobody sees them."""

    def text(self, *_: Any, **__: Any) -> None:
        """Write nothing."""


UNWRITTEN = _Unwritten()
"""Where heading and notes are written to know what they take, before the figure has a size."""


def beyond(top: float, foot: float, dress: Look) -> float:
    """Return the inches that heading and notes take beyond a line for each."""
    line = _SMALL / 72 * 1.45
    usual = 0.18 if dress.bare else 0.36 + _HEADING / 72 * 1.45 + line + (_SMALL - 1) / 72 * 1.4
    return max(0.0, top + foot - usual)


def further(schedule: Schedule, note: str, width: float, dress: Look) -> float:
    """Return the inches that the heading of a schedule and a note take beyond a line for each."""
    top = heading(UNWRITTEN, schedule, width, 1.0, dress)
    return beyond(top, caption(UNWRITTEN, note, width, 1.0, dress), dress)


def text_width(text: str, size: float) -> float:
    """Return about how many inches a text is wide, rather too many than too few."""
    return len(text) * size * _EM * 1.08


def _lines(text: str, size: float, width: float) -> list[str]:
    return textwrap.wrap(text, max(20, int((width - 0.4) / (size * _EM))))
