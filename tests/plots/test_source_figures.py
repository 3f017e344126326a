"""Figures of the sources: trees, areas, timetables and queues show what the schedules do."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, TaskError, VerificationError
from gossamer.plots.broadcast_trees import spread_tree, tree_figure
from gossamer.plots.paper_figures import SOURCE_FIGURES, draw_source_figures, regions_figure
from gossamer.plots.timetables import crossings, queue_figure, timetable_figure
from gossamer.studies.reproductions import REPRODUCTIONS


def scheduled(spec, task, algorithm="best", rules=None, **fields):
    return gossamer.plan(spec, gossamer.task(task, **fields), algorithm=algorithm, rules=rules).schedule


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_product_tree_is_that_of_fig_3_3():
    tree = spread_tree(scheduled("array:3x4x2", "broadcast", "product-tree", root=12))
    names = [tree.network.short_name(v) for v in range(24)]
    children = {}
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            children.setdefault(names[parent], set()).add(names[node])
    assert children["120"] == {"020", "220", "110", "130", "121"}
    assert children["110"] == {"010", "210", "100"}
    assert children["121"] == {"021", "221", "111", "131"}
    assert children["100"] == {"000", "200"}
    assert children["130"] == {"030", "230"}
    assert tree.step.max() == 4


def test_every_node_of_an_invariant_schedule_has_its_tree():
    schedule = scheduled("torus:5x5", "multinode-broadcast", "rotated-quadrant")
    for packet in (0, 7):
        tree = spread_tree(schedule, packet)
        assert np.flatnonzero(tree.step == 0).tolist() == [packet]
        assert (tree.step >= 0).all()
        others = np.delete(np.arange(25), packet)
        assert (tree.step[tree.parent[others]] < tree.step[others]).all()


def test_tree_figure_names_every_node_in_both_panels():
    figure = tree_figure(scheduled("hypercube:3", "broadcast", "binomial-tree", root=0))
    assert sorted(w for w in words(figure) if len(w) == 3) == sorted(2 * [f"{v:03b}" for v in range(8)])
    assert [axes.get_title(loc="left") for axes in tree_figure(scheduled("torus:4x4", "broadcast", root=0)).axes] == [
        "by time"
    ]


def test_packets_that_move_to_one_target_have_no_figure_of_a_tree_or_areas():
    with pytest.raises(TaskError, match="areas are drawn of schedules of area-division, not of furthest-first ones"):
        regions_figure(scheduled("torus:5x5", "scatter", "furthest-first", root=0))
    reduced = scheduled("ring:6", "reduce", root=0)
    with pytest.raises(TaskError, match="packet 0 of reduce does not spread over a tree"):
        tree_figure(reduced)


@pytest.mark.parametrize(("spec", "root"), [("torus:7x7", 0), ("torus:4x4", 5), ("torus:5x8", 13)])
def test_areas_show_when_every_message_arrives(spec, root):
    schedule = scheduled(spec, "scatter", "area-division", root=root)
    figure = regions_figure(schedule)
    shown = sorted(int(w) for w in words(figure) if w.isdigit())
    last = [int(schedule.slot[schedule.packet == p].max()) + 1 for p in range(schedule.packets.count)]
    assert shown == sorted(last)
    assert sorted(w for w in words(figure) if w.isalpha()) == ["A", "B", "C", "D"]


def test_dashed_lines_are_links_over_the_wrap_around():
    figures = [regions_figure(scheduled(s, "scatter", "area-division", root=0)) for s in ("torus:4x4", "torus:7x7")]
    assert [sum(line.get_linestyle() == "--" for line in f.axes[0].lines) for f in figures] == [2, 0]


def test_timetable_of_fig_6_7():
    figure = timetable_figure(
        scheduled(
            "fat-tree:k=2,h=2,capacity=constant",
            "multinode-broadcast",
            "fat-tree-up-first",
            gossamer.Rules(ports="one-send"),
        )
    )
    shown = [(int(t.get_position()[0]) + 1, int(t.get_position()[1]), t.get_text()) for t in figure.axes[0].texts]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    down = sorted((step, rows[y], what) for step, y, what in shown if rows[y].startswith("(1,0) → (0,"))
    assert down == [
        (4, "(1,0) → (0,0)", "1"), (5, "(1,0) → (0,1)", "0"), (6, "(1,0) → (0,0)", "2"),
        (7, "(1,0) → (0,1)", "2"), (8, "(1,0) → (0,0)", "3"), (9, "(1,0) → (0,1)", "3"),
    ]  # fmt: skip


def test_crossings_account_for_every_hop():
    schedule = scheduled("ring:7", "total-exchange")
    found = [crossings(schedule, link) for link in range(schedule.network.link_count)]
    assert sum(map(len, found)) == schedule.hop_count
    assert all(c.since <= c.slot and c.origin != c.target for row in found for c in row)


def test_queues_of_the_ring_of_6_shrink_as_in_fig_4_4b():
    schedule = scheduled("ring:6", "total-exchange", "parity-shift")
    figure = queue_figure(schedule, [0])
    columns = [[] for _ in range(5)]
    for text in figure.axes[0].texts:
        x, y = text.get_position()
        columns[int(x)].append((y, text.get_text()))
    assert [[word for _, word in sorted(column)] for column in columns] == [
        ["0 → 3", "0 → 2", "0 → 1"],
        ["0 → 2", "0 → 1", "5 → 1"],
        ["0 → 1", "5 → 1"],
        ["5 → 1", "4 → 1"],
        ["4 → 1"],
    ]


@pytest.mark.parametrize("draw", [tree_figure, timetable_figure, lambda s: queue_figure(s, [0])])
def test_refused_schedules_are_not_drawn(draw):
    network = gossamer.network("array:3")
    incomplete = gossamer.Schedule(network, gossamer.task("broadcast"), gossamer.Rules(), [0], [0], [0])
    with pytest.raises(VerificationError):
        draw(incomplete)


def test_every_source_has_figures_with_files_and_titles_of_their_own():
    assert set(SOURCE_FIGURES) == set(REPRODUCTIONS)
    figures = [f for found in SOURCE_FIGURES.values() for f in found]
    assert len({f.stem for f in figures}) == len({f.title for f in figures}) == len(figures)


def test_figures_of_a_source_are_written_the_same_twice(tmp_path):
    first, second = (list(draw_source_figures("dimakopoulos", tmp_path / name)) for name in ("a", "b"))
    assert [p.stem for p in first] == [f.stem for f in SOURCE_FIGURES["dimakopoulos"]]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="cannot make the folder"):
        list(draw_source_figures("dimakopoulos", tmp_path / "file"))
