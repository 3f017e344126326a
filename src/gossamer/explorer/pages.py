"""From scenes to one HTML file: the program of the page, and the columns, packed into it."""

from __future__ import annotations

import base64
import html
import json
import os
import zlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from gossamer import planner, switching
from gossamer.dynamic.recording import Recording
from gossamer.errors import NotApplicableError, ScheduleError
from gossamer.explorer.aggregated import MOST_HOPS, aggregated
from gossamer.explorer.scenes import Scene, scene
from gossamer.explorer.simulations import flit_scene, queue_scene
from gossamer.outcome import Outcome
from gossamer.plots.palette import CATEGORICAL, by_number, sequential
from gossamer.routers.recording import FlitRecording, record_run
from gossamer.routers.schedule_run import ScheduleRun
from gossamer.writing import whole_file

__all__ = ["MOST_ROWS", "embedded", "explore", "page"]

MOST_ROWS = 4_000_000
"""The most hops, or pieces of wormhole messages, that a page shows one by one; more are counted."""
_PARTS = ("data.js", "network.js", "pixels.js", "painter.js", "panel.js", "app.js")
_TYPES = {"f4": "Float32Array", "f8": "Float64Array", "u4": "Uint32Array", "i4": "Int32Array", "u1": "Uint8Array"}


def explore(schedules: Any, path: str | os.PathLike[str]) -> None:
    """Write a page on which a schedule, or two side by side, can be explored in a browser.

    The file needs nothing else: no server, no network access. It appears whole or not at all.

    Parameters
    ----------
    schedules : Schedule, WormholeSchedule, Outcome, Recording, ScheduleRun or FlitRecording, or one or two of them
        What is shown; schedules are verified, and set beside their bounds. `gossamer.dynamic.record` and
        `gossamer.routers.record_traffic` record simulations.
    path : path
        The page.

    Raises
    ------
    ScheduleError
        If there is none, or more than two, or an outcome whose schedule was not kept.
    VerificationError
        If a schedule is not valid.
    NotApplicableError
        If the network has more than 20,000 nodes, there are more than `aggregated.MOST_HOPS` hops, or
        more than `MOST_ROWS` and no way to count them.
    FileFormatError
        If the file cannot be written.

    Notes
    -----
    O(hops log hops) time. About 3 to 8 bytes a hop in the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "page.html"
    >>> explore(gossamer.plan("torus:4x4", "allgather"), path)
    >>> "<canvas" in path.read_text()
    True
    """
    text = page(schedules)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def embedded(schedules: Any, height: int = 640) -> str:
    """Return the page as an element of another page, such as a notebook's: HTML of a frame of its own."""
    return (
        f'<iframe srcdoc="{html.escape(page(schedules), quote=True)}" width="100%" height="{int(height)}" '
        'style="border:0" sandbox="allow-scripts"></iframe>'
    )


def page(schedules: Any) -> str:
    """Return the text of the page; see `explore`."""
    given = list(schedules) if isinstance(schedules, Sequence) else [schedules]
    if not 1 <= len(given) <= 2:
        raise ScheduleError(f"the explorer shows one schedule, or two side by side, not {len(given)}")
    scenes = [_scene(one) for one in given]
    files = resources.files("gossamer.explorer") / "page"
    template, style = ((files / name).read_text(encoding="utf-8") for name in ("page.html", "page.css"))
    program = "\n".join((files / name).read_text(encoding="utf-8") for name in _PARTS)
    title = " | ".join(f"{s.head['task']} on {s.head['network']}" for s in scenes)
    data, packed = _packed(scenes)
    parts = {"title": html.escape(title), "style": style, "program": program, "head": data, "columns": packed}
    for name, text in parts.items():
        template = template.replace(f"<!--{name}-->", text)
    return template


def _scene(given: Any) -> Scene:
    if isinstance(given, Recording):
        return queue_scene(given)
    if isinstance(given, ScheduleRun):
        given = record_run(given)
    if isinstance(given, FlitRecording):
        return flit_scene(given)
    if isinstance(given, Outcome):
        if given.schedule is None:
            raise ScheduleError("the schedule was checked as it was made and not kept, so there is nothing to explore")
        schedule, bounds, facts = given.schedule, given.bounds, given.facts.rows
        return (aggregated if _check_size(schedule) else scene)(schedule, bounds, facts)
    kind = switching.of(given)
    many = _check_size(given)
    kind.verify(given, 20).raise_if_invalid()
    bounds = planner.lower_bounds(given.network, given.task, switching=kind.name,
                                  rules=given.rules, cost=given.cost)  # fmt: skip
    return (aggregated if many else scene)(given, bounds, kind.facts(given).rows)


def _check_size(schedule: Any) -> bool:
    """Return whether a schedule has too many hops to be shown one by one."""
    rows = int(getattr(schedule, "hop_count", 0) or getattr(schedule, "message_count", 0))
    if rows > MOST_ROWS and schedule.switching == "store-and-forward" and rows <= MOST_HOPS:
        return True
    if rows > MOST_ROWS:
        raise NotApplicableError(
            f"the explorer shows at most {MOST_HOPS:,} hops, and this schedule has {rows:,}; a smaller network of the "
            "same family shows the same"
        )
    return False


def _packed(scenes: Sequence[Scene]) -> tuple[str, str]:
    """Return the plain values with the places of the columns, as JSON, and all columns as one compressed text."""
    heads, blob, at = [], [], 0
    for one in scenes:
        places = {}
        lasts, columns = _spared(one.columns)
        for name, column in columns.items():
            array = np.ascontiguousarray(column)
            kind = f"{array.dtype.kind}{array.dtype.itemsize}"
            at += -at % 8
            places[name] = [_TYPES[kind], at, array.size]
            blob.append((at, array.tobytes()))
            at += array.nbytes
        heads.append(one.head | {"columns": places, "lasts": lasts})
    whole = bytearray(at)
    for start, data in blob:
        whole[start : start + len(data)] = data
    shared = {"scale": _scale(), "hues": by_number(24), "control": CATEGORICAL[1]}
    text = json.dumps({"scenes": heads, "colors": shared, "size": at}, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c"), base64.b64encode(zlib.compress(bytes(whole), 6)).decode()


def _spared(columns: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Return the columns without what the page knows from the others, and how long each row lasts if all are alike."""
    lasts = np.unique(columns["end"] - columns["start"])
    lasts = lasts if np.all(lasts % 1 == 0) else np.zeros(2)  # fractions are kept as they are
    left_out = ["end"] if lasts.size == 1 else []
    if not columns["weight"].size or columns["first"].size == columns["way"].size + 1:
        left_out += ["first", "from", "to"]
    kept = {name: column[:0] if name in left_out else column for name, column in columns.items()}
    return float(lasts[0]) if lasts.size else 1.0, kept


def _scale() -> list[str]:
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in sequential()([k / 31 for k in range(32)])]
