"""The pictures of lower bounds on the page that explains them: a node, a cut and a distance on a small array."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["FILE", "drawn"]

FILE = "bounds.svg"
SIDE = 4


def drawn() -> bytes:
    """Return the picture: three panels, each with the witness of a bound and what it says."""
    from gossamer.plots.picture_files import write_picture

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        write_picture(_figure, path, "Three lower bounds on an array of 4x4, each with its witness")
        return path.read_bytes()


def _figure() -> Any:
    from matplotlib.figure import Figure

    import gossamer
    from gossamer.bounds import best_bound
    from gossamer.questions.cases import Case

    net = gossamer.network(f"array:{SIDE}x{SIDE}")
    gathered, exchanged = (Case(net, gossamer.task(name)) for name in ("allgather", "alltoall"))
    found = [
        ("A node", "allgather: 15 messages\nover 2 links", _bound(gathered, "node receives")),
        ("A cut", "alltoall: 64 messages\nover 4 links", _bound(exchanged, "cut across dimension 0")),
        ("A distance", "allgather: 6 hops\nfrom corner to corner", _bound(gathered, "eccentricity")),
    ]
    best = [best_bound(gathered).value, best_bound(exchanged).value, best_bound(gathered).value]
    figure = Figure(figsize=(9, 3.9))
    for place, (title, told, value), largest in zip(range(3), found, best, strict=True):
        axes = figure.add_axes((place / 3 + 0.02, 0.2, 0.29, 0.66))
        _paint(axes, place)
        binds = ", the largest" if value == largest else ""
        figure.text(place / 3 + 0.165, 0.92, title, ha="center", size=13, weight="bold")
        figure.text(place / 3 + 0.165, 0.03, f"{told}: {value} steps{binds}", ha="center", size=10.5, linespacing=1.4)
    return figure


def _bound(case: Any, name: str) -> Any:
    import gossamer

    return next(b.value for b in gossamer.lower_bounds(case.network, case.task) if b.name == name)


def _paint(axes: Any, place: int) -> None:
    """Draw the array with the witness of a panel: a corner and its links, the links across the middle, a path."""
    from gossamer.plots.appearance import CATEGORICAL, CONTROL_COLOR, FAINT, PAPER

    steps = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]
    edges = [((x, y), (x + dx, y + dy)) for x in range(SIDE) for y in range(SIDE) for dx, dy in ((1, 0), (0, 1))]
    marked = [
        {((0, 0), (1, 0)), ((0, 0), (0, 1))},
        {((1, y), (2, y)) for y in range(SIDE)},
        {tuple(sorted(pair)) for pair in itertools.pairwise(steps)},
    ][place]
    inside = [{(0, 0)}, {(x, y) for x in (0, 1) for y in range(SIDE)}, {(0, 0), (3, 3)}][place]
    for one, other in edges:
        if max(one + other) < SIDE:
            hot = (one, other) in marked
            color, width = (CONTROL_COLOR, 4.5) if hot else (FAINT, 1.8)
            axes.plot(*zip(one, other, strict=True), color=color, linewidth=width, zorder=1 + hot)
    for x in range(SIDE):
        for y in range(SIDE):
            face = CATEGORICAL[0] if (x, y) in inside else PAPER
            axes.plot(x, y, "o", markersize=13, color=face, markeredgecolor=CATEGORICAL[0], zorder=3)
    if place == 1:
        axes.plot([1.5, 1.5], [-0.5, SIDE - 0.5], "--", color=CONTROL_COLOR, linewidth=1.2)
    axes.set(xlim=(-0.6, SIDE - 0.4), ylim=(-0.6, SIDE - 0.4), aspect="equal")
    axes.axis("off")
