"""A film of any schedule: packets in the colors of their origins on the links, and nodes that darken as they fill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.plots.layouts import ARC, STUB, lay_out
from gossamer.plots.palette import CONTROL_COLOR, FAINT, INK, MUTED, PAPER, by_number, sequential
from gossamer.plots.ways import Pairs, routes
from gossamer.schedules import Timeline

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["MOST_NODES", "check_video", "film_frames", "write_frames"]

MOST_NODES = 1024
_REST = 8
_WIDE, _FINE = 6.4, 2
"""Inches of the picture, and how many times finer it is painted than shown."""

Points = npt.NDArray[np.float64]


class _Set(NamedTuple):
    """A schedule ready to be filmed: its rows, ways in pixels, colors, and what a frame is painted on."""

    rows: Timeline
    first: npt.NDArray[np.int32]
    lines: Points
    color: list[str]
    places: Points
    radius: float
    ground: Image
    font: Any
    terminals: int
    words: str
    unit: str


def film_frames(schedule: Any, between: int, dpi: float, most: int) -> Iterator[Image]:
    """Yield the pictures of a film, `between` of them from each time at which something starts or ends to the next.

    Raises
    ------
    NotApplicableError
        Before the first picture, if the network has more than `MOST_NODES` nodes or there would be more than `most`
        pictures.
    """
    network = schedule.network
    if network.node_count > MOST_NODES:
        raise NotApplicableError(
            f"a film needs a network of at most {MOST_NODES:,} nodes, not {network.spec} with {network.node_count:,}: "
            "the explorer shows more"
        )
    if getattr(schedule, "invariant", False):
        schedule = schedule.expand()
    rows = schedule.timeline()
    times = np.unique(np.concatenate([[0, rows.length], rows.start, rows.end]))
    count = (times.size - 1) * between
    if count > most:
        raise NotApplicableError(f"the film would take {count:,} pictures; at most {most:,} are allowed")
    moments = np.interp(np.arange(count + 1) / between, np.arange(times.size), times)
    return _frames(_prepared(schedule, rows, dpi), moments)


def _frames(scene: _Set, moments: Points) -> Iterator[Image]:
    came = np.argsort(scene.rows.end, kind="stable")
    ends, to = scene.rows.end[came], scene.rows.target[came]
    counted = scene.rows.message[came] >= 0
    total = np.bincount(to[counted], minlength=len(scene.places))
    for moment in [*[moments[0]] * _REST, *moments.tolist(), *[moments[-1]] * (2 * _REST)]:
        there = (ends <= moment) & counted
        share = np.bincount(to[there], minlength=len(scene.places)) / np.maximum(total, 1)
        yield _painted(scene, float(moment), share)


def _prepared(schedule: Any, rows: Timeline, dpi: float) -> _Set:
    from matplotlib.font_manager import findfont
    from PIL import Image as Picture
    from PIL import ImageDraw, ImageFont

    network, layout = schedule.network, lay_out(schedule.network)
    pairs = Pairs(network)
    first, way, _ = routes(schedule, rows, pairs)
    low, high = layout.positions.min(axis=0) - 0.8, layout.positions.max(axis=0) + 0.8
    span = np.maximum(high - low, 1.0)
    unit = min(_WIDE / span[0], _WIDE / span[1], 0.8) * dpi * _FINE
    head = int(0.62 * dpi * _FINE)
    wide = int(max(span[0] * unit, 4.6 * dpi * _FINE))
    size = (wide // 4 * 4, (int(span[1] * unit) + head) // 4 * 4)
    shift = (size[0] - span[0] * unit) / 2

    def pixels(points: Points) -> Points:
        return np.stack([shift + (points[..., 0] - low[0]) * unit, head + (high[1] - points[..., 1]) * unit], axis=-1)

    ground = Picture.new("RGB", size, PAPER)
    pen = ImageDraw.Draw(ground)
    shape = np.asarray(layout.shape)[pairs.first]
    start, end = (layout.positions[e[pairs.first]] for e in (network.link_source, network.link_target))
    lines = pixels(_curves(start, end, shape, layout.direction[pairs.first]))
    for line, form in zip(lines, shape, strict=True):
        parts = (line[:4], line[4:]) if form == STUB else (line,)
        for part in parts:
            pen.line([tuple(p) for p in part.tolist()], fill=FAINT, width=max(1, round(unit * 0.02)))
    hues = by_number(max(network.node_count, 1))
    origin = _origins(schedule, rows)
    color = [CONTROL_COLOR if m < 0 else hues[o] for m, o in zip(rows.message.tolist(), origin, strict=True)]
    font = findfont("DejaVu Sans")
    fonts = [ImageFont.truetype(font, int(points * dpi * _FINE / 72)) for points in (11, 8.5)]
    words = f"{schedule.task.describe()} on {network.spec}, {schedule.algorithm or 'unnamed'}"
    while fonts[0].size > 8 and fonts[0].getlength(words) > size[0] * 0.96:
        fonts[0] = ImageFont.truetype(font, int(fonts[0].size) - 1)
    step = "step" if schedule.switching == "store-and-forward" else "time unit"
    return _Set(rows, first, lines[way], color, pixels(layout.positions), 0.23 * unit, ground, fonts,
                network.terminal_count, words, step)  # fmt: skip


def _origins(schedule: Any, rows: Timeline) -> list[int]:
    known = schedule.messages if hasattr(schedule, "messages") else schedule.task.messages(schedule.network)
    at = np.searchsorted(known.ids, np.maximum(rows.message, known.ids.min(initial=0)))
    found: list[int] = known.origin[np.minimum(at, known.ids.size - 1)].tolist() if known.ids.size else [0] * rows.count
    return found


def _curves(start: Points, end: Points, shape: npt.NDArray[Any], direction: Points) -> Points:
    """Return eight points on each link: a line on the right of its way, an arc, or a stub at each end."""
    way = end - start
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
    aside = np.stack([way[:, 1], -way[:, 0]], axis=1) / length
    f = np.linspace(0, 1, 8)[None, :, None]
    lines = start[:, None] + way[:, None] * f + 0.07 * aside[:, None]
    bend = ((start + end) / 2 + aside * 2 * (0.42 + 0.1 * np.maximum(length - 2, 0)))[:, None]
    arcs = (1 - f) ** 2 * start[:, None] + 2 * f * (1 - f) * bend + f**2 * end[:, None]
    g = np.linspace(0, 1, 4)[None, :, None] * 0.65
    beside = np.stack([direction[:, 1], -direction[:, 0]], axis=1)[:, None] * 0.07
    out, into = direction[:, None] * g, direction[:, None] * (0.65 - g)
    stubs = np.concatenate([start[:, None] + out + beside, end[:, None] - into + beside], axis=1)
    form = shape[:, None, None]
    return np.asarray(np.where(form == STUB, stubs, np.where(form == ARC, arcs, lines)))


def _painted(scene: _Set, moment: float, share: Points) -> Image:
    from PIL import ImageDraw

    picture = scene.ground.copy()
    pen, rows = ImageDraw.Draw(picture), scene.rows
    size = max(3.0, scene.radius * 0.42)
    for r in np.flatnonzero((rows.start <= moment) & (rows.end > moment)).tolist():
        lines = scene.lines[scene.first[r] : scene.first[r + 1]]
        done = (moment - int(rows.start[r])) / int(rows.end[r] - rows.start[r]) * len(lines)
        if len(lines) > 1:
            for line in lines:
                pen.line([tuple(p) for p in line.tolist()], fill=scene.color[r], width=max(2, round(size * 0.6)))
        line = lines[min(int(done), len(lines) - 1)]
        at = (done - min(int(done), len(lines) - 1)) * 7
        k = min(int(at), 6)
        x, y = line[k] if k == 3 and np.hypot(*(line[4] - line[3])) > 4 * scene.radius else (
            line[k] + (line[k + 1] - line[k]) * (at - k))  # fmt: skip
        pen.ellipse([x - size, y - size, x + size, y + size], fill=scene.color[r], outline=PAPER)
    shades = (255 * np.asarray(sequential()(share))[:, :3]).round().astype(int).tolist()
    for v, (x, y) in enumerate(scene.places.tolist()):
        box = [x - scene.radius, y - scene.radius, x + scene.radius, y + scene.radius]
        draw = pen.ellipse if v < scene.terminals else pen.rectangle
        draw(box, fill=tuple(shades[v]) if share[v] else PAPER, outline=MUTED, width=2)
    tick = float(rows.tick)
    clock = (
        f"time {moment * tick:.1f} of {float(rows.length * tick):g} {scene.unit}s; a node darkens with what has come"
    )
    edge = scene.font[1].size * 0.6
    pen.text((edge, edge * 0.7), scene.words, fill=INK, font=scene.font[0])
    pen.text((edge, edge * 1.4 + scene.font[0].size * 1.2), clock, fill=MUTED, font=scene.font[1])
    return picture.reduce(_FINE)


def check_video() -> None:
    """Raise NotApplicableError if what makes MP4 files is not installed."""
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        raise NotApplicableError("an .mp4 needs the extra 'video': pip install 'gossamer[video]'") from None


def write_frames(frames: Iterable[Image], path: Path, suffix: str, milliseconds: int) -> None:
    """Write pictures to a GIF or MP4 file."""
    if suffix == "gif":
        from PIL.Image import Dither

        pictures = [f if f.mode == "P" else f.quantize(128, dither=Dither.NONE) for f in frames]
        pictures[0].save(
            path, "GIF", save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0, optimize=True
        )
        return
    import imageio_ffmpeg

    writer = None
    for frame in frames:
        even = frame.convert("RGB").crop((0, 0, frame.width // 2 * 2, frame.height // 2 * 2))
        if writer is None:
            rate = 1000 / milliseconds
            writer = imageio_ffmpeg.write_frames(
                str(path), even.size, fps=rate, codec="libx264", macro_block_size=2, ffmpeg_log_level="error",
                output_params=["-f", "mp4", "-movflags", "+faststart"],
            )  # fmt: skip
            writer.send(None)
        writer.send(even.tobytes())
    if writer is not None:
        writer.close()
