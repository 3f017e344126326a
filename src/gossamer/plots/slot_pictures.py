"""Pictures of slots of an explained algorithm, and its explanation as a page with them."""

from __future__ import annotations

import html
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError
from gossamer.planning.explaining.algorithms import AlgorithmExplanation, Section, SlotMoves
from gossamer.plots.appearance import CATEGORICAL, FAINT, INK, MUTED, PAPER, Dress, look, tint, write
from gossamer.plots.layouts import lay_out, oblique
from gossamer.plots.layouts.layout import Lines, arrowheads, link_lines
from gossamer.plots.panels import Panels
from gossamer.plots.picture_files import FORMATS, write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PAGE_FORMATS", "slots_figure", "write_page"]

PAGE_FORMATS = ("html", "md", *FORMATS)
"""What the name of an explanation's file may end in; the pictures alone are written to those of a picture."""

_SIDE = 2.7
"""Inches of a panel."""
_RADIUS, _ASIDE, _HEAD = 0.075, 0.025, 0.13
"""Inches of a node's radius, from the middle of an edge to each of its two links, and of an arrowhead."""
_BENT = {"arrowstyle": "-|>", "color": CATEGORICAL[1], "linewidth": 1.2, "connectionstyle": "arc3,rad=0.2"}
"""An arrow that passes the nodes between its ends."""
_NAMED = 40
"""Nodes of a network up to which they are named in the pictures."""


def slots_figure(found: AlgorithmExplanation, **dressing: Unpack[Dress]) -> Figure:
    """Draw the slots of an explained algorithm: where the message is, and along which links it goes.

    Parameters
    ----------
    found : AlgorithmExplanation
        From `gossamer.explain_algorithm`.
    **dressing : Dress
        As for all figures. With `ax`: draw the first of the slots there.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each slot: nodes that have the message filled blue, those that get it with an orange rim, links in
        use as orange arrows. Where several messages or sums are followed, those that send are filled.

    Examples
    --------
    >>> import gossamer
    >>> figure = slots_figure(gossamer.explain_algorithm("binomial", "hypercube:3"))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['slot 0: 3 of 24 links busy', 'slot 1: 3 of 24 links busy', 'slot 2: 1 of 24 links busy']
    """
    dress = look(**dressing)
    network = found.network
    layout = oblique(network) or lay_out(network)
    wide = _SIDE / (float(np.ptp(layout.positions[:, 0])) + 1.4)  # inches to a unit of the layout, about
    lines = link_lines(network, layout, _RADIUS / wide, _ASIDE / wide)
    corners = np.concatenate(
        [layout.positions - 0.5, layout.positions + 0.5, *(group.points.reshape(-1, 2) for group in lines)]
    )
    low, high = corners.min(axis=0), corners.max(axis=0)
    across, up = (high - low).tolist()
    tall = min(max(_SIDE * up / across, 0.7), 1.4 * _SIDE) + 0.3
    panels = Panels(max(len(found.slots), 1), dress, columns=4, size=(_SIDE, tall))
    word = found.outcome.switching.words[0]
    for axes, slot in zip(panels.axes, found.slots, strict=False):
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.set_title(slot.title(word, found.all_shown), fontsize=8, color=MUTED, loc="left")
        _paint(axes, found, slot, layout.positions, lines, _HEAD / wide)
    return panels.finished(found.title, f"Followed here: {found.followed}." if found.slots else "", _key(found))


def _key(found: AlgorithmExplanation) -> str:
    if not found.slots:
        return "Nothing moves, or the schedule is too large to be drawn."
    if found.slots[0].holders:
        return "Blue: has it. Orange rim: gets it. Arrows: the links that carry it."
    return "Blue: sends. Orange rim: receives. Arrows: the links that carry it."


def _paint(
    axes: Any, found: AlgorithmExplanation, slot: SlotMoves, places: Any, lines: list[Lines], head: float
) -> None:
    """Paint the network, the links in use as arrows, and the nodes by what they do."""
    from matplotlib.collections import LineCollection, PolyCollection

    network = found.network
    moves = set(slot.moves)
    used = np.array(
        [pair in moves for pair in zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)], bool
    )
    for group in lines:
        busy = used[group.link]
        axes.add_collection(LineCollection(list(group.points[~busy]), linewidths=0.7, colors=FAINT, zorder=1))
        axes.add_collection(LineCollection(list(group.points[busy]), linewidths=1.8, colors=CATEGORICAL[1], zorder=1.5))
        heads = arrowheads(group, head, 0.7)[busy]
        axes.add_collection(PolyCollection(list(heads), facecolors=CATEGORICAL[1], edgecolors="none", zorder=1.6))
    for source, target in sorted(moves - set(_pairs(network))):  # a worm that passes other nodes
        axes.annotate("", places[target], places[source], zorder=1.6, arrowprops=_BENT)
    blue = slot.holders or {source for source, _ in moves}
    gets = {target for _, target in moves} - set(slot.holders)
    names = network.node_count <= _NAMED
    for node, (x, y) in enumerate(places.tolist()):
        rim = CATEGORICAL[1] if node in gets else MUTED
        face = tint(CATEGORICAL[0], 0.55) if node in blue else PAPER
        shape = "o" if node < network.terminal_count else "s"
        axes.scatter([x], [y], s=95 if names else 30, marker=shape, facecolor=face, edgecolor=rim, zorder=2,
                     linewidth=1.6 if node in gets else 0.8)  # fmt: skip
        if names:
            text = network.node_name(node).strip("()").replace(",", "" if len(network.node_name(node)) > 5 else ",")
            write(axes, x, y, text, 4.6, ha="center", va="center_baseline", zorder=3, color=INK)


def _pairs(network: Any) -> Any:
    return zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)


# The explanation as a page.


def write_page(found: AlgorithmExplanation, path: str | os.PathLike[str]) -> list[Path]:
    """Write an explanation as a page, or its pictures alone; files appear whole or not at all.

    Parameters
    ----------
    found : AlgorithmExplanation
        From `gossamer.explain_algorithm`.
    path : path
        ``.html``: one page with the pictures in it. ``.md``: Markdown, with the pictures in an ``.svg`` beside it.
        ``.svg``, ``.png``, ``.pdf``: the pictures alone.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    FileFormatError
        If the suffix is none of these, or a file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gossamer
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "binomial.md"
    >>> [file.name for file in write_page(gossamer.explain_algorithm("binomial", "hypercube:3"), path)]
    ['binomial.svg', 'binomial.md']
    """
    target = Path(path)
    suffix = target.suffix.lower().removeprefix(".")
    if suffix not in PAGE_FORMATS:
        given = f"the suffix {target.suffix!r}" if target.suffix else "no suffix"
        allowed = ", ".join(f".{name}" for name in PAGE_FORMATS)
        raise FileFormatError(f"{str(target)!r} has {given}; an explanation is one of {allowed}")
    if suffix in FORMATS:
        write_picture(lambda: slots_figure(found), target, found.title)
        return [target]
    if suffix == "md":
        beside = target.with_suffix(".svg")
        write_picture(lambda: slots_figure(found), beside, found.title)
        with whole_file(target) as part:
            part.write_text(_markdown(found, beside.name), encoding="utf-8")
        return [beside, target]
    with tempfile.TemporaryDirectory() as folder:
        drawing = Path(folder) / "slots.svg"
        write_picture(lambda: slots_figure(found), drawing, found.title)
        picture = drawing.read_text(encoding="utf-8")
    with whole_file(target) as part:
        part.write_text(_html(found, picture[picture.index("<svg") :]), encoding="utf-8")
    return [target]


def _markdown(found: AlgorithmExplanation, picture: str) -> str:
    lines = [f"# {_marked(found.title)}", ""]
    for part in found.sections:
        lines += [f"## {_marked(part.title)}", ""]
        if part.paragraphs == found.commands:
            lines += ["```sh", *part.paragraphs, "```", ""]
        else:
            lines += [line for paragraph in part.paragraphs for line in (_marked(paragraph), "")]
        lines += ["```text", *part.rows, "```", ""] if part.rows else []
        lines += [f"{number}. {_marked(step)}" for number, step in enumerate(part.numbered, 1)]
        lines += [""] if part.numbered else []
        if part.pictured:
            lines += [f"![{found.title}: {_key(found)}]({picture})", ""]
    return "\n".join(lines).rstrip() + "\n"


def _marked(text: str) -> str:
    """Return a text for Markdown, in which stars and underscores mean nothing."""
    return re.sub(r"([*_<\\])", r"\\\1", text)


_STYLE = """
:root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
padding: 0 1rem } h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 1.6rem }
pre { overflow-x: auto } svg { max-width: 100%; height: auto }
"""


def _html(found: AlgorithmExplanation, picture: str) -> str:
    body = "\n".join(_html_part(found, part, picture) for part in found.sections)
    title = html.escape(found.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _html_part(found: AlgorithmExplanation, part: Section, picture: str) -> str:
    lines = [f"<h2>{html.escape(part.title)}</h2>"]
    if part.paragraphs == found.commands:
        lines.append(f"<pre>{html.escape(chr(10).join(part.paragraphs))}</pre>")
    else:
        lines += [f"<p>{html.escape(paragraph)}</p>" for paragraph in part.paragraphs]
    lines += [f"<pre>{html.escape(chr(10).join(part.rows))}</pre>"] if part.rows else []
    if part.numbered:
        lines.append("<ol>" + "".join(f"<li>{html.escape(step)}</li>" for step in part.numbered) + "</ol>")
    if part.pictured:
        lines.append(picture)
    return "\n".join(lines)
