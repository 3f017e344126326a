"""The tables of Dimakopoulos 1996: as printed, corrected, measured, bound.

Every measured time is the completion time of a schedule that the checker accepted. One module a part of the thesis:
trees from one source (chapter 3), exchanges (chapters 4 and 5), fat trees (chapter 6).
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.dimakopoulos import exchanges, fat_trees
from gossamer.studies.reproductions.dimakopoulos.exchanges import SINGLE_SOURCE_TABLES, WORKED_TABLES
from gossamer.studies.reproductions.dimakopoulos.fat_trees import curves
from gossamer.studies.reproductions.table import Table

__all__ = ["TABLES", "curves"]

TABLES: tuple[Callable[[], Table], ...] = (
    *SINGLE_SOURCE_TABLES, *exchanges.TABLES, *WORKED_TABLES, *fat_trees.TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the thesis."""
