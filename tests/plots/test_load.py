"""The picture of load shows every link with its load, and says what it shows."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import VerificationError
from gossamer.networks import Network, from_networkx
from gossamer.plots import heat_figure, load_figure
from gossamer.plots.appearance import FAINT
from gossamer.plots.layouts import lay_out
from gossamer.plots.link_load import load_scale
from gossamer.verification import link_load
from plots.simple_schedules import broken, flood, gossip, scatter, texts, with_control


def collections(figure, gid):
    return [c for c in figure.axes[0].collections if c.get_gid() == gid]


def percents(schedule):
    """Return the percent of the time in which each link is busy, of a schedule in which a hop takes a step."""
    return 100 * link_load(schedule) / schedule.network.link_capacity / float(schedule.completion_time)


def rounded(loads):
    return sorted(np.round(loads, 9).tolist())


def drawn(figure):
    """Return the load and the width of every line, where a path may hold many lines with gaps between them."""
    loads, widths = [], []
    for collection in collections(figure, "links"):
        values, width = (
            collection.get_array(),
            np.broadcast_to(collection.get_linewidths(), len(collection.get_paths())),
        )
        for path, value, w in zip(collection.get_paths(), values, width, strict=True):
            lines = 1 + int(np.isnan(path.vertices[:, 0]).sum())
            loads += [float(value)] * lines
            widths += [float(w)] * lines
    return np.array(loads), np.array(widths)


@pytest.mark.parametrize("spec", ["ring:8", "array:4x4", "hypercube:4", "fat-tree:k=2,h=3", "complete:6"])
def test_every_link_is_a_line_of_its_load(spec):
    schedule = scatter(gossamer.network(spec))
    loads, _ = drawn(load_figure(schedule))
    assert rounded(loads) == rounded(percents(schedule))


@pytest.mark.parametrize("spec", ["array:4x4", "ring:7", "fat-tree:k=3,h=2", "star:4"])
def test_a_line_from_node_to_node_has_the_load_of_the_link_between_them(spec):
    schedule = scatter(gossamer.network(spec))
    network, load, positions = schedule.network, percents(schedule), lay_out(schedule.network).positions
    found = set()
    for lines in collections(load_figure(schedule), "links"):
        for path, value in zip(lines.get_paths(), lines.get_array(), strict=True):
            near = [int(np.hypot(*(positions - end).T).argmin()) for end in path.vertices[[0, -1]]]
            link = network.link_between(*near)
            assert value == pytest.approx(load[link])
            found.add(link)
    assert len(found) == network.link_count


def test_stubs_show_the_load_at_both_ends():
    schedule = scatter(gossamer.network("torus:5x5"))
    network, load = schedule.network, percents(schedule)
    step = np.abs(network.coordinates[network.link_source] - network.coordinates[network.link_target]).max(axis=1)
    loads, _ = drawn(load_figure(schedule))
    assert rounded(loads) == rounded([*load, *load[step > 1]])


@pytest.mark.parametrize("spec", ["torus:64x64", "torus:16x16x16", "star:5", "hypercube:6", "fat-tree:k=2,h=9"])
def test_a_crowded_network_is_a_heat_map_of_every_link(spec):
    schedule = scatter(gossamer.network(spec))
    load = percents(schedule)
    figure = load_figure(schedule)
    images = [image for axes in figure.axes for image in axes.images if image.get_gid() == "heat"]
    cells = np.concatenate([image.get_array().compressed() for image in images])
    assert rounded(cells[~np.isnan(cells)]) == rounded(load)
    assert not collections(figure, "links")
    (top,) = {image.norm.vmax for image in images}
    assert load.max() <= top <= max(2.5 * load.max(), 1)


def test_many_links_that_do_not_cross_each_other_are_lines():
    schedule = scatter(gossamer.network("torus:24x24"))
    loads, _ = drawn(load_figure(schedule))
    assert set(rounded(np.unique(loads))) == set(rounded(np.unique(percents(schedule))))
    straight = collections(load_figure(schedule), "links")[0]
    assert sum(1 + int(np.isnan(p.vertices[:, 0]).sum()) for p in straight.get_paths()) < schedule.network.link_count


def test_more_load_is_a_wider_line_and_none_is_gray():
    from matplotlib.colors import to_rgba

    figure = load_figure(scatter(gossamer.network("array:5x5")))
    loads, widths = drawn(figure)
    order = np.argsort(loads, kind="stable")
    assert (np.diff(widths[order]) >= 0).all()
    assert len(set(widths.tolist())) == len(set(loads.tolist()))
    (lines,) = collections(figure, "links")
    lines.update_scalarmappable()
    colors = lines.get_edgecolors()
    assert np.allclose(colors[lines.get_array() == 0], to_rgba(FAINT))
    assert not np.allclose(colors[lines.get_array() > 0], to_rgba(FAINT))


def test_control_packets_are_no_load():
    network = gossamer.network("array:4x4")
    plain, mixed = scatter(network), with_control(network)
    share = float(plain.completion_time / mixed.completion_time)  # control packets take time
    assert rounded(drawn(load_figure(mixed))[0]) == rounded(share * drawn(load_figure(plain))[0])


@pytest.mark.parametrize("spec", ["ring:9", "torus:4x4", "star:4"])
def test_an_invariant_schedule_looks_like_its_expansion(spec):
    schedule = gossip(gossamer.network(spec))
    for a, b in zip(drawn(load_figure(schedule)), drawn(load_figure(schedule.expand())), strict=True):
        assert a.tolist() == b.tolist()


def test_the_heading_names_network_task_algorithm_and_time():
    said = texts(load_figure(scatter(gossamer.network("array:4x4"))))
    for part in (
        "scatter (root 0) on array:4x4",
        "tree",
        "12 steps",
        "16 nodes, 48 links",
        "time that a link is busy, % of 12 steps",
    ):
        assert part in said


def test_nodes_have_names_where_there_is_room_and_else_a_note_says_so():
    assert "3,2" in texts(load_figure(flood(gossamer.network("array:4x4")))).split("\n")
    assert "0110" in texts(load_figure(flood(gossamer.network("hypercube:4")))).split("\n")
    said = texts(load_figure(flood(gossamer.network("array:24x24"))))
    assert "3,2" not in said.split("\n")
    assert "No room for the names of 576 nodes." in said


def test_names_with_dollars_are_not_formulas():
    import networkx as nx

    figure = load_figure(flood(from_networkx(nx.Graph([("$a$", "b_$")]), name="cost $2$")))
    assert "$a$" in texts(figure).split("\n")
    assert all(not t.get_parse_math() for t in figure.findobj(lambda a: hasattr(a, "get_parse_math") and a.get_text()))
    figure.canvas.draw()


def test_every_node_is_marked_and_routing_nodes_are_squares():
    figure = load_figure(flood(gossamer.network("fat-tree:k=2,h=3")))
    leaves, inner = collections(figure, "nodes")
    assert (len(leaves.get_offsets()), len(inner.get_offsets())) == (8, 7)
    assert len(leaves.get_paths()[0].vertices) > len(inner.get_paths()[0].vertices)


@pytest.mark.parametrize("spec", ["torus:6x6", "ring:200", "hypercube:4", "torus:3x3x3", "ccc:3"])
def test_nothing_is_cut_off_by_the_frame(spec):
    figure = load_figure(flood(gossamer.network(spec)))
    axes = figure.axes[0]
    (low_x, high_x), (low_y, high_y) = axes.get_xlim(), axes.get_ylim()
    for collection in collections(figure, "links"):
        for path in collection.get_paths():
            x, y = path.vertices[~np.isnan(path.vertices[:, 0])].T
            assert (x > low_x).all()
            assert (x < high_x).all()
            assert (y > low_y).all()
            assert (y < high_y).all()
    assert all(text.get_position()[1] + 0.3 < high_y for text in axes.texts)
    box = axes.get_position()
    scale = np.array([box.width, box.height]) * figure.get_size_inches()
    assert np.allclose(*(scale / [high_x - low_x, high_y - low_y]))  # units of equal length both ways
    assert box.x0 >= 0
    assert box.x1 <= 1


def test_a_network_beyond_drawing_shows_the_load_of_each_dimension_and_direction():
    schedule = gossip(gossamer.network("torus:27x28x29"))
    figure = load_figure(schedule)
    (axes,) = figure.axes
    load = percents(schedule).reshape(-1, 6)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(load[0].tolist())
    assert [t.get_text() for t in axes.get_yticklabels()] == [f"dim {d} {s}" for d in range(3) for s in "+−"]
    assert "too large to draw its 131,544 links" in texts(figure)


def test_many_racks_show_a_bar_for_each_tier_and_direction():
    """A scatter in 20 racks of 20 sends 399 packets up the root's one link, and one down to each other host."""
    schedule = gossamer.plan("leaf-spine:leaves=20,spines=4,hosts=20", "scatter").schedule
    (axes,) = load_figure(schedule).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "terminals to tier-1 switches"
    assert len(names) == 4
    load = percents(schedule)
    hosts = schedule.network.link_source < 400
    assert axes.patches[0].get_width() == pytest.approx(load[hosts].mean())


def test_a_large_network_without_structure_shows_a_histogram():
    n = 20_001
    node = np.arange(n - 1)
    ends = np.stack([np.concatenate([node, node + 1]), np.concatenate([node + 1, node])])
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    schedule = flood(Network("long path", n, *ends, links_only=True))
    (axes,) = load_figure(schedule).axes
    bars = axes.patches[0].get_data().values
    assert (bars[0], bars[-1], bars.sum()) == (n - 1, n - 1, 2 * (n - 1))


@pytest.mark.parametrize("spec", ["array:1", "ring:2", "star:2"])
def test_tiny_networks_have_a_picture(spec):
    figure = load_figure(flood(gossamer.network(spec)))
    figure.canvas.draw()
    assert ("No message packet crosses a link." in texts(figure)) == (spec == "array:1")


def test_an_invalid_schedule_is_not_drawn():
    with pytest.raises(VerificationError, match="never gets packet 0"):
        load_figure(broken(gossamer.network("ring:8")))


def test_load_is_divided_by_capacity():
    schedule = gossamer.plan("fat-tree:k=2,h=3,capacity=1,4,6", "allgather").schedule
    share = percents(schedule)
    assert len(set(schedule.network.link_capacity.tolist())) == 3
    figure = load_figure(schedule)
    (lines,) = collections(figure, "links")
    assert rounded(lines.get_array()) == rounded(share)


def test_a_small_share_of_the_capacity_is_not_shown_as_no_load():
    from matplotlib.colors import to_rgba

    network = Network("wide", 2, [0, 1], [1, 0], link_capacity=4)
    (lines,) = collections(load_figure(flood(network)), "links")
    lines.update_scalarmappable()
    assert lines.get_array().tolist() == [0.0, 25.0]
    assert not np.allclose(lines.get_edgecolors()[1], to_rgba(FAINT))


def test_loads_that_are_all_alike_are_one_patch_with_their_percent():
    figure = load_figure(gossamer.plan("complete:4", "allgather").schedule)
    assert "each link that is used: 100 % of 1 step" in texts(figure)
    scale, unusual = load_scale(np.array([0.0, 12.0, 33.0]))
    assert (scale.norm.vmax, unusual) == (40, "")
    bar = heat_figure(gossamer.plan("hypercube:7", "scatter").schedule).axes[-1]
    assert bar.get_xticklabels()[0].get_text() == "0"


def test_the_busiest_links_and_the_cut_of_the_bound_are_marked():
    from gossamer.plots.link_load import bound_marks, load_of

    schedule = gossamer.plan("array:4", "scatter").schedule
    marks = bound_marks(schedule, load_of(schedule))
    assert np.flatnonzero(marks.busiest).tolist() == [0]
    figure = load_figure(schedule)
    assert "Orange: the busiest" in texts(figure)
    assert "1 link at 100 %" in texts(figure)
    assert len(collections(figure, "busiest")[0].get_paths()) == 1


def test_a_cut_of_the_bound_is_where_the_bound_says():
    from gossamer.plots.link_load import bound_marks, load_of

    network = from_networkx(_barbell())
    schedule = gossamer.plan(network, "alltoall").schedule
    best = max((b for b in gossamer.lower_bounds(network, "alltoall") if not b.scope), key=lambda b: b.value)
    marks = bound_marks(schedule, load_of(schedule))
    ends = {tuple(sorted(network.link_name(i).split("->"))) for i in np.flatnonzero(marks.across).tolist()}
    assert ends == {("3", "4")}
    assert marks.nodes.sum() == 4
    assert f"{best.value} steps" in " ".join(marks.words)


def _barbell():
    import networkx as nx

    return nx.barbell_graph(4, 0)
