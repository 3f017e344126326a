"""The one palette of all pictures: it survives a gray print and color blindness, and stands out on white.

Everything that is data has a contrast of at least 3:1 with white paper. Curves are also told apart by their markers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

__all__ = ["CATEGORICAL", "CONTROL_COLOR", "FAINT", "INK", "MARKERS", "MUTED", "PAPER", "by_number", "sequential",
           "tint"]  # fmt: skip

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

    >>> from gossamer.plots.palette import sequential
    >>> [round(float(c), 2) for c in sequential()(1.0)][:3]
    [0.27, 0.0, 0.33]
    """
    import matplotlib
    from matplotlib.colors import ListedColormap

    shades = matplotlib.colormaps["viridis"](range(_LIGHTEST, _DARKEST - 1, -1))
    return ListedColormap(shades, name="gossamer")


def by_number(count: int) -> list[str]:
    """Return colors for so many things in an order, such as nodes: around the circle of hues, equally light.

    >>> by_number(2)
    ['#d05a6a', '#00a0a1']
    """
    import numpy as np
    from matplotlib.colors import to_hex

    angle = 2 * np.pi * (np.arange(count) / max(count, 1)) + 0.25
    # a circle in Oklab, of lightness .62
    light, a, b = np.full(count, 0.62), 0.15 * np.cos(angle), 0.15 * np.sin(angle)
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
