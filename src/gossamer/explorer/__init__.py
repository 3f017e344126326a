"""The explorer: one page that shows a schedule in motion, in any browser, without a server or a network.

`scenes` makes columns of a schedule or a recorded simulation, `pages` puts them with the program in `page` into one
HTML file, and does so with results of many points. Another kind of scene is a function in `scenes`.
"""

from __future__ import annotations

from gossamer.explorer.pages import MOST_ROWS, embedded, explore
from gossamer.explorer.scenes import Scene, scene

__all__ = ["MOST_ROWS", "Scene", "embedded", "explore", "scene"]
