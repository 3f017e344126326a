"""The tables of Varvarigos and Bertsekas 1994: claim beside measured beside bound.

Every measured time is the completion time of a schedule that the checker accepted. One module a part of the paper.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.studies.reproductions.table import Table
from gossamer.studies.reproductions.varvarigos_bertsekas import partial_exchange, worked_examples
from gossamer.studies.reproductions.varvarigos_bertsekas.partial_exchange import (
    MULTINODE_TABLES,
    PARTIAL_ROWS,
    active_counts,
    curves,
)
from gossamer.studies.reproductions.varvarigos_bertsekas.worked_examples import (
    COUNTEREXAMPLES_TABLES,
    DYNAMIC_TABLES,
    LINES_AND_ROUTING_TABLES,
)

__all__ = ["PARTIAL_ROWS", "TABLES", "active_counts", "curves"]

TABLES: tuple[Callable[[], Table], ...] = (
    *MULTINODE_TABLES, *LINES_AND_ROUTING_TABLES, *partial_exchange.TABLES,
    *DYNAMIC_TABLES, *worked_examples.TABLES, *COUNTEREXAMPLES_TABLES,
)  # fmt: skip
"""The functions that make the tables, in the order of the paper."""
