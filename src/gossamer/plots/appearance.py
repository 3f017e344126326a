"""What all pictures share: colors, type sizes, the heading, and how numbers are written."""

from __future__ import annotations

import contextlib
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from gossamer.atomic_files import bandwidth_text, bytes_text, quantity, seconds_text
from gossamer.errors import FileFormatError, nearest
from gossamer.networks.files import FILE_FAMILIES
from gossamer.networks.network import Network
from gossamer.questions.costs import Clock
from gossamer.questions.tasks import in_packets
from gossamer.reading import number, text
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# The one palette of all pictures: it survives a gray print and color blindness, and stands out on white.
#
# Everything that is data has a contrast of at least 3:1 with white paper. Curves are also told apart by their markers.

PAPER = "#ffffff"
INK = "#262626"
MUTED = "#5e5e5e"
FAINT = "#d4d4d4"
"""Grid lines, and links that nothing crosses: scenery, not data."""
CATEGORICAL = ("#2b90ee", "#cf5f00", "#4a1fa0", "#157a6e", "#8a2f08", "#1b1b1b")
"""Blue, orange, violet, teal, brown, black: no two of one lightness, nor alike to the color-blind."""
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
CONTROL_COLOR = CATEGORICAL[1]
"""Control packets: an orange that stands apart from the blue-green scale, also for color-blind readers."""

_DARKEST, _LIGHTEST = 0, 150
"""The part of viridis, of 256 shades, whose contrast with white is at least 3:1."""


def sequential() -> Colormap:
    """Return the scale of amounts: the darker part of viridis, teal for little and dark violet for much.

    >>> from gossamer.plots.appearance import sequential
    >>> [round(float(c), 2) for c in sequential()(1.0)][:3]
    [0.27, 0.0, 0.33]
    """
    import matplotlib
    from matplotlib.colors import ListedColormap

    shades = matplotlib.colormaps["viridis"](range(_LIGHTEST, _DARKEST - 1, -1))
    return ListedColormap(shades, name="gossamer")


def by_number(count: int) -> list[str]:
    """Return colors for so many things in an order, such as nodes: through the hues from dark to light, none twice.

    >>> by_number(2)
    ['#781d58', '#928e00']
    """
    import numpy as np
    from matplotlib.colors import to_hex

    share = np.arange(count) / max(count - 1, 1)
    angle = 2 * np.pi * (0.96 - 0.66 * share)  # from red over violet, blue and green to olive, not around
    # an arc in Oklab, of lightness .40 to .63
    light, a, b = 0.40 + 0.23 * share, 0.14 * np.cos(angle), 0.14 * np.sin(angle)
    cone = np.stack([light + 0.3963377774 * a + 0.2158037573 * b, light - 0.1055613458 * a - 0.0638541728 * b,
                     light - 0.0894841775 * a - 1.2914855480 * b]) ** 3  # fmt: skip
    matrix = np.array([[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965],
                       [-0.0041960863, -0.7034186147, 1.7076147010]])  # fmt: skip
    linear = np.clip(matrix @ cone, 0, 1)
    plain = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return [to_hex(color) for color in plain.T]


def tint(color: str, share: float = 0.3) -> str:
    """Return a color mixed with white: the ground on which something is written.

    >>> tint("#cf5f00", 0.5)
    '#e7af80'
    """
    mixed = [255 * (1 - share * (1 - part / 255)) for part in bytes.fromhex(color.removeprefix("#"))]
    return "#" + bytes(map(round, mixed)).hex()


# Settings of our own while figures are made, and drawings as they are written: rounded, in fonts, dark by night.

_OUR_SETTINGS: dict[Any, Any] = {"svg.hashsalt": "gossamer", "svg.fonttype": "none", "pdf.fonttype": 42,
                                 "ps.fonttype": 42}  # fmt: skip
FONTS = "'DejaVu Sans', Verdana, 'Bitstream Vera Sans', Geneva, sans-serif"
"""Of text in an SVG: fonts of about the width of the first, which pictures are measured with."""
_FONT = re.compile(r"'DejaVu Sans'(?:, '[^']*'|, [a-z-]+)*;")
_DARK = "@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg) } }"
_UNROUNDED = r"<metadata>.*?</metadata>|<!--.*?-->|(?:scale|matrix)\([^)]*\)|>[^<]*</text>"
_NUMBER = re.compile(rf"{_UNROUNDED}|(?P<coordinate>-?\d+\.\d{{3,}})", re.DOTALL)


def rounded(svg: str) -> str:
    """Return a drawing with its coordinates to a hundredth of a point: the last digits differ between machines.

    >>> rounded('<path d="M 7.200001 -0.000004" transform="translate(1.999999 3) scale(0.015625)"/>')
    '<path d="M 7.2 0" transform="translate(2 3) scale(0.015625)"/>'
    """

    def short(found: re.Match[str]) -> str:
        if not found["coordinate"]:
            return found[0]
        return f"{round(float(found[0]), 2) + 0.0:.2f}".rstrip("0").rstrip(".")

    return _NUMBER.sub(short, svg)


def dressed(svg: str) -> str:
    """Return a drawing that turns dark with its reader's screen, in fonts that readers have."""
    svg = _FONT.sub(f"{FONTS};", svg)
    return re.sub(r"(<svg [^>]*>)", rf"\1\n <style>{_DARK}</style>", svg, count=1)


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Set aside the user's matplotlib settings, the random ids in SVG files, and warnings of letters no font has."""
    import matplotlib
    from matplotlib import style

    with style.context("default"), matplotlib.rc_context(_OUR_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


# Figures that display themselves in notebooks.


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


def spec_text(network: Network) -> str:
    """Return the spec of a network as a picture shows it: of a file without its folder.

    >>> import gossamer
    >>> spec_text(gossamer.network("torus:4x4"))
    'torus:4x4'
    """
    kind, _, rest = network.spec.partition(":")
    if "/" not in rest or kind not in {family.name for family in FILE_FAMILIES}:
        return network.spec
    path, comma, options = rest.partition(",")
    return f"{kind}:{path.rpartition('/')[2]}{comma}{options}"


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
    """Return what a link's load counts: the share of the time in which it is busy.

    >>> import gossamer
    >>> net = gossamer.network("array:2")
    >>> load_unit(gossamer.Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0], [0], [0]))
    'time that a link is busy, % of 1 step'
    """
    return f"time that a link is busy, % of {time_text(schedule, schedule.completion_time)}"


def time_text(schedule: Schedule, time: Fraction) -> str:
    """Return a time of a schedule: in seconds where its slots have a length, else in steps.

    >>> import gossamer
    >>> from fractions import Fraction
    >>> time_text(gossamer.plan("ring:5", "allgather").schedule, Fraction(3, 2))
    '3/2 steps'
    """
    if isinstance(schedule.cost, Clock):
        return seconds_text(schedule.cost.seconds(time))
    return f"{time} step{'' if time == 1 else 's'}"


def heading(
    figure: Any, schedule: Schedule | WormholeSchedule, width: float, height: float, dress: Look = SCREEN
) -> float:
    """Write task, network, algorithm and completion time at the top; return the inches used."""
    if dress.bare and not dress.title:
        return 0.1
    task = schedule.task
    if isinstance(schedule.cost, Clock):  # the bytes are told; into how many packets they are cut matters to few
        task = in_packets(task, 1)
    first = dress.title or f"{task.describe()} on {spec_text(schedule.network)}"
    facts = _worm_facts(schedule) if isinstance(schedule, WormholeSchedule) else _facts(schedule)
    return headline(figure, first, " · ".join(facts), width, height, dress)


def _worm_facts(schedule: WormholeSchedule) -> list[str]:
    return [schedule.algorithm or "unnamed algorithm", "wormhole", f"time {float(schedule.completion_time):g}",
            quantity(schedule.step_count, "step"), quantity(schedule.message_count, "message")]  # fmt: skip


def _facts(schedule: Schedule) -> list[str]:
    network, time, cost = schedule.network, schedule.completion_time, schedule.cost
    facts = [schedule.algorithm or "unnamed algorithm", time_text(schedule, time)]
    if isinstance(cost, Clock):
        rate, bus = cost.bandwidth(time), cost.bus_bandwidth(time)
        facts += [bandwidth_text(rate) + (f" (bus {bandwidth_text(bus)})" if bus else "")] if rate else []
        facts.append(bytes_text(cost.asked_bytes or cost.message_bytes))
    elif schedule.slot_count != time:
        facts.append(quantity(schedule.slot_count, "slot"))
    if schedule.parts > 1:
        facts.append(f"messages in {schedule.parts} parts")
    return [*facts, f"{quantity(network.node_count, 'node')}, {quantity(network.link_count, 'link')}"]


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


def caption(figure: Any, text: str, width: float, height: float, dress: Look = SCREEN, *, key: str = "") -> float:
    """Write explanations at the bottom, on paper only the `key` without which nobody can read it; return the inches."""
    text = key if dress.bare else text
    lines = _lines(text, _SMALL - 1, width) if text else []
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


def further(schedule: Schedule | WormholeSchedule, note: str, width: float, dress: Look, *, key: str = "") -> float:
    """Return the inches that the heading of a schedule and a note take beyond a line for each."""
    top = heading(UNWRITTEN, schedule, width, 1.0, dress)
    line = _SMALL / 72 * 1.45
    usual = 0.18 if dress.bare else 0.36 + _HEADING / 72 * 1.45 + line + (_SMALL - 1) / 72 * 1.4
    return max(0.0, top + caption(UNWRITTEN, note, width, 1.0, dress, key=key) - usual)


def text_width(text: str, size: float) -> float:
    """Return about how many inches a text is wide, rather too many than too few."""
    return len(text) * size * _EM * 1.08


@lru_cache(maxsize=20_000)
def measured(text: str, size: float) -> tuple[float, float]:
    """Return width and height of a text in points, as it is drawn in DejaVu Sans.

    >>> wide, high = measured("GPU0", 6.0)
    >>> 14 < wide < 18, 5 < high < 8
    (True, True)
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    wide, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(wide), 1.2 * size


def _lines(text: str, size: float, width: float) -> list[str]:
    """Return the lines of a text that fit into a width in inches."""
    room = (width - 0.3) * 72
    most = max(8, int((width - 0.4) / (size * _EM)))
    while most > 8 and any(measured(line, size)[0] > room for line in textwrap.wrap(text, most)):
        most -= 1
    return textwrap.wrap(text, most)
