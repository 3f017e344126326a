"""The patterns of Chen and Chen, drawn from the steps of schedules on 10 x 10 and 5 x 5 nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.networks.spec import network as parse_network
from gossamer.plots.wormhole import OTHER, PALETTE, Panel, steps_figure
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_OPT, Variant, aggregation_distribution
from gossamer.wormhole.case import WormholeCase
from gossamer.wormhole.partition import Partition
from gossamer.wormhole.schedule import WormholeSchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["aggregation_figure", "all_gather_figure", "collection_figure", "exchange_figure"]

_N, _H = 10, 5


def _schedule(variant: Variant, h: int = _H) -> WormholeSchedule:
    """Return the schedule on 10 x 10 nodes where all are sources."""
    case = WormholeCase(parse_network(f"torus:{_N}x{_N}"), MultinodeBroadcast())
    return aggregation_distribution(case, h=h, variant=variant)


def _step(schedule: WormholeSchedule, phase: str, number: int) -> tuple[int, slice]:
    """Return a step of a phase and the rows of its messages."""
    first = next(p.first_step for p in schedule.phases if p.name == phase)
    low, high = np.searchsorted(schedule.step, [first + number, first + number + 1])
    return first + number, slice(int(low), int(high))


def _ddn_nodes(h: int = _H) -> list[str]:
    return [PALETTE[k] if k >= 0 else OTHER for k in Partition((_N, _N), h).ddn.tolist()]


def aggregation_figure() -> Figure:
    """Return the steps in which five diagonals become one: of all nodes with h = 5, and inside the DDNs with h = 2."""
    panels = []
    for h, phase, words in (
        (5, "aggregation", "h = 5: from all nodes to the five DDNs"),
        (2, "alignment", "h = 2: inside the two DDNs, to their main diagonals"),
    ):
        schedule = _schedule(ATD_5, h)
        step, rows = _step(schedule, phase, 0)
        ddn = Partition((_N, _N), h).ddn[schedule.target[rows]]
        panels.append(Panel(words, schedule, step, [PALETTE[k] for k in ddn.tolist()], _ddn_nodes(h)))
    note = "An arrow has the color of the DDN where it ends."
    return steps_figure("Aggregation in one step: five diagonals become one", panels, note)


def exchange_figure() -> Figure:
    """Return the two steps in which nodes of the DDNs exchange messages along diagonals."""
    schedule = _schedule(ATD_5)
    shades = {-2: PALETTE[0], -1: PALETTE[5], 1: PALETTE[4], 2: PALETTE[1]}
    panels = []
    for number, words in enumerate(("step 0: ±1 down or up, ±2 sideways", "step 1: ±1 sideways, ±2 down or up")):
        step, rows = _step(schedule, "tuning", number)
        offsets = schedule.displacement[rows].sum(axis=1)
        panels.append(Panel(words, schedule, step, [shades[int(v)] for v in offsets], _ddn_nodes()))
    note = "Colors are the offsets -2, -1, +1 and +2 along the diagonal, from DDN to DDN."
    return steps_figure("Tuning: messages move along diagonals to the DDN of their rank", panels, note)


def all_gather_figure() -> Figure:
    """Return the two steps in which five nodes of a diagonal come to know all."""
    case = WormholeCase(parse_network("torus:5x5"), PartialMultinodeBroadcast((0, 6, 12, 18, 24)))
    schedule = aggregation_distribution(case, h=1, variant=ATD_5)
    nodes = [PALETTE[v // 6] if v % 6 == 0 else OTHER for v in range(25)]
    panels = []
    for number, words in enumerate(("step 0: two columns away each way", "step 1: from four sides")):
        step, rows = _step(schedule, "all-gather", number)
        messages = range(rows.start, rows.stop)
        origins = [int(schedule.packets.origin[schedule.pieces_of(m)[0]]) for m in messages]
        panels.append(Panel(words, schedule, step, [PALETTE[v // 6] for v in origins], nodes))
    note = "An arrow has the color of the node whose message it carries."
    return steps_figure("All-to-all broadcast on a diagonal of five nodes", panels, note)


def _of_ddn(schedule: WormholeSchedule) -> dict[int, int]:
    """Return the DDN that each payload of the data collection belongs to: that of the line it is first sent along."""
    rows = schedule.phase_messages("rows")
    place = schedule.channels.coordinates(schedule.source[rows])
    along_row = schedule.displacement[rows][:, 1] != 0
    line = np.where(along_row, place[:, 0], place[:, 1]) % _H
    return dict(zip(schedule.payload[rows].tolist(), line.tolist(), strict=True))


def collection_figure() -> Figure:
    """Return steps of the data collection: windows along rows, then rings or shifts along columns."""
    published, halves = _schedule(ATD_5), _schedule(ATD_OPT)
    panels = []
    for words, schedule, phase, number in (
        ("rows, step 0: to a window of five columns", published, "rows", 0),
        ("rows, step 1", published, "rows", 1),
        ("columns, one step of four: rings in each block", published, "columns", 0),
        ("atd-opt, columns, one step of two: halves both ways", halves, "columns", 0),
    ):
        owner = _of_ddn(schedule)
        step, rows = _step(schedule, phase, number)
        colors = [PALETTE[owner[int(p)]] for p in schedule.payload[rows]]
        panels.append(Panel(words, schedule, step, colors, _ddn_nodes()))
    note = "An arrow has the color of the DDN whose messages it carries."
    return steps_figure("Data collection", panels, note)
