"""Every kind of picture on irregular networks, measured: no two texts overlap, none is cut off, none is too small."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import gossamer
from gossamer import plots
from gossamer.errors import NotApplicableError, TaskError
from gossamer.plots.appearance import look, settings
from gossamer.plots.network import network_figure
from gossamer.plots.picture_files import _figure
from plots.irregular_networks import SAMPLES, network_of, planned, write_files

KINDS = ("network", "load", "heat", "occupancy", "messages", "both", "ranks", "tree", "timetable", "queue")
DRESSES = {"screen": {}, "paper": {"style": "paper"}, "84 mm": {"width": 84 / 25.4}}
LEAST = 5.0
FEW = ("InfiniBand fabric", "long names", "parallel cables", "one node", "five-node fabric")


def corners(text, renderer):
    """Return the four corners of a text in pixels, a little within its line."""
    turn = text.get_rotation()
    if turn % 90:
        text.set_rotation(0)
        box = text.get_window_extent(renderer)
        text.set_rotation(turn)
        middle = text.get_transform().transform(text.get_position())
    else:
        box, middle, turn = text.get_window_extent(renderer), np.zeros(2), 0.0
    shy = 0.12 * min(box.width, box.height)
    found = np.array([(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)])
    found += shy * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return (found - middle) @ np.array([[c, s], [-s, c]]) + middle


def meet(one, other):
    """Return whether two convex shapes overlap: no side of either parts them."""
    for shape in (one, other):
        side = np.roll(shape, -1, axis=0) - shape
        for normal in np.stack([-side[:, 1], side[:, 0]], axis=1):
            a, b = one @ normal, other @ normal
            if a.max() <= b.min() or b.max() <= a.min():
                return False
    return True


def faults(figure):
    """Return what cannot be read in a figure, in words."""
    import matplotlib.text
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas, drawn_texts = FigureCanvasAgg(figure), []
    draw = matplotlib.text.Text.draw

    def noted(text, renderer, *words, **more):
        if text.get_visible() and text.get_text().strip():
            drawn_texts.append(text)
        draw(text, renderer, *words, **more)

    matplotlib.text.Text.draw = noted
    try:
        canvas.draw()
    finally:
        matplotlib.text.Text.draw = draw
    renderer = canvas.get_renderer()
    seen = [(text, corners(text, renderer)) for text in dict.fromkeys(drawn_texts)]
    wide, high = figure.bbox.width, figure.bbox.height
    said = []
    for text, box in seen:
        if text.get_fontsize() < LEAST - 1e-6:
            said.append(f"{text.get_text()!r} is in {text.get_fontsize():.1f} pt")
        (x0, y0), (x1, y1) = box.min(axis=0), box.max(axis=0)
        if x0 < -0.5 or y0 < -0.5 or x1 > wide + 0.5 or y1 > high + 0.5:
            said.append(f"{text.get_text()!r} is cut off by the edge")
    lows, highs = np.array([b.min(axis=0) for _, b in seen]), np.array([b.max(axis=0) for _, b in seen])
    for i, j in itertools.combinations(range(len(seen)), 2):
        near = (lows[i] < highs[j]).all() and (lows[j] < highs[i]).all()
        if near and meet(seen[i][1], seen[j][1]):
            said.append(f"{seen[i][0].get_text()!r} overlaps {seen[j][0].get_text()!r}")
    return said


@functools.cache
def _planned(sample, folder):
    return planned(sample, folder)


def drawn(sample, folder, kind, dress):
    """Return a picture of a sample, None if there is none of its kind."""
    if kind == "network":
        return network_figure(network_of(sample, folder), **dress)
    try:
        return _figure(_planned(sample, folder), kind, look(**dress))
    except (NotApplicableError, TaskError):
        return None  # too large to be read, or nothing that spreads over a tree


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("networks")
    write_files(found)
    return found


def measured(folder, samples, kinds, dresses):
    said, count = [], 0
    with settings():
        for sample, kind, (dress, words) in itertools.product(samples, kinds, dresses.items()):
            figure = drawn(sample, folder, kind, words)
            if figure is not None:
                count += 1
                said += [f"{sample.name}, {kind}, {dress}: {fault}" for fault in faults(figure)]
    assert said == []
    return count


def test_pictures_of_few_networks_can_be_read(folder):
    some = [sample for sample in SAMPLES if sample.name in FEW]
    assert len(some) == len(FEW)
    assert measured(folder, some, KINDS, {"screen": {}, "84 mm": DRESSES["84 mm"]}) > 75


@pytest.mark.exhaustive(always=2)
@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_every_picture_can_be_read(folder, sample):
    assert measured(folder, [sample], KINDS, DRESSES) >= 20


def test_the_measure_sees_what_cannot_be_read():
    from matplotlib.figure import Figure

    figure = Figure((2, 2))
    figure.text(0.5, 0.5, "one", fontsize=9)
    figure.text(0.52, 0.5, "two", fontsize=9)
    figure.text(0.9, 0.1, "beyond the edge", fontsize=9)
    figure.text(0.1, 0.9, "tiny", fontsize=3)
    found = " ".join(faults(figure))
    assert "'one' overlaps 'two'" in found
    assert "'beyond the edge' is cut off" in found
    assert "'tiny' is in 3.0 pt" in found


def test_names_that_cross_on_paper_at_an_angle_do_not_overlap():
    from matplotlib.figure import Figure

    figure = Figure((4, 4))
    for angle in range(0, 360, 24):
        x, y = 0.5 + 0.2 * math.cos(math.radians(angle)), 0.5 + 0.2 * math.sin(math.radians(angle))
        left = 90 < angle <= 270
        figure.text(x, y, "a long name", fontsize=8, rotation=angle - 180 * left, rotation_mode="anchor",
                    ha="right" if left else "left", va="center")  # fmt: skip
    assert faults(figure) == []


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_titles_that_are_wider_than_the_figure_are_wrapped(style):
    title = "A title that says at great length what everybody who looks at this picture will see in any case"
    schedule = gossamer.plan("torus:4x4", "alltoall").schedule
    makers = (plots.load_figure, plots.occupancy_figure, plots.heat_figure, plots.ranks_figure)
    figures = [make(schedule, style=style, width=84 / 25.4, title=title) for make in makers]
    figures.append(network_figure(schedule.network, style=style, width=84 / 25.4, title=title))
    for figure in figures:
        assert faults(figure) == []
        assert " ".join(" ".join(t.get_text() for t in figure.texts).split()).startswith(title)
