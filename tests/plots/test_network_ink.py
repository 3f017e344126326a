"""The picture of a network leaves most of its page white, however many links there are, and its cut stands out."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

import gossamer
from gossamer.plots.appearance import CATEGORICAL
from gossamer.plots.network import network_figure


@pytest.mark.parametrize("spec", ["torus:8x8", "complete:40", "dgx-a100:servers=16", "hypercube:7"])
def test_most_of_the_page_is_white_and_the_cut_is_not_thin(spec):
    network = gossamer.network(spec)
    found = gossamer.describe(network)
    figure = network_figure(network, found.cut)
    (axes,) = figure.axes
    lines = [c for c in axes.collections if isinstance(c, LineCollection)]
    figure.canvas.draw()
    point = figure.dpi / 72
    ink = 0.0
    for collection in lines:
        for path, width in zip(collection.get_segments(), np.resize(collection.get_linewidths(), 10**6), strict=False):
            ends = axes.transData.transform(path) / point
            ink += float(np.hypot(*np.diff(ends, axis=0).T).sum() * width)
    box = axes.get_window_extent()
    assert ink < 0.2 * box.width * box.height / point**2
    cut = [c for c in lines if len(c.get_colors()) and to_hex(c.get_colors()[0]) == CATEGORICAL[1]]
    assert min(min(c.get_linewidths()) for c in cut if len(c.get_segments())) >= 0.8
