"""Animations of routing schedules."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError, VerificationError
from gossamer.plots import animate
from gossamer.plots.animation import _film, film_frames
from gossamer.plots.appearance import by_number


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


def test_networks_and_films_that_are_too_large_are_refused_in_one_line(tmp_path):
    large = gossamer.network("array:65x65")
    here = gossamer.task("permutation", destination=list(range(65 * 65)))
    for schedule, words, what in (
        (gossamer.Schedule(large, here, gossamer.Rules(), [], [], []), {}, "at most 1,024 nodes"),
        (gossamer.plan("ring:120", "alltoall").schedule, {}, "at most 4,000 are allowed"),
    ):
        with pytest.raises(NotApplicableError, match=what):
            animate(schedule, tmp_path / "m.gif", **words)
        assert not (tmp_path / "m.gif").exists()


FILMED = [
    ("torus:4x4", "allgather", {}), ("hypercube:3", "reduce", {}), ("fat-tree:k=2,h=2,capacity=1,2", "alltoall", {}),
    ("array:3x3", "alltoall", {}), ("torus:3x3", "allgather", {"switching": "wormhole"}),
    ("kautz:2,2", "broadcast", {}),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "task", "words"), FILMED)
def test_every_task_moves_under_both_switchings(spec, task, words, tmp_path):
    from PIL import Image

    schedule = gossamer.plan(spec, task, **words).schedule
    animate(schedule, tmp_path / "m.gif", frames_per_slot=2, dpi=40)
    rows = schedule.timeline()
    times = np.unique([0, rows.length, *rows.start.tolist(), *rows.end.tolist()])
    with Image.open(tmp_path / "m.gif") as picture:
        assert 2 < picture.n_frames <= 2 * (times.size - 1) + 1 + 24
        picture.seek(0)
        first = np.asarray(picture.convert("RGB")).astype(int)
        picture.seek(picture.n_frames - 1)
        last = np.asarray(picture.convert("RGB")).astype(int)
    assert (first.sum(axis=2) < 250).sum() < (last.sum(axis=2) < 250).sum()  # nodes are dark at the end


def test_packets_are_where_the_timeline_says():
    schedule = gossamer.plan("array:4", "broadcast").schedule
    pictures = [np.asarray(p.convert("RGB")).astype(int) for p in film_frames(schedule, 2, 100, 100)]
    middle = pictures[8 + 3]  # half of the second slot
    hue = np.array([int(by_number(4)[0][k : k + 2], 16) for k in (1, 3, 5)])
    rows, columns = np.nonzero(np.abs(middle - hue).sum(axis=2) < 30)
    unit = 0.8 * 100
    left = (middle.shape[1] - 4.6 * unit) / 2
    assert columns.mean() == pytest.approx(left + (0.8 + 1.5) * unit, abs=4)  # between nodes 1 and 2
    assert len(rows) > 20


def test_a_film_is_an_mp4_too(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra 'video'")
    animate(gossamer.plan("ring:5", "allgather").schedule, tmp_path / "m.mp4", frames_per_slot=2, dpi=40)
    animate(transposed(3).schedule, tmp_path / "n.mp4", frames_per_slot=1)
    for name in ("m.mp4", "n.mp4"):
        assert (tmp_path / name).read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(("network", "task"), [("torus:3x3", "alltoall"), ("star:4", "allgather")])
def test_a_film_of_worms_is_an_mp4_with_its_frames(tmp_path, network, task):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs the extra 'video'")
    schedule = gossamer.plan(network, task, switching="wormhole").schedule
    animate(schedule, tmp_path / "w.mp4", frames_per_slot=2, dpi=40)
    pictures = ffmpeg.read_frames(str(tmp_path / "w.mp4"))
    width, height = next(pictures)["size"]
    shown = [np.frombuffer(p, np.uint8).reshape(height, width, 3) for p in pictures]
    assert len(shown) >= 2 * schedule.step_count
    first, middle = shown[0].astype(int), shown[len(shown) // 2].astype(int)
    moved = np.abs(first - middle).max(axis=2) > 60
    assert 0.002 < moved.mean() < 0.5  # worms are there, and the network stands still


def test_without_the_extra_an_mp4_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(NotApplicableError, match="needs the extra 'video'"):
        animate(transposed(2).schedule, tmp_path / "m.mp4")
    assert list(tmp_path.iterdir()) == []


def test_bad_files_and_numbers_are_refused_in_one_line(tmp_path):
    schedule = transposed(2).schedule
    with pytest.raises(FileFormatError, match=r"has the suffix '\.avi'; an animation is one of \.gif, \.mp4"):
        animate(schedule, tmp_path / "m.avi")
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
