"""The tables of Chen and Chen: as printed, corrected, measured, beside the bound.

Every measured figure comes from schedules that the checker accepted. One module a part: the operations, the worked
figures with the lemmas and what follows from them, the costs of schedules, and the comparison with rivals.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.chen_chen import comparison, operations, schedule_costs, worked_examples
from gossamer.studies.reproductions.chen_chen.comparison import curves
from gossamer.studies.reproductions.chen_chen.operations import FLITS_TABLES
from gossamer.studies.reproductions.table import Table

__all__ = ["ABOUT", "CURVES_ABOUT", "CURVES_TITLE", "TABLES", "curves"]

ABOUT = """Every step costs a start-up T_s, and m T_c for each message of m bytes that its longest wormhole message
holds; tau = T_s / (m T_c). *Messages* are added up over the steps. Every measured figure comes from schedules that the
checker accepted; *bound* is what no schedule can beat. How to plan such broadcasts is told on the page about
[wormhole switching](../explanation/wormhole.md)."""
"""What the page of the reproduction says first."""
CURVES_TITLE = "Time of ATD-5 against the number of sources"
"""What the curves show."""
CURVES_ABOUT = """ATD-5, the published algorithm, at its best h. The band lies between the lower bound, below, and the
corrected closed form at the same h, above."""
"""What is said below the curves."""

TABLES: tuple[Callable[[], Table], ...] = (
    *operations.TABLES, *worked_examples.TABLES, *comparison.TABLES, *FLITS_TABLES, *schedule_costs.TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the paper."""
