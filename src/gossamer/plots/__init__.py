"""Pictures of schedules: load on the links of the network, and occupancy of links in time."""

from __future__ import annotations

from gossamer.plots.load import load_figure

__all__ = ["load_figure"]
