"""The tables of Varvarigos and Bertsekas 1994: claim beside measured beside bound.

Every measured time is the completion time of a schedule that the checker accepted. One module a part of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gossamer.studies.reproductions.table import Table, computed_tables
from gossamer.studies.reproductions.varvarigos_bertsekas import exchanges, worked
from gossamer.studies.reproductions.varvarigos_bertsekas.exchanges import (
    MULTINODE_TABLES,
    PARTIAL_ROWS,
    active_counts,
    curves,
)
from gossamer.studies.reproductions.varvarigos_bertsekas.worked import (
    COUNTEREXAMPLES_TABLES,
    DYNAMIC_TABLES,
    LINES_AND_ROUTING_TABLES,
)

__all__ = ["PARTIAL_ROWS", "TABLES", "active_counts", "curves", "tables"]

TABLES: tuple[Callable[[], Table], ...] = (
    *MULTINODE_TABLES, *LINES_AND_ROUTING_TABLES, *exchanges.TABLES,
    *DYNAMIC_TABLES, *worked.TABLES, *COUNTEREXAMPLES_TABLES,
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
