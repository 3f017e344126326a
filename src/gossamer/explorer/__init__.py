"""The explorer: one page that shows a schedule in motion, in any browser, without a server or a network."""

from __future__ import annotations

from gossamer.explorer.pages import MOST_ROWS, embedded, explore
from gossamer.explorer.scenes import Scene, scene

__all__ = ["MOST_ROWS", "Scene", "embedded", "explore", "scene"]
