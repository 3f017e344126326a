"""Rows of results as columns, and back: the same rows give the same file, in whatever order they came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gossamer.studies.sweeps.identity import canonical, identity

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FIRST", "Row", "columns_of", "in_order", "joined", "natural", "row_of", "row_values"]

Row = dict[str, Any]
"""Plain values by name; ``identity``, ``status``, ``reason`` and ``point`` are in every row."""

FIRST = ("kind", "network", "without", "task", "bytes", "scheme", "pattern", "load", "algorithm", "seed", "status")
"""The columns that stand first, where there are any such; ``reason``, ``point`` and ``identity`` stand last."""
_LAST = ("reason", "point", "identity")
_UNSHOWN = ("semantics", "files")


def row_of(description: Mapping[str, Any], status: str, reason: str, result: Mapping[str, Any] | None) -> Row:
    """Return the row of a point: what was asked, what came of it, and what both are called."""
    told = {n: _cell(v) for n, v in (result or {}).items() if v is not None}
    asked = {n: _cell(v) for n, v in description.items() if n not in _UNSHOWN and v is not None}
    return told | asked | {
        "status": status, "reason": reason, "point": canonical(description), "identity": identity(description),
    }  # fmt: skip


def _cell(value: Any) -> Any:
    """Return a value that a column can hold."""
    if isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, sort_keys=True)


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Return rows in the order of files: by what was asked, numbers in texts as numbers."""
    return sorted(rows, key=lambda row: (natural(row["point"]), row["identity"]))


def natural(text: str) -> list[tuple[int, float, str]]:
    """Return a key by which torus:4x4 stands before torus:10x10."""
    parts = re.split(r"(\d{1,15}(?:\.\d{1,15})?)", text)
    return [(1, float(part), "") if i % 2 else (0, 0.0, part) for i, part in enumerate(parts)]


def columns_of(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table, in the order given; columns in the order of files, missing values as nulls."""
    import pyarrow as pa

    names = _names({name for row in rows for name in row})
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _names(found: set[str]) -> list[str]:
    first = [name for name in FIRST if name in found]
    return [*first, *sorted(found.difference(FIRST, _LAST)), *(name for name in _LAST if name in found)]


def _column(values: list[Any]) -> pa.Array:
    """Return a column of one type: truth values, whole numbers, numbers, or texts."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _text(value: Any) -> str:
    """Return a value of a column of texts; numbers look the same whether they come from a whole number or not."""
    return value if isinstance(value, str) else str(float(value)) if isinstance(value, int | float) else str(value)


def row_values(table: pa.Table) -> Iterator[Row]:
    """Yield the rows of a table, without what is missing."""
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            yield {name: value for name, value in row.items() if value is not None}


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables below each other, in the order of files, each column of a type that holds what all of them have."""
    import pyarrow as pa

    names = _names({name for table in tables for name in table.column_names})
    columns = {name: _stacked([(t.column(name) if name in t.column_names else t.num_rows) for t in tables])
               for name in names}  # fmt: skip
    whole = pa.table(columns)
    points, identities = whole.column("point").to_pylist(), whole.column("identity").to_pylist()
    order = sorted(range(whole.num_rows), key=lambda i: (natural(points[i]), identities[i]))
    return whole.take(pa.array(order, pa.int64())).combine_chunks()


def _stacked(parts: list[Any]) -> Any:
    """Return chunks, or numbers of rows without values, as one column."""
    import pyarrow as pa
    from pyarrow import compute

    types = {part.type for part in parts if not isinstance(part, int)}
    kind = _common(types)
    chunks = []
    for part in parts:
        if isinstance(part, int):
            chunks.append(pa.nulls(part, kind))
            continue
        if part.type != kind and kind == pa.string():
            if part.type == pa.int64():
                part = compute.cast(part, pa.float64())
            values = [None if v is None else _text(v) for v in part.to_pylist()]
            chunks.append(pa.array(values, pa.string()))
            continue
        chunks += compute.cast(part, kind).chunks if part.type != kind else part.chunks
    return pa.chunked_array(chunks, kind)


def _common(types: set[Any]) -> Any:
    import pyarrow as pa

    if len(types) == 1:
        return next(iter(types))
    return pa.float64() if types == {pa.int64(), pa.float64()} else pa.string()
