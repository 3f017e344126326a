"""What results of many points say: tables of the best, fronts of what nothing beats, curves against load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gossamer.atomic_files import bytes_text, seconds_text
from gossamer.errors import ModelError, nearest
from gossamer.studies.sweeps.conditions import formula
from gossamer.studies.sweeps.run_sweep import SweepResults
from gossamer.studies.sweeps.store import Row, natural
from gossamer.studies.sweeps.study import Shown

_MEASURES = ("seconds", "time", "worst_slowdown", "latency", "reception", "broadcast", "-saturation", "-limit", "bound")
_AGAINST = ("links", "degree", "diameter", "bisection", "-nodes")
_BY = ("kind", "task", "bytes", "switching", "ports", "segmented", "split", "buffer", "pattern", "without", "failing",
       "routing")  # fmt: skip
_COLUMNS = ("network", "algorithm", "chosen", "scheme", "seed", "nodes", "links", "degree", "diameter", "bisection",
            "buffer_peak", "virtual_channels", "buffer_depth", "buffer_flits", "load")  # fmt: skip
_BESIDE = ("ratio", "optimal", "stable", "saturated", "bound_seconds", "bus_bandwidth", "mean_slowdown", "share")
_NAMES = ("network", "algorithm", "scheme", "pattern")
_NAMING = (*_NAMES, "virtual_channels", "buffer_depth", "routing", "seed")
_CURVES = "load"


@dataclass(frozen=True)
class Front:
    """The points that no other beats in two columns.

    `against`, `measure`: the two columns, with a minus before a name where more is better. `members`: the rows of the
    front, by the first column.
    """

    against: str
    measure: str
    members: tuple[Row, ...]


@dataclass(frozen=True)
class ComparedGroup:
    """The results that are compared with each other.

    * `title`: what they have in common.
    * `rows`: the best first.
    * `measure`: what is to be small, or large where it begins with a minus; empty if there is nothing to compare.
    * `columns`: what a table shows.
    * `fronts`: against each column.
    * `curves`: whether the measure is drawn against the load rather than as fronts.
    * `naming`: the columns that tell the rows apart.
    """

    title: str
    rows: tuple[Row, ...]
    measure: str
    columns: tuple[str, ...]
    fronts: tuple[Front, ...]
    curves: bool
    naming: tuple[str, ...]

    def name(self, row: Mapping[str, Any]) -> str:
        """Return what a row is called among the others."""
        first, *more = self.naming
        words = (
            [cell_text(first, row.get(first))] if first in _NAMES else [f"{first} {cell_text(first, row.get(first))}"]
        )
        return ", ".join(words + [f"{n} {cell_text(n, row.get(n))}" for n in more])

    def table(self, most: int) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return columns and rows for people, at most so many."""
        chosen = self.rows if self.curves else self.rows[:most]
        return self.columns, tuple(tuple(cell_text(c, row.get(c)) for c in self.columns) for row in chosen)


@dataclass(frozen=True)
class Report:
    """What a sweep found.

    `title`: what was studied. `results`: all of it, failures included. `groups`: the results, compared. `shown`: how.
    """

    title: str
    results: SweepResults
    groups: tuple[ComparedGroup, ...]
    shown: Shown


def report(results: SweepResults, title: str = "", shown: Shown | None = None, where: Sequence[str] = ()) -> Report:
    """Compare the results of a sweep.

    `results`: what came of it. `title`: what was studied. `shown`: how results are compared. Default: by what the
    points are; the measure is the time of tasks, the latency or delay of simulations. `where`: conditions on columns,
    such as ``optimal and seconds < 0.001``.

    Raises ModelError if a column is unknown or a condition is illegal.

    >>> import gossamer
    >>> found = gossamer.sweep({"network": ["torus:4x4", "ring:16", "hypercube:4"], "task": "alltoall"},
    ...                        engine="in-process")
    >>> group = report(found).groups[0]
    >>> [(row["network"], row["time"]) for row in group.rows]
    [('hypercube:4', 8), ('torus:4x4', 8), ('ring:16', 32)]
    >>> [(row["network"], row["links"]) for row in group.fronts[0].members]
    [('ring:16', 32), ('hypercube:4', 64), ('torus:4x4', 64)]
    """
    wanted = shown or Shown()
    conditions = [formula(text, results.columns) for text in where]
    rows = [row for row in results.done if all(c.holds(row.get) for c in conditions)]
    for name in (wanted.measure, *wanted.by, *wanted.against, *wanted.columns):
        if name and name.removeprefix("-") not in results.columns:
            raise ModelError(f"the results have no column {name!r}{nearest(name, results.columns)}")
    groups = tuple(_group(label, some, wanted) for label, some in _grouped(rows, wanted))
    return Report(title, results, groups, wanted)


def front(rows: Sequence[Row], against: str, measure: str) -> Front:
    """Return the rows that no other beats in both columns; equal ones are all kept. O(n log n)."""
    known = [(_cost(row, against), _cost(row, measure), row) for row in rows]
    some = sorted((x, y, i) for i, (x, y, _) in enumerate(known) if x is not None and y is not None)
    members, best, last = [], float("inf"), None
    for x, y, i in some:
        if y < best or (x, y) == last:
            members.append(known[i][2])
            best, last = y, (x, y)
    return Front(against, measure, tuple(members))


def _cost(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name.removeprefix("-"))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return -float(value) if name.startswith("-") else float(value)


def _grouped(rows: Sequence[Row], shown: Shown) -> Iterator[tuple[str, list[Row]]]:
    """Yield what the rows of each group have in common, and the rows."""
    by = shown.by
    if not by:
        curves = _varies(rows, _CURVES)
        by = tuple(n for n in (*_BY, *(("network",) if curves else ())) if _varies(rows, n))
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(cell_text(n, row.get(n)) for n in by), []).append(row)
    for key, some in found.items():
        yield (
            ", ".join(v if n in ("task", "network", "kind") else f"{n} {v}" for n, v in zip(by, key, strict=True)),
            some,
        )


def _varies(rows: Sequence[Row], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _group(title: str, rows: list[Row], shown: Shown) -> ComparedGroup:
    measure = shown.measure or next((m for m in _MEASURES if any(_cost(r, m) is not None for r in rows)), "")
    curves = not shown.against and _varies(rows, _CURVES)
    ordered = sorted(rows, key=lambda row: _order(row, measure)) if measure and not curves else rows
    against = shown.against or tuple(a for a in _AGAINST if _varies(rows, a.removeprefix("-")))
    fronts = () if curves or not measure else tuple(front(ordered, a, measure) for a in against)
    name = measure.removeprefix("-")
    columns = shown.columns or tuple(
        c for c in (*(c for c in _COLUMNS if _varies(rows, c) or c in ("network", "chosen")), name, *_BESIDE)
        if any(c in row for row in rows)
    )  # fmt: skip
    naming = tuple(n for n in _NAMING if _varies(rows, n)) or ("network",)
    kept = tuple(f for f in fronts if f.members)
    return ComparedGroup(title, tuple(ordered), measure, tuple(dict.fromkeys(columns)), kept, curves, naming)


def _order(row: Row, measure: str) -> tuple[Any, ...]:
    value = _cost(row, measure)
    return value is None, value or 0.0, int(row.get("links", 0)), natural(str(row.get("network"))), row["identity"]


def cell_text(column: str, value: Any) -> str:
    """Return a value of a column for people.

    >>> cell_text("bytes", 65536), cell_text("seconds", 0.001), cell_text("ratio", 1.23456), cell_text("optimal", True)
    ('64 KiB', '1 ms', '1.235', 'yes')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column == "bytes":
        return bytes_text(int(value))
    if column.endswith("seconds") and isinstance(value, int | float):
        return seconds_text(value)
    if column.endswith("bandwidth") and isinstance(value, int | float):
        return f"{value / 1e9:.4g} GB/s"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
