"""The picture of occupancy counts every hop once, in the row of its link and the column of its slot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import VerificationError
from gossamer.plots import occupancy_figure
from gossamer.plots.link_groups import link_groups
from gossamer.plots.link_occupancy import occupancy
from gossamer.schedules import CONTROL
from plots.simple_schedules import broken, flood, gossip, scatter, texts, with_control

SPECS = ("ring:8", "array:4x5", "torus:3x4x5", "hypercube:5", "fat-tree:k=2,h=4,capacity=exponential", "star:4")


@given(st.sampled_from(SPECS), st.integers(1, 40), st.integers(1, 20))
@settings(max_examples=60)
def test_bins_hold_every_hop_and_the_room_of_every_link_and_slot(spec, rows, columns):
    schedule = with_control(gossamer.network(spec))
    count = occupancy(schedule, rows, columns)
    control = schedule.packet == CONTROL
    assert count.packets.sum() == np.count_nonzero(~control)
    assert count.control.sum() == np.count_nonzero(control)
    assert count.room.sum() == schedule.network.link_capacity.sum() * schedule.slot_count
    assert count.packets.shape[1] <= columns
    assert (count.share <= 1).all()
    row, column = count.row_of[schedule.link], schedule.slot // count.slots
    expected = np.zeros_like(count.packets)
    np.add.at(expected, (row[~control], column[~control]), 1)
    assert np.array_equal(count.packets, expected)


@given(st.sampled_from(SPECS), st.integers(8, 60))
@settings(max_examples=40)
def test_rows_never_mix_groups_and_follow_their_order(spec, rows):
    network = gossamer.network(spec)
    groups = link_groups(network)
    count = occupancy(flood(network), rows)
    assert [name for name, _, _ in count.groups] == list(groups.names)
    first = 0
    for g, (_, start, size) in enumerate(count.groups):
        assert start == first
        used = count.row_of[groups.group == g]
        assert sorted(set(used.tolist())) == list(range(start, start + size))
        assert (np.diff(used) >= 0).all()
        first += size
    assert first == len(count.packets)


def test_more_groups_than_rows_are_still_counted():
    schedule = flood(gossamer.network("complete:50"))
    count = occupancy(schedule, rows=10)
    assert len(count.packets) <= 10
    assert count.packets.sum() == 49
    assert count.groups[0][0] == "by generator"


@pytest.mark.parametrize(
    ("spec", "subgroup"), [("ring:8", [2]), ("torus:4x4", None), ("star:4", None), ("ccc:3", None)]
)
def test_an_invariant_schedule_counts_stored_hops_by_orbit(spec, subgroup):
    schedule = gossip(gossamer.network(spec), subgroup)
    symmetry = schedule.symmetry
    count, expanded = occupancy(schedule), occupancy(schedule.expand())
    assert len(count.packets) == symmetry.orbit_count * schedule.network.degree
    assert count.packets.sum() == schedule.stored_hops
    for (name, a, n), (other, b, m) in zip(count.groups, expanded.groups, strict=True):
        assert name == other
        assert np.array_equal(
            count.packets[a : a + n].sum(axis=0) * symmetry.order, expanded.packets[b : b + m].sum(axis=0)
        )


def images(figure):
    return {image.get_gid(): image.get_array() for image in figure.axes[1].images}


def test_the_image_is_the_share_of_capacity_and_control_packets_are_another_image():
    schedule = with_control(gossamer.network("fat-tree:k=2,h=4,capacity=exponential"))
    count, shown = occupancy(schedule), images(occupancy_figure(schedule))
    assert np.array_equal(shown["packets"].filled(0), np.where(count.packets > 0, count.share, 0))
    assert np.array_equal(shown["control"].filled(0), np.where(count.control > 0, count.share, 0))
    assert np.count_nonzero(shown["control"].filled(0)) == 3 * 20
    assert 0 < shown["packets"].filled(0)[shown["packets"].filled(0) > 0].min() < 1


def test_the_strip_is_the_share_of_busy_links_in_each_slot():
    schedule = scatter(gossamer.network("array:4x4"))
    stairs = occupancy_figure(schedule).axes[0].patches[0].get_data()
    assert np.allclose(stairs.values * 48, np.bincount(schedule.slot))
    assert stairs.edges.tolist() == list(range(schedule.slot_count + 1))


def test_phases_are_parted_and_named():
    schedule = with_control(gossamer.network("torus:5x5"), control_slots=20)
    figure = occupancy_figure(schedule)
    places = {float(line.get_xdata()[0]) for line in figure.axes[1].lines if len(set(line.get_xdata())) == 1}
    assert places == {20.0, float(schedule.phases[3].first_slot)}
    said = texts(figure).split("\n")
    assert "asking (1/4 step each)" in said
    assert "second half (1 step each)" in said
    assert not any(text.startswith("nothing") for text in said)
    assert "control packet" in said


def test_phases_without_room_for_their_names_are_counted():
    from gossamer.schedules import Phase

    base = scatter(gossamer.network("array:4x4"))
    schedule = base.replace(phases=[Phase(f"a phase with a long name {k}", 1) for k in range(base.slot_count)])
    said = texts(occupancy_figure(schedule))
    named = said.count("a phase with a long name")
    assert 4 <= named < base.slot_count
    assert f"{base.slot_count - named} phases too short to be named" in said


def test_a_small_picture_names_every_link():
    said = texts(occupancy_figure(flood(gossamer.network("array:2x3")))).split("\n")
    assert "(0,0)→(0,1)" in said
    assert "dim 1 −" in said
    assert "slot" in said


def test_a_large_picture_says_how_many_links_and_slots_share_a_cell():
    schedule = scatter(gossamer.network("torus:40x40"))
    count = occupancy(schedule)
    assert count.binned
    assert count.packets.sum() == schedule.stored_hops
    said = texts(occupancy_figure(schedule)).split("\n")
    assert f"links, about {-(-6400 // len(count.packets))} to a row" in said
    assert "A cell is the mean over its links and slots." in " ".join(said)


def test_slots_beyond_the_columns_are_binned_without_a_gap():
    schedule = gossip(gossamer.network("ring:3001"))
    count = occupancy(schedule)
    assert schedule.slot_count == 1500
    assert count.slots == 2
    assert count.packets.shape == (2, 750)
    assert (count.share == 1).all()
    figure = occupancy_figure(schedule)
    assert figure.axes[1].get_xlabel() == "slot, 2 to a column"
    assert "a row is an orbit of 3,001 links" in texts(figure)


@pytest.mark.parametrize(("spec", "shown"), [("array:1", []), ("ring:2", [1.0])])
def test_tiny_networks_show_their_hops_and_leave_idle_cells_blank(spec, shown):
    figure = occupancy_figure(flood(gossamer.network(spec)))
    figure.canvas.draw()
    (packets,) = (image for axes in figure.axes for image in axes.images if image.get_gid() == "packets")
    assert packets.get_array().compressed().tolist() == shown


def test_an_invalid_schedule_is_not_drawn():
    with pytest.raises(VerificationError):
        occupancy_figure(broken(gossamer.network("ring:8")))
