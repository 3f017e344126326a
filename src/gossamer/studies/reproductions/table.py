"""A table of results: claim beside measured beside bound, for the terminal, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Any, TypeAlias

from gossamer.studies.sweeps.executors import run_points

Cell: TypeAlias = str | int | float | Fraction | None
Row: TypeAlias = tuple[Cell, ...]


def number(value: Cell) -> str:
    """Return a cell as text: whole numbers whole, others with at most three decimals, None as a dash.

    >>> number(Fraction(27, 2)), number(Fraction(13, 3)), number(None), number(4)
    ('13.5', '4.333', '-', '4')
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def words(values: Iterable[int]) -> str:
    """Return numbers with blanks between them."""
    return " ".join(map(str, values))


@dataclass(frozen=True)
class Curve:
    """A measured curve between its lower bound and the source's upper bound.

    * `title`: what it shows: a network and a variant.
    * `x_label`: what x counts.
    * `x`: the points.
    * `measured`, `lower`, `upper`: times at each point: measured, lower bound, and what the source promises at most.
    * `unit`: the unit of the times.
    * `simulated`: whether the times were measured in a simulation; else they are those of verified schedules.
    """

    title: str
    x_label: str
    x: tuple[int, ...]
    measured: tuple[Fraction, ...]
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    unit: str = "steps"
    simulated: bool = False


@dataclass(frozen=True)
class Table:
    """A titled table.

    `title`: what it reproduces, with its place in the source. `columns`: headers; the unit of every time is steps.
    `rows`: the results. `note`: what a reader must know, below the table.

    Raises ValueError if a row has not a cell for each column.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: {len(row)} cells in a row of {len(self.columns)} columns")

    def text(self) -> str:
        """Return the table for a terminal, numbers aligned to the right."""
        cells = [self.columns, *[tuple(number(c) for c in row) for row in self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(self._aligned(i, c, widths[i]) for i, c in enumerate(row)).rstrip() for row in cells]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join([self.title, "", *lines, *(["", self.note] if self.note else [])])

    def _aligned(self, column: int, text: str, width: int) -> str:
        words = any(isinstance(row[column], str) for row in self.rows)
        return text.ljust(width) if words else text.rjust(width)

    def markdown(self) -> str:
        """Return the table as Markdown under a heading."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        rows = [line([number(c) for c in row]) for row in self.rows]
        body = [line(self.columns), "|" + "---|" * len(self.columns), *rows]
        return "\n".join([f"## {self.title}", "", *body, *(["", self.note] if self.note else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; fractions as text."""
        rows = [[str(c) if isinstance(c, Fraction) else c for c in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}


def tabulated(
    title: str, columns: tuple[str, ...], note: str = ""
) -> Callable[[Callable[[], Iterable[Row]]], Callable[[], Table]]:
    """Return a decorator for a function that gives rows: it makes their `Table`, with its name and description.

    >>> @tabulated("Squares", ("n", "n^2"))
    ... def squares():
    ...     yield 2, 4
    >>> squares().rows
    ((2, 4),)
    """

    def decorated(rows: Callable[[], Iterable[Row]]) -> Callable[[], Table]:
        @wraps(rows)
        def make() -> Table:
            return Table(title, columns, tuple(rows()), note)

        return make

    return decorated


@dataclass(frozen=True)
class TablePoint:
    """A table to be computed.

    `make`, callable: makes it.
    """

    make: Callable[[], Table]

    @property
    def title(self) -> str:
        """The first line of what is said of the maker."""
        return (self.make.__doc__ or "").split("\n", 1)[0].rstrip(".")

    def run(self, progress: Callable[[str], None]) -> Table:
        """Compute it."""
        return self.make()


def computed_tables(
    makers: Sequence[Callable[[], Table]], progress: Callable[[str], None] | None = None, jobs: int | None = 1
) -> Iterator[Table]:
    """Yield the table of each maker.

    `makers`, sequence of callable: make the tables. `progress`, callable: told the first line of what is said of each
    maker. `jobs`: tables computed at once, None for one a processor. One table is computed as it is asked for.
    """
    points = [TablePoint(make) for make in makers]
    for some in [points] if jobs != 1 else [[point] for point in points]:
        yield from run_points(some, jobs=jobs, progress=progress)
