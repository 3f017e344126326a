"""The figures that the sources' texts describe, drawn from schedules of Gossamer."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, TaskError, nearest
from gossamer.experiments import Table, reproduction
from gossamer.networks.spec import network as parse_network
from gossamer.planner import plan
from gossamer.plots.delay import delay_figure
from gossamer.plots.drawing import write_picture
from gossamer.plots.motion import animate
from gossamer.plots.occupancy import occupancy_figure
from gossamer.plots.regions import regions_figure
from gossamer.plots.routers import routers_figure
from gossamer.plots.timetables import queue_figure, timetable_figure
from gossamer.plots.trees import tree_figure
from gossamer.plots.wormhole import partition_figure
from gossamer.plots.wormhole_costs import best_h_figure, costs_figure
from gossamer.plots.wormhole_patterns import (
    aggregation_figure,
    all_gather_figure,
    collection_figure,
    exchange_figure,
)
from gossamer.rules import Rules
from gossamer.schedules import Schedule
from gossamer.tasks import task as parse_task
from gossamer.tasks.patterns import pattern

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SOURCE_FIGURES", "SourceAnimation", "SourceFigure", "draw_source_figures", "named_parts", "part_name"]


class SourceFigure(NamedTuple):
    """A figure of a source: the stem of its file's name, what it shows, and the function that makes it."""

    stem: str
    title: str
    make: Callable[[], Figure]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.stem}.svg"

    def draw(self, path: Path) -> None:
        """Write the figure to a file, whole or not at all."""
        write_picture(self.make, path, "svg", self.title)


class SourceAnimation(NamedTuple):
    """An animation for a source: the stem of its file's name, what it shows, and the schedule in motion."""

    stem: str
    title: str
    schedule: Callable[[], Schedule]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.stem}.gif"

    def draw(self, path: Path) -> None:
        """Write the animation to a file, whole or not at all."""
        animate(self.schedule(), path, frames_per_slot=2, dpi=56)


def _scheduled(spec: str, name: str, algorithm: str = "best", rules: Rules | None = None, **fields: Any) -> Schedule:
    schedule: Schedule = plan(spec, parse_task(name, **fields), algorithm=algorithm, rules=rules).schedule
    return schedule


def _tree(spec: str, algorithm: str, root: int = 0) -> Figure:
    return tree_figure(_scheduled(spec, "broadcast", algorithm, root=root))


def _quadrants() -> Figure:
    return tree_figure(_scheduled("torus:5x5", "multinode-broadcast", "rotated-quadrant"))


def _areas(spec: str) -> Figure:
    return regions_figure(_scheduled(spec, "scatter", "area-division", root=0))


def _array() -> Figure:
    schedule = _scheduled("array:6", "total-exchange")
    network = schedule.network
    return timetable_figure(schedule, np.flatnonzero(network.link_target > network.link_source).tolist(), first=1)


def _queues() -> Figure:
    schedule = _scheduled("ring:6", "total-exchange", "parity-shift")
    network = schedule.network
    clockwise = [(network.link_source == v) & (network.link_target == v + 1) for v in (0, 1)]
    return queue_figure(schedule, [int(np.flatnonzero(link)[0]) for link in clockwise])


def _up_first() -> Figure:
    return timetable_figure(
        _scheduled(
            "fat-tree:k=2,h=2,capacity=constant", "multinode-broadcast", "fat-tree-up-first", Rules(ports="one-send")
        )
    )


def _occupancy(spec: str, task: str, algorithm: str, **choices: Any) -> Figure:
    return occupancy_figure(_scheduled(spec, task, algorithm, **choices))


def _delays(spec: str) -> Figure:
    from gossamer.experiments.yeh_varvarigos_lee.delays import compared

    return delay_figure(compared(spec), f"Broadcast requests at random on {spec}")


def _routed(algorithm: str) -> Schedule:
    network = parse_network("array:16x16")
    return _scheduled("array:16x16", "permutation", algorithm, destination=pattern("random", network, seed=1).tolist())


SOURCE_FIGURES: dict[str, tuple[SourceFigure | SourceAnimation, ...]] = {
    "varvarigos-bertsekas": (
        SourceFigure("torus_quadrants", "A broadcast tree of the multinode broadcast on the 5x5 torus (Theorem 1)",
                     _quadrants),
        SourceFigure("partial_phases", "Prefix, packing and broadcast phases on the 4x4 torus (section 3)",
                     partial(_occupancy, "torus:4x4", "partial-multinode-broadcast", "rotated-dimensions-split",
                             active=[0, 2, 7, 9, 12], rules=Rules(split=True))),
    ),
    "yeh-varvarigos-lee": tuple(
        SourceFigure(f"delays_{spec.replace(':', '_')}", f"All schemes on {spec}", partial(_delays, spec))
        for spec in ("hypercube:6", "torus:8x8", "array:10x10")
    ),
    "chen-chen": (
        SourceFigure("wormhole_partition_16", "The partition of the 16 x 16 torus with h = 4 (Fig. 1)",
                     partial(partition_figure, 16, 4)),
        SourceFigure("wormhole_partition", "The partition of the 10 x 10 torus with h = 5",
                     partial(partition_figure, 10, 5)),
        SourceFigure("wormhole_aggregation", "Aggregation of five diagonals to one (Fig. 2)", aggregation_figure),
        SourceFigure("wormhole_exchange", "Tuning in two steps (Figs. 10 and 11)", exchange_figure),
        SourceFigure("wormhole_all_gather", "All-to-all broadcast on a diagonal (Figs. 16 and 17)", all_gather_figure),
        SourceFigure("wormhole_collection", "Data collection (Figs. 19 to 21)", collection_figure),
        SourceFigure("wormhole_costs", "Time against the number of sources, all rivals", costs_figure),
        SourceFigure("wormhole_best_h", "The best h by sources and start-up", best_h_figure),
    ),
    "han": (
        SourceFigure("routers", "Steps and buffers of the routers against n", routers_figure),
        SourceAnimation("q_in_motion", "Algorithm Q routes a random permutation of the 16x16 array",
                        partial(_routed, "Q")),
        SourceAnimation("h_in_motion", "Algorithm H routes a random permutation of the 16x16 array",
                        partial(_routed, "H")),
    ),
    "dimakopoulos": (
        SourceFigure("extended_ring_tree", "Broadcast tree of the extended ring E_14^2 (Fig. 3.2)",
                     partial(_tree, "extended-ring:14,2", "extended-ring-tree")),
        SourceFigure("product_tree", "Broadcast tree of the 3x4x2 array (Fig. 3.3)",
                     partial(_tree, "array:3x4x2", "product-tree", 12)),
        SourceFigure("binomial_tree", "Broadcasting in Q_3: the binomial tree (Fig. 3.1)",
                     partial(_tree, "hypercube:3", "binomial-tree")),
        SourceFigure("torus_areas", "Areas of the 7x7 torus (Fig. 3.7)", partial(_areas, "torus:7x7")),
        SourceFigure("torus_areas_corrected", "Areas of the 4x4 torus, corrected (errata 9.5)",
                     partial(_areas, "torus:4x4")),
        SourceFigure("array_exchange", "Total exchange in the array of 6 nodes, to the right (Fig. 4.2)", _array),
        SourceFigure("ring_queues", "Queues in the ring of 6 nodes, clockwise (Fig. 4.4b)", _queues),
        SourceFigure("fat_tree_up_first", "Multinode broadcast with one send at a time (Fig. 6.7)", _up_first),
        SourceFigure("fat_tree_star_exchanges", "Multinode broadcast without queues (Fig. 6.10)",
                     partial(_occupancy, "fat-tree:k=2,h=4,capacity=constant", "multinode-broadcast",
                             "fat-tree-climbing-star-exchanges")),
        SourceFigure("fat_tree_phases", "Total exchange by phases, exponential capacities (Fig. 6.11)",
                     partial(_occupancy, "fat-tree:k=2,h=4,capacity=exponential", "total-exchange",
                             "fat-tree-phases")),
    ),
}  # fmt: skip
"""The figures of each source, by the name that ``gossamer reproduce`` knows."""


def part_name(part: Callable[[], Table] | SourceFigure | SourceAnimation) -> str:
    """Return the name that a table or figure has on the command line.

    >>> part_name(SOURCE_FIGURES["han"][0]), part_name(reproduction("han").TABLES[0])
    ('routers', 'routing-before')
    """
    stem: str = part.stem if isinstance(part, SourceFigure | SourceAnimation) else inspect.unwrap(part).__name__
    return stem.replace("_", "-")


def named_parts(
    name: str, only: str | None = None
) -> tuple[list[Callable[[], Table]], list[SourceFigure | SourceAnimation]]:
    """Return the functions that make the tables of a source, and its figures: all of them, or those named.

    Parameters
    ----------
    name : str
        A key of `SOURCE_FIGURES`.
    only : str, optional
        Names as `part_name` gives them, with commas between. A name may be that of a table and of a figure.

    Raises
    ------
    TaskError
        If nothing of the source has such a name.

    Examples
    --------
    >>> [list(map(part_name, some)) for some in named_parts("han", "family-q,routers")]
    [['family-q', 'routers'], ['routers']]
    """
    tables, figures = list(reproduction(name).TABLES), list(SOURCE_FIGURES.get(name, ()))
    if only is None:
        return tables, figures
    known = list(dict.fromkeys(map(part_name, [*tables, *figures])))
    asked = [word.strip() for word in only.split(",")]
    for word in asked:
        if word not in known:
            there = f"{nearest(word, known)}; there is: {', '.join(known)}"
            raise TaskError(f"no table or figure of {name} is called {word!r}{there}")
    return [t for t in tables if part_name(t) in asked], [f for f in figures if part_name(f) in asked]


def draw_source_figures(
    name: str,
    folder: str | os.PathLike[str],
    progress: Callable[[str], None] | None = None,
    figures: Sequence[SourceFigure | SourceAnimation] | None = None,
) -> Iterator[Path]:
    """Write figures of a source to a folder, SVG or GIF, each whole or not at all, and yield the files.

    Parameters
    ----------
    name : str
        A key of `SOURCE_FIGURES`.
    folder : path
        Made if it is not there.
    progress : callable, optional
        Called with the title of each figure as it begins.
    figures : sequence of figures, optional
        Which of them; default all.

    Raises
    ------
    FileFormatError
        If the folder cannot be made or a file cannot be written.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot make the folder {str(place)!r}: {error.strerror}") from error
    for figure in SOURCE_FIGURES.get(name, ()) if figures is None else figures:
        if progress is not None:
            progress(f"drawing {figure.title}")
        path = place / figure.file
        figure.draw(path)
        yield path
