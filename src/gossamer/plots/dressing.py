"""Settings of our own while figures are made, and drawings as they are written: rounded, in fonts, dark by night."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["FONTS", "dressed", "rounded", "settings"]

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
