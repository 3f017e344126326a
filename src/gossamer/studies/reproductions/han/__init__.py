"""The tables of Han 1990: as printed, corrected, measured.

Every measured figure comes from schedules that the checker accepted, the largest of several instances.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.han import comparison_tables, worked_examples
from gossamer.studies.reproductions.han.comparison_tables import FACTS_TABLES, curves
from gossamer.studies.reproductions.table import Table

__all__ = ["ABOUT", "TABLES", "curves"]

ABOUT = """Steps with messages (data) and steps of counting (control) stand apart; the thesis's totals count both as
one step each. Every measured figure comes from schedules that the checker accepted."""
"""What the page of the reproduction says first."""

TABLES: tuple[Callable[[], Table], ...] = (*FACTS_TABLES, *worked_examples.TABLES, *comparison_tables.TABLES)
"""The functions that make the tables, in the order of the thesis."""
