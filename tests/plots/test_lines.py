"""Every link is drawn, on the right of its way, from rim to rim."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.plots.layouts import ARC, STRAIGHT, STUB, lay_out
from gossamer.plots.layouts.layout import arrowheads, link_lines

SPECS = ("array:4x5", "torus:5x5", "torus:4x4x4", "hypercube:4", "star:4", "fat-tree:k=2,h=3", "complete:7", "ccc:4")


@pytest.mark.parametrize("spec", SPECS)
def test_every_link_is_drawn_once_and_a_stub_at_both_ends(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    count = np.zeros(network.link_count, int)
    for lines in link_lines(network, layout, 0.25, 0.1):
        count += np.bincount(lines.link, minlength=network.link_count)
    assert (count == np.where(layout.shape == STUB, 2, 1)).all()


@pytest.mark.parametrize("spec", SPECS)
def test_lines_keep_to_the_right_and_end_at_the_rims(spec):
    network = gossamer.network(spec)
    layout = lay_out(network)
    start, end = layout.positions[network.link_source], layout.positions[network.link_target]
    for points, link in link_lines(network, layout, 0.25, 0.1):
        kind = layout.shape[link[0]]
        assert (layout.shape[link] == kind).all()
        first = np.hypot(*(points[:, 0] - start[link]).T)
        last = np.hypot(*(points[:, -1] - end[link]).T)
        if kind == STUB:
            first, last = first[: len(first) // 2], last[len(last) // 2 :]
        assert np.allclose(first, 0.25, atol=0.03 if kind == ARC else 1e-9)
        assert np.allclose(last, 0.25, atol=0.03 if kind == ARC else 1e-9)
        middle = points.mean(axis=1)
        way = layout.direction[link] if kind == STUB else end[link] - start[link]
        beside = middle - start[link]
        if kind == STUB:
            beside[len(beside) // 2 :] = (middle - end[link])[len(beside) // 2 :]
        turned = way[:, 0] * beside[:, 1] - way[:, 1] * beside[:, 0]
        assert (turned < 0).all()


def test_arrowheads_point_along_their_lines():
    network = gossamer.network("torus:5x5")
    for lines in link_lines(network, lay_out(network), 0.25, 0.1):
        tip, left, right = arrowheads(lines, 0.2).transpose(1, 0, 2)
        along = ((tip - (left + right) / 2) * (lines.points[:, -1] - lines.points[:, 0])).sum(axis=1)
        assert (along > 0).all()


def test_all_three_shapes_occur():
    kinds = set()
    for spec in SPECS:
        kinds |= set(lay_out(gossamer.network(spec)).shape.tolist())
    assert kinds == {int(STRAIGHT), int(ARC), int(STUB)}
