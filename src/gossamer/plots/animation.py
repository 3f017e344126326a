"""Messages in motion: a film of any schedule; of permutations on arrays and tori in the plane in squares.

In the latter every message is a square in the color of its destination, so that the colors blend smoothly over the
network once all are there. Orange marks on links are control packets. The lines show the regions that the phase's
name speaks of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.planning.switching import verify as switching_verify
from gossamer.plots.appearance import CONTROL_COLOR, FAINT, INK, MUTED, PAPER, by_number, sequential, settings, write
from gossamer.plots.layouts import ARC, STUB, lay_out
from gossamer.plots.link_groups import NodePairs, routes
from gossamer.questions.tasks import MOVE
from gossamer.reading import number
from gossamer.schedules import CONTROL, Schedule, Timeline
from gossamer.verification import verify

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

# A film of any schedule: packets in the colors of their origins on the links, and nodes that darken as they fill.

MOST_NODES = 1024
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

    Raises `NotApplicableError`: before the first picture, if the network has more than `MOST_NODES` nodes or there
    would be more than `most` pictures.
    """
    network = schedule.network
    if network.node_count > MOST_NODES:
        raise NotApplicableError(
            f"a film needs a network of at most {MOST_NODES:,} nodes, not {network.spec} with {network.node_count:,}: "
            "the explorer shows more"
        )
    if isinstance(schedule, Schedule):
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
    pairs = NodePairs(network)
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


MOVING_FORMATS = ("gif", "mp4")
"""What an animation's file name may end in."""

_CORNERS = np.array([[[0.17, 0.42, 0.69], [0.18, 0.62, 0.27]], [[0.61, 0.21, 0.71], [0.91, 0.35, 0.05]]])
_REST = 8  # frames before the first move and after the last
_MOST_NODES, _MOST_FRAMES = 4096, 4000
_ROUTED = ("permutation",)
"""Tasks whose pictures are squares that find their places."""

Places = npt.NDArray[np.float64]


def destination_colors(rows: npt.ArrayLike, columns: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the colors of places in the unit square, float64[k, 3]: a blend of the colors of its corners.

    >>> destination_colors([0, 1], [0, 1]).round(2).tolist()
    [[0.17, 0.42, 0.69], [0.91, 0.35, 0.05]]
    """
    y, x = np.asarray(rows, float)[:, None], np.asarray(columns, float)[:, None]
    top = _CORNERS[0, 0] * (1 - x) + _CORNERS[0, 1] * x
    bottom = _CORNERS[1, 0] * (1 - x) + _CORNERS[1, 1] * x
    return np.asarray(top * (1 - y) + bottom * y)


class _Frame(NamedTuple):
    """What one frame shows."""

    title: str
    places: Places  # x, y and side of the square of each message
    control: Places  # x and y of each control packet
    region: tuple[int, int] | None


@dataclass(frozen=True)
class _Film:
    """A schedule ready to be shown."""

    schedule: Schedule
    sides: tuple[int, int]
    colors: npt.NDArray[np.float64]

    def frames(self, between: int) -> Iterator[_Frame]:
        """Yield the frames, `between` for each slot."""
        schedule = self.schedule
        at = schedule.packets.origin.astype(np.int64)
        here = self._drawn(at)
        region = None
        for _ in range(_REST):
            yield _Frame("start", here, np.zeros((0, 2)), None)
        ends = np.searchsorted(schedule.slot, np.arange(schedule.slot_count + 1))
        for phase in schedule.phases:
            region = _region(phase.name)
            for slot in range(phase.first_slot, phase.first_slot + phase.slots):
                rows = slice(int(ends[slot]), int(ends[slot + 1]))
                packet, link = schedule.packet[rows], schedule.link[rows]
                moved = packet != CONTROL
                at[packet[moved]] = schedule.network.link_target[link[moved]]
                there = self._drawn(at)
                source = self._center(schedule.network.link_source[link[~moved]])
                target = self._center(schedule.network.link_target[link[~moved]])
                title = f"slot {slot}, the last is {schedule.slot_count - 1}: {phase.name}"
                for k in range(1, between + 1):
                    share = k / between
                    ease = share * share * (3 - 2 * share)
                    flight = self._straight(here, there, ease)
                    yield _Frame(title, flight, source + (target - source) * share, region)
                here = there
        for _ in range(_REST * 2):
            yield _Frame(f"done: {schedule.completion_time} steps", here, np.zeros((0, 2)), region)

    def _straight(self, here: Places, there: Places, share: float) -> Places:
        """Return the squares on their way; those that go round a torus appear at the other side."""
        jump = np.abs(there - here)[:, :2].max(axis=1, initial=0) > 1.5
        moved = here + (there - here) * share
        moved[jump] = there[jump] if share > 0.5 else here[jump]
        return moved

    def _center(self, nodes: npt.NDArray[np.integer]) -> Places:
        y, x = np.divmod(np.asarray(nodes, np.int64), self.sides[1])
        return np.stack([x, y], axis=1).astype(float)

    def _drawn(self, at: npt.NDArray[np.int64]) -> Places:
        """Return x, y and side of every message's square: those at one node share its cell."""
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        first = np.searchsorted(ordered, ordered)
        place = np.empty(at.size, np.int64)
        place[order] = np.arange(at.size) - first
        together = np.bincount(at, minlength=1)[at] if at.size else at
        across = np.ceil(np.sqrt(together))
        size = 0.84 / across
        shift_x = (place % across - (across - 1) / 2) * size
        shift_y = (place // across - (np.ceil(together / across) - 1) / 2) * size
        center = self._center(at)
        return np.stack([center[:, 0] + shift_x, center[:, 1] + shift_y, size * 0.92], axis=1)


def animate(
    schedule: Any,
    path: str | os.PathLike[str],
    *,
    frames_per_slot: int = 3,
    milliseconds: int = 60,
    dpi: float = 72,
) -> None:
    """Write an animation of a valid schedule to a file, which appears whole or not at all.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Of any task; it is verified first. Whole messages with one destination each, such as a permutation's, on an
        array or torus of one or two dimensions with at most 4,096 nodes, are squares in the color of their place.
        Everything else is drawn as packets in the color of their origin on the links of the network, of at most 1,024
        nodes.
    path : path
        The file; its suffix ``.gif`` or ``.mp4`` (with the extra ``video``) says the format.
    frames_per_slot : int
        Pictures for each slot, 1..10.
    milliseconds : int
        Time that each picture is shown, 20..1000.
    dpi : float
        Pixels per inch, 20..300.

    Raises
    ------
    FileFormatError
        If the suffix is unknown, a number is out of range, or the file cannot be written.
    NotApplicableError
        If the network is too large, the film would take more than 4,000 pictures, or the extra ``video`` is needed.
    VerificationError
        If the schedule is not valid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=[2, 0, 1])
    >>> plan = gossamer.plan("array:3", task)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "motion.gif"
    >>> animate(plan.schedule, path, frames_per_slot=1)
    >>> path.read_bytes()[:6]
    b'GIF89a'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in MOVING_FORMATS:
        given = f"the suffix {Path(path).suffix!r}" if suffix else "no suffix"
        raise FileFormatError(f"{str(path)!r} has {given}; an animation is one of .gif, .mp4")
    for name, value, low, high in (
        ("frames_per_slot", frames_per_slot, 1, 10),
        ("milliseconds", milliseconds, 20, 1000),
        ("dpi", dpi, 20, 300),
    ):
        number(value, name, low, high, error=FileFormatError)
    if suffix == "mp4":
        check_video()
    if not _squares(schedule):
        frames = film_frames(schedule, frames_per_slot, dpi, _MOST_FRAMES)
        switching_verify(schedule).raise_if_invalid()
        with whole_file(path) as part:
            write_frames(frames, part, suffix, milliseconds)
        return
    film = _film(schedule, frames_per_slot)
    verify(schedule).raise_if_invalid()
    _write(film, path, suffix, frames_per_slot, milliseconds, dpi)


def _squares(schedule: Any) -> bool:
    """Return whether every message is one packet with one destination, on an array or torus in the plane."""
    if not isinstance(schedule, Schedule):
        return False
    grid = schedule.network.grid
    flat = grid is not None and len(grid.sides) <= 2 and schedule.network.node_count <= _MOST_NODES
    moved = bool((schedule.messages.discipline == MOVE).all())
    return flat and moved and schedule.explicit and schedule.parts == 1 and schedule.task.name in _ROUTED


def _film(schedule: Schedule, frames_per_slot: int) -> _Film:
    network = schedule.network
    sides = network.grid.sides if network.grid is not None else ()
    frames = schedule.slot_count * frames_per_slot
    if frames > _MOST_FRAMES:
        raise NotApplicableError(f"the animation would take {frames:,} pictures; at most {_MOST_FRAMES:,} are allowed")
    shape = (1, sides[0]) if len(sides) == 1 else (sides[0], sides[1])
    target = np.empty(schedule.packets.count, np.int64)
    target[:] = schedule.packets.origin
    moved = schedule.packet != CONTROL
    target[schedule.packet[moved]] = network.link_target[schedule.link[moved]]  # the last hop of a packet stands
    y, x = np.divmod(target, shape[1])
    return _Film(schedule, shape, destination_colors(y / max(shape[0] - 1, 1), x / max(shape[1] - 1, 1)))


def _region(name: str) -> tuple[int, int] | None:
    """Return the rows and columns of the regions that a phase's name ends in, as in "count 8x4"."""
    found = re.search(r"(\d+)x(\d+)$", name)
    return (int(found[1]), int(found[2])) if found else None


def _grid(rows: int, columns: int, high: int, wide: int) -> list[list[tuple[float, float]]]:
    """Return the borders of regions of `high` rows and `wide` columns."""
    upright = [[(x - 0.5, -0.5), (x - 0.5, rows - 0.5)] for x in [*range(0, columns, max(wide, 1)), columns]]
    level = [[(-0.5, y - 0.5), (columns - 0.5, y - 0.5)] for y in [*range(0, rows, max(high, 1)), rows]]
    return upright + level


def _write(
    film: _Film, path: str | os.PathLike[str], suffix: str, frames_per_slot: int, milliseconds: int, dpi: float
) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    rows, columns = film.sides
    cell = min(0.5, 6 / max(rows, columns))
    width, height = max(columns * cell + 0.4, 4.0), rows * cell + 1.0
    with settings(), whole_file(path) as part:
        figure: Figure = Figure(figsize=(width, height), facecolor=PAPER)
        axes: Any = figure.add_axes((0.2 / width, 0.2 / height, 1 - 0.4 / width, rows * cell / height))
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.axis("off")
        axes.add_collection(LineCollection(_grid(rows, columns, 1, 1), colors=FAINT, linewidths=0.6, zorder=1))
        borders = LineCollection([], colors=INK, linewidths=1.2, zorder=4)
        squares = PolyCollection([], zorder=3)
        axes.add_collection(borders)
        axes.add_collection(squares)
        (waves,) = axes.plot([], [], "o", color=CONTROL_COLOR, markersize=max(2, cell * 9), zorder=5)
        schedule = film.schedule
        subject = f"{schedule.algorithm or schedule.task.name} on {schedule.network.spec}"
        write(figure, 0.2 / width, 1 - 0.16 / height, subject, 11, va="top")
        title = write(figure, 0.2 / width, 1 - 0.44 / height, "", 9, va="top", color=MUTED)
        corner = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])

        def show(frame: _Frame) -> None:
            squares.set_verts(list(frame.places[:, None, :2] + corner[None] * frame.places[:, 2, None, None]))
            squares.set_facecolor(film.colors)
            waves.set_data(frame.control[:, 0], frame.control[:, 1])
            title.set_text(frame.title)
            borders.set_segments(_grid(rows, columns, *(frame.region or film.sides)))

        palette = _palette(film.colors) if suffix == "gif" else None
        write_frames(_pictures(figure, show, film.frames(frames_per_slot), palette, dpi), part, suffix, milliseconds)


def _palette(colors: npt.NDArray[np.float64]) -> Image:
    """Return a picture whose palette has the messages' colors, and those of letters, lines and marks.

    One of 256 places stays free for what does not change from frame to frame.
    """
    from matplotlib.colors import to_rgb
    from PIL import Image as Picture

    fades = [
        np.linspace(to_rgb(color), to_rgb(PAPER), shades)
        for color, shades in ((INK, 12), (MUTED, 10), (CONTROL_COLOR, 8), (FAINT, 4))
    ]
    drawn = np.concatenate(fades)
    messages = np.round(255 * colors[None]).astype(np.uint8)
    few = Picture.fromarray(messages).quantize(255 - len(drawn)).convert("RGB")
    table = np.concatenate([np.unique(np.asarray(few)[0], axis=0), np.round(255 * drawn).astype(np.uint8)])
    picture = Picture.new("P", (1, 1))
    picture.putpalette(table.tobytes())
    return picture


def _pictures(
    figure: Figure, show: Callable[[_Frame], None], frames: Iterable[_Frame], palette: Image | None, dpi: float
) -> Iterator[Image]:
    """Yield the frames as pictures, all of one palette if one is given."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image as Picture

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    for frame in frames:
        show(frame)
        canvas.draw()
        pixels = Picture.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        yield pixels if palette is None else pixels.quantize(palette=palette, dither=Picture.Dither.NONE)
