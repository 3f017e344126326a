"""Reading a picture: what the gallery shows overlaps nowhere, one palette serves all, and a paper can use them."""

from __future__ import annotations

import itertools
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import gossamer
from gossamer import plots
from gossamer.cli import main
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.plots import appearance
from gossamer.plots.appearance import settings
from gossamer.plots.link_load import heat_panels
from gossamer.verification import link_load
from plots.simple_schedules import flood, gossip, scatter, texts

GALLERY = Path(__file__).parents[2] / "docs" / "gallery.md"
PAIRS = re.findall(r"^gossamer plan (.*) -o plan\.parquet\ngossamer draw plan\.parquet(.*) -o (\S+)\.svg$",
                   GALLERY.read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip

# Machado, Oliveira and Fernandes 2009: how colors look to those without red or green cones, in linear light
BLIND = {
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "none": np.eye(3),
}


def linear(color):
    c = np.array(to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(color):
    return 1.05 / (luminance(color) + 0.05)


def lab(light):
    x = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ light
    f = np.cbrt(np.maximum(x / [0.9505, 1, 1.089], 1e-9))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def visible_texts(figure):
    """Return every text that is seen, with its box in pixels, after the figure was drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    found = []
    off = {id(text) for axes in figure.findobj(Axes) if not axes.axison for text in [*_ticks(axes)]}
    for text in figure.findobj(lambda a: isinstance(a, Text) and a.get_visible() and a.get_text().strip()):
        if id(text) in off:
            continue
        box = Text.get_window_extent(text, renderer)
        if box.width and box.height:
            found.append((text.get_text(), box))
    return found


def _ticks(axes):
    return [text for axis in (axes.xaxis, axes.yaxis) for text in axis.findobj(Text)]


def overlaps(figure):
    """Return pairs of texts whose boxes, less a rim of 15%, share a place."""
    found = []
    for (a, p), (b, q) in itertools.combinations(visible_texts(figure), 2):
        wide, high = min(p.x1, q.x1) - max(p.x0, q.x0), min(p.y1, q.y1) - max(p.y0, q.y0)
        if wide > 0.15 * min(p.width, q.width) and high > 0.15 * min(p.height, q.height):
            found.append((a, b))
    return found


@pytest.fixture
def figures(monkeypatch, tmp_path):
    """Catch the figures that commands write, drawn under the settings that they are written with."""
    caught = []

    def seen(figure, path, **_):
        caught.append((overlaps(figure), outside(figure)))
        path.write(b"<svg >")

    monkeypatch.setattr(Figure, "savefig", seen)
    monkeypatch.chdir(tmp_path)
    return caught


def outside(figure):
    """Return the texts that leave the page."""
    width, height = figure.get_size_inches() * figure.dpi
    return [t for t, b in visible_texts(figure) if b.x0 < -1 or b.y0 < -1 or b.x1 > width + 1 or b.y1 > height + 1]


@pytest.mark.exhaustive(always=11)
@pytest.mark.parametrize(("planned", "drawn", "stem"), PAIRS, ids=[stem for _, _, stem in PAIRS])
def test_no_text_of_the_gallery_overlaps_another_or_leaves_the_page(planned, drawn, stem, figures):
    assert main(["plan", *shlex.split(planned), "-o", "plan.parquet"]) == 0
    assert main(["draw", "plan.parquet", *shlex.split(drawn), "-o", f"{stem}.svg"]) == 0
    assert figures == [([], [])]


def test_the_gallery_is_of_many_networks_and_of_every_kind():
    kinds = {(re.findall(r"--kind (\S+)", drawn) or ["load"])[0] for _, drawn, _ in PAIRS}
    assert kinds == set(plots.KINDS)
    assert len(PAIRS) >= 25
    page = GALLERY.read_text(encoding="utf-8")
    assert re.findall(r"_static/(\S+)\.svg", page) == [stem for _, _, stem in PAIRS]


def test_two_texts_in_one_place_are_noticed():
    figure = Figure()
    figure.text(0.5, 0.5, "one")
    figure.text(0.51, 0.5, "two")
    figure.text(0.5, 0.9, "three")
    assert overlaps(figure) == [("one", "two")]
    figure.text(0.99, 0.1, "beyond the page")
    assert outside(figure) == ["beyond the page"]


# -- the palette -----------------------------------------------------------------------------------------------


def test_what_is_data_has_contrast_with_paper():
    colors = [*appearance.CATEGORICAL, *appearance.sequential()(np.linspace(0, 1, 40)), *appearance.by_number(31)]
    assert min(contrast(c) for c in colors) >= 3
    assert contrast(appearance.MUTED) >= 4.5


@pytest.mark.parametrize("kind", BLIND)
def test_curves_stay_apart_for_the_color_blind_and_in_gray(kind):
    seen = [lab(np.clip(np.array(BLIND[kind]) @ linear(c), 0, 1)) for c in appearance.CATEGORICAL]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20
    lightness = sorted(lab(linear(c))[0] for c in appearance.CATEGORICAL)
    assert np.diff(lightness).min() > 5


@pytest.mark.parametrize("kind", BLIND)
def test_the_scale_of_amounts_only_gets_darker(kind):
    scale = [np.array(BLIND[kind]) @ linear(c) for c in appearance.sequential()(np.linspace(0, 1, 60))]
    assert (np.diff([lab(np.clip(c, 0, 1))[0] for c in scale]) < 0).all()
    assert luminance(appearance.FAINT) > max(luminance(c) for c in appearance.sequential()(np.linspace(0, 1, 9)))


# -- for papers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [k for k in plots.KINDS if k not in ("regions", "timetable", "queue", "worms")])
def test_a_picture_for_a_paper_has_its_width_and_no_heading(kind, tmp_path):
    schedule = flood(gossamer.network("array:4x4"))
    plots.draw(schedule, tmp_path / "a.svg", kind, style="paper", width=3.3)
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(3.3 * 72, abs=0.1)
    said = "".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "16 nodes" not in said
    assert said


def test_text_is_text_in_svg_and_truetype_in_pdf(tmp_path):
    schedule = flood(gossamer.network("array:4x4"))
    plots.draw(schedule, tmp_path / "a.svg", title="Load & more")
    root = ET.parse(tmp_path / "a.svg").getroot()
    said = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Load & more", "3,2"} <= set(said)
    assert "prefers-color-scheme: dark" in root.find("{http://www.w3.org/2000/svg}style").text
    plots.draw(schedule, tmp_path / "a.pdf")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    assert b"/CIDFontType2" in (tmp_path / "a.pdf").read_bytes()


def test_numbers_in_texts_are_not_rounded_with_the_coordinates(tmp_path):
    plots.draw(flood(gossamer.network("array:3")), tmp_path / "a.svg", title="3.14159 is not 3.14")
    assert ">3.14159 is not 3.14</text>" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(("words", "fact"), [
    ({"style": "papr"}, r"must be screen or paper, got 'papr' \(did you mean 'paper'\?\)"),
    ({"width": 1}, r"width of a picture in inches must be a number in 2\.\.40, got 1"),
    ({"width": float("nan")}, "got nan"),
])  # fmt: skip
def test_a_senseless_look_is_refused(words, fact, tmp_path):
    with pytest.raises(FileFormatError, match=fact):
        plots.draw(flood(gossamer.network("array:3")), tmp_path / "a.svg", **words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [plots.load_figure, plots.occupancy_figure, plots.tree_figure, plots.timetable_figure])
def test_figures_are_drawn_on_axes_of_the_caller(make):
    with settings():
        figure = Figure(figsize=(6, 3))
        left, right = figure.subplots(1, 2)
        assert make(flood(gossamer.network("array:4x4")), ax=right) is figure
        assert len(figure.axes) == 2
        assert right.has_data() or right.patches
        assert not left.has_data()
        assert "16 nodes" not in texts(figure)
        figure.canvas.draw()


# -- what colors and labels say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["torus:4x5", "torus:3x4x5", "hypercube:5", "star:4", "fat-tree:k=3,h=3",
                                  "de-bruijn:2,4", "array:2x3x2x3", "complete:30"])  # fmt: skip
def test_every_link_is_one_cell_of_a_heat_map_where_its_source_stands(spec):
    network = gossamer.network(spec)
    load = np.arange(1.0, network.link_count + 1)
    panels, _ = heat_panels(network, load)
    cells = np.concatenate([p.cells.ravel() for p in panels])
    assert sorted(cells[~np.isnan(cells)].tolist()) == load.tolist()
    if network.grid is not None and network.grid.dimensions == 2:
        for panel in panels:
            rows, columns = np.nonzero(~np.isnan(panel.cells))
            links = panel.cells[rows, columns].astype(int) - 1
            assert network.link_source[links].tolist() == (rows * network.grid.sides[1] + columns).tolist()


def test_a_heat_map_says_the_least_and_largest_load_of_each_panel():
    schedule = scatter(gossamer.network("torus:4x4x4"))
    figure = plots.heat_figure(schedule)
    load = 100 * link_load(schedule).reshape(64, 6) / float(schedule.completion_time)
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    spans = [re.findall(r"[\d.]+", title.split(": ")[1]) for title in titles]
    assert [[float(v) for v in span] for span in spans] == [
        pytest.approx([load[:, g].min(), load[:, g].max()], abs=0.5) for g in range(6)
    ]


def test_in_the_colors_of_origins_a_cell_is_the_node_where_its_packet_began():
    schedule = gossip(gossamer.network("ring:6"))
    figure = plots.occupancy_figure(schedule, color="origin")
    (image,) = [im for axes in figure.axes for im in axes.images if im.get_gid() == "packets"]
    cells, whole = image.get_array(), schedule.expand()
    groups = np.argsort(np.tile([0, 1], 6), kind="stable")
    row = np.empty(12, int)
    row[groups] = np.arange(12)
    for slot, link, packet in zip(whole.slot, whole.link, whole.packet, strict=True):
        assert cells[row[link], slot] == whole.packets.origin[packet]
    assert cells.count() == whole.hop_count
    assert "the node where the packet began" in texts(figure)


def test_pictures_count_slots_from_zero_as_files_do():
    schedule = gossamer.plan("ring:5", "alltoall").schedule
    for figure in (plots.timetable_figure(schedule), plots.queue_figure(schedule), plots.occupancy_figure(schedule)):
        axes = next(a for a in figure.axes if a.get_xlabel() == "slot")
        assert [t.get_text() for t in axes.get_xticklabels()][:2] == ["0", "1"]


def test_what_cannot_be_read_is_refused():
    with pytest.raises(NotApplicableError, match="at most 3,000 can be read: draw the occupancy instead"):
        plots.timetable_figure(gossamer.plan("torus:8x8", "alltoall").schedule)
