"""Every figure is dressed by the same words: axes to draw on, style, width and title."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest
import typer
from matplotlib.figure import Figure

import gossamer
from gossamer import plots
from gossamer.cli import main
from gossamer.cli.app import app
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.execution import machine_model_replay
from gossamer.plots.appearance import settings
from gossamer.plots.curves import curves_figure, delay_figure, distances_figure, latency_figure, replays_figure
from gossamer.plots.network import network_figure
from gossamer.studies.reproductions.table import Curve
from plots.test_pictures import overlaps, visible_texts


def planned(spec, task="allgather", **words):
    return gossamer.plan(spec, task, **words).schedule


def curves(**dress):
    side = [Fraction(v) for v in (2, 4, 8)]
    curve = Curve("one", "nodes", [2, 4, 8], side, [2 * v for v in side], [3 * v for v in side], "steps")
    return curves_figure([curve] * 3, "own", **dress)


def latency(**dress):
    runs = [
        SimpleNamespace(load=x, latency=9 + 9 * x, half_width=math.nan, throughput=x, saturated=False, deadlock=None)
        for x in (0.1, 0.2)
    ]
    return latency_figure({"torus": runs}, "own", **dress)


def delay(**dress):
    limit = SimpleNamespace(load=1.0)
    mean = SimpleNamespace(mean=3.0, half_width=0.1)
    words = {"scheme": "priority", "stable": True, "limit": limit, "reception": mean, "broadcast": mean}
    points = [SimpleNamespace(load=x, reception_bound=2.0, broadcast_bound=2.5, **words) for x in (0.1, 0.5)]
    return delay_figure(points, "own", **dress)


def replays(**dress):
    return replays_figure(machine_model_replay.replay(planned("ring:4"), [1000, 10_000]), "own", **dress)


def test_what_sends_nothing_is_drawn_at_no_time():
    nothing = planned("ring:4", gossamer.task("multiple-broadcast", counts=[0] * 4))
    figure = replays_figure(machine_model_replay.replay(nothing, [1000, 10_000]))
    (panel,) = figure.axes
    assert panel.get_yscale() == "linear"
    assert panel.get_lines()[0].get_ydata().tolist() == [0, 0]
    assert replays().axes[0].get_yscale() == "log"


FIGURES = {
    "load": lambda **dress: plots.load_figure(planned("ring:5"), **dress),
    "heat": lambda **dress: plots.heat_figure(planned("torus:4x4"), **dress),
    "occupancy": lambda **dress: plots.occupancy_figure(planned("ring:5"), **dress),
    "tree": lambda **dress: plots.tree_figure(planned("ring:5"), **dress),
    "timetable": lambda **dress: plots.timetable_figure(planned("ring:5"), **dress),
    "queue": lambda **dress: plots.queue_figure(planned("ring:5", "alltoall"), **dress),
    "regions": lambda **dress: plots.regions_figure(
        planned("torus:5x5", gossamer.task("scatter", root=0), algorithm="area-division"), **dress
    ),
    "worms": lambda **dress: plots.worms_figure(planned("ring:5", switching="wormhole"), **dress),
    "channels": lambda **dress: plots.channels_figure(planned("ring:5", switching="wormhole"), **dress),
    "curves": curves,
    "latency": latency,
    "delay": delay,
    "replays": replays,
    "distances": lambda **dress: distances_figure(gossamer.network("torus:4x4"), **dress),
    "network": lambda **dress: network_figure(gossamer.network("ccc:3"), **dress),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_takes_the_same_words(name):
    make = FIGURES[name]
    assert any("Its own" in text.get_text() for text in make(title="Its own").texts)
    paper = make(style="paper")
    assert paper.get_figwidth() == 3.3
    assert not paper.texts or name in ("occupancy", "load", "heat")  # labels and keys, no heading
    assert make(style="paper", width=5).get_figwidth() == 5
    with plots.dressed_as("paper", 4.0, "All alike"):
        dressed = make()
        assert make(width=3.0).get_figwidth() == 3.0
    assert dressed.get_figwidth() == 4.0
    assert any("All alike" in text.get_text() for text in dressed.texts)
    with pytest.raises(FileFormatError, match="the style of a picture must be screen or paper"):
        make(style="pager")
    with pytest.raises(TypeError):
        make(widht=3)


@pytest.mark.parametrize("name", FIGURES)
def test_a_narrow_figure_has_room_for_a_long_title(name):
    title = "A title that is long enough to need three lines of a column that is 3 inches wide"
    with settings():
        figure = FIGURES[name](width=3.0, title=title)
        shown = visible_texts(figure)
    assert overlaps(figure) == []
    written = {text.get_text() for text in figure.texts}
    panels = [axes.get_window_extent() for axes in figure.axes]
    for text, box in shown:
        if text in written:
            assert -1 < box.x0 < box.x1 < figure.bbox.width + 1
            assert not any(box.padded(-2).overlaps(panel) for panel in panels), text


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn_on_axes(name):
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    assert FIGURES[name](ax=right) is figure
    assert not figure.texts
    assert not left.has_data()
    inside = [right, *right.child_axes]
    assert any(axes.has_data() or axes.patches or axes.texts or axes.collections for axes in inside)
    assert all(0 <= v <= 1 for axes in right.child_axes for v in right.transAxes.inverted().transform(
        axes.get_window_extent()).ravel())  # fmt: skip


def test_a_narrow_figure_has_its_panels_one_below_the_other():
    wide, narrow = latency().axes[:2], latency(style="paper").axes[:2]
    wide[0].figure.draw_without_rendering()
    narrow[0].figure.draw_without_rendering()
    assert wide[0].get_position().x1 < wide[1].get_position().x0
    assert narrow[0].get_position().y0 > narrow[1].get_position().y1


def test_commands_dress_their_pictures(tmp_path, capsys):
    planned("ring:4").save(tmp_path / "plan.parquet")
    words = ["simulate", str(tmp_path / "plan.parquet"), "--bytes", "1kB,10kB"]
    dress = ["--style", "paper", "--width", "84mm", "--title", "Ring of four"]
    main([*words, "-o", str(tmp_path / "a.svg"), *dress])
    text = (tmp_path / "a.svg").read_text()
    assert "Ring of four" in text
    assert f'width="{84 / 25.4 * 72:.2f}'.rstrip("0") in text
    assert main([*words, *dress]) != 0
    assert "--style, --width and --title go with a picture" in capsys.readouterr().err
    assert main([*words, "-o", str(tmp_path / "b.svg"), "--width", "1mm"]) != 0
    assert "the width" in capsys.readouterr().err.lower()
    assert not (tmp_path / "b.svg").exists()


COMMANDS = [
    "plan ring:4 allgather", "replan {plan} --without links:0-1", "draw {plan}", "draw {plan} --kind both",
    "network torus:3x3", "compare ring:4 allgather --bytes 1KiB,1MiB --bandwidth 1GB/s",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_that_draws_takes_the_same_options(line, tmp_path, capsys):
    planned("ring:4").save(tmp_path / "plan.parquet")
    words = [*line.format(plan=tmp_path / "plan.parquet").split(), "-o", str(tmp_path / "a.svg")]
    assert main([*words, "--style", "paper", "--width", "3in", "--title", "A title of mine"]) == 0, capsys.readouterr()
    text = (tmp_path / "a.svg").read_text()
    assert "A title of mine" in text
    assert 'width="216pt"' in text
    assert main([*words[:-1], str(tmp_path / "b.svg"), "--width", "3 parsecs"]) == 2
    assert not (tmp_path / "b.svg").exists()


def test_every_command_whose_output_is_a_picture_dresses_it():
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        if name == "explain":  # its pictures are those of a page
            continue
        drawing = any(".svg" in (o.help or "") for o in command.params if "--output" in o.opts)
        options = {word for o in command.params for word in o.opts}
        assert drawing == ({"--style", "--width", "--title"} <= options), name


@pytest.mark.parametrize("output", ["a.html", "a.gif", "a.parquet"])
def test_what_is_no_picture_is_not_dressed(output, tmp_path, capsys):
    planned("ring:4").save(tmp_path / "plan.parquet")
    assert main(["draw", str(tmp_path / "plan.parquet"), "-o", str(tmp_path / output), "--style", "paper"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / output).exists()


def test_on_paper_stays_what_colors_mean_and_nothing_else():
    paper = [text for text, *_ in visible_texts(plots.ranks_figure(planned("ring:5"), style="paper"))]
    assert any(text.startswith("Blue, upper: the rank sends") for text in paper)
    assert not any("allgather" in text for text in paper)


def test_of_many_racks_a_few_are_drawn():
    network = gossamer.network("dgx-h100:64")
    shown = network_figure(network)
    words = " ".join(text for text, *_ in visible_texts(shown))
    assert "512 terminals (round) and 72 switches (square). Drawn are 24 terminals and 11 switches" in words.replace(
        "\n", " "
    )
    assert "server 2" in words
    assert "box3" not in words


def test_a_style_within_another_does_not_keep_its_width():
    with plots.dressed_as("paper"), plots.dressed_as("screen"):
        assert plots.look() == plots.look("screen")
    with plots.dressed_as("paper", 5.0), plots.dressed_as("screen"):
        assert plots.look().width == 5.0
    for wrong in (1, 41, math.nan, "wide"):
        with pytest.raises(FileFormatError, match="the width of a picture in inches"), plots.dressed_as(width=wrong):
            pass


def test_what_cannot_be_drawn_on_is_refused_in_a_line(tmp_path):
    schedule = planned("ring:4")
    figure = Figure()
    for ax, fact in (
        (figure.subplots(1, 2), "one of them, got ndarray"),
        (figure, "got Figure"),
        (figure.add_subplot(projection="polar"), "plain axes, got polar axes"),
    ):
        with pytest.raises(FileFormatError, match=fact):
            plots.load_figure(schedule, ax=ax)
    for kind in ("load", "both", "tree"):
        with pytest.raises(NotApplicableError, match="a picture file has axes of its own"):
            plots.draw(schedule, tmp_path / "a.svg", kind, ax=figure.add_subplot())
    assert list(tmp_path.iterdir()) == []
