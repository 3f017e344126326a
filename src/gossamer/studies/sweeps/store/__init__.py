"""What came of points, kept: a journal while they are run, then a Parquet file."""

from __future__ import annotations

from gossamer.studies.sweeps.store.files import Store, merge, read_results
from gossamer.studies.sweeps.store.journal import journal_of
from gossamer.studies.sweeps.store.rows import Row, columns_of, in_order, row_of, row_values

__all__ = ["Row", "Store", "columns_of", "in_order", "journal_of", "merge", "read_results", "row_of", "row_values"]
