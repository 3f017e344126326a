"""The tables of Dimakopoulos 1996: as printed, corrected, measured, bound.

Every measured time is the completion time of a schedule that the checker accepted. One module a part of the thesis:
trees from one source (chapter 3), exchanges (chapters 4 and 5), fat trees (chapter 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gossamer.studies.reproductions.dimakopoulos import exchanges, fat_trees
from gossamer.studies.reproductions.dimakopoulos.exchanges import SINGLE_SOURCE_TABLES, WORKED_TABLES
from gossamer.studies.reproductions.dimakopoulos.fat_trees import curves
from gossamer.studies.reproductions.table import Table, computed_tables

__all__ = ["TABLES", "curves", "tables"]

TABLES: tuple[Callable[[], Table], ...] = (
    *SINGLE_SOURCE_TABLES, *exchanges.TABLES, *WORKED_TABLES, *fat_trees.TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the thesis."""


def tables(progress: Callable[[str], None] | None = None, jobs: int | None = 1) -> Iterator[Table]:
    """Yield every table of the reproduction, computed as it is asked for.

    Parameters
    ----------
    progress : callable, optional
        Called with the name of each table as it begins.
    jobs : int or None
        Tables computed at once, None for one a processor.
    """
    yield from computed_tables(TABLES, progress, jobs)
