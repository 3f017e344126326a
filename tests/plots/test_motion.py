"""Animations of routing schedules."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError, VerificationError
from gossamer.plots import animate
from gossamer.plots.motion import _film


def transposed(side: int, algorithm: str = "best") -> gossamer.Outcome:
    destination = np.arange(side * side).reshape(side, side).T.ravel().tolist()
    return gossamer.plan(
        f"array:{side}x{side}", gossamer.task("permutation", destination=destination), algorithm=algorithm
    )


def test_a_gif_has_a_picture_for_each_part_of_a_slot_and_rests_before_and_after(tmp_path):
    from PIL import Image

    plan = transposed(3)
    animate(plan.schedule, tmp_path / "m.gif", frames_per_slot=2)
    with Image.open(tmp_path / "m.gif") as picture:
        shown = sum(1 for _ in _film(plan.schedule, 2).frames(2))
        assert shown == 2 * plan.schedule.slot_count + 24
        assert 1 < picture.n_frames <= shown  # equal pictures in a row are stored as one


def test_a_page_has_its_pictures_in_itself(tmp_path):
    animate(transposed(2).schedule, tmp_path / "m.html", frames_per_slot=1)
    text = (tmp_path / "m.html").read_text()
    assert "data:image/png;base64" in text
    assert "http" not in text.replace("http://www.w3.org", "")  # nothing is fetched from elsewhere
    assert 'class="fa' not in text


def test_messages_end_at_their_destinations_in_the_colors_of_the_places():
    plan = transposed(4)
    film = _film(plan.schedule, 1)
    last = list(film.frames(1))[-1]
    x, y = last.places[:, 0], last.places[:, 1]
    node = (y * 4 + x).round().astype(int)
    assert node.tolist() == list(plan.schedule.task.destination)
    corner = film.colors[node == 0][0]
    assert np.allclose(corner, [0.17, 0.42, 0.69])


def test_messages_at_one_node_share_its_cell_without_overlap():
    plan = transposed(8)
    for frame in _film(plan.schedule, 1).frames(1):
        low, high = frame.places[:, :2] - frame.places[:, 2:] / 2, frame.places[:, :2] + frame.places[:, 2:] / 2
        apart = (low[:, None] >= high[None] - 1e-9) | (high[:, None] <= low[None] + 1e-9)
        assert (apart.any(axis=2) | np.eye(len(low), dtype=bool)).all()


@pytest.mark.parametrize(
    ("spec", "task", "what"),
    [
        ("hypercube:3", "alltoall", "one or two dimensions"),
        ("array:65x65", "permutation", "at most 4,096 nodes"),
        ("array:3x3", "allgather", "one destination each"),
    ],
)
def test_other_schedules_are_refused_in_one_line(tmp_path, spec, task, what):
    network = gossamer.network(spec)
    fields = {"destination": list(range(network.node_count))} if task == "permutation" else {}
    schedule = gossamer.Schedule(network, gossamer.task(task, **fields), gossamer.Rules(), [], [], [])
    with pytest.raises(NotApplicableError, match=what):
        animate(schedule, tmp_path / "m.gif")
    assert not (tmp_path / "m.gif").exists()


def test_bad_files_and_numbers_are_refused_in_one_line(tmp_path):
    schedule = transposed(2).schedule
    with pytest.raises(FileFormatError, match=r"has the suffix '\.mp4'; an animation is one of \.gif, \.html"):
        animate(schedule, tmp_path / "m.mp4")
    with pytest.raises(FileFormatError, match=r"frames_per_slot must be a number in 1\.\.10, got 0"):
        animate(schedule, tmp_path / "m.gif", frames_per_slot=0)
    unfinished = gossamer.Schedule(schedule.network, schedule.task, schedule.rules, [], [], [])
    with pytest.raises(VerificationError):
        animate(unfinished, tmp_path / "m.gif")
    assert not (tmp_path / "m.gif").exists()


def test_the_last_picture_of_a_gif_shows_every_color_in_its_place(tmp_path):
    from PIL import Image

    schedule = transposed(16).schedule
    animate(schedule, tmp_path / "m.gif", frames_per_slot=1, dpi=100)
    film = _film(schedule, 1)
    place = np.array(schedule.task.destination)
    with Image.open(tmp_path / "m.gif") as picture:
        picture.seek(picture.n_frames - 1)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
        assert picture.info["duration"] >= 16 * 60  # the rest at the end
    high, wide = pixels.shape[:2]  # 0.2 inches of margin at the left and below
    cell = (wide - 40) / 16
    row, column = place // 16, place % 16
    shown = pixels[
        (high - 20 - (15.5 - row) * cell).astype(int), (20 + (column + 0.5) * cell).astype(int)
    ]  # the middle of each cell
    assert np.abs(shown - 255 * film.colors).max() < 12
