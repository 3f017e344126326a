"""A network and the load of its links as TikZ, to be read and changed by hand in a paper."""

from __future__ import annotations

import os

import numpy as np

from gossamer.atomic_files import latex_text, whole_file
from gossamer.errors import NotApplicableError
from gossamer.plots.appearance import CONTROL_COLOR, FAINT, MUTED, Look, load_unit, spec_text
from gossamer.plots.layouts.layout import link_lines
from gossamer.plots.link_load import LoadSheet, load_of, load_scale, load_sheet, percent
from gossamer.plots.node_names import box_corners
from gossamer.schedules import Schedule
from gossamer.verification import verify

_MOST = 64
"""Nodes of a picture that somebody changes by hand."""
_CENTIMETERS = 2.54 / 72
_STEPS, _WIDTH = 20, 5.5
"""Colors: a scale in steps; inches."""


def load_tikz(schedule: Schedule, width: float | None = None) -> str:
    r"""Return the picture of the load of links as a `tikzpicture` for the package tikz.

    Parameters
    ----------
    schedule : Schedule
        Valid, on a network of at most 64 nodes.
    width : float, optional
        Inches. Default 5.5, and less for a few nodes.

    Returns
    -------
    str
        Colors, boxes, links, the lightly loaded first, and nodes with their names.

    Raises
    ------
    VerificationError
        If the schedule is not valid.
    NotApplicableError
        If the network is larger.

    Examples
    --------
    >>> import gossamer
    >>> text = load_tikz(gossamer.plan("array:3", "broadcast").schedule)
    >>> text.count("draw[link"), text.count("node[terminal]")
    (4, 3)
    """
    network = schedule.network
    if network.node_count > _MOST:
        raise NotApplicableError(f"TikZ is written of networks of at most {_MOST} nodes, and {network.spec} has "
                                 f"{network.node_count:,}: write .pdf instead")  # fmt: skip
    verify(schedule).raise_if_invalid()
    usual = min(_WIDTH, 1.0 + 0.9 * float(np.ceil(np.sqrt(network.node_count))))
    sheet = load_sheet(schedule, Look("paper", width or usual), heat=False)
    load = load_of(schedule)
    lines = [f"% {schedule.task.describe()} on {spec_text(network)}, {load_unit(schedule)}", "% \\usepackage{tikz}",
             *_colors(load), "\\begin{tikzpicture}["]  # fmt: skip
    looks = ("terminal/.style={circle, draw=nodes, fill=white, inner sep=1pt}",
             "switch/.style={rectangle, draw=nodes, fill=white, inner sep=2pt}",
             "link/.style={-stealth, line cap=butt}", "key/.style={line width=1.6pt}",
             "server/.style={draw=idle, fill=ground}")  # fmt: skip
    lines += [f"  {look}," for look in looks]
    lines.append("]")
    parts = _boxes(sheet), _links(schedule, sheet, load), _nodes(schedule, sheet), _key(sheet, load)
    lines += [f"  {line}" for part in parts for line in part]
    return "\n".join([*lines, "\\end{tikzpicture}", ""])


def write_tikz(schedule: Schedule, path: str | os.PathLike[str], width: float | None = None) -> None:
    """Write the picture of the load of links as TikZ to a file, which appears whole or not at all.

    Raises `FileFormatError` if the file cannot be written. Raises `VerificationError` or `NotApplicableError`: as
    `load_tikz` says.
    """
    text = load_tikz(schedule, width)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _step(load: float) -> int:
    """Return the step of the scale that a load has, 0 where nothing crosses the link."""
    return 0 if load <= 0 else max(1, round(load / 100 * _STEPS))


def _colors(load: np.ndarray) -> list[str]:
    from matplotlib.colors import to_hex

    scale = load_scale(load)[0]
    named = {"nodes": MUTED, "idle": FAINT, "ground": "#f4f4f4", "busiest": CONTROL_COLOR}
    steps = _steps(load)
    named |= {f"load{k}": to_hex(scale.to_rgba(min(100 * k / _STEPS, float(scale.norm.vmax)))) for k in steps}
    said = [f"\\definecolor{{{name}}}{{HTML}}{{{color.removeprefix('#').upper()}}}" for name, color in named.items()]
    return [*said, *(f"% load{k}: {', '.join(map(_share, loads))}" for k, loads in steps.items())]


def _steps(load: np.ndarray) -> dict[int, list[float]]:
    """Return the steps of the scale that occur, with the loads of each, rounded to a tenth of a percent."""
    found: dict[int, set[float]] = {}
    for value in load[load > 0].tolist():
        found.setdefault(_step(value), set()).add(round(value, 1))
    return {step: sorted(found[step]) for step in sorted(found)}


def _share(load: float) -> str:
    return f"{round(load, 1):g} %" if round(load, 1) else percent(load)


def _key(sheet: LoadSheet, load: np.ndarray) -> list[str]:
    """Return a line in the color of the least, the largest and a few loads between, with what it stands for."""
    assert sheet.page is not None
    steps = _steps(load)
    spread = np.linspace(0, len(steps) - 1, _KEYS).round().astype(int)
    chosen = [list(steps)[i] for i in dict.fromkeys(spread.tolist())] if steps else []
    low = f"{-_KEY_BELOW:.2f}"
    drawn = []
    for place, step in enumerate(chosen):
        loads = steps[step]
        text = _share(loads[0]) if len(loads) == 1 else f"{_share(loads[0])} to {_share(loads[-1])}"
        left = place * _KEY_APART
        drawn.append(f"\\draw[key, load{step}] ({left:.2f},{low}) -- ({left + 0.5:.2f},{low}) "
                     f"node[right, {_font(6.0)}, text=nodes] {{{latex_text(text)}}};")  # fmt: skip
    if chosen:
        drawn.insert(0, "% key: the share of the time in which links are busy")
    return drawn


_KEYS, _KEY_APART, _KEY_BELOW = 4, 2.8, 0.6
"""Loads in the key; centimeters from one to the next, and below the picture."""


def _place(sheet: LoadSheet, point: np.ndarray) -> str:
    assert sheet.page is not None
    x, y = (point - sheet.page.low) * sheet.page.unit * _CENTIMETERS
    return f"({x:.2f},{y:.2f})"


def _boxes(sheet: LoadSheet) -> list[str]:
    layout, page = sheet.layout, sheet.page
    assert layout is not None
    assert page is not None
    found = []
    for box, (text, size) in zip(layout.boxes, page.names.boxes, strict=False):
        low, high = box_corners(layout, page.names, box.nodes, sheet.radius, page.unit)
        found.append(f"\\draw[server] {_place(sheet, low)} rectangle {_place(sheet, high)};")
        if text:
            below = np.array([(low[0] + high[0]) / 2, low[1]])
            found.append(f"\\node[below, {_font(size)}] at {_place(sheet, below)} {{{latex_text(text)}}};")
    return found


def _font(size: float) -> str:
    return f"font=\\fontsize{{{size:g}}}{{{1.2 * size:g}}}\\selectfont"


def _links(schedule: Schedule, sheet: LoadSheet, load: np.ndarray) -> list[str]:
    layout, page, marks = sheet.layout, sheet.page, sheet.marks
    assert layout is not None
    assert page is not None
    most = max(float(load.max(initial=0)), 1e-9)
    drawn = []
    for group in link_lines(schedule.network, layout, sheet.radius, min(0.1, 0.75 * sheet.radius)):
        for points, link in zip(group.points, group.link.tolist(), strict=True):
            way = " -- ".join(_place(sheet, point) for point in points)
            if marks is not None and marks.busiest[link]:
                drawn.append((-1.0, f"\\draw[busiest!45, line width=3.4pt] {way};"))
            step = _step(float(load[link]))
            color, wide = (f"load{step}", 0.4 + 1.2 * load[link] / most) if step else ("idle", 0.4)
            name = f"{schedule.network.link_name(link)}: {_share(float(load[link]))}"
            drawn.append((float(load[link]), f"\\draw[link, {color}, line width={wide:.2f}pt] {way}; % {name}"))
    return [line for _, line in sorted(drawn, key=lambda pair: pair[0])]


def _nodes(schedule: Schedule, sheet: LoadSheet) -> list[str]:
    layout, page, network = sheet.layout, sheet.page, schedule.network
    assert layout is not None
    assert page is not None
    found = []
    around = 2 * sheet.radius * page.unit * _CENTIMETERS
    for v, (text, manner, size) in enumerate(zip(page.names.text, page.names.manner, page.names.size, strict=True)):
        kind = "terminal" if v < network.terminal_count else "switch"
        wide = around
        if v in layout.bars:
            members = next(box.nodes for box in layout.boxes if v in box.nodes)
            wide = around + float(np.ptp(layout.positions[members[:-1], 0])) * page.unit * _CENTIMETERS
        high = around if manner != "plate" else 0.0
        sides = f"minimum width={wide:.2f}cm, minimum height={0.7 * high if v in layout.bars else high:.2f}cm"
        inside = latex_text(text) if manner != "beside" else ""
        font = _font(size or 6.0)
        found.append(f"\\node[{kind}] (n{v}) [{sides}, {font}] at {_place(sheet, layout.positions[v])} {{{inside}}};")
        if text and manner == "beside":
            assert layout.hangs is not None
            found.append(_beside(sheet, v, latex_text(text), font, float(layout.hangs[v]) % 360))
    return found


def _beside(sheet: LoadSheet, v: int, text: str, font: str, angle: float) -> str:
    """Return a name beside its node, or below the bar of its server."""
    layout = sheet.layout
    assert layout is not None
    left = 90 < angle <= 270
    way = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    point = layout.positions[v] + way * (sheet.radius + 0.05)
    bars = [bar for bar in layout.bars if any(bar in box.nodes and v in box.nodes for box in layout.boxes)]
    if bars:
        point = np.array([point[0], layout.positions[bars[0], 1] - 0.3])
    turn, side = (angle - 180, "east") if left else (angle, "west")
    return f"\\node[rotate={turn:.0f}, anchor={side}, inner sep=0pt, {font}] at {_place(sheet, point)} {{{text}}};"
