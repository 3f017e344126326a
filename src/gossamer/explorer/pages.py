"""From scenes to one HTML file: the program of the page, and the columns, packed into it."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import zlib
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gossamer.atomic_files import whole_file
from gossamer.bounds import Bound
from gossamer.errors import NotApplicableError, ScheduleError
from gossamer.explorer.scenes import (
    BINS,
    MOST_NODES,
    Scene,
    busy,
    check_nodes,
    drawn,
    plain_head,
    scene,
    schedule_head,
    stay_columns,
)
from gossamer.networks.hierarchy import hierarchy
from gossamer.networks.network import Network
from gossamer.planning import planner, switching
from gossamer.planning.outcome import Outcome
from gossamer.plots.appearance import CATEGORICAL, by_number, sequential
from gossamer.plots.curves import group_figure
from gossamer.plots.link_groups import NodePairs
from gossamer.questions.tasks import COPY, MOVE
from gossamer.schedules import CONTROL, Schedule
from gossamer.simulation.flits.recording import FlitRecording, record_run
from gossamer.simulation.flits.schedule_run import ScheduleRun
from gossamer.simulation.random_arrivals.recording import Recording
from gossamer.studies.sweeps.report import ComparedGroup, Report, cell_text

# Schedules of too many hops to be shown one by one: how much each link carries in each part of the time.

MOST_HOPS = 60_000_000
"""The most stored hops that are counted for a page."""
_CELLS, _FRAMES, _LARGEST = 3_000_000, 120, 2**31 - 1
_MOST_DRAWN, _MOST_IN_FULL = 1500, 64
"""Nodes of a hierarchy that are drawn one by one, and of one of its smallest groups that is."""


def aggregated(schedule: Schedule, bounds: Sequence[Bound] = (), facts: Sequence[tuple[str, str]] = ()) -> Scene:
    """Return what the explorer shows of a schedule of many hops: loads of links over time, and no single hop.

    Of a large hierarchy it shows one smallest group in full, and the nodes of each other tier as one. Where one orbit
    is stored, links of an orbit carry the same, and nothing is expanded.

    `schedule`: valid, explicit or invariant, with slots of one length. `bounds`, `facts`: as for
    `gossamer.explorer.scene`.

    Raises NotApplicableError if it stores more than `MOST_HOPS` hops, or has slots of several lengths or too many
    nodes.

    O(stored hops + links) time and memory; a page of up to `_CELLS` numbers.

    >>> import gossamer
    >>> shown = aggregated(gossamer.plan("torus:4x4", "allgather").schedule)
    >>> int(shown.columns["crossed"].sum()), shown.columns["frames"].reshape(4, -1).sum(axis=1).tolist()
    (240, [64, 64, 64, 48])
    """
    network = schedule.network
    lengths = {phase.slot_length for phase in schedule.phases if phase.slots}
    if len(lengths) > 1:
        raise NotApplicableError("the explorer shows slots of several lengths only where hops are shown one by one")
    if schedule.slot.size * schedule.generations > MOST_HOPS:
        raise _too_many(schedule.slot.size * schedule.generations)
    drawing, part = _by_tier(network)
    check_nodes(drawing)
    pairs = NodePairs(drawing)
    seen = part[network.link_source] != part[network.link_target]
    pair = pairs.number(part[network.link_source[seen]], part[network.link_target[seen]])
    whole = schedule.unrolled()
    data = whole.packet != CONTROL
    link, slot = whole.link[data], whole.slot[data].astype(np.int64)
    alike = (
        np.arange(network.link_count)
        if whole.symmetry is None
        else whole.symmetry.link_orbit(np.arange(network.link_count))
    )
    images = 1 if whole.symmetry is None else whole.symmetry.order
    share = images / np.bincount(alike)  # hops over each link of an orbit for one that is stored
    each_orbit = sparse.csr_array((share[alike[seen]], (alike[seen], pair)), shape=(share.size, pairs.key.size))
    slots, links = max(schedule.slot_count, 1), pairs.key.size
    each = -(-slots // max(1, min(slots, _CELLS // max(links, 1), _FRAMES)))  # slots of a frame
    count = -(-slots // each)
    stored = sparse.csr_array((np.ones(link.size), (slot // each, alike[link])), shape=(count, share.size))
    frames = (stored @ each_orbit).toarray()
    bins, start = min(slots, BINS), slot.astype(np.float64)
    used = busy(
        start, start + network.link_occupancy[link], slots, np.full(slot.size, images), int(network.link_capacity.sum())
    )
    none, ints = np.zeros(0, np.int64), np.zeros(0, np.int32)
    columns: dict[str, Any] = {
        **dict.fromkeys(("start", "end"), np.zeros(0, np.uint32)),
        **dict.fromkeys(("message", "part", "way", "from", "to", "origin", "goal"), ints),
        **dict.fromkeys(("phase", "kind"), np.zeros(0, np.uint8)),
        "first": np.zeros(1, np.int32),
        "weight": np.zeros(0, np.float32),
        "id": np.zeros(0),
        "busy": used,
        **dict.fromkeys(("held", "deepest"), np.zeros(bins + 1, np.int32)),
        **stay_columns(none, none, none),
        "crossed": np.minimum(np.rint(frames.sum(axis=0)), _LARGEST).astype(np.int32),
        "frames": np.minimum(np.rint(frames), _LARGEST).astype(np.int32).reshape(-1),
        **drawn(drawing, pairs),
    }
    head = schedule_head(schedule, bounds, facts, float(next(iter(lengths), 1)))
    head |= {"ticks": slots, "rows": schedule.hop_count, "held_peak": -1, "each": each}
    if drawing is not network:
        head |= {name: plain_head(drawing)[name] for name in ("nodes", "terminals", "names")}
        head |= {
            "marked": np.unique(part[head["marked"]]).tolist() if head["marked"] else [],
            "all": network.node_count,
        }
    return Scene(head, columns)


def _by_tier(network: Network) -> tuple[Network, npt.NDArray[np.int64]]:
    """Return what is drawn of a network, and the node of it that stands for each node; small ones as they are.

    A large hierarchy is drawn with the first of its smallest groups in full. All nodes of a tier that share as many
    levels of groups with it are one node, and all links between two such nodes one link of their capacity.
    """
    found = hierarchy(network) if network.node_count > _MOST_DRAWN else None
    if found is None:
        return network, np.arange(network.node_count)
    near = np.zeros(network.node_count, np.int64)
    inside = np.ones(network.node_count, np.bool_)
    for level in found.levels:
        at = list(level)
        inside &= (found.place[:, at] == found.place[0, at]).all(axis=1)
        near += inside
    single = inside & (near > 0) & (inside.sum() <= _MOST_IN_FULL)
    switch = np.arange(network.node_count) >= network.terminal_count
    key = np.stack([switch, found.tier, -near, np.where(single, np.arange(network.node_count) + 1, 0)])
    _, first, part, size = np.unique(key, axis=1, return_index=True, return_inverse=True, return_counts=True)
    part = part.reshape(-1)
    names: list[str] = []
    for node, count in zip(first.tolist(), size.tolist(), strict=True):
        name = own = network.node_name(node)
        if count > 1:  # box1.gpu0 and 8,183 like it: 8,184 x gpu
            word = own.rpartition(".")[2].rstrip("0123456789-")
            name = (
                f"{count:,} x {word}" if word.isalpha() else f"{count:,} {'switches' if switch[node] else 'terminals'}"
            )
        names.append(f"{name} ({own})" if name in names else name)
    source, target = part[network.link_source], part[network.link_target]
    crossing = source != target
    ends = source[crossing] * first.size + target[crossing]
    joined, of_link = np.unique(ends, return_inverse=True)
    drawing = Network(
        network.spec, first.size, joined // first.size, joined % first.size,
        np.bincount(of_link.reshape(-1), network.link_capacity[crossing]).astype(np.int64),
        terminal_count=int((~switch[first]).sum()), labels=names, links_only=True,
    )  # fmt: skip
    return drawing, part


def _too_many(hops: int) -> NotApplicableError:
    return NotApplicableError(
        f"the explorer counts at most {MOST_HOPS:,} stored hops, and this schedule has {hops:,}; a smaller network of "
        "the same family shows the same"
    )


# Simulations as scenes: broadcasts at random with the queues of links, and worms of flits on channels.

Column = npt.NDArray[Any]


def queue_scene(recording: Recording) -> Scene:
    """Return what the explorer shows of broadcasts at random: copies on links, and those that wait for one.

    Raises NotApplicableError if the network has more than `MOST_NODES` nodes.

    O(rows log rows) time.
    """
    network, steps = recording.network, recording.steps
    check_nodes(network)
    pairs = NodePairs(network)
    sent = np.isfinite(recording.start)
    link = pairs.number(network.link_source[recording.link], network.link_target[recording.link])
    start = recording.start[sent]
    waits = recording.start > recording.queued
    since = np.maximum(recording.queued[waits], 0)
    until = np.minimum(recording.start[waits], steps + 1)
    spot = network.link_source[recording.link[waits]]
    columns = _rows(pairs, link[sent], np.maximum(start, 0), np.minimum(start + recording.service, steps),
                    recording.broadcast[sent], np.ones(start.size), steps)  # fmt: skip
    columns |= _waiting(since, until, spot, steps, network.node_count) | drawn(network, pairs)
    columns |= stay_columns(since, until, spot, link[waits])
    columns |= {
        "origin": recording.origin,
        "goal": np.full(recording.origin.size, -1, np.int32),
        "kind": np.full(recording.origin.size, int(COPY), np.uint8),
        "id": np.arange(recording.origin.size, dtype=np.float64),
    }
    head = {
        "task": "broadcasts at random",
        "algorithm": recording.scheme,
        "headline": f"{recording.scheme}, load {recording.load:.4g}: {steps:g} steps of a simulation",
        "unit": "step",
        "facts": [["load", f"{recording.load:.4g}"], ["broadcasts a node and step", f"{recording.rate:.4g}"],
                  ["a transmission takes", f"{recording.service:.4g} step" + "s" * (recording.service > 1)],
                  ["broadcasts seen", f"{recording.origin.size:,}"]],
    }  # fmt: skip
    return Scene(_head(network, head, columns, steps), columns)


def flit_scene(recording: FlitRecording) -> Scene:
    """Return what the explorer shows of the flit simulator: the channels that messages hold, and heads that wait.

    Raises NotApplicableError if the network has more than `MOST_NODES` nodes.

    O(rows log rows) time.
    """
    network, cycles = recording.network, recording.cycles
    check_nodes(network)
    pairs = NodePairs(network)
    link = pairs.number(recording.source, recording.target)
    spot, since, until = recording.waits()
    end = np.minimum(recording.end, cycles)
    columns = _rows(pairs, link, recording.start, end, recording.message,
                    recording.flits / np.maximum(end - recording.start, 1), cycles)  # fmt: skip
    columns |= _waiting(since, until, spot, cycles, network.node_count) | drawn(network, pairs)
    columns |= stay_columns(since, until, spot)
    columns |= {
        "origin": recording.origin.astype(np.int32),
        "goal": recording.goal.astype(np.int32),
        "kind": np.full(recording.origin.size, int(MOVE), np.uint8),
        "id": np.arange(recording.origin.size, dtype=np.float64),
    }
    load = "" if np.isnan(recording.load) else f", load {recording.load:.4g}"
    head = {
        "task": recording.title,
        "algorithm": recording.routing,
        "headline": f"{recording.routing}{load}: {cycles:,} cycles, flit by flit",
        "unit": "cycle",
        "worms": True,
        "facts": [["messages seen", f"{recording.origin.size:,}"],
                  ["flits over links", f"{int(recording.flits.sum()):,}"]]
        + ([["load", f"{recording.load:.4g} flits a node and cycle"]] if load else []),
    }  # fmt: skip
    return Scene(_head(network, head, columns, cycles), columns)


def _rows(
    pairs: NodePairs, link: Column, start: Column, end: Column, message: Column, weight: Column, length: float
) -> dict[str, Column]:
    """Return the columns of rows that cross one link each."""
    whole = bool((weight == 1).all())
    return {
        "start": start.astype(np.float32),
        "end": end.astype(np.float32),
        "message": message.astype(np.int32),
        "part": np.zeros(start.size, np.int32),
        "phase": np.zeros(start.size, np.uint8),
        "first": np.arange(start.size + 1, dtype=np.int32),
        "way": link.astype(np.int32),
        "weight": np.zeros(0, np.float32) if whole else weight.astype(np.float32),
        "from": (pairs.key[link] // pairs.count).astype(np.int32),
        "to": (pairs.key[link] % pairs.count).astype(np.int32),
        "busy": busy(start, end, length, weight, int(pairs.capacity.sum())),
    }


def _waiting(since: Column, until: Column, spot: Column, length: float, nodes: int) -> dict[str, Column]:
    """Return how many wait at the ends of equal parts of the time: in all, and in the node with most."""
    bins = min(int(length) * 4, BINS)
    scale = bins / length
    # a stay [a, b) is seen at the times k / scale in it
    a, b = np.ceil(since * scale).astype(np.int64), np.ceil(until * scale).astype(np.int64)
    b = np.minimum(b, bins + 1)
    kept = a < b
    size = nodes * (bins + 2)
    change = np.bincount(spot[kept] * (bins + 2) + a[kept], minlength=size)
    change = change - np.bincount(spot[kept] * (bins + 2) + b[kept], minlength=size)
    there = np.cumsum(change.reshape(nodes, -1), axis=1)[:, : bins + 1]
    return {"held": there.sum(axis=0).astype(np.int32), "deepest": there.max(axis=0).astype(np.int32)}


def _head(network: Any, head: dict[str, Any], columns: dict[str, Column], length: float) -> dict[str, Any]:
    return plain_head(network) | {
        "switching": "simulation",
        "ticks": length,
        "tick": 1.0,
        "time": f"{length:g}",
        "rows": int(columns["start"].size),
        "held_peak": int(columns["deepest"].max(initial=0)),
    } | head  # fmt: skip


MOST_ROWS = 4_000_000
"""The most hops, or pieces of wormhole messages, that a page shows one by one; more are counted."""
_PARTS = ("data.js", "network.js", "pixels.js", "painter.js", "panel.js", "app.js")
_TYPES = {"f4": "Float32Array", "f8": "Float64Array", "u4": "Uint32Array", "i4": "Int32Array", "u1": "Uint8Array"}


def explore(schedules: Any, path: str | os.PathLike[str]) -> None:
    """Write a page on which a schedule, or two side by side, can be explored in a browser.

    The file needs nothing else: no server, no network access. It appears whole or not at all.

    `schedules`: what is shown; schedules are verified, and set beside their bounds.
    `gossamer.simulation.random_arrivals.record` and `gossamer.simulation.flits.record_traffic` record simulations.
    `path`: the page.

    Raises ScheduleError if there is none, or more than two, or an outcome whose schedule was not kept;
    VerificationError if a schedule is not valid; NotApplicableError if the network has more than 20,000 nodes, there
    are more than `MOST_HOPS` stored hops, or more than `MOST_ROWS` and no way to count them; FileFormatError if the
    file cannot be written.

    O(hops log hops) time. About 3 to 8 bytes a hop in the file.

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
    if rows <= MOST_ROWS and schedule.network.node_count <= MOST_NODES:
        return False
    if schedule.switching != "store-and-forward":
        raise _too_many(rows)
    return True


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


# A report of many points as one HTML file that needs nothing else: tables, fronts, pictures, and all rows.

_MOST_ROWS = 5000
_HIDDEN = ("point", "identity", "reason", "witness", "status", "bound_exact", "completion_time_exact")

_STYLE = """
:root { color-scheme: light dark; --ink: #1d1f24; --paper: #fff; --muted: #5c6370; --line: #d7dae0; --front: #e8f1fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --paper: #16181d; --muted: #a3a9b5; --line: #3a3f4a; --front: #20364c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } p.note { color: var(--muted); }
.scroll { overflow-x: auto; max-height: 32rem; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { position: sticky; top: 0; background: var(--paper); }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; cursor: pointer; padding: 0; }
tr.front { background: var(--front); } figure { margin: 1rem 0; background: #fff; padding: .3rem; border-radius: 4px; }
figure svg { max-width: 100%; height: auto; } details { margin-top: 1rem; }
"""

_PROGRAM = """
for (const table of document.querySelectorAll("table.sorted")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent; head.textContent = ""; head.append(button);
    let way = 1;
    button.addEventListener("click", () => {
      const body = table.tBodies[0], rows = [...body.rows];
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      rows.sort((a, b) => { const [x, y] = [key(a), key(b)], d = Number(x) - Number(y);
        return way * (Number.isNaN(d) ? x.localeCompare(y, undefined, {numeric: true}) : d); });
      way = -way; body.append(...rows);
    });
  });
}
"""


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a page with all that a report has; it appears whole or not at all.

    Raises FileFormatError if the file cannot be written.
    """
    text = report_page(report)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def report_page(report: Report) -> str:
    """Return the text of the page: no server, nothing fetched, the same for the same results."""
    title = html.escape(report.title or "Results")
    parts = [f"<h1>{title}</h1>", _summary(report)]
    parts += [_group(group, report.shown.rows) for group in report.groups]
    parts.append(_everything(report))
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n<script>{_PROGRAM}</script>\n</body></html>\n"
    )


def _summary(report: Report) -> str:
    rows = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in report.results.rows())
    return f"<table>{rows}</table>"


def _group(group: ComparedGroup, most: int) -> str:
    columns, rows = group.table(most)
    on_front = {id(member) for front in group.fronts for member in front.members}
    marks = [id(row) in on_front for row in group.rows[: len(rows)]]
    parts = [f"<h2>{html.escape(group.title or 'Results')}</h2>"]
    if group.fronts or group.curves:
        parts.append(f"<figure>{_picture(group)}</figure>")
    parts.append(_table(columns, rows, group.rows, marks))
    more = len(group.rows) - len(rows)
    if more > 0 or group.fronts:
        words = [f"{more:,} more are below." if more > 0 else "", "Colored rows are on a front." if any(marks) else ""]
        parts.append(f'<p class="note">{" ".join(w for w in words if w)}</p>')
    for front in group.fronts:
        against, measure = (n.removeprefix("-") for n in (front.against, front.measure))
        names = tuple(dict.fromkeys((*group.naming, "chosen", against, measure)))
        cells = [tuple(cell_text(n, m.get(n)) for n in names) for m in front.members]
        parts.append(
            f"<details><summary>Front of {html.escape(measure)} against {html.escape(against)}: "
            f"{len(cells)} points</summary>"
            f"{_table(names, cells, front.members, [])}</details>"
        )
    return "\n".join(parts)


def _picture(group: ComparedGroup) -> str:
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none"}):
        out = io.StringIO()
        group_figure(group).savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _table(columns: Sequence[str], cells: Iterable[Sequence[str]], rows: Sequence[Any], marks: Sequence[bool]) -> str:
    heads = "".join(f"<th>{html.escape(c.replace('_', ' '))}</th>" for c in columns)
    lines = []
    for i, line in enumerate(cells):
        inner = "".join(_cell(text, rows[i].get(name)) for name, text in zip(columns, line, strict=True))
        mark = ' class="front"' if i < len(marks) and marks[i] else ""
        lines.append(f"<tr{mark}>{inner}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="scroll"><table class="sorted"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(text: str, value: Any) -> str:
    exact = f' data-v="{value!r}"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{exact}>{html.escape(text)}</td>"


def _everything(report: Report) -> str:
    """Return all rows, failures included, each with the reason."""
    rows = [dict(row) for _, row in zip(range(_MOST_ROWS), report.results, strict=False)]
    columns = [c for c in report.results.columns if c not in _HIDDEN]
    cells = [[cell_text(c, row.get(c)) for c in columns] for row in rows]
    more = len(report.results) - len(rows)
    failed = [row for row in rows if row["status"] != "done"]
    parts = ["<h2>All points</h2>"]
    if failed:
        lines = [(str(row.get("network", "-")), str(row["reason"])) for row in failed]
        parts.append(f"<details open><summary>{len(lines)} points without result</summary>"
                     f"{_table(('network', 'reason'), lines, failed, [])}</details>")  # fmt: skip
    parts.append(f"<details><summary>All columns</summary>{_table(columns, cells, rows, [])}</details>")
    if more > 0:
        parts.append(f'<p class="note">{more:,} more points are in the file of results.</p>')
    return "\n".join(parts)
