"""The tables of Varvarigos and Bertsekas 1994: claim beside measured beside bound.

Every measured time is the completion time of a schedule that the checker accepted. One module a part of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gossamer.studies.reproductions.table import Table, computed_tables
from gossamer.studies.reproductions.varvarigos_bertsekas import (
    counterexamples,
    dynamic,
    exchanges,
    lines_and_routing,
    multinode,
    worked,
)
from gossamer.studies.reproductions.varvarigos_bertsekas.multinode import PARTIAL_ROWS, active_counts, curves

__all__ = ["PARTIAL_ROWS", "TABLES", "active_counts", "curves", "tables"]

TABLES: tuple[Callable[[], Table], ...] = (
    *multinode.TABLES, *lines_and_routing.TABLES, *exchanges.TABLES, *dynamic.TABLES,
    *worked.TABLES, *counterexamples.TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the paper."""


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
