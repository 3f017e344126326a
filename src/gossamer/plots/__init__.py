"""Pictures of schedules: the load of each link on the network, and the occupancy of links by slots."""

from __future__ import annotations

from gossamer.plots.drawing import draw
from gossamer.plots.load import load_figure
from gossamer.plots.occupancy import occupancy_figure

__all__ = ["draw", "load_figure", "occupancy_figure"]
