"""Pictures: networks, load and occupancy of links, trees, timetables, messages in motion, curves.

A figure takes a schedule, a network or results and gives a figure of Matplotlib; `picture_files` writes pictures,
`terminal` draws in text, `layouts` says where nodes stand, `appearance` has colors, sizes and headings for all. A new
picture is a file with a function that makes the figure, and a line in `picture_files`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.lazy_imports import lazy

if TYPE_CHECKING:
    from gossamer.plots.animation import MOVING_FORMATS, animate
    from gossamer.plots.appearance import STYLES, Dress, dressed_as, look
    from gossamer.plots.broadcast_trees import tree_figure
    from gossamer.plots.link_load import heat_figure, load_figure
    from gossamer.plots.link_occupancy import occupancy_figure
    from gossamer.plots.paper_figures import regions_figure
    from gossamer.plots.picture_files import FORMATS, KINDS, draw
    from gossamer.plots.slot_pictures import slots_figure, write_page
    from gossamer.plots.terminal import text_picture
    from gossamer.plots.tikz import load_tikz
    from gossamer.plots.timetables import queue_figure, ranks_figure, timetable_figure
    from gossamer.plots.wormhole_timetables import channels_figure, worms_figure

__all__ = [
    "FORMATS",
    "KINDS",
    "MOVING_FORMATS",
    "STYLES",
    "Dress",
    "animate",
    "channels_figure",
    "draw",
    "dressed_as",
    "heat_figure",
    "load_figure",
    "load_tikz",
    "look",
    "occupancy_figure",
    "queue_figure",
    "ranks_figure",
    "regions_figure",
    "slots_figure",
    "text_picture",
    "timetable_figure",
    "tree_figure",
    "worms_figure",
    "write_page",
]

__getattr__ = lazy(
    __name__,
    appearance="STYLES Dress dressed_as look",
    picture_files="FORMATS KINDS draw",
    link_load="heat_figure load_figure",
    animation="MOVING_FORMATS animate",
    link_occupancy="occupancy_figure",
    paper_figures="regions_figure",
    slot_pictures="slots_figure write_page",
    terminal="text_picture",
    tikz="load_tikz",
    timetables="queue_figure ranks_figure timetable_figure",
    broadcast_trees="tree_figure",
    wormhole_timetables="channels_figure worms_figure",
)


def __dir__() -> list[str]:
    return __all__
