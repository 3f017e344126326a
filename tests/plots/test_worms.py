"""Pictures of wormhole plans: worms lie on their channels, and bars last as long as their steps."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import gossamer
from gossamer import plots
from gossamer.cli import main
from gossamer.errors import FileFormatError, NotApplicableError, ScheduleError
from gossamer.plots import channels_figure, worms_figure
from gossamer.plots.appearance import CONTROL_COLOR, by_number
from gossamer.plots.layouts import lay_out
from gossamer.plots.layouts.layout import link_lines
from gossamer.plots.wormhole_timetables import _clear_of_lines
from plots.test_pictures import outside, overlaps

CASES = [("torus:5x5", "allgather", "atd-5"), ("ring:8", "allgather", "best"), ("torus:3x3x3", "broadcast", "best"),
         ("array:4x4", "broadcast", "best")]  # fmt: skip


@pytest.fixture(scope="module", params=CASES, ids=[f"{s} {t}" for s, t, _ in CASES])
def schedule(request):
    spec, task, algorithm = request.param
    return gossamer.plan(spec, task, switching="wormhole", algorithm=algorithm).schedule


def expected_colors(schedule, messages):
    """Return the color of each message: of the origin of the first thing that it carries."""
    hues, found = by_number(schedule.network.node_count), []
    for m in messages:
        pieces = schedule.pieces_of(int(m)) if schedule.payload[m] >= 0 else []
        found.append(hues[int(schedule.packets.origin[pieces[0]])] if len(pieces) else CONTROL_COLOR)
    return found


def test_a_worm_has_a_line_for_each_channel_in_the_color_of_its_origin(schedule):
    step = int(schedule.step[-1])
    (axes,) = worms_figure(schedule, [step]).axes
    messages = np.flatnonzero(schedule.step == step)
    lines = [c for c in axes.collections if isinstance(c, LineCollection) and c.zorder == 2]
    drawn = sum(len(c.get_segments()) for c in lines)
    grid = schedule.network.grid
    whole = sum(int(h) for h in schedule.hops[messages])
    assert drawn >= whole
    assert drawn <= 2 * whole  # a channel round the end of a torus is two stubs
    if not any(grid.wraps):
        assert drawn == whole
    colors = {to_hex(c) for lines_of in lines for c in lines_of.get_color()}
    assert colors == set(expected_colors(schedule, messages))
    heads = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert sum(len(c.get_paths()) for c in heads) == messages.size


def test_a_bar_of_the_timetable_is_a_channel_held_for_a_step(schedule):
    figure = channels_figure(schedule)
    (bars,) = [c for c in figure.axes[0].collections if isinstance(c, PolyCollection)]
    boxes = np.array([path.get_extents().extents for path in bars.get_paths()])
    assert len(boxes) == schedule.hops.sum()
    step = np.repeat(schedule.step, schedule.hops)
    cost = np.array([float(c) for c in schedule.step_cost])
    assert boxes[:, 2] - boxes[:, 0] == pytest.approx(cost[step])
    rows = np.round((boxes[:, 1] + boxes[:, 3]) / 2).astype(int)
    order = np.lexsort((boxes[:, 0], rows))
    same = np.diff(rows[order]) == 0
    assert (boxes[order][1:, 0][same] >= boxes[order][:-1, 2][same] - 1e-6).all()  # one message at a time
    assert [to_hex(c) for c in bars.get_facecolor()] == expected_colors(
        schedule, np.repeat(np.arange(schedule.message_count), schedule.hops)
    )


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_nothing_overlaps_or_leaves_the_page(schedule, style):
    for figure in (worms_figure(schedule, style=style), channels_figure(schedule, style=style)):
        assert overlaps(figure) == []
        assert outside(figure) == []
        assert (figure.get_size_inches()[0] == pytest.approx(3.3)) == (style == "paper")


def test_many_steps_are_six_panels_from_the_first_to_the_last():
    schedule = gossamer.plan("torus:5x5", "allgather", switching="wormhole", algorithm="atd-5").schedule
    titles = [axes.get_title(loc="left") for axes in worms_figure(schedule).axes]
    assert len(titles) == 6
    assert titles[0].startswith("step 0: ")
    assert titles[-1].startswith(f"step {schedule.step_count - 1}: ")
    with pytest.raises(ScheduleError, match=r"step 99 is none of the schedule's, 0\.\."):
        worms_figure(schedule, [99])
    axes = Figure().add_subplot()
    assert channels_figure(schedule, ax=axes) is axes.figure


def test_what_cannot_be_drawn_is_refused(tmp_path, capsys):
    schedule = gossamer.plan("torus:5x5", "broadcast", switching="wormhole").schedule
    with pytest.raises(NotApplicableError, match="no picture 'heat' of a wormhole plan; choose worms or occupancy"):
        plots.draw(schedule, tmp_path / "a.svg", "heat")
    with pytest.raises(NotApplicableError, match="no picture 'worms' of a schedule without worms"):
        plots.draw(gossamer.plan("ring:5", "broadcast").schedule, tmp_path / "a.svg", "worms")
    with pytest.raises(FileFormatError, match="kind of a picture"):
        plots.draw(schedule, tmp_path / "a.svg", "worm")
    large = gossamer.plan("torus:21x21", "broadcast", switching="wormhole").schedule
    with pytest.raises(NotApplicableError, match="at most 400 nodes, and torus:21x21 has 441: the explorer shows more"):
        worms_figure(large)
    plan, picture = tmp_path / "a.parquet", tmp_path / "a.svg"
    schedule.save(plan)
    assert main(["draw", str(plan), "-o", str(picture), "--style", "paper", "--width", "84mm"]) == 0
    assert "step 0" in picture.read_text()
    assert main(["draw", str(plan), "-o", str(picture), "--kind", "tree"]) == 2
    assert "choose worms or occupancy" in capsys.readouterr().err


def test_a_step_is_drawn_on_axes_of_the_caller():
    schedule = gossamer.plan("torus:5x5", "broadcast", switching="wormhole").schedule
    figure = Figure(figsize=(6, 3))
    left, right = figure.subplots(1, 2)
    assert worms_figure(schedule, [1], ax=right) is figure
    assert len(figure.axes) == 2
    assert right.get_title(loc="left").startswith("step 1: ")
    assert not left.collections
    scatter = gossamer.plan("torus:5x5", "scatter", algorithm="area-division").schedule
    assert plots.regions_figure(scatter, ax=left) is figure
    assert left.patches


@pytest.mark.parametrize("spec", ["ring:8", "torus:5x5", "hypercube:3"])
def test_names_of_nodes_stand_beside_the_lines(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    lines = link_lines(network, layout, 0.2, 0.07)
    boxes = np.full((network.node_count, 2), [0.4, 0.15])
    middles = _clear_of_lines(layout.positions, lines, boxes)
    share = np.linspace(0, 1, 50)[:, None, None]
    for group in lines:
        for a, b in zip(np.moveaxis(group.points, 1, 0)[:-1], np.moveaxis(group.points, 1, 0)[1:], strict=True):
            off = np.abs(middles[:, None] - (a + share * (b - a)).reshape(1, -1, 2))
            assert not (off < boxes[:, None] / 2).all(axis=2).any()
