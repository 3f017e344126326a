"""Pictures become files: whole or not at all, in the format of the suffix, the same every time."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import pytest
from matplotlib.image import imread

import gossamer
from gossamer.errors import FileFormatError, VerificationError
from gossamer.networks import from_networkx
from gossamer.plots import draw
from plots.simple_schedules import broken, flood, gossip, scatter, with_control


@pytest.fixture(scope="module")
def schedule():
    return with_control(gossamer.network("torus:4x4"))


@pytest.mark.parametrize("kind", ["load", "occupancy", "both"])
def test_svg_is_xml_and_says_what_it_is(schedule, tmp_path, kind):
    draw(schedule, tmp_path / "a.svg", kind)
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    title = root.find(".//{http://purl.org/dc/elements/1.1/}title").text
    assert title == f"{kind}: scatter (root 0) on torus:4x4"
    links = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("id", "").startswith("links")]
    assert bool(links) == (kind != "occupancy")


def test_png_has_the_pixels_asked_for(schedule, tmp_path):
    draw(schedule, tmp_path / "a.png", "load", dpi=50)
    draw(schedule, tmp_path / "b.PNG", "load", dpi=100)
    small, large = imread(tmp_path / "a.png"), imread(tmp_path / "b.PNG", format="png")
    assert abs(large.shape[0] - 2 * small.shape[0]) <= 2
    assert abs(large.shape[1] - 2 * small.shape[1]) <= 2
    assert (small[0, 0, :3] == 1).all()
    assert (small[..., :3] < 0.5).any()


def test_both_are_one_above_the_other(schedule, tmp_path):
    heights = {}
    for kind in ("load", "occupancy", "both"):
        draw(schedule, tmp_path / "a.png", kind, dpi=40)
        heights[kind] = imread(tmp_path / "a.png").shape[0]
    assert max(heights["load"], heights["occupancy"]) < heights["both"] <= heights["load"] + heights["occupancy"]


def test_pdf_is_one(schedule, tmp_path):
    draw(schedule, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_schedule_is_the_same_file_whatever_the_users_settings(schedule, tmp_path, suffix):
    draw(schedule, tmp_path / f"a.{suffix}", "both", dpi=40)
    with matplotlib.rc_context(
        {"font.size": 20, "axes.facecolor": "black", "lines.linewidth": 9, "svg.fonttype": "path"}
    ):
        before = dict(matplotlib.rcParams)
        draw(schedule, tmp_path / f"b.{suffix}", "both", dpi=40)
        assert dict(matplotlib.rcParams) == before
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("spec", "kind"), [("torus:64x64", "both"), ("torus:16x16x16", "load"), ("hypercube:12", "load")]
)
def test_four_thousand_nodes_are_a_small_file(spec, kind, tmp_path):
    draw(scatter(gossamer.network(spec)), tmp_path / "a.svg", kind)
    assert (tmp_path / "a.svg").stat().st_size < 5_000_000
    ET.parse(tmp_path / "a.svg")


def test_a_large_invariant_schedule_is_drawn_without_expansion(tmp_path):
    schedule = gossip(gossamer.network("torus:40x40x40"))
    draw(schedule, tmp_path / "a.svg", "both")
    assert (tmp_path / "a.svg").stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("a.jpg", "has the suffix '.jpg'; a picture is one of .svg, .png, .pdf"),
        ("a", "has no suffix; a picture is one of .svg, .png, .pdf"),
        ("svg", "has no suffix"),
        (".svg", "has no suffix"),
    ],
)
def test_an_unknown_suffix_is_refused_with_those_allowed(schedule, tmp_path, name, fact):
    with pytest.raises(FileFormatError, match=fact.replace(".", r"\.")):
        draw(schedule, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_refused_with_the_nearest(schedule, tmp_path):
    with pytest.raises(FileFormatError, match=r"be load, heat, .* or worms, got 'lod' \(did you mean 'load'\?\)"):
        draw(schedule, tmp_path / "a.svg", "lod")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dpi", [0, -3, 5000, float("nan"), "200", True])
def test_a_senseless_resolution_is_refused(schedule, tmp_path, dpi):
    with pytest.raises(FileFormatError, match=r"dpi must be a number in 20\.\.1200"):
        draw(schedule, tmp_path / "a.png", dpi=dpi)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["load", "occupancy", "both"])
def test_an_invalid_schedule_leaves_no_file(tmp_path, kind):
    with pytest.raises(VerificationError, match="the schedule is not valid"):
        draw(broken(gossamer.network("ring:8")), tmp_path / "a.svg", kind)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_one_clear_line(schedule, tmp_path):
    with pytest.raises(FileFormatError, match=r"cannot write .*No such file or directory"):
        draw(schedule, tmp_path / "nowhere" / "a.svg")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_disk_that_is_full_leaves_what_was_there(suffix, schedule, tmp_path, monkeypatch):
    path = tmp_path / f"a.{suffix}"
    path.write_text("old")
    begun = []

    def full(self, content):
        begun.append(len(content))
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FileFormatError, match="No space left on device"):
        draw(schedule, path)
    assert len(begun) == 1
    assert begun[0] > 1000  # the whole picture in one write
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(path.name, "old")]


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path):
    import networkx as nx

    draw(flood(from_networkx(nx.Graph([("节点", "кот"), ("кот", "$x_1")]))), tmp_path / "a.png", "both")
    assert imread(tmp_path / "a.png").size


def test_drawing_starts_no_window_system():
    code = (
        "import sys, tempfile, gossamer; from gossamer.plots import draw;"
        "net, task, model = gossamer.network('array:2'), gossamer.task('broadcast'), gossamer.Rules();"
        "draw(gossamer.Schedule(net, task, model, [0], [0], [0]), tempfile.mkdtemp() + '/a.svg');"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_coordinates_are_written_with_two_decimals_and_scales_in_full(tmp_path):
    draw(flood(gossamer.network("torus:5x5")), tmp_path / "load.svg")
    svg = (tmp_path / "load.svg").read_text()
    drawn = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|scale\(.*?\)", "", svg, flags=re.DOTALL)
    assert re.search(r"\d\.\d\d\b", drawn)
    assert not re.search(r"\d\.\d{3,}", drawn)
