"""When two pictures are the same to the eye: not byte by byte, because last digits differ between machines."""

from __future__ import annotations

import io
import re

import numpy as np

TOLERANCE = 0.015
"""How far coordinates of the same drawing may lie apart: coordinates are written with two decimals."""
SHADE, SHARE = 24, 0.001
"""By how much the color of a pixel may change, of 255, and the share of pixels that may change by more."""

_OWN_ID = re.compile(r'(?P<before>\bid="|href="#|url\(#)(?P<id>[a-z][0-9a-f]{10})(?=[")])')
_NUMBER = re.compile(r"(?<![\w#.])-?\d+(?:\.\d+)?(?:(?=pt\b)|(?![\w.]))")
_PIXELS = re.compile(r'href="data:image/png;base64,\s*([^"]*)"')


def same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two pictures, both SVG, or both PNG or GIF, show the same."""
    if one == other:
        return True
    drawings = [data.lstrip().startswith(b"<") for data in (one, other)]
    if all(drawings):
        return _same_drawing(one.decode(), other.decode())
    return not any(drawings) and _same_pixels(one, other)


def _same_drawing(one: str, other: str) -> bool:
    """Compare words one by one and numbers by distance, with the pictures inside as pixels."""
    import base64

    inside = [[base64.b64decode(data) for data in _PIXELS.findall(svg)] for svg in (one, other)]
    one, other = (_plain(svg) for svg in (one, other))
    if _NUMBER.split(one) != _NUMBER.split(other) or len(inside[0]) != len(inside[1]):
        return False
    numbers = [np.array(_NUMBER.findall(svg), float) for svg in (one, other)]
    return bool((np.abs(numbers[0] - numbers[1]) <= TOLERANCE).all()) and all(map(_same_pixels, *inside))


def _plain(svg: str) -> str:
    """Return a drawing without pixels and metadata, its ids, which are hashes of coordinates, numbered in order."""
    svg = _PIXELS.sub("", re.sub("<metadata>.*?</metadata>", "", svg, flags=re.DOTALL))
    order: dict[str, str] = {}
    return _OWN_ID.sub(lambda m: m["before"] + order.setdefault(m["id"], f"id_{len(order)}"), svg)


def _same_pixels(one: bytes, other: bytes) -> bool:
    """Compare every frame by the share of pixels whose color changed."""
    frames = [_frames(data) for data in (one, other)]
    if len(frames[0]) != len(frames[1]):
        return False
    for (lasts, pixels), (other_lasts, other_pixels) in zip(*frames, strict=True):
        if lasts != other_lasts or pixels.shape != other_pixels.shape:
            return False
        changed = np.abs(pixels.astype(np.int16) - other_pixels).max(axis=-1) > SHADE
        if changed.mean() > SHARE:
            return False
    return True


def _frames(data: bytes) -> list[tuple[int, np.ndarray]]:
    """Return how long each frame lasts, in milliseconds, and its pixels, uint8[height, width, 4]."""
    from PIL import Image, ImageSequence

    with Image.open(io.BytesIO(data)) as image:
        return [(f.info.get("duration", 0), np.array(f.convert("RGBA"))) for f in ImageSequence.Iterator(image)]
