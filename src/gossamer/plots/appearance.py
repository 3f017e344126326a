"""What all pictures share: colors, type sizes, the heading, and how numbers are written."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from gossamer.schedules import Schedule
from gossamer.writing import quantity

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

__all__ = [
    "CONTROL_COLOR",
    "FAINT",
    "INK",
    "MUTED",
    "PAPER",
    "busy",
    "caption",
    "heading",
    "sequential",
    "text_width",
    "write",
]

PAPER = "#ffffff"
INK = "#262626"
MUTED = "#666666"
FAINT = "#d4d4d4"
CONTROL_COLOR = "#d1641b"
"""Control packets: an orange that stands apart from the blue-green scale, also for color-blind readers."""

_HEADING, _SMALL = 11.5, 8.5
_EM = 0.0076
"""Mean width of a character in inches for each point of type size (DejaVu Sans)."""


def busy() -> Colormap:
    """Return the scale of shares: the lighter part of the common one, up to the blue of links in full use."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(sequential()([k / 255 for k in range(160)]), name="gossamer-busy")


def sequential() -> Colormap:
    """Return the scale of all pictures: viridis, light for little and dark for much, without its palest end."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    shades = matplotlib.colormaps["viridis_r"](range(34, 256))
    return ListedColormap(shades, name="gossamer")


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
    shared = "" if schedule.network.uniform_capacity == 1 else ", divided by its capacity"
    return f"load of a link: {what} over the whole schedule{shared}"


def heading(figure: Any, schedule: Schedule, width: float, height: float) -> float:
    """Write task, network, algorithm and completion time at the top; return the inches used."""
    network = schedule.network
    first = f"{schedule.task.describe()} on {network.spec}"
    facts = [schedule.algorithm or "unnamed algorithm", f"{schedule.completion_time} steps"]
    if schedule.completion_time == 1:
        facts[-1] = "1 step"
    if schedule.slot_count != schedule.completion_time:
        facts.append(quantity(schedule.slot_count, "slot"))
    if schedule.parts > 1:
        facts.append(f"messages in {schedule.parts} parts")
    facts.append(f"{quantity(network.node_count, 'node')}, {quantity(network.link_count, 'link')}")
    used = 0.16
    for text, size, color in ((first, _HEADING, INK), (" · ".join(facts), _SMALL, MUTED)):
        for line in _lines(text, size, width):
            write(figure, 0.2 / width, 1 - used / height, line, size, color=color, va="top")
            used += size / 72 * 1.45
    return used + 0.06


def caption(figure: Any, text: str, width: float, height: float) -> float:
    """Write explanations at the bottom; return the inches used."""
    lines = _lines(text, _SMALL - 1, width) if text else []
    pitch = (_SMALL - 1) / 72 * 1.4
    for i, line in enumerate(reversed(lines)):
        write(figure, 0.2 / width, (0.14 + i * pitch) / height, line, _SMALL - 1, color=MUTED, va="bottom")
    return 0.14 + len(lines) * pitch


def text_width(text: str, size: float) -> float:
    """Return about how many inches a text is wide, rather too many than too few."""
    return len(text) * size * _EM * 1.08


def _lines(text: str, size: float, width: float) -> list[str]:
    return textwrap.wrap(text, max(20, int((width - 0.4) / (size * _EM))))
