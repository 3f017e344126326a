"""Pictures of schedules: the load of each link, the occupancy of links by slots, messages in motion."""

from __future__ import annotations

from gossamer.plots.drawing import FORMATS, draw
from gossamer.plots.load import load_figure
from gossamer.plots.motion import MOVING_FORMATS, animate
from gossamer.plots.occupancy import occupancy_figure

__all__ = ["FORMATS", "MOVING_FORMATS", "animate", "draw", "load_figure", "occupancy_figure"]
