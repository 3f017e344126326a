"""Pictures of wormhole steps: every message is an arrow along its channels, and of valid schedules only."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import gossamer
from gossamer.errors import ScheduleError, VerificationError
from gossamer.plots import paper_figures as wormhole_costs
from gossamer.plots.paper_figures import best_h_figure, costs_figure
from gossamer.plots.wormhole_steps import (
    PALETTE,
    StepPanel,
    aggregation_figure,
    all_gather_figure,
    collection_figure,
    exchange_figure,
    partition_figure,
    steps_figure,
    trail,
)
from gossamer.questions.costs import LinearCost
from gossamer.studies.reproductions.chen_chen import comparison
from gossamer.wormhole import PayloadTable, WormholeSchedule


def arrows(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def shades(axes):
    return {to_hex(arrow.get_edgecolor()) for arrow in arrows(axes)}


def one_message(spec, way, origin=0):
    network, table = gossamer.network(spec), PayloadTable()
    return WormholeSchedule(
        network, gossamer.task("scatter", root=origin), LinearCost(), [0], [origin], [way], [table.row([0])],
        payloads=table.payloads(),
    )  # fmt: skip


@pytest.mark.parametrize("way", [(3, 0), (-2, 0), (0, 4), (0, -1), (2, 3), (-1, 2), (3, -3), (-2, -2)])
def test_trails_go_down_first_and_keep_to_the_right(way):
    points = trail((5, 5), way)
    assert len(points) == 1 + np.count_nonzero(way)
    moved = points[-1] - points[0]
    assert np.abs(moved - [way[1], -way[0]]).max() < 0.5
    if way[0]:
        assert points[0, 0] == points[1, 0]  # vertical
        assert np.sign(5 - points[0, 0]) == np.sign(way[0])  # going down, the right hand is to the left on paper
    if way[1]:
        assert points[-1, 1] == points[-2, 1]


def test_partition_has_a_box_for_each_dcn_and_a_number_for_each_node_of_a_ddn():
    figure = partition_figure(10, 5)
    boxes = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == 4
    numbers = sorted(text.get_text() for text in figure.axes[0].texts)
    assert numbers == sorted("01234" * 4)
    assert {to_hex(line.get_color()) for line in figure.axes[0].lines} == set(PALETTE[:5])


def test_aggregation_draws_four_messages_to_each_node_of_a_ddn():
    first, second = (axes for axes in aggregation_figure().axes)
    # 20 nodes of DDNs take 4 messages each; those that leave the square are drawn at both sides
    assert len(arrows(first)) >= 80
    assert shades(first) == set(PALETTE[:5])
    assert len(arrows(second)) >= 2 * 5 * 4
    assert shades(second) == set(PALETTE[:2])


def test_exchange_has_four_offsets_in_both_steps():
    for axes in exchange_figure().axes:
        assert len(shades(axes)) == 4
        assert len(arrows(axes)) >= 80


def test_all_gather_of_five_nodes_is_that_of_the_source():
    step_a, step_b = all_gather_figure().axes
    assert len(shades(step_a)) == len(shades(step_b)) == 5
    corners = [len(arrow.get_path().vertices) for arrow in arrows(step_b)]
    assert len(corners) >= 20


def test_collection_has_rows_rings_and_shifts():
    panels = collection_figure().axes
    assert len(panels) == 4
    assert all(shades(axes) == set(PALETTE[:5]) for axes in panels)
    assert len(arrows(panels[2])) == 100  # rings stay in their blocks
    assert len(arrows(panels[3])) == 440  # all 400 channels, 40 of them at both sides


def test_schedules_that_are_not_valid_are_not_drawn():
    schedule = one_message("torus:4x4", (1, 0))
    with pytest.raises(VerificationError):
        steps_figure("", [StepPanel("", schedule, 0, [PALETTE[0]], [PALETTE[1]] * 16)])


def test_steps_are_drawn_on_tori_of_two_dimensions_only():
    plan = gossamer.plan("torus:3x3x3", "allgather", switching="wormhole", cost=LinearCost())
    with pytest.raises(ScheduleError, match="tori of two dimensions, not on torus:3x3x3"):
        steps_figure("", [StepPanel("", plan.schedule, 0, [], [])])


def test_costs_are_above_the_bound_in_every_panel(monkeypatch):
    monkeypatch.setattr(wormhole_costs, "CURVES", comparison.CURVES[:1] * 4)
    for panel in costs_figure().axes:
        bound, *others = panel.lines
        assert len(others) == 8
        assert all((line.get_ydata() >= bound.get_ydata()).all() for line in others)
        assert panel.get_xscale() == panel.get_yscale() == "log"


def test_map_has_a_panel_for_each_variant_and_a_label_for_each_divisor():
    figure = best_h_figure(10)
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == ["atd-5", "atd-opt", "atd-piece"]
    assert [label.get_text() for label in figure.axes[3].get_yticklabels()] == ["h = 1", "h = 2", "h = 5", "h = 10"]
